/*
 * netc import: operators of ONNX, each in a model of its own or a few of them,
 * which is written here byte by byte: what they become, or why they are
 * refused.
 */
#define _XOPEN_SOURCE 700
#include <ctype.h>

#include "tests/run.h"

/*
 * Inputs: x, of `shape` (1x8x6x10), `w8x4` weights of that shape, all 0, `r8x4`
 * those that count up, `i1,2` integers, `n1,2` of 32 bits, `b1,0` truth values,
 * `f2` a number, `h2` one of 16 bits, `d2` one of 64, `f1,2` several; `-`
 * nothing, `p8x1:m.weight` an input of that shape and name. Attributes:
 * integers, lists with commas, numbers with a point, 'texts', and constants
 * after a #. A row without `op` has several operators as `inputs`, "RESULTS =
 * OPERATOR INPUTS ATTRIBUTES", parted by semicolons; the results of the last
 * are the outputs. "ms." before an operator: ONNX Runtime has it. A shape ends
 * in the opset where it is not 17: 1x8@11.
 */
static struct row {
  char name[48];
  const char *op, *inputs, *attributes, *shape, *says;
} rows[] = {
    {"Abs", "Abs", "x", "", NULL, "abs"},
    {"Add", "Add", "x f2", "", NULL, "add 2"},
    {"Add-2", "Add", "x w8x1x1", "", NULL, "add {} { weight 8 }"},
    {"Add-3", "Add", "x w6x10", "", NULL, "add {} { weight 6x10x1 }"},
    {"Add-4", "Add", "x w7", "", NULL,
     "error: `y` (Add): its sizes do not agree: 1x8x6x10 and 7"},
    {"Sub", "Sub", "x f2", "", NULL, "sub 2"},
    {"Sub-2", "Sub", "f2 x", "", NULL,
     "neg\n"
     "add 2"},
    {"Div", "Div", "x f4", "", NULL, "div 4"},
    {"Div-2", "Div", "f4 x", "", NULL,
     "pow -1\n"
     "mul 4"},
    {"Mul", "Mul", "x w1x8x1x1", "", NULL, "scale"},
    {"Pow", "Pow", "x f2", "", NULL, "pow 2"},
    {"Pow-2", "Pow", "f2 x", "", NULL,
     "error: `y` (Pow): input 0 is a constant, where that is not supported"},
    {"AveragePool", "AveragePool", "x", "kernel_shape=2,2 strides=2,2", NULL,
     "avgpool 2x2 -> 3x5x8"},
    {"AveragePool-2", "AveragePool", "x",
     "kernel_shape=3,3 pads=1,1,1,1 count_include_pad=1", NULL,
     "avgpool 3x3 /1 pad"},
    {"AveragePool-3", "AveragePool", "x",
     "kernel_shape=3,3 auto_pad='SAME_UPPER' strides=2,2", NULL,
     "`y` leaves its padding out of the mean; here it counts as zeros."},
    {"AveragePool-4", "AveragePool", "x", "", NULL,
     "error: `y` (AveragePool): it has no `kernel_shape`"},
    {"MaxPool", "MaxPool", "x", "kernel_shape=3,3 strides=2,2 ceil_mode=1",
     NULL, "pool 3x3 /2 ceil -> 3x5x8"},
    {"MaxPool-2", "MaxPool", "x", "kernel_shape=2,2 dilations=2,2", NULL,
     "pool 2x2 /1 dilate=2 -> 4x8x8"},
    {"MaxPool-3", "MaxPool", "x", "kernel_shape=2", NULL,
     "error: `y` (MaxPool; kernel_shape=2): `kernel_shape` has 0 axes, the map "
     "2"},
    {"MaxPool-4", "MaxPool", "x", "kernel_shape=2,2 pads=3,3,3,3", NULL,
     "error: padding of 3 holds whole windows of 2"},
    {"MaxPool-5", "MaxPool", "x", "kernel_shape=9,9", NULL,
     "error: `y` (MaxPool; kernel_shape=[9,9]): the window is larger than its "
     "padded input"},
    {"MaxPool-6", "MaxPool", "x", "kernel_shape=2,2 storage_order=1", NULL,
     "pool 2x2 /1 -> 5x9x8"},
    {"BatchNormalization", "BatchNormalization", "x w8 w8 w8 w8",
     "epsilon=0.001", NULL, "bn eps=0.001"},
    {"BatchNormalization-2", "BatchNormalization", "x w7 w8 w8 w8", "", NULL,
     "error: `y` (BatchNormalization): its input 1 is not a constant of 8 "
     "channels"},
    {"BatchNormalization-3", "BatchNormalization", "x w8 w8", "", NULL,
     "error: `y` (BatchNormalization): its input 3 is not a constant of 8 "
     "channels"},
    {"BatchNormalization-4", "BatchNormalization", "x w8 w8 w8 w8",
     "training_mode=1", NULL, "bn"},
    {"Cast", "Cast", "x", "to=1", NULL, "identity"},
    {"Cast-2", "Cast", "x", "to=7", NULL,
     "error: `y` (Cast; to=7): netc has no equivalent of a cast to other "
     "numbers"},
    {"Clip", "Clip", "x f0 f6", "", NULL, "relu6"},
    {"Clip-2", "Clip", "x f0", "", NULL, "relu"},
    {"Clip-3", "Clip", "x - f6", "", NULL, "min 6"},
    {"Clip-4", "Clip", "x", "", NULL, "identity"},
    {"Concat", "Concat", "x x", "axis=1", NULL, "concat {} {}"},
    {"Concat-2", "Concat", "x x", "axis=2", NULL,
     "concat axis=h {} {} -> 12x10x8"},
    {"Concat-3", "Concat", "x x", "axis=0", NULL,
     "reshape 1x6x10x8    -> 1x6x10x8\n"
     "concat axis=0 {} {} -> 2x6x10x8\n"
     "permute 0 3 1 2     -> 2x8x6x10"},
    {"Concat-4", "Concat", "x x", "axis=9", NULL,
     "error: `y` (Concat; axis=9): axis 9 of 4 does not exist"},
    {"Concat-5", "Concat", "x", "axis=1", NULL, "identity"},
    {"Concat-6", "Concat", "x x", "", NULL,
     "error: `y` (Concat): it has no `axis`"},
    {"Concat-7", "Concat", "x x", "", "1x8x6x10@3", "concat {} {}"},
    {"Conv", "Conv", "x w4x8x3x3 w4", "pads=1,1,1,1", NULL, "conv 4 3x3 pad"},
    {"Conv-2", "Conv", "x w4x8x3x3", "auto_pad='SAME_LOWER'", NULL,
     "conv 4 3x3 pad nobias"},
    {"Conv-3", "Conv", "x w4x8x3x3", "auto_pad='VALID' dilations=2,2", NULL,
     "conv 4 3x3 dilate=2 nobias -> 2x6x4"},
    {"Conv-4", "Conv", "x w8x1x3x3", "group=8", NULL,
     "dwconv 3x3 nobias -> 4x8x8"},
    {"Conv-5", "Conv", "x w4x2x1x1", "group=4", NULL,
     "conv 4 1x1 groups=4 nobias"},
    {"Conv-6", "Conv", "x w4x7x3x3", "", NULL,
     "error: `y` (Conv): its weights, 4x7x3x3, do not fit 8 channels in 1 "
     "groups"},
    {"Conv-7", "Conv", "x w4x8x3x3", "group=3", NULL,
     "error: `y` (Conv; group=3): its weights, 4x8x3x3, do not fit 8 channels "
     "in 3 groups"},
    {"Conv-8", "Conv", "x w4x8x3x3", "pads=1,0,2,0", NULL,
     "conv 4 3x3 pad=1:2x0 nobias -> 7x8x4"},
    {"Conv-9", "Conv", "x w4x8x3x3", "pads=-1,-1,-1,-1", NULL,
     "error: `y` (Conv; pads=[-1,-1,-1,-1]): a window size must be at least 1, "
     "not -1"},
    {"Conv-10", "Conv", "x w4x8x3x3", "strides=0,1", NULL,
     "error: `y` (Conv; strides=[0,1]): a window size must be at least 1, not "
     "0"},
    {"Conv-11", "Conv", "x w4x8x3", "", NULL,
     "error: `y` (Conv): its weights are not a constant that fits the map"},
    {"Conv-12", "Conv", "x", "", NULL,
     "error: `y` (Conv): its weights are not a constant that fits the map"},
    {"Conv-13", "Conv", "x w4x8x3x3 w5", "", NULL,
     "error: `y` (Conv): its bias is not a constant of 4 channels"},
    {"Conv-15", "Conv", "x w4x8x3x3", "auto_pad='WARP'", NULL,
     "error: `y` (Conv; auto_pad=WARP): unknown `auto_pad`"},
    {"Conv-16", "Conv", "x w4x8x3x3", "auto_pad='NOTSET'", NULL,
     "conv 4 3x3 nobias"},
    {"ConvTranspose", "ConvTranspose", "x w8x4x2x2", "strides=2,2", NULL,
     "deconv 4 2x2 /2 nobias -> 12x20x4"},
    {"ConvTranspose-2", "ConvTranspose", "x w8x4x3x3 w4",
     "strides=2,2 pads=1,1,1,1 output_padding=1,1", NULL,
     "deconv 4 3x3 /2 pad=1 outpad=1x1 -> 12x20x4"},
    {"ConvTranspose-3", "ConvTranspose", "x w8x2x2x2", "group=2", NULL,
     "deconv 4 2x2 groups=2 nobias -> 7x11x4"},
    {"ConvTranspose-4", "ConvTranspose", "x w8x4x3x3",
     "strides=2,2 output_shape=12,20", NULL,
     "deconv 4 3x3 /2 pad=1:0 nobias -> 12x20x4"},
    {"ConvTranspose-5", "ConvTranspose", "x w8x4x3x3",
     "auto_pad='SAME_UPPER' strides=2,2", NULL,
     "deconv 4 3x3 /2 pad=0:1 nobias -> 12x20x4"},
    {"ConvTranspose-6", "ConvTranspose", "x w7x4x3x3", "", NULL,
     "error: `y` (ConvTranspose): its weights do not fit the map"},
    {"DepthToSpace", "DepthToSpace", "x", "blocksize=2", NULL,
     "reshape 6x10x2x2x2 -> 6x10x2x2x2\n"
     "permute 4 0 2 1 3  -> 2x6x2x10x2\n"
     "reshape 2x12x20    -> 2x12x20"},
    {"DepthToSpace-2", "DepthToSpace", "x", "blocksize=2 mode='CRD'", NULL,
     "reshape 6x10x2x2x2 -> 6x10x2x2x2\n"
     "permute 2 0 3 1 4  -> 2x6x2x10x2\n"
     "reshape 2x12x20    -> 2x12x20"},
    {"DepthToSpace-3", "DepthToSpace", "x", "blocksize=3", NULL,
     "error: `y` (DepthToSpace; blocksize=3): only maps of blocks are "
     "supported"},
    {"DepthToSpace-4", "DepthToSpace", "x", "", NULL,
     "error: `y` (DepthToSpace): it has no `blocksize`"},
    {"DepthToSpace-5", "DepthToSpace", "x", "blocksize=2 mode='WARP'", NULL,
     "error: `y` (DepthToSpace; blocksize=2, mode=WARP): unknown `mode`"},
    {"SpaceToDepth", "SpaceToDepth", "x", "blocksize=2", NULL,
     "reshape 3x2x5x16 -> 3x2x5x16\n"
     "permute 1 3 0 2  -> 2x16x3x5\n"
     "reshape 32x3x5   -> 32x3x5"},
    {"SpaceToDepth-2", "SpaceToDepth", "x", "blocksize=4", NULL,
     "error: `y` (SpaceToDepth; blocksize=4): only maps of whole blocks are "
     "supported"},
    {"SpaceToDepth-3", "SpaceToDepth", "x", "", NULL,
     "error: `y` (SpaceToDepth): it has no `blocksize`"},
    {"Dropout", "Dropout", "x f0.3", "", NULL, "dropout 0.3"},
    {"Dropout-2", "Dropout", "x", "", NULL, "dropout"},
    {"Elu", "Elu", "x", "alpha=0.5", NULL, "elu 0.5"},
    {"Exp", "Exp", "x", "", NULL, "exp"},
    {"Expand", "Expand", "x i1,8,6,10", "", NULL, "identity"},
    {"Expand-2", "Expand", "x i2,8,6,10", "", NULL,
     "permute 2 0 1       -> 8x6x10\n"
     "reshape 1x8x6x10    -> 1x8x6x10\n"
     "concat axis=0 {} {} -> 2x8x6x10"},
    {"Expand-3", "Expand", "x i3,3", "", NULL,
     "error: `y` (Expand): its sizes do not agree: 1x8x6x10 and 3x3"},
    {"Flatten", "Flatten", "x", "", NULL,
     "reshape 60x8 -> 60x8\n"
     "permute 1 0  -> 8x60\n"
     "flatten      -> 480"},
    {"Flatten-2", "Flatten", "x", "axis=2", NULL,
     "reshape 60x8 -> 60x8\n"
     "permute 1 0  -> 8x60"},
    {"Flatten-3", "Flatten", "x", "axis=0", NULL,
     "reshape 60x8 -> 60x8\n"
     "permute 1 0  -> 8x60\n"
     "flatten      -> 480"},
    {"Flatten-4", "Flatten", "x", "axis=9", NULL,
     "error: `y` (Flatten; axis=9): its input has no such axis"},
    {"Gather", "Gather", "x i0", "axis=1", NULL, "slice c 0:1"},
    {"Gather-2", "Gather", "x i0,2", "axis=1", NULL,
     "concat { slice c 0:1 } { slice c 2:3 }"},
    {"Gather-3", "Gather", "x i9", "axis=1", NULL,
     "error: `y` (Gather; axis=1): index 9 of an axis of 8"},
    {"Gather-4", "Gather", "x i-1", "axis=2", NULL, "slice h 5:_ -> 1x10x8"},
    {"Gather-5", "Gather", "w10x8 x", "", NULL,
     "error: embed takes indices, not values"},
    {"Gelu", "Gelu", "x", "", NULL, "gelu"},
    {"Gelu-2", "Gelu", "x", "approximate='tanh'", NULL,
     "gelu approximate=tanh"},
    {"Gelu-3", "Gelu", "x", "approximate='warp'", NULL,
     "error: `y` (Gelu; approximate=warp): unknown `approximate`"},
    {"GlobalAveragePool", "GlobalAveragePool", "x", "", NULL, "gap -> 1x1x8"},
    {"GlobalMaxPool", "GlobalMaxPool", "x", "", NULL, "gmp -> 1x1x8"},
    {"HardSigmoid", "HardSigmoid", "x", "", NULL,
     "mul 0.2\n"
     "add 0.5 relu\n"
     "min 1"},
    {"HardSigmoid-2", "HardSigmoid", "x", "alpha=0.16666667 beta=0.5", NULL,
     "hsigmoid"},
    {"HardSwish", "HardSwish", "x", "", NULL, "hswish"},
    {"Identity", "Identity", "x", "", NULL, "identity"},
    {"GroupNormalization", "GroupNormalization", "x w8 w8",
     "num_groups=4 epsilon=0.001", "1x8x6x10@21", "gn 4 eps=0.001"},
    {"GroupNormalization-2", "GroupNormalization", "x w8 w8", "num_groups=3",
     "1x8x6x10@21",
     "error: `y` (GroupNormalization; num_groups=3): 3 groups do not divide 8 "
     "channels"},
    {"GroupNormalization-3", "GroupNormalization", "x w4 w4", "num_groups=4",
     "1x8x6x10@18",
     "error: `y` (GroupNormalization; num_groups=4): before opset 21 it has a "
     "factor for each group"},
    {"InstanceNormalization", "InstanceNormalization", "x w8 w8", "", NULL,
     "instnorm"},
    {"InstanceNormalization-2", "InstanceNormalization", "x w7 w8", "", NULL,
     "error: `y` (InstanceNormalization): its input 1 is not a constant of 8 "
     "channels"},
    {"LRN", "LRN", "x", "size=5", NULL, "lrn 5"},
    {"LRN-2", "LRN", "x", "size=5 alpha=0.001 beta=0.5 bias=2.0", NULL,
     "`y` has alpha 0.001, beta 0.5 and bias 2; here they are 0.0001, 0.75 and "
     "1."},
    {"LRN-3", "LRN", "x", "", NULL, "error: `y` (LRN): it has no `size`"},
    {"LayerNormalization", "LayerNormalization", "x w10 w10", "", NULL, "ln"},
    {"LeakyRelu", "LeakyRelu", "x", "alpha=0.2", NULL, "leaky 0.2"},
    {"LeakyRelu-2", "LeakyRelu", "x", "", NULL, "leaky"},
    {"Log", "Log", "x", "", NULL, "log"},
    {"LogSoftmax", "LogSoftmax", "x", "axis=1", NULL, "logsoftmax"},
    {"Softmax", "Softmax", "x", "axis=1", NULL, "softmax"},
    {"Softmax-2", "Softmax", "x", "", NULL, "softmax w"},
    {"Softmax-3", "Softmax", "x", "axis=2", NULL, "softmax h"},
    {"Softmax-of-samples", "Softmax", "x", "axis=0", "2x4x3",
     "input 2x4x3\n"
     "softmax h"},
    {"LpNormalization-of-samples", "LpNormalization", "x", "axis=0", "2x2x3",
     "input 2x2x3\n"
     "permute 1 2 0 -> 2x3x2\n"
     "l2norm\n"
     "permute 2 0 1 -> 2x2x3"},
    {"ReduceMean-of-samples", "ReduceMean", "x", "axes=0,", "2x4x3",
     "# The batch is the second axis of the file's inputs."},
    {"Softmax-4", "Softmax", "x", "axis=0", NULL,
     "permute 2 0 1            -> 8x6x10\n"
     "reshape 8x6x10x1 softmax -> 8x6x10x1\n"
     "reshape 8x6x10           -> 8x6x10"},
    {"LpNormalization", "LpNormalization", "x", "axis=1", NULL, "l2norm"},
    {"LpNormalization-2", "LpNormalization", "x", "axis=1 p=1", NULL,
     "error: `y` (LpNormalization; axis=1, p=1): only the norm of squares is "
     "supported"},
    {"LpNormalization-3", "LpNormalization", "x", "axis=2", NULL,
     "permute 2 1 0 -> 8x10x6\n"
     "l2norm\n"
     "permute 0 2 1 -> 8x6x10"},
    {"MatMul", "MatMul", "x w10x5", "", NULL, "linear 5 nobias"},
    {"MatMul-2", "MatMul", "x w9x5", "", NULL,
     "error: `y` (MatMul): 10 features meet a matrix of 9"},
    {"Max", "Max", "x f0", "", NULL, "max 0"},
    {"Max-2", "Max", "x x", "", NULL, "max {} {}"},
    {"Max-3", "Max", "x", "", NULL, "identity"},
    {"Mean", "Mean", "x x", "", NULL,
     "add {} {}\n"
     "div 2"},
    {"Min", "Min", "x x x", "", NULL, "min { min {} {} } {}"},
    {"Mish", "Mish", "x", "", NULL, "mish"},
    {"Neg", "Neg", "x", "", NULL, "neg"},
    {"PRelu", "PRelu", "x w8x1x1", "", NULL, "prelu"},
    {"PRelu-2", "PRelu", "x w1", "", NULL, "prelu shared"},
    {"PRelu-3", "PRelu", "x w6x10", "", NULL,
     "error: `y` (PRelu): only a slope for each channel is supported"},
    {"Pad", "Pad", "x i0,0,1,2,0,0,3,4", "", NULL, "pad 1:3x2:4 -> 10x16x8"},
    {"Pad-wrap", "Pad", "x i0,0,1,2,0,0,3,4", "mode='wrap'", NULL,
     "pad 1:3x2:4 circular -> 10x16x8"},
    {"Pad-2", "Pad", "x i0,0,1,1,0,0,1,1", "mode='reflect'", NULL,
     "pad 1x1 reflect -> 8x12x8"},
    {"Pad-3", "Pad", "x i0,0,1,1,0,0,1,1", "mode='edge'", NULL,
     "pad 1x1 replicate -> 8x12x8"},
    {"Pad-of-axes", "Pad", "x i1,2,3,4 - i2,-1", "", "1x8x6x10@18",
     "pad 1:3x2:4 -> 10x16x8"},
    {"Pad-of-no-such-axis", "Pad", "x i1,2,3,4 - i2,9", "", "1x8x6x10@18",
     "error: `y` (Pad): its sizes depend on the inputs"},
    {"Pad-4", "Pad", "x i0,1,0,0,0,1,0,0", "", NULL, "pad 0x0 c=1:1"},
    {"Pad-5", "Pad", "x i1,0,0,0,0,0,0,0", "", NULL,
     "error: `y` (Pad): padding the batch axis is not supported"},
    {"Pad-6", "Pad", "x i0,0,-1,0,0,0,-1,0", "", NULL,
     "error: `y` (Pad): netc has no equivalent of negative borders"},
    {"Pad-7", "Pad", "x i0,0,1", "", NULL,
     "error: `y` (Pad): its sizes depend on the inputs"},
    {"Pad-8", "Pad", "x i0,0,1,2,0,0,3,4 f1.5", "", NULL,
     "error: `y` (Pad): only zeros, `reflect`, `edge` and `wrap` are "
     "supported"},
    {"Pad-9", "Pad", "x i0,0,1,1,0,0,1,1", "mode='warp'", NULL,
     "error: `y` (Pad; mode=warp): only zeros, `reflect`, `edge` and "
     "`wrap` are supported"},
    {"Reciprocal", "Reciprocal", "x", "", NULL, "pow -1"},
    {"ReduceMean", "ReduceMean", "x", "axes=2,3", NULL, "gap -> 1x1x8"},
    {"ReduceMean-2", "ReduceMean", "x", "axes=2,3 keepdims=0", NULL,
     "gap     -> 1x1x8\n"
     "flatten -> 8"},
    {"ReduceMean-3", "ReduceMean", "x", "axes=1,", NULL, "mean axis=2 keep"},
    {"ReduceMean-4", "ReduceMean", "x", "axes=0,", NULL, "identity"},
    {"ReduceMean-5", "ReduceMean", "x", "axes=7,", NULL,
     "error: `y` (ReduceMean; axes=[7]): axis 7 of 4 does not exist"},
    {"ReduceMean-6", "ReduceMean", "x", "axes=2,-2", NULL,
     "error: `y` (ReduceMean; axes=[2,-2]): it names axis 2 twice"},
    {"ReduceSum", "ReduceSum", "x i2,3", "", NULL,
     "sum axis=0 axis=1 keep -> 1x1x8"},
    {"ReduceSum-2", "ReduceSum", "x", "noop_with_empty_axes=1", NULL,
     "identity"},
    {"ReduceMax", "ReduceMax", "x", "axes=3,", NULL,
     "max axis=1 keep -> 6x1x8"},
    {"ReduceMin", "ReduceMin", "x", "axes=2,3", NULL,
     "min axis=0 axis=1 keep -> 1x1x8"},
    {"ReduceL2", "ReduceL2", "x", "axes=1,", NULL,
     "pow 2\n"
     "sum axis=2 keep\n"
     "sqrt"},
    {"ReduceL1", "ReduceL1", "x", "axes=1,", NULL,
     "abs\n"
     "sum axis=2 keep"},
    {"ReduceLogSum", "ReduceLogSum", "x", "axes=1,", NULL,
     "sum axis=2 keep\n"
     "log"},
    {"ReduceLogSumExp", "ReduceLogSumExp", "x", "axes=1,", NULL,
     "exp\n"
     "sum axis=2 keep\n"
     "log"},
    {"ReduceSumSquare", "ReduceSumSquare", "x", "axes=1,", NULL,
     "pow 2\n"
     "sum axis=2 keep"},
    {"Reshape", "Reshape", "x i1,480", "", NULL,
     "reshape 60x8 -> 60x8\n"
     "permute 1 0  -> 8x60\n"
     "flatten      -> 480"},
    {"Reshape-2", "Reshape", "x i0,-1", "", NULL,
     "reshape 60x8 -> 60x8\n"
     "permute 1 0  -> 8x60\n"
     "flatten      -> 480"},
    {"Reshape-3", "Reshape", "x i0,8,-1", "", NULL,
     "reshape 60x8 -> 60x8\n"
     "permute 1 0  -> 8x60"},
    {"Reshape-4", "Reshape", "x i0,7,-1", "", NULL,
     "error: `y` (Reshape): 1x7x68 does not have as many values as its input"},
    {"Reshape-5", "Reshape", "x i-1,-1", "", NULL,
     "error: `y` (Reshape): 480 values have no axis of -1"},
    {"Reshape-6", "Reshape", "x x", "", NULL,
     "error: `y` (Reshape): its sizes depend on the inputs"},
    {"Reshape-7", "Reshape", "x i1,8,60", "allowzero=1", NULL,
     "reshape 60x8 -> 60x8\n"
     "permute 1 0  -> 8x60"},
    {"Resize", "Resize", "x - f2", "", NULL,
     "error: `y` (Resize): 1 sizes for other axes"},
    {"Resize-2", "Resize", "x - - i1,8,12,20", "mode='linear'", NULL,
     "up 2 bilinear -> 12x20x8"},
    {"Resize-3", "Resize", "x - - i1,8,12,20", "mode='nearest'", NULL,
     "up 2 -> 12x20x8"},
    {"Resize-4", "Resize", "x - - i1,8,12,20", "mode='cubic'", NULL,
     "error: `y` (Resize; mode=cubic): only `nearest` and `linear` are "
     "supported"},
    {"Resize-5", "Resize", "x - - i1,8,12,20", "mode='warp'", NULL,
     "error: `y` (Resize; mode=warp): only `nearest` and `linear` are "
     "supported"},
    {"Resize-6", "Resize", "x - - i1,9,12,20", "", NULL,
     "error: `y` (Resize): only rows and columns can be resized"},
    {"Resize-7", "Resize", "x - f2,1,2,2", "", NULL,
     "error: `y` (Resize): only rows and columns can be resized"},
    {"Resize-8", "Resize", "x - f1,1,2,3", "mode='linear'", NULL,
     "up size=12x30 bilinear -> 12x30x8"},
    {"Resize-9", "Resize", "x - - i30,12", "axes=3,-2 mode='linear'", NULL,
     "up size=12x30 bilinear -> 12x30x8"},
    {"Resize-10", "Resize", "x - f1,1,0,2", "", NULL,
     "error: `y` (Resize): a size of 0"},
    {"Resize-11", "Resize", "x - f1,1,2,2", "antialias=1 mode='linear'", NULL,
     "`y` takes values from other places than `up`, which has PyTorch's "
     "rules."},
    {"Resize-12", "Resize", "x - - i1,8,12,20",
     "keep_aspect_ratio_policy='not_larger'", NULL,
     "error: `y` (Resize; keep_aspect_ratio_policy=not_larger): only sizes "
     "that stretch are supported"},
    {"Resize-13", "Resize", "x - x", "", NULL,
     "error: `y` (Resize): its sizes depend on the inputs"},
    {"Upsample", "Upsample", "x f1,1,3,3", "", "1x8x6x10@9", "up 3 -> 18x30x8"},
    {"Upsample-2", "Upsample", "x", "scales=1.0,1.0,2.0,2.0", "1x8x6x10@7",
     "up 2 -> 12x20x8"},
    {"Upsample-3", "Upsample", "x f1,2,3,3", "", "1x8x6x10@9",
     "error: `y` (Upsample): only rows and columns can be resized"},
    {"Selu", "Selu", "x", "", NULL, "selu"},
    {"Shape", "Shape", "x", "", NULL, "error: nothing is left of the net"},
    {"Sigmoid", "Sigmoid", "x", "", NULL, "sigmoid"},
    {"Slice", "Slice", "x i1 i3 i1", "", NULL, "slice c 1:3"},
    {"Slice-2", "Slice", "x i0 i6 i1 i2", "", NULL,
     "error: `y` (Slice): netc has no equivalent of a slice with steps of 2 of "
     "8 places"},
    {"Slice-3", "Slice", "x i-1 i-9 i1 i-1", "", NULL,
     "error: `y` (Slice): netc has no equivalent of a slice that runs "
     "backwards"},
    {"Slice-4", "Slice", "x i0 i1 i0", "", NULL, "identity"},
    {"Slice-5", "Slice", "x i3 i3 i1", "", NULL,
     "error: `y` (Slice): an empty slice"},
    {"Slice-6", "Slice", "x i0,0 i2 i1", "", NULL,
     "error: `y` (Slice): its indices depend on the inputs"},
    {"Slice-7", "Slice", "x i1,2 i4,8 i2,3", "", NULL,
     "slice h 1:4 -> 3x10x8\n"
     "slice w 2:8 -> 3x6x8"},
    {"Slice-8", "Slice", "x i0 i9 i9", "", NULL,
     "error: `y` (Slice): axis 9 of 4 does not exist"},
    {"Slice-9", "Slice", "x i0,0 i4,4 i2,-2", "", NULL,
     "error: `y` (Slice): it names axis 2 twice"},
    {"Softplus", "Softplus", "x", "", NULL, "softplus"},
    {"Softsign", "Softsign", "x", "", NULL, "softsign"},
    {"Split", "Split", "x i4,4", "axis=1", NULL,
     "error: `y` (Split; axis=1): its numbers of parts and of outputs differ"},
    {"Split-2", "Split", "x i4,5", "axis=1", NULL,
     "error: `y` (Split; axis=1): its numbers of parts and of outputs differ"},
    {"Sqrt", "Sqrt", "x", "", NULL, "sqrt"},
    {"Squeeze", "Squeeze", "x i0", "", NULL, "permute 2 0 1 -> 8x6x10"},
    {"Squeeze-2", "Squeeze", "x i1", "", NULL,
     "error: `y` (Squeeze): axis 1 has size 8, not 1"},
    {"Squeeze-3", "Squeeze", "x i0,0", "", NULL,
     "error: `y` (Squeeze): it names axis 0 twice"},
    {"Sum", "Sum", "x x", "", NULL, "add {} {}"},
    {"Tanh", "Tanh", "x", "", NULL, "tanh"},
    {"Tile", "Tile", "x i1,1,2,2", "", NULL,
     "concat axis=h {} {} -> 12x10x8\n"
     "concat axis=w {} {} -> 12x20x8"},
    {"Tile-2", "Tile", "x i2,1,1,1", "", NULL,
     "reshape 1x6x10x8    -> 1x6x10x8\n"
     "concat axis=0 {} {} -> 2x6x10x8\n"
     "permute 0 3 1 2     -> 2x8x6x10"},
    {"Tile-3", "Tile", "x i1,1", "", NULL,
     "error: `y` (Tile): 2 repeats for 4 axes"},
    {"Transpose", "Transpose", "x", "perm=0,2,3,1", NULL,
     "permute 1 2 0 -> 6x10x8"},
    {"Transpose-2", "Transpose", "x", "perm=0,1,1,2", NULL,
     "error: `y` (Transpose; perm=[0,1,1,2]): `perm` is not a permutation of "
     "the axes"},
    {"Transpose-3", "Transpose", "x", "perm=0,1", NULL,
     "error: `y` (Transpose; perm=[0,1]): `perm` has 2 axes, its input 4"},
    {"Transpose-4", "Transpose", "x", "", NULL, "permute 2 1 0 -> 10x6x8"},
    {"Unsqueeze", "Unsqueeze", "x i1", "", NULL, "permute 2 0 1 -> 8x6x10"},
    {"Unsqueeze-2", "Unsqueeze", "x i9", "", NULL,
     "error: `y` (Unsqueeze): axis 9 of 5 does not exist"},
    {"Unsqueeze-3", "Unsqueeze", "x i1,-5", "", NULL,
     "error: `y` (Unsqueeze): it names axis 1 twice"},
    {"Warp", "Warp", "x", "", NULL,
     "error: netc has no equivalent of these operators: Warp (1); the first is "
     "`y` (Warp)"},
    {"Gemm", "Gemm", "x w10x5", "", NULL,
     "error: `y` (Gemm): only a product with a matrix of weights is supported"},
    {"Gemm-2", "Gemm", "x w8x5 w5", "", "1x8", "fc 5"},
    {"Gemm-3", "Gemm", "x w5x8 w5", "transB=1", "1x8", "fc 5"},
    {"Gemm-4", "Gemm", "x w8x5", "transA=1", "1x8",
     "error: `y` (Gemm; transA=1): 1 features meet a matrix of 8"},
    {"Gemm-5", "Gemm", "x w7x5", "", "1x8",
     "error: `y` (Gemm): 8 features meet a matrix of 7"},
    {"Gemm-6", "Gemm", "x w8x5 w4", "", "1x8",
     "error: `y` (Gemm): its bias must be a constant with a value for each "
     "unit"},
    {"MatMul-3", "MatMul", "x w8x5", "", "1x10x8", "linear 5 nobias"},
    {"MatMul-4", "MatMul", "w5x10 x", "", "1x10x8",
     "permute 1 0 -> 8x10\n"
     "linear 5 nobias"},
    {"LayerNormalization-2", "LayerNormalization", "x w8 w8", "epsilon=0.001",
     "1x10x8", "ln eps=0.001"},
    {"LayerNormalization-3", "LayerNormalization", "x w8", "axis=1", "1x10x8",
     "error: `y` (LayerNormalization; epsilon=9.999999747378752e-06): its "
     "input 1 is not a constant of 80 channels"},
    {"LayerNormalization-4", "LayerNormalization", "x w10x8 w10x8", "axis=1",
     "1x10x8",
     "flatten -> 80\n"
     "ln\n"
     "reshape 10x8 -> 10x8"},
    {"RMSNormalization", "RMSNormalization", "x w8", "", "1x10x8", "rmsnorm"},
    {"Softmax-5", "Softmax", "x", "", "1x10x8", "softmax"},
    {"Transpose-5", "Transpose", "x", "perm=0,2,1", "1x10x8", "identity"},
    {"Conv-14", "Conv", "x w4x8x3", "pads=1,1", "1x8x10",
     "conv 4 3 pad nobias"},
    {"MaxPool-7", "MaxPool", "x", "kernel_shape=2,", "1x8x10",
     "pool 2 /1 -> 9x8"},
    {"LSTM", "LSTM", "x w1x20x8 w1x20x5 w1x40", "hidden_size=5", "10x1x8",
     "lstm 5\n"
     "reshape 1x1x5 -> 1x1x5"},
    {"LSTM-2", "LSTM", "x w1x20x8 w1x20x5", "hidden_size=5 direction='reverse'",
     "10x1x8",
     "error: `y` (LSTM; hidden_size=5, direction=reverse): it runs backwards "
     "alone, which netc's do only beside a run forwards (bidirectional)"},
    {"LSTM-3", "LSTM", "x w2x20x8 w2x20x5 w2x40",
     "hidden_size=5 direction='bidirectional'", "10x1x8",
     "lstm 5 bidir\n"
     "reshape 2x5 -> 2x5"},
    {"LSTM-4", "LSTM", "x w1x20x7 w1x20x5", "hidden_size=5", "10x1x8",
     "error: `y` (LSTM; hidden_size=5): its weights do not fit"},
    {"LSTM-5", "LSTM", "x w1x20x8 w1x20x5", "direction='up'", "10x1x8",
     "error: `y` (LSTM; direction=up): unknown `direction`"},
    {"LSTM-6", "LSTM", "x w1x20x8 w1x20x5", "hidden_size=6", "10x1x8",
     "error: `y` (LSTM; hidden_size=6): its weights do not fit"},
    {"LSTM-7", "LSTM", "x w1x20x8 w1x20x5", "direction='bidirectional'",
     "10x1x8",
     "error: `y` (LSTM; direction=bidirectional): its weights do not fit"},
    {"LSTM-8", "LSTM", "x w2x20x8 w2x20x5", "", "10x1x8",
     "error: `y` (LSTM): its weights do not fit"},
    {"GRU", "GRU", "x w1x15x8 w1x15x5 w1x30",
     "hidden_size=5 linear_before_reset=1", "10x1x8",
     "gru 5\n"
     "reshape 1x1x5 -> 1x1x5"},
    {"GRU-2", "GRU", "x w1x15x8 w1x15x5 w1x30", "hidden_size=5", "10x1x8",
     "gru 5 reset=before\n"
     "reshape 1x1x5 -> 1x1x5"},
    {"RNN", "RNN", "x w1x5x8 w1x5x5 w1x10", "hidden_size=5", "10x1x8",
     "rnn 5\n"
     "reshape 1x1x5 -> 1x1x5"},
    {"Constant", NULL, "c = Constant value_float=2.0; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "add 2\n"
     ""},
    {"Constant-2", NULL,
     "c = Constant value_floats=1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0; y = Add x c",
     "", "1x8",
     "input 8\n"
     "add {} { weight 8 fixed }\n"
     ""},
    {"Constant-3", NULL, "c = Constant value=#f3; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "add 3\n"
     ""},
    {"Constant-4", NULL, "c = Constant value=#d3; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "add 3\n"
     ""},
    {"Constant-5", NULL, "c = Constant value=#h3; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "add 3\n"
     ""},
    {"Constant-6", NULL, "c = Constant value=#h0.5; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "add 0.5\n"
     ""},
    {"Constant-7", NULL, "c = Constant value_string='a'; y = Add x c", "", NULL,
     "error: `c` (Constant; value_string=a): a constant of a kind that is not "
     "supported"},
    {"Constant-8", NULL, "c = Constant value_ints=1,480; y = Reshape x c", "",
     NULL,
     "input 6x10x8\n"
     "reshape 60x8 -> 60x8\n"
     "permute 1 0  -> 8x60\n"
     "flatten      -> 480\n"
     ""},
    {"Constant-9", NULL, "c = Constant value_int=1; y = Unsqueeze x c", "",
     NULL,
     "input 6x10x8\n"
     "permute 2 0 1 -> 8x6x10\n"
     ""},
    {"Constant-10", NULL, "c = Constant value=#n1,480; y = Reshape x c", "",
     NULL,
     "input 6x10x8\n"
     "reshape 60x8 -> 60x8\n"
     "permute 1 0  -> 8x60\n"
     "flatten      -> 480\n"
     ""},
    {"Constant-11", NULL, "c = Constant value=#n1; y = Gather x c axis=1", "",
     NULL,
     "input 6x10x8\n"
     "slice c 1:2\n"
     "reshape 6x10 -> 6x10\n"
     ""},
    {"ConstantOfShape", NULL, "c = ConstantOfShape i8,1,1; y = Add x c", "",
     NULL,
     "input 6x10x8\n"
     "add {} { weight 8 }\n"
     ""},
    {"ConstantOfShape-2", NULL,
     "c = ConstantOfShape i8,1,1 value=#f2; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "add {} { weight 8 }\n"
     ""},
    {"ConstantOfShape-3", NULL, "c = ConstantOfShape x; y = Add x c", "", NULL,
     "error: `c` (ConstantOfShape): netc has no equivalent of it, except among "
     "constants"},
    {"ConstantOfShape-4", NULL, "c = ConstantOfShape i2 value=#f; y = Add x c",
     "", NULL,
     "error: `c` (ConstantOfShape; value=..): its value is not known"},
    {"ConstantOfShape-5", NULL,
     "c = ConstantOfShape i0,8,6,10 value=#f2; y = Concat x c axis=0", "", NULL,
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"Cast-3", NULL, "c = Cast i3 to=1; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "add 3\n"
     ""},
    {"Cast-4", NULL, "c = Cast f3 to=7; d = Cast c to=1; y = Mul x c", "",
     "1x8",
     "input 8\n"
     "mul 3\n"
     ""},
    {"Cast-5", NULL, "c = Cast b1,0,1,1,0,1,1,1 to=1; y = Add x c", "", "1x8",
     "input 8\n"
     "add {} { weight 8 fixed }\n"
     ""},
    {"Cast-6", NULL,
     "a = Cast f2.5 to=7; b = Cast f0 to=9; c = Where b i4 a; y = Gather x c "
     "axis=1",
     "", NULL,
     "input 6x10x8\n"
     "slice c 2:3\n"
     ""},
    {"Range", NULL, "a = Range i0 i4 i1; y = Gather x a axis=1", "", NULL,
     "input 6x10x8\n"
     "slice c 0:4\n"
     ""},
    {"Range-2", NULL, "a = Range i0 i4 i0; y = Gather x a axis=1", "", NULL,
     "error: `a` (Range): it has too many steps"},
    {"Range-3", NULL, "a = Range x i4 i1; y = Gather x a axis=1", "", NULL,
     "error: `a` (Range): netc has no equivalent of it, except among "
     "constants"},
    {"Range-4", NULL, "a = Range i0,1 i4 i1; y = Gather x a axis=1", "", NULL,
     "error: `a` (Range): its ends are not numbers"},
    {"Range-5", NULL, "a = Range i5 i1 i-2; y = Gather x a axis=1", "", NULL,
     "input 6x10x8\n"
     "concat { slice c 5:6 } { slice c 3:4 }\n"
     ""},
    {"Concat-8", NULL, "a = Concat i1,480 axis=0; y = Reshape x a", "", NULL,
     "input 6x10x8\n"
     "reshape 60x8 -> 60x8\n"
     "permute 1 0  -> 8x60\n"
     "flatten      -> 480\n"
     ""},
    {"Concat-9", NULL, "a = Concat i1, i480, axis=0; y = Reshape x a", "", NULL,
     "input 6x10x8\n"
     "reshape 60x8 -> 60x8\n"
     "permute 1 0  -> 8x60\n"
     "flatten      -> 480\n"
     ""},
    {"Concat-10", NULL, "a = Concat i1, w2x2 axis=0; y = Reshape x a", "", NULL,
     "error: `a` (Concat; axis=0): the sizes of its constants do not agree"},
    {"Concat-11", NULL, "a = Concat i1, i480, axis=3; y = Reshape x a", "",
     NULL, "error: `a` (Concat; axis=3): axis 3 of 1 does not exist"},
    {"Concat-12", NULL, "a = Concat i1, i480,; y = Reshape x a", "", NULL,
     "error: `a` (Concat): it has no `axis`"},
    {"Concat-13", NULL, "c = Concat r4x1x1 r4x1x1 axis=0; y = Add x c", "",
     NULL,
     "input 6x10x8\n"
     "add {} { weight 8 }\n"
     ""},
    {"Concat-14", NULL, "c = Concat r4x1x2 r4x1x1 axis=0; y = Add x c", "",
     NULL,
     "error: `c` (Concat; axis=0): the sizes of its constants do not agree"},
    {"Concat-15", NULL,
     "c = Concat r8x1x5 r8x1x5 axis=2; d = ReduceSum c i2; e = Identity d; y = "
     "Mul x c",
     "", "1x8x6x10",
     "input 6x10x8\n"
     "mul {} { weight 10x8 }\n"
     ""},
    {"ReduceSum-3", NULL,
     "a = ReduceSum i2,3,4 keepdims=0; b = Unsqueeze a i0; d = Concat b i-1, "
     "axis=0; y = Reshape x d",
     "", NULL,
     "error: `y` (Reshape): 9x53 does not have as many values as its input"},
    {"ReduceProd", NULL,
     "a = ReduceProd i2,3,4 keepdims=0; b = Unsqueeze a i0; d = Concat b i-1, "
     "axis=0; y = Reshape x d",
     "", NULL,
     "input 6x10x8\n"
     "reshape 3x20x8 -> 3x20x8\n"
     "permute 2 0 1  -> 8x3x20\n"
     "reshape 24x20  -> 24x20\n"
     ""},
    {"ReduceMax-2", NULL,
     "a = ReduceMax i2,3,4 keepdims=0; b = Unsqueeze a i0; d = Concat b i-1, "
     "axis=0; y = Reshape x d",
     "", NULL,
     "input 6x10x8\n"
     "reshape 60x4x2 -> 60x4x2\n"
     "permute 1 2 0  -> 4x2x60\n"
     "reshape 4x120  -> 4x120\n"
     ""},
    {"ReduceMin-2", NULL,
     "a = ReduceMin i2,3,4 keepdims=0; b = Unsqueeze a i0; d = Concat b i-1, "
     "axis=0; y = Reshape x d",
     "", NULL,
     "input 6x10x8\n"
     "reshape 60x2x4 -> 60x2x4\n"
     "permute 1 2 0  -> 2x4x60\n"
     "reshape 2x240  -> 2x240\n"
     ""},
    {"ReduceSum-4", NULL,
     "a = ReduceSum r2x3 i1 keepdims=0; b = Cast a to=7; y = Reshape x b", "",
     NULL,
     "error: `y` (Reshape): 3x12 does not have as many values as its input"},
    {"ReduceSum-5", NULL, "a = ReduceSum r2x3 i5; y = Add x a", "", NULL,
     "error: `a` (ReduceSum): axis 5 of 2 does not exist"},
    {"ReduceSum-6", NULL, "a = ReduceSum r2x3 x; y = Add x a", "", NULL,
     "error: `a` (ReduceSum): its axes depend on the inputs"},
    {"ReduceMax-3", NULL,
     "a = ReduceMax i2,3 axes=0,; b = Concat a i-1, axis=0; y = Reshape x b",
     "", NULL, "error: `y` (Reshape): cannot split these axes"},
    {"ReduceSum-7", NULL,
     "a = ReduceSum i2,3 i0,-1; b = Concat a i-1, axis=0; y = Reshape x b", "",
     NULL, "error: `a` (ReduceSum): it names axis 0 twice"},
    {"Tile-4", NULL, "a = Tile i4,60 i2; y = Reshape x a", "", NULL,
     "error: `y` (Reshape): 4x60x4x60 has more values than its input"},
    {"Tile-5", NULL,
     "a = Tile i2, i3; b = Concat a i-1, axis=0; y = Reshape x b", "", NULL,
     "input 6x10x8\n"
     "reshape 60x2x2x2 -> 60x2x2x2\n"
     "permute 1 2 3 0  -> 2x2x2x60\n"
     ""},
    {"Tile-6", NULL, "a = Tile i2, i0; y = Reshape x a", "", NULL,
     "error: `a` (Tile): it repeats 0 times"},
    {"Tile-7", NULL, "a = Tile i2, i1,1; y = Reshape x a", "", NULL,
     "error: `a` (Tile): its repeats are not known"},
    {"Tile-8", NULL, "a = Tile r1x1x5 i8,1,2; y = Mul x a", "", NULL,
     "input 6x10x8\n"
     "mul {} { weight 10x8 }\n"
     ""},
    {"Tile-9", NULL,
     "a = Tile r2x1 i1,2; b = Cast a to=7; d = Reshape b i4; y = Gather x d "
     "axis=1",
     "", NULL,
     "input 6x10x8\n"
     "concat { slice c 0:1 } { slice c 0:2 } { slice c 1:2 }\n"
     ""},
    {"CumSum", NULL, "a = CumSum i1,1,1 i0; y = Gather x a axis=1", "", NULL,
     "input 6x10x8\n"
     "slice c 1:4\n"
     ""},
    {"CumSum-2", NULL, "a = CumSum i1,1,1 i5; y = Gather x a axis=1", "", NULL,
     "error: `a` (CumSum): axis 5 of 1 does not exist"},
    {"CumSum-3", NULL, "a = CumSum i1,1,1 i0 reverse=1; y = Gather x a axis=1",
     "", NULL, "error: `a` (CumSum; reverse=1): it is not supported"},
    {"CumSum-4", NULL, "a = CumSum i1,1,1 x; y = Gather x a axis=1", "", NULL,
     "error: `a` (CumSum): its axis is not a constant"},
    {"CumSum-5", NULL, "a = CumSum i1,1,1; y = Gather x a axis=1", "", NULL,
     "error: `a` (CumSum): it is not supported"},
    {"Trilu", NULL, "a = Trilu r6x10; y = Mul x a", "", NULL,
     "input 6x10x8\n"
     "mul {} { weight 6x10x1 fixed }\n"
     ""},
    {"Trilu-2", NULL, "a = Trilu r6x10 i1 upper=0; y = Mul x a", "", NULL,
     "input 6x10x8\n"
     "mul {} { weight 6x10x1 fixed }\n"
     ""},
    {"Trilu-3", NULL, "a = Trilu i1,2; y = Mul x a", "", NULL,
     "error: `a` (Trilu): it is not supported"},
    {"Trilu-4", NULL,
     "a = Trilu r3x3; b = Cast a to=7; d = Reshape b i9; y = Gather x d axis=1",
     "", NULL, "error: `y` (Gather; axis=1): index 8 of an axis of 8"},
    {"Trilu-5", NULL,
     "a = Trilu r3x2 i0 upper=0; b = Cast a to=7; d = Reshape b i6; y = Gather "
     "x d axis=1",
     "", NULL,
     "input 6x10x8\n"
     "concat { slice c 0:1 } { slice c 0:1 } { slice c 2:6 }\n"
     ""},
    {"Gather-6", NULL, "a = Gather i3,4,5 i0; y = Gather x a axis=1", "", NULL,
     "input 6x10x8\n"
     "slice c 3:4\n"
     ""},
    {"Gather-7", NULL, "a = Gather i3,4,5 i-1; y = Gather x a axis=1", "", NULL,
     "input 6x10x8\n"
     "slice c 5:6\n"
     ""},
    {"Gather-8", NULL, "a = Gather i3,4,5 i7; y = Gather x a axis=1", "", NULL,
     "error: `a` (Gather): index 7 of an axis of 3"},
    {"Gather-9", NULL, "a = Gather i3,4,5 i0 axis=2; y = Gather x a axis=1", "",
     NULL, "error: `a` (Gather; axis=2): axis 2 of 1 does not exist"},
    {"Gather-10", NULL,
     "a = Gather r8x2 i1 axis=1; b = Reshape a i8,1,1; y = Mul x b", "", NULL,
     "input 6x10x8\n"
     "scale\n"
     ""},
    {"Gather-11", NULL,
     "a = Gather r9x8 i0,1,2; b = Unsqueeze a i0; y = Add x b", "", "1x3x8",
     "input 3x8\n"
     "posembed 9\n"
     ""},
    {"Gather-12", NULL,
     "a = Gather r9x8 i2,0,1; b = Unsqueeze a i0; y = Add x b", "", "1x3x8",
     "input 3x8\n"
     "posembed\n"
     ""},
    {"Reshape-8", NULL,
     "a = Reshape i0, i1,1; b = ScatterND i5,6,7 a i9,; y = Reshape x b", "",
     NULL,
     "error: `y` (Reshape): 9x6x7 does not have as many values as its input"},
    {"Reshape-9", NULL,
     "a = Reshape i1 i1,1; b = ScatterND i1,8,7,10 i2, i6,; y = Reshape x b",
     "", NULL,
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"Reshape-10", NULL,
     "a = Reshape i2 i1,1; b = ScatterND i1,8,7,10 a i6,; y = Reshape x b", "",
     NULL,
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"Reshape-11", NULL,
     "a = Reshape i9 i1,1; b = ScatterND i1,8,7,10 a i6,; y = Reshape x b", "",
     NULL, "error: `b` (ScatterND): index 9 of an axis of 4"},
    {"Reshape-12", NULL,
     "a = Reshape i-2 i1,1; b = ScatterND i1,8,7,10 a i6,; y = Reshape x b", "",
     NULL,
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"Reshape-13", NULL,
     "a = Reshape i2 i1,1; b = ScatterND i1,8,7,10 a i6,6; y = Reshape x b", "",
     NULL, "error: `b` (ScatterND): its values do not match its indices"},
    {"Reshape-14", NULL,
     "a = Reshape i0,0 i1,2; b = ScatterND i1,8,7,10 a i6,; y = Reshape x b",
     "", NULL, "error: `b` (ScatterND): indices of 2 axes"},
    {"Reshape-15", NULL,
     "a = Reshape i1,0 i1,2; b = ScatterND r2x2 a f3,; d = Cast b to=7; e = "
     "Reshape d i4; y = Gather x e axis=1",
     "", NULL,
     "input 6x10x8\n"
     "concat { slice c 0:2 } { slice c 3:4 } { slice c 3:4 }\n"
     ""},
    {"Sub-3", NULL, "a = Sub i9 i1; y = Gather x a axis=1", "", NULL,
     "error: `y` (Gather; axis=1): index 8 of an axis of 8"},
    {"Mul-2", NULL, "a = Mul i3 i2; y = Gather x a axis=1", "", NULL,
     "input 6x10x8\n"
     "slice c 6:7\n"
     ""},
    {"Div-3", NULL, "a = Div i7 i2; y = Gather x a axis=1", "", NULL,
     "input 6x10x8\n"
     "slice c 3:4\n"
     ""},
    {"Add-5", NULL, "a = Add i3 i1; y = Gather x a axis=1", "", NULL,
     "input 6x10x8\n"
     "slice c 4:5\n"
     ""},
    {"Min-2", NULL, "a = Min i3 i1; y = Gather x a axis=1", "", NULL,
     "input 6x10x8\n"
     "slice c 1:2\n"
     ""},
    {"Max-4", NULL, "a = Max i3 i1; y = Gather x a axis=1", "", NULL,
     "input 6x10x8\n"
     "slice c 3:4\n"
     ""},
    {"Mod", NULL, "a = Mod i7 i4; y = Gather x a axis=1", "", NULL,
     "input 6x10x8\n"
     "slice c 3:4\n"
     ""},
    {"Pow-3", NULL, "a = Pow i2 i2; y = Gather x a axis=1", "", NULL,
     "input 6x10x8\n"
     "slice c 4:5\n"
     ""},
    {"Neg-2", NULL, "a = Neg i-3; y = Gather x a axis=1", "", NULL,
     "input 6x10x8\n"
     "slice c 3:4\n"
     ""},
    {"Abs-2", NULL, "a = Abs i-3; y = Gather x a axis=1", "", NULL,
     "input 6x10x8\n"
     "slice c 3:4\n"
     ""},
    {"Sqrt-2", NULL, "c = Sqrt f4; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "add 2\n"
     ""},
    {"Exp-2", NULL, "c = Exp f0; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "add 1\n"
     ""},
    {"Log-2", NULL, "c = Log f1; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"Sin", NULL, "c = Sin f0; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"Cos", NULL, "c = Cos f0; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "add 1\n"
     ""},
    {"Tanh-2", NULL, "c = Tanh f0; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"Erf", NULL, "c = Erf f0; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"Reciprocal-2", NULL, "c = Reciprocal f4; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "add 0.25\n"
     ""},
    {"Sigmoid-2", NULL, "c = Sigmoid f0; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "add 0.5\n"
     ""},
    {"Relu", NULL, "c = Relu f-1; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"Floor", NULL, "c = Floor f1.5; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "add 1\n"
     ""},
    {"Ceil", NULL, "c = Ceil f1.5; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "add 2\n"
     ""},
    {"Round", NULL, "c = Round f1.5; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "add 2\n"
     ""},
    {"Sign", NULL, "c = Sign f-3; y = Add x c", "", NULL,
     "input 6x10x8\n"
     "add -1\n"
     ""},
    {"Sqrt-3", NULL, "c = Sqrt i4; y = Add x c", "", NULL,
     "error: `c` (Sqrt): it does not take whole numbers"},
    {"Greater", NULL,
     "a = Greater i3 i3; b = Where a i5 i2; y = Gather x b axis=1", "", NULL,
     "input 6x10x8\n"
     "slice c 2:3\n"
     ""},
    {"Less", NULL, "a = Less i3 i3; b = Where a i5 i2; y = Gather x b axis=1",
     "", NULL,
     "input 6x10x8\n"
     "slice c 2:3\n"
     ""},
    {"GreaterOrEqual", NULL,
     "a = GreaterOrEqual i3 i3; b = Where a i5 i2; y = Gather x b axis=1", "",
     NULL,
     "input 6x10x8\n"
     "slice c 5:6\n"
     ""},
    {"LessOrEqual", NULL,
     "a = LessOrEqual i3 i3; b = Where a i5 i2; y = Gather x b axis=1", "",
     NULL,
     "input 6x10x8\n"
     "slice c 5:6\n"
     ""},
    {"Equal", NULL, "a = Equal i3 i3; b = Where a i5 i2; y = Gather x b axis=1",
     "", NULL,
     "input 6x10x8\n"
     "slice c 5:6\n"
     ""},
    {"And", NULL, "a = And b1 b0; b = Where a i5 i2; y = Gather x b axis=1", "",
     NULL,
     "input 6x10x8\n"
     "slice c 2:3\n"
     ""},
    {"Or", NULL, "a = Or b1 b0; b = Where a i5 i2; y = Gather x b axis=1", "",
     NULL,
     "input 6x10x8\n"
     "slice c 5:6\n"
     ""},
    {"Xor", NULL, "a = Xor b1 b0; b = Where a i5 i2; y = Gather x b axis=1", "",
     NULL,
     "input 6x10x8\n"
     "slice c 5:6\n"
     ""},
    {"Add-6", NULL, "a = Add i1,2 i1,2,3; y = Gather x a axis=1", "", NULL,
     "error: `a` (Add): its sizes do not agree: 2 and 3"},
    {"Shape-2", NULL,
     "a = Shape x start=1 end=3; b = ReduceProd a; d = Concat b i-1, axis=0; y "
     "= Reshape x d",
     "", NULL,
     "input 6x10x8\n"
     "permute 2 0 1 -> 8x6x10\n"
     "reshape 48x10 -> 48x10\n"
     ""},
    {"Size", NULL, "a = Size x; b = Unsqueeze a i0; y = Reshape x b", "", NULL,
     "input 6x10x8\n"
     "reshape 60x8 -> 60x8\n"
     "permute 1 0  -> 8x60\n"
     "flatten      -> 480\n"
     ""},
    {"Size-2", NULL, "a = Size i3,4; y = Gather x a axis=1", "", NULL,
     "input 6x10x8\n"
     "slice c 2:3\n"
     "reshape 6x10 -> 6x10\n"
     ""},
    {"FusedConv", NULL,
     "y = ms.FusedConv x w4x8x3x3 w4 activation='Relu' pads=1,1,1,1", "", NULL,
     "input 6x10x8\n"
     "conv 4 3x3 pad relu\n"
     ""},
    {"FusedConv-2", NULL,
     "y = ms.FusedConv x w4x8x3x3 activation='Clip' activation_params=0.0,6.0",
     "", NULL,
     "input 6x10x8\n"
     "conv 4 3x3 nobias relu6 -> 4x8x4\n"
     ""},
    {"FusedConv-3", NULL,
     "y = ms.FusedConv x w4x8x3x3 activation='LeakyRelu' "
     "activation_params=0.2,0.0",
     "", NULL,
     "input 6x10x8\n"
     "conv 4 3x3 nobias leaky(0.2) -> 4x8x4\n"
     ""},
    {"FusedConv-4", NULL,
     "y = ms.FusedConv x w4x8x3x3 activation='LeakyRelu' activation_alpha=0.3",
     "", NULL,
     "input 6x10x8\n"
     "conv 4 3x3 nobias leaky(0.3) -> 4x8x4\n"
     ""},
    {"FusedConv-5", NULL, "y = ms.FusedConv x w4x8x3x3 activation='Warp'", "",
     NULL,
     "error: `y` (FusedConv; activation=Warp): netc has no equivalent of its "
     "activation"},
    {"FusedConv-6", NULL, "y = ms.FusedConv x w4x8x3x3 ", "", NULL,
     "input 6x10x8\n"
     "conv 4 3x3 nobias -> 4x8x4\n"
     ""},
    {"FusedConv-7", NULL,
     "y = ms.FusedConv x w8x8x3x3 w8 x activation='Relu' pads=1,1,1,1", "",
     NULL,
     "input 6x10x8\n"
     "add { conv 8 3x3 pad } {} relu\n"
     ""},
    {"FusedConv-8", NULL, "y = ms.FusedConv x w7x7x3x3 activation='Relu'", "",
     NULL,
     "error: `y` (Conv; activation=Relu): its weights, 7x7x3x3, do not fit 8 "
     "channels in 1 groups"},
    {"FusedConv-9", NULL, "y = ms.FusedConv x w4x8x3x3 activation='Tanh'", "",
     NULL,
     "input 6x10x8\n"
     "conv 4 3x3 nobias tanh -> 4x8x4\n"
     ""},
    {"FusedConv-10", NULL, "y = ms.FusedConv x w4x8x3x3 activation='Sigmoid'",
     "", NULL,
     "input 6x10x8\n"
     "conv 4 3x3 nobias sigmoid -> 4x8x4\n"
     ""},
    {"FusedConv-11", NULL, "y = ms.FusedConv x w4x8x3x3 activation='HardSwish'",
     "", NULL,
     "input 6x10x8\n"
     "conv 4 3x3 nobias hswish -> 4x8x4\n"
     ""},
    {"FusedConv-12", NULL, "y = ms.FusedConv x w4x8x3x3 activation='Softplus'",
     "", NULL,
     "input 6x10x8\n"
     "conv 4 3x3 nobias softplus -> 4x8x4\n"
     ""},
    {"FusedConv-13", NULL, "y = ms.FusedConv  activation='Relu'", "", NULL,
     "error: `y` (Conv; activation=Relu): input 0 is missing"},
    {"FusedGemm", NULL, "y = ms.FusedGemm x w8x5 w5 activation='Relu'", "",
     "1x8",
     "input 8\n"
     "fc 5 relu\n"
     ""},
    {"FusedGemm-2", NULL, "y = ms.FusedGemm x w8x5 ", "", "1x8",
     "input 8\n"
     "fc 5 nobias\n"
     ""},
    {"FusedGemm-3", NULL, "y = ms.FusedGemm x w7x5 activation='Relu'", "",
     "1x8",
     "error: `y` (Gemm; activation=Relu): 8 features meet a matrix of 7"},
    {"FusedMatMul", NULL, "y = ms.FusedMatMul x w10x5 alpha=0.5", "", NULL,
     "input 6x10x8\n"
     "permute 2 0 1 -> 8x6x10\n"
     "linear 5 nobias\n"
     "mul 0.5\n"
     ""},
    {"FusedMatMul-2", NULL, "y = ms.FusedMatMul x w5x10 transB=1", "", NULL,
     "input 6x10x8\n"
     "permute 2 0 1 -> 8x6x10\n"
     "linear 5 nobias\n"
     ""},
    {"FusedMatMul-3", NULL, "y = ms.FusedMatMul x w5x10 transB=1 transBatchB=1",
     "", NULL,
     "error: `y` (FusedMatMul; transB=1, transBatchB=1): transposed batches "
     "are not supported"},
    {"FusedMatMul-4", NULL, "y = ms.FusedMatMul x x transB=1 alpha=0.125", "",
     "1x10x8",
     "input 10x8\n"
     "matmul transpose {} {}\n"
     "mul 0.125\n"
     ""},
    {"FusedMatMul-5", NULL, "y = ms.FusedMatMul x x transA=1", "", "1x10x8",
     "input 10x8\n"
     "matmul { permute 1 0 } {} -> 8x8\n"
     ""},
    {"FusedMatMul-6", NULL, "y = ms.FusedMatMul x ", "", "1x10x8",
     "error: `y` (FusedMatMul): it needs two inputs"},
    {"FusedMatMul-7", NULL, "y = ms.FusedMatMul x w8 transB=1", "", "1x10x8",
     "error: `y` (FusedMatMul; transB=1): netc has no equivalent of a product "
     "of vectors"},
    {"FusedMatMul-8", NULL, "y = ms.FusedMatMul x w8x5 ", "", "1x10x8",
     "input 10x8\n"
     "linear 5 nobias\n"
     ""},
    {"SkipLayerNormalization", NULL, "y = ms.SkipLayerNormalization x x w8 w8 ",
     "", "1x10x8",
     "input 10x8\n"
     "add {} {}\n"
     "ln eps=1e-12\n"
     ""},
    {"SkipLayerNormalization-2", NULL,
     "y = ms.SkipLayerNormalization x x w8 w8 w8 ", "", "1x10x8",
     "input 10x8\n"
     "add { add {} { weight 8 } } {}\n"
     "ln eps=1e-12\n"
     ""},
    {"SkipLayerNormalization-3", NULL, "y = ms.SkipLayerNormalization x x ", "",
     "1x10x8",
     "error: `y` (SkipLayerNormalization): it needs two tensors and a weight"},
    {"SkipLayerNormalization-4", NULL, "y = ms.SkipLayerNormalization x x w8 ",
     "", "1x10x8",
     "input 10x8\n"
     "add {} {}\n"
     "ln eps=1e-12 nobias\n"
     ""},
    {"SkipSimplifiedLayerNormalization", NULL,
     "y = ms.SkipSimplifiedLayerNormalization x x w8 ", "", "1x10x8",
     "input 10x8\n"
     "add {} {}\n"
     "rmsnorm eps=1e-12\n"
     ""},
    {"SkipSimplifiedLayerNormalization-2", NULL,
     "y = ms.SkipSimplifiedLayerNormalization x x w8 w8 ", "", "1x10x8",
     "input 10x8\n"
     "add { add {} { weight 8 } } {}\n"
     "rmsnorm eps=1e-12\n"
     ""},
    {"SkipLayerNormalization-5", NULL,
     "y = ms.SkipLayerNormalization x x w7 w8 ", "", "1x10x8",
     "error: `y` (LayerNormalization; epsilon=9.999999960041972e-13): its "
     "input 1 is not a constant of 8 channels"},
    {"MatMul-5", NULL,
     "a = MatMul x w8x8; y = ms.SkipLayerNormalization x a w8 w8 w8", "",
     "1x10x8",
     "input 10x8\n"
     "add {} { linear 8 }\n"
     "ln eps=1e-12\n"
     ""},
    {"MatMul-6", NULL,
     "a = MatMul x w8x8; y = ms.SkipLayerNormalization a x w8 w8 w8 "
     "epsilon=0.001",
     "", "1x10x8",
     "input 10x8\n"
     "add { linear 8 } {}\n"
     "ln eps=0.001\n"
     ""},
    {"SkipLayerNormalization-6", NULL,
     "y - - s = ms.SkipLayerNormalization x x w8 w8", "", "1x10x8",
     "input 10x8\n"
     "add {} {}\n"
     "output s\n"
     "ln eps=1e-12\n"
     "output y\n"
     ""},
    {"BiasGelu", NULL, "y = ms.BiasGelu x w8 ", "", "1x10x8",
     "input 10x8\n"
     "add {} { weight 8 } gelu\n"
     ""},
    {"BiasGelu-2", NULL, "y = ms.BiasGelu x ", "", "1x10x8",
     "input 10x8\n"
     "gelu\n"
     ""},
    {"FastGelu", NULL, "y = ms.FastGelu x w8 ", "", "1x10x8",
     "input 10x8\n"
     "add {} { weight 8 } gelu(approximate=tanh)\n"
     ""},
    {"FastGelu-2", NULL, "y = ms.FastGelu x ", "", "1x10x8",
     "input 10x8\n"
     "gelu approximate=tanh\n"
     ""},
    {"BiasGelu-3", NULL, "y = ms.BiasGelu  ", "", "1x10x8",
     "error: `y` (BiasGelu): it has no input"},
    {"BiasGelu-4", NULL, "y = ms.BiasGelu x w7 ", "", "1x10x8",
     "error: `y` (Add): its sizes do not agree: 1x10x8 and 7"},
    {"QuickGelu", NULL, "y = ms.QuickGelu x ", "", "1x10x8",
     "input 10x8\n"
     "mul {} { mul 1.702 sigmoid }\n"
     ""},
    {"QuickGelu-2", NULL, "y = ms.QuickGelu x alpha=1.0", "", "1x10x8",
     "input 10x8\n"
     "silu\n"
     ""},
    {"QuickGelu-3", NULL, "y = ms.QuickGelu  ", "", "1x10x8",
     "error: `y` (QuickGelu): it has no input"},
    {"EmbedLayerNormalization", NULL,
     "y = ms.EmbedLayerNormalization x - w20x8 - - w8 w8 ", "", "1x10",
     "error: `y` (EmbedLayerNormalization): it needs words and two tables"},
    {"EmbedLayerNormalization-2", NULL,
     "y = ms.EmbedLayerNormalization x - w20x8 w10x8 - w8 w8 ", "", NULL,
     "error: `y` (EmbedLayerNormalization): it needs words and two tables"},
    {"LayerNormalization-5", "LayerNormalization", "x w8 w8", "epsilon=0.00001",
     "1x10x8",
     "input 10x8\n"
     "ln\n"
     ""},
    {"LayerNormalization-6", "LayerNormalization", "x w8", "", "1x10x8",
     "input 10x8\n"
     "ln nobias\n"
     ""},
    {"LayerNormalization-7", NULL, "y m i = LayerNormalization x w8 w8", "",
     "1x10x8",
     "input 10x8\n"
     "fork {\n"
     "  sub {} { mean axis=1 keep; output m }\n"
     "  mul {} {}\n"
     "  mean axis=1 keep\n"
     "  add 1e-05\n"
     "  sqrt\n"
     "  pow -1\n"
     "  output i\n"
     "}\n"
     "ln\n"
     "output y\n"
     ""},
    {"LayerNormalization-8", NULL, "y m = LayerNormalization x w8 w8", "",
     "1x10x8",
     "input 10x8\n"
     "fork { mean axis=1 keep; output m }\n"
     "ln\n"
     "output y\n"
     ""},
    {"LayerNormalization-9", "LayerNormalization", "x w8 w8", "axis=9",
     "1x10x8",
     "error: `y` (LayerNormalization; axis=9): axis 9 of 3 does not exist"},
    {"LayerNormalization-10", "LayerNormalization", "", "", "1x10x8",
     "error: `y` (LayerNormalization): input 0 is missing"},
    {"LayerNormalization-11", "LayerNormalization", "x w7 w8", "", "1x10x8",
     "error: `y` (LayerNormalization): its input 1 is not a constant of 8 "
     "channels"},
    {"LayerNormalization-12", "LayerNormalization", "x w8 w7", "", "1x10x8",
     "error: `y` (LayerNormalization): its input 2 is not a constant of 8 "
     "channels"},
    {"LayerNormalization-13", "LayerNormalization", "x w480 w480", "axis=1",
     NULL,
     "input 8x6x10\n"
     "flatten -> 480\n"
     "ln\n"
     "reshape 8x6x10 -> 8x6x10\n"
     ""},
    {"LayerNormalization-14", "LayerNormalization", "x w6x10", "axis=2", NULL,
     "input 8x6x10\n"
     "reshape 8x60 -> 8x60\n"
     "ln nobias\n"
     "reshape 8x6x10 -> 8x6x10\n"
     ""},
    {"LayerNormalization-15", "LayerNormalization", "x w80", "axis=0", "1x10x8",
     "input 10x8\n"
     "flatten -> 80\n"
     "ln nobias\n"
     "reshape 10x8 -> 10x8\n"
     ""},
    {"RMSNormalization-2", "RMSNormalization", "x w60", "axis=-2", NULL,
     "input 6x10x8\n"
     "reshape 60x8 -> 60x8\n"
     "permute 1 0  -> 8x60\n"
     "rmsnorm\n"
     "reshape 8x6x10 -> 8x6x10\n"
     ""},
    {"RMSNormalization-3", "RMSNormalization", "x w7", "", "1x10x8",
     "error: `y` (RMSNormalization): its input 1 is not a constant of 8 "
     "channels"},
    {"RMSNormalization-4", "RMSNormalization", "", "", "1x10x8",
     "error: `y` (RMSNormalization): input 0 is missing"},
    {"SimplifiedLayerNormalization", NULL,
     "y = ms.SimplifiedLayerNormalization x w8 ", "", "1x10x8",
     "input 10x8\n"
     "rmsnorm\n"
     ""},
    {"RMSNormalization-5", "RMSNormalization", "x w10x8", "axis=1", "1x10x8",
     "input 10x8\n"
     "flatten -> 80\n"
     "rmsnorm\n"
     "reshape 10x8 -> 10x8\n"
     ""},
    {"InstanceNormalization-3", "InstanceNormalization", "x w8 w8", "", "1x8",
     "error: `y` (InstanceNormalization): it needs a batch, channels and "
     "positions"},
    {"Reshape-16", NULL,
     "a = Reshape x i0,4,-1; b = InstanceNormalization a f1,1,1,1 f0,0,0,0; d "
     "= Reshape b i1,8,6,10; y = Mul d w8x1x1",
     "", NULL,
     "input 6x10x8\n"
     "gn 4 nobias\n"
     ""},
    {"Reshape-17", NULL,
     "a = Reshape x i0,4,-1; b = InstanceNormalization a f1,1,1,1 f0,0,0,0; d "
     "= Reshape b i1,8,6,10; e = Mul d r8x1x1; y = Add e r8x1x1",
     "", NULL,
     "input 6x10x8\n"
     "gn 4\n"
     ""},
    {"InstanceNormalization-4", "InstanceNormalization",
     "x f1,1,1,1,1,1,1,1 f0,0,0,0,0,0,0,0", "", NULL,
     "input 6x10x8\n"
     "instnorm noaffine\n"
     ""},
    {"InstanceNormalization-5", "InstanceNormalization", "x r8", "", NULL,
     "error: `y` (InstanceNormalization): its input 2 is not a constant of 8 "
     "channels"},
    {"BatchNormalization-5", "BatchNormalization", "x w8 w8 w8 w8", "", "1x8",
     "input 8\n"
     "bn\n"
     ""},
    {"BatchNormalization-6", "BatchNormalization", "x w8 w8 w8 w8", "", "8",
     "error: `y` (BatchNormalization): it needs a batch and channels"},
    {"BatchNormalization-7", "BatchNormalization", "x w8 w8 w8 w8", "",
     "1x8x10",
     "input 10x8\n"
     "bn\n"
     ""},
    {"BatchNormalization-8", "BatchNormalization", "x x x x x", "", NULL,
     "error: `y` (BatchNormalization): its input 1 is not a constant of 8 "
     "channels"},
    {"LRN-4", "LRN", "x", "size=3", "1x8",
     "error: lrn needs a map (LxC, HxWxC or DxHxWxC), not 8 [wrong-rank]"},
    {"LRN-5", "LRN", "x", "size=0", NULL,
     "error: `y` (LRN; size=0): it has no `size`"},
    {"LpNormalization-4", "LpNormalization", "", "axis=1", NULL,
     "error: `y` (LpNormalization; axis=1): input 0 is missing"},
    {"LpNormalization-5", "LpNormalization", "x", "axis=7", NULL,
     "error: `y` (LpNormalization; axis=7): axis 7 of 4 does not exist"},
    {"MeanVarianceNormalization", "MeanVarianceNormalization", "x", "", NULL,
     "error: netc has no equivalent of these operators: "
     "MeanVarianceNormalization (1); the first is `y` "
     "(MeanVarianceNormalization)"},
    {"Split-3", NULL, "a b = Split x axis=1", "", NULL,
     "input 6x10x8\n"
     "fork { slice c 0:4; output a }\n"
     "slice c 4:_\n"
     "output b\n"
     ""},
    {"Split-4", NULL, "a b d = Split x axis=1", "", NULL,
     "input 6x10x8\n"
     "fork { slice c 0:3; output a }\n"
     "fork { slice c 3:6; output b }\n"
     "slice c 6:_\n"
     "output d\n"
     ""},
    {"Split-5", NULL, "a b = Split x i3,5 axis=1", "", NULL,
     "input 6x10x8\n"
     "fork { slice c 0:3; output a }\n"
     "slice c 3:_\n"
     "output b\n"
     ""},
    {"Split-6", NULL, "a b = Split x i3,6 axis=1", "", NULL,
     "error: `a` (Split; axis=1): its parts do not fit 8 places"},
    {"Split-7", NULL, "a b = Split x i0,8 axis=1", "", NULL,
     "error: `a` (Split; axis=1): its parts do not fit 8 places"},
    {"Split-8", NULL, "a b = Split x axis=9", "", NULL,
     "error: `a` (Split; axis=9): axis 9 of 4 does not exist"},
    {"Split-9", NULL, "a b = Split x split=2,6 axis=1", "", "1x8x6x10@11",
     "input 6x10x8\n"
     "fork { slice c 0:2; output a }\n"
     "slice c 2:_\n"
     "output b\n"
     ""},
    {"Split-10", NULL, "a b = Split x axis=0", "", NULL,
     "error: `a` (Split; axis=0): its parts do not fit 1 places"},
    {"Split-11", NULL,
     "a b = Split i1,480,1,8 axis=0; d = Slice a i0 i2; y = Reshape x d", "",
     NULL,
     "input 6x10x8\n"
     "reshape 60x8 -> 60x8\n"
     "permute 1 0  -> 8x60\n"
     "flatten      -> 480\n"
     ""},
    {"Slice-10", "Slice", "x i0,0 i6,10 i2,3 i2,2", "", NULL,
     "input 6x10x8\n"
     "avgpool 1x1 /2 -> 3x5x8\n"
     ""},
    {"Slice-11", "Slice", "x i0 i8 i1 i2", "", NULL,
     "input 6x10x8\n"
     "reshape 6x10x4x2 -> 6x10x4x2\n"
     "permute 2 0 1 3  -> 4x6x10x2\n"
     "slice c 0:1\n"
     "reshape 4x6x10 -> 4x6x10\n"
     ""},
    {"Slice-12", "Slice", "x i1 i8 i1 i2", "", NULL,
     "input 6x10x8\n"
     "reshape 6x10x4x2 -> 6x10x4x2\n"
     "permute 2 0 1 3  -> 4x6x10x2\n"
     "slice c 1:_\n"
     "reshape 4x6x10 -> 4x6x10\n"
     ""},
    {"Slice-13", "Slice", "x i0 i7 i1 i2", "", NULL,
     "input 6x10x8\n"
     "reshape 6x10x4x2 -> 6x10x4x2\n"
     "permute 2 0 1 3  -> 4x6x10x2\n"
     "slice c 0:1\n"
     "reshape 4x6x10 -> 4x6x10\n"
     ""},
    {"Slice-14", "Slice", "x x i7 i1 i2", "", NULL,
     "error: `y` (Slice): its indices depend on the inputs"},
    {"Slice-15", "Slice", "x i0 i7 i1 i2,2", "", NULL,
     "error: `y` (Slice): its indices depend on the inputs"},
    {"Slice-16", "Slice", "x i0 i7 i1,1 i2", "", NULL,
     "error: `y` (Slice): its indices depend on the inputs"},
    {"Slice-17", "Slice", "x i0 i7 i1 i0", "", NULL,
     "error: `y` (Slice): steps of 0"},
    {"Slice-18", "Slice", "x", "starts=1, ends=3, axes=1,", "1x8x6x10@9",
     "input 6x10x8\n"
     "slice c 1:3\n"
     ""},
    {"Slice-19", "Slice", "x", "starts=1,0 ends=3,9", "1x8x6x10@9",
     "error: `y` (Slice; starts=[1,0], ends=[3,9]): an empty slice"},
    {"Slice-20", "Slice", "x i0,1 i1,3", "", NULL,
     "input 6x10x8\n"
     "slice c 1:3\n"
     ""},
    {"Slice-21", "Slice", "x i-2 i-1 i3 i-1", "", NULL,
     "error: `y` (Slice): an empty slice"},
    {"Slice-22", "Slice", "x i3 i2 i3 i-1", "", NULL,
     "input 6x10x8\n"
     "slice w 3:4 -> 6x1x8\n"
     ""},
    {"Slice-23", "Slice", "x i0 i99 i2", "", NULL,
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"Slice-24", "Slice", "x i-99 i-3 i2", "", NULL,
     "input 6x10x8\n"
     "slice h 0:3 -> 3x10x8\n"
     ""},
    {"Slice-25", NULL,
     "a = Slice i7,6,5,4 i3 i-9 i0 i-1; b = Slice a i0 i1; y = Gather x b "
     "axis=1",
     "", NULL,
     "input 6x10x8\n"
     "slice c 4:5\n"
     ""},
    {"Slice-26", NULL,
     "a = Slice r9x8 i0 i3 i0; b = Unsqueeze a i0; y = Add x b", "", "1x3x8",
     "input 3x8\n"
     "posembed 9\n"
     ""},
    {"Gather-13", "Gather", "x i0,1,5,6 ", "axis=2", NULL,
     "error: `y` (Gather; axis=2): index 6 of an axis of 6"},
    {"Gather-14", "Gather", "x i3,3", "axis=2", NULL,
     "input 6x10x8\n"
     "concat axis=h { slice h 3:4 } { slice h 3:4 } -> 2x10x8\n"
     ""},
    {"Gather-15", "Gather", "x x", "axis=2", NULL,
     "error: `y` (Gather; axis=2): its indices depend on the inputs"},
    {"Gather-16", "Gather", "x i0", "axis=7", NULL,
     "error: `y` (Gather; axis=7): axis 7 of 4 does not exist"},
    {"Reshape-18", NULL, "a = Reshape i0,1,2,3 i2,2; y = Gather x a axis=1", "",
     NULL,
     "input 6x10x8\n"
     "slice c 0:4\n"
     "reshape 6x10x2x2 -> 6x10x2x2\n"
     "permute 2 3 0 1  -> 2x2x6x10\n"
     ""},
    {"Gather-17", "Gather", "w10x8 x", "axis=1", "1x10",
     "error: `y` (Gather; axis=1): only rows of a table are supported"},
    {"Gather-18", "Gather", "x i0", "axis=0", NULL,
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"Gather-19", "Gather", "x i0,0", "axis=0", NULL,
     "input 6x10x8\n"
     "reshape 1x6x10x8    -> 1x6x10x8\n"
     "concat axis=0 {} {} -> 2x6x10x8\n"
     "permute 0 3 1 2     -> 2x8x6x10\n"
     ""},
    {"Gather-20", "Gather", "w10x8x2 x", "", "1x10",
     "error: `y` (Gather): only rows of a table are supported"},
    {"Range-6", NULL, "a = Range i0 i140 i2; y = Gather x a axis=1", "",
     "1x140",
     "error: `y` (Gather; axis=1): netc has no equivalent of the order of its "
     "indices"},
    {"Tile-10", "Tile", "x x", "", NULL,
     "error: `y` (Tile): its repeats depend on the inputs"},
    {"Tile-11", "Tile", "x i1,0,1,1", "", NULL,
     "error: `y` (Tile): 0 repeats; 1 to 64 are supported"},
    {"Tile-12", "Tile", "x i1,65,1,1", "", NULL,
     "error: `y` (Tile): 65 repeats; 1 to 64 are supported"},
    {"Tile-13", "Tile", "x i1,1,1,65", "", NULL,
     "error: `y` (Tile): 65 repeats; 1 to 64 are supported"},
    {"Tile-14", "Tile", "x i1,4,1", "", "1x1x8",
     "input 1x8\n"
     "concat axis=l {} {} {} {} -> 4x8\n"
     ""},
    {"Tile-15", "Tile", "x i1,3,1,1", "", NULL,
     "input 6x10x8\n"
     "concat {} {} {}\n"
     ""},
    {"Expand-4", "Expand", "x i5,8,6,10", "", NULL,
     "input 6x10x8\n"
     "permute 2 0 1                -> 8x6x10\n"
     "reshape 1x8x6x10             -> 1x8x6x10\n"
     "concat axis=0 {} {} {} {} {} -> 5x8x6x10\n"
     ""},
    {"Expand-5", "Expand", "x i1,8,6,9", "", NULL,
     "error: `y` (Expand): its sizes do not agree: 1x8x6x10 and 1x8x6x9"},
    {"Expand-6", "Expand", "x x", "", NULL,
     "error: `y` (Expand): its sizes depend on the inputs"},
    {"Expand-7", "Expand", "x i4,8", "", "1x1x8",
     "input 1x8\n"
     "concat axis=l {} {} {} {} -> 4x8\n"
     ""},
    {"Expand-8", "Expand", "x i2,1,1,1,1", "", NULL,
     "input 6x10x8\n"
     "permute 2 0 1       -> 8x6x10\n"
     "reshape 1x8x6x10    -> 1x8x6x10\n"
     "concat axis=0 {} {} -> 2x8x6x10\n"
     ""},
    {"ReduceMean-7", NULL,
     "a = ReduceMean x axes=2, keepdims=1; b = ReduceMean x axes=3, "
     "keepdims=1; y = Add a b",
     "", NULL,
     "input 6x10x8\n"
     "add { mean axis=0 keep; permute 2 0 1 } { permute 2 0 1; mean axis=2 "
     "keep }\n"
     ""},
    {"ReduceMean-8", NULL, "a = ReduceMean x axes=2,3; y = Mul x a", "", NULL,
     "input 6x10x8\n"
     "mul {} { gap }\n"
     ""},
    {"ReduceMean-9", NULL, "a = ReduceMean x axes=2,3; y = Sub a x", "", NULL,
     "input 6x10x8\n"
     "sub { gap } {}\n"
     ""},
    {"ReduceMax-4", NULL, "a = ReduceMax x axes=1,; y = Div x a", "", NULL,
     "input 6x10x8\n"
     "div {} { max axis=2 keep }\n"
     ""},
    {"Transpose-6", NULL,
     "a = Transpose x perm=0,2,3,1; b = Relu x; d = Transpose b perm=0,2,3,1; "
     "y = Add a d",
     "", NULL,
     "input 8x6x10\n"
     "add {} { relu }\n"
     "permute 1 2 0 -> 6x10x8\n"
     ""},
    {"Transpose-7", NULL, "a = Transpose x perm=0,2,1,3; y = Add a a", "", NULL,
     "input 8x6x10\n"
     "add {} {}\n"
     "permute 1 0 2 -> 6x8x10\n"
     ""},
    {"Transpose-8", NULL, "a = Transpose x perm=0,1,3,2; y = Add a x", "", NULL,
     "error: `y` (Add): its sizes do not agree: 1x8x10x6 and 1x8x6x10"},
    {"Reshape-19", NULL,
     "a = Reshape x i1,80; b = Relu x; d = Reshape b i1,80; y = Add a d", "",
     "1x10x8",
     "input 10x8\n"
     "add {} { relu }\n"
     "flatten -> 80\n"
     ""},
    {"Unsqueeze-4", NULL, "a = Unsqueeze x i1; y = Add a x", "", "1x10x8",
     "input 10x8\n"
     "add {} {}\n"
     ""},
    {"Add-7", "Add", "x", "", "1x10x8",
     "error: `y` (Add): it needs two inputs"},
    {"Add-8", "Add", "x -", "", "1x10x8",
     "error: `y` (Add): it needs two inputs"},
    {"Add-9", "Add", "x x x", "", "1x10x8",
     "error: `y` (Add): it needs two inputs"},
    {"Div-4", "Div", "x f0", "", "1x10x8", "error: `y` (Div): a division by 0"},
    {"Add-10", "Add", "x f1", "", "1x10x8",
     "input 10x8\n"
     "add 1\n"
     ""},
    {"Mul-3", "Mul", "x f1", "", "1x10x8",
     "input 10x8\n"
     "identity\n"
     ""},
    {"Div-5", "Div", "x f1", "", "1x10x8",
     "input 10x8\n"
     "identity\n"
     ""},
    {"Sub-4", "Sub", "x f0", "", "1x10x8",
     "input 10x8\n"
     "identity\n"
     ""},
    {"Sub-5", "Sub", "r8 x", "", "1x10x8",
     "input 10x8\n"
     "sub { weight 8 } {}\n"
     ""},
    {"Div-6", "Div", "r8 x", "", "1x10x8",
     "input 10x8\n"
     "div { weight 8 } {}\n"
     ""},
    {"Mul-4", "Mul", "r8 x", "", "1x10x8",
     "input 10x8\n"
     "scale\n"
     ""},
    {"Add-11", "Add", "x r10x8", "", "1x10x8",
     "input 10x8\n"
     "posembed\n"
     ""},
    {"Add-12", "Add", "x r5x10x8", "", "1x10x8",
     "input 10x8\n"
     "add {} { weight 5x10x8 } -> 5x10x8\n"
     ""},
    {"Add-13", "Add", "x r10x1", "", "1x10x8",
     "input 10x8\n"
     "add {} { weight 10x1 }\n"
     ""},
    {"Sub-6", "Sub", "x r8", "", "1x10x8",
     "input 10x8\n"
     "sub {} { weight 8 }\n"
     ""},
    {"Add-14", "Add", "x r1x1x8", "", "1x10x8",
     "input 10x8\n"
     "add {} { weight 8 }\n"
     ""},
    {"Min-3", "Min", "x r8", "", "1x10x8",
     "input 10x8\n"
     "min {} { weight 8 }\n"
     ""},
    {"Max-5", "Max", "r8 x", "", "1x10x8",
     "input 10x8\n"
     "max {} { weight 8 }\n"
     ""},
    {"Max-6", "Max", "", "", "1x10x8", "error: `y` (Max): it has no inputs"},
    {"Max-7", "Max", "x -", "", "1x10x8",
     "error: `y` (Max): input 1 is missing"},
    {"Min-4", "Min", "f1 f2 x", "", "1x10x8",
     "error: `y` (Min): two constants"},
    {"Mean-2", "Mean", "", "", "1x10x8", "error: `y` (Mean): it has no inputs"},
    {"Mean-3", "Mean", "x", "", "1x10x8",
     "input 10x8\n"
     "identity\n"
     ""},
    {"Mean-4", "Mean", "x x x", "", "1x10x8",
     "input 10x8\n"
     "add { add {} {} } {}\n"
     "div 3\n"
     ""},
    {"Sum-2", "Sum", "x r8 x", "", "1x10x8",
     "input 10x8\n"
     "add { add {} { weight 8 } } {}\n"
     ""},
    {"Mean-5", "Mean", "x f2", "", "1x10x8",
     "input 10x8\n"
     "add 2\n"
     "div 2\n"
     ""},
    {"Pow-4", "Pow", "x x", "", "1x10x8",
     "error: `y` (Pow): only powers by a number are supported"},
    {"Pow-5", "Pow", "x r8", "", "1x10x8",
     "error: `y` (Pow): only powers by a number are supported"},
    {"Pow-6", "Pow", "x f-0.5", "", "1x10x8",
     "input 10x8\n"
     "pow -0.5\n"
     ""},
    {"Clip-5", "Clip", "x f-1 f1", "", "1x10x8",
     "input 10x8\n"
     "hardtanh\n"
     ""},
    {"Clip-6", "Clip", "x x", "", "1x10x8",
     "error: `y` (Clip): its bounds depend on the inputs"},
    {"Clip-7", "Clip", "x", "min=0.0 max=6.0", "1x8x6x10@6",
     "input 6x10x8\n"
     "relu6\n"
     ""},
    {"Clip-8", "Clip", "x", "min=-1.0", "1x8x6x10@6",
     "input 6x10x8\n"
     "max -1\n"
     ""},
    {"Clip-9", "Clip", "x", "max=2.0", "1x8x6x10@6",
     "input 6x10x8\n"
     "min 2\n"
     ""},
    {"Clip-10", "Clip", "x f0 x", "", "1x10x8",
     "error: `y` (Clip): its bounds depend on the inputs"},
    {"Clip-11", "Clip", "x f-1 f6", "", "1x10x8",
     "input 10x8\n"
     "hardtanh -1 6\n"
     ""},
    {"HardSigmoid-3", "HardSigmoid", "", "", "1x10x8",
     "error: `y` (HardSigmoid): input 0 is missing"},
    {"Reciprocal-3", "Reciprocal", "", "", "1x10x8",
     "error: `y` (Reciprocal): it has no inputs"},
    {"HardSigmoid-4", "HardSigmoid", "x", "alpha=0.25 beta=0.25", "1x10x8",
     "input 10x8\n"
     "mul 0.25\n"
     "add 0.25 relu\n"
     "min 1\n"
     ""},
    {"Where", "Where", "x x x", "", "1x10x8",
     "error: `y` (Where): only a mask that is a constant is supported"},
    {"Where-2", "Where", "b1,0,1,0,1,0,1,0 x f0", "", "1x10x8",
     "error: `y` (Where): netc has no equivalent of a choice between values"},
    {"Where-3", "Where", "b1,0 f-100000 x", "", "1x10x8",
     "error: `y` (Where): its sizes do not agree: 1x10x8 and 2"},
    {"Where-4", "Where", "b1 x x", "", "1x10x8",
     "error: `y` (Where): only a mask that is a constant is supported"},
    {"Trilu-6", NULL,
     "a = Trilu r10x10 i1; b = Cast a to=9; s = MatMul x x; y = Where b f-1e9 "
     "s",
     "", "1x10x10",
     "input 10x10\n"
     "matmul {} {}\n"
     "add {} { weight 10x10 fixed }\n"
     ""},
    {"Sigmoid-3", NULL, "a = Sigmoid x; y = Mul x a", "", NULL,
     "input 6x10x8\n"
     "silu\n"
     ""},
    {"HardSigmoid-5", NULL,
     "a = HardSigmoid x alpha=0.16666667 beta=0.5; y = Mul a x", "", NULL,
     "input 6x10x8\n"
     "hswish\n"
     ""},
    {"Softplus-2", NULL, "a = Softplus x; b = Tanh a; y = Mul x b", "", NULL,
     "input 6x10x8\n"
     "mish\n"
     ""},
    {"Div-7", NULL,
     "a = Div x f1.4142135; b = Erf a; d = Add b f1; e = Mul x d; y = Mul e "
     "f0.5",
     "", NULL,
     "input 6x10x8\n"
     "gelu\n"
     ""},
    {"Mul-5", NULL,
     "a = Mul x f0.70710678; b = Erf a; d = Add b f1; h = Mul x f0.5; y = Mul "
     "h d",
     "", NULL,
     "input 6x10x8\n"
     "gelu\n"
     ""},
    {"Pow-7", NULL,
     "a = Pow x f3; b = Mul a f0.044715; d = Add x b; e = Mul d f0.79788456; g "
     "= Tanh e; h = Add g f1; k = Mul x f0.5; y = Mul k h",
     "", NULL,
     "input 6x10x8\n"
     "gelu approximate=tanh\n"
     ""},
    {"Mul-6", NULL,
     "a = Mul x x; b = Mul a x; d = Mul b f0.044715; e = Add d x; g = Mul e "
     "f0.79788456; h = Tanh g; k = Add h f1; l = Mul x k; y = Mul l f0.5",
     "", NULL,
     "input 6x10x8\n"
     "gelu approximate=tanh\n"
     ""},
    {"Add-15", NULL,
     "a = Add x f3; b = Clip a f0 f6; d = Mul x b; y = Div d f6", "", NULL,
     "input 6x10x8\n"
     "hswish\n"
     ""},
    {"Add-16", NULL,
     "a = Add x f3; b = Clip a f0 f6; d = Div b f6; y = Mul x d", "", NULL,
     "input 6x10x8\n"
     "hswish\n"
     ""},
    {"Add-17", NULL, "a = Add x f3; b = Clip a f0 f6; y = Div b f6", "", NULL,
     "input 6x10x8\n"
     "hsigmoid\n"
     ""},
    {"Add-18", NULL, "a = Add x f3; b = Clip a f0 f6; y = Div b f5", "", NULL,
     "input 6x10x8\n"
     "add 3 relu6\n"
     "div 5\n"
     ""},
    {"Add-19", NULL, "a = Add x f2; b = Clip a f0 f6; y = Div b f6", "", NULL,
     "input 6x10x8\n"
     "add 2 relu6\n"
     "div 6\n"
     ""},
    {"Erf-2", NULL, "a = Erf x; b = Add a f1; y = Mul x b", "", NULL,
     "error: `a` (Erf): netc has no equivalent of it, except as part of a "
     "pattern that is not here"},
    {"Tanh-3", NULL, "a = Tanh x; b = Add a f2; d = Mul x b; y = Mul d f0.5",
     "", NULL,
     "input 6x10x8\n"
     "mul {} { tanh; add 2 }\n"
     "mul 0.5\n"
     ""},
    {"Mul-7", NULL,
     "a = Mul x f0.5; b = Mul a x; d = Mul b x; e = Mul d x; g = Mul e x; y = "
     "Mul g x",
     "", NULL,
     "input 6x10x8\n"
     "mul { mul { mul { mul { mul { mul 0.5 } {} } {} } {} } {} } {}\n"
     ""},
    {"Pow-8", NULL,
     "a = Pow x f2; b = Mul a f0.044715; d = Add b f1; e = Mul x d; g = Mul e "
     "f0.79788456; h = Tanh g; k = Add h f1; l = Mul x k; y = Mul l f0.5",
     "", NULL,
     "input 6x10x8\n"
     "gelu approximate=tanh\n"
     ""},
    {"ReduceMean-10", NULL,
     "m = ReduceMean x axes=-1,; d = Sub x m; p = Pow d f2; v = ReduceMean p "
     "axes=-1,; e = Add v f0.00001; s = Sqrt e; y = Div d s",
     "", "1x10x8",
     "input 10x8\n"
     "ln noaffine\n"
     ""},
    {"ReduceMean-11", NULL,
     "m = ReduceMean x axes=-1,; d = Sub x m; p = Mul d d; v = ReduceMean p "
     "axes=-1,; e = Add v f0.001; s = Sqrt e; q = Div d s; r = Mul q r8; y = "
     "Add r r8",
     "", "1x10x8",
     "input 10x8\n"
     "ln eps=0.001\n"
     ""},
    {"Pow-9", NULL,
     "p = Pow x f2; v = ReduceMean p axes=-1,; e = Add v f0.000001; s = Sqrt "
     "e; y = Div x s",
     "", "1x10x8",
     "input 10x8\n"
     "rmsnorm noaffine eps=1e-06\n"
     ""},
    {"Mul-8", NULL,
     "p = Mul x x; v = ReduceMean p axes=-1,; e = Add v f0.00001; s = Sqrt e; "
     "i = Reciprocal s; q = Mul x i; y = Mul q r8",
     "", "1x10x8",
     "input 10x8\n"
     "rmsnorm\n"
     ""},
    {"Mul-9", NULL,
     "p = Mul x x; v = ReduceMean p axes=-1,; e = Add v f0.00001; s = Pow e "
     "f-0.5; y = Mul s x",
     "", "1x10x8",
     "input 10x8\n"
     "rmsnorm noaffine\n"
     ""},
    {"Mul-10", NULL,
     "p = Mul x x; v = ReduceMean p axes=-1,; e = Add v f0.00001; s = Pow e "
     "f0.5; y = Div x s",
     "", "1x10x8",
     "input 10x8\n"
     "rmsnorm noaffine\n"
     ""},
    {"Mul-11", NULL,
     "p = Mul x x; v = ReduceMean p axes=-1,; e = Add v f0.00001; s = Pow e "
     "f0.25; y = Div x s",
     "", "1x10x8",
     "input 10x8\n"
     "div {} {\n"
     "  mul {} {}\n"
     "  mean axis=1 keep\n"
     "  add 1e-05\n"
     "  pow 0.25\n"
     "}\n"
     ""},
    {"Pow-10", NULL,
     "p = Pow x f3; v = ReduceMean p axes=-1,; e = Add v f0.00001; s = Sqrt e; "
     "y = Div x s",
     "", "1x10x8",
     "input 10x8\n"
     "div {} {\n"
     "  pow 3\n"
     "  mean axis=1 keep\n"
     "  add 1e-05\n"
     "  sqrt\n"
     "}\n"
     ""},
    {"Mul-12", NULL,
     "p = Mul x x; v = ReduceMean p axes=1,; e = Add v f0.00001; s = Sqrt e; y "
     "= Div x s",
     "", "1x10x8",
     "input 10x8\n"
     "div {} {\n"
     "  mul {} {}\n"
     "  mean axis=0 keep\n"
     "  add 1e-05\n"
     "  sqrt\n"
     "}\n"
     ""},
    {"Mul-13", NULL, "a = Mul x r8; y = Add a r8", "", "1x10x8",
     "input 10x8\n"
     "scale bias\n"
     ""},
    {"Mul-14", NULL, "a = Mul x r8; b = Add a r8; y = Add b r8", "", "1x10x8",
     "input 10x8\n"
     "scale bias\n"
     "add {} { weight 8 }\n"
     ""},
    {"MatMul-7", NULL, "a = MatMul x r8x5; b = Add a r5; y = Add b r5", "",
     "1x10x8",
     "input 10x8\n"
     "linear 5\n"
     "add {} { weight 5 }\n"
     ""},
    {"Conv-17", NULL, "a = Conv x w4x8x3x3; y = Add a r4x1x1", "", NULL,
     "input 6x10x8\n"
     "conv 4 3x3 -> 4x8x4\n"
     ""},
    {"Conv-18", NULL, "a = Conv x w4x8x3x3 w4; y = Add a r4x1x1", "", NULL,
     "input 6x10x8\n"
     "conv 4 3x3 -> 4x8x4\n"
     "add {} { weight 4 }\n"
     ""},
    {"ConvTranspose-7", NULL, "a = ConvTranspose x w8x4x2x2; y = Add a r4x1x1",
     "", NULL,
     "input 6x10x8\n"
     "deconv 4 2x2 -> 7x11x4\n"
     ""},
    {"Conv-19", NULL,
     "a = Conv x w4x8x3x3; b = Relu a; d = Add a r4x1x1; y = Add b d", "", NULL,
     "input 6x10x8\n"
     "add { conv 4 3x3 nobias relu } { conv 4 3x3 } -> 4x8x4\n"
     ""},
    {"MatMul-8", "MatMul", "x x", "", "1x10x8",
     "error: `y` (MatMul): 8 columns meet 10 rows"},
    {"MatMul-9", "MatMul", "x", "", "1x10x8",
     "error: `y` (MatMul): it needs two inputs"},
    {"MatMul-10", "MatMul", "", "", "1x10x8",
     "error: `y` (MatMul): it has no inputs"},
    {"MatMul-11", "MatMul", "x r8", "", "1x10x8",
     "error: `y` (MatMul): a product with a constant of 1 axes"},
    {"MatMul-12", "MatMul", "x r2x8x5", "", "1x10x8",
     "error: `y` (MatMul): a product with a constant of 3 axes"},
    {"MatMul-13", "MatMul", "r5 x", "", "1x10x8",
     "error: `y` (MatMul): netc has no equivalent of a product of vectors"},
    {"MatMul-14", "MatMul", "r2x5x10 x", "", "1x10x8",
     "input 10x8\n"
     "reshape 1x10x8              -> 1x10x8\n"
     "matmul { weight 2x5x10 } {} -> 2x5x8\n"
     ""},
    {"MatMul-15", "MatMul", "r5x9 x", "", "1x10x8",
     "error: `y` (MatMul): 10 features meet a matrix of 9"},
    {"MatMul-16", "MatMul", "x x", "", "8",
     "error: `y` (MatMul): netc has no equivalent of a product of vectors"},
    {"Transpose-9", NULL, "a = Transpose x perm=0,2,1; y = MatMul x a", "",
     "1x10x8",
     "input 10x8\n"
     "matmul transpose {} {}\n"
     ""},
    {"Transpose-10", NULL, "a = Transpose x perm=0,2,1; y = MatMul a x", "",
     "1x10x8",
     "input 10x8\n"
     "matmul { permute 1 0 } {} -> 8x8\n"
     ""},
    {"Reshape-20", NULL,
     "a = Reshape x i1,10,2,4; b = Transpose a perm=0,2,1,3; d = Transpose a "
     "perm=0,2,3,1; y = MatMul b d",
     "", "1x10x8",
     "input 10x8\n"
     "reshape 10x2x4                             -> 10x2x4\n"
     "matmul { permute 1 0 2 } { permute 1 2 0 } -> 2x10x10\n"
     ""},
    {"Reshape-21", NULL,
     "a = Reshape x i1,2,5,8; b = Reshape x i1,5,2,8; d = Transpose b "
     "perm=0,1,3,2; y = MatMul a d",
     "", "1x10x8", "error: `y` (MatMul): products whose outer axes differ"},
    {"Reshape-22", NULL, "a = Reshape x i1,480; y = MatMul a r480x5", "", NULL,
     "input 8x6x10\n"
     "flatten -> 480\n"
     "fc 5 nobias\n"
     ""},
    {"Flatten-5", NULL, "a = Flatten x; y = Gemm a r5x480 r5 transB=1", "",
     NULL,
     "input 6x10x8\n"
     "fc 5 -> 5\n"
     ""},
    {"MatMul-17", "MatMul", "x r8x1", "", "1x10x8",
     "input 10x8\n"
     "linear 1 nobias\n"
     ""},
    {"Gemm-7", "Gemm", "x r8x5 f0", "", "1x8",
     "input 8\n"
     "fc 5 nobias\n"
     ""},
    {"Gemm-8", "Gemm", "x r8x5 f2", "", "1x8",
     "input 8\n"
     "fc 5\n"
     ""},
    {"Gemm-9", "Gemm", "x r8x5 r5", "alpha=0.5 beta=2.0", "1x8",
     "input 8\n"
     "fc 5\n"
     ""},
    {"Gemm-10", "Gemm", "x r8x5 r1x5", "beta=0.0", "1x8",
     "input 8\n"
     "fc 5\n"
     ""},
    {"Gemm-11", "Gemm", "x x", "", "1x8",
     "error: `y` (Gemm): 8 features meet a matrix of 1"},
    {"Gemm-12", "Gemm", "x r8x1 f2", "", "1x8",
     "input 8\n"
     "fc 1\n"
     ""},
    {"Gemm-13", "Gemm", "x r8x5 x", "", "1x8",
     "error: `y` (Gemm): its bias must be a constant with a value for each "
     "unit"},
    {"Gemm-14", "Gemm", "x r8x5 r2x1x5", "", "1x8",
     "error: `y` (Gemm): its bias must be a constant with a value for each "
     "unit"},
    {"Gemm-15", "Gemm", "x w8x5 w5", "alpha=0.5", "1x8",
     "input 8\n"
     "fc 5\n"
     ""},
    {"Cast-7", "Cast", "x", "to=10", NULL,
     "# `y` rounds to 16 bits; here nothing does.\n"
     "net g\n"
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"Cast-8", "Cast", "x", "to=11", NULL,
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"Cast-9", "Cast", "x", "to=6", NULL,
     "error: `y` (Cast; to=6): netc has no equivalent of a cast to other "
     "numbers"},
    {"Cast-10", "Cast", "x", "to=9", NULL,
     "error: `y` (Cast; to=9): netc has no equivalent of a cast to other "
     "numbers"},
    {"CastLike", "CastLike", "x f1", "", NULL,
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"CastLike-2", "CastLike", "x h1", "", NULL,
     "# `y` rounds to 16 bits; here nothing does.\n"
     "net g\n"
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"CastLike-3", "CastLike", "x i1", "", NULL,
     "error: `y` (CastLike): netc has no equivalent of a cast to other "
     "numbers"},
    {"Relu-2", NULL, "a = Relu x; y = CastLike x a", "", NULL,
     "# `y` may round to fewer bits, those of another tensor; here nothing "
     "does.\n"
     "net g\n"
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"CastLike-4", "CastLike", "x x", "", NULL,
     "# `y` may round to fewer bits, those of another tensor; here nothing "
     "does.\n"
     "net g\n"
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"Dropout-3", "Dropout", "x f0", "", NULL,
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"Dropout-4", "Dropout", "x f1.5", "", NULL,
     "error: `y` (Dropout): `ratio` must be at least 0 and less than 1"},
    {"Dropout-5", "Dropout", "x f0.5 b1", "", NULL,
     "# `y` drops values in a prediction, too.\n"
     "net g\n"
     "input 6x10x8\n"
     "dropout\n"
     ""},
    {"Dropout-6", "Dropout", "x", "ratio=0.25", "1x8x6x10@9",
     "input 6x10x8\n"
     "dropout 0.25\n"
     ""},
    {"Selu-2", "Selu", "x", "alpha=1.0 gamma=2.0", NULL,
     "input 6x10x8\n"
     "elu 1\n"
     "mul 2\n"
     ""},
    {"Selu-3", "Selu", "", "", NULL, "error: `y` (Selu): input 0 is missing"},
    {"Softsign-2", "Softsign", "", "", NULL,
     "error: `y` (Softsign): input 0 is missing"},
    {"PRelu-4", "PRelu", "x x", "", NULL,
     "error: `y` (PRelu): only a slope for each channel is supported"},
    {"PRelu-5", "PRelu", "x w10", "", NULL,
     "input 6x10x8\n"
     "permute 2 0 1 prelu -> 8x6x10\n"
     ""},
    {"PRelu-6", "PRelu", "x r8", "", "1x8x6x10@6",
     "input 6x10x8\n"
     "prelu\n"
     ""},
    {"PRelu-7", "PRelu", "x f0.2", "", NULL,
     "input 6x10x8\n"
     "leaky 0.2\n"
     ""},
    {"PRelu-8", "PRelu", "x w8", "", NULL,
     "error: `y` (PRelu): only a slope for each channel is supported"},
    {"Softmax-6", "Softmax", "x", "", "1x8x1x1@11",
     "input 1x1x8\n"
     "softmax\n"
     ""},
    {"Softmax-7", "Softmax", "x", "", "1x8x6x10@11",
     "error: `y` (Softmax): netc has no equivalent of a softmax over several "
     "axes"},
    {"Softmax-8", "Softmax", "x", "axis=3", "1x8x6x10@11",
     "input 6x10x8\n"
     "softmax w\n"
     ""},
    {"Softmax-9", "Softmax", "x", "axis=9", NULL,
     "error: `y` (Softmax; axis=9): axis 9 of 4 does not exist"},
    {"Softmax-10", "Softmax", "", "", NULL,
     "error: `y` (Softmax): input 0 is missing"},
    {"ReduceMean-12", "ReduceMean", "x x", "", NULL,
     "error: `y` (ReduceMean): its axes depend on the inputs"},
    {"ReduceMean-13", "ReduceMean", "x", "keepdims=0", NULL,
     "input 6x10x8\n"
     "mean axis=0 axis=1 axis=2 keep -> 1x1x1\n"
     "flatten                        -> 1\n"
     ""},
    {"ReduceMean-14", "ReduceMean", "x", "", NULL,
     "input 6x10x8\n"
     "mean axis=0 axis=1 axis=2 keep -> 1x1x1\n"
     ""},
    {"ReduceMean-15", "ReduceMean", "x i1", "", "1x8x6x10@18",
     "input 6x10x8\n"
     "mean axis=2 keep\n"
     ""},
    {"ReduceSum-8", "ReduceSum", "x i1,2 ", "keepdims=0", NULL,
     "input 6x10x8\n"
     "sum axis=0 axis=2 keep -> 1x10x1\n"
     "flatten                -> 10\n"
     ""},
    {"ReduceL2-2", "ReduceL2", "x", "axes=2,3 keepdims=0", NULL,
     "input 6x10x8\n"
     "pow 2\n"
     "sum axis=0 axis=1 keep -> 1x1x8\n"
     "sqrt\n"
     "flatten -> 8\n"
     ""},
    {"ReduceProd-2", "ReduceProd", "x", "axes=1,", NULL, "slice c 7:_"},
    {"ReduceMax-5", "ReduceMax", "x i0", "", "1x8x6x10@18",
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"ReduceMean-16", "ReduceMean", "x", "axes=2,", NULL,
     "input 6x10x8\n"
     "mean axis=0 keep -> 1x10x8\n"
     ""},
    {"GlobalAveragePool-2", "GlobalAveragePool", "x", "", "1x8",
     "error: `y` (GlobalAveragePool): a map has rows or columns"},
    {"GlobalMaxPool-2", "GlobalMaxPool", "", "", NULL,
     "error: `y` (GlobalMaxPool): input 0 is missing"},
    {"GlobalAveragePool-3", "GlobalAveragePool", "x", "", "1x8x10",
     "input 10x8\n"
     "gap -> 1x8\n"
     ""},
    {"GlobalMaxPool-3", "GlobalMaxPool", "x", "", "1x8x4x6x10",
     "input 4x6x10x8\n"
     "gmp -> 1x1x1x8\n"
     ""},
    {"Reshape-23", NULL,
     "a = Reshape x i1,2,4,6,10; y = ReduceMean a axes=1, keepdims=0", "", NULL,
     "input 6x10x8\n"
     "reshape 6x10x2x4 -> 6x10x2x4\n"
     "permute 2 3 0 1  -> 2x4x6x10\n"
     "mean axis=0 keep -> 1x4x6x10\n"
     "reshape 4x6x10   -> 4x6x10\n"
     ""},
    {"Reshape-24", NULL, "a = Reshape x i1,2,4,60; y = ReduceMean a axes=2,3",
     "", NULL,
     "input 6x10x8\n"
     "reshape 60x2x4          -> 60x2x4\n"
     "permute 1 2 0           -> 2x4x60\n"
     "mean axis=1 axis=2 keep -> 2x1x1\n"
     ""},
    {"Size-3", "Size", "x", "", NULL, "error: nothing is left of the net"},
    {"Shape-3", "Shape", "x", "start=9", NULL,
     "error: nothing is left of the net"},
    {"Erf-3", "Erf", "x", "", NULL,
     "error: `y` (Erf): netc has no equivalent of it, except as part of a "
     "pattern that is not here"},
    {"Sign-2", "Sign", "x", "", NULL,
     "error: `y` (Sign): netc has no equivalent of it, except among constants"},
    {"Floor-2", "Floor", "x", "", NULL,
     "error: `y` (Floor): netc has no equivalent of it, except among "
     "constants"},
    {"Sin-2", "Sin", "x", "", NULL, "sin"},
    {"Cos-2", "Cos", "x", "", NULL, "cos"},
    {"Celu", "Celu", "x", "alpha=0.5", NULL, "celu 0.5"},
    {"Celu-2", "Celu", "x", "", NULL, "celu\n"},
    {"Not", "Not", "x", "", NULL, "neg\nadd 1"},
    {"Gelu-4", "Gelu", "", "", NULL, "error: `y` (Gelu): input 0 is missing"},
    {"Conv-20", "Conv", "x w4x8x3", "auto_pad='SAME_UPPER' strides=2,",
     "1x8x10",
     "input 10x8\n"
     "conv 4 3 /2 pad=0:1 nobias -> 5x4\n"
     ""},
    {"Conv-21", "Conv", "x w4x8x2x3x3", "", "1x8x4x6x10",
     "input 4x6x10x8\n"
     "conv 4 2x3x3 nobias -> 3x4x8x4\n"
     ""},
    {"Conv-22", "Conv", "x w4x8x3x3", "kernel_shape=3,3 strides=2,1", NULL,
     "input 6x10x8\n"
     "conv 4 3x3 /2x1 nobias -> 2x8x4\n"
     ""},
    {"Conv-23", "Conv", "x w4x8x3x3", "kernel_shape=2,3", NULL,
     "error: `y` (Conv; kernel_shape=[2,3]): its weights, 4x8x3x3, do not fit "
     "8 channels in 1 groups"},
    {"Conv-24", "Conv", "x w4x8x3x3", "strides=2,", NULL,
     "error: `y` (Conv; strides=[2]): its attributes have other axes than the "
     "map"},
    {"Conv-25", "Conv", "x w4x8x3x3", "dilations=0,1", NULL,
     "error: `y` (Conv; dilations=[0,1]): a window size must be at least 1, "
     "not 0"},
    {"Conv-26", "Conv", "x w4x8x3x3", "pads=1,1", NULL,
     "error: `y` (Conv; pads=[1,1]): its attributes have other axes than the "
     "map"},
    {"Conv-27", "Conv", "x w4x8x9x9", "", NULL,
     "error: `y` (Conv): the window is larger than its padded input"},
    {"Conv-28", "Conv", "x w4x8x3x3", "group=0", NULL,
     "error: `y` (Conv; group=0): its weights, 4x8x3x3, do not fit 8 channels "
     "in 0 groups"},
    {"Conv-29", "Conv", "x w4x8x3x3 x", "", NULL,
     "error: `y` (Conv): its bias is not a constant of 4 channels"},
    {"Conv-30", "Conv", "x w16x1x3x3", "group=8", NULL,
     "input 6x10x8\n"
     "dwconv 3x3 mult=2 nobias -> 4x8x16\n"
     ""},
    {"Pad-10", NULL, "a = Pad x i0,0,1,1,0,0,1,1; y = Conv a w4x8x3x3", "",
     NULL,
     "input 6x10x8\n"
     "conv 4 3x3 pad nobias\n"
     ""},
    {"Pad-11", NULL,
     "a = Pad x i0,0,0,1,0,0,1,1; y = Conv a w4x8x3x3 pads=1,0,0,0", "", NULL,
     "input 6x10x8\n"
     "conv 4 3x3 pad nobias\n"
     ""},
    {"Pad-12", NULL,
     "a = Pad x i0,0,1,1,0,0,1,1; b = Relu a; y = Conv b w4x8x3x3", "", NULL,
     "input 6x10x8\n"
     "pad 1x1 relu      -> 8x12x8\n"
     "conv 4 3x3 nobias -> 6x10x4\n"
     ""},
    {"Pad-13", NULL,
     "a = Pad x i0,0,1,1,0,0,1,1 mode='reflect'; y = Conv a w4x8x3x3", "", NULL,
     "input 6x10x8\n"
     "pad 1x1 reflect   -> 8x12x8\n"
     "conv 4 3x3 nobias -> 6x10x4\n"
     ""},
    {"Pad-14", NULL,
     "a = Pad x i0,0,1,1,0,0,1,1; y = MaxPool a kernel_shape=3,3", "", NULL,
     "input 6x10x8\n"
     "pad 1x1     -> 8x12x8\n"
     "pool 3x3 /1 -> 6x10x8\n"
     ""},
    {"Conv-31", "Conv", "x w4x8x3x3x3x3", "", "1x8x4x4x4x4",
     "error: `y` (Conv): maps of 1 to 3 axes are supported, not of 4"},
    {"Conv-32", "Conv", "x w4x8", "", "1x8",
     "error: `y` (Conv): maps of 1 to 3 axes are supported, not of 0"},
    {"Conv-33", "Conv", "x r4x8x3x3 r4", "group=1", NULL,
     "input 6x10x8\n"
     "conv 4 3x3 -> 4x8x4\n"
     ""},
    {"ConvTranspose-8", "ConvTranspose", "x w8x4x3x3",
     "auto_pad='SAME_LOWER' strides=2,2", NULL,
     "input 6x10x8\n"
     "deconv 4 3x3 /2 pad=1:0 nobias -> 12x20x4\n"
     ""},
    {"ConvTranspose-9", "ConvTranspose", "x w8x4x3x3",
     "output_shape=12, strides=2,2", NULL,
     "error: `y` (ConvTranspose; output_shape=[12], strides=[2,2]): "
     "`output_shape` has other axes than the map"},
    {"ConvTranspose-10", "ConvTranspose", "x w8x4x3x3",
     "output_shape=99,99 strides=2,2", NULL,
     "error: `y` (ConvTranspose; output_shape=[99,99], strides=[2,2]): it is "
     "larger than its windows"},
    {"ConvTranspose-11", "ConvTranspose", "x w8x4x3x3",
     "output_shape=0,4 strides=2,2", NULL,
     "error: `y` (ConvTranspose; output_shape=[0,4], strides=[2,2]): it is "
     "larger than its windows"},
    {"ConvTranspose-12", "ConvTranspose", "x w8x4x3x3", "group=3", NULL,
     "error: `y` (ConvTranspose; group=3): its weights do not fit the map"},
    {"ConvTranspose-13", "ConvTranspose", "x w8x4x3x3", "dilations=2,2", NULL,
     "input 6x10x8\n"
     "deconv 4 3x3 dilate=2x2 nobias -> 10x14x4\n"
     ""},
    {"ConvTranspose-14", "ConvTranspose", "x w8x4x3x3", "pads=9,9,9,9", NULL,
     "error: `y` (ConvTranspose; pads=[9,9,9,9]): its padding leaves nothing"},
    {"ConvTranspose-15", "ConvTranspose", "x w8x4x3x3 w5", "", NULL,
     "error: `y` (ConvTranspose): its bias is not a constant of 4 channels"},
    {"ConvTranspose-16", "ConvTranspose", "x x", "", NULL,
     "error: `y` (ConvTranspose): its weights do not fit the map"},
    {"ConvTranspose-17", "ConvTranspose", "x w8x4x3",
     "strides=2, output_padding=1,", "1x8x10",
     "input 10x8\n"
     "deconv 4 3 /2 outpad=1 nobias -> 22x4\n"
     ""},
    {"ConvTranspose-18", "ConvTranspose", "x w8x4x3x3", "auto_pad='WARP'", NULL,
     "error: `y` (ConvTranspose; auto_pad=WARP): unknown `auto_pad`"},
    {"AveragePool-5", "AveragePool", "x", "kernel_shape=3,3 pads=1,1,1,1", NULL,
     "# `y` leaves its padding out of the mean; here it counts as zeros.\n"
     "net g\n"
     "input 6x10x8\n"
     "avgpool 3x3 /1 pad\n"
     ""},
    {"AveragePool-6", "AveragePool", "x",
     "kernel_shape=2,2 ceil_mode=1 strides=4,4", NULL,
     "input 6x10x8\n"
     "avgpool 2x2 /4 -> 2x3x8\n"
     ""},
    {"MaxPool-8", "MaxPool", "x",
     "kernel_shape=3,3 strides=2,2 pads=1,1,1,1 ceil_mode=1", NULL,
     "input 6x10x8\n"
     "pool 3x3 /2 pad ceil -> 4x6x8\n"
     ""},
    {"MaxPool-9", "MaxPool", "x", "kernel_shape=2,2 auto_pad='SAME_LOWER'",
     NULL,
     "input 6x10x8\n"
     "pool 2x2 /1 pad=1:0\n"
     ""},
    {"MaxPool-10", NULL, "y i = MaxPool x kernel_shape=2,2", "", NULL,
     "error: `y` (MaxPool; kernel_shape=[2,2]): its output 1 is not supported"},
    {"MaxPool-11", "MaxPool", "", "kernel_shape=2,2", NULL,
     "error: `y` (MaxPool; kernel_shape=[2,2]): input 0 is missing"},
    {"MaxPool-12", "MaxPool", "x", "kernel_shape=2,", "1x8x6x10",
     "error: `y` (MaxPool; kernel_shape=[2]): `kernel_shape` has 1 axes, the "
     "map 2"},
    {"MaxPool-13", "MaxPool", "x", "kernel_shape=2,2,2", "1x8x4x6x10",
     "input 4x6x10x8\n"
     "pool 2x2x2 /1 -> 3x5x9x8\n"
     ""},
    {"MaxPool-14", "MaxPool", "x", "kernel_shape=2,2", "1x8",
     "error: `y` (MaxPool; kernel_shape=[2,2]): maps of 1 to 3 axes are "
     "supported, not of 0"},
    {"MaxPool-15", "MaxPool", "x", "kernel_shape=2,2 strides=2,2 dilations=2,3",
     NULL,
     "input 6x10x8\n"
     "pool 2x2 dilate=2x3 -> 2x4x8\n"
     ""},
    {"Resize-14", "Resize", "x - f1,1,2,2",
     "coordinate_transformation_mode='asymmetric' nearest_mode='floor'", NULL,
     "input 6x10x8\n"
     "up 2 -> 12x20x8\n"
     ""},
    {"Resize-15", "Resize", "x - f1,1,2,2",
     "coordinate_transformation_mode='align_corners' mode='linear'", NULL,
     "# `y` takes values from other places than `up`, which has PyTorch's "
     "rules.\n"
     "net g\n"
     "input 6x10x8\n"
     "up 2 bilinear -> 12x20x8\n"
     ""},
    {"Resize-16", "Resize", "x - f1,1,0.5,0.5",
     "mode='linear' coordinate_transformation_mode='pytorch_half_pixel'", NULL,
     "input 6x10x8\n"
     "up size=3x5 bilinear -> 3x5x8\n"
     ""},
    {"Resize-17", "Resize", "x - f1,1,1.7,1.7", "mode='nearest'", NULL,
     "# `y` takes values from other places than `up`, which has PyTorch's "
     "rules.\n"
     "net g\n"
     "input 6x10x8\n"
     "up size=10x17 -> 10x17x8\n"
     ""},
    {"Resize-18", "Resize", "x - - i1,8,1,1",
     "mode='linear' coordinate_transformation_mode='pytorch_half_pixel'", NULL,
     "# `y` takes values from other places than `up`, which has PyTorch's "
     "rules.\n"
     "net g\n"
     "input 6x10x8\n"
     "up size=1x1 bilinear -> 1x1x8\n"
     ""},
    {"Resize-19", "Resize", "x - f1,8", "", "1x8",
     "error: `y` (Resize): only `nearest` and `linear` are supported"},
    {"Resize-20", "Resize", "", "", "1x8",
     "error: `y` (Resize): input 0 is missing"},
    {"Resize-21", "Resize", "x f1,1,2,2", "", "1x8x6x10@10",
     "input 6x10x8\n"
     "up 2 -> 12x20x8\n"
     ""},
    {"Resize-22", "Resize", "x - f1,2,2", "", "8x6x10",
     "error: `y` (Resize): only rows and columns can be resized"},
    {"Resize-23", "Resize", "x - f1,1,2", "mode='linear'", "1x8x10",
     "input 10x8\n"
     "up 2 bilinear -> 20x8\n"
     ""},
    {"Resize-24", "Resize", "x - f1,1,2,2,2", "mode='linear'", "1x8x4x6x10",
     "input 4x6x10x8\n"
     "up 2 bilinear -> 8x12x20x8\n"
     ""},
    {"Concat-16", "Concat", "x w1x3x6x10", "axis=1", NULL,
     "input 6x10x8\n"
     "concat {} { weight 6x10x3 }\n"
     ""},
    {"Concat-17", "Concat", "w1x3x6x10 x", "axis=-3", NULL,
     "input 6x10x8\n"
     "concat { weight 6x10x3 } {}\n"
     ""},
    {"Concat-18", "Concat", "x -", "axis=1", NULL,
     "error: `y` (Concat; axis=1): input 1 has another number of axes"},
    {"Concat-19", "Concat", "", "axis=1", NULL,
     "error: `y` (Concat; axis=1): it has no inputs"},
    {"Reshape-25", NULL, "a = Reshape x i8,60; y = Concat x a axis=1", "", NULL,
     "error: `y` (Concat; axis=1): input 1 has another number of axes"},
    {"Slice-27", NULL, "a = Slice x i0 i3 i2; y = Concat x a axis=1", "", NULL,
     "error: `y` (Concat; axis=1): its inputs have different sizes"},
    {"Slice-28", NULL,
     "a = Slice x i2 i6 i2; b = Slice x i0 i2 i2; y = Concat a b axis=2", "",
     NULL,
     "input 6x10x8\n"
     "roll -2x0\n"
     ""},
    {"Slice-29", NULL,
     "a = Slice x i4 i6 i2; b = Slice x i0 i4 i2; d = Concat a b axis=2; e = "
     "Slice d i3 i10 i3; g = Slice d i0 i3 i3; y = Concat e g axis=3",
     "", NULL,
     "input 6x10x8\n"
     "roll 2 x -3\n"
     ""},
    {"Slice-30", NULL,
     "a = Slice x i2 i6 i2; b = Slice x i1 i3 i2; y = Concat a b axis=2", "",
     NULL,
     "input 6x10x8\n"
     "concat axis=h { slice h 2:_ } { slice h 1:3 }\n"
     ""},
    {"Relu-3", NULL,
     "a = Relu x; b = Concat x a axis=1; d = Tanh x; y = Concat x a d axis=1",
     "", NULL,
     "input 6x10x8\n"
     "concat { concat {} { relu } } { tanh }\n"
     ""},
    {"Concat-20", "Concat", "x w2x8x6x10", "axis=0", NULL,
     "input 6x10x8\n"
     "reshape 1x6x10x8                     -> 1x6x10x8\n"
     "concat axis=0 {} { weight 2x6x10x8 } -> 3x6x10x8\n"
     "permute 0 3 1 2                      -> 3x8x6x10\n"
     ""},
    {"Pad-15", "Pad", "x i0,0,1,1,0,0,1,1 f1,2", "", NULL,
     "error: `y` (Pad): the fill value must be a single number"},
    {"Pad-16", "Pad", "x i0,0,0,0,0,0,0,0", "", NULL,
     "input 6x10x8\n"
     "identity\n"
     ""},
    {"Pad-17", "Pad", "x", "pads=0,0,1,1,0,0,1,1 value=0.0", "1x8x6x10@9",
     "input 6x10x8\n"
     "pad 1x1 -> 8x12x8\n"
     ""},
    {"Pad-18", "Pad", "x", "pads=0,0,1,1,0,0,1,1 value=2.0", "1x8x6x10@9",
     "error: `y` (Pad; pads=[0,0,1,1,0,0,1,1], value=2): only zeros, "
     "`reflect`, `edge` and `wrap` are supported"},
    {"Pad-19", "Pad", "x i0,1,0,1", "", "1x8",
     "error: `y` (Pad): netc has no equivalent of a border of a vector"},
    {"Pad-20", "Pad", "x i0,0,1,0,0,1", "", "1x10x8",
     "input 10x8\n"
     "pad 0 c=1:1\n"
     ""},
    {"Pad-22", "Pad", "x i0,2,0,0,0,2,0,0", "mode='reflect'", NULL,
     "error: `y` (Pad; mode=reflect): channels are padded with zeros only, not "
     "by `reflect`"},
    {"Pad-21", "Pad", "x i0,0,0,2,0,0,0,0", "mode='edge'", NULL,
     "input 6x10x8\n"
     "pad 0x2:0 replicate -> 6x12x8\n"
     ""},
    {"Reshape-26", NULL,
     "a = Reshape x i1,2,4,6,10; y = Pad a i0,0,1,0,0,0,0,0,0,0", "", NULL,
     "input 6x10x8\n"
     "reshape 6x10x2x4 -> 6x10x2x4\n"
     "permute 2 0 1 3  -> 2x6x10x4\n"
     "pad 0x0x0 c=1:0\n"
     "permute 0 3 1 2 -> 2x5x6x10\n"
     ""},
    {"Reshape-27", NULL,
     "a = Reshape x i1,8,3,2,10; b = Transpose a perm=0,1,3,2,4; y = Reshape b "
     "i1,16,3,10",
     "", NULL,
     "input 8x6x10\n"
     "reshape 8x3x2x10 -> 8x3x2x10\n"
     "permute 0 2 1 3  -> 8x2x3x10\n"
     "reshape 16x3x10  -> 16x3x10\n"
     ""},
    {"Reshape-28", NULL,
     "a = Reshape x i1,2,4,6,10; b = Transpose a perm=0,2,1,3,4; y = Reshape b "
     "i1,8,6,10",
     "", NULL,
     "input 8x6x10\n"
     "reshape 2x4x6x10 -> 2x4x6x10\n"
     "permute 1 0 2 3  -> 4x2x6x10\n"
     "reshape 8x6x10   -> 8x6x10\n"
     ""},
    {"Reshape-29", NULL,
     "a = Reshape x i1,2,4,6,10; b = Transpose a perm=0,2,1,3,4; d = Reshape b "
     "i1,8,6,10; y = Conv d w4x8x1x1",
     "", NULL,
     "input 8x6x10\n"
     "reshape 2x4x6x10 -> 2x4x6x10\n"
     "permute 2 3 1 0  -> 6x10x4x2\n"
     "reshape 6x10x8   -> 6x10x8\n"
     "conv 4 1x1 nobias\n"
     ""},
    {"Transpose-11", NULL,
     "a = Transpose x perm=0,2,3,1; b = Reshape a i1,60,8; d = MatMul b r8x4; "
     "e = Transpose d perm=0,2,1; y = Reshape e i1,4,6,10",
     "", NULL,
     "input 8x6x10\n"
     "reshape 8x60 -> 8x60\n"
     "permute 1 0  -> 60x8\n"
     "linear 4 nobias\n"
     "reshape 6x10x4 -> 6x10x4\n"
     "permute 2 0 1  -> 4x6x10\n"
     ""},
    {"Squeeze-4", "Squeeze", "x", "", "1x8x1x1",
     "input 1x1x8\n"
     "flatten -> 8\n"
     ""},
    {"Squeeze-5", "Squeeze", "x", "axes=2,3", "1x8x1x1@11",
     "input 1x1x8\n"
     "flatten -> 8\n"
     ""},
    {"Squeeze-6", "Squeeze", "x x", "", NULL,
     "error: `y` (Squeeze): its axes depend on the inputs"},
    {"Unsqueeze-5", "Unsqueeze", "x x", "", NULL,
     "error: `y` (Unsqueeze): its axes depend on the inputs"},
    {"Unsqueeze-6", "Unsqueeze", "x", "axes=0,", "1x8x6x10@11",
     "input 6x10x8\n"
     "permute 2 0 1 -> 8x6x10\n"
     ""},
    {"Unsqueeze-7", "Unsqueeze", "x i0,1,2,3,4,5,6,7,8", "", NULL,
     "error: `y` (Unsqueeze): more than 12 axes"},
    {"Transpose-12", "Transpose", "", "", NULL,
     "error: `y` (Transpose): it has no input"},
    {"Identity-2", "Identity", "", "", NULL,
     "error: `y` (Identity): it has no input"},
    {"Flatten-6", "Flatten", "", "", NULL,
     "error: `y` (Flatten): it has no input"},
    {"Flatten-7", "Flatten", "x", "axis=-1", NULL,
     "input 6x10x8\n"
     "permute 2 0 1 -> 8x6x10\n"
     "reshape 48x10 -> 48x10\n"
     ""},
    {"Reshape-30", "Reshape", "x i1,8,6,100", "", NULL,
     "error: `y` (Reshape): 1x8x6x100 has more values than its input"},
    {"Reshape-31", "Reshape", "x i0,0,0,0,1", "", NULL,
     "input 6x10x8\n"
     "permute 2 0 1 -> 8x6x10\n"
     ""},
    {"Reshape-32", "Reshape", "x i0,480", "allowzero=1", NULL,
     "error: `y` (Reshape; allowzero=1): 480 values have no axis of 0"},
    {"DepthToSpace-6", "DepthToSpace", "x", "blocksize=2", "1x10x8",
     "error: `y` (DepthToSpace; blocksize=2): only maps of blocks are "
     "supported"},
    {"SpaceToDepth-4", "SpaceToDepth", "x", "blocksize=2", "1x10x8",
     "error: `y` (SpaceToDepth; blocksize=2): only maps of whole blocks are "
     "supported"},
    {"DepthToSpace-7", "DepthToSpace", "x", "blocksize=2000", NULL,
     "error: `y` (DepthToSpace; blocksize=2000): only maps of blocks are "
     "supported"},
    {"LSTM-9", "LSTM", "x w1x20x8 w1x20x5 - i10", "", "10x1x8",
     "input 1x8\n"
     "lstm 5\n"
     "reshape 1x1x5 -> 1x1x5\n"
     ""},
    {"LSTM-10", "LSTM", "x w1x20x8 w1x20x5 - i4", "", "10x1x8",
     "error: `y` (LSTM): its sequences have lengths of their own "
     "(sequence_lens), where netc runs all steps"},
    {"LSTM-11", "LSTM", "x w1x20x8 w1x20x5 - - w1x1x5 w1x1x5", "", "10x1x8",
     "input 1x8\n"
     "lstm 5\n"
     "reshape 1x1x5 -> 1x1x5\n"
     ""},
    {"LSTM-12", "LSTM", "x w1x20x8 w1x20x5 - - r1x1x5", "", "10x1x8",
     "error: `y` (LSTM): it begins with a state that it is given, netc's with "
     "zeros"},
    {"LSTM-13", "LSTM", "x w1x20x8 w1x20x5 - - - - r1x15", "", "10x1x8",
     "error: `y` (LSTM): netc has no equivalent of peepholes"},
    {"LSTM-14", "LSTM", "x w1x20x8 w1x20x5", "layout=1", "1x10x8",
     "input 10x8\n"
     "lstm 5\n"
     ""},
    {"LSTM-15", "LSTM", "x w1x20x8 w1x20x5", "clip=3.0", "10x1x8",
     "# `y` says which activations it has; here they are the usual ones.\n"
     "net g\n"
     "input 1x8\n"
     "lstm 5\n"
     "reshape 1x1x5 -> 1x1x5\n"
     ""},
    {"LSTM-16", "LSTM", "x w1x20x8 w1x20x5 w1x41", "", "10x1x8",
     "error: `y` (LSTM): its weights do not fit"},
    {"LSTM-17", "LSTM", "x x w1x20x5", "", "10x1x8",
     "error: `y` (LSTM): its weights do not fit"},
    {"LSTM-18", "LSTM", "x w1x20x8 w1x20x5", "", "10x3x8",
     "error: `y` (LSTM): a batch of several sequences"},
    {"LSTM-19", NULL, "y - c = LSTM x w1x20x8 w1x20x5", "", "10x1x8",
     "error: `y` (LSTM): its last cell is read, but netc's lstm gives only its "
     "states"},
    {"LSTM-20", NULL, "y h = LSTM x w1x20x8 w1x20x5", "", "10x1x8",
     "input 10x8\n"
     "lstm 5\n"
     "output y\n"
     "slice l 9:_ -> 1x5\n"
     "output h\n"
     ""},
    {"GRU-3", NULL, "- h = GRU x w2x15x8 w2x15x5 direction='bidirectional'", "",
     "10x1x8",
     "input 10x8\n"
     "gru 5 bidir reset=before last -> 10\n"
     "reshape 2x5                   -> 2x5\n"
     ""},
    {"GRU-4", NULL, "y h = GRU x w2x15x8 w2x15x5 direction='bidirectional'", "",
     "10x1x8",
     "error: `y` (GRU; direction=bidirectional): all of its states and the "
     "last ones of both directions are read"},
    {"LSTM-21", "LSTM", "x r1x20x8 r1x20x5 r1x40", "", "10x1x8",
     "input 1x8\n"
     "lstm 5\n"
     "reshape 1x1x5 -> 1x1x5\n"
     ""},
    {"LSTM-22", "LSTM", "x w1x20x8 w1x20x5", "", "1x8",
     "error: `y` (LSTM): its input is not a sequence"},
    {"RNN-2", "RNN", "x w1x5x8 w1x5x5", "direction='reverse'", "10x1x8",
     "error: `y` (RNN; direction=reverse): it runs backwards alone, which "
     "netc's do only beside a run forwards (bidirectional)"},
    {"Attention", NULL,
     "y = ms.Attention x r8x24 r24 num_heads=2 unidirectional=1", "", "1x10x8",
     "input 10x8\n"
     "linear 24\n"
     "matmul {\n"
     "  matmul { slice c 0:8; reshape 10x2x4; permute 1 0 2 } \\\n"
     "      { slice c 8:16; reshape 10x2x4; permute 1 2 0 }\n"
     "  mul 0.5\n"
     "  add {} { weight 10x10 fixed } softmax\n"
     "} { slice c 16:_; reshape 10x2x4; permute 1 0 2 } -> 2x10x4\n"
     "permute 1 0 2                                     -> 10x2x4\n"
     "reshape 10x8                                      -> 10x8\n"
     ""},
    {"Attention-2", NULL, "y = ms.Attention x r8x24 num_heads=3", "", "1x10x8",
     "error: `y` (Attention; num_heads=3): its features do not divide into so "
     "many heads"},
    {"Attention-3", NULL, "y = ms.Attention x r24 num_heads=2", "", "1x10x8",
     "error: `y` (Attention; num_heads=2): its weights are not a matrix"},
    {"Attention-4", NULL, "y = ms.Attention x num_heads=2", "", "1x10x8",
     "error: `y` (Attention; num_heads=2): it needs two inputs"},
    {"Attention-5", NULL,
     "y = ms.Attention x r8x24 r24 num_heads=2 do_rotary=1", "", "1x10x8",
     "error: `y` (Attention; num_heads=2, do_rotary=1): netc has no equivalent "
     "of the angles that it is given"},
    {"Attention-6", NULL,
     "y = ms.Attention x r8x20 r20 num_heads=2 qkv_hidden_sizes=8,8,4", "",
     "1x10x8",
     "input 10x8\n"
     "linear 20\n"
     "matmul {\n"
     "  matmul { slice c 0:8; reshape 10x2x4; permute 1 0 2 } \\\n"
     "      { slice c 8:16; reshape 10x2x4; permute 1 2 0 }\n"
     "  mul 0.5 softmax\n"
     "} { slice c 16:_; reshape 10x2x2; permute 1 0 2 } -> 2x10x2\n"
     "permute 1 0 2                                     -> 10x2x2\n"
     "reshape 10x4                                      -> 10x4\n"
     ""},
    {"Attention-7", NULL, "y = ms.Attention x r7x24 r24 num_heads=2", "",
     "1x10x8", "error: `y` (MatMul): 8 features meet a matrix of 7"},
    {"MultiHeadAttention", NULL, "y = ms.MultiHeadAttention x num_heads=2", "",
     "1x10x8",
     "error: `y` (MultiHeadAttention; num_heads=2): queries, keys and values "
     "in one tensor are not supported here"},
    {"MultiHeadAttention-2", NULL,
     "y = ms.MultiHeadAttention x x x r24 num_heads=2", "", "1x10x8",
     "input 10x8\n"
     "matmul {\n"
     "  matmul { add {} { weight 8 }; reshape 10x2x4; permute 1 0 2 } \\\n"
     "      { add {} { weight 8 }; reshape 10x2x4; permute 1 2 0 }\n"
     "  mul 0.5 softmax\n"
     "} { add {} { weight 8 }; reshape 10x2x4; permute 1 0 2 } -> 2x10x4\n"
     "permute 1 0 2                                            -> 10x2x4\n"
     "reshape 10x8                                             -> 10x8\n"
     ""},
    {"MultiHeadAttention-3", NULL,
     "y = ms.MultiHeadAttention x x x num_heads=3", "", "1x10x8",
     "error: `y` (MultiHeadAttention; num_heads=3): its features do not divide "
     "into so many heads"},
    {"GroupQueryAttention", NULL,
     "y = ms.GroupQueryAttention x x x num_heads=2 kv_num_heads=2 softcap=5.0",
     "", "1x10x8",
     "input 10x8\n"
     "at_y: reshape 10x2x4  -> 10x2x4\n"
     "at_y_2: permute 1 0 2 -> 2x10x4\n"
     "matmul { from at_y; permute 1 2 0 }\n"
     "mul 0.5\n"
     "mul 0.2 tanh\n"
     "mul 5\n"
     "add {} { weight 10x10 fixed } softmax\n"
     "matmul at_y_2\n"
     "permute 1 0 2 -> 10x2x4\n"
     "reshape 10x8  -> 10x8\n"
     ""},
    {"GroupQueryAttention-2", NULL,
     "y = ms.GroupQueryAttention x - - num_heads=2 kv_num_heads=1", "",
     "1x10x8",
     "input 10x8\n"
     "matmul {\n"
     "  matmul { slice c 0:4; reshape 10x2x2; permute 1 0 2 } {\n"
     "    slice c 4:6\n"
     "    permute 1 0\n"
     "    reshape 1x2x10\n"
     "    concat axis=h {} {}\n"
     "  }\n"
     "  mul 0.70710677\n"
     "  add {} { weight 10x10 fixed } softmax\n"
     "} { slice c 6:_; reshape 1x10x2; concat axis=h {} {} } -> 2x10x2\n"
     "permute 1 0 2                                          -> 10x2x2\n"
     "reshape 10x4                                           -> 10x4\n"
     ""},
    {"GroupQueryAttention-3", NULL,
     "y = ms.GroupQueryAttention x x x kv_num_heads=1", "", "1x10x8",
     "error: `y` (GroupQueryAttention; kv_num_heads=1): its queries are not "
     "supported"},
    {"GroupQueryAttention-4", NULL,
     "y = ms.GroupQueryAttention x x x num_heads=4 kv_num_heads=3", "",
     "1x10x8",
     "error: `y` (GroupQueryAttention; num_heads=4, kv_num_heads=3): its "
     "features do not divide into so many heads"},
    {"GroupQueryAttention-5", NULL,
     "y = ms.GroupQueryAttention x x x num_heads=2 kv_num_heads=2 "
     "smooth_softmax=1",
     "", "1x10x8",
     "error: `y` (GroupQueryAttention; num_heads=2, kv_num_heads=2, "
     "smooth_softmax=1): scores without a key are not supported"},
    {"GroupQueryAttention-6", NULL,
     "y = ms.GroupQueryAttention x x x - - - - r10x2 r10x2 num_heads=2 "
     "kv_num_heads=2 do_rotary=1",
     "", "1x10x8",
     "input 10x8\n"
     "def block(t) {\n"
     "  skip: slice c 0:2\n"
     "  from t\n"
     "  slice c 2:_\n"
     "  concat {\n"
     "    sub { from skip; mul {} { weight 10x1x2 } } { mul {} { weight 10x1x2 "
     "} }\n"
     "  } {\n"
     "    add { mul {} { weight 10x1x2 } } { from skip; mul {} { weight 10x1x2 "
     "} }\n"
     "  }\n"
     "}\n"
     "at_y: reshape 10x2x4 -> 10x2x4\n"
     "matmul {\n"
     "  matmul { block at_y; permute 1 0 2 } { block at_y; permute 1 2 0 }\n"
     "  mul 0.5\n"
     "  add {} { weight 10x10 fixed } softmax\n"
     "} { permute 1 0 2 } -> 2x10x4\n"
     "permute 1 0 2       -> 10x2x4\n"
     "reshape 10x8        -> 10x8\n"
     ""},
    {"GroupQueryAttention-7", NULL,
     "y = ms.GroupQueryAttention x x x - - - - r10x2 r10x2 num_heads=2 "
     "kv_num_heads=2 do_rotary=1 rotary_interleaved=1",
     "", "1x10x8",
     "input 10x8\n"
     "def block(t) {\n"
     "  skip: slice c 0:1\n"
     "  from t\n"
     "  slice c 1:_\n"
     "  concat {\n"
     "    sub { from skip; mul {} { weight 10x1x2x1 } } \\\n"
     "        { mul {} { weight 10x1x2x1 } }\n"
     "  } {\n"
     "    add { mul {} { weight 10x1x2x1 } } \\\n"
     "        { from skip; mul {} { weight 10x1x2x1 } }\n"
     "  }\n"
     "  reshape 10x2x4\n"
     "}\n"
     "matmul {\n"
     "  at_y: reshape 10x2x2x2\n"
     "  matmul { block at_y; permute 1 0 2 } { block at_y; permute 1 2 0 }\n"
     "  mul 0.5\n"
     "  add {} { weight 10x10 fixed } softmax\n"
     "} { reshape 10x2x4; permute 1 0 2 } -> 2x10x4\n"
     "permute 1 0 2                       -> 10x2x4\n"
     "reshape 10x8                        -> 10x8\n"
     ""},
    {"GroupQueryAttention-8", NULL,
     "y = ms.GroupQueryAttention x x x - - - - r5x2 r5x2 num_heads=2 "
     "kv_num_heads=2 do_rotary=1",
     "", "1x10x8",
     "error: `y` (GroupQueryAttention; num_heads=2, kv_num_heads=2, "
     "do_rotary=1): its cosines must be a constant table of 10 positions"},
    {"GroupQueryAttention-9", NULL,
     "y = ms.GroupQueryAttention x x x - - - - r10x1 r10x1 num_heads=2 "
     "kv_num_heads=2 do_rotary=1",
     "", "1x10x8",
     "input 10x8\n"
     "def block() {\n"
     "  skip: slice c 0:2\n"
     "  skip_2: slice c 0:1\n"
     "  from skip\n"
     "  slice c 1:_\n"
     "  concat {\n"
     "    sub { from skip_2; mul {} { weight 10x1x1 } } { mul {} { weight "
     "10x1x1 } }\n"
     "  } {\n"
     "    add { mul {} { weight 10x1x1 } } { from skip_2; mul {} { weight "
     "10x1x1 } }\n"
     "  }\n"
     "}\n"
     "reshape 10x2x4 -> 10x2x4\n"
     "matmul {\n"
     "  matmul { concat { block } { slice c 2:_ }; permute 1 0 2 } \\\n"
     "      { concat { block } { slice c 2:_ }; permute 1 2 0 }\n"
     "  mul 0.5\n"
     "  add {} { weight 10x10 fixed } softmax\n"
     "} { permute 1 0 2 } -> 2x10x4\n"
     "permute 1 0 2       -> 10x2x4\n"
     "reshape 10x8        -> 10x8\n"
     ""},
    {"GroupQueryAttention-10", NULL,
     "y = ms.GroupQueryAttention x x x num_heads=2 kv_num_heads=2 do_rotary=1",
     "", "1x10x8",
     "error: `y` (GroupQueryAttention; num_heads=2, kv_num_heads=2, "
     "do_rotary=1): its heads are not supported"},
    {"RotaryEmbedding", NULL, "y = ms.RotaryEmbedding x - r10x4 r10x4 ", "",
     "1x10x8",
     "input x_ 10x8\n"
     "at_y: slice c 0:4\n"
     "from x_\n"
     "slice c 4:_\n"
     "concat {\n"
     "  sub { from at_y; mul {} { weight 10x4 } } { mul {} { weight 10x4 } }\n"
     "} {\n"
     "  add { mul {} { weight 10x4 } } { from at_y; mul {} { weight 10x4 } }\n"
     "}\n"
     ""},
    {"RotaryEmbedding-2", NULL, "y = ms.RotaryEmbedding x - r10x2 r10x2 ", "",
     "1x10x8",
     "input 10x8\n"
     "at_y: reshape 10x2x4 -> 10x2x4\n"
     "at_y_2: slice c 0:2\n"
     "from at_y\n"
     "slice c 2:_\n"
     "concat {\n"
     "  sub { from at_y_2; mul {} { weight 10x1x2 } } { mul {} { weight 10x1x2 "
     "} }\n"
     "} {\n"
     "  add { mul {} { weight 10x1x2 } } { from at_y_2; mul {} { weight 10x1x2 "
     "} }\n"
     "}\n"
     "reshape 10x8 -> 10x8\n"
     ""},
    {"RotaryEmbedding-3", NULL,
     "y = ms.RotaryEmbedding x - r10x4 r10x4 interleaved=1", "", "1x10x8",
     "input 10x8\n"
     "at_y: reshape 10x4x2 -> 10x4x2\n"
     "at_y_2: slice c 0:1\n"
     "from at_y\n"
     "slice c 1:_\n"
     "concat axis=w {\n"
     "  sub { from at_y_2; mul {} { weight 10x4x1 } } { mul {} { weight 10x4x1 "
     "} }\n"
     "  reshape 10x1x4\n"
     "} {\n"
     "  add { mul {} { weight 10x4x1 } } { from at_y_2; mul {} { weight 10x4x1 "
     "} }\n"
     "  reshape 10x1x4\n"
     "}             -> 10x2x4\n"
     "permute 0 2 1 -> 10x4x2\n"
     "reshape 10x8  -> 10x8\n"
     ""},
    {"RotaryEmbedding-4", NULL, "y = ms.RotaryEmbedding x ", "", "1x10x8",
     "error: `y` (RotaryEmbedding): it needs tables of cosines and sines"},
    {"RotaryEmbedding-5", NULL, "y = ms.RotaryEmbedding x - r10x4 r10x4 ", "",
     "1x2x10x8",
     "input x_ 10x8x2\n"
     "at_y: slice w 0:4 -> 10x4x2\n"
     "from x_\n"
     "slice w 4:_\n"
     "concat axis=w {\n"
     "  sub { from at_y; mul {} { weight 10x4x1 } } { mul {} { weight 10x4x1 } "
     "}\n"
     "} {\n"
     "  add { mul {} { weight 10x4x1 } } { from at_y; mul {} { weight 10x4x1 } "
     "}\n"
     "} -> 10x8x2\n"
     ""},
    {"RotaryEmbedding-6", NULL,
     "y = ms.RotaryEmbedding x - r10x2 r10x2 num_heads=2 "
     "rotary_embedding_dim=4",
     "", "1x10x8",
     "input 10x8\n"
     "at_y: reshape 10x2x4 -> 10x2x4\n"
     "at_y_2: slice c 0:2\n"
     "from at_y\n"
     "slice c 2:_\n"
     "concat {\n"
     "  sub { from at_y_2; mul {} { weight 10x1x2 } } { mul {} { weight 10x1x2 "
     "} }\n"
     "} {\n"
     "  add { mul {} { weight 10x1x2 } } { from at_y_2; mul {} { weight 10x1x2 "
     "} }\n"
     "}\n"
     "reshape 10x8 -> 10x8\n"
     ""},
    {"Einsum", "Einsum", "x x", "equation='bchd,bche->bcde'", NULL, "matmul"},
    {"Einsum-2", "Einsum", "x", "equation='bchw->bhcw'", NULL, "permute"},
    {"Einsum-3", "Einsum", "x", "equation='bchw->bc'", NULL,
     "sum axis=1 axis=2 keep -> 8x1x1"},
    {"Einsum-4", "Einsum", "x", "equation='...hw->...wh'", NULL,
     "error: `y` (Einsum; equation=...hw->...wh): only one or two tensors, "
     "each letter once in each, are supported"},
    {"Einsum-5", "Einsum", "x x", "equation='bchw,bchw'", NULL, "matmul"},
    {"Einsum-6", "Einsum", "x", "equation='bchw->bz'", NULL,
     "error: `y` (Einsum; equation=bchw->bz): its result has a letter that no "
     "input has"},
    {"Einsum-7", "Einsum", "x x", "equation='bch,bch->bc'", NULL, "error: "},
    {"Sinh", "Sinh", "x", "", NULL, "sub {"},
    {"Cosh", "Cosh", "x", "", NULL, "add {"},
    {"Tan", "Tan", "x", "", NULL, "div {"},
    {"Acosh", "Acosh", "x", "", NULL, "log"},
    {"Atanh", "Atanh", "x", "", NULL, "log\nmul 0.5"},
    {"ReduceProd-4", "ReduceProd", "x", "axes=2,3", "1x2x2x2", "mul"},
    {"ReduceProd-5", "ReduceProd", "x", "axes=2,2", NULL,
     "error: `y` (ReduceProd; axes=[2,2]): it names axis 2 twice"},
    {"ReduceProd-6", "ReduceProd", "x", "axes=2,3", "1x2x65x2",
     "error: `y` (ReduceProd; axes=[2,3]): a product along an axis of more "
     "than 64 is not supported"},
    {"CumSum-6", "CumSum", "x i3", "", "1x8x2x3", "concat"},
    {"CumSum-7", "CumSum", "x i3", "exclusive=1 reverse=1", "1x8x2x3", "mul 0"},
    {"CumSum-8", "CumSum", "x i3", "", "1x8x2x65",
     "error: `y` (CumSum): sums along an axis of more than 64 are not "
     "supported"},
    {"Trilu-9", "Trilu", "x", "upper=0", NULL, "weight 6x10x1 fixed"},
    {"And", "And", "x x", "", NULL, "mul {} {}"},
    {"Or", "Or", "x x", "", NULL, "max {} {}"},
    {"Xor", "Xor", "x x", "", NULL, "sub {} {}\nabs"},
    {"no-values", NULL,
     "c = Conv x p8x8x1x1:m.0.weight p8:m.0.bias; y = Mul c p8x1x1:m.gamma", "",
     NULL,
     "input 6x10x8\n"
     "conv 8 1x1\n"
     "scale\n"},
    {"no-values-2", NULL,
     "a = Add x p1x8x6x10:token; y = Conv a p8x8x1x1:m.weight", "", NULL,
     "# `token` is an input here; the file, which has no values of parameters, "
     "does not say whether it is one: --parameter token."},
    {"Attention-8", "Attention", "x x x b1,0,1,0,1,0,1,0,1,0",
     "q_num_heads=2 kv_num_heads=2", "1x10x8@23",
     "error: `y` (Attention; q_num_heads=2, kv_num_heads=2): a mask of truth "
     "values is not supported here"},
    {"Attention-9", "Attention", "x x x", "", "1x2x10x8@23",
     "input x_ 10x8x2\n"
     "at_y: permute 2 0 1 -> 2x10x8\n"
     "matmul { from x_; permute 2 1 0 }\n"
     "mul 0.35355338 softmax\n"
     "matmul at_y\n"
     ""},
    {"Attention-10", "Attention", "x", "", "1x10x8@23",
     "error: `y` (Attention): it needs two inputs"},
    {"Attention-11", "Attention", "x x x", "q_num_heads=3 kv_num_heads=3",
     "1x10x8@23",
     "error: `y` (Attention; q_num_heads=3, kv_num_heads=3): its features do "
     "not divide into so many heads"},
    {"Attention-12", "Attention", "x x x",
     "q_num_heads=2 kv_num_heads=2 softcap=4.0 scale=0.5", "1x10x8@23",
     "input 10x8\n"
     "at_y: reshape 10x2x4  -> 10x2x4\n"
     "at_y_2: permute 1 0 2 -> 2x10x4\n"
     "matmul { from at_y; permute 1 2 0 }\n"
     "mul 0.5\n"
     "mul 0.25 tanh\n"
     "mul 4 softmax\n"
     "matmul at_y_2\n"
     "permute 1 0 2 -> 10x2x4\n"
     "reshape 10x8  -> 10x8\n"
     ""},
};

