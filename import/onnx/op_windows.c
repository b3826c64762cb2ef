/* Convolutions, pools and resizes of maps. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "import/onnx/reader.h"

static bool is_small(struct onnx *x, const int64_t *sizes, int count,
                     int64_t least) {
  for (int i = 0; i < count; i++)
    if (sizes[i] < least || sizes[i] > MOST_SIZE)
      return onnx_fail(x, "its window size must be at least 1, not %" PRId64,
                       sizes[i]);
  return true;
}

/* Attributes of a window; `kernel` is known or an attribute. */
static bool read_window(struct onnx *x, int axes, const int64_t *kernel,
                        struct graph_window *w) {
  static const char *const ways[] = {"NOTSET", "VALID", "SAME_UPPER",
                                     "SAME_LOWER", NULL};
  int64_t pads[6] = {0}, given[3];
  *w = window_square(axes < 1 || axes > 3 ? 1 : axes, 1, 1);
  if (axes < 1 || axes > 3)
    return onnx_fail(x, "its map has %d axes; 1 to 3 are supported", axes);
  int count = onnx_ints(x, "kernel_shape", given, 3);
  if (count >= 0 && count != axes)
    return onnx_fail(x, "`kernel_shape` has %d axes, but the map has %d", count,
                     axes);
  if (count < 0 && !kernel)
    return onnx_fail(x, "it has no `kernel_shape`");
  memcpy(w->kernel, count >= 0 ? given : kernel, (size_t)axes * sizeof *given);
  int strides = onnx_ints(x, "strides", w->stride, 3);
  int dilations = onnx_ints(x, "dilations", w->dilate, 3);
  int borders = onnx_ints(x, "pads", pads, 6);
  if ((strides >= 0 && strides != axes) ||
      (dilations >= 0 && dilations != axes) ||
      (borders >= 0 && borders != axes * 2))
    return onnx_fail(x, "its attributes do not have the axes of the map");
  for (int i = 0; i < axes; i++) {
    w->before[i] = pads[i];
    w->after[i] = pads[axes + i];
  }
  return onnx_one_of(x, "auto_pad", ways) && is_small(x, w->kernel, axes, 1) &&
         is_small(x, w->stride, axes, 1) && is_small(x, w->dilate, axes, 1) &&
         is_small(x, pads, axes * 2, 0);
}

/* auto_pad: ceil(in / stride) outputs; an odd pad goes to the end or start. */
static void auto_pad(struct onnx *x, struct graph_window *w,
                     const struct graph_shape *map) {
  bool upper = onnx_is(x, "auto_pad", "SAME_UPPER", false);
  bool lower = onnx_is(x, "auto_pad", "SAME_LOWER", false);
  if (onnx_is(x, "auto_pad", "VALID", false))
    memset(w->before, 0, sizeof w->before),
        memset(w->after, 0, sizeof w->after);
  for (int i = 0; i < w->axes && (upper || lower); i++) {
    int64_t out = (map->size[i] + w->stride[i] - 1) / w->stride[i];
    int64_t all = (out - 1) * w->stride[i] + w->dilate[i] * (w->kernel[i] - 1) +
                  1 - map->size[i];
    all = all > 0 ? all : 0;
    w->before[i] = lower ? all - all / 2 : all / 2;
    w->after[i] = all - w->before[i];
  }
}

/* The axes of a layer, channels last. Maps of regions are one map, whose first
 * axis is the regions. */
static bool maps_last(struct onnx *x, const struct onnx_view *in,
                      struct onnx_view *map) {
  static const int order[] = {0, 2, 3, 1};
  if (in->at.rank != 4 || view_is_batch(x, in, 0))
    return view_channels_last(x, in, map);
  return view_rearrange(x, in, order, 4, map);
}

static bool is_of_regions(struct onnx *x, const struct onnx_view *map) {
  return graph_shape(x->graph, map->node)->rank == map->at.rank;
}

