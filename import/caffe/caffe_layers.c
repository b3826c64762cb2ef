/*
 * Caffe's layer types: what each is in netc, and the shape that Caffe gives
 * it (src/caffe/layers). One row a type.
 */
#include <inttypes.h>
#include <string.h>

#include "import/caffe/caffe.h"

struct graph_node *caffe_node(struct caffe *c, int index) {
  return c->graph->nodes.at[index];
}

const struct graph_shape *caffe_shape(struct caffe *c, int index) {
  return &caffe_node(c, index)->shape;
}

struct graph_node *caffe_dress(const struct caffe_layer *l,
                               struct graph_node *node) {
  node->name = l->name;
  node->kind = l->type;
  node->line = l->line;
  return node;
}

/* A layer of netc on the first bottom, for now with its shape. */
struct graph_node *caffe_layer_on(struct caffe *c, const struct caffe_layer *l,
                                  enum layer_word word, int input) {
  struct graph_node *node = caffe_dress(l, graph_layer(c->graph, word, input));
  node->shape = *caffe_shape(c, input);
  return node;
}

bool caffe_give(struct caffe *c, const struct caffe_layer *l, int node) {
  caffe_set(c, l, 0, node);
  return !c->graph->failed;
}

bool caffe_fail(struct caffe *c, const struct caffe_layer *l,
                const char *what) {
  return graph_fail(c->graph, l->line, "`%s` (%s): %s", l->name, l->type, what);
}

const char *caffe_number(struct caffe *c, double value) {
  struct text text = text_new(c->graph->arena);
  text_real(&text, value);
  text_putc(&text, '\0');
  return text.at;
}

struct prototxt_field *caffe_param(const struct caffe_layer *l,
                                   const char *name) {
  return prototxt_find(l->message, name);
}

bool caffe_is_map(struct caffe *c, const struct caffe_layer *l) {
  return caffe_shape(c, l->bottoms[0])->rank == 3 ||
         caffe_fail(
             c, l,
             "only maps of channels, height and width are supported here");
}

/* Activations and others value by value. */

static bool plain(struct caffe *c, const struct caffe_layer *l,
                  enum layer_word word) {
  return caffe_give(c, l, caffe_layer_on(c, l, word, l->bottoms[0])->index);
}

static bool with_real(struct caffe *c, const struct caffe_layer *l,
                      enum layer_word word, double value, double usual) {
  struct graph_node *node = caffe_layer_on(c, l, word, l->bottoms[0]);
  graph_arg(c->graph, node, PART_NONE, "", caffe_number(c, value));
  node->args.at[0].usual = caffe_number(c, usual);
  return caffe_give(c, l, node->index);
}

static bool relu(struct caffe *c, const struct caffe_layer *l) {
  double slope = prototxt_real(c->graph, caffe_param(l, "relu_param"),
                               "negative_slope", 0);
  return slope == 0 ? plain(c, l, WORD_RELU)
                    : with_real(c, l, WORD_LEAKY, slope, 0.01);
}

static bool elu(struct caffe *c, const struct caffe_layer *l) {
  double alpha =
      prototxt_real(c->graph, caffe_param(l, "elu_param"), "alpha", 1);
  return with_real(c, l, WORD_ELU, alpha, 1);
}

static bool prelu(struct caffe *c, const struct caffe_layer *l) {
  if (prototxt_bool(caffe_param(l, "prelu_param"), "channel_shared", false))
    return caffe_fail(c, l,
                      "netc has no equivalent of one slope for all channels");
  return plain(c, l, WORD_PRELU);
}

static bool dropout(struct caffe *c, const struct caffe_layer *l) {
  double p = prototxt_real(c->graph, caffe_param(l, "dropout_param"),
                           "dropout_ratio", 0.5);
  if (!(p >= 0 && p < 1))
    return caffe_fail(c, l,
                      "`dropout_ratio` must be at least 0 and less than 1");
  return with_real(c, l, WORD_DROPOUT, p, 0.5);
}

static bool is_channel_axis(struct caffe *c, const struct caffe_layer *l,
                            const struct prototxt_field *p) {
  int64_t axis = prototxt_int(c->graph, p, "axis", 1, -8, 7);
  int rank = caffe_shape(c, l->bottoms[0])->rank;
  return axis == 1 || axis == -rank;
}

