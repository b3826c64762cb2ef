/* Answer: the requested figure for a net. */
#include "memory/answer/answer.h"

#include "base/check.h"

/* Training */

static void find_training(const struct memory *memory, struct answer *a) {
  const struct parallel *p = &memory->parallel;
  const struct fit *fit = &memory->fit;
  a->bytes = memory_device(memory).peak;
  a->alone = memory->training.peak;
  a->devices = p->stages.count ? p->devices : 1;
  a->uneven = p->stages.count > 1;
  a->host = p->host;
  if (memory->beside.count)
    a->bytes = a->alone =
        beside_total(&memory->beside, false, memory->training.standing,
                     memory->training.peak);
  if (!a->device.bytes)
    return;
  a->verdict = fit_judge(a->bytes, a->device.room, a->device.slack, fit->host,
                         fit->host_room);
  if (memory->beside.count)
    return; /* their batches do not follow */
  a->host = fit->host;
  a->host_room = fit->host_room;
  a->largest_batch = fit->largest_batch;
}

/* Inference in the profile's framework, without folding. */

/* The settings with one member changed. */
struct trial {
  const struct model *model;
  struct settings settings;
  int64_t *changed; /* in `settings` */
  int64_t room;
};

static bool is_planned(const struct settings *settings) {
  return settings->infer.runtime == RUNTIME_NETRT;
}

/* Bytes of inference by the runtime; false if they pass 2^63 - 1. */
static bool needs(const struct trial *trial, int64_t *bytes) {
  struct inference f;
  if (!is_planned(&trial->settings))
    return inference_in_framework(trial->model, &trial->settings, bytes);
  if (!inference_find(trial->model, &trial->settings, &f))
    return false;
  *bytes = answer_planned_bytes(&f);
  return *bytes < INT64_MAX;
}

static bool fits(struct trial *trial, int64_t value) {
  int64_t bytes;
  *trial->changed = value;
  return needs(trial, &bytes) && bytes <= trial->room;
}

/* The largest value that fits, from 0; no limit if memory does not grow. */
static int64_t search(struct trial *trial) {
  int64_t low = 0, high = 1;
  for (; fits(trial, high); high *= 2) {
    low = high;
    if (high > INT64_MAX / 4)
      return low;
  }
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (fits(trial, middle))
      low = middle;
    else
      high = middle;
  }
  return low;
}

static bool looks_back(const struct model *model) {
  const struct shape **in = model_layer_room(model);
  for (size_t i = 0; i < model->nodes.count; i++) {
    struct layer layer = model_layer(model, (int64_t)i, in);
    if (layer_keeps_tokens(&layer))
      return true;
  }
  return false;
}

int64_t answer_planned_bytes(const struct inference *f) {
  return size_sum(size_sum(f->weights, f->plan.height), f->cache);
}

/* A net that continues tokens is served; others only have a cache. */
static bool find_context(const struct answer_request *r, struct answer *a,
                         struct trial *trial) {
  struct text why = text_new(r->arena), help = why;
  struct settings *settings = &trial->settings;
  bool one = settings->infer.batch == 1;
  if (!looks_back(r->model))
    return true;
  if (!serving_possible(r->model, settings, &why, &help)) {
    trial->changed = &settings->infer.decode;
    a->longest_context = search(trial);
    return true;
  }
  struct serving_answer *s = ARENA_NEW(r->arena, struct serving_answer);
  settings->infer.sequences = one ? 0 : settings->infer.batch;
  if (!serving_find(r->model, settings, r->arena, one && r->table, s))
    return false;
  a->longest_context = s->longest;
  a->served = one ? s : NULL;
  return true;
}

static bool find_prediction(const struct answer_request *r, struct answer *a) {
  const struct inference *f = &r->memory->inference;
  struct trial trial = {
      .model = r->model, .settings = *r->settings, .room = a->device.room};
  a->planned = answer_planned_bytes(f);
  a->bytes = size_sum(size_sum(f->parameters, f->buffers),
                      size_sum(f->framework, f->cache));
  if (is_planned(r->settings))
    a->bytes = a->planned;
  if (r->memory->beside.count)
    a->bytes = beside_total(&r->memory->beside, true,
                            is_planned(r->settings)
                                ? f->weights
                                : size_sum(f->parameters, f->buffers),
                            a->bytes);
  a->alone = a->bytes;
  if (a->bytes == INT64_MAX || a->planned == INT64_MAX)
    return false;
  if (!a->device.bytes)
    return true;
  a->verdict = fit_judge(a->bytes, a->device.room, a->device.slack, 0, 0);
  if (r->memory->beside.count)
    return true; /* their batches do not follow */
  trial.changed = &trial.settings.infer.batch;
  a->largest_batch = search(&trial);
  trial.settings = *r->settings;
  return find_context(r, a, &trial);
}

