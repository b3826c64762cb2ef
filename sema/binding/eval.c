/* Evaluation of expressions, with every overflow noticed. */
#include <inttypes.h>
#include <math.h>

#include "base/check.h"
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

/* NULL, and silence, for a poison. */
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

void eval_help_integer(struct diagnostic *d, double real) {
  if (fabs(real) < 9e15 && floor(real) == real)
    diag_help(d, "without point and exponent it is an integer: `%" PRId64 "`",
              (int64_t)real);
  else
    diag_help(d, "use floor(), ceil() or round()");
}

bool want_int(struct expander *e, const struct value *value, int64_t *out) {
  if (value->kind == VALUE_INT) {
    *out = value->integer;
    return true;
  }
  struct diagnostic *d = report_type(e, value, value->span, "an integer");
  if (d && value->kind == VALUE_REAL)
    eval_help_integer(d, value->real);
  return false;
}

bool eval_int(struct expander *e, const struct expr *expr, int64_t *out) {
  struct value value = eval(e, expr);
  return want_int(e, &value, out);
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

/* `3xk` or `kxk`, where every part is a number or a constant. */
static bool looks_like_sizes(struct expander *e, struct slice name) {
  size_t start = 0, parts = 0;
  for (size_t i = 0; i <= name.length; i++) {
    if (i < name.length && name.at[i] != 'x')
      continue;
    struct slice part = {name.at + start, i - start};
    bool number = part.length > 0;
    for (size_t j = 0; j < part.length; j++)
      number = number && part.at[j] >= '0' && part.at[j] <= '9';
    if (!number && (!part.length || !scope_find(e->scope, part)))
      return false;
    parts++;
    start = i + 1;
  }
  return parts > 1;
}

static void suggest_words(struct suggestion *s, const struct arg_spec *spec) {
  for (; spec && spec->name; spec++) {
    suggest_offer(s, slice_of(spec->name));
    for (int i = 1; spec->words && word_at(spec->words, i).length; i++)
      suggest_offer(s, word_at(spec->words, i));
  }
}

static bool hint_sizes(struct expander *e, struct diagnostic *d,
                       struct slice name, struct span span) {
  if (!looks_like_sizes(e, name))
    return false;
  struct text sizes = text_new(e->arena);
  for (size_t i = 0; i < name.length; i++) {
    if (name.at[i] == 'x')
      text_put(&sizes, " x ");
    else
      text_putc(&sizes, name.at[i]);
  }
  struct slice apart = text_slice(&sizes);
  diag_offer(d, span, apart, "to join sizes, put blanks around the x: `%.*s`",
             SLICE_ARG(apart));
  return true;
}

static bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

/* Whether a word at a place may be defined there: `c = 4`, `def f(c):`. */
static bool defines(struct slice text, size_t begin, size_t end) {
  while (begin > 0 && text.at[begin - 1] == ' ')
    begin--;
  while (end < text.length && text.at[end] == ' ')
    end++;
  return (begin > 0 && is_word(text.at[begin - 1])) ||
         (end < text.length && strchr("=:(),{[", text.at[end]));
}

static bool defines_word(struct slice text, struct slice word) {
  for (size_t i = 0; i + word.length <= text.length; i++)
    if (memcmp(text.at + i, word.at, word.length) == 0 &&
        (i == 0 || !is_word(text.at[i - 1])) &&
        (i + word.length == text.length ||
         !is_word(text.at[i + word.length])) &&
        defines(text, i, i + word.length))
      return true;
  return false;
}

bool scope_lost(const struct expander *e, struct slice name) {
  for (size_t i = 0; i < e->holes.count && !e->in->strict; i++)
    if (defines_word(sources_slice(e->diags->sources, e->holes.at[i]), name))
      return true;
  return false;
}

/* What may stand in that place, and nothing else. */
static struct slice closest_name(struct expander *e, struct slice name,
                                 enum name_place place,
                                 const struct arg_spec *specs) {
  struct suggestion s = suggest_begin(name);
  scope_suggest(e->scope, SYMBOL_LABEL, &s);
  if (place == NAME_OF_TENSOR)
    return s.best;
  if (place == NAME_OF_TAIL)
    s = suggest_begin(name);
  scope_suggest(e->scope, SYMBOL_CONSTANT, &s);
  if (place == NAME_OF_TAIL) {
    suggest_words(&s, specs);
    suggest_words(&s, row_specs);
  }
  if (place == NAME_OF_TAIL || !s.best.at)
    for (size_t i = 0; i < layer_kind_count(); i++)
      suggest_offer(&s, slice_of(layer_kind_at(i)->name));
  return s.best;
}

/* `groups 2` lacks a sign between. */
static void offer_sign(struct expander *e, struct diagnostic *d,
                       struct slice name, struct span span) {
  struct slice rest = sources_rest(e->diags->sources, span.end);
  struct text text = text_new(e->arena);
  size_t begin = 0, end;
  while (begin < rest.length && rest.at[begin] == ' ')
    begin++;
  for (end = begin;
       end < rest.length && rest.at[end] >= '0' && rest.at[end] <= '9';)
    end++;
  if (begin == 0 || end == begin)
    return;
  text_printf(&text, "%.*s=%.*s", SLICE_ARG(name), (int)(end - begin),
              rest.at + begin);
  span.end += (uint32_t)end;
  diag_offer(d, span, text_slice(&text), "it takes a value: `%.*s`",
             SLICE_ARG(text));
}

/* `stride 2`, which is `/2` here or has a sign between. */
static bool hint_value(struct expander *e, struct diagnostic *d,
                       const struct arg_spec *spec, struct slice name,
                       struct span span) {
  for (; spec && spec->name; spec++) {
    if (!slice_is(name, spec->name))
      continue;
    bool stride = spec->place == PLACE_STRIDE;
    if (stride)
      diag_help(d, "it takes a value: `/2`, or `%s=...`", spec->name);
    else
      offer_sign(e, d, name, span);
    diag_otherwise(d, "it takes a value: `%s=...`", spec->name);
    return true;
  }
  return false;
}

/* `3 // three`: a comment, as other languages have it. */
static bool hint_comment(struct expander *e, struct diagnostic *d,
                         struct span span) {
  struct sources *sources = e->diags->sources;
  size_t room = sources_position(sources, span.begin).offset, back = 0;
  const char *at = sources_rest(sources, span.begin).at;
  while (back < room && at[-1 - (ptrdiff_t)back] == ' ')
    back++;
  if (room < back + 2 || memcmp(at - back - 2, "//", 2) != 0)
    return false;
  uint32_t place = span.begin - (uint32_t)back - 2;
  diag_offer(d, (struct span){place, place + 2}, slice_of("#"),
             "comments begin with `#` and end with the line");
  return true;
}

void report_unknown_name(struct expander *e, struct slice name,
                         struct span span, enum name_place place,
                         const struct arg_spec *specs) {
  if (scope_lost(e, name))
    return;
  struct diagnostic *d =
      report(e, UNKNOWN_NAME, span, "`%.*s` is not defined", SLICE_ARG(name));
  if (!diag_is_shown(d) || hint_comment(e, d, span) ||
      hint_sizes(e, d, name, span) || hint_shorthand(d, specs, name, span) ||
      hint_value(e, d, specs, name, span) ||
      (place == NAME_OF_TAIL && hint_foreign_layer(d, name, span)))
    return;
  struct slice best = closest_name(e, name, place, specs);
  if (best.at && !slice_equal(best, name))
    diag_suggest(d, span, best);
  if (slice_is(name, "x"))
    diag_otherwise(d, "between two sizes x joins them: `3x3`, `k x k`");
  else if (name.length == 3 && name.at[1] == 'x') /* kxk */
    diag_otherwise(d, "sizes with names are joined by an x between blanks: "
                      "`let k = 3`, then `conv 64 k x k`");
  else if (place == NAME_OF_TENSOR)
    diag_otherwise(d, "a label is visible only below its layer, within the "
                      "same braces");
  else
    diag_otherwise(d, "a constant, def or label is visible only after its "
                      "definition, within the same braces");
}

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
    if (layer_kind_find(expr->name) || map_find(&e->words, expr->name))
      return name_value(expr->name, expr->span);
    struct symbol *named = path_find(e, NULL, expr->name, NULL);
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

/* in.c and the like */

enum { FIELD_SIZE = AXIS_LENGTH + 1 }; /* in.size: no axis, all values */

/* What the word behind `in.` means; 0 if it is none. */
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
  node->channels_asked = node->channels_asked || field == AXIS_C;
  node->sizes_asked = node->sizes_asked || field != AXIS_C;
  if (field == FIELD_SIZE)
    return eval_integer(shape_values(shape), expr->span);
  bool index = shape->dtype != DTYPE_FLOAT; /* it has a length only */
  int axis = !index ? axis_index(field, shape) : field == AXIS_LENGTH ? 0 : -1;
  if (axis >= 0)
    return eval_integer(shape->dim[axis], expr->span);
  report(e, WRONG_AXIS, expr->span, "the current tensor (%s) has no such axis",
         shape_text(shape).text);
  return value_poison;
}

