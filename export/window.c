/* ONNX forms of convolution and pooling. Channels are first. */
#include <string.h>

#include "export/export.h"

enum { MOST_AXES = 8 };

/* Sizes by spatial axis. */
struct windows {
  int axes;
  int64_t in[MOST_AXES], out[MOST_AXES];
  int64_t kernel[MOST_AXES], stride[MOST_AXES], dilation[MOST_AXES];
  int64_t before[MOST_AXES], after[MOST_AXES];
};

static struct windows windows_of(const struct exporting *x) {
  struct windows w = {.axes = x->op.outs[0].rank - 2};
  for (int i = 0; i < w.axes; i++) {
    w.in[i] = x->op.ins[0].dims[i + 1];
    w.out[i] = x->op.outs[0].dims[i + 1];
    w.kernel[i] = w.stride[i] = w.dilation[i] = 1;
  }
  return w;
}

static int64_t extent(const struct windows *w, int i) {
  return w->dilation[i] * (w->kernel[i] - 1) + 1;
}

/* Values read after the map; further padding is omitted. */
static int64_t read_after(const struct windows *w, int i) {
  int64_t after =
      (w->out[i] - 1) * w->stride[i] + extent(w, i) - w->in[i] - w->before[i];
  return after > 0 ? after : 0;
}

/* Keeps the given padding if the number of windows stays the same. */
static void round_after(struct windows *w, const int64_t *given) {
  for (int i = 0; i < w->axes; i++) {
    int64_t all = w->in[i] + w->before[i] + given[i] - extent(w, i);
    bool same = all >= 0 && all / w->stride[i] + 1 == w->out[i];
    w->after[i] = same ? given[i] : read_after(w, i);
  }
}

static void set_sizes(struct exporting *x, const struct windows *w,
                      const char *name, const int64_t *sizes, int64_t usual) {
  bool said = false;
  for (int i = 0; i < w->axes; i++)
    said = said || sizes[i] != usual;
  if (said)
    model_ints(&x->model, name, sizes, (size_t)w->axes);
}

static void set_windows(struct exporting *x, const struct windows *w) {
  int64_t pads[2 * MOST_AXES];
  bool padded = false;
  for (int i = 0; i < w->axes; i++) {
    pads[i] = w->before[i];
    pads[w->axes + i] = w->after[i];
    padded = padded || w->before[i] || w->after[i];
  }
  model_ints(&x->model, "kernel_shape", w->kernel, (size_t)w->axes);
  set_sizes(x, w, "strides", w->stride, 1);
  set_sizes(x, w, "dilations", w->dilation, 1);
  if (padded)
    model_ints(&x->model, "pads", pads, 2 * (size_t)w->axes);
}

static bool put_map(struct exporting *x, value_id value) {
  struct onnx_layout at = onnx_map_out(x);
  return onnx_put_first(x, value, &at);
}

static value_id map_node(struct exporting *x, const char *op,
                         const value_id *ins, size_t count) {
  struct onnx_layout at = onnx_map_out(x);
  return onnx_node(x, op, &at, ins, count);
}

/* Convolution */

/* Sizes of the windows from operand `weight` and from `numbers` on. */
static void read_windows(struct exporting *x, struct windows *w, int weight,
                         const int64_t *numbers) {
  for (int i = 0; i < w->axes; i++) {
    w->stride[i] = numbers[3 * i];
    w->dilation[i] = numbers[1 + 3 * i];
    w->before[i] = numbers[2 + 3 * i];
    w->kernel[i] = x->op.ins[weight].dims[i];
  }
}

/* O x I/G x K.. for ONNX; netc has K.. x I/G x O. */
static value_id kernels_of(struct exporting *x, size_t in, int axes) {
  struct view weight = onnx_in(x, in);
  int order[LAYOUT_RANK] = {axes + 1, axes};
  for (int i = 0; i < axes; i++)
    order[i + 2] = i;
  weight.at = layout_order(&weight.at, axes + 2, order);
  return onnx_get(x, &weight);
}

