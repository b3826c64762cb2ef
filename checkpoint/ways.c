/*
 * Ways: the cheapest choice of checkpoints that fits.
 *
 * From the front on, a number of ways lead to each cut between units. Each
 * holds so many bytes for backward, computes so many MACs again, and keeps
 * some of the tensors that lead over the cut. One that holds no more than
 * another, even with what only the other keeps, and computes no more leaves
 * that behind: whatever follows fits it, too. None else is left out, so that
 * the cheapest at the end is the cheapest of all.
 */
#include "checkpoint/ways.h"

#include "base/check.h"

/* A way to a cut. Bytes; the 16-bit weights of checkpoints are cached. */
struct way {
  int64_t held, cached, macs;
  const struct way *before;
  uint64_t kept; /* of the tensors over the cut: those that are held already */
  uint32_t cut;
  bool checkpointed; /* the last span of it */
};

/* Ways that keep the same, by what they hold. */
struct front {
  uint64_t kept;
  VEC(struct way) ways;
};

struct finding {
  struct ways *ways;
  const struct spans *spans;
  struct arena arena;
  struct {
    VEC(struct front) at;
  } * fronts; /* by cut */
  VEC(struct way) merged;
};

/* A span behind ways that keep the same. */
struct hop {
  size_t from, to;
  bool checkpointed;
  int64_t forward, backward; /* the most, beside what is held */
  int64_t holds, cached, macs;
  uint64_t kept; /* behind it */
};

/* What it adds to what is held, and what passes it unheld. */
static void cross(const struct spans *s, uint64_t kept, struct hop *hop) {
  uint64_t inside = span_bits(hop->from, hop->to);
  for (size_t i = 0; i < s->crossings.count; i++) {
    const struct crossing *c = &s->crossings.at[i];
    bool before = leads_over(c, hop->from);
    bool held = before && kept & span_bit(s, i, hop->from);
    bool keeps = hop->checkpointed ? before && c->uses & inside
                                   : (c->keeps & inside) != 0;
    if (before && !held && keeps)
      hop->holds += c->stored;
    else if (before && !held && c->uses >> hop->to && !c->packs)
      hop->forward += c->bytes;
    if (c->packs && keeps && hop->checkpointed)
      hop->backward += c->bytes; /* written out of groups */
    if (held || keeps)
      hop->kept |= span_bit(s, i, hop->to);
  }
}

/* The most of a unit's turns; what waits is not held by others. */
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

/* Of all that hold no more. Those that it leaves out are never needed; that
   it keeps one too many does no harm. */
static bool is_left_behind(const struct finding *f, const struct way *way) {
  enum { LOOKED_AT = 8 };
  for (size_t i = f->merged.count; i > 0 && i + LOOKED_AT > f->merged.count;
       i--) {
    const struct way *last = &f->merged.at[i - 1];
    if (last->macs <= way->macs &&
        last->held + last->cached <= way->held + way->cached)
      return true;
    if (way->cached == 0 && last->cached == 0)
      return false; /* it computes least of all */
  }
  return false;
}

static void add_way(struct finding *f, const struct way *way) {
  if (!is_left_behind(f, way))
    *VEC_PUSH(&f->arena, &f->merged) = *way;
}

/* So many may lead to a place; of more every second one is left out. */
static void limit_ways(struct finding *f) {
  enum { MOST_WAYS = 8192 };
  size_t count = f->merged.count, left = 0;
  for (size_t i = 0; i < count && count > MOST_WAYS; i++)
    if (i % 2 == 0 || i + 1 == count)
      f->merged.at[left++] = f->merged.at[i];
  if (count > MOST_WAYS)
    f->merged.count = left;
}

static bool holds_less(const struct way *a, const struct way *b) {
  return a->held < b->held || (a->held == b->held && a->macs < b->macs);
}

/* NULL: there would be too many of them. */
static struct front *front_of(struct finding *f, size_t cut, uint64_t kept) {
  enum { MOST_FRONTS = 4096 };
  for (size_t i = 0; i < f->fronts[cut].at.count; i++)
    if (f->fronts[cut].at.at[i].kept == kept)
      return &f->fronts[cut].at.at[i];
  if (f->fronts[cut].at.count == MOST_FRONTS)
    return NULL;
  struct front *front = VEC_PUSH(&f->arena, &f->fronts[cut].at);
  front->kept = kept;
  return front;
}

static bool goes_on(const struct finding *f, const struct way *way,
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

/* Ways of a front go on, among those that lead there otherwise. */
static void follow(struct finding *f, const struct front *from,
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
    if (!goes_on(f, &from->ways.at[i], hop, &way))
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

/* Bytes of what one front keeps over a cut, and another does not. */
static int64_t kept_more(const struct spans *s, size_t cut, uint64_t more) {
  int64_t bytes = 0;
  for (size_t i = 0; i < s->crossings.count; i++)
    if (more & span_bit(s, i, cut))
      bytes += max_i64(s->crossings.at[i].bytes, s->crossings.at[i].stored);
  return bytes;
}

/* Takes out ways that one of another front leaves behind. */
static void thin(struct finding *f, size_t cut, const struct front *by,
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

static void go_on_from(struct finding *f, size_t cut) {
  enum { MOST_PAIRS = 32 };
  const struct spans *s = f->spans;
  size_t count = f->fronts[cut].at.count;
  struct front *at = f->fronts[cut].at.at;
  for (size_t i = 0; i < count && count <= MOST_PAIRS; i++)
    for (size_t k = 0; k < count; k++)
      if (i != k)
        thin(f, cut, &at[i], &at[k]);
  for (size_t i = 0; i < count; i++) {
    struct hop hop = hop_of(s, cut, cut + 1, at[i].kept, false);
    follow(f, &at[i], &hop);
    for (size_t to = cut + 1; cut < s->units && to <= s->units; to++) {
      if (span_at(s, cut, to)->macs < 0)
        continue;
      hop = hop_of(s, cut, to, at[i].kept, true);
      follow(f, &at[i], &hop);
    }
  }
}

/* What was found */

/* Where a range begins, ends or stands: the unit. */
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

static void take(struct finding *f, const struct way *last) {
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

bool ways_find(struct ways *ways) {
  const struct spans *s = ways->spans;
  struct finding f = {.ways = ways, .spans = s};
  arena_open_in(&f.arena, ways->arena);
  f.fronts = arena_alloc(&f.arena, s->units + 2, sizeof *f.fronts);
  *VEC_PUSH(&f.arena, &front_of(&f, 0, 0)->ways) = (struct way){0};
  for (size_t cut = 0; cut <= s->units; cut++) {
    if (!ways->any)
      progress_tell(s->step->model->progress, "choosing checkpoints",
                    (int64_t)cut, (int64_t)s->units + 1);
    go_on_from(&f, cut);
  }
  const struct front *end = f.fronts[s->units + 1].at.at;
  bool found = f.fronts[s->units + 1].at.count > 0;
  if (found) /* the one that holds most computes least */
    take(&f, &end->ways.at[end->ways.count - 1]);
  arena_close(&f.arena);
  return found;
}
