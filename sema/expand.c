/*
 * The expander walks the syntax tree as an interpreter would: loops run,
 * conditions decide, calls bind their parameters, and every layer that is
 * met becomes a node with its shape. There is one current tensor.
 */
#include "sema/expand.h"

#include <inttypes.h>

#include "base/check.h"
#include "sema/expander.h"

/* Names */

/* Makes a name known, unless this scope has it already. */
static struct symbol *declare(struct expander *e, enum symbol_kind kind,
                              struct slice name, struct span span) {
  struct symbol *before = scope_own(e->scope, name);
  if (!before)
    return scope_add(&e->pool, e->scope, kind, name, span);
  struct diagnostic *d = report(e, DUPLICATE_NAME, span,
                                "`%.*s` is defined twice", SLICE_ARG(name));
  diag_label(d, before->span, "first here");
  return before;
}

static void declare_label(struct expander *e, const struct stmt *stmt,
                          struct slice label, struct span span, int64_t first) {
  struct symbol *symbol = declare(e, SYMBOL_LABEL, label, span);
  if (symbol->kind != SYMBOL_LABEL)
    return;
  symbol->stmt = stmt;
  symbol->scope = e->scope;
  symbol->node = e->lost ? NO_NODE : e->current;
  symbol->first = first;
  symbol->end = (int64_t)e->model->nodes.count;
}

/* The label that a name means. */
static struct symbol *find_label(struct expander *e, const struct stmt *stmt) {
  struct slice name = stmt->name;
  struct symbol *symbol = scope_resolve(e->scope, name);
  if (symbol && symbol->kind == SYMBOL_LABEL)
    return symbol;
  struct suggestion s = suggest_begin(name);
  for (struct scope *scope = e->scope; scope; scope = scope->parent)
    for (struct symbol *known = scope->first; known; known = known->next)
      if (known->kind == SYMBOL_LABEL)
        suggest_offer(&s, known->name);
  struct diagnostic *d =
      report(e, UNKNOWN_LABEL, stmt->name_span,
             "no layer is labelled `%.*s` here", SLICE_ARG(name));
  if (s.best.at)
    diag_help(d, "did you mean `%.*s`?", SLICE_ARG(s.best));
  else
    diag_help(d,
              "a label is written in front of a layer: `%.*s: conv ...`, "
              "and seen below it, inside its braces",
              SLICE_ARG(name));
  return NULL;
}

/* Scopes and blocks */

static void enter_scope(struct expander *e) {
  e->scope = scope_enter(&e->pool, e->scope);
}

static void leave_scope(struct expander *e) {
  e->scope = scope_leave(&e->pool, e->scope);
}

void expand_scoped(struct expander *e, const struct block *block) {
  enter_scope(e);
  expand_block(e, block);
  leave_scope(e);
}

/* One turn of a loop, with `names` bound. */
static bool count_step(struct expander *e, struct span span) {
  if (++e->steps > LIMIT_STEPS && !e->stopped) {
    struct diagnostic *d =
        report(e, TOO_MANY_STEPS, span,
               "the loops of this net take more than %s steps",
               count_text(LIMIT_STEPS).text);
    diag_help(d, "is a `repeat` count or the end of a range too large?");
    e->stopped = true;
  }
  return !e->stopped && !diags_full(e->diags);
}

static bool turn(struct expander *e, const struct stmt *stmt, int64_t ordinal,
                 int64_t total) {
  struct frame frame = {.kind = FRAME_LOOP,
                        .span = stmt->span,
                        .ordinal = ordinal,
                        .total = total};
  if (!count_step(e, stmt->span) || !frame_enter(e, frame))
    return false;
  expand_block(e, stmt->block);
  frame_leave(e);
  return true;
}

static void expand_repeat(struct expander *e, const struct stmt *stmt) {
  int64_t count;
  if (!eval_int(e, stmt->value, &count)) {
    e->lost = true;
    return;
  }
  if (count < 0 || count > LIMIT_LAYERS) {
    struct diagnostic *d = report(e, OUT_OF_RANGE, stmt->value->span,
                                  "cannot repeat %" PRId64 " times", count);
    diag_help(d, "a loop has from 0 to %s turns",
              count_text(LIMIT_LAYERS).text);
    e->lost = true;
    return;
  }
  bool going = true;
  for (int64_t i = 0; i < count && going; i++) {
    enter_scope(e);
    going = turn(e, stmt, i + 1, count);
    leave_scope(e);
  }
}

