/* RNN, LSTM and GRU, whose gates ONNX has in an order of its own. */
#include <inttypes.h>
#include <string.h>

#include "from_onnx/reader.h"

struct recurrent {
  const char *word;
  int gates;
  const int *order; /* gate i of PyTorch is gate order[i] of ONNX */
  int64_t hidden;
  int directions;
};

/* Part `from`, `count` of the rows of one direction. */
static struct constant *rows_of(struct onnx *x, struct constant *c, int way,
                                int64_t from, int64_t count) {
  int64_t columns = c->rank == 3 ? c->dims[2] : 1;
  int64_t rows = c->dims[1];
  int64_t dims[2] = {count, columns}, strides[2] = {columns, 1};
  struct layout at = layout_of(c->rank == 3 ? 2 : 1, dims, strides,
                               (way * rows + from) * columns);
  return constant_through(x, c, &at);
}

/* Gates in PyTorch's order. */
static struct constant *gates_of(struct onnx *x, const struct recurrent *r,
                                 struct constant *c, int way, int64_t from) {
  struct constant *all = rows_of(x, c, way, from, r->gates * r->hidden);
  if (!constant_known(x, all) || all->fill)
    return all;
  int64_t columns = all->rank == 2 ? all->dims[1] : 1, n = r->hidden * columns;
  struct constant *result = constant_with(x, all, all->rank, all->dims);
  float *to = arena_alloc(x->arena, (size_t)all->count + 1, sizeof *to);
  for (int g = 0; g < r->gates; g++)
    for (int64_t i = 0; i < n; i++)
      to[g * n + i] = (float)constant_real(all, r->order[g] * n + i);
  result->real = to;
  result->whole = NULL;
  return result;
}

static struct constant *zeros(struct onnx *x, int64_t count) {
  static const float zero[1] = {0};
  struct constant *c = constant_new(x, TYPE_FLOAT, 1, &count);
  c->fill = true;
  c->real = zero;
  return c;
}

