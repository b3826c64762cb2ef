/* Receptive fields of tensors, in positions of the input. */
#ifndef NETC_CODEGEN_FIELD_H
#define NETC_CODEGEN_FIELD_H

#include "codegen/backend.h"

/* The field of a tensor, by spatial axis, in positions of the input. */
struct field {
  int axes;        /* 0: unknown, or no map */
  int64_t size[3]; /* receptive field */
  int64_t step[3]; /* effective stride */
};

/*
 * Computes the fields of all nodes: size = size_in + (extent - 1) step_in, step
 * = stride step_in (Araujo, Norris, Sim: "Computing Receptive Fields of
 * Convolutional Neural Networks", Distill 2019). With several inputs, the
 * largest field counts.
 */
struct field *fields_of(const struct compiled *c);

#endif
