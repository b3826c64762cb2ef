/* Maps axes of the file to axes of a node. */
#include <string.h>

#include "import/onnx/reader.h"

const char *onnx_axis_word(struct onnx *x, const struct graph_shape *shape,
                           int axis) {
  if (axis == shape->rank - 1)
    return "c";
  if (shape->rank == 3)
    return axis == 0 ? "h" : "w";
  return shape->rank == 2 ? "l" : graph_text(x->graph, "%d", axis);
}

int view_axis(struct onnx *x, const struct onnx_view *view, int axis) {
  const struct graph_shape *shape = graph_shape(x->graph, view->node);
  int64_t stride = 1;
  const struct onnx_atom *atom = NULL;
  for (int i = 0; i < view->at.count; i++)
    if (view->at.atom[i].axis == axis) {
      if (atom)
        return -1;
      atom = &view->at.atom[i];
    }
  for (int i = shape->rank; i-- > 0; stride *= shape->size[i])
    if (atom && shape->size[i] == atom->size && stride == atom->stride)
      return i;
  return -1;
}

/* True for an axis of size 1 that can be dropped: two others are larger. */
static bool is_idle(struct onnx *x, const struct onnx_view *view, int axis) {
  int more = 0;
  for (int i = 0; i < view->at.rank; i++)
    more += i != axis && view->at.dim[i] > 1 && !view_is_batch(x, view, i);
  return view->at.dim[axis] == 1 && more > 1;
}

bool view_to_last(struct onnx *x, const struct onnx_view *view, int axis,
                  struct onnx_view *result, struct onnx_axes *axes) {
  const struct graph_shape *shape = graph_shape(x->graph, view->node);
  bool idle = shape->rank > 2 && shape->size[0] == 1;
  axes->count = 0;
  if (axis == x->batch_axis && (x->open_batch || view->at.dim[axis] > 1) &&
      view_is_batch(x, view, axis)) {
    x->over_batch = true;
    return onnx_fail(x, "its axis %d is the batch", axis);
  }
  if (view_axis(x, view, axis) == shape->rank - 1 && view->at.dim[axis] > 1 &&
      (!idle || shape->rank != 3)) {
    *result = *view;
    return true;
  }
  for (int i = 0; i < view->at.rank; i++)
    if (i != axis && !is_idle(x, view, i) &&
        !(view_is_batch(x, view, i) &&
          (i == x->batch_axis || view->at.dim[i] > 1)))
      axes->order[axes->count++] = i;
  axes->order[axes->count++] = axis;
  return view_rearrange(x, view, axes->order, axes->count, result);
}

/* The only atom of an axis; NULL if it has none or several. */
static const struct onnx_atom *only_atom(const struct onnx_view *view,
                                         int axis) {
  const struct onnx_atom *found = NULL;
  for (int i = 0; i < view->at.count; i++)
    if (view->at.atom[i].axis == axis) {
      if (found)
        return NULL;
      found = &view->at.atom[i];
    }
  return found;
}

/* An axis of size 1 that is neither taken nor the batch; -1: none. */
static int next_single(const struct onnx *x, const struct onnx_view *view,
                       const bool *taken) {
  for (int i = 0; i < view->at.rank; i++)
    if (view->at.dim[i] == 1 && !taken[i] && i != x->batch_axis)
      return i;
  return -1;
}

bool axes_of(struct onnx *x, const struct onnx_view *view,
             struct onnx_axes *axes) {
  const struct graph_shape *shape = graph_shape(x->graph, view->node);
  bool taken[LAYOUT_RANK] = {false};
  int64_t stride = 1;
  axes->count = shape->rank;
  for (int i = shape->rank; i-- > 0; stride *= shape->size[i]) {
    axes->order[i] = -1;
    for (int k = 0; k < view->at.rank && shape->size[i] > 1; k++) {
      const struct onnx_atom *atom = only_atom(view, k);
      if (atom && atom->size == shape->size[i] && atom->stride == stride &&
          view->at.dim[k] == atom->size)
        axes->order[i] = k;
    }
    if (axes->order[i] >= 0)
      taken[axes->order[i]] = true;
    else if (shape->size[i] > 1)
      return false;
  }
  for (int i = 0; i < shape->rank; i++) {
    if (axes->order[i] >= 0)
      continue;
    axes->order[i] = next_single(x, view, taken);
    if (axes->order[i] < 0)
      return false;
    taken[axes->order[i]] = true;
  }
  for (int i = 0; i < view->at.rank; i++)
    if (!taken[i] && !view_is_batch(x, view, i))
      return false;
  return true;
}

