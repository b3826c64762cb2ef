/*
 * Reserve: bytes that the allocator reserves for a step, in whole segments. The
 * passes are simulated once to list their requests. The requests are then
 * replayed in order for two steps, since the second step finds the cache that
 * the first one left.
 */
#ifndef NETC_MEMORY_STEP_RESERVE_H
#define NETC_MEMORY_STEP_RESERVE_H

#include "memory/step/allocator.h"
#include "memory/step/simulate.h"

/* Bytes of a step besides what its passes request. */
struct reserve_of {
  int64_t standing;  /* parameters, buffers, the batch */
  int64_t gradients; /* of parameters, if counted apart; else 0 */
  int64_t gathered;  /* gathered parameters, during the passes */
  int64_t state;     /* optimizer state, which its first step makes */
  int64_t work;      /* inside the optimizer's step */
  int64_t flat;      /* after it: pieces of `flat_part`, and all in a row */
  int64_t flat_part;
};

/* Bytes of all segments, and the maximum allocated in them at once. */
struct reserved {
  int64_t bytes, given;
};

/* False if the passes of `s` free something that they did not request. */
bool reserve_find(const struct simulation *s, const struct reserve_of *of,
                  struct reserved *reserved);

#endif
