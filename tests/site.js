// The site in a browser: site.js SITE. Home, search, Copy, pictures and grids
// at three widths, light and dark; the program that home offers is downloaded
// by home's own line and run. Tests of the playground need that of `make web`.
"use strict";
const { execFile } = require("child_process");
const fs = require("fs");
const http = require("http");
const os = require("os");
const path = require("path");
const { promisify } = require("util");
const { chromium } = require("playwright-core");

const site = path.resolve(process.argv[2]);
const playable = fs.existsSync(path.join(site, "play"));
const must = (ok, what) => {
  if (!ok) throw new Error(what);
};
const types = { ".html": "text/html", ".css": "text/css", ".svg": "image/svg+xml",
  ".js": "text/javascript" };
const server = http.createServer((asked, answer) => {
  const file = path.join(site, decodeURIComponent(
    new URL(asked.url, "http://x").pathname).replace(/\/$/, "/index.html"));
  fs.readFile(file, (error, data) => {
    answer.writeHead(error ? 404 : 200, { "content-type":
      types[path.extname(file)] || "application/octet-stream" });
    answer.end(data);
  });
});
const four = ["index.html", "docs/tutorial.html", "docs/gallery.html",
  "docs/zoo.html"];
const blocks = (page, name) => page.locator(`pre.${name}`).first();
// Results come after the letters: wait for the number of them, or for none.
const ask = async (page, words) => {
  await page.getByRole("searchbox", { name: "Search" }).fill(words);
  await page.getByText(/^(\d+ results|Nothing found for .*)$/).waitFor();
};