/* The file's rows and columns. */
static struct graph_shape rows_of(const struct onnx_view *in) {
  struct graph_shape shape = {.rank = in->at.rank - 2};
  for (int i = 0; i < shape.rank && i < LIMIT_RANK; i++)
    shape.size[i] = in->at.dim[2 + i];
  return shape;
}

/* A window covers one region. */
static void put_regions(struct graph_window *w) {
  for (int i = w->axes++; i > 0; i--) {
    w->kernel[i] = w->kernel[i - 1];
    w->stride[i] = w->stride[i - 1];
    w->dilate[i] = w->dilate[i - 1];
    w->before[i] = w->before[i - 1];
    w->after[i] = w->after[i - 1];
  }
  w->kernel[0] = w->stride[0] = w->dilate[0] = 1;
  w->before[0] = w->after[0] = 0;
}

/* The view of a map: batch, channels, rows, columns. */
static struct onnx_view map_view(struct onnx *x, int node,
                                 const struct onnx_view *in) {
  const struct graph_shape *shape = graph_shape(x->graph, node);
  int64_t dims[MOST_AXES] = {in->at.dim[0], shape->size[shape->rank - 1]};
  struct onnx_axes axes = {.count = 0};
  int first = shape->rank == in->at.rank;
  if (first)
    axes.order[axes.count++] = 0;
  for (int i = 2; i < in->at.rank; i++) {
    axes.order[axes.count++] = i;
    dims[i] = shape->size[i - 2 + first];
  }
  axes.order[axes.count++] = 1;
  return view_fresh(x, node, in->at.rank, dims, axes.order, axes.count);
}

static bool give_map(struct onnx *x, int node, const struct onnx_view *in) {
  struct onnx_view result = map_view(x, node, in);
  return onnx_give(x, 0, &result);
}

/* Zeros around a map become padding of the convolution that reads it. */
static int past_borders(struct onnx *x, int node, struct graph_window *w) {
  const struct extra *extra = onnx_extra(x, node);
  if (graph_at(x->graph, node)->word != WORD_PAD || !extra->borders ||
      w->axes != graph_shape(x->graph, node)->rank - 1)
    return node;
  for (int i = 0; i < w->axes; i++) {
    w->before[i] += extra->before[i];
    w->after[i] += extra->after[i];
  }
  return graph_at(x->graph, node)->inputs.at[0];
}

/* Adds a convolution's bias. */
static bool put_bias(struct onnx *x, struct graph_node *node,
                     int64_t channels) {
  node->bias = onnx_has(x, 2) ? BIAS_WITH : BIAS_WITHOUT;
  if (!onnx_has(x, 2))
    return true;
  struct constant *bias = onnx_constant(x, 2);
  if (!bias || bias->rank != 1 || bias->count != channels)
    return onnx_fail(x, "its bias is not a constant of %" PRId64 " channels",
                     channels);
  onnx_add_weight(x, node, "bias", bias);
  return true;
}

bool op_conv(struct onnx *x, const struct onnx_view *in) {
  struct constant *weight = onnx_constant(x, 1);
  struct onnx_view map;
  struct graph_window w;
  if (!weight || weight->rank != in->at.rank)
    return onnx_fail(x, "its weights are not a constant that fits the map");
  int64_t groups = onnx_int(x, "group", 1);
  int64_t channels = weight->dims[0];
  if (!maps_last(x, in, &map) ||
      !read_window(x, in->at.rank - 2, weight->dims + 2, &w))
    return false;
  struct graph_shape rows = rows_of(in);
  if (groups < 1 || channels < 1 || channels % groups != 0 ||
      weight->dims[1] > MOST_SIZE ||
      weight->dims[1] * groups != in->at.dim[1] ||
      memcmp(w.kernel, weight->dims + 2, (size_t)w.axes * sizeof *w.kernel) !=
          0)
    return onnx_fail(x,
                     "its weights, %s, do not fit %" PRId64 " channels in "
                     "%" PRId64 " groups",
                     graph_sizes(x->graph, weight->dims, weight->rank),
                     in->at.dim[1], groups);
  auto_pad(x, &w, &rows);
  if (is_of_regions(x, &map))
    put_regions(&w);
  int from = past_borders(x, map.node, &w);
  struct graph_node *node =
      window_conv(x->graph, from, in->at.dim[1], channels, groups, &w);
  if (!put_bias(x, node, channels))
    return false;
  onnx_add_weight(x, node, "weight", weight);
  node = onnx_unfold_norm(x, node, channels);
  return give_map(x, node->index, &map);
}

