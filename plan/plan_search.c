/*
 * Search for a plan of a given height. A node has the unplaced buffers of a
 * group; the lowest place that any of them can take is either taken by the
 * chosen one, or that one waits. Buffers that share no section with the others
 * any more are groups of their own, solved one after the other. Many short
 * searches with changing tastes find what one long search would miss.
 *
 * The tree is walked with a stack of our own: a large part would need a deep
 * one of the processor's.
 */
#include <string.h>

#include "base/check.h"
#include "plan/plan_state.h"

enum { TURN = 800 }; /* nodes for each item */

/* A set of unplaced items, its groups one after the other. */
struct frame {
  size_t begin;   /* of its items in `items` */
  size_t at, end; /* the group at hand; those before it are placed */
  size_t all_end;
  size_t mark; /* of the trail, before the choice at hand */
  uint16_t chosen;
};

struct plan_search {
  struct plan_state state;
  struct plan_part *part;
  struct arena *arena;
  uint16_t *items; /* of all frames */
  size_t item_room;
  struct frame *frames;
  size_t depth;
  struct plan_taste taste;
  uint64_t random;
  uint64_t nodes, limit;     /* of this walk */
  struct plan_effort effort; /* of all walks */
};

struct plan_search *plan_search_open(struct arena *arena,
                                     struct plan_part *part,
                                     struct plan_effort effort) {
  struct plan_search *s = ARENA_NEW(arena, struct plan_search);
  size_t n = part->count;
  plan_state_open(&s->state, arena, part);
  s->part = part;
  s->arena = arena;
  s->effort = effort;
  s->frames = arena_alloc(arena, n + 2, sizeof *s->frames);
  s->random = 0x9C3A48CE9260CEA1u; /* any but 0; this one is lucky */
  return s;
}

static struct plan_group group_of(const struct plan_search *s,
                                  const struct frame *f) {
  return (struct plan_group){s->items + f->at, f->end - f->at};
}

static void keep_best(struct plan_search *s) {
  struct plan_part *part = s->part;
  int64_t height = 0;
  for (size_t i = 0; i < part->count; i++)
    height = max_i64(height, s->state.pos[i] + part->items[i].size);
  if (height >= part->height)
    return;
  part->height = height;
  memcpy(part->best, s->state.pos, part->count * sizeof *part->best);
}

/* Finds the next group of a frame; false: there is none left. */
static bool open_group(struct plan_search *s, struct frame *f) {
  const struct plan_item *items = s->part->items;
  if (f->at == f->all_end)
    return false;
  int32_t reach = items[s->items[f->at]].last;
  for (f->end = f->at + 1; f->end < f->all_end; f->end++) {
    const struct plan_item *item = &items[s->items[f->end]];
    if (item->first >= reach)
      break;
    if (item->last > reach)
      reach = item->last;
  }
  if (f->at > f->begin || f->end < f->all_end || s->depth == 1)
    plan_taste_rank(&s->state, &s->taste, group_of(s, f), &s->random);
  return true;
}

/*
 * The lowest place that can be taken. False if some buffer would fit below
 * it: then what follows differs in no way that matters from what was tried.
 */
static bool find_place(const struct plan_search *s, struct plan_group group,
                       int64_t *place) {
  const struct plan_state *state = &s->state;
  int64_t lowest = PLAN_FAR, least_top = PLAN_FAR;
  for (size_t i = 0; i < group.count; i++) {
    size_t item = group.items[i];
    lowest = min_i64(lowest, state->low[item]);
    least_top =
        min_i64(least_top, state->pos[item] + s->part->items[item].size);
  }
  *place = lowest;
  return lowest < least_top;
}

/* Places the chosen item; what is left becomes a new frame. */
static bool descend(struct plan_search *s, struct frame *f) {
  struct frame *child = &s->frames[s->depth];
  if (!plan_state_place(&s->state, group_of(s, f), f->chosen))
    return false;
  size_t begin = f->all_end;
  while (s->item_room < begin + (f->end - f->at))
    s->items =
        arena_grow(s->arena, s->items, &s->item_room, begin, sizeof *s->items);
  *child = (struct frame){.begin = begin, .at = begin, .all_end = begin};
  for (size_t i = f->at; i < f->end; i++)
    if (s->items[i] != f->chosen)
      s->items[child->all_end++] = s->items[i];
  s->depth++;
  return true;
}

