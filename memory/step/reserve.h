/*
 * Reserve: what the allocator holds for a step, segments and all. The passes
 * are simulated once, which lists what they request; the requests are then
 * made in their order, of two steps: the second one finds what the first one
 * left.
 */
#ifndef NETC_MEMORY_STEP_RESERVE_H
#define NETC_MEMORY_STEP_RESERVE_H

#include "memory/step/allocator.h"
#include "memory/step/simulate.h"

/* Bytes that a step has beside what its passes ask for. */
struct reserve_of {
  int64_t standing;  /* parameters, buffers, the batch */
  int64_t gradients; /* of parameters, where they are counted apart; or 0 */
  int64_t gathered;  /* during the passes */
  int64_t state;     /* of the optimizer: its first step makes it */
  int64_t work;      /* inside its steps */
  int64_t flat;      /* after them: pieces of `flat_part`, and all in a row */
  int64_t flat_part;
};

/* Bytes of all segments, and the most that was given of them at once. */
struct reserved {
  int64_t bytes, given;
};

/* False if what the passes of `s` give back is not what they asked for. */
bool reserve_find(const struct simulation *s, const struct reserve_of *of,
                  struct reserved *reserved);

#endif
