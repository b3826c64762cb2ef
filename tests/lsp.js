// netc lsp with clients that others wrote: make check-lsp.
// lsp.js NETC FOLDER: every method through vscode-jsonrpc, as VS Code calls it.
// lsp.js NETC FOLDER time: how long answers take, instead.
"use strict";
const assert = require("assert");
const { spawn } = require("child_process");
const fs = require("fs");
const path = require("path");
const { pathToFileURL } = require("url");
const rpc = require("vscode-jsonrpc/node");

const [netc, folder, mode] = process.argv.slice(2);
const whole = { start: { line: 0, character: 0 },
  end: { line: 1e6, character: 0 } };

class Client {
  constructor() {
    this.child = spawn(netc, ["lsp", "--stdio"],
      { stdio: ["pipe", "pipe", "inherit"] });
    this.exit = new Promise((done) => this.child.on("exit", done));
    this.wire = rpc.createMessageConnection(
      new rpc.StreamMessageReader(this.child.stdout),
      new rpc.StreamMessageWriter(this.child.stdin));
    this.published = [];
    this.waiting = [];
    this.wire.onNotification("textDocument/publishDiagnostics", (one) => {
      this.published.push(one);
      this.waiting.splice(0).forEach((look) => look());
    });
    this.wire.listen();
  }

  async start() {
    const { capabilities } = await this.wire.sendRequest("initialize", {
      processId: process.pid, rootUri: null, capabilities: {
        workspace: { workspaceEdit: { documentChanges: true } },
        textDocument: { documentSymbol: {
          hierarchicalDocumentSymbolSupport: true } } } });
    await this.wire.sendNotification("initialized", {});
    return capabilities;
  }

  open(uri, text) {
    this.wire.sendNotification("textDocument/didOpen",
      { textDocument: { uri, languageId: "netc", version: 1, text } });
    return this.diagnostics(uri, 1);
  }

  change(uri, version, ...contentChanges) {
    this.wire.sendNotification("textDocument/didChange",
      { textDocument: { uri, version }, contentChanges });
    return this.diagnostics(uri, version);
  }

  async diagnostics(uri, version) {
    for (;;) {
      const found = this.published.find((one) => one.uri === uri &&
        one.version === version);
      if (found) {
        this.published.length = 0;
        return found.diagnostics;
      }
      await new Promise((look) => this.waiting.push(look));
    }
  }

  ask(method, uri, more = {}) {
    return this.wire.sendRequest(method, { textDocument: { uri }, ...more });
  }

  at(method, uri, line, character, more = {}) {
    return this.ask(method, uri, { position: { line, character }, ...more });
  }

  async stop() {
    await this.wire.sendRequest("shutdown");
    await this.wire.sendNotification("exit");
    const status = await this.exit;
    this.wire.dispose();
    return status;
  }
}

const insert = (line, character, text) => ({ text, range: {
  start: { line, character }, end: { line, character } } });

const source = `input 32x32x3
def block(c, s=1) { conv c 3x3 /s pad bn relu }
first: conv 16 3x3 pad  # \u{1F600}
repeat 2 {
  block 16
}
add first
pool 2x2
fc   10
`;

