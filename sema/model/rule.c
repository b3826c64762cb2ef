/* The rule of thumb: docs/memory.md, section 1. */
#include "sema/model/rule.h"

#include "base/check.h"

/* Bytes of optimizer state: whole copies of the parameters. */
static bool rule_state(const struct rule_input *in, int64_t *bytes) {
  int bits = optimizer_value_bits(in->optimizer);
  int64_t copy;
  if (bits ? !mul_i64(in->params, bits / 8, &copy)
           : !element_bytes(in->element, in->params, &copy))
    return false;
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

/* Finds the model's figures for the rule. */
static bool find_activations(const struct model *model, struct rule_input *in) {
  for (size_t i = 0; i < model->nodes.count; i++) {
    int64_t bytes;
    const struct node *node = &model->nodes.at[i];
    if (node->kind->memory != OUTPUT_FRESH)
      continue;
    if (!shape_bytes(node->out, in->element, &bytes) ||
        !add_i64(in->activation_bytes, bytes, &in->activation_bytes))
      return false;
    if (node->kind == &model_input_kind &&
        !add_i64(in->input_bytes, bytes, &in->input_bytes))
      return false;
  }
  return true;
}

bool rule_find(const struct model *model, const struct settings *settings,
               struct rule *rule) {
  const struct train_settings *train = &settings->train;
  struct rule_input in = {.params = model->total.params,
                          .batch = train->batch,
                          .misc = train->misc,
                          .element = train->dtype,
                          .optimizer = train->optimizer,
                          .x3 = train->rule == RULE_X3};
  return find_activations(model, &in) && rule_apply(&in, rule);
}
