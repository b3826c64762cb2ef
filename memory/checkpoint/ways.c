/*
 * Ways: the cheapest choice of checkpoints that fits.
 *
 * From the front on, several ways lead to each cut between units. Each holds
 * bytes for backward, recomputes MACs, and keeps some of the tensors that cross
 * the cut. A way dominates another if it recomputes no more and holds no more,
 * even including the tensors that only the other keeps: then every continuation
 * of the other fits it, too. Ways are also dropped if no continuation that fits
 * is as cheap as a known result. So the cheapest way at the end is the cheapest
 * of all.
 */
#include "memory/checkpoint/ways.h"

#include "base/check.h"

/* A way to a cut. Bytes; the 16-bit weights of checkpoints are cached. */
struct way {
  int64_t held, cached, macs;
  const struct way *before;
  uint64_t kept; /* tensors over the cut that are held already */
  uint32_t cut;
  bool checkpointed; /* its last span */
};

/* Ways that keep the same tensors, ordered by held bytes. */
struct front {
  uint64_t kept;
  VEC(struct way) ways;
  int64_t *ahead; /* by level; NULL: not computed */
};

struct way_finding {
  struct ways *ways;
  const struct spans *spans;
  struct arena arena;
  struct {
    VEC(struct front) at;
  } * fronts; /* by cut */
  VEC(struct way) merged;
  size_t most_ways; /* per front */
  bool limited;     /* some fronts had more */
  int64_t most_macs;
  size_t levels; /* of MACs still to be recomputed */
  int64_t level; /* MACs per level */
};

/* A span after ways that keep the same tensors. */
struct hop {
  size_t from, to;
  bool checkpointed;
  int64_t forward, backward; /* peaks on top of held bytes */
  int64_t holds, cached, macs;
  uint64_t kept; /* after it */
};

/* Adds the bytes that a hop holds, and those that cross it unheld. */
static void cross(const struct spans *s, uint64_t kept, struct hop *hop) {
  uint64_t inside = span_bits(hop->from, hop->to);
  for (size_t k = s->first_over[hop->from]; k < s->first_over[hop->from + 1];
       k++) {
    size_t i = s->over[k];
    const struct span_crossing *c = &s->crossings.at[i];
    bool before = leads_over(c, hop->from);
    bool held = before && kept & span_bit(s, i, hop->from);
    bool keeps = hop->checkpointed ? before && c->uses & inside
                                   : (c->keeps & inside) != 0;
    if (before && !held && keeps)
      hop->holds += c->stored;
    else if (before && !held && c->uses >> hop->to && !c->packs)
      hop->forward += c->bytes;
    if (c->packs && keeps && hop->checkpointed)
      hop->backward += c->bytes; /* the unpacked copy */
    if (held || keeps)
      hop->kept |= span_bit(s, i, hop->to);
  }
}

/* Peak of a unit's parts, with waiting tensors that no other unit holds. */
static int64_t most_of_turns(const struct spans *s, const struct turn *turns,
                             size_t at, uint64_t kept) {
  int64_t waits = 0, most = 0;
  const struct turn *t = turns;
  for (; t->crossing != SIZE_MAX; t++)
    waits += kept & span_bit(s, t->crossing, at) ? 0 : t->goes;
  for (t = turns;; t++) {
    if (t->bytes >= 0)
      most = max_i64(most, t->bytes + waits);
    if (t->crossing == SIZE_MAX)
      return most;
    waits -= kept & span_bit(s, t->crossing, at) ? 0 : t->goes;
  }
}

static struct hop hop_of(const struct spans *s, size_t from, size_t to,
                         uint64_t kept, bool checkpointed) {
  struct hop hop = {.from = from, .to = to, .checkpointed = checkpointed};
  cross(s, kept, &hop);
  hop.forward += s->outputs[from] + hop.holds;
  if (checkpointed) {
    const struct span_cost *cost = span_at(s, from, to);
    hop.forward += cost->forward;
    hop.backward += hop.holds + cost->backward;
    hop.cached = cost->cached;
    hop.macs = cost->macs;
  } else {
    const struct unit_cost *cost = &s->alone[from];
    const struct turn *turns = s->turns.at;
    hop.forward += most_of_turns(s, turns + cost->forward, from, kept);
    hop.backward += most_of_turns(s, turns + cost->backward, from, kept);
    hop.holds += cost->holds;
  }
  return hop;
}

