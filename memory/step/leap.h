/*
 * Leaps: of iterations that are all alike, only the first and the last are
 * traced and run. Their figures give those of the iterations between.
 */
#ifndef NETC_MEMORY_STEP_LEAP_H
#define NETC_MEMORY_STEP_LEAP_H

#include "memory/step/run.h"

/* The number of nodes that keep what this one keeps, with those left out. */
int64_t leap_times(const struct trace *trace, int64_t node);

/* Gives each node that is left out the saved bytes of the node it equals. */
void leap_spread(const struct trace *trace, int64_t *by_node);

/* During a run: */

/* Called when the run reaches operation `leap_at`, before it continues. */
void leap_pass(struct run *run);

/* Sets `leap_at` for the first leap of the current phase. */
void leap_begin(struct run *run);

#endif
