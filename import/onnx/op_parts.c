/* Parts of a tensor: slices, splits, constant indices; repeats. */
#include <inttypes.h>
#include <string.h>

#include "import/onnx/emit.h"
#include "import/onnx/fold.h"
#include "import/onnx/op_moves.h"

enum { MOST_RUNS = 64 }; /* contiguous indices */

int move_part(struct onnx *x, int node, int axis, int64_t from, int64_t to) {
  const struct graph_shape *shape = graph_shape(x->graph, node);
  if (from == 0 && to == shape->size[axis])
    return node;
  int part = graph_slice(x->graph, node, axis, onnx_axis_word(x, shape, axis),
                         from, to)
                 ->index;
  onnx_extra(x, part)->axis = axis;
  onnx_extra(x, part)->from = from;
  return part;
}

void move_put_axis(struct onnx *x, struct graph_node *join, int axis) {
  const struct graph_shape *part = graph_shape(x->graph, join->inputs.at[0]);
  if (axis != part->rank - 1)
    graph_arg(x->graph, join, PART_NONE,
              "axis=", onnx_axis_word(x, part, axis));
}

/* Every `step`-th index: a part of blocks of that size. */
static bool stepped(struct onnx *x, struct moved *m, int axis, int64_t from,
                    int64_t count, int64_t step) {
  int64_t dims[MOST_AXES + 1];
  int rank = m->view.at.rank;
  int64_t size = m->view.at.dim[axis];
  if (size % step != 0 || from >= step || count != size / step)
    return onnx_fail(x,
                     "netc has no equivalent of a slice with steps of %" PRId64
                     " of %" PRId64 " places",
                     step, size);
  for (int i = 0; i < rank; i++)
    dims[i < axis ? i : i + 1] = m->view.at.dim[i];
  dims[axis] = size / step;
  dims[axis + 1] = step;
  if (rank + 1 > MOST_AXES || !move_to_dims(x, m, rank + 1, dims))
    return onnx_fail(x, "a slice with steps is not supported here");
  struct onnx_view part;
  struct onnx_axes axes;
  if (!view_with_axis(x, &m->view, axis + 1, &axes, &part))
    return false;
  int node =
      move_part(x, part.node, axes_place(&axes, axis + 1), from, from + 1);
  dims[axis + 1] = 1;
  m->view = view_fresh(x, node, rank + 1, dims, axes.order, axes.count);
  layout_drop(&m->view.at, axis + 1);
  return true;
}

