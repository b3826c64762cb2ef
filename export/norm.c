/* ONNX forms of normalisation. */
#include <string.h>

#include "export/export.h"

/* A vector with the same value for each channel. */
static value_id filled(struct exporting *x, int64_t count, float with) {
  float *data = arena_alloc(x->arena, (size_t)count + 1, sizeof *data);
  for (int64_t i = 0; i < count; i++)
    data[i] = with;
  return model_tensor(&x->model, ELEMENT_FLOAT, 1, &count, data);
}

static value_id vector(struct exporting *x, size_t in, int64_t channels,
                       float otherwise) {
  struct view view;
  if (in >= x->op.in_count)
    return filled(x, channels, otherwise);
  view = onnx_in(x, in);
  return onnx_get(x, &view);
}

static int64_t channels_of(const struct exporting *x) {
  return x->op.outs[0].dims[x->op.outs[0].rank - 1];
}

static value_id get_channels_first(struct exporting *x,
                                   struct onnx_layout *at) {
  struct view in = onnx_in(x, 0);
  *at = onnx_out(x, 0);
  if (at->rank > 2) {
    in.at = layout_channels_first(&in.at);
    *at = layout_channels_first(at);
  }
  return onnx_get_spread(x, &in);
}

/* Operands: scale, shift, mean, variance; scale and shift are optional. */
bool onnx_bn(struct exporting *x) {
  struct onnx_layout at;
  size_t last = x->op.in_count - 2, none = x->op.in_count;
  int64_t channels = channels_of(x);
  value_id in = get_channels_first(x, &at);
  value_id scale = vector(x, last > 1 ? 1 : none, channels, 1);
  value_id shift = vector(x, last > 2 ? 2 : none, channels, 0);
  value_id mean = vector(x, last, channels, 0);
  value_id variance = vector(x, last + 1, channels, 1);
  value_id y =
      NODE(x, "BatchNormalization", &at, in, scale, shift, mean, variance);
  model_real(&x->model, "epsilon", x->op.reals[0]);
  return onnx_put_first(x, y, &at);
}

bool onnx_instnorm(struct exporting *x) {
  struct onnx_layout at;
  int64_t channels = channels_of(x);
  value_id in = get_channels_first(x, &at);
  value_id scale = vector(x, 1, channels, 1);
  value_id shift = vector(x, 2, channels, 0);
  value_id y = NODE(x, "InstanceNormalization", &at, in, scale, shift);
  model_real(&x->model, "epsilon", x->op.reals[0]);
  return onnx_put_first(x, y, &at);
}

/* Reshapes a vector to Cx1x1 for channels at `axis` of `rank`. */
static value_id column(struct exporting *x, size_t in, int axis, int rank) {
  struct view view = onnx_in(x, in);
  for (int i = axis + 1; i < rank; i++)
    layout_insert(&view.at, view.at.rank);
  return onnx_get(x, &view);
}

static value_id affine(struct exporting *x, value_id y,
                       const struct onnx_layout *at, int axis) {
  if (x->op.in_count > 1)
    y = NODE(x, "Mul", at, y, column(x, 1, axis, at->rank));
  if (x->op.in_count > 2)
    y = NODE(x, "Add", at, y, column(x, 2, axis, at->rank));
  return y;
}

/* A single operator from opset 21 on; before, InstanceNormalization with groups
 * as channels. */
bool onnx_gn(struct exporting *x) {
  struct onnx_layout at;
  int64_t groups = x->op.numbers[0], channels = channels_of(x);
  value_id y = get_channels_first(x, &at);
  if (x->model.opset >= 21 && at.rank > 2) {
    y = NODE(x, "GroupNormalization", &at, y, vector(x, 1, channels, 1),
             vector(x, 2, channels, 0));
    model_int(&x->model, "num_groups", groups);
    model_real(&x->model, "epsilon", x->op.reals[0]);
    return onnx_put_first(x, y, &at);
  }
  int64_t dims[3] = {at.dim[0], groups,
                     layout_values(&at) / at.dim[0] / groups};
  struct onnx_layout parts = layout_dense(3, dims);
  y = onnx_reshaped(x, y, &parts);
  y = NODE(x, "InstanceNormalization", &parts, y, filled(x, groups, 1),
           filled(x, groups, 0));
  model_real(&x->model, "epsilon", x->op.reals[0]);
  y = onnx_reshaped(x, y, &at);
  return onnx_put_first(x, affine(x, y, &at, 1), &at);
}

/* Sizes after a reduction of that axis. */
static struct onnx_layout with_one(const struct onnx_layout *at, int axis) {
  int64_t dims[LAYOUT_RANK];
  memcpy(dims, at->dim, sizeof dims);
  dims[axis] = 1;
  return layout_dense(at->rank, dims);
}

static value_id mean(struct exporting *x, value_id y,
                     const struct onnx_layout *at, int axis) {
  const int64_t axes[1] = {axis};
  return onnx_reduce_axes(x, "ReduceMean", y, at, axes, 1, true);
}

/* x / sqrt(mean of squares + eps) */
static value_id by_root_mean_square(struct exporting *x, value_id y,
                                    const struct onnx_layout *at, int axis) {
  value_id square = mean(x, NODE(x, "Mul", at, y, y), at, axis);
  struct onnx_layout one = with_one(at, axis);
  square =
      NODE(x, "Add", &one, square, model_scalar(&x->model, x->op.reals[0]));
  return NODE(x, "Div", at, y, NODE(x, "Sqrt", &one, square));
}

