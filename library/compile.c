/* The passes over a net, in the order in which they can be read aloud. */
#include "base/suggest.h"
#include "library/context.h"
#include "memory/budget.h"
#include "sema/lint.h"

/* The file's name without folders and suffix. */
static struct slice stem(struct slice path) {
  size_t start = path.length;
  while (start > 0 && path.at[start - 1] != '/')
    start--;
  struct slice name = {path.at + start, path.length - start};
  for (size_t i = name.length; i-- > 1;)
    if (name.at[i] == '.') {
      name.length = i;
      break;
    }
  return slice_is(name, "<stdin>") ? slice_of("stdin") : name;
}

static bool no_errors(const struct load *load) {
  return load->diags.errors == 0;
}

/* A -D that no `param` took is a slip of the pen. */
static bool all_defines_used(struct netc *netc, const struct block *program) {
  const struct load *load = netc->load;
  for (size_t i = 0; i < load->defines.count; i++) {
    const struct define *define = &load->defines.at[i];
    if (define->used)
      continue;
    struct suggestion s = suggest_begin(define->name);
    for (const struct stmt *stmt = program->first; stmt; stmt = stmt->next)
      if (stmt->kind == STMT_PARAM)
        suggest_offer(&s, stmt->name);
    context_say(netc, "the source has no `param %.*s`",
                SLICE_ARG(define->name));
    context_suggest(netc, &s);
    return false;
  }
  return true;
}

static struct expansion expansion_of(struct netc *netc) {
  struct load *load = netc->load;
  return (struct expansion){.arena = &load->arena,
                            .diags = &load->diags,
                            .source = load->units.at[0].source,
                            .loader = load_loader(netc),
                            .settings = &load->settings,
                            .defines = load->defines.at,
                            .define_count = load->defines.count};
}

static void choose_settings(struct load *load) {
  for (size_t i = 0; i < load->chosen.count; i++)
    expand_choice(&load->expansion, load->chosen.at[i]);
}

/* Everything after the syntax tree; whether the model is whole. */
static bool find_all(struct netc *netc) {
  struct load *load = netc->load;
  struct model *model = &load->model;
  return cost_find(model, &load->settings, &load->diags) &&
         memory_find(model, &load->settings, netc->timeline, &load->diags,
                     &load->compiled.memory);
}

static void warn(struct load *load) {
  const struct block *program = load->compiled.program;
  lint_model(&load->expansion, program, &load->model);
  lint_names(&load->diags, program);
  budget_check(&load->model, &load->settings, &load->compiled.memory,
               &load->diags);
}

static enum netc_status passes(struct netc *netc) {
  struct load *load = netc->load;
  const struct block *program = load->compiled.program;
  if (program && no_errors(load))
    expand_program(&load->expansion, program, &load->model);
  if (no_errors(load) && !all_defines_used(netc, program))
    return NETC_USAGE;
  choose_settings(load);
  if (no_errors(load) && find_all(netc)) {
    load->compiled.model = &load->model;
    warn(load);
  }
  return no_errors(load) ? NETC_OK : NETC_ERROR;
}

enum netc_status compile_net(struct netc *netc) {
  struct load *load = netc->load;
  struct unit unit = load->units.at[0];
  load->model.name = stem(unit.path);
  load->expansion = expansion_of(netc);
  load->compiled = (struct compiled){.arena = &load->arena,
                                     .sources = &load->sources,
                                     .diags = &load->diags,
                                     .source = unit.source,
                                     .program = unit.program,
                                     .parsed = no_errors(load),
                                     .expansion = &load->expansion,
                                     .settings = &load->settings};
  enum netc_status status = passes(netc);
  load->compiled.statements = load->statements;
  load->sealed = true;
  return status;
}
