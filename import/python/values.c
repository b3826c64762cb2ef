/* Values of the evaluator. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "import/python/python.h"

/* A file is a stranger's data: evaluating it ends, and within some memory. */
enum { MOST_STEPS = 4000000, MOST_MADE = 600000, MOST_ITEMS = 200000 };

struct py_value *py_fail(struct py *p, const char *format, ...) {
  struct text text = text_new(p->arena);
  va_list args;
  if (p->error)
    return NULL;
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  p->error = text_string(&text);
  p->error_line = p->line;
  return NULL;
}

bool py_charge(struct py *p, size_t steps) {
  p->steps += (int64_t)(steps < MOST_STEPS ? steps : MOST_STEPS);
  return p->steps <= MOST_STEPS ||
         py_fail(p, "evaluating it takes more than %d steps", MOST_STEPS);
}

bool py_is_spent(const struct py *p) {
  return p->steps > MOST_STEPS || p->made > MOST_MADE;
}

struct py_value *py_make(struct py *p, enum py_type type) {
  struct py_value *v = ARENA_NEW(p->arena, struct py_value);
  v->type = type;
  p->steps++;
  if (++p->made > MOST_MADE)
    return py_fail(p, "evaluating it makes more than %d values", MOST_MADE);
  return v;
}

struct py_value *py_int(struct py *p, int64_t value) {
  struct py_value *v = py_make(p, PY_INT);
  if (v)
    v->integer = value;
  return v;
}

struct py_value *py_real(struct py *p, double value) {
  struct py_value *v = py_make(p, PY_REAL);
  if (v)
    v->real = value;
  return v;
}

struct py_value *py_text(struct py *p, struct slice text) {
  struct py_value *v = py_make(p, PY_TEXT);
  if (v)
    v->text = text;
  return v;
}

struct py_value *py_bool(struct py *p, bool value) {
  return value ? p->yes : p->no;
}

void py_push(struct py *p, struct py_list *list, struct py_value *value) {
  if (list->count >= MOST_ITEMS) {
    py_fail(p, "a list has more than %d items", MOST_ITEMS);
    return;
  }
  if (list->count == list->room)
    list->at = arena_grow(p->arena, list->at, &list->room, list->count,
                          sizeof(struct py_value *));
  list->at[list->count++] = value;
  p->steps++;
}

const char *py_what(const struct py_value *v) {
  static const char *const names[] = {
      "None",       "a bool",   "an int",           "a float",   "a text",
      "a list",     "a tuple",  "a dict",           "a slice",   "a function",
      "a function", "a method", "a class",          "an object", "super()",
      "a library",  "a tensor", "what is not known"};
  return names[v->type];
}

int py_truth(struct py *p, const struct py_value *v) {
  switch (v->type) {
  case PY_NONE: return 0;
  case PY_BOOL:
  case PY_INT: return v->integer != 0;
  case PY_REAL: return v->real != 0;
  case PY_TEXT: return v->text.length != 0;
  case PY_LIST:
  case PY_TUPLE:
  case PY_DICT: return v->items.count != 0;
  case PY_TENSOR: py_fail(p, "it depends on the values of a tensor"); return -1;
  case PY_UNKNOWN: py_fail(p, "%.*s", SLICE_ARG(v->text)); return -1;
  case PY_OBJECT: {
    struct py_value *length =
        py_find_in_class(p, v->owner, slice_of("__len__"), NULL);
    struct py_value *count =
        length ? py_call_with(p, length, (struct py_value *)v, NULL) : p->yes;
    return count ? count->integer != 0 : -1;
  }
  default: return 1;
  }
}

static bool is_number(const struct py_value *v) {
  return v->type == PY_BOOL || v->type == PY_INT || v->type == PY_REAL;
}

static int equal_items(struct py *p, const struct py_value *a,
                       const struct py_value *b) {
  if (a->items.count != b->items.count)
    return 0;
  if (++p->depth > 100) {
    py_fail(p, "a comparison goes too deep");
    return -1;
  }
  int same = 1;
  for (size_t i = 0; same == 1 && i < a->items.count; i++)
    same = py_equal(p, a->items.at[i], b->items.at[i]);
  p->depth--;
  return same;
}

int py_equal(struct py *p, const struct py_value *a, const struct py_value *b) {
  if (!py_charge(p, 1))
    return -1;
  if (a->type == PY_UNKNOWN || b->type == PY_UNKNOWN) {
    py_fail(p, "%.*s", SLICE_ARG((a->type == PY_UNKNOWN ? a : b)->text));
    return -1;
  }
  if (is_number(a) && is_number(b)) {
    double x = a->type == PY_REAL ? a->real : (double)a->integer;
    double y = b->type == PY_REAL ? b->real : (double)b->integer;
    if (a->power == b->power)
      return x == y;
    if ((!a->power && x <= 0) || (!b->power && y <= 0))
      return 0; /* a batch is at least 1 */
    py_fail(p, "it depends on the size of the batch");
    return -1;
  }
  if (a->type != b->type)
    return 0;
  switch (a->type) {
  case PY_NONE: return 1;
  case PY_TEXT: return slice_equal(a->text, b->text);
  case PY_LIST:
  case PY_TUPLE:
  case PY_DICT: return equal_items(p, a, b);
  default: return a == b;
  }
}

