/* The verifier: checks that a model is as its header requires. */
#include "sema/model/verify.h"

#include "sema/model/cost.h"

static bool is_node(const struct model *model, int64_t index) {
  return index >= 0 && index < (int64_t)model->nodes.count;
}

static const char *check_inputs(const struct model *model,
                                const struct node *node, int64_t index) {
  if (node->first_input + (size_t)node->input_count > model->inputs.count)
    return "its inputs pass the end of the list";
  if (node->input_count > model->most_inputs)
    return "it has more inputs than any node has";
  for (int i = 0; i < node->input_count; i++) {
    int64_t from = node_input(model, node, i);
    if (from < 0 || from >= index)
      return "it reads a node that is not before it";
  }
  bool source = node->kind->source || node->kind == &model_input_kind;
  return source == (node->input_count == 0) ? NULL
                                            : "it has inputs as no layer of "
                                              "its kind has";
}

static const char *check_params(const struct model *model,
                                const struct node *node) {
  if (node->first_param + (size_t)node->param_count > model->params.count)
    return "its parameters pass the end of the list";
  for (int i = 0; i < node->param_count; i++) {
    size_t index = node->first_param + (size_t)i;
    const struct model_param *param = &model->params.at[index];
    if (param->count < 0 || param->same > index)
      return "a parameter is shared with a later one";
    if (param->shared != (param->same != index))
      return "a parameter is shared with itself";
    if (model->params.at[param->same].same != param->same)
      return "a shared parameter's owner has an owner";
  }
  return NULL;
}

static const char *check_node(const struct model *model, int64_t index) {
  const struct node *node = &model->nodes.at[index];
  int64_t count;
  if (!node->kind || !node->kind->shape)
    return "it has no kind, or no place in the source";
  if (node->out->rank < 1 || node->out->rank > LIMIT_RANK ||
      !shape_count(node->out, &count) || count < 1)
    return "its output is not a shape";
  if (node->group < 0 || node->group >= (int64_t)model->groups.count)
    return "its group does not exist";
  const struct group *group = &model->groups.at[node->group];
  if (index < group->first || index >= group->end)
    return "it is not inside its group";
  if (node->head > index || !is_node(model, node->head) ||
      model->nodes.at[node->head].head != node->head)
    return "the head of its row is not a head";
  if (node->shares != NO_NODE && (node->shares >= index || node->shares < 0))
    return "it shares the parameters of a later node";
  const char *wrong = check_inputs(model, node, index);
  return wrong ? wrong : check_params(model, node);
}

static const char *check_groups(const struct model *model) {
  for (size_t i = 1; i < model->groups.count; i++) {
    const struct group *group = &model->groups.at[i];
    if (group->parent < 0 || group->parent >= (int64_t)i)
      return "a group comes before the one it is in";
    const struct group *parent = &model->groups.at[group->parent];
    if (group->first < parent->first || group->end > parent->end ||
        group->first > group->end)
      return "a group is not inside its parent";
  }
  return NULL;
}

static const char *check_ends(const struct model *model) {
  for (size_t i = 0; i < model->sources.count; i++)
    if (!is_node(model, model->sources.at[i]) ||
        model->nodes.at[model->sources.at[i]].kind != &model_input_kind)
      return "an input of the net is not an input";
  for (size_t i = 0; i < model->outputs.count; i++)
    if (!is_node(model, model->outputs.at[i].node))
      return "an output of the net is not a node";
  for (size_t i = 1; i < model->warnings.count; i++)
    if (model->warnings.at[i].node < model->warnings.at[i - 1].node)
      return "the warnings are not in the order of the nodes";
  return NULL;
}

static const char *check_costs(const struct model *model) {
  struct cost sum = {0};
  for (size_t i = 0; model->like && i < model->nodes.count; i++)
    if (!cost_add(&sum, model_cost(model, (int64_t)i)))
      return "the costs pass 2^63 - 1";
  bool same = !model->like || (sum.params == model->total.params &&
                               sum.trainable == model->total.trainable &&
                               sum.buffers == model->total.buffers &&
                               sum.macs == model->total.macs &&
                               sum.activations == model->total.activations);
  return same ? NULL : "the costs do not add up to the total";
}

const char *model_verify(const struct model *model, int64_t *where) {
  const char *wrong = NULL;
  for (*where = 0; *where < (int64_t)model->nodes.count; ++*where) {
    wrong = check_node(model, *where);
    if (wrong)
      return wrong;
  }
  *where = NO_NODE;
  wrong = check_groups(model);
  if (!wrong)
    wrong = check_ends(model);
  return wrong ? wrong : check_costs(model);
}
