/*
 * netc import: layers of Caffe and Keras and operations of Keras, each in a
 * net of its own: what it becomes, or why it is refused.
 */
#include "tests/run.h"

/*
 * A row without `what` has layers of Caffe after an input `x` of 6x10x8; else
 * it is a layer or a function of Keras with its config or its arguments, on an
 * input of `shape`. Texts have ' for ".
 */
static struct row {
  char name[48];
  const char *what, *text, *shape, *says;
} rows[] = {
    {"caffe-elu", NULL,
     "layer { name: 'l' type: 'ELU' bottom: 'x' top: 'y' elu_param { alpha: "
     "0.5 } }",
     NULL, "elu 0.5"},
    {"caffe-prelu", NULL,
     "layer { name: 'l' type: 'PReLU' bottom: 'x' top: 'y' }", NULL, "prelu"},
    {"caffe-prelu-shared", NULL,
     "layer { name: 'l' type: 'PReLU' bottom: 'x' top: 'y' prelu_param { "
     "channel_shared: true } }",
     NULL,
     "error: `l` (PReLU): netc has no equivalent of one slope for all "
     "channels"},
    {"caffe-power", NULL,
     "layer { name: 'l' type: 'Power' bottom: 'x' top: 'y' power_param { "
     "scale: 2 shift: 1 power: 3 } }",
     NULL,
     "mul 2\n"
     "add 1\n"
     "pow 3"},
    {"caffe-slice-even", NULL,
     "layer { name: 'l' type: 'Slice' bottom: 'x' top: 'a' top: 'y' }", NULL,
     "fork { slice c 0:4; output l }\n"
     "slice c 4:_\n"
     "output l_2"},
    {"caffe-slice-points", NULL,
     "layer { name: 'l' type: 'Slice' bottom: 'x' top: 'a' top: 'y' "
     "slice_param { axis: 2 slice_point: 2 } }",
     NULL,
     "fork { slice 0 0:2; output l }\n"
     "slice 0 2:_ -> 4x10x8\n"
     "output l_2"},
    {"caffe-slice-beyond", NULL,
     "layer { name: 'l' type: 'Slice' bottom: 'x' top: 'a' top: 'y' "
     "slice_param { slice_point: 9 } }",
     NULL, "error: `slice_point` is 9, not from 1 to 8"},
    {"caffe-slice-batch", NULL,
     "layer { name: 'l' type: 'Slice' bottom: 'x' top: 'a' top: 'y' "
     "slice_param { axis: 0 } }",
     NULL, "error: `l` (Slice): samples of a batch cannot be split"},
    {"caffe-permute", NULL,
     "layer { name: 'l' type: 'Permute' bottom: 'x' top: 'y' permute_param { "
     "order: 0 order: 2 order: 3 order: 1 } }",
     NULL, "permute 1 2 0 -> 10x8x6"},
    {"caffe-permute-batch", NULL,
     "layer { name: 'l' type: 'Permute' bottom: 'x' top: 'y' permute_param { "
     "order: 1 order: 0 } }",
     NULL, "error: `l` (Permute): the batch must stay the first axis"},
    {"caffe-flatten", NULL,
     "layer { name: 'l' type: 'Flatten' bottom: 'x' top: 'y' }", NULL,
     "flatten -> 480"},
    {"caffe-normalize", NULL,
     "layer { name: 'l' type: 'Normalize' bottom: 'x' top: 'y' norm_param { "
     "across_spatial: false channel_shared: false } }",
     NULL,
     "l2norm\n"
     "scale"},
    {"caffe-normalize-all", NULL,
     "layer { name: 'l' type: 'Normalize' bottom: 'x' top: 'y' }", NULL,
     "error: `l` (Normalize): only a norm over channels with a factor for each "
     "is supported"},
    {"caffe-reorg", NULL,
     "layer { name: 'l' type: 'Reorg' bottom: 'x' top: 'y' reorg_param { "
     "stride: 2 } }",
     NULL, "space2depth 2 -> 3x5x32"},
    {"caffe-shuffle", NULL,
     "layer { name: 'l' type: 'ShuffleChannel' bottom: 'x' top: 'y' "
     "shuffle_channel_param { group: 4 } }",
     NULL, "shuffle 4"},
    {"caffe-deconv", NULL,
     "layer { name: 'l' type: 'Deconvolution' bottom: 'x' top: 'y' "
     "convolution_param { num_output: 4 kernel_size: 4 stride: 2 pad: 1 group: "
     "2 bias_term: false } }",
     NULL, "deconv 4 4x4 /2 pad=1 groups=2 nobias -> 12x20x4"},
    {"caffe-deconv-tall", NULL,
     "layer { name: 'l' type: 'Deconvolution' bottom: 'x' top: 'y' "
     "convolution_param { num_output: 4 kernel_size: 4 pad_h: 1 pad_w: 2 } }",
     NULL, "deconv 4 4x4 pad=1x2 -> 7x9x4"},
    {"caffe-deconv-dilated", NULL,
     "layer { name: 'l' type: 'Deconvolution' bottom: 'x' top: 'y' "
     "convolution_param { num_output: 4 kernel_size: 3 dilation: 2 } }",
     NULL, "deconv 4 3x3 dilate=2x2 -> 10x14x4"},
    {"caffe-deconv-none", NULL,
     "layer { name: 'l' type: 'Deconvolution' bottom: 'x' top: 'y' "
     "convolution_param { kernel_size: 4 } }",
     NULL, "error: `l` (Deconvolution): `num_output` is missing"},
    {"caffe-groups", NULL,
     "layer { name: 'l' type: 'Convolution' bottom: 'x' top: 'y' "
     "convolution_param { num_output: 4 kernel_size: 1 group: 3 } }",
     NULL, "error: `l` (Convolution): `group` does not divide the channels"},
    {"caffe-window", NULL,
     "layer { name: 'l' type: 'Convolution' bottom: 'x' top: 'y' "
     "convolution_param { num_output: 4 kernel_size: 11 } }",
     NULL,
     "error: `l` (Convolution): its window is larger than the padded input"},
    {"caffe-stochastic", NULL,
     "layer { name: 'l' type: 'Pooling' bottom: 'x' top: 'y' pooling_param { "
     "pool: STOCHASTIC kernel_size: 2 } }",
     NULL,
     "error: `l` (Pooling): netc has no equivalent of stochastic pooling"},
    {"caffe-softmax-axis", NULL,
     "layer { name: 'l' type: 'Softmax' bottom: 'x' top: 'y' softmax_param { "
     "axis: 2 } }",
     NULL, "error: `l` (Softmax): only a softmax over channels is supported"},
    {"caffe-softmax-wide", NULL,
     "layer { name: 'l' type: 'Softmax' bottom: 'x' top: 'y' softmax_param { "
     "axis: 3 } }",
     NULL, "error: `l` (Softmax): only a softmax over channels is supported"},
    {"caffe-lrn-within", NULL,
     "layer { name: 'l' type: 'LRN' bottom: 'x' top: 'y' lrn_param { "
     "norm_region: WITHIN_CHANNEL local_size: 3 } }",
     NULL, "lrn 3 within"},
    {"caffe-scale-bias", NULL,
     "layer { name: 'l' type: 'Scale' bottom: 'x' top: 'y' scale_param { "
     "bias_term: true } }",
     NULL, "scale bias"},
    {"caffe-scale-axis", NULL,
     "layer { name: 'l' type: 'Scale' bottom: 'x' top: 'y' scale_param { axis: "
     "2 } }",
     NULL, "error: `l` (Scale): only a scale by channel is supported"},
    {"caffe-eltwise-max", NULL,
     "layer { name: 'l' type: 'Eltwise' bottom: 'x' bottom: 'x' top: 'y' "
     "eltwise_param { operation: MAX } }",
     NULL, "max {} {}"},
    {"caffe-eltwise-product", NULL,
     "layer { name: 'l' type: 'Eltwise' bottom: 'x' bottom: 'x' top: 'y' "
     "eltwise_param { operation: PROD } }",
     NULL, "mul {} {}"},
    {"caffe-eltwise-sum", NULL,
     "layer { name: 'l' type: 'Eltwise' bottom: 'x' bottom: 'x' top: 'y' "
     "eltwise_param { coeff: 1 coeff: -0.5 } }",
     NULL, "add {} { mul -0.5 }"},
    {"caffe-eltwise-one", NULL,
     "layer { name: 'l' type: 'Eltwise' bottom: 'x' top: 'y' }", NULL,
     "error: `l` (Eltwise): it needs two bottoms"},
    {"caffe-concat-rows", NULL,
     "layer { name: 'l' type: 'Concat' bottom: 'x' bottom: 'x' top: 'y' "
     "concat_param { axis: 2 } }",
     NULL, "concat axis=0 {} {} -> 12x10x8"},
    {"caffe-concat-batch", NULL,
     "layer { name: 'l' type: 'Concat' bottom: 'x' bottom: 'x' top: 'y' "
     "concat_param { axis: 0 } }",
     NULL, "error: `l` (Concat): samples of a batch cannot be joined"},
    {"caffe-axpy-two", NULL,
     "layer { name: 'l' type: 'Axpy' bottom: 'x' bottom: 'x' top: 'y' }", NULL,
     "error: `l` (Axpy): it needs three bottoms"},
    {"caffe-no-bottom", NULL, "layer { name: 'l' type: 'ReLU' top: 'y' }", NULL,
     "error: `l` (ReLU) has no `bottom`"},
    {"caffe-reshape-count", NULL,
     "layer { name: 'l' type: 'Reshape' bottom: 'x' top: 'y' reshape_param { "
     "shape { dim: 0 dim: 7 dim: 3 } } }",
     NULL, "error: `l` (Reshape): the new shape has another number of values"},
    {"caffe-reshape-flat", NULL,
     "layer { name: 'l' type: 'Reshape' bottom: 'x' top: 'y' reshape_param { "
     "shape { dim: 0 } } }",
     NULL, "error: `l` (Reshape): it needs a shape of at least two sizes"},
    {"caffe-reshape-batch", NULL,
     "layer { name: 'l' type: 'Reshape' bottom: 'x' top: 'y' reshape_param { "
     "shape { dim: -1 dim: 480 } } }",
     NULL, "error: `l` (Reshape): the batch cannot be inferred"},
    {"caffe-reshape-rest", NULL,
     "layer { name: 'l' type: 'Reshape' bottom: 'x' top: 'y' reshape_param { "
     "shape { dim: 0 dim: -1 dim: 60 } } }",
     NULL,
     "`l` reshapes channels last here, channels first in Caffe: equal sizes, "
     "values in another order."},
    {"caffe-crop", NULL,
     "layer { name: 'p' type: 'Pooling' bottom: 'x' top: 'p' pooling_param { "
     "kernel_size: 2 stride: 2 } }\n"
     "layer { name: 'l' type: 'Crop' bottom: 'x' bottom: 'p' top: 'y' "
     "crop_param { axis: 2 offset: 1 offset: 3 } }",
     NULL,
     "fork { pool 2x2; output p }\n"
     "slice 0 1:4 -> 3x10x8\n"
     "slice 1 3:8 -> 3x5x8\n"
     "output l"},
    {"caffe-crop-outside", NULL,
     "layer { name: 'p' type: 'Pooling' bottom: 'x' top: 'p' pooling_param { "
     "kernel_size: 2 stride: 2 } }\n"
     "layer { name: 'l' type: 'Crop' bottom: 'x' bottom: 'p' top: 'y' "
     "crop_param { axis: 2 offset: 4 } }",
     NULL, "error: `l` (Crop): it crops outside of its input"},
    {"caffe-axpy", NULL,
     "layer { name: 'g' type: 'Pooling' bottom: 'x' top: 'g' pooling_param { "
     "pool: AVE global_pooling: true } }\n"
     "layer { name: 'l' type: 'Axpy' bottom: 'g' bottom: 'x' bottom: 'x' top: "
     "'y' }",
     NULL, "add { mul {} { gap } } {}"},
    {"caffe-split", NULL,
     "layer { name: 's' type: 'Split' bottom: 'x' top: 'a' top: 'b' }\n"
     "layer { name: 'l' type: 'Eltwise' bottom: 'a' bottom: 'b' top: 'y' }",
     NULL, "add {} {}"},
    {"caffe-other-shapes", NULL,
     "layer { name: 'p' type: 'Pooling' bottom: 'x' top: 'p' pooling_param { "
     "kernel_size: 2 stride: 2 } }\n"
     "layer { name: 'l' type: 'Eltwise' bottom: 'x' bottom: 'p' top: 'y' }",
     NULL, "error: `l` (Eltwise): its bottoms have different shapes"},
    {"caffe-v1-unknown", NULL,
     "layers { name: 'c' type: WARP bottom: 'x' top: 'c' }", NULL,
     "error: netc has no equivalent of the type WARP"},
    {"caffe-only-test", NULL,
     "layer { name: 'a' type: 'ReLU' bottom: 'x' top: 'y' exclude { phase: "
     "TEST } }\n"
     "layer { name: 'b' type: 'TanH' bottom: 'x' top: 'y' }",
     NULL, "tanh"},
    {"caffe-v1", NULL,
     "layers { name: 'c' type: CONVOLUTION bottom: 'x' top: 'c' "
     "convolution_param { num_output: 4 kernel_size: 1 } }\n"
     "layers { name: 'r' type: RELU bottom: 'c' top: 'c' }\n"
     "layers { name: 's' type: SOFTMAX_LOSS bottom: 'c' }",
     NULL, "error: `s`: netc has no equivalent of the type Loss"},
    {"keras-op-add", "__operators__.add", "{'y': 2}", NULL, "add 2"},
    {"keras-op-subtract-from", "math.subtract", "{'y': 2}", NULL, "sub 2"},
    {"keras-op-multiply", "math.multiply", "{'y': 0.5}", NULL, "mul 0.5"},
    {"keras-op-power", "math.pow", "{'y': 3}", NULL, "pow 3"},
    {"keras-op-power-tensor", "math.pow", "{'y': ['x', 0, 0]}", NULL,
     "error: `y` (TFOpLambda): only powers that are numbers are supported"},
    {"keras-op-square", "math.square", "{}", NULL, "pow 2"},
    {"keras-op-rsqrt", "math.rsqrt", "{}", NULL, "pow -0.5"},
    {"keras-op-leaky", "nn.leaky_relu", "{'alpha': 0.1}", NULL, "leaky 0.1"},
    {"keras-op-leaky-default", "nn.leaky_relu", "{}", NULL, "leaky 0.2"},
    {"keras-op-cast", "cast", "{'dtype': 'float32'}", NULL,
     "net a\n"
     "input 6x10x8"},
    {"keras-op-clip", "clip_by_value",
     "{'clip_value_min': 0, 'clip_value_max': 6}", NULL,
     "max 0\n"
     "min 6"},
    {"keras-op-clip-text", "clip_by_value",
     "{'clip_value_min': 'a', 'clip_value_max': 6}", NULL,
     "error: `y` (TFOpLambda): its bounds are not numbers"},
    {"keras-op-softmax-rows", "nn.softmax", "{'axis': 1}", NULL,
     "error: `y` (TFOpLambda): only a softmax over channels is supported"},
    {"keras-op-log-softmax", "nn.log_softmax", "{}", NULL, "logsoftmax"},
    {"keras-op-mean", "math.reduce_mean", "{'axis': [1, 2], 'keepdims': true}",
     NULL, "mean axis=0 axis=1 keep -> 1x1x8"},
    {"keras-op-mean-batch", "math.reduce_mean", "{'axis': 0}", NULL,
     "error: `y` (TFOpLambda): its axis is the batch"},
    {"keras-op-mean-rows", "math.reduce_mean", "{'axis': [1]}", NULL,
     "mean axis=0 -> 10x8"},
    {"keras-op-reshape", "reshape", "{'shape': [-1, 60, 8]}", NULL,
     "reshape 60x8 -> 60x8"},
    {"keras-op-reshape-other", "reshape", "{'shape': [-1, 7, 8]}", NULL,
     "error: `y` (TFOpLambda): its input has 480 values, which are not those "
     "of `shape`"},
    {"keras-op-transpose", "transpose", "{'perm': [0, 3, 1, 2]}", NULL,
     "permute 2 0 1 -> 8x6x10"},
    {"keras-op-transpose-batch", "transpose", "{'perm': [1, 0, 2, 3]}", NULL,
     "error: `y` (TFOpLambda): it moves the batch"},
    {"keras-op-squeeze", "squeeze", "{'axis': 1}", NULL,
     "error: `y` (TFOpLambda): an axis that it removes is not 1"},
    {"keras-op-expand", "expand_dims", "{'axis': 1}", NULL,
     "reshape 1x6x10x8 -> 1x6x10x8"},
    {"keras-op-expand-last", "expand_dims", "{'axis': -1}", NULL,
     "reshape 6x10x8x1 -> 6x10x8x1"},
    {"keras-op-expand-beyond", "expand_dims", "{'axis': 7}", NULL,
     "error: `y` (TFOpLambda): its input has no such axis"},
    {"keras-op-expand-batch", "expand_dims", "{'axis': 0}", NULL,
     "error: `y` (TFOpLambda): its input has no such axis"},
    {"keras-op-split", "split", "{'num_or_size_splits': 2, 'axis': -1}", NULL,
     "fork { slice c 0:4; output y }\n"
     "slice c 4:_\n"
     "output y_2"},
    {"keras-op-split-uneven", "split", "{'num_or_size_splits': 3, 'axis': -1}",
     NULL, "error: `y` (TFOpLambda): its parts are not equal"},
    {"keras-op-matmul", "linalg.matmul",
     "{'b': ['x', 0, 0], 'transpose_b': true}", NULL, "matmul transpose {} {}"},
    {"keras-op-matmul-unfit", "linalg.matmul", "{'b': ['x', 0, 0]}", NULL,
     "error: `y` (TFOpLambda): its matrices do not fit"},
    {"keras-op-unknown", "math.erfinv", "{}", NULL,
     "error: `y` (TFOpLambda): netc has no equivalent of the operation "
     "math.erfinv"},
    {"keras-op-add-nothing", "math.add", "{}", NULL,
     "error: `y` (TFOpLambda): it needs two operands"},
    {"keras-Cropping2D", "Cropping2D", "'cropping': [[1, 2], [0, 3]]", NULL,
     "slice 0 1:4 -> 3x10x8\n"
     "slice 1 0:7 -> 3x7x8"},
    {"keras-Cropping2D-2", "Cropping2D", "'cropping': [[3, 3], [0, 0]]", NULL,
     "error: `y` (Cropping2D): it leaves nothing of its input"},
    {"keras-Cropping1D", "Cropping1D", "'cropping': [1, 2]", "10, 8",
     "slice 0 1:8 -> 7x8"},
    {"keras-Cropping3D", "Cropping3D", "'cropping': [[1, 1], [0, 0], [2, 1]]",
     "6, 6, 6, 8",
     "slice 0 1:5 -> 4x6x6x8\n"
     "slice 2 2:5 -> 4x6x3x8"},
    {"keras-ZeroPadding2D", "ZeroPadding2D", "'padding': [[1, 2], [0, 3]]",
     NULL, "pad 1:2x0:3 -> 9x13x8"},
    {"keras-ZeroPadding1D", "ZeroPadding1D", "'padding': 2", "10, 8",
     "pad 2 -> 14x8"},
    {"keras-UpSampling2D", "UpSampling2D",
     "'size': [2, 3], 'interpolation': 'bilinear'", NULL,
     "up 2x3 bilinear -> 12x30x8"},
    {"keras-UpSampling2D-2", "UpSampling2D",
     "'size': [2, 2], 'interpolation': 'lanczos3'", NULL,
     "error: `y` (UpSampling2D): netc has no equivalent of the interpolation "
     "`lanczos3`"},
    {"keras-UpSampling1D", "UpSampling1D", "'size': 3", "10, 8",
     "up 3 -> 30x8"},
    {"keras-UpSampling3D", "UpSampling3D", "'size': [2, 2, 2]", "2, 2, 2, 8",
     "up 2 -> 4x4x4x8"},
    {"keras-Conv2DTranspose", "Conv2DTranspose",
     "'filters': 4, 'kernel_size': [3, 3], 'strides': [2, 2], 'padding': "
     "'same'",
     NULL, "deconv 4 3x3 /2 pad=0:1 -> 12x20x4"},
    {"keras-Conv2DTranspose-2", "Conv2DTranspose",
     "'filters': 4, 'kernel_size': [3, 3], 'strides': [2, 2], 'padding': "
     "'valid', 'output_padding': [1, 1]",
     NULL, "deconv 4 3x3 /2 outpad=1x1 -> 14x22x4"},
    {"keras-Conv1DTranspose", "Conv1DTranspose",
     "'filters': 4, 'kernel_size': 3, 'strides': 2, 'padding': 'same'", "10, 8",
     "deconv 4 3 /2 pad=0:1 -> 20x4"},
    {"keras-Conv1D", "Conv1D",
     "'filters': 4, 'kernel_size': 3, 'padding': 'causal', 'dilation_rate': 2",
     "10, 8", "conv 4 3 pad=4:0 dilate=2"},
    {"keras-Conv2D", "Conv2D",
     "'filters': 4, 'kernel_size': [3, 3], 'strides': [2, 2], 'padding': "
     "'same', 'activation': 'relu'",
     NULL, "conv 4 3x3 /2 pad=tf relu -> 3x5x4"},
    {"keras-Conv2D-2", "Conv2D",
     "'filters': 4, 'kernel_size': [3, 3], 'data_format': 'channels_first'",
     NULL, "conv 4 3x3 -> 8x6x4"},
    {"keras-Conv2D-3", "Conv2D", "'filters': 4, 'kernel_size': [9, 9]", NULL,
     "error: `y` (Conv2D): its window is larger than the padded input"},
    {"keras-Conv2D-4", "Conv2D",
     "'filters': 4, 'kernel_size': [3, 3], 'groups': 3", NULL,
     "error: `y` (Conv2D): `groups` does not divide the channels"},
    {"keras-Conv2D-5", "Conv2D", "'filters': 4, 'kernel_size': [3]", NULL,
     "error: `y` (Conv2D): `kernel_size` has 1 numbers, not 2"},
    {"keras-Conv2D-6", "Conv2D",
     "'filters': 4, 'kernel_size': [3, 3], 'padding': 'reflect'", NULL,
     "error: `y` (Conv2D): netc has no equivalent of the padding `reflect`"},
    {"keras-Conv2D-7", "Conv2D", "'kernel_size': [3, 3]", NULL,
     "error: `y` (Conv2D): `filters` is missing"},
    {"keras-Conv2D-8", "Conv2D", "'filters': 4, 'kernel_size': [3, 3]", "8",
     "error: `y` (Conv2D): its input has 0 axes of positions"},
    {"keras-DepthwiseConv2D", "DepthwiseConv2D",
     "'kernel_size': [3, 3], 'depth_multiplier': 2", NULL,
     "dwconv 3x3 mult=2 -> 4x8x16"},
    {"keras-DepthwiseConv1D", "DepthwiseConv1D", "'kernel_size': 3", "10, 8",
     "dwconv 3 -> 8x8"},
    {"keras-SeparableConv2D", "SeparableConv2D",
     "'filters': 4, 'kernel_size': [3, 3], 'depth_multiplier': 2", NULL,
     "dwconv 3x3 mult=2 nobias -> 4x8x16\n"
     "conv 4 1x1"},
    {"keras-SeparableConv1D", "SeparableConv1D",
     "'filters': 4, 'kernel_size': 3", "10, 8",
     "dwconv 3 nobias -> 8x8\n"
     "conv 4 1"},
    {"keras-LocallyConnected2D", "LocallyConnected2D",
     "'filters': 4, 'kernel_size': [3, 3]", NULL, "local 4 3x3 -> 4x8x4"},
    {"keras-LocallyConnected1D", "LocallyConnected1D",
     "'filters': 4, 'kernel_size': 3", "10, 8", "local 4 3 -> 8x4"},
    {"keras-AveragePooling2D", "AveragePooling2D",
     "'pool_size': [2, 2], 'padding': 'same'", NULL, "avgpool 2x2 -> 3x5x8"},
    {"keras-MaxPooling2D", "MaxPooling2D",
     "'pool_size': [3, 3], 'strides': [2, 2], 'padding': 'same'", NULL,
     "pool 3x3 /2 pad=tf -> 3x5x8"},
    {"keras-MaxPooling1D", "MaxPooling1D", "'pool_size': 2", "10, 8",
     "pool 2 -> 5x8"},
    {"keras-GlobalMaxPooling2D", "GlobalMaxPooling2D", "'keepdims': true", NULL,
     "gmp -> 1x1x8"},
    {"keras-GlobalAveragePooling1D", "GlobalAveragePooling1D", "", "10, 8",
     "gap -> 1x8"},
    {"keras-AdaptiveAveragePooling2D", "AdaptiveAveragePooling2D",
     "'output_size': [2, 2]", NULL, "adaptpool 2x2 -> 2x2x8"},
    {"keras-RepeatVector", "RepeatVector", "'n': 3", "8",
     "reshape 1x8 -> 1x8\n"
     "up 3        -> 3x8"},
    {"keras-RepeatVector-2", "RepeatVector", "'n': 3", NULL,
     "error: `y` (RepeatVector): its input is not a vector"},
    {"keras-Permute", "Permute", "'dims': [3, 1, 2]", NULL,
     "permute 2 0 1 -> 8x6x10"},
    {"keras-Permute-2", "Permute", "'dims': [1, 1, 2]", NULL,
     "error: `y` (Permute): an axis is listed twice"},
    {"keras-Reshape", "Reshape", "'target_shape': [-1, 16]", NULL,
     "reshape 30x16 -> 30x16"},
    {"keras-Reshape-2", "Reshape", "'target_shape': [7, 16]", NULL,
     "error: `y` (Reshape): its input has 480 values, which are not those of "
     "`target_shape`"},
    {"keras-Flatten", "Flatten", "", NULL, "flatten -> 480"},
    {"keras-Activation", "Activation", "'activation': 'hard_sigmoid'", NULL,
     "hsigmoid"},
    {"keras-Activation-2", "Activation", "'activation': 'warp'", NULL,
     "error: `y` (Activation): netc has no equivalent of the activation "
     "`warp`"},
    {"keras-LeakyReLU", "LeakyReLU", "'alpha': 0.3", NULL, "leaky 0.3"},
    {"keras-ELU", "ELU", "'alpha': 0.5", NULL, "elu 0.5"},
    {"keras-ReLU", "ReLU", "'max_value': 6", NULL, "relu6"},
    {"keras-ReLU-2", "ReLU", "'negative_slope': 0.2", NULL, "leaky 0.2"},
    {"keras-ReLU-3", "ReLU", "'threshold': 1", NULL,
     "error: `y` (ReLU): netc has no equivalent of a threshold"},
    {"keras-PReLU", "PReLU", "'shared_axes': [1, 2]", NULL, "prelu"},
    {"keras-PReLU-2", "PReLU", "'shared_axes': null", NULL,
     "add { relu } { min 0; mul {} { weight 6x10x8 } }"},
    {"keras-Softmax", "Softmax", "'axis': 1", NULL,
     "error: `y` (Softmax): only a norm of channels is supported"},
    {"keras-Softmax-2", "Softmax", "'axis': -1", NULL, "softmax"},
    {"keras-BatchNormalization", "BatchNormalization", "'axis': 1", NULL,
     "error: `y` (BatchNormalization): only a norm of channels is supported"},
    {"keras-BatchNormalization-2", "BatchNormalization",
     "'axis': -1, 'center': false, 'scale': true", NULL,
     "bn eps=0.001 noaffine\n"
     "scale"},
    {"keras-LayerNormalization", "LayerNormalization",
     "'axis': -1, 'epsilon': 0.001", NULL, "ln eps=0.001"},
    {"keras-LayerNormalization-2", "LayerNormalization", "'axis': [1, 2]", NULL,
     "error: `y` (LayerNormalization): netc has no equivalent of a norm over "
     "several axes"},
    {"keras-LayerNormalization-3", "LayerNormalization",
     "'axis': -1, 'epsilon': 1e-05", NULL, "ln\n"},
    {"keras-GroupNormalization", "GroupNormalization",
     "'groups': 4, 'axis': -1", NULL, "gn 4 eps=0.001"},
    {"keras-GroupNormalization-2", "GroupNormalization",
     "'groups': -1, 'axis': -1", NULL, "instnorm eps=0.001"},
    {"keras-UnitNormalization", "UnitNormalization", "'axis': -1", NULL,
     "l2norm"},
    {"keras-RMSNormalization", "RMSNormalization", "'axis': -1", NULL,
     "rmsnorm eps=1e-06"},
    {"keras-SpatialDropout2D", "SpatialDropout2D", "'rate': 0.2", NULL,
     "dropout 0.2"},
    {"keras-Rescaling", "Rescaling", "'scale': 0.5, 'offset': -1", NULL,
     "mul 0.5\n"
     "add -1"},
    {"keras-Resizing", "Resizing", "'height': 12, 'width': 20", NULL,
     "up size=12x20 bilinear -> 12x20x8"},
    {"keras-Resizing-2", "Resizing", "'height': 13, 'width': 20", NULL,
     "up size=13x20 bilinear -> 13x20x8"},
    {"keras-CenterCrop", "CenterCrop", "'height': 4, 'width': 4", NULL,
     "crop 4x4 -> 4x4x8"},
    {"keras-CenterCrop-2", "CenterCrop", "'height': 40, 'width': 4", NULL,
     "error: `y` (CenterCrop): it needs a map of at least its size"},
    {"keras-RandomFlip", "RandomFlip", "'mode': 'horizontal'", NULL,
     "# RandomFlip changes nothing when the net predicts: it is left out.\n"
     "net a\n"
     "input 6x10x8"},
    {"keras-Normalization", "Normalization", "'axis': -1", NULL,
     "sub {} { weight 8 fixed }\n"
     "div {} { weight 8 fixed }"},
    {"keras-Embedding", "Embedding", "'input_dim': 100, 'output_dim': 8", "10",
     "embed 100 8 -> 10x8"},
    {"keras-Embedding-2", "Embedding", "'output_dim': 8", "10",
     "error: `y` (Embedding): `input_dim` or `output_dim` is missing"},
    {"keras-Masking", "Masking", "'mask_value': 0", "10, 8",
     "# Masks are left out: every step counts, with the same parameters.\n"
     "net a\n"
     "input 10x8"},
    {"keras-LSTM", "LSTM",
     "'units': 5, 'return_sequences': true, 'go_backwards': true", "10, 8",
     "`y` goes backwards, netc's forwards: the counts are the same."},
    {"keras-LSTM-2", "LSTM", "'units': 5", "10, 8",
     "lstm 5 last bias=one -> 5"},
    {"keras-LSTM-3", "LSTM", "'units': 5", NULL,
     "error: `y` (LSTM): its input is not a sequence of vectors"},
    {"keras-LSTM-4", "LSTM", "'units': 5, 'activation': 'relu'", "10, 8",
     "`y` has relu for its activations: netc's has tanh and sigmoid, with the "
     "same counts."},
    {"keras-LSTM-5", "LSTM", "'return_sequences': true", "10, 8",
     "error: `y` (LSTM): `units` is missing"},
    {"keras-GRU", "GRU", "'units': 5, 'reset_after': true", "10, 8",
     "gru 5 last -> 5"},
    {"keras-GRU-2", "GRU", "'units': 5, 'reset_after': false", "10, 8",
     "gru 5 last bias=one reset=before -> 5"},
    {"keras-SimpleRNN", "SimpleRNN",
     "'units': 5, 'use_bias': false, 'return_sequences': true", "10, 8",
     "rnn 5 nobias"},
    {"keras-ConvLSTM2D", "ConvLSTM2D",
     "'filters': 4, 'kernel_size': [3, 3], 'padding': 'same', "
     "'return_sequences': true",
     "5, 6, 10, 8", "convlstm 4 3x3"},
    {"keras-Bidirectional", "Bidirectional",
     "'merge_mode': 'sum', 'layer': {'class_name': 'LSTM', 'config': {'units': "
     "5, 'return_sequences': true}}",
     "10, 8",
     "lstm 5 bidir bias=one\n"
     "add { slice c 0:5 } { slice c 5:_ }"},
    {"keras-Bidirectional-2", "Bidirectional",
     "'merge_mode': 'concat', 'layer': {'class_name': 'Dense', 'config': "
     "{'units': 5}}",
     "10, 8",
     "error: `y` (Bidirectional): only LSTM, GRU and SimpleRNN run both ways"},
    {"keras-TimeDistributed", "TimeDistributed",
     "'layer': {'class_name': 'Dense', 'config': {'units': 5}}", "10, 8",
     "linear 5"},
    {"keras-TimeDistributed-2", "TimeDistributed",
     "'layer': {'class_name': 'Conv2D', 'config': {'filters': 4, "
     "'kernel_size': [3, 3]}}",
     "5, 6, 10, 8", "conv 4 1x3x3 -> 5x4x8x4"},
    {"keras-Dense", "Dense", "'units': 5, 'activation': 'softmax'", NULL,
     "linear 5 softmax"},
    {"keras-Dense-2", "Dense", "'activation': 'relu'", NULL,
     "error: `y` (Dense): `units` is missing"},
    {"keras-Lambda", "Lambda", "'function': 'f'", NULL,
     "error: `y` (Lambda): what a Lambda computes is Python, which the file "
     "has only compiled"},
};

