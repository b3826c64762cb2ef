/* Python's built-in functions, and functions of math. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/real.h"
#include "import/python/python.h"

static struct py_value *arg(const struct py_args *a, size_t index) {
  return index < a->by_place.count ? a->by_place.at[index] : NULL;
}

static struct py_value *arg_named(struct py_args *a, const char *name) {
  for (size_t i = 0; i + 1 < a->by_name.count; i += 2)
    if (slice_is(a->by_name.at[i]->text, name))
      return a->by_name.at[i + 1];
  return NULL;
}

static struct py_value *needs(struct py *p, const char *name) {
  return py_fail(p, "these arguments of `%s` are not supported", name);
}

static bool is_whole(const struct py_value *v) {
  return v && (v->type == PY_INT || v->type == PY_BOOL) && !v->power;
}

static bool real_of(const struct py_value *v, double *to) {
  if (!v || (v->type != PY_REAL && !is_whole(v)))
    return false;
  *to = v->type == PY_REAL ? v->real : (double)v->integer;
  return true;
}

static struct py_value *whole(struct py *p, double value) {
  return value > -9e18 && value < 9e18 ? py_int(p, (int64_t)value)
                                       : py_fail(p, "a number is too large");
}

/* Sequences */

static struct py_value *call_len(struct py *p, struct py_args *a) {
  struct py_value *v = arg(a, 0);
  struct py_value *own =
      v && v->type == PY_OBJECT
          ? py_find_in_class(p, v->owner, slice_of("__len__"), NULL)
          : NULL;
  if (own)
    return py_call_with(p, own, v, NULL);
  if (v && v->type == PY_TENSOR)
    return py_index(p, py_shape(p, v), py_int(p, 0));
  if (v && v->type == PY_TEXT)
    return py_int(p, (int64_t)v->text.length);
  if (v && (v->type == PY_LIST || v->type == PY_TUPLE || v->type == PY_DICT))
    return py_int(p, (int64_t)v->items.count / (v->type == PY_DICT ? 2 : 1));
  return v && v->type == PY_UNKNOWN ? py_fail(p, "%.*s", SLICE_ARG(v->text))
                                    : needs(p, "len");
}

static struct py_value *call_range(struct py *p, struct py_args *a) {
  struct py_value *v = py_make(p, PY_LIST);
  size_t count = a->by_place.count;
  int64_t from = 0, step = 1;
  for (size_t i = 0; i < count; i++) {
    if (arg(a, i)->type == PY_INT && arg(a, i)->power)
      return py_fail(p, "a loop over the batch is not supported");
    if (!is_whole(arg(a, i)))
      return needs(p, "range");
  }
  if (!v || count < 1 || count > 3)
    return needs(p, "range");
  int64_t to = arg(a, count > 1)->integer;
  from = count > 1 ? arg(a, 0)->integer : 0;
  step = count > 2 ? arg(a, 2)->integer : 1;
  if (step == 0 || llabs(step) > 1 << 30 || llabs(from) > 1LL << 40 ||
      llabs(to) > 1LL << 40)
    return needs(p, "range");
  for (int64_t i = from; step > 0 ? i < to : i > to; i += step) {
    struct py_value *item = py_int(p, i);
    if (!item)
      return NULL;
    py_push(p, &v->items, item);
    if (p->error)
      return NULL;
  }
  return v;
}

static struct py_value *pair(struct py *p, struct py_value *a,
                             struct py_value *b) {
  struct py_value *v = a && b ? py_make(p, PY_TUPLE) : NULL;
  if (v) {
    py_push(p, &v->items, a);
    py_push(p, &v->items, b);
  }
  return v;
}

static struct py_value *call_enumerate(struct py *p, struct py_args *a) {
  struct py_value *v = py_make(p, PY_LIST), *start = arg(a, 1);
  struct py_list items = {0};
  if (!start)
    start = arg_named(a, "start");
  int64_t from = is_whole(start) ? start->integer : 0;
  if (!v || !arg(a, 0) || !py_items(p, arg(a, 0), &items))
    return p->error ? NULL : needs(p, "enumerate");
  for (size_t i = 0; i < items.count && !p->error; i++)
    py_push(p, &v->items, pair(p, py_int(p, from + (int64_t)i), items.at[i]));
  return p->error ? NULL : v;
}

