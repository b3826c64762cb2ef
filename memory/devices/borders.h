/* Borders: finds where nets are usually cut into pipeline stages. */
#ifndef NETC_MEMORY_DEVICES_BORDERS_H
#define NETC_MEMORY_DEVICES_BORDERS_H

#include "memory/checkpoint/cuts.h"

/* Repeating blocks: nodes [first, first + length * count). */
struct repeated {
  int64_t first, length, count; /* length in nodes; count of blocks, 0: none */
};

struct net_borders {
  struct cuts single;       /* all places where one tensor alone leads on */
  struct repeated repeated; /* the blocks with most of the net's layers */
  /* Single places at the ends of a named part, a call, an iteration or a layer
   * of the net itself, but not inside a repeating block. */
  struct cuts outer;
  struct cuts apart; /* single places outside the blocks */
};

/*
 * Blocks are alike if their layers have the same kinds, and outputs and
 * parameters of the same sizes; the reach of attention does not matter. The
 * source need not have a loop.
 */
struct net_borders borders_find(const struct model *model, struct arena *arena);

/* Number of repeating blocks in nodes that are cut between blocks. *first is
 * the index of the first one, from 0. */
int64_t borders_turns(const struct repeated *repeated, struct node_range nodes,
                      int64_t *first);

/* True if a net of `nodes` layers is cut between blocks into `parts`: there are
 * at least `parts` blocks, with three quarters of the layers. */
bool borders_by_turns(const struct repeated *repeated, int64_t parts,
                      int64_t nodes);

#endif
