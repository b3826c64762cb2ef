/* Checkpoints: which layers keep only their inputs until backward. */
#include "step/checkpoint.h"

#include <string.h>

#include "base/check.h"
#include "step/spans.h"

enum {
  WAYS = 2048,      /* to reach a cut: less held against less computed */
  MOST_ROUNDS = 12, /* of choosing, measured in between */
};

/* Bytes of a step that fits no device, and whose sums might pass 2^63. */
#define LARGEST (INT64_MAX / 16)

/* The outermost groups that the source checkpoints. */
static void checkpoint_groups(struct step *step, struct arena *arena) {
  const struct model *model = step->model;
  int64_t end = 0;
  step->ranges.count = 0;
  for (size_t i = 0; i < model->groups.count; i++) {
    const struct group *group = &model->groups.at[i];
    if (!group->checkpoint || group->first < end || group->first == group->end)
      continue; /* inside another one, or empty */
    *VEC_PUSH(arena, &step->ranges) =
        (struct node_range){group->first, group->end};
    end = group->end;
  }
}

/*
 * `count` segments that keep about as much each; the last one is not
 * checkpointed, because it runs backward at once (Chen et al. 2016, arXiv
 * 1604.06174; torch.utils.checkpoint.checkpoint_sequential).
 */
static void checkpoint_even(struct step *step, int64_t count,
                            struct arena *arena) {
  struct cuts cuts = {0};
  int64_t first = 0;
  step->ranges.count = 0; /* those of the source: it is a choice instead */
  step_trace(step, arena);
  if (count > (int64_t)step->model->nodes.count)
    count = (int64_t)step->model->nodes.count;
  cuts_divide(step, count, arena, &cuts);
  for (size_t i = 0; i < cuts.at.count; i++) {
    *VEC_PUSH(arena, &step->ranges) = (struct node_range){first, cuts.at.at[i]};
    first = cuts.at.at[i];
  }
  step_trace(step, arena);
}

/* Choosing */

/* A way to reach a cut, with the fewest MACs of those that hold as much. */
struct way {
  int64_t held, macs;
  size_t from;  /* the cut before */
  size_t index; /* of the way there */
  bool there, checkpointed;
};

/* Ways through the spans of a net within a budget. */
struct choice {
  const struct spans *spans;
  struct arena *arena;
  int64_t budget; /* bytes for all that does not stand */
  struct way *ways; /* to each cut WAYS, by what they hold */
};

static struct way *way_at(const struct choice *c, size_t cut, size_t index) {
  return &c->ways[cut * WAYS + index];
}

static void add_way(const struct choice *c, size_t cut, struct way way) {
  if (way.held > c->budget)
    return;
  struct way *known =
      way_at(c, cut, (size_t)(way.held / (c->budget / WAYS + 1)));
  if (!known->there || way.macs < known->macs ||
      (way.macs == known->macs && way.held < known->held))
    *known = way;
}

/* Whether the tensor at the end of a way is held already. */
static bool holds_result(const struct spans *s, const struct way *way,
                         size_t at) {
  return at > 0 &&
         ((!way->checkpointed && span_at(s, at - 1, at)->keeps_result) ||
          s->result_stays[at]);
}

/* Whether a span up to a cut may run, beside what is held. */
static bool fits(const struct choice *c, int64_t held, size_t to,
                 int64_t forward, int64_t backward) {
  return held + forward + c->spans->passes[to] <= c->budget &&
         held + backward + c->spans->stands_from[to] <= c->budget;
}

static void extend(const struct choice *c, const struct way *way, size_t at,
                   size_t index) {
  const struct spans *s = c->spans;
  const struct span_cost *one = span_at(s, at, at + 1);
  int64_t with = way->held + (holds_result(s, way, at) ? 0 : s->boundary[at]);
  int64_t held = one->keeps_input ? with : way->held;
  if (fits(c, held, at + 1, one->forward, one->backward))
    add_way(
        c, at + 1,
        (struct way){held + s->holds[at], way->macs, at, index, true, false});
  for (size_t to = at + 1; to <= s->units; to++) {
    const struct span_cost *all = span_at(s, at, to);
    int64_t inputs = with + all->reads;
    if (fits(c, inputs, to, 0, all->again))
      add_way(c, to,
              (struct way){inputs + all->past, way->macs + all->macs, at, index,
                           true, true});
  }
}

