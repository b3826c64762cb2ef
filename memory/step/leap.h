/*
 * Leaps: of iterations of a net that are all alike only the first and the last
 * are traced and run. What those between take follows from these.
 */
#ifndef NETC_MEMORY_STEP_LEAP_H
#define NETC_MEMORY_STEP_LEAP_H

#include "memory/step/run.h"

/* While a net is traced: where it may be left out. */
struct leaping;

/* NULL: nothing may be, or nothing repeats. */
struct leaping *leap_open(struct trace *trace, const struct model *model,
                          const struct trace_options *options);

/*
 * The node to trace in place of `node`. Once two iterations have left the tape
 * alike, that is one of the last iterations; what is left out stands for the
 * same of the iteration before it.
 */
size_t leap_from(struct leaping *leaping, size_t node);

/* How often what a node keeps is kept: also by those left out like it. */
int64_t leap_times(const struct trace *trace, int64_t node);

/* What a node keeps is also kept by each that is left out. */
void leap_spread(const struct trace *trace, int64_t *by_node);

/* While it is run: */

/* To be called where the run is at operation `leap_at`, before it passes. */
void leap_pass(struct run *run);

/* The first of these places, forward; the same backward. */
void leap_begin(struct run *run);

#endif
