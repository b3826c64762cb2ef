/*
 * Plan verifier: walks through time. A new buffer is compared with all buffers
 * in memory while these are few; otherwise with its neighbours in the set of
 * buffers ordered by offset, which is enough because that set has no overlaps.
 */
#include <stdlib.h>

#include "base/check.h"
#include "memory/plan/plan.h"

/*
 * A set of numbers below 64^LEVELS: one bit each, and per 64 bits a bit one
 * level up that is set if any of them is.
 */
enum { LEVELS = 6 };

struct bit_set {
  uint64_t *level[LEVELS];
};

static void set_open(struct bit_set *set, struct arena *arena, size_t count) {
  for (int i = 0; i < LEVELS; i++) {
    count = count / 64 + 1;
    set->level[i] = arena_alloc(arena, count, sizeof(uint64_t));
  }
}

static void set_add(struct bit_set *set, size_t number) {
  for (int i = 0; i < LEVELS; i++, number /= 64)
    set->level[i][number / 64] |= (uint64_t)1 << number % 64;
}

static void set_remove(struct bit_set *set, size_t number) {
  for (int i = 0; i < LEVELS; i++, number /= 64) {
    set->level[i][number / 64] &= ~((uint64_t)1 << number % 64);
    if (set->level[i][number / 64])
      return;
  }
}

/* Finds the largest member below `number`; false: none. */
static bool set_below(const struct bit_set *set, size_t number, size_t *found) {
  for (int i = 0; i < LEVELS; i++, number /= 64) {
    uint64_t bits =
        set->level[i][number / 64] & (((uint64_t)1 << number % 64) - 1);
    if (!bits)
      continue;
    number = number / 64 * 64 + (size_t)(63 - __builtin_clzll(bits));
    while (i-- > 0)
      number =
          number * 64 + (size_t)(63 - __builtin_clzll(set->level[i][number]));
    *found = number;
    return true;
  }
  return false;
}

/* Finds the smallest member above `number`; false: none. */
static bool set_above(const struct bit_set *set, size_t number, size_t *found) {
  for (int i = 0; i < LEVELS; i++, number /= 64) {
    uint64_t bits = set->level[i][number / 64] >> number % 64 >> 1;
    if (!bits)
      continue;
    number += 1 + (size_t)__builtin_ctzll(bits);
    while (i-- > 0)
      number = number * 64 + (size_t)__builtin_ctzll(set->level[i][number]);
    *found = number;
    return true;
  }
  return false;
}

struct plan_placed {
  const struct plan_buffer *buffer;
  size_t rank; /* index by offset */
};

static int by_offset(const void *a, const void *b) {
  const struct plan_buffer *x = ((const struct plan_placed *)a)->buffer;
  const struct plan_buffer *y = ((const struct plan_placed *)b)->buffer;
  int order = compare_i64(x->offset, y->offset);
  return order ? order : compare_i64((intptr_t)x, (intptr_t)y);
}

static int by_birth(const void *a, const void *b) {
  const struct plan_buffer *x = ((const struct plan_placed *)a)->buffer;
  const struct plan_buffer *y = ((const struct plan_placed *)b)->buffer;
  return compare_i64(x->lower, y->lower);
}

static int by_death(const void *a, const void *b) {
  const struct plan_buffer *x = ((const struct plan_placed *)a)->buffer;
  const struct plan_buffer *y = ((const struct plan_placed *)b)->buffer;
  return compare_i64(x->upper, y->upper);
}

/* Sorts births, which mostly are in order already. */
static void sort_births(struct plan_placed *births, size_t count) {
  for (size_t i = 1; i < count; i++)
    if (by_birth(&births[i - 1], &births[i]) > 0) {
      qsort(births, count, sizeof *births, by_birth);
      return;
    }
}

static bool is_in_place(const struct plan_buffer *buffer,
                        const struct plan_options *options, int64_t height) {
  int64_t align = buffer->align ? buffer->align : options->align;
  return buffer->offset >= 0 && buffer->offset % (align > 1 ? align : 1) == 0 &&
         buffer->size <= height && buffer->offset <= height - buffer->size;
}

enum { FEW = 64 };

