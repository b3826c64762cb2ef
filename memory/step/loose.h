/* What no gradient reaches, as it only leads to a `detach`. */
#ifndef NETC_MEMORY_STEP_LOOSE_H
#define NETC_MEMORY_STEP_LOOSE_H

#include "memory/step/run.h"

/* Finds it on the tape of a training step: trace->until. */
void loose_find(struct trace *trace);

/* Whether no gradient will reach an operation that has one, of a run that has
 * `until`. */
static inline bool loose_is(const struct run *run, const struct tape_op *op) {
  return run->until[op - run->tape->ops.at] != 0;
}

/* It has run, and keeps `kept` bytes besides tensors for a while. */
void loose_begin(struct run *run, const struct tape_op *op, int64_t kept);

/* Lets go what has been kept until after operation `op`. */
void loose_let_go(struct run *run, const struct tape_op *op);

static inline void loose_end(struct run *run, const struct tape_op *op) {
  if (run->loose.count) /* a net without `detach` has none */
    loose_let_go(run, op);
}

#endif
