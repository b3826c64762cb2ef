/*
 * Makes tests/data/import/saved with TensorFlow.js: models with values by
 * chance, an input and what they compute of it. In a folder with
 * @tensorflow/tfjs-{core,layers,backend-cpu}: node keras_saved.js FOLDER, then
 * keras_saved.py FOLDER.
 */
const fs = require('fs');
const path = require('path');
const here = name => require(require.resolve(name, {paths: [process.cwd()]}));
const tf = here('@tensorflow/tfjs-core');
here('@tensorflow/tfjs-backend-cpu');
const tfl = here('@tensorflow/tfjs-layers');
const L = tfl.layers;

let state = 1;
const chance = () => {
  state = (state * 48271) % 2147483647;
  return state / 2147483647;
};

function picture() {
  const i = tfl.input({shape: [9, 8, 3], name: 'picture'});
  let x = L.conv2d({filters: 4, kernelSize: 3, padding: 'same', strides: 2,
                    activation: 'relu', name: 'stem'}).apply(i);
  x = L.batchNormalization({scale: false, name: 'bn'}).apply(x);
  x = L.depthwiseConv2d({kernelSize: [3, 2], depthMultiplier: 2,
                         name: 'depth'}).apply(x);
  x = L.batchNormalization({name: 'bn_1'}).apply(x);
  x = L.separableConv2d({filters: 6, kernelSize: 3, padding: 'same',
                         name: 'separable'}).apply(x);
  x = L.prelu({sharedAxes: [1, 2], name: 'slopes'}).apply(x);
  x = L.conv2dTranspose({filters: 5, kernelSize: 3, strides: 2,
                         padding: 'same', name: 'up'}).apply(x);
  x = L.layerNormalization({name: 'ln'}).apply(x);
  x = L.prelu({name: 'slope'}).apply(x);
  x = L.flatten().apply(x);
  x = L.dropout({rate: 0.5}).apply(x);
  x = L.dense({units: 5, activation: 'softmax', name: 'classes'}).apply(x);
  return tfl.model({inputs: i, outputs: x, name: 'picture_net'});
}

function words() {
  const first = {recurrentInitializer: 'zeros'};
  const gates = {recurrentActivation: 'sigmoid', ...first};
  const i = tfl.input({shape: [6], dtype: 'int32', name: 'ids'});
  let x = L.embedding({inputDim: 20, outputDim: 6, name: 'table'}).apply(i);
  x = L.bidirectional({layer: L.lstm({units: 4, returnSequences: true,
                                      ...gates}), name: 'both'}).apply(x);
  x = L.gru({units: 5, returnSequences: true, name: 'gated', ...gates})
    .apply(x);
  x = L.timeDistributed({layer: L.dense({units: 3, activation: 'tanh'}),
                         name: 'each'}).apply(x);
  x = L.lstm({units: 4, returnSequences: true, name: 'one', ...gates}).apply(x);
  x = L.simpleRNN({units: 4, name: 'plain', ...first}).apply(x);
  x = L.dense({units: 2, name: 'result'}).apply(x);
  return tfl.model({inputs: i, outputs: x, name: 'words_net'});
}

/* A chain that begins with a chain, whose input is then its own. */
function chain() {
  const inner = tfl.sequential({name: 'inner', layers: [
    L.conv1d({filters: 4, kernelSize: 3, padding: 'same', activation: 'elu',
              inputShape: [7, 2], name: 'dense_1'}),
    L.batchNormalization({name: 'norm'})]});
  return tfl.sequential({name: 'chain_net', layers: [
    inner, L.flatten(), L.dense({units: 4, name: 'dense', useBias: false}),
    L.dense({units: 3, name: 'dense_2', activation: 'sigmoid'})]});
}

async function save(name, model, input) {
  const folder = path.join(process.argv[2], name);
  fs.mkdirSync(folder, {recursive: true});
  model.setWeights(model.getWeights().map((w, i) => tf.tensor(
    Float32Array.from({length: w.size},
                      () => /moving_variance/.test(model.weights[i].name)
                        ? 0.5 + chance() : chance() - 0.4),
    w.shape)));
  await model.save({save: async a => {
    const data = Buffer.from(a.weightData), half = data.length / 2 + 1 | 0;
    const paths = ['group1-shard1of2.bin', 'group1-shard2of2.bin'];
    fs.writeFileSync(path.join(folder, paths[0]), data.subarray(0, half));
    fs.writeFileSync(path.join(folder, paths[1]), data.subarray(half));
    fs.writeFileSync(path.join(folder, 'model.json'), JSON.stringify(
      {format: 'layers-model', generatedBy: a.generatedBy, convertedBy: null,
       modelTopology: a.modelTopology,
       weightsManifest: [{paths, weights: a.weightSpecs}]}));
    return {modelArtifactsInfo: {dateSaved: new Date(0)}};
  }});
  const y = model.predict(input);
  fs.writeFileSync(path.join(folder, 'values.json'), JSON.stringify(
    {x: Array.from(input.dataSync()), y: Array.from(y.dataSync()),
     shape: input.shape.slice(1), integer: input.dtype === 'int32',
     params: model.countParams()}));
}

function input(shape) {
  const count = shape.reduce((a, b) => a * b, 1);
  return tf.tensor(Float32Array.from({length: count}, () => chance() - 0.5),
                   [1, ...shape]);
}

(async () => {
  await save('picture', picture(), input([9, 8, 3]));
  await save('words', words(), tf.tensor([[3, 19, 0, 7, 7, 12]], [1, 6],
                                         'int32'));
  await save('chain', chain(), input([7, 2]));
})();
