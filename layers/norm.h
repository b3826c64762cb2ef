/* Norms as operations, also inside other layers: norm_rows.c */
#ifndef NETC_LAYERS_NORM_H
#define NETC_LAYERS_NORM_H

#include "layers/layer.h"

/* Adds workspace for what the operation keeps, if the tape is of inference. */
struct operation norm_with_statistics(const struct tape *tape,
                                      struct operation op);

/*
 * ln of `rows` vectors with `values` values in total. The caller sets name,
 * sizes, parameters and lowering. A kernel of apex, if the tape selects it
 * (apex/normalization/fused_layer_norm.py).
 */
struct operation norm_ln(const struct tape *tape, int64_t rows, int64_t values);

/*
 * rmsnorm of `in`, by the same choice of kernels. `whole` has name, sizes and
 * lowering. `scale` is the index of the layer's parameter; -1: none.
 */
size_t norm_rms(struct tape *tape, size_t in, struct operation whole,
                int64_t rows, int scale);

#endif
