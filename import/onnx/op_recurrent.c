/* RNN, LSTM and GRU. ONNX has another order of gates. */

#include "import/onnx/op_moves.h"

struct onnx_recurrent {
  enum layer_word word;
  int gates;
  const int *order; /* gate i of PyTorch is gate order[i] of ONNX */
  int64_t hidden;
  int directions;
  int64_t batch;
  bool batch_first;
  int biases;      /* per gate */
  int state, cell; /* nodes with the states before the first step; -1: zeros */
};

enum { INITIAL_STATE = 5, INITIAL_CELL, PEEPHOLES };

/* Rows [from, from + count) of one direction. */
static struct constant *rows_of(struct onnx *x, struct constant *c, int way,
                                int64_t from, int64_t count) {
  int64_t columns = c->rank == 3 ? c->dims[2] : 1;
  int64_t rows = c->dims[1];
  int64_t dims[2] = {count, columns}, strides[2] = {columns, 1};
  struct onnx_layout at = layout_of(c->rank == 3 ? 2 : 1, dims, strides,
                                    (way * rows + from) * columns);
  return constant_through(x, c, &at);
}

/* The gates in PyTorch's order. */
static struct constant *gates_of(struct onnx *x, const struct onnx_recurrent *r,
                                 struct constant *c, int way, int64_t from) {
  struct constant *all = rows_of(x, c, way, from, r->gates * r->hidden);
  if (!constant_known(x, all) || all->fill)
    return all;
  int64_t columns = all->rank == 2 ? all->dims[1] : 1, n = r->hidden * columns;
  struct constant *result = constant_with(x, all, all->rank, all->dims);
  float *to = constant_reals(x, all->count);
  for (int g = 0; g < r->gates; g++)
    for (int64_t i = 0; i < n; i++)
      to[g * n + i] = (float)constant_real(all, r->order[g] * n + i);
  result->real = to;
  result->whole = NULL;
  return result;
}

