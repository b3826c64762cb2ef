/* Runs of iterations whose layers are alike and local to them. */
#ifndef NETC_SEMA_REPEAT_NODE_TURNS_H
#define NETC_SEMA_REPEAT_NODE_TURNS_H

#include "sema/model/model.h"

enum { TURNS_LEAST = 6 }; /* minimum iterations of a run */

/* Finds model->turns, after cost_find. They only speed up the simulator. */
void node_turns_find(struct model *model);

#endif
