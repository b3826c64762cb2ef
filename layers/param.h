/* Parameters in files: PyTorch's axes and netc's. */
#ifndef NETC_LAYERS_PARAM_H
#define NETC_LAYERS_PARAM_H

#include "layers/layer.h"

/* Axes in netc's order after flattened maps are divided. */
enum { PARAM_AXES = 2 * LIMIT_RANK };

/*
 * A tensor in a file, and where it has the values of a parameter: value (i, j,
 * ..) in netc's order is at first + i * stride[0] + j * stride[1] ...
 */
struct param_view {
  int rank; /* in the file */
  int64_t dim[LIMIT_RANK];
  int64_t count; /* values of the tensor */
  int axes;      /* in netc's order */
  int64_t size[PARAM_AXES], stride[PARAM_AXES];
  int64_t first;
};

/*
 * Fills `view`. `in_map` and `out_map` are the maps, HxWxC here, that were
 * flattened to the inputs or outputs; PyTorch flattens CxHxW. NULL: vectors.
 * The counts must have been checked.
 */
void param_view(const struct param *param, const struct shape *in_map,
                const struct shape *out_map, struct param_view *view);

#endif
