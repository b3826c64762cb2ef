/* Stretches of a net whose layers repeat, as those of a loop do. */
#ifndef NETC_SEMA_REPEAT_NODE_TURNS_H
#define NETC_SEMA_REPEAT_NODE_TURNS_H

#include "sema/model/model.h"

enum { TURNS_LEAST = 6 }; /* of a stretch: fewer would spare nothing */

/* Finds model->turns, after cost_find. What does not need them goes without. */
void node_turns_find(struct model *model);

#endif
