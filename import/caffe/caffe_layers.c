/*
 * Caffe's layer types: what each is in netc, and the shape that Caffe gives
 * it (src/caffe/layers). One row a type.
 */
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "import/caffe/caffe.h"

const struct graph_shape *caffe_shape(struct caffe *c, int index) {
  return &graph_at(c->graph, index)->shape;
}

int64_t caffe_count(const struct graph_shape *shape) {
  int64_t count = 1;
  for (int i = 0; i < shape->rank; i++)
    if (!mul_i64(count, shape->size[i], &count))
      return 0;
  return count;
}

int64_t caffe_channels(struct caffe *c) {
  const struct graph_shape *shape = caffe_shape(c, c->at->bottoms[0]);
  return shape->size[shape->rank - 1];
}

struct graph_node *caffe_first(struct caffe *c, enum layer_word word) {
  return graph_layer(c->graph, word, c->at->bottoms[0]);
}

bool caffe_give(struct caffe *c, const struct graph_node *node) {
  caffe_set(c, 0, node->index);
  return !c->graph->failed;
}

bool caffe_fail(struct caffe *c, const char *what) {
  return graph_fail(c->graph, c->at->line, "`%s` (%s): %s", c->at->name,
                    c->at->type, what);
}

struct prototxt_field *caffe_param(const struct caffe *c, const char *name) {
  return prototxt_find(c->at->message, name);
}

bool caffe_is_map(struct caffe *c) {
  return caffe_shape(c, c->at->bottoms[0])->rank == 3 ||
         caffe_fail(
             c, "only maps of channels, height and width are supported here");
}

/* Activations and others value by value. */

static bool plain(struct caffe *c, enum layer_word word) {
  return caffe_give(c, caffe_first(c, word));
}

static bool with_real(struct caffe *c, enum layer_word word, double value,
                      double usual) {
  struct graph_node *node = caffe_first(c, word);
  graph_real(c->graph, node, "", value);
  graph_usual(node, graph_number(c->graph, usual));
  return caffe_give(c, node);
}

static bool relu(struct caffe *c) {
  double slope = prototxt_real(c->graph, caffe_param(c, "relu_param"),
                               "negative_slope", 0);
  return slope == 0 ? plain(c, WORD_RELU)
                    : with_real(c, WORD_LEAKY, slope, 0.01);
}

static bool elu(struct caffe *c) {
  double alpha =
      prototxt_real(c->graph, caffe_param(c, "elu_param"), "alpha", 1);
  return with_real(c, WORD_ELU, alpha, 1);
}

static bool prelu(struct caffe *c) {
  struct graph_node *node = caffe_first(c, WORD_PRELU);
  bool shared =
      prototxt_bool(caffe_param(c, "prelu_param"), "channel_shared", false);
  if (shared)
    graph_flag(c->graph, node, "shared");
  CAFFE_TENSOR(c, node, "weight", 0, shared ? 1 : caffe_channels(c));
  return caffe_give(c, node);
}

static bool dropout(struct caffe *c) {
  double p = prototxt_real(c->graph, caffe_param(c, "dropout_param"),
                           "dropout_ratio", 0.5);
  if (!(p >= 0 && p < 1))
    return caffe_fail(c, "`dropout_ratio` must be at least 0 and less than 1");
  return with_real(c, WORD_DROPOUT, p, 0.5);
}

static bool is_channel_axis(struct caffe *c, const struct prototxt_field *p) {
  int64_t axis = prototxt_int(c->graph, p, "axis", 1, -8, 7);
  int rank = caffe_shape(c, c->at->bottoms[0])->rank;
  return axis == 1 || axis == -rank;
}

static bool softmax(struct caffe *c) {
  struct prototxt_field *p = caffe_param(c, "softmax_param");
  if (caffe_shape(c, c->at->bottoms[0])->rank == 2 &&
      prototxt_int(c->graph, p, "axis", 1, -8, 7) == 2)
    return caffe_turned_softmax(c);
  if (!is_channel_axis(c, caffe_param(c, "softmax_param")))
    return caffe_fail(c, "only a softmax over channels is supported");
  return plain(c, WORD_SOFTMAX);
}

/* One value a channel as a map of one pixel. */
static int as_pixel(struct caffe *c, int input) {
  if (caffe_shape(c, input)->rank != 1)
    return input;
  struct graph_node *node = graph_layer(c->graph, WORD_RESHAPE, input);
  graph_flag(c->graph, node, "1x1x_");
  node->name = graph_text(c->graph, "%s_pixel", c->at->name);
  node->shape = (struct graph_shape){3, {1, 1, caffe_shape(c, input)->size[0]}};
  return node->index;
}

