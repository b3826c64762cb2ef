/* Program: the operations of inference in order, and their operands. */
#ifndef NETC_MEMORY_PROGRAM_H
#define NETC_MEMORY_PROGRAM_H

#include "layers/tape/lowering.h"
#include "memory/inference.h"
#include "sema/model/model.h"
#include "sema/model/settings.h"

/* The batch is an additional axis. */
enum { OPERAND_RANK = STRIDES_RANK + 1 };

/* Type of an operand's values. */
enum operand_type {
  OPERAND_OWN, /* as in the settings */
  OPERAND_I32,
  OPERAND_I64,
  OPERAND_REAL, /* always float32 */
  /* only for weights: */
  OPERAND_I8,
  OPERAND_F16,
  OPERAND_BF16,
};

/*
 * Sizes and strides in values. The batch is first, except for parameters, which
 * are the same for all samples.
 */
struct operand {
  bool weights; /* in the block of weights, not in the arena */
  bool lines;   /* only the last lines of a map, as a ring */
  bool panels;  /* weights that may be stored in panels: runtime/netrt.h */
  enum operand_type type;
  int64_t node;  /* node with this output; NO_NODE: none */
  int64_t param; /* model parameter; -1: none */
  int64_t first; /* offset of the first value in bytes */
  int rank;
  int64_t dim[OPERAND_RANK], stride[OPERAND_RANK];
};

/* Operands are in the order outputs, inputs, workspace. */
struct program_op {
  int64_t node;
  const char *name;        /* name inside its layer, as "scores" */
  enum opcode opcode, was; /* was: for int8, the opcode in float32 */
  size_t first_operand, first_number;
  int outs, ins, works, numbers;
  bool stays; /* the workspace is kept for the next run */
  double real[LOWERING_REALS];
  bool in_place;
  int64_t folded;     /* node folded into its weights; NO_NODE: none */
  int64_t clamp;      /* node that clamps its values (q8.h); NO_NODE: none */
  enum opcode limits; /* opcode of that clamp */
  int64_t scales, words, table; /* int8: offsets in the block; -1: none */
};

struct program {
  struct inference plan; /* the plan of the arena */
  VEC(struct program_op) ops;
  VEC(struct operand) operands;
  VEC(int64_t) numbers;
  VEC(struct operand) inputs, outputs;
  /* Operation `lines_at` runs the `lines` operations after it, line by line. */
  size_t lines_at, lines;
  int64_t weight_bytes;
  /* int8: the block has biases, words, then int8 values. */
  bool q8;
  bool bytes;     /* the block is not all float32 */
  int64_t ports;  /* offset of scale and zero of the inputs, then the outputs */
  int64_t narrow; /* offset of int8 weights; without q8, of narrow weights */
};

/*
 * Writes the plan of inference_find() as operations, all in the model's arena.
 * False if a sum passes 2^63 - 1.
 */
bool program_find(const struct model *model, const struct settings *settings,
                  struct program *program);

#endif
