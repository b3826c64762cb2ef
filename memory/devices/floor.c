/* Floor: lower bounds of a placement without simulating it. */
#include "memory/devices/floor.h"

#include <string.h>

#include "base/check.h"
#include "memory/checkpoint/checkpoint.h"
#include "memory/devices/cut.h"
#include "memory/devices/stage.h"
#include "memory/devices/time.h"
#include "memory/devices/touched.h"

static void find_values(struct floor *f) {
  const struct model *model = f->request->model;
  size_t count = model->nodes.count;
  f->values = arena_alloc(f->arena, count + 1, sizeof *f->values);
  f->trained = arena_alloc(f->arena, count + 1, sizeof *f->trained);
  for (size_t i = 0; i < count; i++) {
    const struct node *node = &model->nodes.at[i];
    f->values[i + 1] = f->values[i];
    f->trained[i + 1] = f->trained[i];
    for (int k = 0; k < node->param_count; k++) {
      const struct model_param *param =
          &model->params.at[node->first_param + (size_t)k];
      double values = param->shared || param->buffer ? 0 : (double)param->count;
      f->values[i + 1] += values;
      f->trained[i + 1] += param->fixed ? 0 : values;
    }
  }
}

void floor_open(struct floor *floor, const struct place_request *request,
                const struct work *work, struct arena *arena) {
  const struct train_settings *train = request->train;
  const struct model *model = request->model;
  struct param_range all = {.end = model->params.count};
  struct optimizer_cost cost = {0};
  struct train_settings own = *train;
  *floor = (struct floor){.request = request,
                          .work = work,
                          .arena = arena,
                          .missing =
                              time_missing(model, train, request->cluster.gpu)};
  find_values(floor);
  if (train->precision == PRECISION_MASTER && element_bits(train->dtype) != 16)
    own.dtype = ELEMENT_BF16;
  floor->bytes =
      train->base || model->typed ? 0 : element_bits(own.dtype) / 8.0;
  floor->summed = element_bits(gradient_element(&own)) / 8.0;
  if (train->paged != TOGGLE_ON && model->total.trainable > 0 &&
      optimizer_cost(model, &all, &own, &cost))
    floor->stepped = ((double)cost.state + (double)cost.master) /
                     (double)model->total.trainable;
}

/* Finds the bytes kept for backward by node; runs once per microbatch size. */
static const struct floor_passage *
passage_of(struct floor *f, int64_t checkpoint, int64_t samples) {
  const struct model *model = f->request->model;
  size_t count = model->nodes.count;
  struct floor_passage *found = f->passages.at;
  for (size_t i = 0; i < f->passages.count; i++, found++)
    if (found->checkpoint == checkpoint && found->samples == samples)
      return found;
  struct arena scratch;
  struct step step = {.model = model, .settings = *f->request->train};
  struct simulation s = {0};
  struct training training;
  double *kept = arena_alloc(f->arena, count + 1, sizeof *kept);
  step.settings.checkpoint = checkpoint;
  step.settings.batch = samples;
  arena_open_in(&scratch, f->arena);
  s.saved_by_node = arena_alloc(&scratch, count + 1, sizeof(int64_t));
  /* An automatic choice depends on the device: assume nothing is kept. */
  bool known = checkpoint != CHECKPOINT_AUTO;
  if (known)
    checkpoint_choose(&step, 0, &scratch);
  known = known && step_measure(&step, &scratch, &s, &training);
  found = VEC_PUSH(f->arena, &f->passages);
  *found = (struct floor_passage){checkpoint, samples, kept, 0, 0, 0};
  struct segment all = {0, step.trace.tape.ops.count};
  if (known)
    found->touched = (double)touched_bytes(&step.trace, &step, all, samples);
  for (size_t i = 0; i < count && known; i++)
    kept[i + 1] = kept[i] + (double)s.saved_by_node[i];
  for (size_t i = 0; i < step.ranges.count; i++) {
    struct node_range range = step.ranges.at[i];
    double macs = f->work->forward[range.end] - f->work->forward[range.first];
    found->again += macs;
    found->longest = macs > found->longest ? macs : found->longest;
  }
  arena_close(&scratch);
  return found;
}

/* Follows one sample on one stage, once per way of sharding layers. */
static const struct floor_sharing *sharing_of(struct floor *f,
                                              const struct train_settings *t) {
  struct floor_sharing *found = f->sharings.at;
  for (size_t i = 0; i < f->sharings.count; i++, found++)
    if (found->tensor == t->tensor_parallel &&
        found->sequence == t->sequence_parallel &&
        found->context == t->context_parallel &&
        found->expert == t->expert_parallel &&
        found->within == experts_tensor(t))
      return found;
  struct arena scratch;
  struct step step = {.model = f->request->model, .settings = *t};
  step.settings.batch = step.settings.accumulate = 1;
  step.settings.data_parallel = t->expert_parallel;
  step.settings.pipeline = step.settings.virtual_stages = 1;
  step.settings.zero = step.settings.checkpoint = 0;
  step.settings.offload = OFFLOAD_NONE;
  step.settings.shard_devices = 0;
  found = VEC_PUSH(f->arena, &f->sharings);
  *found = (struct floor_sharing){t->tensor_parallel,
                                  t->sequence_parallel,
                                  t->context_parallel,
                                  t->expert_parallel,
                                  experts_tensor(t),
                                  {0},
                                  0};
  arena_open_in(&scratch, f->arena);
  struct stage stage = traffic_of_layers(&step, &scratch);
  memcpy(found->sent, stage.sent_among, sizeof found->sent);
  found->far = stage.sent_far;
  arena_close(&scratch);
  return found;
}

