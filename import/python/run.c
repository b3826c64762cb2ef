/* Runs statements. */
#include <string.h>

#include "import/python/python.h"

static enum py_end failed(struct py *p, const char *why) {
  py_fail(p, "%s is not supported", why);
  return END_ERROR;
}

static enum py_end done(const struct py *p) {
  return p->error ? END_ERROR : END_NONE;
}

struct py_value *py_function(struct py *p, const struct py_node *node,
                             struct py_scope *scope) {
  struct py_value *f = py_make(p, PY_FUNCTION);
  const struct py_node *params = node->kids[0];
  if (!f)
    return NULL;
  f->node = node;
  f->scope = scope;
  for (size_t i = 0; i < params->count; i++) {
    const struct py_node *usual = params->kids[i]->kids[0];
    struct py_value *value = usual ? py_evaluate(p, usual, scope) : NULL;
    if (usual && !value)
      return NULL;
    py_push(p, &f->items, value);
  }
  return p->error ? NULL : f;
}

/* The last name of a decorator: `staticmethod`, `no_grad`. */
static struct slice decorator_name(const struct py_node *mark) {
  const struct py_node *name = mark->kind == NODE_CALL ? mark->kids[0] : mark;
  bool named = name->kind == NODE_ATTR || name->kind == NODE_NAME;
  return named ? name->text : slice_of("");
}

/* Decorators that change what a function gives are refused when it runs. */
static struct py_value *decorated(struct py *p, const struct py_node *node,
                                  size_t from, struct py_value *v) {
  static const char idle[] =
      "no_grad inference_mode abstractmethod override ignore export unused "
      "script script_method wraps final register_model autocast lru_cache "
      "add_start_docstrings compile";
  for (size_t i = from; v && i < node->count; i++) {
    struct slice name = decorator_name(node->kids[i]);
    if (slice_is(name, "staticmethod"))
      v->way = WAY_STATIC;
    else if (slice_is(name, "classmethod"))
      v->way = WAY_CLASS;
    else if (slice_is(name, "property"))
      v->way = WAY_PROPERTY;
    else if (slice_is(name, "dataclass"))
      v->fields = true;
    else if (!word_index(idle, name) && !slice_begins(name, "register")) {
      struct slice text = slice_of(graph_text(
          p->graph, "the decorator `%.*s` of `%.*s` is not supported",
          SLICE_ARG(name), SLICE_ARG(node->text)));
      v = py_make(p, PY_UNKNOWN);
      if (v)
        v->text = text;
    }
  }
  return v;
}

static bool add_bases(struct py *p, const struct py_node *bases,
                      struct py_scope *scope, struct py_value *class) {
  for (size_t i = 0; bases && i < bases->count; i++) {
    const struct py_node *base = bases->kids[i];
    if (base->kind == NODE_KEYWORD)
      continue;
    struct py_value *v = py_evaluate(p, base, scope);
    if (!v)
      return false;
    if (v->type == PY_CLASS || v->type == PY_UNKNOWN)
      py_push(p, &class->bases, v);
  }
  return true;
}

static enum py_end run_class(struct py *p, const struct py_node *node,
                             struct py_scope *scope) {
  struct py_value *class = py_make(p, PY_CLASS);
  struct py_scope *inner = ARENA_NEW(p->arena, struct py_scope);
  const struct py_node *block = node->kids[1];
  if (!class || !add_bases(p, node->kids[0], scope, class))
    return END_ERROR;
  class->text = node->text;
  class->node = node;
  inner->outer = scope;
  for (size_t i = 0; i < block->count; i++) {
    const struct py_node *s = block->kids[i];
    struct slice name = s->text;
    bool assigns = s->kind == NODE_ASSIGN && s->kids[0]->kind == NODE_NAME;
    if (py_run(p, s, inner) == END_ERROR)
      return END_ERROR;
    if (assigns)
      name = s->kids[0]->text;
    if (!assigns && s->kind != NODE_DEF && s->kind != NODE_CLASS)
      continue;
    const struct map_entry *entry = map_find(&inner->names, name);
    struct py_value **slot =
        entry ? py_slot(p, &class->items, name, true) : NULL;
    if (!slot)
      continue;
    *slot = entry->pointer;
    if ((*slot)->type == PY_FUNCTION && s->kind == NODE_DEF) {
      (*slot)->owner = class;
      (*slot)->scope = scope; /* methods do not see the class's names */
    }
  }
  class = decorated(p, node, 2, class);
  if (class)
    map_add(p->arena, &scope->names, node->text)->pointer = class;
  return done(p);
}