static bool scale(struct caffe *c) {
  struct prototxt_field *p = caffe_param(c, "scale_param");
  bool bias = prototxt_bool(p, "bias_term", false);
  struct graph_node *before = graph_at(c->graph, c->at->bottoms[0]);
  if (c->at->bottom_count == 2) {
    int by = caffe_shape(c, c->at->bottoms[0])->rank == 3
                 ? as_pixel(c, c->at->bottoms[1])
                 : c->at->bottoms[1];
    return caffe_give(c, graph_pair(c->graph, WORD_MUL, c->at->bottoms[0], by));
  }
  if (!is_channel_axis(c, p))
    return caffe_fail(c, "only a scale by channel is supported");
  if (bias && before->word == WORD_BN &&
      strcmp(before->args.at[0].value, "noaffine") == 0 &&
      before->index + 1 == (int)c->graph->nodes.count) {
    before->args.at[0].usual = "noaffine";
    before->name = c->at->name;
    CAFFE_TENSOR(c, before, "weight", 0, caffe_channels(c));
    CAFFE_TENSOR(c, before, "bias", 1, caffe_channels(c));
    return caffe_give(c, before);
  }
  struct graph_node *node = caffe_first(c, WORD_SCALE);
  CAFFE_TENSOR(c, node, "weight", 0, caffe_channels(c));
  if (bias)
    CAFFE_TENSOR(c, node, "bias", 1, caffe_channels(c));
  if (bias)
    graph_flag(c->graph, node, "bias");
  return caffe_give(c, node);
}

/* Joins. */

static bool same_shapes(struct caffe *c) {
  const struct graph_shape *first = caffe_shape(c, c->at->bottoms[0]);
  for (size_t i = 1; i < c->at->bottom_count; i++)
    if (!graph_same_shape(caffe_shape(c, c->at->bottoms[i]), first))
      return caffe_fail(c, "its bottoms have different shapes");
  return true;
}

/* Of tensors of one shape, one for each bottom. */
static bool join(struct caffe *c, enum layer_word word, const int *terms) {
  struct graph_node *node = graph_layer(c->graph, word, terms[0]);
  for (size_t i = 1; i < c->at->bottom_count; i++)
    graph_operand(c->graph, node, terms[i]);
  return caffe_give(c, node);
}

/* The bottoms with their factors (`coeff`). */
static bool add_weighted(struct caffe *c) {
  struct prototxt_field *f =
      prototxt_find(caffe_param(c, "eltwise_param"), "coeff");
  int terms[64];
  if (c->at->bottom_count > sizeof terms / sizeof *terms)
    return caffe_fail(c, "it has more than 64 bottoms");
  for (size_t i = 0; i < c->at->bottom_count; i++) {
    struct prototxt_field one = {.name = slice_of("x"), .inside = f};
    double factor = f ? prototxt_real(c->graph, &one, "coeff", 1) : 1;
    terms[i] = c->at->bottoms[i];
    if (factor < 1 || factor > 1) {
      struct graph_node *scaled =
          graph_layer(c->graph, WORD_MUL, c->at->bottoms[i]);
      scaled->name = graph_text(c->graph, "%s_scaled", c->at->name);
      graph_real(c->graph, scaled, "", factor);
      terms[i] = scaled->index;
    }
    f = f ? prototxt_again(f) : NULL;
  }
  return join(c, WORD_ADD, terms);
}

static bool eltwise(struct caffe *c) {
  struct slice how =
      prototxt_text(caffe_param(c, "eltwise_param"), "operation", "SUM");
  bool product = slice_is(how, "PROD") || slice_is(how, "0");
  bool most = slice_is(how, "MAX") || slice_is(how, "2");
  if (c->at->bottom_count < 2)
    return caffe_fail(c, "it needs two bottoms");
  if (!same_shapes(c))
    return false;
  return product ? join(c, WORD_MUL, c->at->bottoms)
         : most  ? join(c, WORD_MAX, c->at->bottoms)
                 : add_weighted(c);
}

int caffe_axis(const struct graph_shape *shape, int64_t axis) {
  if (axis < 0)
    axis += shape->rank + 1;
  return axis < 1 || axis > shape->rank ? -1
         : axis == 1                    ? shape->rank - 1
                                        : (int)axis - 2;
}

