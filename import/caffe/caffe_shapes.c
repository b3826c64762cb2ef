/* Caffe's layers that move values or pick some of them. */
#include <string.h>

#include "import/caffe/caffe.h"

/* Caffe's sizes, without samples: channels, height, width. */
static int caffe_dims(const struct graph_shape *shape, int64_t *dims) {
  for (int i = 0; i < shape->rank; i++)
    dims[i] = shape->size[i == 0 ? shape->rank - 1 : i - 1];
  return shape->rank;
}

/*
 * The sizes of `shape` in the place of `num_axes` of the bottom's from `axis`
 * on; `dim: 0` keeps the size there, `dim: -1` is inferred (reshape_layer.cpp).
 * Returns how many sizes there are without the samples; -1, and failed: none.
 */
static int reshaped(struct caffe *c, int64_t *dims) {
  const struct prototxt_field *p = caffe_param(c, "reshape_param");
  const struct graph_shape *in = caffe_shape(c, c->at->bottoms[0]);
  int64_t old[LIMIT_RANK + 1] = {1}, axis, span, rest = caffe_count(in);
  int rank = caffe_dims(in, old + 1) + 1, count = 0, free = -1;
  axis = prototxt_int(c->graph, p, "axis", 0, -rank - 1, rank);
  axis += axis < 0 ? rank + 1 : 0;
  span = prototxt_int(c->graph, p, "num_axes", -1, -1, rank - axis);
  span = span < 0 ? rank - axis : span;
  for (; count < axis; count++)
    dims[count] = old[count];
  for (struct prototxt_field *f =
           prototxt_find(prototxt_find(p, "shape"), "dim");
       f && count < LIMIT_RANK; f = prototxt_again(f), count++) {
    dims[count] = prototxt_value(c->graph, f, -1, CAFFE_MOST);
    if (dims[count] == 0)
      dims[count] = count < rank ? old[count] : -2;
    if (dims[count] == -1)
      free = count;
  }
  for (int64_t i = axis + span; i < rank && count < LIMIT_RANK; i++)
    dims[count++] = old[i];
  for (int i = 1; i < count; i++)
    if (i != free && dims[i] > 0 && rest % dims[i] == 0)
      rest /= dims[i];
    else if (i != free)
      rest = 0;
  if (count < 2)
    caffe_fail(c, "it needs a shape of at least two sizes");
  else if (free == 0)
    caffe_fail(c, "the batch cannot be inferred");
  else if (rest == 0 || (free < 0 && rest != 1))
    caffe_fail(c, "the new shape has another number of values");
  if (free > 0)
    dims[free] = rest;
  return c->graph->failed ? -1 : count - 1;
}

bool caffe_flatten(struct caffe *c) {
  struct graph_node *node = caffe_first(c, WORD_FLATTEN);
  node->shape = (struct graph_shape){1, {caffe_count(&node->shape)}};
  return caffe_give(c, node);
}

bool caffe_reshape(struct caffe *c) {
  int64_t dims[LIMIT_RANK + 1];
  int rank = reshaped(c, dims);
  if (rank < 0)
    return false;
  struct graph_node *node = caffe_first(c, WORD_RESHAPE);
  node->shape.rank = rank;
  for (int i = 0; i < rank; i++)
    node->shape.size[i] = dims[i + 1 < rank ? i + 2 : 1];
  graph_arg(c->graph, node, PART_NONE, "",
            graph_sizes(c->graph, node->shape.size, node->shape.rank));
  if (node->shape.rank > 1)
    graph_note(c->graph,
               "`%s` reshapes channels last here, channels first "
               "in Caffe: equal sizes, values in another order.",
               c->at->name);
  return caffe_give(c, node);
}

