/* Losses of a net's outputs. */
#ifndef NETC_MEMORY_STEP_LOSS_H
#define NETC_MEMORY_STEP_LOSS_H

#include "memory/step/trace.h"

/* Records the losses: backward starts at their sum, or without a loss at every
 * output. */
void loss_trace(struct trace *trace, const struct model *model,
                const struct trace_options *options);

#endif