/* `axis` of the first bottom, which was called `old`. */
static int given_axis(struct caffe *c, const struct prototxt_field *p,
                      const char *old) {
  int64_t usual = prototxt_int(c->graph, p, old, 1, 0, 7);
  return caffe_axis(caffe_shape(c, c->at->bottoms[0]),
                    prototxt_int(c->graph, p, "axis", usual, -8, 7));
}

static bool concat(struct caffe *c) {
  struct prototxt_field *p = caffe_param(c, "concat_param");
  struct graph_shape shape = *caffe_shape(c, c->at->bottoms[0]);
  int axis = given_axis(c, p, "concat_dim");
  if (axis < 0)
    return caffe_fail(c, "samples of a batch cannot be joined");
  if (c->at->bottom_count == 1)
    return caffe_give(c, graph_at(c->graph, c->at->bottoms[0]));
  struct graph_node *node = graph_join(c->graph, WORD_CONCAT);
  shape.size[axis] = 0;
  for (size_t i = 0; i < c->at->bottom_count; i++) {
    const struct graph_shape *other = caffe_shape(c, c->at->bottoms[i]);
    if (other->rank != shape.rank)
      return caffe_fail(c, "its bottoms have different numbers of axes");
    graph_operand(c->graph, node, c->at->bottoms[i]);
    shape.size[axis] += other->size[axis];
  }
  if (axis != shape.rank - 1)
    graph_arg(c->graph, node, PART_NONE,
              "axis=", graph_axis(c->graph, &shape, axis));
  node->shape = shape;
  return caffe_give(c, node);
}

struct graph_node *caffe_part(struct caffe *c, int input, int axis,
                              int64_t from, int64_t to) {
  const char *name = graph_axis(c->graph, caffe_shape(c, input), axis);
  return graph_slice(c->graph, input, axis, name, from, to);
}

static bool slice(struct caffe *c) {
  struct prototxt_field *p = caffe_param(c, "slice_param");
  struct graph_shape shape = *caffe_shape(c, c->at->bottoms[0]);
  int axis = given_axis(c, p, "slice_dim");
  if (axis < 0)
    return caffe_fail(c, "samples of a batch cannot be split");
  struct prototxt_field *point = prototxt_find(p, "slice_point");
  int64_t end = shape.size[axis], from = 0;
  int64_t even = c->at->top_count ? end / (int64_t)c->at->top_count : 0;
  for (size_t i = 0; i < c->at->top_count; i++) {
    bool last = i + 1 == c->at->top_count;
    int64_t to = last    ? end
                 : point ? prototxt_value(c->graph, point, 1, end)
                         : from + even;
    if (point)
      point = prototxt_again(point);
    if (to <= from || to > end)
      return caffe_fail(c, "its points do not split the axis");
    caffe_set(c, i, caffe_part(c, c->at->bottoms[0], axis, from, to)->index);
    from = to;
  }
  return !c->graph->failed;
}

static bool split(struct caffe *c) {
  for (size_t i = 0; i < c->at->top_count; i++)
    caffe_set(c, i, c->at->bottoms[0]);
  return true;
}

static bool axpy(struct caffe *c) {
  if (c->at->bottom_count != 3)
    return caffe_fail(c, "it needs three bottoms");
  int by = as_pixel(c, c->at->bottoms[0]);
  int scaled = graph_pair(c->graph, WORD_MUL, c->at->bottoms[1], by)->index;
  return caffe_give(c,
                    graph_pair(c->graph, WORD_ADD, scaled, c->at->bottoms[2]));
}

/* (shift + scale x) ^ power */
static bool power(struct caffe *c) {
  struct prototxt_field *p = caffe_param(c, "power_param");
  const struct {
    enum layer_word word;
    double value, none;
  } steps[] = {{WORD_MUL, prototxt_real(c->graph, p, "scale", 1), 1},
               {WORD_ADD, prototxt_real(c->graph, p, "shift", 0), 0},
               {WORD_POW, prototxt_real(c->graph, p, "power", 1), 1}};
  struct graph_node *node = graph_at(c->graph, c->at->bottoms[0]);
  for (size_t i = 0; i < 3; i++)
    if (steps[i].value < steps[i].none || steps[i].value > steps[i].none) {
      node = graph_layer(c->graph, steps[i].word, node->index);
      graph_real(c->graph, node, "", steps[i].value);
    }
  return caffe_give(c, node);
}

