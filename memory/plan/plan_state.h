/* State of a plan search: placed buffers, and bounds of the others. */
#ifndef NETC_MEMORY_PLAN_PLAN_STATE_H
#define NETC_MEMORY_PLAN_PLAN_STATE_H

#include "memory/plan/planner.h"

/* Higher than any capacity, with room to add a size. */
#define PLAN_FAR (INT64_MAX / 2)

/* Weights for choosing the next buffer; logarithms are weighted in 1/256. */
struct plan_taste {
  int64_t width, size; /* of the buffer */
  int64_t load;        /* maximum unplaced load over its sections */
  int64_t noise;
  int64_t wall;    /* per side that touches a wall or a higher floor */
  int64_t failure; /* sections where the search failed often */
  bool tight;      /* prefer the least free space to the lowest offset */
};

struct plan_change {
  int64_t *where, old;
};

/*
 * A buffer is placed on top of another or at the bottom, once no unplaced one
 * can be below it any more. An unplaced buffer whose `low` is above its `pos`
 * is waiting: it will rest on a buffer that is not placed yet.
 */
struct plan_state {
  const struct plan_part *part;
  int64_t capacity;
  int64_t left; /* units times sections of the unplaced items */

  /* By item: */
  int64_t *pos;  /* top of the placed items below it; finally its offset */
  int64_t *low;  /* lower bound of its offset; PLAN_FAR: placed */
  int64_t *top;  /* low + size, or PLAN_FAR */
  int64_t *rank; /* constant part of its score */
  int64_t *log_width, *log_size;
  int64_t *support; /* if waiting: the lowest top to rest on */
  uint16_t *holder; /* if waiting: the item to rest on, when last checked */
  uint16_t *hinder; /* an item that may be below it, when last checked */

  /* By section: */
  int64_t *load;     /* unplaced units */
  int64_t *alive;    /* leading members, which include all unplaced ones */
  int64_t *floor;    /* minimum `low` of the unplaced items */
  int64_t *failures; /* failures of the search here */
  int64_t *ground;   /* top of the placed items */
  uint16_t *lowest;  /* a member whose `low` is the floor, when last checked */
  int32_t touched_first, touched_last; /* where floors may rise */
  int32_t conflict; /* last failure; -1: an item was placed there since */

  /* Lists by item and by section: [at[i], at[i + 1]). */
  uint32_t *over_at, *member_at;
  uint16_t *over;   /* items in memory at the same time */
  uint16_t *member; /* items of the section, unplaced ones first */

  /* Changes to undo: */
  struct {
    struct plan_change *at;
    size_t count, room;
  } trail;
  struct arena *arena;
};

/* Unplaced items of the sections [first, last); no others are in these. */
struct plan_group {
  const uint16_t *items; /* by first section */
  size_t count;
  int32_t first, last;
};

void plan_state_open(struct plan_state *state, struct arena *arena,
                     const struct plan_part *part);

/* Resets all items to unplaced, at the bottom. */
void plan_state_reset(struct plan_state *state, int64_t capacity);

/* Make a choice and propagate it. False if no plan of that capacity is left. */
bool plan_state_place(struct plan_state *state, struct plan_group group,
                      uint16_t item);
bool plan_state_wait(struct plan_state *state, struct plan_group group,
                     uint16_t item);

/* Makes room on the trail. */
void plan_state_grow(struct plan_state *state);

static inline void plan_state_set(struct plan_state *state, int64_t *where,
                                  int64_t value) {
  if (state->trail.count == state->trail.room)
    plan_state_grow(state);
  state->trail.at[state->trail.count++] = (struct plan_change){where, *where};
  *where = value;
}

void plan_state_undo(struct plan_state *state, size_t mark);

/* The member whose `low` is the floor. */
uint16_t plan_state_lowest(struct plan_state *state, int32_t section);

/* plan_taste.c: the choice among buffers that can be placed. */
size_t plan_taste_count(void);
const struct plan_taste *plan_taste_at(size_t index);
struct plan_taste plan_taste_drawn(uint64_t *random);

/* Ranks a group again, by its unplaced loads. */
void plan_taste_rank(struct plan_state *state, const struct plan_taste *taste,
                     struct plan_group group, uint64_t *random);

/* The item to place next. */
uint16_t plan_taste_choose(struct plan_state *state,
                           const struct plan_taste *taste,
                           struct plan_group group);

#endif
