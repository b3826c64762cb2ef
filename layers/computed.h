/* Weights that are computed from parameters before they are used. */
#ifndef NETC_LAYERS_COMPUTED_H
#define NETC_LAYERS_COMPUTED_H

#include "layers/layer.h"

enum computed { WEIGHTS_PLAIN, WEIGHTS_WS, WEIGHTS_WNORM, WEIGHTS_SPECTRAL };

#define COMPUTED(of)                                                       \
  ARG(WORDS, WORD, "weights", of, computed, .words = "ws wnorm spectral",  \
      .doc = "weights are standardised, have their lengths apart, or are " \
             "divided by their largest singular value")

/* Reports, and returns false, if weights are both computed and adapted. */
bool computed_check(const struct layer *layer, enum computed how, bool adapted);

/* A weight and a bias of `bias` values, or of none; the weight's last axis is
 * that of the outputs. In PyTorch's order. */
void computed_params(struct params *params, enum computed how,
                     struct param weight, struct param bias);

/*
 * Records a product of `in` and these weights, `op` but for its inputs; its
 * `param_count` is that of plain weights. `weight` is what computed_params()
 * was given.
 */
size_t computed_trace(struct tape *tape, enum computed how, size_t in,
                      const struct param *weight, struct operation op);

#endif
