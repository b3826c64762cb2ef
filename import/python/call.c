/* Calls of functions, classes and modules. */
#include <string.h>

#include "import/python/python.h"

struct py_value *py_call_with(struct py *p, struct py_value *callee,
                              struct py_value *first, struct py_value *second) {
  struct py_args a = {0};
  if (first)
    py_push(p, &a.by_place, first);
  if (second)
    py_push(p, &a.by_place, second);
  return p->error ? NULL : py_call(p, callee, &a);
}

struct py_value *py_call_library(struct py *p, const char *name,
                                 struct py_value *first,
                                 struct py_value *second) {
  struct py_value *callee = py_library(p, slice_of(name));
  return callee ? py_call_with(p, callee, first, second)
                : py_fail(p, "netc does not know `%s`", name);
}

static void set(struct py *p, struct py_scope *scope, struct slice name,
                struct py_value *value) {
  map_add(p->arena, &scope->names, name)->pointer = value;
}

/* Takes an argument by its name out of the list; NULL: it is not there. */
static struct py_value *named(struct py_list *names, struct slice name) {
  for (size_t i = 0; i + 1 < names->count; i += 2)
    if (names->at[i] && slice_equal(names->at[i]->text, name)) {
      names->at[i] = NULL;
      return names->at[i + 1];
    }
  return NULL;
}

/* The arguments that are left: *args or **kwargs. */
static struct py_value *rest_of(struct py *p, struct py_args *a, int stars,
                                size_t *next) {
  struct py_value *all = py_make(p, stars == 1 ? PY_TUPLE : PY_DICT);
  if (!all)
    return NULL;
  while (stars == 1 && *next < a->by_place.count)
    py_push(p, &all->items, a->by_place.at[(*next)++]);
  for (size_t i = 0; stars == 2 && i + 1 < a->by_name.count; i += 2)
    if (a->by_name.at[i]) {
      py_push(p, &all->items, a->by_name.at[i]);
      py_push(p, &all->items, a->by_name.at[i + 1]);
      a->by_name.at[i] = NULL;
    }
  return p->error ? NULL : all;
}

static struct slice name_of(const struct py_value *f) {
  return f->node->kind == NODE_DEF ? f->node->text : slice_of("lambda");
}

/* Errors in arguments name the class that is made. */
static const char *called(struct py *p, const struct py_value *f) {
  struct slice name = name_of(f);
  if (f->owner && slice_is(name, "__init__"))
    name = f->owner->text;
  return graph_text(p->graph, "%.*s", SLICE_ARG(name));
}

static bool bind(struct py *p, struct py_value *f, struct py_args *a,
                 struct py_scope *scope) {
  const struct py_node *params = f->node->kids[0];
  size_t next = 0;
  bool open = true; /* arguments by place are taken */
  for (size_t i = 0; i < params->count; i++) {
    const struct py_node *param = params->kids[i];
    struct py_value *value;
    if (param->op) {
      open = open && param->op == 2;
      value = param->text.length ? rest_of(p, a, param->op, &next) : p->none;
    } else if (open && next < a->by_place.count) {
      value = a->by_place.at[next++];
    } else {
      value = named(&a->by_name, param->text);
      if (!value)
        value = f->items.at[i];
      if (!value)
        return py_fail(p, "`%s` needs the argument `%.*s`", called(p, f),
                       SLICE_ARG(param->text));
    }
    if (!value)
      return false;
    set(p, scope, param->text, value);
  }
  if (next < a->by_place.count)
    return py_fail(p, "`%s` takes %zu arguments by place, not %zu",
                   called(p, f), next, a->by_place.count);
  for (size_t i = 0; i < a->by_name.count; i += 2)
    if (a->by_name.at[i])
      return py_fail(p, "`%s` has no argument `%.*s`", called(p, f),
                     SLICE_ARG(a->by_name.at[i]->text));
  return true;
}

static struct py_value *call_function(struct py *p, struct py_value *f,
                                      struct py_args *a) {
  struct py_scope *scope = ARENA_NEW(p->arena, struct py_scope);
  struct py_value *function = p->function, *first = p->first;
  struct py_value *out = p->none;
  int line = p->line;
  scope->outer = f->scope;
  if (!bind(p, f, a, scope))
    return NULL;
  p->function = f;
  p->first = a->by_place.count ? a->by_place.at[0] : NULL;
  if (f->node->kind == NODE_LAMBDA) {
    out = py_evaluate(p, f->node->kids[1], scope);
  } else {
    enum py_end end = py_run(p, f->node->kids[1], scope);
    out = end == END_RETURN ? p->returned : end == END_ERROR ? NULL : p->none;
  }
  p->function = function;
  p->first = first;
  p->line = line;
  return p->error ? NULL : out;
}

