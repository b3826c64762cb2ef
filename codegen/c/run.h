/* X_run of a net, which the header declares and the source defines. */
#ifndef NETC_CODEGEN_C_RUN_H
#define NETC_CODEGEN_C_RUN_H

#include "codegen/c/c_text.h"
#include "runtime/netrt.h"

struct run_ends {
  struct slice name;    /* "vgg16" */
  const uint8_t *types; /* enum netrt_type of the inputs, then of the outputs */
  size_t inputs, outputs;
  bool stream; /* each call continues with the next row of the input */
};

/* int vgg16_run(const float *input, float *output) */
void run_put_prototype(struct text *out, const struct run_ends *ends);

/* void vgg16_reset(void), for a stream */
void run_put_reset(struct text *out, const struct run_ends *ends);

/* Only with -DNETRT_RUN: a program with an arena needs no second one. */
void run_put_function(struct text *out, const struct run_ends *ends,
                      const struct netrt_model *model);

#endif
