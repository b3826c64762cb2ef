/* Checkpoints: layers that keep only their inputs until backward. */
#include "memory/checkpoint/checkpoint.h"

#include <string.h>

#include "base/check.h"
#include "memory/checkpoint/ways.h"
#include "sema/repeat/iteration.h"

enum { MOST_ROUNDS = 12 }; /* choices with a measurement */

/* No device holds a step of this size; larger sums could pass 2^63. */
#define LARGEST (INT64_MAX / 1024)

/* Finds the outermost groups that the source checkpoints. */
static void checkpoint_groups(struct step *step, struct arena *arena) {
  const struct model *model = step->model;
  int64_t end = 0;
  step->ranges.count = 0;
  for (size_t i = 0; i < model->groups.count; i++) {
    const struct group *group = &model->groups.at[i];
    if (!group->checkpoint || group->first < end || group->first == group->end)
      continue; /* nested or empty */
    *VEC_PUSH(arena, &step->ranges) =
        (struct node_range){group->first, group->end};
    end = group->end;
  }
}

/*
 * Makes `count` segments that save about the same number of bytes. The last one
 * is not checkpointed, because its backward follows at once (Chen et al. 2016,
 * arXiv 1604.06174; torch.utils.checkpoint.checkpoint_sequential).
 */
static void checkpoint_even(struct step *step, int64_t count,
                            struct arena *arena) {
  struct cuts cuts = {0};
  int64_t first = 0;
  step->ranges.count = 0; /* replaces the source's */
  step_trace(step, arena);
  if (count > (int64_t)step->model->nodes.count)
    count = (int64_t)step->model->nodes.count;
  cuts_divide_kept(step, count, arena, &cuts);
  for (size_t i = 0; i < cuts.at.count; i++) {
    *VEC_PUSH(arena, &step->ranges) = (struct node_range){first, cuts.at.at[i]};
    first = cuts.at.at[i];
  }
  step_trace(step, arena);
}

/*
 * Each iteration of an innermost loop is a segment, the last one, too:
 * transformers' gradient_checkpointing_enable() and torchtune's
 * set_activation_checkpointing() wrap every layer.
 */
static void checkpoint_blocks(struct step *step, struct arena *arena) {
  const struct model *model = step->model;
  int64_t nodes = (int64_t)model->nodes.count;
  step->ranges.count = 0; /* replaces the source's */
  for (int64_t first = 0, end; first < nodes; first = end) {
    const struct frame *turn = iteration_around(model->nodes.at[first].frame);
    for (end = first + 1; end < nodes; end++)
      if (iteration_around(model->nodes.at[end].frame) != turn)
        break;
    if (turn)
      *VEC_PUSH(arena, &step->ranges) = (struct node_range){first, end};
  }
  step_trace(step, arena);
}

/* Choosing */

/* Need of a choice, whatever the optimizer is. */
struct measured {
  const struct node_range *ranges;
  size_t count;
  int64_t extra_macs;
  int64_t passes; /* peak without lasting memory; INT64_MAX: too large */
};

/* A step without checkpoints, kept for steps that differ in the optimizer. */
struct spans_known {
  struct train_settings asked; /* before types are chosen */
  struct step plain;
  struct spans spans;
  struct arena *arena;
  bool opened; /* the spans are known */
  VEC(struct measured) all;
};

/* The search: the best and the last measured choice. */
struct choosing {
  struct step *step;
  int64_t memory;
  struct arena *arena;
  struct spans_known *known;
  struct training training; /* of the step without checkpoints */
  int64_t around;           /* bytes besides the passes */
  struct step best, last;
  int64_t best_peak, last_peak;
  bool found;
};

static void take_ranges(struct step *to, const struct step *from,
                        struct arena *arena) {
  to->extra_macs = from->extra_macs;
  to->ranges.count = 0;
  for (size_t i = 0; i < from->ranges.count; i++)
    *VEC_PUSH(arena, &to->ranges) = from->ranges.at[i];
}

static const struct measured *find_measured(const struct spans_known *known,
                                            const struct step *trial) {
  size_t count = trial->ranges.count;
  for (size_t i = 0; i < known->all.count; i++)
    if (known->all.at[i].count == count &&
        (count == 0 || memcmp(known->all.at[i].ranges, trial->ranges.at,
                              count * sizeof *trial->ranges.at) == 0))
      return &known->all.at[i];
  return NULL;
}