/* Decides on the group at hand, until a descent begins or nothing is left. */
static enum plan_found decide(struct plan_search *s, struct frame *f,
                              bool refused) {
  for (;;) {
    struct plan_group group = group_of(s, f);
    int64_t place;
    if (refused) {
      plan_state_undo(&s->state, f->mark);
      if (!plan_state_wait(&s->state, group, f->chosen))
        return PLAN_NONE;
    }
    if (s->nodes == s->limit)
      return PLAN_GAVE_UP;
    s->nodes++;
    if (!find_place(s, group, &place))
      return PLAN_NONE;
    f->chosen = plan_taste_choose(&s->state, &s->taste, group, place);
    f->mark = s->state.trail.count;
    if (descend(s, f))
      return PLAN_FOUND;
    refused = true;
  }
}

/* One search from the root. */
static enum plan_found walk(struct plan_search *s, int64_t capacity) {
  size_t n = s->part->count;
  plan_state_reset(&s->state, capacity);
  while (s->item_room < n)
    s->items =
        arena_grow(s->arena, s->items, &s->item_room, 0, sizeof *s->items);
  for (size_t i = 0; i < n; i++)
    s->items[i] = (uint16_t)i;
  s->frames[0] = (struct frame){.all_end = n};
  s->depth = 1;
  s->nodes = 0;
  bool refused = false;
  for (;;) {
    struct frame *f = &s->frames[s->depth - 1];
    if (!refused && !open_group(s, f)) {
      if (--s->depth == 0)
        return PLAN_FOUND;
      f = &s->frames[s->depth - 1]; /* its group is placed */
      f->at = f->end;
      continue;
    }
    enum plan_found found = decide(s, f, refused);
    refused = found == PLAN_NONE;
    if (found == PLAN_GAVE_UP)
      return found;
    if (refused && --s->depth == 0)
      return PLAN_NONE;
  }
}

/*
 * Without slack, walks that arrive do so soon, and many short ones find it;
 * with some slack, long ones do. So each has its turn.
 */
static uint64_t draw_limit(struct plan_search *s, uint64_t spent) {
  uint64_t n = s->part->count, draw = plan_random(&s->random) >> 30 & 7;
  uint64_t limit = (draw < 6 ? 2 : draw < 7 ? 4 : 8) * n;
  return spent / (TURN * n) % 2 ? 30 * limit : limit;
}

/*
 * Walks with fixed tastes and growing limits come to an end, with a plan or
 * with the proof that there is none; they get a quarter of the effort, and
 * walks with drawn tastes, which are luckier, the rest.
 */
enum plan_found plan_search_at(struct plan_search *s, int64_t capacity,
                               uint64_t budget, uint64_t *nodes) {
  uint64_t least = 4 * (uint64_t)s->part->count, spent[2] = {0, 0};
  enum plan_found found = PLAN_GAVE_UP;
  memset(s->state.failures, 0,
         (size_t)s->part->sections * sizeof *s->state.failures);
  for (size_t i = 0; found == PLAN_GAVE_UP && spent[0] + spent[1] < budget;) {
    bool drawn = spent[1] < 3 * spent[0];
    if (drawn) {
      s->taste = plan_taste_drawn(&s->random);
      s->limit = draw_limit(s, spent[1]);
    } else {
      s->taste = *plan_taste_at(i % plan_taste_count());
      s->limit = least << i / plan_taste_count();
      i++;
    }
    if (s->limit > budget - spent[0] - spent[1])
      s->limit = budget - spent[0] - spent[1];
    found = walk(s, capacity);
    spent[drawn] += s->nodes;
    s->effort.spent += s->nodes;
    progress_tell(s->effort.progress, "planning the arena",
                  (int64_t)(s->effort.spent / 2),
                  (int64_t)(s->effort.most / 2));
  }
  *nodes += spent[0] + spent[1];
  if (found == PLAN_FOUND)
    keep_best(s);
  return found;
}