int axes_place(const struct onnx_axes *axes, int axis) {
  for (int i = 0; i < axes->count; i++)
    if (axes->order[i] == axis)
      return i;
  return -1;
}

/* States have axes layers, batch, features: what works along the first axis has
 * the batch in the second. */
static int batch_beside(const struct onnx *x, const struct onnx_view *view,
                        int with) {
  bool along = with >= 0 && with == x->batch_axis;
  return along && view->at.rank == 3 && view->at.dim[1] == 1 ? 1
                                                             : x->batch_axis;
}

void axes_plain(struct onnx *x, const struct onnx_view *view, int with,
                struct onnx_axes *axes) {
  int batch = batch_beside(x, view, with);
  axes->count = 0;
  for (int i = 0; i < view->at.rank; i++)
    if (i == with ||
        (!is_idle(x, view, i) &&
         ((i != batch && view->at.dim[i] == 1) || !view_is_batch(x, view, i))))
      axes->order[axes->count++] = i;
}

/* True if an axis has all the nearest values, also in another order, as the
 * channels after a shuffle. */
static bool is_inner(const struct onnx_view *view, int axis) {
  for (int i = 0; i < view->at.count; i++) {
    const struct onnx_atom *atom = &view->at.atom[i];
    if (atom->axis == axis && atom->size * atom->stride > view->at.dim[axis])
      return false;
  }
  return true;
}

/* Like axes_plain, but the axis with stride 1 comes last. */
void axes_near(struct onnx *x, const struct onnx_view *view, int with,
               struct onnx_axes *axes) {
  int inner = -1;
  axes_plain(x, view, with, axes);
  for (int i = 0; i < view->at.count; i++)
    if (view->at.atom[i].stride == 1)
      inner = view->at.atom[i].axis;
  if (view->at.rank < 4 || inner < 0 || !is_inner(view, inner) ||
      axes_place(axes, inner) < 0)
    return;
  int place = axes_place(axes, inner);
  memmove(axes->order + place, axes->order + place + 1,
          (size_t)(axes->count - place - 1) * sizeof *axes->order);
  axes->order[axes->count - 1] = inner;
}

bool view_parted(struct onnx *x, const struct onnx_view *view,
                 struct onnx_view *result) {
  struct onnx_axes axes;
  axes_plain(x, view, -1, &axes);
  for (int i = 0; i < axes.count; i++)
    if (view->at.dim[axes.order[i]] > 1 && !only_atom(view, axes.order[i]))
      return view_plain(x, view, result);
  for (int i = 1; i < axes.count; i++) /* insertion sort: there are few */
    for (int k = i; k > 0; k--) {
      const struct onnx_atom *a = only_atom(view, axes.order[k - 1]);
      const struct onnx_atom *b = only_atom(view, axes.order[k]);
      if (!a || !b || a->stride >= b->stride)
        break;
      int order = axes.order[k];
      axes.order[k] = axes.order[k - 1];
      axes.order[k - 1] = order;
    }
  if (axes.count == 0 || x->batch > 1)
    return view_plain(x, view, result);
  return view_rearrange(x, view, axes.order, axes.count, result);
}

bool view_with_axis(struct onnx *x, const struct onnx_view *view, int axis,
                    struct onnx_axes *axes, struct onnx_view *result) {
  if (axes_of(x, view, axes) && axes_place(axes, axis) >= 0) {
    *result = *view;
    return true;
  }
  axes_near(x, view, axis, axes);
  return view_rearrange(x, view, axes->order, axes->count, result);
}

bool onnx_joint_dims(struct onnx *x, const int64_t *a, int a_rank,
                     const int64_t *b, int b_rank, int *rank, int64_t *dims) {
  int count = a_rank > b_rank ? a_rank : b_rank;
  int64_t first[MOST_AXES];
  memcpy(first, a, (size_t)a_rank * sizeof *a);
  for (int i = 0; i < count; i++) {
    int at_a = i - (count - a_rank), at_b = i - (count - b_rank);
    int64_t one = at_a < 0 ? 1 : first[at_a], two = at_b < 0 ? 1 : b[at_b];
    if (one != two && one != 1 && two != 1)
      return onnx_fail(x, "its input sizes do not agree: %s and %s",
                       graph_sizes(x->graph, first, a_rank),
                       graph_sizes(x->graph, b, b_rank));
    dims[i] = one != 1 ? one : two;
  }
  *rank = count;
  return true;
}
