/* Caffe's layers with weights or windows; sizes are rounded as Caffe does. */
#include <inttypes.h>
#include <string.h>

#include "import/caffe/caffe.h"
#include "import/window.h"

/* Windows: `kernel_size`, once or twice, or `kernel_h` and `kernel_w`. */

static void read_pair(struct caffe *c, const char *both, const char *h,
                      const char *w, int64_t least, int64_t pair[2]) {
  const struct prototxt_field *first = prototxt_find(c->params, both);
  const struct prototxt_field *second = first ? prototxt_again(first) : NULL;
  pair[0] = first ? prototxt_value(c->graph, first, least, CAFFE_MOST) : least;
  pair[1] =
      second ? prototxt_value(c->graph, second, least, CAFFE_MOST) : pair[0];
  pair[0] = caffe_int(c, h, pair[0], least);
  pair[1] = caffe_int(c, w, pair[1], least);
}

/* False with an error if a number is wrong or the kernel is missing. */
static bool read_window(struct caffe *c, struct graph_window *w) {
  *w = window_square(2, 1, 1);
  read_pair(c, "kernel_size", "kernel_h", "kernel_w", 1, w->kernel);
  read_pair(c, "stride", "stride_h", "stride_w", 1, w->stride);
  read_pair(c, "pad", "pad_h", "pad_w", 0, w->before);
  read_pair(c, "dilation", "dilation", "dilation", 1, w->dilate);
  memcpy(w->after, w->before, sizeof w->after);
  if (!prototxt_find(c->params, "kernel_size") &&
      !(prototxt_find(c->params, "kernel_h") &&
        prototxt_find(c->params, "kernel_w")))
    caffe_fail(c, "`kernel_size` is missing");
  return !c->graph->failed;
}

/* Gives the layer, with `out` biases unless `bias_term` is false. */
static bool give_biased(struct caffe *c, struct graph_node *node, int64_t out) {
  bool bias = caffe_bool(c, "bias_term", true);
  node->bias = bias ? BIAS_WITH : BIAS_WITHOUT;
  if (bias)
    CAFFE_TENSOR(c, node, "bias", 1, out);
  return caffe_give(c, node);
}

static int64_t outputs_of(struct caffe *c) {
  int64_t out = caffe_int(c, "num_output", 0, 1);
  if (out == 0)
    caffe_fail(c, "`num_output` is missing");
  return out;
}

static bool convolution(struct caffe *c, int64_t out, int64_t groups) {
  int64_t in = caffe_channels(c);
  struct graph_window w;
  if (!read_window(c, &w))
    return false;
  if (in % groups != 0 || out % groups != 0)
    return caffe_fail(
        c, graph_text(c->graph,
                      "`group` of %" PRId64 " does not divide %" PRId64 " "
                      "input channels, or `num_output` of %" PRId64,
                      groups, in, out));
  struct graph_node *node = window_conv(c->graph, c->in, in, out, groups, &w);
  CAFFE_TENSOR(c, node, "weight", 0, out, in / groups, w.kernel[0],
               w.kernel[1]);
  return give_biased(c, node, out);
}

bool caffe_convolution(struct caffe *c) {
  return convolution(c, outputs_of(c), caffe_int(c, "group", 1, 1));
}

/* conv_dw_layer.cpp (BVLC's pull request 5665) has one kernel for each channel
 * of the bottom and ignores `group` and `num_output`. */
bool caffe_depthwise(struct caffe *c) {
  return convolution(c, caffe_channels(c), caffe_channels(c));
}

/* In other forks it is a convolution that needs `group`. */
bool caffe_grouped(struct caffe *c) {
  if (prototxt_find(c->params, "group"))
    return caffe_convolution(c);
  caffe_fail(c,
             "`group` is missing, and forks of Caffe have different defaults");
  return graph_help(c->graph,
                    "set `group` to the number of channels for one kernel "
                    "each, or use the type Convolution for kernels over all "
                    "channels");
}

bool caffe_deconvolution(struct caffe *c) {
  int64_t out = outputs_of(c), groups = caffe_int(c, "group", 1, 1);
  struct graph_window w;
  if (!read_window(c, &w))
    return false;
  struct graph_node *node =
      window_deconv(c->graph, c->in, out, groups, &w, NULL);
  CAFFE_TENSOR(c, node, "weight", 0, caffe_channels(c), out / groups,
               w.kernel[0], w.kernel[1]);
  return give_biased(c, node, out);
}

/* True if the size is rounded up. The last window must begin inside the padded
 * input only if there is padding. */
static bool is_cut(const struct graph_window *w, int axis, int64_t in) {
  int64_t out = window_count(w, axis, in);
  if (w->before[0] || w->before[1])
    return window_count_up(w, axis, in) != out;
  return out > 0 && (in - w->kernel[axis]) % w->stride[axis] != 0;
}

bool caffe_pooling(struct caffe *c) {
  bool mean = caffe_is(c, "pool", "AVE", "1");
  if (!mean && prototxt_find(c->params, "pool") &&
      !caffe_is(c, "pool", "MAX", "0"))
    return caffe_fail(c, "netc has no equivalent of stochastic pooling");
  if (caffe_bool(c, "global_pooling", false))
    return caffe_give(c, caffe_first(c, mean ? WORD_GAP : WORD_GMP));
  const int64_t *in = caffe_shape(c)->size;
  struct graph_window w;
  if (!read_window(c, &w))
    return false;
  if (mean && w.kernel[0] == in[0] && w.kernel[1] == in[1] && !w.before[0] &&
      !w.before[1])
    return caffe_give(c, caffe_first(c, WORD_GAP));
  bool down = caffe_is(c, "round_mode", "FLOOR", "FLOOR") ||
              !caffe_bool(c, "ceil_mode", true);
  struct graph_node *node =
      window_pool(c->graph, mean ? WORD_AVGPOOL : WORD_POOL, c->in, &w,
                  !down && (is_cut(&w, 0, in[0]) || is_cut(&w, 1, in[1])));
  if (c->at->top_count > 1)
    caffe_set(c, 1, node->index); /* SegNet's mask */
  return caffe_give(c, node);
}

bool caffe_inner_product(struct caffe *c) {
  int64_t out = outputs_of(c);
  const struct graph_shape *in = caffe_shape(c);
  if (!caffe_is_by_channel(c))
    return caffe_fail(c, "only an `axis` of 1, all values of a sample, is "
                         "supported");
  if (caffe_bool(c, "transpose", false) &&
      caffe_lacks_values(c, "the weights of `transpose: true` are not "
                            "converted"))
    return false;
  struct graph_node *node = caffe_first(c, WORD_FC);
  graph_int(c->graph, node, PART_CHANNELS, "", out);
  CAFFE_TENSOR(c, node, "weight", 0, out,
               graph_count(in->size, (size_t)in->rank));
  return give_biased(c, node, out);
}

/* Repeats every value as a square. YOLO's forks do this without a mask. */
static bool enlarge(struct caffe *c) {
  struct graph_node *node = caffe_first(c, WORD_UP);
  int64_t by = caffe_int(c, "scale", 0, 1);
  if (by == 0)
    return caffe_fail(c, "it needs a `scale`, or the mask of a pool");
  graph_int(c->graph, node, PART_NONE, "", by);
  return caffe_give(c, node);
}

/* Puts values back where a pool found them, in a map like the pool's input. */
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
  node->key = "";
  node->keyed = pool->index;
  return caffe_give(c, node);
}
