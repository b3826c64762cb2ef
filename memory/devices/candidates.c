/* Candidates: all ways to place a net, in a fixed order. */
#include "memory/devices/candidates.h"

#include <stdlib.h>

#include "base/check.h"
#include "sema/model/degrees.h"
#include "memory/devices/floor.h"

enum { MOST_UNITS = 64 }; /* units of a pipeline's cut: parallel.c */

struct lister {
  const struct place_request *request;
  struct arena *arena;
  struct candidates *all;
  struct floor floor;
  int64_t samples; /* per microbatch */
  struct train_settings now;
  int64_t checkpoints[3]; /* to choose from; 0: none */
  int checkpoint_count;
  int64_t layers; /* layers with attention */
  bool experts;   /* the net has some */
  bool cut;       /* with stages, also as many segments as units of the cut */
};

/* True if a value agrees with the choice of the source or the user. */
static bool may_be(int64_t chosen, int64_t usual, int64_t value) {
  return chosen == usual || chosen == value;
}

/* Loops, innermost first */

static void add(struct lister *l) {
  struct place_candidate *c = VEC_PUSH(l->arena, &l->all->at);
  *c = (struct place_candidate){
      .settings = l->now,
      .order = l->all->at.count - 1,
      .least = floor_seconds(&l->floor, &l->now, l->samples),
      .holds = floor_bytes(&l->floor, &l->now, l->samples)};
}

static void try_offload(struct lister *l, int what) {
  bool gathers = l->now.zero == 3;
  l->now.offload = what;
  if (gathers || !(what & OFFLOAD_PARAMETERS))
    add(l);
}

static void each_offload(struct lister *l) {
  static const int words[] = {OFFLOAD_OPTIMIZER, OFFLOAD_OP,
                              OFFLOAD_ACTIVATIONS, OFFLOAD_OA, OFFLOAD_ALL};
  const struct train_settings *chosen = l->request->train;
  try_offload(l, chosen->offload);
  if (chosen->offload || !chosen->host_memory)
    return;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    try_offload(l, words[i]);
}

/* True if ZeRO shards among all copies, or in groups that divide them. */
static bool groups_share(const struct lister *l, int64_t copies) {
  int64_t group = l->request->train->shard_devices;
  return !group || (l->now.zero && copies % group == 0);
}

static void each_zero(struct lister *l) {
  int64_t copies = l->now.data_parallel * l->now.context_parallel;
  for (int64_t zero = 0; zero <= (copies > 1 ? 3 : 0); zero++)
    if (!l->request->zero || zero == l->request->train->zero || copies == 1) {
      l->now.zero = copies > 1 ? zero : l->request->train->zero;
      if (groups_share(l, copies))
        each_offload(l);
    }
}

static void each_checkpoint(struct lister *l) {
  int64_t chosen = l->request->train->checkpoint;
  if (chosen) {
    l->now.checkpoint = chosen;
    each_zero(l);
    return;
  }
  for (int i = 0; i < l->checkpoint_count; i++) {
    l->now.checkpoint = l->checkpoints[i];
    each_zero(l);
  }
  if (l->cut && l->now.pipeline > 1) {
    l->now.checkpoint = MOST_UNITS;
    each_zero(l);
  }
}

/* Sets `parts` microbatches per step; false if the given settings differ. */
static bool take_parts(struct lister *l, int64_t parts) {
  const struct train_settings *chosen = l->request->train;
  if (l->now.pipeline == 1) {
    l->now.batch = l->samples;
    l->now.accumulate = parts;
    return may_be(chosen->accumulate, 1, parts);
  }
  l->now.accumulate = chosen->accumulate;
  l->now.microbatches = parts / chosen->accumulate;
  l->now.batch = l->samples * l->now.microbatches;
  return parts % chosen->accumulate == 0 &&
         may_be(chosen->microbatches, 0, l->now.microbatches) &&
         (l->now.virtual_stages == 1 ||
          l->now.microbatches % l->now.pipeline == 0);
}

static void each_microbatch(struct lister *l) {
  int64_t all = l->request->batch / l->now.data_parallel;
  for (int64_t samples = 1; samples <= all; samples++) {
    l->samples = samples;
    if (all % samples == 0 && take_parts(l, all / samples))
      each_checkpoint(l);
  }
}

/* Virtual stages: each part has the same number of layers. */
static void each_virtual(struct lister *l) {
  enum { MOST_PARTS = 8 };
  const struct train_settings *chosen = l->request->train;
  int64_t stages = l->now.pipeline;
  for (int64_t parts = 1; parts <= MOST_PARTS; parts++) {
    bool even = stages > 1 && chosen->schedule == PIPELINE_PIPEDREAM &&
                stages * parts <= MOST_UNITS &&
                l->layers % (stages * parts) == 0;
    bool given = chosen->virtual_stages > 1;
    if (given ? parts > 1 : parts > 1 && !even)
      continue;
    l->now.virtual_stages = given ? chosen->virtual_stages : parts;
    if (stages > 1 && chosen->cut == CUT_TURNS &&
        chosen->turns->count != stages * stage_parts(&l->now))
      continue;
    each_microbatch(l);
  }
}

/* True if devices of experts divide those that have the same layers. */
static bool are_groups(const struct train_settings *t, int64_t copies) {
  return t->tensor_parallel * t->context_parallel * copies %
             (t->expert_parallel * experts_tensor(t)) ==
         0;
}