/* Ways from a cut on; none that holds more and computes no less again. */
static void extend_all(const struct choice *c, size_t at) {
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < WAYS; i++) {
    const struct way *way = way_at(c, at, i);
    if (!way->there || way->macs >= least)
      continue;
    least = way->macs;
    extend(c, way, at, i);
  }
}

/* The cheapest way within the budget becomes the ranges of the step. */
static bool choose(struct choice *c, struct step *step) {
  const struct spans *s = c->spans;
  const struct way *best = NULL;
  c->ways = arena_alloc(c->arena, (s->units + 1) * WAYS, sizeof *c->ways);
  add_way(c, 0, (struct way){.there = true});
  for (size_t i = 0; i < s->units; i++)
    extend_all(c, i);
  for (size_t i = 0; i < WAYS; i++) {
    const struct way *way = way_at(c, s->units, i);
    if (way->there && (!best || way->macs < best->macs))
      best = way;
  }
  if (!best)
    return false;
  step->ranges.count = 0;
  for (size_t at = s->units; at > 0;) {
    if (best->checkpointed)
      *VEC_PUSH(c->arena, &step->ranges) =
          (struct node_range){s->cut[best->from], s->cut[at]};
    at = best->from;
    best = way_at(c, at, best->index);
  }
  for (size_t i = 0; i < step->ranges.count / 2; i++) { /* from the front */
    struct node_range *a = &step->ranges.at[i];
    struct node_range *b = &step->ranges.at[step->ranges.count - 1 - i];
    struct node_range swap = *a;
    *a = *b;
    *b = swap;
  }
  return true;
}

/* Choices that are measured, the best of them, and the last one. */
struct choosing {
  struct step *step;
  int64_t memory;
  bool any; /* those found first will do */
  struct arena *arena;
  struct spans spans;
  struct step best, last;
  int64_t best_peak, last_peak;
  bool found;
};

static bool same_ranges(const struct step *a, const struct step *b) {
  return a->ranges.count == b->ranges.count &&
         (a->ranges.count == 0 ||
          memcmp(a->ranges.at, b->ranges.at,
                 a->ranges.count * sizeof *a->ranges.at) == 0);
}

static void take_ranges(struct step *to, const struct step *from,
                        struct arena *arena) {
  to->extra_macs = from->extra_macs;
  to->ranges.count = 0;
  for (size_t i = 0; i < from->ranges.count; i++)
    *VEC_PUSH(arena, &to->ranges) = from->ranges.at[i];
}

/* Measures the ranges of a trial, which become the last. */
static void measure_last(struct choosing *c, struct step *trial,
                         struct arena *scratch) {
  struct peak_line line;
  step_trace(trial, scratch);
  c->last_peak = step_peak(trial, 0, scratch, &line);
  take_ranges(&c->last, trial, c->arena);
}

/* The choice within a budget, measured, becomes the last; false: none. */
static bool choose_and_measure(struct choosing *c, int64_t budget) {
  struct arena scratch;
  struct step trial = {.model = c->step->model, .settings = c->step->settings};
  struct choice choice = {&c->spans, &scratch, budget, NULL};
  arena_open_in(&scratch, c->arena);
  bool chosen = choose(&choice, &trial);
  if (chosen && (c->last_peak == 0 || !same_ranges(&trial, &c->last)))
    measure_last(c, &trial, &scratch);
  arena_close(&scratch);
  return chosen;
}

/* Of those that compute as much again the one that takes least. */
static void keep_the_better(struct choosing *c) {
  if (c->found && (c->last.extra_macs > c->best.extra_macs ||
                   (c->last.extra_macs == c->best.extra_macs &&
                    c->last_peak >= c->best_peak)))
    return;
  take_ranges(&c->best, &c->last, c->arena);
  c->best_peak = c->last_peak;
  c->found = true;
}

/* In a batch of `to` what takes `bytes` in one of `from`, about. */
static int64_t in_batch(int64_t bytes, int64_t from, int64_t to) {
  double scaled = (double)bytes * ((double)to / (double)from);
  return scaled < (double)LARGEST ? (int64_t)scaled : LARGEST;
}

/*
 * Ways out of a step try other optimizers, of which spans know nothing. Where
 * any choice will do those of another batch are as good: what they take grows
 * with it, and the choices are measured. Gives their batch.
 */