/* Messages of protobuf. */
struct bytes {
  unsigned char at[32768];
  size_t length;
};

static void put(struct bytes *to, const void *at, size_t length) {
  assert_in_range(to->length + length, 0, sizeof to->at);
  memcpy(to->at + to->length, at, length);
  to->length += length;
}

static void put_varint(struct bytes *to, uint64_t value) {
  for (; value > 127; value >>= 7)
    put(to, &(unsigned char){(unsigned char)(value | 128)}, 1);
  put(to, &(unsigned char){(unsigned char)value}, 1);
}

static void put_int(struct bytes *to, unsigned field, int64_t value) {
  put_varint(to, field << 3);
  put_varint(to, (uint64_t)value);
}

static void put_field(struct bytes *to, unsigned field, const void *at,
                      size_t length) {
  put_varint(to, field << 3 | 2);
  put_varint(to, length);
  put(to, at, length);
}

static void put_text(struct bytes *to, unsigned field, const char *text) {
  put_field(to, field, text, strlen(text));
}

static void put_message(struct bytes *to, unsigned field,
                        const struct bytes *message) {
  put_field(to, field, message->at, message->length);
}

/* The type of a constant, by the numbers of onnx.proto. */
static int type_of(char letter) {
  static const char letters[] = "fwrhdinb";
  static const int types[] = {1, 1, 1, 10, 11, 7, 6, 9};
  const char *at = strchr(letters, letter);
  assert_non_null(at);
  return types[at - letters];
}

