/* Norms as operations, inside of other layers, too: norm_rows.c */
#ifndef NETC_LAYERS_NORM_H
#define NETC_LAYERS_NORM_H

#include "layers/layer.h"

/* With what the operation keeps: a prediction has it while the norm runs. */
struct operation norm_with_statistics(const struct tape *tape,
                                      struct operation op);

/*
 * ln on `rows` vectors of `values` together; without a name, sizes, parameters
 * and what is computed. If the tape says so, a kernel of apex
 * (apex/normalization/fused_layer_norm.py).
 */
struct operation norm_ln(const struct tape *tape, int64_t rows, int64_t values);

/*
 * rmsnorm of `in`, likewise; its name, sizes and what is computed are those of
 * `whole`. `scale` is the place of the factors among the layer's parameters;
 * -1: there are none.
 */
size_t norm_rms(struct tape *tape, size_t in, struct operation whole,
                int64_t rows, int scale);

#endif