/* A row of the table: one value for each name. */
static bool bind_row_names(struct expander *e, const struct stmt *stmt,
                           const struct table_row *row) {
  const struct expr *expr = row->values;
  int names = 0, values = 0;
  for (const struct name_list *n = stmt->names; n; n = n->next)
    names++;
  for (const struct expr *x = row->values; x; x = x->next)
    values++;
  if (names != values) {
    struct diagnostic *d =
        report(e, WRONG_COUNT, row->span, "a row of %d value%s for %d name%s",
               values, values == 1 ? "" : "s", names, names == 1 ? "" : "s");
    diag_help(d, "rows end with `;` or the line; each value stands apart by "
                 "blanks");
    return false;
  }
  struct scope *inner = e->scope;
  for (const struct name_list *n = stmt->names; n; n = n->next) {
    e->scope = inner->parent; /* a row sees the names outside */
    struct value value = eval(e, expr);
    e->scope = inner;
    declare(e, SYMBOL_CONSTANT, n->name, n->span)->value = value;
    expr = expr->next;
  }
  return true;
}

static void expand_rows(struct expander *e, const struct stmt *stmt) {
  int64_t total = 0, ordinal = 0;
  bool going = true;
  for (const struct table_row *row = stmt->rows; row; row = row->next)
    total++;
  for (const struct table_row *row = stmt->rows; row && going;
       row = row->next) {
    enter_scope(e);
    if (bind_row_names(e, stmt, row))
      going = turn(e, stmt, ++ordinal, total);
    leave_scope(e);
  }
}

static void expand_range(struct expander *e, const struct stmt *stmt) {
  int64_t low, high;
  if (stmt->names->next) {
    report(e, WRONG_COUNT, stmt->names->next->span,
           "a range gives one value at a time: for one name");
    return;
  }
  bool known = eval_int(e, stmt->value, &low);
  if (!eval_int(e, stmt->high, &high) || !known) {
    e->lost = true;
    return;
  }
  int64_t total;
  if (!sub_i64(high, low, &total) || !add_i64(total, 1, &total))
    total = 0; /* too many to be counted, and to be carried out */
  bool going = low <= high;
  for (int64_t i = low; going; i++) {
    enter_scope(e);
    struct symbol *symbol =
        declare(e, SYMBOL_CONSTANT, stmt->names->name, stmt->names->span);
    symbol->value = (struct value){.kind = VALUE_INT, .integer = i};
    going = turn(e, stmt, i - low + 1, total) && i < high;
    leave_scope(e);
  }
}

static void expand_if(struct expander *e, const struct stmt *stmt) {
  bool condition;
  if (!eval_bool(e, stmt->value, &condition)) {
    e->lost = true; /* what follows depends on it */
    return;
  }
  const struct block *block = condition ? stmt->block : stmt->otherwise;
  if (block)
    expand_scoped(e, block);
}

/* Calls */

static void declare_param(struct expander *e, const struct def_param *param,
                          const struct value *value) {
  struct symbol *symbol = declare(e, SYMBOL_CONSTANT, param->name, param->span);
  symbol->value = *value;
}

struct call {
  struct symbol *def;
  const struct stmt *stmt;
  const struct def_param *params;
  const struct arg **values; /* by parameter; NULL: the default */
  int count;
  bool failed;
};

static struct slice def_name(const struct call *call) {
  return call->def->name;
}

static const struct def_param *param_at(const struct call *call, int index) {
  const struct def_param *param = call->params;
  while (index-- > 0)
    param = param->next;
  return param;
}

static int param_index(const struct call *call, struct slice name) {
  int i = 0;
  for (const struct def_param *p = call->params; p; p = p->next, i++)
    if (slice_equal(p->name, name))
      return i;
  return -1;
}

static void unknown_param(struct expander *e, struct call *call,
                          const struct arg *arg) {
  struct suggestion s = suggest_begin(arg->key);
  for (const struct def_param *p = call->params; p; p = p->next)
    suggest_offer(&s, p->name);
  struct diagnostic *d =
      report(e, UNKNOWN_OPTION, arg->key_span, "%.*s has no parameter `%.*s`",
             SLICE_ARG(def_name(call)), SLICE_ARG(arg->key));
  if (s.best.at)
    diag_help(d, "did you mean `%.*s`?", SLICE_ARG(s.best));
  diag_label(d, call->def->span, "defined here");
  call->failed = true;
}

