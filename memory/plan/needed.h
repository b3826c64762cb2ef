/* Needed: what any order of tasks needs while one of them runs. */
#ifndef NETC_MEMORY_PLAN_NEEDED_H
#define NETC_MEMORY_PLAN_NEEDED_H

#include "memory/plan/schedule.h"

/*
 * Bytes that are alive while task `index` runs, at least, in whatever order:
 * the least over all sets of tasks that may have run before it, as a minimum
 * cut (Picard 1976, "Maximal closure of a graph", Management Science 22). The
 * search for it ends after some effort, with a bound that is lower. `maker`
 * has the task that makes each tensor, or SIZE_MAX.
 */
int64_t task_needs(const struct task_graph *graph, const size_t *maker,
                   size_t index);

#endif
