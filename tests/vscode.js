// editors/vscode without VS Code: make check-editors.
// vscode.js NETC FOLDER: files that are named are there, snippets compile,
// lines indent, and the extension asks `netc lsp` for what it shows.
"use strict";
const assert = require("assert");
const { spawnSync } = require("child_process");
const fs = require("fs");
const path = require("path");

const [netc, folder] = process.argv.slice(2);
const room = "editors/vscode";
const read = (name) => JSON.parse(
  fs.readFileSync(path.join(room, name), "utf8"));
const { contributes, main, version } = read("package.json");

const files_are_there = () => {
  const named = [main, ...contributes.languages.map((l) => l.configuration),
    ...contributes.grammars.map((g) => g.path),
    ...contributes.snippets.map((s) => s.path)];
  for (const name of named)
    assert(fs.existsSync(path.join(room, name)), name);
  assert(fs.readFileSync(path.join(room, "README.md"), "utf8").includes(
    `netc-${version}.vsix`));
  return named.length;
};

// A snippet as it is when all its places keep what they offer.
const snippets_compile = () => {
  const snippets = Object.entries(read("snippets/netc.json"));
  for (const [name, { prefix, body }] of snippets) {
    const text = [body].flat().join("\n").replace(/\$\{\d+:([^}]*)\}/g, "$1")
      .replace("$0", "");
    const head = prefix === "net" ? "" : "input 32x32x64\n";
    const file = path.join(folder, `${prefix}.net`);
    fs.writeFileSync(file, `${head}${text}\n`);
    const done = spawnSync(netc, ["check", file]);
    assert.strictEqual(done.status, 0, `${name}: ${done.stderr}${text}`);
  }
  return snippets.length;
};

const lines_indent = () => {
  const { indentationRules: rules } = read("language-configuration.json");
  const more = new RegExp(rules.increaseIndentPattern);
  const less = new RegExp(rules.decreaseIndentPattern);
  for (const line of ["add {", "stem: freeze {  # frozen", "for c in ["])
    assert(more.test(line), line);
  for (const line of ["relu", "add { relu } {}", "# a {", "error \"a {\""])
    assert(!more.test(line), line);
  assert(less.test("  } {} relu") && less.test("]") && !less.test("relu }"));
  return 9;
};

// What `netc lsp` answers to a few requests, by their numbers.
const ask = (messages) => {
  const input = messages.map((message) => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
  }).join("");
  const { stdout } = spawnSync(netc, ["lsp"], { input });
  const answers = {};
  for (let rest = stdout; rest.length;) {
    const head = rest.indexOf("\r\n\r\n");
    const length = Number(/\d+/.exec(rest.subarray(0, head).toString())[0]);
    const answer = JSON.parse(rest.subarray(head + 4, head + 4 + length));
    answers[answer.id] = answer;
    rest = rest.subarray(head + 4 + length);
  }
  return answers;
};

