/* Queries: learned tensors that attention asks with. */
#ifndef NETC_SEMA_MODEL_QUERIES_H
#define NETC_SEMA_MODEL_QUERIES_H

#include "sema/model/model.h"

/* Marks those that are repeated for each sample. */
void queries_find(struct model *model);

#endif
