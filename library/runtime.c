/* A prediction as the runtime wants it, made when it is first asked for. */
#include "codegen/c/tables.h"
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
  call->status = program ? NETC_OK : NETC_BUG;
  if (load->runtime || !program)
    return;
  const char *refusal = tables_make(&load->compiled, program, model);
  if (!refusal) {
    load->runtime = model;
    return;
  }
  context_say(call->netc, "%s", refusal);
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
