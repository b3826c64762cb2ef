/*
 * Fullest sections first: the buffers of each section take the lowest offsets
 * that are free during their lives. Where a section is full to the bound, no
 * gap is allowed between its buffers, and buffers of others are placed around
 * them. (By breadth: Pisarchyk and Lee 2020, arXiv 2001.03288.) This closes the
 * gap that first fit leaves in most networks.
 */
#include "memory/plan/planner.h"

#include <stdlib.h>

#include "base/check.h"

enum {
  MOST_LIVING = 64, /* items per section, on average */
  MOST_BESIDE = 256 /* placed items that share a section with one */
};

/* An occupied range. */
struct plan_place {
  int64_t offset, end; /* units */
};

struct filling {
  struct plan_part *part;
  size_t *from;     /* by section: the first item born in it or later */
  size_t *at;       /* by section: start of its items in `living` */
  uint32_t *living; /* items in memory in a section and born before it */
  struct plan_place beside[MOST_BESIDE];
  size_t count;
  int64_t height, goal;
};

/* Lists the items of each section; false: too many. */
static bool find_living(struct arena *arena, struct filling *f) {
  const struct plan_part *part = f->part;
  size_t sections = (size_t)part->sections, sum = 0;
  for (size_t i = 0; i < part->count; i++)
    sum += (size_t)(part->items[i].last - part->items[i].first - 1);
  if (sum > MOST_LIVING * part->count)
    return false;
  f->from = arena_alloc(arena, sections + 1, sizeof *f->from);
  f->at = arena_alloc(arena, sections + 2, sizeof *f->at);
  f->living = arena_alloc(arena, sum + 1, sizeof *f->living);
  for (size_t i = 0; i < part->count; i++) {
    f->from[part->items[i].first + 1] = i + 1;
    for (int32_t k = part->items[i].first + 1; k < part->items[i].last; k++)
      f->at[k + 2]++;
  }
  for (size_t k = 1; k <= sections; k++) {
    f->at[k + 1] += f->at[k];
    if (f->from[k] < f->from[k - 1])
      f->from[k] = f->from[k - 1];
  }
  for (size_t i = 0; i < part->count; i++)
    for (int32_t k = part->items[i].first + 1; k < part->items[i].last; k++)
      f->living[f->at[k + 1]++] = (uint32_t)i;
  return true;
}

/* Adds the range of a placed item, in the order of offsets. */
static bool avoid(struct filling *f, size_t item) {
  int64_t offset = f->part->best[item];
  if (offset < 0)
    return true;
  if (f->count == MOST_BESIDE)
    return false;
  size_t at = f->count++;
  for (; at > 0 && f->beside[at - 1].offset > offset; at--)
    f->beside[at] = f->beside[at - 1];
  f->beside[at] =
      (struct plan_place){offset, offset + f->part->items[item].size};
  return true;
}

/* Places an item at the lowest free offset. False: too many neighbours are
 * placed, or it ends above the goal. */
static bool place(struct filling *f, size_t index) {
  const struct plan_item *item = &f->part->items[index];
  int64_t offset = 0;
  f->count = 0;
  for (size_t i = f->at[item->first]; i < f->at[item->first + 1]; i++)
    if (!avoid(f, f->living[i]))
      return false;
  for (size_t i = f->from[item->first]; i < f->from[item->last]; i++)
    if (!avoid(f, i))
      return false;
  for (size_t i = 0; i < f->count; i++) {
    if (f->beside[i].offset - offset >= item->size)
      break;
    if (f->beside[i].end > offset)
      offset = plan_align(f->beside[i].end, item->align);
  }
  f->part->best[index] = offset;
  if (offset + item->size > f->height)
    f->height = offset + item->size;
  return f->height <= f->goal;
}

struct fullness {
  int64_t load;
  size_t section;
};

static int fullest_first(const void *a, const void *b) {
  const struct fullness *x = a, *y = b;
  int order = compare_i64(y->load, x->load);
  return order ? order : compare_i64((int64_t)x->section, (int64_t)y->section);
}

static struct fullness *sort_sections(struct arena *arena,
                                      const struct plan_part *part) {
  size_t sections = (size_t)part->sections;
  struct fullness *order = arena_alloc(arena, sections, sizeof *order);
  for (size_t i = 0; i < sections; i++)
    order[i] = (struct fullness){part->load[i], i};
  qsort(order, sections, sizeof *order, fullest_first);
  return order;
}

/* Lists the unplaced items of a section by birth or size; false: too many. */
static bool find_unplaced(const struct filling *f, size_t section,
                          bool smallest_first, uint32_t *order, size_t *count) {
  const struct plan_item *items = f->part->items;
  size_t living = f->at[section + 1] - f->at[section];
  size_t all = living + f->from[section + 1] - f->from[section];
  *count = 0;
  for (size_t i = 0; i < all; i++) {
    uint32_t item = i < living ? f->living[f->at[section] + i]
                               : (uint32_t)(f->from[section] + i - living);
    if (f->part->best[item] >= 0)
      continue;
    if (*count == MOST_BESIDE)
      return false;
    size_t at = (*count)++;
    for (; at > 0 && smallest_first &&
           items[order[at - 1]].size > items[item].size;
         at--)
      order[at] = order[at - 1];
    order[at] = item;
  }
  return true;
}

/* Fills the sections in order. False: too many items, or the goal is passed. */
static bool fill(struct filling *f, const struct fullness *sections,
                 bool smallest_first) {
  uint32_t order[MOST_BESIDE];
  size_t count;
  f->height = 0;
  for (size_t i = 0; i < f->part->count; i++)
    f->part->best[i] = -1;
  for (size_t i = 0; i < (size_t)f->part->sections; i++) {
    if (!find_unplaced(f, sections[i].section, smallest_first, order, &count))
      return false;
    for (size_t k = 0; k < count; k++)
      if (!place(f, order[k]))
        return false;
  }
  f->part->height = f->height;
  return true;
}

bool plan_fullest_first(struct arena *arena, struct plan_part *part,
                        int64_t goal) {
  struct filling f = {.part = part, .goal = goal};
  if (!find_living(arena, &f))
    return false;
  const struct fullness *sections = sort_sections(arena, part);
  return fill(&f, sections, false) || fill(&f, sections, true);
}