static void report_surplus(struct expander *e, struct call *call,
                           const struct arg *arg) {
  struct diagnostic *d = report(
      e, WRONG_COUNT, arg->span, "%.*s takes %d value%s, and no %s",
      SLICE_ARG(def_name(call)), call->count, call->count == 1 ? "" : "s",
      arg->form == ARG_STRIDE  ? "stride"
      : arg->form == ARG_BLOCK ? "block"
                               : "more");
  diag_label(d, call->def->span, "defined here");
  if (arg->form == ARG_PLAIN && arg->value->kind == EXPR_NAME &&
      layer_kind_find(arg->value->name))
    diag_help(d, "a def has no tail: `%.*s` is a statement of its own",
              SLICE_ARG(arg->value->name));
  call->failed = true;
}

static void match_arg(struct expander *e, struct call *call,
                      const struct arg *arg, int *position) {
  int index = -1;
  if (arg->form == ARG_KEYED) {
    index = param_index(call, arg->key);
    if (index < 0) {
      unknown_param(e, call, arg);
      return;
    }
  } else if (arg->form == ARG_PLAIN) {
    while (*position < call->count && call->values[*position])
      (*position)++;
    index = *position;
  }
  if (index < 0 || index >= call->count) {
    report_surplus(e, call, arg);
  } else if (call->values[index]) {
    struct diagnostic *d =
        report(e, DUPLICATE_ARGUMENT, arg->span, "`%.*s` is given twice",
               SLICE_ARG(param_at(call, index)->name));
    diag_label(d, call->values[index]->span, "first here");
    call->failed = true;
  } else {
    call->values[index] = arg;
  }
}

/* Values of the parameters: those given where the call stands, defaults
 * where the def stands, after the parameters before them. */
static bool bind_params(struct expander *e, struct call *call,
                        struct scope *inner) {
  struct scope *outer = e->scope;
  int i = 0;
  for (const struct def_param *p = call->params; p; p = p->next, i++) {
    struct value value = {.kind = VALUE_POISON};
    const struct arg *arg = call->values[i];
    if (arg) {
      value = eval(e, arg->value);
    } else if (p->value) {
      e->scope = inner;
      value = eval(e, p->value);
    } else if (!call->failed) {
      struct diagnostic *d = report(
          e, MISSING_ARGUMENT, call->stmt->name_span, "%.*s needs its `%.*s`",
          SLICE_ARG(def_name(call)), SLICE_ARG(p->name));
      diag_label(d, p->span, "has no default");
      call->failed = true;
    }
    e->scope = inner;
    declare_param(e, p, &value);
    e->scope = outer;
  }
  return !call->failed;
}

/* The call with the values of its arguments, for reports. */
static struct slice call_text(struct expander *e, const struct call *call,
                              struct scope *inner) {
  struct text text = text_new(e->arena);
  text_puts(&text, def_name(call));
  for (const struct arg *arg = call->stmt->args; arg; arg = arg->next) {
    int i = 0;
    while (i < call->count && call->values[i] != arg)
      i++;
    if (i == call->count)
      continue;
    const struct def_param *param = param_at(call, i);
    text_putc(&text, ' ');
    if (arg->form == ARG_KEYED)
      text_printf(&text, "%.*s=", SLICE_ARG(param->name));
    value_put(&text, &scope_own(inner, param->name)->value);
  }
  return text_slice(&text);
}

static bool match_args(struct expander *e, struct call *call) {
  for (const struct def_param *p = call->params; p; p = p->next)
    call->count++;
  call->values =
      arena_alloc(e->arena, (size_t)call->count + 1, sizeof *call->values);
  int position = 0;
  for (const struct arg *arg = call->stmt->args; arg; arg = arg->next)
    match_arg(e, call, arg, &position);
  return !call->failed;
}

