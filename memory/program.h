/* Program: what a prediction runs, in its order, and where it all lies. */
#ifndef NETC_MEMORY_PROGRAM_H
#define NETC_MEMORY_PROGRAM_H

#include "layers/tape/lowering.h"
#include "memory/inference.h"
#include "sema/model/model.h"
#include "sema/model/settings.h"

/* The batch is one more axis. */
enum { OPERAND_RANK = STRIDES_RANK + 1 };

/*
 * Sizes and strides in values, the batch first but for parameters that are
 * the same for all samples.
 */
struct operand {
  bool weights;  /* it is in the block of weights, not in the arena */
  int bytes;     /* of a value; 0: of the settings' type */
  int64_t first; /* where the first value lies, in bytes */
  int rank;
  int64_t dim[OPERAND_RANK], stride[OPERAND_RANK];
};

/* Its operands are what it makes, what it reads, and its workspace. */
struct program_op {
  int64_t node;
  const char *name; /* inside its layer: "scores" */
  enum opcode opcode;
  size_t first_operand, first_number;
  int outs, ins, works, numbers;
  double real[LOWERING_REALS];
  bool in_place;
  int64_t folded; /* the node that is part of its weights; NO_NODE: none */
};

struct program {
  struct inference plan; /* what a plan of the arena fills in of it */
  VEC(struct program_op) ops;
  VEC(struct operand) operands;
  VEC(int64_t) numbers;
  VEC(struct operand) inputs, outputs;
  int64_t weight_bytes;
};

/*
 * The plan that inference_find() made, operation by operation; all of it in
 * the model's arena. False if a sum passes 2^63 - 1.
 */
bool program_find(const struct model *model, const struct settings *settings,
                  struct program *program);

#endif
