/* Folding: what fold.c's table shares with the operators that are no row. */
#ifndef NETC_IMPORT_ONNX_FOLD_H
#define NETC_IMPORT_ONNX_FOLD_H

#include "import/onnx/reader.h"

/* Fails if it is no size for a constant that folding makes. */
bool fold_is_small(struct onnx *x, int64_t count);
/* Room for the values of a constant, of one kind or the other. */
bool fold_room(struct onnx *x, struct constant *c, float **real,
               int64_t **whole);
void fold_put(float *real, int64_t *whole, int64_t i, double value);

/* Operators of which all inputs are constants; each gives its output. */
bool fold_matmul(struct onnx *x, struct constant **in);
/* A mask by distance that is too large to be written out. */
bool fold_band(struct onnx *x, struct constant **in, int count);
bool fold_constant_node(struct onnx *x);
bool fold_constant_of_shape(struct onnx *x, struct constant *sizes);
bool fold_cast(struct onnx *x, struct constant *c);
bool fold_range(struct onnx *x, struct constant **in);
bool fold_concat(struct onnx *x, struct constant **in, int count);
bool fold_reduced(struct onnx *x, struct constant *c);
bool fold_tile(struct onnx *x, struct constant *c);
bool fold_along_axis(struct onnx *x, struct constant *c);
bool fold_scatter(struct onnx *x, struct constant **in);
bool fold_gather(struct onnx *x, struct constant *c, struct constant *places);

#endif
