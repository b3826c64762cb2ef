/* Numbers of 8 bits and their scales: op_quant.c. */
#ifndef NETC_IMPORT_ONNX_STEPS_H
#define NETC_IMPORT_ONNX_STEPS_H

#include "import/onnx/reader.h"

/* A number q stands for (q - zero) x scale; both may vary along an axis. */
struct onnx_steps {
  struct constant *scale, *zero; /* zero may be NULL */
  int type;                      /* of the numbers, as in onnx.proto */
};

/* "0.5 0.25" and "0 0", as in a file of weights. */
void steps_put(struct onnx *x, const struct onnx_steps *s, const char **scale,
               const char **zero);

/* Decides whether the net computes in 8 bits; else notes why not. */
void steps_settle(struct onnx *x);

#endif
