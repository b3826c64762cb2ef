/* Reshape, Transpose and the like; blocks of pixels. */
#include <inttypes.h>

#include "import/onnx/op_moves.h"

bool move_take(struct onnx *x, struct moved *m) {
  *m = (struct moved){.view.node = -1};
  if (!onnx_has(x, 0))
    return onnx_fail(x, "it has no input");
  m->constant = onnx_constant(x, 0);
  if (m->constant)
    m->view.at = layout_dense(m->constant->rank, m->constant->dims);
  else
    m->view = *onnx_operand(x, 0)->view;
  return true;
}

bool move_give(struct onnx *x, const struct moved *m, size_t out) {
  if (m->constant)
    onnx_give_constant(x, out, constant_through(x, m->constant, &m->view.at));
  else
    onnx_give(x, out, &m->view);
  return !x->graph->failed;
}

static int64_t product(const int64_t *dims, int from, int to) {
  int64_t values = 1;
  for (int i = from; i < to; i++)
    values *= dims[i];
  return values;
}

bool move_to_dims(struct onnx *x, struct moved *m, int rank,
                  const int64_t *dims) {
  struct onnx_layout dense = layout_dense(rank, dims), result;
  if (layout_values(&dense) != layout_values(&m->view.at))
    return onnx_fail(x, "%s does not have as many values as its input",
                     graph_sizes(x->graph, dims, rank));
  if (layout_through(&m->view.at, &dense, &result)) {
    m->view.at = result;
    return true;
  }
  if (m->constant) {
    m->constant = constant_through(x, m->constant, &m->view.at);
    m->view.at = dense;
    return !x->graph->failed;
  }
  struct onnx_view plain;
  if (!view_plain(x, &m->view, &plain) ||
      !layout_through(&plain.at, &dense, &result))
    return onnx_fail(x, "cannot split these axes");
  m->view = (struct onnx_view){plain.node, result};
  return true;
}

bool op_reshape(struct onnx *x) {
  struct moved m;
  int64_t dims[MOST_AXES], known = 1;
  int guess = -1;
  int rank = onnx_numbers(x, 1, "shape", dims, MOST_AXES);
  bool zeros = onnx_int(x, "allowzero", 0) != 0;
  if (rank < 0 || !move_take(x, &m))
    return onnx_fail(x, "its sizes depend on the inputs");
  int64_t values = layout_values(&m.view.at);
  for (int i = 0; i < rank; i++) {
    if (dims[i] == 0 && !zeros && i < m.view.at.rank)
      dims[i] = m.view.at.dim[i];
    if (dims[i] == -1 && guess < 0)
      guess = i;
    else if (dims[i] < 1 || dims[i] > values)
      return onnx_fail(
          x, "%" PRId64 " values cannot be reshaped to an axis of %" PRId64,
          values, dims[i]);
    else if (known > values / dims[i])
      return onnx_fail(x, "%s has more values than its input",
                       graph_sizes(x->graph, dims, rank));
    else
      known *= dims[i];
  }
  if (guess >= 0)
    dims[guess] = values / known;
  return move_to_dims(x, &m, rank, dims) && move_give(x, &m, 0);
}

bool op_flatten(struct onnx *x) {
  struct moved m;
  if (!move_take(x, &m))
    return false;
  int64_t axis = onnx_int(x, "axis", 1);
  int rank = m.view.at.rank;
  if (axis < 0)
    axis += rank;
  if (axis < 0 || axis > rank)
    return onnx_fail(x, "its input has no such axis");
  int64_t dims[2] = {product(m.view.at.dim, 0, (int)axis),
                     product(m.view.at.dim, (int)axis, rank)};
  return move_to_dims(x, &m, 2, dims) && move_give(x, &m, 0);
}

bool op_transpose(struct onnx *x) {
  struct moved m;
  int64_t perm[MOST_AXES];
  int order[MOST_AXES];
  bool used[MOST_AXES] = {false};
  if (!move_take(x, &m))
    return false;
  int rank = m.view.at.rank;
  int count = onnx_ints(x, "perm", perm, MOST_AXES);
  if (count >= 0 && count != rank)
    return onnx_fail(x, "`perm` has %d axes, but its input has %d", count,
                     rank);
  for (int i = 0; i < rank; i++) {
    int64_t axis = count < 0 ? rank - 1 - i : perm[i];
    if (axis < 0 || axis >= rank || used[axis])
      return onnx_fail(x, "`perm` is not a permutation of the axes");
    used[axis] = true;
    order[i] = (int)axis;
  }
  m.view.at = layout_order(&m.view.at, rank, order);
  return move_give(x, &m, 0);
}