/* Fronts */

/* True if a way that holds no more dominates this one; may miss some. */
static bool is_left_behind(const struct way_finding *f, const struct way *way) {
  enum { LOOKED_AT = 8 };
  for (size_t i = f->merged.count; i > 0 && i + LOOKED_AT > f->merged.count;
       i--) {
    const struct way *last = &f->merged.at[i - 1];
    if (last->macs <= way->macs &&
        last->held + last->cached <= way->held + way->cached)
      return true;
    if (way->cached == 0 && last->cached == 0)
      return false; /* it recomputes the fewest MACs */
  }
  return false;
}

static void add_way(struct way_finding *f, const struct way *way) {
  if (!is_left_behind(f, way))
    *VEC_PUSH(&f->arena, &f->merged) = *way;
}

/* Limits the ways to a place; drops every second one if there are more. */
static void limit_ways(struct way_finding *f) {
  size_t count = f->merged.count, left = 0;
  if (count <= f->most_ways)
    return;
  for (size_t i = 0; i < count; i++)
    if (i % 2 == 0 || i + 1 == count)
      f->merged.at[left++] = f->merged.at[i];
  f->merged.count = left;
  f->limited = true;
}

static bool holds_less(const struct way *a, const struct way *b) {
  return a->held < b->held || (a->held == b->held && a->macs < b->macs);
}

static struct front *known_front(const struct way_finding *f, size_t cut,
                                 uint64_t kept) {
  for (size_t i = 0; i < f->fronts[cut].at.count; i++)
    if (f->fronts[cut].at.at[i].kept == kept)
      return &f->fronts[cut].at.at[i];
  return NULL;
}

/* Finds or adds a front; NULL: there are too many. */
static struct front *front_of(struct way_finding *f, size_t cut,
                              uint64_t kept) {
  enum { MOST_FRONTS = 4096 };
  struct front *front = known_front(f, cut, kept);
  if (front || f->fronts[cut].at.count == MOST_FRONTS)
    return front;
  front = VEC_PUSH(&f->arena, &f->fronts[cut].at);
  front->kept = kept;
  return front;
}

/* True if no way with these bytes can reach the end, or none with as few MACs
 * as a known result. */
static bool leads_nowhere(const struct way_finding *f,
                          const struct front *front, const struct way *way) {
  return front->ahead &&
         (way->macs > f->most_macs ||
          front->ahead[(f->most_macs - way->macs) / f->level] < way->held);
}

static bool goes_on(const struct way_finding *f, const struct way *way,
                    const struct hop *hop, struct way *next) {
  int64_t budget = f->ways->budget;
  *next = (struct way){.held = way->held + hop->holds,
                       .cached = way->cached + hop->cached,
                       .macs = way->macs + (f->ways->any ? 0 : hop->macs),
                       .before = way,
                       .kept = hop->kept,
                       .cut = (uint32_t)hop->to,
                       .checkpointed = hop->checkpointed};
  return way->held + way->cached + hop->forward <= budget &&
         way->held + hop->backward <= budget;
}

/* Extends the ways of a front by a hop and merges them with others there. */
static void follow(struct way_finding *f, struct front *from,
                   const struct hop *hop) {
  struct way way;
  size_t known = 0, first = 0, count = from->ways.count;
  while (first < count && !goes_on(f, &from->ways.at[first], hop, &way))
    first++;
  if (first == count)
    return;
  struct front *to = front_of(f, hop->to, hop->kept);
  if (!to)
    return;
  f->merged.count = 0;
  for (size_t i = first; i < count; i++) {
    if (!goes_on(f, &from->ways.at[i], hop, &way) || leads_nowhere(f, to, &way))
      continue;
    while (known < to->ways.count && holds_less(&to->ways.at[known], &way))
      add_way(f, &to->ways.at[known++]);
    add_way(f, &way);
  }
  while (known < to->ways.count)
    add_way(f, &to->ways.at[known++]);
  limit_ways(f);
  to->ways.count = 0;
  for (size_t i = 0; i < f->merged.count; i++)
    *VEC_PUSH(&f->arena, &to->ways) = f->merged.at[i];
}

