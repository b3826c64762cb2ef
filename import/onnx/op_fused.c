/*
 * Operators of ONNX Runtime that fuse several of ONNX: norms with a sum before
 * them, activations with a bias, products and convolutions with more
 * (github.com/microsoft/onnxruntime, docs/ContribOperators.md).
 */
#include <string.h>

#include "import/onnx/emit.h"

/* True if a value is a projection without a bias, which takes this one. */
static bool wants_bias(struct onnx *x, int value) {
  const struct onnx_view *view = value < 0 ? NULL : x->values.at[value].view;
  return view && graph_at(x->graph, view->node)->word == WORD_LINEAR &&
         graph_at(x->graph, view->node)->bias == BIAS_WITHOUT;
}

/* input + skip + bias */
static int sum_of(struct onnx *x, size_t bias_at) {
  int in = emit_input(x, 0), skip = emit_input(x, 1);
  int bias = emit_input(x, bias_at);
  if (bias >= 0 && wants_bias(x, skip) && !wants_bias(x, in))
    skip = emit_two(x, "Add", skip, bias);
  else if (bias >= 0)
    in = emit_two(x, "Add", in, bias);
  return emit_two(x, "Add", in, skip);
}

/* The norm of a value, with a weight and a bias of those inputs. */
static bool give_norm(struct onnx *x, const char *type, int value,
                      size_t weight, size_t bias) {
  Onnx__NodeProto *norm = emit_open(x, type);
  const int ins[3] = {value, emit_input(x, weight), emit_input(x, bias)};
  emit_real(x, norm, "epsilon", onnx_real(x, "epsilon", (double)1e-12F));
  return emit_give(x, 0, emit(x, norm, ins, ins[2] < 0 ? 2 : 3));
}

bool op_skip_norm(struct onnx *x) {
  bool plain = strcmp(x->at->type, "SkipLayerNormalization") == 0;
  if (!onnx_has(x, 0) || !onnx_has(x, 1) || !onnx_has(x, 2))
    return onnx_fail(x, "it needs two tensors and a weight");
  int sum = sum_of(x, plain ? 4 : 3);
  return (plain ? give_norm(x, "LayerNormalization", sum, 2, 3)
                : give_norm(x, "SimplifiedLayerNormalization", sum, 2,
                            x->at->in_count)) &&
         emit_give(x, 3, sum);
}

/* Default positions: 0, 1, .. */
static int places(struct onnx *x, int64_t count) {
  int64_t dims[2] = {1, count};
  struct constant *c = constant_new(x, TYPE_INT64, 2, dims);
  int64_t *to;
  if (!constant_room(x, count))
    return -1;
  to = arena_alloc(x->arena, (size_t)count + 1, sizeof *to);
  for (int64_t i = 0; i < count; i++)
    to[i] = i;
  c->whole = to;
  return emit_constant(x, c);
}

bool op_embed_norm(struct onnx *x) {
  int64_t dims[MOST_AXES];
  int words = emit_input(x, 0), segments = emit_input(x, 1);
  if (!onnx_has(x, 0) || !onnx_has(x, 2) || !onnx_has(x, 3) ||
      !onnx_has(x, 5) || emit_dims(x, words, dims) != 2)
    return onnx_fail(x, "it needs token ids and two tables");
  int sum = emit_two(x, "Gather", emit_input(x, 2), words);
  if (segments >= 0 && onnx_has(x, 4))
    sum = emit_two(x, "Add", sum,
                   emit_two(x, "Gather", emit_input(x, 4), segments));
  int where = places(x, dims[1]);
  sum = emit_two(x, "Add", sum, emit_two(x, "Gather", emit_input(x, 3), where));
  return give_norm(x, "LayerNormalization", sum, 5, 6) && emit_give(x, 2, sum);
}

/* Activations. */

/* gelu of a sum */
bool op_bias_gelu(struct onnx *x) {
  bool fast = strcmp(x->at->type, "FastGelu") == 0;
  int in = emit_input(x, 0);
  if (!onnx_has(x, 0))
    return onnx_fail(x, "it has no input");
  if (onnx_has(x, 1))
    in = emit_two(x, "Add", in, emit_input(x, 1));
  Onnx__NodeProto *gelu = emit_open(x, "Gelu");
  if (fast)
    emit_text(x, gelu, "approximate", "tanh");
  return emit_give(x, 0, emit(x, gelu, &in, 1));
}

