// The diagram: a box leads to its line, and the caret's line marks its box. It
// can be zoomed, and moved by its scroll bars or by dragging.
import { make } from "./make.js";

const LARGE = 600e3; // characters of SVG that are drawn only on demand

// The library escapes all names; what could act goes all the same.
const parsed = (text) => {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml")
    .documentElement;
  if (svg.localName !== "svg") return null;
  for (const e of svg.querySelectorAll("script,foreignObject")) e.remove();
  for (const e of svg.querySelectorAll("*"))
    for (const a of [...e.attributes])
      if (/^on|href$/i.test(a.name)) e.removeAttribute(a.name);
  return document.adoptNode(svg);
};

export const makeDiagram = (canvas, buttons, { near, go }) => {
  let svg = null, shown, zoom = 0, natural = 0;

  const fit = () => {
    if (svg) svg.style.width = zoom ? `${natural * zoom}px`
      : `min(100%,${natural}px)`;
  };
  const by = (factor) => {
    if (!svg) return;
    const now = zoom || svg.getBoundingClientRect().width / natural;
    zoom = factor && Math.min(8, Math.max(0.1, now * factor));
    fit();
  };
  const draw = (text) => {
    svg = parsed(text);
    natural = svg ? parseFloat(svg.getAttribute("width")) * 4 / 3 : 0;
    canvas.replaceChildren(svg || make("p", {}, text));
    fit();
  };
  const box = (e) => {
    const at = e.target.closest?.('[id^="n."]');
    return at && canvas.contains(at) ? at.id : null;
  };

  for (const b of buttons.querySelectorAll("button"))
    b.addEventListener("click", () => by(Number(b.dataset.zoom)));
  canvas.addEventListener("keydown", (e) => {
    const factor = { "+": 1.25, "=": 1.25, "-": 0.8, "0": 0 }[e.key];
    if (factor === undefined || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    by(factor);
  });
  canvas.addEventListener("wheel", (e) => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    by(e.deltaY < 0 ? 1.1 : 1 / 1.1);
  }, { passive: false });

  let held = null, moved = false;
  canvas.addEventListener("pointerdown", (e) => {
    moved = false;
    if (e.pointerType === "mouse" && e.button === 0)
      held = { x: e.clientX + canvas.scrollLeft,
        y: e.clientY + canvas.scrollTop };
  });
  addEventListener("pointermove", (e) => {
    if (!held) return;
    const x = held.x - e.clientX, y = held.y - e.clientY;
    if (Math.hypot(x - canvas.scrollLeft, y - canvas.scrollTop) < 4 && !moved)
      return;
    moved = true;
    canvas.scrollTo(x, y);
  });
  addEventListener("pointerup", () => (held = null));
  canvas.addEventListener("click", (e) => {
    const id = box(e);
    if (id && !moved) go(id);
  });
  canvas.addEventListener("mouseover", (e) => near(box(e)));
  canvas.addEventListener("mouseleave", () => near(null));

  return {
    show(text) {
      if (text === shown) return false;
      shown = text;
      if (text.length < LARGE) {
        draw(text);
        return true;
      }
      svg = null;
      const button = make("button", { type: "button" }, "Draw it");
      button.addEventListener("click", () => draw(text));
      canvas.replaceChildren(make("p", {}, "This diagram is large (" +
        `${(text.length / 1e6).toFixed(1)} MB). `, button));
      return true;
    },
    clear() {
      shown = svg = null;
      canvas.replaceChildren();
    },
    fresh() { // another net
      zoom = 0;
    },
    text: () => shown,
    box: (id) => svg && svg.getElementById(id),
    reveal(e) {
      const a = e.getBoundingClientRect(), c = canvas.getBoundingClientRect();
      if (a.top < c.top || a.bottom > c.bottom)
        canvas.scrollBy(0, a.top - c.top - (c.height - a.height) / 2);
    },
  };
};
