/*
 * Options of every layer, anywhere in its statement: `frozen`,
 * `inplace=on|off` and `dtype=f32`. They hold for the layer and its tail.
 */
#include "sema/statements.h"

const struct arg_spec row_specs[] = {
    {.name = "frozen",
     .type = TYPE_WORDS,
     .place = PLACE_WORD,
     .words = "frozen",
     .offset = offsetof(struct row_options, frozen),
     .doc = "exclude from training; `frozen=false` trains a layer inside "
            "`freeze`"},
    {.name = "inplace",
     .type = TYPE_CHOICE,
     .place = PLACE_KEY,
     .words = "on off",
     .offset = offsetof(struct row_options, inplace),
     .fallback = "the setting",
     .doc = "allow the layer to overwrite its input: on or off"},
    {.name = "dtype",
     .type = TYPE_CHOICE,
     .place = PLACE_KEY,
     .words = ELEMENT_WORDS,
     .offset = offsetof(struct row_options, dtype),
     .fallback = "the setting",
     .doc = "type of the layer's parameters, to which its inputs are cast"},
    SPEC_END};

enum { ROW_FROZEN, ROW_INPLACE, ROW_DTYPE };

void row_options_begin(struct expander *e, struct binding *options,
                       const char *owner) {
  bind_begin(e, options, owner, row_specs, sizeof(struct row_options));
}

static bool has_key(const struct arg_spec *specs, struct slice key) {
  for (; specs->name; specs++)
    if (slice_is(key, specs->name))
      return true;
  return false;
}

/* A name of the source or of the layer itself takes precedence. */
bool row_options_read(struct expander *e, struct binding *options,
                      const struct binding *own, const struct arg *arg) {
  if (arg->form == ARG_KEYED) {
    if (!has_key(row_specs, arg->key) || has_key(own->specs, arg->key))
      return false;
    bind_arg(e, options, arg);
    return true;
  }
  if (arg->form != ARG_PLAIN || arg->value->kind != EXPR_NAME ||
      bind_knows(own, arg->value->name) ||
      scope_find(e->scope, arg->value->name))
    return false;
  return bind_word(e, options, arg->value->name, arg->span);
}

void row_options_set(struct expander *e, const struct binding *options) {
  const struct row_options *row = options->args;
  e->row = *row;
  if (!(options->given >> ROW_FROZEN & 1))
    e->row.frozen = e->freezes;
}

void row_options_clear(struct expander *e) {
  e->row = (struct row_options){.frozen = e->freezes};
}

/* List of all layers that can work in place: "a, b and c". */
static const char *overwriting(struct arena *arena) {
  struct text text = text_new(arena);
  size_t last = layer_kind_count(), count = 0;
  while (!layer_kind_at(last - 1)->overwrites)
    last--;
  for (size_t i = 0; i < last; i++)
    if (layer_kind_at(i)->overwrites)
      text_printf(&text, "%s%s",
                  count++ == 0    ? ""
                  : i + 1 == last ? " and "
                                  : ", ",
                  layer_kind_at(i)->name);
  return text_string(&text);
}

/* An option must apply to at least one layer of the statement. */
bool row_options_check(struct expander *e, const struct binding *options,
                       int64_t first) {
  const struct row_options *row = options->args;
  bool params = false, overwrites = false;
  for (size_t i = (size_t)first; i < e->model->nodes.count; i++) {
    const struct node *node = &e->model->nodes.at[i];
    if (node->unsure)
      return true;
    params = params || node->param_count;
    overwrites = overwrites || node->kind->overwrites;
  }
  if (options->given >> ROW_FROZEN & 1 && !params) {
    struct diagnostic *d =
        report(e, UNKNOWN_OPTION, options->spans[ROW_FROZEN],
               "%s has no parameters to freeze", options->owner);
    diag_offer_omission(d, d->span, "leave it out");
    return diag_help(d, "`freeze { ... }` freezes all layers inside");
  }
  if (options->given >> ROW_DTYPE & 1 && !params) {
    struct diagnostic *d = report(e, UNKNOWN_OPTION, options->spans[ROW_DTYPE],
                                  "%s has no parameters, so it has no type of "
                                  "its own",
                                  options->owner);
    diag_offer_omission(d, d->span, "leave it out");
    return diag_help(d, "it has the widest type of its inputs");
  }
  if (options->given >> ROW_INPLACE & 1 && row->inplace == TOGGLE_ON &&
      !overwrites) {
    struct diagnostic *d =
        report(e, UNKNOWN_OPTION, options->spans[ROW_INPLACE],
               "%s never overwrites its input", options->owner);
    diag_offer_omission(d, d->span, "leave it out");
    return diag_help(d, "%s overwrite it where nothing else needs it",
                     overwriting(e->arena));
  }
  return true;
}

bool is_freeze(const struct stmt *stmt) {
  const struct arg *arg = stmt->args;
  return slice_is(stmt->name, "freeze") && arg && !arg->next &&
         arg->form == ARG_BLOCK;
}

/* freeze { ... } is a group only with a label, so that names stay the same. */
void expand_freeze(struct expander *e, const struct stmt *stmt,
                   struct slice label) {
  bool outer = e->freezes;
  int64_t group =
      label.at ? group_enter(e, label, label, stmt) : (int64_t)NO_NODE;
  e->freezes = true;
  row_options_clear(e);
  expand_scoped(e, stmt->args->block);
  e->freezes = outer;
  row_options_clear(e);
  if (label.at)
    group_leave(e, group);
}
