/*
 * Operators that move values: what they share. On constants they are carried
 * out; on what layers give, most only change how the axes are seen.
 */
#ifndef NETC_IMPORT_ONNX_OP_MOVES_H
#define NETC_IMPORT_ONNX_OP_MOVES_H

#include "import/onnx/reader.h"

/* What is moved: a constant or a view, and how it lies. */
struct moved {
  struct constant *constant;
  struct onnx_view view;
};

/* The first input. */
bool move_take(struct onnx *x, struct moved *m);
bool move_give(struct onnx *x, const struct moved *m, size_t out);
/* The same values with other axes. */
bool move_to_dims(struct onnx *x, struct moved *m, int rank,
                  const int64_t *dims);

/* Places [from, to) of an axis of a node; itself if that is all. */
int move_part(struct onnx *x, int node, int axis, int64_t from, int64_t to);

#endif
