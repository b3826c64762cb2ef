/*
 * Cut: the layers of each part of a pipeline.
 *
 * Sources: Megatron-LM's megatron/core/transformer/transformer_block.py
 * (get_num_layers_to_build), torchtitan's generate_split_points of December
 * 2024.
 */
#include "memory/devices/cut.h"

#include "base/check.h"

/*
 * Default number of blocks in part `part`: equal, with the remainder one each
 * to the stages from the second one on. The first stage gets one only if all
 * but the last do: Megatron-LM counts an embedding and a loss as layers
 * (--account-for-embedding-in-pipeline-split, ..-loss-..), and torchtitan
 * splits so (generate_split_points).
 */
static int64_t turns_of_part(int64_t turns, int64_t parts, int64_t part) {
  int64_t rest = turns % parts;
  bool more = rest == parts - 1 ? part < rest : part > 0 && part <= rest;
  return turns / parts + more;
}

/* By work */

/* Places from 0 to `count`; the first is 0, the last is the end of the net. */
struct work_search {
  const double *at; /* work before each place */
  int64_t count;
  double least;   /* minimized maximum of a part */
  int64_t *needs; /* by place: parts needed from there on */
};

/* Number of parts of at most `most` work; count + 1 if a place exceeds it. */
static int64_t parts_of(const struct work_search *w, double most) {
  int64_t parts = 1;
  double from = w->at[0];
  for (int64_t i = 1; i <= w->count; i++) {
    if (w->at[i] - from <= most)
      continue;
    from = w->at[i - 1];
    parts++;
    if (w->at[i] - from > most)
      return w->count + 1;
  }
  return parts;
}

static void find_least(struct work_search *w, int64_t parts) {
  enum { ROUNDS = 64 };
  double low = 0, high = w->at[w->count];
  for (int i = 0; i < ROUNDS; i++) {
    double middle = low + (high - low) / 2;
    if (parts_of(w, middle) <= parts)
      high = middle;
    else
      low = middle;
  }
  w->least = high;
}

static void find_needs(struct work_search *w) {
  int64_t next = w->count;
  w->needs[w->count] = 0;
  for (int64_t i = w->count; i-- > 0;) {
    while (w->at[next] - w->at[i] > w->least)
      next--;
    w->needs[i] = w->needs[next] + 1;
  }
}

/* The end of a part, as near as possible to the mean of the remaining parts. */
static int64_t end_of_part(const struct work_search *w, int64_t from,
                           int64_t left) {
  double goal = w->at[from] + (w->at[w->count] - w->at[from]) / (double)left;
  int64_t best = 0;
  for (int64_t to = from + 1;
       to <= w->count - (left - 1) && w->at[to] - w->at[from] <= w->least;
       to++) {
    double off = w->at[to] - goal, least = best ? w->at[best] - goal : 0;
    if (w->needs[to] <= left - 1 &&
        (!best || (off < 0 ? -off : off) < (least < 0 ? -least : least)))
      best = to;
  }
  return best ? best : from + 1;
}

bool cut_by_work(const struct cuts *places, const double *before, int64_t end,
                 int64_t parts, struct arena *arena, struct cuts *cuts) {
  int64_t count = (int64_t)places->at.count + 1, from = 0;
  double *at = arena_alloc(arena, (size_t)count + 1, sizeof *at);
  struct work_search w = {.at = at, .count = count};
  if (count < parts)
    return false;
  w.needs = arena_alloc(arena, (size_t)count + 1, sizeof *w.needs);
  for (int64_t i = 1; i < count; i++)
    at[i] = before[places->at.at[i - 1]];
  at[count] = before[end];
  find_least(&w, parts);
  find_needs(&w);
  for (int64_t left = parts; left > 1; left--) {
    from = end_of_part(&w, from, left);
    *VEC_PUSH(arena, &cuts->at) = places->at.at[from - 1];
  }
  return true;
}

double *cut_macs_before(const struct model *model, struct arena *arena) {
  double *before = arena_alloc(arena, model->nodes.count + 1, sizeof *before);
  for (size_t i = 0; i < model->nodes.count; i++)
    before[i + 1] =
        before[i] + (double)model_cost(model, (int64_t)i)->train_macs;
  return before;
}

/* By blocks */

/* Of each part as given, or NULL: as many each. */
static void cut_at_turns(const struct node_turns *r, const int64_t *given,
                         int64_t parts, struct arena *arena,
                         struct cuts *cuts) {
  int64_t turn = 0;
  for (int64_t part = 0; part + 1 < parts; part++) {
    turn += given ? given[part] : turns_of_part(r->count, parts, part);
    *VEC_PUSH(arena, &cuts->at) = r->first + turn * r->length;
  }
}

bool cut_is_given(const struct net_borders *borders,
                  const struct turn_list *given, int64_t parts) {
  const struct node_turns *r = &borders->repeated;
  const struct cuts *single = &borders->single;
  int64_t turns = 0, last = 0;
  size_t next = 0;
  if (given->count != parts || r->count == 0)
    return false;
  for (int64_t i = 0; i + 1 < parts; i++) {
    turns = min_i64(turns + given->at[i], r->count);
    int64_t at = r->first + turns * r->length;
    while (next < single->at.count && single->at.at[next] < at)
      next++;
    if (at <= last || next == single->at.count || single->at.at[next] != at)
      return false;
    last = at;
  }
  return turns + given->at[parts - 1] == r->count;
}

bool cut_has_turns(const struct model *model, const struct net_borders *borders,
                   const struct train_settings *train) {
  int64_t parts = train->pipeline * stage_parts(train);
  const struct node_turns *r = &borders->repeated;
  if (train->cut == CUT_TURNS && cut_is_given(borders, train->turns, parts))
    return true;
  return (train->cut == CUT_TURNS || train->cut == CUT_LAYERS) &&
         borders_by_turns(r, parts, (int64_t)model->nodes.count);
}

void cut_find(const struct model *model, const struct net_borders *borders,
              const struct train_settings *train, struct arena *arena,
              struct cuts *cuts) {
  int64_t parts = train->pipeline * stage_parts(train);
  int64_t end = (int64_t)model->nodes.count;
  const struct node_turns *r = &borders->repeated;
  bool given =
      train->cut == CUT_TURNS && cut_is_given(borders, train->turns, parts);
  if (cut_has_turns(model, borders, train)) {
    cut_at_turns(r, given ? train->turns->at : NULL, parts, arena, cuts);
    return;
  }
  const double *macs = cut_macs_before(model, arena);
  bool inside = train->cut == CUT_MACS;
  if ((inside ||
       !cut_by_work(&borders->outer, macs, end, parts, arena, cuts)) &&
      !cut_by_work(inside ? &borders->single : &borders->apart, macs, end,
                   parts, arena, cuts))
    *cuts = inside ? borders->single : borders->apart;
}