/* The class whose attributes are its arguments: itself, or its first base. */
static struct py_value *with_fields(struct py_value *class) {
  while (!class->fields && class->bases.count &&
         class->bases.at[0]->type == PY_CLASS)
    class = class->bases.at[0];
  return class->fields ? class : NULL;
}

/* @dataclass: its annotated attributes are its arguments. */
static bool set_fields(struct py *p, struct py_value *object,
                       struct py_args *a) {
  struct py_list *fields = &with_fields(object->owner)->items;
  for (size_t i = 0; i < a->by_place.count; i++) {
    if (2 * i >= fields->count)
      return py_fail(p, "`%.*s` has too many arguments",
                     SLICE_ARG(object->owner->text));
    py_set_attribute(p, object, fields->at[2 * i]->text, a->by_place.at[i]);
  }
  for (size_t i = 0; i + 1 < a->by_name.count; i += 2)
    py_set_attribute(p, object, a->by_name.at[i]->text, a->by_name.at[i + 1]);
  return !p->error;
}

static struct py_value *make_object(struct py *p, struct py_value *class,
                                    struct py_args *a) {
  struct py_value *object = py_make(p, PY_OBJECT);
  struct py_value *start =
      py_find_in_class(p, class, slice_of("__init__"), NULL);
  struct py_args with = {.by_name = a->by_name};
  if (!object)
    return NULL;
  object->owner = class;
  for (size_t i = 0; i < class->bases.count; i++)
    if (class->bases.at[i]->type == PY_UNKNOWN)
      return py_fail(p, "%.*s", SLICE_ARG(class->bases.at[i]->text));
  if (with_fields(class) && (!start || !class->fields || start->owner != class))
    return set_fields(p, object, a) ? object : NULL;
  if (!start && (a->by_place.count || a->by_name.count))
    return py_fail(p, "`%.*s` takes no arguments", SLICE_ARG(class->text));
  py_push(p, &with.by_place, object);
  for (size_t i = 0; i < a->by_place.count; i++)
    py_push(p, &with.by_place, a->by_place.at[i]);
  if (start && !py_call(p, start, &with))
    return NULL;
  return p->error ? NULL : object;
}

static struct py_value *call_object(struct py *p, struct py_value *object,
                                    struct py_args *a) {
  struct slice module = p->module, class = p->class;
  struct py_value *run =
      py_find_in_class(p, object->owner, slice_of("__call__"), NULL);
  struct py_args with = {.by_name = a->by_name};
  if (!run)
    run = py_find_in_class(p, object->owner, slice_of("forward"), NULL);
  if (!run)
    return py_fail(p, "`%.*s` has no `forward`",
                   SLICE_ARG(object->owner->text));
  if (object->text.length) {
    p->module = object->text;
    p->class = object->owner->text;
  }
  py_push(p, &with.by_place, object);
  for (size_t i = 0; i < a->by_place.count; i++)
    py_push(p, &with.by_place, a->by_place.at[i]);
  struct py_value *out = p->error ? NULL : py_call(p, run, &with);
  p->module = module;
  p->class = class;
  return out;
}

static struct py_value *call_bound(struct py *p, struct py_value *bound,
                                   struct py_args *a) {
  struct py_args with = {.by_name = a->by_name};
  if (bound->owner) /* relu_: `_over` gets the function, too */
    py_push(p, &with.by_place, bound->owner);
  if (bound->self)
    py_push(p, &with.by_place, bound->self);
  for (size_t i = 0; i < a->by_place.count; i++)
    py_push(p, &with.by_place, a->by_place.at[i]);
  if (p->error)
    return NULL;
  for (size_t i = 0; bound->items.count && i + 1 < bound->items.count; i += 2) {
    py_push(p, &with.by_name, bound->items.at[i]);
    py_push(p, &with.by_name, bound->items.at[i + 1]);
  }
  return py_call(p, bound->callee, &with);
}

struct py_value *py_call(struct py *p, struct py_value *callee,
                         struct py_args *a) {
  if (!py_charge(p, 4))
    return NULL;
  switch (callee->type) {
  case PY_FUNCTION: return call_function(p, callee, a);
  case PY_BUILTIN: return callee->builtin(p, a);
  case PY_BOUND: return call_bound(p, callee, a);
  case PY_CLASS: return make_object(p, callee, a);
  case PY_OBJECT: return call_object(p, callee, a);
  case PY_UNKNOWN: return py_fail(p, "%.*s", SLICE_ARG(callee->text));
  default: return py_fail(p, "a call of %s is not supported", py_what(callee));
  }
}
