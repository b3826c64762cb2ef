/* Keras' layers with windows: sizes and padding as TensorFlow has them. */
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "import/keras/keras.h"

/* The axes of positions that the class's name says, as `Conv2D`. */
static bool take_axes(struct keras_call *call, int *axes) {
  size_t length = strcspn(call->type, "123");
  int stated = call->type[length] ? call->type[length] - '0' : 0;
  *axes = keras_spatial(call);
  if (stated != *axes)
    return keras_fail(call, "its input has %d axes of positions",
                      *axes < 0 ? 0 : *axes);
  if (*axes + call->keras->lead > 3)
    return keras_fail(
        call, "netc has no equivalent of windows over more than 3 axes");
  return true;
}

/* The same where these are all, outside TimeDistributed. */
static bool take_own_axes(struct keras_call *call, int *axes) {
  return take_axes(call, axes) &&
         (call->keras->lead == 0 ||
          keras_fail(call, "it is not supported in TimeDistributed"));
}

/* Axes of TimeDistributed's steps come first; windows have size 1 there. */
static bool read_sizes(struct keras_call *call, const char *key, int64_t usual,
                       int axes, int64_t *sizes) {
  int lead = call->keras->lead;
  for (int i = 0; i < lead; i++)
    sizes[i] = 1;
  return keras_ints(call, key, usual, 1, axes, sizes + lead);
}

/* What `padding` says, for maps of the input's size. */
static bool read_padding(struct keras_call *call, struct graph_window *w) {
  const struct keras_tensor *in = &call->inputs[0];
  const char *padding = keras_string(call->config, "padding", "valid");
  memcpy(w->before, in->before, sizeof w->before);
  memcpy(w->after, in->after, sizeof w->after);
  if (strcmp(padding, "valid") == 0)
    return true;
  if (strcmp(padding, "causal") == 0 && w->axes == 1) {
    w->before[0] += w->dilate[0] * (w->kernel[0] - 1);
    return true;
  }
  if (strcmp(padding, "same") != 0)
    return keras_fail(call, "netc has no equivalent of the padding `%.32s`",
                      padding);
  window_same(w, in->shape.size);
  return true;
}

static bool read_window(struct keras_call *call, const char *kernel,
                        const char *dilation, bool own_stride,
                        struct graph_window *w) {
  int axes;
  *w = (struct graph_window){0};
  if (strcmp(kernel, "kernel_size") == 0 && !keras_member(call->config, kernel))
    return keras_fail(call, "`kernel_size` is missing");
  if (!take_axes(call, &axes) || !read_sizes(call, kernel, 2, axes, w->kernel))
    return false;
  w->axes = axes + call->keras->lead;
  memcpy(w->stride, w->kernel, sizeof w->stride);
  if ((!own_stride || keras_member(call->config, "strides")) &&
      !read_sizes(call, "strides", 1, axes, w->stride))
    return false;
  for (int i = 0; i < 3; i++)
    w->dilate[i] = 1;
  if (dilation && !read_sizes(call, dilation, 1, axes, w->dilate))
    return false;
  return read_padding(call, w);
}

static bool fits(struct keras_call *call, const struct graph_window *w,
                 const struct graph_shape *in, struct graph_shape *out) {
  *out = *in;
  for (int i = 0; i < w->axes; i++) {
    out->size[i] = window_count(w, i, in->size[i]);
    if (out->size[i] < 1)
      return keras_fail(call, "its window is larger than the padded input");
  }
  return true;
}

static bool take_bias(struct keras_call *call, struct graph_node *node,
                      int64_t channels) {
  node->bias = keras_bool(call, "use_bias", true) ? BIAS_WITH : BIAS_WITHOUT;
  return node->bias == BIAS_WITHOUT ||
         keras_take_vector(call, node, "bias", channels);
}

/*
 * A kernel's axes, then two more, which come first in PyTorch; `turned`: in
 * the other order.
 */
