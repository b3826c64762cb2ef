/* What training and prediction take, as structs. */
#include "library/context.h"
#include "memory/predict.h"
#include "memory/serving/serving.h"

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
                                .peak_bytes = t->peak,
                                .peak_phase = phases[t->at.phase],
                                .peak_layer = t->at.node,
                                .extra_mac_count = m->extra_macs};
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

struct prediction_call {
  struct netc_prediction found;
};

/* Of sequences that a device serves, or several do. */
static void find_serving(struct call *call, const struct model *model) {
  struct prediction_call *question = call->request;
  const struct settings *settings = &call->netc->load->settings;
  struct text why = text_new(&call->scratch), help = why;
  struct serving_answer a;
  int64_t device, taken, reserve, room;
  fit_device(&settings->train, &device, &taken, &reserve, &room);
  question->found = (struct netc_prediction){.asked = device > 0,
                                             .device_bytes = device,
                                             .framework_bytes = taken,
                                             .reserve_bytes = reserve,
                                             .room_bytes = room,
                                             .need_bytes = INT64_MAX,
                                             .longest_context = -1};
  if (!serving_possible(model, settings, &why, &help))
    return;
  if (!serving_find(model, settings, &call->scratch, false, &a)) {
    call->status = NETC_ERROR;
    return;
  }
  question->found.fits = device && a.need <= room;
  question->found.need_bytes = a.need;
  question->found.largest_batch = a.most;
  question->found.longest_context = a.longest;
}

static void find_prediction(struct call *call) {
  struct prediction_call *question = call->request;
  const struct load *load = call->netc->load;
  struct model model = load->model;
  struct predict p;
  model.arena = &call->scratch;
  if (serving_asked(&load->settings)) {
    find_serving(call, &model);
    return;
  }
  if (!predict_find(&model, &load->settings, &p)) {
    call->status = NETC_ERROR;
    return;
  }
  question->found =
      (struct netc_prediction){.asked = p.device > 0,
                               .fits = p.device && p.need <= p.room,
                               .device_bytes = p.device,
                               .framework_bytes = p.taken,
                               .reserve_bytes = p.reserve,
                               .room_bytes = p.room,
                               .need_bytes = p.need,
                               .largest_batch = p.largest_batch,
                               .longest_context = p.longest_context};
}

enum netc_status netc_verdict(struct netc *netc, struct netc_verdict *verdict) {
  const struct memory *m = memory_of(netc);
  struct netc_verdict found = {.asked = false};
  if (!m)
    return NETC_USAGE;
  const struct fit *fit = &m->fit;
  if (fit->device)
    found = (struct netc_verdict){.asked = true,
                                  .fits = fit_holds(fit),
                                  .device_bytes = fit->device,
                                  .framework_bytes = fit->taken,
                                  .room_bytes = fit->room,
                                  .peak_bytes = fit->peak,
                                  .largest_batch = fit->largest_batch,
                                  .way_count = fit->ways.count,
                                  .reserve_bytes = fit->reserve,
                                  .host_bytes = fit->host,
                                  .host_room_bytes = fit->host_room};
  return FILL(verdict, &found);
}

enum netc_status netc_prediction(struct netc *netc,
                                 struct netc_prediction *prediction) {
  struct prediction_call question = {.found = {.asked = false}};
  if (!memory_of(netc))
    return NETC_USAGE;
  enum netc_status status =
      context_call(netc, CALL_READS, find_prediction, &question);
  return status == NETC_OK ? FILL(prediction, &question.found) : status;
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
                             .host_bytes = s->host};
  return FILL(stage, &found);
}