static value_id bias_of(struct exporting *x, size_t in) {
  struct view bias;
  if (x->op.in_count <= in)
    return NO_VALUE;
  bias = onnx_in(x, in);
  return onnx_get(x, &bias);
}

bool onnx_conv(struct exporting *x) {
  struct windows w = windows_of(x);
  struct view in = onnx_map_in(x, 0);
  read_windows(x, &w, 1, x->op.numbers + 1);
  round_after(&w, w.before);
  value_id ins[3] = {onnx_get(x, &in), kernels_of(x, 1, w.axes), bias_of(x, 2)};
  value_id y = map_node(x, "Conv", ins, 3);
  set_windows(x, &w);
  if (x->op.numbers[0] != 1)
    model_int(&x->model, "group", x->op.numbers[0]);
  return put_map(x, y);
}

/* Offsets and an optional mask for each value of a window. */
bool onnx_deformconv(struct exporting *x) {
  struct windows w = windows_of(x);
  struct view in = onnx_map_in(x, 0), offsets = onnx_map_in(x, 1), mask;
  bool masked = x->op.numbers[1];
  value_id by = NO_VALUE;
  if (x->model.opset < 19)
    return onnx_refuse(x, "DeformConv needs `--opset 19` or later") != NO_VALUE;
  read_windows(x, &w, masked ? 3 : 2, x->op.numbers + 2);
  round_after(&w, w.before);
  if (masked) {
    mask = onnx_map_in(x, 2);
    by = onnx_get(x, &mask);
  }
  value_id ins[5] = {onnx_get(x, &in), kernels_of(x, masked ? 3 : 2, w.axes),
                     onnx_get(x, &offsets), bias_of(x, masked ? 4 : 3), by};
  value_id y = map_node(x, "DeformConv", ins, 5);
  set_windows(x, &w);
  model_int(&x->model, "group", x->op.numbers[0]);
  model_int(&x->model, "offset_group",
            offsets.at.dim[1] / (2 * w.kernel[0] * w.kernel[1]));
  return put_map(x, y);
}

/* out = (in - 1) S + D (K - 1) + 1 - pads + output_padding */
static void find_output_padding(struct windows *w, int64_t *added) {
  for (int i = 0; i < w->axes; i++) {
    int64_t most =
        w->stride[i] > w->dilation[i] ? w->stride[i] : w->dilation[i];
    int64_t all = (w->in[i] - 1) * w->stride[i] + extent(w, i) - w->before[i];
    added[i] = w->out[i] - (all - w->before[i]);
    w->after[i] = w->before[i];
    if (added[i] >= 0 && added[i] < most)
      continue;
    w->after[i] = all - w->out[i];
    added[i] = 0;
    if (w->after[i] >= 0)
      continue;
    added[i] = -w->after[i];
    w->after[i] = 0;
  }
}

/* Weights C x M/G x K.. for ONNX; netc has K.. x C/G x M. */
bool onnx_deconv(struct exporting *x) {
  struct windows w = windows_of(x);
  struct view in = onnx_map_in(x, 0), weight = onnx_in(x, 1);
  int64_t groups = x->op.numbers[0], added[MOST_AXES];
  int order[LAYOUT_RANK] = {w.axes + 1, w.axes, w.axes + 2};
  for (int i = 0; i < w.axes; i++)
    order[i + 3] = i;
  if (!layout_split(&weight.at, w.axes + 1, groups))
    return onnx_refuse(x, "cannot identify its groups") != NO_VALUE;
  weight.at = layout_order(&weight.at, w.axes + 3, order);
  layout_merge(&weight.at, 0, 2);
  read_windows(x, &w, 1, x->op.numbers + 1);
  find_output_padding(&w, added);
  value_id ins[3] = {onnx_get(x, &in), onnx_get(x, &weight), bias_of(x, 2)};
  value_id y = map_node(x, "ConvTranspose", ins, 3);
  set_windows(x, &w);
  set_sizes(x, &w, "output_padding", added, 0);
  if (groups != 1)
    model_int(&x->model, "group", groups);
  return put_map(x, y);
}

/* Pooling */

