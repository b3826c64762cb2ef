/* Strides: positions of a value in its storage. */
#include "layers/tape/strides.h"

#include <assert.h>

struct strides strides_dense(int rank, const int64_t *dim) {
  struct strides layout = {.rank = rank};
  int64_t stride = 1;
  for (int i = rank; i-- > 0;) {
    layout.dim[i] = dim[i];
    layout.stride[i] = stride;
    stride = size_product(stride, dim[i]);
  }
  return layout;
}

struct strides strides_of(const struct shape *shape) {
  return strides_dense(shape->rank, shape->dim);
}

bool strides_are_dense(const struct strides *layout) {
  int64_t stride = 1;
  for (int i = layout->rank; i-- > 0;) {
    if (layout->dim[i] != 1 && layout->stride[i] != stride)
      return false;
    stride = size_product(stride, layout->dim[i]);
  }
  return true;
}

int64_t strides_values(const struct strides *layout) {
  int64_t values = 1;
  for (int i = 0; i < layout->rank; i++)
    values = size_product(values, layout->dim[i]);
  return values;
}

struct strides strides_spread(const struct strides *strides,
                              const struct strides *to) {
  struct strides result = *to;
  int absent = to->rank - strides->rank;
  result.offset = strides->offset;
  for (int i = 0; i < to->rank; i++) {
    bool own = i >= absent && strides->dim[i - absent] == to->dim[i];
    result.stride[i] = own ? strides->stride[i - absent] : 0;
  }
  return result;
}

struct strides strides_insert(const struct strides *layout, int at, int64_t dim,
                              int64_t stride) {
  struct strides result = *layout;
  assert(layout->rank < STRIDES_RANK);
  for (int i = result.rank++; i > at; i--) {
    result.dim[i] = result.dim[i - 1];
    result.stride[i] = result.stride[i - 1];
  }
  result.dim[at] = dim;
  result.stride[at] = stride;
  return result;
}

struct strides strides_split(const struct strides *layout, int axis,
                             int64_t outer) {
  int64_t inner = layout->dim[axis] / outer;
  struct strides result = strides_insert(
      layout, axis, outer, size_product(layout->stride[axis], inner));
  result.dim[axis + 1] = inner;
  return result;
}

struct strides strides_move(const struct strides *layout, int from, int to) {
  struct strides result = *layout;
  int step = from < to ? 1 : -1;
  for (int i = from; i != to; i += step) {
    result.dim[i] = result.dim[i + step];
    result.stride[i] = result.stride[i + step];
  }
  result.dim[to] = layout->dim[from];
  result.stride[to] = layout->stride[from];
  return result;
}

enum row_order strides_rows(const struct strides *seen, int64_t values) {
  enum row_order rows = ROWS_TOGETHER;
  if (seen->rank == 2 && seen->dim[0] > 1 && seen->dim[1] > 1 &&
      seen->stride[0] == 1 && seen->stride[1] == seen->dim[0] &&
      size_product(seen->dim[0], seen->dim[1]) == values)
    return ROWS_TURNED;
  int64_t next = 0; /* required stride of the axis before */
  for (int i = seen->rank - 2; i >= 0; i--) {
    if (seen->dim[i] == 1)
      continue;
    if (next && seen->stride[i] != next)
      return ROWS_APART;
    next = size_product(seen->stride[i], seen->dim[i]);
  }
  if (next && next != values)
    rows = ROWS_OF_ONE;
  return rows;
}
