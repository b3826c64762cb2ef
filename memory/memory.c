/* Memory: the exact memory of training and inference under a profile. */
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "memory/checkpoint/checkpoint.h"
#include "sema/model/degrees.h"
#include "sema/model/given.h"
#include "sema/repeat/iteration.h"
#include "memory/devices/cut_check.h"

enum { LISTED_NODES = 100000 }; /* above: tensors are not listed */

struct question {
  const struct model *model;
  const struct settings *settings;
  struct memory *memory;
};

static int by_bytes(const void *a, const void *b) {
  const struct step_alive *x = a, *y = b;
  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  return (int)x->part - (int)y->part;
}

static int by_node(const void *a, const void *b) {
  const struct step_alive *x = a, *y = b;
  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  return (int)x->part - (int)y->part;
}

/* Lists the tensors at the peak; those of a layer and kind become one item. */
static void list_alive(const struct question *q, struct simulation *s) {
  struct alive_list *list = &q->memory->alive;
  if (s->alive.count == 0)
    return; /* qsort must not be given NULL */
  qsort(s->alive.at, s->alive.count, sizeof *s->alive.at, by_node);
  for (size_t i = 0; i < s->alive.count; i++) {
    const struct step_alive *alive = &s->alive.at[i];
    struct step_alive *last = list->count ? &list->at[list->count - 1] : NULL;
    if (last && last->node == alive->node && last->part == alive->part)
      last->bytes += alive->bytes; /* cannot overflow: at most the peak */
    else
      *VEC_PUSH(q->model->arena, list) = *alive;
  }
  qsort(list->at, list->count, sizeof *list->at, by_bytes);
}

/* True if iterations may be left out: neither trace nor moments are read. */
static bool may_leap(const struct question *q, const struct simulation *s) {
  const struct train_settings *train = &q->settings->train;
  return !s->lists && !fit_room(train) && !parallel_wanted(train) &&
         !train->base && train->checkpoint == 0 &&
         train->update != UPDATE_BACKWARD;
}

/* Traces and runs the step; if its iterations differ, again with all. */
static bool measure(struct question *q, struct step *step, struct simulation *s,
                    struct arena *lasting, struct arena *scratch) {
  struct simulation run = *s;
  step->leaps = may_leap(q, s);
  checkpoint_choose(step, fit_room(&step->settings), lasting);
  bool fits = step_measure(step, scratch, s, &q->memory->training);
  if (!s->uneven)
    return fits;
  memset(s->saved_by_node, 0, q->model->nodes.count * sizeof *s->saved_by_node);
  *s = run;
  step->leaps = false;
  step_trace(step, lasting);
  return step_measure(step, scratch, s, &q->memory->training);
}

struct stage memory_device(const struct memory *memory) {
  const struct parallel *p = &memory->parallel;
  return p->stages.count ? p->stages.at[p->most_loaded]
                         : stage_of_step(&memory->training);
}

/* Traces the step in `lasting`; everything else is in `scratch`. */
static bool find_training(struct question *q, struct arena *lasting,
                          struct arena *scratch) {
  struct memory *m = q->memory;
  struct step *step = ARENA_NEW(lasting, struct step);
  struct simulation s = {.saved_by_node = m->saved_by_node,
                         .skips = true,
                         .lists = q->model->nodes.count <= LISTED_NODES};
  step->model = q->model;
  step->settings = q->settings->train;
  step->runs = ARENA_NEW(lasting, struct runs); /* repeated parts */
  step->runs->arena = lasting;
  if (!measure(q, step, &s, lasting, scratch))
    return false;
  m->step = step;
  m->extra_macs = step->extra_macs;
  for (size_t i = 0; i < step->ranges.count; i++)
    *VEC_PUSH(q->model->arena, &m->ranges) = step->ranges.at[i];
  if (m->training.at.number) /* else the peak is in the optimizer's step,
                                outside the net */
    list_alive(q, &s);
  if (fit_room(&step->settings))
    fit_find(step, scratch, &m->fit);
  return !parallel_wanted(&step->settings) ||
         parallel_find(step, scratch, q->model->arena, &m->parallel);
}

/* A net of many layers is not searched again, so its tape is freed. */
static bool trace_training(struct question *q) {
  struct arena scratch;
  bool small = q->model->nodes.count <= QUICK_NODES;
  arena_open_in(&scratch, q->model->arena);
  bool fits = find_training(q, small ? q->model->arena : &scratch, &scratch);
  arena_close(&scratch);
  if (!small)
    q->memory->step = NULL;
  return fits;
}

