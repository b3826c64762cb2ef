/* Views: the axes of a value as axes of a layer's output. */
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "import/onnx/reader.h"

int64_t onnx_values(struct onnx *x, int node) {
  const struct graph_shape *shape = graph_shape(x->graph, node);
  int64_t values = 1, room = 1, most = MOST_VALUES / x->batch;
  for (int i = 0; i < shape->rank; i++) {
    if (shape->size[i] > most / room) {
      onnx_fail(x, "a tensor is too large: %s",
                graph_sizes(x->graph, shape->size, shape->rank));
      return 1;
    }
    values *= shape->size[i];
    room *= max_i64(shape->size[i], 1);
  }
  return values;
}

struct onnx_view view_fresh(struct onnx *x, int node, int rank,
                            const int64_t *dims, const int *order, int count) {
  int64_t strides[LAYOUT_RANK] = {0}, stride = 1;
  const struct graph_shape *shape = graph_shape(x->graph, node);
  int64_t values = onnx_values(x, node);
  int64_t ones[LAYOUT_RANK];
  for (int i = 0; i < rank; i++)
    ones[i] = 1;
  if (x->graph->failed)
    return (struct onnx_view){node, layout_dense(rank, ones)};
  for (int i = 0; i < rank; i++)
    strides[i] = values; /* the batch, or size 1 */
  for (int i = count; i-- > 0;) {
    int64_t size = dims[order[i]];
    if (shape->rank != count ||
        (size != shape->size[i] && size != shape->size[i] * x->batch))
      onnx_fail(x, "its output is %s in the file, but netc's layer gives %s",
                graph_sizes(x->graph, dims, rank),
                graph_sizes(x->graph, shape->size, shape->rank));
    strides[order[i]] = stride;
    stride *= shape->size[i];
  }
  return (struct onnx_view){node, layout_of(rank, dims, strides, 0)};
}

bool view_is_batch(struct onnx *x, const struct onnx_view *view, int axis) {
  int64_t values = onnx_values(x, view->node);
  if (view->at.dim[axis] == 1)
    return true;
  for (int i = 0; i < view->at.count; i++)
    if (view->at.atom[i].axis == axis)
      return x->batch > 1 && view->at.atom[i].stride == values &&
             view->at.atom[i].size == x->batch &&
             view->at.dim[axis] == x->batch;
  return false;
}

bool view_rearrange(struct onnx *x, const struct onnx_view *view,
                    const int *order, int count, struct onnx_view *result) {
  struct onnx_layout want = layout_order(&view->at, count, order);
  bool used[LAYOUT_RANK] = {false};
  for (int i = 0; i < count; i++)
    used[order[i]] = true;
  for (int i = 0; i < view->at.rank; i++) {
    if (used[i])
      continue;
    if (!view_is_batch(x, view, i))
      return onnx_fail(
          x, "axis %d has size %" PRId64 "; only a batch is supported there", i,
          view->at.dim[i]);
    if (view->at.dim[i] == 1)
      continue;
    /* The batch is first, and is dropped there. */
    struct onnx_layout batch = layout_of(
        1, &view->at.dim[i], (int64_t[]){onnx_values(x, view->node)}, 0);
    memmove(want.atom + 1, want.atom, (size_t)want.count * sizeof *want.atom);
    want.atom[0] = batch.atom[0];
    want.atom[0].axis = 0;
    want.count++;
    if (want.rank == 0)
      want.dim[want.rank++] = 1;
    want.dim[0] *= view->at.dim[i];
  }
  int node = view_realise(x, view->node, &want, false);
  if (node < 0)
    return false;
  *result = view_fresh(x, node, view->at.rank, view->at.dim, order, count);
  return true;
}

bool view_plain(struct onnx *x, const struct onnx_view *view,
                struct onnx_view *result) {
  struct onnx_axes axes;
  axes_plain(x, view, -1, &axes);
  if (axes.count == 0 && view->at.rank > 0)
    axes.order[axes.count++] = 0;
  return view_rearrange(x, view, axes.order, axes.count, result);
}

bool view_channels_last(struct onnx *x, const struct onnx_view *view,
                        struct onnx_view *result) {
  int order[LAYOUT_RANK], count = 0;
  if (view->at.rank < 2)
    return onnx_fail(x, "a map needs at least two axes, batch and channels");
  for (int i = 2; i < view->at.rank; i++)
    order[count++] = i;
  order[count++] = 1;
  return view_rearrange(x, view, order, count, result);
}

