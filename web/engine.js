// The worker: netc.wasm, and what the page asks of it. A message is {id, do,
// ...}; the answer {id, ...} or {id, error}. One request is one job, so that
// the page can replace a worker that takes too long.
import { compile } from "./module.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
let wasm = null, memory = null;
let files = {};
let chosen = ""; // the settings of the net that is open

// Files that the page has opened, which the module reads in parts.
let opened = [];
const page = {
  find: (at, length) => {
    const name = decoder.decode(new Uint8Array(memory.buffer, at, length));
    return opened.findIndex((f) => f.name === name);
  },
  size: (file) => opened[file].file.size,
  read(file, from, to, count) {
    try {
      const part = new FileReaderSync().readAsArrayBuffer(
        opened[file].file.slice(from, from + count));
      if (part.byteLength !== count) return 0;
      new Uint8Array(memory.buffer, to, count).set(new Uint8Array(part));
      return 1;
    } catch {
      return 0; // it was changed or removed
    }
  },
};

// No clocks or terminals: WASI's calls are refused.
const refused = (name) => () => {
  if (name === "proc_exit") throw new Error("out of memory");
  return 52; // ENOSYS
};

const start = async (module) => {
  const imports = {};
  memory = new WebAssembly.Memory({ initial: 32 }); // as docs/docs.mk says
  for (const i of WebAssembly.Module.imports(module))
    (imports[i.module] ??= {})[i.name] = i.kind === "memory" ? memory
      : i.module === "page" ? page[i.name] : refused(i.name);
  wasm = (await WebAssembly.instantiate(module, imports)).exports;
  wasm._initialize();
  if (!wasm.web_open()) throw new Error("out of memory");
};

const text = (string) => {
  const bytes = encoder.encode(string.replaceAll("\0", "\ufffd"));
  const at = wasm.web_take(bytes.length + 1);
  if (!at) throw new Error("out of memory");
  const room = new Uint8Array(memory.buffer, at, bytes.length + 1);
  room.set(bytes);
  room[bytes.length] = 0;
  return at;
};

const call = (name, ...texts) => {
  const places = texts.map(text);
  const status = wasm[name](...places);
  places.forEach((p) => wasm.web_give(p));
  return status;
};

const bytes = () => new Uint8Array(memory.buffer, wasm.web_out(),
  wasm.web_length());
const said = () => decoder.decode(bytes());
const json = (name, ...args) => {
  wasm[name](...args);
  return JSON.parse(said());
};

const put = (name, content) => {
  if (files[name] === content) return;
  files[name] = content;
  wasm.web_file(text(name), text(content));
};

// Settings that are taken back need a net without any. What is refused is said
// and left out.
const choose = (job) => {
  const wanted = JSON.stringify([job.settings, job.define, job.input, job.name]);
  if (wanted === chosen) return choose.complaints;
  if (!wasm.web_open()) throw new Error("out of memory");
  chosen = wanted;
  choose.complaints = [];
  for (const [what, values] of [["set", job.settings], ["define", job.define],
    ["input", job.input]])
    for (const [name, value] of Object.entries(values || {}))
      if (call("web_choose", what, name, String(value)))
        choose.complaints.push(said());
  return choose.complaints;
};
choose.complaints = [];

// PDF alone is no text.
const emit = (kind, predict) => {
  const at = text(kind), status = wasm.web_emit(at, predict);
  wasm.web_give(at);
  if (status) return { refused: said() };
  return /pdf$/.test(kind) ? { bytes: bytes().slice() } : { text: said() };
};

const tasks = {
  // A module that is packed, or that an earlier worker has compiled.
  async start(job) {
    const { module, nets } = job.module ? job : await compile(job.packed);
    await start(module);
    for (const [name, content] of Object.entries({ ...nets, ...job.files }))
      put(name, content);
    return { catalog: json("web_catalog"), module, nets };
  },
  compile(job) {
    const complaints = choose(job);
    put(job.name, job.text);
    const status = call("web_load", job.name);
    const answer = { status, complaints, outputs: {},
      message: status > 1 ? said() : "",
      diagnostics: json("web_diagnostics"),
      tokens: Int32Array.from(json("web_tokens")),
      hints: json("web_hints"), facts: json("web_facts") };
    answer.predict = job.predict ?? !!answer.facts.asks;
    if (status === 0)
      for (const kind of job.kinds)
        answer.outputs[kind] = emit(kind, answer.predict);
    wasm.web_complaints();
    answer.printed = said();
    return answer;
  },
  // One of the files as a source, or what is wrong with it.
  import(job) {
    opened = job.files;
    const status = call("web_import", job.name);
    opened = [];
    return status ? { refused: said() } : { text: said() };
  },
  choices(job) {
    return { choices: json("web_choices", job.byte) };
  },
  hover(job) {
    return json("web_hover", job.byte);
  },
};

self.onmessage = async ({ data }) => {
  try {
    self.postMessage({ id: data.id, ...await tasks[data.do](data) });
  } catch (e) {
    // A trap leaves memory in no state that can be trusted.
    self.postMessage({ id: data.id, error: String(e.message || e) });
  }
};
