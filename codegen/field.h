/* Receptive fields: how much of the input a position of a map sees. */
#ifndef NETC_CODEGEN_FIELD_H
#define NETC_CODEGEN_FIELD_H

#include "codegen/backend.h"

/* Of a tensor of the net, by spatial axis, in positions of the input. */
struct field {
  int axes;        /* 0: unknown, or no map */
  int64_t size[3]; /* receptive field */
  int64_t step[3]; /* effective stride */
};

/*
 * For all nodes: size = size_in + (extent - 1) step_in, step = stride step_in
 * (Araujo, Norris, Sim: "Computing Receptive Fields of Convolutional Neural
 * Networks", Distill 2019). Of several inputs the largest counts.
 */
struct field *fields_of(const struct compiled *c);

#endif