static enum py_end run_block(struct py *p, const struct py_node *block,
                             struct py_scope *scope) {
  enum py_end end = END_NONE;
  for (size_t i = 0; end == END_NONE && i < block->count; i++)
    end = py_run(p, block->kids[i], scope);
  return end;
}

static enum py_end run_if(struct py *p, const struct py_node *node,
                          struct py_scope *scope) {
  struct py_value *condition = py_evaluate(p, node->kids[0], scope);
  int truth = condition ? py_truth(p, condition) : -1;
  if (truth < 0)
    return END_ERROR;
  const struct py_node *block = node->kids[truth ? 1 : 2];
  return block ? run_block(p, block, scope) : END_NONE;
}

static enum py_end run_for(struct py *p, const struct py_node *node,
                           struct py_scope *scope) {
  struct py_value *from = py_evaluate(p, node->kids[1], scope);
  struct py_list items = {0};
  enum py_end end = END_NONE;
  if (!from || !py_items(p, from, &items))
    return END_ERROR;
  for (size_t i = 0; i < items.count; i++) {
    if (!py_assign(p, node->kids[0], items.at[i], scope))
      return END_ERROR;
    end = run_block(p, node->kids[2], scope);
    if (end == END_BREAK)
      return END_NONE;
    if (end == END_RETURN || end == END_ERROR)
      return end;
  }
  return node->kids[3] ? run_block(p, node->kids[3], scope) : END_NONE;
}

static enum py_end run_while(struct py *p, const struct py_node *node,
                             struct py_scope *scope) {
  for (;;) {
    struct py_value *condition = py_evaluate(p, node->kids[0], scope);
    int truth = condition ? py_truth(p, condition) : -1;
    if (truth < 0)
      return END_ERROR;
    enum py_end end = truth ? run_block(p, node->kids[1], scope) : END_BREAK;
    if (end == END_BREAK)
      return END_NONE;
    if (end == END_RETURN || end == END_ERROR)
      return end;
  }
}

/* a += b changes a list or a tensor itself. */
static enum py_end run_change(struct py *p, const struct py_node *node,
                              struct py_scope *scope) {
  struct py_value *a = py_evaluate(p, node->kids[0], scope);
  struct py_value *b = a ? py_evaluate(p, node->kids[1], scope) : NULL;
  if (!b)
    return END_ERROR;
  if (a->type == PY_LIST && node->op == OP_ADD) {
    struct py_list items = {0};
    if (!py_items(p, b, &items))
      return END_ERROR;
    for (size_t i = 0; i < items.count; i++)
      py_push(p, &a->items, items.at[i]);
    return done(p);
  }
  struct py_value *sum = py_binary(p, node->op, a, b);
  if (sum && a->type == PY_TENSOR && sum->type == PY_TENSOR) {
    if (a->tensor->trained)
      return failed(p, "writing over a parameter");
    a->tensor = sum->tensor;
    return END_NONE;
  }
  return sum && py_assign(p, node->kids[0], sum, scope) ? END_NONE : END_ERROR;
}

static enum py_end run_assign(struct py *p, const struct py_node *node,
                              struct py_scope *scope) {
  struct py_value *value = py_evaluate(p, node->kids[node->count - 1], scope);
  for (size_t i = 0; value && i + 1 < node->count; i++)
    if (!py_assign(p, node->kids[i], value, scope))
      return END_ERROR;
  return value ? END_NONE : END_ERROR;
}

static enum py_end run_raise(struct py *p, const struct py_node *node,
                             struct py_scope *scope) {
  struct py_value *what =
      node->kids[0] ? py_evaluate(p, node->kids[0], scope) : p->none;
  if (what)
    py_fail(p, "%s%s", node->line ? "the file refuses this: " : "",
            py_shown(p, what));
  return END_ERROR;
}

/* An assertion that cannot be evaluated is passed over: it changes nothing. */
static enum py_end run_assert(struct py *p, const struct py_node *node,
                              struct py_scope *scope) {
  struct py_value *condition = py_evaluate(p, node->kids[0], scope);
  int truth = condition ? py_truth(p, condition) : -1;
  if (truth < 0 && !p->again && p->steps < 1000000)
    p->error = NULL;
  if (truth == 0)
    py_fail(p, "this assertion does not hold");
  return done(p);
}

