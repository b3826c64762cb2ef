/*
 * Overlaps: a plan in which some pairs of buffers share bytes, because one is
 * read row by row while the other is written. Starts at the moment with the
 * most bytes and continues with the next fullest. Each buffer is placed at the
 * bottom, the ceiling or a neighbour. The search backtracks until its effort is
 * spent.
 */
#include "memory/plan/plan_overlap.h"

#include "base/check.h"

enum {
  MOST_BUFFERS = 1000,
  EFFORT = 4000, /* placements per ceiling */
  CEILINGS = 8,  /* tried between the bound and the current plan */
};

struct overlapping {
  const struct plan_buffer *buffers;
  const struct plan_options *options;
  size_t count;
  size_t *order;   /* buffers with a lifetime, in the order of placing */
  size_t placed;   /* number of these that are placed */
  int64_t *offset; /* by buffer, if placed */
  int64_t *size;   /* by buffer, rounded up to the alignment */
  int64_t *load;   /* by buffer: maximum bytes in memory during its life */
  const struct plan_overlap **made; /* by buffer: the overlap as it begins, */
  const struct plan_overlap **read; /* and as it ends; NULL: none */
  int64_t ceiling;
  int64_t effort;
};

static bool lives(const struct plan_buffer *b) {
  return b->size > 0 && b->lower < b->upper;
}

static bool meet(const struct plan_buffer *a, const struct plan_buffer *b) {
  return a->lower < b->upper && b->lower < a->upper;
}

int64_t plan_overlap_bytes(const struct plan_overlap *o, int64_t read,
                           int64_t made) {
  int64_t below = max_i64(o->below + read, made);
  int64_t above = max_i64(o->above + made, read);
  return min_i64(min_i64(below, above), read + made);
}

/* Finds the open interval (*low, *high) of `at` that `other` excludes. */
static void forbidden(const struct overlapping *p, size_t at, size_t other,
                      int64_t *low, int64_t *high) {
  const struct plan_overlap *made = p->made[at], *read = p->read[at];
  int64_t below = p->size[at], above = p->size[other];
  if (made && made->read == other) {
    below = min_i64(below, made->below);
    above = min_i64(above, made->above);
  } else if (read && read->made == other) {
    below = min_i64(below, read->above);
    above = min_i64(above, read->below);
  }
  *low = p->offset[other] - below;
  *high = p->offset[other] + above;
}

static bool fits(const struct overlapping *p, size_t at, int64_t offset) {
  if (offset < 0 || offset > p->ceiling - p->size[at])
    return false;
  for (size_t i = 0; i < p->placed; i++) {
    size_t other = p->order[i];
    int64_t low, high;
    if (!meet(&p->buffers[at], &p->buffers[other]))
      continue;
    forbidden(p, at, other, &low, &high);
    if (low < offset && offset < high)
      return false;
  }
  return true;
}

static int64_t align_of(const struct overlapping *p) {
  return p->options->align > 1 ? p->options->align : 1;
}

static int64_t round_down(const struct overlapping *p, int64_t offset) {
  return offset < 0 ? -1 : offset / align_of(p) * align_of(p);
}

static int64_t round_up(const struct overlapping *p, int64_t offset) {
  return offset < 0 ? 0 : ceil_div_i64(offset, align_of(p)) * align_of(p);
}

static bool place_next(struct overlapping *p);

static bool try_at(struct overlapping *p, size_t at, int64_t offset) {
  if (p->effort-- <= 0 || !fits(p, at, offset))
    return false;
  p->offset[at] = offset;
  p->placed++;
  if (place_next(p))
    return true;
  p->placed--;
  return false;
}

/* Places the rest, or nothing; recursion depth is at most MOST_BUFFERS. */
static bool place_next(struct overlapping *p) {
  int64_t low, high;
  if (p->placed == p->count)
    return true;
  size_t at = p->order[p->placed], before = p->placed;
  if (try_at(p, at, 0) ||
      try_at(p, at, round_down(p, p->ceiling - p->size[at])))
    return true;
  for (size_t i = before; i-- > 0 && p->effort > 0;) {
    if (!meet(&p->buffers[at], &p->buffers[p->order[i]]))
      continue;
    forbidden(p, at, p->order[i], &low, &high);
    if (try_at(p, at, round_up(p, high)) || try_at(p, at, round_down(p, low)))
      return true;
  }
  return false;
}