/* Runs a trial and remembers its need. */
static const struct measured *
measure(struct spans_known *known, struct step *trial, struct arena *scratch) {
  enum { MOST_MEASURED = 1024 };
  struct simulation s = {.peaks_only = true, .skips = true};
  struct training t;
  size_t count = trial->ranges.count;
  step_trace(trial, scratch);
  bool fits = step_measure(trial, scratch, &s, &t);
  if (known->all.count == MOST_MEASURED)
    known->all.count = 0;
  struct node_range *ranges =
      arena_alloc(known->arena, count + 1, sizeof *ranges);
  for (size_t i = 0; i < count; i++)
    ranges[i] = trial->ranges.at[i];
  struct measured *measured = VEC_PUSH(known->arena, &known->all);
  *measured = (struct measured){ranges, count, trial->extra_macs,
                                fits ? max_i64(t.forward, t.backward) -
                                           (t.standing - t.paged)
                                     : INT64_MAX};
  return measured;
}

/* Measures the ranges of a trial, which becomes the last choice. */
static void measure_last(struct choosing *c, struct step *trial,
                         struct arena *scratch) {
  const struct measured *m = find_measured(c->known, trial);
  if (!m)
    m = measure(c->known, trial, scratch);
  trial->extra_macs = m->extra_macs;
  c->last_peak = max_i64(c->training.step, size_sum(c->around, m->passes));
  take_ranges(&c->last, trial, c->arena);
}

/*
 * Measures the choice within a budget, which becomes the last; false: none.
 * `most` is its need if spans are exact.
 */
static bool choose_and_measure(struct choosing *c, int64_t budget,
                               int64_t *most) {
  struct arena scratch;
  struct step trial = {.model = c->step->model, .settings = c->step->settings};
  struct ways ways = {.spans = &c->known->spans, .budget = budget};
  arena_open_in(&scratch, c->arena);
  ways.arena = &scratch;
  bool chosen = ways_find(&ways);
  if (chosen) {
    trial.ranges.at = ways.ranges;
    trial.ranges.count = ways.count;
    measure_last(c, &trial, &scratch);
  }
  *most = max_i64(c->around + ways.most, c->training.step);
  arena_close(&scratch);
  return chosen;
}

/* Keeps the choice with fewer recomputed MACs, then the lower peak. */
static void keep_the_better(struct choosing *c) {
  if (c->found && (c->last.extra_macs > c->best.extra_macs ||
                   (c->last.extra_macs == c->best.extra_macs &&
                    c->last_peak >= c->best_peak)))
    return;
  take_ranges(&c->best, &c->last, c->arena);
  c->best_peak = c->last_peak;
  c->found = true;
}

