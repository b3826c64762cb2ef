/* Planner internals, shared by its files; other code uses plan.h. */
#ifndef NETC_MEMORY_PLAN_PLANNER_H
#define NETC_MEMORY_PLAN_PLANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/progress.h"

/*
 * A buffer after compression. Time is counted in sections, each a maximal set
 * of buffers in memory together. Sizes are counted in units, their greatest
 * common divisor.
 */
struct plan_item {
  int32_t first, last; /* sections [first, last) of its part */
  int64_t size;        /* units */
  int64_t align;       /* units */
  size_t origin;       /* index of its buffer */
};

/* Buffers that share no moment with others, planned separately. */
struct plan_part {
  struct plan_item *items; /* by first section */
  size_t count;
  const int64_t *load; /* units in each section */
  int32_t sections;
  int64_t bound;  /* proven: no plan is lower; at first the maximum load */
  int64_t height; /* of the best plan so far; INT64_MAX: none */
  int64_t *best;  /* its offsets, by item */
};

/* Random numbers from a fixed seed: xorshift64, Marsaglia 2003. */
static inline uint64_t plan_random(uint64_t *state) {
  uint64_t x = *state;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return *state = x;
}

/* Rounds an offset up; `align` is almost always 1. */
static inline int64_t plan_align(int64_t offset, int64_t align) {
  if (align == 1 || offset % align == 0)
    return offset;
  return offset + align - offset % align;
}

/* log2(value) x 256, rounded down; 0 for values below 1. */
int64_t plan_log2(int64_t value);

/* Maximum buffers of a part that is searched. */
enum { PLAN_SEARCHED = 4000 };

/* plan_first.c: first fit. False, without a plan, if it exceeds `goal`. */
bool plan_first_fit(struct plan_part *part, int64_t goal);

/* plan_fullest.c: fullest sections first. False, without a plan: failed. */
bool plan_fullest_first(struct arena *arena, struct plan_part *part,
                        int64_t goal);

/*
 * plan_skyline.c: good plans quickly, `most` of them or until one is at most
 * `goal` high. Always finds one.
 */
void plan_skyline(struct arena *arena, struct plan_part *part, int64_t goal,
                  size_t most);

/* Effort spent, and the maximum; `progress` may be NULL. */
struct plan_effort {
  struct progress *progress;
  uint64_t spent, most;
};

static inline void plan_effort_spend(struct plan_effort *effort,
                                     uint64_t nodes) {
  effort->spent += nodes;
  progress_tell(effort->progress, "planning the arena",
                (int64_t)(effort->spent / 2), (int64_t)(effort->most / 2));
}

/* plan_search.c: looks for a plan of a given height. */
enum plan_found {
  PLAN_FOUND,   /* it is now the best of the part */
  PLAN_NONE,    /* proven: there is none */
  PLAN_GAVE_UP, /* effort exhausted */
};

struct plan_search;

/* At most PLAN_SEARCHED items; `seed` is not 0. */
struct plan_search *plan_search_open(struct arena *arena,
                                     struct plan_part *part,
                                     struct plan_effort *effort, uint64_t seed);

/* Spends about `budget` nodes; continues while the capacity is the same. */
enum plan_found plan_search_at(struct plan_search *search, int64_t capacity,
                               uint64_t budget);

/* plan_part.c: finds a plan of at most `goal`, else the lowest it can. */
struct plan_options;
void plan_part(struct arena *arena, struct plan_part *part, int64_t goal,
               const struct plan_options *options, struct plan_effort *effort);

#endif
