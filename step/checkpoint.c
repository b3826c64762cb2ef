/* Checkpoints: which layers keep only their inputs until backward. */
#include "step/checkpoint.h"

#include <string.h>

#include "base/check.h"
#include "step/alike.h"
#include "step/cuts.h"

enum {
  MOST_UNITS = 48,  /* parts of the chain that are chosen between */
  MOST_WAYS = 2000, /* to reach a cut: less held against less computed */
  MOST_ROUNDS = 12, /* of choosing, measured in between */
};

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

/* What units [from, to) take by themselves. */
struct span_cost {
  int64_t peak; /* forward and backward, with gradients of parameters */
  int64_t kept; /* for backward, of what they make */
  bool keeps_input, keeps_result; /* the tensors at their ends are kept */
  int64_t gradients, macs;
};

/* A way to reach a cut; none is worse in both. */
struct way {
  int64_t held, macs;
  size_t from;  /* the cut before */
  size_t index; /* of the way there */
  bool checkpointed;
};

struct chain {
  const struct step *step;
  struct arena *arena;
  size_t units;
  int64_t *cut;            /* nodes before each, units + 1 of them */
  struct alike alike;
  struct span_cost *costs; /* of [from, to) at from * (units + 1) + to */
  int64_t *boundary;       /* bytes that lead over each cut */
  int64_t *stands_from;    /* gradients of units from each on, and outputs */
  int64_t budget;          /* bytes for all that does not stand */
};

/* The loss belongs to the last unit. */
static size_t first_op(const struct chain *c, size_t unit) {
  int64_t node = c->cut[unit];
  if (unit == c->units)
    return c->step->trace.tape.ops.count;
  return node ? c->step->trace.op_end[node - 1] : 0;
}

static struct span_cost *cost_at(const struct chain *c, size_t from,
                                 size_t to) {
  return &c->costs[from * (c->units + 1) + to];
}

static void run_span(const struct chain *c, size_t from, size_t to,
                     struct span_cost *cost) {
  struct arena scratch;
  struct simulation s = {.arena = &scratch,
                         .trace = &c->step->trace,
                         .model = c->step->model,
                         .batch = c->step->settings.batch,
                         .element = c->step->settings.dtype,
                         .saved_bits = saved_bits(&c->step->settings),
                         .first = first_op(c, from),
                         .end = first_op(c, to)};
  if (s.end == 0 || s.first == s.end)
    return;
  arena_open_in(&scratch, c->arena);
  simulate(&s);
  cost->peak =
      s.overflow ? INT64_MAX / 2 : max_i64(s.forward.bytes, s.backward.bytes);
  cost->kept = s.saved - s.received;
  cost->keeps_input = s.received > 0;
  cost->keeps_result = s.result_saved;
  arena_close(&scratch);
}

/* One that runs alike, among those from an earlier unit on; NULL: none. */
static const struct span_cost *find_alike(const struct chain *c, size_t from,
                                          size_t to) {
  uint64_t key = alike_span(&c->alike, from, to);
  for (size_t i = 0; i < from; i++)
    if (alike_span(&c->alike, i, i + to - from) == key)
      return cost_at(c, i, i + to - from);
  return NULL;
}

static struct span_cost measure(const struct chain *c, size_t from, size_t to) {
  struct span_cost cost = {0};
  const struct span_cost *alike = find_alike(c, from, to);
  if (alike)
    cost = *alike;
  else
    run_span(c, from, to, &cost);
  cost.macs = cost.gradients = 0;
  for (int64_t i = c->cut[from]; i < c->cut[to]; i++) {
    int64_t bytes;
    cost.macs += c->step->model->costs[i]->train_macs;
    if (element_bytes(c->step->settings.dtype,
                      c->step->model->costs[i]->trainable, &bytes))
      cost.gradients += bytes;
  }
  return cost;
}

static int64_t value_bytes(const struct chain *c, int64_t node) {
  const struct tape *tape = &c->step->trace.tape;
  size_t value = c->step->trace.value_of[node];
  bool overflow = false;
  return extent_bytes(&tape->values.at[value].extent, c->step->settings.batch,
                      c->step->settings.dtype, tape->profile->block, &overflow);
}

/* Outputs of the net stay until the end, also while units before them run. */
static void add_outputs(struct chain *c) {
  const struct model *model = c->step->model;
  for (size_t k = 0; k < model->outputs.count; k++) {
    int64_t node = model->outputs.at[k].node;
    for (size_t i = 1; i < c->units && c->cut[i] <= node; i++)
      c->stands_from[i] += value_bytes(c, node);
  }
}

/* Longer spans are not lighter: behind one that is too large are no others. */
static void measure_spans(const struct chain *c, size_t from, int64_t most) {
  struct span_cost *cost = cost_at(c, from, from);
  for (size_t to = from + 1; to <= c->units; to++, cost++)
    cost[1] = to > from + 1 && cost->peak > most ? *cost : measure(c, from, to);
}

