/*
 * Leaps: of iterations of a net that are all alike only the first and the last
 * are traced and run. What those between take follows from these.
 */
#ifndef NETC_MEMORY_STEP_LEAP_H
#define NETC_MEMORY_STEP_LEAP_H

#include "memory/step/run.h"

/* The number of nodes that keep what this one keeps: those left out count. */
int64_t leap_times(const struct trace *trace, int64_t node);

/* Gives each node that is left out the bytes that its like keeps. */
void leap_spread(const struct trace *trace, int64_t *by_node);

/* While it is run: */

/* To be called where the run is at operation `leap_at`, before it passes. */
void leap_pass(struct run *run);

/* The first of these places, forward; the same backward. */
void leap_begin(struct run *run);

#endif
