/* Convolutions and pools: kernel, stride, padding and dilation as text. */
#include "import/window.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"

struct graph_window window_square(int axes, int64_t kernel, int64_t stride) {
  struct graph_window w = {.axes = axes};
  for (int i = 0; i < axes; i++) {
    w.kernel[i] = kernel;
    w.stride[i] = stride;
    w.dilate[i] = 1;
  }
  return w;
}

/* The only input, if it is an image; else a shape of rank 0. */
static struct graph_shape only_picture(const struct graph *graph) {
  struct graph_shape found = {0};
  for (size_t i = 0; i < graph->nodes.count; i++) {
    const struct graph_node *node = graph->nodes.at[i];
    if (node->word != WORD_INPUT)
      continue;
    if (found.rank || node->shape.rank != 3)
      return (struct graph_shape){0};
    found = node->shape;
  }
  return found;
}

bool window_help(struct graph *graph) {
  graph->error.input = only_picture(graph);
  return graph_help(graph, "a larger input: --input HEIGHTxWIDTHxCHANNELS");
}

/* The product of the strides from the input to the smallest map so far. */
static int64_t total_stride(struct graph *graph) {
  size_t count = graph->nodes.count;
  int64_t *strides = arena_alloc(graph->arena, count + 1, sizeof *strides);
  int64_t most = 1;
  for (size_t i = 0; i < count; i++) {
    const struct graph_node *node = graph->nodes.at[i];
    const struct graph_shape *out = &node->shape;
    strides[i] = 1;
    if (!node->inputs.count)
      continue;
    int from = node->inputs.at[0];
    const struct graph_shape *in = &graph_at(graph, from)->shape;
    int64_t rows = out->size[0], before = in->size[0];
    strides[i] = strides[from];
    if (out->rank != 3 || in->rank != 3 || rows < 2 || before < 1)
      continue;
    if (rows > before)
      strides[i] = max_i64(1, strides[from] * before / rows);
    else if (!mul_i64(strides[from], (before + rows / 2) / rows, &strides[i]))
      strides[i] = strides[from];
    most = max_i64(most, strides[i]);
  }
  return most;
}

bool window_meet_help(struct graph *graph, const char *otherwise) {
  struct graph_shape in = only_picture(graph);
  int64_t stride = in.rank ? total_stride(graph) : 1;
  int64_t sides[3] = {0};
  if (stride > in.size[0] || stride > in.size[1])
    stride = 1;
  for (int i = 0; i < in.rank; i++)
    sides[i] = i < 2 ? ceil_div_i64(in.size[i], stride) * stride : in.size[i];
  if (in.rank && (sides[0] != in.size[0] || sides[1] != in.size[1]))
    return graph_help(graph,
                      "sides that are multiples of %" PRId64
                      " can be halved and enlarged again: `--input %s`",
                      stride, graph_sizes(graph, sides, in.rank));
  return graph_help(graph, "%s", otherwise);
}

int64_t window_count(const struct graph_window *w, int axis, int64_t in) {
  int64_t reach = w->dilate[axis] * (w->kernel[axis] - 1) + 1;
  int64_t whole = in + w->before[axis] + w->after[axis];
  return whole < reach ? 0 : (whole - reach) / w->stride[axis] + 1;
}

int64_t window_count_up(const struct graph_window *w, int axis, int64_t in) {
  int64_t out = window_count(w, axis, in), step = w->stride[axis];
  int64_t reach = w->dilate[axis] * (w->kernel[axis] - 1) + 1;
  int64_t whole = in + w->before[axis] + w->after[axis];
  bool cut = out > 0 && (whole - reach) % step != 0;
  return out + (cut && out * step < in + w->before[axis]);
}

void window_same(struct graph_window *w, const int64_t *in) {
  for (int i = 0; i < w->axes; i++) {
    int64_t step = w->stride[i], last = (in[i] - 1) / step * step;
    int64_t pads = last + w->dilate[i] * (w->kernel[i] - 1) + 1 - in[i];
    pads = pads > 0 ? pads : 0;
    w->tf = w->tf || (step > 1 && pads > 0);
    w->before[i] = pads / 2;
    w->after[i] = pads - pads / 2;
  }
}

static bool is_even(const int64_t *sizes, int axes) {
  for (int i = 1; i < axes; i++)
    if (sizes[i] != sizes[0])
      return false;
  return true;
}

