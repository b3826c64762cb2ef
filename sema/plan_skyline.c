/*
 * Skyline descents: good plans without a search. The lowest place that any
 * buffer could take is taken, again and again, by the buffer that the order of
 * attack puts first, so that the arena fills like a glass. A few orders find
 * the least height for most networks.
 *
 * A buffer's place is the greatest height over its sections. Heights only
 * grow, so the queue of buffers may hold places that are out of date: one that
 * comes up too low goes back with its present place.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "sema/planner.h"

enum {
  WORK = 40000000, /* steps of the queue, in all descents of a part */
  FEW = 8,         /* descents of a part that can be searched */
  MANY = 60,       /* and of one that cannot */
  TIES = 16,       /* buffers compared by how well they fit */
};

struct waiting {
  int64_t place;
  uint32_t rank; /* its place in the order of attack */
};

struct skyline {
  struct plan_part *part;
  uint32_t *order; /* items by rank */
  struct waiting *queue;
  size_t queued;
  size_t leaves;   /* of the tree over the sections, a power of two */
  int64_t *most;   /* the greatest height below a node */
  int64_t *covers; /* the greatest that was given to all below a node */
  int64_t *place;  /* out */
  int64_t steps;   /* left to spend */
  bool fit;        /* among equals, prefer who leaves no gap beside it */
};

/* The tree: greatest height over sections; a range rises to a height that is
   not below any in it, so nothing ever has to be pushed down. */

static int64_t height_over(const struct skyline *s, int32_t first,
                           int32_t last) {
  size_t a = s->leaves + (size_t)first, b = s->leaves + (size_t)last - 1;
  int64_t found = max_i64(s->most[a], s->most[b]);
  for (; a / 2 != b / 2; a /= 2, b /= 2) {
    if (a % 2 == 0)
      found = max_i64(found, s->most[a + 1]);
    if (b % 2 == 1)
      found = max_i64(found, s->most[b - 1]);
    found = max_i64(found, max_i64(s->covers[a / 2], s->covers[b / 2]));
  }
  for (a /= 2; a >= 1; a /= 2)
    found = max_i64(found, s->covers[a]);
  return found;
}

static void raise_over(struct skyline *s, int32_t first, int32_t last,
                       int64_t height) {
  size_t a = s->leaves + (size_t)first, b = s->leaves + (size_t)last - 1;
  s->most[a] = s->most[b] = s->covers[a] = s->covers[b] = height;
  for (; a / 2 != b / 2; a /= 2, b /= 2) {
    if (a % 2 == 0)
      s->most[a + 1] = s->covers[a + 1] = height;
    if (b % 2 == 1)
      s->most[b - 1] = s->covers[b - 1] = height;
    s->most[a / 2] = max_i64(s->most[a / 2], height);
    s->most[b / 2] = max_i64(s->most[b / 2], height);
  }
  for (a /= 2; a >= 1; a /= 2)
    s->most[a] = max_i64(s->most[a], height);
}

/* The queue: a heap, lowest place first, then lowest rank. */

static bool goes_before(struct waiting a, struct waiting b) {
  return a.place < b.place || (a.place == b.place && a.rank < b.rank);
}

static void sink(struct skyline *s, struct waiting entry) {
  size_t at = 0;
  for (size_t child; (child = 2 * at + 1) < s->queued; at = child) {
    if (child + 1 < s->queued &&
        goes_before(s->queue[child + 1], s->queue[child]))
      child++;
    if (!goes_before(s->queue[child], entry))
      break;
    s->queue[at] = s->queue[child];
  }
  s->queue[at] = entry;
}

