// The diagram of the text: markup of the compiler in the view of every page.
import { makeView } from "../drawing/page/view.js";
import { make } from "./make.js";

const LARGE = 600e3; // characters of SVG that are drawn only on demand

// Markup of the compiler. It escapes all names; what could act goes all the
// same.
export const parsed = (text, type = "image/svg+xml") => {
  const root = new DOMParser().parseFromString(text, type).documentElement;
  for (const e of root.querySelectorAll("script,foreignObject")) e.remove();
  for (const e of root.querySelectorAll("*"))
    for (const a of [...e.attributes])
      if (/^on|href$/i.test(a.name)) e.removeAttribute(a.name);
  return document.adoptNode(root);
};

export const makeDiagram = (canvas, buttons, { near, go }) => {
  let shown;
  const view = makeView(canvas, buttons, { near: (box) => near(box && box.id),
    go: (box) => go(box.id) });
  const draw = (text) => {
    const svg = parsed(text);
    view.show(svg.localName === "svg" ? svg : null);
    if (svg.localName !== "svg") canvas.replaceChildren(make("p", {}, text));
  };
  return {
    ...view,
    show(text) {
      if (text === shown) return false;
      shown = text;
      if (text.length < LARGE) {
        draw(text);
        return true;
      }
      view.show(null);
      const button = make("button", { type: "button" }, "Draw it");
      button.addEventListener("click", () => draw(text));
      canvas.replaceChildren(make("p", {}, "This diagram is large (" +
        `${(text.length / 1e6).toFixed(1)} MB). `, button));
      return true;
    },
    clear() {
      shown = null;
      view.show(null);
      canvas.replaceChildren();
    },
  };
};
