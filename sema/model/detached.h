/* Parameters that no gradient reaches, for a `detach` stands after them. */
#ifndef NETC_SEMA_MODEL_DETACHED_H
#define NETC_SEMA_MODEL_DETACHED_H

#include "sema/model/model.h"

/* Marks them as not trained: an optimizer has nothing to step. */
void detached_find(struct model *model);

#endif
