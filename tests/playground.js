// The playground in a browser, from file://: playground.js NETC FOLDER WEB.
// All outputs of every net of examples/zoo equal the program's bytes; links,
// files and names of strangers break nothing; sizes; times are printed.
// PLAYGROUND_NETS="resnet vit" compares these alone.
"use strict";
const { execFileSync } = require("child_process");
const fs = require("fs");
const path = require("path");
const zlib = require("zlib");
const { chromium } = require("playwright-core");

const [netc, folder, web] = process.argv.slice(2);
const zoo = path.resolve("examples/zoo");
const nets = (process.env.PLAYGROUND_NETS || "").split(" ").filter(Boolean);
const page_url = "file://" + path.resolve(web, "netc.html");
const must = (ok, what) => {
  if (!ok) throw new Error(what);
};
const gzip = (name) => execFileSync("gzip", ["-9c", path.join(web, name)],
  { maxBuffer: 1 << 28 }).length;
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

const open = async (page, hash = "") => {
  await page.goto("about:blank");
  await page.goto(page_url + hash);
  await page.waitForSelector("#status[data-ready]");
};
const base64url = (bytes) => Buffer.from(bytes).toString("base64")
  .replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

const tests = {
  async "sizes are below their limits"() {
    const all = ["netc.wasm.lzma", "netc.js", "netc.css", "index.html"]
      .map(gzip);
    const sum = all.reduce((a, b) => a + b);
    const plain = gzip("../wasm/netc.wasm");
    console.log(`  ${all[0]} bytes of wasm, ${sum} in all, after gzip -9; ` +
      `the wasm by gzip alone ${plain}`);
    must(all[0] <= 526e3, `wasm has ${all[0]} bytes`);
    must(sum <= 697e3, `all have ${sum} bytes`);
  },
  async "every output of every net equals the program's"(page) {
    const names = nets.length ? nets.map((n) => `${n}.net`)
      : fs.readdirSync(zoo).filter((n) => n.endsWith(".net"));
    await open(page);
    const kinds = await page.evaluate(() => window.netc.outputs);
    must(kinds.length > 20 && !kinds.includes("pdf"), "outputs");
    let same = 0, large = 0;
    for (const name of names) {
      const text = fs.readFileSync(path.join(zoo, name), "utf8");
      const ours = await page.evaluate(async ([text, name, kinds]) => {
        const a = await window.netc.compile(text, { name, kinds });
        for (const o of Object.values(a.outputs))
          if (o.bytes) o.bytes = [...o.bytes];
        return a.outputs;
      }, [text, name, kinds]);
      for (const kind of kinds) {
        const o = ours[kind];
        must(o, `${name} does not compile`);
        let theirs = null;
        try {
          theirs = execFileSync(netc, [name, `--emit=${kind}`],
            { cwd: zoo, stdio: ["ignore", "pipe", "ignore"],
              maxBuffer: 1 << 28 });
        } catch (e) {
          theirs = null;
        }
        /* Offsets of 32 bits end there: said, where they wrapped before. */
        if (kind === "c" && o.refused?.includes("64-bit netc")) {
          must(theirs.includes("netrt_model"), `${name}: no C either`);
          large++;
          continue;
        }
        must((theirs === null) === (o.refused !== undefined),
          `${name}: one alone refuses ${kind}: ${o.refused}`);
        if (theirs === null) continue;
        const bytes = o.bytes ? Buffer.from(o.bytes) : Buffer.from(o.text);
        must(bytes.equals(theirs), `${name}: ${kind} differs`);
        same++;
      }
    }
    console.log(`  ${same} outputs of ${names.length} nets are equal; `
      + `${large} need 64 bits`);
  },
  async "a link of every net opens to its source"(page) {
    await open(page);
    for (const name of fs.readdirSync(zoo).filter((n) => n.endsWith(".net"))) {
      const text = fs.readFileSync(path.join(zoo, name), "utf8");
      const link = base64url(zlib.deflateRawSync(text));
      const got = await page.evaluate(([link, text]) => window.netc.follow(
        `#s=${link}&name=x.net`).then(() => window.netc.text() === text),
      [link, text]);
      must(got, `the link of ${name}`);
    }
  },
  async "links of strangers never break the page"(page) {
    let seed = 1;
    const random = (n) => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      return (seed >>> 8) % n;
    };
    const good = "#s=" + base64url(zlib.deflateRawSync("input 8\nfc 2\n")) +
      "&batch=4&I.=9&name=a.net&tab=arena";
    const bomb = "#s=" + base64url(zlib.deflateRawSync(Buffer.alloc(3e6)));
    await open(page);
    await page.evaluate((l) => window.netc.follow(l), bomb);
    must((await page.textContent("#note")).includes("larger than 1 MB"),
      "a bomb is refused");
    for (let i = 0; i < 300; i++) {
      const link = [...good];
      for (let k = random(6); k >= 0; k--)
        link.splice(1 + random(link.length - 1), random(3), String
          .fromCharCode(33 + random(94)));
      await page.evaluate((l) => window.netc.follow(l), link.join(""));
    }
    await page.evaluate((l) => window.netc.follow(l), good);
    must(await page.evaluate(() => window.netc.text()) === "input 8\nfc 2\n",
      "the page still works");
    must((await page.textContent("#panel-report")).includes("fc1"), "report");
  },
  async "names of strangers act nowhere"(page) {
    const name = "</title><script>window.bad = 1</script><img src=x " +
      "onerror=window.bad=1>";
    await open(page, "#text=" + encodeURIComponent(
      `net "${name}"\ninput 8\n"${name}": fc 2\n`));
    for (const tab of await page.$$('[role="tab"]')) {
      await tab.click();
      await page.evaluate(() => window.netc.settled());
    }
    await page.evaluate((n) => window.netc.follow("#text=" +
      encodeURIComponent(`input 8\nfc ${n}\n`) + "&D." +
      encodeURIComponent(n) + "=1"), name);
    must(await page.evaluate(() => window.bad === undefined), "it acts");
  },
  async "an error is listed, and its fix mends it"(page) {
    await open(page, "#text=" + encodeURIComponent("input 8x8x3\ncnv 4 3x3\n"));
    must((await page.textContent("#problems")).includes("cnv"), "listed");
    await page.click("#problems li button:not(.go)");
    await page.waitForFunction(() =>
      !document.querySelector("#problems li.error"));
    must(await page.evaluate(() => window.netc.text()) ===
      "input 8x8x3\nconv 4 3x3\n", "mended");
    must((await page.textContent(".cm-content")).includes("6x6x4"), "a hint");
  },
  async "menus and sliders reach the report; the link keeps them"(page) {
    await open(page, "#zoo=resnet");
    await page.selectOption("#batch", "64");
    await page.selectOption("#gpu", "t4");
    await page.focus("#sliders input[type=range] >> nth=0");
    await page.evaluate(() => window.netc.settled());
    const slider = page.locator("#sliders label", { hasText: "depth" })
      .locator("input");
    await slider.press("Home");
    await page.evaluate(() => window.netc.settled());
    const report = await page.textContent("#panel-report");
    must(report.includes("11,689,512"), "resnet18");
    must(/batch 64/.test(report), "batch");
    await page.click("#share");
    await page.waitForFunction(() => location.hash.includes("D.depth=18"));
    const hash = await page.evaluate(() => location.hash);
    must(hash.includes("batch=64") && hash.includes("gpu=t4"), hash);
    await open(page, hash);
    must((await page.textContent("#panel-report")).includes("11,689,512"),
      "opened again");
  },
  async "completion and hover are the compiler's"(page) {
    await open(page, "#text=" + encodeURIComponent("input 8x8x3\n"));
    await page.click(".cm-content");
    await page.keyboard.press("Control+End");
    await page.keyboard.type("con");
    await page.waitForSelector(".cm-tooltip-autocomplete");
    must((await page.textContent(".cm-tooltip-autocomplete"))
      .includes("conv"), "conv");
    await page.waitForTimeout(200);
    await page.keyboard.press("Enter");
    await page.keyboard.type(" 4 3x3");
    await page.waitForFunction(() => document.querySelector(".cm-content")
      .textContent.includes("6x6x4"));
    await page.hover(".net-layer");
    await page.waitForSelector(".net-hover");
    must((await page.textContent(".net-hover")).includes("8x8x3 -> 6x6x4"),
      "hover");
  },
  async "a worker that takes too long is replaced"(page) {
    await open(page, "#text=" + encodeURIComponent("input 8\nfc 2\n"));
    // 14 s of a native build: over the limit on any machine.
    await page.evaluate(() => window.netc.follow("#text=" + encodeURIComponent(
      "input 4x8\nrepeat 1_900_000 { attention 2 }\n")));
    await page.waitForFunction(() => document.querySelector("#note")
      .textContent.includes("a fresh one"), null, { timeout: 20000 })
      .catch(async () => must(false,
        `it is said, not "${await page.textContent("#note")}"`));
    await page.evaluate(() => window.netc.follow("#text=" +
      encodeURIComponent("input 8\nfc 77\n")));
    must((await page.textContent("#panel-report")).includes("77"),
      "it is there again");
  },
  async "files are opened; of others the command is said"(page) {
    await open(page);
    const drop = (name, text) => page.setInputFiles("#file", { name,
      mimeType: "text/plain", buffer: Buffer.from(text) });
    const noted = (text) => page.waitForFunction((t) => document
      .querySelector("#note").textContent.includes(t), text);
    await drop("mine.net", "input 8\nfc 55\n");
    await page.waitForFunction(() => document
      .querySelector("#panel-report").textContent.includes("55"));
    await drop("m.onnx", "x");
    await noted("netc import m.onnx");
    await drop("tiny.cfg", "[net]\nheight=8\nwidth=8\nchannels=3\n" +
      "[convolutional]\nfilters=16\nsize=3\nstride=1\nactivation=leaky\n");
    await page.waitForFunction(() => window.netc.text().includes("conv 16"));
    must((await page.textContent("#panel-report")).includes("6x6x16"), "cfg");
    await drop("bad.cfg", "[net]\nwidth=8\nheight=8\nchannels=3\n[what]\n");
    await noted("bad.cfg: line 5: ");
    await noted("netc import bad.cfg");
    await drop("x.json", "{\"a\": [1, }");
    await noted("x.json: line 1: ");
    must((await page.textContent("#panel-report")).includes("6x6x16"),
      "what was open is still there");
  },
  async "imports are the program's"(page) {
    const of = (folder, end) => fs.readdirSync(folder)
      .filter((n) => n.endsWith(end)).map((n) => path.join(folder, n));
    const data = "tests/data/import/";
    const here = path.join(folder, "import");
    fs.rmSync(here, { recursive: true, force: true });
    fs.mkdirSync(here);
    let same = 0, refused = 0;
    await open(page);
    for (const file of [...of(data + "darknet", ".cfg"),
      ...of(data + "caffe", ".prototxt"),
      ...of("tests/data/huggingface", ".json")]) {
      const name = path.basename(file), text = fs.readFileSync(file, "utf8");
      const ours = await page.evaluate(([n, t]) => window.netc.import(n, t),
        [name, text]);
      fs.writeFileSync(path.join(here, name), text);
      let theirs = null;
      try {
        theirs = execFileSync(netc, ["import", name, "-o", "-"],
          { cwd: here, stdio: ["ignore", "pipe", "ignore"] }).toString();
      } catch (e) {
        theirs = null;
      }
      must((theirs === null) === (ours.refused !== undefined),
        `${name}: one alone refuses it: ${ours.refused}`);
      must(theirs === null || ours.text === theirs, `${name} differs`);
      theirs === null ? refused++ : same++;
    }
    must(same > 60, `${same} files are equal`);
    console.log(`  ${same} files are equal, ${refused} refused by both`);
  },
  async "axe finds nothing serious, in light and dark, wide and narrow"(page) {
    for (const colorScheme of ["light", "dark"])
      for (const width of [1280, 400]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await open(page, "#text=" + encodeURIComponent(
          "input 32x32x3\nconv 8 3x3 pad\n cnv 4\n"));
        const session = await page.context().newCDPSession(page);
        await session.send("Runtime.evaluate", { expression:
          fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8") });
        const found = await page.evaluate(() => window.axe.run());
        const bad = found.violations.filter((v) =>
          ["serious", "critical"].includes(v.impact));
        must(!bad.length, `${colorScheme} ${width}: ` + bad.map((v) =>
          `${v.id}: ${v.nodes[0].html.slice(0, 120)} ${v.nodes[0]
            .failureSummary}`).join("; "));
        must(await page.evaluate(() => document.documentElement.scrollWidth <=
          innerWidth), `${width}: the page is wider than its window`);
        const panel = await page.locator("#panel-report").boundingBox();
        must(panel.height > 300, `${width}: the report has ${panel.height} px`);
      }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1280, height: 720 });
  },
  async "the page goes by the keyboard; ?embed has no frame"(page) {
    await open(page, "#zoo=lenet5");
    await page.focus("#tab-report");
    await page.keyboard.press("ArrowRight");
    must(await page.getAttribute("#tab-diagram", "aria-selected") === "true",
      "the next tab");
    must(await page.$("#panel-diagram svg"), "a diagram");
    await page.goto("about:blank");
    await page.goto(page_url + "?embed#zoo=lenet5");
    await page.waitForSelector("#status[data-ready]");
    must(await page.isHidden("header") && await page.isVisible("#whole"),
      "embedded");
  },
  async "a page of --live follows its sliders"(page) {
    const written = (file, ...options) => execFileSync(netc,
      ["resnet.net", "--gpu=t4", "-o", path.resolve(folder, file), ...options],
      { cwd: zoo, stdio: ["ignore", "ignore", "pipe"] });
    const has = (text) => page.waitForFunction((t) => document.querySelector(
      "#layers").textContent.includes(t), text, { timeout: 10000 })
      .catch(() => must(false, `the table has ${text}`));
    written("still.html", "-Dwidth=128", "-Ddepth=18");
    await page.goto("file://" + path.resolve(folder, "still.html"));
    const rows = await page.textContent("#layers");
    written("live.html", "--live", "-Dwidth=128");
    await page.goto("file://" + path.resolve(folder, "live.html"));
    await page.waitForSelector("#live[data-ready]");
    await has("68,883,240"); // Wide ResNet-50
    const slider = page.locator("#live label", { hasText: "depth" })
      .locator("input");
    await slider.focus();
    await slider.press("Home");
    // The same as the program writes for these values.
    await page.waitForFunction((t) => document.querySelector("#layers")
      .textContent === t, rows, { timeout: 10000 })
      .catch(() => must(false, "the table of -Ddepth=18"));
    must(await slider.evaluate((e) => e === document.activeElement),
      "the slider keeps the focus");
    await page.click("#layers tbody tr >> nth=2");
    must(await page.isVisible("#detail"), "the new table has its script");
    await page.fill("#query", "fc1");
    must(/1 row/.test(await page.textContent("#found")), "and its search");
    must(!fs.readFileSync(path.resolve(folder, "still.html"), "utf8")
      .includes("wasm"), "without --live a page is as it was");
  },
  async "times, for the reader"(page) {
    const ready = [], all = [];
    for (let i = 0; i < 5; i++) {
      await open(page);
      ready.push(Number(await page.getAttribute("#status", "data-ready")));
    }
    for (const name of fs.readdirSync(zoo).filter((n) => n.endsWith(".net"))) {
      await page.evaluate((n) => window.netc.follow(`#zoo=${n}`),
        name.replace(".net", ""));
      all.push([await page.evaluate(() => window.netc.keystroke(9)), name]);
    }
    const of = (n) => all.find((a) => a[1] === n)[0].toFixed(1);
    const resnet = of("resnet.net");
    all.sort((a, b) => b[0] - a[0]);
    console.log(`  ready ${median(ready)} ms; keystroke to report and diagram:` +
      ` resnet ${resnet} ms, median ${all[all.length >> 1][0].toFixed(1)},` +
      ` slowest ${all.slice(0, 4).map((a) => `${a[1].replace(".net", "")} ` +
      a[0].toFixed(0)).join(", ")}`);
  },
};

(async () => {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic",
      "--no-first-run", "--disable-background-networking"] });
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    if (process.env.PLAYGROUND_TEST &&
      !name.includes(process.env.PLAYGROUND_TEST)) continue;
    const page = await browser.newPage();
    const wrong = [];
    page.on("pageerror", (e) => wrong.push(e.message));
    page.on("request", (r) => /^(file|blob|data|about):/.test(r.url()) ||
      wrong.push(`it asks for ${r.url()}`));
    try {
      await test(page);
      must(!wrong.length, wrong.join("; "));
      console.log(`ok ${name}`);
    } catch (e) {
      failed++;
      console.log(`FAILED ${name}: ${e.message}`);
      fs.writeFileSync(path.join(folder, "playground.html"),
        await page.content().catch(() => ""));
    }
    await page.close();
  }
  await browser.close();
  process.exit(failed ? 1 : 0);
})();
