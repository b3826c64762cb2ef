/* ONNX forms of mixtures of experts: seats, experts. */
#include "export/export.h"

/* Modes of `seats`, as in runtime/ops.def. */
enum { SEATS_TOKENS, SEATS_ROWS, SEATS_EXPERTS, SEATS_KEPT };

/* Keys of rows are expert * 2^32 + place, which sorts equal experts by place.
 */
#define KEY_STEP ((int64_t)1 << 32)

static struct onnx_layout flat(int64_t count) {
  return layout_dense(1, &count);
}

static value_id number(struct exporting *x, int64_t value) {
  return model_numbers(&x->model, &value, 1);
}

/* A list, or a column, of i / step * factor for i < count. */
static value_id count_up(struct exporting *x, int rank, int64_t count,
                         int64_t step, int64_t factor) {
  const int64_t dims[2] = {count, 1};
  int64_t values;
  if (!onnx_constant_size(x, 1, &count, &values))
    return NO_VALUE;
  int64_t *all = arena_alloc(x->arena, (size_t)count + 1, sizeof *all);
  for (int64_t i = 0; i < count; i++)
    all[i] = i / step * factor;
  return model_tensor(&x->model, ELEMENT_INT64, rank, dims, all);
}

/* The value that `what` of a value has had before, from 1; 0: none. */
static struct map_entry *known(struct exporting *x, const char *what,
                               value_id of, int64_t number) {
  struct text key = text_new(x->arena);
  text_printf(&key, "%s %lld %lld", what, (long long)of, (long long)number);
  return map_add(x->arena, &x->shared, text_slice(&key));
}

static value_id cast_to(struct exporting *x, value_id value,
                        const struct onnx_layout *at, enum onnx_element type) {
  value_id y = NODE(x, "Cast", at, value);
  model_int(&x->model, "to", type);
  return onnx_typed(x, y, type);
}

/* Choices in the order of their rows. */
static value_id in_order(struct exporting *x, value_id experts, int64_t count) {
  struct onnx_layout at = flat(count);
  struct map_entry *entry = known(x, "order", experts, 0);
  if (entry->number)
    return entry->number - 1;
  value_id key = NODE(x, "Mul", &at, experts, number(x, KEY_STEP));
  key = NODE(x, "Add", &at, key, count_up(x, 1, count, 1, 1));
  NODE(x, "TopK", &at, key, number(x, count));
  value_id order = model_second(&x->model, ELEMENT_INT64);
  model_int(&x->model, "axis", 0);
  model_int(&x->model, "largest", 0);
  entry->number = order + 1;
  return order;
}

static value_id sorted_seats(struct exporting *x, const struct view *in,
                             int64_t count, int64_t top) {
  struct onnx_layout at = flat(count);
  struct view all = *in;
  layout_merge(&all.at, 0, all.at.rank);
  value_id experts = onnx_get_spread(x, &all);
  value_id order = in_order(x, experts, count);
  if (x->op.numbers[0] == SEATS_TOKENS)
    return NODE(x, "Div", &at, order, number(x, top));
  if (x->op.numbers[0] == SEATS_EXPERTS)
    return NODE(x, "Gather", &at, experts, order);
  value_id up = count_up(x, 1, count, 1, 1);
  return onnx_typed(x, NODE(x, "ScatterElements", &at, up, order, up),
                    ELEMENT_INT64);
}

/* Place of each choice among those of its expert in its sample, from 0. */
static value_id places(struct exporting *x, value_id experts, int64_t samples,
                       int64_t each) {
  static const int64_t axis = 1;
  const int64_t none[1] = {0}, wide[3] = {samples, each, x->op.numbers[1]};
  const int64_t one[3] = {samples, each, 1}, rows[2] = {samples, each};
  struct onnx_layout all = layout_dense(3, wide), last = layout_dense(3, one);
  struct onnx_layout at = layout_dense(2, rows);
  struct map_entry *entry = known(x, "places", experts, 0);
  if (entry->number)
    return entry->number - 1;
  value_id which = onnx_reshaped(x, experts, &last);
  value_id y =
      NODE(x, "Equal", &all, which, count_up(x, 1, x->op.numbers[1], 1, 1));
  y = cast_to(x, onnx_typed(x, y, ELEMENT_BOOL), &all, ELEMENT_INT64);
  y = NODE(x, "CumSum", &all, y,
           model_tensor(&x->model, ELEMENT_INT64, 0, none, &axis));
  y = NODE(x, "GatherElements", &last, y, which);
  model_int(&x->model, "axis", 2);
  y = NODE(x, "Sub", &at, onnx_reshaped(x, y, &at), number(x, 1));
  entry->number = y + 1;
  return y;
}