/* Bytes that one front keeps over a cut and another does not. */
static int64_t kept_more(const struct spans *s, size_t cut, uint64_t more) {
  int64_t bytes = 0;
  for (size_t i = 0; i < s->crossings.count; i++)
    if (more & span_bit(s, i, cut))
      bytes += max_i64(s->crossings.at[i].bytes, s->crossings.at[i].stored);
  return bytes;
}

/* Removes ways that a way of another front dominates. */
static void thin(struct way_finding *f, size_t cut, const struct front *by,
                 struct front *front) {
  int64_t more = kept_more(f->spans, cut, front->kept & ~by->kept);
  size_t left = 0, last = 0;
  for (size_t i = 0; i < front->ways.count; i++) {
    const struct way *way = &front->ways.at[i];
    while (last < by->ways.count && by->ways.at[last].held + more <= way->held)
      last++;
    const struct way *best = last ? &by->ways.at[last - 1] : NULL;
    if (!best || best->macs > way->macs ||
        best->held + more + best->cached > way->held + way->cached)
      front->ways.at[left++] = *way;
  }
  front->ways.count = left;
}

typedef void hop_fn(struct way_finding *f, struct front *from,
                    const struct hop *hop);

/* Calls `then` for all hops from a front. */
static void each_hop(struct way_finding *f, size_t cut, struct front *from,
                     hop_fn *then) {
  const struct spans *s = f->spans;
  struct hop hop = hop_of(s, cut, cut + 1, from->kept, false);
  then(f, from, &hop);
  for (size_t to = cut + 1; cut < s->units && to <= s->units; to++) {
    if (span_at(s, cut, to)->macs < 0)
      continue;
    hop = hop_of(s, cut, to, from->kept, true);
    then(f, from, &hop);
  }
}

static void go_on_from(struct way_finding *f, size_t cut) {
  enum { MOST_PAIRS = 32 };
  size_t count = f->fronts[cut].at.count;
  struct front *at = f->fronts[cut].at.at;
  for (size_t i = 0; i < count && count <= MOST_PAIRS; i++)
    for (size_t k = 0; k < count; k++)
      if (i != k)
        thin(f, cut, &at[i], &at[k]);
  for (size_t i = 0; i < count; i++)
    if (at[i].ways.count)
      each_hop(f, cut, &at[i], follow);
}

/* Bounds from the end */

