// The playground's page: source, diagram and answer, and the worker between
// them. After the load it asks for the second module alone, and for that once.
import { noCard, showCard, showLayers } from "./answer.js";
import { boxAbout } from "../drawing/page/view.js";
import { makeBorders } from "./borders.js";
import { Client, readPacked } from "./client.js";
import { makeAsk, settingsOf, showSliders } from "./controls.js";
import { makeDiagram } from "./diagram.js";
import { makeEditor } from "./editor.js";
import { keep, kept } from "./kept.js";
import * as link from "./link.js";
import { makeSave } from "./save.js";
import { chartKind, makeStrip } from "./strip.js";

const began = performance.now();
const by = (id) => document.getElementById(id);
const embedded = new URLSearchParams(location.search).has("embed");

const UNTITLED = "untitled.net", START = "start.net";
const START_TEXT = `net small_resnet
input 32x32x3
conv 32 3x3 pad bn relu
pool 2x2
add { conv 32 3x3 pad bn relu; conv 32 3x3 pad bn } {}
relu
conv 64 3x3 pad bn relu
pool 2x2
gap
fc 10
train batch=4096 optimizer=adam
`;
const examples = { [START]: START_TEXT };

const state = { name: UNTITLED, settings: {}, define: {}, input: {},
  predict: undefined, tab: "", round: 0 };
let client = null, more = null, editor = null, diagram = null, strip = null;
let showAsk = null;
let last = null, card = null; // of the last text without errors
let pending = null, nets = {}, offered = null;

const note = (text) => {
  by("note").textContent = text || "";
  by("note").hidden = !text;
};

// The second module: all outputs, and the readers of other formats.

const secondModule = async () => {
  const packed = await readPacked("more");
  if (location.protocol !== "file:") { // the last request was made
    const meta = document.createElement("meta");
    meta.httpEquiv = "Content-Security-Policy";
    meta.content = "connect-src 'none'";
    document.head.append(meta);
  }
  const made = new Client(packed, nets);
  made.catalog = (await made.ready).catalog;
  return made;
};
const second = () => (more ??= secondModule().catch((e) => {
  more = null;
  throw e;
}));

const CARD = "txt.card";
const inFirst = (kind) => client.catalog.outputs.includes(kind) ||
  kind === CARD;

// Jobs for the compiler

const job = (kinds) => ({ do: "compile", text: editor.text(),
  name: state.name, settings: settingsOf(state, state.predict),
  define: { ...state.define }, input: { ...state.input },
  predict: state.predict, kinds });

const wanted = () => [CARD, "svg", ...by("report").open ? ["txt"] : [],
  ...strip.open() ? [chartKind(strip.open())] : []];

// An output of the text that is there, by whichever module writes it.
const emit = async (kind) => {
  const answer = await (inFirst(kind) ? client : await second())
    .ask({ ...job([kind]), keep: true });
  return answer.outputs[kind] ?? { refused: answer.message ||
    "the text has errors" };
};

// Links between line, box and row

const lines = { of: new Map(), at: new Map() }; // by id; ids by line

const findPlaces = (places) => {
  lines.of.clear();
  lines.at.clear();
  for (let i = 0; i < places.length; i += 2) {
    const [id, line] = [places[i], places[i + 1]];
    if (!line || lines.of.has(id)) continue;
    lines.of.set(id, line);
    if (!lines.at.has(line)) lines.at.set(line, []);
    lines.at.get(line).push(id);
  }
};

const boxes = (line) => (lines.at.get(line) || [])
  .map((id) => diagram.box(id)).filter(Boolean);
const rows = (line) => by("layers").open ? by("layers")
  .querySelectorAll(`tr[data-line="${line}"]`) : [];

const mark = (look, boxed, rowed) => {
  for (const e of document.querySelectorAll(`.${look}`))
    e.classList.remove(look);
  for (const e of [...boxed, ...rowed]) e.classList.add(look);
};

// The caret's line; `reveal`: its box is brought into sight.
const showCaret = (reveal) => {
  const line = editor.line(), found = boxes(line);
  for (const e of document.querySelectorAll("#canvas [aria-current]"))
    e.removeAttribute("aria-current");
  for (const e of found) e.setAttribute("aria-current", "true");
  mark("here", found, rows(line));
  if (reveal && found.length) diagram.reveal(found[0]);
};

const about = (mark) => boxAbout(mark, (id) => lines.of.has(id));
const chartMarks = (near) => {
  const ids = near.map((e) => e.id);
  return ids.length === 0 ? [] : [...by("panels")
    .querySelectorAll("[role=tabpanel]:not([hidden]) [data-box]")]
    .filter((e) => ids.includes(about(e)));
};

