/*
 * Boxes: buffers that are planned as one. Two buffers of the same sections are
 * stacked. Of two of the same size, one takes the other's place when that dies.
 * Neither wastes a byte, and boxes can be joined again. Often hundreds of
 * buffers become a few boxes, which a search handles quickly: in a plan without
 * gaps most buffers are in such boxes.
 *
 * Partners are drawn at random. If the best plan of the boxes is worse than
 * that of the buffers, others are drawn.
 */
#include "memory/plan/plan_boxes.h"

#include <string.h>

#include "base/check.h"

#define NOBODY UINT32_MAX

enum { BORN, DEAD, LISTS };

struct plan_stack {
  struct plan_item item;
  uint32_t low, high;   /* contents; NOBODY: it is a buffer */
  uint32_t next[LISTS]; /* next box born in the same section, and so on */
  bool stacked;         /* `high` is on top of `low`, not after it */
  bool joined;          /* it is inside another box */
  int64_t offset;
};

struct plan_boxes {
  struct plan_part *part;
  struct plan_part boxed;
  struct plan_stack
      *boxes; /* the buffers, then boxes, each after its contents */
  size_t count;
  uint32_t *lists[LISTS]; /* by section: born in it, dead from it on */
  uint32_t *left;         /* not looked at yet */
  size_t left_count;
  int64_t *load;
  int32_t *kept; /* by section: sections of `boxed` before it */
};

static void enter(struct plan_boxes *b, uint32_t index) {
  struct plan_stack *box = &b->boxes[index];
  uint32_t *born = &b->lists[BORN][box->item.first];
  uint32_t *dead = &b->lists[DEAD][box->item.last];
  box->next[BORN] = *born;
  box->next[DEAD] = *dead;
  *born = *dead = index;
  b->left[b->left_count++] = index;
}

static void enter_all(struct plan_boxes *b) {
  size_t size = ((size_t)b->part->sections + 1) * sizeof **b->lists;
  for (int i = 0; i < LISTS; i++)
    memset(b->lists[i], 0xFF, size); /* NOBODY */
  b->left_count = 0;
  b->count = b->part->count;
  for (uint32_t i = 0; i < b->count; i++) {
    b->boxes[i] = (struct plan_stack){b->part->items[i], .low = NOBODY};
    enter(b, i);
  }
}

/* The first free box of a list from `at` on; removes joined ones. */
static uint32_t find_free(struct plan_boxes *b, uint32_t *at, int list) {
  while (*at != NOBODY && b->boxes[*at].joined)
    *at = b->boxes[*at].next[list];
  return *at;
}

static bool can_join(const struct plan_item *a, const struct plan_item *b) {
  if (a->align != 1 || b->align != 1)
    return false;
  if (a->first == b->first && a->last == b->last)
    return true;
  return a->size == b->size && (a->last == b->first || b->last == a->first);
}

/* A random one of the boxes that a box can be joined to, all equally likely. */
static uint32_t find_partner(struct plan_boxes *b, uint32_t index,
                             uint64_t *random) {
  const struct plan_item *item = &b->boxes[index].item;
  struct {
    int list;
    int32_t section;
  } places[] = {{BORN, item->first}, {BORN, item->last}, {DEAD, item->first}};
  uint32_t found = NOBODY;
  uint64_t seen = 0;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    int list = places[i].list;
    uint32_t *at = &b->lists[list][places[i].section];
    for (; find_free(b, at, list) != NOBODY; at = &b->boxes[*at].next[list])
      if (*at != index && can_join(item, &b->boxes[*at].item) &&
          (plan_random(random) >> 20) % ++seen == 0)
        found = *at;
  }
  return found;
}

static void join(struct plan_boxes *b, uint32_t low, uint32_t high) {
  const struct plan_item *x = &b->boxes[low].item, *y = &b->boxes[high].item;
  struct plan_stack *box = &b->boxes[b->count];
  *box = (struct plan_stack){*x, .low = low, .high = high};
  box->stacked = x->first == y->first;
  if (box->stacked) {
    box->item.size += y->size;
  } else {
    box->item.first = x->first < y->first ? x->first : y->first;
    box->item.last = x->last > y->last ? x->last : y->last;
  }
  b->boxes[low].joined = b->boxes[high].joined = true;
  enter(b, (uint32_t)b->count++);
}