/* The first trial: the batch of the settings. */
static struct fit_tried own_trial(const struct memory *memory) {
  const struct parallel *p = &memory->parallel;
  const struct train_settings *train = &memory->step->settings;
  struct fit_tried own = {.batch = train->batch,
                          .peak = memory->training.peak,
                          .line = memory->training.line};
  if (!p->stages.count)
    return own;
  const struct stage *most = &p->stages.at[p->most_loaded];
  own.peak = most->peak;
  own.host = p->host;
  own.line = stage_line(most);
  return fit_held(train, own);
}

/* True if no device fits a step of one sample, which the settings have. */
static bool none_fits(const struct train_settings *train,
                      const struct fit_tried *own, size_t count,
                      const int64_t *bytes) {
  struct train_settings on = *train;
  bool fits = train->batch > 1 || train->checkpoint == CHECKPOINT_AUTO;
  for (size_t i = 0; i < count && !fits; i++) {
    on.memory = bytes[i];
    fits = own->peak <= fit_room(&on);
  }
  return !fits;
}

bool memory_largest_batches(const struct memory *memory, size_t count,
                            const int64_t *bytes, int64_t *batches) {
  struct arena scratch;
  struct fit_tries trials = {0};
  memset(batches, 0, count * sizeof *batches);
  if (!memory->step)
    return false;
  struct step step = *memory->step;
  step.alike = &memory->training;
  /* Each batch would need new pipeline cuts. */
  if (step.settings.pipeline > 1 && step.model->nodes.count > QUICK_NODES / 8)
    return false;
  struct fit_tried own = own_trial(memory);
  if (none_fits(&step.settings, &own, count, bytes))
    return true;
  arena_open_in(&scratch, step.model->arena);
  *VEC_PUSH(&scratch, &trials.all) = own;
  for (size_t i = 0; i < count; i++) {
    step.settings.memory = bytes[i];
    batches[i] =
        fit_largest_batch(&step, fit_room(&step.settings), &trials, &scratch);
  }
  arena_close(&scratch);
  return true;
}

bool memory_on_card(struct memory *memory, struct settings *settings, int gpu,
                    struct arena *arena) {
  struct train_settings *train = &settings->train;
  if (!memory->step || !train->gpu || train->memory || settings->budget_given ||
      train->checkpoint == CHECKPOINT_AUTO ||
      settings->infer.tensor_split > SPLIT_OFF)
    return false;
  struct step step = *memory->step;
  train->gpu = step.settings.gpu = gpu;
  if (gpu_lacks(settings, false)) /* a warning may be an error */
    return false;
  fit_on_device(&step, arena, &memory->fit);
  return true;
}

/* A step with settings of its own, for searches over them. */
struct simulated {
  struct training training; /* without sharing among devices */
  struct parallel parallel; /* no stages: there is one device */
  int64_t peak;             /* most loaded device */
  int64_t extra_macs;       /* recomputed, per sample */
};

/*
 * Runs the step as memory_find does, without the rest of a report. All memory
 * is in `arena`. False if a sum passes 2^63 - 1.
 */
static bool run_step(const struct model *model,
                     const struct train_settings *train, struct arena *arena,
                     struct simulated *simulated) {
  struct step step = {.model = model, .settings = *train};
  struct simulation s = {.skips = true};
  *simulated = (struct simulated){0};
  checkpoint_choose(&step, fit_room(&step.settings), arena);
  simulated->extra_macs = step.extra_macs;
  if (!step_measure(&step, arena, &s, &simulated->training))
    return false;
  simulated->peak = simulated->training.peak;
  if (!parallel_wanted(&step.settings))
    return true;
  if (!parallel_find(&step, arena, arena, &simulated->parallel))
    return false;
  const struct parallel *p = &simulated->parallel;
  simulated->peak = p->stages.at[p->most_loaded].peak;
  return true;
}

/* Traces a step with the checkpoints of a report. */
static void trace_again(struct step *step, const struct memory *memory,
                        struct arena *arena) {
  for (size_t i = 0; i < memory->ranges.count; i++)
    *VEC_PUSH(arena, &step->ranges) = memory->ranges.at[i];
  step_trace(step, arena);
}

void memory_moments(const struct model *model, const struct settings *settings,
                    const struct memory *memory, bool shared, moment_fn *each,
                    void *user) {
  struct arena scratch;
  struct step step = {.model = model, .settings = settings->train};
  struct simulation s = {.each = each, .user = user};
  struct training same;
  arena_open_in(&scratch, model->arena);
  trace_again(&step, memory, &scratch);
  if (shared && memory->parallel.stages.count)
    parallel_moments(&step, &memory->parallel, &scratch, each, user);
  else
    step_measure(&step, &scratch, &s, &same);
  arena_close(&scratch);
}

