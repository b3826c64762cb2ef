// The editor: CodeMirror, told by the compiler what is what. Nothing here
// knows the language: colours, hints, completion and hover are netc's own.
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, WidgetType, drawSelection,
  highlightActiveLine, hoverTooltip, keymap, lineNumbers }
  from "@codemirror/view";
import { bracketMatching } from "@codemirror/language";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap }
  from "@codemirror/autocomplete";
import { lintGutter, nextDiagnostic, previousDiagnostic, setDiagnostics }
  from "@codemirror/lint";

// In the order of enum netc_token_kind.
const KINDS = ["comment", "keyword", "layer", "option", "function", "def",
  "label", "constant", "word", "number", "string", "operator"];
const TYPES = { keyword: "keyword", layer: "class", option: "property",
  function: "function", def: "function", label: "variable",
  constant: "constant" };
const marks = KINDS.map((k) => Decoration.mark({ class: `net-${k}` }));

// Places are bytes of UTF-8, an editor's those of UTF-16.
export const places = (text) => {
  const from = [];
  let plain = true;
  for (let i = 0; i < text.length && plain; i++)
    plain = text.charCodeAt(i) < 128;
  if (plain) return { unit: (b) => b, byte: (u) => u };
  for (let unit = 0; unit < text.length;) {
    const code = text.codePointAt(unit);
    const bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (let i = 0; i < bytes; i++) from.push(unit);
    unit += code < 0x10000 ? 1 : 2;
  }
  from.push(text.length);
  return { unit: (b) => from[Math.min(b, from.length - 1)],
    byte: (u) => new TextEncoder().encode(text.slice(0, u)).length };
};

class Hint extends WidgetType {
  constructor({ shape, recalled }) {
    super();
    this.shape = shape;
    this.recalled = recalled;
  }
  eq(other) {
    return other.shape === this.shape && other.recalled === this.recalled;
  }
  toDOM() {
    const span = document.createElement("span");
    span.className = "net-hint";
    span.textContent = `→ ${this.recalled ? "~" : ""}${this.shape}`;
    if (this.recalled) span.title = "what it was before the error";
    return span;
  }
  ignoreEvent() {
    return true;
  }
}

const field = (set) => StateField.define({
  create: () => Decoration.none,
  update: (value, tr) => tr.effects.reduce((v, e) => e.is(set) ? e.value : v,
    value.map(tr.changes)),
  provide: (f) => EditorView.decorations.from(f),
});
const setPaint = StateEffect.define(); // {at, tokens, hints} of a compile
const setNear = StateEffect.define(); // the line of what is under the pointer
const nearLine = Decoration.line({ class: "net-near" });

// The first of `count` things, in the order of their ends, whose end is a place
// or behind it.
const firstAt = (count, end, place) => {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end(middle) < place) low = middle + 1;
    else high = middle;
  }
  return low;
};

const MOST_MARKS = 1000; // in sight; one line may have more

// Colours and hints of the lines in sight, as thousands of lines have many.
// They are those of the last compile, moved by the edits since.
const paint = ViewPlugin.define(() => ({
  decorations: Decoration.none, told: null, since: null,
  update(u) {
    if (u.docChanged) {
      this.since = this.since?.composeDesc(u.changes) ?? u.changes.desc;
      this.decorations = this.decorations.map(u.changes);
    }
    const told = u.transactions.flatMap((t) => t.effects)
      .findLast((e) => e.is(setPaint));
    if (told) [this.told, this.since] = [told.value, null];
    if (this.told && (told || u.viewportChanged)) this.draw(u.view);
  },
  draw(view) {
    const { since, told: { tokens, hints, at } } = this, found = [];
    const doc = view.state.doc;
    const now = (byte) => Math.min(doc.length,
      since ? since.mapPos(at.unit(byte)) : at.unit(byte));
    const end = (i) => now(tokens[4 * i + 2]);
    for (const { from, to } of view.visibleRanges) {
      for (let i = firstAt(tokens.length / 4, end, from);
        4 * i < tokens.length && now(tokens[4 * i + 1]) <= to &&
          found.length < MOST_MARKS; i++)
        if (now(tokens[4 * i + 1]) < end(i))
          found.push(marks[tokens[4 * i]].range(now(tokens[4 * i + 1]), end(i)));
      for (let i = firstAt(hints.length, (k) => now(hints[k].byte), from);
        i < hints.length && now(hints[i].byte) <= to; i++)
        found.push(Decoration.widget({ side: 1, widget: new Hint(hints[i]) })
          .range(doc.lineAt(now(hints[i].byte)).to));
    }
    this.decorations = Decoration.set(found, true);
  },
}), { decorations: (plugin) => plugin.decorations });

