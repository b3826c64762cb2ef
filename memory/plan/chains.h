/* Chains: tasks that some best order runs without interruption. */
#ifndef NETC_MEMORY_PLAN_CHAINS_H
#define NETC_MEMORY_PLAN_CHAINS_H

#include "memory/plan/schedule.h"

/* Chain i is tasks[begins[i]] to tasks[begins[i + 1] - 1]. */
struct chains {
  size_t count;
  size_t *begins, *tasks;
};

/*
 * Splits the tasks [from, from + count) of a graph into chains. A task that
 * alone reads the only result of another joins its chain if that can never be
 * worse than waiting. There are two such cases. The task needs no more than the
 * chain so far and leaves no more, so that it may run at once. Or the chain
 * needs no more than the task and leaves more than it can free, so that the
 * chain may wait for it. (Liu 1987, "An Application of Generalized Tree
 * Pebbling to Sparse Matrix Factorization", for trees. Here the bytes that a
 * task frees may depend on the order, so both extremes are checked.)
 *
 * `reader` is scratch memory by tensor, zeroed before the first call; separate
 * parts may use it one after the other.
 */
void chains_find(const struct task_graph *graph, size_t from, size_t count,
                 size_t *reader, struct arena *arena, struct chains *chains);

#endif