let pointed = "";
const showNear = (line, id, from) => {
  const key = `${line} ${id}`;
  if (key === pointed) return;
  pointed = key;
  const box = id && diagram.box(id);
  const near = box ? [box] : line ? boxes(line) : [];
  mark("near", near, [...line ? rows(line) : [], ...chartMarks(near)]);
  if (from !== "editor") editor.near(line || 0);
};

// The answer on the page

const title = () => {
  const own = last?.facts.name;
  const named = /^\s*net\s+(\w+)/m.exec(editor.text());
  return last && !last.status && own ? own
    : named ? named[1] : state.name.replace(/\.net$/, "");
};

const showTitle = () => {
  document.title = `${title()} - netc`;
  const head = by("card").querySelector("h2");
  if (head) head.textContent = title();
};

const count = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

const listProblems = (problems) => {
  by("problems").replaceChildren(...problems.slice(0, 50).map((p) => {
    const li = document.createElement("li"), go =
      document.createElement("button");
    li.className = p.severity;
    Object.assign(go, { type: "button", className: "go",
      textContent: `${p.severity}, line ${p.line}: ${p.message}` });
    go.addEventListener("click", () => editor.go(p.from));
    li.append(go, ...p.actions.map((a) => {
      const fix = document.createElement("button");
      Object.assign(fix, { type: "button", textContent: a.name });
      fix.addEventListener("click", () => a.apply(editor.view));
      return fix;
    }));
    return li;
  }));
};

const stale = (old) => {
  for (const id of ["diagram", "answer", "strip"])
    by(id).classList.toggle("stale", old);
  by("stale").hidden = !old;
};

// A large answer is shown by several tasks, so that the page stays at hand.
const LARGE = 50e3; // characters
const sizeOf = (answer, text) => text.length +
  Object.values(answer.outputs).reduce((sum, o) => sum +
    (o.text?.length || 0), 0);
const nextTask = () => new Promise((done) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = done;
  port2.postMessage(null);
});

const showAnswer = async (answer, rest) => {
  const { [CARD]: written, svg, txt } = answer.outputs;
  card = written.refused === undefined ? JSON.parse(written.text) : null;
  if (!card) noCard(written.refused);
  else {
    showCard(card, title(), (found) => {
      Object.assign(state.settings, found);
      run();
    });
    findPlaces(card.places);
  }
  by("layers").hidden = !card;
  by("layers").stale = true;
  if (card && by("layers").fresh)
    by("layers").open = card.layers.length <= 12;
  by("layers").fresh = false;
  if (!await rest()) return;
  showRows();
  if (!await rest()) return;
  diagram.show(svg.refused ?? svg.text);
  showCaret(false);
  by("report").hidden = false;
  if (txt) by("report").querySelector("pre").textContent =
    txt.refused ?? txt.text;
};

const showRows = () => {
  if (!by("layers").open || !by("layers").stale || !card) return;
  by("layers").stale = false;
  showLayers(card);
};

// A chart of the second module comes later, if the text is still the same.
const showChart = async (answer) => {
  const name = strip.open(), text = editor.text();
  if (!name) return;
  const kind = chartKind(name);
  const output = answer.outputs[kind] && inFirst(kind) ? answer.outputs[kind]
    : await emit(kind).catch((e) => ({ refused: e.message }));
  if (editor.text() === text) strip.put(name, output);
};

const present = async (answer, text) => {
  last = answer;
  const large = sizeOf(answer, text) > LARGE;
  const rest = async () => {
    if (large) await nextTask();
    return last === answer;
  };
  const problems = editor.show(answer, text, state.name);
  listProblems(problems);
  note([...answer.complaints, answer.message].filter(Boolean).join("\n"));
  const errors = problems.filter((p) => p.severity === "error").length;
  const warnings = problems.length - errors;
  by("status").textContent = [title(),
    errors ? count(errors, "error") : answer.status ? "not compiled" : "compiled",
    warnings ? count(warnings, "warning") : ""].filter(Boolean).join(", ");
  stale(answer.status !== 0 && card !== null);
  if (answer.status === 0) {
    if (!await rest()) return;
    await showAnswer(answer, rest);
    if (last !== answer) return;
  } else if (!card) noCard("No answer yet: the text has errors.");
  // A board answers about inference alone.
  showAsk(answer.status ? answer.predict : card?.predict, card?.serves);
  showTitle();
  if (!answer.status || answer.facts.params.length)
    by("params").hidden = !showSliders(answer.facts, state, run, true);
  if (answer.status === 0) await showChart(answer);
};

