/* Operators with windows, with TensorFlow's rules for their sizes. */
#include <string.h>

#include "import/tflite/tflite.h"

enum { PADDING_SAME, PADDING_VALID };

/* Reads stride and dilation: width, then height. */
static bool read_steps(struct tflite *t, unsigned stride, unsigned dilation,
                       struct graph_window *w) {
  w->axes = 2;
  for (unsigned i = 0; i < 2; i++) {
    w->stride[i] = tflite_int(t, stride + 1 - i, 4, 0);
    w->dilate[i] = dilation ? tflite_int(t, dilation + 1 - i, 4, 1) : 1;
    if (w->stride[i] < 1 || w->stride[i] > TFLITE_MOST || w->dilate[i] < 1 ||
        w->dilate[i] > 1 << 20 || w->kernel[i] < 1 || w->kernel[i] > 1 << 20)
      return tflite_fail(t, "its window is not supported");
  }
  return true;
}

static bool read_padding(struct tflite *t, const struct tflite_tensor *in,
                         struct graph_window *w) {
  int64_t padding = tflite_int(t, 0, 1, PADDING_SAME);
  if (padding == PADDING_SAME)
    window_same(w, in->dims + 1);
  return padding == PADDING_SAME || padding == PADDING_VALID ||
         tflite_fail(t, "netc has no equivalent of its padding");
}

/* A map; NULL with an error if the operand is none. */
static struct tflite_tensor *take_map(struct tflite *t, uint64_t index) {
  struct tflite_tensor *in = tflite_value(t, index);
  if (in && in->rank != 4) {
    tflite_fail(t, "its input is not a map");
    return NULL;
  }
  return in;
}

/* Filters are O x H x W x I, depthwise ones 1 x H x W x O. */
bool tflite_conv(struct tflite *t) {
  static const int order[] = {0, 3, 1, 2}, by_channel[] = {3, 0, 1, 2};
  struct tflite_tensor *in = take_map(t, 0), *weight = tflite_weight(t, 1, 4);
  struct graph_window w = {0};
  bool depthwise = strcmp(t->word, "DEPTHWISE_CONV_2D") == 0;
  if (!in || !weight)
    return false;
  w.kernel[0] = weight->dims[1];
  w.kernel[1] = weight->dims[2];
  if (!read_steps(t, 1, depthwise ? 5 : 4, &w) || !read_padding(t, in, &w))
    return false;
  int64_t many = in->dims[3];
  int64_t channels = weight->dims[depthwise ? 3 : 0];
  int64_t each = weight->dims[depthwise ? 0 : 3];
  if (many % each != 0 || channels % (many / each) != 0 ||
      (depthwise && each != 1))
    return tflite_fail(t, "its weights do not fit the channels of its input");
  struct graph_node *node = window_conv(t->graph, tflite_exact(t, in), many,
                                        channels, many / each, &w);
  return tflite_take(t, node, "weight", weight,
                     depthwise ? by_channel : order) &&
         tflite_take_bias(t, node, "bias", 2, channels) &&
         tflite_give_active(t, node, tflite_int(t, depthwise ? 4 : 3, 1, 0));
}

/* Sets what is cut off or added at the end to give the map its stated size. */
static bool fit_map(struct tflite *t, const struct tflite_tensor *in,
                    const int64_t *size, struct graph_window *w,
                    int64_t *more) {
  for (int i = 0; i < 2; i++) {
    int64_t whole = (in->dims[i + 1] - 1) * w->stride[i] + w->kernel[i];
    int64_t cut = whole - size[i];
    more[i] = cut < 0 ? -cut : 0;
    w->before[i] = cut > 0 ? cut / 2 : 0;
    w->after[i] = cut > 0 ? cut - cut / 2 : 0;
    if (size[i] < 1 || more[i] >= w->stride[i] || cut >= whole)
      return tflite_fail(t, "its output shape does not fit its window");
  }
  return true;
}

/* True if the sizes in an operand are those of the output. If the operand is
 * computed or an input, only the output's sizes are known. */
static bool agrees(struct tflite *t, uint64_t index, const int64_t *sizes,
                   int most) {
  const struct tflite_tensor *tensor = tflite_in(t, index);
  int64_t stated[4];
  int count = 0;
  if (tensor && tensor->node < 0 && !tflite_is_constant(tensor)) {
    if (!tensor->sizes)
      graph_note(t->graph,
                 "the output size of `%.64s` is computed in the model; netc "
                 "uses the size in the file.",
                 t->name);
    return true;
  }
  if (!tflite_ints(t, index, "size", 4, stated, &count))
    return false;
  return (count == most &&
          memcmp(stated, sizes, (size_t)count * sizeof *sizes) == 0) ||
         tflite_fail(t, "its output does not have the size that it states");
}

/* Operands: the output's shape, filters O x H x W x I, the input. */
bool tflite_deconv(struct tflite *t) {
  static const int order[] = {3, 0, 1, 2};
  struct graph_window w = {0};
  int64_t more[3] = {0};
  struct tflite_tensor *weight = tflite_weight(t, 1, 4), *in = take_map(t, 2);
  struct tflite_tensor *out = tflite_out(t, 0);
  if (!weight || !in)
    return false;
  w.kernel[0] = weight->dims[1];
  w.kernel[1] = weight->dims[2];
  if (!read_steps(t, 1, 0, &w))
    return false;
  if (!out || out->rank != 4 || out->dims[3] != weight->dims[0] ||
      weight->dims[3] != in->dims[3])
    return tflite_fail(t, "its weights do not fit the channels of its input");
  if (!agrees(t, 0, out->dims, 4) || !fit_map(t, in, out->dims + 1, &w, more))
    return false;
  struct graph_node *node = window_deconv(t->graph, tflite_exact(t, in),
                                          weight->dims[0], 1, &w, more);
  return tflite_take(t, node, "weight", weight, order) &&
         tflite_take_bias(t, node, "bias", 3, weight->dims[0]) &&
         tflite_give_active(t, node, tflite_int(t, 3, 1, 0));
}

