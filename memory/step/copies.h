/* Copies: on the tape, most iterations of a net are copied or left out. */
#ifndef NETC_MEMORY_STEP_COPIES_H
#define NETC_MEMORY_STEP_COPIES_H

#include "memory/step/trace.h"

struct copier; /* the position among iterations that have been recorded */

/* NULL if no iteration of the net can be copied. */
struct copier *copies_open(struct trace *trace, const struct model *model,
                           const struct trace_options *options, bool leaps);

/*
 * True if iterations may be left out of the tape because one stands for many.
 * They must not read anything that is in front of all iterations.
 */
bool copies_may_leap(const struct model *model,
                     const struct trace_options *options);

/*
 * Called in front of each node that is in no block. Once the iterations before
 * have proved alike, it copies the others except the last ones, or leaves them
 * out, and fills trace->value_of and op_end. Returns the next node to record.
 */
size_t copies_pass(struct copier *copier, size_t node);

#endif
