/* Memory of training and inference, as structs. */
#include "base/check.h"
#include "library/context.h"
#include "library/uses.h"

static const struct memory *memory_of(const struct netc *netc) {
  bool whole = netc->load && netc->load->compiled.model;
  return whole ? &netc->load->compiled.memory : NULL;
}

enum netc_status netc_training(struct netc *netc,
                               struct netc_training *training) {
  static const enum netc_phase phases[] = {[PHASE_FORWARD] = NETC_FORWARD,
                                           [PHASE_BACKWARD] = NETC_BACKWARD,
                                           [PHASE_STEP] = NETC_STEP};
  const struct memory *m = memory_of(netc);
  if (!m)
    return NETC_USAGE;
  const struct train_settings *train = &netc->load->settings.train;
  const struct training *t = &m->training;
  struct stage device = memory_device(m);
  struct netc_training found = {.profile = t->profile->name,
                                .measured = t->profile->measured,
                                .optimizer = optimizer_word(train->optimizer),
                                .batch = train->batch,
                                .parameter_bytes = t->parameters,
                                .gradient_bytes = t->gradients,
                                .optimizer_bytes = t->optimizer,
                                .buffer_bytes = t->buffers,
                                .input_bytes = t->input,
                                .rounding_bytes = t->rounding,
                                .workspace_bytes = t->workspace,
                                .saved_bytes = t->saved,
                                .forward_peak_bytes = t->forward,
                                .backward_peak_bytes = t->backward,
                                .step_peak_bytes = t->step,
                                .peak_bytes = device.peak,
                                .peak_phase = phases[t->at.phase],
                                .peak_layer = t->at.node,
                                .extra_mac_count = m->extra_macs,
                                .device_peak_bytes = device.peak,
                                .device_saved_bytes = device.activations,
                                .alone_peak_bytes = t->peak};
  return FILL(training, &found);
}

enum netc_status netc_inference(struct netc *netc,
                                struct netc_inference *inference) {
  const struct memory *m = memory_of(netc);
  if (!m)
    return NETC_USAGE;
  const struct inference *f = &m->inference;
  struct netc_inference found = {.batch = netc->load->settings.infer.batch,
                                 .parameter_bytes = f->parameters,
                                 .buffer_bytes = f->buffers,
                                 .weight_bytes = f->weights,
                                 .cache_bytes = f->cache,
                                 .arena_bytes = f->plan.height,
                                 .lower_bound_bytes = f->plan.lower_bound,
                                 .optimal = f->plan.optimal,
                                 .peak_live_bytes = f->live,
                                 .peak_layer = f->live_node,
                                 .framework_peak_bytes = f->framework};
  return FILL(inference, &found);
}

size_t netc_buffer_count(const struct netc *netc) {
  const struct memory *m = memory_of(netc);
  return m ? m->inference.arena.count : 0;
}

enum netc_status netc_buffer(struct netc *netc, size_t index,
                             struct netc_buffer *buffer) {
  if (index >= netc_buffer_count(netc))
    return NETC_USAGE;
  const struct arena_buffer *b = &memory_of(netc)->inference.arena.at[index];
  struct netc_buffer found = {.layer = b->node,
                              .part = b->part ? b->part : "",
                              .offset = b->offset,
                              .bytes = b->bytes,
                              .first = b->first,
                              .last = b->last};
  return FILL(buffer, &found);
}

/* Time of a step */

static void call_time(struct call *call) {
  const struct load *load = call->netc->load;
  struct model model = load->model;
  model.arena = &call->scratch;
  memory_time(&model, &load->settings, &load->compiled.memory, call->request);
}

enum netc_status netc_time(struct netc *netc, struct netc_time *time) {
  struct step_time found = {.missing = NULL};
  if (!memory_of(netc) || !gpu_of(&netc->load->settings.train))
    return NETC_USAGE;
  enum netc_status status = context_call(netc, CALL_READS, call_time, &found);
  struct netc_time all = {.bound_seconds = found.bound.step,
                          .predicted_seconds = found.predicted,
                          .mfu = found.mfu,
                          .missing = found.missing,
                          .hours = found.cost.hours,
                          .money = found.cost.money};
  return status == NETC_OK ? FILL(time, &all) : status;
}

/* Questions about either */

