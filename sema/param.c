/* Constants: `let`, `param` with its allowed values, and `error`, `warn`. */
#include <math.h>

#include "sema/statements.h"

static void declare(struct expander *e, const struct stmt *stmt,
                    const struct value *value) {
  size_t count = e->scope->count;
  struct symbol *symbol =
      scope_declare(e, SYMBOL_CONSTANT, stmt->name, stmt->name_span);
  if (e->scope->count > count)
    *symbol->value = *value;
}

void expand_let(struct expander *e, const struct stmt *stmt) {
  struct value value = eval(e, stmt->more->value);
  declare(e, stmt, &value);
}

static struct define *find_define(struct expander *e, struct slice name) {
  for (size_t i = 0; i < e->in->define_count; i++)
    if (slice_equal(e->in->defines[i].name, name))
      return &e->in->defines[i];
  return NULL;
}

/* Allowed values of a param: a list, or all from low to high. */
struct allowed {
  VEC(struct value) list;
  struct value low, high;
  bool ranged;
};

/* True for a name that is not declared: `n`, `small`. */
static bool is_word(struct expander *e, const struct expr *expr) {
  return expr->kind == EXPR_NAME && !scope_find(e->scope, expr->name);
}

/* True for `[m x l]`: three words here, not dimensions. */
static bool are_words(struct expander *e, const struct expr *expr) {
  const struct expr *item = expr->kind == EXPR_DIMS ? expr->items : NULL;
  while (item && is_word(e, item))
    item = item->next;
  return expr->kind == EXPR_DIMS && !item;
}

static bool allow(struct expander *e, struct allowed *allowed,
                  const struct expr *expr) {
  struct value value = is_word(e, expr) ? eval_word(e, expr) : eval(e, expr);
  *VEC_PUSH(e->arena, &allowed->list) = value;
  return value.kind != VALUE_POISON;
}

static bool allow_words(struct expander *e, struct allowed *allowed,
                        const struct expr *item) {
  struct expr x = {.kind = EXPR_NAME, .name = slice_of("x")};
  for (; item; item = item->next) {
    allow(e, allowed, item);
    if (item->next)
      *VEC_PUSH(e->arena, &allowed->list) = eval_word(e, &x);
  }
  return true;
}

/* True if a row has a value for each name. */
static bool is_whole(const struct stmt *stmt, const struct table_row *row) {
  const struct expr *x = row->values->next;
  const struct name_list *n = stmt->more->names;
  for (; x && n; n = n->next)
    x = x->next;
  return !n && !x;
}

/* A row is a value and its columns, or only values if there are no columns. */
static bool allow_row(struct expander *e, const struct stmt *stmt,
                      const struct table_row *row, struct allowed *allowed) {
  bool right = true;
  int names = 1, values = 0;
  for (const struct name_list *n = stmt->more->names; n; n = n->next)
    names++;
  for (const struct expr *x = row->values; x; x = x->next, values++)
    if (names == 1 && are_words(e, x))
      right = allow_words(e, allowed, x->items) && right;
    else if (names == 1 || values == 0)
      right = allow(e, allowed, x) && right;
  if (names == 1 || names == values)
    return right;
  struct diagnostic *d =
      report(e, WRONG_COUNT, row->span, "a row has %d value%s for %d names",
             values, values == 1 ? "" : "s", names);
  diag_help(d, "end a row with `;` or a new line, and separate values with "
               "blanks");
  return false;
}

static bool read_end(struct expander *e, const struct expr *expr,
                     struct value *end) {
  *end = eval(e, expr);
  if (value_is_number(end))
    return true;
  eval_mismatch(e, end, expr->span, "a number");
  return false;
}

/* False after an error. */
static bool read_allowed(struct expander *e, const struct stmt *stmt,
                         struct allowed *allowed) {
  bool right = true;
  const struct expr *range = stmt->more->range;
  *allowed = (struct allowed){.ranged = range};
  for (const struct table_row *row = stmt->more->rows; row; row = row->next)
    right = allow_row(e, stmt, row, allowed) && right;
  return right && (!range || (read_end(e, range->left, &allowed->low) &&
                              read_end(e, range->right, &allowed->high)));
}

static struct slice allowed_text(struct expander *e,
                                 const struct allowed *allowed) {
  struct text text = text_new(e->arena);
  if (allowed->ranged) {
    value_put(&text, &allowed->low);
    text_put(&text, "..");
    value_put(&text, &allowed->high);
  }
  for (size_t i = 0; i < allowed->list.count; i++) {
    text_put(&text, i ? " " : "");
    value_put(&text, &allowed->list.at[i]);
  }
  return text_slice(&text);
}

