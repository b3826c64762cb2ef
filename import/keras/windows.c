/* Keras' layers with windows, with TensorFlow's rules for sizes and padding. */
#include <string.h>

#include "import/keras/keras.h"

bool keras_axes(struct keras_call *call, int *axes) {
  size_t length = strcspn(call->type, "123");
  int stated = call->type[length] ? call->type[length] - '0' : 0;
  *axes = keras_spatial(call);
  if (stated != *axes)
    return keras_fail(call, "its input has %d spatial axes",
                      *axes < 0 ? 0 : *axes);
  if (*axes + call->keras->lead > 3)
    return keras_fail(
        call, "netc has no equivalent of windows over more than 3 axes");
  return true;
}

bool keras_own_axes(struct keras_call *call, int *axes) {
  return keras_axes(call, axes) &&
         (call->keras->lead == 0 ||
          keras_fail(call, "it is not supported in TimeDistributed"));
}

/* TimeDistributed's steps are axes in front, where windows have size 1. */
static bool read_sizes(struct keras_call *call, const char *key, int64_t usual,
                       int axes, int64_t *sizes) {
  int lead = call->keras->lead;
  for (int i = 0; i < lead; i++)
    sizes[i] = 1;
  return keras_ints(call, key, usual, 1, axes, sizes + lead);
}

/* Sets the padding of `padding` for the input's size. */
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
  if (!keras_axes(call, &axes) || !read_sizes(call, kernel, 2, axes, w->kernel))
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

static bool take_bias(struct keras_call *call, struct graph_node *node,
                      int64_t channels) {
  node->bias = keras_bool(call, "use_bias", true) ? BIAS_WITH : BIAS_WITHOUT;
  return node->bias == BIAS_WITHOUT ||
         keras_take_vector(call, node, "bias", channels);
}

/* Takes a kernel: spatial axes, then two more, which come first in PyTorch;
 * `turned` swaps these two. */
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

/* Adds a convolution of the call's first input. */
static struct graph_node *convolve(struct keras_call *call,
                                   const struct graph_window *w,
                                   int64_t channels, int64_t groups) {
  const struct graph_shape *in = &call->inputs[0].shape;
  int64_t many = in->size[in->rank - 1];
  if (many % groups != 0 || channels % groups != 0) {
    keras_fail(call, "`groups` does not divide the channels");
    return NULL;
  }
  return window_conv(call->graph, keras_exact(call, &call->inputs[0]), many,
                     channels, groups, w);
}

bool keras_convolution(struct keras_call *call) {
  struct graph_window w;
  int64_t filters = keras_int(call, "filters", 0, 1, KERAS_MOST);
  int64_t groups = keras_int(call, "groups", 1, 1, KERAS_MOST);
  if (!read_window(call, "kernel_size", "dilation_rate", false, &w) ||
      call->graph->failed)
    return false;
  if (filters == 0)
    return keras_fail(call, "`filters` is missing");
  struct graph_node *node = convolve(call, &w, filters, groups);
  const struct graph_shape *in = &call->inputs[0].shape;
  int lead = call->keras->lead;
  return node &&
         take_kernel(call, node, w.kernel + lead, w.axes - lead,
                     in->size[in->rank - 1] / groups, filters, true) &&
         take_bias(call, node, filters) && keras_give_active(call, node->index);
}

/* Adds a node of `out` channels. */
static bool depthwise_node(struct keras_call *call, struct graph_node **node,
                           int64_t *out) {
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
  *out = channels * times;
  *node = convolve(call, &w, *out, channels);
  return *node && take_kernel(call, *node, w.kernel + lead, w.axes - lead,
                              channels, times, false);
}

bool keras_depthwise(struct keras_call *call) {
  struct graph_node *node;
  int64_t channels;
  return depthwise_node(call, &node, &channels) &&
         take_bias(call, node, channels) &&
         keras_give_active(call, node->index);
}

/* A depthwise convolution without a bias, then a 1x1 convolution. */
bool keras_separable(struct keras_call *call) {
  static const int64_t point[3] = {1, 1, 1};
  struct graph_node *node;
  int64_t channels, filters = keras_int(call, "filters", 0, 1, KERAS_MOST);
  if (!depthwise_node(call, &node, &channels))
    return false;
  if (filters == 0)
    return keras_fail(call, "`filters` is missing");
  node->bias = BIAS_WITHOUT;
  struct graph_window one = window_square(call->inputs[0].shape.rank - 1, 1, 1);
  node = window_conv(call->graph, node->index, channels, filters, 1, &one);
  return take_kernel(call, node, point, keras_spatial(call), channels, filters,
                     true) &&
         take_bias(call, node, filters) && keras_give_active(call, node->index);
}