static void read_pool(struct exporting *x, const int64_t *numbers,
                      struct windows *w, int64_t *given) {
  (void)x;
  for (int i = 0; i < w->axes; i++) {
    w->kernel[i] = numbers[5 * i];
    w->stride[i] = numbers[5 * i + 1];
    w->dilation[i] = numbers[5 * i + 2];
    w->before[i] = numbers[5 * i + 3];
    given[i] = numbers[5 * i + 4];
  }
}

/* Writes `ceil` as padding, which all tools count in the same way. */
bool onnx_maxpool(struct exporting *x) {
  struct windows w = windows_of(x);
  struct view in = onnx_map_in(x, 0);
  int64_t given[MOST_AXES];
  read_pool(x, x->op.numbers, &w, given);
  round_after(&w, given);
  value_id map = onnx_get(x, &in);
  value_id y = map_node(x, "MaxPool", &map, 1);
  set_windows(x, &w);
  return put_map(x, y);
}

/* Place of the maximum of a window; ONNX also counts earlier samples and
 * channels. */
bool onnx_places(struct exporting *x) {
  struct windows w = windows_of(x);
  struct view in = onnx_map_in(x, 0);
  int64_t given[MOST_AXES], map_size = 1;
  read_pool(x, x->op.numbers, &w, given);
  round_after(&w, given);
  value_id map = onnx_get(x, &in);
  if (map == NO_VALUE)
    return false;
  for (int i = 0; i < w.axes; i++)
    map_size *= w.in[i];
  map_node(x, "MaxPool", &map, 1);
  set_windows(x, &w);
  value_id ins[2] = {
      model_second(&x->model, ELEMENT_INT64),
      model_tensor(&x->model, ELEMENT_INT64, 0, NULL, &map_size)};
  return put_map(x, map_node(x, "Mod", ins, 2));
}

/* Scatters values to their places on a map of zeros. */
bool onnx_unpool(struct exporting *x) {
  struct view in = onnx_map_in(x, 0), places = onnx_map_in(x, 1);
  struct onnx_layout at = onnx_map_out(x);
  const int64_t axis = 2;
  int64_t dims[3] = {at.dim[0], at.dim[1],
                     layout_values(&at) / at.dim[0] / at.dim[1]};
  struct onnx_layout flat = layout_dense(3, dims);
  layout_merge(&in.at, 2, in.at.rank - 2);
  layout_merge(&places.at, 2, places.at.rank - 2);
  value_id values = onnx_get(x, &in), to = onnx_get(x, &places);
  value_id y = NODE(x, "Expand", &flat, model_scalar(&x->model, 0),
                    model_numbers(&x->model, dims, 3));
  y = NODE(x, "ScatterElements", &flat, y, to, values);
  model_int(&x->model, "axis", axis);
  return put_map(x, onnx_reshaped(x, y, &at));
}

/* Pads with zeros that the mean includes; values beyond them are not
 * included. */
static value_id pad_zeros(struct exporting *x, struct windows *w,
                          const int64_t *after, value_id map) {
  struct onnx_layout at = onnx_map_out(x);
  int64_t pads[2 * MOST_AXES] = {0};
  int64_t dims[LAYOUT_RANK] = {at.dim[0], at.dim[1]};
  for (int i = 0; i < w->axes; i++) {
    pads[2 + i] = w->before[i];
    pads[2 + w->axes + 2 + i] = after[i];
    dims[2 + i] = w->in[i] + w->before[i] + after[i];
    w->in[i] = dims[2 + i];
    w->before[i] = 0;
    w->after[i] = read_after(w, i);
  }
  at = layout_dense(at.rank, dims);
  return NODE(x, "Pad", &at, map,
              model_numbers(&x->model, pads, 2 * (w->axes + 2)));
}