/* Lower bound of seconds of transfers: the average over the stages. */
static double sent_seconds(struct floor *f, const struct train_settings *t) {
  const struct floor_sharing *sharing = sharing_of(f, t);
  const struct place_request *request = f->request;
  struct stage stage = {0};
  struct place_bound bound = {0};
  size_t end = request->model->nodes.count;
  double copies = (double)t->data_parallel * (double)t->context_parallel;
  double each = 0.99 / (double)t->pipeline; /* for rounding */
  double samples = (double)(request->batch / t->data_parallel);
  double passes = parallel_holds_whole(t, t->microbatches) ? 1
                  : t->pipeline > 1 ? (double)t->microbatches
                                    : (double)t->accumulate;
  double ring = (1 - 1 / copies) / (double)t->tensor_parallel /
                (double)t->expert_parallel;
  double gradients = f->summed * f->trained[end] * ring;
  double parameters = t->keep_small ? 0 : f->bytes * f->values[end] * ring;
  for (int i = 0; i < AMONG_COPIES; i++)
    stage.sent_among[i] = (int64_t)(each * samples * (double)sharing->sent[i]);
  stage.sent_far = (int64_t)(each * samples * (double)sharing->far);
  double sent = (t->zero == 0 ? 2 : t->zero == 1 ? 1 : passes) * gradients;
  if (t->zero == 3)
    sent +=
        (t->reshard == TOGGLE_OFF || parallel_holds_whole(t, t->microbatches)
             ? 1
             : 2) *
        passes * parameters;
  if (!t->shard_devices && sent < 0x1p61)
    stage.sent_among[AMONG_COPIES] = (int64_t)(each * sent);
  bound_links(t, &stage, &request->cluster, &bound);
  return bound.near > bound.far ? bound.near : bound.far;
}

/* Lower bound of the seconds in which the optimizer updates its state. */
static double stepping_seconds(const struct floor *f,
                               const struct train_settings *t) {
  double layers = (double)t->tensor_parallel * (double)t->expert_parallel *
                  (double)t->pipeline;
  double copies = t->shard_devices
                      ? (double)t->shard_devices
                      : (double)t->data_parallel * (double)t->context_parallel;
  double bytes = 2 * f->stepped * f->trained[f->request->model->nodes.count];
  if (t->offload & OFFLOAD_OPTIMIZER)
    return 0;
  return 0.99 * bytes / layers / (t->zero >= 1 ? copies : 1) /
         ((double)f->request->cluster.gpu->bandwidth * 1e9);
}

/* The largest stage's share of work in the settings' cut, as in estimates. */
static double find_share(struct floor *f, const struct train_settings *t) {
  const struct model *model = f->request->model;
  const struct work *w = f->work;
  int64_t end = (int64_t)model->nodes.count, parts = stage_parts(t);
  double all = w->forward[end] + w->backward[end], most = 0;
  struct arena scratch;
  struct cuts cuts = {0};
  if (t->cut == CUT_MEMORY || t->schedule == PIPELINE_ZB_V)
    return 1 / (double)t->pipeline;
  arena_open_in(&scratch, f->arena);
  if (!f->borders) {
    f->borders = ARENA_NEW(f->arena, struct net_borders);
    *f->borders = borders_find(model, f->arena);
  }
  cut_find(model, f->borders, t, &scratch, &cuts);
  bool enough = (int64_t)cuts.at.count + 1 == t->pipeline * parts;
  for (int64_t p = 0; p < t->pipeline && enough; p++) {
    double own = 0;
    for (int64_t k = p; k < t->pipeline * parts; k += t->pipeline) {
      int64_t from = k ? cuts.at.at[k - 1] : 0;
      int64_t to = k + 1 < t->pipeline * parts ? cuts.at.at[k] : end;
      own += w->forward[to] + w->backward[to] - w->forward[from] -
             w->backward[from];
    }
    most = own > most ? own : most;
  }
  arena_close(&scratch);
  return most > 0 ? most / all : 1 / (double)t->pipeline;
}

static double share_of(struct floor *f, const struct train_settings *t) {
  for (size_t i = 0; i < f->stages.count; i++)
    if (f->stages.at[i].pipeline == t->pipeline &&
        f->stages.at[i].virtual_stages == t->virtual_stages)
      return f->stages.at[i].share;
  double share = t->pipeline > 1 ? find_share(f, t) : 1;
  *VEC_PUSH(f->arena, &f->stages) =
      (struct floor_stage){t->pipeline, t->virtual_stages, share};
  return share;
}

