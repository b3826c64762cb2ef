/* Lowering: what an operation computes, as data. */
#ifndef NETC_LAYERS_LOWERING_H
#define NETC_LAYERS_LOWERING_H

#include "layers/strides.h"

/* VIEW: nothing is computed, values are only seen otherwise. */
enum opcode {
  DOES_NONE,
  DOES_VIEW,
#define OP(name, ...) DOES_##name,
#include "layers/opcodes.def"
#undef OP
};

enum { LOWERING_NUMBERS = 24, LOWERING_REALS = 3 };

/*
 * An opcode with its numbers. Inputs are seen as they lie, and the output is
 * in one piece with the sizes of the first input, unless it is said.
 */
struct lowering {
  enum opcode opcode;
  const struct strides *in;  /* one for each input */
  const struct strides *out; /* one for each output */
  int count;
  int64_t number[LOWERING_NUMBERS];
  double real[LOWERING_REALS];
};

/* The lowering of an operation that has no more to say. */
#define LOWERS(id, ...) (&(struct lowering){.opcode = DOES_##id, __VA_ARGS__})

static inline void lowering_add(struct lowering *to, int64_t number) {
  to->number[to->count++] = number;
}

#endif
