/*
 * Queries: DETR and others ask with learned rows, which they repeat for each
 * sample at the start (models/deformable_transformer.py of Deformable-DETR:
 * `query_embed.unsqueeze(0).expand(bs, -1, -1)`). Other learned tensors are
 * used once for all samples until they meet one, as places are.
 */
#include "sema/model/queries.h"

/* True if a value depends on weights alone. `alone`: by earlier node. */
static bool is_alone(const struct model *model, const struct node *node,
                     const bool *alone) {
  if (node->kind == &model_input_kind)
    return false;
  for (int i = 0; i < node->input_count; i++)
    if (!alone[node_input(model, node, i)])
      return false;
  return true;
}

static bool any_asks(const struct model *model) {
  for (size_t i = 0; i < model->nodes.count; i++)
    if (model->nodes.at[i].kind->asks)
      return true;
  return false;
}

void queries_find(struct model *model) {
  size_t count = model->nodes.count;
  struct arena scratch;
  if (!any_asks(model) || !model->sources.count)
    return;
  arena_open_in(&scratch, model->arena);
  bool *alone = arena_alloc(&scratch, count + 1, sizeof *alone);
  bool *asks = arena_alloc(&scratch, count + 1, sizeof *asks);
  for (size_t i = 0; i < count; i++)
    alone[i] = is_alone(model, &model->nodes.at[i], alone);
  for (size_t i = count; i-- > 0;) {
    struct node *node = &model->nodes.at[i];
    if (node->kind->asks)
      asks[node_input(model, node, 0)] = true;
    for (int k = 0; asks[i] && alone[i] && k < node->input_count; k++)
      asks[node_input(model, node, k)] = true;
    node->repeated =
        asks[i] && !node->input_count && node->param_count && !node->out->point;
  }
  arena_close(&scratch);
}
