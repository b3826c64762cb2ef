/* Search: the tape that one of several devices runs, and its cuts. */
#include "memory/devices/chain.h"

#include <string.h>

#include "base/check.h"
#include "memory/devices/cut.h"

enum {
  MOST_UNITS = 64,    /* of a pipeline's cut */
  MOST_OPS = 1 << 15, /* of all remembered tapes, about 1 KB each */
};

/* A cut of a tape. */
struct tape_cut {
  struct alike alike;
  const size_t *far;
  const int64_t *cut;
  size_t units;
  struct tape_cut *next;
};

/* A tape kept for other searches, whose settings do not change it. */
struct tape_known {
  struct train_settings asked; /* before types are chosen */
  struct step own;
  struct shards shards;
  const struct value_sums *sums;
  bool *expert, *dense;
  bool overflow;
  struct tape_cut *cuts;
  struct tape_known *next;
};

/* Cuts */

static void add_cuts(struct cuts *cuts, const struct cuts *more,
                     struct arena *arena) {
  struct cuts known = *cuts;
  size_t i = 0, k = 0;
  *cuts = (struct cuts){0};
  while (i < known.at.count || k < more->at.count) {
    int64_t a = i < known.at.count ? known.at.at[i] : INT64_MAX;
    int64_t b = k < more->at.count ? more->at.at[k] : INT64_MAX;
    *VEC_PUSH(arena, &cuts->at) = min_i64(a, b);
    i += a <= b;
    k += b <= a;
  }
}

/*
 * Adds cuts by work. Checkpoints keep only their inputs, so that most of a net
 * would be one part. If there are fewer than stages, some are cut.
 */
static void divide_checkpoints(struct search *s, int64_t most, int64_t parts,
                               struct cuts *cuts) {
  struct cuts work = {0};
  cuts_divide_work(s->plain, min_i64(most, 2 * parts), INT64_MAX, s->arena,
                   &work);
  add_cuts(cuts, &work, s->arena);
}

/* A long search repeats the same cuts, so they are remembered. */
static void find_cuts(struct search *s, int64_t most, int64_t least,
                      struct cuts *cuts) {
  struct runs *runs = s->step->runs;
  const struct train_settings *train = s->train;
  for (size_t i = 0; runs && i < runs->cuts.count; i++) {
    const struct known_cuts *known = &runs->cuts.at[i];
    if (known->checkpoint == train->checkpoint &&
        known->batch == train->batch && known->most == most &&
        known->least == least) {
      for (size_t k = 0; k < known->count; k++)
        *VEC_PUSH(s->arena, &cuts->at) = known->at[k];
      return;
    }
  }
  cuts_divide(s->plain, most, s->arena, cuts);
  if ((int64_t)cuts->at.count + 1 < least && s->plain->segments.count)
    cuts_divide_work(s->plain, most, least, s->arena, cuts);
  int64_t checkpoints = (int64_t)s->plain->ranges.count;
  if (checkpoints && checkpoints + 1 < least)
    divide_checkpoints(s, most, least, cuts);
  if (!runs)
    return;
  int64_t *at = arena_alloc(runs->arena, cuts->at.count + 1, sizeof *at);
  for (size_t i = 0; i < cuts->at.count; i++)
    at[i] = cuts->at.at[i];
  *VEC_PUSH(runs->arena, &runs->cuts) = (struct known_cuts){
      train->checkpoint, train->batch, most, least, at, cuts->at.count};
}

const struct net_borders *search_borders(struct search *s) {
  struct runs *runs = s->step->runs;
  if (!runs->borders) {
    struct net_borders *borders = ARENA_NEW(runs->arena, struct net_borders);
    *borders = borders_find(s->step->model, runs->arena);
    runs->borders = borders;
  }
  return runs->borders;
}

/* Finds many cuts, to give the search a choice. */
static void find_many(struct search *s, struct cuts *cuts) {
  int64_t parts = s->train->pipeline * stage_parts(s->train);
  int64_t most = cuts_most(s->plain, MOST_UNITS);
  if (stage_parts(s->train) > 1)
    most = max_i64(most, parts);
  find_cuts(s, most, parts, cuts);
}

