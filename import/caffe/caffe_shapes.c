/* Caffe's layers that move or select values. */
#include "import/caffe/caffe.h"

/* Caffe's sizes without the batch: channels, height, width. */
static int caffe_dims(const struct graph_shape *shape, int64_t *dims) {
  for (int i = 0; i < shape->rank; i++)
    dims[i] = shape->size[i == 0 ? shape->rank - 1 : i - 1];
  return shape->rank;
}

/*
 * Replaces `num_axes` axes of the bottom, from `axis` on, by the sizes of
 * `shape`. `dim: 0` keeps a size, `dim: -1` is inferred (reshape_layer.cpp).
 * Returns the number of sizes without the batch, or -1 after an error.
 */
static int reshaped(struct caffe *c, int64_t *dims) {
  const struct prototxt_field *p = c->params;
  const struct graph_shape *in = caffe_shape(c);
  int64_t rest = graph_count(in->size, (size_t)in->rank);
  int64_t old[LIMIT_RANK + 1] = {1};
  int rank = caffe_dims(in, old + 1) + 1, count = 0, free = -1;
  int64_t axis = prototxt_int(c->graph, p, "axis", 0, -rank - 1, rank);
  axis += axis < 0 ? rank + 1 : 0;
  int64_t span = prototxt_int(c->graph, p, "num_axes", -1, -1, rank - axis);
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
    caffe_fail(c, "the new shape has a different number of values");
  if (free > 0)
    dims[free] = rest;
  return c->graph->failed ? -1 : count - 1;
}

bool caffe_reshape(struct caffe *c) {
  int64_t dims[LIMIT_RANK + 2];
  int rank = reshaped(c, dims);
  if (rank < 0)
    return false;
  struct graph_node *node = caffe_first(c, WORD_RESHAPE);
  dims[rank + 1] = dims[1]; /* channels come last */
  graph_arg(c->graph, node, PART_NONE, "",
            graph_sizes(c->graph, dims + 2, rank));
  if (rank > 1)
    graph_note(c->graph,
               "`%s` reshapes with channels first in Caffe and last in netc: "
               "the sizes are equal, but the values are in another order.",
               c->at->name);
  return caffe_give(c, node);
}

bool caffe_permute(struct caffe *c) {
  const struct graph_shape *in = caffe_shape(c);
  int rank = in->rank, count = 0;
  int64_t order[LIMIT_RANK + 1];
  for (struct prototxt_field *f = prototxt_find(c->params, "order");
       f && count <= rank; f = prototxt_again(f))
    order[count++] = prototxt_value(c->graph, f, 0, rank);
  for (; count <= rank; count++)
    order[count] = count;
  struct graph_node *node = caffe_first(c, WORD_PERMUTE);
  bool moves = order[0] != 0;
  for (int i = 0; i < rank; i++) {
    /* netc's axis i is Caffe's i + 2, and the last is Caffe's 1. */
    int from = caffe_axis(in, order[i == rank - 1 ? 1 : i + 2]);
    moves = moves || from < 0;
    graph_int(c->graph, node, PART_NONE, "", from);
  }
  return moves ? caffe_fail(c, "the batch must stay the first axis")
               : caffe_give(c, node);
}

bool caffe_crop(struct caffe *c) {
  struct prototxt_field *offset = prototxt_find(c->params, "offset");
  if (c->at->bottom_count != 2 || !caffe_is_map(c) ||
      caffe_given_axis(c, 2) != 2)
    return caffe_fail(c, "only a crop of height and width to a second bottom "
                         "is supported");
  const struct graph_shape *in = caffe_shape(c);
  const struct graph_shape *to = graph_shape(c->graph, c->at->bottoms[1]);
  int input = c->in;
  for (int i = 0; i < 2; i++) {
    int64_t from = offset ? prototxt_value(c->graph, offset, 0, CAFFE_MOST) : 0;
    if (offset && prototxt_again(offset))
      offset = prototxt_again(offset);
    if (to->rank != 3 || from > in->size[i] || to->size[i] > in->size[i] - from)
      return caffe_fail(c, "it crops outside its input");
    input = graph_part(c->graph, input, i, from, from + to->size[i]);
  }
  return caffe_give(c, graph_at(c->graph, input));
}

bool caffe_reorg(struct caffe *c) {
  struct graph_node *node = caffe_first(c, WORD_SPACE2DEPTH);
  graph_int(c->graph, node, PART_NONE, "", caffe_int(c, "stride", 2, 1));
  return caffe_give(c, node);
}

