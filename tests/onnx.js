// Models of -o x.onnx beside netc run: make check-onnx.
// onnx.js NETC FOLDER [NET...]: every net with weights and inputs by chance;
// then models of eight bits, which netc imports and runs in int8.
"use strict";
const { execFileSync } = require("child_process");
const fs = require("fs");
const path = require("path");
const ort = require("onnxruntime-node");

const [netc, folder, ...chosen] = process.argv.slice(2);
const LIMIT = 1e-4; // of the root mean square of an output

// [net, options of netc]: what a machine with little memory runs in seconds;
// --sizes are those of axes that the model leaves open, --bounds the input's
const kept = ["windows", "values", "shapes", "sequences", "recurrent",
  "small"];
const small = [
  ...[11, 13, 17].flatMap((opset) => kept.map((net) => [
    `tests/data/onnx/${net}.net`, "--batch", "2", "--opset", `${opset}`])),
  ...[18, 19, 20, 21].flatMap((opset) => ["values", "small", "later"].map(
    (net) => [`tests/data/onnx/${net}.net`, "--batch", "2", "--opset",
      `${opset}`]).slice(0, opset < 19 ? 2 : 3)),
  ["tests/data/onnx/windows.net", "--batch", "2", "--opset", "21"],
  ...[16, 17, 20, 21].flatMap((opset) => [[], ["--dynamic"]].map((more) => [
    "tests/data/onnx/places.net", "--batch", "2", "--opset", `${opset}`,
    ...more])),
  ...[1, 3].flatMap((batch) => ["windows", "values", "shapes", "sequences",
    "recurrent", "ends"].map((net) => [`tests/data/onnx/${net}.net`,
    "--dynamic", "--batch", `${batch}`])),
  ...[1, 5].map((batch) => ["examples/zoo/vit.net", "-D", "layers=2", "-D",
    "width=48", "-D", "heads=3", "--dynamic", "--batch", `${batch}`]),
  ...[["map", "33x40", "34x41", "50x64", "96x57", "96x64"],
    ["text", "1x1", "2x7", "7x2", "20x20", "31x40", "48x40"],
    ["recurrent", "40", "41", "137", "400"],
    ["states", "2", "3", "21", "64"],
    ["relative", "2", "3", "16", "33"]].flatMap(([net, ...all]) =>
    all.flatMap((sizes) => [[], ["--dynamic", "--batch", "3"],
      ["--opset", "17"]].map((more) => [`tests/data/onnx_open/${net}.net`,
      "--sizes", sizes, ...more]))),
  ["tests/data/onnx/ends.net", "--batch", "2"],
  ["tests/data/run/maps.net", "--batch", "2"],
  ["tests/data/run/sequences.net", "--batch", "2"],
  ["tests/data/run/patches.net", "--batch", "2"],
  ["tests/data/run/states.net", "--batch", "2"],
  ["tests/data/run/states.net", "--dynamic", "--batch", "3"],
  ["tests/data/run/variants.net", "--batch", "2"],
];
const zoo = ["lenet5", "cnn50", "resnet -D depth=18", "squeezenet",
  "densenet", "googlenet", "inception_v3", "mobilenet_v1", "mobilenet_v2",
  "mobilenet_v3", "mnasnet", "shufflenet_v2", "efficientnet",
  "regnet -D y=true -D mf=400", "convnext --opset 17", "swin", "unet",
  "vit -D layers=2 -D width=48 -D heads=3", "dcgan_g", "dcgan_d", "m5",
  "mlp", "mlp_mixer", "lstm_lm -D width=64", "gru_lm -D width=64",
  "seq2seq -D width=64",
  "transformer -D layers=2 -D width=128 -D heads=4 -D vocabulary=1000",
  "bert -D num_hidden_layers=2 -D hidden_size=48 -D num_attention_heads=3" +
    " -D length=8",
  "gpt2 -D n_layer=2 -D length=128",
  "mamba -D num_hidden_layers=2 -D hidden_size=32 -D vocab_size=100",
  "mamba2 -D layers=2 -D width=64 -D context=64", "convnext_v2", "efficientvit",
  "pointnet", "yolov8", "sam_encoder -D layers=4 -D width=48 -D heads=3"]
  .map((line) => `examples/zoo/${line}`.replace(/^\S+/, "$&.net").split(" "));
