/* Operands and outputs of operators, and their nodes. */
#include <inttypes.h>
#include <stdarg.h>

#include "import/tflite/tflite.h"

/* Operands */

struct tflite_tensor *tflite_tensor_at(struct tflite *t,
                                       const struct flat_vector *list,
                                       uint64_t index) {
  int64_t at = index < list->count ? flat_item(&t->flat, list, index, 4) : -1;
  return at >= 0 && (uint64_t)at < t->tensors.count ? &t->tensors.at[at] : NULL;
}

struct tflite_tensor *tflite_in(struct tflite *t, uint64_t index) {
  return tflite_tensor_at(t, &t->at->inputs, index);
}

struct tflite_tensor *tflite_out(struct tflite *t, uint64_t index) {
  return tflite_tensor_at(t, &t->at->outputs, index);
}

static bool is_input(struct tflite *t, const struct tflite_tensor *tensor) {
  for (uint64_t i = 0; i < t->inputs.count; i++)
    if (tflite_tensor_at(t, &t->inputs, i) == tensor)
      return true;
  return false;
}

struct tflite_tensor *tflite_value(struct tflite *t, uint64_t index) {
  struct tflite_tensor *tensor = tflite_in(t, index);
  if (tensor && tensor->node >= 0)
    return tensor;
  if (!tensor)
    tflite_fail(t, "it has no operand %" PRIu64, index);
  else if (tensor->state)
    tflite_fail(t,
                "it keeps `%.64s` between runs, and netc's nets have no state "
                "between runs",
                tensor->name);
  else
    tflite_fail(t, "its operand `%.64s` is %s", tensor->name,
                tensor->sizes                ? "computed from shapes"
                : tflite_is_constant(tensor) ? "a constant"
                : is_input(t, tensor) ? "an input without a batch, which "
                                        "netc does not read"
                                      : "not produced by any earlier "
                                        "operator");
  return NULL;
}

struct tflite_tensor *tflite_weight(struct tflite *t, uint64_t index,
                                    int rank) {
  struct tflite_tensor *tensor = tflite_in(t, index);
  if (tensor && tflite_is_constant(tensor) && tensor->node < 0 &&
      tensor->rank == rank && tensor->count > 0)
    return tensor;
  if (tensor && tensor->node >= 0)
    tflite_fail(t, "its weights, `%.64s`, are not in the file", tensor->name);
  else
    tflite_fail(t, "its weights do not have %d axes", rank);
  return NULL;
}

int64_t tflite_int(struct tflite *t, unsigned field, int bytes, int64_t usual) {
  return flat_int(&t->flat, &t->at->options, field, bytes, usual);
}

bool tflite_ints(struct tflite *t, uint64_t index, const char *what, int most,
                 int64_t *values, int *count) {
  struct tflite_tensor *tensor = tflite_in(t, index);
  if (!tensor)
    return tflite_fail(t, "its %s is missing", what);
  if (tensor->node >= 0 || !tflite_is_constant(tensor)) {
    tflite_fail(t, "its %s, `%.64s`, is not in the file", what, tensor->name);
    return graph_help(t->graph,
                      "convert the model with a fixed shape of its inputs");
  }
  int bytes = tensor->type == TFLITE_INT64 ? 8 : 4;
  if ((tensor->type != TFLITE_INT32 && bytes == 4) || tensor->count < 1 ||
      tensor->count > most ||
      (uint64_t)tensor->count * (unsigned)bytes != tensor->data.count)
    return tflite_fail(t, "its %s, `%.64s`, is not supported", what,
                       tensor->name);
  *count = (int)tensor->count;
  for (int i = 0; i < *count; i++)
    values[i] = flat_item(&t->flat, &tensor->data, (uint64_t)i, bytes);
  return true;
}

int tflite_axis(struct tflite *t, const struct tflite_tensor *tensor,
                int64_t axis) {
  axis += axis < 0 ? tensor->rank : 0;
  if (axis > 0 && axis < tensor->rank)
    return (int)axis - 1;
  tflite_fail(t, axis == 0 ? "its axis is the batch"
                           : "its input has no such axis");
  return -1;
}

/* Nodes */

bool tflite_shape(struct tflite *t, struct tflite_tensor *tensor) {
  if (tensor->count < 1)
    return graph_fail(t->graph, 0, "`%.64s` has no size that is supported",
                      tensor->name);
  if (tensor->rank < 1 || tensor->dims[0] != t->batch) {
    graph_fail(t->graph, 0,
               "the first axis of `%.64s` is not the batch, which is %" PRId64,
               tensor->name, t->batch);
    return false;
  }
  tensor->shape.rank = tensor->rank > 1 ? tensor->rank - 1 : 1;
  tensor->shape.size[0] = 1;
  for (int i = 1; i < tensor->rank; i++)
    tensor->shape.size[i - 1] = tensor->dims[i];
  return true;
}

struct graph_node *tflite_layer(struct tflite *t, enum layer_word word,
                                int input) {
  return graph_layer(t->graph, word, input);
}

int tflite_exact(struct tflite *t, const struct tflite_tensor *tensor) {
  return graph_reshape(t->graph, tensor->node, &tensor->shape);
}