struct answer_call {
  bool predict;
  const char *gpu; /* another card than the load's; or NULL */
  bool strict;     /* refuse settings without effect */
  struct answer found;
  /* Copies that outlive the call. */
  struct serving_answer served;
  struct firmware firmware;
};

/* Judges the step on the other card; false: that needs a load. */
static bool move_to_card(struct call *call, const struct answer_call *asked,
                         struct settings *settings, struct memory *memory) {
  const char *several;
  const struct load *load = call->netc->load;
  int gpu = gpu_find(&call->netc->gpus, slice_of(asked->gpu), &several);
  if (gpu && !asked->predict && !load->compared.count &&
      memory_on_card(memory, settings, gpu, &call->scratch))
    return true;
  context_say(call->netc, "load the net for `%s`", asked->gpu);
  call->status = NETC_USAGE;
  return false;
}

static void call_answer(struct call *call) {
  struct answer_call *asked = call->request;
  const struct load *load = call->netc->load;
  struct model model = load->model;
  struct settings settings = load->settings;
  struct memory memory = load->compiled.memory;
  asked->predict = uses_prediction(call->netc, asked->predict);
  if ((asked->strict && !uses_all(call, "answer", asked->predict)) ||
      (asked->gpu && !move_to_card(call, asked, &settings, &memory)))
    return;
  struct answer_request request = {.model = &model,
                                   .settings = &settings,
                                   .memory = &memory,
                                   .predict = asked->predict,
                                   .arena = &call->scratch};
  model.arena = &call->scratch;
  if (answer_find(&request, &asked->found)) {
    if (asked->found.served)
      asked->served = *asked->found.served;
    if (asked->found.firmware)
      asked->firmware = *asked->found.firmware;
    asked->found.served = NULL;
    asked->found.firmware = NULL;
    return;
  }
  context_say(call->netc, "its memory passes 2^63 - 1 bytes");
  call->status = NETC_ERROR;
}

static enum netc_status find_answer(struct netc *netc,
                                    struct answer_call *asked) {
  if (!memory_of(netc))
    return NETC_USAGE;
  return context_call(netc, CALL_READS, call_answer, asked);
}

static enum netc_status fill_answer(struct netc *netc, struct answer_call *call,
                                    struct netc_answer *answer) {
  static const enum netc_question questions[] = {
      [ASKED_TRAINING] = NETC_TRAINING,
      [ASKED_PREDICTION] = NETC_PREDICTION,
      [ASKED_SERVING] = NETC_SERVING};
  enum netc_status status = find_answer(netc, call);
  const struct answer *a = &call->found;
  const struct serving_answer *served = &call->served;
  const struct firmware *board = &call->firmware;
  if (status != NETC_OK)
    return status;
  struct netc_answer found = {.question = questions[a->asked],
                              .on_device = a->device.bytes > 0,
                              .fits = verdict_holds(a->verdict),
                              .verdict = fit_word(a->verdict),
                              .bytes = a->bytes,
                              .alone_bytes = a->alone,
                              .planned_bytes = a->planned,
                              .device_count = a->devices,
                              .uneven = a->uneven,
                              .device_bytes = a->device.bytes,
                              .framework_bytes = a->device.taken,
                              .reserve_bytes = a->device.reserve,
                              .room_bytes = a->device.room,
                              .host_bytes = a->host,
                              .host_room_bytes = a->host_room,
                              .largest_batch = a->largest_batch,
                              .longest_context = a->longest_context,
                              .context = a->context,
                              .sequences = a->sequences,
                              .most_sequences = a->most_sequences,
                              .card_bytes =
                                  a->card ? gpu_card_bytes(a->card) : 0,
                              .layer_count = served->blocks,
                              .gpu_layers = served->on_card,
                              .next_layer_bytes = served->next,
                              .positions = a->positions,
                              .ram_bytes = board->ram,
                              .ram_room_bytes = board->ram_room,
                              .flash_bytes = board->flash,
                              .flash_room_bytes = board->flash_room};
  return FILL(answer, &found);
}

enum netc_status netc_answer(struct netc *netc, bool predict,
                             struct netc_answer *answer) {
  struct answer_call call = {.predict = predict, .strict = true};
  return fill_answer(netc, &call, answer);
}