bool view_resized(struct onnx *x, const struct onnx_view *view, int node,
                  struct onnx_view *result) {
  const struct graph_shape *from = graph_shape(x->graph, view->node);
  const struct graph_shape *to = graph_shape(x->graph, node);
  struct onnx_atom digits[LIMIT_RANK + 1];
  int64_t strides[LIMIT_RANK + 1], stride = 1, space = 1;
  struct onnx_layout *at = &result->at;
  struct onnx_layout old = view->at;
  *at = (struct onnx_layout){.rank = old.rank};
  for (int i = from->rank; i-- > 0;) {
    digits[i] = (struct onnx_atom){from->size[i], space, 0};
    strides[i] = stride;
    space *= from->size[i];
    stride *= to->size[i];
  }
  digits[from->rank] = (struct onnx_atom){x->batch, space, 0};
  strides[from->rank] = stride;
  for (int i = 0; i < old.rank; i++)
    at->dim[i] = 1;
  for (int i = 0; i < old.count; i++) {
    struct onnx_piece pieces[LAYOUT_ATOMS];
    int made = layout_pieces(digits, from->rank + 1, old.atom[i].size,
                             old.atom[i].stride, pieces);
    if (made == 0 || at->count + made > LAYOUT_ATOMS)
      return onnx_fail(x, "its axes are in an order that no layer produces");
    for (int k = 0; k < made; k++) {
      int d = pieces[k].digit;
      int64_t size = pieces[k].size, now = d < from->rank ? to->size[d] : size;
      if (d < from->rank && now != from->size[d]) {
        if (size != from->size[d])
          return onnx_fail(x, "a merged axis changes its size");
        size = now;
      }
      at->dim[old.atom[i].axis] *= size;
      if (size > 1)
        at->atom[at->count++] = (struct onnx_atom){
            size, pieces[k].step * strides[d], old.atom[i].axis};
    }
  }
  result->node = node;
  return true;
}

bool layout_spread(const struct onnx_layout *at, int rank, const int64_t *dims,
                   struct onnx_layout *result) {
  int front = rank - at->rank;
  *result = (struct onnx_layout){.rank = rank, .first = at->first};
  if (front < 0)
    return false;
  for (int i = 0; i < rank; i++) {
    int64_t size = i < front ? 1 : at->dim[i - front];
    result->dim[i] = dims[i];
    if (size != dims[i] && size != 1)
      return false;
    if (size == 1 && dims[i] > 1)
      result->atom[result->count++] = (struct onnx_atom){dims[i], 0, i};
    for (int k = 0; k < at->count && size > 1; k++)
      if (at->atom[k].axis == i - front) {
        result->atom[result->count] = at->atom[k];
        result->atom[result->count++].axis = i;
      }
  }
  return true;
}

/* Gives repeated axes size 1; false if only part of an axis is repeated. */
static bool collapse(struct onnx_layout *want) {
  struct onnx_layout result = {.rank = want->rank, .first = want->first};
  for (int i = 0; i < want->rank; i++) {
    int64_t size = 1;
    bool repeated = false;
    for (int k = 0; k < want->count; k++) {
      if (want->atom[k].axis != i)
        continue;
      repeated = repeated || want->atom[k].stride == 0;
      if (want->atom[k].stride != 0) {
        size *= want->atom[k].size;
        result.atom[result.count++] = want->atom[k];
      }
    }
    if (repeated && size > 1)
      return false;
    result.dim[i] = size;
  }
  *want = result;
  return true;
}

bool layout_along(struct onnx *x, const struct onnx_view *view,
                  const struct onnx_layout *other, int64_t other_values,
                  struct onnx_layout *want) {
  const struct graph_shape *shape = graph_shape(x->graph, view->node);
  int64_t dims[LIMIT_RANK + 1];
  int rank = 0;
  struct onnx_layout seen, dense;
  if (x->batch > 1)
    dims[rank++] = x->batch;
  for (int i = 0; i < shape->rank; i++)
    dims[rank++] = shape->size[i];
  dense = layout_dense(rank, dims);
  if (!layout_seen(&view->at, &dense, &seen) ||
      !layout_through(other, &seen, want) || !collapse(want))
    return false;
  if (x->batch == 1)
    return true;
  bool repeats = want->dim[0] == 1;
  bool goes = want->dim[0] == x->batch && want->count > 0 &&
              want->atom[0].axis == 0 && want->atom[0].size == x->batch &&
              want->atom[0].stride == other_values;
  if (!repeats && !goes)
    return false;
  if (repeats && other_values > 0)
    return false; /* a tensor without the batch */
  int order[LAYOUT_RANK];
  for (int i = 1; i < rank; i++)
    order[i - 1] = i;
  *want = layout_order(want, rank - 1, order);
  if (goes) { /* view_realise drops it again */
    memmove(want->atom + 1, want->atom,
            (size_t)want->count * sizeof *want->atom);
    want->atom[0] = (struct onnx_atom){x->batch, other_values, 0};
    want->count++;
    want->dim[0] *= x->batch;
  }
  return true;
}