static enum py_end run_definition(struct py *p, const struct py_node *node,
                                  struct py_scope *scope) {
  struct py_value *f = py_function(p, node, scope);
  f = f ? decorated(p, node, 2, f) : NULL;
  if (f)
    map_add(p->arena, &scope->names, node->text)->pointer = f;
  return done(p);
}

static enum py_end run_return(struct py *p, const struct py_node *node,
                              struct py_scope *scope) {
  struct py_value *v =
      node->kids[0] ? py_evaluate(p, node->kids[0], scope) : p->none;
  p->returned = v;
  return v ? END_RETURN : END_ERROR;
}

static enum py_end run_with(struct py *p, const struct py_node *node,
                            struct py_scope *scope) {
  if (node->kids[1]->count)
    return failed(p, "`with .. as`");
  return run_block(p, node->kids[0], scope);
}

/* del d[key], del list[i], del self.head; a name may stay. */
static enum py_end run_del(struct py *p, const struct py_node *node,
                           struct py_scope *scope) {
  if (!node || node->kind == NODE_NAME)
    return END_NONE;
  if (node->kind == NODE_TUPLE) {
    enum py_end end = END_NONE;
    for (size_t i = 0; end == END_NONE && i < node->count; i++)
      end = run_del(p, node->kids[i], scope);
    return end;
  }
  bool index = node->kind == NODE_INDEX;
  if (!index && node->kind != NODE_ATTR)
    return failed(p, "this `del`");
  struct py_value *of = py_evaluate(p, node->kids[0], scope);
  struct py_value *key = !of     ? NULL
                         : index ? py_evaluate(p, node->kids[1], scope)
                                 : py_text(p, node->text);
  return key && py_delete(p, of, key, !index) ? END_NONE : END_ERROR;
}

static enum py_end run(struct py *p, const struct py_node *node,
                       struct py_scope *scope) {
  switch (node->kind) {
  case NODE_BLOCK: return run_block(p, node, scope);
  case NODE_SAY:
    return py_evaluate(p, node->kids[0], scope) ? END_NONE : END_ERROR;
  case NODE_ASSIGN: return run_assign(p, node, scope);
  case NODE_CHANGE: return run_change(p, node, scope);
  case NODE_RETURN: return run_return(p, node, scope);
  case NODE_IF: return run_if(p, node, scope);
  case NODE_FOR: return run_for(p, node, scope);
  case NODE_WHILE: return run_while(p, node, scope);
  case NODE_BREAK: return END_BREAK;
  case NODE_CONTINUE: return END_CONTINUE;
  case NODE_PASS: return END_NONE;
  case NODE_DEF: return run_definition(p, node, scope);
  case NODE_CLASS: return run_class(p, node, scope);
  case NODE_IMPORT:
  case NODE_FROM: return py_import(p, node, scope) ? END_NONE : END_ERROR;
  case NODE_RAISE: return run_raise(p, node, scope);
  case NODE_ASSERT: return run_assert(p, node, scope);
  case NODE_WITH: return run_with(p, node, scope);
  case NODE_TRY: return run_block(p, node->kids[0], scope);
  case NODE_DEL: return run_del(p, node->kids[0], scope);
  default:
    py_fail(p, "%.*s is not supported", SLICE_ARG(node->text));
    return END_ERROR;
  }
}

enum py_end py_run(struct py *p, const struct py_node *node,
                   struct py_scope *scope) {
  if (node->line && node->kind != NODE_BLOCK)
    p->line = node->line;
  if (!py_charge(p, 1))
    return END_ERROR;
  p->depth++;
  enum py_end end = run(p, node, scope);
  p->depth--;
  return p->error ? END_ERROR : end;
}

/* The file's own statements */

/* Makes a name unknown. */
static void forget(struct py *p, struct py_scope *scope, struct slice name,
                   const char *why) {
  struct py_value *v = py_make(p, PY_UNKNOWN);
  if (v) {
    v->text = slice_of(
        graph_text(p->graph, "`%.*s` is not known: %s", SLICE_ARG(name), why));
    map_add(p->arena, &scope->names, name)->pointer = v;
  }
}

/* The name at the start of `cfg["A"].append`. */
static struct slice root_of(const struct py_node *node) {
  while ((node->kind == NODE_ATTR || node->kind == NODE_INDEX ||
          node->kind == NODE_CALL) &&
         node->count)
    node = node->kids[0];
  return node->kind == NODE_NAME ? node->text : slice_of("");
}