/* Operators */

static struct value int_power(struct expander *e, int64_t base,
                              int64_t exponent, struct span span) {
  int64_t result = 1;
  while (exponent > 0) {
    if (exponent % 2 && !mul_i64(result, base, &result))
      return eval_overflow(e, span);
    exponent /= 2;
    if (exponent > 0 && !mul_i64(base, base, &base))
      return eval_overflow(e, span);
  }
  return eval_integer(result, span);
}

static struct value divide_by_zero(struct expander *e, struct span span) {
  report(e, DIVISION_BY_ZERO, span, "division by zero");
  return value_poison;
}

static struct value int_binary(struct expander *e, enum op op, int64_t a,
                               int64_t b, struct span span) {
  int64_t result = 0;
  bool fits = true;
  switch (op) {
  case OP_ADD: fits = add_i64(a, b, &result); break;
  case OP_SUB: fits = sub_i64(a, b, &result); break;
  case OP_MUL: fits = mul_i64(a, b, &result); break;
  case OP_MOD: /* the sign of the divisor, as in Python */
    if (b == 0)
      return divide_by_zero(e, span);
    result = b == -1 ? 0 : a % b;
    if (result != 0 && (result < 0) != (b < 0))
      result += b;
    break;
  case OP_FLOOR:
    if (b == 0)
      return divide_by_zero(e, span);
    if (b == -1)
      fits = sub_i64(0, a, &result);
    else
      result = a / b - (a % b != 0 && (a < 0) != (b < 0));
    break;
  case OP_DIV: /* exact, or a real number */
    if (b == 0)
      return divide_by_zero(e, span);
    if (b == -1)
      fits = sub_i64(0, a, &result);
    else if (a % b == 0)
      result = a / b;
    else
      return eval_real(e, (double)a / (double)b, span);
    break;
  default: /* OP_POW */
    if (b < 0)
      return eval_real(e, pow((double)a, (double)b), span);
    return int_power(e, a, b, span);
  }
  return fits ? eval_integer(result, span) : eval_overflow(e, span);
}

