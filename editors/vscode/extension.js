// netc for VS Code: a client of `netc lsp`, and beside the source the diagram
// with the answer.
"use strict";
const vscode = require("vscode");
const { LanguageClient, LSPErrorCodes } =
  require("vscode-languageclient/node");

const PAUSE = 150; // milliseconds without a keystroke before a diagram is asked

let client;
let preview;

const setting = (name) => vscode.workspace.getConfiguration("netc").get(name);

// Hints are the server's; the setting leaves them out.
const middleware = {
  provideInlayHints: (document, range, token, next) =>
    setting("inlayHints") ? next(document, range, token) : [],
};

const start = async () => {
  const command = setting("path");
  const server = { command, args: ["lsp"] };
  client = new LanguageClient("netc", "netc", server, {
    documentSelector: [{ language: "netc" }],
    middleware,
  });
  try {
    await client.start();
    if (preview) {
      preview.open();
      preview.draw();
    }
  } catch (error) {
    vscode.window.showErrorMessage(`netc: \`${command} lsp\` did not start ` +
      `(${error.message}); the setting netc.path says where netc is.`);
  }
};

const stop = async () => {
  const old = client;
  client = undefined;
  if (old && old.needsStop())
    await old.stop();
};

// The page of a net: the view that netc's own pages have, in VS Code's colours.
// No script but this one, nothing from elsewhere.
const page = (nonce, view) => `<!DOCTYPE html>
<html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';
 style-src 'unsafe-inline'; script-src 'nonce-${nonce}'">
<style>
${view.style}
:root { --ink: var(--vscode-editor-foreground);
  --soft: var(--vscode-descriptionForeground);
  --bar: var(--vscode-editorWidget-background) }
body { margin: 0; height: 100vh; display: flex; flex-direction: column }
#canvas { flex: 1; min-height: 0; padding: 1em; background: #fff }
body.vscode-dark #canvas { background: #16181d }
#note:not(:empty) { padding: 1em }
.old :is(#canvas, #answer) { opacity: 0.5 }
#answer { padding: 0 1em 0.5em; max-height: 45vh; overflow: auto }
#zoom { position: fixed; right: 1em; bottom: 1em }
</style></head>
<body><div id="note"></div>
<details id="answer" open><summary>Answer</summary>
<div id="card" class="card"></div></details>
<div id="canvas" tabindex="0"></div>
<div id="zoom"><button data-zoom="0.8" aria-label="Smaller">&minus;</button>
<button data-zoom="0">Fit</button>
<button data-zoom="1.25" aria-label="Larger">+</button></div>
<script nonce="${nonce}">
${view.script}
const api = acquireVsCodeApi();
const by = (id) => document.getElementById(id);
let line = 0, file = "";
// The line of a box, where it stands in this file; 0: it is another's.
const lineOf = (box) => {
  const [path, at] = (box.getAttribute("href") || "").split("#L");
  return at && decodeURIComponent(path).endsWith(file) ? Number(at) : 0;
};
const view = makeView(by("canvas"), by("zoom"), { near() {},
  go: (box) => lineOf(box) && api.postMessage({ line: lineOf(box) }) });
// The box of the line, or of the last one before it.
const mark = () => {
  const boxes = [...by("canvas").querySelectorAll("a[href]")];
  const at = Math.max(0, ...boxes.map(lineOf).filter((n) => n <= line));
  for (const box of boxes)
    box.classList.toggle("here", at > 0 && lineOf(box) === at);
  const first = by("canvas").querySelector(".here");
  if (first)
    view.reveal(first);
};
addEventListener("message", ({ data }) => {
  if (data.svg) {
    const made = document.createElement("template");
    made.innerHTML = data.svg;
    view.show(made.content.firstElementChild);
    by("card").innerHTML = data.card;
  }
  line = data.line || line;
  file = data.file || file;
  if ("note" in data) {
    by("note").textContent = data.note;
    document.body.classList.toggle("old", !!data.note);
  }
  mark();
});
api.postMessage({ ready: true }); // also where it was hidden meanwhile
</script></body></html>`;

class Preview {
  constructor(document) {
    this.document = document;
    this.panel = vscode.window.createWebviewPanel("netc.preview", "netc",
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [] });
    this.open();
    this.parts = [
      vscode.workspace.onDidChangeTextDocument((event) => {
        if (event.document === this.document)
          this.later();
      }),
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        if (editor && editor.document.languageId === "netc")
          this.show(editor.document);
      }),
      vscode.window.onDidChangeTextEditorSelection((event) => {
        if (event.textEditor.document === this.document)
          this.post({ line: event.selections[0].active.line + 1 });
      }),
      this.panel.webview.onDidReceiveMessage(({ ready, line }) =>
        ready ? this.show(this.document) : this.reveal(line)),
    ];
    this.panel.onDidDispose(() => {
      clearTimeout(this.timer);
      this.parts.forEach((part) => part.dispose());
      preview = undefined;
    });
  }

  // The page is of the netc that runs; it says when it is ready.
  async open() {
    if (this.opened || !client)
      return;
    this.opened = true;
    const nonce = require("crypto").randomBytes(16).toString("hex");
    this.panel.webview.html = page(nonce, await client.sendRequest("netc/view",
      this.asked()));
  }

  asked() {
    return { textDocument: { uri: this.document.uri.toString() } };
  }

  post(message) {
    this.panel.webview.postMessage(message);
  }

  show(document) {
    this.document = document;
    this.post({ file: document.uri.path });
    this.panel.title = `Diagram of ${document.uri.path.split("/").pop()}`;
    this.draw();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.draw(), PAUSE);
  }

  // Where the source has errors the last diagram stays, paler.
  async draw() {
    const { document } = this;
    if (!client)
      return;
    try {
      const { svg, card } = await client.sendRequest("netc/preview",
        this.asked());
      if (document === this.document)
        this.post({ svg, card, note: "" });
    } catch (error) { // a later text has an answer of its own
      if (error.code !== LSPErrorCodes.ContentModified)
        this.post({ note: error.message });
    }
  }

  reveal(line) {
    const editor = vscode.window.visibleTextEditors.find(
      (one) => one.document === this.document);
    if (!editor || !line || line > this.document.lineCount)
      return;
    const { range } = this.document.lineAt(line - 1);
    editor.selection = new vscode.Selection(range.start, range.start);
    editor.revealRange(range);
  }
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("netc.preview", () => {
      const editor = vscode.window.activeTextEditor;
      if (preview && editor)
        preview.show(editor.document);
      else if (editor)
        preview = new Preview(editor.document);
    }),
    vscode.commands.registerCommand("netc.restart", async () => {
      await stop();
      await start();
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (!event.affectsConfiguration("netc.path"))
        return;
      await stop();
      await start();
    }));
  await start();
};

exports.deactivate = stop;
exports.page = page; // for tests