/* If low, high and the default are integers, so is the value. */
static bool holds(const struct allowed *allowed, const struct value *value,
                  const struct value *fallback) {
  if (value->kind == VALUE_LIST) { /* so are all of its values */
    int i = 0;
    while (i < value->count && holds(allowed, &value->items[i], fallback))
      i++;
    return i == value->count;
  }
  if (!allowed->ranged) {
    for (size_t i = 0; i < allowed->list.count; i++)
      if (value_equal(&allowed->list.at[i], value))
        return true;
    return false;
  }
  bool whole = allowed->low.kind == VALUE_INT &&
               allowed->high.kind == VALUE_INT && fallback->kind == VALUE_INT;
  return value_is_number(value) && (!whole || value->kind == VALUE_INT) &&
         value_compare(value, &allowed->low) >= 0 &&
         value_compare(value, &allowed->high) <= 0;
}

/* The nearest number, the lower one of two; or the name with similar
 * spelling. */
static const struct value *nearest(const struct allowed *allowed,
                                   const struct value *value) {
  const struct value *best = NULL;
  if (value_is_number(value) && allowed->ranged)
    return value_compare(value, &allowed->low) < 0    ? &allowed->low
           : value_compare(value, &allowed->high) > 0 ? &allowed->high
                                                      : NULL;
  struct suggestion s = suggest_begin(value->name);
  for (size_t i = 0; i < allowed->list.count; i++) {
    const struct value *v = &allowed->list.at[i];
    double wanted = value_number(value);
    if (value->kind == VALUE_NAME && v->kind == VALUE_NAME) {
      suggest_offer(&s, v->name);
      best = s.best.at == v->name.at ? v : best;
    } else if (value_is_number(value) && value_is_number(v)) {
      double before = best ? fabs(value_number(best) - wanted) : INFINITY;
      double now = fabs(value_number(v) - wanted);
      bool nearer =
          now < before || (now == before && value_compare(v, best) < 0);
      best = nearer ? v : best;
    }
  }
  return best;
}

static void refuse(struct expander *e, const struct stmt *stmt,
                   const struct allowed *allowed, const struct value *value,
                   struct span span) {
  struct text is = text_new(e->arena), near = text_new(e->arena);
  struct slice may = allowed_text(e, allowed);
  value_put(&is, value);
  struct diagnostic *d =
      report(e, OUT_OF_RANGE, span, "`%.*s` must be %s%.*s, not %.*s",
             SLICE_ARG(stmt->name), allowed->ranged ? "in " : "one of ",
             SLICE_ARG(may), SLICE_ARG(is));
  if (span.begin < stmt->span.begin || span.begin >= stmt->span.end)
    diag_label(d, stmt->span, "allowed values are defined here");
  const struct value *best = nearest(allowed, value);
  if (!best)
    return;
  value_put(&near, best);
  if (best->kind == VALUE_NAME)
    diag_help(d, "did you mean `%.*s`?", SLICE_ARG(near));
  else
    diag_help(d, "the nearest is %.*s", SLICE_ARG(near));
}

static struct slice written(struct expander *e, const struct value *value) {
  struct text text = text_new(e->arena);
  value_put(&text, value);
  return text_slice(&text);
}

/* Records the choices for tools; in a def, those of the first call. */
static void record(struct expander *e, const struct stmt *stmt,
                   const struct allowed *allowed, const struct value *fallback,
                   const struct value *value, bool given, bool follows) {
  struct slice place = {(const char *)&stmt->span, sizeof stmt->span};
  if (map_add(e->arena, &e->recorded, place)->number++)
    return;
  *VEC_PUSH(e->arena, &e->model->choices) = (struct model_param_choice){
      stmt,
      written(e, fallback),
      written(e, value),
      allowed_text(e, allowed),
      follows ? sources_slice(e->in->diags->sources, stmt->more->value->span)
              : (struct slice){"", 0},
      given};
}

/* A table with an error still allows the values of its valid rows. */
static struct value salvage(struct expander *e, const struct stmt *stmt,
                            const struct allowed *allowed,
                            const struct value *fallback,
                            const struct define *define) {
  const struct value *value = define ? &define->value : fallback;
  bool first = !stmt->more->value && !define;
  if (!e->in->partial || !stmt->more->rows || !allowed->list.count ||
      (first && !is_whole(stmt, stmt->more->rows)) ||
      !holds(allowed, value, fallback))
    return value_poison;
  return *value;
}

/* Declares the columns of the value's row. */
static void declare_columns(struct expander *e, const struct stmt *stmt,
                            const struct allowed *allowed,
                            const struct value *value) {
  const struct table_row *row = stmt->more->rows;
  size_t i = 0;
  while (row && i < allowed->list.count &&
         !value_equal(&allowed->list.at[i], value)) {
    row = row->next;
    i++;
  }
  const struct expr *x =
      row && value->kind != VALUE_POISON && is_whole(stmt, row) ? row->values
                                                                : NULL;
  for (const struct name_list *n = stmt->more->names; n; n = n->next) {
    struct stmt column = {.name = n->name, .name_span = n->span};
    x = x ? x->next : NULL;
    struct value cell = x ? eval(e, x) : value_poison;
    declare(e, &column, &cell);
  }
}

