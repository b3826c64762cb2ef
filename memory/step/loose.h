/* Loose: operations that no gradient reaches, as they only lead to a
 * `detach`. */
#ifndef NETC_MEMORY_STEP_LOOSE_H
#define NETC_MEMORY_STEP_LOOSE_H

#include "memory/step/run.h"

/* Fills trace->until on the tape of a training step. */
void loose_find(struct trace *trace);

/* True if no gradient reaches an operation that requires one. The run must have
 * `until`. */
static inline bool loose_is(const struct run *run, const struct tape_op *op) {
  return run->until[op - run->tape->ops.at] != 0;
}

/* Called after the operation has run; it keeps `kept` bytes besides tensors. */
void loose_begin(struct run *run, const struct tape_op *op, int64_t kept);

/* Frees what is kept no longer than operation `op`. */
void loose_let_go(struct run *run, const struct tape_op *op);

static inline void loose_end(struct run *run, const struct tape_op *op) {
  if (run->loose.count) /* a net without `detach` has none */
    loose_let_go(run, op);
}

#endif
