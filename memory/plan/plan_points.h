/* Lifetimes as points (first, last): finds the minimum rank in a range. */
#ifndef NETC_MEMORY_PLAN_PLAN_POINTS_H
#define NETC_MEMORY_PLAN_PLAN_POINTS_H

#include "memory/plan/planner.h"

#define PLAN_NOBODY UINT32_MAX

/* Points with first in [first, first_most] and last in [last, last_most]. */
struct plan_box {
  int32_t first, first_most, last, last_most;
};

struct plan_points {
  const struct plan_item *items;
  size_t count;
  struct plan_point_node {
    struct plan_box box;
    uint32_t best;  /* minimum rank below it */
  } * nodes;        /* children of node i: 2 i and 2 i + 1 */
  uint32_t *sorted; /* items in the order of the leaves */
  uint32_t *leaf;   /* by item: its node */
  uint32_t *rank;   /* by item; PLAN_NOBODY: removed */
  int64_t steps;    /* nodes visited so far */
};

void plan_points_open(struct plan_points *points, struct arena *arena,
                      const struct plan_part *part);

/* Restores all points, with new ranks. */
void plan_points_fill(struct plan_points *points, const uint32_t *rank);

void plan_points_remove(struct plan_points *points, uint32_t item);

/* The minimum rank in the box, or PLAN_NOBODY. */
uint32_t plan_points_find(struct plan_points *points, struct plan_box box);

#endif
