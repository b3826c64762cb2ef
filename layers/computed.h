/* Weights that are computed from parameters before they are used. */
#ifndef NETC_LAYERS_COMPUTED_H
#define NETC_LAYERS_COMPUTED_H

#include "layers/layer.h"

#define COMPUTED(of)                                                         \
  ARG(WORDS, WORD, "weights", of, computed, .words = "wnorm spectral ws",    \
      .doc = "weight normalisation, spectral normalisation (divides by the " \
             "largest singular value) or weight standardisation")
#define COMPUTED_BUT_WS(of)                                            \
  ARG(WORDS, WORD, "weights", of, computed, .words = "wnorm spectral", \
      .doc = "weight normalisation (by input channel) or spectral "    \
             "normalisation (divides by the largest singular value)")
#define GAIN(of)                                      \
  ARG(WORDS, WORD, "gain", of, gain, .words = "gain", \
      .doc = "with `ws`: learned factor for each output channel")

/* Reports an error and returns false if weights are both
 * computed and adapted. */
bool computed_check(const struct layer *layer, enum computed how, bool adapted);

/* Adds a weight and, if its rank is not 0, a bias, in PyTorch's order. The
 * weight's last axis is that of the outputs. `gain`: ws with a gain. */
void computed_params(struct params *params, enum computed how, bool gain,
                     struct param weight, struct param bias);

/*
 * Records a product of `in` and these weights. `op` is complete but for its
 * inputs; its `param_count` is that of plain weights, and `weight` is the one
 * given to computed_params(). `by_rows`: the product reads rows of `in`, which
 * are made after the weights.
 */
size_t computed_trace(struct tape *tape, enum computed how, size_t in,
                      bool by_rows, const struct param *weight,
                      struct operation op);

#endif
