/* Constants: let and param, what a param allows, and messages about them. */
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

/* What a param may be: the values of a list, or all from low to high. */
struct allowed {
  VEC(struct value) list;
  struct value low, high;
  bool ranged;
};

/* False if there is an error in it. */
static bool read_allowed(struct expander *e, const struct stmt *stmt,
                         struct allowed *allowed) {
  bool right = true;
  *allowed = (struct allowed){.ranged = stmt->more->range};
  for (const struct table_row *row = stmt->more->rows; row; row = row->next)
    for (const struct expr *x = row->values; x; x = x->next) {
      struct value value = eval(e, x);
      right = right && value.kind != VALUE_POISON;
      *VEC_PUSH(e->arena, &allowed->list) = value;
    }
  if (!stmt->more->range)
    return right;
  allowed->low = eval(e, stmt->more->range->left);
  allowed->high = eval(e, stmt->more->range->right);
  if (!value_is_number(&allowed->low)) {
    eval_mismatch(e, &allowed->low, stmt->more->range->left->span, "a number");
    return false;
  }
  if (!value_is_number(&allowed->high)) {
    eval_mismatch(e, &allowed->high, stmt->more->range->right->span,
                  "a number");
    return false;
  }
  return right;
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

/* Between integers, and with one as its default, lie integers. */
static bool holds(const struct allowed *allowed, const struct value *value,
                  const struct value *fallback) {
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

/* The nearest number, the lower of two; the name that is spelt like it. */
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
  if (span.begin != stmt->more->value->span.begin)
    diag_label(d, stmt->span, "what is allowed");
  const struct value *best = nearest(allowed, value);
  if (!best)
    return;
  value_put(&near, best);
  diag_help(d, "the nearest is %.*s", SLICE_ARG(near));
}

static struct slice written(struct expander *e, const struct value *value) {
  struct text text = text_new(e->arena);
  value_put(&text, value);
  return text_slice(&text);
}

/* For those who ask what can be chosen; in a def, the first call counts. */
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

void expand_param(struct expander *e, const struct stmt *stmt) {
  e->depends = false;
  struct value fallback = eval(e, stmt->more->value), value = fallback;
  bool follows = e->depends && fallback.kind != VALUE_NAME;
  struct define *define = find_define(e, stmt->name);
  struct allowed allowed;
  bool known = read_allowed(e, stmt, &allowed);
  bool limited = known && (allowed.ranged || allowed.list.count);
  struct span span = stmt->more->value->span;
  if (define) {
    define->used = true;
    value = define->value;
    span = define->span;
  }
  if (known)
    record(e, stmt, &allowed, &fallback, &value, define, follows);
  if (define && define->unknown && !limited) {
    report(e, UNKNOWN_NAME, span,
           "`%.*s` is neither a number, `true`, `false` nor a layer",
           SLICE_ARG(value.name));
    value = value_poison;
  }
  if (limited && fallback.kind != VALUE_POISON &&
      !holds(&allowed, &fallback, &fallback)) {
    refuse(e, stmt, &allowed, &fallback, stmt->more->value->span);
    value = value_poison;
  } else if (limited && value.kind != VALUE_POISON &&
             !holds(&allowed, &value, &fallback)) {
    refuse(e, stmt, &allowed, &value, span);
    value = value_poison;
  }
  declare(e, stmt, &value);
}

/* error "...", warn "...": after an error nothing is carried out. */
void expand_message(struct expander *e, const struct stmt *stmt) {
  bool warns = slice_is(stmt->name, "warn");
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