static bool take_kernel(struct keras_call *call, struct graph_node *node,
                        const int64_t *kernel, int axes, int64_t a, int64_t b,
                        bool turned) {
  struct graph_shape shape = {.rank = axes + 2};
  int order[5] = {axes + turned, axes + !turned};
  for (int i = 0; i < axes; i++) {
    shape.size[i] = kernel[i];
    order[i + 2] = i;
  }
  shape.size[axes] = a;
  shape.size[axes + 1] = b;
  return keras_take(call, node, "weight", &shape, order);
}

/* A convolution of the call's first input. */
static struct graph_node *convolve(struct keras_call *call,
                                   const struct graph_window *w,
                                   int64_t channels, int64_t groups,
                                   struct graph_shape *out) {
  const struct graph_shape *in = &call->inputs[0].shape;
  int64_t many = in->size[in->rank - 1];
  if (many % groups != 0 || channels % groups != 0) {
    keras_fail(call, "`groups` does not divide the channels");
    return NULL;
  }
  if (!fits(call, w, in, out))
    return NULL;
  out->size[out->rank - 1] = channels;
  struct graph_node *node =
      window_conv(call->graph, keras_exact(call, &call->inputs[0]), many,
                  channels, groups, w);
  node->shape = *out;
  return node;
}

static bool convolution(struct keras_call *call) {
  struct graph_window w;
  struct graph_shape out;
  int64_t filters = keras_int(call, "filters", 0, 1, KERAS_MOST);
  int64_t groups = keras_int(call, "groups", 1, 1, KERAS_MOST);
  if (!read_window(call, "kernel_size", "dilation_rate", false, &w) ||
      call->graph->failed)
    return false;
  if (filters == 0)
    return keras_fail(call, "`filters` is missing");
  struct graph_node *node = convolve(call, &w, filters, groups, &out);
  const struct graph_shape *in = &call->inputs[0].shape;
  int lead = call->keras->lead;
  return node &&
         take_kernel(call, node, w.kernel + lead, w.axes - lead,
                     in->size[in->rank - 1] / groups, filters, true) &&
         take_bias(call, node, filters) && keras_give_active(call, node, &out);
}

static bool depthwise_node(struct keras_call *call, struct graph_node **node,
                           struct graph_shape *out) {
  struct graph_window w;
  const struct graph_shape *in = &call->inputs[0].shape;
  int64_t times = keras_int(call, "depth_multiplier", 1, 1, 1 << 20);
  if (!read_window(call, "kernel_size", "dilation_rate", false, &w) ||
      call->graph->failed)
    return false;
  int64_t channels = in->size[in->rank - 1];
  if (channels > KERAS_MOST)
    return keras_fail(call, "its input has too many channels");
  int lead = call->keras->lead;
  *node = convolve(call, &w, channels * times, channels, out);
  return *node && take_kernel(call, *node, w.kernel + lead, w.axes - lead,
                              channels, times, false);
}

static bool depthwise(struct keras_call *call) {
  struct graph_node *node;
  struct graph_shape out;
  return depthwise_node(call, &node, &out) &&
         take_bias(call, node, out.size[out.rank - 1]) &&
         keras_give_active(call, node, &out);
}

/* A depthwise one without a bias, then one of 1x1. */
static bool separable(struct keras_call *call) {
  struct graph_node *node;
  struct graph_shape out;
  int64_t filters = keras_int(call, "filters", 0, 1, KERAS_MOST);
  if (!depthwise_node(call, &node, &out))
    return false;
  if (filters == 0)
    return keras_fail(call, "`filters` is missing");
  node->bias = BIAS_WITHOUT;
  struct graph_window one = window_square(out.rank - 1, 1, 1);
  node = window_conv(call->graph, node->index, out.size[out.rank - 1], filters,
                     1, &one);
  static const int64_t point[3] = {1, 1, 1};
  int64_t channels = out.size[out.rank - 1];
  out.size[out.rank - 1] = filters;
  return take_kernel(call, node, point, keras_spatial(call), channels, filters,
                     true) &&
         take_bias(call, node, filters) && keras_give_active(call, node, &out);
}

