// Makes the playground: build.js NETC.WASM FOLDER zoo/EXAMPLE.net...
// huggingface/TEMPLATE.net... huggingface/blocks/BLOCK.net...
// index.html with netc.js, netc.css and netc.wasm.lzma; netc.html, which has
// all of them in it; and live.html, what `-o x.html --live` puts into its page.
// Equal input gives equal bytes.
"use strict";
const { execFileSync } = require("child_process");
const crypto = require("crypto");
const fs = require("fs");
const path = require("path");
const zlib = require("zlib");
const esbuild = require("esbuild");

const [wasm, folder, ...nets] = process.argv.slice(2);
const read = (name) => fs.readFileSync(path.join(__dirname, name), "utf8");
const hash = (text) => "'sha256-" +
  crypto.createHash("sha256").update(text).digest("base64") + "'";

// Sources of nets by their names, those of the zoo without a folder; each
// beside the one that it is most like, which makes them smaller after gzip.
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

// "worker:engine" is the worker's source, "data:nets" the nets. Of the package
// lzma1 what packs, which is four times what unpacks, stays out.
const ours = {
  name: "ours",
  setup(build) {
    build.onResolve({ filter: /^(worker|data):/ }, (a) =>
      ({ path: a.path, namespace: "ours" }));
    const lzma = path.dirname(require.resolve("lzma1/package.json"));
    build.onResolve({ filter: /^lzma1\/decoder$/ }, (a) =>
      ({ path: a.path, namespace: "ours" }));
    build.onLoad({ filter: /^lzma1\/decoder$/, namespace: "ours" }, () => ({
      contents: 'export * from "./lib/decoder.js"; ' +
        'export * from "./lib/streams.js";', resolveDir: lzma }));
    build.onLoad({ filter: /^worker:/, namespace: "ours" }, () => ({
      contents: esbuild.transformSync(read("engine.js"),
        { minify: true, target: "es2021" }).code, loader: "text" }));
    build.onLoad({ filter: /^data:/, namespace: "ours" }, () => ({
      contents: sources(nets), loader: "json" }));
  },
};

// The page of `-o x.html` in its frame has scripts of its own; they are the
// same for every net.
const scripts = async () => {
  const bytes = fs.readFileSync(wasm);
  const memory = new WebAssembly.Memory({ initial: 32 });
  const { instance } = await WebAssembly.instantiate(bytes, { env: { memory },
    wasi_snapshot_preview1: new Proxy({}, { get: () => () => 52 }) });
  const e = instance.exports;
  const string = (s) => {
    const b = Buffer.from(s + "\0"), at = e.web_take(b.length);
    new Uint8Array(memory.buffer, at, b.length).set(b);
    return at;
  };
  e._initialize();
  e.web_open();
  const of = (source) => {
    e.web_file(string("x.net"), string(source));
    if (e.web_load(string("x.net")) || e.web_emit(string("html")))
      throw new Error("the page of a net cannot be written");
    const page = Buffer.from(memory.buffer, e.web_out(), e.web_length())
      .toString();
    return [...page.matchAll(/<script>([^]*?)<\/script>/g)].map((m) => m[1]);
  };
  const first = of("input 8\nfc 2\n");
  if (first.join() !== of("net y\ninput 9x9x3\nconv 4 3x3\nfc 2\n").join())
    throw new Error("the scripts of a net's page depend on the net");
  return first;
};

// A module of the page, here.
const load = async (name) => {
  const module = { exports: {} };
  new Function("module", await bundled(name, "cjs"))(module);
  return module.exports;
};

// Streams, as LZMA: a sixth smaller than by gzip. xz leaves the size open.
const pack = async (wasm) => {
  const input = (await load("streams.js")).split(wasm);
  const packed = execFileSync("xz", ["--format=lzma",
    "--lzma1=preset=9e,lc=1,lp=0,pb=0,nice=128", "--stdout"],
  { input, maxBuffer: 1 << 28 });
  packed.writeBigUInt64LE(BigInt(input.length), 5);
  if (Buffer.compare((await load("module.js")).unpack(packed), wasm))
    throw new Error("netc.wasm is not what was packed");
  return packed;
};

const csp = (frames, script, rest) => ["default-src 'none'",
  `script-src ${script} ${frames.map(hash).join(" ")} 'wasm-unsafe-eval' blob:`,
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
  const style = esbuild.transformSync(read("page.css"),
    { loader: "css", minify: true }).code;
  const frames = await scripts();
  const page = (policy, css, js) => read("index.html")
    .replace("@csp@", () => policy).replace("@style@", () => css)
    .replace("@script@", () => js);
  const packed = await pack(fs.readFileSync(wasm));
  const inside = '<script type="text/plain" id="wasm">' +
    `${packed.toString("base64")}</script>\n`;
  fs.mkdirSync(folder, { recursive: true });
  const write = (name, content) => {
    fs.writeFileSync(path.join(folder, name + ".tmp"), content);
    fs.renameSync(path.join(folder, name + ".tmp"), path.join(folder, name));
  };
  write("netc.wasm.lzma", packed);
  write("netc.js", script);
  write("netc.css", style);
  write("index.html", page(csp(frames, "'self'", ["connect-src 'self'"]),
    '<link rel="stylesheet" href="netc.css">',
    '<script src="netc.js" defer></script>'));
  write("netc.html", page(csp(frames, hash(script), []),
    `<style>${style}</style>`,
    `${inside}<script>${script}</script>`));
  write("live.html", `${inside}<script>${await bundled("live.js")}</script>\n`);
  const sizes = ["netc.wasm.lzma", "netc.js", "netc.css", "index.html"].map((n) =>
    execFileSync("gzip", ["-9c", path.join(folder, n)], { maxBuffer: 1 << 28 })
      .length);
  console.log(`web: ${sizes[0]} bytes of wasm, ` +
    `${sizes.reduce((a, b) => a + b)} in all, after gzip -9`);
};

main().catch((e) => {
  console.error(`web: ${e.message}`);
  process.exit(1);
});
