/* Cut: the layers of each part of a pipeline. */
#ifndef NETC_MEMORY_DEVICES_CUT_H
#define NETC_MEMORY_DEVICES_CUT_H

#include "memory/devices/borders.h"

/*
 * Cuts nodes [0, end) at some of `places` into `parts` parts. Minimizes the
 * maximum work of a part and keeps the others near the mean. `before`: prefix
 * sums of work. False: too few places.
 */
bool cut_by_work(const struct cuts *places, const double *before, int64_t end,
                 int64_t parts, struct arena *arena, struct cuts *cuts);

/*
 * The places where the settings cut a net, one fewer than parts; or all places
 * if there are too few. Not for cut=memory: parallel.c.
 */
void cut_find(const struct model *model, const struct net_borders *borders,
              const struct train_settings *train, struct arena *arena,
              struct cuts *cuts);

/* True if the given numbers add up to the net's blocks, one number per part.
 * The first and the last may be 0 if other layers are there. */
bool cut_is_given(const struct net_borders *borders,
                  const struct turn_list *given, int64_t parts);

/* True if the net is cut between blocks. */
bool cut_has_turns(const struct model *model, const struct net_borders *borders,
                   const struct train_settings *train);

/* Prefix sums of the nodes' MACs, per sample and forward pass in training. */
double *cut_macs_before(const struct model *model, struct arena *arena);

#endif
