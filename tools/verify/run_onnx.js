// netc verify: the model of x.onnx with netc's inputs, by onnxruntime-node.
// run_onnx.js FOLDER [NODE_MODULES]: net.onnx and `ends` are in FOLDER; outputs
// become onnx.out0 and so on. Prints what computed them. Exit status 77: it is
// absent.
"use strict";
const fs = require("fs");
const Module = require("module");
const path = require("path");

const absent = (why) => {
  console.log(why);
  process.exit(77);
};
const NAME = "onnxruntime-node";
const [folder, named] = process.argv.slice(2);

// The folders that may have it: neither the current one nor those above any.
const places = [named, ...(process.env.NODE_PATH || "").split(path.delimiter),
  path.resolve(process.execPath, "../../lib/node_modules"),
  "/usr/local/lib/node_modules"].filter((at) => at && path.isAbsolute(at));
const place = places.find((at) =>
  fs.existsSync(path.join(at, NAME, "package.json")));
if (!place)
  absent(`node has no ${NAME}`);

// What the package itself needs is beside it, or in the same folder: for
// that, too, Node would walk up to the root.
const home = fs.realpathSync(path.join(place, NAME));
const within = [fs.realpathSync(place), path.dirname(home)];
const walk = Module._nodeModulePaths;
Module._nodeModulePaths = (from) => walk(from).filter((at) =>
  within.some((root) => at === root || at.startsWith(root + path.sep)));
let ort, version;
try {
  ort = require(home);
  version = require(path.join(home, "package.json")).version;
} catch (error) {
  absent(`node cannot load ${home}: ${String(error.message).split("\n")[0]}`);
}

const file = (name) => path.join(folder, name);
const KINDS = { f32: ["float32", Float32Array], i32: ["int32", Int32Array],
  i64: ["int64", BigInt64Array] };
const same = (a, b) => a.length === b.length && a.every((v, i) => v === b[i]);

// The place that each axis of netc's has in the model, whose maps have their
// channels first, and so has a sequence whose first layer wants it so.
const orderOf = (own, there) => {
  const axes = own.map((_, i) => i);
  const turned = [0, own.length - 1, ...axes.slice(1, -1)];
  const first = turned.map((axis) => own[axis]);
  if (own.length < 3 || (own.length === 3 && same(own, there) &&
    !same(own, first)))
    return axes;
  if (own.length === 3 && same(own, first))
    absent(`${own.join("x")}: its axes cannot be told apart`);
  return turned;
};

// A walk over `dims` in another order of the axes.
const transpose = (values, dims, order) => {
  const count = (sizes) => sizes.reduce((a, b) => a * b, 1);
  const strides = dims.map((_, i) => count(dims.slice(i + 1)));
  const to = order.map((axis) => dims[axis]);
  const made = new values.constructor(values.length);
  const at = to.map(() => 0);
  for (let i = 0; i < made.length; i++) {
    made[i] = values[at.reduce((sum, n, k) => sum + n * strides[order[k]], 0)];
    for (let k = to.length; k-- > 0 && ++at[k] === to[k];) at[k] = 0;
  }
  return made;
};
const back = (order) => order.map((_, axis) => order.indexOf(axis));

(async () => {
  const session = await ort.InferenceSession.create(file("net.onnx"),
    { logSeverityLevel: 3, intraOpNumThreads: 1 });
  const ends = fs.readFileSync(file("ends"), "utf8").split("\n")
    .filter((line) => line).map((line) => line.split(" "));
  const feeds = {}, outputs = [];
  for (const [what, kind, dims, name] of ends) {
    const own = dims.split("x").map(Number);
    if (what === "out") {
      outputs.push([kind, own, name]);
      continue;
    }
    const k = Object.keys(feeds).length;
    const [type, Kind] = KINDS[kind];
    const bytes = fs.readFileSync(file(name));
    const values = new Kind(bytes.buffer.slice(bytes.byteOffset,
      bytes.byteOffset + bytes.length));
    const order = kind === "f32"
      ? orderOf(own, session.inputMetadata[k].shape) : own.map((_, i) => i);
    feeds[session.inputNames[k]] = new ort.Tensor(type,
      transpose(values, own, order), order.map((axis) => own[axis]));
  }
  const made = await session.run(feeds);
  outputs.forEach(([kind, own, name], k) => {
    const { dims, data } = made[session.outputNames[k]];
    const order = kind === "f32" ? orderOf(own, dims) : own.map((_, i) => i);
    if (!same(order.map((axis) => own[axis]), dims))
      throw new Error(`${name} is ${dims}, and ${own} in netc`);
    const values = transpose(data, dims, back(order));
    fs.writeFileSync(file(`onnx.${name}`), Buffer.from(
      Float32Array.from(values, Number).buffer));
  });
  console.log(`ONNX Runtime ${version} for Node`);
})().catch((error) => {
  console.log(String(error.message || error));
  process.exit(1);
});
