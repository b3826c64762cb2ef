/* Norms inside of other layers: what a framework runs for them. */
#ifndef NETC_LAYERS_NORM_H
#define NETC_LAYERS_NORM_H

#include "layers/layer.h"

/*
 * ln and rmsnorm on `rows` vectors of `values` together; without a
 * name, sizes, parameters and what is computed. `scale` is the place of the
 * factors among the layer's parameters; -1: there are none. If the tape says
 * so, a kernel of apex (apex/normalization/fused_layer_norm.py).
 */
struct operation norm_ln(const struct tape *tape, int64_t rows, int64_t values);
struct operation norm_rms(const struct tape *tape, int64_t rows, int64_t values,
                          int scale);

#endif
