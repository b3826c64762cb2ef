/* Elementwise operators, joins, products and reductions. */
#include <math.h>
#include <string.h>

#include "import/tflite/tflite.h"

/* Elementwise */

bool tflite_plain(struct tflite *t, const struct tflite_tensor *in) {
  return tflite_give(t, 0,
                     tflite_layer(t, tflite_word(t), tflite_exact(t, in)));
}

bool tflite_slope(struct tflite *t, const struct tflite_tensor *in) {
  struct graph_node *node =
      graph_with(t->graph, WORD_LEAKY, tflite_exact(t, in),
                 graph_single(flat_real(&t->flat, &t->at->options, 0, 0)));
  graph_usual(node, graph_number(t->graph, 0.01));
  return tflite_give(t, 0, node);
}

bool tflite_softmax(struct tflite *t, const struct tflite_tensor *in) {
  double beta = flat_real(&t->flat, &t->at->options, 0, 0);
  return (beta >= 1 && beta <= 1) ? tflite_plain(t, in)
                                  : tflite_fail(t, "its `beta` is not 1");
}

bool tflite_gelu(struct tflite *t, const struct tflite_tensor *in) {
  struct graph_node *node = tflite_layer(t, WORD_GELU, tflite_exact(t, in));
  if (tflite_int(t, 0, 1, 0))
    graph_arg(t->graph, node, PART_NONE, "approximate=", "tanh");
  return tflite_give(t, 0, node);
}

/* A clamp to [0, 1]. */
bool tflite_unit(struct tflite *t, const struct tflite_tensor *in) {
  struct graph_node *node = tflite_layer(t, WORD_HARDTANH, tflite_exact(t, in));
  graph_flag(t->graph, node, "0");
  graph_flag(t->graph, node, "1");
  return tflite_give(t, 0, node);
}

static bool give_power(struct tflite *t, int input, double exponent) {
  return tflite_give(
      t, 0, graph_with(t->graph, WORD_POW, input, graph_single(exponent)));
}

/* SQUARE, RSQRT. */
bool tflite_power(struct tflite *t, const struct tflite_tensor *in) {
  return give_power(t, tflite_exact(t, in),
                    strcmp(t->word, "SQUARE") == 0 ? 2 : -0.5);
}

bool tflite_pow(struct tflite *t, const struct tflite_tensor *in) {
  struct tflite_tensor *by = tflite_in(t, 1);
  if (!tflite_is_constant(by) || by->node >= 0 || by->count != 1)
    return tflite_fail(t, "only powers that are numbers are supported");
  const float *exponent = tflite_reals(t, by);
  return exponent && give_power(t, tflite_exact(t, in), (double)*exponent);
}

/* PyTorch's alpha is TensorFlow's alpha times the size of the window. */
bool tflite_lrn(struct tflite *t, const struct tflite_tensor *in) {
  double bias = flat_real(&t->flat, &t->at->options, 1, 0);
  double alpha = flat_real(&t->flat, &t->at->options, 2, 0);
  double beta = flat_real(&t->flat, &t->at->options, 3, 0);
  int64_t radius = tflite_int(t, 0, 4, 0);
  if (radius < 0 || radius > 1 << 20)
    return tflite_fail(t, "its radius is not supported");
  int64_t size = 2 * radius + 1;
  alpha *= (double)size;
  if (fabs(alpha - 1e-4) > 1e-9 || fabs(beta - 0.75) > 1e-6 ||
      fabs(bias - 1) > 1e-6)
    graph_note(t->graph,
               "`%.64s` has alpha %s, beta %s and bias %s; netc uses 0.0001, "
               "0.75 and 1.",
               t->name, graph_number(t->graph, graph_single(alpha)),
               graph_number(t->graph, graph_single(beta)),
               graph_number(t->graph, graph_single(bias)));
  struct graph_node *node = tflite_layer(t, WORD_LRN, tflite_exact(t, in));
  graph_int(t->graph, node, PART_OTHER, "", size);
  return tflite_give(t, 0, node);
}

/* A slope for each channel, or one. */
bool tflite_prelu(struct tflite *t, const struct tflite_tensor *in) {
  struct tflite_tensor *slopes = tflite_in(t, 1);
  int64_t channels = in->dims[in->rank - 1];
  if (!tflite_is_constant(slopes) || slopes->node >= 0 ||
      (slopes->count != 1 && (slopes->count != channels || slopes->rank < 1 ||
                              slopes->dims[slopes->rank - 1] != channels)))
    return tflite_fail(t, "only a slope for each channel is supported");
  struct graph_node *node = tflite_layer(t, WORD_PRELU, tflite_exact(t, in));
  if (slopes->count == 1 && channels != 1)
    graph_flag(t->graph, node, "shared");
  return tflite_take(t, node, "weight", slopes, NULL) &&
         tflite_give(t, 0, node);
}

/* Joins */

/* A scalar becomes an argument, a larger constant a tensor. */
bool tflite_two(struct tflite *t) {
  struct tflite_tensor *a = tflite_in(t, 0), *b = tflite_in(t, 1);
  bool first = tflite_is_constant(a) && a->node < 0;
  bool second = tflite_is_constant(b) && b->node < 0;
  if (first ? !tflite_value(t, 1) : !tflite_value(t, 0))
    return false;
  struct tflite_tensor *value = first ? b : a, *other = first ? a : b;
  enum layer_word word = tflite_word(t);
  struct graph_node *node;
  bool swaps = word != WORD_SUB && word != WORD_DIV;
  if (!other || (!first && !second && !tflite_value(t, 1)))
    return tflite_fail(t, "it needs two operands");
  int at = tflite_exact(t, value);
  if ((first || second) && other->count == 1 && (swaps || second)) {
    float *number = tflite_reals(t, other);
    if (!number)
      return false;
    node = graph_with(t->graph, word, at, graph_single((double)*number));
  } else {
    int by =
        tflite_operand(t, first ? 0 : 1, value->rank > 1 ? value->rank - 1 : 1);
    if (by < 0)
      return false;
    node = first ? graph_pair(t->graph, word, by, at)
                 : graph_pair(t->graph, word, at, by);
  }
  bool fuses = word != WORD_MAX && word != WORD_MIN;
  return tflite_give_active(t, node, fuses ? tflite_int(t, 0, 1, 0) : 0);
}

