/* Nodes in a wanted layout: reshapes, permutes, shuffles and repeats. */
#include <stdlib.h>
#include <string.h>

#include "import/onnx/op_moves.h"

/* The wanted layout without the batch. */
static bool without_batch(struct onnx *x, int64_t values,
                          const struct onnx_layout *want,
                          struct onnx_layout *result) {
  *result = *want;
  if (x->batch == 1 || result->count == 0)
    return true;
  struct onnx_atom *first = &result->atom[0];
  if (first->size * first->stride != x->batch * values ||
      first->stride > values || values % first->stride != 0)
    return false;
  int64_t left = values / first->stride;
  result->dim[first->axis] = result->dim[first->axis] / first->size * left;
  first->size = left;
  if (left == 1) {
    memmove(first, first + 1, (size_t)--result->count * sizeof *first);
  }
  return true;
}

/* True if the atoms cover all values in memory order. */
static bool is_dense(const struct onnx_layout *want, int64_t values) {
  int64_t stride = 1;
  for (int i = want->count; i-- > 0;) {
    if (want->atom[i].stride != stride)
      return false;
    stride *= want->atom[i].size;
  }
  return stride == values;
}

/* True if the atoms cover every value once. */
static bool is_whole(const struct onnx_layout *want, int64_t values, int *by) {
  int64_t stride = 1;
  for (int i = 0; i < want->count; i++) {
    int to = i;
    while (to > 0 && want->atom[by[to - 1]].stride < want->atom[i].stride) {
      by[to] = by[to - 1];
      to--;
    }
    by[to] = i;
  }
  for (int i = want->count; i-- > 0;) {
    if (want->atom[by[i]].stride != stride)
      return false;
    stride *= want->atom[by[i]].size;
  }
  return stride == values && want->first == 0;
}

static bool same_sizes(const struct graph_shape *shape,
                       const struct onnx_layout *want, bool loose) {
  int skip = 0, theirs = 0;
  while (loose && skip < shape->rank && shape->size[skip] == 1)
    skip++;
  while (loose && theirs < want->rank && want->dim[theirs] == 1)
    theirs++;
  if (shape->rank - skip != want->rank - theirs)
    return false;
  for (int i = skip, k = theirs; i < shape->rank; i++, k++)
    if (shape->size[i] != want->dim[k])
      return false;
  return true;
}

static void shape_of_layout(const struct onnx_layout *want,
                            struct graph_shape *shape) {
  shape->rank = 0;
  for (int i = 0; i < want->rank && i < LIMIT_RANK; i++)
    shape->size[shape->rank++] = want->dim[i];
  if (shape->rank == 0)
    shape->size[shape->rank++] = 1;
}

static void note_move(struct onnx *x, int node, int move) {
  *VEC_PUSH(x->arena, &onnx_extra(x, node)->moves) = move;
}

/* An earlier node for the same move; -1: none. */
static int same_move(struct onnx *x, int node, enum layer_word word,
                     const struct graph_shape *shape, const int *order) {
  const struct extra *extra = onnx_extra(x, node);
  for (size_t i = 0; i < extra->moves.count; i++) {
    const struct graph_node *move = graph_at(x->graph, extra->moves.at[i]);
    bool same =
        move->word == word &&
        (order || graph_same_shape(graph_shape(x->graph, move->index), shape));
    for (size_t k = 0; same && order && k < move->args.count; k++)
      same = atoi(move->args.at[k].value) == order[k];
    if (same)
      return move->index;
  }
  return -1;
}

static int reshaped(struct onnx *x, int node, const struct graph_shape *shape) {
  if (graph_same_shape(graph_shape(x->graph, node), shape))
    return node;
  bool flat = shape->rank == 1;
  int same =
      same_move(x, node, flat ? WORD_FLATTEN : WORD_RESHAPE, shape, NULL);
  if (same >= 0)
    return same;
  int made = graph_reshape(x->graph, node, shape);
  note_move(x, node, made);
  return made;
}

static int permuted(struct onnx *x, int node, const int *order) {
  int same = same_move(x, node, WORD_PERMUTE, NULL, order);
  if (same >= 0)
    return same;
  int rank = graph_shape(x->graph, node)->rank;
  int made = graph_permute(x->graph, node, order, rank)->index;
  note_move(x, node, made);
  return made;
}

/* A channel shuffle: the last axis is k x g of g x k. */
static int64_t shuffle_of(const struct graph_shape *shape,
                          const struct onnx_layout *want) {
  int n = want->count;
  int64_t channels = shape->size[shape->rank - 1], stride = channels;
  if (n < 2 || !same_sizes(shape, want, false) ||
      want->atom[n - 1].axis != want->rank - 1 ||
      want->atom[n - 2].axis != want->rank - 1 ||
      want->atom[n - 2].stride != 1 ||
      want->atom[n - 1].stride != want->atom[n - 2].size ||
      want->atom[n - 1].size * want->atom[n - 2].size != channels)
    return 0;
  for (int i = n - 2; i-- > 0;) {
    if (want->atom[i].stride != stride)
      return 0;
    stride *= want->atom[i].size;
  }
  return want->atom[n - 1].size;
}