/* What is cut off at an axis, so that the map has Keras' size. */
static void transposed_padding(struct graph_window *w, int axis, bool same,
                               const int64_t *outpad, int64_t *more) {
  int64_t reach = w->dilate[axis] * (w->kernel[axis] - 1) + 1;
  int64_t step = w->stride[axis], pads = 0;
  *more = 0;
  if (outpad) {
    pads = same ? w->kernel[axis] / 2 * 2 : 0;
    *more = outpad[axis];
  } else if (reach < step) {
    *more = step - reach;
  } else if (same) {
    pads = reach - step;
  }
  w->before[axis] = pads / 2;
  w->after[axis] = pads - pads / 2;
}

static bool transposed(struct keras_call *call) {
  struct graph_window w;
  int64_t filters = keras_int(call, "filters", 0, 1, KERAS_MOST);
  int64_t groups = keras_int(call, "groups", 1, 1, KERAS_MOST);
  int64_t more[3] = {0}, outpad[3] = {0};
  bool given = keras_member(call->config, "output_padding");
  if (!read_window(call, "kernel_size", "dilation_rate", false, &w) ||
      !keras_ints(call, "output_padding", 0, 0, w.axes - call->keras->lead,
                  outpad + call->keras->lead) ||
      call->graph->failed)
    return false;
  if (filters == 0 || call->keras->lead > 0)
    return keras_fail(
        call, "it needs `filters`, and is not supported in TimeDistributed");
  const int64_t *in = call->inputs[0].shape.size;
  bool same =
      strcmp(keras_string(call->config, "padding", "valid"), "same") == 0;
  for (int i = 0; i < w.axes; i++) {
    transposed_padding(&w, i, same, given ? outpad : NULL, &more[i]);
    if (in[i] > KERAS_MOST)
      return keras_fail(call, "its input is too large");
  }
  int64_t channels = in[call->inputs[0].shape.rank - 1];
  struct graph_node *node;
  if (!window_deconv(call->graph, keras_exact(call, call->inputs), filters,
                     groups, &w, more, &node))
    return keras_fail(call, "nothing of its output is left");
  const struct graph_shape out = node->shape;
  return take_kernel(call, node, w.kernel, w.axes, filters, channels / groups,
                     true) &&
         take_bias(call, node, filters) && keras_give_active(call, node, &out);
}

static bool locally(struct keras_call *call) {
  struct graph_window w;
  struct graph_shape out;
  struct graph *g = call->graph;
  static const int64_t steps[3] = {1, 1, 1};
  int64_t filters = keras_int(call, "filters", 0, 1, KERAS_MOST);
  if (!read_window(call, "kernel_size", NULL, false, &w) || g->failed ||
      !fits(call, &w, &call->inputs[0].shape, &out))
    return false;
  if (filters == 0 || call->keras->lead > 0 || w.tf)
    return keras_fail(call, "it needs `filters`, no SAME at strides, and is "
                            "not supported in TimeDistributed");
  out.size[out.rank - 1] = filters;
  struct graph_node *node =
      keras_node(call, WORD_LOCAL, keras_exact(call, &call->inputs[0]));
  graph_int(g, node, PART_CHANNELS, "", filters);
  graph_arg(g, node, PART_KERNEL, "", graph_sizes(g, w.kernel, w.axes));
  window_stride(g, node, &w, steps);
  graph_padding(g, node, w.axes, w.kernel, w.dilate, w.before, w.after);
  int64_t places = 1, in = call->inputs[0].shape.size[w.axes];
  for (int i = 0; i < w.axes; i++)
    places = mul_i64(places, out.size[i], &places) ? places : INT64_MAX;
  bool bias = keras_bool(call, "use_bias", true);
  node->bias = bias ? BIAS_WITH : BIAS_WITHOUT;
  GRAPH_TENSOR(node, places, in, w.kernel[0], w.axes > 1 ? w.kernel[1] : 1,
               filters);
  if (bias)
    GRAPH_TENSOR(node, places, filters);
  return keras_leave_values(call) && keras_give_active(call, node, &out);
}

/* Pools. */

static bool pooling(struct keras_call *call) {
  struct graph_window w;
  struct graph_shape out;
  bool mean = strncmp(call->type, "Average", 7) == 0;
  if (!read_window(call, "pool_size", NULL, true, &w) ||
      !fits(call, &w, &call->inputs[0].shape, &out))
    return false;
  struct graph_node *node =
      window_pool(call->graph, mean ? WORD_AVGPOOL : WORD_POOL,
                  keras_exact(call, &call->inputs[0]), &w, false);
  return keras_give_node(call, node, &out);
}

