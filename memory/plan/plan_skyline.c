/*
 * Skyline descents: good plans without a search. At the lowest offset where any
 * buffer fits, the descent places the buffer that comes first in an order of
 * attack, and repeats this, so that the arena fills from below. A few orders
 * find the minimum height for most networks.
 *
 * The filled area is a skyline over the sections. Only buffers whose sections
 * are within its lowest valley fit on the valley's floor; if there is none, the
 * valley is filled up to its lower edge. A tree over the points (first, last)
 * finds the first such buffer, so that a descent visits each buffer and each
 * valley once instead of all buffers at each step.
 */
#include "memory/plan/plan_points.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { WORK = 400000000 }; /* steps in all descents of a part */

/*
 * Orders of attack: a weighted sum of the logarithms of a buffer's lifetime,
 * its size and the maximum load during its life. A large weight makes the order
 * lexicographic.
 */
static const struct attack {
  int64_t load, width, size;
  bool fit; /* buffers that leave no gap come first */
} attacks[] = {
    {1 << 20, 1 << 10, 1, false},
    {1 << 20, 1, 1, false},
    {0, 1 << 10, 1, false},
    {1 << 20, 1 << 10, 1, true},
    {0, 1, 1, true},
    {1 << 20, 1, 1, true},
};

/* A stretch of sections of one height, identified by its first section. */
struct skyline_part {
  int32_t before, end; /* before: the preceding stretch, -1: none */
  int64_t height;
};

struct valley {
  int64_t height;
  int32_t begin;
};

struct skyline {
  struct plan_part *part;
  struct arena *arena;
  struct plan_points points;
  uint32_t *rank;  /* by item: its position in the order of attack */
  uint32_t *order; /* items by rank */
  struct skyline_part *stretches;
  VEC(struct valley) queue; /* a heap; some entries are outdated */
  int64_t *place;           /* output, by item */
  int64_t *greatest;        /* by item: the logarithm of its maximum load */
  bool fit;
};

/* The queue: lowest first. */

static bool is_lower(struct valley a, struct valley b) {
  return a.height < b.height || (a.height == b.height && a.begin < b.begin);
}

static void push(struct skyline *s, int32_t begin) {
  struct valley entry = {s->stretches[begin].height, begin};
  VEC_PUSH(s->arena, &s->queue);
  struct valley *queue = s->queue.at;
  size_t at = s->queue.count - 1;
  while (at > 0 && is_lower(entry, queue[(at - 1) / 2])) {
    queue[at] = queue[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  queue[at] = entry;
}

static struct valley pop(struct skyline *s) {
  struct valley *queue = s->queue.at, first = queue[0];
  struct valley entry = queue[--s->queue.count];
  size_t at = 0, count = s->queue.count;
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && is_lower(queue[child + 1], queue[child]))
      child++;
    if (!is_lower(queue[child], entry))
      break;
    queue[at] = queue[child];
  }
  queue[at] = entry;
  return first;
}

/* Sets a stretch; `height` is -1 where none begins. */

static void put_stretch(struct skyline *s, int32_t begin, int32_t end,
                        int32_t before, int64_t height) {
  s->stretches[begin] = (struct skyline_part){before, end, height};
  if (end < s->part->sections)
    s->stretches[end].before = begin;
}

/* Raises a stretch and merges it with neighbours of its new height. */
static void rise(struct skyline *s, int32_t begin, int64_t height) {
  struct skyline_part here = s->stretches[begin];
  int32_t next = here.end;
  if (next < s->part->sections && s->stretches[next].height == height) {
    here.end = s->stretches[next].end;
    s->stretches[next].height = -1;
  }
  if (here.before >= 0 && s->stretches[here.before].height == height) {
    s->stretches[begin].height = -1;
    begin = here.before;
    here.before = s->stretches[begin].before;
  }
  put_stretch(s, begin, here.end, here.before, height);
  push(s, begin);
}

/* The lower edge of a stretch. */
static int64_t edge(const struct skyline *s, const struct skyline_part *here) {
  int64_t left =
      here->before < 0 ? INT64_MAX : s->stretches[here->before].height;
  int64_t right = here->end == s->part->sections
                      ? INT64_MAX
                      : s->stretches[here->end].height;
  return min_i64(left, right);
}

/* Raises [first, last) of the valley's stretch and splits off the rest. */
static void build_on(struct skyline *s, int32_t begin, int32_t first,
                     int32_t last, int64_t top) {
  struct skyline_part here = s->stretches[begin];
  if (last < here.end) {
    put_stretch(s, last, here.end, first, here.height);
    push(s, last);
  }
  if (first > begin) {
    put_stretch(s, begin, first, here.before, here.height);
    push(s, begin);
    here.before = begin;
  }
  put_stretch(s, first, last, here.before, here.height);
  rise(s, first, top);
}

/* The rank of the buffer to place on a valley's floor, or PLAN_NOBODY. */
static uint32_t choose(struct skyline *s, int32_t begin, int32_t end) {
  uint32_t best = PLAN_NOBODY;
  if (s->fit) {
    best =
        plan_points_find(&s->points, (struct plan_box){begin, begin, end, end});
    if (best != PLAN_NOBODY)
      return best;
    uint32_t left = plan_points_find(
        &s->points, (struct plan_box){begin, begin, begin, end});
    uint32_t right =
        plan_points_find(&s->points, (struct plan_box){begin, end, end, end});
    best = left < right ? left : right;
    if (best != PLAN_NOBODY)
      return best;
  }
  return plan_points_find(&s->points,
                          (struct plan_box){begin, end, begin, end});
}

