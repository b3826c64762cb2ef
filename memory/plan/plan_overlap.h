/* Overlaps: pairs of buffers that may share bytes, and a plan that does so. */
#ifndef NETC_MEMORY_PLAN_PLAN_OVERLAP_H
#define NETC_MEMORY_PLAN_PLAN_OVERLAP_H

#include "memory/plan/plan.h"

/* Bytes that the two of sizes `read` and `made` take together, at least. */
int64_t plan_overlap_bytes(const struct plan_overlap *overlap, int64_t read,
                           int64_t made);

/*
 * A lower plan than `plan`, which keeps all buffers apart, if one is found;
 * and the bound of such plans. All buffers have the alignment of the options.
 * Of more than 1,000 buffers nothing is tried.
 */
void plan_overlap(struct arena *arena, struct plan_buffer *buffers,
                  size_t count, const struct plan_options *options,
                  struct plan *plan);

#endif
