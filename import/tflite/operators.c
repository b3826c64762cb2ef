/* Operators value by value, joins, dense layers, tables and shapes. */
#include <string.h>

#include "import/tflite/tflite.h"

/* Value by value */

bool tflite_plain(struct tflite *t) {
  struct tflite_tensor *in = tflite_value(t, 0);
  return in && tflite_give(
                   t, 0, tflite_layer(t, tflite_word(t), tflite_exact(t, in)));
}

bool tflite_slope(struct tflite *t) {
  struct tflite_tensor *in = tflite_value(t, 0);
  if (!in)
    return false;
  struct graph_node *node = tflite_layer(t, WORD_LEAKY, tflite_exact(t, in));
  graph_real(t->graph, node, "", flat_real(&t->flat, &t->at->options, 0, 0));
  graph_usual(node, graph_number(t->graph, 0.01));
  return tflite_give(t, 0, node);
}

bool tflite_softmax(struct tflite *t) {
  double beta = flat_real(&t->flat, &t->at->options, 0, 0);
  return (beta >= 1 && beta <= 1) ? tflite_plain(t)
                                  : tflite_fail(t, "its `beta` is not 1");
}

/* A slope for each channel, or one. */
bool tflite_prelu(struct tflite *t) {
  struct tflite_tensor *in = tflite_value(t, 0), *slopes = tflite_in(t, 1);
  if (!in)
    return false;
  int64_t channels = in->shape.size[in->shape.rank - 1];
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

/* Other values, the same values, other shapes. */
bool tflite_view(struct tflite *t) {
  struct tflite_tensor *in = tflite_value(t, 0);
  return in && tflite_give_view(t, in);
}

/* Joins */

/* A constant as a tensor of its own, without the batch; -1, with an error. */
static int constant_node(struct tflite *t, struct tflite_tensor *constant,
                         int rank) {
  struct graph_shape shape = {0};
  if (constant->count < 1 || constant->rank > rank + 1 ||
      (constant->rank == rank + 1 && constant->dims[0] != 1)) {
    tflite_fail(t, "its constant `%.64s` has a shape that is not supported",
                constant->name);
    return -1;
  }
  for (int i = constant->rank > rank; i < constant->rank; i++)
    shape.size[shape.rank++] = constant->dims[i];
  struct graph_node *node = graph_join(t->graph, WORD_WEIGHT);
  node->shape = shape;
  graph_arg(t->graph, node, shape.rank == 1 ? PART_CHANNELS : PART_OTHER, "",
            graph_sizes(t->graph, shape.size, shape.rank));
  graph_flag(t->graph, node, "fixed");
  bool taken = tflite_take(t, node, "weight", constant, NULL);
  node->params = 0; /* it is not trained */
  return taken ? node->index : -1;
}

/* One number is an argument, more are a tensor that is not trained. */
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
    node = tflite_layer(t, word, at);
    graph_real(t->graph, node, "", (double)*number);
  } else {
    int by = first || second ? constant_node(t, other, value->shape.rank)
                             : tflite_exact(t, other);
    if (by < 0)
      return false;
    node = first ? graph_pair(t->graph, word, by, at)
                 : graph_pair(t->graph, word, at, by);
  }
  bool fuses = word != WORD_MAX && word != WORD_MIN;
  return tflite_give_active(t, node, fuses ? tflite_int(t, 0, 1, 0) : 0);
}

bool tflite_concat(struct tflite *t) {
  struct tflite_tensor *in = tflite_value(t, 0);
  if (!in)
    return false;
  int axis = tflite_axis(t, in, tflite_int(t, 0, 4, 0));
  if (axis < 0)
    return false;
  uint64_t count = t->at->inputs.count;
  int *nodes = arena_alloc(t->graph->arena, count + 1, sizeof *nodes);
  for (uint64_t i = 0; i < count; i++) {
    struct tflite_tensor *operand = tflite_value(t, i);
    if (!operand)
      return false;
    if (operand->shape.rank != in->shape.rank)
      return tflite_fail(t, "its operands have different numbers of axes");
    nodes[i] = tflite_exact(t, operand);
  }
  if (count < 2)
    return tflite_fail(t, "it needs two operands");
  struct graph_node *node = graph_join(t->graph, WORD_CONCAT);
  for (uint64_t i = 0; i < count; i++)
    graph_operand(t->graph, node, nodes[i]);
  if (axis != in->shape.rank - 1)
    graph_arg(t->graph, node, PART_NONE,
              "axis=", graph_text(t->graph, "%d", axis));
  return tflite_give_active(t, node, tflite_int(t, 1, 1, 0));
}

