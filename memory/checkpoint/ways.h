/*
 * Ways: the cheapest choice of checkpoints between the units of a net that
 * fits: a shortest path whose length are the MACs that are computed again.
 */
#ifndef NETC_MEMORY_CHECKPOINT_WAYS_H
#define NETC_MEMORY_CHECKPOINT_WAYS_H

#include "memory/checkpoint/spans.h"

struct ways {
  const struct spans *spans;
  int64_t budget; /* bytes, for all that does not stand */
  bool any;       /* whether there is one: the cheapest is not asked for */
  size_t few;     /* ways to a place at first; 0: as many as pay */
  struct arena *arena;

  /* What was found. */
  struct node_range *ranges; /* from the front */
  size_t count;
  int64_t most; /* bytes that it takes, at most the budget */
  int64_t macs;
};

/* False: no choice fits. */
bool ways_find(struct ways *ways);

/*
 * What a step takes beside what stands, in bytes, if ranges between the cuts
 * are checkpointed in each of which something learns.
 */
int64_t ways_most(const struct spans *spans, const struct node_range *ranges,
                  size_t count);

#endif
