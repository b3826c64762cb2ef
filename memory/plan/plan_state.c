/*
 * State of a plan search, and the consequences of a choice: raises bounds until
 * none changes or a section overflows.
 *
 * - The unplaced buffers of a section fit between its lowest bound and the top.
 * - A waiting buffer is placed no lower than the lowest top of its unplaced
 *   neighbours.
 * - No buffer waits where none of its neighbours can be placed any more.
 * - A buffer that waits makes its equals wait.
 */
#include "memory/plan/plan_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

/* Passes over the waiting buffers before their bounds are found directly. */
enum { PATIENCE = 8 };

/* Turns counts into the start index of each list. */
static void add_up(uint32_t *at, size_t count) {
  uint32_t sum = 0;
  for (size_t i = 0; i <= count; i++) {
    uint32_t here = at[i];
    at[i] = sum;
    sum += here;
  }
}

/* Filling moved each start to the next one; moves them back. */
static void move_back(uint32_t *at, size_t count) {
  memmove(at + 1, at, count * sizeof *at);
  at[0] = 0;
}

/* Lists each item's neighbours; items are sorted by first section. */
static void list_neighbours(struct plan_state *s, struct arena *arena) {
  const struct plan_item *items = s->part->items;
  size_t n = s->part->count;
  uint32_t *at = s->over_at = arena_alloc(arena, n + 1, sizeof *at);
  for (size_t i = 0; i < n; i++)
    for (size_t k = i + 1; k < n && items[k].first < items[i].last; k++) {
      at[i]++;
      at[k]++;
    }
  add_up(at, n);
  s->over = arena_alloc(arena, at[n], sizeof *s->over);
  for (size_t i = 0; i < n; i++)
    for (size_t k = i + 1; k < n && items[k].first < items[i].last; k++) {
      s->over[at[i]++] = (uint16_t)k;
      s->over[at[k]++] = (uint16_t)i;
    }
  move_back(at, n);
}

static int by_number(const void *a, const void *b) {
  return compare_i64(*(const int64_t *)a, *(const int64_t *)b);
}

/* Lists members by section, short lives first: they find the lowest places. */
static void list_members(struct plan_state *s, struct arena *arena) {
  const struct plan_item *items = s->part->items;
  size_t n = s->part->count, sections = (size_t)s->part->sections;
  uint32_t *at = s->member_at = arena_alloc(arena, sections + 1, sizeof *at);
  int64_t *order = arena_alloc(arena, n, sizeof *order);
  for (size_t i = 0; i < n; i++) {
    order[i] = (int64_t)(items[i].last - items[i].first) << 16 | (int64_t)i;
    for (int32_t k = items[i].first; k < items[i].last; k++)
      at[k]++;
  }
  qsort(order, n, sizeof *order, by_number);
  add_up(at, sections);
  s->member = arena_alloc(arena, at[sections], sizeof *s->member);
  for (size_t i = 0; i < n; i++) {
    uint16_t item = (uint16_t)order[i];
    for (int32_t k = items[item].first; k < items[item].last; k++)
      s->member[at[k]++] = item;
  }
  move_back(at, sections);
}

void plan_state_open(struct plan_state *s, struct arena *arena,
                     const struct plan_part *part) {
  size_t n = part->count, sections = (size_t)part->sections;
  *s = (struct plan_state){.part = part, .arena = arena};
  int64_t **by_item[] = {&s->pos,       &s->low,      &s->top,    &s->rank,
                         &s->log_width, &s->log_size, &s->support};
  for (size_t i = 0; i < sizeof by_item / sizeof *by_item; i++)
    *by_item[i] = arena_alloc(arena, n, sizeof(int64_t));
  int64_t **by_section[] = {&s->load, &s->floor, &s->ground, &s->failures,
                            &s->alive};
  for (size_t i = 0; i < sizeof by_section / sizeof *by_section; i++)
    *by_section[i] = arena_alloc(arena, sections, sizeof(int64_t));
  s->holder = arena_alloc(arena, n, sizeof *s->holder);
  s->hinder = arena_alloc(arena, n, sizeof *s->hinder);
  s->lowest = arena_alloc(arena, sections, sizeof *s->lowest);
  list_neighbours(s, arena);
  list_members(s, arena);
  for (size_t i = 0; i < n; i++) {
    s->log_width[i] = plan_log2(part->items[i].last - part->items[i].first);
    s->log_size[i] = plan_log2(part->items[i].size);
  }
  for (size_t i = 0; i < sections; i++)
    s->lowest[i] = s->member[s->member_at[i]];
}