void window_stride(struct graph *graph, struct graph_node *node,
                   const struct graph_window *w, const int64_t *usual) {
  if (is_even(w->stride, w->axes) && is_even(usual, w->axes))
    graph_option(graph, node, PART_STRIDE, "/", w->stride[0], usual[0]);
  else if (memcmp(w->stride, usual, (size_t)w->axes * sizeof *usual) != 0)
    graph_arg(graph, node, PART_NONE, "/",
              graph_sizes(graph, w->stride, w->axes));
}

static void put_dilation(struct graph *graph, struct graph_node *node,
                         const struct graph_window *w) {
  static const int64_t none[3] = {1, 1, 1};
  if (is_even(w->dilate, w->axes))
    graph_option(graph, node, PART_DILATION, "dilate=", w->dilate[0], 1);
  else if (memcmp(w->dilate, none, (size_t)w->axes * sizeof *none) != 0)
    graph_arg(graph, node, PART_NONE,
              "dilate=", graph_sizes(graph, w->dilate, w->axes));
}

static void put_padding(struct graph *graph, struct graph_node *node,
                        const struct graph_window *w) {
  if (w->tf)
    graph_arg(graph, node, PART_NONE, "pad=", "tf");
  else
    graph_padding(graph, node, w->axes, w->kernel, w->dilate, w->before,
                  w->after);
}

struct graph_node *window_conv(struct graph *graph, int input,
                               int64_t in_channels, int64_t channels,
                               int64_t groups, const struct graph_window *w) {
  static const int64_t steps[3] = {1, 1, 1};
  bool by_channel =
      groups > 1 && groups == in_channels && channels % in_channels == 0;
  struct graph_node *node =
      graph_layer(graph, by_channel ? WORD_DWCONV : WORD_CONV, input);
  if (!by_channel)
    graph_int(graph, node, PART_CHANNELS, "", channels);
  graph_arg(graph, node, PART_KERNEL, "",
            graph_sizes(graph, w->kernel, w->axes));
  window_stride(graph, node, w, steps);
  put_padding(graph, node, w);
  put_dilation(graph, node, w);
  if (by_channel)
    graph_option(graph, node, PART_OTHER, "mult=", channels / in_channels, 1);
  else
    graph_option(graph, node, PART_GROUPS, "groups=", groups, 1);
  return node;
}

/* The padding of `deconv` is cut off the output's sides. */
static void put_cut(struct graph *graph, struct graph_node *node,
                    const struct graph_window *w) {
  bool even = is_even(w->before, w->axes) && is_even(w->after, w->axes);
  for (int i = 0; i < w->axes; i++)
    if (w->before[i] || w->after[i]) {
      graph_arg(graph, node, PART_PADDING, "pad=",
                graph_sides(graph, w->before, w->after, even ? 1 : w->axes));
      return;
    }
}

/* Writes the sizes of all axes if one of them is not `usual`. */
static void put_sizes(struct graph *graph, struct graph_node *node,
                      const char *key, const int64_t *sizes, int axes,
                      int64_t usual) {
  for (int i = 0; i < axes; i++)
    if (sizes[i] != usual) {
      graph_arg(graph, node, PART_NONE, key, graph_sizes(graph, sizes, axes));
      return;
    }
}

struct graph_node *window_deconv(struct graph *graph, int input,
                                 int64_t channels, int64_t groups,
                                 const struct graph_window *w,
                                 const int64_t *more) {
  static const int64_t ones[3] = {1, 1, 1}, none[3] = {0};
  struct graph_node *node = graph_layer(graph, WORD_DECONV, input);
  more = more ? more : none;
  graph_int(graph, node, PART_CHANNELS, "", channels);
  graph_arg(graph, node, PART_KERNEL, "",
            graph_sizes(graph, w->kernel, w->axes));
  window_stride(graph, node, w, ones);
  put_cut(graph, node, w);
  put_sizes(graph, node, "dilate=", w->dilate, w->axes, 1);
  put_sizes(graph, node, "outpad=", more, w->axes, 0);
  graph_option(graph, node, PART_GROUPS, "groups=", groups, 1);
  return node;
}

struct graph_node *window_pool(struct graph *graph, enum layer_word word,
                               int input, const struct graph_window *w,
                               bool ceil) {
  struct graph_node *node = graph_layer(graph, word, input);
  graph_arg(graph, node, PART_KERNEL, "",
            graph_sizes(graph, w->kernel, w->axes));
  window_stride(graph, node, w, w->kernel);
  put_padding(graph, node, w);
  if (ceil)
    graph_arg(graph, node, PART_NONE, "", "ceil");
  put_dilation(graph, node, w);
  return node;
}
