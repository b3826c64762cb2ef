/* Finding attention: tensors are traced back to projections, through rotations
 * by position (rope), and a layer replaces the last projection. */
#ifndef NETC_IMPORT_ONNX_OP_ATTENTION_H
#define NETC_IMPORT_ONNX_OP_ATTENTION_H

#include "import/onnx/reader.h"

/* Rotation of pairs of features by their position. */
struct rope {
  int64_t half;    /* pairs; 0: nothing is rotated */
  bool neighbours; /* pairs 2i and 2i + 1; else i and i + half */
  double *speed;   /* radians per position, by pair; NULL: none yet */
  int64_t dim;     /* features of a head, also those not rotated */
  int axis;        /* positions' axis in `rotated`; -1: only one position */
};

/* A tensor as a view of the node `base`. */
struct onnx_trace {
  int base;
  struct onnx_layout at;
  double number; /* factor of the values */
  int norm;      /* norm node of each head's features; -1: none */
  struct rope rope;
  /* The normalised and the rotated values as views of `base`. */
  struct onnx_layout normed, rotated;
};

static inline bool is_number(double a, double b) {
  return a >= b && a <= b;
}

enum part_of { PART_Q, PART_K, PART_V, PART_PARTS };

/* A projection: a node, and the place of the heads in its features. */
struct onnx_heads {
  int node;      /* linear */
  int64_t count; /* number of heads */
  int64_t first, step;
  struct onnx_trace trace;
};

struct onnx_attention {
  int out, product; /* nodes: linear, matmul */
  struct onnx_heads part[PART_PARTS];
  int64_t heads, kv, dim, queries, keys;
  bool packed, causal, unscaled;
  int module;     /* enum onnx_module */
  bool flat;      /* the positions are rows and columns */
  int64_t window; /* in tokens; 0: all */
  double factor;  /* of the queries, besides 1 / sqrt(dim) */
  double softcap;
  const char *dropout;          /* of the weights, as text; NULL: none */
  const struct constant *table; /* relative biases, or NULL */
  int mask;                     /* another term of the scores; -1: none */
  const char *window_of;        /* sizes that `table` is for */
  int edges;               /* weight with a mask for each window; -1: none */
  struct graph_shape grid; /* of these windows */
  int64_t shift[LIMIT_RANK];
};

/* Traces a tensor back through moves; with `heads`, through norms and rope. */
struct onnx_trace trace_of(struct onnx *x, int node, bool heads);
/* Traces back one rope at t->base. */
bool trace_rope(struct onnx *x, struct onnx_trace *t);
/* Writes rope's arguments, also those that differ for keys. */
void rope_put(struct onnx *x, struct graph_node *node, const struct rope *rope,
              const struct rope *keys, int64_t dim);
/* True if norm and rope cover whole heads, and rope follows the positions. */
bool trace_agrees(struct onnx *x, const struct onnx_heads *h, int64_t dim);
/* Features that the norm covers: a head's, or all. */
int64_t trace_normed(struct onnx *x, const struct onnx_trace *t);

/*
 * Takes a weight added to the scores that may be the mask of shifted windows.
 * shift_find checks that `from`, the projections' input, has windows, and that
 * the mask is that of a shift.
 */
bool shift_take(struct onnx *x, struct onnx_attention *a, int weight);
bool shift_find(struct onnx *x, struct onnx_attention *a, int from);
int shift_grid(struct onnx *x, const struct onnx_attention *a, int from);
void shift_put(struct onnx *x, const struct onnx_attention *a,
               struct graph_node *node);

struct onnx_layout trace_dense(struct onnx *x, int node);
struct onnx_layout layout_without_ones(const struct onnx_layout *at);

/* Turns the last projection into the layer. */
void attention_replace(struct onnx *x, const struct onnx_attention *a);

#endif