/* Dilated mean: a depthwise convolution. */
static bool dilated_mean(struct exporting *x, const struct windows *w,
                         value_id map) {
  int64_t channels = x->op.outs[0].dims[x->op.outs[0].rank - 1];
  int64_t dims[LAYOUT_RANK] = {channels, 1}, values;
  for (int i = 0; i < w->axes; i++)
    dims[2 + i] = w->kernel[i];
  if (!onnx_constant_size(x, w->axes + 2, dims, &values))
    return false;
  float *data = arena_alloc(x->arena, (size_t)values, sizeof *data);
  for (int64_t i = 0; i < values; i++)
    data[i] = 1 / (float)(values / channels);
  value_id ins[2] = {
      map, model_tensor(&x->model, ELEMENT_FLOAT, w->axes + 2, dims, data)};
  value_id y = map_node(x, "Conv", ins, 2);
  set_windows(x, w);
  model_int(&x->model, "group", channels);
  return put_map(x, y);
}

/* True for windows of one value: a Slice, which ONNX Runtime does not fuse with
 * a Pad. */
static bool is_one_value(const struct windows *w) {
  for (int i = 0; i < w->axes; i++)
    if (w->kernel[i] != 1 || w->before[i] != 0 ||
        (w->out[i] - 1) * w->stride[i] >= w->in[i])
      return false;
  return true;
}

static bool write_slice(struct exporting *x, const struct windows *w,
                        value_id map) {
  static const int64_t axes[MOST_AXES] = {2, 3, 4}, zeros[MOST_AXES] = {0};
  struct onnx_model *m = &x->model;
  value_id ins[5] = {
      map, model_numbers(m, zeros, w->axes), model_numbers(m, w->in, w->axes),
      model_numbers(m, axes, w->axes), model_numbers(m, w->stride, w->axes)};
  return put_map(x, map_node(x, "Slice", ins, 5));
}

bool onnx_avgpool(struct exporting *x) {
  struct windows w = windows_of(x);
  struct view in = onnx_map_in(x, 0);
  int64_t given[MOST_AXES];
  bool beyond = false, dilated = false, counts = x->op.numbers[0];
  read_pool(x, x->op.numbers + 1, &w, given);
  value_id map = onnx_get(x, &in);
  if (is_one_value(&w))
    return write_slice(x, &w, map);
  for (int i = 0; i < w.axes; i++) {
    beyond = beyond || read_after(&w, i) > given[i];
    dilated = dilated || w.dilation[i] > 1;
  }
  bool has = x->model.opset >= 19;
  if (dilated && !has && (beyond || !counts))
    return onnx_refuse(
               x, "AveragePool with dilation needs `--opset 19` or later") !=
           NO_VALUE;
  if (counts && beyond)
    map = pad_zeros(x, &w, given, map);
  else
    round_after(&w, given);
  if (dilated && !has)
    return dilated_mean(x, &w, map);
  value_id y = map_node(x, "AveragePool", &map, 1);
  set_windows(x, &w);
  if (counts && !beyond)
    model_int(&x->model, "count_include_pad", 1);
  return put_map(x, y);
}

/* Adaptive pooling: windows of floor(i I/O) to ceil((i + 1) I/O) */

static int64_t from_of(const struct windows *w, int i, int64_t at) {
  return at * w->in[i] / w->out[i];
}

static int64_t to_of(const struct windows *w, int i, int64_t at) {
  return ((at + 1) * w->in[i] + w->out[i] - 1) / w->out[i];
}

/* I x O: weight of each value in each mean. */
static value_id mean_matrix(struct exporting *x, const struct windows *w, int i,
                            bool transposed) {
  const int64_t dims[2] = {transposed ? w->out[i] : w->in[i],
                           transposed ? w->in[i] : w->out[i]};
  int64_t values;
  if (!onnx_constant_size(x, 2, dims, &values))
    return NO_VALUE;
  float *data = arena_alloc(x->arena, (size_t)values, sizeof *data);
  for (int64_t o = 0; o < w->out[i]; o++) {
    int64_t from = from_of(w, i, o), to = to_of(w, i, o);
    for (int64_t k = from; k < to; k++)
      data[transposed ? o * w->in[i] + k : k * w->out[i] + o] =
          1 / (float)(to - from);
  }
  return model_tensor(&x->model, ELEMENT_FLOAT, 2, dims, data);
}

