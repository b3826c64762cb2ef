// The answer as a card: the words and digits are those of `netc`, which writes
// them as the output `txt.card`.
import { make } from "./make.js";

const by = (id) => document.getElementById(id);
const percent = (part, all) => `${(100 * part / all).toFixed(2)}%`;

// The parts against the card; behind them what is not available on it.
const bar = (card) => {
  const parts = card.parts, need = parts.reduce((sum, p) => sum + p.bytes, 0);
  const taken = card.device ? Math.max(0, card.device - card.room) : 0;
  const all = Math.max(need + taken, card.device || 0);
  const piece = (look, bytes, title) => make("span", { class: look, title,
    style: `width:${percent(bytes, all)}` });
  const made = make("div", { class: "bar", role: "img",
    "aria-label": card.rows[0].lead + ": " + card.rows[0].text },
  ...parts.map((p, i) => piece(`part part${i % 8}`, p.bytes,
    `${p.name} ${p.size}`)));
  if (!card.device) return made;
  const free = Math.max(0, card.device - taken - need);
  made.append(piece("free", free, "free"),
    piece("taken", taken, "not available to the net"));
  if (all > card.device)
    made.append(make("span", { class: "end", title: "the end of the card",
      style: `left:${percent(card.device, all)}` }));
  return made;
};

const legend = (card) => make("ul", { class: "legend" },
  ...card.parts.map((p, i) => make("li", {},
    make("span", { class: `dot part${i % 8}` }), `${p.name} `,
    make("b", {}, p.size))));

// A row without a label belongs to the one before.
const facts = (rows) => {
  const list = make("dl", {});
  let value = null;
  for (const row of rows) {
    if (row.label) {
      value = make("dd", {});
      list.append(make("dt", {}, row.label), value);
    }
    if (value) value.append(make("div", {},
      ...row.lead ? [row.option ? make("code", {}, row.lead) : row.lead, " "]
        : [], row.text));
  }
  return list;
};

const verdict = (card) => {
  const needs = make("span", { class: "needs" }, card.rows[0].lead);
  if (!card.verdict) return make("p", { class: "verdict" }, "needs ", needs);
  return make("p", { class: "verdict " + card.verdict.replaceAll(" ", "-") },
    make("strong", {}, card.verdict), `, ${card.spare}`);
};

export const showCard = (card, name) => {
  const [first, ...rest] = card.rows;
  const bars = card.parts.length > 0;
  by("card").replaceChildren(verdict(card),
    ...bars ? [bar(card), legend(card)] : [],
    make("h2", {}, name),
    make("p", { class: "counts" }, card.counts),
    make("p", { class: "question" }, card.question),
    facts(bars && !card.verdict ? rest
      : [bars ? { ...first, text: "" } : first, ...rest]));
};

export const noCard = (why) => by("card").replaceChildren(
  make("p", { class: "question" }, why));

const ROWS = 300; // at a time

// The rows are made when they are seen; `more` adds those that follow.
const tableRows = (card, from) => card.layers.slice(from, from + ROWS)
  .map(([place, name, mark, ...cells]) => {
    const depth = /^ */.exec(name)[0].length / 2;
    const button = make("button", { type: "button" }, name.trim());
    button.style.marginLeft = `${depth}em`;
    return make("tr", { "data-box": card.places[2 * place] || "",
      "data-line": card.places[2 * place + 1] || "" },
    make("th", { scope: "row" }, button, mark && ` ${mark}`),
    ...cells.map((text) => make("td", {}, text)));
  });

export const showLayers = (card) => {
  const heads = card.columns.filter((_, i) => i !== 1);
  const body = make("tbody", {}, ...tableRows(card, 0));
  const table = make("table", {}, make("thead", {}, make("tr", {},
    ...heads.map((text) => make("th", { scope: "col" }, text)))), body);
  const made = [table];
  if (card.layers.length > ROWS) {
    const more = make("button", { type: "button" }, "More rows");
    let shown = ROWS;
    more.addEventListener("click", () => {
      body.append(...tableRows(card, shown));
      shown += ROWS;
      more.hidden = shown >= card.layers.length;
    });
    made.push(more);
  }
  if (card.left_out) made.push(`${card.left_out} more rows are in the report.`);
  by("layers").lastElementChild.replaceChildren(...made);
};