static struct py_value *call_zip(struct py *p, struct py_args *a) {
  struct py_value *v = py_make(p, PY_LIST);
  struct py_list lists[8] = {{0}};
  size_t count = a->by_place.count, least = SIZE_MAX;
  if (!v || count == 0 || count > 8)
    return needs(p, "zip");
  for (size_t i = 0; i < count; i++) {
    if (!py_items(p, arg(a, i), &lists[i]))
      return NULL;
    least = lists[i].count < least ? lists[i].count : least;
  }
  for (size_t k = 0; k < least; k++) {
    struct py_value *all = py_make(p, PY_TUPLE);
    for (size_t i = 0; all && i < count; i++)
      py_push(p, &all->items, lists[i].at[k]);
    if (!all)
      return NULL;
    py_push(p, &v->items, all);
  }
  return p->error ? NULL : v;
}

static struct py_value *copied(struct py *p, struct py_args *a,
                               enum py_type type) {
  struct py_value *v = py_make(p, type);
  return v && (!arg(a, 0) || py_items(p, arg(a, 0), &v->items)) ? v : NULL;
}

static struct py_value *call_list(struct py *p, struct py_args *a) {
  return copied(p, a, PY_LIST);
}

static struct py_value *call_tuple(struct py *p, struct py_args *a) {
  return copied(p, a, PY_TUPLE);
}

/* Items once each: a set is a list of them. */
static struct py_value *call_set(struct py *p, struct py_args *a) {
  struct py_value *all = copied(p, a, PY_LIST), *v = py_make(p, PY_LIST);
  for (size_t i = 0; all && v && i < all->items.count; i++)
    if (!py_add_once(p, &v->items, all->items.at[i]))
      return NULL;
  return all && !p->error ? v : NULL;
}

/* product([1, 2], [3]), product([1, 2], repeat=2) of itertools */
static struct py_value *call_product(struct py *p, struct py_args *a) {
  struct py_value *v = py_make(p, PY_LIST), *times = arg_named(a, "repeat");
  int64_t repeats = is_whole(times) ? times->integer : 1;
  size_t width = a->by_place.count * (size_t)repeats, rows = 1;
  struct py_list lists[8] = {{0}};
  if (!v || repeats < 1 || repeats > 8 || width < 1 || width > 8)
    return needs(p, "product");
  for (size_t i = 0; i < width; i++) {
    if (!py_items(p, arg(a, i % a->by_place.count), &lists[i]))
      return NULL;
    if (lists[i].count && rows > 1000000 / lists[i].count)
      return py_fail(p, "a product has more than 1000000 items");
    rows *= lists[i].count;
  }
  for (size_t k = 0; k < rows && !p->error; k++) {
    struct py_value *row = py_make(p, PY_TUPLE);
    size_t rest = k, below = rows;
    for (size_t i = 0; row && i < width; i++) {
      below /= lists[i].count;
      py_push(p, &row->items, lists[i].at[rest / below]);
      rest %= below;
    }
    if (row)
      py_push(p, &v->items, row);
  }
  return p->error ? NULL : v;
}

/* namedtuple("Block", ["width", "depth"]): a class with these fields */
static struct py_value *call_namedtuple(struct py *p, struct py_args *a) {
  struct py_value *v = py_make(p, PY_CLASS), *names = arg(a, 1);
  struct py_list fields = {0};
  if (!v || !arg(a, 0) || arg(a, 0)->type != PY_TEXT || !names ||
      names->type == PY_TEXT || a->by_name.count ||
      !py_items(p, names, &fields))
    return p->error ? NULL : needs(p, "namedtuple");
  v->text = arg(a, 0)->text;
  v->fields = true;
  for (size_t i = 0; i < fields.count; i++)
    if (fields.at[i]->type != PY_TEXT ||
        !py_slot(p, &v->items, fields.at[i]->text, true))
      return needs(p, "namedtuple");
  return p->error ? NULL : v;
}

static struct py_value *call_dict(struct py *p, struct py_args *a) {
  struct py_value *v = py_make(p, PY_DICT), *from = arg(a, 0);
  struct py_list items = {0};
  bool dict = from && from->type == PY_DICT;
  if (!v || (from && !dict && !py_items(p, from, &items)))
    return NULL;
  for (size_t i = 0; dict && i < from->items.count; i++)
    py_push(p, &v->items, from->items.at[i]);
  for (size_t i = 0; i < items.count; i++) {
    const struct py_list *two = &items.at[i]->items;
    if (two->count != 2)
      return needs(p, "dict");
    if (!py_set_index(p, v, two->at[0], two->at[1]))
      return NULL;
  }
  for (size_t i = 0; i < a->by_name.count; i++)
    py_push(p, &v->items, a->by_name.at[i]);
  return p->error ? NULL : v;
}

