/* Rebuild: builds the net again with another size of an input. */
#include "sema/lint/rebuild.h"

#include "base/check.h"

bool rebuild_net(const struct rebuild *rebuild, const struct shape *shape,
                 struct arena *arena, struct model *model) {
  struct expansion trial = *rebuild->expansion;
  struct settings settings = *trial.settings;
  struct diags quiet;
  diags_open(&quiet, arena, trial.diags->sources);
  quiet.quiet = true;
  trial.arena = arena;
  trial.diags = &quiet;
  trial.settings = &settings;
  trial.ignore_marks = true;
  trial.partial = false;
  trial.node_budget = max_i64(*rebuild->left, 1);
  trial.override = (struct input_override){true, rebuild->input, *shape};
  *model = (struct model){0};
  expand_program(&trial, rebuild->program, model);
  *rebuild->left -= (int64_t)model->nodes.count;
  return !quiet.errors;
}
