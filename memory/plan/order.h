/* Order: the search for the best order of a part of a net. */
#ifndef NETC_MEMORY_PLAN_ORDER_H
#define NETC_MEMORY_PLAN_ORDER_H

#include "memory/plan/schedule.h"

/* Scratch memory by tensor, shared by all parts because there are many. */
struct order_room {
  size_t *maker;   /* task that makes it; SIZE_MAX: none */
  size_t *reader;  /* for chains_find */
  uint32_t *value; /* number in the part's problem, from 1 */
  uint64_t effort; /* of all searches */
};

/*
 * A part between two cuts: tasks [from, from + count) of the source order. No
 * other task reads their inputs.
 */
struct order_part {
  struct task_graph *graph;
  size_t from, count;
  struct order_room *room;
};

/*
 * Finds an order of a part that needs less than `bound`, or keeps the current
 * one. `live` bytes are in memory before the part. Returns true if no order
 * needs less than the new one or than *least. Raises *least to the proven
 * minimum of the part, which the whole net needs, too.
 */
bool order_improve(struct order_part *part, int64_t live, int64_t bound,
                   int64_t *least, size_t *order);

#endif
