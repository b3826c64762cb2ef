/*
 * Layers with a state: UNIDIRECTIONAL_SEQUENCE_LSTM, whose four gates have
 * separate matrices, UNIDIRECTIONAL_SEQUENCE_RNN, and SVDF, which keeps its
 * state between inferences.
 */
#include <string.h>

#include "import/tflite/tflite.h"

/* Operands of the schema; four gates each: input, forget, cell, output. */
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

/* False for features that netc's lstm lacks. */
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
    return tflite_fail(t, "joined gates are not supported");
  if (tflite_int(t, 3, 1, 0))
    return tflite_fail(t, "an input with steps before the batch is not "
                          "supported");
  if (tflite_int(t, 0, 1, 0) != ACTIVATION_TANH)
    return tflite_fail(t, "its activation is not tanh");
  if (flat_real(&t->flat, &t->at->options, 1, 0) > 0)
    graph_note(t->graph,
               "`%.64s` limits the values of its cell; netc's lstm does not.",
               t->name);
  return true;
}

/* Concatenates the four gates' matrices or biases; false with an error. */
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

bool tflite_lstm(struct tflite *t, const struct tflite_tensor *in) {
  struct tflite_tensor *first = tflite_weight(t, LSTM_INPUT_WEIGHTS, 2);
  if (!is_usual(t) || !first)
    return false;
  if (in->rank != 3)
    return tflite_fail(t, "its input is not a sequence");
  int64_t units = first->dims[0];
  struct graph_node *node = tflite_layer(t, WORD_LSTM, tflite_exact(t, in));
  graph_int(t->graph, node, PART_CHANNELS, "", units);
  graph_arg(t->graph, node, PART_NONE, "bias=", "one");
  return take_gates(t, node, "weight_ih_l0", LSTM_INPUT_WEIGHTS, units,
                    in->dims[2]) &&
         take_gates(t, node, "weight_hh_l0", LSTM_STATE_WEIGHTS, units,
                    units) &&
         take_gates(t, node, "bias_ih_l0", LSTM_BIASES, units, 1) &&
         tflite_give(t, 0, node);
}

bool tflite_rnn(struct tflite *t, const struct tflite_tensor *in) {
  struct tflite_tensor *weight = tflite_weight(t, 1, 2);
  struct tflite_tensor *state = tflite_weight(t, 2, 2);
  if (!weight || !state)
    return false;
  if (in->rank != 3 || tflite_int(t, 0, 1, 0))
    return tflite_fail(t, "its input is not a sequence with the batch first");
  if (tflite_int(t, 1, 1, 0) != ACTIVATION_TANH)
    return tflite_fail(t, "its activation is not tanh");
  int64_t units = weight->dims[0];
  if (weight->dims[1] != in->dims[2] || state->dims[0] != units ||
      state->dims[1] != units)
    return tflite_fail(t, "its weights do not fit its input");
  struct graph_node *node = tflite_layer(t, WORD_RNN, tflite_exact(t, in));
  graph_int(t->graph, node, PART_CHANNELS, "", units);
  graph_arg(t->graph, node, PART_NONE, "bias=", "one");
  return tflite_take(t, node, "weight_ih_l0", weight, NULL) &&
         tflite_take(t, node, "weight_hh_l0", state, NULL) &&
         tflite_take_bias(t, node, "bias_ih_l0", 3, units) &&
         tflite_give(t, 0, node);
}

/*
 * SVDF (Nakkiran et al., 2015, "Compressing Deep Neural Networks using a
 * Rank-Constrained Topology"): filters over the input, whose last outputs are
 * kept, then a filter over time for each. The kept outputs are an input and an
 * output.
 */

enum { SVDF_FEATURE = 1, SVDF_TIME, SVDF_BIAS, SVDF_STATE };

