/* Touched: bytes that operations other than products read and write. */
#ifndef NETC_MEMORY_DEVICES_TOUCHED_H
#define NETC_MEMORY_DEVICES_TOUCHED_H

#include "memory/step/training.h"

/*
 * Bytes that `samples` touch in these operations of a trace, which may be
 * sharded: once forward, twice backward, and once more forward in the step's
 * segments. INT64_MAX on overflow.
 */
int64_t touched_bytes(const struct trace *trace, const struct step *step,
                      struct segment ops, int64_t samples);

#endif