static bool softmax(struct caffe *c, const struct caffe_layer *l) {
  struct prototxt_field *p = caffe_param(l, "softmax_param");
  if (caffe_shape(c, l->bottoms[0])->rank == 2 &&
      prototxt_int(c->graph, p, "axis", 1, -8, 7) == 2)
    return caffe_turned_softmax(c, l);
  if (!is_channel_axis(c, l, caffe_param(l, "softmax_param")))
    return caffe_fail(c, l, "only a softmax over channels is supported");
  return plain(c, l, WORD_SOFTMAX);
}

/* One value a channel as a map of one pixel. */
static int as_pixel(struct caffe *c, const struct caffe_layer *l, int input) {
  if (caffe_shape(c, input)->rank != 1)
    return input;
  struct graph_node *node = caffe_layer_on(c, l, WORD_RESHAPE, input);
  graph_arg(c->graph, node, PART_NONE, "", "1x1x_");
  node->name = graph_text(c->graph, "%s_pixel", l->name);
  node->shape = (struct graph_shape){3, {1, 1, caffe_shape(c, input)->size[0]}};
  return node->index;
}

static struct graph_node *join(struct caffe *c, const struct caffe_layer *l,
                               enum layer_word word, int a, int b) {
  struct graph_node *node = caffe_dress(l, graph_join(c->graph, word));
  graph_operand(c->graph, node, a);
  graph_operand(c->graph, node, b);
  node->shape = *caffe_shape(c, a);
  return node;
}

static bool scale(struct caffe *c, const struct caffe_layer *l) {
  struct prototxt_field *p = caffe_param(l, "scale_param");
  bool bias = prototxt_bool(p, "bias_term", false);
  struct graph_node *before = caffe_node(c, l->bottoms[0]);
  if (l->bottom_count == 2) {
    int by = caffe_shape(c, l->bottoms[0])->rank == 3
                 ? as_pixel(c, l, l->bottoms[1])
                 : l->bottoms[1];
    return caffe_give(c, l, join(c, l, WORD_MUL, l->bottoms[0], by)->index);
  }
  if (!is_channel_axis(c, l, p))
    return caffe_fail(c, l, "only a scale by channel is supported");
  if (bias && before->word == WORD_BN &&
      strcmp(before->args.at[0].value, "noaffine") == 0 &&
      before->index + 1 == (int)c->graph->nodes.count) {
    before->args.at[0].usual = "noaffine";
    before->name = l->name;
    return caffe_give(c, l, before->index);
  }
  struct graph_node *node = caffe_layer_on(c, l, WORD_SCALE, l->bottoms[0]);
  if (bias)
    graph_arg(c->graph, node, PART_NONE, "", "bias");
  return caffe_give(c, l, node->index);
}

/* Joins. */

static bool same_shapes(struct caffe *c, const struct caffe_layer *l) {
  const struct graph_shape *first = caffe_shape(c, l->bottoms[0]);
  for (size_t i = 1; i < l->bottom_count; i++) {
    const struct graph_shape *other = caffe_shape(c, l->bottoms[i]);
    if (other->rank != first->rank ||
        memcmp(other->size, first->size,
               (size_t)first->rank * sizeof *first->size) != 0)
      return caffe_fail(c, l, "its bottoms have different shapes");
  }
  return true;
}

/* The bottoms with their factors (`coeff`). */
static bool add_weighted(struct caffe *c, const struct caffe_layer *l) {
  struct prototxt_field *f =
      prototxt_find(caffe_param(l, "eltwise_param"), "coeff");
  int terms[64];
  if (l->bottom_count > sizeof terms / sizeof *terms)
    return caffe_fail(c, l, "it has more than 64 bottoms");
  for (size_t i = 0; i < l->bottom_count; i++) {
    struct prototxt_field one = {.name = slice_of("x"), .inside = f};
    double factor = f ? prototxt_real(c->graph, &one, "coeff", 1) : 1;
    terms[i] = l->bottoms[i];
    if (factor < 1 || factor > 1) {
      struct graph_node *scaled = caffe_layer_on(c, l, WORD_MUL, l->bottoms[i]);
      scaled->name = graph_text(c->graph, "%s_scaled", l->name);
      graph_arg(c->graph, scaled, PART_NONE, "", caffe_number(c, factor));
      terms[i] = scaled->index;
    }
    f = f ? prototxt_again(f) : NULL;
  }
  struct graph_node *sum = caffe_dress(l, graph_join(c->graph, WORD_ADD));
  for (size_t i = 0; i < l->bottom_count; i++)
    graph_operand(c->graph, sum, terms[i]);
  sum->shape = *caffe_shape(c, l->bottoms[0]);
  return caffe_give(c, l, sum->index);
}

