// editors/vscode's grammar beside netc: make check-editors.
// grammar.js TOKENS: what build/tests/tokens said; each word must have a scope
// of its class, and no word a scope `invalid`.
"use strict";
const fs = require("fs");
const path = require("path");
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const GRAMMAR = "editors/vscode/syntaxes/netc.tmLanguage.json";

// The class that a scope shows; the first one that fits counts.
const classes = [
  ["comment", /^comment/], ["string", /^string/],
  ["keyword", /^(keyword\.(control|operator\.word)|constant\.language\.netc)/],
  ["operator", /^keyword\.operator\.join/], ["number", /^constant\.numeric/],
  ["layer", /^support\.function\.layer/],
  ["function", /^support\.function\.builtin/],
  ["option", /^(variable\.parameter\.option|support\.constant\.option)/],
  ["def", /^entity\.name\.function\.netc/], ["label", /^entity\.name\.label/],
];

const classOf = (scopes) => {
  const last = [...scopes].reverse();
  for (const scope of last)
    for (const [name, pattern] of classes)
      if (pattern.test(scope))
        return name;
  return "name";
};

const loadGrammar = async () => {
  const wasm = path.join(path.dirname(require.resolve("vscode-oniguruma")),
    "onig.wasm");
  await oniguruma.loadWASM(fs.readFileSync(wasm).buffer);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(
      fs.readFileSync(GRAMMAR, "utf8"), GRAMMAR),
  });
  return registry.loadGrammar("source.netc");
};

const colour = (grammar, file) => {
  let stack = textmate.INITIAL;
  return fs.readFileSync(file, "utf8").split("\n").map((line) => {
    const done = grammar.tokenizeLine(line, stack);
    stack = done.ruleStack;
    return { line, tokens: done.tokens };
  });
};

const main = async () => {
  const grammar = await loadGrammar();
  let lines = [], file = "", count = 0, wrong = 0, alike = 0;
  const tokens = fs.readFileSync(process.argv[2], "utf8").trim().split("\n");
  for (const row of tokens) {
    const [first, second, expected] = row.split(" ");
    if (expected === "file") {
      file = first;
      lines = colour(grammar, file);
      continue;
    }
    const { line, tokens: found } = lines[first - 1];
    const column = [...line].slice(0, second - 1).join("").length;
    const token = found.find((t) => t.endIndex > column);
    const invalid = token.scopes.some((scope) => scope.startsWith("invalid"));
    const actual = invalid ? "invalid" : classOf(token.scopes);
    count++;
    if (expected === "own" && /layer|option/.test(actual))
      alike++;
    else if (actual !== expected.replace("own", "name") && ++wrong <= 40)
      console.log(`${file}:${first}:${second}: ${expected} for netc, ` +
        `${actual} in the grammar: ${line.trim()}`);
  }
  console.log(`${count} words, ${wrong} coloured otherwise; ${alike} names ` +
    "spelt as words of netc");
  process.exit(wrong || !count || alike > count / 200 ? 1 : 0);
};

main();