/* The padding with which a transposed convolution gives these sizes. */
static bool output_shape(struct onnx *x, struct graph_window *w,
                         const struct graph_shape *map, int64_t *outpad) {
  int64_t sizes[3];
  int count = onnx_ints(x, "output_shape", sizes, 3);
  bool upper = onnx_is(x, "auto_pad", "SAME_UPPER", false);
  bool lower = onnx_is(x, "auto_pad", "SAME_LOWER", false);
  if (count < 0 && !upper && !lower)
    return true;
  if (count >= 0 && count != w->axes)
    return onnx_fail(x, "`output_shape` does not have the axes of the map");
  for (int i = 0; i < w->axes; i++) {
    int64_t size = count < 0 ? map->size[i] * w->stride[i] : sizes[i];
    int64_t all = (map->size[i] - 1) * w->stride[i] + outpad[i] +
                  w->dilate[i] * (w->kernel[i] - 1) + 1 - size;
    if (size < 1 || all < 0)
      return onnx_fail(x, "its output is larger than its windows");
    w->before[i] = upper ? all / 2 : all - all / 2;
    w->after[i] = all - w->before[i];
  }
  return true;
}

bool op_deconv(struct onnx *x, const struct onnx_view *in) {
  struct constant *weight = onnx_constant(x, 1);
  struct onnx_view map;
  struct graph_window w;
  int64_t outpad[3] = {0};
  if (!weight || weight->rank != in->at.rank)
    return onnx_fail(x, "its weights are not a constant that fits the map");
  int64_t groups = onnx_int(x, "group", 1);
  struct graph_shape rows = rows_of(in);
  if (!maps_last(x, in, &map) ||
      !read_window(x, in->at.rank - 2, weight->dims + 2, &w) ||
      onnx_ints(x, "output_padding", outpad, 3) > w.axes ||
      !is_small(x, outpad, 3, 0) || !output_shape(x, &w, &rows, outpad))
    return false;
  if (is_of_regions(x, &map)) {
    put_regions(&w);
    memmove(outpad + 1, outpad, 2 * sizeof *outpad);
    outpad[0] = 0;
  }
  if (groups < 1 || groups > MOST_SIZE || weight->dims[0] != in->at.dim[1] ||
      weight->dims[1] > MOST_SIZE || in->at.dim[1] % groups != 0)
    return onnx_fail(x, "its weights do not fit the map");
  int64_t channels = weight->dims[1] * groups;
  struct graph_node *node =
      window_deconv(x->graph, map.node, channels, groups, &w, outpad);
  if (!put_bias(x, node, channels))
    return false;
  onnx_add_weight(x, node, "weight", weight);
  return give_map(x, node->index, &map);
}

