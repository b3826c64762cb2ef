/*
 * Open sizes: a number that a model needs is known for several samples, and
 * computed at run time from the shapes of tensors.
 */
#ifndef NETC_EXPORT_SIZES_H
#define NETC_EXPORT_SIZES_H

#include "export/model.h"

/* An axis of a tensor, by its sizes in each sample. */
struct open_dim {
  const int64_t *sizes;
  value_id value;
  int axis;
};

struct open_sizes {
  struct onnx_model *m;
  size_t samples;
  VEC(struct onnx_node) nodes; /* nodes of the model and of computations */
  VEC(struct open_dim) dims;   /* those of inputs first; distinct sizes */
  struct map known;            /* indices in `dims`, by sizes */
  struct map numbers;          /* computed lists of one number, by numbers */
  struct map shapes;           /* Shape nodes, by value */
};

/* Adds an axis whose size may be used from now on. */
void sizes_add(struct open_sizes *o, value_id value, int axis,
               const int64_t *sizes);

/*
 * A list of one number, which is `numbers` in the samples: an axis, a multiple
 * or a part of it, or a product or floor of those. NO_VALUE if none matches.
 */
value_id sizes_number(struct open_sizes *o, const int64_t *numbers);

/* Concatenates lists of one number; a single one is returned. */
value_id sizes_list(struct open_sizes *o, const value_id *numbers, int count);

#endif
