/* Borders: finds where nets are usually cut into pipeline stages. */
#ifndef NETC_MEMORY_DEVICES_BORDERS_H
#define NETC_MEMORY_DEVICES_BORDERS_H

#include "memory/checkpoint/cuts.h"

struct net_borders {
  struct cuts single;         /* all places where one tensor alone leads on */
  struct node_turns repeated; /* the largest stretch; count 0: none repeats */
  /* Of the single ones, those at an end of a named part, of a call, of a turn
     or of a layer of the net itself; none inside a turn that repeats. */
  struct cuts outer;
  struct cuts apart; /* single places outside the blocks */
};

/*
 * Blocks are alike if their layers have the same kinds, and outputs and
 * parameters of the same sizes; the reach of attention does not matter. The
 * source need not have a loop.
 */
struct net_borders borders_find(const struct model *model, struct arena *arena);

/* The number of iterations in nodes that are cut between iterations; the index
   of the first one is in *first. */
int64_t borders_turns(const struct node_turns *repeated,
                      struct node_range nodes, int64_t *first);

/* A net of `nodes` layers is cut by iterations into `parts` if there are as
   many and three quarters of the layers are in them. */
bool borders_by_turns(const struct node_turns *repeated, int64_t parts,
                      int64_t nodes);

#endif
