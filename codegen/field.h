/* Receptive fields of tensors, in positions of the input. */
#ifndef NETC_CODEGEN_FIELD_H
#define NETC_CODEGEN_FIELD_H

#include "codegen/backend.h"

/*
 * An axis of a map that was enlarged `by` times: `more` of its positions beside
 * one depend on up to floor(more / by) positions of the map before beside one,
 * whose field is `size` and whose stride `step`. Its own stride is `unit`
 * positions of the enlarged map.
 */
struct field_axis {
  int64_t size, step, more, unit, by;
};

/* The field of a tensor, by spatial axis, in positions of the input. */
struct field {
  int axes;        /* 0: unknown, or no map */
  int64_t size[3]; /* receptive field */
  int64_t step[3]; /* effective stride, in 1 / `parts` positions */
  int64_t parts[3];
  struct field_axis at[3];
};

/*
 * Computes the fields of all nodes: size = size_in + (extent - 1) step_in, step
 * = stride step_in (Araujo, Norris, Sim: "Computing Receptive Fields of
 * Convolutional Neural Networks", Distill 2019). `deconv` and `up` are a window
 * over a map with zeros between its values, which no field counts; positions
 * differ there, and the largest field counts, as it does of several inputs. It
 * is an upper bound where a stride follows, which may read equal positions
 * only.
 */
struct field *fields_of(const struct compiled *c);

#endif
