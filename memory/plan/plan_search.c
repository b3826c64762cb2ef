/*
 * Search for a plan of a given height. A node has the unplaced buffers of a
 * group. It chooses a buffer that can be placed and that no other can be below;
 * that buffer is placed, or it waits. Buffers that no longer share a section
 * with the others form groups of their own, solved one after the other. Many
 * short searches with varying tastes find plans that one long search would
 * miss.
 *
 * The tree is walked with an explicit stack, because a large part could exceed
 * the processor's.
 */
#include <string.h>

#include "base/check.h"
#include "memory/plan/plan_state.h"

enum {
  TURN = 800, /* nodes per item in a round */
  SHORT = 32, /* maximum nodes per item in a short walk */
  LONG = 240, /* in a long walk */
  TRIES = 16, /* per group in a short walk */
  BEST = 6,   /* random walks of each length that are remembered */
};

/* A set of unplaced items, grouped. */
struct plan_frame {
  size_t begin;   /* first of its items in `items` */
  size_t at, end; /* the current group; those before it are placed */
  size_t all_end;
  int32_t first, last; /* sections of the group */
  size_t open;         /* trail before the group was opened */
  size_t mark;         /* trail before the current choice */
  size_t home;         /* frame that has the whole group */
  uint64_t refused;    /* for a home: choices refused in its group */
  int tries;           /* of its group */
  uint16_t chosen;
};

/* A random walk and its result. */
struct drawn_walk {
  struct plan_taste taste;
  uint64_t limit;
  int64_t left; /* minimum of plan_state's `left` */
};

struct drawn_walks {
  struct drawn_walk best[BEST];
  size_t count;
};

struct plan_search {
  struct plan_state state;
  struct plan_part *part;
  struct arena *arena;
  uint16_t *items; /* of all frames */
  size_t item_room;
  struct plan_frame *frames;
  size_t depth;
  struct plan_taste taste;
  uint64_t random;
  uint64_t nodes, end;         /* of this walk */
  uint64_t limit;              /* refused choices allowed in it */
  bool anew;                   /* restart groups that take long */
  bool cut;                    /* a group was given up: no proof */
  int64_t left;                /* its minimum so far */
  struct drawn_walks walks[2]; /* short ones, long ones */
  int64_t capacity;
  uint64_t spent[2]; /* at this capacity: fixed tastes, random tastes */
  size_t fixed;      /* walks with fixed tastes */
  struct plan_effort *effort;
};

struct plan_search *plan_search_open(struct arena *arena,
                                     struct plan_part *part,
                                     struct plan_effort *effort,
                                     uint64_t seed) {
  struct plan_search *s = ARENA_NEW(arena, struct plan_search);
  size_t n = part->count;
  plan_state_open(&s->state, arena, part);
  s->part = part;
  s->arena = arena;
  s->effort = effort;
  s->frames = arena_alloc(arena, n + 2, sizeof *s->frames);
  s->random = seed;
  return s;
}

