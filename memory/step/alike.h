/* Alike: finds parts of a net that run alike, so that one run serves all. */
#ifndef NETC_MEMORY_STEP_ALIKE_H
#define NETC_MEMORY_STEP_ALIKE_H

#include "memory/step/training.h"

/* Hashes of the parts of a net, summed so that spans of parts compare. */
struct alike {
  uint64_t *sums, *powers; /* by part; one more than the parts */
};

/*
 * Parts [cut[i], cut[i + 1]) of the nodes. The sums cover everything that a
 * simulation reads, with places relative to where a part begins.
 */
void alike_find(struct alike *alike, const struct step *step,
                const int64_t *cut, size_t parts, struct arena *arena);

/* Equal for spans that run alike and keep alike; unequal spans collide with a
 * chance of about 2^-64. */
uint64_t alike_span(const struct alike *alike, size_t from, size_t to);

#endif
