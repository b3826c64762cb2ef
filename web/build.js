// Makes the playground: build.js MODULES FOLDER zoo/EXAMPLE.net...
// huggingface/TEMPLATE.net... huggingface/blocks/BLOCK.net...
// yolo/blocks/BLOCK.net...
// index.html with netc.js, netc.css, netc.lzma and, fetched when it is needed,
// more.lzma; netc.html, which has all of them in it; and live.html, what `-o
// x.html --live` puts into its page. Equal input gives equal bytes.
"use strict";
const { execFileSync } = require("child_process");
const crypto = require("crypto");
const fs = require("fs");
const path = require("path");
const zlib = require("zlib");
const esbuild = require("esbuild");

const [modules, folder, ...nets] = process.argv.slice(2);
const read = (name) => fs.readFileSync(path.join(__dirname, name), "utf8");
const hash = (text) => "'sha256-" +
  crypto.createHash("sha256").update(text).digest("base64") + "'";

// Sources of nets by their names, those of the zoo without a folder; each
// beside the one that it is most like, which makes them smaller when packed.
const sources = (files) => {
  const texts = new Map(files.map((n) => {
    const name = n.slice(n.lastIndexOf("examples/") + "examples/".length);
    return [name.replace(/^zoo\//, ""), fs.readFileSync(n, "utf8")];
  }).sort((a, b) => a[0] < b[0] ? -1 : 1));
  const size = (text) => zlib.deflateRawSync(text).length;
  const own = new Map([...texts].map(([n, text]) => [n, size(text)]));
  const ordered = {};
  for (let last = "", [next] = texts.keys(); next !== undefined;) {
    ordered[next] = last = texts.get(next);
    texts.delete(next);
    let least = Infinity;
    next = undefined;
    for (const [n, text] of texts) {
      const more = size(last + text) - own.get(n);
      if (more < least) [least, next] = [more, n];
    }
  }
  return JSON.stringify(ordered);
};

// "worker:engine" is the worker's source. Of the package lzma1 what packs, which
// is four times what unpacks, stays out.
const ours = {
  name: "ours",
  setup(build) {
    build.onResolve({ filter: /^worker:/ }, (a) =>
      ({ path: a.path, namespace: "ours" }));
    const lzma = path.dirname(require.resolve("lzma1/package.json"));
    build.onResolve({ filter: /^lzma1\/decoder$/ }, (a) =>
      ({ path: a.path, namespace: "ours" }));
    build.onLoad({ filter: /^lzma1\/decoder$/, namespace: "ours" }, () => ({
      contents: 'export * from "./lib/decoder.js"; ' +
        'export * from "./lib/streams.js";', resolveDir: lzma }));
    build.onLoad({ filter: /^worker:/, namespace: "ours" }, async () => ({
      contents: await bundled("engine.js"), loader: "text" }));
  },
};

// A module of the page, here.
const load = async (name) => {
  const module = { exports: {} };
  new Function("module", await bundled(name, "cjs"))(module);
  return module.exports;
};

// A module and the nets that it needs, the wasm as streams, as LZMA: a sixth
// smaller than by gzip. xz leaves the size open.
const pack = async (name, files) => {
  const wasm = fs.readFileSync(path.join(modules, name + ".wasm"));
  const texts = Buffer.from(sources(files));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(texts.length);
  const input = Buffer.concat([length, texts,
    (await load("streams.js")).split(wasm)]);
  const packed = execFileSync("xz", ["--format=lzma",
    "--lzma1=preset=9e,lc=1,lp=0,pb=0,nice=128", "--stdout"],
  { input, maxBuffer: 1 << 28 });
  packed.writeBigUInt64LE(BigInt(input.length), 5);
  if (Buffer.compare((await load("module.js")).unpack(packed).wasm, wasm))
    throw new Error(`${name}.wasm is not what was packed`);
  return packed;
};

const csp = (script, ...rest) => ["default-src 'none'",
  `script-src ${script} 'wasm-unsafe-eval' blob:`,
  "style-src 'self' 'unsafe-inline'", "img-src blob: data:", "worker-src blob:",
  ...rest, "base-uri 'none'", "form-action 'none'"].join("; ");

const bundled = async (entry, format = "iife") => {
  const bundle = await esbuild.build({
    entryPoints: [path.join(__dirname, entry)], bundle: true, write: false,
    minify: true, format, target: "es2021", legalComments: "none",
    charset: "utf8", plugins: [ours],
    nodePaths: (process.env.NODE_PATH || "").split(path.delimiter) });
  // Of the script a page ends at this; in strings it may be written so.
  return bundle.outputFiles[0].text.replaceAll("</script", "<\\/script");
};

const main = async () => {
  const script = await bundled("page.js");
  const style = esbuild.transformSync(
    read("../drawing/page/view.css") + read("page.css"),
    { loader: "css", minify: true }).code;
  const page = (policy, css, js) => read("index.html")
    .replace("@csp@", () => policy).replace("@style@", () => css)
    .replace("@script@", () => js);
  const template = (name) => /\b(huggingface|yolo)\//.test(name);
  const packed = await pack("netc", nets.filter((n) => !template(n)));
  const more = await pack("more", nets.filter(template));
  const inside = (id, bytes) => `<script type="text/plain" id="${id}">` +
    `${bytes.toString("base64")}</script>\n`;
  fs.mkdirSync(folder, { recursive: true });
  const write = (name, content) => {
    fs.writeFileSync(path.join(folder, name + ".tmp"), content);
    fs.renameSync(path.join(folder, name + ".tmp"), path.join(folder, name));
  };
  write("netc.lzma", packed);
  write("more.lzma", more);
  write("netc.js", script);
  write("netc.css", style);
  write("index.html", page(csp("'self'", "connect-src 'self'"),
    '<link rel="stylesheet" href="netc.css">',
    '<script src="netc.js" defer></script>'));
  write("netc.html", page(csp(hash(script)), `<style>${style}</style>`,
    inside("netc", packed) + inside("more", more) +
    `<script>${script}</script>`));
  write("live.html", inside("netc", packed) +
    `<script>${await bundled("live.js")}</script>\n`);
  const sizes = ["netc.lzma", "netc.js", "netc.css", "index.html"].map((n) =>
    execFileSync("gzip", ["-9c", path.join(folder, n)], { maxBuffer: 1 << 28 })
      .length);
  console.log(`web: ${sizes.reduce((a, b) => a + b)} bytes, ${sizes[0]} of ` +
    `them the compiler, after gzip -9; the second module has ${more.length}`);
};

main().catch((e) => {
  console.error(`web: ${e.message}`);
  process.exit(1);
});
