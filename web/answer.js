// The answer as a card, which `netc` writes as the output `txt.card`.
import { settingsIn } from "./controls.js";
import { parsed } from "./diagram.js";
import { make } from "./make.js";

const by = (id) => document.getElementById(id);

// Options in the card that the page has become buttons for `choose`.
export const showCard = (card, name, choose) => {
  by("card").replaceChildren(...parsed(card.html, "text/html")
    .querySelector("body").childNodes);
  by("card").querySelector(".counts").before(make("h2", {}, name));
  for (const code of by("card").querySelectorAll("dd code")) {
    const found = settingsIn(code.textContent);
    if (!found) continue;
    const button = make("button", { type: "button" });
    button.addEventListener("click", () => choose(found));
    code.replaceWith(button);
    button.append(code);
  }
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
