/* Touched: bytes that operations without products read and write. */
#ifndef NETC_MEMORY_DEVICES_TOUCHED_H
#define NETC_MEMORY_DEVICES_TOUCHED_H

#include "memory/step/training.h"

/*
 * Of `samples` through these operations of a trace, which may be as one of
 * several devices runs them: once forward, twice backward, and forward once
 * more in the step's segments. INT64_MAX: it passes that.
 */
int64_t touched_bytes(const struct trace *trace, const struct step *step,
                      struct segment ops, int64_t samples);

#endif
