/* Schedule: an order of tasks in which the least memory is alive at once. */
#ifndef NETC_MEMORY_PLAN_SCHEDULE_H
#define NETC_MEMORY_PLAN_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* A tensor in memory of its own. */
struct plan_tensor {
  int64_t bytes;
  int32_t readers; /* tasks that read it */
  bool lasts;      /* an output of the net: alive to the end */
  bool given;      /* an input of the net: alive from the beginning */
};

/* Reads tensors, each named once, and makes others. */
struct plan_task {
  uint32_t first_read, first_made; /* in the graph's arrays */
  int read_count, made_count;
  int64_t work;     /* bytes while it runs */
  bool elementwise; /* its result may take the place of what dies here */
  uint32_t spared;  /* but not that of these reads: bits, from the first */
  /*
   * Its result may overlap its first read, if that dies here, where it begins
   * so many bytes below or above it: struct plan_overlap. Above 0: not at all.
   */
  int64_t below, above;
};

struct task_graph {
  struct arena *arena;
  VEC(struct plan_tensor) tensors;
  VEC(struct plan_task) tasks; /* in an order that works */
  VEC(uint32_t) reads, makes;
  bool overlaps; /* some tasks' results may overlap what they read */
  bool overflow; /* all bytes together pass 2^63 - 1 */
};

struct schedule {
  size_t *order;       /* tasks */
  int64_t source_peak; /* bytes, in the order of the graph */
  int64_t peak;        /* bytes, in this order */
  size_t peak_at;      /* the place in the order where it is */
  bool exact;          /* no order has less */
};

/*
 * The net is cut where one tensor alone leads on. Between two cuts the sets
 * of tasks that may have run are searched (down-sets: Ahn et al. 2020,
 * "Ordering Chaos", arXiv 2003.02369), from both ends and below a limit that
 * grows (order_search.c), exactly unless there are too many of them. None is
 * searched if needed.h says that the current order is best, or nearly so.
 * Overlaps are counted at the end, and choose between that order and the
 * graph's own.
 */
void schedule_find(struct task_graph *graph, struct schedule *schedule);

/* Whether the result of a task may take the place of its read `i`. */
static inline bool task_may_replace(const struct plan_task *task, int i) {
  return task->elementwise && (i >= 32 || !(task->spared >> i & 1));
}

/*
 * Bytes that a task needs beside what it reads, at least: its results, but
 * for one that may take the place of a read, and what it works with.
 */
int64_t task_adds(const struct task_graph *graph, const struct plan_task *task);

/*
 * The tensor that the only result of a task may overlap, where `left` has the
 * readers to come, the task's own included; SIZE_MAX: none.
 */
size_t task_overlaps(const struct task_graph *graph,
                     const struct plan_task *task, const int64_t *left);

/*
 * The tensor whose memory the only result of a task takes, where `left` has
 * the readers to come, the task's own included; SIZE_MAX: none.
 */
size_t task_overwrites(const struct task_graph *graph,
                       const struct plan_task *task, const int64_t *left);

#endif
