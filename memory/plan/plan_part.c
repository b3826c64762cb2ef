/*
 * Part planner: first fit by birth, then by full sections, then skyline
 * descents. Then searches at the lowest possible height alternate between the
 * buffers and boxes of them, in growing rounds. Heights in between follow when
 * the effort runs out.
 */
#include "base/check.h"
#include "memory/plan/plan.h"
#include "memory/plan/plan_boxes.h"

enum {
  FEW_DESCENTS = 8, /* for a part that is searched, and for boxes */
  MANY_DESCENTS = 1000,
  TURN = 32,    /* nodes of the first round, per buffer */
  BOX_WALK = 8, /* nodes of the first search of some boxes, per box */
};

/* Any number but 0. */
#define USUAL_SEED 0x9C3A48CE9260CEA1u

struct plan_work {
  struct arena *arena;
  struct plan_part *part;
  struct plan_effort *effort;
  struct plan_search *search;
  struct plan_boxes *boxes; /* NULL: none */
  uint64_t random;
  uint64_t draws; /* of boxes, at this height */
};

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/*
 * Looks for a plan of new boxes of at most `goal`. The lengths of the searches
 * are 1, 2, 1, 4, 1, 2, 1, 8, ...: most boxes show their worth soon, but not
 * all.
 */
static bool try_boxes(struct plan_work *w, int64_t goal, uint64_t most) {
  struct plan_part *boxed = plan_boxes_draw(w->boxes, &w->random);
  uint64_t number = ++w->draws, lowest_bit = number & (~number + 1);
  uint64_t budget = boxed->count * BOX_WALK * lowest_bit;
  plan_effort_spend(w->effort, w->part->count);
  if (!plan_first_fit(boxed, goal)) {
    struct arena scratch;
    arena_open_in(&scratch, w->arena);
    plan_skyline(&scratch, boxed, goal, FEW_DESCENTS);
    if (boxed->height > goal)
      plan_search_at(
          plan_search_open(&scratch, boxed, w->effort, plan_random(&w->random)),
          goal, least(budget, most));
    arena_close(&scratch);
  }
  plan_boxes_take(w->boxes);
  return boxed->height <= goal;
}

static bool search_boxes(struct plan_work *w, int64_t goal, uint64_t budget) {
  uint64_t end = w->effort->spent + budget;
  while (w->boxes && w->effort->spent < end)
    if (try_boxes(w, goal, end - w->effort->spent))
      return true;
  return false;
}

/* Alternates rounds of boxes and buffers, each longer than the last. */
static enum plan_found search_at(struct plan_work *w, int64_t goal,
                                 uint64_t budget) {
  uint64_t end = w->effort->spent + budget, turn = TURN * w->part->count;
  enum plan_found found = PLAN_GAVE_UP;
  w->draws = 0;
  for (; found == PLAN_GAVE_UP && w->effort->spent < end; turn *= 2) {
    if (search_boxes(w, goal, least(turn, end - w->effort->spent)))
      return PLAN_FOUND;
    if (w->effort->spent < end)
      found =
          plan_search_at(w->search, goal, least(turn, end - w->effort->spent));
  }
  return found;
}

/* Bisects between the bound and the best, a quarter of the effort each. */
static void bisect(struct plan_work *w, int64_t goal) {
  struct plan_part *part = w->part;
  struct plan_effort *effort = w->effort;
  int64_t low = max_i64(goal + 1, part->bound);
  uint64_t quarter = (effort->most - effort->spent) / 4 + 1;
  while (low < part->height && effort->spent < effort->most) {
    int64_t middle = low + (part->height - 1 - low) / 2;
    enum plan_found found =
        search_at(w, middle, least(quarter, effort->most - effort->spent));
    if (found == PLAN_FOUND)
      continue;
    if (found == PLAN_NONE)
      part->bound = max_i64(part->bound, middle + 1);
    low = middle + 1;
  }
}

/* Estimates the steps of one search node. */
static uint64_t steps_of_a_node(const struct plan_part *part) {
  uint64_t n = part->count, spans = 0, pairs = 0;
  for (size_t i = 0; i < n; i++) {
    const struct plan_item *item = &part->items[i];
    spans += (uint64_t)(item->last - item->first);
    for (size_t k = i + 1; k < n && part->items[k].first < item->last; k++)
      pairs++;
  }
  return n + spans / n * (2 * pairs / n);
}

/* Sets effort->most; false: the part is not searched. */
static bool find_effort(const struct plan_part *part, uint64_t asked,
                        struct plan_effort *effort) {
  if (part->count > PLAN_SEARCHED)
    return false;
  effort->most = asked;
  if (asked == 0) {
    effort->most = PLAN_STEPS / steps_of_a_node(part);
    if (effort->most > PLAN_NODES)
      effort->most = PLAN_NODES;
    if (effort->most < 4 * part->count)
      return false; /* too little for a single walk */
  }
  return effort->spent < effort->most; /* all parts share the effort */
}

void plan_part(struct arena *arena, struct plan_part *part, int64_t goal,
               const struct plan_options *options, struct plan_effort *effort) {
  goal = max_i64(goal, part->bound);
  if (plan_first_fit(part, goal) ||
      (part->count <= PLAN_SEARCHED && plan_fullest_first(arena, part, goal)))
    return;
  bool searched = find_effort(part, options->nodes, effort);
  plan_skyline(arena, part, goal, searched ? FEW_DESCENTS : MANY_DESCENTS);
  if (part->height <= goal || !searched)
    return;
  uint64_t seed = options->seed ? options->seed : USUAL_SEED;
  struct plan_work w = {.arena = arena,
                        .part = part,
                        .effort = effort,
                        .search = plan_search_open(arena, part, effort, seed),
                        .boxes = plan_boxes_open(arena, part),
                        .random = seed};
  uint64_t left = effort->most - effort->spent;
  enum plan_found found = search_at(&w, goal, left - left / 3);
  if (found == PLAN_NONE)
    part->bound = goal + 1;
  if (found != PLAN_FOUND)
    bisect(&w, goal);
}
