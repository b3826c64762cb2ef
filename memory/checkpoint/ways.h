/*
 * Ways: the cheapest choice of checkpoints between the units of a net that
 * fits: a shortest path whose length is the recomputed MACs.
 */
#ifndef NETC_MEMORY_CHECKPOINT_WAYS_H
#define NETC_MEMORY_CHECKPOINT_WAYS_H

#include "memory/checkpoint/spans.h"

struct ways {
  const struct spans *spans;
  int64_t budget; /* bytes besides persistent memory */
  bool any;       /* find any choice, not the cheapest */
  size_t few;     /* initial ways per place; 0: the default */
  struct arena *arena;

  /* Results: */
  struct node_range *ranges; /* in order */
  size_t count;
  int64_t most; /* bytes needed, at most the budget */
  int64_t macs;
};

/* False: no choice fits. */
bool ways_find(struct ways *ways);

/*
 * Bytes of a step besides persistent memory, if `ranges` between cuts are
 * checkpointed, each of which needs a gradient.
 */
int64_t ways_most(const struct spans *spans, const struct node_range *ranges,
                  size_t count);

#endif