/* Averages one axis: ..I times I x O, or O x I times ..I x rest. */
static value_id mean_by_axis(struct exporting *x, const struct windows *w,
                             int i, value_id map, int64_t *dims) {
  int rank = w->axes + 2, axis = i + 2;
  int64_t rest = 1, rows[LAYOUT_RANK];
  if (w->in[i] == w->out[i])
    return map;
  for (int k = axis + 1; k < rank; k++)
    rest *= dims[k];
  memcpy(rows, dims, sizeof rows);
  dims[axis] = w->out[i];
  struct onnx_layout at = layout_dense(rank, dims);
  if (axis == rank - 1)
    return NODE(x, "MatMul", &at, map, mean_matrix(x, w, i, false));
  bool folds = axis + 2 < rank;
  rows[axis + 1] = rest;
  struct onnx_layout as = layout_dense(axis + 2, rows);
  if (folds)
    map = onnx_reshaped(x, map, &as);
  rows[axis] = w->out[i];
  as = layout_dense(axis + 2, rows);
  map = NODE(x, "MatMul", &as, mean_matrix(x, w, i, true), map);
  return folds ? onnx_reshaped(x, map, &at) : map;
}

/* Places of each window, padded by repeating the last so that all have the same
 * number. */
static value_id max_by_axis(struct exporting *x, const struct windows *w, int i,
                            value_id map, int64_t *dims) {
  int rank = w->axes + 2, axis = i + 2;
  int64_t most = 0, wide[LAYOUT_RANK], axes[1] = {axis + 1};
  for (int64_t o = 0; o < w->out[i]; o++)
    if (to_of(w, i, o) - from_of(w, i, o) > most)
      most = to_of(w, i, o) - from_of(w, i, o);
  const int64_t sizes[2] = {w->out[i], most};
  int64_t values;
  if (!onnx_constant_size(x, 2, sizes, &values))
    return NO_VALUE;
  int64_t *places = arena_alloc(x->arena, (size_t)values, sizeof *places);
  for (int64_t o = 0; o < w->out[i]; o++)
    for (int64_t k = 0; k < most; k++) {
      int64_t at = from_of(w, i, o) + k, last = to_of(w, i, o) - 1;
      places[o * most + k] = at < last ? at : last;
    }
  dims[axis] = w->out[i];
  memcpy(wide, dims, sizeof wide);
  memmove(wide + axis + 2, wide + axis + 1,
          (size_t)(rank - axis - 1) * sizeof *wide);
  wide[axis + 1] = most;
  struct onnx_layout as = layout_dense(rank + 1, wide);
  map = NODE(x, "Gather", &as, map,
             model_tensor(&x->model, ELEMENT_INT64, 2, sizes, places));
  model_int(&x->model, "axis", axis);
  return onnx_reduce_axes(x, "ReduceMax", map, &as, axes, 1, false);
}

bool onnx_adapt(struct exporting *x) {
  bool mean = strcmp(x->op.code, "adaptavg") == 0;
  struct windows w = windows_of(x);
  struct view in = onnx_map_in(x, 0);
  bool one = true, divides = true;
  for (int i = 0; i < w.axes; i++) {
    one = one && w.out[i] == 1;
    divides = divides && w.in[i] % w.out[i] == 0;
    w.kernel[i] = w.stride[i] = w.in[i] / w.out[i];
  }
  value_id map = onnx_get(x, &in);
  if (one)
    return put_map(
        x, map_node(x, mean ? "GlobalAveragePool" : "GlobalMaxPool", &map, 1));
  if (divides) {
    map = map_node(x, mean ? "AveragePool" : "MaxPool", &map, 1);
    set_windows(x, &w);
    return put_map(x, map);
  }
  int64_t dims[LAYOUT_RANK] = {in.at.dim[0], in.at.dim[1]};
  memcpy(dims + 2, w.in, sizeof w.in);
  for (int i = w.axes; i-- > 0 && !x->why;)
    map = mean ? mean_by_axis(x, &w, i, map, dims)
               : max_by_axis(x, &w, i, map, dims);
  return put_map(x, map);
}
