// Seconds of an ONNX model in onnxruntime-node: onnx.js MODEL [THREADS].
// Answers each line that it reads with the time of one run, and the processor's.
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
  for (const input of session.inputMetadata) {
    const count = input.shape.reduce((a, b) => a * b, 1);
    feeds[input.name] =
        new ort.Tensor('float32', new Float32Array(count).fill(0.5), input.shape);
  }
  for await (const _ of readline.createInterface({input: process.stdin})) {
    const before = process.cpuUsage();
    const start = process.hrtime.bigint();
    await session.run(feeds);
    const spent = process.cpuUsage(before);
    console.log(Number(process.hrtime.bigint() - start) * 1e-9,
                (spent.user + spent.system) * 1e-6);
  }
})();
