/* A net for each layer: tests/test_onnx.c writes what becomes of it. */
#ifndef NETC_TESTS_ONNX_SAMPLES_H
#define NETC_TESTS_ONNX_SAMPLES_H

#include <string.h>

/* How each layer is written, where that is not only its name on a map. */
static const struct {
  const char *layer, *input, *written;
} samples[] = {
    {"conv", "8x8x4", "conv 6 3x3 pad"},
    {"dwconv", "8x8x4", "dwconv 3x3 pad"},
    {"local", "8x8x4", "local 6 2x2"},
    {"unfold", "8x8x4", "unfold 2x2"},
    {"unpool", "8x8x4", "p: pool 2x2 indices; unpool p"},
    {"roialign", "8x8x4", "roialign 2 boxes=boxes"},
    {"roipool", "8x8x4", "roipool 2 boxes=boxes"},
    {"mean", "8x8x4", "mean h"},
    {"sum", "8x8x4", "sum h"},
    {"pow", "8x8x4", "pow 2"},
    {"split", "8x8x4", "p: split c 2; add p[1] p[2]"},
    {"div", "8x8x4", "div {} {}"},
    {"min", "8x8x4", "min {} {}"},
    {"mla", "8x16", "mla 4 latent=8 rope=4"},
    {"deformattn", "8x4", "deformattn 2 2x3 1x2 at=where"},
    {"moe", "8x4", "moe experts=4 top=2 { linear 8; linear 4 }"},
    {"ssm", "8x4", "ssm"},
    {"deltanet", "8x4", "deltanet 2 dim=3"},
    {"cached", "8x4", "cached"},
    {"distances", "8x4", "distances 3x2"},
    {"convlstm", "3x8x8x4", "convlstm 6 3x3"},
    {"deconv", "8x8x4", "deconv 6 2x2 /2"},
    {"deformconv", "8x8x4", "deformconv 6 3x3 pad offsets=offsets"},
    {"pool", "8x8x4", "pool 2x2"},
    {"avgpool", "8x8x4", "avgpool 2x2"},
    {"adaptpool", "8x8x4", "adaptpool 4x4"},
    {"adaptmaxpool", "8x8x4", "adaptmaxpool 4x4"},
    {"fc", "8x8x4", "fc 10"},
    {"linear", "8x4", "linear 10"},
    {"gn", "8x8x4", "gn 2"},
    {"ln", "8x4", "ln"},
    {"rmsnorm", "8x4", "rmsnorm"},
    {"lrn", "8x8x4", "lrn 5"},
    {"dropout", "8x8x4", "dropout 0.5"},
    {"droppath", "8x8x4", "droppath 0.1"},
    {"flatten", "8x8x4", "flatten"},
    {"reshape", "8x8x4", "reshape 16x16"},
    {"permute", "8x4", "permute 1 0"},
    {"slice", "8x8x4", "slice c 1:3"},
    {"crop", "8x8x4", "crop 4x4"},
    {"pad", "8x8x4", "pad 1"},
    {"roll", "8x8x4", "roll 1 x 0"},
    {"shuffle", "8x8x4", "shuffle 2"},
    {"pixelshuffle", "8x8x4", "pixelshuffle 2"},
    {"space2depth", "8x8x4", "space2depth 2"},
    {"up", "8x8x4", "up 2"},
    {"gridsample", "8x8x4", "gridsample grid"},
    {"detach", "8x4", "detach"},
    {"topk", "8x4", "topk 3 l"},
    {"gather", "8x4", "fork { max c; best: topk 3 indices }; gather best"},
    {"weight", "8x4", "add { weight 4 } {}"},
    {"add", "8x8x4", "add {} {}"},
    {"sub", "8x8x4", "sub {} {}"},
    {"mul", "8x8x4", "mul {} {}"},
    {"max", "8x8x4", "max {} {}"},
    {"concat", "8x8x4", "concat {} {}"},
    {"stack", "8x4", "stack {} {}"},
    {"matmul", "8x4", "matmul {} {} transpose"},
    {"embed", "8 : i64", "embed 20 4"},
    {"posembed", "8x4", "posembed"},
    {"token", "8x4", "token"},
    {"attention", "8x4", "attention 2 causal"},
    {"rnn", "8x4", "rnn 6"},
    {"lstm", "8x4", "lstm 6"},
    {"gru", "8x4", "gru 6"},
};

/* Inputs of a layer beside its first. */
static inline const char *second_input(const char *written) {
  return strstr(written, "boxes=")     ? "input boxes 5x4\n"
         : strstr(written, "offsets=") ? "input offsets 8x8x18\n"
         : strstr(written, "at=where") ? "input where 8x2\n"
         : strstr(written, " grid")    ? "input grid 5x5x2\n"
                                       : "";
}

#endif
