/* Calls of defs: bind arguments to parameters, open a scope and a group. */
#include "sema/statements.h"

static void declare_param(struct expander *e, const struct def_param *param,
                          const struct value *value) {
  struct symbol *symbol =
      scope_declare(e, SYMBOL_CONSTANT, param->name, param->span);
  *symbol->value = *value;
}

struct def_call {
  struct symbol *def;
  const struct stmt *stmt;
  const struct arg *args;
  const struct def_param **params; /* in the order of the def */
  const struct arg **values;       /* by parameter; NULL: the default */
  struct map indices;              /* of parameters by name; filled on demand */
  int *param_of;                   /* by argument; -1: no parameter */
  int count;
  bool failed;
  bool shifted; /* partial model: a positional value is missing */
};

static struct slice def_name(const struct def_call *call) {
  return call->def->name;
}

static int param_index(struct expander *e, struct def_call *call,
                       struct slice name) {
  for (int i = (int)call->indices.count; i < call->count; i++)
    map_add(&e->scratch, &call->indices, call->params[i]->name)->number = i;
  const struct map_entry *entry = map_find(&call->indices, name);
  return entry ? (int)entry->number : -1;
}

static void unknown_param(struct expander *e, struct def_call *call,
                          const struct arg *arg) {
  struct slice name = def_name(call);
  struct diagnostic *d = report(e, UNKNOWN_OPTION, arg_key_span(arg),
                                "%.*s has no parameter `%.*s`", SLICE_ARG(name),
                                SLICE_ARG(arg->key));
  call->failed = true;
  if (!diag_is_shown(d))
    return;
  struct suggestion s = suggest_begin(arg->key);
  for (int i = 0; i < call->count; i++)
    suggest_offer(&s, call->params[i]->name);
  if (s.best.at)
    diag_suggest(d, arg_key_span(arg), s.best);
  diag_label(d, call->def->span, "defined here");
}

/* Suggests a separate statement for the layer in `block 64 relu`. */
static void offer_tail(struct expander *e, struct diagnostic *d,
                       const struct arg *arg) {
  struct slice text = sources_slice(e->diags->sources, arg->span);
  struct span blank = {arg->span.begin - 1, arg->span.begin};
  struct text after = text_new(e->arena);
  if (arg->form != ARG_PLAIN || arg->next ||
      !slice_is(sources_slice(e->diags->sources, blank), " "))
    return;
  text_printf(&after, "; %.*s", SLICE_ARG(text));
  diag_offer(d, (struct span){blank.begin, arg->span.end}, text_slice(&after),
             "write a separate layer after `;`: `; %.*s`", SLICE_ARG(text));
}

static void report_surplus(struct expander *e, struct def_call *call,
                           const struct arg *arg) {
  struct slice name = def_name(call);
  struct diagnostic *d =
      report(e, WRONG_COUNT, arg->span, "%.*s takes %d value%s, and no %s",
             SLICE_ARG(name), call->count, call->count == 1 ? "" : "s",
             arg->form == ARG_STRIDE  ? "stride"
             : arg->form == ARG_BLOCK ? "block"
                                      : "more");
  diag_label(d, call->def->span, "defined here");
  offer_tail(e, d, arg);
  if (arg->form == ARG_PLAIN && arg->value->kind == EXPR_NAME &&
      layer_kind_find(arg->value->name))
    diag_help(d, "a def has no tail: write `%.*s` as a separate statement",
              SLICE_ARG(arg->value->name));
  call->failed = true;
}

/* Index of the parameter for an argument, or -1 after an error. */
static int match_arg(struct expander *e, struct def_call *call,
                     const struct arg *arg, int *position) {
  int index = -1;
  if (arg->form == ARG_KEYED) {
    index = param_index(e, call, arg->key);
    if (index < 0) {
      unknown_param(e, call, arg);
      return -1;
    }
  } else if (arg->form == ARG_PLAIN) {
    while (*position < call->count && call->values[*position])
      (*position)++;
    index = *position;
  }
  if (index < 0 || index >= call->count) {
    report_surplus(e, call, arg);
    return -1;
  }
  if (call->values[index]) {
    struct diagnostic *d =
        report(e, DUPLICATE_ARGUMENT, arg->span, "`%.*s` is given twice",
               SLICE_ARG(call->params[index]->name));
    diag_label(d, call->values[index]->span, "first here");
    diag_offer_omission(d, arg->span, "leave one of them out");
    call->failed = true;
    return -1;
  }
  call->values[index] = arg;
  return index;
}

/* Evaluates the parameters. Arguments see the names at the call. Defaults see
 * the names at the def, and the parameters before them. */