static struct py_value *call_reversed(struct py *p, struct py_args *a) {
  struct py_value *v = copied(p, a, PY_LIST);
  for (size_t i = 0; v && i < v->items.count / 2; i++) {
    struct py_value **other = &v->items.at[v->items.count - 1 - i];
    struct py_value *one = v->items.at[i];
    v->items.at[i] = *other;
    *other = one;
  }
  return v;
}

static struct py_value *call_map(struct py *p, struct py_args *a) {
  struct py_value *v = py_make(p, PY_LIST), *of = arg(a, 0);
  struct py_list items = {0};
  if (!v || a->by_place.count != 2 || !py_items(p, arg(a, 1), &items))
    return p->error ? NULL : needs(p, "map");
  for (size_t i = 0; i < items.count && !p->error; i++)
    py_push(p, &v->items, py_call_with(p, of, items.at[i], NULL));
  return p->error ? NULL : v;
}

static struct py_value *call_filter(struct py *p, struct py_args *a) {
  struct py_value *v = py_make(p, PY_LIST), *of = arg(a, 0);
  struct py_list items = {0};
  if (!v || a->by_place.count != 2 || !py_items(p, arg(a, 1), &items))
    return p->error ? NULL : needs(p, "filter");
  for (size_t i = 0; i < items.count; i++) {
    struct py_value *keep = of->type == PY_NONE
                                ? items.at[i]
                                : py_call_with(p, of, items.at[i], NULL);
    int truth = keep ? py_truth(p, keep) : -1;
    if (truth < 0)
      return NULL;
    if (truth)
      py_push(p, &v->items, items.at[i]);
  }
  return p->error ? NULL : v;
}

/* Insertion: lists of a net are short. */
static struct py_value *call_sorted(struct py *p, struct py_args *a) {
  struct py_value *v = copied(p, a, PY_LIST);
  if (a->by_name.count)
    return needs(p, "sorted");
  for (size_t i = 1; v && i < v->items.count; i++)
    for (size_t k = i; k > 0; k--) {
      struct py_value *x = v->items.at[k - 1], *y = v->items.at[k];
      struct py_value *later =
          py_charge(p, 1) ? py_compare(p, OP_GT, x, y) : NULL;
      int truth = later ? py_truth(p, later) : -1;
      if (truth < 0)
        return NULL;
      if (!truth)
        break;
      v->items.at[k - 1] = y;
      v->items.at[k] = x;
    }
  return v;
}

/* Sums, and extremes */

static struct py_value *folded(struct py *p, struct py_args *a, int op,
                               struct py_value *start, const char *name) {
  struct py_list items = {0};
  struct py_value *all = start;
  bool many = op != OP_ADD && op != OP_MUL && a->by_place.count > 1;
  if (!arg(a, 0) || a->by_name.count)
    return needs(p, name);
  if (!many && !py_items(p, arg(a, 0), &items))
    return NULL;
  const struct py_list *of = many ? &a->by_place : &items;
  if (op == OP_ADD && arg(a, 1))
    all = arg(a, 1);
  for (size_t i = 0; i < of->count; i++) {
    struct py_value *item = of->at[i];
    if (!all) {
      all = item;
      continue;
    }
    if (op == OP_ADD || op == OP_MUL) {
      all = py_binary(p, op, all, item);
    } else {
      struct py_value *better = py_compare(p, op, item, all);
      int truth = better ? py_truth(p, better) : -1;
      all = truth < 0 ? NULL : truth ? item : all;
    }
    if (!all)
      return NULL;
  }
  return all ? all : needs(p, name);
}

static struct py_value *call_total(struct py *p, struct py_args *a) {
  if (arg(a, 0) && arg(a, 0)->type == PY_TENSOR)
    return needs(p, "sum");
  return folded(p, a, OP_ADD, py_int(p, 0), "sum");
}

static struct py_value *call_prod(struct py *p, struct py_args *a) {
  return folded(p, a, OP_MUL, py_int(p, 1), "prod");
}

static struct py_value *call_max(struct py *p, struct py_args *a) {
  return folded(p, a, OP_GT, NULL, "max");
}

static struct py_value *call_min(struct py *p, struct py_args *a) {
  return folded(p, a, OP_LT, NULL, "min");
}

