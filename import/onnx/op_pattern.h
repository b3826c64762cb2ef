/* Patterns: several operators become one layer when the last one is read. The
 * others stay in the graph until the end, where they have no users. */
#ifndef NETC_IMPORT_ONNX_OP_PATTERN_H
#define NETC_IMPORT_ONNX_OP_PATTERN_H

#include "import/onnx/reader.h"

/* Each returns a node, or -1 if there is no pattern. */

/* A join of two nodes: silu, gelu, ln, ... */
int pattern_join(struct onnx *x, enum layer_word word, int a, int b);
/* A node and a number. */
int pattern_number(struct onnx *x, enum layer_word word, int in, double number);
/* A node and a constant by channel: a bias, a scale, a norm's weights. */
int pattern_channels(struct onnx *x, enum layer_word word, int in,
                     struct constant *c);
/* A node and a constant of more axes: embeddings of positions. */
int pattern_weight(struct onnx *x, enum layer_word word, int in,
                   struct constant *c);

#endif
