/* Caffe's layers with weights and windows: sizes rounded as Caffe rounds. */
#include <string.h>

#include "import/caffe/caffe.h"
#include "import/window.h"

/* Windows: `kernel_size`, twice for two sizes, or `kernel_h`, `kernel_w`. */

static void read_pair(struct caffe *c, const struct prototxt_field *message,
                      const char *both, const char *h, const char *w,
                      int64_t usual, int64_t least, int64_t pair[2]) {
  struct prototxt_field *first = prototxt_find(message, both);
  struct prototxt_field *second = first ? prototxt_again(first) : NULL;
  pair[0] = pair[1] = usual;
  if (first) {
    pair[0] = prototxt_value(c->graph, first, least, CAFFE_MOST);
    pair[1] =
        second ? prototxt_value(c->graph, second, least, CAFFE_MOST) : pair[0];
  }
  pair[0] = prototxt_int(c->graph, message, h, pair[0], least, CAFFE_MOST);
  pair[1] = prototxt_int(c->graph, message, w, pair[1], least, CAFFE_MOST);
}

static struct graph_window read_window(struct caffe *c,
                                       const struct prototxt_field *message) {
  struct graph_window w = {.axes = 2, .dilate = {1, 1}};
  read_pair(c, message, "kernel_size", "kernel_h", "kernel_w", 1, 1, w.kernel);
  read_pair(c, message, "stride", "stride_h", "stride_w", 1, 1, w.stride);
  read_pair(c, message, "pad", "pad_h", "pad_w", 0, 0, w.before);
  read_pair(c, message, "dilation", "dilation", "dilation", 1, 1, w.dilate);
  memcpy(w.after, w.before, sizeof w.after);
  return w;
}

static bool has_kernel(struct caffe *c, const struct prototxt_field *message) {
  return prototxt_find(message, "kernel_size") ||
         (prototxt_find(message, "kernel_h") &&
          prototxt_find(message, "kernel_w")) ||
         caffe_fail(c, "`kernel_size` is missing");
}

static bool fits(struct caffe *c, int64_t height, int64_t width) {
  if (height > 0 && width > 0)
    return true;
  caffe_fail(c, "its window is larger than the padded input");
  return window_help(c->graph);
}

/* The layer, with a bias of its outputs unless `bias_term` says no. */
static bool give_biased(struct caffe *c, struct graph_node *node,
                        const struct prototxt_field *p, int64_t out) {
  bool bias = prototxt_bool(p, "bias_term", true);
  node->bias = bias ? BIAS_WITH : BIAS_WITHOUT;
  if (bias)
    CAFFE_TENSOR(c, node, "bias", 1, out);
  return caffe_give(c, node);
}

static bool convolution(struct caffe *c, int64_t out, int64_t groups) {
  struct prototxt_field *p = caffe_param(c, "convolution_param");
  struct graph_window w = read_window(c, p);
  if (c->graph->failed || !caffe_is_map(c))
    return false;
  if (out == 0)
    return caffe_fail(c, "`num_output` is missing");
  if (!has_kernel(c, p))
    return false;
  const struct graph_shape *in = caffe_shape(c, c->at->bottoms[0]);
  int64_t channels = in->size[2];
  if (channels % groups != 0 || out % groups != 0)
    return caffe_fail(c, "`group` does not divide the channels");
  if (!fits(c, window_count(&w, 0, in->size[0]),
            window_count(&w, 1, in->size[1])))
    return false;
  struct graph_node *node =
      window_conv(c->graph, c->at->bottoms[0], channels, out, groups, &w);
  CAFFE_TENSOR(c, node, "weight", 0, out, channels / groups, w.kernel[0],
               w.kernel[1]);
  return give_biased(c, node, p, out);
}

bool caffe_convolution(struct caffe *c) {
  struct prototxt_field *p = caffe_param(c, "convolution_param");
  int64_t groups = prototxt_int(c->graph, p, "group", 1, 1, CAFFE_MOST);
  return convolution(
      c, prototxt_int(c->graph, p, "num_output", 0, 1, CAFFE_MOST), groups);
}

/*
 * conv_dw_layer.cpp (BVLC's pull request 5665): a kernel for each channel of
 * the bottom, whatever `group` and `num_output` say.
 */
bool caffe_depthwise(struct caffe *c) {
  if (!caffe_is_map(c))
    return false;
  int64_t channels = caffe_shape(c, c->at->bottoms[0])->size[2];
  return convolution(c, channels, channels);
}

/* Of other forks: a convolution whose `group` says it. */
bool caffe_grouped(struct caffe *c) {
  struct prototxt_field *p = caffe_param(c, "convolution_param");
  if (prototxt_find(p, "group"))
    return caffe_convolution(c);
  caffe_fail(c, "`group` is missing, and forks of Caffe differ in what it is "
                "then");
  return graph_help(c->graph,
                    "give `group` the number of channels, for a kernel each, "
                    "or the type Convolution, for all of them");
}

bool caffe_deconvolution(struct caffe *c) {
  struct prototxt_field *p = caffe_param(c, "convolution_param");
  int64_t out = prototxt_int(c->graph, p, "num_output", 0, 1, CAFFE_MOST);
  int64_t groups = prototxt_int(c->graph, p, "group", 1, 1, CAFFE_MOST);
  struct graph_window w = read_window(c, p);
  struct graph_node *node;
  if (c->graph->failed || !caffe_is_map(c))
    return false;
  if (out == 0)
    return caffe_fail(c, "`num_output` is missing");
  if (!has_kernel(c, p))
    return false;
  if (!window_deconv(c->graph, c->at->bottoms[0], out, groups, &w, NULL, &node))
    return fits(c, 0, 0);
  CAFFE_TENSOR(c, node, "weight", 0, caffe_shape(c, c->at->bottoms[0])->size[2],
               out / groups, w.kernel[0], w.kernel[1]);
  return give_biased(c, node, p, out);
}

