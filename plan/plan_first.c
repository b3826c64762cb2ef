/*
 * First fit in the order of births: every buffer at the lowest place that is
 * free when it is born. Chains of layers, which have few buffers at a time,
 * need no more than that, and networks of millions of layers are chains.
 */
#include "plan/planner.h"

enum { MOST_ALIVE = 128 }; /* they are looked through for each newcomer */

/* A buffer that lives, in the order of offsets. */
struct alive {
  int64_t offset, end; /* units */
  int32_t last;
};

/* Removes what has died before `section`. */
static size_t bury(struct alive *alive, size_t count, int32_t section) {
  size_t left = 0;
  for (size_t i = 0; i < count; i++)
    if (alive[i].last > section)
      alive[left++] = alive[i];
  return left;
}

/* Where in `alive` a buffer of `item` goes; *offset: its place. */
static size_t find_gap(const struct alive *alive, size_t count,
                       const struct plan_item *item, int64_t *offset) {
  size_t at = 0;
  *offset = 0;
  for (; at < count && alive[at].offset - *offset < item->size; at++)
    *offset = plan_align(alive[at].end, item->align);
  return at;
}

bool plan_first_fit(struct plan_part *part, int64_t goal) {
  struct alive alive[MOST_ALIVE];
  size_t count = 0;
  int64_t height = 0;
  for (size_t i = 0; i < part->count; i++) {
    const struct plan_item *item = &part->items[i];
    int64_t offset;
    count = bury(alive, count, item->first);
    if (count == MOST_ALIVE)
      return false;
    size_t at = find_gap(alive, count, item, &offset);
    for (size_t k = count++; k > at; k--)
      alive[k] = alive[k - 1];
    alive[at] = (struct alive){offset, offset + item->size, item->last};
    part->best[i] = offset;
    if (alive[at].end > height)
      height = alive[at].end;
    if (height > goal)
      return false;
  }
  part->height = height;
  return true;
}
