/* Overlaps: pairs of buffers that may share bytes, and plans that use them. */
#ifndef NETC_MEMORY_PLAN_PLAN_OVERLAP_H
#define NETC_MEMORY_PLAN_PLAN_OVERLAP_H

#include "memory/plan/plan.h"

/* Minimum bytes that two buffers of `read` and `made` bytes occupy together. */
int64_t plan_overlap_bytes(const struct plan_overlap *overlap, int64_t read,
                           int64_t made);

/*
 * Replaces `plan`, which keeps all buffers apart, by a lower one if one is
 * found, and sets the bound of such plans. All buffers have the alignment of
 * the options. Does nothing for more than 1,000 buffers.
 */
void plan_overlap(struct arena *arena, struct plan_buffer *buffers,
                  size_t count, const struct plan_options *options,
                  struct plan *plan);

#endif