static void put_weights(struct onnx *x, const struct onnx_recurrent *r,
                        struct graph_node *node) {
  static const char *const names[2][4] = {
      {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"},
      {"weight_ih_l0_reverse", "weight_hh_l0_reverse", "bias_ih_l0_reverse",
       "bias_hh_l0_reverse"}};
  struct constant *b = onnx_constant(x, 3);
  for (int way = 0; way < r->directions; way++) {
    onnx_add_weight(x, node, names[way][0],
                    gates_of(x, r, onnx_constant(x, 1), way, 0));
    onnx_add_weight(x, node, names[way][1],
                    gates_of(x, r, onnx_constant(x, 2), way, 0));
    for (int side = 0; side < r->biases; side++)
      onnx_add_weight(x, node, names[way][2 + side],
                      gates_of(x, r, b, way, side * r->gates * r->hidden));
  }
}

/* True for an initial state of zeros, which is the default. */
static bool is_nothing(struct onnx *x, size_t index) {
  struct constant *c = onnx_constant(x, index);
  double with;
  if (!onnx_has(x, index))
    return true;
  return c && constant_is_even(x, c, &with) && !(with < 0) && !(with > 0);
}

/* True if the biases of one side are zeros in all directions. */
static bool is_idle_side(struct onnx *x, const struct onnx_recurrent *r,
                         int side) {
  int64_t count = r->gates * r->hidden;
  double with;
  for (int way = 0; way < r->directions; way++) {
    struct constant *part =
        rows_of(x, onnx_constant(x, 3), way, side * count, count);
    if (!part || !constant_is_even(x, part, &with) || with < 0 || with > 0)
      return false;
  }
  return true;
}

/* Biases per gate. Frameworks with one leave zeros to the states' side; if all
 * are zeros, they may be those of a new model. */
static int biases_of(struct onnx *x, const struct onnx_recurrent *r) {
  if (!onnx_has(x, 3))
    return 0;
  return is_idle_side(x, r, 1) && !is_idle_side(x, r, 0) ? 1 : 2;
}

static bool check(struct onnx *x, struct onnx_recurrent *r,
                  const struct onnx_view *in) {
  static const char *const directions[] = {"forward", "reverse",
                                           "bidirectional", NULL};
  struct constant *w = onnx_constant(x, 1), *h = onnx_constant(x, 2);
  struct constant *b = onnx_constant(x, 3);
  if (!w || !h || w->rank != 3 || h->rank != 3 || (onnx_has(x, 3) && !b))
    return onnx_fail(x, "its weights are not constants");
  r->directions = (int)w->dims[0];
  r->hidden = h->dims[2];
  bool both = onnx_is(x, "direction", "bidirectional", false);
  int64_t rows = r->gates * r->hidden;
  if (!onnx_one_of(x, "direction", directions))
    return false;
  if (w->dims[0] != 1 + both || h->dims[0] != w->dims[0] ||
      onnx_int(x, "hidden_size", r->hidden) != r->hidden || r->hidden < 1 ||
      r->hidden > MOST_SIZE || w->dims[1] != rows || h->dims[1] != rows ||
      w->dims[2] != in->at.dim[2] ||
      (b &&
       (b->rank != 2 || b->dims[0] != w->dims[0] || b->dims[1] != 2 * rows)))
    return onnx_fail(x, "its weights do not fit");
  if (onnx_is(x, "direction", "reverse", false))
    return onnx_fail(x, "it runs only backwards; netc supports that only with "
                        "a forward run (bidirectional)");
  if (both && (!is_nothing(x, INITIAL_STATE) || !is_nothing(x, INITIAL_CELL)))
    return onnx_fail(x, "it starts from given states of both directions; netc "
                        "supports that only in one direction");
  if (!is_nothing(x, PEEPHOLES))
    return onnx_fail(x, "netc has no equivalent of peepholes");
  if (onnx_attribute(x, "activations") || onnx_attribute(x, "clip"))
    graph_note(x->graph,
               "`%s` names its activations; netc uses the default ones.",
               onnx_shown(x, x->at->name));
  return true;
}

/* The node with a state before the first step, all its values; -1 with an
 * error. An initializer is a parameter. */
static int state_before(struct onnx *x, const struct onnx_recurrent *r,
                        size_t index) {
  static const int features[] = {2};
  struct constant *c = onnx_constant(x, index);
  struct onnx_view line;
  if (is_nothing(x, index))
    c = constant_zeros(x, r->hidden);
  else if (c && c->count == r->hidden)
    c = constant_with(x, c, 1, &r->hidden);
  else if (c)
    return ONNX_NONE(x, "its initial state does not fit");
  if (c)
    return onnx_weight(x, c)->index;
  const struct onnx_view *in = onnx_input(x, index);
  if (!in || in->at.rank != 3 || in->at.dim[2] != r->hidden)
    return ONNX_NONE(x, "its initial state does not fit");
  const struct graph_shape *shape = graph_shape(x->graph, in->node);
  if (shape->size[shape->rank - 1] == r->hidden &&
      onnx_values(x, in->node) == r->hidden)
    return in->node;
  return view_rearrange(x, in, features, 1, &line) ? line.node : -1;
}

/* Finds the initial states; an lstm has none or two. */
static bool find_states(struct onnx *x, struct onnx_recurrent *r) {
  bool lstm = r->word == WORD_LSTM;
  r->state = r->cell = -1;
  if (is_nothing(x, INITIAL_STATE) && (!lstm || is_nothing(x, INITIAL_CELL)))
    return true;
  r->state = state_before(x, r, INITIAL_STATE);
  if (lstm && r->state >= 0)
    r->cell = state_before(x, r, INITIAL_CELL);
  return r->state >= 0 && (!lstm || r->cell >= 0);
}

/* As in PyTorch, netc's GRU resets the state's product. */
static struct graph_node *layer_of(struct onnx *x,
                                   const struct onnx_recurrent *r, int in) {
  struct graph_node *node = onnx_layer(x, r->word, in);
  graph_int(x->graph, node, PART_CHANNELS, "", r->hidden);
  if (r->directions == 2)
    graph_flag(x->graph, node, "bidir");
  if (r->biases == 0)
    graph_flag(x->graph, node, "nobias");
  else if (r->biases == 1)
    graph_arg(x->graph, node, PART_NONE, "bias=", "one");
  if (r->word == WORD_GRU && !onnx_int(x, "linear_before_reset", 0))
    graph_arg(x->graph, node, PART_NONE, "reset=", "before");
  if (r->state >= 0) {
    node->key = "state=";
    node->keyed = r->state;
    node->values = r->cell;
  }
  return node;
}

/* Gives a node's states: of all steps, or, if `steps` is 0, the last. The axes
 * are steps, directions, N, H; with layout=1, N is first. */
static void give_states(struct onnx *x, const struct onnx_recurrent *r,
                        size_t out, int node, int64_t steps) {
  const int64_t features = r->hidden * r->directions;
  const int64_t sizes[4] = {steps, r->directions, r->batch, r->hidden};
  const int64_t apart[4] = {features, r->hidden, onnx_values(x, node), 1};
  static const int orders[2][4] = {{0, 1, 2, 3}, {2, 0, 1, 3}};
  struct onnx_view result = {.node = node};
  for (int i = 0; i < 4; i++) {
    int axis = orders[r->batch_first][i];
    if (axis != 0 || steps != 0)
      layout_add(&result.at, sizes[axis], apart[axis]);
  }
  onnx_give(x, out, &result);
}

/* Gives all states, the last state and the last cell, as far as they are read.
 * The cell is a row after the states. */
static void give_rows(struct onnx *x, const struct onnx_recurrent *r, int node,
                      int64_t steps) {
  bool cell = onnx_is_read(x, 2);
  int all = node;
  if (cell && onnx_is_read(x, 0))
    all = move_part(x, node, 0, 0, steps);
  if (onnx_is_read(x, 0))
    give_states(x, r, 0, all, steps);
  if (onnx_is_read(x, 1))
    give_states(x, r, 1, move_part(x, node, 0, steps - 1, steps), 0);
  if (cell)
    give_states(x, r, 2, move_part(x, node, 0, steps, steps + 1), 0);
}

/* netc has no sequences of different lengths. */
static bool runs_to_the_end(struct onnx *x, int64_t steps) {
  struct constant *lengths = onnx_constant(x, 4);
  double all;
  return !onnx_has(x, 4) ||
         (lengths && constant_is_even(x, lengths, &all) &&
          all >= (double)steps) ||
         onnx_fail(x, "its sequences have different lengths (sequence_lens); "
                      "netc runs all steps");
}

static bool recurrent(struct onnx *x, struct onnx_recurrent r) {
  const struct onnx_view *in = onnx_input(x, 0);
  struct onnx_view line;
  if (!in || in->at.rank != 3 || !check(x, &r, in))
    return onnx_fail(x, "its input is not a sequence");
  r.batch_first = onnx_int(x, "layout", 0) != 0;
  const int order[2] = {r.batch_first, 2};
  r.batch = in->at.dim[!r.batch_first];
  int64_t steps = in->at.dim[r.batch_first];
  if (!view_is_batch(x, in, !r.batch_first)) {
    x->other_batch = true;
    return onnx_fail(x, "a batch of several sequences is not supported");
  }
  if (!runs_to_the_end(x, steps) || !view_rearrange(x, in, order, 2, &line))
    return false;
  r.biases = biases_of(x, &r);
  bool all = onnx_is_read(x, 0), last = onnx_is_read(x, 1);
  bool cell = onnx_is_read(x, 2);
  if (cell && r.directions == 2)
    return onnx_fail(x, "the model reads its last cells, which netc's lstm "
                        "gives only in one direction");
  if (all && last && r.directions == 2)
    return onnx_fail(x, "the model reads both all of its states and the last "
                        "ones of both directions");
  if (steps > 1 && view_is_batch(x, in, r.batch_first)) {
    x->other_batch = true;
    return onnx_fail(x, "its steps are the batch");
  }
  if (!find_states(x, &r))
    return false;
  struct graph_node *node = layer_of(x, &r, line.node);
  put_weights(x, &r, node);
  if (cell)
    graph_flag(x->graph, node, "keepcell");
  if (all || cell) {
    give_rows(x, &r, node->index, steps);
    return true;
  }
  graph_flag(x->graph, node, "last");
  give_states(x, &r, 1, node->index, 0);
  return true;
}

bool op_lstm(struct onnx *x) {
  static const int order[] = {0, 2, 3, 1}; /* i f g o of i o f c */
  return recurrent(x, (struct onnx_recurrent){
                          .word = WORD_LSTM, .gates = 4, .order = order});
}

bool op_gru(struct onnx *x) {
  static const int order[] = {1, 0, 2}; /* r z n of z r h */
  return recurrent(
      x, (struct onnx_recurrent){.word = WORD_GRU, .gates = 3, .order = order});
}

bool op_rnn(struct onnx *x) {
  static const int order[] = {0};
  return recurrent(
      x, (struct onnx_recurrent){.word = WORD_RNN, .gates = 1, .order = order});
}