bool tflite_pool(struct tflite *t) {
  struct tflite_tensor *in = take_map(t, 0);
  struct graph_window w = {0};
  enum layer_word word = tflite_word(t);
  if (!in)
    return false;
  for (unsigned i = 0; i < 2; i++)
    w.kernel[i] = tflite_int(t, 4 - i, 4, 0);
  if (!read_steps(t, 1, 0, &w) || !read_padding(t, in, &w))
    return false;
  for (int i = 0; i < 2; i++)
    if (word == WORD_AVGPOOL && (w.before[i] || w.after[i]))
      graph_note(t->graph,
                 "`%.64s` leaves its padding out of the mean; here it counts "
                 "as zeros.",
                 t->name);
  struct graph_node *node =
      window_pool(t->graph, word, tflite_exact(t, in), &w, false);
  return tflite_give_active(t, node, tflite_int(t, 5, 1, 0));
}

/* The values of the border: PADV2's number, MIRROR_PAD's mode. */
static bool read_border(struct tflite *t, int64_t most, const char **border) {
  *border = NULL;
  if (strcmp(t->word, "PADV2") == 0) {
    struct tflite_tensor *with = tflite_in(t, 2);
    if (!tflite_is_constant(with) || with->node >= 0 || with->count != 1)
      return tflite_fail(t, "what it pads with is not one number");
    const float *value = tflite_reals(t, with);
    return value && ((*value <= 0 && *value >= 0) ||
                     tflite_fail(t, "only zeros around positions are "
                                    "supported"));
  }
  if (strcmp(t->word, "MIRROR_PAD") != 0)
    return true;
  /* SYMMETRIC repeats the border; at width 1 that is `replicate`. */
  bool symmetric = tflite_int(t, 0, 1, 0) != 0;
  *border = symmetric ? "replicate" : "reflect";
  return !symmetric || most <= 1 ||
         tflite_fail(t, "a border of more than 1 that repeats the outer values "
                        "is not supported");
}

/* Operand: both sides of each axis, the batch first. */
bool tflite_pad(struct tflite *t, const struct tflite_tensor *in) {
  int64_t sides[2 * LIMIT_RANK], before[LIMIT_RANK], after[LIMIT_RANK];
  int64_t most = 0;
  int count = 0;
  const char *border;
  if (!tflite_ints(t, 1, "padding", 2 * LIMIT_RANK, sides, &count))
    return false;
  bool fits = count == 2 * in->rank && in->rank > 2;
  for (int i = 0; fits && i < in->rank; i++) {
    before[i] = sides[2 * i];
    after[i] = sides[2 * i + 1];
    fits = before[i] >= 0 && after[i] >= 0 && before[i] <= TFLITE_MOST &&
           after[i] <= TFLITE_MOST && (i > 0 || before[i] + after[i] == 0);
    most = before[i] > most ? before[i] : most;
    most = after[i] > most ? after[i] : most;
  }
  if (!fits)
    return tflite_fail(t, "only zeros around positions are supported");
  if (!read_border(t, most, &border))
    return false;
  int last = in->rank - 1;
  bool channels = before[last] || after[last];
  if (channels && border)
    return tflite_fail(t, "only zeros are supported as further channels");
  struct graph_node *node = tflite_layer(t, WORD_PAD, tflite_exact(t, in));
  graph_arg(t->graph, node, PART_PADDING, "",
            graph_sides(t->graph, before + 1, after + 1, in->rank - 2));
  if (border)
    graph_flag(t->graph, node, border);
  if (channels)
    graph_arg(t->graph, node, PART_PADDING,
              "c=", graph_sides(t->graph, before + last, after + last, 1));
  return tflite_give(t, 0, node);
}

/* netc has PyTorch's rules: nearest takes the pixel at floor(i / scale),
 * bilinear measures from pixel centres. */
bool tflite_resize(struct tflite *t) {
  struct tflite_tensor *in = take_map(t, 0), *out = tflite_out(t, 0);
  bool smooth = strcmp(t->word, "RESIZE_BILINEAR") == 0;
  if (!in)
    return false;
  if (!out || out->rank != 4 || out->dims[3] != in->dims[3])
    return tflite_fail(t, "its size is not supported");
  const int64_t *to = out->dims + 1, *from = in->dims + 1;
  if (!agrees(t, 1, to, 2))
    return false;
  bool corners = tflite_int(t, smooth ? 2 : 0, 1, 0) != 0;
  bool middles = tflite_int(t, smooth ? 3 : 1, 1, 0) != 0;
  bool whole = to[0] % from[0] == 0 && to[1] % from[1] == 0;
  struct graph_node *node = tflite_layer(t, WORD_UP, tflite_exact(t, in));
  if (whole && to[0] / from[0] == to[1] / from[1])
    graph_int(t->graph, node, PART_OTHER, "", to[0] / from[0]);
  else
    graph_arg(t->graph, node, PART_OTHER,
              "size=", graph_sizes(t->graph, to, 2));
  if (smooth)
    graph_flag(t->graph, node, "bilinear");
  if (corners || (smooth ? !middles : middles && !whole))
    graph_note(t->graph,
               "`%.64s` takes values from other places than `up`, which has "
               "PyTorch's rules.",
               t->name);
  return tflite_give(t, 0, node);
}