/* A value in raw_data; halves of small whole numbers and 0.5. */
static void put_value(struct bytes *data, int type, double value) {
  uint16_t half = (uint16_t)(value < 0 ? 1U << 15 : 0);
  int exponent = 15;
  double rest = value < 0 ? -value : value;
  for (; rest >= 2; rest /= 2)
    exponent++;
  for (; rest > 0 && rest < 1; rest *= 2)
    exponent--;
  if (rest > 0)
    half |=
        (uint16_t)((unsigned)exponent << 10 | (unsigned)((rest - 1) * 1024));
  switch (type) {
  case 1: put(data, &(float){(float)value}, 4); break;
  case 6: put(data, &(int32_t){(int32_t)value}, 4); break;
  case 7: put(data, &(int64_t){(int64_t)value}, 8); break;
  case 9: put(data, &(uint8_t){value != 0}, 1); break;
  case 10: put(data, &half, 2); break;
  default: put(data, &value, 8);
  }
}

/* TensorProto: dims, data_type, name and raw_data. */
static void put_tensor(struct bytes *to, unsigned field, const char *name,
                       const char *text) {
  struct bytes *tensor = calloc(2, sizeof *tensor), *data = tensor + 1;
  int type = type_of(*text);
  const char *at = text + 1;
  int64_t count = 0;
  assert_non_null(tensor);
  if (*text == 'w' || *text == 'r') {
    for (count = 1; *at; at += *at == 'x') {
      int64_t size = strtoll(at, (char **)&at, 10);
      put_int(tensor, 1, size);
      count *= size;
    }
    for (int64_t i = 0; i < count; i++)
      put_value(data, type, *text == 'w' ? 0 : (double)i);
  } else {
    for (; *at; count++, at += *at == ',')
      put_value(data, type, strtod(at, (char **)&at));
    if (count != 1 || *text == 'i' || at[-1] == ',')
      put_int(tensor, 1, count);
  }
  put_int(tensor, 2, type);
  put_text(tensor, 8, name);
  put_message(tensor, 9, data);
  put_message(to, field, tensor);
  free(tensor);
}

