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
const { serve } = require("./served.js");

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

// Kinds of files that the page reads, or whose weights netc reads.
const READ = new RegExp("\\.(caffemodel|gguf|h5|json|keras|param|pkl|pt2?|pth" +
  "|py|safetensors|weights|xml|yaml|zip)$");

const tests = {
  async "sizes are below their limits"() {
    const all = ["netc.lzma", "netc.js", "netc.css", "index.html"].map(gzip);
    const sum = all.reduce((a, b) => a + b);
    console.log(`  ${sum} bytes, ${all[0]} of them the compiler, after ` +
      `gzip -9; the second module has ${gzip("more.lzma")}`);
    must(all[0] <= 440e3, `the compiler has ${all[0]} bytes`);
    must(sum <= 580e3, `all have ${sum} bytes`);
  },
  async "every output of every net equals the program's"(page) {
    const names = nets.length ? nets.map((n) => `${n}.net`)
      : fs.readdirSync(zoo).filter((n) => n.endsWith(".net"));
    await open(page);
    const { first, second } = await page.evaluate(() => window.netc.outputs());
    must(first.length > 5 && first.every((k) => second.includes(k)), "first");
    must(second.length > 25 && second.includes("pdf") && !first.includes("pdf"),
      "the second module has all outputs");
    const of = (text, name, kinds, second) => page.evaluate(async (job) => {
      const a = await window.netc.compile(...job);
      for (const o of Object.values(a.outputs))
        if (o.bytes) o.bytes = [...o.bytes];
      return a.outputs;
    }, [text, { name, kinds, second }]);
    let same = 0, large = 0;
    for (const name of names) {
      const text = fs.readFileSync(path.join(zoo, name), "utf8");
      const brief = await of(text, name, first, false);
      const ours = await of(text, name, second, true);
      for (const kind of second) {
        const o = ours[kind];
        must(o, `${name} does not compile`);
        must(!first.includes(kind) ||
          JSON.stringify(brief[kind]) === JSON.stringify(o),
        `${name}: the modules differ in ${kind}`);
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
      "&batch=4&I.=9&name=a.net&tab=arena&predict=on";
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
    must((await page.textContent("#layers")).includes("fc1"), "layers");
  },
  async "names of strangers act nowhere"(page) {
    const name = "</title><script>window.bad = 1</script><img src=x " +
      "onerror=window.bad=1>";
    await open(page, "#text=" + encodeURIComponent(
      `net "${name}"\ninput 8\n"${name}": fc 2\n`));
    for (const name of ["timeline", "roofline", "arena", "volumes"]) {
      await page.click(`#tab-${name}`);
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
  async "controls and params reach the answer; the link keeps them"(page) {
    await open(page, "#zoo=resnet");
    await page.fill("#batch", "64");
    await page.selectOption("#gpu", "t4");
    await page.click("#params summary");
    must(await page.locator("#sliders input[type=range]").count() === 1,
      "only depth has a range");
    const slider = page.locator("#sliders label", { hasText: "depth" })
      .locator("input");
    await slider.press("Home");
    await page.evaluate(() => window.netc.settled());
    const answer = await page.textContent("#card");
    must(answer.includes("11.7 M parameters"), "resnet18");
    must(/batch 64.*T4/.test(answer), answer);
    await page.click("#share");
    await page.waitForFunction(() => location.hash.includes("D.depth=18"));
    const hash = await page.evaluate(() => location.hash);
    must(hash.includes("batch=64") && hash.includes("gpu=t4"), hash);
    must(hash.includes("zoo=resnet"), "the name of an example is enough");
    await open(page, hash);
    must(await page.textContent("#card") === answer, "opened again");
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
    must((await page.textContent("#layers")).includes("fc 77"),
      "it is there again");
  },
  async "files are opened; of others the command is said"(page) {
    await open(page);
    const drop = (name, text) => page.setInputFiles("#file", { name,
      mimeType: "text/plain", buffer: Buffer.from(text, "latin1") });
    const noted = (text) => page.waitForFunction((t) => document
      .querySelector("#note").textContent.includes(t), text);
    await drop("mine.net", "input 8\nfc 55\n");
    await page.waitForFunction(() => document
      .querySelector("#layers").textContent.includes("55"));
    await drop("m.onnx", "x");
    await noted("netc import m.onnx");
    await drop("tiny.cfg", "[net]\nheight=8\nwidth=8\nchannels=3\n" +
      "[convolutional]\nfilters=16\nsize=3\nstride=1\nactivation=leaky\n");
    await page.waitForFunction(() => window.netc.text().includes("conv 16") &&
      document.querySelector("#layers").textContent.includes("6x6x16"));
    await drop("bad.cfg", "[net]\nwidth=8\nheight=8\nchannels=3\n[what]\n");
    await noted("bad.cfg: line 5: ");
    await noted("netc import bad.cfg");
    await drop("x.json", "{\"model_type\": [1, }");
    await noted("x.json: line 1: ");
    await drop("y.json", "{\"a\": [1, }");
    await noted("y.json: this is JSON, but not a model that netc knows");
    await drop("z.gguf", "GGUF\u0003\u0000\u0000\u0000");
    await noted("z.gguf: it ends too early");
    await drop("x.json.gz", "\u001f\u008b");
    await noted("x.json.gz: this is compressed with gzip\nhelp: run `gunzip");
    await drop("z.tflite", "x");
    await noted("z.tflite: its name says TensorFlow Lite");
    must((await page.textContent("#layers")).includes("6x6x16"),
      "what was open is still there");
  },
  async "large files are read in parts, and several lie together"(page) {
    const data = "tests/data/huggingface/gguf/";
    const here = path.join(folder, "parts");
    fs.rmSync(here, { recursive: true, force: true });
    fs.mkdirSync(here);
    const large = path.join(here, "large.gguf");
    fs.copyFileSync(data + "mixtral-8x7b-q4_0.gguf", large);
    fs.chmodSync(large, 0o644);
    fs.truncateSync(large, 5 * 2 ** 30); // sparse
    const weights = path.join(here, "large.safetensors");
    const head = JSON.stringify({ "fc.weight": { dtype: "F32",
      shape: [2 ** 15, 5 * 2 ** 13], data_offsets: [0, 5 * 2 ** 30] } });
    fs.writeFileSync(weights, Buffer.concat([
      Buffer.from(BigInt64Array.of(BigInt(head.length)).buffer),
      Buffer.from(head)]));
    fs.truncateSync(weights, 8 + head.length + 5 * 2 ** 30);
    const parts = [1, 2, 3].map((i) =>
      path.resolve(`${data}blocks/split-0000${i}-of-00003.gguf`));
    await open(page);
    for (const files of [[large], [weights], parts]) {
      const theirs = execFileSync(netc, ["import", files[0], "-o", "-"],
        { stdio: ["ignore", "pipe", "ignore"] }).toString();
      await page.setInputFiles("#file", files);
      await page.waitForFunction((t) => window.netc.text() === t, theirs);
    }
    await page.setInputFiles("#file", parts.slice(0, 1));
    await page.waitForFunction(() => document.querySelector("#note")
      .textContent.includes("split-00002-of-00003.gguf"));
    const onnx = ["onnx", "bin"].map((end) =>
      path.resolve(`tests/data/import/onnx/outside.${end}`));
    await page.setInputFiles("#file", onnx.slice(0, 1));
    await page.waitForFunction(() => document.querySelector("#note")
      .textContent.includes("in the file `outside.bin` beside the model"));
    await page.setInputFiles("#file", onnx);
    await page.waitForFunction(() => window.netc.text().includes("fc 4 nobias"));
    fs.rmSync(here, { recursive: true });
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
    const files = [...of(data + "darknet", ".cfg"),
      ...of(data + "caffe", ".prototxt"), ...of("tests/data/huggingface",
        ".json"), ...of(data + "tflite", ".tflite"),
      ...of(data + "tflite/refused", ".tflite"), ...of("tests/data/q8",
        ".tflite"), ...of("tests/data/huggingface/gguf", ".gguf"),
      ...of("tests/data/huggingface/gguf/blocks", ".gguf"),
      ...["onnx", "onnx/attention", "control", "open", "quant", "states"]
        .flatMap((room) => of(data + room, ".onnx")),
      ...of("tests/data/seeds", ".onnx"), ...["exported", "keras", "ncnn",
        "openvino", "pytorch_source", "saved", "saved/chain", "saved/picture",
        "saved/words", "values", "yolo"].flatMap((room) => of(data + room, "")
        .filter((n) => READ.test(n))), ...of("tests/data/torch", "")
        .filter((n) => READ.test(n))];
    /* A model that netc wrote keeps its source, with the comments. */
    const kept = path.join(folder, "kept.onnx");
    execFileSync(netc, [path.join(zoo, "lenet5.net"), "-o", kept],
      { stdio: "ignore" });
    for (const file of [...files, kept]) {
      const name = path.basename(file), bytes = fs.readFileSync(file);
      const ours = await page.evaluate(([n, t]) => window.netc.import(n,
        [Uint8Array.from(atob(t), (c) => c.charCodeAt(0))]),
      [name, bytes.toString("base64")]);
      fs.writeFileSync(path.join(here, name), bytes);
      let theirs = null;
      try {
        theirs = execFileSync(netc, ["import", name, "-o", "-"],
          { cwd: here, stdio: ["ignore", "pipe", "ignore"] }).toString();
      } catch (e) {
        theirs = null;
      }
      must((theirs === null) === (ours.refused !== undefined),
        `${file}: one alone refuses it: ${ours.refused}`);
      must(theirs === null || ours.text === theirs, `${file} differs`);
      must(file !== kept || ours.text === fs.readFileSync(path.join(zoo,
        "lenet5.net"), "utf8"), "its source is kept");
      fs.rmSync(path.join(here, name));
      theirs === null ? refused++ : same++;
    }
    must(same > 400, `${same} files are equal`);
    console.log(`  ${same} files are equal, ${refused} refused by both`);
  },
  async "axe finds nothing serious, in light and dark, wide and narrow"(page) {
    for (const colorScheme of ["light", "dark"])
      for (const width of [1280, 400]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await open(page, "#gpu=t4&tab=timeline&text=" + encodeURIComponent(
          "input 32x32x3\nconv 8 3x3 pad\n"));
        const session = await page.context().newCDPSession(page);
        await session.send("Runtime.evaluate", { expression:
          fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8") });
        const check = async (state) => {
          const found = await page.evaluate(() => window.axe.run());
          const bad = found.violations.filter((v) =>
            ["serious", "critical"].includes(v.impact));
          must(!bad.length, `${state} ${colorScheme} ${width}: ` + bad.map((v) =>
            `${v.id}: ${v.nodes[0].html.slice(0, 120)} ${v.nodes[0]
              .failureSummary}`).join("; "));
        };
        await check("compiled");
        await page.click(".cm-content");
        await page.keyboard.press("Control+End");
        await page.keyboard.type("cnv 4");
        await page.evaluate(() => window.netc.settled());
        must(await page.isVisible("#stale"), "out of date");
        await page.click("#save");
        await check("out of date, with the menu");
        must(await page.evaluate(() => document.documentElement.scrollWidth <=
          innerWidth), `${width}: the page is wider than its window`);
      }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1280, height: 720 });
  },
  async "?embed has no frame"(page) {
    await open(page, "?embed#zoo=lenet5");
    must(await page.isHidden("header") && await page.isVisible("#whole"),
      "embedded");
    must(await page.getAttribute("#whole", "href") === page_url + "#zoo=lenet5",
      "the whole page");
  },
  async "the first screen: source, diagram and answer"(page) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await open(page);
    const panes = ["Source", "Diagram", "Answer"].map((name) =>
      page.getByRole("region", { name, exact: true }));
    let left = -1;
    for (const pane of panes) {
      const box = await pane.boundingBox();
      must(box.x > left && box.x + box.width <= 1280 && box.y + 500 < 800,
        "side by side");
      left = box.x;
    }
    must((await page.evaluate(() => window.netc.text())).split("\n").length < 13,
      "about ten lines");
    must(/^fits, [\d.]+ GiB free$/.test(await page.textContent("#card .verdict")),
      "the verdict");
    must(await panes[1].locator("#n\\.conv1").isVisible(), "a box");
    must(await panes[0].getByRole("textbox", { name: /^Source/ }).isVisible(),
      "the editor");
    for (const name of ["Open", "Share", "Save"])
      must(await page.getByRole("button", { name }).count() === 1, name);
    for (const name of ["Card", "Type", "Optimizer"])
      must(await page.getByRole("combobox", { name }).isVisible(), name);
    must(await page.getByRole("radio", { name: "Train" }).isChecked(), "Train");
    must(!await page.getByRole("spinbutton", { name: "Context" }).isVisible(),
      "a context is for language models");
    const border = page.getByRole("separator", { name: "Width of the source" });
    const at = await border.boundingBox();
    await page.mouse.move(at.x + 2, at.y + 300);
    await page.mouse.down();
    await page.mouse.move(at.x + 102, at.y + 300, { steps: 3 });
    await page.mouse.up();
    const wide = () => panes[0].boundingBox().then((box) => box.width);
    const dragged = await wide();
    must(Math.abs(dragged - at.x - 100) < 4, `dragged: ${dragged}`);
    await border.press("ArrowLeft");
    must(await wide() < dragged - 10, "by a key");
    await page.setViewportSize({ width: 390, height: 844 });
    let bottom = 0;
    for (const pane of panes) {
      const box = await pane.boundingBox();
      must(box.y >= bottom && box.width <= 390, "one below the other");
      bottom = box.y + box.height;
    }
    must(await page.evaluate(() => document.documentElement.scrollWidth) <= 390,
      "no sideways scroll");
  },
  async "the card says what the report says"(page) {
    await open(page);
    const squeezed = (text) => text.replace(/\s+/g, " ");
    for (const [name, predict, settings, options] of [
      ["resnet", false, { gpu: "t4", batch: "256" }, ["--gpu=t4",
        "--batch=256"]],
      ["llama", true, { gpu: "rtx4090", weight_dtype: "q4_k_m",
        context: "8192" }, ["--gpu=rtx4090", "--weight-dtype=q4_k_m",
        "--context=8192"]],
      ["vit", true, {}, ["--predict"]],
      ["whisper", false, { precision: "mixed" }, ["--precision=mixed"]]]) {
      await page.evaluate(([n, s, p]) => window.netc.follow(`#zoo=${n}&` +
        `predict=${p ? "on" : "off"}` + Object.entries(s).map(([k, v]) =>
        `&${k}=${v}`).join("")), [name, settings, predict]);
      const report = squeezed(execFileSync(netc, [`${name}.net`, ...options],
        { cwd: zoo, stdio: ["ignore", "pipe", "ignore"] }).toString());
      const said = await page.$$eval("#card dd > div, .counts, .question", (es) =>
        es.map((e) => e.textContent));
      must(said.length > 3, `${name}: ${said.length} facts`);
      for (const text of said) {
        const plain = squeezed(text).trim();
        must(report.includes(plain) || report.replace(/ \[[#.|:]*\]/, "")
          .includes(plain), `${name}: "${plain}" is not in the report`);
      }
      const parts = await page.$$eval(".legend li", (es) => es.map((e) =>
        e.textContent));
      must(parts.length > 1 && report.includes(parts.join(", ")),
        `${name}: ${parts}`);
    }
  },
  async "the commonest question: a language model on a card"(page) {
    await open(page, "#zoo=llama");
    await page.getByRole("radio", { name: "Inference" }).check();
    await page.getByRole("combobox", { name: "Card" }).selectOption("rtx4090");
    await page.evaluate(() => window.netc.settled());
    await page.getByRole("combobox", { name: "Type" }).selectOption("q4_k_m");
    await page.getByRole("spinbutton", { name: "Context" }).fill("8192");
    await page.evaluate(() => window.netc.settled());
    const said = await page.textContent("#answer");
    must(/inference, 1 sequence of 8,192 tokens, q4_k_m, llama.cpp/.test(said),
      said);
    must(/KV cache 4.00/.test(said) && /^fits/.test(
      await page.textContent("#card .verdict")), said);
    must(/context=8192/.test(await page.waitForFunction(() =>
      /context/.test(location.hash) && location.hash).then((h) =>
      h.jsonValue())), "the link follows");
    await page.getByRole("radio", { name: "Train" }).check();
    await page.evaluate(() => window.netc.settled());
    must(/train, batch 1/.test(await page.textContent("#card")), "and back");
  },
  async "a way out is one click, and is taken back"(page) {
    await open(page, "#zoo=resnet&gpu=t4&batch=512");
    const way = page.locator("#card dd button", {
      hasText: /^--checkpoint auto$/ });
    await way.click();
    await page.waitForFunction(() => document.querySelector("#card .verdict")
      .textContent.startsWith("fits"));
    await page.waitForFunction(() => location.hash
      .includes("checkpoint=auto"));
    await page.getByRole("button", { name: "without --checkpoint auto" })
      .click();
    await way.waitFor();
    await page.locator("#card dd button", { hasText: /^--batch \d+ --acc/ })
      .click();
    await page.waitForFunction(() => document.querySelector("#batch").value ===
      "128" && document.querySelector("#card .verdict").textContent
      .startsWith("fits"));
  },
  async "line, box and row lead to each other"(page) {
    await open(page, "#text=" + encodeURIComponent(
      "input 32x32x3\nconv 8 3x3 pad\npool 2x2\nfc 10\n"));
    const now = () => page.$$eval("#canvas [aria-current=true]", (es) =>
      es.map((e) => e.id).join());
    await page.click("#n\\.pool1 text");
    must(await now() === "n.pool1", `a box: ${await now()}`);
    must(await page.evaluate(() => document.activeElement.closest(".cm-editor")
      !== null), "the caret is in the editor");
    await page.keyboard.press("ArrowDown");
    must(await now() === "n.fc1", `a line: ${await now()}`);
    await page.click("#layers tr:has-text('conv1') button");
    must(await now() === "n.conv1", `a row: ${await now()}`);
    await page.hover("#n\\.fc1 text");
    must(await page.textContent(".net-near") .then((t) => t.includes("fc 10")),
      "the line is marked");
    must((await page.textContent("#layers tr.near")).includes("fc1"), "the row");
    await page.hover("#layers tr:has-text('pool1')");
    must(await page.getAttribute("#canvas .near", "id") === "n.pool1", "the box");
    await page.hover(".cm-line >> nth=1");
    must(await page.getAttribute("#canvas .near", "id") === "n.conv1",
      "by the line");
    await page.hover("h1");
    must(!await page.$(".near, .net-near"), "nothing is marked");
    await page.click("#tab-timeline");
    const mark = page.locator("#panel-timeline [data-box='n.pool1']").first();
    await mark.hover();
    must(await page.getAttribute("#canvas .near", "id") === "n.pool1" &&
      (await page.textContent(".net-near")).includes("pool 2x2"), "by a mark");
    await page.hover("#n\\.pool1 text");
    must(await page.$("#panel-timeline .near[data-box='n.pool1']"),
      "the mark of a box");
    await mark.click();
    must(await now() === "n.pool1", `a mark: ${await now()}`);
  },
  async "numbers are never another text's"(page) {
    await open(page, "#zoo=lenet5");
    must(await page.title() === "lenet5 - netc", await page.title());
    const type = async (text) => {
      await page.click(".cm-content");
      await page.keyboard.press("Control+End");
      await page.keyboard.type(text);
      await page.evaluate(() => window.netc.settled());
    };
    const own = "input 8x8x3\nconv 4 3x3\n";
    await type("\ncnv 4");
    const words = "as of the last text without errors";
    must((await page.innerText("#answer")).includes(words), "it is said");
    for (const id of ["#card", "#canvas"])
      must(await page.$eval(id, (e) => getComputedStyle(e).opacity) < 0.7,
        `${id} is grey`);
    must(await page.getAttribute("#answer", "aria-busy") !== "true", "not busy");
    await page.keyboard.press("Control+a");
    await page.keyboard.type(own);
    await page.evaluate(() => window.netc.settled());
    must(!(await page.innerText("#answer")).includes(words), "it goes");
    must(await page.title() === "untitled - netc" &&
      await page.textContent("#card h2") === "untitled", await page.title());
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("net mine\n");
    await page.evaluate(() => window.netc.settled());
    must(await page.title() === "mine - netc", await page.title());
    // A net with a mistake shows nothing of the one before.
    await page.evaluate(() => window.netc.follow("#text=input%208%0Acnv%204"));
    must(!/\d/.test(await page.textContent("#card")) && await page.$(
      "#canvas svg") === null, "no numbers of the net before");
  },
  async "the text survives a reload; a link wins, and it is offered back"(page) {
    await open(page);
    const text = () => page.evaluate(() => window.netc.text());
    const again = async (hash) => {
      if (hash === undefined) await page.reload();
      else await open(page, hash);
      await page.waitForSelector("#status[data-ready]");
    };
    await page.click(".cm-content");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("input 8\nfc 3\n");
    await page.waitForFunction(() => location.hash.startsWith("#s="));
    await page.keyboard.type("fc 4");
    await again(); // before the address has followed
    must(await text() === "input 8\nfc 3\nfc 4", `reload: ${await text()}`);
    await again("");
    must((await text()).endsWith("fc 4"), "without an address");
    await again("#text=input%209");
    must(await text() === "input 9", "a link wins");
    await page.getByRole("button", { name: "Bring it back" }).click();
    await page.waitForFunction(() => window.netc.text().endsWith("fc 4"));
    must(await page.isHidden("#kept"), "once");
    await page.selectOption("#zoo", "lenet5.net");
    await page.waitForFunction(() => location.hash
      .startsWith("#zoo=lenet5"));
    must(await page.isVisible("#kept"), "offered beside an example");
    await page.evaluate(() => localStorage.clear());
  },
  async "Save writes the program's bytes"(page) {
    await open(page, "#zoo=lenet5");
    const item = (name) => page.getByRole("menuitem", { name, exact: true });
    const saved = async (name) => {
      await page.getByRole("button", { name: "Save" }).click();
      const [file] = await Promise.all([page.waitForEvent("download"),
        item(name).click()]);
      return [file.suggestedFilename(), fs.readFileSync(await file.path())];
    };
    for (const [name, kind] of [["SVG", "svg"], ["PDF", "pdf"], ["TikZ", "tex"],
      ["C source", "c"]]) {
      const [file, bytes] = await saved(name);
      must(file === `lenet5.${kind}`, file);
      must(bytes.equals(execFileSync(netc, ["lenet5.net", `--emit=${kind}`],
        { cwd: zoo, stdio: ["ignore", "pipe", "ignore"] })), `${kind} differs`);
    }
    must((await saved(".net"))[1].equals(fs.readFileSync(
      path.join(zoo, "lenet5.net"))), "the source");
    const [, png] = await saved("PNG");
    must(png.subarray(1, 4).toString() === "PNG" && png.readUInt32BE(16) > 300,
      "a PNG");
    await page.getByRole("button", { name: "Save" }).press("Enter");
    await page.keyboard.press("ArrowDown");
    must(await item("PDF").evaluate((e) => e === document.activeElement), "keys");
    await page.keyboard.press("Escape");
    must(await page.isHidden("#kinds"), "closed");
  },
  async "from a server the page asks for its second module, once"(first) {
    const server = await serve(web), { asked } = server;
    const page = await first.context().browser().newPage();
    try {
      await page.goto(`${server.address}/index.html`);
      await page.waitForSelector("#status[data-ready]");
      must(asked.sort().join() === "/index.html,/netc.css,/netc.js,/netc.lzma",
        asked.join());
      for (const tab of ["volumes", "arena", "volumes"]) {
        await page.click(`#tab-${tab}`);
        await page.waitForSelector(`#panel-${tab} svg`);
      }
      must(asked.splice(4).join() === "/more.lzma", "the second module");
      must(await page.evaluate(() => fetch("netc.lzma").then(() => false,
        () => true)), "nothing more can be asked for");
    } finally {
      await page.close();
      server.close();
    }
  },
  async "the strip of charts is closed, opens, and follows the text"(page) {
    await open(page, "#zoo=lenet5");
    const tabs = page.getByRole("tablist", { name: "Charts" }).getByRole("tab");
    must((await tabs.allTextContents()).join() ===
      "Timeline,Roofline,Arena,Volumes", "tabs");
    must(await page.isHidden("#panels"), "closed at first");
    const shown = async (name) => {
      await page.waitForSelector(`#panel-${name} svg`);
      return page.textContent(`#panel-${name} svg > title`);
    };
    await tabs.nth(2).click();
    const before = await shown("arena");
    await page.focus("#tab-arena");
    await page.keyboard.press("ArrowRight");
    must(await shown("volumes") === "lenet5: tensors that flow through the net",
      "of the second module");
    await page.keyboard.press("ArrowLeft");
    await page.evaluate(() => window.netc.follow("#zoo=alexnet"));
    await page.waitForFunction((old) => {
      const title = document.querySelector("#panel-arena svg > title");
      return title && title.textContent !== old;
    }, before);
    await tabs.nth(2).click();
    must(await page.isHidden("#panels"), "closed again");
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
  async "two fingers zoom the diagram"(page) {
    await open(page);
    await page.waitForSelector("#canvas svg");
    const wide = () => page.$eval("#canvas svg", (e) => e.clientWidth);
    const before = await wide(), box = await page.locator("#canvas")
      .boundingBox();
    const session = await page.context().newCDPSession(page);
    const touch = (type, ...apart) => session.send("Input.dispatchTouchEvent",
      { type, touchPoints: apart.map((x, id) => ({ id, y: box.y + 200,
        x: box.x + 150 + x })) });
    await touch("touchStart", -20, 20);
    await touch("touchMove", -25, 25);
    await touch("touchMove", -50, 50);
    await touch("touchEnd");
    await page.waitForFunction((w) => document.querySelector("#canvas svg")
      .clientWidth > w, 1.9 * before);
  },
  async "of thousands of lines those in sight are painted"(page) {
    const line = (i) => `conv ${1 + i % 97} 3x3 pad # ${i}`;
    const text = ["input 8x8x3", ...Array.from({ length: 5000 }, (_, i) =>
      line(i))].join("\n");
    await open(page, "#text=" + encodeURIComponent(text));
    const shown = (words) => page.waitForFunction((w) => [...document
      .querySelectorAll(".cm-line")].some((e) => e.textContent === w &&
        e.querySelector(".net-layer")?.textContent === "conv"), words);
    await shown(line(0) + "→ 8x8x1");
    const marks = await page.locator(".net-layer").count();
    must(marks > 5 && marks < 500, `${marks} layers are coloured`);
    await page.click(".cm-content");
    await page.keyboard.press("Control+End");
    await shown(line(4999) + "→ 8x8x53");
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("Enter");
    await shown(line(0) + "→ 8x8x1");
    await page.keyboard.press("Control+End");
    await shown(line(4999) + "→ 8x8x53");
  },
  async "times, for the reader"(page) {
    const ready = [], all = [];
    await page.addInitScript(() => {
      window.tasks = [0];
      new PerformanceObserver((list) => window.tasks.push(...list.getEntries()
        .map((e) => e.duration))).observe({ type: "longtask" });
    });
    await open(page);
    await page.evaluate(async (text) => {
      window.tasks = [0];
      await window.netc.follow("#text=" + encodeURIComponent(text));
    }, "input 8x8x3\n" + Array.from({ length: 5000 }, (_, i) =>
      `conv ${1 + i % 97} 3x3 pad\n`).join(""));
    await page.waitForTimeout(500); // tasks are told later
    console.log("  5,000 layers: tasks above 50 ms have at most " +
      await page.evaluate(() => Math.max(...window.tasks).toFixed(0)) + " ms");
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
    console.log(`  ready ${median(ready)} ms; keystroke to card and diagram:` +
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