bool py_add_once(struct py *p, struct py_list *list, struct py_value *value) {
  for (size_t i = 0; i < list->count; i++) {
    int same = py_equal(p, list->at[i], value);
    if (same)
      return same > 0;
  }
  py_push(p, list, value);
  return !p->error;
}

/* Dicts, and attributes of objects and classes */

struct py_value **py_slot(struct py *p, struct py_list *dict, struct slice key,
                          bool make) {
  for (size_t i = 0; i + 1 < dict->count; i += 2)
    if (dict->at[i]->type == PY_TEXT && slice_equal(dict->at[i]->text, key))
      return &dict->at[i + 1];
  p->steps += (int64_t)dict->count / 8;
  struct py_value *name = make ? py_text(p, key) : NULL;
  if (!name)
    return NULL;
  py_push(p, dict, name);
  py_push(p, dict, p->none);
  return p->error ? NULL : &dict->at[dict->count - 1];
}

bool py_is_a(const struct py_value *class, const struct py_value *base) {
  if (class == base)
    return true;
  for (size_t i = 0; i < class->bases.count; i++)
    if (class->bases.at[i]->type == PY_CLASS &&
        py_is_a(class->bases.at[i], base))
      return true;
  return false;
}

bool py_is_module(struct py *p, const struct py_value *v) {
  const struct map_entry *module =
      map_find(&p->library.names, slice_of("Module"));
  return v->type == PY_OBJECT && module && py_is_a(v->owner, module->pointer);
}

/* Loops */

static bool text_items(struct py *p, struct slice text, struct py_list *to) {
  for (size_t i = 0; i < text.length; i++) {
    struct py_value *letter = py_text(p, slice_to(slice_from(text, i), 1));
    if (!letter)
      return false;
    py_push(p, to, letter);
  }
  return !p->error;
}

static bool object_items(struct py *p, struct py_value *v, struct py_list *to) {
  struct py_value *own =
      py_find_in_class(p, v->owner, slice_of("__iter__"), NULL);
  struct py_value *list = own ? py_call_with(p, own, v, NULL) : NULL;
  if (list && list != v)
    return py_items(p, list, to);
  return py_fail(p, "a loop over an object of `%.*s` is not supported",
                 SLICE_ARG(v->owner->text));
}

/* The parts of a tensor along its first axis. */
static bool tensor_items(struct py *p, struct py_value *v, struct py_list *to) {
  struct py_value *parts = py_call_library(p, "unbind", v, NULL);
  return parts && py_items(p, parts, to);
}

bool py_items(struct py *p, struct py_value *v, struct py_list *to) {
  size_t step = v->type == PY_DICT ? 2 : 1;
  if (v->type == PY_TUPLE && v->self)
    return py_ask(p, v->self);
  switch (v->type) {
  case PY_LIST:
  case PY_TUPLE:
  case PY_DICT:
    for (size_t i = 0; i < v->items.count; i += step)
      py_push(p, to, v->items.at[i]);
    return !p->error;
  case PY_TEXT: return text_items(p, v->text, to);
  case PY_OBJECT: return object_items(p, v, to);
  case PY_TENSOR: return tensor_items(p, v, to);
  case PY_UNKNOWN: return py_fail(p, "%.*s", SLICE_ARG(v->text));
  default: return py_fail(p, "a loop over %s is not supported", py_what(v));
  }
}

/* Text of a value */

static void show(struct py *p, struct text *to, const struct py_value *v,
                 int depth) {
  bool tuple = v->type == PY_TUPLE;
  switch (v->type) {
  case PY_NONE: text_put(to, "None"); break;
  case PY_BOOL: text_put(to, v->integer ? "True" : "False"); break;
  case PY_INT:
    if (v->power)
      text_put(to, "batch");
    if (!v->power || v->integer != 1)
      text_printf(to, "%s%" PRId64, v->power ? " * " : "", v->integer);
    break;
  case PY_REAL: text_put(to, graph_number(p->graph, v->real)); break;
  case PY_TEXT: text_puts(to, v->text); break;
  case PY_LIST:
  case PY_TUPLE:
    text_put(to, tuple ? "(" : "[");
    for (size_t i = 0; i < v->items.count && i < 20 && depth < 4; i++) {
      text_put(to, i ? ", " : "");
      show(p, to, v->items.at[i], depth + 1);
    }
    text_put(to, tuple ? ")" : "]");
    break;
  case PY_CLASS: text_puts(to, v->text); break;
  default: text_put(to, py_what(v));
  }
}

const char *py_shown(struct py *p, const struct py_value *v) {
  struct text text = text_new(p->arena);
  show(p, &text, v, 0);
  p->steps += (int64_t)text.length / 16;
  return text_string(&text);
}
