/*
 * Weight block: the weights that inference reads. All tensors are contiguous,
 * in netc's own order, without padding. Narrow ones, which have fewer bits,
 * come last.
 */
#ifndef NETC_SEMA_MODEL_WEIGHT_BLOCK_H
#define NETC_SEMA_MODEL_WEIGHT_BLOCK_H

#include "sema/model/model.h"
#include "sema/model/settings.h"

/* A scale and shift that fold into the weights of the previous layer. */
struct fold {
  int64_t norm, into;
  /* Parameters that change. Both are the same if a bias has to be made. */
  size_t weight, bias;
};

/* Offsets in values; -1: none. */
struct weight_block {
  int64_t *at;   /* by parameter; -1: folded, or part of computed weights */
  int64_t *bias; /* by node: bias made by folding */
  int64_t *into; /* by node: what it folds into */
  int64_t *norm; /* by parameter: norm that folds into it */
  int64_t *made; /* by node: norm for which a bias is made */
  int64_t count;
  int64_t *wide;      /* by parameter: values of earlier biases */
  int64_t *made_wide; /* by node: the same for a bias made by folding */
  int64_t biases;     /* total */
  int64_t *narrow;    /* by parameter: offset among narrow ones */
  int64_t *scale;     /* scales, one per output, among the others */
  int64_t narrow_count;
};

/*
 * Places parameters and buffers in source order, shared ones once. A bias made
 * by folding follows its weights. Everything is in `arena`.
 */
void weight_block_find(const struct model *model,
                       const struct infer_settings *infer,
                       const struct fold *folds, size_t fold_count,
                       struct arena *arena, struct weight_block *block);

/* Bits of a narrow value; 0: none. */
int weight_block_narrow_bits(const struct infer_settings *infer);

/*
 * Bytes of `values` values, `biases` of which are biases: integer kernels add
 * these to 32-bit sums (TensorFlow Lite's 8-bit quantization specification).
 * False: they pass 2^63 - 1.
 */
bool weight_block_bytes(int element, int64_t values, int64_t biases,
                        int64_t *bytes);

#endif