/* The token of each row; choices without a row write behind the last one. */
static value_id tokens_of(struct exporting *x, value_id row, value_id kept,
                          int64_t choices, int64_t rows) {
  struct onnx_layout each = flat(choices), all = flat(rows);
  struct onnx_layout more = flat(rows + 1);
  int64_t top = x->op.ins[0].dims[x->op.ins[0].rank - 1];
  struct onnx_layout at = layout_dense(2, model_at(&x->model, row)->dim);
  value_id to = NODE(x, "Where", &at, kept, row, number(x, rows));
  to = onnx_reshaped(x, to, &each);
  value_id none =
      NODE(x, "Concat", &more, count_up(x, 1, rows, 1, 0), number(x, 0));
  model_int(&x->model, "axis", 0);
  onnx_typed(x, none, ELEMENT_INT64);
  value_id y = NODE(x, "ScatterElements", &more, none, to,
                    count_up(x, 1, choices, top, 1));
  return NODE(x, "Slice", &all, y, number(x, 0), number(x, rows), number(x, 0));
}

static value_id roomy_seats(struct exporting *x, const struct view *in,
                            int64_t count) {
  int64_t samples = in->at.dim[0], experts = x->op.numbers[1];
  int64_t room = x->op.numbers[2], rows = samples * experts * room;
  const int64_t each[2] = {samples, count / samples};
  struct onnx_layout at = layout_dense(2, each);
  struct view all = *in;
  layout_merge(&all.at, 1, all.at.rank - 1);
  value_id expert = onnx_get_spread(x, &all);
  value_id place = places(x, expert, samples, each[1]);
  value_id kept =
      onnx_typed(x, NODE(x, "Less", &at, place, number(x, room)), ELEMENT_BOOL);
  if (x->op.numbers[0] == SEATS_KEPT)
    return cast_to(x, kept, &at, ELEMENT_FLOAT);
  value_id row = NODE(x, "Mul", &at, expert, number(x, room));
  row = NODE(x, "Add", &at, row, place);
  value_id first = count_up(x, 2, samples, 1, experts * room);
  row = NODE(x, "Add", &at, row, first);
  if (x->op.numbers[0] == SEATS_TOKENS)
    return tokens_of(x, row, kept, count, rows);
  return NODE(x, "Where", &at, kept, row, number(x, 0));
}

bool onnx_seats(struct exporting *x) {
  struct view in = onnx_in(x, 0);
  struct onnx_layout at = onnx_out(x, 0);
  int64_t count = layout_values(&in.at), room = x->op.numbers[2];
  value_id y;
  if (x->model.opset < 11)
    return onnx_refuse(x, "TopK of integers needs `--opset 11` or later") !=
           NO_VALUE;
  if (room && x->op.numbers[0] == SEATS_EXPERTS) {
    int64_t samples = at.dim[0], experts = at.dim[1], values;
    if (!onnx_constant_size(x, at.rank, at.dim, &values))
      return false;
    int64_t *all = arena_alloc(x->arena, (size_t)values + 1, sizeof *all);
    for (int64_t i = 0; i < samples * experts * room; i++)
      all[i] = i / room % experts;
    y = NODE(x, "Identity", &at,
             model_tensor(&x->model, ELEMENT_INT64, at.rank, at.dim, all));
    return onnx_put_first(x, onnx_typed(x, y, ELEMENT_INT64), &at);
  }
  y = room ? roomy_seats(x, &in, count)
           : sorted_seats(x, &in, count, in.at.dim[in.at.rank - 1]);
  return onnx_put_first(x, onnx_reshaped(x, y, &at), &at);
}

/* Weights */

/* Input `in` of one expert, which is a tensor of the file. */
static struct view of_expert(struct exporting *x, size_t in, int64_t expert) {
  struct netc_operand own = x->op.ins[in];
  own.tensor += expert;
  own.rank--;
  own.dims++;
  own.strides++;
  return onnx_operand_view(x, &own);
}

bool onnx_is_stack(struct exporting *x, size_t in) {
  const struct netc_operand *at = &x->op.ins[in];
  struct netc_tensor tensor = {.size = sizeof tensor};
  struct onnx_layout all = layout_dense(at->rank, at->dims);
  if (at->tensor < 0)
    return false;
  netc_tensor(x->netc, (size_t)at->tensor, &tensor);
  struct onnx_layout one = layout_dense(tensor.rank, tensor.dims);
  return layout_values(&one) < layout_values(&all);
}

