/*
 * Iterations: the tree of loop frames of a net. Each frame has a contiguous
 * range of nodes.
 */
#ifndef NETC_SEMA_REPEAT_ITERATION_H
#define NETC_SEMA_REPEAT_ITERATION_H

#include "sema/model/model.h"

/* True if the node was made in the iteration, or in a loop or call inside
 * it. */
static inline bool iteration_has(const struct frame *iteration, int64_t node) {
  return iteration->first <= node && node < iteration->end;
}

/* The innermost iteration around a frame, or NULL. */
const struct frame *iteration_around(const struct frame *frame);

/* The iteration of node `a` in the loop that has `b` in another iteration;
 * NULL: there is no such loop. */
const struct frame *iteration_apart(const struct model *model, int64_t a,
                                    int64_t b);

/* The iteration of node `a` if that of `b` is the next one, or NULL. */
const struct frame *iteration_before(const struct model *model, int64_t a,
                                     int64_t b);

#endif
