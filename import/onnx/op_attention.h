/*
 * Attention in parts: tensors traced back to the projections that made them,
 * positions that rotate features (rope), and the layer that takes their place.
 */
#ifndef NETC_IMPORT_ONNX_OP_ATTENTION_H
#define NETC_IMPORT_ONNX_OP_ATTENTION_H

#include "import/onnx/reader.h"

/* Pairs of features that are rotated by their position. */
struct rope {
  int64_t half;    /* pairs; 0: nothing is rotated */
  bool neighbours; /* pairs 2i and 2i + 1; else i and i + half */
  double *speed;   /* of each pair, radians a position; NULL: there is one */
  int64_t dim;     /* features of a head, with those that are not rotated */
  int axis;        /* of `rotated`: positions; -1: there is one only */
};

/* A tensor as a view of the node `base`. */
struct onnx_trace {
  int base;
  struct onnx_layout at;
  double number; /* times that */
  int norm;      /* of each head's features, a node; -1: none */
  struct rope rope;
  /* What was normalised and rotated, as views of `base`, too. */
  struct onnx_layout normed, rotated;
};

enum part_of { PART_Q, PART_K, PART_V, PART_PARTS };

/* A projection: a node, and where in its features the heads lie. */
struct onnx_heads {
  int node;      /* linear */
  int64_t count; /* heads */
  int64_t first, step;
  struct onnx_trace trace;
};

struct onnx_attention {
  int out, product; /* nodes: linear, matmul */
  struct onnx_heads part[PART_PARTS];
  int64_t heads, kv, dim, queries, keys;
  bool packed, causal, unscaled;
  bool flat;      /* what they are of has rows and columns as axes */
  int64_t window; /* positions; 0: all */
  double factor;  /* of the queries, beside 1 / sqrt(dim) */
  double softcap;
  const struct constant *table; /* whose rows are added by distance, or NULL */
  int mask;                /* what else is added to the scores; -1: nothing */
  const char *window_of;   /* the sizes that `table` is for */
  int edges;               /* a mask for each window: a weight; -1: none */
  struct graph_shape grid; /* of these windows */
  int64_t shift[LIMIT_RANK];
};

/* Back through what only moves values; `norms` and `ropes` as well. */
struct onnx_trace trace_of(struct onnx *x, int node, bool heads);
/* A step back over a rope at t->base. */
bool trace_rope(struct onnx *x, struct onnx_trace *t);
/* Writes `rope` and what says how far it rotates; the keys', too. */
void rope_put(struct onnx *x, struct graph_node *node, const struct rope *rope,
              const struct rope *keys, int64_t dim);
/* Whether norm and rope are of whole heads, rope along the positions. */
bool trace_agrees(struct onnx *x, const struct onnx_heads *h, int64_t dim);
/* The features that its norm is of: a head's, or those of all. */
int64_t trace_normed(struct onnx *x, const struct onnx_trace *t);

/* A weight that is added to the scores may be the mask of shifted windows; it
 * is if `from`, which the projections read, has windows, and the mask is that
 * of a shift. */
bool shift_take(struct onnx *x, struct onnx_attention *a, int weight);
bool shift_find(struct onnx *x, struct onnx_attention *a, int from);
int shift_grid(struct onnx *x, const struct onnx_attention *a, int from);
void shift_put(struct onnx *x, const struct onnx_attention *a,
               struct graph_node *node);

struct onnx_layout trace_dense(struct onnx *x, int node);
struct onnx_layout layout_without_ones(const struct onnx_layout *at);

/* The last projection becomes the layer. */
void attention_replace(struct onnx *x, const struct onnx_attention *a);

#endif
