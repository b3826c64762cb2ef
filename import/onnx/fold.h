/* Folding: functions that fold.c shares with operators in other files. */
#ifndef NETC_IMPORT_ONNX_FOLD_H
#define NETC_IMPORT_ONNX_FOLD_H

#include "import/onnx/reader.h"

/* Fails if the result of folding would be too large. */
bool fold_is_small(struct onnx *x, int64_t count);
/* The values of a constant that is computed; one of them is NULL. */
struct fold_values {
  float *real;
  int64_t *whole;
};

/* Allocates the values of a constant, as reals or as integers. */
bool fold_room(struct onnx *x, struct constant *c, struct fold_values *to);
void fold_put(const struct fold_values *to, int64_t i, double value);

/* Folds a mask by distance that is too large to be written out. */
bool fold_band(struct onnx *x, struct constant **in, int count);

/* Computes with drawn numbers. */
bool fold_drawn(struct onnx *x, struct constant **in, int count);

/* Operators on constant inputs, ended by NULL. Each gives its output. */
typedef bool fold_fn(struct onnx *x, struct constant **in);
fold_fn fold_matmul, fold_constant_node, fold_constant_of_shape, fold_cast,
    fold_range, fold_concat, fold_reduced, fold_tile, fold_along_axis,
    fold_scatter, fold_gather, fold_uniform;

#endif
