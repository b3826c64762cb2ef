/* ONNX forms of rnn, lstm, gru, with reordered gates. */
#include <string.h>

#include "export/export.h"

/* ONNX's gates by PyTorch's numbers: i o f c from i f g o; z r h from r z n. */
static const struct cell_kind {
  const char *code, *op;
  int gates;
  int64_t order[4];
} kinds[] = {
    {"rnn", "RNN", 1, {0}},
    {"lstm", "LSTM", 4, {0, 3, 1, 2}},
    {"gru", "GRU", 3, {1, 0, 2}},
};

static const struct cell_kind *kind_of(const struct exporting *x) {
  size_t i = 0;
  while (strcmp(kinds[i].code, x->op.code) != 0)
    i++;
  return &kinds[i];
}

/* Gates of a weight in ONNX's order: 1 x rows (x columns). */
static value_id in_gates(struct exporting *x, const struct cell_kind *kind,
                         size_t in) {
  struct view view = onnx_in(x, in);
  if (view.at.rank == 2)
    view.at = layout_move(&view.at, 0, 1); /* rows first, as in files */
  int64_t apart[3] = {kind->gates, view.at.dim[0] / kind->gates,
                      view.at.rank == 2 ? view.at.dim[1] : 1};
  int64_t one[3] = {1, view.at.dim[0], apart[2]};
  int rank = view.at.rank + 1;
  struct onnx_layout gates = layout_dense(rank, apart);
  struct onnx_layout way = layout_dense(rank, one);
  value_id y = onnx_get(x, &view);
  if (y == NO_VALUE)
    return NO_VALUE;
  if (kind->gates > 1) {
    y = onnx_reshaped(x, y, &gates);
    y = NODE(x, "Gather", &gates, y,
             model_numbers(&x->model, kind->order, kind->gates));
  }
  return onnx_reshaped(x, y, &way);
}

static value_id join(struct exporting *x, value_id a, value_id b, int axis) {
  int64_t dims[LAYOUT_RANK];
  const struct model_value *first = model_at(&x->model, a);
  memcpy(dims, first->dim, (size_t)first->rank * sizeof *dims);
  dims[axis] *= 2;
  struct onnx_layout at = layout_dense(first->rank, dims);
  value_id y = NODE(x, "Concat", &at, a, b);
  model_int(&x->model, "axis", axis);
  return y;
}

/* Flags of the runtime's second number, and its inputs before the weights. */
enum { RESET_FIRST = 4, GIVEN = 8, KEEPS_CELL = 16 };

static size_t first_weight(const struct exporting *x,
                           const struct cell_kind *kind) {
  return x->op.numbers[1] & GIVEN ? 2 + (kind->gates == 4) : 1;
}

/* Weights of all directions, concatenated. */
static value_id of_ways(struct exporting *x, const struct cell_kind *kind,
                        size_t which, size_t each, int64_t ways) {
  size_t first = first_weight(x, kind);
  value_id y = in_gates(x, kind, first + which);
  if (ways == 1 || y == NO_VALUE)
    return y;
  value_id back = in_gates(x, kind, first + each + which);
  return back == NO_VALUE ? back : join(x, y, back, 0);
}

static value_id no_bias(struct exporting *x, int64_t ways, int64_t rows) {
  const int64_t dims[2] = {ways, rows};
  float *zeros =
      arena_alloc(x->arena, (size_t)(ways * rows) + 1, sizeof(float));
  return model_tensor(&x->model, ELEMENT_FLOAT, 2, dims, zeros);
}

/* PyTorch's two biases, concatenated; Keras has one. */
static value_id biases(struct exporting *x, const struct cell_kind *kind,
                       int64_t ways, size_t each) {
  value_id first = of_ways(x, kind, 2, each, ways), second;
  if (first == NO_VALUE)
    return NO_VALUE;
  second = each == 4 ? of_ways(x, kind, 3, each, ways)
                     : no_bias(x, ways, model_at(&x->model, first)->dim[1]);
  return second == NO_VALUE ? second : join(x, first, second, 1);
}

/* Moves an axis of size 1 to the front of two. Nothing moves in memory, but
 * readers have to know which of them is the batch. */
static value_id in_front(struct exporting *x, value_id in) {
  static const int64_t order[3] = {1, 0, 2};
  const struct model_value *value =
      in == NO_VALUE ? NULL : model_at(&x->model, in);
  if (!value || value->dim[0] != 1 || value->dim[1] != 1)
    return in;
  struct onnx_layout at = layout_dense(3, value->dim);
  value_id y = NODE(x, "Transpose", &at, in);
  model_ints(&x->model, "perm", order, 3);
  return y;
}

/* A state before the first step: ways x N x units. */
static value_id state_before(struct exporting *x, size_t in) {
  struct view view = onnx_in(x, in);
  if (in >= first_weight(x, kind_of(x)))
    return NO_VALUE;
  layout_insert(&view.at, 0);
  return in_front(x, onnx_get_spread(x, &view));
}

/* Appends the cell after the last step, the third output, to the first. */
static value_id with_cell(struct exporting *x, value_id states,
                          const struct onnx_layout *at) {
  const int64_t cell[3] = {1, at->dim[2], at->dim[3]};
  const int64_t row[4] = {1, 1, at->dim[2], at->dim[3]};
  struct onnx_layout as_row = layout_dense(4, row);
  if (states == NO_VALUE)
    return NO_VALUE;
  value_id last = model_third(&x->model, ELEMENT_FLOAT, 3, cell);
  return NODE(x, "Concat", at, states, onnx_reshaped(x, last, &as_row));
}

/* X is L x N x I, Y is L x ways x N x units. */
bool onnx_recurrent(struct exporting *x) {
  const struct cell_kind *kind = kind_of(x);
  int64_t ways = x->op.numbers[0], flags = x->op.numbers[1];
  size_t each = (x->op.in_count - first_weight(x, kind)) / (size_t)ways;
  struct view in = onnx_in(x, 0);
  struct onnx_layout at = onnx_out(x, 0);
  if (!layout_split(&at, 2, ways))
    return onnx_refuse(x, "cannot identify its directions") != NO_VALUE;
  int order[4] = {1, 2, 0, 3};
  at = layout_order(&at, 4, order);
  in.at = layout_move(&in.at, 0, 1);
  value_id ins[7] = {in_front(x, onnx_get_spread(x, &in)),
                     of_ways(x, kind, 0, each, ways),
                     of_ways(x, kind, 1, each, ways),
                     each > 2 ? biases(x, kind, ways, each) : NO_VALUE,
                     NO_VALUE, /* lengths of the sequences */
                     state_before(x, 1),
                     state_before(x, 2)};
  struct onnx_layout states = at;
  if (flags & KEEPS_CELL)
    states = layout_dense(
        4, (const int64_t[]){at.dim[0] - 1, ways, at.dim[2], at.dim[3]});
  value_id y = onnx_node(x, kind->op, &states, ins, 7);
  model_int(&x->model, "hidden_size", at.dim[3]);
  if (ways == 2)
    model_text(&x->model, "direction", "bidirectional");
  if (kind->gates == 3)
    model_int(&x->model, "linear_before_reset", (flags & RESET_FIRST) == 0);
  if (flags & KEEPS_CELL) {
    y = with_cell(x, y, &at);
    model_int(&x->model, "axis", 0);
  }
  onnx_put(x, 0, y, &at);
  return true;
}
