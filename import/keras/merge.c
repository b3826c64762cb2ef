/* Keras' layers that join tensors. */

#include "import/keras/keras.h"

static bool needs(struct keras_call *call, size_t count) {
  return call->input_count >= count ||
         keras_fail(call, "it needs %zu inputs", count);
}

/* Joins elementwise: equal shapes, or one that is broadcast. */
bool keras_merge(struct keras_call *call) {
  if (call->input_count == 1)
    return keras_give_same(call, call->inputs[0].node);
  bool vectors = true;
  int nodes[64];
  if (call->input_count > sizeof nodes / sizeof *nodes)
    return keras_fail(call, "it has more than 64 inputs");
  for (size_t i = 0; i < call->input_count; i++) {
    /* Other maps need a map of one pixel; vectors are joined as they are. */
    bool vector = call->inputs[i].shape.rank == 1;
    nodes[i] =
        vector ? call->inputs[i].node : keras_exact(call, &call->inputs[i]);
    vectors = vectors && vector;
  }
  struct graph_node *node = graph_join_all(call->graph, call->row->words[0],
                                           nodes, call->input_count);
  return vectors ? keras_give_vector(call, node->index)
                 : keras_give(call, node->index);
}

/* x * hsigmoid(x) is hswish(x). */
bool keras_multiply(struct keras_call *call) {
  static const enum layer_word words[] = {WORD_HSIGMOID};
  const struct keras_tensor *x = call->inputs;
  if (call->input_count == 2 && graph_same_shape(&x[0].shape, &x[1].shape) &&
      graph_at(call->graph, x[1].node)->inputs.count == 1 &&
      graph_at(call->graph, x[1].node)->inputs.at[0] == x[0].node &&
      keras_withdraw(call, x[1].node, words, 1) >= 0)
    return keras_give_same(call,
                           keras_node(call, WORD_HSWISH, x[0].node)->index);
  return keras_merge(call);
}

bool keras_subtract(struct keras_call *call) {
  return call->input_count == 2 ? keras_merge(call)
                                : keras_fail(call, "it needs two inputs");
}

bool keras_average(struct keras_call *call) {
  if (!keras_merge(call))
    return false;
  struct keras_tensor *sum = &call->outputs.at[call->outputs.count - 1];
  struct graph_node *node = keras_node(call, WORD_DIV, sum->node);
  graph_int(call->graph, node, PART_NONE, "", (int64_t)call->input_count);
  sum->node = node->index;
  return true;
}

bool keras_concat(struct keras_call *call, int64_t axis) {
  int nodes[256];
  int at = keras_axis(call, &call->inputs[0].shape, axis);
  if (at < 0)
    return false;
  if (call->input_count > sizeof nodes / sizeof *nodes)
    return keras_fail(call, "it has more than 256 inputs");
  for (size_t i = 0; i < call->input_count; i++)
    nodes[i] = keras_exact(call, &call->inputs[i]);
  if (call->input_count == 1)
    return keras_give(call, nodes[0]);
  return keras_give(
      call, graph_concat(call->graph, nodes, call->input_count, at)->index);
}

bool keras_concatenate(struct keras_call *call) {
  return keras_concat(call,
                      keras_int(call, "axis", -1, -LIMIT_RANK, LIMIT_RANK));
}

/* Products along one axis of each: of sequences, and of vectors. */
bool keras_dot(struct keras_call *call) {
  int64_t axes[2];
  struct graph *g = call->graph;
  if (!needs(call, 2) || !keras_ints(call, "axes", 1, -LIMIT_RANK, 2, axes))
    return false;
  const struct graph_shape *a = &call->inputs[0].shape;
  const struct graph_shape *b = &call->inputs[1].shape;
  int first = keras_axis(call, a, axes[0]),
      second = keras_axis(call, b, axes[1]);
  if (first < 0 || second < 0)
    return false;
  if (a->rank > 2 || b->rank != a->rank || first != a->rank - 1)
    return keras_fail(call, "only products along the last axis of vectors and "
                            "sequences are supported");
  int nodes[2] = {keras_exact(call, &call->inputs[0]),
                  keras_exact(call, &call->inputs[1])};
  for (int i = 0; i < 2 && keras_bool(call, "normalize", false); i++) {
    if (second != b->rank - 1)
      return keras_fail(call, "only last axes can be normalised");
    nodes[i] = keras_node(call, WORD_L2NORM, nodes[i])->index;
  }
  if (a->rank == 1) {
    int product = graph_pair(call->graph, WORD_MUL, nodes[0], nodes[1])->index;
    struct graph_node *sum = keras_node(call, WORD_SUM, product);
    graph_flag(g, sum, "c");
    graph_flag(g, sum, "keep");
    return keras_give(call, sum->index);
  }
  struct graph_node *node =
      graph_pair(call->graph, WORD_MATMUL, nodes[0], nodes[1]);
  if (second == 1)
    graph_flag(g, node, "transpose");
  return keras_give(call, node->index);
}