const everyMethod = async () => {
  const client = new Client();
  const uri = pathToFileURL(path.join(folder, "a b.net")).href;
  const abilities = await client.start();
  assert.strictEqual(abilities.positionEncoding, "utf-16");
  assert.deepStrictEqual(await client.open(uri, source), []);

  const hover = await client.at("textDocument/hover", uri, 2, 8);
  assert.match(hover.contents.value, /first {2}conv 16 3x3 pad\n/);
  assert.match(hover.contents.value,
    /parameters \(3\*3\*3\)\*16 \+ 16 = 448\n/);
  const hints = await client.ask("textDocument/inlayHint", uri,
    { range: whole });
  assert.deepStrictEqual(hints.map((h) => [h.position.line, h.label]), [
    [0, "-> 32x32x3"], [1, "-> 32x32x16"], [2, "-> 32x32x16"],
    [4, "-> 32x32x16"], [6, "-> 32x32x16"], [7, "-> 16x16x16"],
    [8, "-> 10"]]);
  assert.strictEqual(hints[2].position.character, 28); // two for the face
  const lenses = await client.ask("textDocument/codeLens", uri);
  assert.match(lenses[0].command.title, /^[\d,]+ parameters · [\d,]+ MACs$/);
  assert.match(lenses[1].command.title, /^training .* MiB \(batch 1, /);

  const choices = await client.at("textDocument/completion", uri, 8, 2);
  assert(choices.items.some((item) => item.label === "fc"));
  const options = await client.at("textDocument/completion", uri, 7, 8);
  assert(options.items.length > 5);
  const help = await client.at("textDocument/signatureHelp", uri, 2, 15);
  assert.match(help.signatures[0].label, /^conv CHANNELS KERNEL \[\/STRIDE\]/);
  assert.strictEqual(help.activeParameter, 1);

  const definition = await client.at("textDocument/definition", uri, 4, 3);
  assert.deepStrictEqual(definition.range.start, { line: 1, character: 4 });
  assert.strictEqual((await client.at("textDocument/references", uri, 6, 5,
    { context: { includeDeclaration: true } })).length, 2);
  assert.strictEqual((await client.at("textDocument/prepareRename", uri, 6, 5))
    .placeholder, "first");
  const renamed = await client.at("textDocument/rename", uri, 6, 5,
    { newName: "skip" });
  assert.strictEqual(renamed.documentChanges[0].edits.length, 2);
  await assert.rejects(client.at("textDocument/rename", uri, 6, 5,
    { newName: "block" }), { code: -32803 });

  const symbols = await client.ask("textDocument/documentSymbol", uri);
  assert.deepStrictEqual(symbols.map((s) => s.name),
    ["input", "block", "first", "add1", "pool1", "fc1"]);
  const folds = await client.ask("textDocument/foldingRange", uri);
  assert.deepStrictEqual(folds, [{ startLine: 3, endLine: 4 }]);
  const { data } = await client.ask("textDocument/semanticTokens/full", uri);
  assert.strictEqual(data.length % 5, 0);
  const edits = await client.ask("textDocument/formatting", uri,
    { options: { tabSize: 2, insertSpaces: true } });
  assert.deepStrictEqual(edits.map((e) => e.newText), ["fc 10\n"]);
  const preview = await client.ask("netc/preview", uri);
  assert.match(preview.svg, /^<svg [^]*<\/svg>\s*$/);
  assert.strictEqual(preview.version, 1);

  // A slip: a diagnostic, its fix, shapes that are remembered.
  const [wrong] = await client.change(uri, 2, insert(2, 9, "x"));
  assert.strictEqual(wrong.code, "unknown-layer");
  assert.deepStrictEqual(wrong.range, { start: { line: 2, character: 7 },
    end: { line: 2, character: 12 } });
  const marked = await client.ask("textDocument/inlayHint", uri,
    { range: whole });
  assert.strictEqual(marked.at(-2).label, "-> ~16x16x16");
  const [fix] = await client.ask("textDocument/codeAction", uri,
    { range: wrong.range, context: { diagnostics: [wrong] } });
  const change = fix.edit.documentChanges[0];
  assert.deepStrictEqual(change.textDocument, { uri, version: 2 });
  assert.deepStrictEqual(await client.change(uri, 3, { ...change.edits[0],
    text: change.edits[0].newText }), []);
  await assert.rejects(client.ask("no/method", uri),
    { code: rpc.ErrorCodes.MethodNotFound });

  // What is cancelled while it waits.
  const cancel = new rpc.CancellationTokenSource();
  const asked = client.wire.sendRequest("textDocument/codeLens",
    { textDocument: { uri } }, cancel.token);
  cancel.cancel();
  await asked.catch((error) => assert.strictEqual(error.code, -32800));

  client.wire.sendNotification("textDocument/didClose",
    { textDocument: { uri } });
  assert.strictEqual(await client.stop(), 0);
  return "every method of docs/editors.md";
};

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
const since = (begin) => Number(process.hrtime.bigint() - begin) / 1e6;

// [name, text, line, column]: where is typed.
const measured = () => {
  const lines = ["input 64x64x16"];
  while (lines.length < 498)
    lines.push("conv 16 3x3 pad bn relu", "add { conv 16 3x3 pad bn relu;" +
      " conv 16 3x3 pad bn } {}", "relu");
  lines.push("gap", "fc 10");
  return [["resnet50", fs.readFileSync("examples/resnet50.net", "utf8"), 6, 15],
    [`${lines.length} lines`, lines.join("\n") + "\n", 250, 14]];
};

// What a process has used, in ms.
const cpu = (pid) => {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
  return 10 * (Number(fields[13]) + Number(fields[14]));
};

// A letter is typed into an option and taken back.
const time = async () => {
  const client = new Client();
  await client.start();
  for (const [name, text, line, column] of measured()) {
    const uri = `file:///${encodeURIComponent(name)}.net`;
    const took = { typed: [], hover: [], hints: [] };
    const before = cpu(client.child.pid);
    let version = 1;
    await client.open(uri, text);
    for (let i = 0; i < 300; i++) {
      let begin = process.hrtime.bigint();
      await client.change(uri, ++version, i % 2 ? { text: "", range: {
        start: { line, character: column },
        end: { line, character: column + 1 } } } : insert(line, column, "1"));
      took.typed.push(since(begin));
      begin = process.hrtime.bigint();
      await client.at("textDocument/hover", uri, line, 3);
      took.hover.push(since(begin));
      begin = process.hrtime.bigint();
      await client.ask("textDocument/inlayHint", uri, { range: whole });
      took.hints.push(since(begin));
    }
    const [typed, hover, hints] = Object.values(took).map((all) =>
      median(all).toFixed(2));
    const used = cpu(client.child.pid) - before;
    console.log(`${name}: keystroke to diagnostics ${typed} ms, hover ` +
      `${hover} ms, all hints ${hints} ms (medians of 300); ` +
      `processor ${(used / 300).toFixed(2)} ms for all three`);
  }
  await client.stop();
};

(async () => {
  if (mode === "time")
    return time();
  console.log(`vscode-jsonrpc: ${await everyMethod()}`);
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
