/* Lowering: the computation of an operation, as data. */
#ifndef NETC_LAYERS_TAPE_LOWERING_H
#define NETC_LAYERS_TAPE_LOWERING_H

#include "layers/tape/strides.h"
#include "layers/tape/tape.h"

/*
 * Operations of the runtime; its table lists operands, numbers and reals of
 * each. VIEW computes nothing: it only changes strides.
 */
enum opcode {
  DOES_NONE,
  DOES_UNKNOWN, /* not supported by the runtime */
  DOES_VIEW,
#define OP(code, ...) DOES_##code,
#include "runtime/ops.def"
#undef OP
};

enum { LOWERING_NUMBERS = 24, LOWERING_REALS = 3 };

/*
 * A window that slides along the first axis of a map. Output row i reads input
 * rows i * stride - before to i * stride - before + extent - 1. The kernel
 * makes rows one by one, in any order. extent 0: no such window.
 */
struct slide {
  int64_t extent, stride, before;
};

/*
 * An opcode and its numbers. Defaults of strides: inputs have those of their
 * values, parameters those of their layer, and outputs are contiguous with the
 * sizes of the first input. Parameters follow the inputs.
 */
struct lowering {
  enum opcode opcode;
  const struct strides *in;      /* by input; NULL: default */
  const struct strides *out;     /* by output; NULL: default */
  const struct strides *weights; /* by parameter; NULL: default */
  int count;
  int64_t number[LOWERING_NUMBERS];
  double real[LOWERING_REALS];
  struct slide slide;
};

/* A lowering without numbers. */
#define LOWERS(id, ...) (&(struct lowering){.opcode = DOES_##id, __VA_ARGS__})

/*
 * The lowering of an operation on the tape. Ranges are in the tape's arrays;
 * weights are the operation's first parameters.
 */
struct tape_lowered {
  enum opcode opcode;
  uint32_t first_number, first_strides;
  int number_count, weight_count;
  double real[LOWERING_REALS];
  struct slide slide;
};

/* The lowering of operation `index`. The tape must lower. */
static inline const struct tape_lowered *tape_lowered(const struct tape *tape,
                                                      size_t index) {
  return &tape->lowered.at[tape->lowered_of.at[index]];
}

static inline void lowering_add(struct lowering *to, int64_t number) {
  to->number[to->count++] = number;
}

#endif