static void put_attribute(struct bytes *node, char *text) {
  struct bytes attribute = {.length = 0};
  char *value = strchr(text, '=');
  *value++ = '\0';
  put_text(&attribute, 1, text);
  if (*value == '\'') {
    put_field(&attribute, 4, value + 1, strlen(value) - 2);
    put_int(&attribute, 20, 3);
  } else if (*value == '#') {
    put_tensor(&attribute, 5, "", value + 1);
    put_int(&attribute, 20, 4);
  } else if (strchr(value, ',')) {
    bool real = strchr(value, '.');
    for (; *value; value += *value == ',')
      if (real)
        put_varint(&attribute, 7 << 3 | 5),
            put(&attribute, &(float){strtof(value, &value)}, sizeof(float));
      else
        put_int(&attribute, 8, strtoll(value, &value, 10));
    put_int(&attribute, 20, real ? 6 : 7);
  } else if (strchr(value, '.')) {
    put_varint(&attribute, 2 << 3 | 5);
    put(&attribute, &(float){strtof(value, NULL)}, sizeof(float));
    put_int(&attribute, 20, 1);
  } else {
    put_int(&attribute, 3, strtoll(value, NULL, 10));
    put_int(&attribute, 20, 2);
  }
  put_message(node, 5, &attribute);
}

