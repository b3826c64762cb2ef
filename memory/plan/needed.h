/* Needed: a lower bound of memory while a task runs, in any order. */
#ifndef NETC_MEMORY_PLAN_NEEDED_H
#define NETC_MEMORY_PLAN_NEEDED_H

#include "memory/plan/schedule.h"

/*
 * Lower bound of the bytes in memory while task `index` runs, in any order. It
 * is the minimum over all sets of tasks that may have run before, found as a
 * minimum cut (Picard 1976, "Maximal closure of a graph", Management Science
 * 22). If the search runs out of effort, the bound is lower. `maker` is the
 * task that makes each tensor, or SIZE_MAX.
 */
int64_t task_needs(const struct task_graph *graph, const size_t *maker,
                   size_t index);

#endif
