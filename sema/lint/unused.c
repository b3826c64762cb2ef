/* Unused names, found in the text alone. */
#include "sema/lint/lint.h"

struct name {
  struct slice name;
  struct span span;
  enum slug slug;
  const char *what; /* NULL: only hides an outer name */
  bool used;
  int64_t hidden; /* the outer name, from 1; 0: none */
};

struct unused_walk {
  struct diags *diags;
  VEC(struct name) names; /* visible ones, the innermost last */
  struct map innermost;   /* by name: index in `names`, from 1 */
};

static void walk_block(struct unused_walk *w, const struct block *block);

static void define(struct unused_walk *w, struct slice name, struct span span,
                   enum slug slug, const char *what) {
  int64_t *place = &map_add(w->diags->arena, &w->innermost, name)->number;
  struct name *n = VEC_PUSH(w->diags->arena, &w->names);
  *n = (struct name){name, span, slug, what, false, *place};
  *place = (int64_t)w->names.count;
}

/* Loop variables and labels only hide outer names, if there are any. */
static void hide(struct unused_walk *w, struct slice name, struct span span) {
  const struct map_entry *outer = map_find(&w->innermost, name);
  if (outer && outer->number)
    define(w, name, span, SLUG_COUNT, NULL);
}

static void use(struct unused_walk *w, struct slice name) {
  const struct map_entry *entry = map_find(&w->innermost, name);
  if (entry && entry->number)
    w->names.at[entry->number - 1].used = true;
}

static void leave(struct unused_walk *w, size_t count) {
  for (size_t i = count; i < w->names.count; i++) {
    const struct name *n = &w->names.at[i];
    if (!n->used && n->what)
      diag(w->diags, n->slug, n->span, "the %s `%.*s` is never used", n->what,
           SLICE_ARG(n->name));
  }
  for (size_t i = w->names.count; i-- > count;)
    map_find(&w->innermost, w->names.at[i].name)->number =
        w->names.at[i].hidden;
  w->names.count = count;
}

static void walk_expr(struct unused_walk *w, const struct expr *expr) {
  if (!expr)
    return;
  switch (expr->kind) {
  case EXPR_NAME: use(w, expr->name); break;
  case EXPR_CALL: use(w, expr->name); /* fall through */
  case EXPR_DIMS:
  case EXPR_LIST:
    for (const struct expr *x = expr->items; x; x = x->next)
      walk_expr(w, x);
    break;
  case EXPR_RANGE: walk_expr(w, expr->step); /* fall through */
  case EXPR_BINARY:
  case EXPR_INDEX:
  case EXPR_PAIR: walk_expr(w, expr->right); /* fall through */
  case EXPR_UNARY:
  case EXPR_KEYED:
  case EXPR_PATH: walk_expr(w, expr->left); break;
  case EXPR_INT:
  case EXPR_REAL:
  case EXPR_BOOL:
  case EXPR_ANY:
  case EXPR_FIELD:
  case EXPR_TEXT: break;
  }
}

static void walk_args(struct unused_walk *w, const struct arg *arg) {
  for (; arg; arg = arg->next) {
    if (arg->form == ARG_BLOCK)
      walk_block(w, arg->block);
    else
      walk_expr(w, arg->value);
  }
}

static void walk_def(struct unused_walk *w, const struct stmt *stmt) {
  define(w, stmt->name, stmt->name_span, UNUSED_DEF, "def");
  size_t outside = w->names.count;
  for (const struct def_param *p = stmt->more->params; p; p = p->next) {
    walk_expr(w, p->value);
    define(w, p->name, p->span, UNUSED_PARAM, "parameter");
  }
  walk_block(w, stmt->more->block);
  leave(w, outside);
}

static void walk_rows(struct unused_walk *w, const struct stmt *stmt) {
  for (const struct table_row *row = stmt->more->rows; row; row = row->next)
    for (const struct expr *x = row->values; x; x = x->next)
      walk_expr(w, x);
}

static void walk_for(struct unused_walk *w, const struct stmt *stmt) {
  walk_rows(w, stmt);
  size_t outside = w->names.count;
  for (const struct name_list *n = stmt->more->names; n; n = n->next)
    hide(w, n->name, n->span);
  walk_block(w, stmt->more->block);
  leave(w, outside);
}

static void walk_stmt(struct unused_walk *w, const struct stmt *stmt) {
  walk_expr(w, stmt->more->value);
  if (stmt->kind == STMT_MESSAGE)
    for (const struct expr *x = stmt->more->value; x; x = x->next)
      walk_expr(w, x);
  walk_expr(w, stmt->more->high);
  walk_expr(w, stmt->more->range);
  walk_expr(w, stmt->more->step);
  for (const struct expr *x = stmt->ends->label_indices; x; x = x->next)
    walk_expr(w, x);
  walk_expr(w, stmt->ends->mark);
  walk_args(w, stmt->args);
  switch (stmt->kind) {
  case STMT_APPLY: use(w, stmt->name); break;
  case STMT_DEF: walk_def(w, stmt); return;
  case STMT_FOR: walk_for(w, stmt); return;
  case STMT_LET:
    define(w, stmt->name, stmt->name_span, UNUSED_PARAM, "constant");
    break;
  case STMT_PARAM:
    walk_rows(w, stmt);
    /* With columns, the param selects a row and needs no other use. */
    define(w, stmt->name, stmt->name_span, UNUSED_PARAM,
           stmt->more->names ? NULL : "param");
    for (const struct name_list *n = stmt->more->names; n; n = n->next)
      define(w, n->name, n->span, UNUSED_PARAM, "constant");
    break;
  default: break;
  }
  if (stmt->more->block)
    walk_block(w, stmt->more->block);
  if (stmt->more->otherwise)
    walk_block(w, stmt->more->otherwise);
  if (stmt->ends->label.at)
    hide(w, stmt->ends->label, stmt->ends->label_span);
}

static void walk_block(struct unused_walk *w, const struct block *block) {
  size_t outside = w->names.count;
  for (const struct stmt *stmt = block->first; stmt; stmt = stmt->next)
    walk_stmt(w, stmt);
  leave(w, outside);
}

void lint_names(struct diags *diags, const struct block *program) {
  struct unused_walk w = {.diags = diags};
  walk_block(&w, program);
}
