/* Evaluates expressions. */
#include <string.h>

#include "import/python/python.h"

enum { DEEPEST = 1200 };

/* Why netc does not do a thing that Python has built in; NULL: it is none. */
static const char *not_done(struct slice name) {
  static const struct {
    const char *names, *why;
  } rows[] = {
      {"open input", "reads a file, and netc reads none but those that are "
                     "imported: give what it would read by --arg"},
      {"eval exec compile __import__", "executes text, and netc executes "
                                       "nothing"},
      {"globals locals vars dir", "looks at names, which netc does not "
                                  "follow"},
      {"id hash bytes bytearray memoryview complex next divmod bin hex oct "
       "chr ord repr ascii format slice issubclass delattr breakpoint help "
       "super staticmethod classmethod property",
       "of Python is not supported here"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (word_index(rows[i].names, name))
      return rows[i].why;
  return NULL;
}

/* A name that no statement defines: of libraries from which all is imported. */
static struct py_value *starred(struct py *p, struct slice name,
                                const struct py_list *stars) {
  const struct py_value *unknown = NULL;
  for (size_t i = 0; i < stars->count; i++) {
    struct py_value *star = stars->at[i], *found = NULL;
    if (star->type == PY_SPACE)
      found = py_attribute(p, star, name, false);
    if (found && found->type != PY_UNKNOWN)
      return found;
    if (star->type == PY_UNKNOWN)
      unknown = star;
  }
  const char *why = not_done(name);
  if (why)
    return py_fail(p, "`%.*s` %s", SLICE_ARG(name), why);
  return unknown ? py_fail(p, "`%.*s` is not defined: %.*s", SLICE_ARG(name),
                           SLICE_ARG(unknown->text))
                 : py_fail(p, "`%.*s` is not defined", SLICE_ARG(name));
}

static struct py_value *look_up(struct py *p, struct slice name,
                                struct py_scope *scope) {
  static const struct py_list none = {0};
  const struct py_list *stars = &none;
  for (; scope; scope = scope->outer) {
    const struct map_entry *entry = map_find(&scope->names, name);
    if (entry)
      return entry->pointer;
    stars = &scope->stars;
  }
  struct py_value *found = py_builtin(p, name);
  return found || p->error ? found : starred(p, name, stars);
}

static struct py_value *word(struct py *p, struct slice text) {
  if (slice_is(text, "None"))
    return p->none;
  if (slice_is(text, "..."))
    return p->dots;
  return py_bool(p, slice_is(text, "True"));
}

static struct py_value *parts(struct py *p, const struct py_node *node,
                              struct py_scope *scope) {
  struct text text = text_new(p->arena);
  for (size_t i = 0; i < node->count; i++) {
    struct py_value *v = py_evaluate(p, node->kids[i], scope);
    if (!v || !py_charge(p, v->text.length / 16 + 1))
      return NULL;
    text_put(&text, v->type == PY_TEXT ? "" : py_shown(p, v));
    if (v->type == PY_TEXT)
      text_puts(&text, v->text);
  }
  return py_text(p, text_slice(&text));
}

/* Items of a display or of a call, with those of *list. */
static bool take(struct py *p, const struct py_node *node,
                 struct py_scope *scope, struct py_list *to) {
  bool star = node->kind == NODE_STAR;
  struct py_value *v = py_evaluate(p, star ? node->kids[0] : node, scope);
  if (!v)
    return false;
  if (star)
    return py_items(p, v, to);
  py_push(p, to, v);
  return !p->error;
}

static struct py_value *display(struct py *p, const struct py_node *node,
                                struct py_scope *scope) {
  struct py_value *v =
      py_make(p, node->kind == NODE_TUPLE ? PY_TUPLE : PY_LIST);
  for (size_t i = 0; v && i < node->count; i++)
    if (!take(p, node->kids[i], scope, &v->items))
      return NULL;
  if (v && node->kind == NODE_SET)
    return py_call_with(p, py_builtin(p, slice_of("set")), v, NULL);
  return v;
}

static struct py_value *dict(struct py *p, const struct py_node *node,
                             struct py_scope *scope) {
  struct py_value *v = py_make(p, PY_DICT);
  for (size_t i = 0; v && i + 1 < node->count; i += 2) {
    struct py_value *key =
        node->kids[i] ? py_evaluate(p, node->kids[i], scope) : p->none;
    struct py_value *value =
        key ? py_evaluate(p, node->kids[i + 1], scope) : NULL;
    if (!value)
      return NULL;
    if (node->kids[i]) {
      if (!py_set_index(p, v, key, value))
        return NULL;
      continue;
    }
    if (value->type != PY_DICT)
      return py_fail(p, "`**` of %s is not supported", py_what(value));
    for (size_t k = 0; k + 1 < value->items.count; k += 2)
      if (!py_set_index(p, v, value->items.at[k], value->items.at[k + 1]))
        return NULL;
  }
  return v;
}

/* The loops of a comprehension from `index` on. */
static bool each(struct py *p, const struct py_node *node, size_t index,
                 struct py_scope *scope, struct py_value *to) {
  if (index == node->count) {
    struct py_value *item = py_evaluate(p, node->kids[0], scope), *value;
    if (!item)
      return false;
    if (node->op != ':') {
      py_push(p, &to->items, item);
      return !p->error;
    }
    value = py_evaluate(p, node->kids[1], scope);
    return value && py_set_index(p, to, item, value);
  }
  const struct py_node *loop = node->kids[index];
  struct py_value *from = py_evaluate(p, loop->kids[1], scope);
  struct py_list items = {0};
  if (!from || !py_items(p, from, &items))
    return false;
  for (size_t i = 0; i < items.count; i++) {
    int truth = 1;
    if (!py_assign(p, loop->kids[0], items.at[i], scope))
      return false;
    for (size_t k = 2; truth == 1 && k < loop->count; k++) {
      struct py_value *v = py_evaluate(p, loop->kids[k], scope);
      truth = v ? py_truth(p, v) : -1;
    }
    if (truth < 0 || (truth && !each(p, node, index + 1, scope, to)))
      return false;
  }
  return true;
}

static struct py_value *made(struct py *p, const struct py_node *node,
                             struct py_scope *scope) {
  struct py_value *v = py_make(p, node->op == ':' ? PY_DICT : PY_LIST);
  struct py_scope *inner = ARENA_NEW(p->arena, struct py_scope);
  inner->outer = scope;
  return v && each(p, node, 2, inner, v) ? v : NULL;
}

/* super() and super(Class, self) */
static struct py_value *super_of(struct py *p, const struct py_args *a) {
  struct py_value *v = py_make(p, PY_SUPER);
  bool given = a->by_place.count == 2;
  struct py_value *class = given         ? a->by_place.at[0]
                           : p->function ? p->function->owner
                                         : NULL;
  if (!v || !class || class->type != PY_CLASS || !p->first)
    return py_fail(p, "`super` outside of a class is not supported");
  v->owner = class;
  v->self = given ? a->by_place.at[1] : p->first;
  return v;
}

/* `dropout_p=p if self.training else 0`: files are read as for inference, and
 * what is dropped in training is kept. */
static const struct py_node *
trained_value(struct py *p, const struct py_node *arg, struct py_scope *scope) {
  const struct py_node *value = arg->kids[0];
  if (!slice_is(arg->text, "dropout_p") || value->kind != NODE_IF_ELSE)
    return value;
  return py_evaluate(p, value->kids[1], scope) == p->training ? value->kids[0]
                                                              : value;
}

static bool arguments(struct py *p, const struct py_node *node,
                      struct py_scope *scope, struct py_args *a) {
  for (size_t i = 1; i < node->count; i++) {
    const struct py_node *arg = node->kids[i];
    if (arg->kind == NODE_KEYWORD) {
      struct py_value *value =
          py_evaluate(p, trained_value(p, arg, scope), scope);
      struct py_value *name = value ? py_text(p, arg->text) : NULL;
      if (!name)
        return false;
      py_push(p, &a->by_name, name);
      py_push(p, &a->by_name, value);
    } else if (arg->kind == NODE_STAR && arg->op == 2) {
      struct py_value *all = py_evaluate(p, arg->kids[0], scope);
      if (!all)
        return false;
      if (all->type != PY_DICT)
        return py_fail(p, "`**` of %s is not supported", py_what(all));
      for (size_t k = 0; k < all->items.count; k++)
        py_push(p, &a->by_name, all->items.at[k]);
    } else if (!take(p, arg, scope, &a->by_place)) {
      return false;
    }
  }
  return !p->error;
}

static struct py_value *call(struct py *p, const struct py_node *node,
                             struct py_scope *scope) {
  struct py_args a = {0};
  const struct py_node *head = node->kids[0];
  bool super = head->kind == NODE_NAME && slice_is(head->text, "super");
  struct py_value *callee = super ? p->none : py_evaluate(p, head, scope);
  if (callee && callee->type == PY_BUILTIN && slice_is(callee->text, "print"))
    return p->none; /* what it prints may not be supported */
  if (!callee || !arguments(p, node, scope, &a))
    return NULL;
  if (node->line)
    p->line = node->line;
  return super ? super_of(p, &a) : py_call(p, callee, &a);
}

static struct py_value *compare(struct py *p, const struct py_node *node,
                                struct py_scope *scope) {
  struct py_value *left = py_evaluate(p, node->kids[0], scope), *out = left;
  for (size_t i = 1; left && i < node->count; i++) {
    struct py_value *right = py_evaluate(p, node->kids[i]->kids[0], scope);
    out = right ? py_compare(p, node->kids[i]->op, left, right) : NULL;
    if (!out)
      return NULL;
    if (i + 1 < node->count) {
      int truth = py_truth(p, out);
      if (truth != 1)
        return truth ? NULL : out;
    }
    left = right;
  }
  return out;
}

static struct py_value *logical(struct py *p, const struct py_node *node,
                                struct py_scope *scope) {
  struct py_value *left = py_evaluate(p, node->kids[0], scope);
  int truth = left ? py_truth(p, left) : -1;
  if (truth < 0)
    return NULL;
  if (node->kind == NODE_NOT)
    return py_bool(p, !truth);
  return truth == (node->kind == NODE_OR)
             ? left
             : py_evaluate(p, node->kids[1], scope);
}

static struct py_value *slice(struct py *p, const struct py_node *node,
                              struct py_scope *scope) {
  struct py_value *v = py_make(p, PY_SLICE);
  for (size_t i = 0; v && i < 3; i++) {
    struct py_value *part =
        node->kids[i] ? py_evaluate(p, node->kids[i], scope) : p->none;
    if (!part)
      return NULL;
    py_push(p, &v->items, part);
  }
  return v;
}

static struct py_value *operation(struct py *p, const struct py_node *node,
                                  struct py_scope *scope) {
  struct py_value *a = py_evaluate(p, node->kids[0], scope);
  struct py_value *b =
      a && node->count > 1 ? py_evaluate(p, node->kids[1], scope) : NULL;
  if (!a || (node->count > 1 && !b))
    return NULL;
  switch (node->kind) {
  case NODE_INDEX: return py_index(p, a, b);
  case NODE_UNARY: return py_unary(p, node->op, a);
  default: return py_binary(p, node->op, a, b);
  }
}

static struct py_value *choose(struct py *p, const struct py_node *node,
                               struct py_scope *scope) {
  struct py_value *condition = py_evaluate(p, node->kids[1], scope);
  int truth = condition ? py_truth(p, condition) : -1;
  return truth < 0 ? NULL : py_evaluate(p, node->kids[truth ? 0 : 2], scope);
}

static struct py_value *other(struct py *p, const struct py_node *node,
                              struct py_scope *scope) {
  struct py_value *v;
  switch (node->kind) {
  case NODE_ATTR:
    v = py_evaluate(p, node->kids[0], scope);
    return v ? py_attribute(p, v, node->text, true) : NULL;
  case NODE_LAMBDA: return py_function(p, node, scope);
  case NODE_BIND:
    v = py_evaluate(p, node->kids[1], scope);
    return v && py_assign(p, node->kids[0], v, scope) ? v : NULL;
  case NODE_OTHER:
    if (node->line)
      p->line = node->line;
    return py_fail(p, "%.*s is not supported", SLICE_ARG(node->text));
  default: return py_fail(p, "this expression is not supported");
  }
}

static struct py_value *evaluate(struct py *p, const struct py_node *node,
                                 struct py_scope *scope) {
  switch (node->kind) {
  case NODE_NAME: return look_up(p, node->text, scope);
  case NODE_INT: return py_int(p, node->integer);
  case NODE_REAL: return py_real(p, node->real);
  case NODE_TEXT: return py_text(p, node->text);
  case NODE_PARTS: return parts(p, node, scope);
  case NODE_WORD: return word(p, node->text);
  case NODE_TUPLE:
  case NODE_LIST:
  case NODE_SET: return display(p, node, scope);
  case NODE_DICT: return dict(p, node, scope);
  case NODE_MAKE: return made(p, node, scope);
  case NODE_CALL: return call(p, node, scope);
  case NODE_SLICE: return slice(p, node, scope);
  case NODE_INDEX:
  case NODE_UNARY:
  case NODE_BINARY: return operation(p, node, scope);
  case NODE_COMPARE: return compare(p, node, scope);
  case NODE_AND:
  case NODE_OR:
  case NODE_NOT: return logical(p, node, scope);
  case NODE_IF_ELSE: return choose(p, node, scope);
  default: return other(p, node, scope);
  }
}

struct py_value *py_evaluate(struct py *p, const struct py_node *node,
                             struct py_scope *scope) {
  if (!py_charge(p, 1))
    return NULL;
  if (p->depth >= DEEPEST)
    return py_fail(p, "calls are nested too deep");
  p->depth++;
  struct py_value *v = evaluate(p, node, scope);
  p->depth--;
  return p->error ? NULL : v;
}

/* Assignments */

static bool unpack(struct py *p, const struct py_node *target,
                   struct py_value *value, struct py_scope *scope) {
  struct py_list items = {0};
  size_t star = target->count, next = 0;
  if (!py_items(p, value, &items))
    return false;
  for (size_t i = 0; i < target->count; i++)
    if (target->kids[i]->kind == NODE_STAR)
      star = i;
  if (star == target->count ? items.count != target->count
                            : items.count + 1 < target->count)
    return py_fail(p, "%zu values for %zu names", items.count, target->count);
  for (size_t i = 0; i < target->count; i++) {
    if (i != star) {
      if (!py_assign(p, target->kids[i], items.at[next++], scope))
        return false;
      continue;
    }
    struct py_value *rest = py_make(p, PY_LIST);
    for (size_t k = 0; rest && k < items.count + 1 - target->count; k++)
      py_push(p, &rest->items, items.at[next++]);
    if (!rest || !py_assign(p, target->kids[i]->kids[0], rest, scope))
      return false;
  }
  return true;
}

bool py_assign(struct py *p, const struct py_node *target,
               struct py_value *value, struct py_scope *scope) {
  struct py_value *object, *index;
  switch (target->kind) {
  case NODE_NAME:
    map_add(p->arena, &scope->names, target->text)->pointer = value;
    return true;
  case NODE_ATTR:
    object = py_evaluate(p, target->kids[0], scope);
    return object && py_set_attribute(p, object, target->text, value);
  case NODE_INDEX:
    object = py_evaluate(p, target->kids[0], scope);
    index = object ? py_evaluate(p, target->kids[1], scope) : NULL;
    return index && py_set_index(p, object, index, value);
  case NODE_TUPLE:
  case NODE_LIST:
    if (p->depth >= DEEPEST)
      return py_fail(p, "names are nested too deep");
    p->depth++;
    bool done = unpack(p, target, value, scope);
    p->depth--;
    return done;
  default: return py_fail(p, "this assignment is not supported");
  }
}