static value_id get_ordered(struct exporting *x, struct onnx_layout *at,
                            int *axis) {
  struct view in = onnx_in(x, 0);
  struct onnx_order order = onnx_choose_order(x, &in, 1);
  *at = onnx_out(x, 0);
  *axis = order_place(&order, at->rank - 1);
  *at = order_apply(&order, at);
  in.at = order_apply(&order, &in.at);
  return onnx_get_spread(x, &in);
}

bool onnx_affine(struct exporting *x) {
  struct onnx_layout at;
  int axis;
  value_id y = get_ordered(x, &at, &axis);
  return onnx_put_first(x, affine(x, y, &at, axis), &at);
}

/* x / max(sqrt(sum of squares), eps) */
bool onnx_l2norm(struct exporting *x) {
  struct onnx_layout at;
  int axis;
  value_id in = get_ordered(x, &at, &axis);
  const int64_t axes[1] = {axis};
  value_id y = NODE(x, "Mul", &at, in, in);
  y = onnx_reduce_axes(x, "ReduceSum", y, &at, axes, 1, true);
  struct onnx_layout one = with_one(&at, axis);
  y = NODE(x, "Sqrt", &one, y);
  y = NODE(x, "Max", &one, y, model_scalar(&x->model, x->op.reals[0]));
  return onnx_put_first(x, NODE(x, "Div", &at, in, y), &at);
}

bool onnx_rmsnorm(struct exporting *x) {
  struct onnx_layout at;
  int axis;
  value_id y = get_ordered(x, &at, &axis);
  y = by_root_mean_square(x, y, &at, axis);
  return onnx_put_first(x, affine(x, y, &at, axis), &at);
}

static bool layer_norm(struct exporting *x) {
  struct onnx_layout at = onnx_out(x, 0);
  struct view in = onnx_in(x, 0);
  value_id y = onnx_get_spread(x, &in), shift = NO_VALUE;
  value_id scale = vector(x, 1, channels_of(x), 1);
  if (x->op.in_count > 2)
    shift = vector(x, 2, 0, 0);
  y = NODE(x, "LayerNormalization", &at, y, scale, shift);
  model_real(&x->model, "epsilon", x->op.reals[0]);
  model_int(&x->model, "axis", -1);
  return onnx_put_first(x, y, &at);
}

bool onnx_ln(struct exporting *x) {
  struct onnx_layout at;
  int axis;
  if (x->model.opset >= 17)
    return layer_norm(x);
  value_id y = get_ordered(x, &at, &axis);
  y = NODE(x, "Sub", &at, y, mean(x, y, &at, axis));
  y = by_root_mean_square(x, y, &at, axis);
  return onnx_put_first(x, affine(x, y, &at, axis), &at);
}

/* For even sizes ONNX puts the extra neighbour after a channel, PyTorch
 * before. */
static value_id sum_of_squares(struct exporting *x, value_id in,
                               const struct onnx_layout *at, int64_t size) {
  int64_t dims[4] = {at->dim[0], 1, at->dim[1],
                     layout_values(at) / at->dim[0] / at->dim[1]};
  const int64_t kernel[2] = {size, 1}, pads[4] = {size / 2, 0, (size - 1) / 2};
  struct onnx_layout flat = layout_dense(4, dims);
  value_id y = NODE(x, "Mul", at, in, in);
  y = onnx_reshaped(x, y, &flat);
  y = NODE(x, "AveragePool", &flat, y);
  model_ints(&x->model, "kernel_shape", kernel, 2);
  model_ints(&x->model, "pads", pads, 4);
  model_int(&x->model, "count_include_pad", 1);
  return onnx_reshaped(x, y, at);
}

static bool by_power(struct exporting *x, value_id in, value_id squares,
                     const struct onnx_layout *at) {
  value_id y =
      NODE(x, "Mul", at, squares, model_scalar(&x->model, x->op.reals[0]));
  y = NODE(x, "Add", at, y, model_scalar(&x->model, x->op.reals[2]));
  y = NODE(x, "Pow", at, y, model_scalar(&x->model, x->op.reals[1]));
  return onnx_put_first(x, NODE(x, "Div", at, in, y), at);
}

/* Divides by a power of the mean of squares in a window of the map. */
bool onnx_lrnwithin(struct exporting *x) {
  struct onnx_layout at;
  int64_t size = x->op.numbers[0], kernel[LAYOUT_RANK], pads[2 * LAYOUT_RANK];
  value_id in = get_channels_first(x, &at);
  int axes = at.rank - 2;
  for (int i = 0; i < axes; i++) {
    kernel[i] = size;
    pads[i] = (size - 1) / 2;
    pads[axes + i] = size / 2;
  }
  value_id y = NODE(x, "Mul", &at, in, in);
  y = NODE(x, "AveragePool", &at, y);
  model_ints(&x->model, "kernel_shape", kernel, (size_t)axes);
  model_ints(&x->model, "pads", pads, 2 * (size_t)axes);
  model_int(&x->model, "count_include_pad", 1);
  return by_power(x, in, y, &at);
}

/* x / (k + alpha / size * sum of squares)^beta */
bool onnx_lrn(struct exporting *x) {
  struct onnx_layout at;
  int64_t size = x->op.numbers[0];
  value_id in = get_channels_first(x, &at), y;
  if (size % 2) {
    y = NODE(x, "LRN", &at, in);
    model_int(&x->model, "size", size);
    model_real(&x->model, "alpha", x->op.reals[0]);
    model_real(&x->model, "beta", x->op.reals[1]);
    model_real(&x->model, "bias", x->op.reals[2]);
    return onnx_put_first(x, y, &at);
  }
  return by_power(x, in, sum_of_squares(x, in, &at, size), &at);
}
