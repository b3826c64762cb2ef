// The playground's page: the editor, the tabs of outputs, and the worker
// between them. It asks for nothing after the load.
import nets from "data:nets";
import { Client } from "./client.js";
import { fillMenus, showMenus, showSliders } from "./controls.js";
import { makeEditor } from "./editor.js";
import * as link from "./link.js";
import { fetchModule, moduleOf } from "./module.js";

// The zoo; what has a folder is for a config.json of Hugging Face.
const examples = Object.fromEntries(Object.keys(nets).sort()
  .filter((n) => !n.includes("/")).map((n) => [n, nets[n]]));

const began = performance.now();
const by = (id) => document.getElementById(id);

// What is drawn stands in the page; charts are pictures; the page of `-o
// x.html` has a frame of its own, which may reach nothing here.
const TABS = [["report", "Report", "txt", "text"],
  ["diagram", "Diagram", "svg", "drawing"],
  ["timeline", "Timeline", "timeline.svg", "picture"],
  ["arena", "Arena", "arena.svg", "picture"],
  ["bars", "Bars", "bars.svg", "picture"],
  ["roofline", "Roofline", "roofline.svg", "picture"],
  ["header", "C header", "h", "text"],
  ["pytorch", "PyTorch", "py", "text"],
  ["page", "Page", "html", "page"]];

const state = { name: "main.net", settings: {}, define: {}, input: {},
  tab: "report", round: 0 };
let client = null, editor = null, last = null, pending = null;

const note = (text) => {
  by("note").textContent = text || "";
  by("note").hidden = !text;
};

// Tabs

const select = (tab, focus) => {
  state.tab = tab;
  for (const [name] of TABS) {
    const button = by(`tab-${name}`), on = name === tab;
    button.setAttribute("aria-selected", on);
    button.tabIndex = on ? 0 : -1;
    by(`panel-${name}`).hidden = !on;
    if (on && focus) button.focus();
    if (on) by("tabs").scrollLeft = button.offsetLeft - 40;
  }
};

const makeTabs = () => {
  TABS.forEach(([name, label], i) => {
    const tab = document.createElement("button");
    Object.assign(tab, { id: `tab-${name}`, type: "button",
      textContent: label });
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", `panel-${name}`);
    tab.addEventListener("click", () => {
      select(name);
      show();
    });
    tab.addEventListener("keydown", (e) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0,
        End: TABS.length - 1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      select(TABS[(to + TABS.length) % TABS.length][0], true);
      show();
    });
    const panel = document.createElement("div");
    Object.assign(panel, { id: `panel-${name}`, className: `panel ${name}`,
      tabIndex: 0 });
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", `tab-${name}`);
    by("tabs").append(tab);
    by("panels").append(panel);
  });
};

const save = (kind, text) => {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "save",
    textContent: "Save" });
  button.addEventListener("click", () => {
    const a = document.createElement("a");
    a.href = URL.createObjectURL(new Blob([text]));
    a.download = `${(last && last.facts.name) || "net"}.${kind}`;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  });
  return button;
};

// The library escapes all names; what could act goes all the same.
const drawing = (text) => {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml")
    .documentElement;
  if (svg.localName !== "svg") return text;
  for (const e of svg.querySelectorAll("script,foreignObject")) e.remove();
  for (const e of svg.querySelectorAll("*"))
    for (const a of [...e.attributes])
      if (/^on|href$/i.test(a.name)) e.removeAttribute(a.name);
  return document.adoptNode(svg);
};

const element = (look, text, label) => {
  const e = document.createElement({ text: "pre", picture: "img",
    page: "iframe" }[look]);
  if (look === "text") e.textContent = text;
  if (look === "picture") {
    const told = /<desc[^>]*>([^<]*)/.exec(text);
    e.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    e.onload = e.onerror = () => URL.revokeObjectURL(e.src);
    e.alt = `${label}: ${told ? told[1] : ""}`;
  }
  if (look === "page") {
    e.setAttribute("sandbox", "allow-scripts");
    e.title = "The net as a page";
    e.srcdoc = text;
  }
  return e;
};

const fill = ([name, label, kind, look], output) => {
  const panel = by(`panel-${name}`);
  const text = output.refused === undefined ? output.text : output.refused;
  panel.classList.remove("stale");
  if (panel.shown === text) return;
  panel.shown = text;
  const content = output.refused !== undefined ? element("text", text)
    : look === "drawing" ? drawing(text) : element(look, text, label);
  panel.replaceChildren(save(kind, text), content);
};

const wanted = () => [...new Set(["txt", "svg",
  TABS.find(([n]) => n === state.tab)[2]])];

// Compiling

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

const present = (answer, text) => {
  last = answer;
  const problems = editor.show(answer, text, state.name);
  listProblems(problems);
  note([...answer.complaints, answer.message].filter(Boolean).join("\n"));
  const errors = problems.filter((p) => p.severity === "error").length;
  const warnings = problems.length - errors;
  by("status").textContent = [answer.facts.name || state.name,
    errors ? count(errors, "error") : answer.status ? "not compiled" : "compiled",
    warnings ? count(warnings, "warning") : ""].filter(Boolean).join(", ");
  for (const tab of TABS) {
    const output = answer.outputs[tab[2]];
    if (output) fill(tab, output);
    else if (answer.status && by(`panel-${tab[0]}`).shown !== undefined)
      by(`panel-${tab[0]}`).classList.add("stale");
  }
  if (answer.status) {
    const report = by("panel-report");
    if (!report.shown) report.replaceChildren(element("text", answer.printed));
  }
  if (!answer.status || answer.facts.params.length)
    showSliders(answer.facts, state, run);
};

