/* Chains: tasks that a best order runs one right after the other. */
#ifndef NETC_MEMORY_PLAN_CHAINS_H
#define NETC_MEMORY_PLAN_CHAINS_H

#include "memory/plan/schedule.h"

/* Chain i is tasks[begins[i]] to tasks[begins[i + 1] - 1]. */
struct chains {
  size_t count;
  size_t *begins, *tasks;
};

/*
 * The tasks [from, from + count) of a graph as chains. A task that alone
 * reads the only result of another follows it at once if that can never be
 * worse than to wait: either it needs no more than its chain has needed and
 * leaves no more behind, so that it may come at once; or the chain needs no
 * more than it does and leaves more behind than it can free, so that the
 * chain may wait for it. (Liu 1987, "An Application of Generalized Tree
 * Pebbling to Sparse Matrix Factorization", for trees; here what a task frees
 * may depend on the order, and both ends of that are looked at.)
 *
 * `reader` is room by tensor, zeroed before the first call; parts that are
 * apart may use it one after the other.
 */
void chains_find(const struct task_graph *graph, size_t from, size_t count,
                 size_t *reader, struct arena *arena, struct chains *chains);

#endif
