// The page in a browser: make check-web. web.js NETC FOLDER
"use strict";
const { execFileSync } = require("child_process");
const fs = require("fs");
const path = require("path");
const { chromium } = require("playwright-core");

const [netc, folder] = process.argv.slice(2);
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic",
  "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
const must = (ok, what) => {
  if (!ok) throw new Error(what);
};
const same = (a, b, what) => must(JSON.stringify(a) === JSON.stringify(b),
  `${what}: ${JSON.stringify(a)} instead of ${JSON.stringify(b)}`);

const write = (net, name, ...options) => {
  const file = path.resolve(folder, name);
  execFileSync(netc, [net, ...options, "-o", file], { stdio: "ignore" });
  return "file://" + file;
};

// What a reader sees of the table: names of the rows that are shown.
const names = (page) => page.$$eval("#table tbody tr", (rows) => rows
  .filter((r) => r.getClientRects().length)
  .map((r) => r.dataset.n));
const head = (page, name) => page.locator("thead th", {
  has: page.locator(`button:text-is("${name}")`) });

const tests = {
  async "rows are sorted, and in the order of the source again"(page) {
    const before = await names(page);
    const macs = head(page, "MACs");
    await macs.locator("button").click();
    same(await macs.getAttribute("aria-sort"), "descending", "aria-sort");
    const top = await page.$$eval('#table tr[aria-level="1"]', (rows) => rows
      .map((r) => r.querySelector("th").textContent));
    same(top.slice(0, 2), ["bottleneck9 x 5", "bottleneck5 x 3"], "largest");
    await macs.locator("button").click();
    same(await macs.getAttribute("aria-sort"), "ascending", "aria-sort");
    await macs.locator("button").click();
    same(await names(page), before, "the order of the source");
  },
  async "groups close and open, inner rows stay with them"(page) {
    const row = page.locator('tr[data-n="bottleneck1"]');
    const before = (await names(page)).length;
    await row.locator("th").click();
    same(await row.getAttribute("aria-expanded"), "false", "closed");
    must((await names(page)).length === before - 6, "six rows less");
    await page.click("#shut");
    must((await names(page)).length === 12, "twelve rows at the top");
    await page.click("#open");
    must((await names(page)).length === before, "all of them again");
  },
  async "a search finds rows and boxes, and says how many"(page) {
    await page.keyboard.press("/");
    await page.keyboard.type("CONV 3x3");
    same(await page.textContent("#found"), "8 rows, 8 boxes", "found");
    must((await names(page)).includes("bottleneck9.conv2"), "a row");
    must(await page.$$eval("#canvas a.hit", (e) => e.length) === 8, "boxes");
    await page.fill("#query", "nothing like it");
    same(await page.textContent("#found"), "0 rows, 0 boxes", "found");
    await page.keyboard.press("Escape");
    must((await names(page)).length > 50, "all rows again");
  },
  async "a click shows formulas, the line and the box"(page) {
    await page.click('tr[data-n="stem.conv1"] td:nth-child(3)');
    const said = await page.textContent("#detail");
    must(said.includes("MACs (112*112*64)*(7*7*3) = 118,013,952"), said);
    must(said.includes("line 16: stem: { conv 64 7x7"), said);
    must(await page.$("#n\\.stem\\.conv1.here"), "the box is marked");
    await page.keyboard.press("Escape");
    must(await page.isHidden("#detail"), "closed again");
  },
  async "all of the table is within reach of the keys"(page) {
    await page.focus('#table tbody tr[tabindex="0"]');
    const now = () => page.evaluate(() => document.activeElement.dataset.n);
    await page.keyboard.press("ArrowDown");
    same(await now(), "stem", "down");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowDown");
    same(await now(), "bottleneck1", "past a closed group");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    same(await now(), "stem.conv1", "into an open group");
    await page.keyboard.press("Enter");
    must(await page.isVisible("#detail"), "Enter chooses");
    await page.keyboard.press("End");
    same(await now(), "fc1", "the last row");
    await page.locator("thead button").first().focus();
    await page.keyboard.press("Enter");
    must(await page.$('th[aria-sort="ascending"]'), "sorted by a key");
  },
  async "charts tell what is under the pointer, and by keys"(page) {
    const mark = page.locator("#charts svg").first().locator(".hit").nth(20);
    await mark.scrollIntoViewIfNeeded();
    const place = await mark.boundingBox(); // too thin for hover()
    await page.mouse.move(place.x + place.width / 2, place.y + 40);
    must(/MiB in the/.test(await page.textContent("#tip")), "a tip");
    must(await page.isVisible("#tip"), "it is seen");
    await page.mouse.move(1, 1);
    must(await page.isHidden("#tip"), "it goes");
    await page.locator("#charts svg").nth(2).focus();
    await page.keyboard.press("ArrowRight");
    must(await page.isVisible("#tip"), "a tip by keys");
  },
  async "the diagram grows, fits, moves, and its boxes lead to rows"(page) {
    await page.locator("#canvas").scrollIntoViewIfNeeded();
    const wide = () => page.$eval("#canvas svg", (e) =>
      e.getBoundingClientRect().width);
    await page.waitForFunction(() =>
      document.querySelector("#canvas svg").style.width);
    const before = await wide();
    await page.click('[data-zoom="1.25"]');
    must(Math.abs(await wide() - before * 1.25) < 1, "larger");
    await page.focus("#canvas");
    await page.keyboard.press("-");
    must(Math.abs(await wide() - before) < 1, "smaller by a key");
    const at = () => page.$eval("#canvas", (e) => e.scrollTop);
    const box = await page.locator("#canvas").boundingBox();
    const top = await at();
    await page.mouse.move(box.x + 9, box.y + 200);
    await page.mouse.down();
    await page.mouse.move(box.x + 9, box.y + 120, { steps: 3 });
    await page.mouse.up();
    must(await at() === top + 80, "moved");
    await page.click("#n\\.bottleneck1\\.conv2 text");
    same(await page.textContent("#detail h2"), "bottleneck1.conv2", "its row");
    must(new URL(page.url()).hash === "", "the page stays where it is");
  },
  async "under the pointer a row marks its box, and a box its row"(page) {
    const row = page.locator('tr[data-n="stem.conv1"]');
    await row.hover();
    must(await page.$("#n\\.stem\\.conv1.near"), "the box is marked");
    await page.click("#shut");
    await page.hover("#n\\.stem\\.conv1 text");
    must(await page.$('tr.near[data-n="stem"]'), "the group that is closed");
    await page.hover("h1");
    must(!await page.$(".near"), "nothing is marked");
    await page.click("#open");
    await page.locator(".chart [data-box='n.stem.conv1']").first().hover();
    must(await page.$("#n\\.stem\\.conv1.near") &&
      await page.$('tr.near[data-n="stem.conv1"]'), "by a mark of a chart");
  },
  async "on A4 no row is cut, and each page of the table has its head"(page) {
    const pdf = path.resolve(folder, "printed.pdf");
    await page.pdf({ path: pdf, preferCSSPageSize: true });
    const read = (...options) => execFileSync("pdftotext",
      [...options, pdf, "-"], { encoding: "utf8" });
    let boxes;
    try {
      boxes = read("-bbox");
    } catch (e) {
      if (e.code !== "ENOENT") throw e;
      console.log("     without pdftotext (poppler-utils) no page is read");
      return;
    }
    const pages = boxes.split("<page ").slice(1);
    for (const text of pages) {
      must(text.startsWith('width="594.9'), "A4: " + text.slice(0, 40));
      for (const [, top, low] of text.matchAll(
        /yMin="([\d.]+)"[^>]*yMax="([\d.]+)"/g))
        must(+top > 35 && +low < 807, `text from ${top} to ${low}`);
    }
    const layers = read("-layout").split("\f").filter((text) =>
      /^ +(conv|add|relu)\d /m.test(text));
    must(layers.length === 2, "two pages have layers");
    for (const text of layers) must(/as written/.test(text), "no head");
  },
  async "columns come and go"(page) {
    must(await head(page, "saved").isHidden(), "hidden at first");
    await page.click("#columns summary");
    await page.locator("#columns label", { hasText: "saved" }).click();
    must(await head(page, "saved").isVisible(), "shown");
  },
};