/* `most` is the largest of all budgets to come. */
static void open_chain(struct chain *c, int64_t most) {
  const struct model *model = c->step->model;
  struct cuts cuts = {0};
  cuts_divide(c->step, cuts_most(c->step, MOST_UNITS), c->arena, &cuts);
  c->units = cuts.at.count + 1;
  c->cut = arena_alloc(c->arena, c->units + 1, sizeof *c->cut);
  c->costs =
      arena_alloc(c->arena, (c->units + 1) * (c->units + 1), sizeof *c->costs);
  c->boundary = arena_alloc(c->arena, c->units + 1, sizeof *c->boundary);
  c->stands_from = arena_alloc(c->arena, c->units + 2, sizeof *c->stands_from);
  for (size_t i = 0; i < cuts.at.count; i++)
    c->cut[i + 1] = cuts.at.at[i];
  c->cut[c->units] = (int64_t)model->nodes.count;
  alike_find(&c->alike, c->step, c->cut, c->units, c->arena);
  for (size_t from = 0; from < c->units; from++) {
    measure_spans(c, from, most);
    progress_tell(model->progress, "measuring what checkpoints spare",
                  (int64_t)from + 1, (int64_t)c->units);
  }
  for (size_t i = c->units; i-- > 0;)
    c->stands_from[i] = c->stands_from[i + 1] + cost_at(c, i, i + 1)->gradients;
  add_outputs(c);
  for (size_t i = 1; i < c->units; i++)
    c->boundary[i] = value_bytes(c, c->cut[i] - 1);
}

/* A staircase: the more is held, the less is computed. */
struct ways {
  VEC(struct way) all;
};