static void find_units(struct search *s) {
  struct cuts cuts = {0};
  bool cut = s->train->pipeline > 1;
  if (cut && s->train->cut == CUT_MEMORY)
    find_many(s, &cuts);
  else if (cut)
    cut_find(s->step->model, search_borders(s), s->train, s->arena, &cuts);
  s->units = cuts.at.count + 1;
  s->cut = arena_alloc(s->arena, s->units + 1, sizeof *s->cut);
  /* More slots than spans, so that one is always free. */
  s->known_room = (s->units + 1) * (s->units + 1);
  s->known = arena_alloc(s->arena, s->known_room, sizeof *s->known);
  for (size_t i = 0; i < cuts.at.count; i++)
    s->cut[i + 1] = cuts.at.at[i];
  s->cut[s->units] = (int64_t)s->step->model->nodes.count;
}

/* Tapes */

/* Marks parameters of experts, and others. */
static void find_experts(struct search *s) {
  const struct model *model = s->step->model;
  size_t count = model->params.count + 1;
  s->expert = arena_alloc(s->arena, count, sizeof *s->expert);
  s->dense = arena_alloc(s->arena, count, sizeof *s->dense);
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; k < node->param_count; k++)
      s->expert[node->first_param + (size_t)k] =
          node->copies > 1 && experts_apart(s->train);
  }
  for (size_t i = 0; i < count; i++)
    s->dense[i] = !s->expert[i];
}

/* Clears settings that do not change a device's operations. */
static struct train_settings tape_settings(const struct train_settings *train) {
  struct train_settings same;
  memcpy(&same, train, sizeof same); /* padding bytes included */
  same.batch = same.microbatches = same.accumulate = same.memory = 0;
  same.zero = 0;
  same.data_parallel = same.shard_devices = 0;
  same.pipeline = same.virtual_stages = 0;
  same.schedule = same.offload = 0;
  same.optimizer = same.gpu = same.cut = 0;
  same.turns = NULL;
  return same;
}

static bool same_tape(const struct tape_known *known, const struct step *own) {
  struct train_settings x = tape_settings(&known->asked);
  struct train_settings y = tape_settings(&own->settings);
  const struct step *a = &known->own;
  return memcmp(&x, &y, sizeof x) == 0 &&
         a->ranges.count == own->ranges.count &&
         (a->ranges.count == 0 ||
          memcmp(a->ranges.at, own->ranges.at,
                 a->ranges.count * sizeof *a->ranges.at) == 0);
}

static void take_tape(struct search *s, struct step *own,
                      const struct tape_known *known) {
  own->trace = known->own.trace;
  own->segments.at = known->own.segments.at;
  own->segments.count = known->own.segments.count;
  own->extra_macs = known->own.extra_macs;
  own->packed = known->own.packed;
  own->settings.dtype = known->own.settings.dtype;
  s->shards = known->shards;
  s->sums = known->sums;
  s->expert = known->expert;
  s->dense = known->dense;
  s->overflow = known->overflow;
}

static struct tape_cut *find_cut(const struct search *s,
                                 const struct tape_known *known) {
  struct tape_cut *found = known->cuts;
  size_t bytes = (s->units + 1) * sizeof *s->cut;
  while (found &&
         (s->units != found->units || memcmp(s->cut, found->cut, bytes) != 0))
    found = found->next;
  return found;
}

/* Finds the cuts, and which parts are alike. */
static void find_parts(struct search *s, struct tape_known *known) {
  struct tape_cut *cut = known ? find_cut(s, known) : NULL;
  struct arena *arena = s->arena;
  if (cut) {
    s->alike = cut->alike;
    chain_open(s, cut->far);
  } else {
    s->arena = known ? s->step->runs->arena : arena;
    alike_find(&s->alike, s->step, s->cut, s->units, s->arena);
    chain_open(s, NULL);
    s->arena = arena;
  }
  if (known && !cut) {
    int64_t *at = arena_alloc(s->step->runs->arena, s->units + 1, sizeof *at);
    memcpy(at, s->cut, (s->units + 1) * sizeof *at);
    cut = ARENA_NEW(s->step->runs->arena, struct tape_cut);
    *cut = (struct tape_cut){s->alike, s->chain.far, at, s->units, known->cuts};
    known->cuts = cut;
  }
  s->linked = arena_alloc(s->arena, s->units + 1, sizeof *s->linked);
}