struct reserved memory_reserved(const struct model *model,
                                const struct settings *settings,
                                const struct memory *memory) {
  struct arena scratch;
  struct step step = {.model = model, .settings = settings->train};
  struct reserved found = {0};
  if (!reserved_is_known(&step) ||
      memory_device(memory).peak > INT64_MAX / 8) /* for the sums */
    return found;
  arena_open_in(&scratch, model->arena);
  trace_again(&step, memory, &scratch);
  bool known = memory->parallel.stages.count
                   ? reserved_shared(&step, &memory->parallel, &scratch, &found)
                   : reserved_alone(&step, &memory->training, &scratch, &found);
  arena_close(&scratch);
  return known ? found : (struct reserved){0};
}

bool memory_time(const struct model *model, const struct settings *settings,
                 const struct memory *memory, struct step_time *time) {
  const struct train_settings *train = &settings->train;
  const struct gpu *gpu = gpu_of(train);
  struct arena scratch;
  struct step step = {.model = model, .settings = *train};
  struct parallel parallel = memory->parallel;
  struct cuts places = {0};
  *time = (struct step_time){.missing = NULL};
  if (!gpu)
    return false;
  struct bound_cluster cluster = bound_cluster_of(
      train, gpu, parallel.stages.count ? parallel.devices : 1, 0);
  time->missing = bound_lacks(&cluster, train);
  if (time->missing)
    return false;
  arena_open_in(&scratch, model->arena);
  trace_again(&step, memory, &scratch);
  if (!parallel.stages.count) {
    parallel.microbatch = train->batch;
    *VEC_PUSH(&scratch, &parallel.stages) =
        stage_of_net(&step, &memory->training, &scratch);
  }
  struct work work = work_find(model, train, &scratch);
  cuts_all(model, &places, &scratch);
  const char *missing = time_missing(model, train, gpu);
  if (!missing)
    missing = time_missing_way(train);
  *time =
      time_find(&work, &step, &parallel, &cluster,
                given_has(settings, "cut") ? NULL : &places, missing, &scratch);
  time->cost = time_cost(model, train, cluster.devices, time->predicted);
  arena_close(&scratch);
  return true;
}

static void too_large(const struct model *model, struct diags *diags) {
  struct diagnostic *d =
      diag(diags, TOO_LARGE, model->nodes.at[model->nodes.count - 1].span,
           "the memory of the net passes 2^63 - 1 bytes");
  diag_help(d, "use a smaller batch, or smaller tensors");
}

/* The largest number at `changed` in the settings, at most `most`, with which
 * the pipeline can be cut; at most 1: none. */
static int64_t most_cut(const struct model *model,
                        const struct train_settings *train, int64_t *changed,
                        int64_t most) {
  for (bool enough = false; most > 1 && !enough; most -= !enough) {
    struct arena scratch;
    struct simulated trial;
    *changed = most;
    arena_open_in(&scratch, model->arena);
    enough =
        run_step(model, train, &scratch, &trial) &&
        (int64_t)trial.parallel.stages.count == train->pipeline &&
        (int64_t)trial.parallel.stages.at[0].part_count == stage_parts(train);
    arena_close(&scratch);
  }
  return most;
}

static int64_t most_parts(const struct model *model,
                          const struct train_settings *train, size_t units) {
  struct train_settings other = *train;
  return most_cut(model, &other, &other.virtual_stages,
                  (int64_t)units / train->pipeline);
}

static int64_t most_stages(const struct model *model,
                           const struct train_settings *train, size_t units) {
  struct train_settings other = *train;
  return most_cut(model, &other, &other.pipeline,
                  (int64_t)units / stage_parts(train));
}

static void say_stages(const struct model *model,
                       const struct train_settings *train, size_t units,
                       struct diagnostic *d, struct span place) {
  struct train_settings other = *train;
  int64_t most = most_stages(model, train, units);
  if (most > 1) {
    given_help(d, place, "use a `pipeline` from 1 to %lld", (long long)most);
    return;
  }
  other.virtual_stages = 1;
  if (other.schedule == PIPELINE_ZB_V)
    other.schedule = PIPELINE_ZB_H1;
  most = most_stages(model, &other, units);
  if (most > 1)
    given_help(d, place,
               "use a `pipeline` from 1 to %lld, with one part for each stage",
               (long long)most);
  else
    given_help(d, place,
               "leave out `pipeline`: the net has no place where only one "
               "tensor passes");
}