// What the extension takes for granted: the diagram's boxes lead to lines of
// the file, a source with errors has none, and tokens have these types.
const server_has_it = () => {
  const uri = "file:///a%20b/c.net";
  const answers = {};
  for (const [id, layer] of [[2, "fc"], [3, "foo"]])
    Object.assign(answers, ask([
      { id: 1, method: "initialize",
        params: { processId: null, rootUri: null, capabilities: {} } },
      { method: "initialized", params: {} },
      { method: "textDocument/didOpen", params: { textDocument: {
        uri, languageId: "netc", version: 1, text: `input 8\n${layer} 3\n` } } },
      { id, method: "netc/preview", params: { textDocument: { uri } } },
      { id: 4, method: "netc/view", params: { textDocument: { uri } } },
      { id: 5, method: "shutdown" }, { method: "exit" }]));
  assert(answers[2].result.svg.includes('href="/a%20b/c.net#L2"'));
  assert(answers[2].result.card.includes("27 parameters"));
  assert(answers[3].error.message.includes("foo"));
  const { style, script } = answers[4].result;
  assert(style.includes("#canvas") && style.includes(".card"));
  assert(/^function makeView\(canvas, buttons, /m.test(script));
  const { legend } = answers[1].result.capabilities.semanticTokensProvider;
  const [{ scopes }] = contributes.semanticTokenScopes;
  for (const type of Object.keys(scopes))
    assert(legend.tokenTypes.includes(type), type);
  return Object.keys(scopes).length;
};

// The extension, with VS Code played here: what it registers, asks and shows.
const play = async () => {
  const commands = {}, listeners = {}, asked = [], shown = [];
  let hints = true, failure;
  const part = { dispose() {} };
  const on = (name) => (act) => { listeners[name] = act; return part; };
  const document = {
    languageId: "netc", lineCount: 9,
    uri: { path: "/a/b.net", toString: () => "file:///a/b.net" },
    lineAt: (line) => ({ range: { start: line } }),
  };
  const editor = { document, revealRange(range) { this.at = range.start; } };
  const panel = {
    webview: { postMessage: (message) => shown.push(message),
      onDidReceiveMessage: on("message") },
    onDidDispose: on("dispose"),
  };
  const vscode = {
    ViewColumn: { Beside: -2 },
    Selection: class {},
    commands: { registerCommand: (id, act) => { commands[id] = act; } },
    window: {
      activeTextEditor: editor, visibleTextEditors: [editor],
      createWebviewPanel: () => panel,
      onDidChangeActiveTextEditor: on("editor"),
      onDidChangeTextEditorSelection: on("selection"),
      showErrorMessage: (text) => shown.push(text),
    },
    workspace: {
      getConfiguration: () => ({
        get: (name) => name === "path" ? "netc" : hints }),
      onDidChangeConfiguration: on("configuration"),
      onDidChangeTextDocument: on("edit"),
    },
  };
  let options, server;
  class LanguageClient {
    constructor(id, name, how, what) { server = how; options = what; }
    async start() {}
    needsStop() { return true; }
    async stop() {}
    async sendRequest(method, params) {
      asked.push([method, params]);
      if (failure)
        throw failure;
      return method === "netc/view" ? { style: "p { }", script: "f();" }
        : { svg: "<svg/>", card: "<p>" };
    }
  }
  const { Module } = require("module");
  const load = Module._load;
  Module._load = function (name, ...rest) {
    return name === "vscode" ? vscode
      : name === "vscode-languageclient/node"
        ? { LanguageClient, LSPErrorCodes: { ContentModified: -32801 } }
        : load.call(this, name, ...rest);
  };
  const extension = require(path.resolve(room, main));
  await extension.activate({ subscriptions: [] });
  assert.deepStrictEqual(server, { command: "netc", args: ["lsp"] });
  assert.deepStrictEqual(Object.keys(commands),
    contributes.commands.map((c) => c.command));

  // `netc.inlayHints` leaves the server's hints out.
  const { provideInlayHints } = options.middleware;
  assert.deepStrictEqual(provideInlayHints(0, 0, 0, () => [1]), [1]);
  hints = false;
  assert.deepStrictEqual(provideInlayHints(0, 0, 0, () => [1]), []);

  // A diagram at once, after edits, and the line of the cursor.
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  commands["netc.preview"]();
  assert.deepStrictEqual(asked.splice(0), [["netc/view",
    { textDocument: { uri: "file:///a/b.net" } }]]);
  await pause(0);
  assert(panel.webview.html.includes("\np { }\n") &&
    panel.webview.html.includes("\nf();\n"));
  listeners.message({ ready: true });
  await pause(0);
  const request = ["netc/preview",
    { textDocument: { uri: "file:///a/b.net" } }];
  assert.deepStrictEqual(asked, [request]);
  assert.deepStrictEqual(shown.splice(0),
    [{ file: "/a/b.net" }, { svg: "<svg/>", card: "<p>", note: "" }]);
  failure = new Error("no diagram: unknown layer");
  for (let i = 0; i < 3; i++)
    listeners.edit({ document });
  listeners.edit({ document: {} });
  await pause(300);
  assert.deepStrictEqual(asked, [request, request]);
  assert.deepStrictEqual(shown.splice(0), [{ note: failure.message }]);
  failure.code = -32801;
  listeners.edit({ document });
  await pause(300);
  assert.strictEqual(asked.length, 3);
  assert.deepStrictEqual(shown, []);
  listeners.selection({ textEditor: editor,
    selections: [{ active: { line: 4 } }] });
  assert.deepStrictEqual(shown.pop(), { line: 5 });
  listeners.message({ line: 3 });
  assert.strictEqual(editor.at, 2);
  listeners.message({ line: 10 });
  assert.strictEqual(editor.at, 2);
  return asked.length;
};

const run = async () => {
  for (const test of [files_are_there, snippets_compile, lines_indent,
    server_has_it, play])
    console.log(`${test.name.replace(/_/g, " ")}: ${await test()}`);
};

run().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
