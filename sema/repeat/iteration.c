/* Iterations: the tree of loop frames of a net. */
#include "sema/repeat/iteration.h"

const struct frame *iteration_around(const struct frame *frame) {
  while (frame && frame_kind(frame) != FRAME_LOOP)
    frame = frame->parent;
  return frame;
}

/* The outermost frame around a node that does not hold the other node. */
static const struct frame *frame_without(const struct model *model,
                                         int64_t node, int64_t other) {
  const struct frame *frame = model->nodes.at[node].frame;
  if (!frame || iteration_has(frame, other))
    return NULL;
  while (frame->parent && !iteration_has(frame->parent, other))
    frame = frame->parent;
  return frame;
}

const struct frame *iteration_apart(const struct model *model, int64_t a,
                                    int64_t b) {
  const struct frame *x = frame_without(model, a, b);
  const struct frame *y = frame_without(model, b, a);
  return x && y && frame_kind(x) == FRAME_LOOP && x->stmt == y->stmt ? x : NULL;
}

const struct frame *iteration_before(const struct model *model, int64_t a,
                                     int64_t b) {
  const struct frame *x = iteration_apart(model, a, b);
  const struct frame *y = x ? iteration_apart(model, b, a) : NULL;
  return y && y->ordinal == x->ordinal + 1 ? x : NULL;
}