static struct plan_group group_of(const struct plan_search *s,
                                  const struct plan_frame *f) {
  return (struct plan_group){s->items + f->at, f->end - f->at, f->first,
                             f->last};
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

/* Finds the next group of a frame; false: none left. */
static bool open_group(struct plan_search *s, struct plan_frame *f) {
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
  bool split = f->at > f->begin || f->end < f->all_end;
  f->first = items[s->items[f->at]].first;
  f->last = reach;
  f->open = s->state.trail.count;
  f->refused = 0;
  if (s->depth == 1 || (split && s->anew))
    f->home = s->depth - 1;
  else
    f->home = f[-1].home;
  if (split || s->depth == 1)
    plan_taste_rank(&s->state, &s->taste, group_of(s, f), &s->random);
  return true;
}

/* Places the chosen item; the remaining items become a new frame. */
static bool descend(struct plan_search *s, struct plan_frame *f) {
  struct plan_frame *child = &s->frames[s->depth];
  if (!plan_state_place(&s->state, group_of(s, f), f->chosen))
    return false;
  size_t begin = f->all_end;
  while (s->item_room < begin + (f->end - f->at))
    s->items =
        arena_grow(s->arena, s->items, &s->item_room, begin, sizeof *s->items);
  *child = (struct plan_frame){.begin = begin, .at = begin, .all_end = begin};
  for (size_t i = f->at; i < f->end; i++)
    if (s->items[i] != f->chosen)
      s->items[child->all_end++] = s->items[i];
  s->depth++;
  return true;
}

/* Counts a refused choice. False: the group has reached its limit. */
static bool refuse(struct plan_search *s, const struct plan_frame *f) {
  struct plan_frame *home = &s->frames[f->home];
  uint64_t share = s->limit * (home->end - home->at) / s->part->count;
  return home->refused++ <= share;
}

/* Makes choices in the group until an item can be placed or none is left. */
static enum plan_found decide(struct plan_search *s, struct plan_frame *f,
                              bool refused) {
  for (;;) {
    struct plan_group group = group_of(s, f);
    if (refused) {
      if (!refuse(s, f))
        return PLAN_GAVE_UP;
      plan_state_undo(&s->state, f->mark);
      if (!plan_state_wait(&s->state, group, f->chosen))
        return PLAN_NONE;
    }
    if (s->nodes == s->end)
      return PLAN_GAVE_UP;
    s->nodes++;
    f->chosen = plan_taste_choose(&s->state, &s->taste, group);
    f->mark = s->state.trail.count;
    s->left = min_i64(s->left, s->state.left);
    if (descend(s, f))
      return PLAN_FOUND;
    refused = true;
  }
}

/*
 * Restarts a group that takes long with another taste, without losing other
 * groups. After the last try, counts it as one without a plan. False: the walk
 * ends.
 */
static bool begin_anew(struct plan_search *s, bool *refused) {
  size_t home = s->frames[s->depth - 1].home;
  struct plan_frame *f = &s->frames[home];
  if (home == 0 || s->nodes == s->end)
    return false;
  plan_state_undo(&s->state, f->open);
  *refused = ++f->tries == TRIES;
  if (*refused)
    s->cut = true;
  else
    s->taste = plan_taste_drawn(&s->random);
  s->depth = home + !*refused;
  return true;
}

/* One search from the root. */
static enum plan_found walk(struct plan_search *s) {
  size_t n = s->part->count;
  plan_state_reset(&s->state, s->capacity);
  while (s->item_room < n)
    s->items =
        arena_grow(s->arena, s->items, &s->item_room, 0, sizeof *s->items);
  for (size_t i = 0; i < n; i++)
    s->items[i] = (uint16_t)i;
  s->frames[0] = (struct plan_frame){.all_end = n};
  s->depth = 1;
  s->nodes = 0;
  s->cut = false;
  s->left = INT64_MAX;
  bool refused = false;
  for (;;) {
    struct plan_frame *f = &s->frames[s->depth - 1];
    if (!refused && !open_group(s, f)) {
      if (--s->depth == 0)
        return PLAN_FOUND;
      f = &s->frames[s->depth - 1]; /* its group is placed */
      f->at = f->end;
      f->tries = 0;
      continue;
    }
    enum plan_found found = decide(s, f, refused);
    refused = found == PLAN_NONE;
    if (found == PLAN_GAVE_UP && !begin_anew(s, &refused))
      return found;
    if (found == PLAN_NONE && --s->depth == 0)
      return s->cut ? PLAN_GAVE_UP : PLAN_NONE;
  }
}

/* A similar weight: up to a quarter more or less, sometimes any value. */
static int64_t shake(struct plan_search *s, int64_t weight, int64_t most) {
  uint64_t draw = plan_random(&s->random) >> 24;
  if ((draw & 7) == 0)
    return (int64_t)((draw >> 3) % ((uint64_t)most + 1));
  int64_t change = (int64_t)((draw >> 3) % 65) - 32;
  return max_i64(weight + weight * change / 128 + most * change / 1024, 0);
}

/* Draws a walk similar to one that came far. */
static void draw_like(struct plan_search *s, const struct drawn_walk *walk) {
  uint64_t n = s->part->count, draw = plan_random(&s->random) >> 21 & 3;
  const struct plan_taste *good = &walk->taste;
  s->taste = *good;
  s->taste.width = shake(s, good->width, 255);
  s->taste.size = shake(s, good->size, 255);
  s->taste.wall = shake(s, good->wall, 1100);
  s->taste.failure = good->failure ? shake(s, good->failure, 255) : 0;
  s->taste.noise = good->noise ? shake(s, good->noise, 110) : 0;
  s->limit = walk->limit;
  if (draw == 0 && s->limit < LONG * n)
    s->limit *= 2;
  else if (draw == 1 && s->limit > n / 8)
    s->limit /= 2;
}

/*
 * Draws a walk. Successful walks end soon, so that many short ones find a plan;
 * where mistakes show late, long ones do. So both lengths alternate. Good
 * tastes depend on the instance: half of the walks are drawn near one of those
 * that came farthest.
 */
static struct drawn_walks *draw_walk(struct plan_search *s) {
  uint64_t n = s->part->count;
  bool longer = s->spent[1] / (TURN * n) % 2;
  struct drawn_walks *walks = &s->walks[longer];
  s->taste = plan_taste_drawn(&s->random);
  uint64_t draw = plan_random(&s->random) >> 30 & 7;
  s->limit = (draw < 6 ? 1 : draw < 7 ? 2 : 4) * n * (longer ? 60 : 1) / 8;
  if (walks->count == BEST && (plan_random(&s->random) >> 33 & 1))
    draw_like(s, &walks->best[(plan_random(&s->random) >> 20) % BEST]);
  s->anew = !longer;
  s->end = n * (longer ? LONG : SHORT);
  return walks;
}

/* Keeps the walk if it came farther than a kept one. */
static void note_walk(const struct plan_search *s, struct drawn_walks *walks) {
  struct drawn_walk now = {s->taste, s->limit, s->left};
  size_t worst = 0;
  if (walks->count < BEST) {
    walks->best[walks->count++] = now;
    return;
  }
  for (size_t i = 1; i < BEST; i++)
    if (walks->best[i].left > walks->best[worst].left)
      worst = i;
  if (now.left < walks->best[worst].left)
    walks->best[worst] = now;
}

/*
 * Walks with fixed tastes and growing limits end with a plan or a proof that
 * there is none; they get a quarter of the effort. Walks with random tastes,
 * which succeed more often, get the rest.
 */
static enum plan_found walk_on(struct plan_search *s, uint64_t budget) {
  bool drawn = s->spent[1] < 3 * s->spent[0];
  struct drawn_walks *walks = NULL;
  if (drawn) {
    walks = draw_walk(s);
  } else {
    s->taste = *plan_taste_at(s->fixed % plan_taste_count());
    s->limit = (uint64_t)s->part->count << s->fixed / plan_taste_count();
    s->anew = false;
    s->end = budget;
    s->fixed++;
  }
  if (s->end > budget)
    s->end = budget;
  enum plan_found found = walk(s);
  if (walks)
    note_walk(s, walks);
  s->spent[drawn] += s->nodes;
  return found;
}

/* Resets the results of another capacity. */
static void begin(struct plan_search *s, int64_t capacity) {
  s->capacity = capacity;
  s->spent[0] = s->spent[1] = 0;
  s->fixed = 0;
  s->walks[0].count = s->walks[1].count = 0;
  memset(s->state.failures, 0,
         (size_t)s->part->sections * sizeof *s->state.failures);
}

enum plan_found plan_search_at(struct plan_search *s, int64_t capacity,
                               uint64_t budget) {
  enum plan_found found = PLAN_GAVE_UP;
  if (capacity != s->capacity)
    begin(s, capacity);
  for (uint64_t spent = 0; found == PLAN_GAVE_UP && spent < budget;) {
    found = walk_on(s, budget - spent);
    spent += s->nodes;
    plan_effort_spend(s->effort, s->nodes);
  }
  if (found == PLAN_FOUND)
    keep_best(s);
  return found;
}
