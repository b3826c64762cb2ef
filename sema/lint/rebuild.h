/* Rebuild: builds the net again with another size of an input. */
#ifndef NETC_SEMA_LINT_REBUILD_H
#define NETC_SEMA_LINT_REBUILD_H

#include "sema/expand.h"

/* The net of `program` as made by `expansion`. */
struct rebuild {
  const struct expansion *expansion;
  const struct block *program;
  int64_t input; /* index of the input */
  int64_t *left; /* nodes left to build in all trials */
};

/* True if it compiles; `model` is then in `arena`. Reports nothing. */
bool rebuild_net(const struct rebuild *rebuild, const struct shape *shape,
                 struct arena *arena, struct model *model);

#endif