static bool bind_params(struct expander *e, struct def_call *call,
                        struct scope *inner) {
  struct scope *outer = e->scope;
  e->steps += call->count;
  for (int i = 0; i < call->count; i++) {
    const struct def_param *p = call->params[i];
    struct value value = {.kind = VALUE_POISON};
    const struct arg *arg = call->values[i];
    if (arg && !(call->shifted && arg->form == ARG_PLAIN)) {
      value = eval(e, arg->value);
    } else if (!arg && p->value && !call->failed) {
      e->scope = inner;
      value = eval(e, p->value);
    } else if (!arg && !call->failed) {
      struct slice name = def_name(call);
      struct diagnostic *d =
          report(e, MISSING_ARGUMENT, call->stmt->name_span,
                 "%.*s needs its `%.*s`", SLICE_ARG(name), SLICE_ARG(p->name));
      diag_label(d, p->span, "has no default");
      call->failed = true;
    }
    e->scope = inner;
    declare_param(e, p, &value);
    e->scope = outer;
  }
  return !call->failed;
}

/* Text of the call with its arguments' values, for reports. */
static struct slice call_text(struct expander *e, const struct def_call *call,
                              struct scope *inner) {
  struct text text = text_new(e->arena);
  if (!call->args)
    return def_name(call);
  text_puts(&text, def_name(call));
  const int *param_of = call->param_of;
  for (const struct arg *arg = call->args; arg; arg = arg->next, param_of++) {
    if (*param_of < 0)
      continue;
    const struct def_param *param = call->params[*param_of];
    text_putc(&text, ' ');
    if (arg->form == ARG_KEYED)
      text_printf(&text, "%.*s=", SLICE_ARG(param->name));
    value_put(&text, scope_own(inner, param->name)->value);
  }
  return text_slice(&text);
}

static bool match_args(struct expander *e, struct def_call *call) {
  const struct def_param *first = call->def->stmt->more->params, *param;
  struct arena *arena = &e->scratch;
  size_t args = 0, room = 1;
  for (const struct arg *arg = call->args; arg; arg = arg->next)
    args++;
  for (param = first; param; param = param->next)
    room++;
  call->param_of = arena_room(arena, args + 1, sizeof *call->param_of);
  call->values = arena_alloc(arena, room, sizeof *call->values);
  call->params = arena_room(arena, room, sizeof *call->params);
  for (param = first; param; param = param->next)
    call->params[call->count++] = param;
  int position = 0;
  args = 0;
  for (const struct arg *arg = call->args; arg; arg = arg->next)
    call->param_of[args++] = match_arg(e, call, arg, &position);
  for (int i = 0; i < call->count; i++)
    if (!call->values[i] && !call->params[i]->value)
      call->shifted = e->in->partial;
  return !call->failed;
}

static bool is_recursion(struct expander *e, struct symbol *def,
                         const struct stmt *stmt) {
  if (!def->active)
    return false;
  struct text cycle = text_new(e->arena);
  text_puts(&cycle, def->name);
  for (const struct frame *f = e->frame; f; f = f->parent) {
    if (frame_kind(f) != FRAME_CALL)
      continue;
    struct slice rest = text_slice(&cycle);
    cycle = text_new(e->arena);
    text_printf(&cycle, "%.*s -> %.*s", SLICE_ARG(f->stmt->name),
                SLICE_ARG(rest));
    if (slice_equal(f->stmt->name, def->name))
      break;
  }
  struct diagnostic *d =
      report(e, RECURSION, stmt->name_span, "a def cannot call itself: %.*s",
             SLICE_ARG(cycle));
  diag_help(d, "use `repeat` or `for` for the levels");
  return true;
}

void expand_call(struct expander *e, struct symbol *def,
                 const struct stmt *stmt, struct slice label) {
  struct arena_mark before = arena_mark(&e->scratch);
  struct def_call call = {.def = def, .stmt = stmt, .args = args_of(e, stmt)};
  struct scope *outer = e->scope;
  struct scope *inner = scope_enter(&e->pool, def->scope);
  inner->home = SCOPE_HOME;
  struct frame frame = {.stmt = stmt};
  bool lost = is_recursion(e, def, stmt) || !match_args(e, &call);
  if (!lost || e->in->partial) /* binds those that matched */
    lost = !bind_params(e, &call, inner) || lost;
  if ((lost && (def->active || !e->in->partial)) || !frame_enter(e, frame)) {
    e->lost = true;
    scope_leave(&e->pool, inner);
    return;
  }
  int64_t group = group_enter(e, label, def->name, stmt);
  e->model->groups.at[e->group].call = call_text(e, &call, inner);
  arena_release(&e->scratch, before);
  def->active = true;
  e->scope = inner;
  expand_block(e, def->stmt->more->block);
  expand_leave(e);
  e->scope = outer;
  def->active = false;
  frame_leave(e);
  group_leave(e, group);
}