// Compiles what is there; the last call wins. Resolves when it is shown.
const run = () => {
  const text = editor.text();
  remember();
  pending = client.ask(job(wanted().filter(inFirst))).then((answer) => {
    if (answer && editor.text() === text) return present(answer, text);
  }, (e) => {
    note(`The compiler stopped (${e.message}); a fresh one is there.`);
    by("status").textContent = "stopped";
  });
  return pending;
};

// Address and memory follow the text.

let later = 0;
const isExample = () => examples[state.name] === editor.text();
const place = () => {
  const whole = by("whole");
  whole.href = location.href.replace(/\?[^#]*/, "");
};

const write = async () => {
  const zoo = isExample() && state.name.replace(/\.net$/, "");
  const at = await link.write({ ...state, text: editor.text() }, zoo);
  history.replaceState(null, "", at);
  place();
  return at;
};

const remember = () => {
  const own = !isExample();
  if (own && Object.hasOwn(examples, state.name)) state.name = UNTITLED;
  by("zoo").value = own ? "" : state.name;
  clearTimeout(later);
  if (state.opening) return;
  const save = (at) => own && !embedded && keep({ ...state,
    text: editor.text(), link: at });
  save(location.hash);
  later = setTimeout(async () => save(await write()), 300);
};

const offer = (old) => {
  offered = old;
  by("kept").hidden = !old;
  by("kept").firstElementChild.textContent =
    "Your last text is kept in this browser.";
};

// Opening a text

const open = async (name, text, from = {}) => {
  Object.assign(state, { name, settings: from.settings || {},
    define: from.define || {}, input: from.input || {},
    predict: from.predict, tab: "", opening: true });
  state.round++;
  last = card = null;
  by("layers").fresh = true;
  by("layers").hidden = by("report").hidden = true;
  by("card").replaceChildren();
  findPlaces([]);
  diagram.clear();
  diagram.fresh();
  strip.clear();
  strip.show(from.tab || strip.open());
  state.tab = strip.open();
  editor.write(text);
  note(from.error);
  const shown = run();
  state.opening = false;
  await shown;
  if (from.error) note(from.error);
};

const restore = (old) => open(old.name || UNTITLED, old.text, old);

const follow = async (fragment = location.hash) => {
  const found = await link.read(fragment).catch((e) => ({
    error: `This link is damaged: ${e.message}` }));
  if (found.text !== undefined)
    return open(found.name || UNTITLED, found.text, found);
  const name = `${found.zoo}.net`;
  if (found.zoo !== undefined && Object.hasOwn(examples, name))
    return open(name, examples[name], found);
  return open(START, START_TEXT, { ...found,
    settings: { gpu: "rtx4090", ...found.settings } });
};

// The page's own address has the same text, or an older one.
const begin = async () => {
  const old = embedded ? null : kept();
  if (old && (!location.hash || location.hash === old.link))
    return restore(old);
  await follow();
  if (old && old.text !== editor.text()) offer(old);
};

// Files of values come after the model that they are dropped with.
const VALUES = /\.(bin|caffemodel|data|safetensors|weights)$/i;

// A file of others becomes a source; those dropped with it are its neighbours.
const convert = (name, files) => second().then((reader) => reader.ask({
  do: "import", name, files })).catch((e) => ({ refused: e.message }));

const take = async (list) => {
  const files = [...list].map((file) => ({ file,
    name: file.name.replace(/[^\w.-]/g, "_").slice(-80) }));
  if (!files.length) return;
  const { name, file } = files.find((f) => !VALUES.test(f.name)) || files[0];
  const source = /\.net$/i.test(name);
  if (source && file.size > link.MOST_BYTES)
    return note(`${name} is larger than 1 MB: netc ${name} opens it.`);
  if (source) return open(name, await file.text());
  note(`Reading ${name}. Nothing leaves this page.`);
  const made = await convert(name, files);
  if (made.refused === undefined)
    return open(name.replace(/\.\w+$/, "") + ".net", made.text);
  return note(`${name}: ${made.refused}\nnetc import ${name} -o x.net ` +
    "writes a source, which can be opened here.");
};

const listen = () => {
  by("zoo").append(new Option("your own", ""), ...Object.keys(examples)
    .map((n) => new Option(n.replace(/\.net$/, ""), n)));
  by("zoo").addEventListener("change", async (e) => {
    const name = e.target.value, own = isExample() ? null : { ...state,
      text: editor.text() };
    if (!name) return;
    const { gpu } = state.settings;
    await open(name, examples[name], { settings: gpu ? { gpu } : {} });
    await write();
    if (own) offer(own);
  });
  by("kept").querySelector("button").addEventListener("click", () => {
    const old = offered;
    offer(null);
    restore(old);
  });
  by("share").addEventListener("click", async () => {
    await write();
    const copied = await navigator.clipboard?.writeText(location.href)
      .then(() => true, () => false);
    by("status").textContent = copied ? "The link is copied."
      : "The link is in the address bar.";
  });
  by("open").addEventListener("click", () => by("file").click());
  by("file").addEventListener("change", (e) => {
    const chosen = [...e.target.files];
    e.target.value = ""; // so that the same file can be chosen again
    take(chosen);
  });
  makeSave(by("save"), by("kinds"), { emit, say: note,
    source: () => editor.text(), name: title });
  by("layers").addEventListener("toggle", () => {
    showRows();
    showCaret(false);
  });
  by("report").addEventListener("toggle", () => by("report").open && run());
  const rowOf = (e) => e.target.closest?.("tr[data-box]");
  by("layers").addEventListener("click", (e) => rowOf(e) &&
    editor.goLine(Number(rowOf(e).dataset.line)));
  by("layers").addEventListener("mouseover", (e) => {
    const row = rowOf(e);
    showNear(row ? Number(row.dataset.line) : 0, row?.dataset.box, "row");
  });
  by("layers").addEventListener("mouseleave", () => showNear(0, "", "row"));
  addEventListener("dragover", (e) => {
    e.preventDefault();
    document.body.classList.add("drop");
  });
  addEventListener("dragleave", () => document.body.classList.remove("drop"));
  addEventListener("drop", (e) => {
    e.preventDefault();
    document.body.classList.remove("drop");
    take(e.dataTransfer.files);
  });
  addEventListener("hashchange", () => {
    const own = isExample() ? null : { ...state, text: editor.text() };
    follow().then(() => own && own.text !== editor.text() && offer(own));
  });
};

const makeParts = () => {
  diagram = makeDiagram(by("canvas"), by("zoom"), {
    near: (id) => showNear(lines.of.get(id) || 0, id, "box"),
    go: (id) => editor.goLine(lines.of.get(id) || 0) });
  makeBorders(document.querySelector("main"),
    [...document.querySelectorAll("[role=separator]")]);
  strip = makeStrip(by("tabs"), by("panels"), {
    opened: () => {
      state.tab = strip.open();
      run();
    },
    near: (mark) => {
      const id = about(mark);
      showNear(lines.of.get(id) || 0, id, "chart");
    },
    go: (mark) => editor.goLine(lines.of.get(about(mark)) || 0) });
  editor = makeEditor(by("editor"), {
    ask: (message) => client.ask(message),
    // A completion waits until the compiler has seen the text.
    changed: (now) => {
      if (!client || state.opening) return undefined;
      if (now) return pending || run();
      return run();
    },
    moved: () => client && showCaret(true),
    near: (line) => showNear(line, "", "editor") });
};

const start = async () => {
  const loading = readPacked("netc").then((packed) => new Client(packed, {}));
  await nextTask(); // the worker begins
  makeParts();
  const made = await loading, opened = await made.ready;
  nets = opened.nets;
  made.catalog = opened.catalog;
  for (const name of Object.keys(nets).sort()) examples[name] = nets[name];
  showAsk = makeAsk(made.catalog, state, run);
  client = made;
  listen();
  document.body.classList.toggle("embed", embedded);
  by("whole").hidden = !embedded;
  await begin();
  place();
  by("status").dataset.ready = Math.round(performance.now() - began);
};

// For scripts of this page's reader, and for tests: what a source gives, by the
// module that has the outputs or by the second; the fragment of a link opened;
// milliseconds from an edit to what it changes.
window.netc = {
  compile: async (text, options = {}) => {
    const kinds = options.kinds || ["txt"];
    const by = options.second || !kinds.every(inFirst) ? await second() : client;
    return by.ask({ do: "compile", keep: true, text, kinds,
      name: options.name || "main.net", settings: options.settings || {},
      define: options.define || {}, input: options.input || {},
      predict: options.predict });
  },
  import: (name, parts, more = []) => convert(name, [{ name,
    file: new Blob(parts) }, ...more.map(([n, p]) => ({ name: n,
    file: new Blob(p) }))]),
  outputs: async () => ({ first: client.catalog.outputs,
    second: (await second()).catalog.outputs }),
  text: () => editor.text(),
  settled: () => pending,
  follow,
  async keystroke(times) {
    const took = [];
    for (let i = 0; i < times; i++) {
      const end = editor.view.state.doc.length, t = performance.now();
      editor.view.dispatch({ changes: i % 2 ? { from: end - 1, to: end }
        : { from: end, insert: "\n" } });
      await pending;
      document.body.getBoundingClientRect(); // laid out
      took.push(performance.now() - t);
    }
    return took.sort((a, b) => a - b)[times >> 1];
  },
};

start().catch((e) => {
  by("status").textContent = `The playground cannot start: ${e.message}`;
});