/* Lower bound of the bytes in memory at `moment`. */
static int64_t load_at(const struct overlapping *p, int64_t moment) {
  int64_t load = 0;
  for (size_t i = 0; i < p->count; i++) {
    size_t at = p->order[i];
    const struct plan_overlap *o = p->made[at];
    const struct plan_buffer *b = &p->buffers[at];
    if (moment < b->lower || b->upper <= moment)
      continue;
    load += p->size[at];
    if (o && b->lower == moment)
      load -= p->size[at] + p->size[o->read] -
              plan_overlap_bytes(o, p->size[o->read], p->size[at]);
  }
  return load;
}

/* Lower bound of the peak; also finds the load of each buffer. */
static int64_t find_loads(struct overlapping *p) {
  int64_t most = 0;
  for (size_t i = 0; i < p->count; i++) {
    int64_t moment = p->buffers[p->order[i]].lower, load = load_at(p, moment);
    most = max_i64(most, load);
    for (size_t k = 0; k < p->count; k++) {
      size_t at = p->order[k];
      const struct plan_buffer *b = &p->buffers[at];
      if (b->lower <= moment && moment < b->upper)
        p->load[at] = max_i64(p->load[at], load);
    }
  }
  return most;
}

/* Fullest moments first; among equals, the largest buffers. */
static bool comes_before(const struct overlapping *p, size_t a, size_t b) {
  if (p->load[a] != p->load[b])
    return p->load[a] > p->load[b];
  return p->size[a] != p->size[b] ? p->size[a] > p->size[b] : a < b;
}

static void find_order(struct overlapping *p) {
  for (size_t i = 1; i < p->count; i++) {
    size_t at = p->order[i], k = i;
    for (; k > 0 && comes_before(p, at, p->order[k - 1]); k--)
      p->order[k] = p->order[k - 1];
    p->order[k] = at;
  }
}

static bool try_ceiling(struct overlapping *p, int64_t ceiling) {
  p->ceiling = ceiling;
  p->placed = 0;
  p->effort = EFFORT;
  return place_next(p);
}

/* Tries increasing ceilings below the height; keeps the first plan. */
static bool lower_ceiling(struct overlapping *p, int64_t bound,
                          int64_t height) {
  for (int i = 0; i < CEILINGS; i++) {
    int64_t step = (height - bound) / CEILINGS * i;
    int64_t ceiling = round_up(p, bound + step);
    if (ceiling >= height)
      return false;
    if (try_ceiling(p, ceiling))
      return true;
  }
  return false;
}

static void take(struct overlapping *p, struct plan_buffer *buffers,
                 struct plan *plan) {
  plan->height = 0;
  for (size_t i = 0; i < p->count; i++) {
    size_t at = p->order[i];
    buffers[at].offset = p->offset[at];
    plan->height = max_i64(plan->height, p->offset[at] + p->size[at]);
  }
}

static void begin(struct overlapping *p, struct arena *arena, size_t count) {
  p->order = arena_alloc(arena, count + 1, sizeof *p->order);
  p->offset = arena_alloc(arena, count + 1, sizeof *p->offset);
  p->size = arena_alloc(arena, count + 1, sizeof *p->size);
  p->load = arena_alloc(arena, count + 1, sizeof *p->load);
  p->made = arena_alloc(arena, count + 1, sizeof *p->made);
  p->read = arena_alloc(arena, count + 1, sizeof *p->read);
  for (size_t i = 0; i < count; i++) {
    if (!lives(&p->buffers[i]))
      continue;
    p->order[p->count++] = i;
    p->size[i] = round_up(p, p->buffers[i].size);
  }
  for (size_t i = 0; i < p->options->overlap_count; i++) {
    const struct plan_overlap *o = &p->options->overlaps[i];
    if (!lives(&p->buffers[o->made]) || !lives(&p->buffers[o->read]))
      continue;
    p->made[o->made] = o;
    p->read[o->read] = o;
  }
}

void plan_overlap(struct arena *arena, struct plan_buffer *buffers,
                  size_t count, const struct plan_options *options,
                  struct plan *plan) {
  struct overlapping p = {.buffers = buffers, .options = options};
  if (count > MOST_BUFFERS)
    return;
  begin(&p, arena, count);
  plan->lower_bound = find_loads(&p);
  find_order(&p);
  if (plan->height > plan->lower_bound &&
      lower_ceiling(&p, plan->lower_bound, plan->height))
    take(&p, buffers, plan);
  plan->optimal = plan->height == plan->lower_bound;
}
