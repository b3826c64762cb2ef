/* Borders: where people cut a net into the stages of a pipeline. */
#ifndef NETC_MEMORY_DEVICES_BORDERS_H
#define NETC_MEMORY_DEVICES_BORDERS_H

#include "memory/checkpoint/cuts.h"

/* A stretch of layers that repeats: nodes [first, first + length * count). */
struct repeated {
  int64_t first, length, count; /* of nodes, and of turns; 0: nothing does */
};

struct net_borders {
  struct cuts single;       /* all places where one tensor alone leads on */
  struct repeated repeated; /* the stretch with most of the net's layers */
  /* Of the single ones, those at an end of a named part, of a call, of a turn
     or of a layer of the net itself; none inside a turn that repeats. */
  struct cuts outer;
  struct cuts apart; /* and all that are not inside a turn */
};

/*
 * A turn is like another if its layers are of the same kinds, with outputs and
 * parameters of the same sizes: whether attention looks far or near does not
 * matter. However often the source writes it down: no loop is needed.
 */
struct net_borders borders_find(const struct model *model, struct arena *arena);

/* How many turns nodes have, which are cut between turns; the first of them,
   from 0, is in *first. */
int64_t borders_turns(const struct repeated *repeated, struct node_range nodes,
                      int64_t *first);

/* Whether a net of `nodes` layers is cut by turns into `parts`: there are as
   many, and three quarters of the layers are in them. */
bool borders_by_turns(const struct repeated *repeated, int64_t parts,
                      int64_t nodes);

#endif
