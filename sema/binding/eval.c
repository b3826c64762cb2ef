/* Evaluation of expressions; checks every overflow. */
#include <inttypes.h>
#include <math.h>

#include "base/check.h"
#include "sema/binding/arith.h"
#include "sema/binding/hint.h"

struct value eval_integer(int64_t value, struct span span) {
  return (struct value){.kind = VALUE_INT, .integer = value, .span = span};
}

static struct value boolean(bool value, struct span span) {
  return (struct value){.kind = VALUE_BOOL, .integer = value, .span = span};
}

struct value eval_overflow(struct expander *e, struct span span) {
  report(e, INTEGER_OVERFLOW, span, "the result does not fit a 64-bit integer");
  return value_poison;
}

struct value eval_real(struct expander *e, double value, struct span span) {
  if (isfinite(value))
    return (struct value){.kind = VALUE_REAL, .real = value, .span = span};
  report(e, NOT_FINITE, span, "the result is not a finite number");
  return value_poison;
}

/* Returns NULL, without a report, for a poison. */
static struct diagnostic *report_type(struct expander *e,
                                      const struct value *value,
                                      struct span span, const char *wanted) {
  if (value->kind == VALUE_POISON)
    return NULL;
  struct text text = text_new(e->arena);
  value_put(&text, value);
  struct diagnostic *d =
      report(e, WRONG_TYPE, span, "%s is needed here, not %s", wanted,
             value_words(value->kind));
  diag_here(d, "is %.*s", SLICE_ARG(text));
  return d;
}

struct value eval_mismatch(struct expander *e, const struct value *value,
                           struct span span, const char *wanted) {
  report_type(e, value, span, wanted);
  return value_poison;
}

void eval_help_integer(struct diagnostic *d, struct span span, double real) {
  if (!diag_is_shown(d))
    return;
  struct slice said = sources_slice(d->owner->sources, span);
  struct text text = text_new(d->owner->arena);
  if (fabs(real) < 9e15 && floor(real) == real) {
    text_int(&text, (int64_t)real);
    diag_offer(d, span, text_slice(&text),
               "write an integer without point and exponent: `%.*s`",
               SLICE_ARG(text));
  } else {
    text_printf(&text, "floor(%.*s)", SLICE_ARG(said));
    diag_offer(d, span, text_slice(&text), "use floor(), ceil() or round()");
  }
  diag_otherwise(d, "use floor(), ceil() or round()");
}

bool want_int(struct expander *e, const struct value *value, int64_t *out) {
  if (value->kind == VALUE_INT) {
    *out = value->integer;
    return true;
  }
  struct diagnostic *d = report_type(e, value, value->span, "an integer");
  if (d && value->kind == VALUE_REAL)
    eval_help_integer(d, value->span, value->real);
  return false;
}

bool eval_int(struct expander *e, const struct expr *expr, int64_t *out) {
  struct value value = eval(e, expr);
  return want_int(e, &value, out);
}

bool eval_count(struct expander *e, const struct expr *expr, int64_t *out) {
  struct value value = eval(e, expr);
  bool whole = value.kind == VALUE_REAL && fabs(value.real) <= LIMIT_LAYERS &&
               floor(value.real) >= value.real;
  if (!whole)
    return want_int(e, &value, out);
  *out = (int64_t)value.real;
  return true;
}

bool eval_bool(struct expander *e, const struct expr *expr, bool *out) {
  struct value value = eval(e, expr);
  if (value.kind == VALUE_BOOL) {
    *out = value.integer;
    return true;
  }
  eval_mismatch(e, &value, expr->span, "true or false");
  return false;
}

/* Names */

static struct value name_value(struct slice name, struct span span) {
  return (struct value){.kind = VALUE_NAME, .name = name, .span = span};
}

static struct value label_value(struct symbol *symbol, struct span span) {
  struct value value = name_value(symbol->name, span);
  value.symbol = symbol;
  return value;
}

/* skip[i], stem.conv1 */
static struct value eval_label(struct expander *e, const struct expr *expr) {
  struct symbol *symbol = label_find(e, expr);
  return symbol ? label_value(symbol, expr->span) : value_poison;
}

struct value eval_word(struct expander *e, const struct expr *name) {
  map_add(e->arena, &e->words, name->name);
  return name_value(name->name, name->span);
}

