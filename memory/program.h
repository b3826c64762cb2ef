/* Program: what a prediction runs, in its order, and where it all lies. */
#ifndef NETC_MEMORY_PROGRAM_H
#define NETC_MEMORY_PROGRAM_H

#include "layers/tape/lowering.h"
#include "memory/inference.h"
#include "sema/model/model.h"
#include "sema/model/settings.h"

/* The batch is one more axis. */
enum { OPERAND_RANK = STRIDES_RANK + 1 };

/* Of a value. */
enum operand_type {
  OPERAND_OWN, /* as the settings say */
  OPERAND_I32,
  OPERAND_I64,
  OPERAND_REAL, /* float32, whatever the settings say */
  /* Of weights alone: */
  OPERAND_I8,
  OPERAND_F16,
  OPERAND_BF16,
};

/*
 * Sizes and strides in values, the batch first but for parameters that are
 * the same for all samples.
 */
struct operand {
  bool weights; /* it is in the block of weights, not in the arena */
  bool lines;   /* of a map its last lines alone, which go on */
  bool panels;  /* weights that may lie in panels: runtime/netrt.h */
  enum operand_type type;
  int64_t node;  /* whose output it is; NO_NODE: none's */
  int64_t param; /* of the model, that it is; -1: none */
  int64_t first; /* where the first value lies, in bytes */
  int rank;
  int64_t dim[OPERAND_RANK], stride[OPERAND_RANK];
};

/* Its operands are what it makes, what it reads, and its workspace. */
struct program_op {
  int64_t node;
  const char *name;        /* inside its layer: "scores" */
  enum opcode opcode, was; /* in 8 bits: what it is in float32 */
  size_t first_operand, first_number;
  int outs, ins, works, numbers;
  bool stays; /* its workspace, for the next run */
  double real[LOWERING_REALS];
  bool in_place;
  int64_t folded;     /* the node that is part of its weights; NO_NODE: none */
  int64_t clamp;      /* the node that limits its values: q8.h; NO_NODE: none */
  enum opcode limits; /* what that does */
  int64_t scales, words, table; /* of 8 bits: bytes in the block; -1: none */
};

struct program {
  struct inference plan; /* what a plan of the arena fills in of it */
  VEC(struct program_op) ops;
  VEC(struct operand) operands;
  VEC(int64_t) numbers;
  VEC(struct operand) inputs, outputs;
  /* Operation `lines_at` runs so many after it, line by line. */
  size_t lines_at, lines;
  int64_t weight_bytes;
  /* Of 8 bits: the block has biases, words, then what has 8 bits. */
  bool q8;
  bool bytes;     /* the block is not of float32 alone */
  int64_t ports;  /* scale and zero of inputs, then of outputs, in bytes */
  int64_t narrow; /* where weights begin; those of fewer bits, in float32 */
};

/*
 * The plan that inference_find() made, operation by operation; all of it in
 * the model's arena. False if a sum passes 2^63 - 1.
 */
bool program_find(const struct model *model, const struct settings *settings,
                  struct program *program);

#endif
