/* Strides: how a value lies in its storage. */
#ifndef NETC_LAYERS_TAPE_STRIDES_H
#define NETC_LAYERS_TAPE_STRIDES_H

#include "layers/tape/shape.h"

/* The heads of attention, or the groups of a shuffle, are one axis more. */
enum { STRIDES_RANK = LIMIT_RANK + 1 };

/*
 * A sample of a value: its sizes, and how many values of the storage lie
 * between neighbours on each axis. A sample begins `offset` values behind
 * where the storage has it; the next one lies where the storage has that.
 */
struct strides {
  int rank;
  int64_t offset;
  int64_t dim[STRIDES_RANK], stride[STRIDES_RANK];
};

/* Whether all axes of a batch but the last are one: rows of a matrix. */
enum row_order {
  ROWS_TOGETHER,
  ROWS_OF_ONE, /* of a batch of 1 only */
  ROWS_TURNED, /* a sample is a matrix whose columns lie one by one */
  ROWS_APART,
  ROWS_CUT, /* so is a part of more, but not what is made of it */
};

/* All in one piece, the last axis innermost. */
struct strides strides_dense(int rank, const int64_t *dim);
struct strides strides_of(const struct shape *shape);

bool strides_are_dense(const struct strides *layout);
int64_t strides_values(const struct strides *layout);

/* Parts axis `axis` into `outer` times what is left. */
struct strides strides_split(const struct strides *layout, int axis,
                             int64_t outer);

/* Moves axis `from` to the place `to`. */
struct strides strides_move(const struct strides *layout, int from, int to);

/*
 * As `to` has its sizes: axes that are absent in front or of size 1 are
 * repeated.
 */
struct strides strides_spread(const struct strides *strides,
                              const struct strides *to);

/* One more axis of that size and stride, at the place `at`. */
struct strides strides_insert(const struct strides *layout, int at, int64_t dim,
                              int64_t stride);

/* How the rows lie of what is seen so in samples of `values` in one piece. */
enum row_order strides_rows(const struct strides *seen, int64_t values);

#endif