void plan_state_reset(struct plan_state *s, int64_t capacity) {
  const struct plan_part *part = s->part;
  s->capacity = capacity;
  s->trail.count = 0;
  s->left = 0;
  s->conflict = -1;
  for (size_t i = 0; i < part->count; i++) {
    const struct plan_item *item = &part->items[i];
    s->left += item->size * (item->last - item->first);
    s->pos[i] = s->low[i] = s->rank[i] = 0;
    s->top[i] = part->items[i].size;
  }
  for (int32_t i = 0; i < part->sections; i++) {
    s->load[i] = part->load[i];
    s->floor[i] = s->ground[i] = 0;
    s->alive[i] = s->member_at[i + 1] - s->member_at[i];
  }
}

void plan_state_grow(struct plan_state *s) {
  s->trail.at = arena_grow(s->arena, s->trail.at, &s->trail.room,
                           s->trail.count, sizeof *s->trail.at);
}

void plan_state_undo(struct plan_state *s, size_t mark) {
  while (s->trail.count > mark) {
    const struct plan_change *change = &s->trail.at[--s->trail.count];
    *change->where = change->old;
  }
}

/* Counts a failure at the item's fullest section; returns false. */
static bool fail_at(struct plan_state *s, size_t item) {
  const struct plan_item *it = &s->part->items[item];
  int32_t fullest = it->first;
  for (int32_t i = it->first + 1; i < it->last; i++)
    if (s->load[i] > s->load[fullest])
      fullest = i;
  s->failures[fullest]++;
  return false;
}

/* Marks the item's sections: their floors may rise. */
static void touch(struct plan_state *s, const struct plan_item *item) {
  if (item->first < s->touched_first)
    s->touched_first = item->first;
  if (item->last > s->touched_last)
    s->touched_last = item->last;
}

/* Raises an unplaced item's lower bound to `low`; PLAN_FAR: it fits nowhere. */
static bool raise(struct plan_state *s, size_t item, int64_t low) {
  const struct plan_item *it = &s->part->items[item];
  low = plan_align(low, it->align);
  if (low <= s->low[item])
    return true;
  if (low > s->capacity - it->size)
    return fail_at(s, item);
  plan_state_set(s, &s->low[item], low);
  plan_state_set(s, &s->top[item], low + it->size);
  touch(s, it);
  return true;
}

/* Finds a section's floor. All unplaced items must fit above it. */
static bool find_floor(struct plan_state *s, int32_t section) {
  uint16_t *member = s->member + s->member_at[section];
  const int64_t *low = s->low;
  int64_t count = s->alive[section];
  int64_t least = PLAN_FAR, floor = s->floor[section];
  int64_t ground = max_i64(floor, s->ground[section]);
  uint16_t lowest = s->lowest[section];
  for (int64_t i = 0; i < count && least > ground;) {
    uint16_t item = member[i];
    int64_t here = low[item];
    if (here < PLAN_FAR) {
      lowest = here < least ? item : lowest;
      least = min_i64(here, least);
      i++;
    } else { /* placed: swap it behind the unplaced ones */
      member[i] = member[--count];
      member[count] = item;
    }
  }
  s->lowest[section] = lowest;
  if (count < s->alive[section])
    plan_state_set(s, &s->alive[section], count);
  if (least == floor)
    return true; /* floors never sink: the others need no check */
  plan_state_set(s, &s->floor[section], least);
  if (least == PLAN_FAR || least <= s->capacity - s->load[section])
    return true;
  s->failures[section]++;
  s->conflict = section;
  return false;
}

static bool find_floors(struct plan_state *s) {
  for (int32_t i = s->touched_first; i < s->touched_last; i++)
    if (s->low[s->lowest[i]] != s->floor[i] && !find_floor(s, i))
      return false;
  return true;
}

uint16_t plan_state_lowest(struct plan_state *s, int32_t section) {
  if (s->low[s->lowest[section]] != s->floor[section])
    find_floor(s, section); /* unchanged; finds the item that has it */
  return s->lowest[section];
}

static bool is_waiting(const struct plan_state *s, size_t item) {
  return s->low[item] > s->pos[item] && s->low[item] < PLAN_FAR;
}

/*
 * The lowest top of an unplaced neighbour, or one that is as good: not above
 * `low`.
 */
static int64_t find_support(struct plan_state *s, size_t item, int64_t low) {
  const uint16_t *over = s->over + s->over_at[item];
  size_t count = s->over_at[item + 1] - s->over_at[item];
  const int64_t *top = s->top;
  int64_t least = PLAN_FAR;
  uint16_t holder = s->holder[item];
  for (size_t i = 0; i < count && least > low; i++) {
    int64_t here = top[over[i]];
    holder = here < least ? over[i] : holder;
    least = min_i64(here, least);
  }
  s->holder[item] = holder;
  return least;
}

/*
 * True if a neighbour may still be so low that the item does not fit at its
 * `pos`. If there is none, the item could be moved down to `pos`, and the plan
 * would not differ in any way that matters from one that was tried.
 */
