/* Checkpoints: which layers keep only their inputs until backward. */
#ifndef NETC_STEP_CHECKPOINT_H
#define NETC_STEP_CHECKPOINT_H

#include "step/training.h"

/* As the settings say, where a step has `room` bytes; and traces it. */
void checkpoint_choose(struct step *step, int64_t room, struct arena *arena);

/*
 * Whether a step fits `room` bytes with checkpoints that are chosen, as
 * `checkpoint=auto` does. The settings' devices are one that has all.
 */
bool checkpoint_fits(const struct step *step, int64_t room,
                     struct arena *arena);

#endif
