/*
 * Sizes that are left open: a number that a model needs is known for several
 * samples of them, and computed from the shapes of tensors when it is run.
 */
#ifndef NETC_CODEGEN_ONNX_SIZES_H
#define NETC_CODEGEN_ONNX_SIZES_H

#include "export/model.h"

/* An axis of a tensor that is there, by its sizes in each sample. */
struct open_dim {
  const int64_t *sizes;
  value_id value;
  int axis;
};

struct open_sizes {
  struct onnx_model *m;
  size_t samples;
  VEC(struct onnx_node) nodes; /* of the model, with those that compute */
  VEC(struct open_dim) dims;   /* those of inputs first; each sizes once */
  struct map known;            /* dims, by their sizes */
  struct map numbers;          /* lists of one that are there, likewise */
  struct map shapes;           /* by value */
};

/* An axis that can be asked from now on. */
void sizes_add(struct open_sizes *o, value_id value, int axis,
               const int64_t *sizes);

/*
 * A list of one number, which is `numbers` in the samples: an axis, a multiple
 * or a part of it, a product or a floor of such. NO_VALUE: nothing gives it.
 */
value_id sizes_number(struct open_sizes *o, const int64_t *numbers);

/* Lists of one as one list; one of them is itself. */
value_id sizes_list(struct open_sizes *o, const value_id *numbers, int count);

#endif