bool op_unsqueeze(struct onnx *x) {
  struct moved m;
  int64_t axes[MOST_AXES];
  bool marked[MOST_AXES];
  int count = onnx_numbers(x, 1, "axes", axes, MOST_AXES);
  if (count < 0 || !move_take(x, &m))
    return onnx_fail(x, "its axes depend on the inputs");
  if (m.view.at.rank + count > MOST_AXES)
    return onnx_fail(x, "it has more than %d axes", MOST_AXES);
  if (!onnx_mark_axes(x, axes, count, m.view.at.rank + count, marked))
    return false;
  for (int i = 0; i < MOST_AXES; i++)
    if (marked[i] && i <= m.view.at.rank)
      layout_insert(&m.view.at, i);
  return move_give(x, &m, 0);
}

bool op_squeeze(struct onnx *x) {
  struct moved m;
  int64_t axes[MOST_AXES];
  bool marked[MOST_AXES];
  if (!move_take(x, &m))
    return false;
  int count = onnx_has(x, 1) || onnx_attribute(x, "axes")
                  ? onnx_numbers(x, 1, "axes", axes, MOST_AXES)
                  : -2;
  if (count == -1)
    return onnx_fail(x, "its axes depend on the inputs");
  if (count >= 0 && !onnx_mark_axes(x, axes, count, m.view.at.rank, marked))
    return false;
  for (int i = m.view.at.rank; i-- > 0;) {
    if (count >= 0 && !marked[i])
      continue;
    if (m.view.at.dim[i] == 1)
      layout_drop(&m.view.at, i);
    else if (count >= 0)
      return onnx_fail(x, "axis %d has size %" PRId64 ", not 1", i,
                       m.view.at.dim[i]);
  }
  return move_give(x, &m, 0);
}

bool op_identity(struct onnx *x) {
  struct moved m;
  if (!move_take(x, &m))
    return false;
  if (m.constant)
    onnx_give_constant(x, 0, m.constant);
  else
    onnx_give(x, 0, &m.view);
  return !x->graph->failed;
}

/* Blocks of pixels and channels. */

static bool has_blocks(struct onnx *x) {
  return onnx_attribute(x, "blocksize") ||
         onnx_fail(x, "it has no `blocksize`");
}

bool op_depth_to_space(struct onnx *x, const struct onnx_view *in) {
  static const char *const modes[] = {"DCR", "CRD", NULL};
  int64_t by = onnx_int(x, "blocksize", 1);
  if (!has_blocks(x) || !onnx_one_of(x, "mode", modes))
    return false;
  bool rows_first = onnx_is(x, "mode", "CRD", false);
  if (in->at.rank != 4 || by < 1 || by > 1024 || in->at.dim[1] % (by * by) != 0)
    return onnx_fail(x, "only maps of blocks are supported");
  const int64_t *d = in->at.dim;
  int64_t channels = d[1] / by / by;
  const int64_t parts[2][6] = {{d[0], by, by, channels, d[2], d[3]},
                               {d[0], channels, by, by, d[2], d[3]}};
  static const int orders[2][6] = {{0, 3, 4, 1, 5, 2}, {0, 1, 4, 2, 5, 3}};
  const int64_t out[4] = {d[0], channels, d[2] * by, d[3] * by};
  struct moved m = {.view = *in};
  if (!move_to_dims(x, &m, 6, parts[rows_first]))
    return false;
  m.view.at = layout_order(&m.view.at, 6, orders[rows_first]);
  return move_to_dims(x, &m, 4, out) && move_give(x, &m, 0);
}

bool op_space_to_depth(struct onnx *x, const struct onnx_view *in) {
  int64_t by = onnx_int(x, "blocksize", 1);
  if (!has_blocks(x))
    return false;
  if (in->at.rank != 4 || by < 1 || by > 1024 || in->at.dim[2] % by != 0 ||
      in->at.dim[3] % by != 0)
    return onnx_fail(x, "only maps of whole blocks are supported");
  const int64_t *d = in->at.dim;
  const int64_t parts[6] = {d[0], d[1], d[2] / by, by, d[3] / by, by};
  static const int order[6] = {0, 3, 5, 1, 2, 4};
  const int64_t out[4] = {d[0], d[1] * by * by, d[2] / by, d[3] / by};
  struct moved m = {.view = *in};
  if (!move_to_dims(x, &m, 6, parts))
    return false;
  m.view.at = layout_order(&m.view.at, 6, order);
  return move_to_dims(x, &m, 4, out) && move_give(x, &m, 0);
}
