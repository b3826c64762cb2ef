/*
 * Models of one operator or two with any operands, for tests/test_operands.c:
 * a function for each format, which writes the bytes that a reader gets.
 */
#ifndef NETC_TESTS_OPERANDS_H
#define NETC_TESTS_OPERANDS_H

#include "base/arena.h"
#include "base/text.h"

/* Operands, a letter for each. */
enum {
  MOST_OPERANDS = 9,
  INPUT = 'x',
  CONSTANT = 'c',
  SCALAR = 's',
  EMPTY = 'e',   /* a constant without values */
  UNKNOWN = 'u', /* made by an operator that netc has no equivalent of */
  OWN = 'y',     /* its own output */
  NOTHING = '-', /* an empty name */
};

struct trial {
  struct arena *arena;
  const char *type; /* the operator's */
  const char *operands;
  const char *behind; /* an operator that reads it; NULL: there is none */
  int64_t number;     /* of its attributes */
  bool attributes;    /* it has some */
  unsigned seed;      /* which */
};

/* True if the trial has that attribute. */
bool trial_has(const struct trial *trial, unsigned attribute);

/* Operands of the one behind, which reads the result. */
const char *trial_behind(const struct trial *trial);

typedef struct slice trial_write_fn(const struct trial *trial);

trial_write_fn onnx_trial, tflite_trial, caffe_trial, openvino_trial,
    keras_trial;

#endif