static void write_caffe(FILE *file, const struct row *row) {
  fprintf(file, "input: 'x' input_shape { dim: 1 dim: 8 dim: 6 dim: 10 }\n%s\n",
          row->text);
}

static void write_keras(FILE *file, const struct row *row) {
  bool layer = *row->what >= 'A' && *row->what <= 'Z';
  char text[1024];
  int length = snprintf(
      text, sizeof text,
      "{'class_name': 'Functional', 'config': {'layers': ["
      "{'class_name': 'InputLayer', 'name': 'x', 'config': "
      "{'batch_input_shape': [null, %s], 'dtype': 'float32'}, "
      "'inbound_nodes': []}, "
      "{'class_name': '%s', 'name': 'y', 'config': {%s%s%s}, "
      "'inbound_nodes': [%s]}], "
      "'input_layers': [['x', 0, 0]], 'output_layers': [['y', 0, 0]]}}\n",
      row->shape ? row->shape : "6, 10, 8", layer ? row->what : "TFOpLambda",
      layer ? row->text : "'function': '", layer ? "" : row->what,
      layer ? "" : "'", layer ? "[['x', 0, 0, {}]]" : "['x', 0, 0, ARGUMENTS]");
  assert_in_range(length, 1, sizeof text - 1);
  for (char *at = text; *at; at++) {
    if (strncmp(at, "ARGUMENTS", 9) == 0) {
      for (const char *from = row->text; *from; from++)
        fputc(*from == '\'' ? '"' : *from, file);
      at += 9;
    }
    fputc(*at == '\'' ? '"' : *at, file);
  }
}

static void check_row(void **state) {
  const struct row *row = *state;
  bool refused = strncmp(row->says, "error: ", 7) == 0;
  const char *folder = scratch("readers");
  char path[1200];
  snprintf(path, sizeof path, "%s/a.%s", folder,
           row->what ? "json" : "prototxt");
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  (row->what ? write_keras : write_caffe)(file, row);
  assert_int_equal(fclose(file), 0);
  struct run r = run("%s import %s", NETC, path);
  if (r.status != refused)
    print_error("%s", r.err);
  assert_int_equal(r.status, refused);
  assert_holds(refused ? r.err : r.out, row->says);
  run_free(&r);
}

int main(void) {
  return run_table("readers", rows, sizeof rows / sizeof *rows, sizeof *rows,
                   check_row, NULL, 0);
}
