/*
 * Detached: PyTorch's optimizers skip a parameter whose gradient is None. It
 * counts as frozen, although autograd has a node for its reader.
 */
#include "sema/model/detached.h"

static bool stops(const struct node *node) {
  return node->kind->stops && node->kind->stops(node->args);
}

static bool any_stops(const struct model *model) {
  for (size_t i = 0; i < model->nodes.count; i++)
    if (model->nodes.at[i].kind->stops && stops(&model->nodes.at[i]))
      return true;
  return false;
}

/* By node: true if its output gets a gradient. */
static bool *find_led(const struct model *model) {
  bool *led = arena_alloc(model->arena, model->nodes.count + 1, sizeof *led);
  for (size_t i = 0; i < model->outputs.count; i++)
    led[model->outputs.at[i].node] = true;
  for (size_t i = model->nodes.count; i-- > 0;) {
    const struct node *node = &model->nodes.at[i];
    int count = node->kind->led ? node->kind->led : node->input_count;
    for (int k = 0; led[i] && !stops(node) && k < count; k++)
      led[node_input(model, node, k)] = true;
  }
  return led;
}

void detached_find(struct model *model) {
  model->stops = any_stops(model);
  if (!model->stops)
    return;
  bool *led = find_led(model);
  bool *steps =
      arena_alloc(model->arena, model->params.count + 1, sizeof *steps);
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    for (int k = 0; led[i] && k < node->param_count; k++)
      steps[model->params.at[node->first_param + (size_t)k].same] = true;
  }
  for (size_t i = 0; i < model->params.count; i++) {
    struct model_param *param = &model->params.at[i];
    if (param->buffer || param->fixed || steps[param->same])
      continue;
    param->fixed = param->detached = true;
  }
}
