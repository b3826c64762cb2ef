/* The passes over a net, in order. */
#include <inttypes.h>

#include "base/suggest.h"
#include "library/uses.h"
#include "library/context.h"
#include "library/budget.h"
#include "library/bounds.h"
#include "library/repair.h"
#include "library/shorter.h"
#include "library/vary.h"
#include "sema/lint/lint.h"
#include "sema/lint/given_input.h"
#include "sema/lint/meet.h"
#include "base/shown.h"
#include "sema/model/degrees.h"
#include "sema/model/detached.h"
#include "sema/model/queries.h"
#include "sema/repeat/node_turns.h"
#include "sema/model/verify.h"
#include "memory/serving/serving.h"

/* The file's name without folders, suffix and unprintable characters. */
static struct slice stem(struct arena *arena, struct slice path) {
  struct text shown = text_new(arena);
  size_t start = path.length;
  while (start > 0 && path.at[start - 1] != '/')
    start--;
  struct slice name = slice_from(path, start);
  for (size_t i = name.length; i-- > 1;)
    if (name.at[i] == '.') {
      name.length = i;
      break;
    }
  if (slice_is(name, "<stdin>"))
    return slice_of("stdin");
  shown_put(&shown, name, 0);
  return text_slice(&shown);
}

static enum netc_status outcome(const struct load *load) {
  return load->diags.errors ? NETC_ERROR : NETC_OK;
}

/* Lists the params of the source with their defaults. */
static void say_params(struct netc *netc, const struct block *program,
                       struct slice name) {
  struct text all = text_new(&netc->load->arena);
  for (const struct stmt *stmt = program->first; stmt; stmt = stmt->next) {
    if (stmt->kind != STMT_PARAM)
      continue;
    const struct expr *first = stmt->more->value  ? stmt->more->value
                               : stmt->more->rows ? stmt->more->rows->values
                                                  : NULL;
    if (!first)
      continue; /* in error */
    struct slice value = sources_slice(&netc->load->sources, first->span);
    text_printf(&all, "%s%.*s = %.*s", all.length ? ", " : "",
                SLICE_ARG(stmt->name), SLICE_ARG(value));
  }
  if (all.length)
    context_say_more(netc, "; its parameters: %.*s", SLICE_ARG(all));
  else
    context_say_more(netc,
                     "; it has no parameters: write `param %.*s = 1` in it",
                     SLICE_ARG(name));
}

/* Reports a -D that no `param` took, as a typo. */
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
    if (!s.best.at)
      say_params(netc, program, define->name);
    return false;
  }
  return true;
}

/* Reports an --input for an unknown input, or one that needs a name. */
static bool all_inputs_used(struct netc *netc) {
  const struct load *load = netc->load;
  const struct model *model = &load->model;
  for (size_t i = 0; i < load->inputs.count; i++) {
    const struct define *input = &load->inputs.at[i];
    bool unnamed = input->name.length == 0;
    if (unnamed ? load->expansion.inputs_seen < 2
                : input->used || model->sources.count == 0)
      continue;
    if (slice_is(input->name, INPUT_OF_TOKENS)) {
      context_say(netc, "this net has no input of tokens; `--input SIZES` "
                        "changes the size of other inputs");
      return false;
    }
    struct suggestion s = suggest_begin(input->name);
    struct slice name = {NULL, 0};
    for (size_t k = 0; k < model->sources.count; k++) {
      name = name_text(&model->nodes.at[model->sources.at[k]].name);
      suggest_offer(&s, name);
    }
    if (unnamed)
      context_say(netc,
                  "this net has %" PRId64 " inputs: name the input, --input "
                  "NAME=SIZES",
                  load->expansion.inputs_seen);
    else
      context_say(netc, "the source has no input `%.*s`",
                  SLICE_ARG(input->name));
    if (!unnamed && s.best.at)
      context_suggest(netc, &s);
    else if (!unnamed && model->sources.count == 1)
      context_say_more(netc, "; its only one is `%.*s`", SLICE_ARG(name));
    return false;
  }
  return true;
}