enum netc_status netc_answer_on(struct netc *netc, const char *gpu,
                                struct netc_answer *answer) {
  struct answer_call call = {.gpu = gpu, .strict = true};
  return fill_answer(netc, &call, answer);
}

enum netc_status netc_verdict(struct netc *netc, struct netc_verdict *verdict) {
  const struct memory *m = memory_of(netc);
  struct netc_verdict found = {.verdict = fit_word(VERDICT_NONE)};
  if (!m)
    return NETC_USAGE;
  const struct fit *fit = &m->fit;
  if (fit->device.bytes)
    found = (struct netc_verdict){.asked = true,
                                  .fits = verdict_holds(fit_verdict(fit)),
                                  .verdict = fit_word(fit_verdict(fit)),
                                  .device_bytes = fit->device.bytes,
                                  .framework_bytes = fit->device.taken,
                                  .room_bytes = fit->device.room,
                                  .peak_bytes = fit->peak,
                                  .largest_batch = fit->largest_batch,
                                  .way_count = fit->ways.count,
                                  .reserve_bytes = fit->device.reserve,
                                  .host_bytes = fit->host,
                                  .host_room_bytes = fit->host_room};
  return FILL(verdict, &found);
}

enum netc_status netc_prediction(struct netc *netc,
                                 struct netc_prediction *prediction) {
  struct answer_call asked = {.predict = true};
  enum netc_status status = find_answer(netc, &asked);
  const struct answer *a = &asked.found;
  bool serves = a->asked == ASKED_SERVING;
  if (status != NETC_OK)
    return status;
  struct netc_prediction found = {
      .asked = a->device.bytes > 0,
      .fits = verdict_holds(a->verdict),
      .verdict = fit_word(a->verdict),
      .device_bytes = a->device.bytes,
      .framework_bytes = a->device.taken,
      .reserve_bytes = a->device.reserve,
      .room_bytes = a->device.room,
      .need_bytes = a->bytes,
      .largest_batch =
          max_i64(serves ? a->most_sequences : a->largest_batch, 0),
      .longest_context = a->longest_context};
  return FILL(prediction, &found);
}

enum netc_status netc_way(struct netc *netc, size_t index,
                          struct netc_way *way) {
  const struct memory *m = memory_of(netc);
  if (!m || index >= m->fit.ways.count)
    return NETC_USAGE;
  const struct way_out *out = &m->fit.ways.at[index];
  struct netc_way found = {.options = out->options,
                           .peak_bytes = out->peak,
                           .extra_mac_count = out->extra_macs};
  return FILL(way, &found);
}

enum netc_status netc_devices(struct netc *netc, struct netc_devices *devices) {
  const struct memory *m = memory_of(netc);
  if (!m)
    return NETC_USAGE;
  const struct parallel *p = &m->parallel;
  bool several = p->stages.count > 0;
  struct netc_devices found = {
      .device_count = several ? p->devices : 1,
      .microbatch = several ? p->microbatch : netc->load->settings.train.batch,
      .stage_count = p->stages.count,
      .most_loaded = p->most_loaded,
      .host_device_count = p->host ? p->host_devices : 0,
      .host_bytes = p->host};
  return FILL(devices, &found);
}

enum netc_status netc_stage(struct netc *netc, size_t index,
                            struct netc_stage *stage) {
  const struct memory *m = memory_of(netc);
  if (!m || index >= m->parallel.stages.count)
    return NETC_USAGE;
  const struct stage *s = &m->parallel.stages.at[index];
  struct netc_stage found = {.first_layer = s->nodes.first,
                             .last_layer = s->nodes.end - 1,
                             .parameter_bytes = s->parameters,
                             .gradient_bytes = s->gradients,
                             .optimizer_bytes = s->optimizer,
                             .buffer_bytes = s->buffers,
                             .input_bytes = s->input,
                             .gathered_bytes = s->gathered,
                             .bucket_bytes = s->buckets,
                             .saved_bytes = s->activations,
                             .temporary_bytes = s->temporary,
                             .peak_bytes = s->peak,
                             .in_flight_count = s->in_flight,
                             .master_bytes = s->master,
                             .average_bytes = s->averaged,
                             .deferred_bytes = s->deferred,
                             .host_bytes = s->host,
                             .turn_count = parallel_turns(&m->parallel, s)};
  return FILL(stage, &found);
}