/* Stages, and data parallel copies of the remaining devices. */
static void each_pipeline(struct lister *l, int64_t devices) {
  const struct train_settings *chosen = l->request->train;
  int64_t most = min_i64(MOST_UNITS, (int64_t)l->request->model->nodes.count);
  for (int64_t stages = 1; stages <= min_i64(devices, most); stages++) {
    int64_t copies = devices / stages;
    if (devices % stages != 0 || !may_be(chosen->pipeline, 1, stages) ||
        !may_be(chosen->data_parallel, 1, copies) ||
        !are_groups(&l->now, copies) || l->request->batch % copies != 0 ||
        (stages == 1 && chosen->virtual_stages > 1))
      continue;
    l->now.pipeline = stages;
    l->now.data_parallel = copies;
    l->now.microbatches = chosen->microbatches;
    each_virtual(l);
  }
}

/* True if heads, tokens and experts divide by the degrees, with some effect. */
static bool shares(struct lister *l) {
  const struct train_settings *chosen = l->request->train;
  struct arena scratch;
  struct diags quiet;
  struct model model = *l->request->model;
  struct settings trial = {.train = *chosen};
  trial.train.tensor_parallel = l->now.tensor_parallel;
  trial.train.sequence_parallel = l->now.sequence_parallel;
  trial.train.context_parallel = l->now.context_parallel;
  trial.train.expert_parallel = l->now.expert_parallel;
  trial.train.expert_tensor_parallel = l->now.expert_tensor_parallel;
  trial.train.microbatches = 0;
  arena_open_in(&scratch, l->arena);
  model.arena = &scratch;
  diags_open(&quiet, &scratch, NULL);
  quiet.quiet = true;
  bool shared = degrees_divide(&model, &trial, &quiet);
  /* Given degrees stay, even without effect. */
  if (chosen->tensor_parallel > 1)
    trial.train.tensor_parallel = 1;
  if (chosen->context_parallel > 1)
    trial.train.context_parallel = 1;
  shared = shared && degrees_share(&model, &trial, &quiet);
  arena_close(&scratch);
  return shared;
}

static void each_expert(struct lister *l, int64_t devices) {
  const struct train_settings *chosen = l->request->train;
  int64_t all = devices;
  if (l->now.moe > EXPERTS_ONE_BY_ONE) /* groups over other devices, too */
    all *= l->now.tensor_parallel * l->now.context_parallel /
           experts_tensor(&l->now);
  for (int64_t experts = 1; experts <= (l->experts ? all : 1); experts++) {
    l->now.expert_parallel = experts;
    if (all % experts == 0 && may_be(chosen->expert_parallel, 1, experts) &&
        shares(l))
      each_pipeline(l, devices);
  }
}

/* Whole experts on tensor-parallel devices, too, where tokens are split. */
static void each_within(struct lister *l, int64_t devices) {
  bool asked = l->request->train->expert_tensor_parallel > 0;
  each_expert(l, devices);
  if (asked || !l->experts || l->now.moe <= EXPERTS_ONE_BY_ONE ||
      l->now.sequence_parallel != TOGGLE_ON)
    return;
  l->now.expert_tensor_parallel = 1;
  each_expert(l, devices);
  l->now.expert_tensor_parallel = 0;
}

static void each_context(struct lister *l, int64_t devices) {
  const struct train_settings *chosen = l->request->train;
  for (int64_t context = 1; context <= devices; context++) {
    l->now.context_parallel = context;
    if (devices % context == 0 && may_be(chosen->context_parallel, 1, context))
      each_within(l, devices / context);
  }
}

static void each_tensor(struct lister *l) {
  const struct train_settings *chosen = l->request->train;
  int64_t devices = l->request->cluster.devices;
  for (int64_t tensor = 1; tensor <= devices; tensor++) {
    if (devices % tensor != 0 || !may_be(chosen->tensor_parallel, 1, tensor))
      continue;
    l->now.tensor_parallel = tensor;
    for (int way = TOGGLE_OFF; way >= TOGGLE_ON; way--) {
      l->now.sequence_parallel = way;
      if (may_be(chosen->sequence_parallel, TOGGLE_OFF, way) &&
          (tensor > 1 || way == TOGGLE_OFF))
        each_context(l, devices / tensor);
    }
  }
}

/* Finds checkpoint settings: a segment per layer with attention, or about
 * sqrt(n) segments. */
static void find_checkpoints(struct lister *l) {
  const struct model *model = l->request->model;
  struct arena scratch;
  struct step step = {.model = model, .settings = *l->request->train};
  int64_t segments = 1;
  step.settings.checkpoint = CHECKPOINT_SELECTIVE;
  arena_open_in(&scratch, l->arena);
  step_trace(&step, &scratch);
  l->checkpoint_count = 1; /* the first: none */
  if (step.segments.count)
    l->checkpoints[l->checkpoint_count++] = CHECKPOINT_SELECTIVE;
  arena_close(&scratch);
  for (size_t i = 0; i < model->nodes.count; i++)
    l->layers += model->nodes.at[i].kind->heads != NULL;
  l->experts = model_has_experts(model);
  while (segments * segments < (int64_t)model->nodes.count)
    segments++;
  l->checkpoints[l->checkpoint_count++] = l->layers > 1 ? l->layers : segments;
  l->cut = l->layers > MOST_UNITS;
}

static int by_least(const void *a, const void *b) {
  const struct place_candidate *x = a, *y = b;
  if (x->least != y->least)
    return x->least < y->least ? -1 : 1;
  if (x->holds != y->holds)
    return x->holds < y->holds ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

void candidates_find(const struct place_request *request,
                     const struct work *work, struct arena *arena,
                     struct candidates *all) {
  struct lister l = {
      .request = request, .arena = arena, .all = all, .now = *request->train};
  floor_open(&l.floor, request, work, arena);
  find_checkpoints(&l);
  each_tensor(&l);
  if (all->at.count)
    qsort(all->at.at, all->at.count, sizeof *all->at.at, by_least);
}