/* Safety factors. They keep the floor below an estimate whose sums are in
 * another order, or whose stage has a few operations fewer. */
#define OF_PRODUCTS 0.99
#define OF_BYTES 0.98

/* Lower bound of seconds of the largest stage without recomputation. */
static double longest_seconds(struct floor *f, const struct train_settings *t) {
  struct train_settings one = *t;
  one.pipeline = 1;
  return OF_PRODUCTS * share_of(f, t) * (double)t->pipeline *
         bound_least(f->work, f->request->model, &one, 0, &f->request->cluster);
}

double floor_seconds(struct floor *floor, const struct train_settings *train,
                     int64_t samples) {
  const struct floor_passage *p = passage_of(floor, train->checkpoint, samples);
  /* Segments cut by stages are not recomputed. */
  double again = p->again - p->longest * (double)(train->pipeline - 1);
  const struct bound_cluster *cluster = &floor->request->cluster;
  double computes = bound_least(floor->work, floor->request->model, train,
                                again > 0 ? again : 0, cluster);
  double steps = stepping_seconds(floor, train);
  double sent = sent_seconds(floor, train);
  double passes = (double)floor->request->batch / (double)cluster->devices /
                  (double)samples;
  double longest = floor->missing ? 0 : longest_seconds(floor, train);
  double parts[TIME_PARTS] = {
      [TIME_PRODUCTS] = longest > computes ? longest : computes,
      [TIME_MEMORY] = steps + OF_BYTES * passes * p->touched /
                                  ((double)cluster->gpu->bandwidth * 1e9),
      [TIME_SENT] = sent};
  if (!floor->missing && !time_missing_way(train))
    return time_sum(cluster->gpu, parts);
  return floor_behind(time_is_known(cluster->gpu), train) *
         (computes + steps > sent ? computes + steps : sent);
}

/* Bytes per parameter, trained parameter and saved byte of a node. */
struct rates {
  double value, trained, kept;
};

static struct rates rates_of(const struct floor *f,
                             const struct train_settings *t) {
  double layers = (double)t->tensor_parallel * (double)t->expert_parallel;
  double copies = (double)t->data_parallel * (double)t->context_parallel;
  double few = t->shard_devices ? (double)t->shard_devices : copies;
  struct rates rates = {0, 0, 0};
  if (t->keep_small == 0 && !(t->offload & OFFLOAD_PARAMETERS))
    rates.value = f->bytes / (t->zero >= 3 ? few : 1) / layers;
  else if (!(t->offload & OFFLOAD_PARAMETERS))
    rates.value = f->bytes / copies / layers;
  if (!(t->offload & OFFLOAD_OPTIMIZER))
    rates.trained =
        (f->stepped / (t->zero >= 1 ? few : 1) +
         f->summed / (t->zero >= 2 && !parallel_holds_whole(t, t->microbatches)
                          ? few
                          : 1)) /
        layers;
  /* No further sharding; rounding is below 2 %. */
  if (!(t->offload & OFFLOAD_ACTIVATIONS))
    rates.kept =
        0.98 / (double)t->tensor_parallel / (double)t->context_parallel;
  return rates;
}

/* True if stages of at most `most` bytes, cut at any node, suffice. */
static bool holds(const struct floor *f, const struct floor_passage *p,
                  const struct rates *r, const struct train_settings *t,
                  double most) {
  size_t from = 0, end = f->request->model->nodes.count;
  bool waits = t->pipeline > 1;
  for (int64_t stage = 0; stage < t->pipeline && from < end; stage++) {
    double batches =
        !waits ? 1
        : t->schedule == PIPELINE_GPIPE
            ? (double)t->microbatches
            : (double)min_i64(t->pipeline - stage, t->microbatches);
    size_t low = from, high = end;
    while (low < high) {
      size_t to = low + (high - low + 1) / 2;
      double bytes = r->value * (f->values[to] - f->values[from]) +
                     r->trained * (f->trained[to] - f->trained[from]) +
                     r->kept * batches * (p->kept[to] - p->kept[from]);
      if (bytes <= most)
        low = to;
      else
        high = to - 1;
    }
    from = low;
  }
  return from == end;
}

int64_t floor_bytes(struct floor *floor, const struct train_settings *train,
                    int64_t samples) {
  enum { ROUNDS = 14 };
  const struct floor_passage *p = passage_of(floor, train->checkpoint, samples);
  struct rates rates = rates_of(floor, train);
  size_t end = floor->request->model->nodes.count;
  double low = 0, high = rates.value * floor->values[end] +
                         rates.trained * floor->trained[end] +
                         rates.kept * p->kept[end];
  if (stage_parts(train) > 1) { /* units may go to any device */
    high /= (double)train->pipeline;
  } else if (train->pipeline > 1) {
    high *= (double)max_i64(train->microbatches, 1);
    low = 0;
    for (int i = 0; i < ROUNDS; i++) {
      double middle = low + (high - low) / 2;
      if (holds(floor, p, &rates, train, middle))
        high = middle;
      else
        low = middle;
    }
    high = low;
  }
  return high < 0x1p61 ? (int64_t)high : INT64_MAX / 4;
}
