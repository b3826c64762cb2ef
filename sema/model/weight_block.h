/*
 * The block of weights that a prediction reads: every tensor dense, in netc's
 * own order, one after the other without padding. Those that have fewer bits
 * than the other values come after these.
 */
#ifndef NETC_SEMA_MODEL_WEIGHT_BLOCK_H
#define NETC_SEMA_MODEL_WEIGHT_BLOCK_H

#include "sema/model/model.h"
#include "sema/model/settings.h"

/* A scale and shift that goes into the weights of the layer before it. */
struct fold {
  int64_t norm, into;
  /* The parameters of the model that change. They are the same if there is no
   * bias, so that one is made. */
  size_t weight, bias;
};

/* Places are in values; -1 stands for "none". */
struct weight_block {
  int64_t *at;   /* by parameter of the model; -1: it is folded away, or it is
                    part of weights that are computed */
  int64_t *bias; /* by node: of a bias that folding makes */
  int64_t *into; /* by node: what it is folded into */
  int64_t *norm; /* by parameter: what is folded into it */
  int64_t *made; /* by node: what makes a bias of it necessary */
  int64_t count;
  int64_t *wide;      /* by parameter: values of biases before it */
  int64_t *made_wide; /* by node: the same of a bias that folding makes */
  int64_t biases;     /* of all */
  int64_t *narrow;    /* by parameter: where it is among those of fewer bits */
  int64_t *scale;     /* its scales, one for each output, among the others */
  int64_t narrow_count;
};

/*
 * Parameters and buffers in the order of the source, shared ones once. A bias
 * that folding makes comes after the weights that it belongs to. All of it is
 * in `arena`.
 */
void weight_block_find(const struct model *model,
                       const struct infer_settings *infer,
                       const struct fold *folds, size_t fold_count,
                       struct arena *arena, struct weight_block *block);

/* Bits of each of these; 0: there are none. */
int weight_block_narrow_bits(const struct infer_settings *infer);

/*
 * Bytes of that many values, of which some are of biases: integer kernels add
 * these to sums of 32 bits (TensorFlow Lite's 8-bit quantization
 * specification). False: they pass 2^63 - 1.
 */
bool weight_block_bytes(int element, int64_t values, int64_t biases,
                        int64_t *bytes);

#endif