/* Makes all names unknown that a statement would have set. */
static void forget_all(struct py *p, const struct py_node *node,
                       struct py_scope *scope, const char *why, int depth) {
  struct slice name = slice_of("");
  if (depth > 100 || !py_charge(p, 1))
    return;
  if (node->kind == NODE_DEF || node->kind == NODE_CLASS)
    name = node->text;
  for (size_t i = 0; node->kind == NODE_ASSIGN && i + 1 < node->count; i++) {
    const struct py_node *target = node->kids[i];
    bool many = target->kind == NODE_TUPLE || target->kind == NODE_LIST;
    for (size_t k = 0; many && k < target->count; k++)
      forget(p, scope, root_of(target->kids[k]), why);
    if (!many)
      forget(p, scope, root_of(target), why);
  }
  if (node->kind == NODE_CHANGE || node->kind == NODE_SAY)
    name = root_of(node->kids[0]);
  if (name.length && map_find(&scope->names, name))
    forget(p, scope, name, why);
  else if (name.length && node->kind != NODE_SAY)
    forget(p, scope, name, why);
  bool nests = node->kind == NODE_BLOCK || node->kind == NODE_IF ||
               node->kind == NODE_FOR || node->kind == NODE_WHILE ||
               node->kind == NODE_TRY || node->kind == NODE_WITH;
  for (size_t i = 0; nests && i < node->count; i++)
    if (node->kids[i])
      forget_all(p, node->kids[i], scope, why, depth + 1);
}

/* A call of a library or of the file's functions is not part of the net: it
 * trains or prints. */
static bool is_idle_call(const struct py_node *node,
                         const struct py_scope *scope) {
  struct slice name =
      node->kind == NODE_SAY ? root_of(node->kids[0]) : slice_of("");
  const struct map_entry *entry = map_find(&scope->names, name);
  const struct py_value *v = entry ? entry->pointer : NULL;
  return node->kind == NODE_SAY &&
         (!v || v->type == PY_SPACE || v->type == PY_FUNCTION ||
          v->type == PY_UNKNOWN);
}

static bool is_main(const struct py_node *node) {
  const struct py_node *c = node->kind == NODE_IF ? node->kids[0] : NULL;
  return c && c->kind == NODE_COMPARE && c->kids[0]->kind == NODE_NAME &&
         slice_is(c->kids[0]->text, "__name__");
}

static bool sets_names(const struct py_node *block) {
  for (size_t i = 0; i < block->count; i++) {
    enum py_kind kind = block->kids[i]->kind;
    if (kind == NODE_ASSIGN || kind == NODE_DEF || kind == NODE_CLASS ||
        kind == NODE_IMPORT || kind == NODE_FROM)
      return true;
  }
  return false;
}

/* `try` around an import of a library that netc does not have goes on as in
 * Python without that library. */
static void run_tried(struct py *p, const struct py_node *node,
                      struct py_scope *scope) {
  const struct py_node *block = node->kids[0];
  for (size_t i = 0; i < block->count; i++) {
    const struct py_node one = {.kids = block->kids + i, .count = 1};
    size_t absent = p->absent;
    py_run_file(p, &one, scope);
    if (p->absent > absent && node->count > 1 && node->kids[1]->op) {
      if (sets_names(node->kids[1]) && p->absent_name.length)
        graph_note(p->graph, "`%.*s` is taken as not installed.",
                   SLICE_ARG(p->absent_name));
      py_run_file(p, node->kids[1], scope);
      return;
    }
  }
}

void py_run_file(struct py *p, const struct py_node *block,
                 struct py_scope *scope) {
  int depth = p->depth;
  for (size_t i = 0; i < block->count; i++) {
    const struct py_node *node = block->kids[i];
    if (is_main(node) || is_idle_call(node, scope))
      continue;
    bool loops = node->kind == NODE_FOR || node->kind == NODE_WHILE ||
                 node->kind == NODE_WITH;
    if (node->kind == NODE_TRY) {
      run_tried(p, node, scope);
      continue;
    }
    if (!loops && py_run(p, node, scope) == END_NONE)
      continue;
    const char *why = p->error ? p->error : "a loop sets it";
    p->error = NULL;
    p->depth = depth;
    forget_all(p, node, scope, why, 0);
  }
}