static bool eltwise(struct caffe *c, const struct caffe_layer *l) {
  struct slice how =
      prototxt_text(caffe_param(l, "eltwise_param"), "operation", "SUM");
  bool product = slice_is(how, "PROD") || slice_is(how, "0");
  bool most = slice_is(how, "MAX") || slice_is(how, "2");
  if (l->bottom_count < 2)
    return caffe_fail(c, l, "it needs two bottoms");
  if (!same_shapes(c, l))
    return false;
  if (!product && !most)
    return add_weighted(c, l);
  struct graph_node *node =
      caffe_dress(l, graph_join(c->graph, product ? WORD_MUL : WORD_MAX));
  for (size_t i = 0; i < l->bottom_count; i++)
    graph_operand(c->graph, node, l->bottoms[i]);
  node->shape = *caffe_shape(c, l->bottoms[0]);
  return caffe_give(c, l, node->index);
}

/* Axis 1 of N x C x H x W is netc's last, axis 2 its first; -1: the batch. */
static int netc_axis(const struct graph_shape *shape, int64_t axis) {
  if (axis < 0)
    axis += shape->rank + 1;
  return axis < 1 || axis > shape->rank ? -1
         : axis == 1                    ? shape->rank - 1
                                        : (int)axis - 2;
}

static const char *axis_name(struct caffe *c, const struct graph_shape *shape,
                             int axis) {
  if (axis == shape->rank - 1)
    return "c";
  return graph_text(c->graph, "%d", axis);
}

static bool concat(struct caffe *c, const struct caffe_layer *l) {
  struct prototxt_field *p = caffe_param(l, "concat_param");
  int64_t given =
      prototxt_int(c->graph, p, "axis",
                   prototxt_int(c->graph, p, "concat_dim", 1, 0, 7), -8, 7);
  struct graph_shape shape = *caffe_shape(c, l->bottoms[0]);
  int axis = netc_axis(&shape, given);
  if (axis < 0)
    return caffe_fail(c, l, "samples of a batch cannot be joined");
  if (l->bottom_count == 1)
    return caffe_give(c, l, l->bottoms[0]);
  struct graph_node *node = caffe_dress(l, graph_join(c->graph, WORD_CONCAT));
  shape.size[axis] = 0;
  for (size_t i = 0; i < l->bottom_count; i++) {
    const struct graph_shape *other = caffe_shape(c, l->bottoms[i]);
    if (other->rank != shape.rank)
      return caffe_fail(c, l, "its bottoms have different numbers of axes");
    graph_operand(c->graph, node, l->bottoms[i]);
    shape.size[axis] += other->size[axis];
  }
  if (axis != shape.rank - 1)
    graph_arg(c->graph, node, PART_NONE, "axis=", axis_name(c, &shape, axis));
  node->shape = shape;
  return caffe_give(c, l, node->index);
}

static int part(struct caffe *c, const struct caffe_layer *l, int input,
                int axis, int64_t from, int64_t to) {
  struct graph_node *node = caffe_layer_on(c, l, WORD_SLICE, input);
  int64_t end = node->shape.size[axis];
  graph_arg(c->graph, node, PART_NONE, "", axis_name(c, &node->shape, axis));
  bool channels = axis + 1 == node->shape.rank;
  graph_range(c->graph, node, channels ? PART_CHANNELS : PART_OTHER, from, to,
              end);
  node->shape.size[axis] = to - from;
  return node->index;
}

static bool slice(struct caffe *c, const struct caffe_layer *l) {
  struct prototxt_field *p = caffe_param(l, "slice_param");
  struct graph_shape shape = *caffe_shape(c, l->bottoms[0]);
  int64_t given =
      prototxt_int(c->graph, p, "axis",
                   prototxt_int(c->graph, p, "slice_dim", 1, 0, 7), -8, 7);
  int axis = netc_axis(&shape, given);
  if (axis < 0)
    return caffe_fail(c, l, "samples of a batch cannot be split");
  struct prototxt_field *point = prototxt_find(p, "slice_point");
  int64_t end = shape.size[axis], from = 0;
  int64_t even = l->top_count ? end / (int64_t)l->top_count : 0;
  for (size_t i = 0; i < l->top_count; i++) {
    bool last = i + 1 == l->top_count;
    int64_t to = last    ? end
                 : point ? prototxt_value(c->graph, point, 1, end)
                         : from + even;
    if (point)
      point = prototxt_again(point);
    if (to <= from || to > end)
      return caffe_fail(c, l, "its points do not split the axis");
    caffe_set(c, l, i, part(c, l, l->bottoms[0], axis, from, to));
    from = to;
  }
  return !c->graph->failed;
}

