/* Losses that programs write out, as the operations of losses.def. */
#ifndef NETC_MEMORY_STEP_LOSS_H
#define NETC_MEMORY_STEP_LOSS_H

#include "memory/step/trace.h"

/*
 * Records a loss of losses.def on the value `out` of a net's output, which is
 * cast as the options say; returns the loss, a number. `shape` is that of one
 * sample.
 */
size_t loss_run(struct trace *trace, size_t out, const struct shape *shape,
                int loss, const struct trace_options *options);

#endif