bool tflite_sum(struct tflite *t) {
  struct tflite_tensor *out = tflite_out(t, 0);
  size_t count = (size_t)t->at->inputs.count;
  int *nodes = tflite_operands(t, out ? out->rank - 1 : 1);
  if (!nodes)
    return false;
  return tflite_give(t, 0, graph_join_all(t->graph, WORD_ADD, nodes, count));
}

bool tflite_squared_difference(struct tflite *t) {
  struct tflite_tensor *out = tflite_out(t, 0);
  int rank = out && out->rank > 1 ? out->rank - 1 : 1;
  int a = tflite_operand(t, 0, rank),
      b = a < 0 ? a : tflite_operand(t, 1, rank);
  if (b < 0)
    return false;
  struct graph_node *node = graph_pair(t->graph, WORD_SUB, a, b);
  return give_power(t, node->index, 2);
}

/* Products */

/* Either matrix may be transposed; a constant one is a weight. */
bool tflite_matmul(struct tflite *t) {
  struct tflite_tensor *a = tflite_value(t, 0), *b = tflite_in(t, 1);
  bool adjoint = tflite_int(t, 0, 1, 0) != 0;
  bool across = tflite_int(t, 1, 1, 0) != 0;
  static const int order[] = {1, 0};
  if (!a || !b)
    return a ? tflite_fail(t, "it needs two operands") : false;
  if (adjoint || a->rank < 3)
    return tflite_fail(t, "its first operand is transposed or not a matrix");
  if (tflite_is_constant(b) && b->node < 0) {
    int64_t last = a->dims[a->rank - 1];
    if (b->rank != 2 || b->dims[across] != last)
      return tflite_fail(t, "its constant is not one matrix that fits");
    struct graph_node *node = tflite_layer(t, WORD_LINEAR, tflite_exact(t, a));
    graph_int(t->graph, node, PART_CHANNELS, "", b->dims[!across]);
    node->bias = BIAS_WITHOUT;
    return tflite_take(t, node, "weight", b, across ? NULL : order) &&
           tflite_give(t, 0, node);
  }
  b = tflite_value(t, 1);
  if (!b)
    return false;
  struct graph_node *node =
      graph_pair(t->graph, WORD_MATMUL, tflite_exact(t, a), tflite_exact(t, b));
  if (across)
    graph_flag(t->graph, node, "transpose");
  return tflite_give(t, 0, node);
}

/* Reads all values, or the last axis if the output keeps the others. */
bool tflite_dense(struct tflite *t, const struct tflite_tensor *in) {
  struct tflite_tensor *weight = tflite_weight(t, 1, 2);
  const struct tflite_tensor *out = tflite_out(t, 0);
  if (!weight || !out)
    return false;
  int64_t all = in->count / t->batch, last = in->dims[in->rank - 1];
  int64_t columns = weight->dims[1], rows = weight->dims[0];
  bool keeps = last == columns && in->rank > 2 &&
               (all != columns || out->rank == in->rank);
  if (tflite_int(t, 1, 1, 0))
    return tflite_fail(t, "its weights are shuffled");
  if (all != columns && !keeps)
    return tflite_fail(t, "its weights do not fit its input");
  struct graph_node *node = tflite_layer(
      t, keeps ? WORD_LINEAR : WORD_FC, keeps ? tflite_exact(t, in) : in->node);
  graph_int(t->graph, node, PART_CHANNELS, "", rows);
  return tflite_take(t, node, "weight", weight, NULL) &&
         tflite_take_bias(t, node, "bias", 2, rows) &&
         tflite_give_active(t, node, tflite_int(t, 0, 1, 0));
}

/* Reductions */

static enum layer_word global_word(enum layer_word word) {
  return word == WORD_MEAN ? WORD_GAP : word == WORD_MAX ? WORD_GMP : WORD_NONE;
}

/* Reduces all positions of a map, or some axes. */
bool tflite_reduce(struct tflite *t, const struct tflite_tensor *in) {
  int64_t axes[LIMIT_RANK];
  bool gone[LIMIT_RANK] = {false}, keep = tflite_int(t, 0, 1, 0) != 0;
  int count = 0, rank;
  if (!tflite_ints(t, 1, "axes", LIMIT_RANK, axes, &count))
    return false;
  for (int i = 0; i < count; i++) {
    int axis = tflite_axis(t, in, axes[i]);
    if (axis < 0)
      return false;
    gone[axis] = true;
  }
  rank = in->rank - 1;
  enum layer_word word = tflite_word(t);
  if (rank == 3 && gone[0] && gone[1] && !gone[2] && global_word(word)) {
    struct graph_node *node =
        tflite_layer(t, global_word(word), tflite_exact(t, in));
    return tflite_give(t, 0, node);
  }
  return tflite_give(
      t, 0, graph_reduce(t->graph, word, tflite_exact(t, in), gone, keep));
}