/* ValueInfoProto: a name and, where it is an input, a type. */
static void put_info(struct bytes *graph, unsigned field, const char *name,
                     const char *sizes) {
  struct bytes shape = {.length = 0}, tensor = shape, type = shape,
               info = shape;
  put_text(&info, 1, name);
  for (; sizes && *sizes && *sizes != '@'; sizes += *sizes == 'x') {
    struct bytes dim = {.length = 0};
    put_int(&dim, 1, strtoll(sizes, (char **)&sizes, 10));
    put_message(&shape, 1, &dim);
  }
  if (sizes) {
    put_int(&tensor, 1, 1);
    put_message(&tensor, 2, &shape);
    put_message(&type, 1, &tensor);
    put_message(&info, 2, &type);
  }
  put_message(graph, field, &info);
}

/* A constant: a letter of its kind, then numbers. */
static bool is_constant(const char *word) {
  return strchr("fwrhdinb", *word) && (word[1] == '-' || isdigit(word[1]));
}

/* "RESULTS = OPERATOR INPUTS ATTRIBUTES"; `last`: its results are outputs. */
static void put_node(struct bytes *graph, char *text, int number, bool last) {
  struct bytes node = {.length = 0};
  char *rest, name[32], *word = strtok_r(text, " \n", &rest);
  int count = 0;
  for (; strcmp(word, "=") != 0; word = strtok_r(NULL, " \n", &rest)) {
    put_text(&node, 2, strcmp(word, "-") == 0 ? "" : word);
    if (count++ == 0)
      put_text(&node, 3, word);
    if (last && strcmp(word, "-") != 0)
      put_info(graph, 12, word, NULL);
  }
  word = strtok_r(NULL, " \n", &rest);
  if (strncmp(word, "ms.", 3) == 0) {
    put_text(&node, 7, "com.microsoft");
    word += 3;
  }
  put_text(&node, 4, word);
  count = 0;
  while ((word = strtok_r(NULL, " \n", &rest))) {
    if (strchr(word, '=')) {
      put_attribute(&node, word);
      continue;
    }
    snprintf(name, sizeof name, number ? "w%d_%d" : "w%d%.0d", count++, number);
    if (is_constant(word))
      put_tensor(graph, 5, name, word);
    if (*word == 'p' && isdigit(word[1])) {
      char *sizes = strtok(word + 1, ":");
      word = strtok(NULL, ":");
      put_info(graph, 11, word, sizes);
    }
    put_text(&node, 1, *word == '-' ? "" : is_constant(word) ? name : word);
  }
  put_message(graph, 1, &node);
}

