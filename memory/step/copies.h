/* Iterations of a net on its tape: most are recorded by a copy of one. */
#ifndef NETC_MEMORY_STEP_COPIES_H
#define NETC_MEMORY_STEP_COPIES_H

#include "memory/step/trace.h"

struct copier; /* where the iterations are that have been recorded */

/* NULL: no iterations of the net can be copied to the tape. */
struct copier *copies_open(struct trace *trace, const struct model *model,
                           const struct trace_options *options);

/*
 * In front of each node that is in no block, whose recording comes next. If
 * those before have shown that more iterations are alike, all but the last of
 * them are recorded, trace->value_of and op_end included. Returns the next
 * node.
 */
size_t copies_pass(struct copier *copier, size_t node);

#endif