static bool is_recursion(struct expander *e, struct symbol *def,
                         const struct stmt *stmt) {
  if (!def->active)
    return false;
  struct text cycle = text_new(e->arena);
  text_puts(&cycle, def->name);
  for (const struct frame *f = e->frame; f; f = f->parent) {
    if (f->kind != FRAME_CALL)
      continue;
    struct slice rest = text_slice(&cycle);
    cycle = text_new(e->arena);
    text_printf(&cycle, "%.*s -> %.*s", SLICE_ARG(f->name), SLICE_ARG(rest));
    if (slice_equal(f->name, def->name))
      break;
  }
  struct diagnostic *d =
      report(e, RECURSION, stmt->name_span, "a def cannot call itself: %.*s",
             SLICE_ARG(text_slice(&cycle)));
  diag_help(d, "write the levels with `repeat` or `for`");
  return true;
}

void expand_call(struct expander *e, struct symbol *def,
                 const struct stmt *stmt, struct slice label) {
  struct call call = {.def = def, .stmt = stmt, .params = def->stmt->params};
  struct scope *outer = e->scope;
  struct scope *inner = scope_enter(&e->pool, def->scope);
  struct frame frame = {
      .kind = FRAME_CALL, .name = def->name, .span = stmt->span};
  if (is_recursion(e, def, stmt) || !match_args(e, &call) ||
      !bind_params(e, &call, inner) || !frame_enter(e, frame)) {
    e->lost = true;
    scope_leave(&e->pool, inner);
    return;
  }
  int64_t group = group_enter(e, label, def->name, stmt);
  e->model->groups.at[e->group].call = call_text(e, &call, inner);
  def->active = true;
  e->scope = inner;
  expand_block(e, def->stmt->block);
  leave_scope(e);
  e->scope = outer;
  def->active = false;
  frame_leave(e);
  group_leave(e, group);
}

/* Statements about tensors */

static void expand_group(struct expander *e, const struct stmt *stmt,
                         struct slice label) {
  if (!label.at) { /* braces without a name only bound the labels inside */
    expand_scoped(e, stmt->block);
    return;
  }
  int64_t outer = group_enter(e, label, label, stmt);
  expand_scoped(e, stmt->block);
  group_leave(e, outer);
}

bool is_checkpoint(const struct stmt *stmt) {
  const struct arg *arg = stmt->args;
  return slice_is(stmt->name, "checkpoint") && arg && !arg->next &&
         arg->form == ARG_BLOCK;
}

/* checkpoint { ... }: a group, whose insides are computed once more. */
void expand_checkpoint(struct expander *e, const struct stmt *stmt,
                       struct slice label) {
  int64_t outer = group_enter(e, label, stmt->name, stmt);
  e->model->groups.at[e->group].checkpoint = true;
  expand_scoped(e, stmt->args->block);
  group_leave(e, outer);
}

static void expand_fork(struct expander *e, const struct stmt *stmt) {
  int64_t current = e->current, first = (int64_t)e->model->nodes.count;
  bool lost = e->lost;
  if (stmt->label.at) {
    expand_group(e, stmt, stmt->label);
    declare_label(e, stmt, stmt->label, stmt->label_span, first);
  } else {
    expand_scoped(e, stmt->block);
  }
  e->current = current;
  e->lost = lost;
}

static void expand_from(struct expander *e, const struct stmt *stmt) {
  struct symbol *symbol = find_label(e, stmt);
  e->lost = !symbol || symbol->node == NO_NODE;
  if (!e->lost)
    e->current = symbol->node;
}

static bool can_repeat(struct expander *e, const struct stmt *stmt,
                       const struct symbol *symbol) {
  enum stmt_kind kind = symbol->stmt->kind;
  if (symbol->node == NO_NODE)
    return false;
  if (kind == STMT_APPLY || kind == STMT_GROUP || kind == STMT_AGAIN)
    return true;
  struct diagnostic *d = report(e, UNKNOWN_LABEL, stmt->name_span,
                                "`%.*s` is no layer or group to apply again",
                                SLICE_ARG(stmt->name));
  diag_label(d, symbol->span, "labelled here");
  return false;
}

static void expand_body(struct expander *e, const struct stmt *stmt,
                        struct slice label);

static void expand_again(struct expander *e, const struct stmt *stmt,
                         struct slice label) {
  struct symbol *symbol = find_label(e, stmt);
  struct frame frame = {
      .kind = FRAME_AGAIN, .name = stmt->name, .span = stmt->span};
  if (!symbol || !can_repeat(e, stmt, symbol) || !frame_enter(e, frame)) {
    e->lost = true;
    return;
  }
  struct scope *outer_scope = e->scope;
  int64_t share = e->share, share_end = e->share_end;
  if (share == NO_NODE) { /* else the outer one covers these nodes too */
    e->share = symbol->first;
    e->share_end = symbol->end;
  }
  e->scope = symbol->scope;
  expand_body(e, symbol->stmt, label.at ? label : symbol->name);
  e->scope = outer_scope;
  if (share == NO_NODE) {
    e->share = share;
    e->share_end = share_end;
  }
  frame_leave(e);
}

