/* Strides: positions of a value in its storage. */
#ifndef NETC_LAYERS_TAPE_STRIDES_H
#define NETC_LAYERS_TAPE_STRIDES_H

#include "layers/tape/shape.h"

/* Heads of attention and groups of a shuffle are an additional axis. */
enum { STRIDES_RANK = LIMIT_RANK + 1 };

/*
 * A sample of a value: its sizes, and the distance between neighbours on each
 * axis, in values of the storage. A sample of the value starts `offset` values
 * after the storage's sample.
 */
struct strides {
  int rank;
  int64_t offset;
  int64_t dim[STRIDES_RANK], stride[STRIDES_RANK];
};

/* How all axes of a batch but the last merge to the rows of a matrix. */
enum row_order {
  ROWS_TOGETHER,
  ROWS_OF_ONE, /* at a batch of 1 only */
  ROWS_TURNED, /* a sample is a matrix with contiguous columns */
  ROWS_APART,
  ROWS_CUT, /* so is a slice of it, but not a result of the slice */
};

/* Contiguous, the last axis innermost. */
struct strides strides_dense(int rank, const int64_t *dim);
struct strides strides_of(const struct shape *shape);

bool strides_are_dense(const struct strides *layout);
int64_t strides_values(const struct strides *layout);

/* Splits axis `axis` into `outer` and the rest. */
struct strides strides_split(const struct strides *layout, int axis,
                             int64_t outer);

/* Moves axis `from` to `to`. */
struct strides strides_move(const struct strides *layout, int from, int to);

/*
 * Broadcasts to the sizes of `to`: leading axes that are absent and axes of
 * size 1 are repeated.
 */
struct strides strides_spread(const struct strides *strides,
                              const struct strides *to);

/* Inserts an axis of that size and stride at `at`. */
struct strides strides_insert(const struct strides *layout, int at, int64_t dim,
                              int64_t stride);

/* The order of rows with these strides, in contiguous samples of `values`. */
enum row_order strides_rows(const struct strides *seen, int64_t values);

#endif