// Compiles what is there; the last call wins. Resolves when it is shown.
const run = async () => {
  const text = editor.text();
  const job = client.ask({ do: "compile", text, name: state.name,
    settings: { ...state.settings }, define: { ...state.define },
    input: { ...state.input }, kinds: wanted() });
  pending = job.then((answer) => {
    if (!answer) return;
    if (editor.text() === text) present(answer, text);
  }, (e) => {
    note(`The compiler stopped (${e.message}); a fresh one is there.`);
    by("status").textContent = "stopped";
  });
  return pending;
};

const show = () => {
  const kind = TABS.find(([n]) => n === state.tab)[2];
  return last && last.outputs[kind] ? undefined : run();
};

// What is open

const open = (name, text, from = {}) => {
  Object.assign(state, { name, settings: from.settings || {},
    define: from.define || {}, input: from.input || {} });
  state.round++;
  by("zoo").value = examples[name] === text ? name : "";
  for (const [tab] of TABS) by(`panel-${tab}`).shown = undefined;
  last = null;
  showMenus(state);
  select(TABS.some(([n]) => n === from.tab) ? from.tab : state.tab);
  editor.write(text);
  note(from.error);
  return run().then(() => from.error && note(from.error));
};

const follow = async (fragment = location.hash) => {
  const found = await link.read(fragment).catch((e) => ({
    error: `This link is damaged: ${e.message}` }));
  const zoo = `${found.zoo || "resnet"}.net`;
  const example = Object.hasOwn(examples, zoo) ? zoo : "resnet.net";
  if (found.text !== undefined)
    return open(found.name || "main.net", found.text, found);
  return open(example, examples[example], found);
};

// Of Darknet, Caffe or Hugging Face: the compiler writes the source.
const convert = async (name, text, command) => {
  const made = await client.ask({ do: "import", name: name.toLowerCase(), text })
    .catch((e) => ({ refused: e.message }));
  if (made.refused !== undefined)
    note(`${name}: ${made.refused}\n${command}`);
  else await open(name.replace(/\.\w+$/, ".net"), made.text);
};

const take = async (file) => {
  if (!file) return;
  const name = file.name.replace(/[^\w.-]/g, "_").slice(-80);
  const read = /\.(cfg|prototxt|json)$/i.test(name);
  const command = `netc import ${name} -o x.net writes a source, which can ` +
    "be opened here.";
  if (!read && !/\.net$/i.test(name))
    note(`${name} is opened by the program: netc ${name}\n${command}`);
  else if (file.size > link.MOST_BYTES)
    note(`${name} is larger than 1 MB: netc ${name} opens it.`);
  else if (read) await convert(name, await file.text(), command);
  else await open(name, await file.text());
};

const listen = () => {
  by("zoo").append(new Option("your own", ""), ...Object.keys(examples)
    .map((n) => new Option(n.replace(/\.net$/, ""), n)));
  by("zoo").addEventListener("change", (e) => e.target.value &&
    open(e.target.value, examples[e.target.value]));
  by("share").addEventListener("click", async () => {
    history.replaceState(null, "", await link.write({ ...state,
      text: editor.text() }));
    const copied = await navigator.clipboard?.writeText(location.href)
      .then(() => true, () => false);
    by("status").textContent = copied ? "The link is copied."
      : "The link is in the address bar.";
  });
  by("open").addEventListener("click", () => by("file").click());
  by("file").addEventListener("change", (e) => take(e.target.files[0]));
  addEventListener("dragover", (e) => {
    e.preventDefault();
    document.body.classList.add("drop");
  });
  addEventListener("dragleave", () => document.body.classList.remove("drop"));
  addEventListener("drop", (e) => {
    e.preventDefault();
    document.body.classList.remove("drop");
    take(e.dataTransfer.files[0]);
  });
  addEventListener("hashchange", () => follow());
};

const embed = () => {
  if (!new URLSearchParams(location.search).has("embed")) return;
  document.body.classList.add("embed");
  const whole = by("whole");
  whole.hidden = false;
  const to = () => {
    whole.href = location.href.replace(/\?[^#]*/, "");
  };
  to();
  addEventListener("hashchange", to);
};

// The compiler is a file beside the page, or in it.
const compiler = async () => {
  const here = by("wasm");
  if (here) return moduleOf(here);
  const module = await fetchModule("netc.wasm.lzma");
  const meta = document.createElement("meta");
  meta.httpEquiv = "Content-Security-Policy";
  meta.content = "connect-src 'none'"; // the last request was made
  document.head.append(meta);
  return module;
};

const start = async () => {
  makeTabs();
  select("report");
  const module = compiler();
  editor = makeEditor(by("editor"), {
    ask: (job) => client.ask(job),
    // A completion waits until the compiler has seen the text.
    changed: (now) => {
      if (!client) return undefined;
      if (now) return pending || run();
      return run();
    } });
  const made = new Client(await module, nets);
  const { catalog } = await made.ready;
  fillMenus(catalog, state, run);
  window.netc.outputs = catalog.outputs;
  client = made;
  listen();
  embed();
  await follow();
  by("status").dataset.ready = Math.round(performance.now() - began);
};

// For scripts of this page's reader, and for tests: what a source gives; the
// fragment of a link opened; milliseconds from an edit to what it changes.
window.netc = {
  compile: (text, options = {}) => client.ask({ do: "compile", keep: true,
    text, name: options.name || "main.net", settings: options.settings || {},
    define: options.define || {}, input: options.input || {},
    kinds: options.kinds || ["txt"] }),
  import: (name, text) => client.ask({ do: "import", name, text }),
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
