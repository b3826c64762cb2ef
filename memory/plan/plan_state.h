/* The state of a search for a plan: which buffers lie where, and bounds. */
#ifndef NETC_MEMORY_PLAN_PLAN_STATE_H
#define NETC_MEMORY_PLAN_PLAN_STATE_H

#include "memory/plan/planner.h"

/* Higher than any capacity, with room to add a size. */
#define PLAN_FAR (INT64_MAX / 2)

/* How the next buffer is chosen; logarithms are weighted in 1/256. */
struct plan_taste {
  int64_t width, size; /* of the buffer */
  int64_t load;        /* the greatest over its sections, of what is left */
  int64_t noise;
  int64_t wall;    /* for each side that stands against something */
  int64_t failure; /* sections where the search failed often */
  bool tight;      /* where least room is left, not at the lowest place */
};

struct plan_change {
  int64_t *where, old;
};

/*
 * A buffer is placed on top of another or on the ground, and only when no
 * unplaced one can lie below it any more. An unplaced buffer whose `low` is
 * above its `pos` is waiting: it was decided that it rests on one that is not
 * placed yet.
 */
struct plan_state {
  const struct plan_part *part;
  int64_t capacity;
  int64_t left; /* units times sections of what is not placed */

  /* By item. */
  int64_t *pos;  /* the top of what is placed below it; its place at the end */
  int64_t *low;  /* it will not lie lower; PLAN_FAR: it is placed */
  int64_t *top;  /* low + size, or PLAN_FAR */
  int64_t *rank; /* the part of its score that stays */
  int64_t *log_width, *log_size;
  int64_t *support; /* for those that wait: the lowest top to rest on */
  uint16_t *holder; /* for those that wait: on whom, when last seen */
  uint16_t *hinder; /* and who may lie where it would lie else */

  /* By section. */
  int64_t *load;     /* units that are not placed */
  int64_t *alive;    /* members that may be unplaced: no others are */
  int64_t *floor;    /* the least `low` of what is not placed */
  int64_t *failures; /* how often the search failed here */
  int64_t *ground;   /* the top of what is placed there */
  uint16_t *lowest;  /* a member whose `low` is the floor, when last seen */
  int32_t touched_first, touched_last; /* where floors may rise */
  int32_t conflict; /* where it failed last; -1: one was placed there since */

  /* Lists by item and by section: [at[i], at[i + 1]). */
  uint32_t *over_at, *member_at;
  uint16_t *over;   /* items that live at the same time */
  uint16_t *member; /* items that live in the section, unplaced ones first */

  /* What to undo. */
  struct {
    struct plan_change *at;
    size_t count, room;
  } trail;
  struct arena *arena;
};

/* Unplaced items of the sections [first, last), which share none of them
   with other unplaced ones. */
struct plan_group {
  const uint16_t *items; /* by first section */
  size_t count;
  int32_t first, last;
};

void plan_state_open(struct plan_state *state, struct arena *arena,
                     const struct plan_part *part);

/* All unplaced, on the ground. */
void plan_state_reset(struct plan_state *state, int64_t capacity);

/* Each is false if no plan of that capacity can follow. */
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

/* plan_taste.c: the choice among the buffers that can be placed. */
size_t plan_taste_count(void);
const struct plan_taste *plan_taste_at(size_t index);
struct plan_taste plan_taste_drawn(uint64_t *random);

/* Ranks a group anew, by the loads that are left. */
void plan_taste_rank(struct plan_state *state, const struct plan_taste *taste,
                     struct plan_group group, uint64_t *random);

/* The item to place next. */
uint16_t plan_taste_choose(struct plan_state *state,
                           const struct plan_taste *taste,
                           struct plan_group group);

#endif