static void put_weights(struct onnx *x, const struct recurrent *r,
                        struct graph_node *node) {
  static const char *const names[2][4] = {
      {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"},
      {"weight_ih_l0_reverse", "weight_hh_l0_reverse", "bias_ih_l0_reverse",
       "bias_hh_l0_reverse"}};
  struct constant *b = operand_constant(x, 3);
  for (int way = 0; way < r->directions; way++) {
    add_weight(x, node, names[way][0],
               gates_of(x, r, operand_constant(x, 1), way, 0));
    add_weight(x, node, names[way][1],
               gates_of(x, r, operand_constant(x, 2), way, 0));
    for (int side = 0; side < 2; side++)
      add_weight(x, node, names[way][2 + side],
                 b ? gates_of(x, r, b, way, side * r->gates * r->hidden)
                   : zeros(x, r->gates * r->hidden));
  }
}

/* Initial states that are zeros are the usual ones. */
static bool is_nothing(struct onnx *x, size_t index) {
  struct constant *c = operand_constant(x, index);
  double with;
  if (!has_operand(x, index))
    return true;
  return c && constant_is_even(x, c, &with) && !(with < 0) && !(with > 0);
}

static bool check(struct onnx *x, struct recurrent *r, const struct view *in) {
  struct constant *w = operand_constant(x, 1), *h = operand_constant(x, 2);
  struct constant *b = operand_constant(x, 3);
  if (!w || !h || w->rank != 3 || h->rank != 3 || (has_operand(x, 3) && !b))
    return onnx_fail(x, "its weights are no constants");
  r->directions = (int)w->dims[0];
  r->hidden = h->dims[2];
  int64_t rows = r->gates * r->hidden;
  if (w->dims[0] < 1 || w->dims[0] > 2 || h->dims[0] != w->dims[0] ||
      r->hidden < 1 || r->hidden > MOST_SIZE || w->dims[1] != rows ||
      h->dims[1] != rows || w->dims[2] != in->at.dim[2] ||
      (b &&
       (b->rank != 2 || b->dims[0] != w->dims[0] || b->dims[1] != 2 * rows)))
    return onnx_fail(x, "its weights do not fit");
  if (attribute_is(x, "direction", "reverse", false))
    return onnx_fail(x, "a run backwards alone has no counterpart");
  if (!is_nothing(x, 5) || !is_nothing(x, 6) || !is_nothing(x, 7))
    return onnx_fail(x, "initial states other than zeros, and peepholes, have "
                        "no counterpart");
  if (attribute(x, "activations") || attribute(x, "clip"))
    graph_note(x->graph,
               "`%s` says which activations it has; here they are the "
               "usual ones.",
               onnx_shown(x, x->at->name));
  if (strcmp(r->word, "gru") == 0 &&
      !attribute_int(x, "linear_before_reset", 0))
    return onnx_fail(x, "only linear_before_reset=1 is understood, as PyTorch "
                        "has it");
  return true;
}

/* The state at the end, [directions, N, H], of all of them. */
static bool last_state(struct onnx *x, const struct recurrent *r, int in) {
  struct graph_node *node = layer_on(x, r->word, in);
  int64_t dims[3] = {r->directions, 1, r->hidden};
  int64_t units = r->directions * r->hidden;
  graph_int(x->graph, node, PART_CHANNELS, "", r->hidden);
  if (r->directions == 2)
    graph_arg(x->graph, node, PART_NONE, "", "bidir");
  graph_arg(x->graph, node, PART_NONE, "", "last");
  node->shape = (struct graph_shape){1, {units}};
  put_weights(x, r, node);
  struct view result = {node->index, layout_dense(3, dims)};
  give_view(x, 1, &result);
  return true;
}

static bool is_read(const struct onnx *x, size_t out) {
  if (out >= x->at->out_count || x->at->outs[out] < 0)
    return false;
  const struct value *v = &x->values.at[x->at->outs[out]];
  return v->uses > 0 || v->output;
}

static bool recurrent(struct onnx *x, struct recurrent r) {
  const struct view *in = input_view(x, 0);
  static const int order[2] = {0, 2};
  struct view line;
  if (!in || in->at.rank != 3 || !check(x, &r, in))
    return onnx_fail(x, "its input is no sequence");
  if (attribute_int(x, "layout", 0) != 0)
    return onnx_fail(x, "only layout=0 is understood");
  if (in->at.dim[1] != 1) {
    x->again = true;
    return onnx_fail(x, "a batch of several sequences");
  }
  if (!rearrange(x, in, order, 2, &line))
    return false;
  if (is_read(x, 2))
    return onnx_fail(x, "its last cell is read, which has no counterpart");
  if (is_read(x, 0) && is_read(x, 1))
    return onnx_fail(x, "all of its states and the last one are read");
  if (is_read(x, 1))
    return last_state(x, &r, line.node);
  struct graph_node *node = layer_on(x, r.word, line.node);
  graph_int(x->graph, node, PART_CHANNELS, "", r.hidden);
  if (r.directions == 2)
    graph_arg(x->graph, node, PART_NONE, "", "bidir");
  node->shape.size[1] = r.hidden * r.directions;
  put_weights(x, &r, node);
  int64_t dims[4] = {in->at.dim[0], r.directions, 1, r.hidden};
  int64_t strides[4] = {r.hidden * r.directions, r.hidden, 1, 1};
  struct view result = {node->index, layout_of(4, dims, strides, 0)};
  give_view(x, 0, &result);
  return true;
}

bool read_lstm(struct onnx *x) {
  static const int order[] = {0, 2, 3, 1}; /* i f g o of i o f c */
  return recurrent(x, (struct recurrent){.word = "lstm", 4, order, 0, 0});
}

bool read_gru(struct onnx *x) {
  static const int order[] = {1, 0, 2}; /* r z n of z r h */
  return recurrent(x, (struct recurrent){.word = "gru", 3, order, 0, 0});
}

bool read_rnn(struct onnx *x) {
  static const int order[] = {0};
  return recurrent(x, (struct recurrent){.word = "rnn", 1, order, 0, 0});
}
