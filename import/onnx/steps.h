/* Numbers of 8 bits, and what they stand for: op_quant.c. */
#ifndef NETC_IMPORT_ONNX_STEPS_H
#define NETC_IMPORT_ONNX_STEPS_H

#include "import/onnx/reader.h"

/* A number q is (q - zero) x scale: one of each, or one for each place of an
 * axis. */
struct onnx_steps {
  struct constant *scale, *zero; /* zero: or NULL */
  int type;                      /* of the numbers, as onnx.proto's */
};

/* "0.5 0.25" and "0 0", as a file of weights has them. */
void steps_put(struct onnx *x, const struct onnx_steps *s, const char **scale,
               const char **zero);

/* At the end: whether the net computes in 8 bits, or a comment why not. */
void steps_settle(struct onnx *x);

#endif