/* Weights */

/* All values, or the last axis where the others stay. */
bool tflite_dense(struct tflite *t) {
  struct tflite_tensor *in = tflite_value(t, 0);
  struct tflite_tensor *weight = tflite_weight(t, 1, 2);
  const struct tflite_tensor *out = tflite_out(t, 0);
  if (!in || !weight || !out)
    return false;
  int64_t all = in->count / t->batch, last = in->dims[in->rank - 1];
  int64_t columns = weight->dims[1], rows = weight->dims[0];
  bool keeps = last == columns && in->shape.rank > 1 &&
               (all != columns || out->rank == in->rank);
  if (tflite_int(t, 1, 1, 0))
    return tflite_fail(t, "its weights are shuffled");
  if (all != columns && !keeps)
    return tflite_fail(t, "its weights do not fit its input");
  struct graph_node *node = tflite_layer(
      t, keeps ? WORD_LINEAR : WORD_FC, keeps ? tflite_exact(t, in) : in->node);
  graph_int(t->graph, node, PART_CHANNELS, "", rows);
  return tflite_take(t, node, "weight", weight, NULL) &&
         tflite_take_bias(t, node, 2, rows) &&
         tflite_give_active(t, node, tflite_int(t, 0, 1, 0));
}

/* Rows of a table by number. */
bool tflite_gather(struct tflite *t) {
  struct tflite_tensor *table = tflite_in(t, 0), *in = tflite_in(t, 1);
  if (!tflite_is_constant(table) || table->node >= 0 || table->rank != 2 ||
      tflite_int(t, 0, 4, 0) != 0 || tflite_int(t, 1, 4, 0) != 0)
    return tflite_fail(t, "only rows of a table are supported");
  if (!tflite_value(t, 1))
    return false;
  struct graph_node *node = tflite_layer(t, WORD_EMBED, tflite_exact(t, in));
  graph_int(t->graph, node, PART_OTHER, "", table->dims[0]);
  graph_int(t->graph, node, PART_CHANNELS, "", table->dims[1]);
  return tflite_take(t, node, "weight", table, NULL) && tflite_give(t, 0, node);
}

/* Reductions */

static enum layer_word global_word(enum layer_word word) {
  return word == WORD_MEAN ? WORD_GAP : word == WORD_MAX ? WORD_GMP : WORD_NONE;
}

/* Over all positions of a map, or over axes. */
bool tflite_reduce(struct tflite *t) {
  struct tflite_tensor *in = tflite_value(t, 0);
  int64_t axes[LIMIT_RANK];
  bool gone[LIMIT_RANK] = {false}, keep = tflite_int(t, 0, 1, 0) != 0;
  int count = 0, rank;
  if (!in || !tflite_ints(t, 1, "axes", LIMIT_RANK, axes, &count))
    return false;
  for (int i = 0; i < count; i++) {
    int axis = tflite_axis(t, in, axes[i]);
    if (axis < 0)
      return false;
    gone[axis] = true;
  }
  rank = in->shape.rank;
  enum layer_word word = tflite_word(t);
  if (rank == 3 && gone[0] && gone[1] && !gone[2] && global_word(word)) {
    struct graph_node *node =
        tflite_layer(t, global_word(word), tflite_exact(t, in));
    struct tflite_tensor *out = tflite_out(t, 0);
    if (!tflite_give(t, 0, node))
      return false;
    node->shape = (struct graph_shape){3, {1, 1, in->shape.size[2]}};
    return out->count == node->shape.size[2] * t->batch ||
           tflite_fail(t, "its output does not have a value for each channel");
  }
  struct graph_node *node = tflite_layer(t, word, tflite_exact(t, in));
  for (int i = 0; i < rank; i++)
    if (gone[i])
      graph_arg(t->graph, node, PART_NONE,
                "axis=", graph_text(t->graph, "%d", i));
  if (keep)
    graph_flag(t->graph, node, "keep");
  return tflite_give(t, 0, node);
}
