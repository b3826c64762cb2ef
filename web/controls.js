// The question that is asked, a slider for each param of the net and for the
// sizes of its inputs. They stand for what the command line would say: the
// source stays.
import { make } from "./make.js";

// What a slider goes through: the values that are allowed; those about the
// default where nothing is said. null: no numbers, and a field of text.
export const steps = (param) => {
  const range = /^(-?[\d.]+)\.\.(-?[\d.]+)$/.exec(param.allowed);
  const list = param.allowed.trim().split(/\s+/).filter(Boolean);
  if (range) return spread(Number(range[1]), Number(range[2]), param.fallback);
  if (list.length > 1) return list;
  const value = Number(param.fallback);
  if (param.allowed || !/^\d+(\.\d+)?$/.test(param.fallback)) return null;
  return value === 0 ? spread(0, 8, "0") : spread(0, 4 * value,
    param.fallback).filter((v) => Number(v) > 0);
};

const spread = (low, high, fallback) => {
  const whole = /^-?\d+$/.test(fallback) && Number.isInteger(low) &&
    Number.isInteger(high);
  const step = whole ? Math.max(1, Math.ceil((high - low) / 64))
    : (high - low) / 50;
  const values = new Set([String(low), fallback, String(high)]);
  for (let i = 1; low + i * step < high && i < 100; i++)
    values.add(whole ? String(low + i * step)
      : String(Number((low + i * step).toPrecision(4))));
  return [...values].filter((v) => v !== "" && Number.isFinite(Number(v)))
    .sort((a, b) => Number(a) - Number(b));
};

export const sizes = (value) => {
  const step = value >= 64 ? 16 : value >= 16 ? 8 : 1;
  const values = new Set([value]);
  for (let v = step; v <= Math.max(2 * value, 4); v += step) values.add(v);
  return [...values].sort((a, b) => a - b).slice(0, 400).map(String);
};

// An image's height and width go together.
export const groups = (input) => {
  const s = input.sizes, made = [];
  for (let i = 0; i < s.length;) {
    const pair = i + 1 < s.length && s[i] === s[i + 1];
    made.push({ at: i, count: pair ? 2 : 1, value: s[i] });
    i += pair ? 2 : 1;
  }
  return made;
};

const slider = (label, values, value, set) => {
  const at = Math.max(0, values.indexOf(value));
  const said = make("output", {}, value);
  const range = make("input", { type: "range", min: 0,
    max: values.length - 1, step: 1, value: at, "aria-valuetext": value });
  range.addEventListener("input", () => {
    said.textContent = values[range.value];
    range.setAttribute("aria-valuetext", values[range.value]);
    set(values[range.value]);
  });
  return make("label", { class: "slider" },
    make("span", {}, label), range, said);
};

const field = (label, value, set) => {
  const input = make("input", { type: "text", value, maxlength: 200 });
  input.addEventListener("change", () => set(input.value));
  return make("label", { class: "slider" }, make("span", {}, label), input);
};

const by = (id) => document.getElementById(id);
const fillMenu = (menu, none, words) => menu.replaceChildren(
  make("option", { value: "" }, none),
  ...words.map((w) => make("option", { value: w }, w)));

// A value that no menu has is from a link.
const choose = (menu, value) => {
  if (value && ![...menu.options].some((o) => o.value === value))
    menu.append(make("option", { value }, value.slice(0, 40)));
  menu.value = value;
};

const words = (text) => text.split(/[ |]+/).filter(Boolean);

// Settings by task: the others are kept for when the task changes back. Without
// a task the settings say which it is, as on the command line.
const COMMON = ["batch", "gpu", "dtype"];
const WAYS = ["checkpoint", "accumulate", "offload"]; // without a control
const TASKS = { train: [...COMMON, "like", "optimizer", "precision", ...WAYS],
  inference: [...COMMON, "weight_dtype", "context"] };
const taskOf = (predict) => predict ? "inference" : "train";
export const settingsOf = (state, predict) => predict === undefined
  ? { ...state.settings } : Object.fromEntries(TASKS[taskOf(predict)]
    .filter((name) => state.settings[name]).map((n) => [n, state.settings[n]]));

// Options of the command line as settings; null: the page has not all of them.
export const settingsIn = (options) => {
  const pairs = options.trim().split(/ (?=--)/).map((o) =>
    /^--([\w-]+)[ =](\S+)$/.exec(o));
  return pairs.every((p) => p && [...TASKS.train, ...TASKS.inference]
    .includes(p[1].replaceAll("-", "_"))) ? Object.fromEntries(pairs.map(
      ([, name, value]) => [name.replaceAll("-", "_"), value])) : null;
};