static bool normalize(struct caffe *c) {
  struct prototxt_field *p = caffe_param(c, "norm_param");
  if (prototxt_bool(p, "across_spatial", true) ||
      prototxt_bool(p, "channel_shared", true))
    return caffe_fail(
        c, "only a norm over channels with a factor for each is supported");
  int norm = caffe_first(c, WORD_L2NORM)->index;
  struct graph_node *node = graph_layer(c->graph, WORD_SCALE, norm);
  CAFFE_TENSOR(c, node, "weight", 0, caffe_channels(c));
  return caffe_give(c, node);
}

/* A type that is left out, if that is allowed. */
static bool unknown(struct caffe *c) {
  if (!c->options->allow_unknown) {
    graph_fail(c->graph, c->at->line,
               "`%s`: netc has no equivalent of the type %s", c->at->name,
               c->at->type);
    return graph_help(c->graph,
                      "--allow-unknown leaves it out, with what follows "
                      "from it");
  }
  graph_note(c->graph,
             "`%s` (%s) is left out, with what follows from it: netc has no "
             "equivalent.",
             c->at->name, c->at->type);
  for (size_t i = 0; i < c->at->top_count; i++)
    map_add(c->graph->arena, &c->blobs, c->at->tops[i])->number = 0;
  return true;
}

static bool says_dropout(struct slice text) {
  for (size_t i = 0; i + 4 <= text.length; i++)
    if (strncasecmp(text.at + i, "drop", 4) == 0)
      return true;
  return false;
}

/* What its name says is all that is known: ENet's spatial dropout. */
static bool python(struct caffe *c) {
  const struct prototxt_field *p = caffe_param(c, "python_param");
  if (!says_dropout(prototxt_text(p, "layer", "")) &&
      !says_dropout(prototxt_text(p, "module", "")))
    return unknown(c);
  graph_note(c->graph,
             "`%s` (Python) is left out: a prediction is without dropout.",
             c->at->name);
  caffe_set(c, 0, c->at->bottoms[0]);
  return true;
}

/* The table. */

static const struct caffe_row {
  const char *type;
  const char *old; /* in `layers`: the same in capitals and underlines */
  bool (*add)(struct caffe *c);
  enum layer_word
      words[IMPORT_WORDS]; /* of netc; without `add`, it is that layer */
} rows[] = {
    {"Convolution", "CONVOLUTION", caffe_convolution, {WORD_CONV, WORD_DWCONV}},
    {"ConvolutionDepthwise", NULL, caffe_depthwise, {WORD_DWCONV}},
    {"DepthwiseConvolution", NULL, caffe_grouped, {WORD_CONV, WORD_DWCONV}},
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
    {"Upsample", NULL, caffe_upsample, {WORD_UNPOOL, WORD_UP}},
    {"Scale", NULL, scale, {WORD_SCALE, WORD_MUL}},
    {"Eltwise", "ELTWISE", eltwise, {WORD_ADD, WORD_MUL, WORD_MAX}},
    {"Concat", "CONCAT", concat, {WORD_CONCAT}},
    {"Slice", "SLICE", slice, {WORD_SLICE}},
    {"Split", "SPLIT", split, {WORD_NONE}},
    {"Flatten", "FLATTEN", caffe_flatten, {WORD_FLATTEN}},
    {"Reshape", NULL, caffe_reshape, {WORD_RESHAPE}},
    {"Permute", NULL, caffe_permute, {WORD_PERMUTE}},
    {"Crop", NULL, caffe_crop, {WORD_SLICE}},
    {"Axpy", NULL, axpy, {WORD_MUL, WORD_ADD}},
    {"Normalize", NULL, normalize, {WORD_L2NORM, WORD_SCALE}},
    {"Reorg", NULL, caffe_reorg, {WORD_SPACE2DEPTH}},
    {"ShuffleChannel", NULL, caffe_shuffle, {WORD_SHUFFLE}},
    {"Embed", NULL, caffe_embed, {WORD_EMBED, WORD_ADD}},
    {"Reduction",
     NULL,
     caffe_reduction,
     {WORD_SUM, WORD_MEAN, WORD_ABS, WORD_POW, WORD_MUL}},
    {"ROIPooling", NULL, caffe_roi_pooling, {WORD_ROIPOOL}},
    {"Python", NULL, python, {WORD_NONE}},
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

bool caffe_add(struct caffe *c) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].type, c->at->type) == 0)
      return rows[i].add ? rows[i].add(c) : plain(c, rows[i].words[0]);
  return unknown(c);
}