/* The order of the node's own axes, if no reshape is needed. */
static bool axis_order(const struct graph_shape *shape,
                       const struct onnx_layout *want, int *order) {
  int64_t strides[LIMIT_RANK], stride = 1;
  int next = 0, single = 0;
  if (shape->rank != want->rank)
    return false;
  for (int i = shape->rank; i-- > 0;) {
    strides[i] = stride;
    stride *= shape->size[i];
  }
  for (int i = 0; i < want->rank; i++) {
    int found = -1;
    if (want->dim[i] == 1) {
      while (single < shape->rank && shape->size[single] != 1)
        single++;
      if (single == shape->rank)
        return false;
      order[i] = single++;
      continue;
    }
    if (next >= want->count || want->atom[next].axis != i ||
        want->atom[next].size != want->dim[i])
      return false;
    for (int k = 0; k < shape->rank; k++)
      if (shape->size[k] == want->dim[i] &&
          strides[k] == want->atom[next].stride)
        found = k;
    if (found < 0)
      return false;
    order[i] = found;
    next++;
  }
  return true;
}

static int shuffled(struct onnx *x, int node, int groups) {
  int same = same_move(x, node, WORD_SHUFFLE, NULL, &groups);
  if (same >= 0)
    return same;
  struct graph_node *layer = onnx_layer(x, WORD_SHUFFLE, node);
  graph_int(x->graph, layer, PART_GROUPS, "", groups);
  note_move(x, node, layer->index);
  return layer->index;
}

/* Inverts a permutation: the source axis at position i. */
static int moved(struct onnx *x, int node, const struct onnx_layout *want,
                 const int *by) {
  struct graph_shape parts = {0}, end;
  int order[LIMIT_RANK];
  struct graph_shape now = *graph_shape(x->graph, node);
  int64_t groups = shuffle_of(&now, want);
  if (groups)
    return shuffled(x, node, (int)groups);
  if (axis_order(&now, want, order))
    return permuted(x, node, order);
  if (want->count > LIMIT_RANK)
    return ONNX_NONE(x, "reordering its axes takes more than %d axes",
                     LIMIT_RANK);
  for (int i = 0; i < want->count; i++) {
    parts.size[parts.rank++] = want->atom[by[i]].size;
    order[by[i]] = i;
  }
  node = permuted(x, reshaped(x, node, &parts), order);
  shape_of_layout(want, &end);
  return reshaped(x, node, &end);
}

int view_cost(struct onnx *x, int node, const struct onnx_layout *want) {
  struct onnx_layout inner;
  int64_t values = onnx_values(x, node);
  int by[LAYOUT_ATOMS];
  if (!without_batch(x, values, want, &inner) || !is_whole(&inner, values, by))
    return -1;
  if (!is_dense(&inner, values))
    return 2;
  return !same_sizes(graph_shape(x->graph, node), &inner, true);
}

/* Repeats a tensor `count` times along an axis of size 1. */
static int repeated(struct onnx *x, int node, int axis, int64_t count) {
  struct graph_shape shape = *graph_shape(x->graph, node);
  shape.size[axis] = count;
  int same = same_move(x, node, WORD_CONCAT, &shape, NULL);
  if (same >= 0)
    return same;
  struct graph_node *join = graph_join(x->graph, WORD_CONCAT);
  for (int64_t i = 0; i < count; i++)
    graph_operand(x->graph, join, node);
  move_put_axis(x, join, axis);
  onnx_extra(x, join->index)->axis = axis;
  note_move(x, node, join->index);
  return join->index;
}

/* Repeats axes, in part or as a whole, by a join of the same tensor: as heads
 * of keys that several heads of queries share. */
static int repeat(struct onnx *x, int node, const struct onnx_layout *want) {
  struct onnx_layout once = {.first = want->first};
  struct graph_shape shape;
  int axis = 0;
  if (want->count > LIMIT_RANK)
    return -1;
  for (int i = 0; i < want->count; i++) {
    const struct onnx_atom *atom = &want->atom[i];
    bool repeats = atom->stride == 0;
    if (repeats && atom->size > MOST_REPEATS)
      return -1;
    once.dim[once.rank++] = repeats ? 1 : atom->size;
    if (!repeats)
      once.atom[once.count++] = (struct onnx_atom){atom->size, atom->stride, i};
  }
  int by[LAYOUT_ATOMS];
  if (!is_whole(&once, onnx_values(x, node), by))
    return -1;
  node = view_realise(x, node, &once, false);
  for (axis = 0; axis < want->count && node >= 0; axis++)
    if (want->atom[axis].stride == 0)
      node = repeated(x, node, axis, want->atom[axis].size);
  shape_of_layout(want, &shape);
  return node < 0 ? node : reshaped(x, node, &shape);
}

static bool has_repeats(const struct onnx_layout *want) {
  for (int i = 0; i < want->count; i++)
    if (want->atom[i].stride == 0)
      return true;
  return false;
}

int view_realise(struct onnx *x, int node, const struct onnx_layout *want,
                 bool loose) {
  struct onnx_layout inner;
  struct graph_shape shape;
  int64_t values = onnx_values(x, node);
  int by[LAYOUT_ATOMS];
  if (!without_batch(x, values, want, &inner))
    return ONNX_NONE(x, "the samples of a batch are mixed with other axes");
  if (has_repeats(&inner) && inner.rank <= LIMIT_RANK) {
    int all = repeat(x, node, &inner);
    if (all >= 0)
      return all;
  }
  if (!is_whole(&inner, values, by))
    return ONNX_NONE(x, "its axes are in an order that no layer produces");
  if (inner.rank > LIMIT_RANK)
    return ONNX_NONE(x, "it has %d axes; a tensor has at most %d", inner.rank,
                     LIMIT_RANK);
  if (!is_dense(&inner, values))
    return moved(x, node, &inner, by);
  if (same_sizes(graph_shape(x->graph, node), &inner, loose))
    return node;
  shape_of_layout(&inner, &shape);
  return reshaped(x, node, &shape);
}