const tests = {
  async "home's line downloads a program that runs"(page) {
    await page.goto(page.base);
    await page.waitForFunction(() => document.querySelector("#install code")
      .textContent.includes(location.origin));
    const line = await page.textContent("#install code");
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "netc-site."));
    try {
      const run = (command) => promisify(execFile)("sh", ["-c", command],
        { cwd: folder, env: { PATH: process.env.PATH, NO_PROXY: "*" } });
      const { stdout } = await run(line);
      must(stdout.startsWith("resnet   25.6 M parameters"), stdout);
      const sum = await page.getAttribute("a[href$='.sha256']", "href");
      const name = path.basename(sum, ".sha256");
      await run(`mv netc ${name} && sha256sum -c '${path.join(site, sum)}'`);
    } finally {
      fs.rmSync(folder, { recursive: true });
    }
  },
  async "the playground is fetched late and is live"(page) {
    if (!playable) return;
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.setViewportSize({ width: 390, height: 500 });
    await page.goto(page.base, { waitUntil: "networkidle" });
    must(!asked.some((url) => url.includes("/play/")), "fetched at once");
    await page.locator("iframe").scrollIntoViewIfNeeded();
    const inner = page.frameLocator("iframe");
    await inner.locator("#status[data-ready]").waitFor();
    await inner.getByRole("region", { name: "Diagram" }).locator("svg").first()
      .waitFor();
    await page.getByRole("button", { name: "Try it in the browser" }).click();
    await page.waitForURL(/play\/index\.html/);
    await page.locator("#status[data-ready]").waitFor();
  },
  async "six thumbnails lead to gallery and zoo"(page) {
    await page.goto(page.base);
    const links = await page.$$eval("a.card", (all) => all.map((a) => a.href));
    must(links.length === 6, `${links.length} thumbnails`);
    for (const link of links) {
      must(/docs\/(gallery|zoo)\.html#/.test(link), link);
      await page.goto(link);
      must(await page.locator(new URL(link).hash).count() === 1, link);
    }
  },
  async "search finds by keys, from every folder, and says when not"(page) {
    for (const from of ["index.html", "docs/memory.html",
      "docs/diagnostics/unknown-name.html"]) {
      await page.goto(page.base + from);
      await page.keyboard.press("/");
      await ask(page, "pool remainder");
      await page.keyboard.press("ArrowDown");
      const first = page.locator("#found a").first();
      must(await first.evaluate((a) => a === document.activeElement), "focus");
      must((await first.getAttribute("href"))
        .endsWith("docs/diagnostics/pool-remainder.html"), "first result");
      await page.keyboard.press("Enter");
      await page.waitForURL(/diagnostics\/pool-remainder\.html$/);
      await ask(page, "xylophone quux");
      must(await page.locator("#found a").count() === 0, "a result");
      await page.getByText("Nothing found for").waitFor();
      await page.keyboard.press("Escape");
      await page.locator("#found").waitFor({ state: "hidden" });
    }
    const size = fs.statSync(path.join(site, "words.js")).size;
    must(size < 110e3, `the index has ${size} bytes`);
  },
  async "code has colours, and Copy takes the text alone"(page) {
    await page.goto(page.base + "overview.html");
    must(await blocks(page, "net").locator(".nf").count() > 2, "net");
    must(await blocks(page, "sh").locator("span").count() > 0, "sh");
    must(await page.locator("pre").count() ===
      await page.getByRole("button", { name: "Copy" }).count(), "buttons");
    const block = page.locator(".code:has(pre.net)").first();
    await block.getByRole("button").click();
    await block.getByText("Copied").waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    must(copied.startsWith("# examples/simple_cnn.net\ninput 50x50x3\nC1: ") &&
      copied.trimEnd().endsWith("optimizer=momentum"), copied);
  },
  async "pages follow each other"(page) {
    await page.goto(page.base + "overview.html");
    await page.getByRole("link", { name: "Next" }).click();
    await page.waitForURL(/docs\/tutorial\.html$/);
    await page.getByRole("link", { name: "Previous" }).click();
    await page.waitForURL(/overview\.html$/);
  },
  async "zoo's rows have a picture and numbers on one line"(page) {
    await page.goto(page.base + "docs/zoo.html");
    const wrong = await page.$$eval(".zoo tbody tr", (rows) => rows
      .filter((row) => !row.querySelector("img") || [...row.cells].slice(4)
        .some((cell) => getComputedStyle(cell).whiteSpace !== "nowrap"))
      .map((row) => row.textContent));
    must(await page.locator(".zoo tbody tr").count() > 90 && !wrong.length,
      wrong.join());
  },
  async "texts do not say how the repository makes them"(page) {
    for (const name of [...four, "docs/boards.html", "docs/gpus.html",
      "docs/recipes.html", "docs/accuracy.html"]) {
      await page.goto(page.base + name);
      const text = await page.$$eval("main :is(p, li, h1, h2)", (all) => all
        .map((one) => one.textContent).join("\n"));
      const found = /Made by|makes\s+this\s+page|\b[a-z]+\.md\b/.exec(text);
      must(!found, `${name}: ${found}`);
    }
  },
  async "no sideways scroll, pictures of 200 px that lead to themselves"(page) {
    for (const width of [1280, 768, 390]) {
      await page.setViewportSize({ width, height: 800 });
      for (const name of [...four, "overview.html", "docs/pictures.html",
        "docs/editors.html"]) {
        await page.goto(page.base + name);
        const wrong = await page.evaluate(() => [
          ...document.documentElement.scrollWidth > innerWidth ? ["scroll"] : [],
          ...[...document.images].filter((image) => !image.closest("a[href]") ||
            image.getBoundingClientRect().width < 200).map((i) => i.src)]);
        must(!wrong.length, `${name} at ${width}: ${wrong}`);
      }
    }
  },
  async "axe-core has no serious finding, light and dark"(page) {
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      for (const name of four) {
        await page.goto(page.base + name);
        await page.addScriptTag({ path: require.resolve("axe-core/axe.min.js") });
        const found = await page.evaluate(async () => (await window.axe.run(
          document, { iframes: false })).violations
          .filter(({ impact }) => /serious|critical/.test(impact))
          .map(({ id, nodes }) => `${id}: ${nodes[0].html} ` +
            nodes[0].failureSummary));
        must(!found.length, `${name}, ${colorScheme}: ${found.join("; ")}`);
      }
    }
  },
};

(async () => {
  await new Promise((done) => { server.listen(0, "127.0.0.1", done); });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM, args: ["--no-sandbox",
      "--disable-gpu", "--no-first-run", "--disable-sync"] });
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      permissions: ["clipboard-read", "clipboard-write"] });
    const page = await context.newPage();
    page.base = `http://127.0.0.1:${server.address().port}/`;
    const errors = [];
    page.on("pageerror", (error) => errors.push(error.message));
    try {
      await test(page);
      must(!errors.length, errors.join());
      console.log(`ok   ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAIL ${name}\n     ${error.message}`);
    }
    await context.close();
  }
  await browser.close();
  server.close();
  process.exit(failed ? 1 : 0);
})();
