// The playground and the page of -o x.html in Firefox: firefox.js NETC FOLDER
// WEB. tests/playground.js has all that is the same in every browser.
"use strict";
const { execFileSync } = require("child_process");
const fs = require("fs");
const path = require("path");
const puppeteer = require("puppeteer-core");
const { serve } = require("./served.js");

const [netc, folder, web] = process.argv.slice(2);
const file = (...names) => "file://" + path.resolve(...names);
const must = (ok, what) => {
  if (!ok) throw new Error(what);
};
const run = (args, cwd = ".") => execFileSync(netc, args, { cwd,
  maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }).toString();

const open = async (page, url) => {
  await page.goto("about:blank");
  await page.goto(url);
  await page.waitForSelector("#status[data-ready]");
};
const text = (page, selector) =>
  page.$eval(selector, (e) => e.textContent);
const noted = (page, part) => page.waitForFunction((p) => document
  .querySelector("#note").textContent.includes(p), {}, part);

// As from a desktop: the page gets the event with the files.
const drop = (page, files) => page.evaluate((list) => {
  const data = new DataTransfer();
  for (const [name, base64] of list)
    data.items.add(new File([Uint8Array.from(atob(base64),
      (c) => c.charCodeAt(0))], name));
  for (const type of ["dragover", "drop"])
    document.body.dispatchEvent(new DragEvent(type, { bubbles: true,
      cancelable: true, dataTransfer: data }));
}, files.map((n) => [path.basename(n), fs.readFileSync(n, "base64")]));

const tests = {
  async "what is typed gives card, diagram and layers"(page) {
    await open(page, file(web, "netc.html"));
    must(/fits/.test(await text(page, "#card .verdict")), "the verdict");
    await page.click(".cm-content");
    await page.keyboard.down("Control");
    await page.keyboard.press("a");
    await page.keyboard.up("Control");
    await page.keyboard.type("input 32x32x3\nstem: conv 24 3x3 pad relu\nfc 10\n");
    await page.waitForSelector("#n\\.stem");
    await page.waitForFunction(() => document.querySelector("#layers")
      .textContent.includes("conv 24"));
    must(/fits/.test(await text(page, "#card .verdict")), "of the new net");
    await page.click("#n\\.stem");
    must(await page.evaluate(() => document.querySelector(".cm-activeLine")
      .textContent).then((line) => line.includes("stem")), "a box has its line");
    await page.keyboard.type("x y z ");
    await page.waitForSelector("#stale", { visible: true });
    must((await text(page, "#layers")).includes("conv 24"), "still there");
  },
  async "outputs are the program's"(page) {
    await open(page, file(web, "netc.html"));
    const kinds = ["svg", "json", "c", "tex", "py"];
    const zoo = path.resolve("examples/zoo");
    let same = 0;
    for (const net of ["resnet.net", "gpt2.net", "unet.net"]) {
      const ours = await page.evaluate((text, name, kinds) =>
        window.netc.compile(text, { name, kinds }).then((a) => a.outputs),
      fs.readFileSync(path.join(zoo, net), "utf8"), net, kinds);
      for (const kind of kinds) {
        must(run([net, `--emit=${kind}`], zoo) === ours[kind].text,
          `${net}: ${kind} differs`);
        same++;
      }
    }
    must(same === 15, `${same} outputs are equal`);
  },
  async "files that are dropped are read in the page"(page) {
    await open(page, file(web, "netc.html"));
    const data = "tests/data/";
    for (const names of [["import/saved/chain/model.keras"],
      ["import/exported/lstm.pt2"], ["torch/small.safetensors"],
      ["import/openvino/made.bin", "import/openvino/made.xml"]]) {
      const files = names.map((n) => data + n);
      await drop(page, files);
      await page.waitForFunction((t) => window.netc.text() === t, {},
        run(["import", files.at(-1), "-o", "-"])).catch(async () => must(false,
        `${names}: ${await text(page, "#note")}`));
    }
    await drop(page, [`${data}torch/small.net`]);
    await page.waitForFunction((t) => window.netc.text() === t, {},
      fs.readFileSync(`${data}torch/small.net`, "utf8"));
  },
  async "from a server only the page's own files are fetched"(page) {
    const server = await serve(web), { asked } = server;
    try {
      await open(page, `${server.address}/index.html`);
      await drop(page, ["tests/data/torch/own_class.pth"]);
      await page.waitForFunction(() => window.netc.text().includes("guessed"));
      must([...asked].sort().join() ===
        "/index.html,/more.lzma,/netc.css,/netc.js,/netc.lzma", asked.join());
      must(await page.evaluate(() => fetch("netc.lzma").then(() => false,
        () => true)), "a connection is allowed");
    } finally {
      server.close();
    }
  },
  async "the page of a net, alone and with --live"(page) {
    const name = path.join(folder, "firefox.html");
    for (const more of [[], ["--live"]]) {
      execFileSync(netc, ["examples/zoo/resnet.net", "-o", name, ...more],
        { stdio: "ignore" });
      await page.goto(file(name));
      await page.waitForSelector("svg");
      await page.hover("tbody tr:nth-child(3)");
    }
  },
};

(async () => {
  const browser = await puppeteer.launch({ browser: "firefox", headless: true,
    executablePath: process.env.FIREFOX || "/usr/bin/firefox-esr" });
  console.log(await browser.version());
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    const page = await browser.newPage();
    const wrong = [];
    page.on("pageerror", (e) => wrong.push(e.message));
    try {
      await test(page);
      must(!wrong.length, wrong.join("; "));
      console.log(`ok ${name}`);
    } catch (e) {
      failed++;
      console.log(`FAILED ${name}: ${e.message} ${wrong.join("; ")}`);
    }
    await page.close();
  }
  await browser.close();
  process.exit(failed ? 1 : 0);
})();