/* On a board */

static bool find_on_board(const struct answer_request *r, struct answer *a) {
  struct firmware *f = ARENA_NEW(r->arena, struct firmware);
  if (!firmware_find(r->model, r->settings, f))
    return false;
  bool ram = f->ram_room > 0; /* otherwise only the flash is known */
  a->firmware = f;
  a->planned = size_sum(f->weights, f->arena);
  a->bytes = a->alone = ram ? f->ram : f->flash;
  a->device.bytes = a->device.room = ram ? f->ram_room : f->flash_room;
  a->verdict = f->fits ? VERDICT_FITS : VERDICT_TOO_MUCH;
  return true;
}

/* Serving */

/* Bytes on one device, without its limits. */
static bool find_alone(const struct answer_request *r, int64_t *bytes) {
  struct settings one = *r->settings;
  struct serving_answer found;
  one.infer.tensor_parallel = 1;
  one.infer.gpu_layers = GPU_LAYERS_OFF;
  one.infer.host_experts = 0;
  one.infer.tensor_split = SPLIT_OFF;
  one.infer.expert_parallel = one.infer.pipeline = 1;
  one.train.gpu = 0;
  one.train.memory = 0;
  if (!serving_find(r->model, &one, r->arena, false, &found))
    return false;
  *bytes = found.card.need;
  return true;
}

static bool find_serving(const struct answer_request *r, struct answer *a) {
  struct text why = text_new(r->arena), help = why;
  struct serving_answer *s = ARENA_NEW(r->arena, struct serving_answer);
  const struct infer_settings *infer = &r->settings->infer;
  a->devices = size_product(
      max_i64(infer->tensor_parallel, infer->expert_parallel), infer->pipeline);
  a->bytes = a->alone = INT64_MAX;
  a->verdict = a->device.bytes ? VERDICT_TOO_MUCH : VERDICT_NONE;
  if (!serving_possible(r->model, r->settings, &why, &help))
    return true;
  if (!serving_find(r->model, r->settings, r->arena, r->table, s))
    return false;
  a->served = s;
  a->uneven = s->uneven;
  if (s->cards > 1) {
    a->devices = s->staged ? a->devices : s->cards;
    a->uneven = true;
    a->device = s->device;
    a->card = s->by_card[s->tightest].gpu;
  }
  a->bytes = a->alone = s->card.need;
  a->host = s->host.need;
  a->host_room = s->host_room;
  a->context = s->context;
  a->sequences = s->sequences;
  if (r->memory->beside.count) { /* their batches do not follow */
    a->bytes = a->alone =
        beside_total(&r->memory->beside, true,
                     size_sum(s->card.weights, s->card.cache), s->card.need);
    if (a->device.bytes)
      a->verdict =
          fit_judge(a->bytes, a->device.room, s->strict ? 0 : a->device.slack,
                    a->host, a->host_room);
    return a->bytes < INT64_MAX;
  }
  if (a->device.bytes) {
    a->verdict = serving_verdict(s);
    a->longest_context = s->longest;
    a->most_sequences = s->most;
    a->positions = s->positions;
  }
  return (a->devices == 1 && !s->blocks) || find_alone(r, &a->alone);
}

bool answer_find(const struct answer_request *r, struct answer *a) {
  *a = (struct answer){.devices = 1,
                       .largest_batch = -1,
                       .longest_context = -1,
                       .most_sequences = -1,
                       .positions = -1};
  if (r->predict && board_asked(r->settings)) {
    a->asked = ASKED_PREDICTION;
    return find_on_board(r, a);
  }
  a->card = r->settings->train.memory ? NULL : gpu_of(&r->settings->train);
  if (r->predict)
    a->asked = serving_asked(r->settings) ? ASKED_SERVING : ASKED_PREDICTION;
  a->device = r->predict ? runtime_device(r->settings)
                         : fit_device(&r->settings->train, false);
  switch (a->asked) {
  case ASKED_SERVING: return find_serving(r, a);
  case ASKED_PREDICTION: return find_prediction(r, a);
  default: find_training(r->memory, a); return true;
  }
}
