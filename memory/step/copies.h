/* Iterations of a net on its tape: most are copies of one, or left out. */
#ifndef NETC_MEMORY_STEP_COPIES_H
#define NETC_MEMORY_STEP_COPIES_H

#include "memory/step/trace.h"

struct copier; /* where the iterations are that have been recorded */

/* NULL: no iterations of the net can be copied to the tape. */
struct copier *copies_open(struct trace *trace, const struct model *model,
                           const struct trace_options *options, bool leaps);

/*
 * Iterations may be left out of the tape, if one of a run stands for many. They
 * may not read anything in front of them all.
 */
bool copies_may_leap(const struct model *model,
                     const struct trace_options *options);

/*
 * Called in front of each node that is in no block. Once the iterations before
 * have proved alike, it records the others but the last ones, or leaves them
 * out, and fills trace->value_of and op_end. Returns the next node to record.
 */
size_t copies_pass(struct copier *copier, size_t node);

#endif
