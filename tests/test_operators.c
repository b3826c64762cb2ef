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
 * such that count up, `i1,2` integers, `n1,2` of 32 bits, `b1,0` truth values,
 * `f2` a number, `h2` one of 16 bits, `d2` one of 64, `f1,2` several; `-`
 * nothing. Attributes: integers, lists with commas, numbers with a point,
 * 'texts', and constants after a #. A row without `op` has several operators as
 * `inputs`, "RESULTS = OPERATOR INPUTS ATTRIBUTES", parted by semicolons; the
 * results of the last are the outputs. "ms." before an operator: ONNX Runtime
 * has it. A shape ends in the opset where it is not 17: 1x8@11.
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
    {"Expand-3", "Expand", "x i3,3", "", NULL, "identity"},
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
    {"Softmax-2", "Softmax", "x", "", NULL, "permute 2 0 1 softmax -> 8x6x10"},
    {"Softmax-3", "Softmax", "x", "axis=2", NULL,
     "permute 2 1 0 softmax -> 8x10x6\n"
     "permute 0 2 1         -> 8x6x10"},
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
    {"PRelu-2", "PRelu", "x w1", "", NULL, "leaky 0"},
    {"PRelu-3", "PRelu", "x w6x10", "", NULL,
     "error: `y` (PRelu): only a slope for each channel is supported"},
    {"Pad", "Pad", "x i0,0,1,2,0,0,3,4", "", NULL, "pad 1:3x2:4 -> 10x16x8"},
    {"Pad-2", "Pad", "x i0,0,1,1,0,0,1,1", "mode='reflect'", NULL,
     "pad 1x1 reflect -> 8x12x8"},
    {"Pad-3", "Pad", "x i0,0,1,1,0,0,1,1", "mode='edge'", NULL,
     "pad 1x1 replicate -> 8x12x8"},
    {"Pad-4", "Pad", "x i0,1,0,0,0,1,0,0", "", NULL, "pad 0x0 c=1:1"},
    {"Pad-5", "Pad", "x i1,0,0,0,0,0,0,0", "", NULL,
     "error: `y` (Pad): padding the batch axis is not supported"},
    {"Pad-6", "Pad", "x i0,0,-1,0,0,0,-1,0", "", NULL,
     "error: `y` (Pad): netc has no equivalent of negative borders"},
    {"Pad-7", "Pad", "x i0,0,1", "", NULL,
     "error: `y` (Pad): its sizes depend on the inputs"},
    {"Pad-8", "Pad", "x i0,0,1,2,0,0,3,4 f1.5", "", NULL,
     "error: `y` (Pad): only zeros, `reflect` and `edge` are supported"},
    {"Pad-9", "Pad", "x i0,0,1,1,0,0,1,1", "mode='warp'", NULL,
     "error: `y` (Pad; mode=warp): only zeros, `reflect` and `edge` are "
     "supported"},
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
    {"Softsign", "Softsign", "x", "", NULL, "div {} { abs; add 1 }"},
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
  for (char *node = strtok_r(text, ";", &rest); node; node = next) {
    next = strtok_r(NULL, ";", &rest);
    put_node(graph, node, number++, !next);
  }
  put_text(graph, 2, "g");
  put_info(graph, 11, "x", shape);
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

int main(void) {
  return run_table("operators", rows, sizeof rows / sizeof *rows, sizeof *rows,
                   check_row, NULL, 0);
}
