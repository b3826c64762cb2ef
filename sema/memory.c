/* Memory: what training and prediction take, exactly, by a profile. */
#include "sema/memory.h"

#include "base/check.h"
#include "sema/cost.h"

/* Buffers: running statistics, fixed tensors, counters. */
static bool buffer_bytes(const struct model *model, int element,
                         int64_t *bytes) {
  if (!element_bytes(element, model->total.buffers, bytes))
    return false;
  for (size_t i = 0; i < model->nodes.count; i++)
    if (model->nodes.at[i].shares == NO_NODE &&
        !add_i64(*bytes, model->nodes.at[i].kind->counter_bytes, bytes))
      return false;
  return true;
}

static bool input_bytes(const struct model *model, int element, int64_t batch,
                        int64_t *bytes) {
  *bytes = 0;
  for (size_t i = 0; i < model->sources.count; i++) {
    const struct node *node = &model->nodes.at[model->sources.at[i]];
    int64_t sample;
    if (!shape_bytes(&node->out, element, &sample) ||
        !add_product_i64(sample, batch, bytes))
      return false;
  }
  return true;
}

/* What is there during the whole step. */
static bool standing_bytes(const struct training *t, int64_t *bytes) {
  return add_i64(t->parameters, t->optimizer, bytes) &&
         add_i64(*bytes, t->buffers, bytes) && add_i64(*bytes, t->input, bytes);
}

static bool find_training(const struct model *model,
                          const struct train_settings *train,
                          struct training *t) {
  struct trace tape;
  struct optimizer_cost optimizer;
  *t = (struct training){.profile = profile_at(train->profile)};
  t->saved_by_node = arena_alloc(model->arena, model->nodes.count + 1,
                                 sizeof *t->saved_by_node);
  trace(&tape, model, t->profile, train, train->in_place == TOGGLE_ON);
  struct simulation s = {.trace = &tape,
                         .model = model,
                         .batch = train->batch,
                         .element = train->dtype,
                         .arena = model->arena,
                         .saved_by_node = t->saved_by_node};
  simulate(&s);
  int64_t standing;
  if (s.overflow ||
      !element_bytes(train->dtype, model->total.params, &t->parameters) ||
      !element_bytes(train->dtype, model->total.trainable, &t->gradients) ||
      !optimizer_cost(model, train->optimizer, train->dtype, t->profile,
                      &optimizer) ||
      !buffer_bytes(model, train->dtype, &t->buffers) ||
      !input_bytes(model, train->dtype, train->batch, &t->input))
    return false;
  t->optimizer = optimizer.state;
  t->saved = s.saved;
  if (!standing_bytes(t, &standing) ||
      !add_i64(standing, s.forward.bytes, &t->forward) ||
      !add_i64(standing, s.backward.bytes, &t->backward) ||
      !add_i64(standing, t->gradients, &t->step) ||
      !add_i64(t->step, s.outputs, &t->step) ||
      !add_i64(t->step, optimizer.workspace, &t->step))
    return false;
  t->at = s.backward.bytes >= s.forward.bytes ? s.backward : s.forward;
  t->peak = max_i64(t->forward, t->backward);
  if (t->step > t->peak) {
    t->peak = t->step;
    t->at = (struct moment){
        .bytes = t->step - standing,
        .parts = {[PART_GRADIENTS] = t->gradients,
                  [PART_TEMPORARY] = s.outputs + optimizer.workspace},
        .phase = PHASE_STEP,
        .node = NO_NODE};
  }
  return true;
}

bool memory(const struct model *model, const struct settings *settings,
            struct diags *diags, struct memory *memory) {
  struct inference *inference = &memory->inference;
  if (find_training(model, &settings->train, &memory->training) &&
      find_inference(model, settings, inference) &&
      buffer_bytes(model, settings->infer.dtype, &inference->buffers))
    return true;
  struct diagnostic *d =
      diag(diags, TOO_LARGE, model->nodes.at[model->nodes.count - 1].span,
           "the memory of the net passes 2^63 - 1 bytes");
  diag_help(d, "a smaller batch, or smaller tensors");
  return false;
}