static struct value eval_name(struct expander *e, const struct expr *expr) {
  e->depends = true;
  struct symbol *symbol = scope_find(e->scope, expr->name);
  if (!symbol) {
    if (layer_kind_find(expr->name) || map_find(&e->words, expr->name) ||
        slice_is(expr->name, "none"))
      return name_value(expr->name, expr->span);
    struct symbol *named = path_of_net(e, expr->name, expr->span);
    if (named)
      return label_value(named, expr->span);
    report_unknown_name(e, expr->name, expr->span, NAME_OF_VALUE, NULL);
    return value_poison;
  }
  struct value value = name_value(expr->name, expr->span);
  if (symbol->kind == SYMBOL_CONSTANT)
    value = *symbol->value;
  else
    value.symbol = symbol;
  value.span = expr->span;
  return value;
}

/* Fields, as in.c */

enum { FIELD_SIZE = AXIS_LENGTH + 1 }; /* in.size: all values, not an axis */

/* The axis of the word behind `in.`; 0: none. */
static int64_t axis_of_field(struct slice name) {
  static const struct {
    const char *name;
    int64_t axis;
  } fields[] = {{"c", AXIS_C}, {"w", AXIS_W},        {"h", AXIS_H},
                {"d", AXIS_D}, {"len", AXIS_LENGTH}, {"size", FIELD_SIZE}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (slice_is(name, fields[i].name))
      return fields[i].axis;
  return 0;
}

bool eval_is_size(struct slice name) {
  return axis_of_field(name) != 0;
}

static struct value unknown_field(struct expander *e, const struct expr *expr) {
  struct diagnostic *d =
      report(e, UNKNOWN_NAME, expr->span, "a tensor has no `%.*s`",
             SLICE_ARG(expr->name));
  diag_help(d, "choose one of: in.c, in.h, in.w, in.d, in.len, in.size");
  return value_poison;
}

static struct value eval_field(struct expander *e, const struct expr *expr) {
  int64_t field = axis_of_field(expr->name);
  e->depends = true;
  if (!field && scope_find(e->scope, slice_of("in")))
    return eval_label(e, expr);
  if (!field)
    return unknown_field(e, expr);
  if (e->lost)
    return value_poison;
  if (e->current == NO_NODE) {
    report(e, NO_TENSOR, expr->span,
           "there is no tensor yet, so it has no size");
    return value_poison;
  }
  struct node *node = &e->model->nodes.at[e->current];
  const struct shape *shape = node->out;
  if (!shape->rank)
    return value_poison;
  node->channels_asked = node->channels_asked || field == AXIS_C;
  node->sizes_asked = node->sizes_asked || field != AXIS_C;
  if (field == FIELD_SIZE && !shape_is_known(shape))
    return value_poison;
  if (field == FIELD_SIZE)
    return eval_integer(shape_values(shape), expr->span);
  bool index = shape->dtype != DTYPE_FLOAT; /* it has only a length */
  int axis = !index ? axis_index(field, shape) : field == AXIS_LENGTH ? 0 : -1;
  if (axis >= 0 && shape->dim[axis] != SIZE_UNKNOWN)
    return eval_integer(shape->dim[axis], expr->span);
  if (axis >= 0 || node->unsure)
    return value_poison;
  report(e, WRONG_AXIS, expr->span,
         "the current tensor (%s) does not have this axis",
         shape_text(shape).text);
  return value_poison;
}

/* Operators */

static struct value arithmetic(struct expander *e, const struct expr *expr,
                               const struct value *a, const struct value *b) {
  struct arith result;
  bool integers = a->kind == VALUE_INT && b->kind == VALUE_INT;
  switch (integers ? arith_integers(expr->op, a->integer, b->integer, &result)
                   : arith_reals(expr->op, value_number(a), value_number(b),
                                 &result)) {
  case ARITH_OVERFLOW: return eval_overflow(e, expr->span);
  case ARITH_BY_ZERO:
    report(e, DIVISION_BY_ZERO, expr->span, "this divides by zero");
    return value_poison;
  default: break;
  }
  return result.is_real ? eval_real(e, result.real, expr->span)
                        : eval_integer(result.integer, expr->span);
}

/* `none`, which no number, size or truth value equals. */
static bool is_none(const struct value *value) {
  return value->kind == VALUE_NAME && !value->symbol && !value->layer &&
         slice_is(value->name, "none");
}

static struct value compare(struct expander *e, const struct expr *expr,
                            const struct value *a, const struct value *b) {
  bool numbers = value_is_number(a) && value_is_number(b);
  bool alike = a->kind == b->kind || is_none(a) || is_none(b);
  bool equality = expr->op == OP_EQ || expr->op == OP_NE;
  if (!numbers && !(alike && equality)) {
    report(e, WRONG_TYPE, expr->span, "cannot compare %s with %s",
           value_words(a->kind), value_words(b->kind));
    return value_poison;
  }
  if (equality)
    return boolean(value_equal(a, b) == (expr->op == OP_EQ), expr->span);
  int order = value_compare(a, b);
  bool result = expr->op == OP_LT   ? order < 0
                : expr->op == OP_LE ? order <= 0
                : expr->op == OP_GT ? order > 0
                                    : order >= 0;
  return boolean(result, expr->span);
}

/* `and` and `or` stop at the operand that decides. */
static struct value eval_logic(struct expander *e, const struct expr *expr) {
  bool left, right;
  if (!eval_bool(e, expr->left, &left))
    return value_poison;
  if (left == (expr->op == OP_OR))
    return boolean(left, expr->span);
  if (!eval_bool(e, expr->right, &right))
    return value_poison;
  return boolean(right, expr->span);
}

static struct value eval_binary(struct expander *e, const struct expr *expr) {
  if (expr->op == OP_AND || expr->op == OP_OR)
    return eval_logic(e, expr);
  struct value a = eval(e, expr->left), b = eval(e, expr->right);
  if (a.kind == VALUE_POISON || b.kind == VALUE_POISON)
    return value_poison;
  if (expr->op >= OP_EQ && expr->op <= OP_GE)
    return compare(e, expr, &a, &b);
  if (!value_is_number(&a))
    return eval_mismatch(e, &a, expr->left->span, "a number");
  if (!value_is_number(&b))
    return eval_mismatch(e, &b, expr->right->span, "a number");
  return arithmetic(e, expr, &a, &b);
}

static struct value eval_unary(struct expander *e, const struct expr *expr) {
  if (expr->op == OP_NOT) {
    bool value;
    if (!eval_bool(e, expr->left, &value))
      return value_poison;
    return boolean(!value, expr->span);
  }
  struct value value = eval(e, expr->left);
  int64_t result;
  if (value.kind == VALUE_REAL)
    return eval_real(e, -value.real, expr->span);
  if (value.kind != VALUE_INT)
    return eval_mismatch(e, &value, expr->left->span, "a number");
  if (!sub_i64(0, value.integer, &result))
    return eval_overflow(e, expr->span);
  return eval_integer(result, expr->span);
}

/* Sizes and pairs */

/* `1..512` of an input: the net is built for one of the bounds. */
static struct value eval_bounds(struct expander *e, const struct expr *expr) {
  int64_t low, high;
  if (!eval_int(e, expr->left, &low) || !eval_int(e, expr->right, &high))
    return value_poison;
  if (low < 1 || high < low) {
    struct diagnostic *d = report(e, OUT_OF_RANGE, expr->span,
                                  "bounds must increase, from at least 1");
    struct text turned = text_new(e->arena);
    text_printf(&turned, "%" PRId64 "..%" PRId64, max_i64(high, 1), low);
    if (low > high)
      diag_offer(d, expr->span, text_slice(&turned), "write `%.*s`",
                 SLICE_ARG(turned));
    diag_help(d, "write the minimum size, then the maximum: `1..512`");
    return value_poison;
  }
  if (!e->in->bounds.end)
    e->in->bounds = expr->span;
  return eval_integer(e->in->low ? low : high, expr->span);
}

static bool eval_size(struct expander *e, const struct expr *expr,
                      int64_t *out) {
  *out = SIZE_ANY;
  return expr->kind == EXPR_ANY || eval_int(e, expr, out);
}

/* Evaluates an operand of x: a size, a pair, or several sizes. */
static bool eval_part(struct expander *e, const struct expr *item,
                      struct value *part) {
  *part = (struct value){.kind = VALUE_SIZES, .count = 1};
  if (item->kind == EXPR_PAIR) {
    part->paired = true;
    return eval_size(e, item->left, &part->at[0]) &&
           eval_size(e, item->right, &part->to[0]);
  }
  struct value value = eval(e, item);
  if (value.kind == VALUE_SIZES) {
    *part = value;
    return true;
  }
  if (value.kind == VALUE_NAME && scope_find(e->scope, slice_of("x"))) {
    struct diagnostic *d =
        report(e, WRONG_TYPE, item->span, "this needs an integer, not a name");
    return diag_help(d, "between two values x joins sizes; write the name in "
                        "parentheses: `(x)`");
  }
  part->at[0] = SIZE_ANY;
  if (value.kind != VALUE_ANY && !want_int(e, &value, &part->at[0]))
    return false;
  part->to[0] = part->at[0];
  return true;
}

static struct value eval_sizes(struct expander *e, const struct expr *expr) {
  struct value value = {.kind = VALUE_SIZES, .span = expr->span};
  const struct expr *item = expr->kind == EXPR_DIMS ? expr->items : expr;
  for (; item; item = item->next) {
    struct value part;
    if (!eval_part(e, item, &part))
      return value_poison;
    if (value.count + part.count > LIMIT_RANK) {
      report(e, WRONG_RANK, expr->span, "a tensor has at most %d axes",
             LIMIT_RANK);
      return value_poison;
    }
    for (int i = 0; i < part.count; i++) {
      value.at[value.count] = part.at[i];
      value.to[value.count++] = part.to[i];
    }
    value.paired = value.paired || part.paired;
    if (expr->kind == EXPR_PAIR)
      break; /* its `next` belongs to another argument */
  }
  return value;
}

static struct value eval_list(struct expander *e, const struct expr *expr) {
  struct value list = {.kind = VALUE_LIST, .span = expr->span};
  int64_t count = 0;
  for (const struct expr *item = expr->items; item; item = item->next)
    count++;
  if (count > LIMIT_LAYERS) {
    report(e, TOO_LARGE, expr->span, "a list has at most %s values",
           count_text(LIMIT_LAYERS).text);
    return value_poison;
  }
  struct value *items = arena_alloc(e->arena, (size_t)count, sizeof *items);
  for (const struct expr *item = expr->items; item; item = item->next) {
    items[list.count] = eval(e, item);
    if (items[list.count++].kind == VALUE_POISON)
      return value_poison;
  }
  list.items = items;
  return list;
}

/* Items of a layer are bound elsewhere and never evaluated here. */
static struct value eval_keyed(struct expander *e, const struct expr *expr) {
  struct diagnostic *d =
      report(e, UNKNOWN_OPTION, expr->span, "a function has no option `%.*s`",
             SLICE_ARG(expr->name));
  diag_help(d, "write its values in order: `min(a, b)`");
  return value_poison;
}

struct value eval(struct expander *e, const struct expr *expr) {
  switch (expr->kind) {
  case EXPR_INT: return eval_integer(expr->integer, expr->span);
  case EXPR_REAL: return eval_real(e, expr->real, expr->span);
  case EXPR_BOOL: return boolean(expr->integer, expr->span);
  case EXPR_NAME: return eval_name(e, expr);
  case EXPR_ANY: return (struct value){.kind = VALUE_ANY, .span = expr->span};
  case EXPR_UNARY: e->steps++; return eval_unary(e, expr);
  case EXPR_BINARY: e->steps++; return eval_binary(e, expr);
  case EXPR_CALL: e->steps++; return eval_call(e, expr);
  case EXPR_KEYED: return eval_keyed(e, expr);
  case EXPR_FIELD: return eval_field(e, expr);
  case EXPR_INDEX:
  case EXPR_PATH: return eval_label(e, expr);
  case EXPR_RANGE: return eval_bounds(e, expr);
  case EXPR_TEXT: {
    struct diagnostic *d =
        report(e, WRONG_TYPE, expr->span, "a text is not a value");
    diag_help(d, "only choices take a text: `train gpu=\"NVIDIA GeForce RTX "
                 "4090\"`");
    break;
  }
  case EXPR_DIMS:
  case EXPR_PAIR: return eval_sizes(e, expr);
  case EXPR_LIST: return eval_list(e, expr);
  }
  return value_poison;
}