static struct value real_binary(struct expander *e, enum op op, double a,
                                double b, struct span span) {
  switch (op) {
  case OP_ADD: return eval_real(e, a + b, span);
  case OP_SUB: return eval_real(e, a - b, span);
  case OP_MUL: return eval_real(e, a * b, span);
  case OP_POW: return eval_real(e, pow(a, b), span);
  default:
    if (b == 0)
      return divide_by_zero(e, span);
    if (op == OP_MOD)
      return eval_real(e, a - floor(a / b) * b, span);
    if (op == OP_FLOOR)
      return eval_real(e, floor(a / b), span);
    return eval_real(e, a / b, span);
  }
}

static struct value compare(struct expander *e, const struct expr *expr,
                            const struct value *a, const struct value *b) {
  bool numbers = value_is_number(a) && value_is_number(b);
  bool alike = a->kind == b->kind;
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

/* `and` and `or` stop at the side that decides. */
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
  if (a.kind == VALUE_INT && b.kind == VALUE_INT)
    return int_binary(e, expr->op, a.integer, b.integer, expr->span);
  return real_binary(e, expr->op, value_number(&a), value_number(&b),
                     expr->span);
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

/* `1..512` of an input: the net is that of one end. */
static struct value eval_bounds(struct expander *e, const struct expr *expr) {
  int64_t low, high;
  if (!eval_int(e, expr->left, &low) || !eval_int(e, expr->right, &high))
    return value_poison;
  if (low < 1 || high < low) {
    struct diagnostic *d =
        report(e, OUT_OF_RANGE, expr->span, "bounds go up, from at least 1");
    diag_help(d, "the smallest size, then the largest: `1..512`");
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

/* One of what x joins: a size, a pair of them, or several sizes. */
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
    struct diagnostic *d = report(e, WRONG_TYPE, item->span,
                                  "an integer is needed here, not a name");
    return diag_help(d, "between two values x joins sizes: as a name it "
                        "stands in parentheses, `(x)`");
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
      break; /* its `next` is another argument's */
  }
  return value;
}

/* The items of a layer are bound elsewhere, and are never evaluated here. */
static struct value eval_keyed(struct expander *e, const struct expr *expr) {
  struct diagnostic *d =
      report(e, UNKNOWN_OPTION, expr->span, "a function has no option `%.*s`",
             SLICE_ARG(expr->name));
  diag_help(d, "its values stand in their order: `min(a, b)`");
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
    diag_help(d, "only `gpu=` and `cut=` of `train` take one: "
                 "`train gpu=\"NVIDIA GeForce RTX 4090\"`");
    break;
  }
  case EXPR_DIMS:
  case EXPR_PAIR: return eval_sizes(e, expr);
  }
  return value_poison;
}
