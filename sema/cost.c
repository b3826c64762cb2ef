/* Costs: parameters, MACs and activations of every node, and their sums. */
#include "sema/cost.h"

#include "base/check.h"

bool shape_bytes(const struct shape *shape, int element, int64_t *bytes) {
  int64_t count;
  if (!shape_count(shape, &count))
    return false;
  if (shape->dtype == DTYPE_FLOAT)
    return element_bytes(element, count, bytes);
  return mul_i64(count, shape->dtype == DTYPE_I64 ? 8 : 4, bytes);
}

bool cost_add(struct cost *sum, const struct cost *item) {
  return add_i64(sum->params, item->params, &sum->params) &&
         add_i64(sum->trainable, item->trainable, &sum->trainable) &&
         add_i64(sum->buffers, item->buffers, &sum->buffers) &&
         add_i64(sum->macs, item->macs, &sum->macs) &&
         add_i64(sum->activations, item->activations, &sum->activations) &&
         add_i64(sum->activation_bytes, item->activation_bytes,
                 &sum->activation_bytes);
}

static bool count_params(const struct model *model, const struct node *node,
                         struct cost *cost) {
  for (int i = 0; i < node->param_count; i++) {
    const struct model_param *param =
        &model->params.at[node->first_param + (size_t)i];
    int64_t *sum = param->buffer ? &cost->buffers : &cost->params;
    if (param->shared)
      continue;
    if (!add_i64(*sum, param->count, sum))
      return false;
    if (!param->buffer && !param->fixed &&
        !add_i64(cost->trainable, param->count, &cost->trainable))
      return false;
  }
  return true;
}

static bool count_node(const struct model *model, int64_t index, int element,
                       struct terms *terms, const struct shape **in) {
  const struct node *node = &model->nodes.at[index];
  struct cost *cost = &model->costs[index];
  struct layer layer = model_layer(model, index, in);
  terms->all.count = 0;
  if (node->kind->macs)
    node->kind->macs(&layer, terms);
  if (!terms_sum(terms, &cost->macs) || !count_params(model, node, cost))
    return false;
  if (node->kind->memory != OUTPUT_FRESH)
    return true;
  return shape_count(&node->out, &cost->activations) &&
         shape_bytes(&node->out, element, &cost->activation_bytes);
}

bool cost_find(struct model *model, const struct settings *settings,
               struct diags *diags) {
  const struct shape **in = model_layer_room(model);
  struct terms terms = {.arena = model->arena};
  model->costs =
      arena_alloc(model->arena, model->nodes.count + 1, sizeof(struct cost));
  model->total = (struct cost){0};
  for (size_t i = 0; i < model->nodes.count; i++) {
    if (count_node(model, (int64_t)i, settings->infer.dtype, &terms, in) &&
        cost_add(&model->total, &model->costs[i]))
      continue;
    struct diagnostic *d =
        diag(diags, TOO_LARGE, model->nodes.at[i].span,
             "the costs of the net pass 2^63 - 1 at this layer");
    frame_describe(d, diags->sources, model->nodes.at[i].frame);
    return false;
  }
  return true;
}

/* Bytes of optimizer state by the rule: whole copies of the parameters. */
static bool rule_state(const struct rule_input *in, int64_t *bytes) {
  int64_t copy;
  if (!element_bytes(in->element, in->params, &copy))
    return false;
  if (in->optimizer == OPTIMIZER_ADAM8BIT) /* two values of one byte */
    return mul_i64(in->params, 2, bytes);
  return mul_i64(copy, optimizer_values(in->optimizer), bytes);
}

bool rule_apply(const struct rule_input *in, struct rule *rule) {
  int64_t params, state, batch_bytes;
  *rule = (struct rule){0};
  if (!element_bytes(in->element, in->params, &params) ||
      !rule_state(in, &state))
    return false;
  rule->copies = in->x3 ? 3 : 2 + optimizer_values(in->optimizer);
  rule->prediction_params = params;
  rule->prediction_activations = in->activation_bytes;
  bool fits = add_i64(params, in->activation_bytes, &rule->prediction) &&
              mul_i64(params, in->x3 ? 3 : 2, &rule->training_params) &&
              (in->x3 ||
               add_i64(rule->training_params, state, &rule->training_params)) &&
              mul_i64(in->activation_bytes, 2, &batch_bytes) &&
              mul_i64(batch_bytes, in->batch, &rule->training_activations) &&
              mul_i64(in->input_bytes, in->batch, &rule->misc);
  if (in->misc >= 0)
    rule->misc = in->misc;
  return fits &&
         add_i64(rule->training_params, rule->training_activations,
                 &rule->training) &&
         add_i64(rule->training, rule->misc, &rule->training);
}

void memory_too_large(const struct model *model, struct diags *diags) {
  struct diagnostic *d =
      diag(diags, TOO_LARGE, model->nodes.at[model->nodes.count - 1].span,
           "the memory of the net passes 2^63 - 1 bytes");
  diag_help(d, "a smaller batch, or smaller tensors");
}

/* What the rule needs of the model. */
static bool find_activations(const struct model *model, struct rule_input *in) {
  for (size_t i = 0; i < model->nodes.count; i++) {
    int64_t bytes;
    const struct node *node = &model->nodes.at[i];
    if (node->kind->memory != OUTPUT_FRESH)
      continue;
    if (!shape_bytes(&node->out, in->element, &bytes) ||
        !add_i64(in->activation_bytes, bytes, &in->activation_bytes))
      return false;
    if (node->kind == &model_input_kind &&
        !add_i64(in->input_bytes, bytes, &in->input_bytes))
      return false;
  }
  return true;
}

bool rule_find(const struct model *model, const struct settings *settings,
               struct diags *diags, struct rule *rule) {
  const struct train_settings *train = &settings->train;
  struct rule_input in = {.params = model->total.params,
                          .batch = train->batch,
                          .misc = train->misc,
                          .element = train->dtype,
                          .optimizer = train->optimizer,
                          .x3 = train->rule == RULE_X3};
  if (find_activations(model, &in) && rule_apply(&in, rule))
    return true;
  memory_too_large(model, diags);
  return false;
}
