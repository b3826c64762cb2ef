/* Shorter sequences with which a language model's training step fits. */
#include "library/shorter.h"

#include <inttypes.h>

#include "memory/devices/fit.h"
#include "sema/expand.h"
#include "sema/repeat/node_turns.h"

enum { SHORTEST = 128 }; /* tokens */

struct shorter {
  struct load *load;
  struct slice param; /* gives the length; empty: the only input's size */
  int64_t length;     /* of the load */
};

static bool is_param(const struct block *program, struct slice name) {
  for (const struct stmt *s = program->first; s; s = s->next)
    if (s->kind == STMT_PARAM && slice_equal(s->name, name))
      return true;
  return false;
}

/* False if the net does not begin with a sequence of tokens. */
static bool find_length(struct shorter *s) {
  const struct load *load = s->load;
  const struct model *model = &load->model;
  const struct block *program = load->compiled.program;
  const struct stmt *input = program->first;
  const struct shape *tokens = model->nodes.at[model->sources.at[0]].out;
  while (input && input->kind != STMT_INPUT)
    input = input->next;
  if (!input || tokens->rank != 1 || tokens->dtype == DTYPE_FLOAT)
    return false;
  s->length = tokens->dim[0];
  const struct expr *size = input->more->value;
  if (!load->inputs.count && size->kind == EXPR_NAME &&
      is_param(program, size->name))
    s->param = size->name;
  return s->param.length || (model->sources.count == 1 && !load->inputs.count);
}

/* Sets the param, in place of a value from the command line. */
static void define_length(const struct shorter *s, struct expansion *expansion,
                          int64_t length) {
  const struct load *load = s->load;
  struct define *all =
      arena_alloc(expansion->arena, load->defines.count + 1, sizeof *all);
  expansion->define_count = 0;
  for (size_t i = 0; i < load->defines.count; i++)
    if (!slice_equal(load->defines.at[i].name, s->param))
      all[expansion->define_count++] = load->defines.at[i];
  all[expansion->define_count++] = (struct define){
      .name = s->param, .value = {.kind = VALUE_INT, .integer = length}};
  expansion->defines = all;
}

/* The peak with that length; INT64_MAX: the net does not compile or fit. */
static int64_t peak_of(const struct shorter *s, int64_t length,
                       struct arena *arena) {
  struct load *load = s->load;
  struct expansion trial = load->expansion;
  struct settings settings = load->settings;
  struct model model = {.name = load->model.name};
  struct memory memory = {.fit.alone = true};
  struct diags quiet;
  diags_open(&quiet, arena, &load->sources);
  quiet.quiet = true;
  trial.arena = arena;
  trial.diags = &quiet;
  trial.settings = &settings;
  trial.ignore_marks = true;
  trial.partial = false;
  trial.records = NULL;
  if (s->param.length)
    define_length(s, &trial, length);
  else
    trial.override = (struct input_override){
        true, 0, {.rank = 1, .dtype = DTYPE_I32, .dim = {length}}};
  expand_program(&trial, load->compiled.program, &model);
  settings = load->settings;
  if (!quiet.errors)
    cost_find(&model, &settings, &quiet);
  if (quiet.errors)
    return INT64_MAX;
  node_turns_find(&model);
  bool found = memory_find(&model, &settings, &quiet, &memory);
  return found && memory.fit.peak <= memory.fit.device.room ? memory.fit.peak
                                                            : INT64_MAX;
}

static void add_way(const struct shorter *s, int64_t length, int64_t peak) {
  struct load *load = s->load;
  struct text text = text_new(&load->arena);
  if (s->param.length)
    text_printf(&text, "-D %.*s=%" PRId64, SLICE_ARG(s->param), length);
  else
    text_printf(&text, "--input %" PRId64, length);
  *VEC_PUSH(&load->arena, &load->compiled.memory.fit.ways) =
      (struct way_out){.options = text_string(&text), .peak = peak};
}

void shorter_find(struct load *load) {
  struct shorter s = {.load = load};
  const struct fit *fit = &load->compiled.memory.fit;
  if (!load->compiled.model || fit->alone || !fit->device.bytes ||
      fit_verdict(fit) == VERDICT_FITS ||
      load->model.nodes.count > QUICK_NODES || !find_length(&s))
    return;
  int64_t peak = INT64_MAX, length = s.length;
  while (peak == INT64_MAX && length / 2 >= SHORTEST) {
    struct arena scratch;
    length /= 2;
    arena_open_in(&scratch, &load->arena);
    peak = peak_of(&s, length, &scratch);
    arena_close(&scratch);
  }
  if (peak < INT64_MAX)
    add_way(&s, length, peak);
}