async function long(open) {
  let text = "input 8x8x4\n";
  for (let i = 0; i < 5000; i++)
    text += `conv ${i * i % 997 % 64 + 1} ${i % 3 * 2 + 1}x${i % 3 * 2 + 1} ` +
      "pad\n";
  const net = path.resolve(folder, "long.net");
  fs.writeFileSync(net, text);
  const page = await open(write(net, "long.html"));
  const ms = await page.evaluate(() =>
    performance.getEntriesByType("navigation")[0].loadEventEnd);
  console.log(`     5,000 different layers: open in ${Math.round(ms)} ms`);
  must(ms < 5000, "too slow even for a busy machine");
  await page.click("#more");
  must((await names(page)).length === 5001, "all rows");
  await page.close();
}

// Answers of `netc lsp` about a text.
const asked = (uri, text) => {
  const document = { uri };
  const messages = [
    { id: 1, method: "initialize",
      params: { processId: null, rootUri: null, capabilities: {} } },
    { method: "initialized", params: {} },
    { method: "textDocument/didOpen", params: { textDocument: { uri,
      languageId: "netc", version: 1, text } } },
    { id: 2, method: "netc/preview", params: { textDocument: document } },
    { id: 3, method: "netc/view", params: { textDocument: document } },
    { id: 4, method: "shutdown" }, { method: "exit" }];
  const out = execFileSync(netc, ["lsp"], { input: messages.map((m) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...m });
    return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  }).join("") }).toString();
  const answer = (id) => JSON.parse(out.split(/Content-Length: \d+\r\n\r\n/)
    .find((body) => body.includes(`"id":${id},`))).result;
  return [answer(2), answer(3)];
};

