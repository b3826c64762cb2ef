/* Order: the search for the best order of a part of a net. */
#ifndef NETC_MEMORY_PLAN_ORDER_H
#define NETC_MEMORY_PLAN_ORDER_H

#include "memory/plan/schedule.h"

/* By tensor, for all parts one after the other: they are many. */
struct order_room {
  size_t *maker;   /* the task that makes it; SIZE_MAX: none */
  size_t *reader;  /* for chains_find */
  uint32_t *value; /* its number in a part's problem, from 1 */
  uint64_t effort; /* of all searches */
};

/*
 * A part between two cuts: tasks [from, from + count) of the source order,
 * and no other task reads what they read.
 */
struct order_part {
  struct task_graph *graph;
  size_t from, count;
  struct order_room *room;
};

/*
 * Finds an order of a part that needs less than `bound`, or leaves the one at
 * hand; `live` bytes are alive before it. True: none needs less than it, or
 * than *least. What the part is known to need at least, so does the net:
 * *least grows to that.
 */
bool order_improve(struct order_part *part, int64_t live, int64_t bound,
                   int64_t *least, size_t *order);

#endif