/* A vector in Keras, a map of one pixel in netc. */
static bool global_pooling(struct keras_call *call) {
  const struct graph_shape *in = &call->inputs[0].shape;
  bool mean = strstr(call->type, "Average");
  int lead = call->keras->lead, axes = keras_spatial(call);
  int input = keras_exact(call, &call->inputs[0]);
  bool keep = keras_bool(call, "keepdims", false);
  if (axes < 1)
    return keras_fail(call, "its input has no positions");
  struct graph_shape out = {.rank = lead + (keep ? axes : 0) + 1};
  struct graph_shape one = *in;
  for (int i = 0; i < axes; i++)
    one.size[lead + i] = 1;
  memcpy(out.size, in->size, (size_t)lead * sizeof *out.size);
  for (int i = lead; i < out.rank; i++)
    out.size[i] = 1;
  out.size[out.rank - 1] = in->size[in->rank - 1];
  if (lead == 0) {
    struct graph_node *node =
        keras_node(call, mean ? WORD_GAP : WORD_GMP, input);
    node->shape = one;
    return keras_give(call, node->index, &out);
  }
  struct graph_node *node =
      keras_node(call, mean ? WORD_MEAN : WORD_MAX, input);
  for (int i = lead; i < lead + axes; i++)
    graph_arg(call->graph, node, PART_NONE,
              "axis=", graph_text(call->graph, "%d", i));
  if (keep)
    graph_flag(call->graph, node, "keep");
  return keras_give_node(call, node, &out);
}

static bool adaptive_pooling(struct keras_call *call) {
  struct graph_shape out = call->inputs[0].shape;
  int axes;
  bool mean = strstr(call->type, "Average");
  if (!take_own_axes(call, &axes) ||
      !keras_ints(call, "output_size", 1, 1, axes, out.size))
    return false;
  struct graph_node *node =
      keras_node(call, mean ? WORD_ADAPTPOOL : WORD_ADAPTMAXPOOL,
                 keras_exact(call, &call->inputs[0]));
  graph_arg(call->graph, node, PART_KERNEL, "",
            graph_sizes(call->graph, out.size, axes));
  return keras_give_node(call, node, &out);
}

/* Borders. */

/* `padding` and `cropping`: one number, one an axis, or two an axis. */
static bool read_sides(struct keras_call *call, const char *key, int axes,
                       int64_t usual, int64_t *before, int64_t *after) {
  const json_t *value = keras_member(call->config, key);
  size_t count = json_array_size(value);
  bool pair = axes == 1 && count == 2; /* of the one axis */
  for (int i = 0; i < axes; i++) {
    const json_t *item = pair || !json_is_array(value)
                             ? value
                             : json_array_get(value, (size_t)i);
    before[i] = after[i] = usual;
    if (!value)
      continue;
    if ((json_is_array(value) && !pair && count != (size_t)axes) ||
        (json_is_array(item) && json_array_size(item) != 2))
      return keras_fail(call, "`%s` needs a number for each side", key);
    const json_t *low = json_is_array(item) ? json_array_get(item, 0) : item;
    const json_t *high = json_is_array(item) ? json_array_get(item, 1) : item;
    if (!keras_integer(call, low, key, 0, KERAS_MOST, &before[i]) ||
        !keras_integer(call, high, key, 0, KERAS_MOST, &after[i]))
      return false;
  }
  return true;
}

/* The next convolution takes the zeros as its padding. */
static bool is_taken_by_user(const struct keras_call *call) {
  static const char *const types[] = {
      "Conv1D",          "Conv2D",          "Conv3D",         "DepthwiseConv1D",
      "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D"};
  if (!call->user_type || call->keras->lead > 0 ||
      strcmp(keras_string(call->user_config, "padding", "valid"), "valid") != 0)
    return false;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i], call->user_type) == 0)
      return true;
  return false;
}

