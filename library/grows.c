/*
 * Growth: checks that all counts of a net grow with a `param`. A walk over the
 * syntax tree marks values that depend on the param. They may be added,
 * multiplied, and used as channels. Any other use, in a condition, a number of
 * iterations or a kernel, gives "no". So does anything the walk cannot
 * distinguish, such as equal names in two scopes.
 */
#include "library/context.h"

struct growth_walk {
  struct arena *arena;
  VEC(struct slice) marked;
  VEC(const struct stmt *) defs;
  bool decides; /* a marked value has another use */
};

static bool grow_block(struct growth_walk *g, const struct block *block);

static bool is_marked(const struct growth_walk *g, struct slice name) {
  for (size_t i = 0; i < g->marked.count; i++)
    if (slice_equal(g->marked.at[i], name))
      return true;
  return false;
}

static void mark(struct growth_walk *g, struct slice name) {
  if (!is_marked(g, name))
    *VEC_PUSH(g->arena, &g->marked) = name;
}

static const struct stmt *def_of(const struct growth_walk *g,
                                 struct slice name) {
  for (size_t i = 0; i < g->defs.count; i++)
    if (slice_equal(g->defs.at[i]->name, name))
      return g->defs.at[i];
  return NULL;
}

static bool grows(struct growth_walk *g, const struct expr *x);

static bool any_grows(struct growth_walk *g, const struct expr *list) {
  bool any = false;
  for (; list; list = list->next)
    any = grows(g, list) || any;
  return any;
}

/* Records a use in which nothing may be marked. */
static bool refuse(struct growth_walk *g, bool marked) {
  g->decides = g->decides || marked;
  return false;
}

static bool binary_grows(struct growth_walk *g, const struct expr *x) {
  bool left = grows(g, x->left), right = grows(g, x->right);
  if (!left && !right)
    return false;
  bool divides = x->op == OP_DIV || x->op == OP_FLOOR || x->op == OP_SUB;
  if (x->op == OP_ADD || x->op == OP_MUL || (divides && !right))
    return true;
  return refuse(g, true);
}

static bool call_grows(struct growth_walk *g, const struct expr *x) {
  static const char steady[] = "min max floor ceil round";
  bool any = any_grows(g, x->items);
  if (any && word_index(steady, x->name) && !def_of(g, x->name))
    return true;
  return refuse(g, any);
}

/* True if a value depends on marked ones. Sizes of tensors count as marked. */
static bool grows(struct growth_walk *g, const struct expr *x) {
  if (!x)
    return false;
  switch (x->kind) {
  case EXPR_NAME: return is_marked(g, x->name);
  case EXPR_FIELD: return true;
  case EXPR_UNARY: return refuse(g, grows(g, x->left));
  case EXPR_BINARY: return binary_grows(g, x);
  case EXPR_CALL: return call_grows(g, x);
  case EXPR_KEYED: return grows(g, x->left);
  case EXPR_INDEX:
  case EXPR_PAIR:
  case EXPR_RANGE:
    return refuse(g, any_grows(g, x->left) || grows(g, x->right));
  case EXPR_DIMS:
  case EXPR_LIST: return refuse(g, any_grows(g, x->items));
  default: return false;
  }
}

/* Marks a def's parameters whose arguments depend on marked values. */
static void grow_call(struct growth_walk *g, const struct stmt *def,
                      const struct stmt *call) {
  const struct def_param *next = def->more->params;
  for (const struct arg *arg = call->args; arg; arg = arg->next) {
    if (arg->form == ARG_BLOCK) {
      grow_block(g, arg->block);
    } else if (arg->form == ARG_KEYED) {
      if (grows(g, arg->value))
        mark(g, arg->key);
    } else if (arg->form == ARG_PLAIN && next) {
      if (grows(g, arg->value))
        mark(g, next->name);
      next = next->next;
    } else {
      refuse(g, grows(g, arg->value));
    }
  }
}

/* True if an argument of a layer is its number of channels. */
static bool takes_channels(const struct layer_kind *kind, const struct arg *arg,
                           bool first) {
  const struct arg_spec *spec = kind ? kind->specs : NULL;
  if (arg->form == ARG_PLAIN)
    return first && spec && spec->name && spec->grows;
  for (; spec && spec->name; spec++)
    if (arg->form == ARG_KEYED && slice_is(arg->key, spec->name))
      return spec->grows;
  return false;
}