/* Tries segments of equally many units; the last is not checkpointed. */
static void try_even_splits(struct choosing *c) {
  const struct spans *s = &c->known->spans;
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
 * Spans can need more than a run of the whole net, if an operation would
 * overwrite a tensor made before a cut (spans.c). So the budget is bisected for
 * the largest one whose choice fits. The first choice is already made and
 * measured.
 */
static void bisect_budget(struct choosing *c, int64_t budget, bool chosen) {
  int64_t low = 0, high = 2 * budget, most;
  for (int i = 0; i < MOST_ROUNDS && low < high; i++) {
    if (i)
      chosen = choose_and_measure(c, budget, &most);
    if (chosen && c->last_peak > c->memory) {
      high = budget;
    } else {
      low = budget + 1;
      if (chosen)
        keep_the_better(c);
    }
    budget = low + (high - low) / 2;
  }
  if (!c->found)
    try_even_splits(c);
}

static void find_best(struct choosing *c) {
  int64_t most, budget = c->memory - c->around;
  if (!c->known->opened)
    spans_open(&c->known->spans);
  c->known->opened = true;
  bool chosen = choose_and_measure(c, budget, &most);
  if (chosen && c->last_peak == most)
    keep_the_better(c);
  else if (chosen || c->known->spans.fenced)
    bisect_budget(c, budget, chosen);
}

/* Traces the step without checkpoints; the first one is to be remembered. */
static struct spans_known *make_known(const struct step *step,
                                      const struct train_settings *asked,
                                      struct arena *arena) {
  bool first = step->runs && !step->runs->spans;
  struct arena *own = first ? step->runs->arena : arena;
  struct spans_known *known = ARENA_NEW(own, struct spans_known);
  known->arena = own;
  memcpy(&known->asked, asked, sizeof *asked); /* padding bytes included */
  known->plain =
      (struct step){.model = step->model, .settings = step->settings};
  known->spans = (struct spans){.step = &known->plain, .arena = own};
  step_trace(&known->plain, own);
  return known;
}

/* Measures the step without checkpoints; false if a sum passes 2^63 - 1. */
static bool measure_plain(struct choosing *c) {
  const struct step *step = c->step;
  struct train_settings asked;
  struct spans_known *known = step->runs ? step->runs->spans : NULL;
  memcpy(&asked, &step->settings, sizeof asked);
  if (asked.update != UPDATE_BACKWARD) /* else it steps in the passes */
    asked.optimizer = 0;
  c->known = known;
  if (known && memcmp(&known->asked, &asked, sizeof asked) == 0) {
    struct arena scratch;
    struct step plain = known->plain;
    struct simulation s = {.peaks_only = true, .skips = true};
    plain.settings.optimizer = step->settings.optimizer;
    arena_open_in(&scratch, c->arena);
    bool fits = step_measure(&plain, &scratch, &s, &c->training);
    arena_close(&scratch);
    return fits;
  }
  c->known = make_known(step, &asked, c->arena);
  bool fits = spans_measure(&c->known->spans);
  c->training = c->known->spans.training;
  if (fits && step->runs && !step->runs->spans)
    step->runs->spans = c->known;
  return fits;
}

/*
 * Finds segments that fit with the fewest recomputed MACs (ways.h). False if
 * none fit; the step is then unchanged.
 */
static bool checkpoint_auto(struct step *step, int64_t memory,
                            struct arena *arena) {
  struct step plain = {
      .model = step->model, .settings = step->settings, .runs = step->runs};
  struct choosing c = {.step = step,
                       .memory = memory,
                       .arena = arena,
                       .best = plain,
                       .last = plain};
  const struct training *t = &c.training;
  /* Persistent memory, gradients and optimizer do not depend on the choice. */
  if (!measure_plain(&c) || t->step > memory)
    return false;
  c.around = t->standing - t->paged;
  if (t->peak <= memory)
    c.found = true;
  else if (t->peak <= LARGEST)
    find_best(&c);
  if (c.found)
    *step = c.best;
  return c.found;
}

bool checkpoint_least(struct step *step, int64_t room, struct arena *arena) {
  struct arena scratch;
  struct peak_line line;
  struct spans s = {.step = step, .arena = &scratch};
  struct ways ways = {.spans = &s, .any = true, .arena = arena};
  const struct training *t = &s.training;
  arena_open_in(&scratch, arena);
  if (!spans_measure(&s) || t->step > room || t->peak > LARGEST) {
    arena_close(&scratch);
    return false;
  }
  spans_open(&s);
  ways.budget = room - (t->standing - t->paged);
  bool fits = ways_find(&ways);
  for (int64_t low = 0, high = ways.most; fits && high - low > high / 1000;) {
    ways.budget = low + (high - low) / 2;
    if (ways_find(&ways))
      high = ways.most;
    else
      low = ways.budget + 1;
  }
  arena_close(&scratch);
  if (!fits)
    return false;
  step->ranges.at = ways.ranges;
  step->ranges.count = ways.count;
  step_trace(step, arena);
  return step_peak(step, 0, arena, &line) <= room;
}

void checkpoint_choose(struct step *step, int64_t room, struct arena *arena) {
  const struct train_settings *train = &step->settings;
  if (train->checkpoint > 0) {
    checkpoint_even(step, train->checkpoint, arena);
    return;
  }
  if (train->checkpoint == CHECKPOINT_BLOCKS ||
      train->checkpoint == CHECKPOINT_OPS) {
    checkpoint_blocks(step, arena);
    return;
  }
  checkpoint_groups(step, arena);
  if (train->checkpoint == CHECKPOINT_AUTO)
    checkpoint_auto(step, room, arena);
  step_trace(step, arena);
}