static struct py_value *truths(struct py *p, struct py_args *a, int stop,
                               const char *name) {
  struct py_list items = {0};
  if (!arg(a, 0) || !py_items(p, arg(a, 0), &items))
    return p->error ? NULL : needs(p, name);
  for (size_t i = 0; i < items.count; i++) {
    int truth = py_truth(p, items.at[i]);
    if (truth < 0)
      return NULL;
    if (truth == stop)
      return py_bool(p, stop);
  }
  return py_bool(p, !stop);
}

static struct py_value *call_any(struct py *p, struct py_args *a) {
  return truths(p, a, 1, "any");
}

static struct py_value *call_all(struct py *p, struct py_args *a) {
  return truths(p, a, 0, "all");
}

/* Numbers */

static struct py_value *call_int(struct py *p, struct py_args *a) {
  struct py_value *v = arg(a, 0);
  double value;
  if (v && v->type == PY_INT)
    return v;
  if (v && v->type == PY_TEXT) {
    char digits[32], *end;
    size_t length = v->text.length < 30 ? v->text.length : 30;
    memcpy(digits, v->text.at ? v->text.at : "", length);
    digits[length] = '\0';
    int64_t number = strtoll(digits, &end, 10);
    return *end || !length ? needs(p, "int") : py_int(p, number);
  }
  return real_of(v, &value) ? whole(p, trunc(value)) : needs(p, "int");
}

static struct py_value *call_float(struct py *p, struct py_args *a) {
  struct py_value *v = arg(a, 0);
  double value;
  if (v && v->type == PY_TEXT)
    return slice_is(v->text, "-inf")  ? py_real(p, -HUGE_VAL)
           : slice_is(v->text, "inf") ? py_real(p, HUGE_VAL)
                                      : needs(p, "float");
  return real_of(v, &value) ? py_real(p, value) : needs(p, "float");
}

static struct py_value *call_bool(struct py *p, struct py_args *a) {
  int truth = arg(a, 0) ? py_truth(p, arg(a, 0)) : 0;
  return truth < 0 ? NULL : py_bool(p, truth);
}

static struct py_value *call_str(struct py *p, struct py_args *a) {
  struct py_value *v = arg(a, 0);
  if (!v || v->type > PY_TUPLE)
    return needs(p, "str");
  return v->type == PY_TEXT ? v : py_text(p, slice_of(py_shown(p, v)));
}

static struct py_value *call_abs(struct py *p, struct py_args *a) {
  struct py_value *v = arg(a, 0);
  double value;
  if (v && v->type == PY_TENSOR)
    return py_call_library(p, "_abs", v, NULL);
  if (is_whole(v))
    return v->integer < 0 ? py_unary(p, OP_SUB, v) : v;
  return real_of(v, &value) ? py_real(p, fabs(value)) : needs(p, "abs");
}

/* Half goes to even, as in Python. */
static struct py_value *call_round(struct py *p, struct py_args *a) {
  double value;
  if (is_whole(arg(a, 0)) && !arg(a, 1))
    return arg(a, 0);
  if (!real_of(arg(a, 0), &value) || arg(a, 1))
    return needs(p, "round");
  double near = floor(value + 0.5);
  if (near - value == 0.5 && fmod(near, 2) != 0)
    near -= 1;
  return whole(p, near);
}

enum round { ROUND_NONE, ROUND_DOWN, ROUND_UP };

static struct py_value *on_real(struct py *p, struct py_args *a,
                                double function(double), enum round round) {
  double value;
  if (!real_of(arg(a, 0), &value) || a->by_place.count > 1)
    return needs(p, "this function");
  value = function(value);
  if (value != value)
    return py_fail(p, "the result is no number");
  return round ? whole(p, value) : py_real(p, value);
}

static struct py_value *call_floor(struct py *p, struct py_args *a) {
  return on_real(p, a, floor, ROUND_DOWN);
}

static struct py_value *call_ceil(struct py *p, struct py_args *a) {
  return on_real(p, a, ceil, ROUND_UP);
}

static struct py_value *call_sqrt(struct py *p, struct py_args *a) {
  return on_real(p, a, sqrt, ROUND_NONE);
}

static struct py_value *call_log2(struct py *p, struct py_args *a) {
  return on_real(p, a, real_log2, ROUND_NONE);
}

static struct py_value *call_log(struct py *p, struct py_args *a) {
  double value, base;
  if (arg(a, 1) && real_of(arg(a, 0), &value) && real_of(arg(a, 1), &base) &&
      value > 0 && base > 0 && base != 1)
    return py_real(p, log(value) / log(base));
  return on_real(p, a, log, ROUND_NONE);
}