static void grow_layer(struct growth_walk *g, const struct stmt *stmt) {
  const struct layer_kind *kind = layer_kind_find(stmt->name);
  for (const struct arg *arg = stmt->args; arg; arg = arg->next) {
    if (arg->form == ARG_BLOCK)
      grow_block(g, arg->block);
    else if (grows(g, arg->value) &&
             !takes_channels(kind, arg, arg == stmt->args))
      refuse(g, true);
  }
}

/* Marks the names of a table's columns. */
static void grow_rows(struct growth_walk *g, const struct stmt *stmt) {
  for (const struct table_row *row = stmt->more->rows; row; row = row->next) {
    const struct name_list *name = stmt->more->names;
    for (const struct expr *x = row->values; x; x = x->next) {
      if (grows(g, x) && name)
        mark(g, name->name);
      name = name && name->next ? name->next : stmt->more->names;
    }
  }
}

static void grow_stmt(struct growth_walk *g, const struct stmt *stmt) {
  const struct stmt_more *more = stmt->more;
  const struct stmt *def;
  if (stmt->ends && any_grows(g, stmt->ends->label_indices))
    refuse(g, true);
  switch (stmt->kind) {
  case STMT_APPLY:
    def = def_of(g, stmt->name);
    if (def)
      grow_call(g, def, stmt);
    else
      grow_layer(g, stmt);
    return;
  case STMT_DEF:
    for (const struct def_param *p = more->params; p; p = p->next)
      if (grows(g, p->value))
        mark(g, p->name);
    break;
  case STMT_LET:
  case STMT_PARAM:
    if (grows(g, more->value))
      mark(g, stmt->name);
    if (more->rows && is_marked(g, stmt->name))
      refuse(g, true);
    break;
  case STMT_FOR:
    grow_rows(g, stmt);
    refuse(g, grows(g, more->value) || grows(g, more->high) ||
                  grows(g, more->step));
    break;
  case STMT_INPUT:
    if (more->value && more->value->kind == EXPR_DIMS)
      any_grows(g, more->value->items);
    else
      grows(g, more->value);
    break;
  case STMT_MESSAGE: return;
  case STMT_SETTINGS:
    for (const struct arg *arg = stmt->args; arg; arg = arg->next)
      refuse(g, grows(g, arg->value));
    return;
  default: refuse(g, grows(g, more->value)); break;
  }
  grow_block(g, more->block);
  grow_block(g, more->otherwise);
}

/* False as soon as the answer is known. */
static bool grow_block(struct growth_walk *g, const struct block *block) {
  for (const struct stmt *s = block ? block->first : NULL; s && !g->decides;
       s = s->next)
    grow_stmt(g, s);
  return !g->decides;
}

static void find_defs(struct growth_walk *g, const struct block *block) {
  for (const struct stmt *s = block ? block->first : NULL; s; s = s->next) {
    if (s->kind == STMT_DEF)
      *VEC_PUSH(g->arena, &g->defs) = s;
    if (s->kind != STMT_APPLY && s->more)
      find_defs(g, s->more->block);
  }
}

struct growth_call {
  const char *param;
  bool grows;
};

/* Repeats the walk until no more names are marked. */
static void call_grows_with(struct call *call) {
  struct growth_call *asked = call->request;
  const struct load *load = call->netc->load;
  struct growth_walk g = {.arena = &call->scratch};
  mark(&g, slice_of(asked->param));
  for (size_t i = 0; i < load->units.count; i++)
    find_defs(&g, load->units.at[i].program);
  for (size_t known = 0; known < g.marked.count && !g.decides;) {
    known = g.marked.count;
    for (size_t i = 0; i < load->units.count; i++)
      grow_block(&g, load->units.at[i].program);
  }
  asked->grows = !g.decides;
}

enum netc_status netc_param_grows(struct netc *netc, const char *param,
                                  bool *grows) {
  struct growth_call asked = {.param = param};
  if (!netc->load || !netc->load->compiled.parsed)
    return NETC_USAGE;
  enum netc_status status =
      context_call(netc, CALL_READS, call_grows_with, &asked);
  if (status == NETC_OK)
    *grows = asked.grows;
  return status;
}
