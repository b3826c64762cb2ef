/*
 * netc import: layers of Caffe and Keras and operations of Keras, each in a
 * net of its own: what it becomes, or why it is refused.
 */
#include "tests/run.h"

/*
 * A row without `what` has layers of Caffe after an input `x` of 6x10x8; else
 * it is a layer or a function of Keras with its config or its arguments, on an
 * input of `shape`. "Add*2" reads it twice. Texts have ' for ".
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
     NULL, "prelu shared"},
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
    {"caffe-without-kernel", NULL,
     "layer { name: 'l' type: 'Convolution' bottom: 'x' top: 'y' "
     "convolution_param { num_output: 4 kernel_h: 3 } }",
     NULL, "error: `l` (Convolution): `kernel_size` is missing"},
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
    {"caffe-reshape-axis", NULL,
     "layer { name: 'f' type: 'Flatten' bottom: 'x' top: 'f' }\n"
     "layer { name: 'l' type: 'Reshape' bottom: 'f' top: 'y' reshape_param { "
     "shape { dim: 48 dim: 10 } axis: 1 } }",
     NULL, "reshape 10x48 -> 10x48"},
    {"caffe-reshape-span", NULL,
     "layer { name: 'l' type: 'Reshape' bottom: 'x' top: 'y' reshape_param { "
     "shape { dim: -1 } axis: -3 num_axes: 2 } }",
     NULL, "reshape 60x8 -> 60x8"},
    {"caffe-reshape-keeps", NULL,
     "layer { name: 'f' type: 'Flatten' bottom: 'x' top: 'f' }\n"
     "layer { name: 'l' type: 'Reshape' bottom: 'f' top: 'y' reshape_param { "
     "shape { dim: 0 dim: 48 dim: 10 } } }",
     NULL, "reshape 10x48 -> 10x48"},
    {"caffe-depthwise", NULL,
     "layer { name: 'l' type: 'ConvolutionDepthwise' bottom: 'x' top: 'y' "
     "convolution_param { num_output: 8 kernel_size: 3 pad: 1 bias_term: "
     "false } }",
     NULL, "dwconv 3x3 pad nobias"},
    {"caffe-depthwise-outputs", NULL,
     "layer { name: 'l' type: 'ConvolutionDepthwise' bottom: 'x' top: 'y' "
     "convolution_param { num_output: 16 group: 4 kernel_size: 3 } }",
     NULL, "dwconv 3x3 -> 4x8x8"},
    {"caffe-depthwise-groups", NULL,
     "layer { name: 'l' type: 'DepthwiseConvolution' bottom: 'x' top: 'y' "
     "convolution_param { num_output: 8 group: 4 kernel_size: 3 } }",
     NULL, "conv 8 3x3 groups=4"},
    {"caffe-depthwise-unsaid", NULL,
     "layer { name: 'l' type: 'DepthwiseConvolution' bottom: 'x' top: 'y' "
     "convolution_param { num_output: 8 kernel_size: 3 } }",
     NULL,
     "error: `l` (DepthwiseConvolution): `group` is missing, and forks of "
     "Caffe differ in what it is then"},
    {"caffe-dense-axis", NULL,
     "layer { name: 'l' type: 'InnerProduct' bottom: 'x' top: 'y' "
     "inner_product_param { num_output: 8 axis: 2 } }",
     NULL, "error: `l` (InnerProduct): only an `axis` of 1"},
    {"caffe-upsample", NULL,
     "layer { name: 'l' type: 'Upsample' bottom: 'x' top: 'y' upsample_param { "
     "scale: 2 } }",
     NULL, "up 2 -> 12x20x8"},
    {"caffe-upsample-unsaid", NULL,
     "layer { name: 'l' type: 'Upsample' bottom: 'x' top: 'y' }", NULL,
     "error: `l` (Upsample): it needs a `scale`, or the mask of a pool"},
    {"caffe-reduction", NULL,
     "layer { name: 'l' type: 'Reduction' bottom: 'x' top: 'y' reduction_param "
     "{ operation: MEAN axis: 2 coeff: 3 } }",
     NULL,
     "mean axis=0 axis=1 -> 8\n"
     "mul 3\n"},
    {"caffe-reduction-squares", NULL,
     "layer { name: 'l' type: 'Reduction' bottom: 'x' top: 'y' reduction_param "
     "{ operation: SUMSQ axis: 1 } }",
     NULL,
     "pow 2\n"
     "sum axis=0 axis=1 axis=c -> 1\n"},
    {"caffe-reduction-last", NULL,
     "layer { name: 'l' type: 'Reduction' bottom: 'x' top: 'y' reduction_param "
     "{ operation: ASUM axis: -1 } }",
     NULL,
     "abs\n"
     "sum axis=1 -> 6x8\n"},
    {"caffe-reduction-batch", NULL,
     "layer { name: 'l' type: 'Reduction' bottom: 'x' top: 'y' }", NULL,
     "error: `l` (Reduction): samples of a batch cannot be summed"},
    {"caffe-embed", NULL,
     "input: 'i' input_shape { dim: 1 dim: 12 }\n"
     "layer { name: 's' type: 'Silence' bottom: 'x' }\n"
     "layer { name: 'l' type: 'Embed' bottom: 'i' top: 'y' embed_param { "
     "input_dim: 100 num_output: 6 } }",
     NULL,
     "input at_i 12 : i32\n"
     "embed 100 6 -> 12x6\n"
     "add {} { weight 6 }\n"},
    {"caffe-roi-pooling", NULL,
     "input: 'rois' input_shape { dim: 1 dim: 5 }\n"
     "layer { name: 'l' type: 'ROIPooling' bottom: 'x' bottom: 'rois' top: 'y' "
     "roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.0625 } }\n"
     "layer { name: 'f' type: 'InnerProduct' bottom: 'y' top: 'z' "
     "inner_product_param { num_output: 7 } }",
     NULL,
     "input rois 1x4\n"
     "from x_\n"
     "roipool 2x3 scale=0.0625 boxes=rois -> 1x2x3x8\n"
     "reshape 2x3x8                       -> 2x3x8\n"
     "fc 7                                -> 7\n"},
    {"caffe-python-dropout", NULL,
     "layer { name: 'l' type: 'Python' bottom: 'x' top: 'y' python_param { "
     "module: 'a' layer: 'SpatialDropoutLayer' } }\n"
     "layer { name: 'r' type: 'ReLU' bottom: 'y' top: 'z' }\n"
     "layer { name: 'd' type: 'YoloDetectionOutput' bottom: 'z' top: 'b' }\n"
     "layer { name: 'e' type: 'Yolov3DetectionOutput' bottom: 'z' top: 'c' }",
     NULL,
     "# `l` (Python) is left out: a prediction is without dropout.\n"
     "# YoloDetectionOutput is left out: it makes boxes and has no weights.\n"
     "# Yolov3DetectionOutput is left out: it makes boxes and has no weights.\n"
     "net a\n"
     "input 6x10x8\n"
     "relu\n"},
    {"caffe-python", NULL,
     "layer { name: 'l' type: 'Python' bottom: 'x' top: 'y' python_param { "
     "layer: 'ProposalLayer' } }",
     NULL, "error: `l`: netc has no equivalent of the type Python"},
    {"caffe-window", NULL,
     "layer { name: 'l' type: 'Pooling' bottom: 'x' top: 'y' pooling_param { "
     "kernel_size: 9 } }",
     NULL,
     "error: `l` (Pooling): its window is larger than the padded input\n"
     "   = help: the input is 6x10x8; `--input 224x224x8` gives it a size "
     "that is enough"},
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
    {"keras-PReLU-shared", "PReLU", "'shared_axes': [1, 2, 3]", NULL,
     "prelu shared"},
    {"keras-PReLU-2", "PReLU", "'shared_axes': null", NULL,
     "add { relu } { min 0; mul {} { weight 6x10x8 } }"},
    {"keras-Softmax", "Softmax", "'axis': 1", NULL,
     "error: `y` (Softmax): only a norm of channels is supported"},
    {"keras-Softmax-2", "Softmax", "'axis': -1", NULL, "softmax"},
    {"keras-BatchNormalization", "BatchNormalization", "'axis': 1", NULL,
     "error: `y` (BatchNormalization): only a norm of channels is supported"},
    {"keras-BatchNormalization-2", "BatchNormalization",
     "'axis': -1, 'center': false, 'scale': true", NULL, "bn eps=0.001 nobias"},
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
    {"keras-Rescaling-of-channels", "Rescaling", "'scale': [1, 2]", NULL,
     "error: `y` (Rescaling): `scale` has 2 numbers for 8 channels"},
    {"keras-Resizing-cropped", "Resizing",
     "'height': 12, 'width': 12, 'crop_to_aspect_ratio': true", NULL,
     "error: `y` (Resizing): netc has no equivalent of `crop_to_aspect_ratio`"},
    {"keras-Conv2D-without-kernel", "Conv2D", "'filters': 4", NULL,
     "error: `y` (Conv2D): `kernel_size` is missing"},
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
     "error: `y` (Lambda): what it computes is Python, which the file "
     "has only compiled"},
    {"keras-MultiHeadAttention", "MultiHeadAttention*2",
     "'num_heads': 2, 'key_dim': 4", "10, 8",
     "input 10x8\n"
     "attention 2\n"
     ""},
    {"keras-MultiHeadAttention-2", "MultiHeadAttention*2",
     "'num_heads': 2, 'key_dim': 3, 'use_bias': false, 'dropout': 0.1, "
     "'output_shape': [6]",
     "10, 8",
     "input 10x8\n"
     "attention 2 dim=3 dropout=0.1 nobias out=6\n"
     ""},
    {"keras-MultiHeadAttention-3", "MultiHeadAttention*3",
     "'num_heads': 2, 'key_dim': 4, 'value_dim': 5", "10, 8",
     "error: `y` (MultiHeadAttention): netc has no equivalent of values of "
     "another size than keys"},
    {"keras-MultiHeadAttention-4", "MultiHeadAttention*3",
     "'num_heads': 2, 'key_dim': 4", "10, 8",
     "input 10x8\n"
     "attention 2\n"
     ""},
    {"keras-MultiHeadAttention-5", "MultiHeadAttention*4",
     "'num_heads': 2, 'key_dim': 4", "10, 8",
     "error: `y` (MultiHeadAttention): keys apart from the values, and masks, "
     "are not supported"},
    {"keras-MultiHeadAttention-6", "MultiHeadAttention",
     "'num_heads': 2, 'key_dim': 4", "10, 8",
     "error: `y` (MultiHeadAttention): it needs two sequences, queries and "
     "values"},
    {"keras-MultiHeadAttention-7", "MultiHeadAttention*2", "'key_dim': 4",
     "10, 8", "error: `y` (MultiHeadAttention): its heads are not given"},
    {"keras-MultiHeadAttention-8", "MultiHeadAttention*2",
     "'num_heads': 2, 'key_dim': 4, 'attention_axes': [1, 2]", "10, 8",
     "error: `y` (MultiHeadAttention): netc has no equivalent of attention "
     "over several axes"},
    {"keras-GroupedQueryAttention", "GroupedQueryAttention*2",
     "'num_query_heads': 4, 'head_dim': 2, 'num_key_value_heads': 2", "10, 8",
     "input 10x8\n"
     "attention 4 kv=2\n"
     ""},
    {"keras-Attention", "Attention*2", "", "10, 8",
     "input 10x8\n"
     "matmul { matmul transpose {} {} softmax } {}\n"
     ""},
    {"keras-Attention-2", "Attention*3", "", "10, 8",
     "input 10x8\n"
     "matmul { matmul transpose {} {} softmax } {}\n"
     ""},
    {"keras-Attention-3", "Attention", "", "10, 8",
     "error: `y` (Attention): it needs two sequences"},
    {"keras-Attention-4", "Attention*2", "'use_scale': true", "10, 8",
     "error: `y` (Attention): only scores that are products are supported"},
    {"keras-Attention-5", "Attention*2", "'score_mode': 'concat'", "10, 8",
     "error: `y` (Attention): only scores that are products are supported"},
    {"keras-Attention-6", "Attention*2", "", NULL,
     "error: `y` (Attention): it needs two sequences"},
    {"keras-LSTM-6", "LSTM*2", "'units': 5", "10, 8",
     "error: `y` (LSTM): netc's recurrent layers begin with a state of zeros, "
     "not with one that is given"},
    {"keras-GRU-3", "GRU",
     "'units': 5, 'recurrent_activation': 'hard_sigmoid', 'return_sequences': "
     "true",
     "10, 8",
     "input 10x8\n"
     "gru 5 bias=one reset=before\n"
     ""},
    {"keras-SimpleRNN-2", "SimpleRNN", "'units': 5, 'activation': 'relu'",
     "10, 8",
     "# `y` has relu for its activation: netc's has tanh and sigmoid, with the "
     "same counts.\n"
     "net a\n"
     "input 10x8\n"
     "rnn 5 last bias=one -> 5\n"
     ""},
    {"keras-CuDNNLSTM", "CuDNNLSTM", "'units': 5", "10, 8",
     "input 10x8\n"
     "lstm 5 last -> 5\n"
     ""},
    {"keras-CuDNNGRU", "CuDNNGRU", "'units': 5, 'return_sequences': true",
     "10, 8",
     "input 10x8\n"
     "gru 5\n"
     ""},
    {"keras-ConvLSTM2D-2", "ConvLSTM2D",
     "'filters': 4, 'kernel_size': [3, 3], 'padding': 'same', 'use_bias': "
     "false",
     "5, 6, 10, 8",
     "input 5x6x10x8\n"
     "convlstm 4 3x3 last nobias -> 6x10x4\n"
     ""},
    {"keras-ConvLSTM2D-3", "ConvLSTM2D", "'filters': 4, 'kernel_size': [3, 3]",
     "5, 6, 10, 8",
     "error: `y` (ConvLSTM2D): netc's convlstm keeps the size of its maps: "
     "padding=\"same\", an odd kernel, no strides and no dilation"},
    {"keras-ConvLSTM2D-4", "ConvLSTM2D",
     "'filters': 4, 'kernel_size': [3, 3], 'padding': 'same', 'go_backwards': "
     "true",
     "5, 6, 10, 8",
     "error: `y` (ConvLSTM2D): netc's convlstm begins with zeros, runs "
     "forwards and gives no state"},
    {"keras-ConvLSTM2D-5", "ConvLSTM2D",
     "'filters': 4, 'kernel_size': [3, 3], 'padding': 'same', 'strides': [1, "
     "2]",
     "5, 6, 10, 8",
     "error: `y` (ConvLSTM2D): netc's convlstm keeps the size of its maps: "
     "padding=\"same\", an odd kernel, no strides and no dilation"},
    {"keras-ConvLSTM2D-6", "ConvLSTM2D",
     "'filters': 4, 'kernel_size': [2, 3], 'padding': 'same'", "5, 6, 10, 8",
     "error: `y` (ConvLSTM2D): netc's convlstm keeps the size of its maps: "
     "padding=\"same\", an odd kernel, no strides and no dilation"},
    {"keras-ConvLSTM2D-7", "ConvLSTM2D",
     "'filters': 4, 'kernel_size': [3, 3], 'padding': 'same', 'dilation_rate': "
     "2",
     "5, 6, 10, 8",
     "error: `y` (ConvLSTM2D): netc's convlstm keeps the size of its maps: "
     "padding=\"same\", an odd kernel, no strides and no dilation"},
    {"keras-ConvLSTM2D-8", "ConvLSTM2D", "'filters': 4, 'kernel_size': [3, 3]",
     NULL,
     "error: `y` (ConvLSTM2D): its input must be a clip with channels last, "
     "and `filters` be given"},
    {"keras-ConvLSTM2D-9", "ConvLSTM2D", "'filters': 4", "5, 6, 10, 8",
     "error: `y` (ConvLSTM2D): netc's convlstm keeps the size of its maps: "
     "padding=\"same\", an odd kernel, no strides and no dilation"},
    {"keras-Bidirectional-3", "Bidirectional",
     "'merge_mode': 'mul', 'layer': {'class_name': 'GRU', 'config': {'units': "
     "5}}",
     "10, 8",
     "input 10x8\n"
     "gru 5 bidir last bias=one reset=before -> 10\n"
     "mul { slice c 0:5 } { slice c 5:_ }\n"
     ""},
    {"keras-Bidirectional-4", "Bidirectional",
     "'merge_mode': 'ave', 'layer': {'class_name': 'GRU', 'config': {'units': "
     "5}}",
     "10, 8",
     "input 10x8\n"
     "gru 5 bidir last bias=one reset=before -> 10\n"
     "add { slice c 0:5 } { slice c 5:_ }\n"
     "mul 0.5\n"
     ""},
    {"keras-Bidirectional-5", "Bidirectional",
     "'merge_mode': 'concat', 'layer': {'class_name': 'GRU', 'config': "
     "{'units': 5}}",
     "10, 8",
     "input 10x8\n"
     "gru 5 bidir last bias=one reset=before -> 10\n"
     ""},
    {"keras-Bidirectional-6", "Bidirectional",
     "'merge_mode': 'warp', 'layer': {'class_name': 'GRU', 'config': {'units': "
     "5}}",
     "10, 8",
     "error: `y` (Bidirectional): netc has no equivalent of the merge_mode "
     "`warp`"},
    {"keras-Bidirectional-7", "Bidirectional",
     "'merge_mode': null, 'layer': {'class_name': 'GRU', 'config': {'units': "
     "5}}",
     "10, 8",
     "error: `y` (Bidirectional): outputs that are not merged are not "
     "supported"},
    {"keras-Bidirectional-8", "Bidirectional", "'merge_mode': 'sum'", "10, 8",
     "error: `y` (Bidirectional): only LSTM, GRU and SimpleRNN run both ways"},
    {"keras-Bidirectional-9", "Bidirectional",
     "'merge_mode': 'concat', 'layer': {'class_name': 'GRU', 'config': {}}",
     "10, 8", "error: `y` (GRU): `units` is missing"},
    {"keras-TimeDistributed-3", "TimeDistributed",
     "'layer': {'class_name': 'LSTM', 'config': {'units': 5}}", "10, 8",
     "error: `y` (TimeDistributed): netc has no equivalent of a sequence of "
     "sequences"},
    {"keras-TimeDistributed-4", "TimeDistributed",
     "'layer': {'class_name': 'Dense', 'config': {'units': 5}}", "8",
     "error: `y` (TimeDistributed): its input has no steps, or channels first"},
    {"keras-TimeDistributed-5", "TimeDistributed", "", "10, 8",
     "error: `y` (TimeDistributed): it has no `layer` inside"},
    {"keras-TimeDistributed-6", "TimeDistributed",
     "'layer': {'class_name': 'TimeDistributed', 'config': {'layer': "
     "{'class_name': 'Dense', 'config': {'units': 5}}}}",
     "10, 8",
     "error: `y` (TimeDistributed): one TimeDistributed inside another is not "
     "supported"},
    {"keras-TimeDistributed-7", "TimeDistributed",
     "'layer': {'class_name': 'Flatten', 'config': {}}", "5, 6, 8",
     "input 5x6x8\n"
     "reshape 5x48 -> 5x48\n"
     ""},
    {"keras-TimeDistributed-8", "TimeDistributed",
     "'layer': {'class_name': 'MaxPooling2D', 'config': {'pool_size': [2, 2]}}",
     "5, 6, 10, 8",
     "input 5x6x10x8\n"
     "pool 1x2x2 -> 5x3x5x8\n"
     ""},
    {"keras-TimeDistributed-9", "TimeDistributed",
     "'layer': {'class_name': 'GlobalAveragePooling2D', 'config': {}}",
     "5, 6, 10, 8",
     "input 5x6x10x8\n"
     "mean axis=1 axis=2 -> 5x8\n"
     ""},
    {"keras-Embedding-3", "Embedding", "'input_dim': 100, 'output_dim': 8",
     "2, 2, 2, 2, 2, 2, 2",
     "error: `y` (Embedding): its input has too many axes"},
    {"keras-Add", "Add*2", "", NULL,
     "input 6x10x8\n"
     "add {} {}\n"
     ""},
    {"keras-Subtract", "Subtract*2", "", NULL,
     "input 6x10x8\n"
     "sub {} {}\n"
     ""},
    {"keras-Multiply", "Multiply*2", "", NULL,
     "input 6x10x8\n"
     "mul {} {}\n"
     ""},
    {"keras-Average", "Average*2", "", NULL,
     "input 6x10x8\n"
     "add {} {}\n"
     "div 2\n"
     ""},
    {"keras-Maximum", "Maximum*2", "", NULL,
     "input 6x10x8\n"
     "max {} {}\n"
     ""},
    {"keras-Minimum", "Minimum*2", "", NULL,
     "input 6x10x8\n"
     "min {} {}\n"
     ""},
    {"keras-Concatenate", "Concatenate*2", "", NULL,
     "input 6x10x8\n"
     "concat {} {}\n"
     ""},
    {"keras-Add-2", "Add", "", NULL,
     "net a\n"
     "input 6x10x8\n"
     ""},
    {"keras-Subtract-2", "Subtract*3", "", NULL,
     "error: `y` (Subtract): it needs two inputs"},
    {"keras-Average-2", "Average*3", "", NULL,
     "input 6x10x8\n"
     "add {} {} {}\n"
     "div 3\n"
     ""},
    {"keras-Concatenate-2", "Concatenate", "", NULL,
     "net a\n"
     "input 6x10x8\n"
     ""},
    {"keras-Concatenate-3", "Concatenate*2", "'axis': 1", NULL,
     "input 6x10x8\n"
     "concat axis=0 {} {} -> 12x10x8\n"
     ""},
    {"keras-Concatenate-4", "Concatenate*2", "'axis': 0", NULL,
     "error: `y` (Concatenate): its axis is the batch"},
    {"keras-Concatenate-5", "Concatenate*2", "'axis': 9", NULL,
     "error: `y` (Concatenate): `axis` is 9, not from -8 to 8"},
    {"keras-Dot", "Dot*2", "'axes': 1", "8",
     "input 8\n"
     "mul {} {}\n"
     "sum c keep\n"
     ""},
    {"keras-Dot-2", "Dot*2", "'axes': 1, 'normalize': true", "8",
     "input 8\n"
     "mul { l2norm } { l2norm }\n"
     "sum c keep\n"
     ""},
    {"keras-Dot-3", "Dot*2", "'axes': [2, 2]", "10, 8",
     "input 10x8\n"
     "matmul transpose {} {}\n"
     ""},
    {"keras-Dot-4", "Dot*2", "'axes': [2, 1]", "10, 8",
     "error: `y` (Dot): only products along the last axis of vectors and "
     "sequences are supported"},
    {"keras-Dot-5", "Dot*2", "'axes': [2, 1]", "8, 8",
     "input 8x8\n"
     "matmul {} {}\n"
     ""},
    {"keras-Dot-6", "Dot*2", "'axes': [2, 1], 'normalize': true", "8, 8",
     "error: `y` (Dot): only last axes can be normalised"},
    {"keras-Dot-7", "Dot*2", "'axes': 1", NULL,
     "error: `y` (Dot): only products along the last axis of vectors and "
     "sequences are supported"},
    {"keras-Dot-8", "Dot", "'axes': 1", "8",
     "error: `y` (Dot): it needs 2 inputs"},
    {"keras-Dot-9", "Dot*2", "'axes': 5", "8",
     "error: `y` (Dot): its input has no such axis"},
    {"keras-Activation-3", "Activation", "'activation': 'softsign'", NULL,
     "input 6x10x8\n"
     "softsign\n"
     ""},
    {"keras-Activation-4", "Activation", "'activation': 'leaky_relu'", NULL,
     "input 6x10x8\n"
     "leaky 0.2\n"
     ""},
    {"keras-Activation-5", "Activation", "'activation': 'linear'", NULL,
     "net a\n"
     "input 6x10x8\n"
     ""},
    {"keras-Activation-6", "Activation", "'activation': 'relu6'", NULL,
     "input 6x10x8\n"
     "relu6\n"
     ""},
    {"keras-Activation-7", "Activation", "'activation': 'swish'", NULL,
     "input 6x10x8\n"
     "silu\n"
     ""},
    {"keras-Activation-8", "Activation", "'activation': 'exponential'", NULL,
     "input 6x10x8\n"
     "exp\n"
     ""},
    {"keras-Activation-9", "Activation", "'activation': 'log_softmax'", NULL,
     "input 6x10x8\n"
     "logsoftmax\n"
     ""},
    {"keras-Activation-10", "Activation",
     "'activation': {'class_name': 'ReLU', 'config': 'relu'}", NULL,
     "input 6x10x8\n"
     "relu\n"
     ""},
    {"keras-Activation-11", "Activation",
     "'activation': {'class_name': 'tanh'}", NULL,
     "input 6x10x8\n"
     "tanh\n"
     ""},
    {"keras-Activation-12", "Activation", "'activation': 3", NULL,
     "error: `y` (Activation): netc has no equivalent of the activation `?`"},
    {"keras-Reshape-3", "Reshape", "'target_shape': 3", NULL,
     "error: `y` (Reshape): `target_shape` is not a list of sizes"},
    {"keras-Reshape-4", "Reshape", "'target_shape': []", NULL,
     "error: `y` (Reshape): `target_shape` is not a list of sizes"},
    {"keras-Reshape-5", "Reshape", "'target_shape': [480]", NULL,
     "input 6x10x8\n"
     "flatten -> 480\n"
     ""},
    {"keras-Reshape-6", "Reshape", "'target_shape': [900, -1]", NULL,
     "error: `y` (Reshape): `target_shape` has more values than its input"},
    {"keras-Reshape-7", "Reshape", "'target_shape': ['a', 2]", NULL,
     "error: `y` (Reshape): `target_shape` is not an integer"},
    {"keras-Reshape-8", "Reshape", "'target_shape': [null, 7]", NULL,
     "error: `y` (Reshape): its input has 480 values, which are not those of "
     "`target_shape`"},
    {"keras-Reshape-9", "Reshape", "'target_shape': [10, 48]", NULL,
     "input 6x10x8\n"
     "reshape 10x48 -> 10x48\n"
     ""},
    {"keras-Permute-3", "Permute", "'dims': [1, 2]", NULL,
     "error: `y` (Permute): its order must be one of the input's axes, "
     "channels last"},
    {"keras-Permute-4", "Permute", "'dims': [1, 2, 9]", NULL,
     "error: `y` (Permute): `dims` is 9, not from 1 to 3"},
    {"keras-Permute-5", "Permute", "'dims': 3", NULL,
     "error: `y` (Permute): its order must be one of the input's axes, "
     "channels last"},
    {"keras-ReLU-4", "ReLU", "", NULL,
     "input 6x10x8\n"
     "relu\n"
     ""},
    {"keras-ReLU-5", "ReLU", "'max_value': 4", NULL,
     "input 6x10x8\n"
     "relu\n"
     "min 4\n"
     ""},
    {"keras-ReLU-6", "ReLU", "'max_value': 6, 'negative_slope': 0.1", NULL,
     "error: `y` (ReLU): netc has no equivalent of a slope with a largest "
     "value"},
    {"keras-PReLU-3", "PReLU", "'shared_axes': [1]", NULL,
     "input 6x10x8\n"
     "add { relu } { min 0; mul {} { weight 1x10x8 } }\n"
     ""},
    {"keras-LeakyReLU-2", "LeakyReLU", "'negative_slope': 0.01", NULL,
     "input 6x10x8\n"
     "leaky\n"
     ""},
    {"keras-ThresholdedReLU", "ThresholdedReLU", "'theta': 1.0", NULL,
     "error: `y` (ThresholdedReLU): netc has no equivalent of this class"},
    {"keras-BatchNormalization-3", "BatchNormalization",
     "'axis': [3], 'epsilon': 1e-05", NULL,
     "input 6x10x8\n"
     "bn\n"
     ""},
    {"keras-BatchNormalization-4", "BatchNormalization",
     "'axis': -1, 'renorm': true", NULL,
     "error: `y` (BatchNormalization): netc has no equivalent of `renorm`"},
    {"keras-BatchNormalization-5", "BatchNormalization",
     "'axis': -1, 'scale': false", NULL,
     "input 6x10x8\n"
     "bn eps=0.001 noaffine\n"
     "add {} { weight 8 }\n"
     ""},
    {"keras-BatchNormalization-6", "BatchNormalization",
     "'axis': -1, 'scale': false, 'center': false", NULL,
     "input 6x10x8\n"
     "bn eps=0.001 noaffine\n"
     ""},
    {"keras-BatchNormalization-7", "BatchNormalization", "'axis': 'a'", NULL,
     "error: `y` (BatchNormalization): `axis` is not an integer"},
    {"keras-LayerNormalization-4", "LayerNormalization",
     "'axis': -1, 'rms_scaling': true", NULL,
     "error: `y` (LayerNormalization): netc has no equivalent of "
     "`rms_scaling`"},
    {"keras-LayerNormalization-5", "LayerNormalization", "'axis': 9", NULL,
     "error: `y` (LayerNormalization): `axis` is 9, not from -8 to 8"},
    {"keras-GroupNormalization-3", "GroupNormalization",
     "'groups': 3, 'axis': -1", NULL,
     "error: `y` (GroupNormalization): `groups` does not divide the channels"},
    {"keras-GroupNormalization-4", "GroupNormalization",
     "'groups': 0, 'axis': -1", NULL,
     "error: `y` (GroupNormalization): `groups` does not divide the channels"},
    {"keras-GroupNormalization-5", "GroupNormalization",
     "'groups': 4, 'axis': 1", NULL,
     "error: `y` (GroupNormalization): only a norm of channels is supported"},
    {"keras-GroupNormalization-6", "GroupNormalization",
     "'groups': 8, 'axis': -1, 'center': false", NULL,
     "input 6x10x8\n"
     "instnorm eps=0.001 nobias\n"
     ""},
    {"keras-RMSNormalization-2", "RMSNormalization", "'axis': 1", NULL,
     "error: `y` (RMSNormalization): only a norm of channels is supported"},
    {"keras-UnitNormalization-2", "UnitNormalization", "'axis': 1", NULL,
     "error: `y` (UnitNormalization): only a norm of channels is supported"},
    {"keras-Dropout", "Dropout", "'rate': 0", NULL,
     "net a\n"
     "input 6x10x8\n"
     ""},
    {"keras-Dropout-2", "Dropout", "'rate': 0.5", NULL,
     "input 6x10x8\n"
     "dropout\n"
     ""},
    {"keras-Dropout-3", "Dropout", "'rate': 1.5", NULL,
     "error: `y` (Dropout): `rate` must be at least 0 and less than 1"},
    {"keras-GaussianNoise", "GaussianNoise", "'stddev': 0.1", NULL,
     "# GaussianNoise changes nothing when the net predicts: it is left out.\n"
     "net a\n"
     "input 6x10x8\n"
     ""},
    {"keras-GaussianDropout", "GaussianDropout", "'rate': 0.1", NULL,
     "input 6x10x8\n"
     "dropout 0.1\n"
     ""},
    {"keras-AlphaDropout", "AlphaDropout", "'rate': 0.1", NULL,
     "input 6x10x8\n"
     "dropout 0.1\n"
     ""},
    {"keras-ActivityRegularization", "ActivityRegularization", "'l1': 0.1",
     NULL,
     "# ActivityRegularization changes nothing when the net predicts: it is "
     "left out.\n"
     "net a\n"
     "input 6x10x8\n"
     ""},
    {"keras-Rescaling-2", "Rescaling", "'scale': 1.0, 'offset': 0.0", NULL,
     "net a\n"
     "input 6x10x8\n"
     ""},
    {"keras-Rescaling-3", "Rescaling", "'scale': 2", NULL,
     "input 6x10x8\n"
     "mul 2\n"
     ""},
    {"keras-Resizing-3", "Resizing", "'height': 12", NULL,
     "error: `y` (Resizing): it needs a map, `height` and `width`"},
    {"keras-Resizing-4", "Resizing",
     "'height': 12, 'width': 20, 'interpolation': 'nearest'", NULL,
     "input 6x10x8\n"
     "up size=12x20 -> 12x20x8\n"
     ""},
    {"keras-Resizing-5", "Resizing",
     "'height': 12, 'width': 20, 'interpolation': 'lanczos3'", NULL,
     "error: `y` (Resizing): netc has no equivalent of the interpolation "
     "`lanczos3`"},
    {"keras-Resizing-6", "Resizing", "'height': 12, 'width': 20", "8",
     "error: `y` (Resizing): it needs a map, `height` and `width`"},
    {"keras-CenterCrop-3", "CenterCrop", "'height': 4, 'width': 4", "8",
     "error: `y` (CenterCrop): it needs a map of at least its size"},
    {"keras-CenterCrop-4", "CenterCrop", "", NULL,
     "error: `y` (CenterCrop): it needs a map of at least its size"},
    {"keras-Normalization-2", "Normalization", "'axis': 1", NULL,
     "error: `y` (Normalization): only a norm of channels is supported"},
    {"keras-Normalization-3", "Normalization",
     "'axis': -1, 'mean': 1.0, 'variance': 4.0", NULL,
     "input 6x10x8\n"
     "sub {} { weight 8 fixed }\n"
     "div {} { weight 8 fixed }\n"
     ""},
    {"keras-Normalization-4", "Normalization", "'axis': null", NULL,
     "error: `y` (Normalization): only a norm by channel is supported"},
    {"keras-Normalization-5", "Normalization", "'axis': -1, 'invert': true",
     NULL, "error: `y` (Normalization): netc has no equivalent of `invert`"},
    {"keras-Normalization-6", "Normalization",
     "'axis': -1, 'mean': [1, 2, 3, 4, 5, 6, 7, 8], 'variance': [1, 1, 1, 1, "
     "1, 1, 1, 1]",
     NULL,
     "input 6x10x8\n"
     "sub {} { weight 8 fixed }\n"
     "div {} { weight 8 fixed }\n"
     ""},
    {"keras-Dense-3", "Dense", "'units': 5", "8",
     "input 8\n"
     "fc 5\n"
     ""},
    {"keras-Dense-4", "Dense", "'units': 5, 'use_bias': false", "10, 8",
     "input 10x8\n"
     "linear 5 nobias\n"
     ""},
    {"keras-Dense-5", "Dense", "'units': 0", NULL,
     "error: `y` (Dense): `units` is 0, not from 1 to 1073741824"},
    {"keras-Dense-6", "Dense", "'units': 'a'", NULL,
     "error: `y` (Dense): `units` is not an integer"},
    {"keras-Dense-7", "Dense", "'units': 5, 'activation': 'warp'", NULL,
     "error: `y` (Dense): netc has no equivalent of the activation `warp`"},
    {"keras-EinsumDense", "EinsumDense",
     "'equation': 'abc,cd->abd', 'output_shape': [null, 5]", "10, 8",
     "error: `y` (EinsumDense): netc has no equivalent of this class"},
    {"keras-Identity", "Identity", "", NULL,
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"keras-Warp", "Warp", "", NULL,
     "error: `y` (Warp): netc has no equivalent of this class"},
    {"keras-Flatten-2", "Flatten", "", "8",
     "net a\n"
     "input 8\n"
     ""},
    {"keras-GlobalAveragePooling2D", "GlobalAveragePooling2D", "", NULL,
     "input 6x10x8\n"
     "gap -> 1x1x8\n"
     ""},
    {"keras-GlobalAveragePooling2D-2", "GlobalAveragePooling2D", "", "8",
     "error: `y` (GlobalAveragePooling2D): its input has no positions"},
    {"keras-GlobalMaxPooling1D", "GlobalMaxPooling1D", "'keepdims': true",
     "10, 8",
     "input 10x8\n"
     "gmp -> 1x8\n"
     ""},
    {"keras-GlobalAveragePooling3D", "GlobalAveragePooling3D", "",
     "4, 6, 10, 8",
     "input 4x6x10x8\n"
     "gap -> 1x1x1x8\n"
     ""},
    {"keras-GlobalAveragePooling2D-3", "GlobalAveragePooling2D",
     "'data_format': 'channels_first'", NULL,
     "input 10x8x6\n"
     "gap -> 1x1x6\n"
     ""},
    {"keras-MaxPooling3D", "MaxPooling3D", "'pool_size': [2, 2, 2]",
     "4, 6, 10, 8",
     "input 4x6x10x8\n"
     "pool 2x2x2 -> 2x3x5x8\n"
     ""},
    {"keras-MaxPooling2D-2", "MaxPooling2D", "'pool_size': [9, 9]", NULL,
     "error: `y` (MaxPooling2D): its window is larger than the padded input"},
    {"keras-MaxPooling2D-3", "MaxPooling2D",
     "'pool_size': [2, 2], 'padding': 'warp'", NULL,
     "error: `y` (MaxPooling2D): netc has no equivalent of the padding `warp`"},
    {"keras-MaxPooling2D-4", "MaxPooling2D", "", "8",
     "error: `y` (MaxPooling2D): its input has 0 axes of positions"},
    {"keras-MaxPooling2D-5", "MaxPooling2D", "'pool_size': 'a'", NULL,
     "error: `y` (MaxPooling2D): `pool_size` is not an integer"},
    {"keras-AdaptiveMaxPooling2D", "AdaptiveMaxPooling2D", "'output_size': 3",
     NULL,
     "input 6x10x8\n"
     "adaptmaxpool 3x3 -> 3x3x8\n"
     ""},
    {"keras-AdaptiveAveragePooling1D", "AdaptiveAveragePooling1D",
     "'output_size': 5", "10, 8",
     "input 10x8\n"
     "adaptpool 5 -> 5x8\n"
     ""},
    {"keras-AdaptiveAveragePooling2D-2", "AdaptiveAveragePooling2D",
     "'output_size': 3", "8",
     "error: `y` (AdaptiveAveragePooling2D): its input has 0 axes of "
     "positions"},
    {"keras-UpSampling2D-3", "UpSampling2D", "'size': 2", NULL,
     "input 6x10x8\n"
     "up 2 -> 12x20x8\n"
     ""},
    {"keras-UpSampling2D-4", "UpSampling2D", "'size': [2, 2]", "8",
     "error: `y` (UpSampling2D): its input has 0 axes of positions"},
    {"keras-UpSampling2D-5", "UpSampling2D", "'size': [0, 2]", NULL,
     "error: `y` (UpSampling2D): `size` is 0, not from 1 to 1073741824"},
    {"keras-UpSampling2D-6", "UpSampling2D",
     "'size': 2, 'interpolation': 'bicubic'", NULL,
     "error: `y` (UpSampling2D): netc has no equivalent of the interpolation "
     "`bicubic`"},
    {"keras-UpSampling2D-7", "UpSampling2D",
     "'size': 2, 'data_format': 'channels_first'", NULL,
     "input 10x8x6\n"
     "up 2 -> 20x16x6\n"
     ""},
    {"keras-ZeroPadding2D-2", "ZeroPadding2D", "'padding': 1", NULL,
     "input 6x10x8\n"
     "pad 1 -> 8x12x8\n"
     ""},
    {"keras-ZeroPadding2D-3", "ZeroPadding2D", "'padding': [1, 2]", NULL,
     "input 6x10x8\n"
     "pad 1:1x2:2 -> 8x14x8\n"
     ""},
    {"keras-ZeroPadding2D-4", "ZeroPadding2D", "'padding': [1]", NULL,
     "error: `y` (ZeroPadding2D): `padding` needs a number for each side"},
    {"keras-ZeroPadding2D-5", "ZeroPadding2D", "'padding': [[1, -1], [0, 0]]",
     NULL,
     "error: `y` (ZeroPadding2D): `padding` is -1, not from 0 to 1073741824"},
    {"keras-ZeroPadding2D-6", "ZeroPadding2D", "'padding': 1", "8",
     "error: `y` (ZeroPadding2D): its input has 0 axes of positions"},
    {"keras-ZeroPadding3D", "ZeroPadding3D", "'padding': 1", "4, 6, 10, 8",
     "input 4x6x10x8\n"
     "pad 1 -> 6x8x12x8\n"
     ""},
    {"keras-Cropping2D-3", "Cropping2D", "'cropping': 1", NULL,
     "input 6x10x8\n"
     "crop 4x8 -> 4x8x8\n"
     ""},
    {"keras-Cropping2D-4", "Cropping2D", "'cropping': 1", "8",
     "error: `y` (Cropping2D): its input has 0 axes of positions"},
    {"keras-Cropping2D-5", "Cropping2D", "'cropping': 'a'", NULL,
     "error: `y` (Cropping2D): `cropping` is not an integer"},
    {"keras-Conv1D-2", "Conv1D",
     "'filters': 4, 'kernel_size': 3, 'padding': 'causal'", NULL,
     "error: `y` (Conv1D): its input has 2 axes of positions"},
    {"keras-Conv2D-9", "Conv2D",
     "'filters': 4, 'kernel_size': 3, 'padding': 'causal'", NULL,
     "error: `y` (Conv2D): netc has no equivalent of the padding `causal`"},
    {"keras-Conv2D-10", "Conv2D",
     "'filters': 4, 'kernel_size': 3, 'use_bias': false, 'dilation_rate': [1, "
     "2]",
     NULL,
     "input 6x10x8\n"
     "conv 4 3x3 dilate=1x2 nobias -> 4x6x4\n"
     ""},
    {"keras-Conv2D-11", "Conv2D", "'filters': 8, 'kernel_size': 3, 'groups': 8",
     NULL,
     "input 6x10x8\n"
     "dwconv 3x3 -> 4x8x8\n"
     ""},
    {"keras-Conv2D-12", "Conv2D",
     "'filters': 4, 'kernel_size': 3, 'padding': 'same', 'dilation_rate': 2",
     NULL,
     "input 6x10x8\n"
     "conv 4 3x3 pad dilate=2\n"
     ""},
    {"keras-Conv3D", "Conv3D", "'filters': 4, 'kernel_size': 3", "4, 6, 10, 8",
     "input 4x6x10x8\n"
     "conv 4 3x3x3 -> 2x4x8x4\n"
     ""},
    {"keras-Conv2D-13", "Conv2D", "'filters': 4, 'kernel_size': 0", NULL,
     "error: `y` (Conv2D): `kernel_size` is 0, not from 1 to 1073741824"},
    {"keras-Conv2D-14", "Conv2D",
     "'filters': 4, 'kernel_size': 3, 'activation': 'warp'", NULL,
     "error: `y` (Conv2D): netc has no equivalent of the activation `warp`"},
    {"keras-Conv2D-15", "Conv2D", "'filters': 4, 'kernel_size': [1.5, 2]", NULL,
     "error: `y` (Conv2D): `kernel_size` is not an integer"},
    {"keras-Conv2DTranspose-3", "Conv2DTranspose",
     "'filters': 4, 'kernel_size': 3, 'padding': 'warp'", NULL,
     "error: `y` (Conv2DTranspose): netc has no equivalent of the padding "
     "`warp`"},
    {"keras-Conv2DTranspose-4", "Conv2DTranspose",
     "'filters': 4, 'kernel_size': 3, 'strides': 2, 'output_padding': 1, "
     "'padding': 'same', 'use_bias': false",
     NULL,
     "input 6x10x8\n"
     "deconv 4 3x3 /2 pad=1 outpad=1x1 nobias -> 12x20x4\n"
     ""},
    {"keras-Conv2DTranspose-5", "Conv2DTranspose",
     "'filters': 4, 'kernel_size': 3, 'dilation_rate': 2", NULL,
     "input 6x10x8\n"
     "deconv 4 3x3 dilate=2x2 -> 10x14x4\n"
     ""},
    {"keras-Conv3DTranspose", "Conv3DTranspose",
     "'filters': 4, 'kernel_size': 3", "4, 6, 10, 8",
     "input 4x6x10x8\n"
     "deconv 4 3x3x3 -> 6x8x12x4\n"
     ""},
    {"keras-Conv2DTranspose-6", "Conv2DTranspose",
     "'filters': 4, 'kernel_size': 3", "8",
     "error: `y` (Conv2DTranspose): its input has 0 axes of positions"},
    {"keras-DepthwiseConv2D-2", "DepthwiseConv2D",
     "'kernel_size': 3, 'strides': [2, 2], 'padding': 'same', 'use_bias': "
     "false, 'activation': 'relu6'",
     NULL,
     "input 6x10x8\n"
     "dwconv 3x3 /2 pad=tf nobias relu6 -> 3x5x8\n"
     ""},
    {"keras-DepthwiseConv2D-3", "DepthwiseConv2D", "'kernel_size': 9", NULL,
     "error: `y` (DepthwiseConv2D): its window is larger than the padded "
     "input"},
    {"keras-SeparableConv2D-2", "SeparableConv2D",
     "'filters': 4, 'kernel_size': 3, 'padding': 'same', 'use_bias': false",
     NULL,
     "input 6x10x8\n"
     "dwconv 3x3 pad nobias\n"
     "conv 4 1x1 nobias\n"
     ""},
    {"keras-SeparableConv2D-3", "SeparableConv2D", "'kernel_size': 3", NULL,
     "error: `y` (SeparableConv2D): `filters` is missing"},
    {"keras-SeparableConv2D-4", "SeparableConv2D",
     "'filters': 4, 'kernel_size': 9", NULL,
     "error: `y` (SeparableConv2D): its window is larger than the padded "
     "input"},
    {"keras-LocallyConnected2D-2", "LocallyConnected2D",
     "'filters': 4, 'kernel_size': 3, 'padding': 'same'", NULL,
     "input 6x10x8\n"
     "local 4 3x3 pad\n"
     ""},
    {"keras-LocallyConnected2D-3", "LocallyConnected2D",
     "'filters': 4, 'kernel_size': 9", NULL,
     "error: `y` (LocallyConnected2D): its window is larger than the padded "
     "input"},
    {"keras-LocallyConnected2D-4", "LocallyConnected2D",
     "'filters': 4, 'kernel_size': 2, 'strides': 2, 'use_bias': false", NULL,
     "input 6x10x8\n"
     "local 4 2x2 /2 nobias -> 3x5x4\n"
     ""},
    {"keras-op-add-2", "math.add", "{'y': 'a'}", NULL,
     "error: `y` (TFOpLambda): only constants that are numbers are supported"},
    {"keras-op-subtract", "math.subtract", "{'y': ['x', 0, 0]}", NULL,
     "input 6x10x8\n"
     "sub {} {}\n"
     ""},
    {"keras-op-divide", "math.divide", "{'y': 4}", NULL,
     "input 6x10x8\n"
     "div 4\n"
     ""},
    {"keras-op-maximum", "math.maximum", "{'y': 0}", NULL,
     "input 6x10x8\n"
     "max 0\n"
     ""},
    {"keras-op-minimum", "math.minimum", "{'y': ['x', 0, 0]}", NULL,
     "input 6x10x8\n"
     "min {} {}\n"
     ""},
    {"keras-op-softmax", "nn.softmax", "{'axis': 'a'}", NULL,
     "error: `y` (TFOpLambda): `axis` is not an integer"},
    {"keras-op-softmax-2", "nn.softmax", "{'axis': 9}", NULL,
     "error: `y` (TFOpLambda): `axis` is 9, not from -8 to 8"},
    {"keras-op-reduce_sum", "math.reduce_sum", "{}", NULL,
     "error: `y` (TFOpLambda): netc has no equivalent of one value for all "
     "samples"},
    {"keras-op-reduce_sum-2", "math.reduce_sum", "{'axis': [1, 2, 3]}", NULL,
     "error: `y` (TFOpLambda): netc has no equivalent of a single value; "
     "`keepdims` keeps its axes"},
    {"keras-op-reduce_max", "math.reduce_max",
     "{'axis': [1, 2, 3], 'keepdims': true}", NULL,
     "input 6x10x8\n"
     "max axis=0 axis=1 axis=2 keep -> 1x1x1\n"
     ""},
    {"keras-op-reduce_min", "math.reduce_min", "{'axis': 'a'}", NULL,
     "error: `y` (TFOpLambda): `axis` is not an integer"},
    {"keras-op-reduce_min-2", "math.reduce_min", "{'axis': 9}", NULL,
     "error: `y` (TFOpLambda): `axis` is 9, not from -8 to 8"},
    {"keras-op-reduce_mean", "math.reduce_mean",
     "{'axis': -1, 'keepdims': true}", NULL,
     "input 6x10x8\n"
     "mean axis=2 keep\n"
     ""},
    {"keras-op-reshape-2", "reshape", "{}", NULL,
     "error: `y` (TFOpLambda): `shape` is not a list of sizes"},
    {"keras-op-reshape-3", "reshape", "{'shape': [-1, 480]}", NULL,
     "input 6x10x8\n"
     "flatten -> 480\n"
     ""},
    {"keras-op-transpose-2", "transpose", "{}", NULL,
     "error: `y` (TFOpLambda): its order must be one of the input's axes, "
     "channels last"},
    {"keras-op-transpose-3", "transpose", "{'perm': [0, 1, 2, 9]}", NULL,
     "error: `y` (TFOpLambda): `dims` is 9, not from 1 to 3"},
    {"keras-op-squeeze-2", "squeeze", "{'axis': [1, 2, 3]}", NULL,
     "error: `y` (TFOpLambda): an axis that it removes is not 1"},
    {"keras-op-squeeze-3", "squeeze", "{}", NULL,
     "error: `y` (TFOpLambda): netc has no equivalent of one value for all "
     "samples"},
    {"keras-op-squeeze-4", "squeeze", "{'axis': 0}", NULL,
     "error: `y` (TFOpLambda): its axis is the batch"},
    {"keras-op-expand_dims", "expand_dims", "{'axis': 2}", NULL,
     "input 6x10x8\n"
     "reshape 6x1x10x8 -> 6x1x10x8\n"
     ""},
    {"keras-op-expand_dims-2", "expand_dims", "{'axis': 'a'}", NULL,
     "error: `y` (TFOpLambda): `axis` is not an integer"},
    {"keras-op-concat", "concat", "{'axis': -1}", NULL,
     "net a\n"
     "input 6x10x8\n"
     ""},
    {"keras-op-concat-2", "concat", "{'axis': 'a'}", NULL,
     "error: `y` (TFOpLambda): `axis` is not an integer"},
    {"keras-op-matmul-2", "linalg.matmul",
     "{'b': ['x', 0, 0], 'transpose_a': true}", NULL,
     "error: `y` (TFOpLambda): it needs two tensors of equal rank, the first "
     "not transposed"},
    {"keras-op-matmul-3", "linalg.matmul", "{}", NULL,
     "error: `y` (TFOpLambda): it needs two tensors of equal rank, the first "
     "not transposed"},
    {"keras-op-split-2", "split", "{'num_or_size_splits': [4, 4]}", NULL,
     "error: `y` (TFOpLambda): `sections` is not an integer"},
    {"keras-op-split-3", "split", "{'num_or_size_splits': 2, 'axis': 9}", NULL,
     "error: `y` (TFOpLambda): `axis` is 9, not from -8 to 8"},
    {"keras-op-split-4", "split", "{'num_or_size_splits': 2, 'axis': 0}", NULL,
     "error: `y` (TFOpLambda): its axis is the batch"},
    {"keras-op-split-5", "split", "{'num_or_size_splits': 1, 'axis': 1}", NULL,
     "net a\n"
     "input 6x10x8\n"
     ""},
    {"keras-op-getitem", "__operators__.getitem",
     "{'slice_spec': [{'start': null, 'stop': null, 'step': null}, {'start': "
     "1, 'stop': 4, 'step': null}]}",
     NULL,
     "input 6x10x8\n"
     "slice 0 1:4 -> 3x10x8\n"
     ""},
    {"keras-op-getitem-2", "__operators__.getitem",
     "{'slice_spec': [{'start': null, 'stop': null, 'step': null}, {'start': "
     "-3, 'stop': -1, 'step': 1}]}",
     NULL,
     "input 6x10x8\n"
     "slice 0 3:5 -> 2x10x8\n"
     ""},
    {"keras-op-getitem-3", "__operators__.getitem",
     "{'slice_spec': [{'start': null, 'stop': null, 'step': null}, {'start': "
     "4, 'stop': 2, 'step': 1}]}",
     NULL, "error: `y` (TFOpLambda): the part that it takes is empty"},
    {"keras-op-getitem-4", "__operators__.getitem",
     "{'slice_spec': [{'start': null, 'stop': null, 'step': null}, {'start': "
     "0, 'stop': 4, 'step': 2}]}",
     NULL, "error: `y` (TFOpLambda): only contiguous parts are supported"},
    {"keras-op-getitem-5", "__operators__.getitem",
     "{'slice_spec': [{'start': null, 'stop': null, 'step': null}, 3]}", NULL,
     "error: `y` (TFOpLambda): an index that removes an axis is not supported "
     "here; a slice is"},
    {"keras-op-getitem-6", "__operators__.getitem",
     "{'slice_spec': [{'start': null}, {'start': null}, {'start': 1}, "
     "{'start': 2, 'stop': 99}, {'start': 0}]}",
     NULL, "error: `y` (TFOpLambda): it has more indices than axes"},
    {"keras-op-getitem-7", "__operators__.getitem",
     "{'slice_spec': [{'class_name': '__ellipsis__'}, {'start': 2, 'stop': "
     "6}]}",
     NULL,
     "input 6x10x8\n"
     "slice c 2:6\n"
     ""},
    {"keras-op-getitem-8", "__operators__.getitem",
     "{'slice_spec': [{'start': null}, {'class_name': '__ellipsis__'}, "
     "{'start': 0}, {'start': 0}, {'start': 0}, {'start': 0}]}",
     NULL, "error: `y` (TFOpLambda): it has more indices than axes"},
    {"keras-op-getitem-9", "__operators__.getitem",
     "{'slice_spec': [{'start': null}, {'start': 'a'}]}", NULL,
     "error: `y` (TFOpLambda): `slice` is not an integer"},
    {"keras-op-getitem-10", "__operators__.getitem", "{}", NULL,
     "error: `y` (TFOpLambda): netc has no equivalent of its indices"},
    {"keras-op-clip_by_value", "clip_by_value", "{'clip_value_min': 0}", NULL,
     "error: `y` (TFOpLambda): its bounds are not numbers"},
    {"keras-op-pow", "math.pow", "{'y': 'a'}", NULL,
     "error: `y` (TFOpLambda): only powers that are numbers are supported"},
    {"keras-op-abs", "math.abs", "{}", NULL,
     "input 6x10x8\n"
     "abs\n"
     ""},
    {"keras-op-swish", "nn.swish", "{}", NULL,
     "input 6x10x8\n"
     "silu\n"
     ""},
    {"keras-op-truediv", "math.truediv", "{'y': 8}", NULL,
     "input 6x10x8\n"
     "div 8\n"
     ""},
};

static void write_caffe(FILE *file, const struct row *row) {
  fprintf(file, "input: 'x' input_shape { dim: 1 dim: 8 dim: 6 dim: 10 }\n%s\n",
          row->text);
}

static void write_keras(FILE *file, const struct row *row) {
  bool layer = *row->what >= 'A' && *row->what <= 'Z';
  char text[1024], wires[128] = "['x', 0, 0, {}]";
  const char *many = layer ? strchr(row->what, '*') : NULL;
  for (int i = many ? atoi(many + 1) : 1; i > 1; i--)
    strcat(wires, ", ['x', 0, 0, {}]");
  int length = snprintf(
      text, sizeof text,
      "{'class_name': 'Functional', 'config': {'layers': ["
      "{'class_name': 'InputLayer', 'name': 'x', 'config': "
      "{'batch_input_shape': [null, %s], 'dtype': 'float32'}, "
      "'inbound_nodes': []}, "
      "{'class_name': '%.*s', 'name': 'y', 'config': {%s%s%s}, "
      "'inbound_nodes': [%s%s%s]}], "
      "'input_layers': [['x', 0, 0]], 'output_layers': [['y', 0, 0]]}}\n",
      row->shape ? row->shape : "6, 10, 8",
      layer ? (int)strcspn(row->what, "*") : 10,
      layer ? row->what : "TFOpLambda", layer ? row->text : "'function': '",
      layer ? "" : row->what, layer ? "" : "'", layer ? "[" : "",
      layer ? wires : "['x', 0, 0, ARGUMENTS]", layer ? "]" : "");
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
