/*
 * Arena planner: compresses time to sections and sizes to units, splits the
 * buffers at moments without any, and plans each part.
 */
#include "memory/plan/plan.h"

#include <stdlib.h>

#include "base/check.h"
#include "memory/plan/plan_overlap.h"
#include "memory/plan/planner.h"

enum { FEW_MOVES = 8 }; /* per buffer, on average */

struct planner {
  struct arena *arena; /* of this plan */
  struct plan_buffer *buffers;
  size_t count;
  struct plan_options options;
  struct plan_item *items;
  size_t item_count;
  int64_t unit; /* bytes */
  VEC(struct plan_part) parts;
  struct plan_effort effort;
};

/* Units */

static bool is_real(const struct plan_buffer *b) {
  return b->size > 0 && b->lower < b->upper;
}

static int64_t align_of(const struct planner *p, const struct plan_buffer *b) {
  int64_t align = b->align ? b->align : p->options.align;
  return max_i64(align, 1);
}

/*
 * Finds the unit. Sizes are rounded up to the greatest common divisor of the
 * alignments. The unit divides all sizes, and every alignment that does not
 * divide it. False if a sum could overflow in a plan.
 */
static bool find_unit(struct planner *p) {
  int64_t grain = 0, sizes = 0, aligns = 0, sum = 0;
  bool aligned = true;
  for (size_t i = 0; i < p->count; i++)
    if (is_real(&p->buffers[i]))
      grain = gcd_i64(grain, align_of(p, &p->buffers[i]));
  for (size_t i = 0; i < p->count; i++) {
    const struct plan_buffer *b = &p->buffers[i];
    int64_t size;
    if (!is_real(b))
      continue;
    if (!mul_i64(ceil_div_i64(b->size, grain), grain, &size) ||
        !add_i64(sum, size, &sum) || !add_i64(sum, align_of(p, b), &sum) ||
        sum > INT64_MAX / 4)
      return false;
    sizes = gcd_i64(sizes, size);
    aligns = gcd_i64(aligns, align_of(p, b));
    p->items[p->item_count++] =
        (struct plan_item){.size = size, .align = align_of(p, b), .origin = i};
  }
  for (size_t i = 0; i < p->item_count; i++)
    aligned = aligned && sizes % p->items[i].align == 0;
  p->unit = aligned ? sizes : gcd_i64(sizes, aligns);
  for (size_t i = 0; i < p->item_count; i++) {
    p->items[i].size /= p->unit;
    p->items[i].align = aligned ? 1 : p->items[i].align / p->unit;
  }
  return true;
}

/* Sections and parts */

struct plan_life {
  int64_t lower, upper;
  struct plan_item *item;
};

static int by_birth(const void *a, const void *b) {
  const struct plan_life *x = a, *y = b;
  int order = compare_i64(x->lower, y->lower);
  return order ? order : compare_i64((intptr_t)x->item, (intptr_t)y->item);
}

static int by_death(const void *a, const void *b) {
  const struct plan_life *x = a, *y = b;
  int order = compare_i64(x->upper, y->upper);
  return order ? order : compare_i64((intptr_t)x->item, (intptr_t)y->item);
}

/* Insertion sort, as lives of layers are almost in order; else qsort. */
static void sort_lives(struct plan_life *lives, size_t count,
                       int (*compare)(const void *a, const void *b)) {
  size_t moves = 0;
  for (size_t i = 1; i < count; i++) {
    struct plan_life life = lives[i];
    size_t at = i;
    for (; at > 0 && compare(&lives[at - 1], &life) > 0; at--, moves++)
      lives[at] = lives[at - 1];
    lives[at] = life;
    if (moves > FEW_MOVES * count) {
      qsort(lives, count, sizeof *lives, compare);
      return;
    }
  }
}

/* Sorts the items by birth; returns their lives sorted by death. */
static struct plan_life *sort_items(struct planner *p) {
  size_t n = p->item_count;
  struct plan_life *lives = arena_alloc(p->arena, n, sizeof *lives);
  struct plan_item *sorted = arena_alloc(p->arena, n, sizeof *sorted);
  for (size_t i = 0; i < n; i++) {
    const struct plan_buffer *b = &p->buffers[p->items[i].origin];
    lives[i] = (struct plan_life){b->lower, b->upper, &p->items[i]};
  }
  sort_lives(lives, n, by_birth);
  for (size_t i = 0; i < n; i++) {
    sorted[i] = *lives[i].item;
    lives[i].item = &sorted[i];
  }
  p->items = sorted;
  sort_lives(lives, n, by_death);
  return lives;
}