static void push(struct skyline *s, struct waiting entry) {
  size_t at = s->queued++;
  while (at > 0 && goes_before(entry, s->queue[(at - 1) / 2])) {
    s->queue[at] = s->queue[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  s->queue[at] = entry;
}

static struct waiting pop(struct skyline *s) {
  struct waiting first = s->queue[0];
  if (--s->queued > 0)
    sink(s, s->queue[s->queued]);
  return first;
}

static const struct plan_item *item_of(const struct skyline *s,
                                       struct waiting entry) {
  return &s->part->items[s->order[entry.rank]];
}

/* Takes the first entry whose place is up to date; the queue is not empty. */
static struct waiting next(struct skyline *s) {
  for (;;) {
    struct waiting entry = s->queue[0];
    const struct plan_item *item = item_of(s, entry);
    int64_t place =
        plan_align(height_over(s, item->first, item->last), item->align);
    s->steps--;
    if (place == entry.place)
      return pop(s);
    sink(s, (struct waiting){place, entry.rank});
  }
}

/* How many of its sides stand against something higher. */
static int walls(const struct skyline *s, struct waiting entry) {
  const struct plan_item *item = item_of(s, entry);
  int32_t last = item->last;
  bool left = item->first == 0 ||
              height_over(s, item->first - 1, item->first) > entry.place;
  bool right =
      last == s->part->sections || height_over(s, last, last + 1) > entry.place;
  return left + right;
}

static struct waiting next_that_fits(struct skyline *s) {
  struct waiting ties[TIES];
  int count = 1, best = 0, most = -1;
  ties[0] = next(s);
  while (count < TIES && s->queued > 0 && s->queue[0].place == ties[0].place) {
    struct waiting other = next(s);
    if (other.place != ties[0].place) {
      push(s, other);
      break;
    }
    ties[count++] = other;
  }
  for (int i = 0; i < count; i++) {
    int touching = walls(s, ties[i]);
    if (touching > most) {
      most = touching;
      best = i;
    }
  }
  for (int i = 0; i < count; i++)
    if (i != best)
      push(s, ties[i]);
  return ties[best];
}

/* Places all in that order; false: not below the best plan so far. */
static bool descend(struct skyline *s) {
  const struct plan_part *part = s->part;
  int64_t height = 0;
  memset(s->most, 0, 2 * s->leaves * sizeof *s->most);
  memset(s->covers, 0, 2 * s->leaves * sizeof *s->covers);
  for (size_t i = 0; i < part->count; i++)
    s->queue[i] = (struct waiting){0, (uint32_t)i};
  s->queued = part->count;
  while (s->queued > 0) {
    struct waiting entry = s->fit ? next_that_fits(s) : next(s);
    const struct plan_item *item = item_of(s, entry);
    int64_t top = entry.place + item->size;
    if (top >= part->height)
      return false;
    height = max_i64(height, top);
    s->place[s->order[entry.rank]] = entry.place;
    raise_over(s, item->first, item->last, top);
  }
  s->part->height = height;
  memcpy(part->best, s->place, part->count * sizeof *s->place);
  return true;
}

/*
 * Orders of attack: the logarithms of a buffer's lifetime, its size and the
 * largest load during its life, weighted. A large weight makes the order
 * lexicographic.
 */
static const struct attack {
  int64_t load, width, size;
  bool fit;
} attacks[] = {
    {1 << 20, 1 << 10, 1, false},
    {1 << 20, 1, 1, false},
    {0, 1 << 10, 1, false},
    {1 << 20, 1 << 10, 1, true},
    {0, 1, 1, true},
    {1 << 20, 1, 1, true},
};

struct scored {
  int64_t score;
  uint32_t item;
};

static int by_score(const void *a, const void *b) {
  const struct scored *x = a, *y = b;
  if (x->score != y->score)
    return x->score > y->score ? -1 : 1;
  return x->item < y->item ? -1 : x->item > y->item;
}

/* The scores in `load` that an item's sections have at most. */
static void find_greatest_loads(const struct plan_part *part, struct skyline *s,
                                int64_t *greatest) {
  memset(s->most, 0, 2 * s->leaves * sizeof *s->most);
  memset(s->covers, 0, 2 * s->leaves * sizeof *s->covers);
  for (int32_t i = 0; i < part->sections; i++)
    s->most[s->leaves + (size_t)i] = part->load[i];
  for (size_t i = s->leaves - 1; i > 0; i--)
    s->most[i] = max_i64(s->most[2 * i], s->most[2 * i + 1]);
  for (size_t i = 0; i < part->count; i++)
    greatest[i] =
        plan_log2(height_over(s, part->items[i].first, part->items[i].last));
}

/* The first orders are fixed, those behind them are drawn. */
static void choose_order(struct skyline *s, size_t number,
                         const int64_t *greatest, struct scored *scored,
                         uint64_t *random) {
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
        attack.load * greatest[i] +
            attack.width * plan_log2(item->last - item->first) +
            attack.size * plan_log2(item->size) +
            (noise ? (int64_t)(plan_random(random) % noise) : 0),
        (uint32_t)i};
  }
  qsort(scored, part->count, sizeof *scored, by_score);
  for (size_t i = 0; i < part->count; i++)
    s->order[i] = scored[i].item;
  s->fit = attack.fit;
}

void plan_skyline(struct arena *arena, struct plan_part *part, int64_t goal) {
  size_t n = part->count;
  struct skyline s = {.part = part, .leaves = 2, .steps = WORK};
  uint64_t random = 0x9E3779B97F4A7C15u;
  while (s.leaves < (size_t)part->sections)
    s.leaves *= 2;
  s.order = arena_alloc(arena, n, sizeof *s.order);
  s.queue = arena_alloc(arena, n, sizeof *s.queue);
  s.place = arena_alloc(arena, n, sizeof *s.place);
  s.most = arena_alloc(arena, 2 * s.leaves, sizeof *s.most);
  s.covers = arena_alloc(arena, 2 * s.leaves, sizeof *s.covers);
  int64_t *greatest = arena_alloc(arena, n, sizeof *greatest);
  struct scored *scored = arena_alloc(arena, n, sizeof *scored);
  find_greatest_loads(part, &s, greatest);
  size_t most = n > PLAN_SEARCHED ? MANY : FEW;
  for (size_t i = 0; i < most && s.steps > 0 && part->height > goal; i++) {
    choose_order(&s, i, greatest, scored, &random);
    descend(&s);
  }
}