/* Places all buffers in that order while the plan is lower than the best. */
static void descend(struct skyline *s) {
  struct plan_part *part = s->part;
  int64_t height = 0;
  for (int32_t i = 0; i < part->sections; i++)
    s->stretches[i].height = -1;
  s->queue.count = 0;
  plan_points_fill(&s->points, s->rank);
  put_stretch(s, 0, part->sections, -1, 0);
  push(s, 0);
  for (size_t left = part->count; left > 0;) {
    struct valley low = pop(s);
    struct skyline_part *here = &s->stretches[low.begin];
    if (here->height != low.height)
      continue; /* it rose or was merged */
    uint32_t rank = choose(s, low.begin, here->end);
    if (rank == PLAN_NOBODY) {
      rise(s, low.begin, edge(s, here));
      continue;
    }
    uint32_t index = s->order[rank];
    const struct plan_item *item = &part->items[index];
    int64_t place = plan_align(low.height, item->align);
    if (place + item->size >= part->height)
      return;
    height = max_i64(height, place + item->size);
    s->place[index] = place;
    plan_points_remove(&s->points, index);
    build_on(s, low.begin, item->first, item->last, place + item->size);
    left--;
  }
  part->height = height;
  memcpy(part->best, s->place, part->count * sizeof *s->place);
}

struct scored {
  int64_t score;
  uint32_t item;
};

static int by_score(const void *a, const void *b) {
  const struct scored *x = a, *y = b;
  int order = compare_i64(y->score, x->score);
  return order ? order : compare_i64(x->item, y->item);
}

/* Finds each item's maximum load with a tree of maxima over the sections. */
static void find_greatest_loads(struct skyline *s) {
  const struct plan_part *part = s->part;
  size_t sections = (size_t)part->sections;
  int64_t *most = arena_alloc(s->arena, 2 * sections, sizeof *most);
  memcpy(most + sections, part->load, sections * sizeof *most);
  for (size_t i = sections; i-- > 1;)
    most[i] = max_i64(most[2 * i], most[2 * i + 1]);
  for (size_t i = 0; i < part->count; i++) {
    size_t a = sections + (size_t)part->items[i].first;
    size_t b = sections + (size_t)part->items[i].last;
    int64_t greatest = 0;
    for (; a < b; a /= 2, b /= 2) {
      if (a % 2)
        greatest = max_i64(greatest, most[a++]);
      if (b % 2)
        greatest = max_i64(greatest, most[--b]);
    }
    s->greatest[i] = plan_log2(greatest);
  }
}

/* The first orders are fixed, later ones are random. */
static void choose_order(struct skyline *s, size_t number,
                         struct scored *scored, uint64_t *random) {
  const struct plan_part *part = s->part;
  size_t fixed = sizeof attacks / sizeof *attacks;
  struct attack attack = attacks[number < fixed ? number : 0];
  uint64_t noise = 0;
  if (number >= fixed) {
    uint64_t draw = plan_random(random);
    attack = (struct attack){(int64_t)(draw % 4) * (int64_t)(draw >> 8 & 255),
                             (int64_t)(draw >> 16 & 255),
                             (int64_t)(draw >> 24 & 255), draw >> 32 & 1};
    noise = (draw >> 40 & 255) * 256 + 1;
  }
  for (size_t i = 0; i < part->count; i++) {
    const struct plan_item *item = &part->items[i];
    scored[i] = (struct scored){
        attack.load * s->greatest[i] +
            attack.width * plan_log2(item->last - item->first) +
            attack.size * plan_log2(item->size) +
            (noise ? (int64_t)(plan_random(random) % noise) : 0),
        (uint32_t)i};
  }
  qsort(scored, part->count, sizeof *scored, by_score);
  for (size_t i = 0; i < part->count; i++) {
    s->order[i] = scored[i].item;
    s->rank[scored[i].item] = (uint32_t)i;
  }
  s->fit = attack.fit;
}

void plan_skyline(struct arena *arena, struct plan_part *part, int64_t goal,
                  size_t most) {
  size_t n = part->count, sections = (size_t)part->sections;
  struct skyline s = {.part = part, .arena = arena};
  uint64_t random = 0x9E3779B97F4A7C15u;
  s.rank = arena_alloc(arena, n, sizeof *s.rank);
  s.order = arena_alloc(arena, n, sizeof *s.order);
  s.place = arena_alloc(arena, n, sizeof *s.place);
  s.greatest = arena_alloc(arena, n, sizeof *s.greatest);
  s.stretches = arena_alloc(arena, sections, sizeof *s.stretches);
  struct scored *scored = arena_alloc(arena, n, sizeof *scored);
  plan_points_open(&s.points, arena, part);
  find_greatest_loads(&s);
  for (size_t i = 0; i < most && part->height > goal; i++) {
    if (i > 0 && s.points.steps > WORK)
      break;
    choose_order(&s, i, scored, &random);
    descend(&s);
  }
}
