/* Lowering: what an operation computes, as data. */
#ifndef NETC_LAYERS_TAPE_LOWERING_H
#define NETC_LAYERS_TAPE_LOWERING_H

#include "layers/tape/strides.h"
#include "layers/tape/tape.h"

/*
 * What the runtime knows; its table says which operands, numbers and reals
 * each has. VIEW: nothing is computed, values are only seen otherwise.
 */
enum opcode {
  DOES_NONE,
  DOES_UNKNOWN, /* something, but the runtime has no kernel for it */
  DOES_VIEW,
#define OP(code, ...) DOES_##code,
#include "runtime/ops.def"
#undef OP
};

enum { LOWERING_NUMBERS = 24, LOWERING_REALS = 3 };

/*
 * A window that moves along the first axis of a map, by which rows of the
 * output and of the input are numbered: row i reads rows i * stride - before
 * to that + extent - 1, and the kernel makes rows one by one, in whatever
 * order. extent 0: there is no such window.
 */
struct slide {
  int64_t extent, stride, before;
};

/*
 * An opcode with its numbers. Inputs are seen as they lie, parameters as
 * their layer has them, and the output is in one piece with the sizes of the
 * first input, unless it is said. Parameters follow the inputs.
 */
struct lowering {
  enum opcode opcode;
  const struct strides *in;      /* one for each input */
  const struct strides *out;     /* one for each output */
  const struct strides *weights; /* one for each parameter */
  int count;
  int64_t number[LOWERING_NUMBERS];
  double real[LOWERING_REALS];
  struct slide slide;
};

/* The lowering of an operation that has no more to say. */
#define LOWERS(id, ...) (&(struct lowering){.opcode = DOES_##id, __VA_ARGS__})

/*
 * The lowering of an operation of the tape. Ranges are into the tape's arrays;
 * weights are among its parameters, counted from the operation's first.
 */
struct tape_lowered {
  enum opcode opcode;
  uint32_t first_number, first_strides;
  int number_count, weight_count;
  double real[LOWERING_REALS];
  struct slide slide;
};

/* The lowering of operation `index`, if the tape lowers. */
static inline const struct tape_lowered *tape_lowered(const struct tape *tape,
                                                      size_t index) {
  return &tape->lowered.at[tape->lowered_of.at[index]];
}

static inline void lowering_add(struct lowering *to, int64_t number) {
  to->number[to->count++] = number;
}

#endif