bool op_pool(struct onnx *x, const struct onnx_view *in) {
  struct onnx_view map;
  struct graph_window w;
  bool mean = strcmp(x->at->type, "AveragePool") == 0;
  bool ceil = onnx_int(x, "ceil_mode", 0) != 0;
  if (!view_channels_last(x, in, &map) ||
      !read_window(x, in->at.rank - 2, NULL, &w))
    return false;
  if (x->at->out_count > 1 && x->at->outs[1] >= 0 &&
      x->values.at[x->at->outs[1]].uses > 0)
    return onnx_fail(x, "indices of maxima are not supported");
  int from = map.node;
  auto_pad(x, &w, graph_shape(x->graph, from));
  bool padded = false;
  for (int i = 0; i < w.axes; i++)
    padded = padded || w.before[i] || w.after[i];
  if (mean && padded && onnx_int(x, "count_include_pad", 0) == 0)
    graph_note(x->graph,
               "`%s` excludes its padding from the mean; netc counts it as "
               "zeros.",
               onnx_shown(x, x->at->name));
  struct graph_node *node =
      window_pool(x->graph, mean ? WORD_AVGPOOL : WORD_POOL, from, &w, false);
  bool rounds = false;
  for (int i = 0; i < w.axes; i++) {
    int64_t size = graph_shape(x->graph, from)->size[i];
    rounds =
        rounds || window_count_up(&w, i, size) != window_count(&w, i, size);
  }
  if (ceil && rounds)
    graph_flag(x->graph, node, "ceil");
  return give_map(x, node->index, &map);
}

/* A mean over as many windows as asked for, as nn.AdaptiveAvgPool2d takes it.
 * ONNX has no such operator: from_torch writes it. */
bool op_adaptive_pool(struct onnx *x, const struct onnx_view *in) {
  struct onnx_view map;
  int64_t sizes[3];
  if (!view_channels_last(x, in, &map))
    return false;
  int axes = graph_shape(x->graph, map.node)->rank - 1;
  if (axes > 3 || onnx_ints(x, "output_size", sizes, 3) != axes)
    return onnx_fail(x, "its `output_size` does not match the axes");
  struct graph_node *node = onnx_layer(x, WORD_ADAPTPOOL, map.node);
  for (int i = 0; i < axes; i++)
    if (sizes[i] < 1 || sizes[i] > MOST_SIZE)
      return onnx_fail(x, "one of its sizes is %" PRId64, sizes[i]);
  graph_flag(x->graph, node, graph_sizes(x->graph, sizes, axes));
  return give_map(x, node->index, &map);
}

/* Resize and Upsample. */

/* The operand with sizes or factors; NULL if it is not constant. */
static struct constant *asked(struct onnx *x, bool *sizes) {
  const Onnx__AttributeProto *given = onnx_attribute(x, "scales");
  bool old = x->opset < 11 || strcmp(x->at->type, "Upsample") == 0;
  struct constant *c = old ? NULL : onnx_constant(x, 3);
  *sizes = c && c->count > 0;
  if (*sizes || !given)
    return *sizes ? c : onnx_constant(x, old ? 1 : 2);
  int64_t count = (int64_t)given->n_floats;
  c = constant_new(x, TYPE_FLOAT, 1, &count);
  c->real = given->floats;
  return c;
}

/* The sizes of all axes, and the factors if the file gives them, else 0. */
static bool new_sizes(struct onnx *x, const struct onnx_view *in, int64_t *out,
                      double *by) {
  const Onnx__AttributeProto *axes = onnx_attribute(x, "axes");
  int rank = in->at.rank;
  bool sizes;
  struct constant *c = asked(x, &sizes);
  if (!c || !constant_load(x, c))
    return onnx_fail(x, "its sizes depend on the inputs");
  if (c->count != (axes ? (int64_t)axes->n_ints : rank))
    return onnx_fail(x, "its %" PRId64 " sizes do not match the axes",
                     c->count);
  for (int i = 0; i < rank; i++) {
    int64_t k = axes ? 0 : i;
    while (axes && k < c->count && axes->ints[k] != i &&
           axes->ints[k] != i - rank)
      k++;
    by[i] = k < c->count && !sizes ? constant_real(c, k) : 0;
    out[i] = k == c->count ? in->at.dim[i]
             : sizes       ? constant_whole(c, k)
             : by[i] > 0 && by[i] < 65536
                 ? (int64_t)floor((double)in->at.dim[i] * by[i])
                 : 0;
    if (out[i] < 1 || out[i] > MOST_SIZE)
      return onnx_fail(x, "one of its sizes is %" PRId64, out[i]);
    if (i < 2 && out[i] != in->at.dim[i])
      return onnx_fail(x, "only rows and columns can be resized");
  }
  return true;
}