/* The padding at an axis with which the map has Keras' size. */
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

bool keras_transposed(struct keras_call *call) {
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
  const struct graph_shape *in = &call->inputs[0].shape;
  bool same =
      strcmp(keras_string(call->config, "padding", "valid"), "same") == 0;
  for (int i = 0; i < w.axes; i++)
    transposed_padding(&w, i, same, given ? outpad : NULL, &more[i]);
  struct graph_node *node = window_deconv(
      call->graph, keras_exact(call, call->inputs), filters, groups, &w, more);
  return take_kernel(call, node, w.kernel, w.axes, filters,
                     in->size[in->rank - 1] / groups, true) &&
         take_bias(call, node, filters) && keras_give_active(call, node->index);
}

bool keras_locally(struct keras_call *call) {
  struct graph_window w;
  struct graph *g = call->graph;
  static const int64_t steps[3] = {1, 1, 1};
  int64_t filters = keras_int(call, "filters", 0, 1, KERAS_MOST);
  if (!read_window(call, "kernel_size", NULL, false, &w) || g->failed)
    return false;
  if (filters == 0 || call->keras->lead > 0 || w.tf)
    return keras_fail(call, "it needs `filters`, does not support SAME with "
                            "strides, and is not supported in TimeDistributed");
  struct graph_node *node =
      keras_node(call, WORD_LOCAL, keras_exact(call, &call->inputs[0]));
  graph_int(g, node, PART_CHANNELS, "", filters);
  graph_arg(g, node, PART_KERNEL, "", graph_sizes(g, w.kernel, w.axes));
  window_stride(g, node, &w, steps);
  graph_padding(g, node, w.axes, w.kernel, w.dilate, w.before, w.after);
  int64_t in = call->inputs[0].shape.size[w.axes];
  int64_t places =
      graph_count(graph_shape(g, node->index)->size, (size_t)w.axes);
  bool bias = keras_bool(call, "use_bias", true);
  node->bias = bias ? BIAS_WITH : BIAS_WITHOUT;
  GRAPH_TENSOR(node, places, in, w.kernel[0], w.axes > 1 ? w.kernel[1] : 1,
               filters);
  if (bias)
    GRAPH_TENSOR(node, places, filters);
  return keras_leave_values(call) && keras_give_active(call, node->index);
}

/* Pools. */

bool keras_pooling(struct keras_call *call) {
  struct graph_window w;
  bool mean = strncmp(call->type, "Average", 7) == 0;
  if (!read_window(call, "pool_size", NULL, true, &w))
    return false;
  struct graph_node *node =
      window_pool(call->graph, mean ? WORD_AVGPOOL : WORD_POOL,
                  keras_exact(call, &call->inputs[0]), &w, false);
  return keras_give(call, node->index);
}

/* The result is a vector in Keras, a map of one pixel in netc. */
bool keras_global_pooling(struct keras_call *call) {
  bool mean = strstr(call->type, "Average");
  int lead = call->keras->lead, axes = keras_spatial(call);
  int input = keras_exact(call, &call->inputs[0]);
  bool keep = keras_bool(call, "keepdims", false);
  if (axes < 1)
    return keras_fail(call, "its input has no spatial axes");
  if (lead == 0) {
    int node = keras_node(call, mean ? WORD_GAP : WORD_GMP, input)->index;
    return keep ? keras_give(call, node) : keras_give_vector(call, node);
  }
  bool over[LIMIT_RANK] = {false};
  for (int i = lead; i < lead + axes; i++)
    over[i] = true;
  return keras_give(call, graph_reduce(call->graph, mean ? WORD_MEAN : WORD_MAX,
                                       input, over, keep)
                              ->index);
}

bool keras_adaptive_pooling(struct keras_call *call) {
  int64_t sizes[3];
  int axes;
  bool mean = strstr(call->type, "Average");
  if (!keras_own_axes(call, &axes) ||
      !keras_ints(call, "output_size", 1, 1, axes, sizes))
    return false;
  struct graph_node *node =
      keras_node(call, mean ? WORD_ADAPTPOOL : WORD_ADAPTMAXPOOL,
                 keras_exact(call, &call->inputs[0]));
  graph_arg(call->graph, node, PART_KERNEL, "",
            graph_sizes(call->graph, sizes, axes));
  return keras_give(call, node->index);
}
