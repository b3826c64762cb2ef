/* Operators that move values. Constants are moved at once. For outputs of
 * layers, most moves only change the view. */
#ifndef NETC_IMPORT_ONNX_OP_MOVES_H
#define NETC_IMPORT_ONNX_OP_MOVES_H

#include "import/onnx/reader.h"

/* A constant or a view, and its layout. */
struct moved {
  struct constant *constant;
  struct onnx_view view;
};

/* Takes the first input. */
bool move_take(struct onnx *x, struct moved *m);
bool move_give(struct onnx *x, const struct moved *m, size_t out);
/* Reshapes it. */
bool move_to_dims(struct onnx *x, struct moved *m, int rank,
                  const int64_t *dims);

/* Indices [from, to) of an axis of a node; the node itself if that is all. */
/* Adds the axis of a join of nodes, unless it is the last one. */
void move_put_axis(struct onnx *x, struct graph_node *join, int axis);
int move_part(struct onnx *x, int node, int axis, int64_t from, int64_t to);

#endif