static void expand_body(struct expander *e, const struct stmt *stmt,
                        struct slice label) {
  switch (stmt->kind) {
  case STMT_APPLY: apply_stmt(e, stmt, label); break;
  case STMT_GROUP: expand_group(e, stmt, label); break;
  default: expand_again(e, stmt, label); break;
  }
}

/* Directives */

static bool read_dtype(struct expander *e, const struct stmt *stmt,
                       enum dtype *dtype) {
  *dtype = DTYPE_FLOAT;
  if (!stmt->dtype.at || slice_is(stmt->dtype, "f32"))
    return true;
  bool i64 = slice_is(stmt->dtype, "i64");
  if (i64 || slice_is(stmt->dtype, "i32")) {
    *dtype = i64 ? DTYPE_I64 : DTYPE_I32;
    return true;
  }
  struct diagnostic *d =
      report(e, UNKNOWN_CHOICE, stmt->dtype_span, "an input of type `%.*s`",
             SLICE_ARG(stmt->dtype));
  diag_help(d, "`: i32` and `: i64` make indices, without it an input holds "
               "values; their type is `train dtype=` or `--dtype`");
  return false;
}

static bool read_input_shape(struct expander *e, const struct stmt *stmt,
                             struct shape *shape) {
  struct value value = eval(e, stmt->value);
  int64_t count;
  *shape = (struct shape){0};
  if (!read_dtype(e, stmt, &shape->dtype) || value.kind == VALUE_POISON)
    return false;
  if (value.kind == VALUE_INT) {
    shape->rank = 1;
    shape->dim[0] = value.integer;
  } else if (value.kind == VALUE_SIZES) {
    shape->rank = value.count;
    memcpy(shape->dim, value.at, sizeof shape->dim);
  } else {
    report(e, WRONG_TYPE, stmt->value->span,
           "sizes are needed here, like 224x224x3, not %s",
           value_words(value.kind));
    return false;
  }
  for (int i = 0; i < shape->rank; i++) {
    if (shape->dim[i] >= 1)
      continue;
    report(e, OUT_OF_RANGE, stmt->value->span,
           "the sizes of an input must be known, and at least 1");
    return false;
  }
  const struct input_override *override = &e->in->override;
  if (override->active && override->input == (int64_t)e->model->sources.count)
    *shape = override->shape;
  if (shape_count(shape, &count))
    return true;
  report(e, TOO_LARGE, stmt->value->span,
         "this input has more than 2^63 - 1 values");
  return false;
}

static void expand_input(struct expander *e, const struct stmt *stmt) {
  struct shape shape;
  int64_t first = (int64_t)e->model->nodes.count;
  e->lost = !read_input_shape(e, stmt, &shape);
  if (!e->lost)
    node_add_input(e, stmt, shape);
  if (stmt->name.at) {
    declare_label(e, stmt, stmt->name, stmt->name_span, first);
  } else if (e->model->sources.count > 1) {
    struct diagnostic *d =
        report(e, DUPLICATE_NAME, stmt->span, "a further input needs a name");
    diag_help(d, "`input left 224x224x3`; `from left` makes it current");
  }
}

static void expand_output(struct expander *e, const struct stmt *stmt) {
  if (e->lost)
    return;
  if (e->current == NO_NODE) {
    report(e, NO_TENSOR, stmt->span, "there is no tensor yet to output");
    return;
  }
  for (size_t i = 0; i < e->model->outputs.count; i++) {
    const struct output *other = &e->model->outputs.at[i];
    if (!slice_equal(other->name, stmt->name))
      continue;
    struct diagnostic *d =
        report(e, DUPLICATE_NAME, stmt->name_span,
               "two outputs are called `%.*s`", SLICE_ARG(stmt->name));
    diag_label(d, other->span, "first here");
    return;
  }
  struct output *output = VEC_PUSH(e->arena, &e->model->outputs);
  *output = (struct output){e->current, stmt->name, stmt->name_span};
}

