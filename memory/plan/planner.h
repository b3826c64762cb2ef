/* The inside of the planner, shared by its files; others want plan.h. */
#ifndef NETC_MEMORY_PLAN_PLANNER_H
#define NETC_MEMORY_PLAN_PLANNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/progress.h"

/*
 * A buffer after compression. Time is counted in sections, each a largest set
 * of buffers that live at once; sizes are counted in units, the greatest
 * common divisor of them all.
 */
struct plan_item {
  int32_t first, last; /* sections [first, last) of its part */
  int64_t size;        /* units */
  int64_t align;       /* units */
  size_t origin;       /* the buffer it stands for */
};

/* Buffers that share no moment with others: planned alone. */
struct plan_part {
  struct plan_item *items; /* by first section */
  size_t count;
  const int64_t *load; /* units that live in each section */
  int32_t sections;
  int64_t bound;  /* no plan is lower: first the largest load */
  int64_t height; /* of the best plan so far; INT64_MAX: none yet */
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

/* Rounds an offset up; almost always `align` is 1. */
static inline int64_t plan_align(int64_t offset, int64_t align) {
  if (align == 1 || offset % align == 0)
    return offset;
  return offset + align - offset % align;
}

/* log2(value) x 256, rounded down; 0 for values below 1. */
int64_t plan_log2(int64_t value);

/* Buffers of a part beyond which it is not searched. */
enum { PLAN_SEARCHED = 4000 };

/*
 * plan_first.c: a plan at most `goal` high where the plainest of all finds
 * one; else false, and there is still none.
 */
bool plan_first_fit(struct plan_part *part, int64_t goal);

/* plan_fullest.c: the same, by another plain way. */
bool plan_fullest_first(struct arena *arena, struct plan_part *part,
                        int64_t goal);

/*
 * plan_skyline.c: good plans quickly, `most` of them or until one is at most
 * `goal` high. There is always one.
 */
void plan_skyline(struct arena *arena, struct plan_part *part, int64_t goal,
                  size_t most);

/* How much effort is spent of how much; `progress` may be NULL. */
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
  PLAN_FOUND,   /* now the best of the part */
  PLAN_NONE,    /* there is none: proven */
  PLAN_GAVE_UP, /* the effort was spent */
};

struct plan_search;

/* At most PLAN_SEARCHED items; `seed` is not 0. */
struct plan_search *plan_search_open(struct arena *arena,
                                     struct plan_part *part,
                                     struct plan_effort *effort, uint64_t seed);

/* Spends about `budget` nodes; with the capacity of last time it goes on. */
enum plan_found plan_search_at(struct plan_search *search, int64_t capacity,
                               uint64_t budget);

/*
 * plan_part.c: a plan of at most `goal` if one is found, else the lowest that
 * is.
 */
struct plan_options;
void plan_part(struct arena *arena, struct plan_part *part, int64_t goal,
               const struct plan_options *options, struct plan_effort *effort);

#endif