const maps = "64..256x64..256x3";
const open = [["unet", maps, "64x64", "112x96", "256x240"],
  ["resnet -D depth=18", maps, "64x65", "97x256"],
  ["mobilenet_v2", maps, "64x64", "101x130"],
  ["squeezenet", maps, "64x70", "200x201"],
  ["fcn", maps, "64x64", "77x130"],
  ["deeplabv3", maps, "64x72", "80x136"],
  ["yolov8", maps, "64x64", "96x224"],
  ["convnext --opset 17", maps, "64x64", "100x131"],
  ["gpt2 -D n_layer=2 -D length=128 -D vocab_size=500",
    "tokens 1..128 : i32", "1", "2", "77", "128"],
  ["lstm_lm -D width=64", "tokens 1..35 : i32", "1", "17", "35"],
  ["wav2vec2 -D num_hidden_layers=2", "1000..16000x1", "1000", "3333"],
].flatMap(([net, bounds, ...all]) => all.map((sizes) => [
  ...`examples/zoo/${net}`.replace(/^\S+/, "$&.net").split(" "),
  "--bounds", bounds, "--sizes", sizes]));

const call = (...words) => execFileSync(netc, words, {
  stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });

const random = (count, seed) => {
  let state = seed * 2654435761 >>> 0;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
};
const count = (dims) => dims.reduce((a, b) => a * b, 1);

// A walk over `dims` in another order of the axes.
const transpose = (values, dims, order) => {
  const strides = dims.map((_, i) => count(dims.slice(i + 1)));
  const to = order.map((axis) => dims[axis]);
  const made = new values.constructor(values.length);
  const at = to.map(() => 0);
  for (let i = 0; i < made.length; i++) {
    let from = 0;
    for (let k = 0; k < to.length; k++) from += at[k] * strides[order[k]];
    made[i] = values[from];
    for (let k = to.length; k-- > 0 && ++at[k] === to[k];) at[k] = 0;
  }
  return made;
};

const writeNpy = (file, type, dims, values) => {
  const head = `{'descr': '${type}', 'fortran_order': False, 'shape': (` +
    `${dims.join(", ")},), }`;
  const text = head.padEnd(Math.ceil((head.length + 11) / 64) * 64 - 11) + "\n";
  const start = Buffer.from("\x93NUMPY\x01\x00..", "latin1");
  start.writeUInt16LE(text.length, 8);
  fs.writeFileSync(file, Buffer.concat([start, Buffer.from(text),
    Buffer.from(values.buffer)]));
};

const readNpy = (file) => {
  const bytes = fs.readFileSync(file);
  const length = bytes.readUInt16LE(8);
  const head = bytes.toString("latin1", 10, 10 + length);
  const dims = head.match(/\(([\d, ]*)\)/)[1].split(",").filter((d) => d.trim())
    .map(Number);
  const start = 10 + length;
  return { dims, values: new Float32Array(bytes.buffer.slice(
    bytes.byteOffset + start, bytes.byteOffset + bytes.length)) };
};

const must = (ok, what) => {
  if (!ok) throw new Error(what);
};
const same = (a, b) => a.length === b.length && a.every((v, i) => v === b[i]);
const last = (dims) => [0, dims.length - 1,
  ...dims.slice(1, -1).map((_, i) => i + 1)];

// As ONNX has it: a map with its channels first, a sequence perhaps.
const ordered = (own, there, real) => {
  const order = own.map((_, i) => i);
  if (!real || own.length < 3 ||
    (own.length === 3 && there && same(own, there)))
    return order;
  return last(own);
};

const feedOf = (input, own, seed) => {
  const real = input.type === "float32";
  const values = random(count(own), seed);
  const [Kind, type] = real ? [Float32Array, "<f4"]
    : input.type === "int64" ? [BigInt64Array, "<i8"] : [Int32Array, "<i4"];
  const whole = (v) => input.type === "int64" ? BigInt(v > 0) : +(v > 0);
  const data = Kind.from(values, real ? undefined : whole);
  const fits = (dims) => input.shape.every((d, i) =>
    typeof d === "string" || d === dims[i]);
  const order = ordered(own, fits(own) ? own : null, real);
  const there = order.map((axis) => own[axis]);
  must(fits(there), `${input.name} is ${input.shape}, and ${own} in netc`);
  const turned = transpose(data, own, order);
  return { type, data, tensor: new ort.Tensor(input.type, turned, there) };
};

