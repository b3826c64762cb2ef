/* Runs of iterations whose layers are alike and local to them. */
#ifndef NETC_SEMA_REPEAT_NODE_TURNS_H
#define NETC_SEMA_REPEAT_NODE_TURNS_H

#include "sema/model/model.h"

enum { TURNS_LEAST = 6 }; /* fewer iterations are not worth a run */

/* Finds model->turns, after cost_find. They only make the simulator faster. */
void node_turns_find(struct model *model);

#endif