bool caffe_shuffle(struct caffe *c) {
  struct graph_node *node = caffe_first(c, WORD_SHUFFLE);
  graph_int(c->graph, node, PART_GROUPS, "", caffe_int(c, "group", 1, 1));
  return caffe_give(c, node);
}

/* Indices select rows of a table (embed_layer.cpp). */
bool caffe_embed(struct caffe *c) {
  int64_t rows = caffe_int(c, "input_dim", 0, 1);
  int64_t out = caffe_int(c, "num_output", 0, 1);
  struct graph_node *in = graph_at(c->graph, c->in);
  if (rows == 0 || out == 0)
    return caffe_fail(c, "`input_dim` or `num_output` is missing");
  if (in->word == WORD_INPUT && in->args.count == 0)
    graph_arg(c->graph, in, PART_NONE, ": ", "i32");
  if (caffe_shape(c)->rank > 2)
    return caffe_fail(c, "only a sequence of indices is supported");
  struct graph_node *node = graph_embed(c->graph, c->in, rows, out);
  CAFFE_TENSOR(c, node, "weight", 0, rows, out);
  if (!caffe_bool(c, "bias_term", true))
    return caffe_give(c, node);
  struct graph_node *bias = graph_join(c->graph, WORD_WEIGHT);
  graph_int(c->graph, bias, PART_CHANNELS, "", out);
  CAFFE_TENSOR(c, bias, "weight", 1, out);
  return caffe_give(c,
                    graph_pair(c->graph, WORD_ADD, node->index, bias->index));
}

/* Scaled sum or mean of the axes from `axis` on (reduction_layer.cpp). */
bool caffe_reduction(struct caffe *c) {
  const struct graph_shape *in = caffe_shape(c);
  int64_t axis = caffe_given_axis(c, 0);
  double factor = caffe_real(c, "coeff", 1);
  int at = c->in;
  axis += axis < 0 ? in->rank + 1 : 0;
  if (axis < 1 || axis > in->rank)
    return caffe_fail(c, "samples of a batch cannot be summed");
  if (caffe_is(c, "operation", "ASUM", "2"))
    at = graph_layer(c->graph, WORD_ABS, at)->index;
  if (caffe_is(c, "operation", "SUMSQ", "3"))
    at = graph_with(c->graph, WORD_POW, at, 2)->index;
  struct graph_node *node = graph_layer(
      c->graph, caffe_is(c, "operation", "MEAN", "4") ? WORD_MEAN : WORD_SUM,
      at);
  for (int i = 0; i < in->rank; i++) /* Caffe's axis 1 is netc's last */
    if ((i == in->rank - 1 ? 1 : i + 2) >= axis)
      graph_arg(c->graph, node, PART_NONE,
                "axis=", graph_axis(c->graph, in, i));
  if (factor < 1 || factor > 1)
    node = graph_with(c->graph, WORD_MUL, node->index, factor);
  return caffe_give(c, node);
}

/* Fast R-CNN reads a map and boxes; each box has the index of its sample. */
bool caffe_roi_pooling(struct caffe *c) {
  int64_t size[3] = {caffe_int(c, "pooled_h", 0, 1),
                     caffe_int(c, "pooled_w", 0, 1), caffe_channels(c)};
  struct graph_node *boxes =
      c->at->bottom_count == 2 ? graph_at(c->graph, c->at->bottoms[1]) : NULL;
  if (!boxes || boxes->word != WORD_INPUT || size[0] == 0 || size[1] == 0)
    return caffe_fail(c, "it needs input boxes, `pooled_h` and `pooled_w`");
  boxes->shape = (struct graph_shape){2, {1, 4}};
  graph_note(c->graph,
             "`%s` is read as one box (left, top, right, bottom) without the "
             "number of its sample.",
             boxes->name);
  struct graph_node *node = caffe_first(c, WORD_ROIPOOL);
  graph_arg(c->graph, node, PART_NONE, "", graph_sizes(c->graph, size, 2));
  node->key = "boxes=";
  node->keyed = boxes->index;
  graph_real(c->graph, node, "scale=", caffe_real(c, "spatial_scale", 1));
  node = graph_layer(c->graph, WORD_RESHAPE, node->index);
  graph_arg(c->graph, node, PART_NONE, "", graph_sizes(c->graph, size, 3));
  return caffe_give(c, node);
}
