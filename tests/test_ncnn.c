/*
 * netc import of ncnn's .param: parameters are those of a counter that shares
 * no code with netc, which sums the sizes that the layers state.
 */
#define _XOPEN_SOURCE 700
#include "tests/imported.h"

#define FOLDER "tests/data/import/ncnn/"

/* github.com/Tencent/ncnn, benchmark/models. */
static void parameters_are_those_that_layers_state(void **state) {
  (void)state;
  static const struct {
    const char *file;
    int64_t params;
    const char *holds;
  } files[] = {
      {"squeezenet", 1235496, "conv 64 3x3 /2 relu -> 113x113x64"},
      {"resnet50", 25530472, "add"},
      {"mobilenet_v2", 3488872, "input 224x224x3"},
      {"mobilenet_v3", 5133694, "gap\n  fc c relu"},
      {"mobilenet_ssd", 5783417,
       "# DetectionOutput `detection_out` is left out: it has no weights, and "
       "its inputs become outputs.\n"},
      {"yolov4-tiny", 6053502, "pad leaky(0.1)"},
      {"yolo-fastestv2", 245782, "output"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[200];
    snprintf(path, sizeof path, FOLDER "%s.param", files[i].file);
    for (int flat = 0; flat < 2; flat++) {
      char *source = import(path, flat ? "--flat" : "");
      if (!flat)
        assert_holds(source, files[i].holds);
      assert_int_equal(totals_of(path, source).param_count, files[i].params);
      free(source);
    }
  }
}

/* Layers by hand: what each becomes. */
static struct part {
  char name[32];
  const char *lines, *says;
} parts[] = {
    {"padding", "Padding p 1 1 x y 0=1 1=2 2=0 3=0", "pad 1:2x0"},
    {"pool-ends", "Pooling p 1 1 x y 1=3 2=2", "pool 3x3 /2 ceil"},
    {"whole-mean", "Pooling p 1 1 x y 0=1 4=1", "gap"},
    {"channel-gate",
     "Pooling p 1 1 x g 0=1 4=1\nSigmoid s 1 1 g h\nBinaryOp b 2 1 x h y 0=2",
     "mul"},
    {"number", "BinaryOp b 1 1 x y 0=7 1=1 2=3.0", "neg\nadd 3"},
    {"slice", "Slice s 1 2 x a b -23300=2,1,-233 1=0", "slice c 0:1"},
    {"crop", "Crop c 1 1 x y -23309=1,1 -23310=1,-233 -23311=1,0",
     "slice c 1:_"},
    {"crop-to-blob",
     "Convolution k 1 1 x z 0=2 1=3 6=36\nCrop c 2 1 x z y 0=1 1=1 2=0",
     "slice w 1:"},
    {"factors", "Eltwise e 2 1 x x y 0=1 -23301=2,2.0e-01,1.0", "mul 0.2"},
    {"scale-by-row", "Pooling p 1 1 x g 0=1 4=1\nScale s 2 1 x g y 0=-233",
     "mul"},
    {"permute", "Permute p 1 1 x y 0=3\nSoftmax s 1 1 y z 0=2", "softmax"},
    {"deconv", "Deconvolution d 1 1 x y 0=4 1=2 3=2 5=1 6=32",
     "deconv 4 2x2 /2"},
    {"dense", "InnerProduct d 1 1 x y 0=5 1=1 2=480 9=4", "fc 5 sigmoid"},
    {"shuffle",
     "Convolution c 1 1 x a 0=6 1=1 6=12\nShuffleChannel s 1 1 a b 0=2\n"
     "ReLU e 1 1 b c\nConvolution d 1 1 c y 0=6 1=1 6=36",
     "shuffle 2"},
    {"shuffle-back",
     "Convolution c 1 1 x a 0=6 1=1 6=12\nShuffleChannel s 1 1 a b 0=2 "
     "1=1\nConvolution d 1 1 b y 0=6 1=1 6=36",
     "shuffle 3"},
    {"groups", "ShuffleChannel s 1 1 x y 0=0", "its groups are not supported"},
    {"gemm",
     "Convolution c 1 1 x k 0=8 1=1 6=16\nReshape r 1 1 k b 0=-1 1=8\n"
     "Permute p 1 1 b a 0=1\nGemm g 1 1 a y 3=1 5=1 6=1 8=5 9=8 10=4",
     "linear 5\n"},
    {"gemm-of-two", "Reshape r 1 1 x a 0=8 1=12\nGemm g 1 1 a y 3=1 8=5 9=8",
     "only rows times a matrix of weights are supported"},
    {"attention",
     "Convolution c 1 1 x k 0=8 1=1 6=16\nReshape r 1 1 k b 0=-1 1=8\n"
     "Permute p 1 1 b a 0=1\nSplit t 1 3 a a_splitncnn_0 a_splitncnn_1 "
     "a_splitncnn_2\nMultiHeadAttention m 3 1 a_splitncnn_2 a_splitncnn_1 "
     "a_splitncnn_0 y 0=8 1=2 2=64",
     "attention 2 packed"},
    {"attention-to-others",
     "Reshape r 1 1 x a 0=8 1=12\nSplit t 1 2 a b c\nMultiHeadAttention m 3 1 "
     "b c c y 0=8 1=2 2=64",
     "only attention of a tensor to itself is supported"},
    {"class-token",
     "Convolution c 1 1 x k 0=8 1=1 6=16\nReshape r 1 1 k b 0=-1 1=8\n"
     "Permute p 1 1 b a 0=1\nMemoryData d 0 1 e 0=8 1=1\nConcat c 2 1 e "
     "a y 0=0",
     "concat axis=l { weight 1x8 } {}"},
    {"reduction", "Reduction r 1 1 x y 0=3 1=0 -23303=2,1,2 4=1", "gap"},
    {"interp", "Interp i 1 1 x y 0=2 3=16 4=12", "up 2 bilinear"},
    {"sizes", "Convolution c 1 1 x y 0=4 1=3 6=100",
     "6=100 weights are not of 4 outputs of 3x3"},
    {"channels", "Convolution c 1 1 x y 0=4 1=1 6=12", "`c` (Conv"},
    {"unknown", "Warp w 1 1 x y", "no equivalent of these operators: Warp (1)"},
    {"word", "ReLU r 1 1 x y 0=a", "`r` (ReLU): parameter 0 is not a number"},
    {"blobs", "ReLU r 2 1 x", "`r` (ReLU): it has fewer blobs than it says"},
    {"no-blob", "ReLU r 1 1 nothing y", "which no node before it produces"},
    {"huge", "Pooling p 1 1 x y 1=1e300 2=-1e300", "`p` (MaxPool"},
    {"count", "ReLU r 1e9 1 x y", ":4: error: a count of blobs is missing"},
};

static void check_layer(void **state) {
  const struct part *part = *state;
  const char *folder = scratch("parts");
  char path[600], net[1000];
  snprintf(path, sizeof path, "%s/a.param", folder);
  snprintf(net, sizeof net, "7767517\n2 2\nInput x 0 1 x 0=6 1=8 2=2\n%s\n",
           part->lines);
  write_text(path, net, strlen(net));
  struct run r = run("timeout 10 " NETC " import %s", path);
  assert_true(r.status == 0 || r.status == 1);
  assert_holds(r.status ? r.err : r.out, part->says);
  run_free(&r);
}

static void values_are_not_read(void **state) {
  (void)state;
  const char *folder = scratch("values");
  struct run r =
      run(NETC " import " FOLDER "squeezenet.param --weights %s/w", folder);
  assert_int_equal(r.status, 1);
  assert_holds(r.err, "error: the .bin of weights is not read");
  run_free(&r);
  expect(NETC " " FOLDER "squeezenet.param --depth 0", 0,
         "squeezenet   1.24 M parameters\n", "the file is read as ncnn");
  expect(NETC " import --types", 0, "ncnn\tConvolution\tconv", NULL);
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(parameters_are_those_that_layers_state),
      cmocka_unit_test(values_are_not_read)};
  return run_table("ncnn", parts, sizeof parts / sizeof *parts, sizeof *parts,
                   check_layer, others, sizeof others / sizeof *others);
}
