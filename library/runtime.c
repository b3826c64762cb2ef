/* The runtime's tables for inference, made on demand. */
#include "codegen/c/identifier.h"
#include "memory/tables.h"
#include "library/context.h"

const struct program *load_program(struct load *load) {
  struct program *program;
  if (load->program)
    return load->program;
  program = ARENA_NEW(&load->arena, struct program);
  if (program_find(&load->model, &load->settings, program))
    load->program = program;
  return load->program;
}

void load_runtime(struct call *call) {
  struct load *load = call->netc->load;
  const struct program *program = load_program(load);
  struct netrt_model *model = ARENA_NEW(&load->arena, struct netrt_model);
  call->status = program ? NETC_OK : NETC_BUG;
  if (load->runtime || !program)
    return;
  const char *refusal =
      tables_make(&load->model, &load->settings, program, model);
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
  enum netc_status status = context_call(netc, CALL_READS, load_runtime, NULL);
  if (status == NETC_OK)
    *model = netc->load->runtime;
  return status;
}

struct c_name_call {
  const struct netc_options *options;
  const char *name;
};

static void call_c_name(struct call *call) {
  struct c_name_call *asked = call->request;
  struct load *load = call->netc->load;
  struct compiled copy = load->compiled;
  copy.options = asked->options;
  copy.arena = &call->scratch;
  struct identifiers ids = identifiers_open(&copy);
  asked->name = context_keep(&load->arena, identifiers_small(&ids)).at;
}

enum netc_status netc_c_name(struct netc *netc,
                             const struct netc_options *options,
                             const char **name) {
  struct netc_options own = {.size = sizeof own};
  struct c_name_call asked = {.options = &own, .name = ""};
  *name = asked.name;
  if (!netc->load || !netc->load->compiled.model) {
    context_say(netc, "no net has been loaded");
    return NETC_USAGE;
  }
  if (options)
    memcpy(&own, options,
           options->size < sizeof own ? options->size : sizeof own);
  enum netc_status status = context_call(netc, CALL_READS, call_c_name, &asked);
  *name = asked.name;
  return status;
}