const difference = (made, wanted) => {
  let sum = 0, most = 0;
  for (let k = 0; k < made.length; k++) {
    sum += wanted[k] ** 2;
    const d = Math.abs(made[k] - wanted[k]);
    most = d > most || d !== d ? d : most;
  }
  return most / (Math.sqrt(sum / made.length) || 1);
};

// The net with an input that has bounds, "tokens 1..64 : i32".
const bounded = (net, input, to) => {
  if (!input) return net;
  fs.writeFileSync(to, fs.readFileSync(net, "utf8").replace(/^input .*$/m,
    `input ${input}`));
  return to;
};

// The net with sizes, "33x40", in place of its bounds.
const sized = (net, sizes, to) => {
  if (!sizes) return net;
  const numbers = sizes.split("x");
  fs.writeFileSync(to, fs.readFileSync(net, "utf8").replace(/^input .*$/gm,
    (line) => line.replace(/\d+\.\.\d+/g, () => numbers.shift())));
  must(numbers.length === 0, `${net} has other bounds than ${sizes}`);
  return to;
};

const compare = async (source, options) => {
  const name = path.basename(source, ".net");
  const file = (end) => path.join(folder, name + end);
  const given = (word) => options.includes(word) &&
    options[options.indexOf(word) + 1];
  const without = (...words) => options.filter((o, i) =>
    !words.includes(o) && !words.includes(options[i - 1]));
  // What a model leaves open is said by its inputs alone.
  const dynamic = options.includes("--dynamic");
  const own = ["--sizes", "--bounds"];
  const exported = without(...own, ...dynamic ? ["--batch"] : []);
  const plain = without("--opset", ...own).filter((o) => o !== "--dynamic");
  const net = bounded(source, given("--bounds"), file(".bounds.net"));
  const run = sized(net, given("--sizes"), file(".net"));
  const report = JSON.parse(call(run, ...plain, "--emit=json", "--depth=0"));
  call("weights", net, ...plain, "--random", "1", "-o", file(".st"));
  call(net, ...exported, "--weights", file(".st"), "-o", file(".onnx"));
  const session = await ort.InferenceSession.create(file(".onnx"),
    { logSeverityLevel: 3 });
  const batch = report.settings.infer.batch;
  const feeds = {}, words = [];
  const end = (names, k, to) => names.length > 1 ? `${names[k]}=${to}` : to;
  session.inputMetadata.forEach((input, k) => {
    const own = [batch, ...report.inputs[k].shape];
    const feed = feedOf(input, own, k + 1);
    feeds[input.name] = feed.tensor;
    writeNpy(file(`.${k}.npy`), feed.type, own, feed.data);
    words.push("--input", end(session.inputNames, k, file(`.${k}.npy`)));
  });
  session.outputNames.forEach((_, k) => words.push("-o",
    end(session.outputNames, k, file(`.out${k}.npy`))));
  call("run", run, ...plain, "--threads", "2", "--weights", file(".st"),
    ...words);
  const made = await session.run(feeds);
  let worst = 0, values = 0;
  session.outputNames.forEach((output, k) => {
    const { dims, values: wanted } = readNpy(file(`.out${k}.npy`));
    const { dims: there, data } = made[output];
    const order = ordered(dims, there, true);
    must(same(order.map((axis) => dims[axis]), there),
      `${output} is ${there}, and ${dims} in netc`);
    const share = difference(data, transpose(wanted, dims, order));
    must(share <= LIMIT, `${output} differs by ${share} of its rms`);
    worst = Math.max(worst, share);
    values += data.length;
  });
  await session.release();
  fs.rmSync(file(".st"));
  fs.rmSync(file(".onnx"));
  return [values, worst];
};

