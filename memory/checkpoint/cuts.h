/* Cuts: places in a net where one tensor alone leads on. */
#ifndef NETC_MEMORY_CHECKPOINT_CUTS_H
#define NETC_MEMORY_CHECKPOINT_CUTS_H

#include "memory/step/training.h"

/* Nodes [0, cut) are before a cut. */
struct cuts {
  VEC(int64_t) at;
};

void cuts_all(const struct model *model, struct cuts *cuts,
              struct arena *arena);

/*
 * Ends of at most `count` parts that save about the same number of bytes,
 * except the last one.
 */
void cuts_divide(const struct step *step, int64_t count, struct arena *arena,
                 struct cuts *chosen);

/*
 * The same for checkpoints, which may keep several tensors. If a part would
 * save more than three quarters of everything, as in a U-Net, also cuts where
 * fewer bytes cross than around it.
 */
void cuts_divide_kept(const struct step *step, int64_t count,
                      struct arena *arena, struct cuts *chosen);

/*
 * The same with about the same MACs per part. Cuts only between checkpointed
 * segments if there are `least` such parts. Segments save only their inputs, so
 * that most of a net with checkpoints would otherwise be one part.
 */
void cuts_divide_work(const struct step *step, int64_t count, int64_t least,
                      struct arena *arena, struct cuts *chosen);

/*
 * Places where checkpointed segments may begin and end: at most `count` parts,
 * cut where one tensor alone leads on or fewer bytes cross than around it. Not
 * before an operation that overwrites its input, because a segment would keep
 * that separately.
 */
void cuts_for_segments(const struct step *step, int64_t count,
                       struct arena *arena, struct cuts *chosen);

/* Number of parts, at most `most`, that can be searched without a long wait. */
int64_t cuts_most(const struct step *step, int64_t most);

#endif