static bool split(struct caffe *c, const struct caffe_layer *l) {
  for (size_t i = 0; i < l->top_count; i++)
    caffe_set(c, l, i, l->bottoms[0]);
  return true;
}

static bool axpy(struct caffe *c, const struct caffe_layer *l) {
  if (l->bottom_count != 3)
    return caffe_fail(c, l, "it needs three bottoms");
  int by = as_pixel(c, l, l->bottoms[0]);
  int scaled = join(c, l, WORD_MUL, l->bottoms[1], by)->index;
  return caffe_give(c, l, join(c, l, WORD_ADD, scaled, l->bottoms[2])->index);
}

/* Shapes. */

static int64_t count_of(const struct graph_shape *shape) {
  int64_t count = 1;
  for (int i = 0; i < shape->rank; i++)
    if (__builtin_mul_overflow(count, shape->size[i], &count))
      return 0;
  return count;
}

static bool flatten(struct caffe *c, const struct caffe_layer *l) {
  struct graph_node *node = caffe_layer_on(c, l, WORD_FLATTEN, l->bottoms[0]);
  node->shape = (struct graph_shape){1, {count_of(&node->shape)}};
  return caffe_give(c, l, node->index);
}

/* `dim: 0` keeps a size, `dim: -1` is inferred; the first is the batch. */
static bool reshape(struct caffe *c, const struct caffe_layer *l) {
  struct prototxt_field *shape =
      prototxt_find(caffe_param(l, "reshape_param"), "shape");
  const struct graph_shape *in = caffe_shape(c, l->bottoms[0]);
  int64_t dims[8], rest = count_of(in);
  int count = 0, free = -1;
  for (struct prototxt_field *f = prototxt_find(shape, "dim"); f && count < 6;
       f = prototxt_again(f)) {
    int64_t dim = prototxt_value(c->graph, f, -1, CAFFE_MOST);
    int axis = netc_axis(in, count);
    if (dim == 0)
      dim = count == 0 ? 1 : axis < 0 ? 0 : in->size[axis];
    if (dim == -1)
      free = count;
    else if (count > 0 && dim > 0 && rest % dim == 0)
      rest /= dim;
    else if (count > 0)
      return caffe_fail(c, l, "the new shape has another number of values");
    dims[count++] = dim;
  }
  if (count < 2)
    return caffe_fail(c, l, "it needs a shape of at least two sizes");
  if (free == 0)
    return caffe_fail(c, l, "the batch cannot be inferred");
  if (free > 0)
    dims[free] = rest;
  struct graph_node *node = caffe_layer_on(c, l, WORD_RESHAPE, l->bottoms[0]);
  node->shape.rank = count - 1;
  for (int i = 2; i < count; i++)
    node->shape.size[i - 2] = dims[i];
  node->shape.size[count - 2] = dims[1];
  graph_arg(c->graph, node, PART_NONE, "",
            graph_sizes(c->graph, node->shape.size, node->shape.rank));
  if (node->shape.rank > 1)
    graph_note(c->graph,
               "`%s` reshapes channels last here, channels first "
               "in Caffe: equal sizes, values in another order.",
               l->name);
  return caffe_give(c, l, node->index);
}

static bool permute(struct caffe *c, const struct caffe_layer *l) {
  const struct graph_shape in = *caffe_shape(c, l->bottoms[0]);
  struct prototxt_field *f =
      prototxt_find(caffe_param(l, "permute_param"), "order");
  int64_t order[8];
  int count = 0;
  for (; f && count <= in.rank; f = prototxt_again(f))
    order[count++] = prototxt_value(c->graph, f, 0, in.rank);
  for (; count <= in.rank; count++)
    order[count] = count;
  if (c->graph->failed || order[0] != 0)
    return c->graph->failed
               ? false
               : caffe_fail(c, l, "the batch must stay the first axis");
  struct graph_node *node = caffe_layer_on(c, l, WORD_PERMUTE, l->bottoms[0]);
  for (int i = 0; i < in.rank; i++) {
    /* Axis i of netc is Caffe's i + 2, the last one Caffe's 1. */
    int from = netc_axis(&in, order[i == in.rank - 1 ? 1 : i + 2]);
    if (from < 0)
      return caffe_fail(c, l, "the batch must stay the first axis");
    node->shape.size[i] = in.size[from];
    graph_int(c->graph, node, PART_NONE, "", from);
  }
  return caffe_give(c, l, node->index);
}