/* Applies `activation` to another operator's result. */
static int activated(struct onnx *x, int value) {
  const Onnx__AttributeProto *a = onnx_attribute(x, "activation");
  const Onnx__AttributeProto *params = onnx_attribute(x, "activation_params");
  double alpha = params && params->n_floats > 0
                     ? (double)params->floats[0]
                     : onnx_real(x, "activation_alpha", 0.01);
  double beta = params && params->n_floats > 1
                    ? (double)params->floats[1]
                    : onnx_real(x, "activation_beta", 0.5);
  if (!a || !a->has_s || a->s.len == 0 || value < 0)
    return value;
  const char *word = arena_copy(x->arena, (char *)a->s.data, a->s.len);
  if (function_find(IN_ONNX, slice_of(word)))
    return emit_one(x, word, value);
  if (strcmp(word, "Clip") == 0) {
    const int ins[3] = {value, emit_scalar(x, alpha), emit_scalar(x, beta)};
    return emit(x, emit_open(x, word), ins, 3);
  }
  if (strcmp(word, "LeakyRelu") != 0 && strcmp(word, "HardSigmoid") != 0)
    return ONNX_NONE(x, "netc has no equivalent of its activation");
  Onnx__NodeProto *node = emit_open(x, word);
  emit_real(x, node, "alpha", alpha);
  emit_real(x, node, "beta", beta);
  return emit(x, node, &value, 1);
}

/* A convolution or dense layer, a term added to it, an activation. */
bool op_fused(struct onnx *x) {
  bool conv = strcmp(x->at->type, "FusedConv") == 0;
  Onnx__NodeProto *node = emit_open(x, conv ? "Conv" : "Gemm");
  int ins[3] = {emit_input(x, 0), emit_input(x, 1), emit_input(x, 2)};
  emit_same(x, node);
  int value = emit(x, node, ins, ins[2] < 0 ? 2 : 3);
  if (conv && onnx_has(x, 3))
    value = emit_two(x, "Add", value, emit_input(x, 3));
  return emit_give(x, 0, activated(x, value));
}

/* Swaps the last two axes. */
static int crossed(struct onnx *x, int value) {
  int64_t dims[MOST_AXES], perm[MOST_AXES];
  int rank = emit_dims(x, value, dims);
  if (rank < 2)
    return ONNX_NONE(x, "netc has no equivalent of a product of vectors");
  for (int i = 0; i < rank; i++)
    perm[i] = i;
  perm[rank - 1] = rank - 2;
  perm[rank - 2] = rank - 1;
  return emit_transpose(x, value, perm, rank);
}

static int times(struct onnx *x, int value, double factor) {
  return factor < 1 || factor > 1
             ? emit_two(x, "Mul", value, emit_scalar(x, factor))
             : value;
}

/* The product of the first two inputs as FusedMatMul and Gemm have it. */
static int product(struct onnx *x) {
  int a = emit_input(x, 0), b = emit_input(x, 1);
  a = onnx_int(x, "transA", 0) ? crossed(x, a) : a;
  b = onnx_int(x, "transB", 0) ? crossed(x, b) : b;
  return times(x, emit_two(x, "MatMul", a, b), onnx_real(x, "alpha", 1));
}

bool op_fused_matmul(struct onnx *x) {
  if (!onnx_has(x, 0) || !onnx_has(x, 1))
    return onnx_fail(x, "it needs two inputs");
  if (onnx_int(x, "transBatchA", 0) || onnx_int(x, "transBatchB", 0))
    return onnx_fail(x, "transposed batches are not supported");
  return emit_give(x, 0, activated(x, product(x)));
}

bool op_gemm_of_tensors(struct onnx *x) {
  int value = product(x);
  if (onnx_has(x, 2))
    value = emit_two(x, "Add", value,
                     times(x, emit_input(x, 2), onnx_real(x, "beta", 1)));
  return emit_give(x, 0, value);
}