static void write_model(const struct row *row, const char *path) {
  struct bytes *m = calloc(3, sizeof *m), *graph = m + 1, *opset = m + 2;
  const char *shape = row->shape ? row->shape : "1x8x6x10";
  const char *at = strchr(shape, '@');
  char text[1024], *rest, *next;
  int number = 0;
  assert_non_null(m);
  if (row->op)
    snprintf(text, sizeof text, "y = %s %s %s", row->op, row->inputs,
             row->attributes);
  else
    assert_in_range(snprintf(text, sizeof text, "%s", row->inputs), 1,
                    sizeof text - 1);
  put_info(graph, 11, "x", shape);
  for (char *node = strtok_r(text, ";", &rest); node; node = next) {
    next = strtok_r(NULL, ";", &rest);
    put_node(graph, node, number++, !next);
  }
  put_text(graph, 2, "g");
  put_int(opset, 2, at ? strtoll(at + 1, NULL, 10) : 17);
  put_int(m, 1, 8);
  put_message(m, 8, opset);
  put_message(m, 7, graph);
  write_text(path, (const char *)m->at, m->length);
  free(m);
}

static void check_row(void **state) {
  const struct row *row = *state;
  bool refused = strncmp(row->says, "error: ", 7) == 0;
  char path[1200];
  snprintf(path, sizeof path, "%s/a.onnx", scratch("operators"));
  write_model(row, path);
  struct run r = run("%s import %s", NETC, path);
  if (r.status != refused)
    print_error("%s", r.err);
  assert_int_equal(r.status, refused);
  assert_holds(refused ? r.err : r.out, row->says);
  run_free(&r);
}

