// In the page of `netc x.net -o x.html --live`: a slider for each param and
// for the sizes of inputs. Each move compiles the net anew, and what it says
// takes the place of what was there. It stands before the page's own script.
import { Client, readPacked } from "./client.js";
import { showSliders } from "./controls.js";

const by = (id) => document.getElementById(id);
const net = JSON.parse(by("net").textContent);
const state = { name: net.name, round: 0, define: net.define,
  input: net.input };
const own = net.files[net.name];

// The page's script listens to the whole page; it does so anew with what it
// is about, and then not twice.
let listening = new AbortController();
for (const target of [window, document]) {
  const add = target.addEventListener.bind(target);
  target.addEventListener = (type, f, options) => add(type, f,
    { ...(typeof options === "object" ? options : { capture: !!options }),
      signal: listening.signal });
}

const style = document.createElement("style");
style.textContent = "#live{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;" +
  "max-width:1500px;margin:.6rem auto 0;padding:0 1.2rem;font-size:.9rem}" +
  "#sliders{display:contents}" +
  ".slider{display:flex;gap:.4rem;align-items:center}" +
  ".slider input[type=range]{width:9em}.slider input[type=text]{width:9em}" +
  ".slider output{min-width:3em}#live-note{color:var(--bad)}" +
  "@media(max-width:600px){.slider{flex:1 1 100%}" +
  ".slider input[type=range]{flex:1}}@media print{#live{display:none}}";
document.head.append(style);
const bar = document.createElement("div");
bar.id = "live";
bar.setAttribute("role", "group");
bar.setAttribute("aria-label", "Params and input sizes");
const sliders = document.createElement("div");
sliders.id = "sliders";
const note = document.createElement("span");
note.id = "live-note";
note.setAttribute("role", "status");
bar.append(sliders, note);
document.querySelector("main").before(bar);

const show = (html) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  const at = scrollY;
  listening.abort();
  listening = new AbortController();
  for (const part of ["header", "main", "#detail", "#tip"])
    document.querySelector(part).replaceWith(page.querySelector(part));
  for (const e of document.head.querySelectorAll("style"))
    if (e !== style) e.remove();
  document.head.prepend(...page.head.querySelectorAll("style"));
  document.title = page.title;
  const last = [...page.querySelectorAll("body > script")].pop();
  const script = document.createElement("script");
  script.textContent = last.textContent;
  document.body.append(script);
  script.remove();
  scrollTo(scrollX, at);
};

let client = null;
const run = async (first) => {
  const job = { do: "compile", name: net.name, text: own,
    settings: net.settings, define: state.define, input: state.input,
    kinds: first ? [] : ["html"] };
  let answer;
  try {
    answer = await client.ask(job);
  } catch (e) {
    note.textContent = `The compiler was stopped: ${e.message}.`;
    return;
  }
  if (!answer) return;
  const wrong = answer.diagnostics.find((d) => d.error);
  const html = answer.outputs.html;
  note.textContent = wrong ? wrong.message
    : answer.complaints[0] || html?.refused || answer.message;
  if (answer.status === 0)
    sliders.hidden = !showSliders(answer.facts, state, () => run());
  if (answer.status === 0 && html?.text) show(html.text);
};

const start = async () => {
  const made = new Client(await readPacked("netc"), net.files);
  await made.ready;
  client = made;
  await run(true);
  bar.dataset.ready = "";
};
start().catch((e) => {
  note.textContent = `This page cannot compile: ${e.message}.`;
});
