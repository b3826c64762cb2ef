/* ONNX forms that move or select values: pad, roll, up, concat, embed, last,
 * reduce. */
#include "export/export.h"
#include "runtime/distance.h"

enum { MOST_AXES = 8 };

/* ONNX does not reflect beyond the map's own size. */
static bool mirrors_once(const struct onnx_layout *in, const int64_t *pads) {
  for (int i = 2; i < in->rank; i++)
    if (pads[i] >= in->dim[i] || pads[in->rank + i] >= in->dim[i])
      return false;
  return true;
}

static value_id slice(struct exporting *x, value_id value, int rank,
                      const int64_t *dims, int axis, int64_t from,
                      int64_t size) {
  int64_t part[LAYOUT_RANK], end = from + size, at = axis;
  for (int i = 0; i < rank; i++)
    part[i] = i == axis ? size : dims[i];
  struct onnx_layout lies = layout_dense(rank, part);
  return NODE(x, "Slice", &lies, value, model_numbers(&x->model, &from, 1),
              model_numbers(&x->model, &end, 1),
              model_numbers(&x->model, &at, 1));
}

static value_id joined(struct exporting *x, value_id a, value_id b, int rank,
                       const int64_t *dims, int axis) {
  struct onnx_layout lies = layout_dense(rank, dims);
  value_id y = NODE(x, "Concat", &lies, a, b);
  model_int(&x->model, "axis", axis);
  return y;
}

/* Circular padding before opset 19: joins each end with the other. */
static value_id wrapped(struct exporting *x, value_id map,
                        const struct onnx_layout *in, const int64_t *pads) {
  int64_t dims[LAYOUT_RANK];
  memcpy(dims, in->dim, sizeof dims);
  for (int i = 2; i < in->rank; i++) {
    int64_t before = pads[i], after = pads[in->rank + i], size = dims[i];
    value_id begin = NO_VALUE, end = NO_VALUE;
    if (before)
      end = slice(x, map, in->rank, dims, i, size - before, before);
    if (after)
      begin = slice(x, map, in->rank, dims, i, 0, after);
    dims[i] += before;
    if (before)
      map = joined(x, end, map, in->rank, dims, i);
    dims[i] += after;
    if (after)
      map = joined(x, map, begin, in->rank, dims, i);
  }
  return map;
}

bool onnx_pad(struct exporting *x) {
  static const char *const modes[] = {NULL, "reflect", "edge", "wrap"};
  struct onnx_layout at = onnx_map_out(x);
  struct view in = onnx_map_in(x, 0);
  int64_t pads[2 * LAYOUT_RANK] = {0}, mode = x->op.numbers[0];
  value_id map = onnx_get(x, &in);
  for (int i = 2; i < at.rank; i++) {
    pads[i] = x->op.numbers[i - 1];
    pads[at.rank + i] = at.dim[i] - in.at.dim[i] - pads[i];
  }
  if (mode == 1 && !mirrors_once(&in.at, pads))
    return onnx_refuse(x, "Pad cannot mirror more than the map") != NO_VALUE;
  if (mode == 3 && x->model.opset < 19)
    return onnx_put_first(x, wrapped(x, map, &in.at, pads), &at);
  value_id y =
      NODE(x, "Pad", &at, map, model_numbers(&x->model, pads, 2 * at.rank));
  if (modes[mode])
    model_text(&x->model, "mode", modes[mode]);
  return onnx_put_first(x, y, &at);
}

/* Moves the end to the front. */
bool onnx_roll(struct exporting *x) {
  struct onnx_layout at = onnx_map_out(x);
  struct view in = onnx_map_in(x, 0);
  value_id map = onnx_get(x, &in);
  for (int i = 2; i < at.rank && map != NO_VALUE; i++) {
    int64_t shift = x->op.numbers[i - 2], size = at.dim[i];
    if (!shift)
      continue;
    value_id end = slice(x, map, at.rank, at.dim, i, size - shift, shift);
    value_id begin = slice(x, map, at.rank, at.dim, i, 0, size - shift);
    map = NODE(x, "Concat", &at, end, begin);
    model_int(&x->model, "axis", i);
  }
  return onnx_put_first(x, map, &at);
}

/* Nearest: floor(at I / O), as in PyTorch. */
bool onnx_up(struct exporting *x) {
  struct onnx_layout at = onnx_map_out(x);
  struct view in = onnx_map_in(x, 0);
  bool linear = x->op.numbers[0], corners = x->op.numbers[1];
  float scales[LAYOUT_RANK];
  int64_t none = 0, sizes[1] = {at.rank};
  value_id map = onnx_get(x, &in), empty = NO_VALUE;
  bool divides = true;
  for (int i = 0; i < at.rank; i++) {
    divides = divides && at.dim[i] % in.at.dim[i] == 0;
    scales[i] = (float)at.dim[i] / (float)in.at.dim[i];
  }
  if (x->model.opset < 13) /* may not be omitted before */
    empty = model_tensor(&x->model, ELEMENT_FLOAT, 1, &none, scales);
  value_id by = divides
                    ? model_tensor(&x->model, ELEMENT_FLOAT, 1, sizes, scales)
                : x->model.opset < 13
                    ? model_tensor(&x->model, ELEMENT_FLOAT, 1, &none, scales)
                    : NO_VALUE;
  value_id to = divides ? NO_VALUE : model_numbers(&x->model, at.dim, at.rank);
  value_id y = NODE(x, "Resize", &at, map, empty, by, to);
  model_text(&x->model, "mode", linear ? "linear" : "nearest");
  model_text(&x->model, "coordinate_transformation_mode",
             linear ? corners ? "align_corners" : "half_pixel" : "asymmetric");
  if (!linear)
    model_text(&x->model, "nearest_mode", "floor");
  return onnx_put_first(x, y, &at);
}

