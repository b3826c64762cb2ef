/* Build: constructors of the syntax tree, for the actions of grammar.y. */
#include "parser/build.h"

struct expr *build_expr(struct parser *p, enum expr_kind kind,
                        struct span span) {
  struct expr *expr = ARENA_NEW(p->arena, struct expr);
  expr->kind = kind;
  expr->span = span;
  expr->depth = 1;
  return expr;
}

struct expr *build_int(struct parser *p, int64_t value, struct span span) {
  struct expr *expr = build_expr(p, EXPR_INT, span);
  expr->integer = value;
  return expr;
}

struct expr *build_real(struct parser *p, double value, struct span span) {
  struct expr *expr = build_expr(p, EXPR_REAL, span);
  expr->real = value;
  return expr;
}

struct expr *build_bool(struct parser *p, bool value, struct span span) {
  struct expr *expr = build_expr(p, EXPR_BOOL, span);
  expr->integer = value;
  return expr;
}

struct expr *build_name(struct parser *p, enum expr_kind kind,
                        struct slice name, struct span span) {
  struct expr *expr = build_expr(p, kind, span);
  expr->name = name;
  return expr;
}

/* `a + a + a ...` is as deep as it is long, and walks over the tree recurse. */
static bool too_deep(struct parser *p, int depth, struct span span) {
  if (depth <= LIMIT_DEPTH)
    return false;
  struct diagnostic *d =
      diag(p->diags, NESTED_TOO_DEEP, span,
           "an expression has more than %d operators", LIMIT_DEPTH);
  diag_help(d, "split it with `let`");
  return true;
}

struct expr *build_unary(struct parser *p, enum op op, struct expr *operand,
                         struct span span) {
  if (too_deep(p, operand->depth + 1, span))
    return operand;
  struct expr *expr = build_expr(p, EXPR_UNARY, span);
  expr->op = op;
  expr->left = operand;
  expr->depth = operand->depth + 1;
  return expr;
}

static struct expr *build_two(struct parser *p, enum expr_kind kind,
                              struct expr *left, struct expr *right) {
  const struct expr *deeper = left->depth > right->depth ? left : right;
  struct span span = span_join(left->span, right->span);
  if (too_deep(p, deeper->depth + 1, right->span))
    return left;
  struct expr *expr = build_expr(p, kind, span);
  expr->left = left;
  expr->right = right;
  expr->depth = deeper->depth + 1;
  return expr;
}

struct expr *build_binary(struct parser *p, enum op op, struct expr *left,
                          struct expr *right) {
  struct expr *expr = build_two(p, EXPR_BINARY, left, right);
  if (expr->kind == EXPR_BINARY && expr->right == right)
    expr->op = op;
  return expr;
}

struct expr *build_pair(struct parser *p, struct expr *left,
                        struct expr *right) {
  return build_two(p, EXPR_PAIR, left, right);
}

struct expr *build_call(struct parser *p, struct slice name, struct expr *items,
                        struct span span) {
  struct expr *expr = build_name(p, EXPR_CALL, name, span);
  expr->items = items;
  for (struct expr *item = items; item; item = item->next)
    if (item->depth >= expr->depth)
      expr->depth = item->depth + 1;
  if (too_deep(p, expr->depth, span))
    return items;
  return expr;
}

/* `in.stem.conv1`: a label called `in`, not a size. */
static struct expr *as_label(struct parser *p, struct expr *expr) {
  if (expr->kind != EXPR_FIELD)
    return expr;
  struct span in = {expr->span.begin, expr->span.begin + 2};
  return build_path(p, build_name(p, EXPR_NAME, slice_of("in"), in), expr->name,
                    expr->span);
}

struct expr *build_index(struct parser *p, struct expr *left,
                         struct expr *index, struct span span) {
  left = as_label(p, left);
  struct expr *expr = build_two(p, EXPR_INDEX, left, index);
  if (expr != left)
    expr->span = span;
  return expr;
}

struct expr *build_path(struct parser *p, struct expr *left, struct slice name,
                        struct span span) {
  left = as_label(p, left);
  if (too_deep(p, left->depth + 1, span))
    return left;
  struct expr *expr = build_name(p, EXPR_PATH, name, span);
  expr->left = left;
  expr->depth = left->depth + 1;
  return expr;
}

struct expr *build_range(struct parser *p, struct expr *low, struct expr *high,
                         struct expr *step) {
  struct expr *expr = build_two(p, EXPR_RANGE, low, high);
  if (expr == low)
    return expr;
  expr->step = step;
  if (step && step->depth >= expr->depth)
    expr->depth = step->depth + 1;
  if (step)
    expr->span = span_join(expr->span, step->span);
  return expr;
}

struct expr *build_step(struct parser *p, struct named word,
                        struct expr *step) {
  if (slice_is(word.name, "step"))
    return step;
  struct diagnostic *d =
      diag(p->diags, SYNTAX, word.span, "`%.*s` does not belong here",
           SLICE_ARG(word.name));
  diag_suggest(d, word.span, slice_of("step"));
  diag_help(d, "after a range comes its body or `step`: `5..1 step -1`");
  return NULL;
}