/* A file does not mark what is trained. One value a channel is a bias, or the
 * scale or shift of a norm, that the converter did not fold. */
static bool is_trained(const struct tflite_tensor *constant) {
  return constant->rank > 0 && constant->count > 1 &&
         constant->count == constant->dims[constant->rank - 1];
}

/* A constant as a node, without the batch; -1 with an error. */
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
  if (shape.rank == 0) /* a scalar */
    shape = (struct graph_shape){1, {1}};
  bool fixed = !is_trained(constant);
  struct graph_node *node = graph_constant(t->graph, &shape, fixed);
  bool taken = tflite_take(t, node, "weight", constant, NULL);
  if (fixed)
    node->params = 0;
  return taken ? node->index : -1;
}

int tflite_operand(struct tflite *t, uint64_t index, int rank) {
  struct tflite_tensor *tensor = tflite_in(t, index);
  if (tensor && tensor->node < 0 && tflite_is_constant(tensor))
    return constant_node(t, tensor, rank);
  tensor = tflite_value(t, index);
  return tensor ? tflite_exact(t, tensor) : -1;
}

int *tflite_operands(struct tflite *t, int rank) {
  size_t count = (size_t)t->at->inputs.count;
  int *nodes = arena_room(t->graph->arena, count + 1, sizeof *nodes);
  for (size_t i = 0; i < count; i++) {
    nodes[i] = tflite_operand(t, i, rank);
    if (nodes[i] < 0)
      return NULL;
  }
  if (count < 2)
    tflite_fail(t, "it needs two operands");
  return count < 2 ? NULL : nodes;
}

static struct tflite_tensor *next_output(struct tflite *t, uint64_t index) {
  struct tflite_tensor *out = tflite_out(t, index);
  if (!out || out->node >= 0 || tflite_is_constant(out)) {
    tflite_fail(t, "its output %" PRIu64 " %s", index,
                out ? "is produced twice" : "is missing");
    return NULL;
  }
  return tflite_shape(t, out) ? out : NULL;
}

/* Gives a tensor to a node and keeps the tensor's scale. */
void tflite_keep_steps(struct tflite *t, struct tflite_tensor *tensor,
                       struct graph_node *node) {
  const struct tflite_tensor *const one = tensor;
  tensor->node = node->index;
  if (!node->scale)
    tflite_steps(t, &one, 1, &node->scale, &node->zero);
}

bool tflite_give(struct tflite *t, uint64_t index, struct graph_node *node) {
  struct tflite_tensor *out = next_output(t, index);
  if (!out || t->graph->failed)
    return false;
  tflite_keep_steps(t, out, node);
  return graph_check(t->graph, node, &out->shape);
}

bool tflite_give_active(struct tflite *t, struct graph_node *node,
                        int64_t activation) {
  static const enum layer_word words[] = {WORD_NONE, WORD_RELU, WORD_HARDTANH,
                                          WORD_RELU6, WORD_TANH};
  if (activation < 0 || activation >= (int)(sizeof words / sizeof *words))
    return tflite_fail(t, "netc has no equivalent of its activation");
  if (activation)
    node = tflite_layer(t, words[activation], node->index);
  return tflite_give(t, 0, node);
}

/* Notes a view that changes the scale: no layer of netc only rescales. */
static void check_steps(struct tflite *t, const struct tflite_tensor *out,
                        const struct graph_node *node) {
  const char *scale = NULL, *zero = NULL;
  tflite_steps(t, &out, 1, &scale, &zero);
  if (!scale || !node->scale ||
      (strcmp(scale, node->scale) == 0 && strcmp(zero, node->zero) == 0))
    return;
  t->graph->rescaled = true;
  graph_note(t->graph,
             "`%.64s` changes the scale of 8-bit values: the weights are "
             "written as float32, and --dtype f32 computes with them.",
             out->name);
}

bool tflite_give_view(struct tflite *t, uint64_t index, int node) {
  struct tflite_tensor *out = next_output(t, index);
  if (!out)
    return false;
  const struct graph_shape *in = graph_shape(t->graph, node);
  int64_t count = graph_count(in->size, (size_t)in->rank);
  if (out->count / t->batch != count)
    return tflite_fail(
        t, "its output has %" PRId64 " values, but its input has %" PRId64,
        out->count / t->batch, count);
  check_steps(t, out, graph_at(t->graph, node));
  tflite_keep_steps(t, out, graph_at(t->graph, node));
  return true;
}

bool tflite_give_constant(struct tflite *t, const struct tflite_tensor *from) {
  struct tflite_tensor *out = tflite_out(t, 0);
  if (!out || out->node >= 0 || tflite_is_constant(out))
    return tflite_fail(t, "its output 0 %s",
                       out ? "is produced twice" : "is missing");
  if (out->count != from->count)
    return tflite_fail(
        t, "its output has %" PRId64 " values, but its input has %" PRId64,
        out->count, from->count);
  out->data = from->data;
  out->type = from->type;
  out->scales = from->scales;
  out->zeros = from->zeros;
  out->sparsity = from->sparsity;
  out->axis = from->axis;
  return true;
}
