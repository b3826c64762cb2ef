// The strip of charts: closed at first; the open one follows the text.
import { parsed } from "./diagram.js";
import { make } from "./make.js";

export const CHARTS = [["timeline", "Timeline"], ["roofline", "Roofline"],
  ["arena", "Arena"], ["volumes", "Volumes"]];
export const chartKind = (name) => `${name}.svg`;

// `opened` hears that another chart is open, `near` of the mark under the
// pointer or of null, `go` of the one that is chosen.
export const makeStrip = (tabs, panels, { opened, near, go }) => {
  const markAt = (e) => e.target.closest?.("[data-box]");
  panels.addEventListener("mouseover", (e) => near(markAt(e)));
  panels.addEventListener("mouseleave", () => near(null));
  panels.addEventListener("click", (e) => markAt(e) && go(markAt(e)));
  let open = "";
  const all = CHARTS.map(([name, label], i) => {
    const tab = make("button", { type: "button", id: `tab-${name}`,
      role: "tab", "aria-controls": `panel-${name}`, "aria-selected": "false",
      tabindex: i ? -1 : 0 }, label);
    const panel = make("div", { id: `panel-${name}`, role: "tabpanel",
      tabindex: 0, "aria-labelledby": `tab-${name}`, hidden: "" });
    tab.addEventListener("click", () => choose(open === name ? "" : name));
    tab.addEventListener("keydown", (e) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0,
        End: CHARTS.length - 1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      const [next] = CHARTS[(to + CHARTS.length) % CHARTS.length];
      if (open) choose(next);
      focus(next).focus();
    });
    tabs.append(tab);
    panels.append(panel);
    return { name, label, tab, panel, shown: null };
  });
  const focus = (name) => {
    for (const c of all) c.tab.tabIndex = c.name === name ? 0 : -1;
    return all.find((c) => c.name === name).tab;
  };
  const show = (name) => {
    open = name;
    panels.hidden = !name;
    for (const c of all) {
      c.tab.setAttribute("aria-selected", c.name === name);
      c.panel.hidden = c.name !== name;
    }
    if (name) focus(name);
  };
  const choose = (name) => {
    show(name);
    opened();
  };
  return {
    open: () => open,
    show: (name) => show(CHARTS.some(([n]) => n === name) ? name : ""),
    put(name, output) {
      const c = all.find((chart) => chart.name === name);
      const text = output.refused ?? output.text;
      if (c.shown === text) return;
      c.shown = text;
      c.panel.replaceChildren(output.refused === undefined
        ? parsed(text) : make("p", {}, text));
    },
    clear() {
      for (const c of all) {
        c.shown = null;
        c.panel.replaceChildren();
      }
    },
  };
};