static struct py_value *call_exp(struct py *p, struct py_args *a) {
  return on_real(p, a, exp, ROUND_NONE);
}

static struct py_value *call_pow(struct py *p, struct py_args *a) {
  return a->by_place.count == 2 ? py_binary(p, OP_POWER, arg(a, 0), arg(a, 1))
                                : needs(p, "pow");
}

/* Objects */

static const char *type_word(const struct py_value *v) {
  switch (v->type) {
  case PY_BOOL: return "bool int";
  case PY_INT: return "int Integral Number";
  case PY_REAL: return "float Number";
  case PY_TEXT: return "str";
  case PY_LIST: return "list Sequence Iterable";
  case PY_TUPLE: return "tuple Sequence Iterable Size";
  case PY_DICT: return "dict OrderedDict Mapping";
  case PY_TENSOR: return v->tensor->trained ? "Tensor Parameter" : "Tensor";
  default: return "";
  }
}

static int is_of_type(struct py *p, const struct py_value *v,
                      const struct py_value *type) {
  int found = 0;
  if (type->type == PY_TUPLE) {
    for (size_t i = 0; !found && i < type->items.count; i++)
      found = is_of_type(p, v, type->items.at[i]);
    return found;
  }
  if (v->type == PY_UNKNOWN) {
    py_fail(p, "%.*s", SLICE_ARG(v->text));
    return -1;
  }
  if (type->type == PY_BUILTIN)
    return word_index(type_word(v), type->text) > 0;
  if (type->type == PY_FUNCTION)
    return word_index(type_word(v), type->node->text) > 0;
  if (type->type == PY_CLASS)
    return v->type == PY_OBJECT && py_is_a(v->owner, type);
  if (type->type == PY_UNKNOWN && v->type <= PY_DICT) {
    struct slice name = type->text; /* "netc does not know `..Iterable`" */
    bool both = slice_ends(name, "Iterable`") || slice_ends(name, "Sequence`");
    return ((both || slice_ends(name, ".List`")) && v->type == PY_LIST) ||
           ((both || slice_ends(name, ".Tuple`")) && v->type == PY_TUPLE) ||
           ((slice_ends(name, ".Dict`") || slice_ends(name, "Mapping`")) &&
            v->type == PY_DICT);
  }
  return 0;
}

static struct py_value *call_isinstance(struct py *p, struct py_args *a) {
  if (a->by_place.count != 2)
    return needs(p, "isinstance");
  int is = is_of_type(p, arg(a, 0), arg(a, 1));
  return is < 0 ? NULL : py_bool(p, is);
}

static struct py_value *call_getattr(struct py *p, struct py_args *a) {
  struct py_value *name = arg(a, 1), *found;
  if (!name || name->type != PY_TEXT)
    return needs(p, "getattr");
  found = py_attribute(p, arg(a, 0), name->text, arg(a, 2) == NULL);
  return found || p->error ? found : arg(a, 2);
}

static struct py_value *call_setattr(struct py *p, struct py_args *a) {
  if (a->by_place.count != 3 || arg(a, 1)->type != PY_TEXT)
    return needs(p, "setattr");
  return py_set_attribute(p, arg(a, 0), arg(a, 1)->text, arg(a, 2)) ? p->none
                                                                    : NULL;
}

static struct py_value *call_hasattr(struct py *p, struct py_args *a) {
  if (a->by_place.count != 2 || arg(a, 1)->type != PY_TEXT)
    return needs(p, "hasattr");
  struct py_value *found = py_attribute(p, arg(a, 0), arg(a, 1)->text, false);
  return p->error ? NULL : py_bool(p, found != NULL);
}

static struct py_value *call_type(struct py *p, struct py_args *a) {
  struct py_value *v = arg(a, 0);
  static const char *const names[] = {"",    "bool", "int",   "float",
                                      "str", "list", "tuple", "dict"};
  if (v && v->type == PY_OBJECT)
    return v->owner;
  return v && v->type >= PY_BOOL && v->type <= PY_DICT
             ? py_builtin(p, slice_of(names[v->type]))
             : needs(p, "type");
}

static struct py_value *call_callable(struct py *p, struct py_args *a) {
  struct py_value *v = arg(a, 0);
  return v ? py_bool(p, (v->type >= PY_FUNCTION && v->type <= PY_OBJECT))
           : needs(p, "callable");
}