// Rows, columns, channels: one sample after the other, channels first.
const samplesOf = (file) => {
  const { dims, values } = readNpy(file);
  const size = count(dims.slice(1));
  return Array.from({ length: dims[0] }, (_, i) => new ort.Tensor("float32",
    transpose(values.slice(i * size, (i + 1) * size), [1, ...dims.slice(1)],
      [0, 3, 1, 2]), [1, dims[3], dims[1], dims[2]]));
};

// What a model gives, as numbers of 8 bits.
const numbersOf = async (file, samples, step) => {
  const session = await ort.InferenceSession.create(file,
    { logSeverityLevel: 3 });
  const made = [];
  for (const sample of samples) {
    const out = await session.run({ [session.inputNames[0]]: sample });
    made.push(...out[session.outputNames[0]].data);
  }
  await session.release();
  return Int8Array.from(made, (value) =>
    Math.round(value / step("scale")) + step("zero_point"));
};

// A model of tests/data/import/quant, and what netc writes of it: how many
// steps netc and onnxruntime are apart. `values` is the file of what the latter
// gives, which WRITE=1 writes; `layer` has the steps of the output.
let saturates = false; // by the first model, which shows it
const eightBits = async ([name, values, layer]) => {
  const data = "tests/data/import/quant/";
  const file = (end) => path.join(folder, name + end);
  call("import", `${data}${name}.onnx`, "--weights", file(".st"), "-o",
    file(".net"));
  call(file(".net"), "--weights", file(".st"), "-o", file(".onnx"));
  const samples = samplesOf(`${data}x.npy`);
  call("run", file(".net"), "--batch", `${samples.length}`, "--weights",
    file(".st"), "--input", `${data}x.npy`, "-o", file(".npy"));
  const head = fs.readFileSync(file(".st")).subarray(8).toString("latin1");
  const step = (end) => Number(head.match(`"${layer}.output.${end}":"([^"]*)"`)[1]);
  const theirs = await numbersOf(`${data}${name}.onnx`, samples, step);
  const written = await numbersOf(file(".onnx"), samples, step);
  if (process.env.WRITE)
    writeNpy(`${data}${values}.npy`, "|i1", [samples.length, theirs.length /
      samples.length], theirs);
  const bytes = fs.readFileSync(file(".npy"));
  const ours = new Int8Array(bytes.subarray(bytes.length - theirs.length));
  // Without VNNI, onnxruntime's products of bytes saturate: a file that others
  // made then gives other values than recorded, and no file says how netc is.
  const recorded = new Int8Array(fs.readFileSync(`${data}${values}.npy`)
    .subarray(-theirs.length));
  const apart = (one, other) =>
    Math.max(...one.map((v, i) => Math.abs(v - other[i])));
  saturates = saturates || apart(theirs, recorded) > 1;
  if (saturates)
    console.log(`${name}: onnxruntime saturates on this processor; compared ` +
      "with the values that were recorded");
  const worst = Math.max(...(saturates ? [recorded] : [theirs, written])
    .map((made) => apart(made, ours)));
  must(worst <= 1, `${name} differs by ${worst} steps`);
  return [theirs.length, worst];
};

(async () => {
  const list = chosen.length ? chosen.map((net) => net.split(" "))
    : [...small, ...zoo, ...open];
  let failed = 0;
  for (const [net, ...options] of list) {
    const begin = Date.now();
    try {
      const [values, worst] = await compare(net, options);
      console.log(`${net} ${options.join(" ")}: ${values} values, ` +
        `${worst.toExponential(1)}, ${(Date.now() - begin) / 1000} s`);
    } catch (error) {
      failed = 1;
      console.log(`${net} ${options.join(" ")}: ${error.stderr || ""}` +
        error.message);
    }
  }
  for (const model of chosen.length ? [] : [["unsigned", "y", "fc1"],
    ["qdq", "y", "fc1"], ["qlinear", "y", "fc1"],
    ["operators", "operators.y", "fc1.softmax"]]) {
    try {
      const [values, worst] = await eightBits(model);
      console.log(`${model[0]}: ${values} values of 8 bits, ${worst} steps`);
    } catch (error) {
      failed = 1;
      console.log(`${model[0]}: ${error.stderr || ""}${error.message}`);
    }
  }
  process.exit(failed);
})();
