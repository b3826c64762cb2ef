/* Detached: parameters that no gradient reaches because of a `detach`. */
#ifndef NETC_SEMA_MODEL_DETACHED_H
#define NETC_SEMA_MODEL_DETACHED_H

#include "sema/model/model.h"

/* Marks them as not trained, so that no optimizer steps them. */
void detached_find(struct model *model);

#endif
