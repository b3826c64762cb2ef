/* Checkpoints: layers that keep only their inputs until backward. */
#ifndef NETC_MEMORY_CHECKPOINT_CHECKPOINT_H
#define NETC_MEMORY_CHECKPOINT_CHECKPOINT_H

#include "memory/step/training.h"

/* Applies the settings' checkpoints for `room` bytes, and traces the step. */
void checkpoint_choose(struct step *step, int64_t room, struct arena *arena);

/*
 * Finds the choice within `room` bytes with the fewest recomputed MACs, and
 * traces it. False if none fits. The step is given with a trace without
 * checkpoints. Exceptions to the minimum: docs/memory.md.
 */
bool checkpoint_least(struct step *step, int64_t room, struct arena *arena);

#endif
