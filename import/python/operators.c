/* Operators and indices. Those of tensors are functions of torch.py. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/real.h"
#include "import/python/python.h"

static const struct operator_name {
  int op;
  const char *sign, *call; /* call: of torch.py, for tensors */
  const char *own;         /* a class's own */
} names[] = {
    {OP_ADD, "+", "add", "__add__"},
    {OP_SUB, "-", "sub", "__sub__"},
    {OP_MUL, "*", "mul", "__mul__"},
    {OP_DIV, "/", "div", "__truediv__"},
    {OP_FLOOR, "//", "floor_divide", "__floordiv__"},
    {OP_MOD, "%", "remainder", "__mod__"},
    {OP_POWER, "**", "pow", "__pow__"},
    {OP_MATMUL, "@", "matmul", "__matmul__"},
    {OP_LEFT, "<<", "", "__lshift__"},
    {OP_RIGHT, ">>", "", "__rshift__"},
    {OP_AND, "&", "logical_and", "__and__"},
    {OP_XOR, "^", "logical_xor", "__xor__"},
    {OP_OR, "|", "logical_or", "__or__"},
    {OP_INVERT, "~", "logical_not", "__invert__"},
    {OP_LT, "<", "lt", "__lt__"},
    {OP_LE, "<=", "le", "__le__"},
    {OP_EQ, "==", "eq", "__eq__"},
    {OP_NE, "!=", "ne", "__ne__"},
    {OP_GE, ">=", "ge", "__ge__"},
    {OP_GT, ">", "gt", "__gt__"},
    {OP_IN, "in", "", ""},
};

static const struct operator_name *name_of(int op) {
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].op == op)
      return &names[i];
  return &names[0];
}

static struct py_value *refuse(struct py *p, int op, const struct py_value *a,
                               const struct py_value *b) {
  const struct py_value *unknown = a->type == PY_UNKNOWN ? a : b;
  if (unknown && unknown->type == PY_UNKNOWN)
    return py_fail(p, "%.*s", SLICE_ARG(unknown->text));
  if (!b)
    return py_fail(p, "`%s` of %s is not supported", name_of(op)->sign,
                   py_what(a));
  return py_fail(p, "`%s` of %s and %s is not supported", name_of(op)->sign,
                 py_what(a), py_what(b));
}

static bool is_whole(const struct py_value *v) {
  return v->type == PY_INT || v->type == PY_BOOL;
}

static bool is_number(const struct py_value *v) {
  return is_whole(v) || v->type == PY_REAL;
}

/* Numbers; sizes with the batch in them are products of it. */

static struct py_value *sized(struct py *p, int64_t value, int power) {
  struct py_value *v = py_int(p, value);
  if (v)
    v->power = value ? power : 0;
  return v;
}

static struct py_value *on_batch(struct py *p) {
  return py_fail(p, "it depends on the size of the batch");
}

static struct py_value *too_large(struct py *p) {
  return py_fail(p, "a number is too large");
}