static bool crop(struct caffe *c, const struct caffe_layer *l) {
  struct prototxt_field *p = caffe_param(l, "crop_param");
  struct prototxt_field *offset = prototxt_find(p, "offset");
  if (l->bottom_count != 2 || !caffe_is_map(c, l) ||
      prototxt_int(c->graph, p, "axis", 2, -8, 7) != 2)
    return c->graph->failed ? false
                            : caffe_fail(c, l,
                                         "only a crop of height and width to a "
                                         "second bottom is supported");
  int input = l->bottoms[0];
  struct graph_shape to = *caffe_shape(c, l->bottoms[1]);
  for (int i = 0; i < 2; i++) {
    int64_t size = caffe_shape(c, input)->size[i];
    int64_t from = offset ? prototxt_value(c->graph, offset, 0, CAFFE_MOST) : 0;
    if (offset && prototxt_again(offset))
      offset = prototxt_again(offset);
    if (to.rank != 3 || from > size || to.size[i] > size - from)
      return caffe_fail(c, l, "it crops outside of its input");
    if (to.size[i] != size)
      input = part(c, l, input, i, from, from + to.size[i]);
  }
  return caffe_give(c, l, input);
}

/* (shift + scale x) ^ power */
static bool power(struct caffe *c, const struct caffe_layer *l) {
  struct prototxt_field *p = caffe_param(l, "power_param");
  const struct {
    enum layer_word word;
    double value, none;
  } steps[] = {{WORD_MUL, prototxt_real(c->graph, p, "scale", 1), 1},
               {WORD_ADD, prototxt_real(c->graph, p, "shift", 0), 0},
               {WORD_POW, prototxt_real(c->graph, p, "power", 1), 1}};
  int node = l->bottoms[0];
  for (size_t i = 0; i < 3; i++)
    if (steps[i].value < steps[i].none || steps[i].value > steps[i].none) {
      struct graph_node *step = caffe_layer_on(c, l, steps[i].word, node);
      graph_arg(c->graph, step, PART_NONE, "", caffe_number(c, steps[i].value));
      node = step->index;
    }
  return caffe_give(c, l, node);
}

static bool normalize(struct caffe *c, const struct caffe_layer *l) {
  struct prototxt_field *p = caffe_param(l, "norm_param");
  if (prototxt_bool(p, "across_spatial", true) ||
      prototxt_bool(p, "channel_shared", true))
    return caffe_fail(
        c, l, "only a norm over channels with a factor for each is supported");
  int norm = caffe_layer_on(c, l, WORD_L2NORM, l->bottoms[0])->index;
  return caffe_give(c, l, caffe_layer_on(c, l, WORD_SCALE, norm)->index);
}

static bool reorg(struct caffe *c, const struct caffe_layer *l) {
  int64_t by = prototxt_int(c->graph, caffe_param(l, "reorg_param"), "stride",
                            2, 1, CAFFE_MOST);
  if (!caffe_is_map(c, l))
    return false;
  struct graph_node *node =
      caffe_layer_on(c, l, WORD_SPACE2DEPTH, l->bottoms[0]);
  graph_int(c->graph, node, PART_NONE, "", by);
  node->shape.size[0] /= by;
  node->shape.size[1] /= by;
  node->shape.size[2] *= by * by;
  return caffe_give(c, l, node->index);
}

static bool shuffle(struct caffe *c, const struct caffe_layer *l) {
  struct graph_node *node = caffe_layer_on(c, l, WORD_SHUFFLE, l->bottoms[0]);
  graph_int(c->graph, node, PART_GROUPS, "",
            prototxt_int(c->graph, caffe_param(l, "shuffle_channel_param"),
                         "group", 1, 1, CAFFE_MOST));
  return caffe_give(c, l, node->index);
}

/* The table. */