static struct tape_known *remember(const struct search *s,
                                   const struct step *step) {
  struct runs *runs = s->step->runs;
  struct tape_known *known = ARENA_NEW(runs->arena, struct tape_known);
  size_t ranges = s->step->ranges.count;
  *known = (struct tape_known){.asked = step->settings,
                               .own = *s->step,
                               .shards = s->shards,
                               .sums = s->sums,
                               .expert = s->expert,
                               .dense = s->dense,
                               .overflow = s->overflow,
                               .next = runs->tapes};
  known->own.ranges.at =
      arena_alloc(runs->arena, ranges, sizeof *known->own.ranges.at);
  for (size_t i = 0; i < ranges; i++)
    known->own.ranges.at[i] = s->step->ranges.at[i];
  runs->ops += s->trace->tape.ops.count;
  return runs->tapes = known;
}

/* True if a tape may be reused. cut=memory needs the unsharded tape, of which
 * only that of a traced step is kept. */
static bool may_be_known(const struct step *step) {
  const struct train_settings *train = &step->settings;
  return step->trace.tape.ops.count > 0 || train->pipeline == 1 ||
         train->cut != CUT_MEMORY;
}

static struct tape_known *find_known(const struct step *own) {
  struct tape_known *known = own->runs->tapes;
  while (known && !same_tape(known, own))
    known = known->next;
  return known;
}

/*
 * Makes a tape to shard, or reuses one of an earlier search. The first ones are
 * remembered.
 */
static void find_tape(struct search *s, struct step *own,
                      const struct step *step) {
  struct runs *runs = own->runs;
  bool may = may_be_known(step);
  struct tape_known *known = may ? find_known(own) : NULL;
  struct arena *arena = s->arena;
  bool traced = step->trace.tape.ops.count > 0;
  bool fits = runs->ops + own->model->nodes.count < MOST_OPS;
  bool keeps = may && !known && (fits || (traced && !runs->tapes));
  if (keeps)
    s->arena = runs->arena;
  if (known)
    take_tape(s, own, known);
  else
    step_trace(own, s->arena);
  s->plain = traced ? step : own;
  s->arena = arena;
  find_units(s);
  s->arena = keeps ? runs->arena : arena;
  if (!known) {
    find_experts(s);
    shard_trace(&own->trace, own->model, &own->settings, &s->shards, s->arena);
    stage_sums_open(s);
  }
  s->arena = arena;
  find_parts(s, keeps ? remember(s, step) : known);
}

static void begin(struct search *s, struct step *own, const struct step *step,
                  struct arena *arena) {
  *own = (struct step){.model = step->model, .settings = step->settings};
  own->ranges.at = step->ranges.at;
  own->ranges.count = step->ranges.count;
  own->runs = step->runs;
  *s = (struct search){.step = own,
                       .arena = arena,
                       .train = &own->settings, /* types are chosen */
                       .trace = &own->trace,
                       .microbatch = own->settings.batch,
                       .microbatches = 1};
}

void search_open_tape(struct search *s, struct step *own,
                      const struct step *step, struct arena *arena) {
  begin(s, own, step, arena);
  step_trace(own, arena);
  shard_trace(&own->trace, own->model, &own->settings, &s->shards, arena);
}

void search_open(struct search *s, struct step *own, const struct step *step,
                 struct arena *arena) {
  begin(s, own, step, arena);
  const struct train_settings *train = s->train;
  if (!own->runs) {
    own->runs = ARENA_NEW(arena, struct runs);
    own->runs->arena = arena;
  }
  find_tape(s, own, step);
  s->stages = (size_t)min_i64(train->pipeline, (int64_t)s->units);
  s->parts = s->stages;
  if (s->stages > 1 && s->stages * (size_t)stage_parts(train) <= s->units)
    s->parts *= (size_t)stage_parts(train);
  if (train->pipeline == 1)
    return;
  s->microbatches =
      train->microbatches ? train->microbatches : (int64_t)s->stages;
  s->microbatch = ceil_div_i64(train->batch, s->microbatches);
  /* The batch may fill fewer of them. */
  s->microbatches = ceil_div_i64(train->batch, s->microbatch);
}
