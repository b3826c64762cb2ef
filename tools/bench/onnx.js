// Seconds of an ONNX model in onnxruntime-node, one thread: onnx.js MODEL.
// Answers each line that it reads with the time of one run.
const ort = require('onnxruntime-node');
const readline = require('readline');
(async () => {
  const session = await ort.InferenceSession.create(process.argv[2], {
    intraOpNumThreads: Number(process.argv[3] || 1),
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
  });
  const feeds = {};
  const shape = process.argv[4].split('x').map(Number);
  const count = shape.reduce((a, b) => a * b, 1);
  for (const name of session.inputNames)
    feeds[name] = new ort.Tensor('float32', new Float32Array(count), shape);
  for await (const _ of readline.createInterface({input: process.stdin})) {
    const start = process.hrtime.bigint();
    await session.run(feeds);
    console.log(Number(process.hrtime.bigint() - start) * 1e-9);
  }
})();