/* How many hold no more than `held`. */
static size_t ways_within(const struct ways *ways, int64_t held) {
  size_t low = 0, high = ways->all.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (ways->all.at[middle].held <= held)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Adds a way unless one is as good in both; drops those that are worse. */
static void add_way(const struct chain *c, struct ways *ways, struct way way) {
  size_t at = ways_within(ways, way.held), end = at;
  if (at > 0 && ways->all.at[at - 1].macs <= way.macs)
    return;
  if (at > 0 && ways->all.at[at - 1].held == way.held)
    at--;
  while (end < ways->all.count && ways->all.at[end].macs >= way.macs)
    end++;
  size_t behind = ways->all.count - end;
  if (at == end) {
    if (ways->all.count == MOST_WAYS)
      return;
    (void)VEC_PUSH(c->arena, &ways->all);
  }
  struct way *stair = ways->all.at;
  if (at + 1 != end)
    memmove(stair + at + 1, stair + end, behind * sizeof *stair);
  ways->all.count = at + 1 + behind;
  stair[at] = way;
}

/* Whether the tensor at the end of a way is held already. */
static bool holds_result(const struct chain *c, const struct way *way,
                         size_t at) {
  return at > 0 && !way->checkpointed && cost_at(c, at - 1, at)->keeps_result;
}

static void extend(const struct chain *c, struct ways *ways, size_t at) {
  for (size_t i = 0; i < ways[at].all.count; i++) {
    struct way way = ways[at].all.at[i];
    int64_t bare = way.held;
    int64_t with = bare + (holds_result(c, &way, at) ? 0 : c->boundary[at]);
    const struct span_cost *one = cost_at(c, at, at + 1);
    int64_t held = one->keeps_input ? with : bare;
    if (held + one->peak + c->stands_from[at + 1] <= c->budget)
      add_way(c, &ways[at + 1],
              (struct way){held + one->kept, way.macs, at, i, false});
    for (size_t to = at + 1; to <= c->units; to++) {
      const struct span_cost *all = cost_at(c, at, to);
      if (with + all->peak + c->stands_from[to] <= c->budget)
        add_way(c, &ways[to],
                (struct way){with, way.macs + all->macs, at, i, true});
    }
  }
}

/* The cheapest way within the budget becomes the ranges of the step. */
static bool choose(const struct chain *c, struct step *step) {
  struct ways *ways = arena_alloc(c->arena, c->units + 1, sizeof *ways);
  add_way(c, &ways[0], (struct way){0});
  for (size_t i = 0; i < c->units; i++)
    extend(c, ways, i);
  const struct ways *end = &ways[c->units];
  const struct way *best = NULL;
  for (size_t i = 0; i < end->all.count; i++)
    if (!best || end->all.at[i].macs < best->macs)
      best = &end->all.at[i];
  if (!best)
    return false;
  step->ranges.count = 0;
  for (size_t at = c->units; at > 0;) {
    if (best->checkpointed)
      *VEC_PUSH(c->arena, &step->ranges) =
          (struct node_range){c->cut[best->from], c->cut[at]};
    at = best->from;
    best = &ways[at].all.at[best->index];
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

/* Chooses the ranges of `step`, and measures them; false: there is no way. */
static bool choose_and_measure(struct chain chain, struct step *step,
                               struct arena *arena, int64_t *peak) {
  struct arena scratch;
  struct step trial = {.model = step->model, .settings = step->settings};
  struct peak_line line;
  arena_open_in(&scratch, arena);
  chain.arena = &scratch;
  bool chosen = choose(&chain, &trial);
  if (chosen) {
    step_trace(&trial, &scratch);
    *peak = step_peak(&trial, &scratch, &line);
    step->extra_macs = trial.extra_macs;
    step->ranges.count = 0;
    for (size_t i = 0; i < trial.ranges.count; i++)
      *VEC_PUSH(arena, &step->ranges) = trial.ranges.at[i];
  }
  arena_close(&scratch);
  return chosen;
}

/* A search for segments that fit `memory` bytes. */
struct choosing {
  struct step *step;
  int64_t memory;
  bool any; /* those found first will do */
  struct arena *arena;
};

/* Ways out of a step try other optimizers, of which a chain knows nothing. */
static void open_known_chain(struct runs *runs,
                             const struct train_settings *train,
                             struct chain *chain, int64_t most) {
  struct train_settings any = *train;
  struct chain own = *chain;
  any.optimizer = any.update = 0;
  if (!runs) {
    open_chain(chain, most);
    return;
  }
  if (!runs->chain) {
    struct chain *known = arena_alloc(runs->arena, 1, sizeof *known);
    *known = own;
    known->arena = runs->arena;
    open_chain(known, most);
    runs->chain = known;
    runs->chain_for = any;
  }
  if (memcmp(&runs->chain_for, &any, sizeof any) != 0) {
    open_chain(chain, most);
    return;
  }
  *chain = *runs->chain;
  chain->step = own.step;
  chain->arena = own.arena;
}

/*
 * The budget of the choice is bisected until it is the largest whose choice
 * fits: the parts of a chain know of each other only by what is held, so the
 * whole is measured.
 */
static bool bisect_budget(const struct choosing *c, struct chain *chain) {
  struct step best = {.model = c->step->model,
                      .settings = c->step->settings,
                      .runs = c->step->runs};
  struct step trial = best;
  bool found = false;
  /* What two parts share is counted in both: more than is there may do. */
  int64_t low = 0;
  int64_t high = c->memory > INT64_MAX / 2 ? INT64_MAX : 2 * c->memory;
  open_known_chain(c->step->runs, &c->step->settings, chain, high);
  for (int i = 0; i < MOST_ROUNDS && low < high && !(found && c->any); i++) {
    int64_t peak = 0;
    progress_tell(c->step->model->progress, "choosing checkpoints", i,
                  MOST_ROUNDS);
    chain->budget = i == 0 ? c->memory : low + (high - low) / 2;
    bool chosen = choose_and_measure(*chain, &trial, c->arena, &peak);
    if (chosen && peak > c->memory) {
      high = chain->budget;
      continue;
    }
    low = chain->budget + 1;
    if (chosen && (!found || trial.extra_macs < best.extra_macs)) {
      struct step swap = best; /* each has ranges of its own */
      best = trial;
      trial = swap;
    }
    found = found || chosen;
  }
  if (found)
    *c->step = best;
  return found;
}

/*
 * Segments that fit with few MACs computed once more: dynamic programming
 * over the chain of cuts, each with what it holds and what it costs; choices
 * are measured. False if none fit; the step is as before.
 */
static bool checkpoint_auto(const struct choosing *c) {
  struct arena scratch;
  struct simulation s = {0};
  struct training t;
  struct step plain = {.model = c->step->model,
                       .settings = c->step->settings,
                       .runs = c->step->runs};
  struct chain chain = {.step = &plain, .arena = c->arena};
  step_trace(&plain, c->arena);
  arena_open_in(&scratch, c->arena);
  bool known = step_measure(&plain, &scratch, &s, &t);
  arena_close(&scratch);
  /* What stands, gradients and the optimizer are there whatever is chosen. */
  if (known && t.step > c->memory)
    return false;
  /* Even then what costs no MACs may be computed again, and spare memory. */
  if (known && t.peak <= c->memory && c->any)
    return true;
  return bisect_budget(c, &chain);
}

bool checkpoint_fits(const struct step *step, int64_t room,
                     struct arena *arena) {
  struct step trial = {.model = step->model, .settings = step->settings};
  struct choosing choosing = {&trial, room, true, arena};
  return checkpoint_auto(&choosing);
}

void checkpoint_choose(struct step *step, int64_t room, struct arena *arena) {
  const struct train_settings *train = &step->settings;
  if (train->checkpoint > 0) {
    checkpoint_even(step, train->checkpoint, arena);
    return;
  }
  checkpoint_groups(step, arena);
  step_trace(step, arena);
  struct choosing choosing = {step, room, false, arena};
  if (train->checkpoint == CHECKPOINT_AUTO && checkpoint_auto(&choosing))
    step_trace(step, arena);
}