// The page of the extension, with VS Code played here.
async function code(open) {
  const { Module } = require("module");
  const load = Module._load;
  Module._load = (name, ...rest) => name.startsWith("vscode") ? {}
    : load(name, ...rest);
  const extension = require(path.resolve("editors/vscode/extension.js"));
  Module._load = load;
  const [preview, view] = asked("file:///a%20b/c.net",
    "input 32x32x3\nconv 8 3x3\nrelu\nfc 10\n");
  const file = path.resolve(folder, "code.html");
  fs.writeFileSync(file, extension.page("abc", view).replace("<script nonce",
    "<script nonce=\"abc\">window.said = []; function acquireVsCodeApi() { " +
    "return { postMessage: (m) => said.push(m) }; }</script><script nonce"));
  const page = await open("file://" + file);
  const post = (message) => page.evaluate((m) => postMessage(m, "*"), message);
  same(await page.evaluate(() => window.said), [{ ready: true }], "ready");
  await post({ file: "/a b/c.net" });
  await post({ ...preview, note: "" });
  await post({ line: 3 });
  const here = page.locator("#canvas .here");
  await here.waitFor();
  must(/conv/.test(await here.textContent()), "the box of the line before");
  must(/^needs [\d.]+ [KM]iB/.test(await page.textContent(".verdict")),
    await page.textContent("#card"));
  const wide = () => page.$eval("#canvas svg", (e) => e.clientWidth);
  const before = await wide();
  await page.click('[data-zoom="1.25"]');
  must(await wide() > 1.2 * before, "a button zooms");
  await page.click('[id="n.fc1"]');
  await page.waitForFunction(() => window.said.length === 2);
  same(await page.evaluate(() => window.said[1]), { line: 4 }, "a click");
  await post({ note: "no diagram" });
  await page.waitForSelector("body.old");
  await page.close();
}

async function main() {
  const browser = await chromium.launch({ args: flags,
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium" });
  const wrong = [];
  const open = async (url, options) => {
    const page = await browser.newPage({
      viewport: { width: 1280, height: 900 }, ...options });
    page.on("console", (m) => wrong.push("console: " + m.text()));
    page.on("pageerror", (e) => wrong.push("error: " + e.message));
    page.on("request", (r) => r.url() === url ||
      wrong.push("request: " + r.url()));
    await page.goto(url);
    return page;
  };
  const test = async (name, run) => {
    try {
      await run();
      must(wrong.length === 0, wrong.join("; "));
      console.log("ok   " + name);
    } catch (e) {
      console.log(`FAIL ${name}: ${e.message}`);
      process.exitCode = 1;
    }
    wrong.length = 0;
  };
  const url = write("examples/resnet50.net", "resnet50.html");
  for (const [name, run] of Object.entries(tests))
    await test(name, async () => {
      const page = await open(url);
      page.setDefaultTimeout(5000);
      await run(page);
      await page.close();
    });
  await test("without its script the page is whole", async () => {
    const page = await open(url, { javaScriptEnabled: false });
    must(await page.locator('tr[data-n="stem.conv1"]').isVisible(), "a row");
    must(await page.locator("#canvas svg").isVisible(), "the diagram");
    await page.close();
  });
  await test("thousands of layers open", () => long(open));
  await test("VS Code's page has the same view and card", () => code(open));
  await browser.close();
}

main().catch((e) => {
  console.error(e.message);
  process.exitCode = 1;
});