static bool is_hindered(struct plan_state *s, size_t item) {
  int64_t top = s->pos[item] + s->part->items[item].size;
  if (s->low[s->hinder[item]] < top)
    return true;
  for (uint32_t k = s->over_at[item]; k < s->over_at[item + 1]; k++)
    if (s->low[s->over[k]] < top) {
      s->hinder[item] = s->over[k];
      return true;
    }
  return false;
}

static bool raise_waiting(struct plan_state *s, struct plan_group group) {
  for (size_t i = 0; i < group.count; i++) {
    size_t item = group.items[i];
    if (!is_waiting(s, item))
      continue;
    if (!is_hindered(s, item))
      return fail_at(s, item);
    if (s->top[s->holder[item]] > s->low[item] &&
        !raise(s, item, find_support(s, item, s->low[item])))
      return false;
  }
  return true;
}

/*
 * Small buffers that wait for one another would climb in small steps. Instead,
 * as in Dijkstra's shortest paths, the lowest bound is final and updates the
 * others. An item that none reaches has nothing to rest on.
 */
static bool raise_waiting_at_once(struct plan_state *s,
                                  struct plan_group group) {
  size_t left = 0;
  for (size_t i = 0; i < group.count; i++) {
    size_t item = group.items[i];
    s->support[item] = PLAN_FAR;
    if (!is_waiting(s, item))
      continue;
    left++;
    for (uint32_t k = s->over_at[item]; k < s->over_at[item + 1]; k++)
      if (!is_waiting(s, s->over[k]))
        s->support[item] = min_i64(s->support[item], s->top[s->over[k]]);
  }
  for (; left > 0; left--) {
    size_t lowest = SIZE_MAX;
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < group.count; i++) {
      size_t item = group.items[i];
      int64_t low = max_i64(s->low[item], s->support[item]);
      if (is_waiting(s, item) && s->support[item] >= 0 && low < least) {
        least = low;
        lowest = item;
      }
    }
    if (!raise(s, lowest, s->support[lowest]))
      return false;
    s->support[lowest] = -1; /* final */
    for (uint32_t k = s->over_at[lowest]; k < s->over_at[lowest + 1]; k++) {
      size_t other = s->over[k];
      if (s->support[other] > s->top[lowest])
        s->support[other] = s->top[lowest];
    }
  }
  return true;
}

/* Repeats until no bound changes. */
static bool propagate(struct plan_state *s, struct plan_group group) {
  size_t before;
  int pass = 0;
  do {
    before = s->trail.count;
    if (!(pass++ < PATIENCE ? raise_waiting(s, group)
                            : raise_waiting_at_once(s, group)))
      return false;
  } while (s->trail.count > before && pass <= PATIENCE);
  return find_floors(s);
}

bool plan_state_place(struct plan_state *s, struct plan_group group,
                      uint16_t item) {
  const struct plan_item *it = &s->part->items[item];
  int64_t top = s->top[item];
  s->touched_first = it->first;
  s->touched_last = it->last;
  plan_state_set(s, &s->left, s->left - it->size * (it->last - it->first));
  plan_state_set(s, &s->low[item], PLAN_FAR);
  plan_state_set(s, &s->top[item], PLAN_FAR);
  for (int32_t i = it->first; i < it->last; i++) {
    plan_state_set(s, &s->load[i], s->load[i] - it->size);
    plan_state_set(s, &s->ground[i], top);
  }
  for (uint32_t k = s->over_at[item]; k < s->over_at[item + 1]; k++) {
    size_t other = s->over[k];
    if (s->low[other] == PLAN_FAR || s->pos[other] >= top)
      continue;
    int64_t pos = plan_align(top, s->part->items[other].align);
    plan_state_set(s, &s->pos[other], pos);
    if (!raise(s, other, pos))
      return false;
  }
  if (!propagate(s, group))
    return false;
  if (it->first <= s->conflict && s->conflict < it->last)
    s->conflict = -1;
  return true;
}

static bool are_twins(const struct plan_state *s, size_t a, size_t b) {
  const struct plan_item *x = &s->part->items[a], *y = &s->part->items[b];
  return x->first == y->first && x->last == y->last && x->size == y->size &&
         x->align == y->align && s->pos[a] == s->pos[b] &&
         s->low[b] == s->pos[b];
}

bool plan_state_wait(struct plan_state *s, struct plan_group group,
                     uint16_t item) {
  s->touched_first = s->part->sections;
  s->touched_last = 0;
  if (!raise(s, item, find_support(s, item, -1)))
    return false;
  for (size_t i = 0; i < group.count; i++) {
    size_t other = group.items[i];
    if (other != item && are_twins(s, item, other) &&
        !raise(s, other, find_support(s, other, -1)))
      return false;
  }
  return propagate(s, group);
}
