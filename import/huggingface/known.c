/* What expressions of params come to; the language's rules for numbers. */
#include "import/huggingface/known.h"

#include <math.h>

#include "sema/binding/arith.h"

struct settled known_int(int64_t value) {
  return (struct settled){
      .kind = KNOWN_INT, .integer = value, .real = (double)value};
}

struct settled known_bool(bool value) {
  return (struct settled){.kind = KNOWN_BOOL, .integer = value};
}

static struct settled known_real(double value) {
  return (struct settled){.kind = isfinite(value) ? KNOWN_REAL : KNOWN_NOT,
                          .real = value};
}

static const struct settled not_known = {.kind = KNOWN_NOT};

void known_add(struct known_names *names, struct slice name,
               struct settled value) {
  VEC_PUSH(names->arena, &names->all);
  names->all.at[names->all.count - 1].name = name;
  names->all.at[names->all.count - 1].value = value;
}

static struct settled find(const struct known_names *names, struct slice name) {
  for (size_t i = names->all.count; i-- > 0;)
    if (slice_equal(names->all.at[i].name, name))
      return names->all.at[i].value;
  return not_known;
}

static bool is_number(const struct settled *value) {
  return value->kind == KNOWN_INT || value->kind == KNOWN_REAL;
}

static struct settled arithmetic(enum op op, const struct settled *a,
                                 const struct settled *b) {
  struct arith result;
  bool integers = a->kind == KNOWN_INT && b->kind == KNOWN_INT;
  if (integers ? arith_integers(op, a->integer, b->integer, &result)
               : arith_reals(op, a->real, b->real, &result))
    return not_known;
  return result.is_real ? known_real(result.real) : known_int(result.integer);
}

static struct settled compared(enum op op, double a, double b) {
  switch (op) {
  case OP_EQ: return known_bool(a >= b && a <= b);
  case OP_NE: return known_bool(a < b || a > b);
  case OP_LT: return known_bool(a < b);
  case OP_LE: return known_bool(a <= b);
  case OP_GT: return known_bool(a > b);
  case OP_GE: return known_bool(a >= b);
  default: return not_known;
  }
}

/* hidden_act == gelu: a word that nothing defines is itself. */
static struct settled word_of(const struct known_names *names,
                              const struct expr *expr) {
  struct settled value = known_value(names, expr);
  if (value.kind != KNOWN_NOT || expr->kind != EXPR_NAME)
    return value;
  return (struct settled){.kind = KNOWN_WORD, .text = expr->name};
}

static bool is_none(const struct expr *expr) {
  return expr->kind == EXPR_NAME && slice_is(expr->name, "none");
}

static struct settled equality(const struct known_names *names,
                               const struct expr *expr) {
  struct settled a = known_value(names, expr->left);
  struct settled b = known_value(names, expr->right);
  if (a.kind == KNOWN_WORD)
    b = word_of(names, expr->right);
  else if (b.kind == KNOWN_WORD)
    a = word_of(names, expr->left);
  if (is_number(&a) && is_number(&b))
    return compared(expr->op, a.real, b.real);
  if (is_number(&a) && is_none(expr->right))
    return known_bool(expr->op == OP_NE);
  if (a.kind == KNOWN_NOT || a.kind != b.kind)
    return not_known;
  bool same = a.kind == KNOWN_WORD ? slice_equal(a.text, b.text)
                                   : a.integer == b.integer;
  return known_bool(same == (expr->op == OP_EQ));
}

static struct settled binary(const struct known_names *names,
                             const struct expr *expr) {
  if (expr->op == OP_EQ || expr->op == OP_NE)
    return equality(names, expr);
  struct settled a = known_value(names, expr->left);
  struct settled b = known_value(names, expr->right);
  if (expr->op == OP_AND || expr->op == OP_OR) {
    bool decides = expr->op == OP_OR; /* whatever the other side is */
    if (a.kind == KNOWN_BOOL)
      return a.integer == decides ? a : b;
    return b.kind == KNOWN_BOOL && b.integer == decides ? b : not_known;
  }
  if (!is_number(&a) || !is_number(&b))
    return not_known;
  if (expr->op >= OP_EQ)
    return compared(expr->op, a.real, b.real);
  return arithmetic(expr->op, &a, &b);
}