/* Possible cuts are known only after the step has run. */
static bool enough_stages(const struct model *model,
                          const struct settings *settings,
                          const struct parallel *p, struct diags *diags) {
  const struct train_settings *train = &settings->train;
  struct span place = given_train(model, settings, "pipeline");
  if (train->pipeline == 1 || (int64_t)p->stages.count == train->pipeline)
    return true;
  struct diagnostic *d =
      diag(diags, OUT_OF_RANGE, place,
           "the pipeline has %lld stages, but the net can be cut into only %zu "
           "part%s",
           (long long)train->pipeline, p->units, p->units == 1 ? "" : "s");
  say_stages(model, train, p->units, d, place);
  return false;
}

static bool enough_parts(const struct model *model,
                         const struct settings *settings,
                         const struct parallel *p, struct diags *diags) {
  const struct train_settings *train = &settings->train;
  struct span place = given_train(model, settings, "virtual_stages");
  if (stage_parts(train) == 1 || p->stages.at[0].part_count > 1)
    return true;
  struct diagnostic *d =
      diag(diags, OUT_OF_RANGE, place,
           "there are %lld stages of %lld parts, but the net can be cut into "
           "only %zu",
           (long long)train->pipeline, (long long)stage_parts(train), p->units);
  int64_t most =
      train->schedule == PIPELINE_ZB_V ? 1 : most_parts(model, train, p->units);
  if (most > 1)
    given_help(d, place,
               "`virtual_stages=%lld` is the maximum for %lld stages; or use a "
               "shorter `pipeline`",
               (long long)most, (long long)train->pipeline);
  else
    say_stages(model, train, p->units, d, place);
  return false;
}

bool memory_is_asked(const struct settings *settings) {
  struct settings usual;
  settings_open(&usual);
  usual.train.own = settings->train.own; /* not a choice of settings */
  return settings->budget_given ||
         memcmp(&settings->train, &usual.train, sizeof usual.train) != 0 ||
         memcmp(&settings->infer, &usual.infer, sizeof usual.infer) != 0;
}

/*
 * A step keeps only values that a layer reads, writes, learns or multiplies. A
 * factor of 2^20 bytes for each is far above any real step.
 */
bool memory_is_small(const struct model *model,
                     const struct settings *settings) {
  const struct cost *all = &model->total;
  int64_t values = 0, most = INT64_MAX >> 20;
  return add_i64(all->params, all->buffers, &values) &&
         add_i64(values, all->macs, &values) &&
         add_i64(values, all->train_macs, &values) &&
         add_i64(values, all->activations, &values) &&
         mul_i64(values, settings->train.batch, &values) &&
         mul_i64(values, settings->infer.batch, &values) && values < most;
}

/* True if a loop makes layers. */
static bool loops(const struct model *model) {
  for (size_t i = 0; i < model->nodes.count; i++)
    if (iteration_around(model->nodes.at[i].frame))
      return true;
  return false;
}

bool memory_find(const struct model *model, const struct settings *settings,
                 struct diags *diags, struct memory *memory) {
  struct question q = {model, settings, memory};
  if (!degrees_check(model, settings, diags))
    return false;
  degrees_share(model, settings, diags);
  if (!cut_check(model, settings, diags) || !time_check(model, settings, diags))
    return false;
  if (settings->train.checkpoint == CHECKPOINT_AUTO &&
      !fit_room(&settings->train)) {
    struct span place = given_train(model, settings, "checkpoint");
    given_help(diag(diags, MISSING_ARGUMENT, place,
                    "checkpoint=auto needs the memory of the device"),
               place, "give `memory=24GiB` or `gpu=a100-80`");
    return false;
  }
  bool ops = settings->train.checkpoint == CHECKPOINT_OPS;
  if ((ops || settings->train.checkpoint == CHECKPOINT_BLOCKS) &&
      !loops(model) && given_has(settings, "checkpoint")) {
    struct span place = given_train(model, settings, "checkpoint");
    given_help(diag(diags, MISSING_ARGUMENT, place,
                    "checkpoint=%s needs a loop, but no `repeat` or `for` "
                    "makes layers of this net",
                    ops ? "ops" : "blocks"),
               place, "give a number of segments: `checkpoint=8`");
    return false;
  }
  memory->saved_by_node = arena_alloc(model->arena, model->nodes.count + 1,
                                      sizeof *memory->saved_by_node);
  bool fits = trace_training(&q);
  if (fits && !(enough_stages(model, settings, &memory->parallel, diags) &&
                enough_parts(model, settings, &memory->parallel, diags)))
    return false;
  if (fits)
    cut_warn(model, settings, &memory->parallel, diags);
  if (fits && rule_find(model, settings, &memory->rule) &&
      inference_find(model, settings, &memory->inference))
    return true;
  too_large(model, diags);
  return false;
}
