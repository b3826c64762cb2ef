/* Schedule: an order of tasks with the lowest peak of memory. */
#ifndef NETC_MEMORY_PLAN_SCHEDULE_H
#define NETC_MEMORY_PLAN_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* A tensor with memory of its own. */
struct plan_tensor {
  int64_t bytes;
  int32_t readers; /* tasks that read it */
  bool lasts;      /* output of the net: in memory to the end */
  bool given;      /* input of the net: in memory from the start */
};

/* Reads tensors, each listed once, and makes others. */
struct plan_task {
  uint32_t first_read, first_made; /* indices into the graph's arrays */
  int read_count, made_count;
  int64_t work;     /* workspace in bytes */
  bool elementwise; /* its result may overwrite a read that is freed here */
  uint32_t spared;  /* except these reads: bits, from the first */
  /*
   * Its result may overlap its first read, if that is freed here and the
   * distance is at least this: struct plan_overlap. above 0: no overlap.
   */
  int64_t below, above;
};

struct task_graph {
  struct arena *arena;
  VEC(struct plan_tensor) tensors;
  VEC(struct plan_task) tasks; /* in a valid order */
  VEC(uint32_t) reads, makes;
  bool overlaps; /* some results may overlap reads */
  bool overflow; /* all bytes together pass 2^63 - 1 */
};

struct schedule {
  size_t *order;       /* tasks */
  int64_t source_peak; /* bytes, in the order of the graph */
  int64_t peak;        /* bytes, in this order */
  size_t peak_at;      /* position of the peak in the order */
  bool exact;          /* no order has a lower peak */
};

/*
 * Cuts the net where one tensor alone leads on. Between two cuts, searches the
 * sets of tasks that may have run (down-sets: Ahn et al. 2020, "Ordering
 * Chaos", arXiv 2003.02369), from both ends and below a growing limit
 * (order_search.c). The result is exact unless there are too many sets. A part
 * is not searched if needed.h shows that its order is best, or almost so.
 * Overlaps are counted at the end and decide between the order found and the
 * graph's own.
 */
void schedule_find(struct task_graph *graph, struct schedule *schedule);

/* True if the result of a task may overwrite its read `i`. */
static inline bool task_may_replace(const struct plan_task *task, int i) {
  return task->elementwise && (i >= 32 || !(task->spared >> i & 1));
}

/*
 * Minimum bytes that a task needs besides its reads: its workspace and its
 * results, except one that may overwrite a read.
 */
int64_t task_adds(const struct task_graph *graph, const struct plan_task *task);

/*
 * The tensor that the only result of a task may overlap; SIZE_MAX: none. `left`
 * has the remaining readers, including the task.
 */
size_t task_overlaps(const struct task_graph *graph,
                     const struct plan_task *task, const int64_t *left);

/*
 * The tensor that the only result of a task overwrites; SIZE_MAX: none. `left`
 * has the remaining readers, including the task.
 */
size_t task_overwrites(const struct task_graph *graph,
                       const struct plan_task *task, const int64_t *left);

#endif