static struct settled unary(const struct known_names *names,
                            const struct expr *expr) {
  struct settled value = known_value(names, expr->left);
  if (expr->op == OP_NOT && value.kind == KNOWN_BOOL)
    return known_bool(!value.integer);
  const struct settled zero = known_int(0);
  return expr->op == OP_NEGATE && is_number(&value)
             ? arithmetic(OP_SUB, &zero, &value)
             : not_known;
}

/* min(a, b), max(a, b), sqrt(a), ceil(a), floor(a) */
static struct settled function(const struct known_names *names,
                               const struct expr *expr) {
  struct settled best = {.kind = KNOWN_NOT};
  bool least = slice_is(expr->name, "min"), most = slice_is(expr->name, "max");
  for (const struct expr *item = expr->items; item; item = item->next) {
    struct settled value = known_value(names, item);
    if (!is_number(&value))
      return not_known;
    if (item == expr->items || (least && value.real < best.real) ||
        (most && value.real > best.real))
      best = value;
  }
  if (least || most || best.kind == KNOWN_NOT)
    return best;
  if (slice_is(expr->name, "sqrt"))
    return known_real(sqrt(best.real));
  bool up = slice_is(expr->name, "ceil");
  if ((up || slice_is(expr->name, "floor")) && fabs(best.real) < 1e15)
    return known_int((int64_t)(up ? ceil(best.real) : floor(best.real)));
  return not_known;
}

bool known_call(struct slice *calls, struct slice *name) {
  size_t begin = 0, end;
  while (begin < calls->length && strchr("; ", calls->at[begin]))
    begin++;
  for (end = begin; end < calls->length && !strchr("; ", calls->at[end]);)
    end++;
  *name = (struct slice){calls->at + begin, end - begin};
  while (end < calls->length && calls->at[end] != ';')
    end++;
  *calls = slice_from(*calls, end);
  return name->length > 0;
}

/* [attend dense]; of anything else than names nothing is known. */
static struct settled list_of(const struct known_names *names,
                              const struct expr *expr) {
  struct known_list *list = ARENA_NEW(names->arena, struct known_list);
  for (const struct expr *item = expr->items; item; item = item->next) {
    if (item->kind != EXPR_NAME)
      return not_known;
    *VEC_PUSH(names->arena, &list->all) = item->name;
  }
  return (struct settled){.kind = KNOWN_LIST, .list = list};
}

struct settled known_value(const struct known_names *names,
                           const struct expr *expr) {
  switch (expr->kind) {
  case EXPR_INT: return known_int(expr->integer);
  case EXPR_REAL: return known_real(expr->real);
  case EXPR_BOOL: return known_bool(expr->integer);
  case EXPR_NAME: return find(names, expr->name);
  case EXPR_UNARY: return unary(names, expr);
  case EXPR_BINARY: return binary(names, expr);
  case EXPR_CALL: return function(names, expr);
  case EXPR_LIST: return list_of(names, expr);
  default: return not_known;
  }
}

/* 1e-06 as one writes it: 1e-6. */
static void put_real(struct text *out, double value) {
  struct text text = {.arena = out->arena};
  text_real(&text, value);
  for (size_t i = 0; i < text.length; i++)
    if (i < 2 || text.at[i] != '0' || memcmp(text.at + i - 2, "e-", 2) != 0)
      text_putc(out, text.at[i]);
}

void known_put(struct text *out, const struct settled *value) {
  if (value->text.length)
    text_puts(out, value->text);
  else if (value->kind == KNOWN_BOOL)
    text_put(out, value->integer ? "true" : "false");
  else if (value->kind == KNOWN_INT)
    text_int(out, value->integer);
  else
    put_real(out, value->real);
}