struct expr *build_keyed(struct parser *p, struct named key, struct expr *value,
                         struct span span) {
  struct expr *expr = build_name(p, EXPR_KEYED, key.name, span);
  expr->left = value;
  expr->depth = value->depth;
  return expr;
}

/* Appending is cheap, since valid lists have few items. */
struct expr *build_dims(struct parser *p, struct expr *left,
                        struct expr *right) {
  if (left->kind != EXPR_DIMS) {
    struct expr *dims = build_expr(p, EXPR_DIMS, left->span);
    dims->items = left;
    dims->right = left; /* the last one, to append to */
    dims->depth = left->depth;
    left = dims;
  }
  left->right->next = right;
  left->right = right;
  left->span = span_join(left->span, right->span);
  if (right->depth > left->depth)
    left->depth = right->depth;
  return left;
}

struct expr *build_list(struct parser *p, struct table_row *rows,
                        struct span span) {
  struct expr *list = build_expr(p, EXPR_LIST, span), **end = &list->items;
  for (; rows; rows = rows->next)
    for (*end = rows->values; *end; end = &(*end)->next)
      if ((*end)->depth > list->depth)
        list->depth = (*end)->depth;
  return list;
}

struct arg *build_arg(struct parser *p, enum arg_form form, struct expr *value,
                      struct span span) {
  struct arg *arg = ARENA_NEW(p->arena, struct arg);
  arg->form = form;
  arg->value = value;
  arg->span = span;
  return arg;
}

struct block *build_block(struct parser *p, struct stmt *first,
                          struct span span) {
  struct block *block = ARENA_NEW(p->arena, struct block);
  p->shares = false;
  block->first = first;
  block->span = span;
  block->close = (struct span){span.end - (span.end > span.begin), span.end};
  return block;
}

static const struct stmt_ends no_ends = {0};

struct stmt *build_stmt(struct parser *p, enum stmt_kind kind,
                        struct span span) {
  static const struct stmt_more nothing = {0};
  struct stmt *stmt = ARENA_NEW(p->arena, struct stmt);
  stmt->kind = kind;
  stmt->ends = (struct stmt_ends *)&no_ends;
  stmt->more = kind == STMT_APPLY ? (struct stmt_more *)&nothing
                                  : ARENA_NEW(p->arena, struct stmt_more);
  stmt->span = span;
  stmt->index = (*p->statements)++;
  return stmt;
}

struct stmt *build_hole(struct parser *p, struct span span) {
  uint32_t line = p->error_at;
  p->shares = false;
  while (line > p->scan.base &&
         p->scan.text.at[line - p->scan.base - 1] != '\n')
    line--;
  if (span.begin < line && line <= span.end)
    span.begin = line; /* it is not part of what encloses it */
  return build_stmt(p, STMT_HOLE, span);
}

struct stmt *build_named(struct parser *p, enum stmt_kind kind,
                         struct named named, struct span span) {
  struct stmt *stmt = build_stmt(p, kind, span);
  stmt->name = named.name;
  stmt->name_span = named.span;
  return stmt;
}

struct stmt *build_reference(struct parser *p, enum stmt_kind kind,
                             struct expr *label, struct span span) {
  struct named named = {sources_slice(p->diags->sources, label->span),
                        label->span};
  struct stmt *stmt = build_named(p, kind, named, span);
  stmt->more->value = label;
  return stmt;
}

struct stmt *build_param(struct parser *p, struct name_list *names,
                         struct expr *value, struct span span) {
  struct named first = {names->name, names->span};
  struct stmt *stmt = build_named(p, STMT_PARAM, first, span);
  stmt->more->names = names->next;
  stmt->more->value = value;
  return stmt;
}

struct stmt *build_fork(struct parser *p, bool training, struct stmt *layer,
                        struct span span) {
  struct stmt *stmt = build_stmt(p, STMT_FORK, span);
  stmt->training = training;
  stmt->single = true;
  stmt->more->block = build_block(p, layer, layer->span);
  return stmt;
}

static struct stmt_ends *ends_of(struct parser *p, struct stmt *stmt) {
  if (stmt->ends == &no_ends)
    stmt->ends = ARENA_NEW(p->arena, struct stmt_ends);
  return stmt->ends;
}

struct stmt *build_label(struct parser *p, struct stmt *stmt,
                         const struct new_label *label) {
  struct stmt_ends *ends = ends_of(p, stmt);
  ends->label = label->named.name;
  ends->label_span = label->named.span;
  ends->label_indices = label->indices.first;
  return stmt;
}

struct stmt *build_mark(struct parser *p, struct stmt *stmt, struct expr *sizes,
                        struct span span) {
  struct stmt_ends *ends = ends_of(p, stmt);
  ends->mark = sizes;
  ends->mark_span = span;
  return stmt;
}

struct stmt *build_settings(struct parser *p, const char *word,
                            struct arg *args, struct span span) {
  struct stmt *stmt = build_stmt(p, STMT_SETTINGS, span);
  stmt->name = slice_of(word);
  stmt->name_span = span;
  stmt->args = args;
  return stmt;
}