static void close_part(struct planner *p, struct plan_item *end,
                       const int64_t *load, int32_t sections) {
  struct plan_item *items = p->parts.count
                                ? p->parts.at[p->parts.count - 1].items +
                                      p->parts.at[p->parts.count - 1].count
                                : p->items;
  struct plan_part *part = VEC_PUSH(p->arena, &p->parts);
  *part = (struct plan_part){.items = items,
                             .count = (size_t)(end - items),
                             .load = load,
                             .sections = sections,
                             .height = INT64_MAX};
  part->best = arena_alloc(p->arena, part->count, sizeof *part->best);
  for (int32_t i = 0; i < sections; i++)
    part->bound = max_i64(part->bound, load[i]);
}

/*
 * A section ends when a buffer dies, if one was born since the last section.
 * Buffers that are in memory together at any moment are so in one of these.
 */
static void find_sections(struct planner *p) {
  struct plan_life *deaths = sort_items(p);
  size_t n = p->item_count, born = 0;
  int64_t *loads = arena_alloc(p->arena, n, sizeof *loads);
  int64_t load = 0;
  int32_t section = 0;
  bool grown = false;
  for (size_t died = 0; died < n; died++) {
    while (born < n &&
           p->buffers[p->items[born].origin].lower < deaths[died].upper) {
      struct plan_item *item = &p->items[born++];
      item->first = section;
      load += item->size;
      grown = true;
    }
    if (grown)
      loads[section++] = load;
    grown = false;
    deaths[died].item->last = section;
    load -= deaths[died].item->size;
    if (born == died + 1) {
      close_part(p, p->items + born, loads, section);
      loads += section;
      section = 0;
    }
  }
}

/* Planning */

static int by_bound(const void *a, const void *b) {
  const struct plan_part *x = a, *y = b;
  int order = compare_i64(y->bound, x->bound);
  return order ? order : compare_i64((intptr_t)x->items, (intptr_t)y->items);
}

/* Plans the fullest part first: the others need not be lower. */
static void plan_parts(struct planner *p, struct plan *plan) {
  int64_t height = 0, bound = 0;
  int64_t capacity = p->options.capacity / (p->unit ? p->unit : 1);
  if (p->parts.count)
    qsort(p->parts.at, p->parts.count, sizeof *p->parts.at, by_bound);
  if (p->parts.count && p->parts.at[0].bound > capacity)
    capacity = 0; /* out of reach: find the lowest plan */
  for (size_t i = 0; i < p->parts.count; i++) {
    struct plan_part *part = &p->parts.at[i];
    plan_part(p->arena, part, max_i64(capacity, height), &p->options,
              &p->effort);
    height = max_i64(height, part->height);
    bound = max_i64(bound, part->bound);
    for (size_t k = 0; k < part->count; k++)
      p->buffers[part->items[k].origin].offset = part->best[k] * p->unit;
  }
  *plan = (struct plan){.height = height * p->unit,
                        .lower_bound = bound * p->unit,
                        .optimal = height == bound,
                        .nodes = p->effort.spent};
}

static enum plan_status make_plan(struct planner *p, struct plan *plan) {
  *plan = (struct plan){.optimal = true};
  for (size_t i = 0; i < p->count; i++)
    p->buffers[i].offset = 0;
  p->items = arena_alloc(p->arena, p->count, sizeof *p->items);
  if (!find_unit(p))
    return PLAN_TOO_LARGE;
  find_sections(p);
  plan_parts(p, plan);
  if (p->options.overlap_count)
    plan_overlap(p->arena, p->buffers, p->count, &p->options, plan);
  return plan_verify(p->arena, p->buffers, p->count, &p->options, plan->height)
             ? PLAN_DONE
             : PLAN_BUG;
}

enum plan_status plan_arena(struct arena *arena, struct plan_buffer *buffers,
                            size_t count, const struct plan_options *options,
                            struct plan *plan) {
  struct arena scratch;
  struct planner planner = {.arena = &scratch,
                            .buffers = buffers,
                            .count = count,
                            .options = *options,
                            .effort.progress = options->progress};
  arena_open_in(&scratch, arena);
  enum plan_status status = make_plan(&planner, plan);
  arena_close(&scratch);
  return status;
}
