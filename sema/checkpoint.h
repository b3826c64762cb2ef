/* Checkpoints: which layers keep only their inputs until backward. */
#ifndef NETC_SEMA_CHECKPOINT_H
#define NETC_SEMA_CHECKPOINT_H

#include "sema/training.h"

/* The outermost groups that the source checkpoints. */
void checkpoint_groups(struct step *step, struct arena *arena);

/*
 * `count` segments that keep about as much each; the last one is not
 * checkpointed, because it runs backward at once (Chen et al. 2016, arXiv
 * 1604.06174; torch.utils.checkpoint.checkpoint_sequential).
 */
void checkpoint_even(struct step *step, int64_t count, struct arena *arena);

/*
 * Segments that fit `memory` bytes with few MACs computed once more: dynamic
 * programming over the chain of cuts, each with what it holds and what it
 * costs; choices are measured. False if none fit; the step is as before.
 */
bool checkpoint_auto(struct step *step, int64_t memory, struct arena *arena);

/* As the settings say, where a step has `room` bytes; and traces it. */
void checkpoint_choose(struct step *step, int64_t room, struct arena *arena);

#endif