value_id onnx_stack(struct exporting *x, size_t in) {
  int64_t experts = x->op.ins[in].dims[0];
  value_id *all = arena_alloc(x->arena, (size_t)experts + 1, sizeof *all);
  struct onnx_layout at = layout_dense(x->op.ins[in].rank, x->op.ins[in].dims);
  struct onnx_layout one = at;
  one.dim[0] = 1;
  for (int64_t i = 0; i < experts; i++) {
    struct view view = of_expert(x, in, i);
    all[i] = onnx_reshaped(x, onnx_get(x, &view), &one);
  }
  value_id y = onnx_node(x, "Concat", &at, all, (size_t)experts);
  model_int(&x->model, "axis", 0);
  return y;
}

/* Products */

/* The first row of an expert, as a list of one. */
static value_id first_row(struct exporting *x, value_id experts, int64_t rows,
                          int64_t count, int64_t expert) {
  const int64_t both[2] = {count + 1, rows}, axis[1] = {1};
  struct onnx_layout all = layout_dense(2, both);
  struct onnx_layout firsts = flat(count + 1), one = flat(1);
  struct map_entry *entry = known(x, "first", experts, expert);
  struct map_entry *list = known(x, "first", experts, -1);
  if (entry->number)
    return entry->number - 1;
  if (!list->number) {
    value_id each = count_up(x, 2, count + 1, 1, 1);
    value_id y =
        onnx_typed(x, NODE(x, "Less", &all, experts, each), ELEMENT_BOOL);
    y = cast_to(x, y, &all, ELEMENT_INT64);
    list->number =
        onnx_reduce_axes(x, "ReduceSum", y, &firsts, axis, 1, false) + 1;
  }
  value_id y = NODE(x, "Gather", &one, list->number - 1, number(x, expert));
  entry->number = y + 1;
  return y;
}

/* A node of the rows of one expert, whose number depends on values. */
static value_id some_rows(struct exporting *x, const char *op, int64_t channels,
                          const value_id *ins, size_t in_count) {
  const int64_t sizes[2] = {1, channels};
  struct onnx_layout at = layout_dense(2, sizes);
  value_id y = onnx_node(x, op, &at, ins, in_count);
  if (y != NO_VALUE)
    model_open_axis(&x->model, &x->model.values.at[y], 0, "");
  return y;
}

/* Rows are sorted by expert: a slice for each. */
static value_id sorted_products(struct exporting *x, struct view in,
                                struct view expert,
                                const struct onnx_layout *out) {
  int64_t count = x->op.ins[2].dims[0];
  value_id *all = arena_alloc(x->arena, (size_t)count + 1, sizeof *all);
  layout_merge(&in.at, 0, in.at.rank - 1);
  layout_merge(&expert.at, 0, expert.at.rank);
  int64_t rows = in.at.dim[0], channels = out->dim[out->rank - 1];
  const int64_t sizes[2] = {rows, channels};
  struct onnx_layout made = layout_dense(2, sizes);
  int64_t features = in.at.dim[1];
  value_id from = onnx_get_spread(x, &in);
  value_id which = onnx_get_spread(x, &expert);
  for (int64_t i = 0; i < count; i++) {
    struct view weight = of_expert(x, 2, i);
    value_id slice[4] = {from, first_row(x, which, rows, count, i),
                         first_row(x, which, rows, count, i + 1), number(x, 0)};
    value_id pair[2] = {some_rows(x, "Slice", features, slice, 4),
                        onnx_get(x, &weight)};
    all[i] = some_rows(x, "MatMul", channels, pair, 2);
    if (x->op.in_count > 3) {
      struct view bias = of_expert(x, 3, i);
      value_id sum[2] = {all[i], onnx_get(x, &bias)};
      all[i] = some_rows(x, "Add", channels, sum, 2);
    }
  }
  value_id y = onnx_node(x, "Concat", &made, all, (size_t)count);
  model_int(&x->model, "axis", 0);
  return onnx_reshaped(x, y, out);
}

/* Each expert of a sample has the same number of rows. */
static value_id roomy_products(struct exporting *x, const struct view *in,
                               const struct onnx_layout *out) {
  value_id y = NODE(x, "MatMul", out, onnx_get_spread(x, in), onnx_stack(x, 2));
  if (x->op.in_count < 4)
    return y;
  const int64_t *dims = x->op.ins[3].dims;
  const int64_t sizes[3] = {dims[0], 1, dims[1]};
  struct onnx_layout column = layout_dense(3, sizes);
  return NODE(x, "Add", out, y, onnx_reshaped(x, onnx_stack(x, 3), &column));
}

bool onnx_experts(struct exporting *x) {
  struct view in = onnx_in(x, 0), expert = onnx_in(x, 1);
  struct onnx_layout at = onnx_out(x, 0);
  value_id y = x->op.numbers[0] ? roomy_products(x, &in, &at)
                                : sorted_products(x, in, expert, &at);
  return onnx_put_first(x, y, &at);
}