/* Walks while few buffers are in memory. False: too many; ignore *fine. */
static bool walk_few(const struct plan_placed *births, size_t count,
                     bool *fine) {
  const struct plan_buffer *alive[FEW];
  size_t living = 0;
  *fine = true;
  for (size_t i = 0; i < count && *fine; i++) {
    const struct plan_buffer *b = births[i].buffer;
    size_t left = 0;
    for (size_t k = 0; k < living; k++) {
      const struct plan_buffer *other = alive[k];
      if (other->upper <= b->lower)
        continue;
      alive[left++] = other;
      if (other->offset < b->offset + b->size &&
          b->offset < other->offset + other->size)
        *fine = false;
    }
    living = left;
    if (living == FEW)
      return false;
    alive[living++] = b;
  }
  return true;
}

static bool walk_many(struct arena *arena, struct plan_placed *births,
                      size_t count) {
  struct bit_set alive;
  struct plan_placed *deaths = arena_alloc(arena, count, sizeof *deaths);
  const struct plan_buffer **order =
      arena_alloc(arena, count, sizeof(struct plan_buffer *));
  set_open(&alive, arena, count);
  qsort(births, count, sizeof *births, by_offset);
  for (size_t i = 0; i < count; i++) {
    births[i].rank = i;
    order[i] = births[i].buffer;
    deaths[i] = births[i];
  }
  sort_births(births, count);
  qsort(deaths, count, sizeof *deaths, by_death);
  size_t dead = 0, other;
  for (size_t i = 0; i < count; i++) {
    const struct plan_buffer *b = births[i].buffer;
    while (deaths[dead].buffer->upper <= b->lower)
      set_remove(&alive, deaths[dead++].rank);
    if (set_below(&alive, births[i].rank, &other) &&
        order[other]->offset + order[other]->size > b->offset)
      return false;
    if (set_above(&alive, births[i].rank, &other) &&
        b->offset + b->size > order[other]->offset)
      return false;
    set_add(&alive, births[i].rank);
  }
  return true;
}

/* True if two buffers may share bytes and their offsets keep the distance. */
static bool is_overlap(const struct plan_buffer *buffers,
                       const struct plan_overlap *o,
                       const struct plan_buffer *read,
                       const struct plan_buffer *made) {
  return o && &buffers[o->read] == read && o->below >= 0 && o->above > 0 &&
         made->lower + 1 == read->upper &&
         (made->offset <= read->offset - o->below ||
          made->offset >= read->offset + o->above);
}

/* Compares all buffers in memory; overlaps are found by the buffer made. */
static bool walk_overlapping(struct arena *arena,
                             const struct plan_buffer *buffers, size_t all,
                             const struct plan_options *options,
                             const struct plan_placed *births, size_t count) {
  const struct plan_overlap **made = arena_alloc(arena, all, sizeof *made);
  const struct plan_buffer **alive = arena_alloc(arena, all, sizeof *alive);
  size_t living = 0;
  for (size_t i = 0; i < options->overlap_count; i++)
    made[options->overlaps[i].made] = &options->overlaps[i];
  for (size_t i = 0; i < count; i++) {
    const struct plan_buffer *b = births[i].buffer;
    size_t left = 0;
    for (size_t k = 0; k < living; k++) {
      const struct plan_buffer *other = alive[k];
      if (other->upper <= b->lower)
        continue;
      alive[left++] = other;
      if (other->offset < b->offset + b->size &&
          b->offset < other->offset + other->size &&
          !is_overlap(buffers, made[b - buffers], other, b))
        return false;
    }
    living = left;
    alive[living++] = b;
  }
  return true;
}

bool plan_verify(struct arena *arena, const struct plan_buffer *buffers,
                 size_t count, const struct plan_options *options,
                 int64_t height) {
  struct plan_placed *all = arena_alloc(arena, count, sizeof *all);
  size_t real = 0;
  for (size_t i = 0; i < count; i++) {
    if (buffers[i].size <= 0 || buffers[i].lower >= buffers[i].upper)
      continue;
    if (!is_in_place(&buffers[i], options, height))
      return false;
    all[real++].buffer = &buffers[i];
  }
  bool fine;
  sort_births(all, real);
  if (options->overlap_count)
    return walk_overlapping(arena, buffers, count, options, all, real);
  return walk_few(all, real, &fine) ? fine : walk_many(arena, all, real);
}
