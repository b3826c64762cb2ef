/* Shapes: sizes of a tensor's axes, without the batch. */
#ifndef NETC_LAYERS_TAPE_SHAPE_H
#define NETC_LAYERS_TAPE_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/text.h"

enum dtype {
  DTYPE_FLOAT, /* whatever the net computes in: --dtype */
  DTYPE_I32,   /* indices: every axis is a position, none a channel */
  DTYPE_I64,
};

/*
 * Channels come last: HxWxC for pictures, LxC for sequences, DxHxWxC for
 * volumes, C for vectors.
 */
#define SIZE_UNKNOWN (-1) /* after an error: sema/partial.c */

struct shape {
  int rank; /* 0: unknown, likewise */
  enum dtype dtype;
  bool point; /* a value without an axis, which counts as one axis of 1 here */
  int64_t dim[LIMIT_RANK];
};

enum layout { LAYOUT_HWC, LAYOUT_CHW };

/* a * b and a + b of sizes; INT64_MAX if it passes that, which later sums
   report. */
int64_t size_product(int64_t a, int64_t b);
int64_t size_sum(int64_t a, int64_t b);

/* Whether all of its sizes are. */
bool shape_is_known(const struct shape *shape);

/* The number of values; false if that passes 2^63 - 1. */
bool shape_count(const struct shape *shape, int64_t *count);

/* The count of a shape that has been checked before. */
int64_t shape_values(const struct shape *shape);

/* The same without channels: its vectors along the last axis. */
int64_t shape_rows(const struct shape *shape);

bool shape_equal(const struct shape *a, const struct shape *b);

/* Axes that are neither batch nor channels. */
static inline int shape_spatial(const struct shape *shape) {
  return shape->dtype == DTYPE_FLOAT ? shape->rank - 1 : shape->rank;
}

static inline int64_t shape_channels(const struct shape *shape) {
  return shape->dim[shape->rank - 1];
}

/* 50x50x3, or 3x50x50 by LAYOUT_CHW. */
void shape_put(struct text *out, const struct shape *shape, enum layout layout);

/* The same as a string of at most SHAPE_TEXT bytes, for messages. */
#define SHAPE_TEXT (LIMIT_RANK * 21)
struct shape_text {
  char text[SHAPE_TEXT];
};
struct shape_text shape_text(const struct shape *shape);

/* Letters of the axes: "HWC", "LC", "C", "DHWC"; N for further ones. */
void shape_axes(struct text *out, const struct shape *shape,
                enum layout layout);

/* `shape` with another last axis, or one axis more or less. */
struct shape shape_of(int rank, const int64_t *dim);
struct shape shape_with_channels(const struct shape *shape, int64_t channels);

#endif
