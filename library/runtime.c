/* A prediction as the runtime wants it, made when it is first asked for. */
#include "codegen/tables.h"
#include "library/context.h"

static const struct program *program_of(struct load *load) {
  struct program *program;
  if (load->program)
    return load->program;
  program = ARENA_NEW(&load->arena, struct program);
  if (program_find(&load->model, &load->settings, program))
    load->program = program;
  return load->program;
}

static void call_runtime(struct call *call) {
  struct load *load = call->netc->load;
  const struct program *program = program_of(load);
  struct netrt_model *model = ARENA_NEW(&load->arena, struct netrt_model);
  struct text name = text_new(&call->scratch);
  const char *why;
  int64_t node;
  call->status = program ? NETC_OK : NETC_BUG;
  if (load->runtime || !program)
    return;
  if (tables_make(&load->compiled, program, model, &why, &node)) {
    load->runtime = model;
    return;
  }
  if (node != NO_NODE)
    model_put_name(&name, &load->model, node);
  context_say(call->netc, "%s%.*s", why, SLICE_ARG(text_slice(&name)));
  call->status = NETC_ERROR;
}

enum netc_status netc_runtime(struct netc *netc,
                              const struct netrt_model **model) {
  *model = NULL;
  if (!netc->load || !netc->load->compiled.model) {
    context_say(netc, "no net has been loaded");
    return NETC_USAGE;
  }
  enum netc_status status = context_call(netc, CALL_READS, call_runtime, NULL);
  if (status == NETC_OK)
    *model = netc->load->runtime;
  return status;
}

/* Weights */

static void call_program(struct call *call) {
  call->status = program_of(call->netc->load) ? NETC_OK : NETC_BUG;
}

size_t netc_weight_count(struct netc *netc) {
  if (!netc->load || !netc->load->compiled.model ||
      context_call(netc, CALL_READS, call_program, NULL) != NETC_OK)
    return 0;
  return netc->load->program->weights.count;
}

enum netc_status netc_weight(struct netc *netc, size_t index,
                             struct netc_weight *weight) {
  if (index >= netc_weight_count(netc))
    return NETC_USAGE;
  const struct load *load = netc->load;
  const struct weight_tensor *tensor = &load->program->weights.at[index];
  const struct node *node = &load->model.nodes.at[tensor->node];
  bool bias = tensor->param == SIZE_MAX;
  struct netc_weight found = {
      .layer = tensor->node,
      .parameter = bias ? -1 : (int64_t)(tensor->param - node->first_param),
      .offset = tensor->offset,
      .bytes = tensor->bytes,
      .folded = tensor->folded};
  return FILL(weight, &found);
}
