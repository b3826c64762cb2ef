/* Parameters as files have them: PyTorch's axes beside netc's. */
#ifndef NETC_LAYERS_PARAM_H
#define NETC_LAYERS_PARAM_H

#include "layers/layer.h"

/* Axes of netc's order once those of flattened maps are apart. */
enum { PARAM_AXES = 2 * LIMIT_RANK };

/*
 * A tensor in a file, and where the values of a parameter lie in it: value
 * (i, j, ..) in netc's order at first + i * stride[0] + j * stride[1] ...
 */
struct param_view {
  int rank; /* in the file */
  int64_t dim[LIMIT_RANK];
  int64_t count; /* of all its values */
  int axes;      /* in netc's order */
  int64_t size[PARAM_AXES], stride[PARAM_AXES];
  int64_t first;
};

/*
 * How a parameter lies in its file. `in_map` and `out_map` are the maps, HxWxC
 * here, that its inputs or outputs are a flattening of; PyTorch flattens
 * CxHxW. NULL: they are vectors anyhow. All counts have been checked before.
 */
void param_view(const struct param *param, const struct shape *in_map,
                const struct shape *out_map, struct param_view *view);

#endif