/* Of values that are not below 0 the largest is the same. */
static bool is_taken_by_pool(const struct keras_call *call) {
  enum layer_word word = graph_at(call->graph, call->inputs[0].node)->word;
  return call->user_type && call->keras->lead == 0 &&
         strncmp(call->user_type, "MaxPooling", 10) == 0 &&
         strcmp(keras_string(call->user_config, "padding", "valid"), "valid") ==
             0 &&
         (word == WORD_RELU || word == WORD_RELU6);
}

static bool zero_padding(struct keras_call *call) {
  struct keras_tensor out = {.padded = true};
  struct graph *g = call->graph;
  struct text text = text_new(g->arena);
  int axes;
  if (!take_own_axes(call, &axes))
    return false;
  if (!read_sides(call, "padding", axes, 1, out.before, out.after))
    return false;
  out.shape = call->inputs[0].shape;
  out.node = keras_exact(call, &call->inputs[0]);
  if (is_taken_by_user(call) || is_taken_by_pool(call)) {
    *VEC_PUSH(g->arena, &call->outputs) = out;
    return true;
  }
  struct graph_node *node = keras_node(call, WORD_PAD, out.node);
  for (int i = 0; i < axes; i++) {
    out.shape.size[i] += out.before[i] + out.after[i];
    text_put(&text, i ? "x" : "");
    text_printf(&text, "%" PRId64 ":%" PRId64, out.before[i], out.after[i]);
  }
  text_putc(&text, '\0');
  bool even = true;
  for (int i = 0; i < axes; i++)
    even =
        even && out.before[i] == out.before[0] && out.after[i] == out.before[0];
  if (even)
    graph_int(g, node, PART_PADDING, "", out.before[0]);
  else
    graph_arg(g, node, PART_PADDING, "", text.at);
  node->shape = out.shape;
  return keras_give(call, node->index, &out.shape);
}

static bool cropping(struct keras_call *call) {
  int64_t before[3], after[3];
  struct graph_shape out = call->inputs[0].shape;
  int axes, node;
  bool middle = true;
  if (!take_own_axes(call, &axes))
    return false;
  if (!read_sides(call, "cropping", axes, axes == 1 ? 1 : 0, before, after))
    return false;
  for (int i = 0; i < axes; i++) {
    if (before[i] + after[i] >= out.size[i])
      return keras_fail(call, "it leaves nothing of its input");
    middle = middle && before[i] == after[i];
    out.size[i] -= before[i] + after[i];
  }
  node = keras_exact(call, &call->inputs[0]);
  if (middle && axes == 2) {
    struct graph_node *crop = keras_node(call, WORD_CROP, node);
    graph_arg(call->graph, crop, PART_OTHER, "",
              graph_sizes(call->graph, out.size, axes));
    return keras_give_node(call, crop, &out);
  }
  for (int i = 0; i < axes; i++)
    node = keras_part(call, node, i, before[i], before[i] + out.size[i]);
  return keras_give(call, node, &out);
}

static bool center_crop(struct keras_call *call) {
  struct graph_shape out = call->inputs[0].shape;
  int64_t height = keras_int(call, "height", 0, 1, KERAS_MOST);
  int64_t width = keras_int(call, "width", 0, 1, KERAS_MOST);
  if (out.rank != 3 || height == 0 || width == 0 || height > out.size[0] ||
      width > out.size[1])
    return keras_fail(call, "it needs a map of at least its size");
  out.size[0] = height;
  out.size[1] = width;
  struct graph_node *crop =
      keras_node(call, WORD_CROP, keras_exact(call, &call->inputs[0]));
  graph_arg(call->graph, crop, PART_OTHER, "",
            graph_sizes(call->graph, out.size, 2));
  return keras_give_node(call, crop, &out);
}

/* Sizes. */

static bool put_mode(struct keras_call *call, struct graph_node *node) {
  const char *mode = keras_string(call->config, "interpolation", "nearest");
  if (strcmp(call->type, "Resizing") == 0)
    mode = keras_string(call->config, "interpolation", "bilinear");
  if (strcmp(mode, "nearest") != 0 && strcmp(mode, "bilinear") != 0)
    return keras_fail(
        call, "netc has no equivalent of the interpolation `%.32s`", mode);
  if (strcmp(mode, "bilinear") == 0)
    graph_flag(call->graph, node, "bilinear");
  return true;
}

