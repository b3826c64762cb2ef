// netc for VS Code: a client of `netc lsp`, and the diagram beside the source.
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
    if (preview)
      preview.draw();
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

// The page of a diagram: no script but this one, nothing from elsewhere.
const page = (nonce) => `<!DOCTYPE html>
<html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';
 style-src 'unsafe-inline'; script-src 'nonce-${nonce}'">
<style>
body { background: #fff; margin: 0; text-align: center }
body.vscode-dark { background: #16181d; color: #b9bdc6 }
svg { height: auto; max-width: 100% }
a.here > :not(text) { stroke: #d35400; stroke-width: 2.5 }
#note:not(:empty) { padding: 1em }
.old { opacity: 0.5 }
</style></head>
<body><div id="note"></div><div id="diagram"></div>
<script nonce="${nonce}">
const api = acquireVsCodeApi();
const diagram = document.getElementById("diagram");
let line = 0, file = "";
// The line of a box, where it stands in this file; 0: it is another's.
const lineOf = (box) => {
  const [path, at] = box.getAttribute("href").split("#L");
  return decodeURIComponent(path).endsWith(file) ? Number(at) : 0;
};
// The box of the line, or of the last one before it.
const mark = () => {
  const boxes = [...diagram.querySelectorAll("a[href]")];
  const at = Math.max(0, ...boxes.map(lineOf).filter((n) => n <= line));
  let first;
  for (const box of boxes) {
    const here = at > 0 && lineOf(box) === at;
    box.classList.toggle("here", here);
    if (here)
      first = first || box;
  }
  if (first)
    first.scrollIntoView({ block: "nearest" });
};
addEventListener("message", ({ data }) => {
  if (data.svg)
    diagram.innerHTML = data.svg;
  line = data.line || line;
  file = data.file || file;
  if ("note" in data) {
    document.getElementById("note").textContent = data.note;
    diagram.className = data.note ? "old" : "";
  }
  mark();
});
addEventListener("click", (event) => {
  const box = event.target.closest("a[href]");
  event.preventDefault();
  if (box && lineOf(box))
    api.postMessage({ line: lineOf(box) });
});
api.postMessage({ ready: true }); // also where it was hidden meanwhile
</script></body></html>`;

class Preview {
  constructor(document) {
    this.document = document;
    this.panel = vscode.window.createWebviewPanel("netc.preview", "netc",
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [] });
    const nonce = require("crypto").randomBytes(16).toString("hex");
    this.panel.webview.html = page(nonce);
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
      const { svg } = await client.sendRequest("netc/preview", {
        textDocument: { uri: document.uri.toString() },
      });
      if (document === this.document)
        this.post({ svg, note: "" });
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