static const struct caffe_row {
  const char *type;
  const char *old; /* in `layers`: the same in capitals and underlines */
  bool (*add)(struct caffe *c, const struct caffe_layer *l);
  enum layer_word
      words[IMPORT_WORDS]; /* of netc; without `add`, it is that layer */
} rows[] = {
    {"Convolution", "CONVOLUTION", caffe_convolution, {WORD_CONV, WORD_DWCONV}},
    {"ConvolutionDepthwise", NULL, caffe_convolution, {WORD_CONV, WORD_DWCONV}},
    {"DepthwiseConvolution", NULL, caffe_convolution, {WORD_CONV, WORD_DWCONV}},
    {"Deconvolution", "DECONVOLUTION", caffe_deconvolution, {WORD_DECONV}},
    {"Pooling",
     "POOLING",
     caffe_pooling,
     {WORD_POOL, WORD_AVGPOOL, WORD_GAP, WORD_GMP}},
    {"InnerProduct", "INNER_PRODUCT", caffe_inner_product, {WORD_FC}},
    {"ReLU", "RELU", relu, {WORD_RELU, WORD_LEAKY}},
    {"PReLU", NULL, prelu, {WORD_PRELU}},
    {"ELU", NULL, elu, {WORD_ELU}},
    {"Sigmoid", "SIGMOID", NULL, {WORD_SIGMOID}},
    {"TanH", "TANH", NULL, {WORD_TANH}},
    {"ReLU6", NULL, NULL, {WORD_RELU6}},
    {"Swish", NULL, NULL, {WORD_SILU}},
    {"Mish", NULL, NULL, {WORD_MISH}},
    {"BNLL", "BNLL", NULL, {WORD_SOFTPLUS}},
    {"AbsVal", "ABSVAL", NULL, {WORD_ABS}},
    {"Exp", "EXP", NULL, {WORD_EXP}},
    {"Log", NULL, NULL, {WORD_LOG}},
    {"Power", "POWER", power, {WORD_MUL, WORD_ADD, WORD_POW}},
    {"Dropout", "DROPOUT", dropout, {WORD_DROPOUT}},
    {"Softmax", "SOFTMAX", softmax, {WORD_SOFTMAX}},
    {"LRN", "LRN", caffe_lrn, {WORD_LRN}},
    {"BatchNorm", NULL, caffe_batch_norm, {WORD_BN}},
    {"BN", NULL, caffe_whole_norm, {WORD_BN}},
    {"Upsample", NULL, caffe_upsample, {WORD_UNPOOL}},
    {"Scale", NULL, scale, {WORD_SCALE, WORD_MUL}},
    {"Eltwise", "ELTWISE", eltwise, {WORD_ADD, WORD_MUL, WORD_MAX}},
    {"Concat", "CONCAT", concat, {WORD_CONCAT}},
    {"Slice", "SLICE", slice, {WORD_SLICE}},
    {"Split", "SPLIT", split, {WORD_NONE}},
    {"Flatten", "FLATTEN", flatten, {WORD_FLATTEN}},
    {"Reshape", NULL, reshape, {WORD_RESHAPE}},
    {"Permute", NULL, permute, {WORD_PERMUTE}},
    {"Crop", NULL, crop, {WORD_SLICE}},
    {"Axpy", NULL, axpy, {WORD_MUL, WORD_ADD}},
    {"Normalize", NULL, normalize, {WORD_L2NORM, WORD_SCALE}},
    {"Reorg", NULL, reorg, {WORD_SPACE2DEPTH}},
    {"ShuffleChannel", NULL, shuffle, {WORD_SHUFFLE}},
};

bool caffe_knows_type(const char *type) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].type, type) == 0)
      return true;
  return false;
}

const char *caffe_type(struct slice old) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].old && slice_is(old, rows[i].old))
      return rows[i].type;
  return NULL;
}

bool caffe_type_at(struct graph *graph, size_t index,
                   struct import_type *type) {
  (void)graph;
  if (index >= sizeof rows / sizeof *rows)
    return false;
  import_type_set(type, rows[index].type, rows[index].words);
  return true;
}

bool caffe_add(struct caffe *c, const struct caffe_layer *l) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].type, l->type) == 0)
      return rows[i].add ? rows[i].add(c, l) : plain(c, l, rows[i].words[0]);
  if (!c->options->allow_unknown) {
    graph_fail(c->graph, l->line, "`%s`: netc has no equivalent of the type %s",
               l->name, l->type);
    graph_help(c->graph, "--allow-unknown leaves it out, with what follows "
                         "from it");
    return false;
  }
  graph_note(c->graph,
             "`%s` (%s) is left out, with what follows from it: netc has no "
             "equivalent.",
             l->name, l->type);
  for (size_t i = 0; i < l->top_count; i++)
    map_add(c->graph->arena, &c->blobs, l->tops[i])->number = 0;
  return true;
}