/* The first level with room for `bytes`; more levels never have less. */
static size_t first_room(const int64_t *ahead, size_t levels, int64_t bytes) {
  size_t low = 0, high = ahead ? levels : 0;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (ahead[middle] >= bytes)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* Raises the bytes that may be held before a hop, from those after it. Both are
 * upper bounds: cached bytes and fractions of levels are ignored. */
static void look_over(struct way_finding *f, struct front *from,
                      const struct hop *hop) {
  const struct front *to = known_front(f, hop->to, hop->kept);
  const int64_t *ahead = to ? to->ahead : NULL;
  int64_t most = f->ways->budget - max_i64(hop->forward, hop->backward);
  size_t up = (size_t)((f->ways->any ? 0 : hop->macs) / f->level);
  if (most < 0)
    return;
  for (size_t i = up + first_room(ahead, f->levels, hop->holds); i < f->levels;
       i++) {
    int64_t held = ahead ? min_i64(ahead[i - up] - hop->holds, most) : most;
    from->ahead[i] = max_i64(from->ahead[i], held);
  }
}

/*
 * From the end back, finds the maximum bytes that a way to each front may hold
 * to reach the end within each level of recomputed MACs.
 */
static void look_ahead(struct way_finding *f) {
  enum { MOST_LEVELS = 256, MOST_ENTRIES = 1 << 20 };
  const struct spans *s = f->spans;
  size_t fronts = 0;
  for (size_t cut = 0; cut <= s->units; cut++)
    fronts += f->fronts[cut].at.count;
  f->levels = fronts * MOST_LEVELS < MOST_ENTRIES ? MOST_LEVELS
                                                  : MOST_ENTRIES / fronts + 1;
  f->level = f->most_macs / (int64_t)f->levels + 1;
  for (size_t cut = s->units + 1; cut-- > 0;) /* except the end */
    for (size_t i = 0; i < f->fronts[cut].at.count; i++) {
      struct front *front = &f->fronts[cut].at.at[i];
      front->ahead = arena_alloc(&f->arena, f->levels, sizeof *front->ahead);
      for (size_t k = 0; k < f->levels; k++)
        front->ahead[k] = -1;
      each_hop(f, cut, front, look_over);
      for (size_t k = 1; k < f->levels; k++)
        front->ahead[k] = max_i64(front->ahead[k], front->ahead[k - 1]);
    }
}

/* Results */

/* The unit at which a range begins, ends or is. */
static size_t unit_at(const struct spans *s, int64_t node) {
  size_t unit = 0;
  while (s->cut[unit] < node)
    unit++;
  return unit;
}

int64_t ways_most(const struct spans *s, const struct node_range *ranges,
                  size_t count) {
  int64_t held = 0, cached = 0, most = 0;
  uint64_t kept = 0;
  for (size_t at = 0, next = 0; at <= s->units;) {
    bool checkpointed = next < count && ranges[next].first == s->cut[at];
    size_t to = checkpointed ? unit_at(s, ranges[next++].end) : at + 1;
    struct hop hop = hop_of(s, at, to, kept, checkpointed);
    most = max_i64(most, held + max_i64(hop.backward, hop.forward + cached));
    held += hop.holds;
    cached += hop.cached;
    kept = hop.kept;
    at = to;
  }
  return most;
}

static void take(struct way_finding *f, const struct way *last) {
  struct ways *ways = f->ways;
  const struct spans *s = f->spans;
  size_t count = 0;
  for (const struct way *way = last; way->before; way = way->before)
    count += way->checkpointed;
  ways->ranges = arena_alloc(ways->arena, count + 1, sizeof *ways->ranges);
  ways->count = count;
  for (const struct way *way = last; way->before; way = way->before)
    if (way->checkpointed)
      ways->ranges[--count] =
          (struct node_range){s->cut[way->before->cut], s->cut[way->cut]};
  ways->macs = last->macs;
  ways->most = ways_most(s, ways->ranges, ways->count);
}

/* False: no way leads to the end. */
static bool go_to_end(struct way_finding *f) {
  const struct spans *s = f->spans;
  const struct way start = {0};
  for (size_t cut = 0; cut <= s->units + 1; cut++)
    for (size_t i = 0; i < f->fronts[cut].at.count; i++)
      f->fronts[cut].at.at[i].ways.count = 0;
  *VEC_PUSH(&f->arena, &front_of(f, 0, 0)->ways) = start;
  for (size_t cut = 0; cut <= s->units; cut++) {
    if (!f->ways->any)
      progress_tell(s->step->model->progress, "choosing checkpoints",
                    (int64_t)cut, (int64_t)s->units + 1);
    go_on_from(f, cut);
  }
  const struct front *end = known_front(f, s->units + 1, 0);
  if (!end || !end->ways.count)
    return false;
  /* Takes the one that holds most among those with the fewest MACs: not always
   * the last, as others may have less cached. */
  const struct way *best = &end->ways.at[0];
  for (size_t i = 1; i < end->ways.count; i++)
    if (end->ways.at[i].macs <= best->macs)
      best = &end->ways.at[i];
  if (best->macs <= f->most_macs)
    take(f, best);
  return true;
}

/*
 * Starts with few ways per front. If there are more, the result is a bound:
 * ways that cannot be as cheap at the end are dropped.
 */
bool ways_find(struct ways *ways) {
  enum { FEW_WAYS = 64, MOST_WAYS = 8192 };
  const struct spans *s = ways->spans;
  struct way_finding f = {.ways = ways, .spans = s};
  f.most_ways = ways->few ? ways->few : FEW_WAYS;
  arena_open_in(&f.arena, ways->arena);
  f.fronts = arena_alloc(&f.arena, s->units + 2, sizeof *f.fronts);
  f.most_macs = INT64_MAX;
  bool found = go_to_end(&f);
  if (f.limited) {
    /* Otherwise everything is checkpointed. */
    f.most_macs = found ? ways->macs : span_at(s, 0, s->units)->macs;
    f.most_ways = MOST_WAYS;
    look_ahead(&f);
    found |= go_to_end(&f);
  }
  arena_close(&f.arena);
  return found;
}