/* Rounded up; only with padding a window has to begin inside it. */
static int64_t pooled(const struct graph_window *w, int axis, int64_t in,
                      bool down, bool padded) {
  int64_t out = window_count(w, axis, in);
  if (down || padded)
    return down ? out : window_count_up(w, axis, in);
  return out + (out > 0 && (in - w->kernel[axis]) % w->stride[axis] != 0);
}

bool caffe_pooling(struct caffe *c) {
  struct prototxt_field *p = caffe_param(c, "pooling_param");
  struct slice method = prototxt_text(p, "pool", "MAX");
  bool mean = slice_is(method, "AVE") || slice_is(method, "1");
  if (!mean && !slice_is(method, "MAX") && !slice_is(method, "0"))
    return caffe_fail(c, "netc has no equivalent of stochastic pooling");
  if (!caffe_is_map(c))
    return false;
  int input = c->at->bottoms[0];
  struct graph_shape in = *caffe_shape(c, input);
  if (prototxt_bool(p, "global_pooling", false)) {
    struct graph_node *node =
        graph_layer(c->graph, mean ? WORD_GAP : WORD_GMP, input);
    node->shape = (struct graph_shape){3, {1, 1, in.size[2]}};
    return caffe_give(c, node);
  }
  struct graph_window w = read_window(c, p);
  bool padded = w.before[0] || w.before[1];
  bool down = slice_is(prototxt_text(p, "round_mode", "CEIL"), "FLOOR") ||
              !prototxt_bool(p, "ceil_mode", true);
  if (c->graph->failed || !has_kernel(c, p))
    return false;
  int64_t height = pooled(&w, 0, in.size[0], down, padded);
  int64_t width = pooled(&w, 1, in.size[1], down, padded);
  bool ceil = height != window_count(&w, 0, in.size[0]) ||
              width != window_count(&w, 1, in.size[1]);
  if (!fits(c, height, width))
    return false;
  if (mean && w.kernel[0] == in.size[0] && w.kernel[1] == in.size[1] &&
      height == 1 && width == 1 && !padded) {
    struct graph_node *node = graph_layer(c->graph, WORD_GAP, input);
    node->shape = (struct graph_shape){3, {1, 1, in.size[2]}};
    return caffe_give(c, node);
  }
  struct graph_node *node =
      window_pool(c->graph, mean ? WORD_AVGPOOL : WORD_POOL, input, &w, ceil);
  node->shape = (struct graph_shape){3, {height, width, in.size[2]}};
  if (c->at->top_count > 1)
    caffe_set(c, 1, node->index); /* SegNet's mask */
  return caffe_give(c, node);
}

bool caffe_inner_product(struct caffe *c) {
  struct prototxt_field *p = caffe_param(c, "inner_product_param");
  int64_t out = prototxt_int(c->graph, p, "num_output", 0, 1, CAFFE_MOST);
  if (out == 0)
    return caffe_fail(c, "`num_output` is missing");
  const struct graph_shape *shape = caffe_shape(c, c->at->bottoms[0]);
  int64_t axis = prototxt_int(c->graph, p, "axis", 1, -8, 7);
  int64_t in = caffe_count(shape);
  if (axis != 1 && axis != -shape->rank)
    return caffe_fail(c, "only an `axis` of 1, all values of a sample, is "
                         "supported");
  struct graph_node *node = caffe_first(c, WORD_FC);
  graph_int(c->graph, node, PART_CHANNELS, "", out);
  node->shape = (struct graph_shape){1, {out}};
  if (prototxt_bool(p, "transpose", false) &&
      caffe_lacks_values(c, "the weights of `transpose: true` are not "
                            "converted"))
    return false;
  CAFFE_TENSOR(c, node, "weight", 0, out, in);
  return give_biased(c, node, p, out);
}

/* Every value a square of them: without a mask, of YOLO's forks. */
static bool enlarge(struct caffe *c) {
  int64_t by = prototxt_int(c->graph, caffe_param(c, "upsample_param"), "scale",
                            0, 1, CAFFE_MOST);
  struct graph_node *node = caffe_first(c, WORD_UP);
  if (by == 0)
    return caffe_fail(c, "it needs a `scale`, or the mask of a pool");
  graph_int(c->graph, node, PART_NONE, "", by);
  node->shape.size[0] *= by;
  node->shape.size[1] *= by;
  return caffe_give(c, node);
}

/* Values go back to where a pool found them, to the map that it read. */
bool caffe_upsample(struct caffe *c) {
  struct graph_node *pool =
      c->at->bottom_count == 2 ? graph_at(c->graph, c->at->bottoms[1]) : NULL;
  if (c->at->bottom_count == 1 && caffe_is_map(c))
    return enlarge(c);
  if (!pool || pool->word != WORD_POOL)
    return caffe_fail(c, "it needs the mask of a pool as second bottom");
  struct graph_node *node = caffe_first(c, WORD_UNPOOL);
  bool keeps = false;
  for (size_t i = 0; i < pool->args.count; i++)
    keeps = keeps || strcmp(pool->args.at[i].value, "indices") == 0;
  if (!keeps)
    graph_flag(c->graph, pool, "indices");
  struct graph_shape whole = *caffe_shape(c, pool->inputs.at[0]);
  node->key = "";
  node->keyed = pool->index;
  for (int i = 0; i < 2 && whole.rank == 3 && node->shape.rank == 3; i++)
    node->shape.size[i] = whole.size[i];
  return caffe_give(c, node);
}
