/* Functions of expressions: min, floor, divisible and others. */
#include <math.h>

#include "base/check.h"
#include "base/real.h"
#include "sema/binding/expander.h"

static struct value to_integer(struct expander *e, double value,
                               struct span span) {
  if (value >= -0x1p63 && value < 0x1p63)
    return eval_integer((int64_t)value, span);
  return eval_overflow(e, span);
}

/* Rounds halves to even, as Python's round does. */
static double round_half_even(double value) {
  double below = floor(value), rest = value - below;
  if (rest != 0.5)
    return rest < 0.5 ? below : below + 1;
  return fmod(below, 2) == 0 ? below : below + 1;
}

static struct value rounded(struct expander *e, const struct expr *expr,
                            const struct value *a) {
  if (a->kind == VALUE_INT)
    return *a;
  if (slice_is(expr->name, "floor"))
    return to_integer(e, floor(a->real), expr->span);
  if (slice_is(expr->name, "ceil"))
    return to_integer(e, ceil(a->real), expr->span);
  return to_integer(e, round_half_even(a->real), expr->span);
}

/*
 * The multiple of m nearest to v, but at least 90 % of v: _make_divisible of
 * torchvision/models/_utils.py.
 */
static struct value divisible(struct expander *e, const struct expr *expr,
                              const struct value *a) {
  const struct value *v = &a[0];
  int64_t m;
  if (!want_int(e, &a[1], &m))
    return value_poison;
  if (m < 1 || value_number(v) < 0) {
    report(e, OUT_OF_RANGE, expr->span,
           "divisible(v, m) needs v >= 0 and m >= 1");
    return value_poison;
  }
  struct value half =
      to_integer(e, floor(value_number(v) + (double)m / 2), expr->span);
  if (half.kind == VALUE_POISON)
    return value_poison;
  int64_t result = max_i64(m, half.integer / m * m);
  if ((double)result < 0.9 * value_number(v) && !add_i64(result, m, &result))
    return eval_overflow(e, expr->span);
  return eval_integer(result, expr->span);
}

static struct value extreme(const struct expr *expr, const struct value *a,
                            int count) {
  const struct value *best = &a[0];
  int sign = slice_is(expr->name, "max") ? 1 : -1;
  bool any_real = false;
  for (int i = 0; i < count; i++) {
    any_real = any_real || a[i].kind == VALUE_REAL;
    if (sign * value_compare(&a[i], best) > 0)
      best = &a[i];
  }
  struct value result = *best;
  result.span = expr->span;
  if (any_real) {
    result.real = value_number(best);
    result.kind = VALUE_REAL;
  }
  return result;
}

enum { MOST_ITEMS = 16 };

static const struct {
  const char *name;
  int least, most;
} functions[] = {
    {"min", 2, MOST_ITEMS}, {"max", 2, MOST_ITEMS}, {"floor", 1, 1},
    {"ceil", 1, 1},         {"round", 1, 1},        {"sqrt", 1, 1},
    {"log2", 1, 1},         {"divisible", 2, 2},
};

const char *eval_function(size_t index) {
  size_t count = sizeof functions / sizeof *functions;
  return index < count ? functions[index].name : NULL;
}

bool eval_is_function(struct slice name) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (slice_is(name, functions[i].name))
      return true;
  return false;
}

static struct value unknown_function(struct expander *e,
                                     const struct expr *expr) {
  struct suggestion s = suggest_begin(expr->name);
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    suggest_offer(&s, slice_of(functions[i].name));
  for (size_t i = 0; i < layer_kind_count(); i++)
    suggest_offer(&s, slice_of(layer_kind_at(i)->name));
  struct diagnostic *d =
      report(e, UNKNOWN_NAME, expr->span, "unknown function `%.*s`",
             SLICE_ARG(expr->name));
  if (s.best.at)
    diag_suggest(d,
                 (struct span){expr->span.begin,
                               expr->span.begin + (uint32_t)expr->name.length},
                 s.best);
  if (scope_find(e->scope, expr->name))
    diag_help(d, "put a blank before the parenthesis to make it another "
                 "argument");
  else
    diag_otherwise(d, "the functions are min max floor ceil round sqrt log2 "
                      "divisible");
  return value_poison;
}

static struct value call(struct expander *e, const struct expr *expr,
                         const struct value *a, int count) {
  double x = value_number(&a[0]);
  if (slice_is(expr->name, "min") || slice_is(expr->name, "max"))
    return extreme(expr, a, count);
  if (slice_is(expr->name, "divisible"))
    return divisible(e, expr, a);
  if (slice_is(expr->name, "sqrt") || slice_is(expr->name, "log2")) {
    bool root = slice_is(expr->name, "sqrt");
    return eval_real(e, root ? sqrt(x) : real_log2(x), expr->span);
  }
  return rounded(e, expr, a);
}

/* Includes defs, which eval_layer() then reports in more detail. */
static bool is_layer(struct expander *e, struct slice name) {
  const struct symbol *symbol = scope_resolve(e->scope, name);
  if (!symbol)
    return layer_kind_find(name);
  return symbol->kind == SYMBOL_DEF ||
         (symbol->kind == SYMBOL_CONSTANT && symbol->value->kind == VALUE_NAME);
}

struct value eval_call(struct expander *e, const struct expr *expr) {
  size_t f = 0, known = sizeof functions / sizeof *functions;
  while (f < known && !slice_is(expr->name, functions[f].name))
    f++;
  if (f == known)
    return is_layer(e, expr->name) ? eval_layer(e, expr)
                                   : unknown_function(e, expr);
  struct value items[MOST_ITEMS];
  int count = 0;
  bool failed = false;
  for (const struct expr *x = expr->items; x; x = x->next, count++) {
    if (count >= functions[f].most)
      continue;
    items[count] = eval(e, x);
    items[count].span = x->span;
    if (!value_is_number(&items[count])) {
      eval_mismatch(e, &items[count], x->span, "a number");
      failed = true;
    }
  }
  if (count < functions[f].least || count > functions[f].most) {
    report(e, WRONG_COUNT, expr->span, "%s takes %d value%s, not %d",
           functions[f].name, functions[f].least,
           functions[f].least > 1 ? "s" : "", count);
    return value_poison;
  }
  return failed ? value_poison : call(e, expr, items, count);
}