static void expand_def(struct expander *e, const struct stmt *stmt) {
  for (const struct def_param *p = stmt->params; p; p = p->next)
    for (const struct def_param *q = stmt->params; q != p; q = q->next)
      if (slice_equal(p->name, q->name)) {
        diag_label(report(e, DUPLICATE_NAME, p->span,
                          "two parameters are called `%.*s`",
                          SLICE_ARG(p->name)),
                   q->span, "first here");
        return;
      }
  struct symbol *symbol = declare(e, SYMBOL_DEF, stmt->name, stmt->name_span);
  if (symbol->kind != SYMBOL_DEF || symbol->stmt)
    return;
  symbol->stmt = stmt;
  symbol->scope = e->scope;
}

static struct define *find_define(struct expander *e, struct slice name) {
  for (size_t i = 0; i < e->in->define_count; i++)
    if (slice_equal(e->in->defines[i].name, name))
      return &e->in->defines[i];
  return NULL;
}

static void expand_constant(struct expander *e, const struct stmt *stmt) {
  struct value value = eval(e, stmt->value);
  struct define *define =
      stmt->kind == STMT_PARAM ? find_define(e, stmt->name) : NULL;
  if (define) {
    define->used = true;
    value = define->value;
  }
  size_t count = e->scope->count;
  struct symbol *symbol =
      declare(e, SYMBOL_CONSTANT, stmt->name, stmt->name_span);
  if (e->scope->count > count)
    symbol->value = value;
}

static void expand_net(struct expander *e, const struct stmt *stmt) {
  if (e->model->named) {
    struct diagnostic *d =
        report(e, DUPLICATE_NAME, stmt->span, "a file describes one net");
    diag_help(d, "this one is called `%.*s` already",
              SLICE_ARG(e->model->name));
    return;
  }
  e->model->named = true;
  e->model->name = stmt->name;
}

static void expand_settings(struct expander *e, const struct stmt *stmt) {
  struct settings *settings = e->in->settings;
  bool train = slice_is(stmt->name, "train");
  bool infer = slice_is(stmt->name, "infer");
  struct binding b = {
      .specs = train   ? train_specs
               : infer ? infer_specs
                       : budget_specs,
      .owner = train   ? "train"
               : infer ? "infer"
                       : "budget",
      .args = train   ? (void *)&settings->train
              : infer ? (void *)&settings->infer
                      : (void *)&settings->budget,
  };
  for (const struct arg *arg = stmt->args; arg; arg = arg->next)
    bind_arg(e, &b, arg);
  if (train)
    settings->trains = true;
  for (int i = 0; !train && !infer && b.specs[i].name; i++)
    if (b.given >> i & 1)
      settings->budget_spans[i] = b.spans[i];
}

/* -> DIMS */

static bool mark_agrees(const struct value *mark, const struct shape *shape) {
  int rank = mark->kind == VALUE_SIZES ? mark->count : 1;
  if (rank != shape->rank)
    return false;
  for (int i = 0; i < rank; i++) {
    int64_t size = mark->kind == VALUE_SIZES ? mark->at[i]
                   : mark->kind == VALUE_INT ? mark->integer
                                             : SIZE_ANY;
    if (size != SIZE_ANY && size != shape->dim[i])
      return false;
  }
  return true;
}

static void check_mark(struct expander *e, const struct stmt *stmt) {
  if (e->lost || e->current == NO_NODE || e->in->ignore_marks)
    return;
  struct value mark = eval(e, stmt->mark);
  const struct shape *shape = &e->model->nodes.at[e->current].out;
  if (mark.kind == VALUE_POISON)
    return;
  if (mark.kind != VALUE_INT && mark.kind != VALUE_ANY &&
      (mark.kind != VALUE_SIZES || mark.paired)) {
    report(e, WRONG_TYPE, stmt->mark->span, "sizes are needed here, not %s",
           value_words(mark.kind));
    return;
  }
  if (mark_agrees(&mark, shape))
    return;
  struct text text = text_new(e->arena);
  value_put(&text, &mark);
  struct diagnostic *d =
      report(e, SHAPE_MARK, stmt->mark->span, "the shape here is %s, not %.*s",
             shape_text(shape).text, SLICE_ARG(text_slice(&text)));
  diag_label(d, stmt->span, "gives %s", shape_text(shape).text);
  diag_help(d, "`netc fmt --shapes` writes the marks anew");
  diag_fixit(d, stmt->mark->span, "%s", shape_text(shape).text);
}

