/*
 * Iterations: the tree that loops make of a net. Each is a frame that knows
 * its nodes, which follow each other.
 */
#ifndef NETC_SEMA_REPEAT_ITERATION_H
#define NETC_SEMA_REPEAT_ITERATION_H

#include "sema/model/model.h"

/* The node was made in the iteration, or in a loop or a call inside it. */
static inline bool iteration_has(const struct frame *iteration, int64_t node) {
  return iteration->first <= node && node < iteration->end;
}

/* The innermost one around what has a frame; NULL: there is none. */
const struct frame *iteration_around(const struct frame *frame);

/* The one that node `a` is in, where `b` is in another of the same loop; NULL:
 * there is no such loop. */
const struct frame *iteration_apart(const struct model *model, int64_t a,
                                    int64_t b);

/* The iteration of node `a`, if that of `b` is the next one; NULL. */
const struct frame *iteration_before(const struct model *model, int64_t a,
                                     int64_t b);

#endif