/* Concatenates in the cheapest order of axes for all inputs. */
bool onnx_concat(struct exporting *x) {
  struct view *views = arena_alloc(x->arena, x->op.in_count, sizeof *views);
  value_id *ins = arena_alloc(x->arena, x->op.in_count, sizeof *ins);
  struct onnx_layout at = onnx_out(x, 0);
  for (size_t i = 0; i < x->op.in_count; i++)
    views[i] = onnx_in(x, i);
  struct onnx_order order = onnx_choose_order(x, views, x->op.in_count);
  at = order_apply(&order, &at);
  for (size_t i = 0; i < x->op.in_count; i++) {
    views[i].at = order_apply(&order, &views[i].at);
    ins[i] = onnx_get_spread(x, &views[i]);
  }
  value_id y = onnx_node(x, "Concat", &at, ins, x->op.in_count);
  model_int(&x->model, "axis", order_place(&order, (int)x->op.numbers[0]));
  return onnx_put_first(x, y, &at);
}

bool onnx_embed(struct exporting *x) {
  struct view indices = onnx_in(x, 0), table;
  struct onnx_layout at = onnx_out(x, 0);
  value_id rows = NO_VALUE;
  if (onnx_is_stack(x, 1)) {
    rows = onnx_stack(x, 1);
  } else {
    table = onnx_in(x, 1);
    layout_merge(&table.at, 0, table.at.rank - 1);
    rows = onnx_get(x, &table);
  }
  value_id which = onnx_get_spread(x, &indices);
  return onnx_put_first(x, NODE(x, "Gather", &at, rows, which), &at);
}

/* Constant distances, equal for all samples. */
bool onnx_distances(struct exporting *x) {
  struct onnx_layout at = onnx_out(x, 0);
  int32_t numbers[DISTANCE_NUMBERS];
  int64_t count, queries = at.dim[at.rank - 2], keys = at.dim[at.rank - 1];
  if (!onnx_constant_size(x, at.rank, at.dim, &count))
    return false;
  int64_t *rows = arena_alloc(x->arena, (size_t)count + 1, sizeof *rows);
  for (int i = 0; i < DISTANCE_NUMBERS; i++)
    numbers[i] = (int32_t)x->op.numbers[i];
  for (int64_t i = 0; i < count; i++)
    rows[i] = netrt_distance(numbers, i / keys % queries, i % keys);
  value_id known =
      model_tensor(&x->model, ELEMENT_INT64, at.rank, at.dim, rows);
  value_id y = NODE(x, "Identity", &at, known);
  return onnx_put_first(x, onnx_typed(x, y, ELEMENT_INT64), &at);
}

/* The forward direction ends at the last step, the backward one at the
 * first. */
bool onnx_last(struct exporting *x) {
  int64_t ways = x->op.numbers[0], steps = x->op.ins[0].dims[1];
  struct onnx_layout at = onnx_out(x, 0);
  int64_t units = at.dim[1] / ways;
  value_id ends[2] = {NO_VALUE, NO_VALUE};
  for (int i = 0; i < ways; i++) {
    struct view view = onnx_in(x, 0);
    if (!layout_slice(&view.at, 1, i ? 0 : steps - 1, 1) ||
        !layout_slice(&view.at, 2, i * units, units))
      return onnx_refuse(x, "cannot identify its last step") != NO_VALUE;
    layout_drop(&view.at, 1);
    ends[i] = onnx_get(x, &view);
  }
  if (ways == 1)
    return onnx_put_first(x, ends[0], &at);
  value_id y = NODE(x, "Concat", &at, ends[0], ends[1]);
  model_int(&x->model, "axis", 1);
  return onnx_put_first(x, y, &at);
}

/* Axes are an input from opset 13 on for ReduceSum, from 18 on for others. */
value_id onnx_reduce_axes(struct exporting *x, const char *op, value_id in,
                          const struct onnx_layout *at, const int64_t *axes,
                          int count, bool keeps) {
  int64_t dims[LAYOUT_RANK];
  int rank = 0;
  for (int i = 0; i < at->rank; i++) {
    bool gone = false;
    for (int k = 0; k < count; k++)
      gone = gone || axes[k] == i;
    if (!gone || keeps)
      dims[rank++] = gone ? 1 : at->dim[i];
  }
  struct onnx_layout left = layout_dense(rank, dims);
  bool takes = x->model.opset >= (strcmp(op, "ReduceSum") == 0 ? 13 : 18);
  value_id y = NODE(x, op, &left, in,
                    takes ? model_numbers(&x->model, axes, count) : NO_VALUE);
  if (!takes)
    model_ints(&x->model, "axes", axes, (size_t)count);
  if (!keeps)
    model_int(&x->model, "keepdims", 0);
  return y;
}

/* Reduces the last axes, which the output does not have. */
bool onnx_reduce(struct exporting *x) {
  static const char *const modes[] = {"ReduceSum", "ReduceMean", "ReduceMax",
                                      "ReduceMin"};
  struct view in = onnx_in(x, 0);
  struct onnx_layout at = onnx_out(x, 0);
  struct onnx_order order = onnx_choose_order(x, &in, 1), left = {.rank = 0};
  int64_t axes[LAYOUT_RANK];
  int count = 0;
  in.at = order_apply(&order, &in.at);
  for (int i = 0; i < order.rank; i++)
    if (order.axis[i] < at.rank)
      left.axis[left.rank++] = order.axis[i];
    else
      axes[count++] = i;
  at = order_apply(&left, &at);
  value_id map = onnx_get_spread(x, &in);
  return onnx_put_first(x,
                        onnx_reduce_axes(x, modes[x->op.numbers[0]], map,
                                         &in.at, axes, count, false),
                        &at);
}