static struct py_value *call_print(struct py *p, struct py_args *a) {
  (void)a;
  return p->none;
}

static struct py_value *call_partial(struct py *p, struct py_args *a) {
  struct py_value *v = py_make(p, PY_BOUND);
  if (!v || !arg(a, 0) || a->by_place.count > 2)
    return needs(p, "partial");
  v->callee = arg(a, 0);
  v->self = arg(a, 1);
  v->items = a->by_name;
  return v;
}

static struct py_value *deep_copy(struct py *p, struct py_value *v, int depth) {
  struct py_value *copy;
  if (!v || v->type < PY_LIST || depth > 100 ||
      (v->type > PY_DICT && v->type != PY_OBJECT && v->type != PY_TENSOR))
    return v;
  copy = py_make(p, v->type);
  if (!copy)
    return NULL;
  if (v->type == PY_TENSOR)
    return py_tensor_copy(p, v);
  *copy = *v;
  copy->text = slice_of("");
  copy->items = (struct py_list){0};
  for (size_t i = 0; i < v->items.count && !p->error; i++)
    py_push(p, &copy->items, deep_copy(p, v->items.at[i], depth + 1));
  return p->error ? NULL : copy;
}

static struct py_value *call_deepcopy(struct py *p, struct py_args *a) {
  return arg(a, 0) ? deep_copy(p, arg(a, 0), 0) : needs(p, "deepcopy");
}

/* Errors are what they say: only `raise` uses them. */
static struct py_value *call_error(struct py *p, struct py_args *a) {
  struct py_value *v = arg(a, 0);
  return v ? py_text(p, slice_of(py_shown(p, v)))
           : py_text(p, slice_of("an error"));
}

static const struct builtin {
  const char *name;
  py_builtin_fn *call;
} builtins[] = {
    {"len", call_len},
    {"range", call_range},
    {"enumerate", call_enumerate},
    {"zip", call_zip},
    {"list", call_list},
    {"tuple", call_tuple},
    {"set", call_set},
    {"frozenset", call_set},
    {"product", call_product},
    {"namedtuple", call_namedtuple},
    {"dict", call_dict},
    {"OrderedDict", call_dict},
    {"reversed", call_reversed},
    {"sorted", call_sorted},
    {"map", call_map},
    {"filter", call_filter},
    {"iter", call_list},
    {"sum", call_total},
    {"max", call_max},
    {"min", call_min},
    {"any", call_any},
    {"all", call_all},
    {"int", call_int},
    {"float", call_float},
    {"_int", call_int},
    {"_float", call_float},
    {"bool", call_bool},
    {"str", call_str},
    {"abs", call_abs},
    {"round", call_round},
    {"pow", call_pow},
    {"_math_floor", call_floor},
    {"_math_ceil", call_ceil},
    {"_math_sqrt", call_sqrt},
    {"_math_log2", call_log2},
    {"_math_log", call_log},
    {"_math_exp", call_exp},
    {"_math_pow", call_pow},
    {"_math_power", call_pow},
    {"_math_prod", call_prod},
    {"prod", call_prod},
    {"isinstance", call_isinstance},
    {"getattr", call_getattr},
    {"setattr", call_setattr},
    {"hasattr", call_hasattr},
    {"type", call_type},
    {"callable", call_callable},
    {"print", call_print},
    {"partial", call_partial},
    {"deepcopy", call_deepcopy},
    {"copy", call_deepcopy},
    {"object", call_print},
    {"ValueError", call_error},
    {"TypeError", call_error},
    {"RuntimeError", call_error},
    {"AssertionError", call_error},
    {"NotImplementedError", call_error},
    {"KeyError", call_error},
    {"Exception", call_error},
    {"AttributeError", call_error},
    {"ImportError", call_error},
    {"Ellipsis", call_error},
    {"NotImplemented", call_error},
#define PRIMITIVE(name, function) {name, function},
#include "import/python/primitives.def"
#undef PRIMITIVE
};

struct py_value *py_builtin(struct py *p, struct slice name) {
  for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
    if (slice_is(name, builtins[i].name)) {
      struct py_value *v = py_make(p, PY_BUILTIN);
      if (!v)
        return NULL;
      v->text = slice_of(builtins[i].name); /* `_int` is torch.py's `int` */
      v->text = slice_from(v->text, v->text.at[0] == '_');
      v->builtin = builtins[i].call;
      return v;
    }
  return NULL;
}
