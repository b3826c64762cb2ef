/* Weights with values from a file of tensors. */
#ifndef NETC_IMPORT_VALUES_H
#define NETC_IMPORT_VALUES_H

#include "import/graph.h"
#include "import/tensors/tensors.h"

/*
 * Adds the first `count` values of a tensor as a weight of that name, in the
 * order of the file. NULL if they cannot be read; the file's `fault` says why.
 */
float *values_take(struct graph *graph, struct graph_node *node,
                   const char *name, struct tensor_file *file,
                   const struct stored_tensor *t, int64_t count);

#endif