/* Without a default, the first value of a list is taken. */
static bool find_default(struct expander *e, const struct stmt *stmt,
                         const struct allowed *allowed,
                         struct value *fallback) {
  const struct name_list *column = stmt->more->names;
  struct slice name = stmt->name;
  if (column && !stmt->more->rows) {
    struct diagnostic *d =
        report(e, SYNTAX, column->span, "`%.*s` needs a table",
               SLICE_ARG(column->name));
    return diag_help(d,
                     "give a row for each value: `param %.*s %.*s in [small "
                     "64; large 128]`",
                     SLICE_ARG(name), SLICE_ARG(column->name));
  }
  if (stmt->more->value) {
    bool word = allowed->list.count && is_word(e, stmt->more->value);
    *fallback =
        word ? eval_word(e, stmt->more->value) : eval(e, stmt->more->value);
    return true;
  }
  if (allowed->list.count) {
    *fallback = allowed->list.at[0];
    return true;
  }
  struct diagnostic *d = report(e, SYNTAX, stmt->name_span,
                                "`%.*s` needs a value", SLICE_ARG(name));
  return diag_help(d,
                   "write `param %.*s = 4`; only a list needs no default: its "
                   "first value is used",
                   SLICE_ARG(name));
}

/* Names of a list from the command line are those of defs here. */
static void find_names(struct expander *e, struct value *list) {
  struct value *items =
      arena_alloc(e->arena, (size_t)list->count, sizeof *items);
  for (int i = 0; i < list->count; i++) {
    items[i] = list->items[i];
    if (items[i].kind == VALUE_NAME && !items[i].symbol)
      items[i].symbol = scope_find(e->scope, items[i].name);
  }
  list->items = items;
}

static struct value choose(struct expander *e, const struct stmt *stmt,
                           const struct allowed *allowed,
                           const struct value *fallback,
                           struct define *define) {
  bool limited = allowed->ranged || allowed->list.count;
  const struct value *value = define ? &define->value : fallback;
  if (define && value->kind == VALUE_LIST)
    find_names(e, &define->value);
  if (define && fallback->kind == VALUE_LIST && value->kind != VALUE_LIST &&
      value->kind != VALUE_POISON) {
    diag_help(report(e, WRONG_TYPE, define->span,
                     "`%.*s` is a list of layers or defs",
                     SLICE_ARG(stmt->name)),
              "write brackets: `%.*s = [first second]`", SLICE_ARG(stmt->name));
    return value_poison;
  }
  if (define && define->unknown && !limited && !slice_is(value->name, "none")) {
    report(e, UNKNOWN_NAME, define->span,
           "`%.*s` is neither a number, `true`, `false` nor a layer",
           SLICE_ARG(value->name));
    return value_poison;
  }
  if (!limited || fallback->kind == VALUE_POISON)
    return *value;
  if (!holds(allowed, fallback, fallback))
    refuse(e, stmt, allowed, fallback, stmt->more->value->span);
  else if (value->kind != VALUE_POISON && !holds(allowed, value, fallback))
    refuse(e, stmt, allowed, value, define->span);
  else
    return *value;
  return value_poison;
}

void expand_param(struct expander *e, const struct stmt *stmt) {
  struct define *define = find_define(e, stmt->name);
  struct value fallback = value_poison, value;
  struct allowed allowed;
  bool known = read_allowed(e, stmt, &allowed);
  e->depends = false;
  known = find_default(e, stmt, &allowed, &fallback) && known;
  bool follows = stmt->more->value && e->depends &&
                 fallback.kind != VALUE_NAME && fallback.kind != VALUE_LIST;
  if (define)
    define->used = true;
  if (known)
    record(e, stmt, &allowed, &fallback, define ? &define->value : &fallback,
           define, follows);
  value = known ? choose(e, stmt, &allowed, &fallback, define)
                : salvage(e, stmt, &allowed, &fallback, define);
  declare(e, stmt, &value);
  declare_columns(e, stmt, &allowed, &value);
}

/* Reports error "..." or warn "...". After an error no statement follows. The
 * parser has already handled `allow`. */
void expand_message(struct expander *e, const struct stmt *stmt) {
  bool warns = slice_is(stmt->name, "warn");
  if (slice_is(stmt->name, "allow"))
    return;
  struct arena_mark before = arena_mark(&e->scratch);
  struct text text = text_new(&e->scratch);
  bool known = true;
  for (const struct expr *x = stmt->more->value; x; x = x->next) {
    struct value value = value_poison;
    e->steps++;
    if (x->kind == EXPR_TEXT) {
      text_puts(&text, x->name);
      continue;
    }
    value = eval(e, x);
    known = known && value.kind != VALUE_POISON;
    value_put(&text, &value);
  }
  if (known)
    report(e, warns ? STATED_WARNING : STATED_ERROR, stmt->span, "%.*s",
           SLICE_ARG(text));
  arena_release(&e->scratch, before);
  if (!warns)
    e->stopped = e->lost = true;
}
