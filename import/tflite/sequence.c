/* UNIDIRECTIONAL_SEQUENCE_LSTM: four gates with matrices of their own. */
#include "import/tflite/tflite.h"

/* Operands of the schema, of four gates each: input, forget, cell, output. */
enum {
  LSTM_INPUT_WEIGHTS = 1,
  LSTM_STATE_WEIGHTS = 5,
  LSTM_PEEPHOLES = 9,
  LSTM_BIASES = 12,
  LSTM_PROJECTION = 16,
  LSTM_NORMS = 20,
  LSTM_OPERANDS = 24
};

enum { ACTIVATION_TANH = 4 };

/* What netc's lstm does not have. */
static bool is_usual(struct tflite *t) {
  bool more =
      tflite_in(t, LSTM_PROJECTION) || tflite_in(t, LSTM_PROJECTION + 1);
  for (uint64_t i = LSTM_PEEPHOLES; i < LSTM_BIASES; i++)
    more = more || tflite_in(t, i);
  for (uint64_t i = LSTM_NORMS; i < LSTM_OPERANDS; i++)
    more = more || tflite_in(t, i);
  if (more)
    return tflite_fail(t, "weights from the cell to the gates, projections "
                          "and norms are not supported");
  if (!tflite_in(t, LSTM_INPUT_WEIGHTS))
    return tflite_fail(t, "gates that are joined are not supported");
  if (tflite_int(t, 3, 1, 0))
    return tflite_fail(t, "steps before the batch are not supported");
  if (tflite_int(t, 0, 1, 0) != ACTIVATION_TANH)
    return tflite_fail(t, "its activation is not tanh");
  if (flat_real(&t->flat, &t->at->options, 1, 0) > 0)
    graph_note(t->graph,
               "`%.64s` limits the values of its cell, netc's lstm does not.",
               t->name);
  return true;
}

/* Four matrices, or biases, as one; false, with an error. */
static bool take_gates(struct tflite *t, struct graph_node *node,
                       const char *name, uint64_t first, int64_t rows,
                       int64_t columns) {
  int64_t size = rows * columns;
  float *all = NULL;
  const struct tflite_tensor *gates[4];
  for (int i = 0; i < 4; i++) {
    struct tflite_tensor *gate = tflite_weight(
        t, first + (uint64_t)i, columns > 1 || first < LSTM_BIASES ? 2 : 1);
    if (!gate)
      return false;
    gates[i] = gate;
    if (gate->dims[0] != rows || gate->count != size)
      return tflite_fail(t, "`%.64s` does not fit its other gates", gate->name);
    graph_tensor(node, gate->dims, (size_t)gate->rank);
    if (!t->options->weights)
      continue;
    float *values = tflite_reals(t, gate);
    if (!values)
      return false;
    if (!all)
      all = arena_alloc(t->graph->arena, (size_t)size * 4, sizeof *all);
    for (int64_t k = 0; k < size; k++)
      all[size * i + k] = values[k];
  }
  if (!all)
    return true;
  struct graph_weight *w = VEC_PUSH(t->graph->arena, &node->weights);
  *w = (struct graph_weight){.name = name, .count = size * 4, .real = all};
  tflite_steps(t, gates, 4, &w->scale, &w->zero);
  return true;
}

bool tflite_lstm(struct tflite *t) {
  struct tflite_tensor *in = tflite_value(t, 0);
  struct tflite_tensor *first = tflite_weight(t, LSTM_INPUT_WEIGHTS, 2);
  if (!in || !is_usual(t) || !first)
    return false;
  if (in->shape.rank != 2)
    return tflite_fail(t, "its input is not a sequence");
  int64_t units = first->dims[0];
  struct graph_node *node = tflite_layer(t, WORD_LSTM, tflite_exact(t, in));
  graph_int(t->graph, node, PART_CHANNELS, "", units);
  graph_arg(t->graph, node, PART_NONE, "bias=", "one");
  return take_gates(t, node, "weight_ih_l0", LSTM_INPUT_WEIGHTS, units,
                    in->shape.size[1]) &&
         take_gates(t, node, "weight_hh_l0", LSTM_STATE_WEIGHTS, units,
                    units) &&
         take_gates(t, node, "bias_ih_l0", LSTM_BIASES, units, 1) &&
         tflite_give(t, 0, node);
}
