// Save: the net in the formats that papers and programs take. What the first
// module does not write comes from the second.
import { make } from "./make.js";

const FORMATS = [["SVG", "svg"], ["PDF", "pdf"], ["PNG", "png"],
  ["TikZ", "tex"], [".net", "net"], ["C source", "c"], ["C header", "h"],
  ["PyTorch", "py"], ["HTML", "html"]];
const PIXELS = 3; // of a PNG, for each of the picture

const drawn = async (svg) => {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = PIXELS * image.naturalWidth;
  canvas.height = PIXELS * image.naturalHeight;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  const png = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (!png) throw new Error("the picture is too large for a PNG");
  return png;
};

export const download = (name, content) => {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([content]));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
};

// `emit(kind)` gives an output or why there is none; `source` the text.
export const makeSave = (button, menu, { emit, source, name, say }) => {
  const write = async (kind) => {
    if (kind === "net") return source();
    const output = await emit(kind === "png" ? "svg" : kind);
    if (output.refused !== undefined) throw new Error(output.refused);
    return kind === "png" ? drawn(output.text) : output.bytes || output.text;
  };
  const close = (focus) => {
    menu.hidden = true;
    button.setAttribute("aria-expanded", "false");
    if (focus) button.focus();
  };
  const items = FORMATS.map(([label, kind]) => {
    const item = make("button", { type: "button", role: "menuitem",
      tabindex: -1 }, label);
    item.addEventListener("click", async () => {
      close(true);
      try {
        const content = await write(kind);
        download(`${name()}.${kind}`, content);
        say("");
      } catch (e) {
        say(`${label} cannot be written: ${e.message}`);
      }
    });
    return item;
  });
  menu.append(...items);
  button.addEventListener("click", () => {
    menu.hidden = !menu.hidden;
    button.setAttribute("aria-expanded", !menu.hidden);
    if (!menu.hidden) items[0].focus();
  });
  menu.addEventListener("keydown", (e) => {
    const at = items.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[e.key];
    if (e.key === "Escape" || e.key === "Tab") close(e.key === "Escape");
    if (to === undefined) return;
    e.preventDefault();
    items[(to + items.length) % items.length].focus();
  });
  addEventListener("pointerdown", (e) => {
    if (!menu.hidden && !menu.parentNode.contains(e.target)) close(false);
  });
};