static void join_all(struct plan_boxes *b, uint64_t *random) {
  while (b->left_count > 0) {
    size_t at = (plan_random(random) >> 20) % b->left_count;
    uint32_t index = b->left[at];
    b->left[at] = b->left[--b->left_count];
    if (b->boxes[index].joined)
      continue;
    uint32_t partner = find_partner(b, index, random);
    if (partner != NOBODY)
      join(b, index, partner);
  }
}

/*
 * Builds the part of the boxes in order of birth. A section is kept if a box
 * dies after it and one was born since the last kept section.
 */
static void collect(struct plan_boxes *b) {
  struct plan_part *boxed = &b->boxed;
  bool grown = false;
  boxed->count = 0;
  boxed->sections = 0;
  for (int32_t i = 0; i < b->part->sections; i++) {
    b->kept[i] = boxed->sections;
    uint32_t *at = &b->lists[BORN][i];
    for (; find_free(b, at, BORN) != NOBODY; at = &b->boxes[*at].next[BORN]) {
      struct plan_item *item = &boxed->items[boxed->count++];
      *item = b->boxes[*at].item;
      item->origin = *at;
      grown = true;
    }
    if (grown && find_free(b, &b->lists[DEAD][i + 1], DEAD) != NOBODY) {
      b->load[boxed->sections++] = b->part->load[i];
      grown = false;
    }
  }
  b->kept[b->part->sections] = boxed->sections;
  for (size_t i = 0; i < boxed->count; i++) {
    boxed->items[i].first = b->kept[boxed->items[i].first];
    boxed->items[i].last = b->kept[boxed->items[i].last];
  }
  boxed->height = INT64_MAX;
}

struct plan_boxes *plan_boxes_open(struct arena *arena,
                                   struct plan_part *part) {
  struct plan_boxes *b = ARENA_NEW(arena, struct plan_boxes);
  size_t n = part->count, sections = (size_t)part->sections;
  uint64_t random = 1; /* any seed will do here */
  b->part = part;
  b->boxes = arena_alloc(arena, 2 * n, sizeof *b->boxes);
  b->left = arena_alloc(arena, 2 * n, sizeof *b->left);
  for (int i = 0; i < LISTS; i++)
    b->lists[i] = arena_alloc(arena, sections + 1, sizeof *b->lists[i]);
  b->kept = arena_alloc(arena, sections + 1, sizeof *b->kept);
  b->load = arena_alloc(arena, sections, sizeof *b->load);
  b->boxed =
      (struct plan_part){.items = arena_alloc(arena, n, sizeof *b->boxed.items),
                         .best = arena_alloc(arena, n, sizeof *b->boxed.best),
                         .load = b->load,
                         .bound = part->bound};
  plan_boxes_draw(b, &random);
  return b->boxed.count < n ? b : NULL;
}

struct plan_part *plan_boxes_draw(struct plan_boxes *b, uint64_t *random) {
  enter_all(b);
  join_all(b, random);
  collect(b);
  return &b->boxed;
}

void plan_boxes_take(struct plan_boxes *b) {
  const struct plan_part *boxed = &b->boxed;
  if (boxed->height >= b->part->height)
    return;
  b->part->height = boxed->height;
  for (size_t i = 0; i < boxed->count; i++)
    b->boxes[boxed->items[i].origin].offset = boxed->best[i];
  for (size_t i = b->count; i-- > b->part->count;) {
    const struct plan_stack *box = &b->boxes[i];
    struct plan_stack *low = &b->boxes[box->low], *high = &b->boxes[box->high];
    low->offset = high->offset = box->offset;
    if (box->stacked)
      high->offset += low->item.size;
  }
  for (size_t i = 0; i < b->part->count; i++)
    b->part->best[i] = b->boxes[i].offset;
}