static int64_t floor_of(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static struct py_value *whole_power(struct py *p, int64_t a, int64_t b) {
  int64_t product = 1;
  if (b < 0)
    return a ? py_real(p, real_pow((double)a, (double)b))
             : py_fail(p, "it divides by zero");
  if ((a == 1 || a == 0 || a == -1) && b > 2)
    b = 2 + b % 2;
  for (; b > 0; b--)
    if (__builtin_mul_overflow(product, a, &product))
      return too_large(p);
  return py_int(p, product);
}

static struct py_value *sum(struct py *p, const struct py_value *a,
                            const struct py_value *b, bool minus) {
  int64_t value;
  if (a->power != b->power && a->integer && b->integer)
    return on_batch(p);
  bool over = minus ? __builtin_sub_overflow(a->integer, b->integer, &value)
                    : __builtin_add_overflow(a->integer, b->integer, &value);
  return over ? too_large(p)
              : sized(p, value, a->integer ? a->power : b->power);
}

static struct py_value *quotient(struct py *p, int op, const struct py_value *a,
                                 const struct py_value *b) {
  int power = a->power - b->power;
  if (b->integer == 0)
    return py_fail(p, "it divides by zero");
  if (b->integer == -1)
    return op == OP_MOD              ? py_int(p, 0)
           : a->integer == INT64_MIN ? too_large(p)
                                     : sized(p, -a->integer, power);
  bool exact = a->integer % b->integer == 0;
  if ((power || a->power) && (!exact || power < 0))
    return on_batch(p);
  int64_t floor = floor_of(a->integer, b->integer);
  return op == OP_FLOOR ? sized(p, floor, power)
                        : py_int(p, a->integer - floor * b->integer);
}

static struct py_value *shift(struct py *p, int op, int64_t a, int64_t b) {
  if (b < 0 || b > 62 || a < 0 || (op == OP_LEFT && a > INT64_MAX >> b))
    return too_large(p);
  return py_int(p, op == OP_LEFT ? a << b : a >> b);
}

static struct py_value *on_whole(struct py *p, int op, const struct py_value *a,
                                 const struct py_value *b) {
  int64_t value;
  bool batch = a->power || b->power;
  bool truths = a->type == PY_BOOL && b->type == PY_BOOL;
  switch (op) {
  case OP_ADD:
  case OP_SUB: return sum(p, a, b, op == OP_SUB);
  case OP_MUL:
    if (__builtin_mul_overflow(a->integer, b->integer, &value))
      return too_large(p);
    return sized(p, value, a->power + b->power);
  case OP_FLOOR:
  case OP_MOD: return quotient(p, op, a, b);
  case OP_DIV:
    if (a->power != b->power)
      return on_batch(p);
    return b->integer ? py_real(p, (double)a->integer / (double)b->integer)
                      : py_fail(p, "it divides by zero");
  default: break;
  }
  if (batch)
    return on_batch(p);
  switch (op) {
  case OP_POWER: return whole_power(p, a->integer, b->integer);
  case OP_LEFT:
  case OP_RIGHT: return shift(p, op, a->integer, b->integer);
  case OP_AND: value = a->integer & b->integer; break;
  case OP_OR: value = a->integer | b->integer; break;
  case OP_XOR: value = a->integer ^ b->integer; break;
  default: return refuse(p, op, a, b);
  }
  return truths ? py_bool(p, value) : py_int(p, value);
}

static double real_of(const struct py_value *v) {
  return v->type == PY_REAL ? v->real : (double)v->integer;
}

static struct py_value *on_reals(struct py *p, int op, const struct py_value *a,
                                 const struct py_value *b) {
  double x = real_of(a), y = real_of(b);
  if (a->power || b->power)
    return on_batch(p);
  if (y == 0 && (op == OP_DIV || op == OP_FLOOR || op == OP_MOD))
    return py_fail(p, "it divides by zero");
  switch (op) {
  case OP_ADD: return py_real(p, x + y);
  case OP_SUB: return py_real(p, x - y);
  case OP_MUL: return py_real(p, x * y);
  case OP_DIV: return py_real(p, x / y);
  case OP_FLOOR: return py_real(p, floor(x / y));
  case OP_MOD: return py_real(p, x - y * floor(x / y));
  case OP_POWER: return py_real(p, real_pow(x, y));
  default: return refuse(p, op, a, b);
  }
}

/* Lists and texts */

static struct py_value *joined(struct py *p, const struct py_value *a,
                               const struct py_value *b) {
  struct py_value *v = py_make(p, a->type);
  for (size_t i = 0; v && !p->error && i < a->items.count; i++)
    py_push(p, &v->items, a->items.at[i]);
  for (size_t i = 0; v && !p->error && i < b->items.count; i++)
    py_push(p, &v->items, b->items.at[i]);
  return p->error ? NULL : v;
}

static struct py_value *repeated(struct py *p, const struct py_value *a,
                                 const struct py_value *times) {
  struct py_value *v = py_make(p, a->type);
  if (times->power)
    return on_batch(p);
  for (int64_t k = 0; v && k < times->integer; k++) {
    if (!py_charge(p, 1))
      return NULL;
    for (size_t i = 0; !p->error && i < a->items.count; i++)
      py_push(p, &v->items, a->items.at[i]);
  }
  return p->error ? NULL : v;
}

/* "layer%d" % 3 */
static struct py_value *formatted(struct py *p, struct slice format,
                                  struct py_value *values) {
  struct text text = text_new(p->arena);
  size_t next = 0;
  bool many = values->type == PY_TUPLE;
  for (size_t i = 0; i < format.length; i++) {
    char c = format.at[i];
    if (c != '%') {
      text_putc(&text, c);
      continue;
    }
    c = ++i < format.length ? format.at[i] : '\0';
    if (c == '%') {
      text_putc(&text, c);
      continue;
    }
    if (!strchr("dsi", c) || !c || next >= (many ? values->items.count : 1))
      return py_fail(p, "this format of a text is not supported");
    text_put(&text, py_shown(p, many ? values->items.at[next] : values));
    next++;
  }
  return py_charge(p, text.length) ? py_text(p, text_slice(&text)) : NULL;
}

static struct py_value *on_texts(struct py *p, int op, const struct py_value *a,
                                 struct py_value *b) {
  struct text text = text_new(p->arena);
  if (op == OP_MOD)
    return formatted(p, a->text, b);
  int64_t times = op == OP_MUL && b->type == PY_INT ? b->integer : 1;
  if (op != OP_MUL && (op != OP_ADD || b->type != PY_TEXT))
    return refuse(p, op, a, b);
  for (int64_t i = 0; i < times; i++) {
    if (!py_charge(p, a->text.length + 1))
      return NULL;
    text_puts(&text, a->text);
  }
  if (op == OP_ADD)
    text_puts(&text, b->text);
  return py_text(p, text_slice(&text));
}

static struct py_value *own_operator(struct py *p, int op, struct py_value *a,
                                     struct py_value *b) {
  struct py_value *method =
      a->type == PY_OBJECT
          ? py_find_in_class(p, a->owner, slice_of(name_of(op)->own), NULL)
          : NULL;
  return method ? py_call_with(p, method, a, b) : refuse(p, op, a, b);
}

struct py_value *py_binary(struct py *p, int op, struct py_value *a,
                           struct py_value *b) {
  bool list = a->type == PY_LIST || a->type == PY_TUPLE;
  if (a->type == PY_TENSOR || b->type == PY_TENSOR)
    return *name_of(op)->call && (a->type == PY_TENSOR || is_number(a)) &&
                   (b->type == PY_TENSOR || is_number(b))
               ? py_call_library(p, name_of(op)->call, a, b)
               : refuse(p, op, a, b);
  if (is_whole(a) && is_whole(b))
    return on_whole(p, op, a, b);
  if (is_number(a) && is_number(b))
    return on_reals(p, op, a, b);
  if (list && a->type == b->type && op == OP_ADD)
    return joined(p, a, b);
  if (list && is_whole(b) && op == OP_MUL)
    return repeated(p, a, b);
  if (is_whole(a) && (b->type == PY_LIST || b->type == PY_TUPLE) &&
      op == OP_MUL)
    return repeated(p, b, a);
  if (a->type == PY_TEXT)
    return on_texts(p, op, a, b);
  return own_operator(p, op, a, b);
}

struct py_value *py_unary(struct py *p, int op, struct py_value *a) {
  if (a->type == PY_TENSOR)
    return op == OP_ADD ? a
                        : py_call_library(
                              p, op == OP_SUB ? "neg" : "logical_not", a, NULL);
  if (op == OP_ADD && is_number(a))
    return a;
  if (op == OP_SUB && is_whole(a) && a->integer != INT64_MIN)
    return sized(p, -a->integer, a->power);
  if (op == OP_SUB && a->type == PY_REAL)
    return py_real(p, -a->real);
  if (op == OP_INVERT && is_whole(a) && !a->power)
    return py_int(p, ~a->integer);
  return refuse(p, op, a, NULL);
}

/* Comparisons */

static struct py_value *contains(struct py *p, struct py_value *all,
                                 const struct py_value *item) {
  struct py_list items = {0};
  if (all->type == PY_TEXT && item->type == PY_TEXT) {
    for (size_t i = 0; i + item->text.length <= all->text.length; i++)
      if (memcmp(all->text.at + i, item->text.at, item->text.length) == 0)
        return p->yes;
    return p->no;
  }
  struct py_value *own =
      all->type == PY_OBJECT
          ? py_find_in_class(p, all->owner, slice_of("__contains__"), NULL)
          : NULL;
  if (own)
    return py_call_with(p, own, all, (struct py_value *)item);
  if (!py_items(p, all, &items))
    return NULL;
  for (size_t i = 0; i < items.count; i++) {
    int same = py_equal(p, items.at[i], item);
    if (same)
      return same < 0 ? NULL : p->yes;
  }
  return p->no;
}

static struct py_value *ordered(struct py *p, int op, const struct py_value *a,
                                const struct py_value *b) {
  double x = real_of(a), y = real_of(b);
  if (a->power != b->power)
    return on_batch(p);
  return py_bool(p, op == OP_LT   ? x < y
                    : op == OP_LE ? x <= y
                    : op == OP_GE ? x >= y
                                  : x > y);
}

struct py_value *py_compare(struct py *p, int op, struct py_value *a,
                            struct py_value *b) {
  bool not = op == OP_NE || op == OP_NOT_IN || op == OP_IS_NOT;
  if (op == OP_IS || op == OP_IS_NOT) {
    bool plain = a->type <= PY_TEXT && b->type <= PY_TEXT;
    if (a->type == PY_UNKNOWN || b->type == PY_UNKNOWN)
      return refuse(p, OP_EQ, a, b);
    int same = plain ? py_equal(p, a, b) : a == b;
    return same < 0 ? NULL : py_bool(p, (same != 0) != not );
  }
  if (op == OP_IN || op == OP_NOT_IN) {
    struct py_value *found = contains(p, b, a);
    return found && not ? py_bool(p, !found->integer) : found;
  }
  if (a->type == PY_TENSOR || b->type == PY_TENSOR) {
    if (a->type == PY_NONE || b->type == PY_NONE || a->type == PY_TEXT ||
        b->type == PY_TEXT)
      return refuse(p, op, a, b);
    return py_call_library(p, name_of(op)->call, a, b);
  }
  if (op == OP_EQ || op == OP_NE) {
    int same = py_equal(p, a, b);
    return same < 0 ? NULL : py_bool(p, (same != 0) != not );
  }
  if (a->type == b->type && (a->type == PY_LIST || a->type == PY_TUPLE))
    for (size_t i = 0; i < a->items.count && i < b->items.count; i++) {
      int same = py_equal(p, a->items.at[i], b->items.at[i]);
      if (same < 1) /* the first items that differ */
        return same ? NULL : py_compare(p, op, a->items.at[i], b->items.at[i]);
    }
  return is_number(a) && is_number(b) ? ordered(p, op, a, b)
                                      : refuse(p, op, a, b);
}

/* Indices */

static bool place(struct py *p, const struct py_value *index, size_t count,
                  size_t *at) {
  int64_t i = is_whole(index) ? index->integer : INT64_MAX;
  if (!is_whole(index) || index->power)
    return py_fail(p, "%s as an index is not supported", py_what(index));
  i = i < 0 ? i + (int64_t)count : i;
  *at = (size_t)i;
  return (i >= 0 && (size_t)i < count) ||
         py_fail(p, "the index %" PRId64 " is outside of a list with %zu items",
                 index->integer, count);
}

/* Part of a slice, as Python limits it. */
static bool bound(struct py *p, const struct py_value *v, int64_t usual,
                  int64_t count, bool back, int64_t *to) {
  *to = usual;
  if (v->type == PY_NONE)
    return true;
  if (!is_whole(v) || v->power)
    return py_fail(p, "%s in a slice is not supported", py_what(v));
  *to = v->integer < 0 ? v->integer + count : v->integer;
  int64_t least = back ? -1 : 0, most = back ? count - 1 : count;
  *to = *to < least ? least : *to > most ? most : *to;
  return true;
}

static struct py_value *sliced(struct py *p, const struct py_value *v,
                               const struct py_value *slice) {
  struct py_value *out = py_make(p, v->type);
  struct py_value *const *part = slice->items.at;
  bool text = v->type == PY_TEXT;
  int64_t count = (int64_t)(text ? v->text.length : v->items.count), from, to;
  int64_t step = part[2]->type == PY_NONE ? 1 : part[2]->integer;
  if (!out || (part[2]->type != PY_NONE && part[2]->type != PY_INT) || !step ||
      (text && step != 1))
    return py_fail(p, "this slice is not supported");
  if (!bound(p, part[0], step > 0 ? 0 : count - 1, count, step < 0, &from) ||
      !bound(p, part[1], step > 0 ? count : -1, count, step < 0, &to))
    return NULL;
  if (text) {
    to = to < from ? from : to;
    out->text =
        slice_to(slice_from(v->text, (size_t)from), (size_t)(to - from));
    return out;
  }
  step = step > count ? count + 1 : step < -count ? -count - 1 : step;
  for (int64_t i = from; step > 0 ? i < to : i > to; i += step)
    py_push(p, &out->items, v->items.at[i]);
  return p->error ? NULL : out;
}

static struct py_value **dict_slot(struct py *p, struct py_value *v,
                                   const struct py_value *key) {
  for (size_t i = 0; i + 1 < v->items.count; i += 2) {
    int same = py_equal(p, v->items.at[i], key);
    if (same)
      return same < 0 ? NULL : &v->items.at[i + 1];
  }
  return NULL;
}

struct py_value *py_index(struct py *p, struct py_value *v,
                          struct py_value *index) {
  size_t at;
  struct py_value **slot, *own;
  switch (v->type) {
  case PY_LIST:
  case PY_TUPLE:
    if (index->type == PY_SLICE)
      return v->self ? py_ask(p, v->self) : sliced(p, v, index);
    if (v->self && !(is_whole(index) && index->integer == 0))
      return py_ask(p, v->self);
    return place(p, index, v->items.count, &at) ? v->items.at[at] : NULL;
  case PY_TEXT:
    if (index->type == PY_SLICE)
      return sliced(p, v, index);
    return place(p, index, v->text.length, &at)
               ? py_text(p, slice_to(slice_from(v->text, at), 1))
               : NULL;
  case PY_DICT:
    slot = dict_slot(p, v, index);
    return slot ? *slot
                : py_fail(p, "the dict has no key `%.60s`", py_shown(p, index));
  case PY_TENSOR: return py_call_library(p, "_part", v, index);
  case PY_OBJECT:
    own = py_find_in_class(p, v->owner, slice_of("__getitem__"), NULL);
    if (own)
      return py_call_with(p, own, v, index);
    break;
  case PY_UNKNOWN: return v; /* Dict[str, int]: its use is the error */
  default: break;
  }
  return py_fail(p, "an index of %s is not supported", py_what(v));
}

bool py_set_index(struct py *p, struct py_value *v, struct py_value *index,
                  struct py_value *to) {
  size_t at;
  struct py_value **slot;
  if (v->type == PY_LIST && index->type != PY_SLICE) {
    if (place(p, index, v->items.count, &at))
      v->items.at[at] = to;
    return !p->error;
  }
  if (v->type == PY_DICT) {
    slot = dict_slot(p, v, index);
    if (slot) {
      *slot = to;
    } else if (!p->error) {
      py_push(p, &v->items, index);
      py_push(p, &v->items, to);
    }
    return !p->error;
  }
  if (v->type == PY_OBJECT) {
    struct py_value *own =
        py_find_in_class(p, v->owner, slice_of("__setitem__"), NULL);
    struct py_args a = {0};
    py_push(p, &a.by_place, v);
    py_push(p, &a.by_place, index);
    py_push(p, &a.by_place, to);
    if (own)
      return py_call(p, own, &a);
  }
  if (v->type == PY_TENSOR && v->tensor->trained && p->building)
    return true; /* other values */
  if (v->type == PY_TENSOR && !v->tensor->live && !v->tensor->trained &&
      !v->tensor->input) {
    struct py_value *other =
        py_tensor(p, v->tensor->rank, v->tensor->sizes, v->tensor->type);
    if (other)
      v->tensor = other->tensor;
    return other;
  }
  return py_fail(p, "writing over a part of %s is not supported", py_what(v));
}

bool py_delete(struct py *p, struct py_value *v, struct py_value *key,
               bool attribute) {
  struct py_list *items = &v->items;
  bool dict = v->type == PY_DICT || (v->type == PY_OBJECT && attribute);
  size_t at = items->count, width = dict ? 2 : 1;
  if (!dict && (v->type != PY_LIST || attribute))
    return py_fail(p, "`del` of a part of %s is not supported", py_what(v));
  if (!dict && !place(p, key, items->count, &at))
    return false;
  for (size_t i = 0; dict && i + 1 < items->count; i += 2) {
    int same = py_equal(p, items->at[i], key);
    if (same < 0)
      return false;
    at = same ? i : at;
  }
  if (at == items->count)
    return py_fail(p, "`del` of `%.60s`, which is not there", py_shown(p, key));
  for (; at + width < items->count; at++)
    items->at[at] = items->at[at + width];
  items->count -= width;
  return py_charge(p, items->count / 8);
}