bool caffe_permute(struct caffe *c) {
  const struct graph_shape in = *caffe_shape(c, c->at->bottoms[0]);
  struct prototxt_field *f =
      prototxt_find(caffe_param(c, "permute_param"), "order");
  int64_t order[8];
  int count = 0;
  for (; f && count <= in.rank; f = prototxt_again(f))
    order[count++] = prototxt_value(c->graph, f, 0, in.rank);
  for (; count <= in.rank; count++)
    order[count] = count;
  if (c->graph->failed || order[0] != 0)
    return c->graph->failed
               ? false
               : caffe_fail(c, "the batch must stay the first axis");
  struct graph_node *node = caffe_first(c, WORD_PERMUTE);
  for (int i = 0; i < in.rank; i++) {
    /* Axis i of netc is Caffe's i + 2, the last one Caffe's 1. */
    int from = caffe_axis(&in, order[i == in.rank - 1 ? 1 : i + 2]);
    if (from < 0)
      return caffe_fail(c, "the batch must stay the first axis");
    node->shape.size[i] = in.size[from];
    graph_int(c->graph, node, PART_NONE, "", from);
  }
  return caffe_give(c, node);
}

bool caffe_crop(struct caffe *c) {
  struct prototxt_field *p = caffe_param(c, "crop_param");
  struct prototxt_field *offset = prototxt_find(p, "offset");
  if (c->at->bottom_count != 2 || !caffe_is_map(c) ||
      prototxt_int(c->graph, p, "axis", 2, -8, 7) != 2)
    return c->graph->failed
               ? false
               : caffe_fail(c, "only a crop of height and width to a "
                               "second bottom is supported");
  int input = c->at->bottoms[0];
  struct graph_shape to = *caffe_shape(c, c->at->bottoms[1]);
  for (int i = 0; i < 2; i++) {
    int64_t size = caffe_shape(c, input)->size[i];
    int64_t from = offset ? prototxt_value(c->graph, offset, 0, CAFFE_MOST) : 0;
    if (offset && prototxt_again(offset))
      offset = prototxt_again(offset);
    if (to.rank != 3 || from > size || to.size[i] > size - from)
      return caffe_fail(c, "it crops outside of its input");
    if (to.size[i] != size)
      input = caffe_part(c, input, i, from, from + to.size[i])->index;
  }
  return caffe_give(c, graph_at(c->graph, input));
}

bool caffe_reorg(struct caffe *c) {
  int64_t by = prototxt_int(c->graph, caffe_param(c, "reorg_param"), "stride",
                            2, 1, CAFFE_MOST);
  if (!caffe_is_map(c))
    return false;
  struct graph_node *node = caffe_first(c, WORD_SPACE2DEPTH);
  graph_int(c->graph, node, PART_NONE, "", by);
  node->shape.size[0] /= by;
  node->shape.size[1] /= by;
  node->shape.size[2] *= by * by;
  return caffe_give(c, node);
}

bool caffe_shuffle(struct caffe *c) {
  struct graph_node *node = caffe_first(c, WORD_SHUFFLE);
  graph_int(c->graph, node, PART_GROUPS, "",
            prototxt_int(c->graph, caffe_param(c, "shuffle_channel_param"),
                         "group", 1, 1, CAFFE_MOST));
  return caffe_give(c, node);
}

/* Indices, which come in, as rows of a table (embed_layer.cpp). */
bool caffe_embed(struct caffe *c) {
  const struct prototxt_field *p = caffe_param(c, "embed_param");
  int64_t rows = prototxt_int(c->graph, p, "input_dim", 0, 1, CAFFE_MOST);
  int64_t out = prototxt_int(c->graph, p, "num_output", 0, 1, CAFFE_MOST);
  struct graph_node *in = graph_at(c->graph, c->at->bottoms[0]);
  if (rows == 0 || out == 0)
    return caffe_fail(c, "`input_dim` or `num_output` is missing");
  if (in->word == WORD_INPUT && in->args.count == 0)
    graph_arg(c->graph, in, PART_NONE, ": ", "i32");
  if (in->shape.rank > 2)
    return caffe_fail(c, "only a sequence of indices is supported");
  struct graph_node *node = caffe_first(c, WORD_EMBED);
  graph_int(c->graph, node, PART_OTHER, "", rows);
  graph_int(c->graph, node, PART_CHANNELS, "", out);
  CAFFE_TENSOR(c, node, "weight", 0, rows, out);
  node->shape.size[node->shape.rank++] = out;
  if (!prototxt_bool(p, "bias_term", true))
    return caffe_give(c, node);
  struct graph_node *bias = graph_join(c->graph, WORD_WEIGHT);
  graph_int(c->graph, bias, PART_CHANNELS, "", out);
  bias->shape = (struct graph_shape){1, {out}};
  CAFFE_TENSOR(c, bias, "weight", 1, out);
  return caffe_give(c,
                    graph_pair(c->graph, WORD_ADD, node->index, bias->index));
}

