/* Rebuild: the net once more with another size of an input. */
#ifndef NETC_SEMA_LINT_REBUILD_H
#define NETC_SEMA_LINT_REBUILD_H

#include "sema/expand.h"

/* What is tried: the net of `program` as `expansion` made it. */
struct rebuild {
  const struct expansion *expansion;
  const struct block *program;
  int64_t input; /* its number among the inputs */
  int64_t *left; /* nodes that may be built, all trials together */
};

/* Whether it compiles; `model` is then of `arena`. Nothing is reported. */
bool rebuild_net(const struct rebuild *rebuild, const struct shape *shape,
                 struct arena *arena, struct model *model);

#endif