/* Selects `count` indices of an axis, `step` apart. */
static bool move_slice(struct onnx *x, struct moved *m, int axis, int64_t from,
                       int64_t count, int64_t step) {
  int64_t size = m->view.at.dim[axis];
  count = count < 0 ? 0 : count;
  if (count < 1 && !m->constant)
    return onnx_fail(x, "its slice is empty");
  if (m->constant) {
    struct onnx_layout at = m->view.at;
    int64_t strides[MOST_AXES], stride = 1;
    for (int i = at.rank; i-- > 0; stride *= at.dim[i])
      strides[i] = stride;
    int64_t first = from * strides[axis];
    strides[axis] *= step;
    at.dim[axis] = count;
    at = layout_of(at.rank, at.dim, strides, first);
    const struct constant *table = m->constant;
    m->constant = constant_through(x, m->constant, &at);
    if (table->trained && table->rank == 2 && axis == 0 && first == 0 &&
        step == 1 && count < size)
      m->constant->longer = table;
    m->view.at = layout_dense(m->constant->rank, m->constant->dims);
    return !x->graph->failed;
  }
  if (count == size && step == 1)
    return true;
  if (step < 1 && count > 1)
    return onnx_fail(x,
                     "netc has no equivalent of a slice that runs backwards");
  if (step > 1 && count > 1)
    return stepped(x, m, axis, from, count, step);
  struct onnx_view part;
  struct onnx_axes axes;
  int64_t dims[MOST_AXES];
  if (!view_with_axis(x, &m->view, axis, &axes, &part))
    return false;
  int node =
      move_part(x, part.node, axes_place(&axes, axis), from, from + count);
  memcpy(dims, part.at.dim, sizeof dims);
  dims[axis] = count;
  m->view = view_fresh(x, node, part.at.rank, dims, axes.order, axes.count);
  return true;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/* True for every n-th row and column of a map, from the first on. */
static bool is_map_of_every(const struct moved *m, int count,
                            const int64_t *starts, const int64_t *ends,
                            const int64_t *axes, const int64_t *steps) {
  bool steps_far = false;
  if (m->constant || count < 1 || count > 3 || count + 2 != m->view.at.rank)
    return false;
  for (int i = 0; i < count; i++) {
    if (axes[i] != i + 2 || starts[i] != 0 || steps[i] < 1 ||
        ends[i] < m->view.at.dim[i + 2])
      return false;
    steps_far = steps_far || steps[i] > 1;
  }
  return steps_far;
}

/* As a pool of single values, whose stride need not divide the size. */
static bool read_as_pool(struct onnx *x, int count, const int64_t *steps) {
  static const int64_t kernel[3] = {1, 1, 1};
  int in = emit_input(x, 0);
  Onnx__NodeProto *pool = emit_open(x, "AveragePool");
  emit_ints(x, pool, "kernel_shape", kernel, count);
  emit_ints(x, pool, "strides", steps, count);
  int value = emit(x, pool, &in, 1);
  return value >= 0 && emit_give(x, 0, value);
}

bool op_slice(struct onnx *x) {
  struct moved m;
  int64_t starts[MOST_AXES], ends[MOST_AXES], axes[MOST_AXES], steps[MOST_AXES];
  int count = onnx_numbers(x, 1, "starts", starts, MOST_AXES);
  int end_count = onnx_numbers(x, 2, "ends", ends, MOST_AXES);
  if (count < 0 || end_count != count || !move_take(x, &m))
    return onnx_fail(x, "its indices depend on the inputs");
  bool named = onnx_has(x, 3) || onnx_attribute(x, "axes");
  bool stepping = onnx_has(x, 4);
  if ((named && onnx_numbers(x, 3, "axes", axes, MOST_AXES) != count) ||
      (stepping && onnx_numbers(x, 4, "steps", steps, MOST_AXES) != count))
    return onnx_fail(x, "its indices depend on the inputs");
  if (named && stepping &&
      is_map_of_every(&m, count, starts, ends, axes, steps))
    return read_as_pool(x, count, steps);
  bool marked[MOST_AXES];
  for (int i = 0; i < count && !named; i++)
    axes[i] = i;
  if (!onnx_mark_axes(x, axes, count, m.view.at.rank, marked))
    return false;
  for (int i = 0; i < count; i++) {
    int axis = onnx_axis(x, axes[i], m.view.at.rank);
    int64_t step = stepping ? steps[i] : 1;
    int64_t size = m.view.at.dim[axis], low = step < 0 ? -1 : 0;
    int64_t from = starts[i] < 0 ? starts[i] + size : starts[i];
    int64_t to = ends[i] < 0 ? clamp(ends[i], -size - 1, -1) + size : ends[i];
    if (step == 0)
      return onnx_fail(x, "its step is 0");
    from = clamp(from, 0, step < 0 ? size - 1 : size);
    to = clamp(to, low, size);
    step = clamp(step, -MOST_SIZE, MOST_SIZE);
    int64_t places = step > 0 ? (to - from + step - 1) / step
                              : (from - to - step - 1) / -step;
    if (!move_slice(x, &m, axis, from, places, step))
      return false;
  }
  return move_give(x, &m, 0);
}

bool op_split(struct onnx *x) {
  enum { MOST_PARTS = 4096 };
  struct moved m;
  int64_t sizes[MOST_PARTS], from = 0;
  if (!move_take(x, &m))
    return false;
  int axis = onnx_axis(x, onnx_int(x, "axis", 0), m.view.at.rank);
  int parts = (int)x->at->out_count;
  if (axis < 0 || parts > MOST_PARTS)
    return onnx_fail(x, "it has more than %d parts", MOST_PARTS);
  int64_t size = m.view.at.dim[axis];
  bool given = onnx_has(x, 1) || onnx_attribute(x, "split");
  int count = given ? onnx_numbers(x, 1, "split", sizes, MOST_PARTS) : parts;
  if (count != parts || parts == 0)
    return onnx_fail(x,
                     "its number of parts differs from its number of outputs");
  for (int i = 0; i < parts; i++) {
    struct moved part = m;
    int64_t whole = size / parts + (size % parts > 0);
    int64_t take_now = given ? sizes[i] : clamp(size - from, 0, whole);
    if (take_now < 1 || take_now > size - from)
      return onnx_fail(x, "its parts do not fit %" PRId64 " places", size);
    if (!move_slice(x, &part, axis, from, take_now, 1) ||
        !move_give(x, &part, (size_t)i))
      return false;
    from += take_now;
  }
  return true;
}

/* Expand repeats axes of size 1; joins broadcast without it. */
bool op_expand(struct onnx *x) {
  struct moved m;
  int64_t dims[MOST_AXES], out[MOST_AXES];
  int count = onnx_numbers(x, 1, NULL, dims, MOST_AXES);
  if (count < 0 || !move_take(x, &m))
    return onnx_fail(x, "its sizes depend on the inputs");
  int rank;
  int64_t values = 1;
  if (!onnx_joint_dims(x, m.view.at.dim, m.view.at.rank, dims, count, &rank,
                       out))
    return false;
  for (int i = 0; i < rank; i++) {
    if (out[i] < 1 || out[i] > MOST_SIZE ||
        values > ((int64_t)1 << 40) / out[i])
      return onnx_fail(x, "it is too large");
    values *= out[i];
  }
  struct onnx_layout at;
  if (!layout_spread(&m.view.at, rank, out, &at))
    return onnx_fail(x, "its sizes do not fit its input");
  m.view.at = at;
  return move_give(x, &m, 0);
}

/* Repeats the single element of an axis. */
static bool spread_axis(struct onnx *x, struct moved *m, int axis,
                        int64_t times) {
  int64_t dims[MOST_AXES];
  struct onnx_layout at;
  memcpy(dims, m->view.at.dim, sizeof dims);
  dims[axis] = times;
  if (!layout_spread(&m->view.at, m->view.at.rank, dims, &at))
    return onnx_fail(x, "its sizes do not fit its input");
  m->view.at = at;
  return true;
}

/* Joins runs [from, from + count) of an axis in this order. */
static bool join_runs(struct onnx *x, struct moved *m, int axis,
                      const int64_t *from, const int64_t *count, int runs) {
  struct onnx_axes axes;
  struct onnx_view part;
  int64_t dims[MOST_AXES];
  if (!view_with_axis(x, &m->view, axis, &axes, &part))
    return false;
  int place = axes_place(&axes, axis), nodes[MOST_RUNS] = {0};
  memcpy(dims, part.at.dim, sizeof dims);
  dims[axis] = 0;
  for (int i = 0; i < runs; i++) {
    nodes[i] = move_part(x, part.node, place, from[i], from[i] + count[i]);
    dims[axis] += count[i];
  }
  struct graph_node *join =
      graph_join_all(x->graph, WORD_CONCAT, nodes, (size_t)runs);
  move_put_axis(x, join, place);
  m->view =
      view_fresh(x, join->index, part.at.rank, dims, axes.order, axes.count);
  return true;
}

/* Repeats each whole axis. */
bool op_tile(struct onnx *x) {
  struct moved m;
  int64_t times[MOST_AXES], from[MOST_RUNS] = {0}, count[MOST_RUNS];
  int rank = onnx_numbers(x, 1, "repeats", times, MOST_AXES);
  if (rank < 0 || !move_take(x, &m) || m.constant)
    return onnx_fail(x, "its repeats depend on the inputs");
  if (rank != m.view.at.rank)
    return onnx_fail(x, "it has %d repeats for %d axes", rank, m.view.at.rank);
  for (int i = 0; i < rank; i++) {
    int64_t size = m.view.at.dim[i];
    if (times[i] > 1 && size == 1 && i != x->batch_axis &&
        times[i] <= MOST_SIZE) {
      if (!spread_axis(x, &m, i, times[i]))
        return false;
      continue;
    }
    if (times[i] < 1 || times[i] > MOST_RUNS)
      return onnx_fail(x, "it has %" PRId64 " repeats; 1 to %d are supported",
                       times[i], MOST_RUNS);
    for (int k = 0; k < times[i]; k++)
      count[k] = size;
    if (times[i] > 1 && i == x->batch_axis && x->batch > 1)
      return onnx_fail(x, "samples of a batch cannot be repeated");
    if (times[i] > 1 && !join_runs(x, &m, i, from, count, (int)times[i]))
      return false;
  }
  return move_give(x, &m, 0);
}

/* Finds contiguous runs of indices. Returns their number, or -1 if there are
 * too many or an index is out of range. */
static int find_runs(struct onnx *x, const struct constant *places,
                     int64_t size, int64_t *from, int64_t *count) {
  int runs = 0;
  for (int64_t i = 0; i < places->count; i++) {
    int64_t place = onnx_index(x, places, i, size);
    if (place < 0)
      return -1;
    if (runs > 0 && from[runs - 1] + count[runs - 1] == place) {
      count[runs - 1]++;
      continue;
    }
    if (runs == MOST_RUNS)
      return ONNX_NONE(x, "netc has no equivalent of the order of its indices");
    from[runs] = place;
    count[runs++] = 1;
  }
  return runs;
}

/* Gather with constant indices. */
static bool gather_places(struct onnx *x, struct moved *m, int axis,
                          struct constant *places) {
  int64_t from[MOST_RUNS], count[MOST_RUNS], dims[MOST_AXES];
  int rank = 0;
  int runs = find_runs(x, places, m->view.at.dim[axis], from, count);
  if (runs < 1)
    return onnx_fail(x, "it has no indices");
  if (runs == 1 ? !move_slice(x, m, axis, from[0], count[0], 1)
                : !join_runs(x, m, axis, from, count, runs))
    return false;
  if (places->rank == 0)
    layout_drop(&m->view.at, axis);
  if (places->rank < 2)
    return true;
  if (m->view.at.rank - 1 + places->rank > MOST_AXES)
    return onnx_fail(x, "it has more than %d axes", MOST_AXES);
  for (int i = 0; i < axis; i++)
    dims[rank++] = m->view.at.dim[i];
  for (int i = 0; i < places->rank; i++)
    dims[rank++] = places->dims[i];
  for (int i = axis + 1; i < m->view.at.rank; i++)
    dims[rank++] = m->view.at.dim[i];
  return move_to_dims(x, m, rank, dims);
}

/* A table of vectors, indexed by an input. */
static bool embedding(struct onnx *x, struct constant *table) {
  const struct onnx_view *ids = onnx_input(x, 1);
  struct onnx_view plain;
  if (!ids || table->rank != 2 || onnx_int(x, "axis", 0) != 0)
    return onnx_fail(x, "only rows of a table are supported");
  if (!view_plain(x, ids, &plain))
    return false;
  struct graph_node *node =
      graph_embed(x->graph, plain.node, table->dims[0], table->dims[1]);
  int64_t dims[MOST_AXES + 1];
  struct onnx_axes axes;
  int rank = plain.at.rank;
  axes_plain(x, &plain, -1, &axes);
  if (axes.count == 0 && rank > 0)
    axes.order[axes.count++] = 0;
  if (rank == MOST_AXES || axes.count == 0)
    return onnx_fail(x, "its indices have too many axes");
  memcpy(dims, plain.at.dim, sizeof plain.at.dim[0] * (size_t)rank);
  dims[rank] = table->dims[1];
  axes.order[axes.count++] = rank;
  onnx_add_weight(x, node, "weight", table);
  return onnx_give_fresh(x, node->index, rank + 1, dims, &axes);
}

bool op_gather(struct onnx *x) {
  struct moved m;
  struct constant *in[] = {onnx_constant(x, 0), onnx_constant(x, 1)};
  struct constant *table = in[0], *places = in[1];
  if (table && !places)
    return embedding(x, table);
  if (table)
    return onnx_is_by_distance(x, table, places)
               ? onnx_read_by_distance(x, table, places)
               : fold_gather(x, in);
  if (!places || !move_take(x, &m))
    return onnx_fail(x, "its indices depend on the inputs");
  int axis = onnx_axis(x, onnx_int(x, "axis", 0), m.view.at.rank);
  bool done = false;
  if (axis < 0 || !constant_load(x, places) ||
      !onnx_gather_by_distance(x, &m.view, places, &done))
    return false;
  if (done)
    return true;
  if (places->count < 1 || places->count > MOST_FOLDED)
    return onnx_fail(x, "it has too many indices");
  return gather_places(x, &m, axis, places) && move_give(x, &m, 0);
}