const problem = (d, main, at, length) => {
  const place = (p) => ({ from: Math.min(at.unit(p.begin), length),
    to: Math.min(Math.max(at.unit(p.end), at.unit(p.begin)), length) });
  const here = d.file === main ? place(d) : { from: 0, to: 0 };
  const fixes = d.fixes.filter((f) => f.file === main);
  return { ...here, severity: d.error ? "error" : "warning", source: d.slug,
    line: d.line, message: [d.file === main ? d.message
      : `${d.file}:${d.line}: ${d.message}`, d.here,
    ...d.notes.map((n) => `note: ${n}`), ...d.help.map((h) => `help: ${h}`)]
      .filter(Boolean).join("\n"),
    actions: fixes.length ? [{
      name: fixes.length === 1 && fixes[0].text.trim()
        ? `Write ${fixes[0].text.trim().split("\n")[0].slice(0, 40)}`
        : fixes.length === 1 ? "Remove it" : "Mend it",
      apply: (view) => view.dispatch({ changes: fixes.map((f) => ({
        ...place(f), insert: f.text })) }) }] : [] };
};

// `ask` is the client's, for completion and hover; `changed` hears of edits,
// `moved` of the caret's line, `near` of the line under the pointer or 0.
export const makeEditor = (parent, { ask, changed, moved, near }) => {
  const complete = async (context) => {
    const text = context.state.doc.toString();
    const word = context.matchBefore(/[\w-]*/);
    if (!context.explicit && word.from === word.to) return null;
    await changed(true);
    const found = await ask({ do: "choices",
      byte: places(text).byte(context.pos) }).catch(() => null);
    if (!found || context.aborted) return null;
    return { from: word.from, validFor: /^[\w-]*$/,
      options: found.choices.map((c, i) => ({ label: c.text,
        type: TYPES[KINDS[c.kind]] || "text", detail: c.detail.slice(0, 60),
        info: c.doc || undefined, boost: -i / found.choices.length })) };
  };
  const hover = hoverTooltip(async (view, pos) => {
    const at = places(view.state.doc.toString());
    const found = await ask({ do: "hover", byte: at.byte(pos) })
      .catch(() => null);
    if (!found || found.begin === undefined) return null;
    const text = found.words + found.rows;
    if (!text) return null;
    return { pos: at.unit(found.begin), end: at.unit(found.end), create() {
      const dom = document.createElement("pre");
      dom.className = "net-hover";
      dom.textContent = text;
      return { dom };
    } };
  });
  const view = new EditorView({ parent, extensions: [
    lineNumbers(), lintGutter(), history(), drawSelection(),
    highlightActiveLine(), bracketMatching(), closeBrackets(),
    EditorState.tabSize.of(2), EditorView.lineWrapping,
    paint, field(setNear), hover,
    autocompletion({ override: [complete] }),
    EditorView.contentAttributes.of({ "aria-label": "Source of the net",
      spellcheck: "false", autocapitalize: "off" }),
    keymap.of([{ key: "F8", run: nextDiagnostic, shift: previousDiagnostic },
      ...closeBracketsKeymap, ...completionKeymap, ...historyKeymap,
      ...defaultKeymap]),
    EditorView.updateListener.of((u) => {
      if (u.docChanged) changed(false);
      if (u.docChanged || u.selectionSet) moved();
    }),
  ] });
  // Hints count, too, whose events are not the editor's.
  view.contentDOM.addEventListener("mousemove", (e) => near(view.state.doc
    .lineAt(view.posAtCoords({ x: e.clientX, y: e.clientY }, false)).number));
  view.contentDOM.addEventListener("mouseleave", () => near(0));

  return {
    view,
    text: () => view.state.doc.toString(),
    write(text) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length,
        insert: text }, selection: { anchor: 0 } });
    },
    // What a compile said of exactly this text; gives what is to be listed.
    show(answer, text, main) {
      const at = places(text), state = view.state;
      const problems = answer.diagnostics.map((d) =>
        problem(d, main, at, state.doc.length));
      view.dispatch({ effects: setPaint.of({ at, tokens: answer.tokens,
        hints: answer.hints.sort((a, b) => a.byte - b.byte) }) });
      view.dispatch(setDiagnostics(view.state, problems));
      return problems;
    },
    line: () => view.state.doc.lineAt(view.state.selection.main.head).number,
    near(line) {
      const there = line > 0 && line <= view.state.doc.lines;
      view.dispatch({ effects: setNear.of(there ? Decoration.set(
        nearLine.range(view.state.doc.line(line).from)) : Decoration.none) });
    },
    goLine(line) {
      if (line > 0 && line <= view.state.doc.lines)
        this.go(view.state.doc.line(line).from);
    },
    go(place) {
      view.dispatch({ selection: { anchor: place }, scrollIntoView: true });
      view.focus();
    },
  };
};
