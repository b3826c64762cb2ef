/* Shapes: sizes of a tensor's axes, without the batch. */
#ifndef NETC_LAYERS_TAPE_SHAPE_H
#define NETC_LAYERS_TAPE_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/text.h"

enum dtype {
  DTYPE_FLOAT, /* the net's element type: --dtype */
  DTYPE_I32,   /* indices: every axis is a position, none a channel */
  DTYPE_I64,
};

/*
 * Channels come last: HxWxC for images, LxC for sequences, DxHxWxC for
 * volumes, C for vectors.
 */
#define SIZE_UNKNOWN (-1) /* after an error: sema/partial.c */

struct shape {
  int rank; /* 0: unknown */
  enum dtype dtype;
  bool point; /* a 0-d value; here it has one axis of size 1 */
  int64_t dim[LIMIT_RANK];
};

enum layout { LAYOUT_HWC, LAYOUT_CHW };

/* a * b and a + b; INT64_MAX if they exceed it, which later sums report. */
int64_t size_product(int64_t a, int64_t b);
int64_t size_sum(int64_t a, int64_t b);

/* True if all sizes are known. */
bool shape_is_known(const struct shape *shape);

/* Computes the number of values; false if it exceeds 2^63 - 1. */
bool shape_count(const struct shape *shape, int64_t *count);

/* The number of values of a shape that has been checked. */
int64_t shape_values(const struct shape *shape);

/* The number of vectors along the last axis. */
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

/* For pictures: 8,192x4,096. */
void shape_put_grouped(struct text *out, const struct shape *shape,
                       enum layout layout);

/* shape_put() as a string of at most SHAPE_TEXT bytes, for messages. */
#define SHAPE_TEXT (LIMIT_RANK * 21)
struct shape_text {
  char text[SHAPE_TEXT];
};
struct shape_text shape_text(const struct shape *shape);

/* Letters of the axes: "HWC", "LC", "C", "DHWC"; N for further axes. */
void shape_axes(struct text *out, const struct shape *shape,
                enum layout layout);

/* A shape of `rank` sizes; a shape with another last axis. */
struct shape shape_of(int rank, const int64_t *dim);
struct shape shape_with_channels(const struct shape *shape, int64_t channels);

#endif