// A type is one of three settings, by the words that each takes.
const TYPED = ["dtype", "precision", "weight_dtype"];

export const makeAsk = (catalog, state, changed) => {
  const elements = words(catalog.settings.dtype);
  const of = { train: words(catalog.settings.precision)
    .filter((w) => w !== "full"),
  inference: words(catalog.settings.weight_dtype)
    .filter((w) => !elements.includes(w)) };
  const set = (name, value) => {
    if (value) state.settings[name] = value;
    else delete state.settings[name];
  };
  let task = "";
  fillMenu(by("gpu"), "none", catalog.gpus);
  for (const name of ["optimizer", "like"])
    fillMenu(by(name), "as written", words(catalog.settings[name]));
  for (const name of ["gpu", "optimizer", "like", "batch", "context"])
    by(name).addEventListener("input", (e) => {
      if (!e.target.validity.valid) return;
      set(name, e.target.value);
      changed();
    });
  by("type").addEventListener("input", (e) => {
    const value = e.target.value, own = TASKS[task].find((n) =>
      TYPED.includes(n) && n !== "dtype");
    set("dtype", elements.includes(value) ? value : "");
    set(own, elements.includes(value) ? "" : value);
    changed();
  });
  for (const radio of by("ask").elements.task)
    radio.addEventListener("input", () => {
      state.predict = radio.value === "inference";
      changed();
    });
  by("ask").addEventListener("submit", (e) => e.preventDefault());

  const also = (own) => by("also").replaceChildren(...WAYS
    .filter((name) => own[name]).map((name) => {
      const out = make("button", { type: "button" },
        `without --${name} ${own[name]}`);
      out.addEventListener("click", () => {
        set(name, "");
        changed();
      });
      return out;
    }));

  // The task that holds now; `serves`: the net is a language model.
  return (predict, serves) => {
    if (task !== taskOf(predict)) {
      task = taskOf(predict);
      fillMenu(by("type"), "as written", [...elements, ...of[task]]);
    }
    for (const radio of by("ask").elements.task)
      radio.checked = radio.value === task;
    for (const e of by("ask").querySelectorAll("[data-for]"))
      e.hidden = e.dataset.for === "context" ? !predict || !serves : predict;
    const own = settingsOf(state, predict);
    choose(by("type"), own.weight_dtype || own.precision || own.dtype || "");
    also(own);
    for (const name of ["gpu", "optimizer", "like"])
      choose(by(name), state.settings[name] || "");
    for (const name of ["batch", "context"])
      if (by(name) !== document.activeElement)
        by(name).value = state.settings[name] || "";
  };
};

let shown = "";

// Sliders are made anew only where there are other ones: what has the focus
// keeps it. `ranged`: only a param with a range has one, the rest are fields.
export const showSliders = (facts, state, changed, ranged) => {
  const box = document.getElementById("sliders");
  const key = JSON.stringify([state.name, state.round, facts.params.map((p) =>
    [p.name, p.fallback, p.allowed]), facts.inputs.map((i) =>
    [i.name, i.sizes.length])]);
  if (key === shown) return box.hasChildNodes();
  shown = key;
  const setter = (of, name) => (value) => {
    of[name] = value;
    changed();
  };
  const made = facts.params.slice(0, 40).map((p) => {
    const value = state.define[p.name] ?? p.value, values = ranged &&
      !p.allowed.trim() ? null : steps(p);
    const set = setter(state.define, p.name);
    if (!values) return field(p.name, value, set);
    return slider(p.name, values.includes(value) ? values
      : [...values, value], value, set);
  });
  for (const input of facts.inputs.slice(0, 8)) {
    const now = [...input.sizes];
    if (!now.length || now.some((n) => n < 1)) continue;
    if (ranged) {
      made.push(field(input.name || "input", now.join("x"), setter(state.input,
        facts.inputs.length === 1 ? "" : input.name)));
      continue;
    }
    for (const g of groups(input)) {
      const what = `${input.name || "input"}${now.length === 1 ? ""
        : g.count === 2 ? ` size ${g.at + 1}, ${g.at + 2}`
          : ` size ${g.at + 1}`}`;
      made.push(slider(what, sizes(g.value), String(g.value), (value) => {
        now.fill(Number(value), g.at, g.at + g.count);
        const name = facts.inputs.length === 1 ? "" : input.name;
        state.input[name] = now.join("x");
        changed();
      }));
    }
  }
  if (made.length) {
    const again = make("button", { type: "button" }, "As in the source");
    again.addEventListener("click", () => {
      state.define = {};
      state.input = {};
      state.round++;
      changed();
    });
    made.push(again);
  }
  box.replaceChildren(...made);
  return box.hasChildNodes();
};
