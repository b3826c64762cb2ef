/* gridsample: shared by layers that read maps at computed positions. */
#ifndef NETC_LAYERS_GRIDSAMPLE_H
#define NETC_LAYERS_GRIDSAMPLE_H

#include "layers/layer.h"

/*
 * Records aten::grid_sampler_2d or _3d of a map and positions (`pair`); `out`
 * is the result's shape. Both inputs are kept, in 32 bits, and the positions
 * get a gradient even if none is needed (aten/src/ATen/native/GridSampler.cpp).
 */
size_t gridsample_run(struct tape *tape, const size_t *pair,
                      const struct lowering *does, const struct shape *out);

#endif