static struct expansion expansion_of(struct netc *netc) {
  struct load *load = netc->load;
  struct expansion expansion = {.arena = &load->arena,
                                .diags = &load->diags,
                                .source = load->units.at[0].source,
                                .loader = load_loader(netc),
                                .settings = &load->settings,
                                .adapters = netc->adapters,
                                .partial = netc->partial,
                                .defines = load->defines.at,
                                .define_count = load->defines.count,
                                .inputs = load->inputs.at,
                                .input_count = load->inputs.count,
                                .ignore_marks = load->inputs.count > 0};
  recipe_open(netc, &expansion);
  return expansion;
}

bool context_is_set(const struct netc *netc, const char *name) {
  for (size_t i = 0; i < netc->settings.count; i++)
    if (slice_is(netc->settings.at[i].name, name))
      return true;
  return false;
}

/* If the command line names a device in one way, a source's setting that names
 * it in another way is cleared. */
static void choose_settings(struct netc *netc) {
  struct load *load = netc->load;
#define EXCLUDES(setting, section, other, help) \
  if (context_is_set(netc, #setting))           \
    load->settings.section.other = 0;
#include "library/uses.def"
  if (load->settings.infer.flash > 0 &&
      (context_is_set(netc, "gpu") || context_is_set(netc, "memory")))
    load->settings.infer.flash = FLASH_ON;
  recipe_follow(netc);
  for (size_t i = 0; i < load->chosen.count; i++)
    expand_choice(&load->expansion, load->chosen.at[i]);
  load->settings.train.like = load->expansion.recipe;
}

bool context_verify(struct netc *netc, const char *pass) {
  const struct model *model = &netc->load->model;
  int64_t where;
  const char *wrong = model_verify(model, &where);
  if (wrong)
    context_say(netc, "after %s, node %" PRId64 " of %.*s: %s", pass, where,
                SLICE_ARG(model->name), wrong);
  return !wrong;
}

/* The passes. Each adds to the model or reports errors. */

/* Errors are left to the next pass, which knows about --input. */
static enum netc_status expand(struct netc *netc) {
  struct load *load = netc->load;
  if (load->compiled.program)
    expand_program(&load->expansion, load->compiled.program, &load->model);
  choose_settings(netc);
  return NETC_OK;
}

static enum netc_status find_inputs(struct netc *netc) {
  return all_inputs_used(netc) ? outcome(netc->load) : NETC_USAGE;
}

/* Refuses --lora if no layer is adapted, as nothing would be trained. */
static enum netc_status find_adapted(struct netc *netc) {
  const struct expansion *expansion = &netc->load->expansion;
  if (!expansion->adapters.rank || expansion->adapters_used)
    return NETC_OK;
  context_say(netc, "this net has no %s that LoRA can adapt%s",
              expansion->adapters.all ? "layer" : "attention",
              expansion->adapters.all
                  ? ": write `conv 64 3x3 lora=16` in the source"
                  : "; `--lora 16:all` adapts dense layers, too");
  return NETC_USAGE;
}

static enum netc_status find_defines(struct netc *netc) {
  return all_defines_used(netc, netc->load->compiled.program) ? NETC_OK
                                                              : NETC_USAGE;
}

static enum netc_status find_costs(struct netc *netc) {
  struct load *load = netc->load;
  detached_find(&load->model);
  queries_find(&load->model);
  cost_find(&load->model, &load->settings, &load->diags);
  return outcome(load);
}

/* True if memory could lead to a message: it may not fit, a sum may overflow,
 * or an input has bounds. */
static bool memory_matters(const struct netc *netc) {
  const struct load *load = netc->load;
  return netc->mode != NETC_FOR_CHECK || load->compared.count ||
         load->expansion.bounds.end || memory_is_asked(&load->given) ||
         !memory_is_small(&load->model, &load->settings);
}

/* Settings of a single device; netc_place finds the degrees. */
static struct settings without_degrees(const struct settings *settings) {
  struct settings one = *settings;
  struct train_settings *train = &one.train;
  train->data_parallel = train->tensor_parallel = 1;
  train->context_parallel = train->expert_parallel = 1;
  train->expert_tensor_parallel = 0;
  train->imbalance = SETTING_ONE;
  train->pipeline = train->virtual_stages = 1;
  train->zero = train->shard_devices = train->microbatches = 0;
  train->sequence_parallel = TOGGLE_OFF;
  train->offload = OFFLOAD_NONE;
  return one;
}

static enum netc_status find_memory(struct netc *netc) {
  struct load *load = netc->load;
  struct settings *settings = &load->settings, one;
  load->given = load->settings;
  load->given.train.like = 0; /* followed; its settings are there */
  if (uses_serves(netc)) {    /* these divide what is served */
    load->settings.train.pipeline = 1;
    load->settings.train.expert_parallel = 1;
    if (serving_tower_is_whole(&load->model, settings->infer.tensor_parallel))
      load->settings.train.tensor_parallel = 1;
  }
  runtime_settle(&load->model, &load->settings);
  if (netc->mode == NETC_FOR_PLACE) {
    if (!degrees_divide(&load->model, settings, &load->diags))
      return outcome(load);
    one = without_degrees(settings);
    settings = &one;
  }
  if (netc->mode != NETC_FOR_PLACE) /* `netc place` may set their partners */
    degrees_idle(&load->model, settings, &load->diags);
  if (!serving_check(&load->model, settings, &load->diags) ||
      !memory_matters(netc))
    return outcome(load);
  node_turns_find(&load->model);
  load->compiled.memory.fit.alone = netc->mode == NETC_FOR_FIT;
  load->compiled.memory.fit.plain = netc->mode == NETC_FOR_TABLE;
  load->compiled.memory.beside =
      (struct beside_nets){netc->beside.at, netc->beside.count};
  if (memory_find(&load->model, settings, &load->diags, &load->compiled.memory))
    load->compiled.model = &load->model;
  if (netc->beside.count && load->compiled.model &&
      load->compiled.memory.parallel.stages.count) {
    context_say(netc, "--beside needs a net on one device");
    return NETC_USAGE;
  }
  if (netc->mode == NETC_FOR_ALL)
    shorter_find(load);
  vary_find(load, &netc->lengths);
  return outcome(load);
}

/* The settings of a comparison as on the command line. */
static struct slice compared_text(const struct load *load,
                                  const struct stmt *stmt) {
  struct span span = stmt->args->span;
  for (const struct arg *arg = stmt->args; arg; arg = arg->next)
    span.end = arg->span.end;
  return sources_slice(&load->sources, span);
}

/* --compare: computes the step with each list of other settings. */
static enum netc_status compare(struct netc *netc) {
  struct load *load = netc->load;
  size_t count = load->compared.count;
  struct comparison *all = arena_alloc(&load->arena, count + 1, sizeof *all);
  struct expansion expansion = load->expansion;
  for (size_t i = 0; i < count && !load->diags.errors; i++) {
    all[i].text = compared_text(load, load->compared.at[i]);
    all[i].settings = load->given;
    expansion.settings = &all[i].settings;
    expand_choice(&expansion, load->compared.at[i]);
    runtime_settle(&load->model, &all[i].settings);
    if (!memory_find(&load->model, &all[i].settings, &load->diags,
                     &all[i].memory))
      diag_note(load->diags.all.at[load->diags.all.count - 1],
                "with --compare \"%.*s\"", SLICE_ARG(all[i].text));
  }
  load->compiled.compared = all;
  load->compiled.compared_count = count;
  return outcome(load);
}

static enum netc_status find_low_end(struct netc *netc) {
  bounds_find(netc->load);
  return outcome(netc->load);
}

static enum netc_status warn(struct netc *netc) {
  struct load *load = netc->load;
  lint_model(&load->expansion, load->compiled.program, &load->model);
  lint_names(&load->diags, load->compiled.program);
  lint_statements(&load->expansion, load->compiled.program);
  return outcome(load);
}

static enum netc_status check_budget(struct netc *netc) {
  struct load *load = netc->load;
  if (load->compiled.model)
    budget_check(&load->model, &load->settings, &load->compiled.memory,
                 &load->diags);
  return outcome(load);
}

static const struct pass {
  const char *name;
  enum netc_status (*run)(struct netc *netc);
} passes[] = {
    {"expand", expand},
    {"inputs", find_inputs},
    {"defines", find_defines},
    {"adapters", find_adapted},
    {"cost", find_costs},
    {"memory", find_memory},
    {"bounds", find_low_end},
    {"compare", compare},
    {"lint", warn},
    {"budget", check_budget},
};

/* With NETC_VERIFY, the model is checked after each pass. */
#ifdef NETC_VERIFY
enum { VERIFIES = 1 };
#else
enum { VERIFIES = 0 };
#endif

static enum netc_status run_passes(struct netc *netc) {
  enum netc_status status = outcome(netc->load);
  if (status != NETC_OK) /* the part that was parsed may have more mistakes */
    expand(netc);
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
    if (status != NETC_OK)
      return status;
    status = passes[i].run(netc);
    if (netc->after_pass)
      netc->after_pass(netc, passes[i].name);
    if (VERIFIES && !netc->load->diags.errors &&
        !context_verify(netc, passes[i].name))
      status = NETC_BUG;
  }
  return status;
}

static bool is_option(const struct sources *sources, struct span span) {
  for (size_t i = 0; i < sources->all.count; i++) {
    const struct source *source = &sources->all.at[i];
    if (slice_is(source->name, COMMAND_LINE) && span.begin >= source->base &&
        span.end <= source->base + source->text.length)
      return true;
  }
  return false;
}

/* Names the net for which an option of the command line is wrong. */
static void name_net(struct load *load, struct slice path) {
  for (size_t i = 0; i < load->diags.all.count; i++) {
    struct diagnostic *d = load->diags.all.at[i];
    bool named = !is_option(&load->sources, d->span);
    for (size_t k = 0; k < d->labels.count && !named; k++)
      named = !is_option(&load->sources, d->labels.at[k].span);
    if (!named)
      d->net = path;
  }
}

/* A repaired text may have more layers. Its errors are not reported. */
static void expand_repaired(struct netc *netc, const struct block *program) {
  struct load *load = netc->load;
  struct expansion expansion = expansion_of(netc);
  struct settings settings = load->settings;
  struct diags quiet = load->diags;
  quiet.quiet = true;
  quiet.limit = INT64_MAX;
  quiet.errors = quiet.repeated_errors = 0;
  expansion.diags = &quiet;
  expansion.settings = &settings;
  expansion.source = load->repaired;
  load->model = (struct model){.name = load->model.name,
                               .progress = load->model.progress};
  expand_program(&expansion, program, &load->model);
}

static void keep_partial(struct netc *netc) {
  struct load *load = netc->load;
  const struct block *program = load->compiled.parsed ? NULL : repair(load);
  load->repaired_program = program;
  if (program)
    expand_repaired(netc, program);
  load->partial = true;
}

enum netc_status compile_net(struct netc *netc) {
  struct load *load = netc->load;
  struct unit unit = load->units.at[0];
  load->model.name = stem(&load->arena, unit.path);
  load->model.progress = &netc->progress;
  load->expansion = expansion_of(netc);
  load->compiled = (struct compiled){.arena = &load->arena,
                                     .sources = &load->sources,
                                     .diags = &load->diags,
                                     .source = unit.source,
                                     .program = unit.program,
                                     .parsed = !load->diags.errors,
                                     .expansion = &load->expansion,
                                     .settings = &load->settings,
                                     .given = &load->given};
  enum netc_status status = run_passes(netc);
  if (status == NETC_ERROR && unit.program) {
    given_input_help(&load->expansion, &load->model);
    meet_help(&load->expansion, unit.program, &load->model);
  }
  mend_offers(netc);
  name_net(load, unit.path);
  load->compiled.statements = load->statements;
  load->sealed = true;
  if (netc->partial && (status == NETC_OK || status == NETC_ERROR))
    keep_partial(netc);
  return status;
}
