/* Weights that are computed from parameters before they are used. */
#ifndef NETC_LAYERS_COMPUTED_H
#define NETC_LAYERS_COMPUTED_H

#include "layers/layer.h"

#define COMPUTED(of)                                                           \
  ARG(WORDS, WORD, "weights", of, computed, .words = "wnorm spectral ws",      \
      .doc = "weights have their lengths apart, are divided by their largest " \
             "singular value, or are standardised")
#define COMPUTED_BUT_WS(of)                                                  \
  ARG(WORDS, WORD, "weights", of, computed, .words = "wnorm spectral",       \
      .doc = "weights have their lengths apart (of each input channel), or " \
             "are divided by their largest singular value")
#define GAIN(of)                                      \
  ARG(WORDS, WORD, "gain", of, gain, .words = "gain", \
      .doc = "with `ws`: a learned factor for each output channel")

/* Reports, and returns false, if weights are both computed and adapted. */
bool computed_check(const struct layer *layer, enum computed how, bool adapted);

/* A weight and a bias of `bias` values, or of none; the weight's last axis is
 * that of the outputs. In PyTorch's order. `gain`: ws with a gain. */
void computed_params(struct params *params, enum computed how, bool gain,
                     struct param weight, struct param bias);

/*
 * Records a product of `in` and these weights, `op` but for its inputs; its
 * `param_count` is that of plain weights. `weight` is what computed_params()
 * was given. `by_rows`: of the rows of `in`, once there are the weights.
 */
size_t computed_trace(struct tape *tape, enum computed how, size_t in,
                      bool by_rows, const struct param *weight,
                      struct operation op);

#endif
