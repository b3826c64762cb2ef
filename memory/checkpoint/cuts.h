/* Cuts: places where a net hangs together by one tensor alone. */
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
 * The ends of at most `count` parts that keep about as much for backward
 * each, the last one excepted.
 */
void cuts_divide(const struct step *step, int64_t count, struct arena *arena,
                 struct cuts *chosen);

/*
 * The same for checkpoints, which may keep several tensors: where a part would
 * keep more than three quarters of everything, as in a U-Net, also where fewer
 * bytes lead on than around it.
 */
void cuts_divide_kept(const struct step *step, int64_t count,
                      struct arena *arena, struct cuts *chosen);

/*
 * Likewise, of about as many MACs each, and between checkpointed segments if
 * there are `least` such parts: these keep only what they read, so that most
 * of a net with checkpoints would be one part.
 */
void cuts_divide_work(const struct step *step, int64_t count, int64_t least,
                      struct arena *arena, struct cuts *chosen);

/*
 * Where checkpointed segments may begin and end: at most `count` parts, cut
 * where one tensor alone leads on, or fewer bytes than around it; not before
 * what is written over its input, which a segment would keep apart.
 */
void cuts_for_segments(const struct step *step, int64_t count,
                       struct arena *arena, struct cuts *chosen);

/* How many parts, at most `most`, may be chosen between without long waits. */
int64_t cuts_most(const struct step *step, int64_t most);

#endif