bool tflite_svdf_state(struct tflite *t, int number) {
  struct tflite_tensor *state = tflite_in(t, SVDF_STATE);
  const struct tflite_tensor *time = tflite_weight(t, SVDF_TIME, 2);
  if (!time)
    return false;
  if (!state || !state->state || state->node >= 0 ||
      state->count / t->batch != time->count)
    return tflite_fail(t, "its state does not fit its weights");
  state->shape = (struct graph_shape){2, {time->dims[0], time->dims[1]}};
  const char *name = graph_text(t->graph, "state%d", number);
  state->node = graph_input(t->graph, name, &state->shape, NULL)->index;
  return true;
}

/* Adds a trained tensor as a node without inputs. */
static int learned(struct tflite *t, const struct tflite_tensor *from) {
  struct graph_shape shape = {.rank = from->rank};
  memcpy(shape.size, from->dims, sizeof shape.size);
  struct graph_node *node = graph_constant(t->graph, &shape, false);
  return tflite_take(t, node, "weight", from, NULL) ? node->index : -1;
}

/* Drops the oldest values of the state and appends the new ones. */
static struct graph_node *
shift_state(struct tflite *t, const struct tflite_tensor *state, int values) {
  int64_t filters = state->shape.size[0], steps = state->shape.size[1];
  const struct graph_shape column = {2, {filters, 1}};
  struct graph_node *node =
      graph_at(t->graph, graph_reshape(t->graph, values, &column));
  if (steps > 1) {
    int kept = graph_slice(t->graph, state->node, 1, "c", 1, steps)->index;
    node = graph_pair(t->graph, WORD_CONCAT, kept, node->index);
  }
  node->output =
      graph_text(t->graph, "%s_next", graph_at(t->graph, state->node)->name);
  return node;
}

/* The sum along the last of two axes. */
static struct graph_node *sum_rows(struct tflite *t, int input) {
  struct graph_node *node = tflite_layer(t, WORD_SUM, input);
  graph_arg(t->graph, node, PART_NONE, "axis=", "1");
  return node;
}

static struct graph_node *sum_ranks(struct tflite *t, struct graph_node *node,
                                    int64_t filters, int64_t rank) {
  if (rank == 1)
    return node;
  const struct graph_shape sums = {2, {filters / rank, rank}};
  return sum_rows(t, graph_reshape(t->graph, node->index, &sums));
}

bool tflite_svdf(struct tflite *t, const struct tflite_tensor *in) {
  struct tflite_tensor *bias = tflite_in(t, 3);
  struct tflite_tensor *feature = tflite_weight(t, SVDF_FEATURE, 2);
  struct tflite_tensor *time = tflite_weight(t, SVDF_TIME, 2);
  struct tflite_tensor *state = tflite_value(t, SVDF_STATE);
  int64_t rank = tflite_int(t, 0, 4, 0);
  if (!feature || !time || !state)
    return false;
  int64_t filters = feature->dims[0];
  if (in->count / t->batch != feature->dims[1] || time->dims[0] != filters ||
      rank < 1 || filters % rank != 0 ||
      (bias && (!tflite_is_constant(bias) || bias->rank != 1 ||
                bias->count != filters / rank)))
    return tflite_fail(t, "its weights do not fit its input");
  struct graph_node *node = tflite_layer(t, WORD_FC, in->node);
  graph_int(t->graph, node, PART_CHANNELS, "", filters);
  node->bias = BIAS_WITHOUT;
  if (!tflite_take(t, node, "weight", feature, NULL))
    return false;
  node = shift_state(t, state, node->index);
  int weight = learned(t, time);
  if (weight < 0)
    return false;
  node = graph_pair(t->graph, WORD_MUL, node->index, weight);
  node = sum_ranks(t, sum_rows(t, node->index), filters, rank);
  if (bias) {
    int term = learned(t, bias);
    if (term < 0)
      return false;
    node = graph_pair(t->graph, WORD_ADD, node->index, term);
  }
  return tflite_give_active(t, node, tflite_int(t, 1, 1, 0));
}
