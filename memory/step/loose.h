/* What no gradient reaches, as it only leads to a `detach`. */
#ifndef NETC_MEMORY_STEP_LOOSE_H
#define NETC_MEMORY_STEP_LOOSE_H

#include "memory/step/run.h"

/* Finds it on the tape of a training step: trace->until. */
void loose_find(struct trace *trace);

/* Whether no gradient will reach an operation that has one. */
static inline bool loose_is(const struct run *run, const struct tape_op *op) {
  const uint32_t *until = run->s->trace->until;
  return until && until[op - run->tape->ops.at];
}

/* It has run, and keeps `kept` bytes besides tensors for a while. */
void loose_begin(struct run *run, const struct tape_op *op, int64_t kept);

/* Lets go what has been kept until after operation `op`. */
void loose_end(struct run *run, const struct tape_op *op);

#endif
