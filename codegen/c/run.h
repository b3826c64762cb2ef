/* X_run of a net: what the header declares and the source defines. */
#ifndef NETC_CODEGEN_C_RUN_H
#define NETC_CODEGEN_C_RUN_H

#include "codegen/c/c_text.h"
#include "runtime/netrt.h"

struct run_ends {
  struct slice name;    /* "vgg16" */
  const uint8_t *types; /* enum netrt_type of the inputs, then the outputs */
  size_t inputs, outputs;
  bool stream; /* it goes on with each row of the input */
};

/* int vgg16_run(const float *input, float *output) */
void run_put_prototype(struct text *out, const struct run_ends *ends);

/* void vgg16_reset(void), of a stream */
void run_put_reset(struct text *out, const struct run_ends *ends);

/* With -DNETRT_RUN only: a program that has an arena does not get another. */
void run_put_function(struct text *out, const struct run_ends *ends,
                      const struct netrt_model *model);

#endif