static int64_t open_known_spans(struct choosing *c, int64_t most) {
  struct runs *runs = c->step->runs;
  struct train_settings any = c->step->settings;
  any.optimizer = any.update = 0;
  if (runs && !runs->spans) {
    struct spans *known = ARENA_NEW(runs->arena, struct spans);
    *known = c->spans;
    known->arena = runs->arena;
    spans_open(known, c->any ? 2 * LARGEST : most);
    runs->spans = known;
    runs->spans_for = any;
  }
  if (runs && c->any)
    any.batch = runs->spans_for.batch;
  if (!runs || memcmp(&runs->spans_for, &any, sizeof any) != 0) {
    spans_open(&c->spans, most);
    return c->step->settings.batch;
  }
  struct spans own = c->spans;
  c->spans = *runs->spans;
  c->spans.step = own.step;
  c->spans.arena = own.arena;
  return any.batch;
}

/* Segments of as many units each, all but the last checkpointed. */
static void try_even_splits(struct choosing *c) {
  const struct spans *s = &c->spans;
  for (size_t each = 1; each < s->units; each += (each + 1) / 2) {
    struct arena scratch;
    struct step trial = {.model = c->step->model,
                         .settings = c->step->settings};
    arena_open_in(&scratch, c->arena);
    for (size_t i = 0; i + each < s->units; i += each)
      *VEC_PUSH(&scratch, &trial.ranges) =
          (struct node_range){s->cut[i], s->cut[i + each]};
    measure_last(c, &trial, &scratch);
    if (c->last_peak <= c->memory)
      keep_the_better(c);
    arena_close(&scratch);
  }
}

/*
 * The budget of the choice is bisected until it is the largest whose choice
 * fits: the spans know of each other only by what is held, so the whole is
 * measured. Where they know too little, even splits may fit.
 */
static void bisect_budget(struct choosing *c) {
  int64_t batch = open_known_spans(c, 2 * c->memory);
  int64_t memory = in_batch(c->memory, c->step->settings.batch, batch);
  /* What two parts share is counted in both: more than is there may do. */
  int64_t low = 0, high = 2 * memory;
  for (int i = 0; i < MOST_ROUNDS && low < high && !(c->found && c->any); i++) {
    progress_tell(c->step->model->progress, "choosing checkpoints", i,
                  MOST_ROUNDS);
    int64_t budget = i == 0 ? memory : low + (high - low) / 2;
    bool chosen = choose_and_measure(c, budget);
    if (chosen && c->last_peak > c->memory) {
      high = budget;
      continue;
    }
    low = budget + 1;
    if (chosen)
      keep_the_better(c);
  }
  if (!c->found)
    try_even_splits(c);
}

/*
 * Segments that fit with few MACs computed once more: dynamic programming
 * over the cuts, each with what it holds and what it costs; choices are
 * measured. False if none fit; the step is as before.
 */
static bool checkpoint_auto(struct step *step, int64_t memory, bool any,
                            struct arena *arena) {
  struct arena scratch;
  struct simulation s = {0};
  struct training t;
  struct step plain = {
      .model = step->model, .settings = step->settings, .runs = step->runs};
  struct choosing c = {.step = step,
                       .memory = memory,
                       .any = any,
                       .arena = arena,
                       .spans = {.step = &plain, .arena = arena},
                       .best = plain,
                       .last = plain};
  step_trace(&plain, arena);
  arena_open_in(&scratch, arena);
  bool known = step_measure(&plain, &scratch, &s, &t);
  arena_close(&scratch);
  /* What stands, gradients and the optimizer are there whatever is chosen. */
  if (!known || t.step > memory)
    return false;
  if (t.peak <= memory) {
    c.found = true;
  } else {
    if (t.peak > LARGEST)
      return false;
    bisect_budget(&c);
  }
  if (c.found)
    *step = c.best;
  return c.found;
}

bool checkpoint_fits(const struct step *step, int64_t room,
                     struct arena *arena) {
  struct step trial = {
      .model = step->model, .settings = step->settings, .runs = step->runs};
  return checkpoint_auto(&trial, room, true, arena);
}

void checkpoint_choose(struct step *step, int64_t room, struct arena *arena) {
  const struct train_settings *train = &step->settings;
  if (train->checkpoint > 0) {
    checkpoint_even(step, train->checkpoint, arena);
    return;
  }
  checkpoint_groups(step, arena);
  step_trace(step, arena);
  if (train->checkpoint == CHECKPOINT_AUTO &&
      checkpoint_auto(step, room, false, arena))
    step_trace(step, arena);
}
