/* Boxes: buffers that are planned as one. */
#ifndef NETC_MEMORY_PLAN_PLAN_BOXES_H
#define NETC_MEMORY_PLAN_PLAN_BOXES_H

#include "memory/plan/planner.h"

struct plan_boxes;

/* NULL: no two buffers of the part can be joined. */
struct plan_boxes *plan_boxes_open(struct arena *arena, struct plan_part *part);

/*
 * Draws boxes: a part of fewer items, without a plan. The part and its plan are
 * valid until the next draw.
 */
struct plan_part *plan_boxes_draw(struct plan_boxes *boxes, uint64_t *random);

/* Converts the plan of the boxes to the buffers if it is the lowest so far. */
void plan_boxes_take(struct plan_boxes *boxes);

#endif