/* What a file without values lists first may be a parameter of the module. */
static void named_inputs_are_parameters(void **state) {
  (void)state;
  static const struct row row = {
      "", NULL, "a = Add x p1x8x6x10:token; y = Conv a p8x8x1x1:m.weight",
      "", NULL, ""};
  char path[1200];
  snprintf(path, sizeof path, "%s/a.onnx", scratch("operators"));
  write_model(&row, path);
  expect(text_of(NETC " import %s --parameter token", path), 0,
         "input 6x10x8\nadd {} { weight 6x10x8 }\nconv 8 1x1 nobias\n", "");
  expect(text_of(NETC " %s --parameter token --emit=csv=-", path), 0, "add1",
         "");
  expect(text_of(NETC " import %s --parameter tokn", path), 1, "",
         "--parameter: the file has no input `tokn`");
  expect(NETC " import tests/data/import/caffe/SqueezeNet_v1.0_deploy.prototxt "
              "--parameter token",
         2, "", "--parameter is about ONNX files");
}

int main(void) {
  static const struct CMUnitTest others[] = {
      cmocka_unit_test(named_inputs_are_parameters),
  };
  return run_table("operators", rows, sizeof rows / sizeof *rows, sizeof *rows,
                   check_row, others, sizeof others / sizeof *others);
}