static bool upsampling(struct keras_call *call) {
  struct graph_shape out = call->inputs[0].shape;
  int64_t by[3] = {1, 1, 1};
  int axes;
  bool even = true;
  if (!take_axes(call, &axes) ||
      !keras_ints(call, "size", 2, 1, axes, by + call->keras->lead))
    return false;
  for (int i = 0; i < call->keras->lead + axes; i++) {
    if (out.size[i] > KERAS_MOST)
      return keras_fail(call, "its input is too large");
    out.size[i] *= by[i];
    even = even && by[i] == by[0];
  }
  struct graph_node *node =
      keras_node(call, WORD_UP, keras_exact(call, &call->inputs[0]));
  graph_arg(call->graph, node, PART_OTHER, "",
            graph_sizes(call->graph, by, even ? 1 : call->keras->lead + axes));
  node->shape = out;
  return put_mode(call, node) && keras_give(call, node->index, &out);
}

static bool resizing(struct keras_call *call) {
  struct graph_shape out = call->inputs[0].shape;
  int64_t height = keras_int(call, "height", 0, 1, KERAS_MOST);
  int64_t width = keras_int(call, "width", 0, 1, KERAS_MOST);
  if (out.rank != 3 || height == 0 || width == 0)
    return keras_fail(call, "it needs a map, `height` and `width`");
  static const char *const kept[] = {"crop_to_aspect_ratio",
                                     "pad_to_aspect_ratio"};
  for (int i = 0; i < 2; i++)
    if (keras_bool(call, kept[i], false) &&
        out.size[0] * width != out.size[1] * height)
      return keras_fail(call, "netc has no equivalent of `%s`", kept[i]);
  out.size[0] = height;
  out.size[1] = width;
  struct graph_node *node =
      keras_node(call, WORD_UP, keras_exact(call, &call->inputs[0]));
  graph_arg(call->graph, node, PART_OTHER,
            "size=", graph_sizes(call->graph, out.size, 2));
  node->shape = out;
  return put_mode(call, node) && keras_give(call, node->index, &out);
}

/* A class for maps of each number of axes. */
#define BY_AXES(name, end, add, ...)                                          \
  {name "1D" end, add, {__VA_ARGS__}}, {name "2D" end, add, {__VA_ARGS__}}, { \
    name "3D" end, add, {                                                     \
      __VA_ARGS__                                                             \
    }                                                                         \
  }

static const struct keras_row rows[] = {
    BY_AXES("Conv", "", convolution, WORD_CONV),
    BY_AXES("Conv", "Transpose", transposed, WORD_DECONV),
    {"DepthwiseConv1D", depthwise, {WORD_DWCONV}},
    {"DepthwiseConv2D", depthwise, {WORD_DWCONV}},
    {"SeparableConv1D", separable, {WORD_DWCONV, WORD_CONV}},
    {"SeparableConv2D", separable, {WORD_DWCONV, WORD_CONV}},
    {"LocallyConnected1D", locally, {WORD_LOCAL}},
    {"LocallyConnected2D", locally, {WORD_LOCAL}},
    BY_AXES("MaxPooling", "", pooling, WORD_POOL),
    BY_AXES("AveragePooling", "", pooling, WORD_AVGPOOL),
    BY_AXES("GlobalAveragePooling", "", global_pooling, WORD_GAP, WORD_MEAN),
    BY_AXES("GlobalMaxPooling", "", global_pooling, WORD_GMP, WORD_MAX),
    BY_AXES("AdaptiveAveragePooling", "", adaptive_pooling, WORD_ADAPTPOOL),
    BY_AXES("AdaptiveMaxPooling", "", adaptive_pooling, WORD_ADAPTMAXPOOL),
    BY_AXES("ZeroPadding", "", zero_padding, WORD_PAD),
    BY_AXES("Cropping", "", cropping, WORD_CROP, WORD_SLICE),
    {"CenterCrop", center_crop, {WORD_CROP}},
    BY_AXES("UpSampling", "", upsampling, WORD_UP),
    {"Resizing", resizing, {WORD_UP}},
};

const struct keras_rows keras_window_rows = {rows, sizeof rows / sizeof *rows};