/* netc has PyTorch's rules: nearest takes the pixel at floor(i / scale), linear
 * measures from pixel centres. `times`: an integer factor, or 0. */
static void note_rounding(struct onnx *x, bool linear, int64_t times,
                          bool stretched) {
  const char *name = "coordinate_transformation_mode";
  bool upsample = strcmp(x->at->type, "Upsample") == 0 || x->opset < 11;
  bool corner = upsample || onnx_is(x, name, "asymmetric", false);
  bool middle = !upsample && (onnx_is(x, name, "half_pixel", true) ||
                              onnx_is(x, name, "pytorch_half_pixel", false));
  bool down = upsample || onnx_is(x, "nearest_mode", "floor", false);
  bool nearest = onnx_is(x, "nearest_mode", "round_prefer_floor", true) ||
                 onnx_is(x, "nearest_mode", "round_prefer_ceil", false);
  bool same =
      linear ? middle
             : (corner && down) || (middle && nearest && times > 0) ||
                   (corner && times == 2 &&
                    onnx_is(x, "nearest_mode", "round_prefer_floor", true));
  if (!same || stretched)
    graph_note(x->graph,
               "`%s` samples at other points than `up`, which follows PyTorch.",
               onnx_shown(x, x->at->name));
}

bool op_resize(struct onnx *x, const struct onnx_view *in) {
  struct onnx_view map;
  int64_t out[MOST_AXES];
  double by[MOST_AXES];
  if (!view_channels_last(x, in, &map))
    return false;
  int axes = in->at.rank - 2;
  bool linear = onnx_is(x, "mode", "linear", false) ||
                onnx_is(x, "mode", "bilinear", false);
  if (axes < 1 || axes > 3 || (!linear && !onnx_is(x, "mode", "nearest", true)))
    return onnx_fail(x, "only `nearest` and `linear` are supported");
  if (!onnx_is(x, "keep_aspect_ratio_policy", "stretch", true))
    return onnx_fail(x, "only `stretch` sizes are supported");
  if (!new_sizes(x, in, out, by))
    return false;
  bool same = true;
  for (int i = 0; i < in->at.rank; i++)
    same = same && out[i] == in->at.dim[i] && !(by[i] > 1);
  if (same)
    return onnx_give(x, 0, in);
  struct graph_node *node = onnx_layer(x, WORD_UP, map.node);
  double first = (double)out[2] / (double)in->at.dim[2];
  bool whole = true, stretched = onnx_int(x, "antialias", 0) != 0;
  for (int i = 0; i < axes; i++) {
    int64_t size = in->at.dim[i + 2];
    double factor = (double)out[i + 2] / (double)size;
    stretched = stretched ||
                (out[i + 2] == 1 && size > 1 &&
                 onnx_is(x, "coordinate_transformation_mode",
                         "pytorch_half_pixel", false)) ||
                (by[i + 2] > 0 && fabs(factor - by[i + 2]) > 1e-6);
    whole = whole && out[i + 2] % size == 0 && factor == first;
  }
  note_rounding(x, linear, whole ? (int64_t)first : 0, stretched);
  if (whole)
    graph_int(x->graph, node, PART_OTHER, "", (int64_t)first);
  else
    graph_arg(x->graph, node, PART_OTHER,
              "size=", graph_sizes(x->graph, out + 2, axes));
  if (linear)
    graph_flag(x->graph, node, "bilinear");
  return give_map(x, node->index, &map);
}
