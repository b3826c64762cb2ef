/*
 * Elementwise functions without arguments, from ops.def: their names in
 * PyTorch, ONNX and the formats that netc reads.
 */
#ifndef NETC_OPS_FUNCTION_H
#define NETC_OPS_FUNCTION_H

#include "base/slice.h"
#include "ops/word.h"

/* Dialects with names of their own for functions. */
enum dialect {
  IN_ONNX, /* the operator that is exactly this function */
  IN_OPENVINO,
  IN_TFLITE,
  IN_KERAS,             /* names of an activation and an operation */
  IN_KERAS_ACTIVATIONS, /* further names of activations, and of operations */
  IN_KERAS_OPERATIONS,
  IN_CAFFE,
  IN_DARKNET,
  IN_TORCH, /* the module */
  DIALECTS
};

struct function {
  enum layer_word word;
  const char *opcode;          /* in runtime/ops.def */
  bool arithmetic;             /* such as exp; not an activation */
  const char *call;            /* in PyTorch */
  int since;                   /* opset that added it to ONNX, or 0 */
  const char *steps;           /* ONNX's operators before that, or "" */
  const char *names[DIALECTS]; /* words separated by blanks; NULL: none */
};

/* The functions in the order of ops.def; NULL after the last. */
const struct function *function_at(size_t index);

/* The function of a word; NULL: the word is another layer's. */
const struct function *function_of(enum layer_word word);

/* The function with that name in a dialect; NULL: none. */
const struct function *function_find(enum dialect dialect, struct slice name);

/* The function that one operator of ONNX computes, perhaps with
 * attributes; NULL: none. */
const struct function *function_of_onnx(struct slice op);

/* Name `index` of all names in a dialect, and its function;
 * NULL after the last. */
const struct function *function_name_at(enum dialect dialect, size_t index,
                                        struct slice *name);

#endif
