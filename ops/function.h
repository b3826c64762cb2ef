/*
 * Functions of each value that have no arguments, from ops.def: what they are
 * called in PyTorch, ONNX and the formats that are read.
 */
#ifndef NETC_OPS_FUNCTION_H
#define NETC_OPS_FUNCTION_H

#include "base/slice.h"
#include "ops/word.h"

/* Who calls a function by a name of its own. */
enum dialect {
  IN_ONNX, /* the operator of exactly this function */
  IN_OPENVINO,
  IN_TFLITE,
  IN_KERAS,             /* an activation, and an operation on tensors */
  IN_KERAS_ACTIVATIONS, /* more names of the first, and of the second */
  IN_KERAS_OPERATIONS,
  IN_CAFFE,
  IN_DARKNET,
  IN_TORCH, /* the module */
  DIALECTS
};

struct function {
  enum layer_word word;
  const char *opcode;          /* of runtime/ops.def */
  bool arithmetic;             /* as exp is; not an activation */
  const char *call;            /* in PyTorch */
  int since;                   /* the opset from which ONNX has it, or 0 */
  const char *steps;           /* ONNX's operators otherwise, or "" */
  const char *names[DIALECTS]; /* words; NULL: it has none there */
};

/* The functions in the order of ops.def; NULL after the last. */
const struct function *function_at(size_t index);

/* The function that the word stands for; NULL: it stands for another layer. */
const struct function *function_of(enum layer_word word);

/* The function with that name in a dialect; NULL: there is none. */
const struct function *function_find(enum dialect dialect, struct slice name);

/* The function that one operator of ONNX computes, perhaps by attributes;
 * NULL: there is none. */
const struct function *function_of_onnx(struct slice op);

/* The name of that index among all that a dialect has, and whose it is; NULL
 * after the last. */
const struct function *function_name_at(enum dialect dialect, size_t index,
                                        struct slice *name);

#endif