/* Sizes that differ from call to call become `_`. */
static void record_shape(struct expander *e, const struct stmt *stmt) {
  size_t index = (size_t)stmt->index;
  if (!e->in->records || stmt->index < 0 || index >= e->in->record_count ||
      e->lost || e->current == NO_NODE)
    return;
  struct shape_record *record = &e->in->records[index];
  const struct shape *shape = &e->model->nodes.at[e->current].out;
  if (!record->seen)
    record->shape = *shape;
  record->seen = true;
  record->differs = record->differs || record->shape.rank != shape->rank;
  for (int i = 0; i < shape->rank && !record->differs; i++)
    if (record->shape.dim[i] != shape->dim[i])
      record->shape.dim[i] = SIZE_ANY;
}

void expand_stmt(struct expander *e, const struct stmt *stmt) {
  int64_t first = (int64_t)e->model->nodes.count;
  switch (stmt->kind) {
  case STMT_APPLY:
  case STMT_GROUP:
  case STMT_AGAIN:
    expand_body(e, stmt, stmt->label);
    record_shape(e, stmt);
    if (stmt->label.at)
      declare_label(e, stmt, stmt->label, stmt->label_span, first);
    break;
  case STMT_FORK: expand_fork(e, stmt); break;
  case STMT_FROM: expand_from(e, stmt); break;
  case STMT_OUTPUT: expand_output(e, stmt); break;
  case STMT_NET: expand_net(e, stmt); break;
  case STMT_INPUT: expand_input(e, stmt); break;
  case STMT_DEF: expand_def(e, stmt); break;
  case STMT_LET:
  case STMT_PARAM: expand_constant(e, stmt); break;
  case STMT_REPEAT: expand_repeat(e, stmt); break;
  case STMT_FOR:
    if (stmt->rows || !stmt->value)
      expand_rows(e, stmt);
    else
      expand_range(e, stmt);
    break;
  case STMT_IF: expand_if(e, stmt); break;
  case STMT_USE: expand_use(e, stmt); break;
  case STMT_SETTINGS: expand_settings(e, stmt); break;
  }
  if (stmt->mark)
    check_mark(e, stmt);
}

void expand_block(struct expander *e, const struct block *block) {
  for (const struct stmt *stmt = block->first; stmt; stmt = stmt->next) {
    if (!count_step(e, stmt->span))
      return;
    expand_stmt(e, stmt);
  }
}

static void finish(struct expander *e, const struct block *program) {
  struct model *model = e->model;
  model->groups.at[0].end = (int64_t)model->nodes.count;
  if (e->diags->errors || e->lost)
    return;
  if (model->sources.count == 0 && model->nodes.count == 0) {
    struct diagnostic *d =
        diag(e->diags, NO_INPUT, program->close, "this file describes no net");
    diag_help(d, "a net begins with `input 224x224x3`; `netc --help` and "
                 "the examples show more");
  } else if (model->outputs.count == 0) {
    *VEC_PUSH(e->arena, &model->outputs) = (struct output){.node = e->current};
  }
}

static struct expander open_expander(struct expansion *expansion,
                                     struct model *model) {
  return (struct expander){.in = expansion,
                           .arena = expansion->arena,
                           .diags = expansion->diags,
                           .model = model,
                           .scope = ARENA_NEW(expansion->arena, struct scope),
                           .pool = {.arena = expansion->arena},
                           .current = NO_NODE,
                           .share = NO_NODE};
}

void expand_program(struct expansion *expansion, const struct block *program,
                    struct model *model) {
  struct expander e = open_expander(expansion, model);
  model->arena = expansion->arena;
  struct group *net = VEC_PUSH(e.arena, &model->groups);
  net->parent = NO_NODE;
  net->span = program->span;
  expand_block(&e, program);
  finish(&e, program);
}

void expand_choice(struct expansion *expansion, const struct stmt *stmt) {
  struct model none = {0};
  struct expander e = open_expander(expansion, &none);
  if (stmt->kind == STMT_SETTINGS)
    expand_settings(&e, stmt);
}

struct value expand_value(struct expansion *expansion,
                          const struct expr *expr) {
  struct model none = {0};
  struct expander e = open_expander(expansion, &none);
  return eval(&e, expr);
}
