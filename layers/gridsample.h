/* gridsample: what layers share that read maps at places of their own. */
#ifndef NETC_LAYERS_GRIDSAMPLE_H
#define NETC_LAYERS_GRIDSAMPLE_H

#include "layers/layer.h"

/*
 * Values of a map at places, a pair, of the sizes `out`: aten::grid_sampler_2d,
 * _3d. Both are kept, in 32 bits; places get a gradient, wanted or not
 * (aten/src/ATen/native/GridSampler.cpp).
 */
size_t gridsample_run(struct tape *tape, const size_t *pair,
                      const struct lowering *does, const struct shape *out);

#endif