/* Sums or means of the axes from `axis` on, as a factor of them
 * (reduction_layer.cpp). */
bool caffe_reduction(struct caffe *c) {
  const struct prototxt_field *p = caffe_param(c, "reduction_param");
  const struct graph_shape in = *caffe_shape(c, c->at->bottoms[0]);
  struct slice how = prototxt_text(p, "operation", "SUM");
  int64_t axis = prototxt_int(c->graph, p, "axis", 0, -8, 7);
  double factor = prototxt_real(c->graph, p, "coeff", 1);
  bool mean = slice_is(how, "MEAN") || slice_is(how, "4");
  int at = c->at->bottoms[0];
  axis += axis < 0 ? in.rank + 1 : 0;
  if (axis < 1 || axis > in.rank)
    return caffe_fail(c, "samples of a batch cannot be summed");
  if (slice_is(how, "ASUM") || slice_is(how, "2"))
    at = graph_layer(c->graph, WORD_ABS, at)->index;
  if (slice_is(how, "SUMSQ") || slice_is(how, "3")) {
    struct graph_node *square = graph_layer(c->graph, WORD_POW, at);
    graph_flag(c->graph, square, "2");
    at = square->index;
  }
  struct graph_node *node =
      graph_layer(c->graph, mean ? WORD_MEAN : WORD_SUM, at);
  node->shape.rank = 0;
  for (int i = 0; i < in.rank; i++) { /* Caffe's axis 1 is netc's last */
    int theirs = i == in.rank - 1 ? 1 : i + 2;
    if (theirs < axis)
      node->shape.size[node->shape.rank++] = in.size[i];
    else
      graph_arg(c->graph, node, PART_NONE,
                "axis=", graph_axis(c->graph, &in, i));
  }
  if (node->shape.rank == 0)
    node->shape = (struct graph_shape){1, {1}};
  if (factor < 1 || factor > 1) {
    node = graph_layer(c->graph, WORD_MUL, node->index);
    graph_real(c->graph, node, "", factor);
  }
  return caffe_give(c, node);
}

/* Of Fast R-CNN: a map and its boxes, each with the sample that it is of. */
bool caffe_roi_pooling(struct caffe *c) {
  const struct prototxt_field *p = caffe_param(c, "roi_pooling_param");
  int64_t size[2] = {prototxt_int(c->graph, p, "pooled_h", 0, 1, CAFFE_MOST),
                     prototxt_int(c->graph, p, "pooled_w", 0, 1, CAFFE_MOST)};
  struct graph_node *boxes =
      c->at->bottom_count == 2 ? graph_at(c->graph, c->at->bottoms[1]) : NULL;
  if (c->graph->failed || !caffe_is_map(c))
    return false;
  if (!boxes || boxes->word != WORD_INPUT || size[0] == 0 || size[1] == 0)
    return caffe_fail(c, "it needs boxes that come in, `pooled_h` and "
                         "`pooled_w`");
  boxes->shape = (struct graph_shape){2, {1, 4}};
  graph_note(c->graph,
             "`%s` is one box here, left, top, right and bottom, without the "
             "number of its sample.",
             boxes->name);
  int64_t channels = caffe_channels(c);
  struct graph_node *node = caffe_first(c, WORD_ROIPOOL);
  graph_arg(c->graph, node, PART_NONE, "", graph_sizes(c->graph, size, 2));
  node->key = "boxes=";
  node->keyed = boxes->index;
  graph_real(c->graph, node,
             "scale=", prototxt_real(c->graph, p, "spatial_scale", 1));
  node->shape = (struct graph_shape){4, {1, size[0], size[1], channels}};
  node = graph_layer(c->graph, WORD_RESHAPE, node->index);
  node->shape = (struct graph_shape){3, {size[0], size[1], channels}};
  graph_arg(c->graph, node, PART_NONE, "",
            graph_sizes(c->graph, node->shape.size, 3));
  return caffe_give(c, node);
}
