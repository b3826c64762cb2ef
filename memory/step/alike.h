/* Alike: parts of a net that run alike need to be run only once. */
#ifndef NETC_MEMORY_STEP_ALIKE_H
#define NETC_MEMORY_STEP_ALIKE_H

#include "memory/step/training.h"

/* Sums over the parts of a net, from which those of spans of parts follow. */
struct alike {
  uint64_t *sums, *powers; /* by part; one more than there are */
};

/*
 * Parts [cut[i], cut[i + 1]) of the nodes. All that a simulation reads goes
 * into the sums, with places relative to where a part begins.
 */
void alike_find(struct alike *alike, const struct step *step,
                const int64_t *cut, size_t parts, struct arena *arena);

/* Equal for spans that run alike, and hold alike, by all but a chance of
   2^-64 or so. */
uint64_t alike_span(const struct alike *alike, size_t from, size_t to);

#endif
