/* Cut: which layers each part of a pipeline has. */
#ifndef NETC_MEMORY_DEVICES_CUT_H
#define NETC_MEMORY_DEVICES_CUT_H

#include "memory/devices/borders.h"

/*
 * Cuts nodes [0, end) at some of the places `at` into `parts`, of which the
 * one with most work has least; what each has is near the mean besides.
 * `before`: work of all nodes before each. False: there are too few places.
 */
bool cut_by_work(const struct cuts *places, const double *before, int64_t end,
                 int64_t parts, struct arena *arena, struct cuts *cuts);

/*
 * The places where settings cut a net, one fewer than there are parts; or, if
 * it has too few of them, all that it has. Not for cut=memory: parallel.c.
 */
void cut_find(const struct model *model, const struct net_borders *borders,
              const struct train_settings *train, struct arena *arena,
              struct cuts *cuts);

/* Whether the turns given are all of the net, and one number for each part;
   the first and the last may have none, if other layers stand there. */
bool cut_is_given(const struct net_borders *borders,
                  const struct turn_list *given, int64_t parts);

/* Whether it is cut between turns. */
bool cut_has_turns(const struct model *model, const struct net_borders *borders,
                   const struct train_settings *train);

/* MACs of all nodes before each, of a sample in a training step forward. */
double *cut_macs_before(const struct model *model, struct arena *arena);

#endif
