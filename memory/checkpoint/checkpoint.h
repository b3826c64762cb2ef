/* Checkpoints: which layers keep only their inputs until backward. */
#ifndef NETC_MEMORY_CHECKPOINT_CHECKPOINT_H
#define NETC_MEMORY_CHECKPOINT_CHECKPOINT_H

#include "memory/step/training.h"

/* As the settings say, where a step has `room` bytes; and traces it. */
void checkpoint_choose(struct step *step, int64_t room, struct arena *arena);

/*
 * The choice that computes least again of those that fit `room` bytes: it is
 * traced. False if none fits. The step has been traced without any. Where it
 * may not be the least: docs/memory.md.
 */
bool checkpoint_least(struct step *step, int64_t room, struct arena *arena);

#endif
