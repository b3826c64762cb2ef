/*
 * Recipe: follows `--like NAME`. Its settings come before those of the command
 * line and after those of the source; one that a source names (`train
 * like=hf/full`) comes before the source's other settings.
 */
#include "sema/model/recipe.h"

#include <stdlib.h>

#include "base/check.h"
#include "library/context.h"
#include "sema/expand.h"
#include "sema/model/given.h"

static int recipe_find(struct slice word) {
  return word_index(&recipe_words[1], word);
}

/* The recipe that the command line names. */
static int named_outside(const struct netc *netc) {
  for (size_t i = 0; i < netc->settings.count; i++)
    if (slice_is(netc->settings.at[i].name, "like"))
      return recipe_find(slice_of(netc->settings.at[i].value));
  return 0;
}

/* The recipe that the last `train` line of the source names. */
static int named_inside(const struct load *load) {
  const struct block *program = load->units.at[0].program;
  int found = 0;
  for (const struct stmt *s = program ? program->first : NULL; s; s = s->next)
    for (const struct arg *arg = s->kind == STMT_SETTINGS ? s->args : NULL; arg;
         arg = arg->next)
      if (arg->form == ARG_KEYED && slice_is(arg->key, "like"))
        found =
            recipe_find(arg->value->kind == EXPR_TEXT
                            ? arg->value->name
                            : sources_slice(&load->sources, arg->value->span));
  return found;
}

void recipe_open(const struct netc *netc, struct expansion *expansion) {
  struct adapters *adapters = &expansion->adapters, own;
  int number = named_outside(netc);
  if (!number)
    number = named_inside(netc->load);
  expansion->recipe = number;
  const char *lora = recipe_value(number, "lora");
  if (!lora || !adapters_read(lora, &own))
    return;
  if (!adapters->rank)
    adapters->rank = own.rank;
  if (!adapters->type)
    adapters->type = own.type;
  if (!adapters->on)
    adapters->all |= own.all;
}

/* Forgets the place of a setting, as the user has not written it. */
static void forget_place(struct settings *settings, const char *name) {
  for (int row = 0; train_specs[row].name; row++)
    if (strcmp(train_specs[row].name, name) == 0)
      settings->train_spans[row] = (struct span){0};
  for (int row = 0; infer_specs[row].name; row++)
    if (strcmp(infer_specs[row].name, name) == 0)
      settings->infer_spans[row] = (struct span){0};
}

void recipe_follow(struct netc *netc) {
  struct load *load = netc->load;
  struct recipe recipe = recipe_at(load->expansion.recipe);
  bool inside = !named_outside(netc);
  for (size_t i = 0; i < recipe.count; i++) {
    const struct recipe_row *row = &recipe.rows[i];
    struct setting_pair pair = {slice_of(row->name), slice_of(row->value)};
    bool own = inside && given_has(&load->settings, row->name);
    if (own || strcmp(row->name, "lora") == 0)
      continue;
    load_take_setting(load, &pair);
    forget_place(&load->settings, row->name);
  }
}

enum netc_status netc_recipe(size_t index, struct netc_recipe *recipe) {
  if (index >= (size_t)recipe_count())
    return NETC_USAGE;
  struct recipe r = recipe_at((int)index + 1);
  struct netc_recipe found = {.name = r.word,
                              .title = r.title,
                              .setting_count = r.count,
                              .runs = (size_t)r.runs,
                              .median = r.median,
                              .varies = r.varies};
  return FILL(recipe, &found);
}

enum netc_status netc_recipe_setting(size_t recipe, size_t index,
                                     struct netc_recipe_setting *setting) {
  if (recipe >= (size_t)recipe_count())
    return NETC_USAGE;
  struct recipe r = recipe_at((int)recipe + 1);
  if (index >= r.count)
    return NETC_USAGE;
  struct netc_recipe_setting found = {.name = r.rows[index].name,
                                      .value = r.rows[index].value,
                                      .source = r.rows[index].source};
  return FILL(setting, &found);
}
