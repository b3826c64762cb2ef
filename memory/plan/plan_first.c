/*
 * First fit in order of birth: each buffer gets the lowest offset that is free
 * when it is born. Chains of layers, which have few buffers at a time, need no
 * more, and networks of millions of layers are chains. Buffers born together
 * are placed in their order or, in a part that is not searched, the longest
 * lives first, which leaves no gaps in transformers.
 */
#include "memory/plan/planner.h"

enum { MOST_ALIVE = 128 }; /* all are scanned for each new buffer */

/* A buffer in memory, in the order of offsets. */
struct plan_alive {
  int64_t offset, end; /* units */
  int32_t last;
};

struct first_fit {
  struct plan_part *part;
  struct plan_alive alive[MOST_ALIVE];
  size_t count;
  int64_t height, goal;
};

/* Removes buffers that died before `section`. */
static void bury(struct first_fit *f, int32_t section) {
  size_t left = 0;
  for (size_t i = 0; i < f->count; i++)
    if (f->alive[i].last > section)
      f->alive[left++] = f->alive[i];
  f->count = left;
}

/* Places an item; `alive` has room. False: it ends above the goal. */
static bool place(struct first_fit *f, size_t index) {
  const struct plan_item *item = &f->part->items[index];
  struct plan_alive *alive = f->alive;
  int64_t offset = 0;
  size_t at = 0;
  for (; at < f->count && alive[at].offset - offset < item->size; at++)
    offset = plan_align(alive[at].end, item->align);
  for (size_t k = f->count++; k > at; k--)
    alive[k] = alive[k - 1];
  alive[at] = (struct plan_alive){offset, offset + item->size, item->last};
  f->part->best[index] = offset;
  if (alive[at].end > f->height)
    f->height = alive[at].end;
  return f->height <= f->goal;
}

/* Places buffers born together in their order, or the longest lives first. */
static bool place_newborn(struct first_fit *f, size_t begin, size_t end,
                          bool longest_first) {
  const struct plan_item *items = f->part->items;
  size_t order[MOST_ALIVE];
  if (end - begin > MOST_ALIVE - f->count)
    return false;
  for (size_t i = begin; i < end; i++) {
    size_t at = i - begin;
    if (longest_first)
      for (; at > 0 && items[order[at - 1]].last < items[i].last; at--)
        order[at] = order[at - 1];
    order[at] = i;
  }
  for (size_t i = 0; i < end - begin; i++)
    if (!place(f, order[i]))
      return false;
  return true;
}

static bool fill(struct plan_part *part, int64_t goal, bool longest_first) {
  struct first_fit f = {.part = part, .goal = goal};
  const struct plan_item *items = part->items;
  for (size_t begin = 0, end; begin < part->count; begin = end) {
    int32_t first = items[begin].first;
    for (end = begin; end < part->count && items[end].first == first; end++)
      continue;
    bury(&f, first);
    if (!place_newborn(&f, begin, end, longest_first))
      return false;
  }
  part->height = f.height;
  return true;
}

bool plan_first_fit(struct plan_part *part, int64_t goal) {
  return fill(part, goal, false) ||
         (part->count > PLAN_SEARCHED && fill(part, goal, true));
}
