// An element with its attributes and what it contains.
export const make = (tag, attributes, ...children) => {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...children.filter((c) => c !== "" && c != null));
  return e;
};
