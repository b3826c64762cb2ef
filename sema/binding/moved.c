/* Moved arguments: copies those of an earlier equal text (parser/alike.c) with
 * positions of the current one. */
#include "sema/binding/expander.h"

static struct span moved_span(struct span span, uint32_t by) {
  return (struct span){span.begin + by, span.end + by};
}

static struct expr *moved_list(struct arena *arena, const struct expr *expr,
                               uint32_t by);

static struct expr *moved_expr(struct arena *arena, const struct expr *expr,
                               uint32_t by) {
  struct expr *copy = arena_room(arena, 1, sizeof *copy);
  *copy = *expr;
  copy->span = moved_span(expr->span, by);
  switch (expr->kind) {
  case EXPR_CALL:
  case EXPR_DIMS:
  case EXPR_LIST: copy->items = moved_list(arena, expr->items, by); break;
  case EXPR_RANGE:
    if (expr->step)
      copy->step = moved_expr(arena, expr->step, by); /* fall through */
  case EXPR_BINARY:
  case EXPR_INDEX:
  case EXPR_PAIR:
    copy->right = moved_expr(arena, expr->right, by); /* fall through */
  case EXPR_UNARY:
  case EXPR_KEYED:
  case EXPR_PATH: copy->left = moved_expr(arena, expr->left, by); break;
  case EXPR_INT:
  case EXPR_REAL:
  case EXPR_BOOL:
  case EXPR_NAME:
  case EXPR_ANY:
  case EXPR_FIELD:
  case EXPR_TEXT: break;
  }
  return copy;
}

static struct expr *moved_list(struct arena *arena, const struct expr *expr,
                               uint32_t by) {
  struct expr *first = NULL, **end = &first;
  for (; expr; expr = expr->next, end = &(*end)->next)
    *end = moved_expr(arena, expr, by);
  return first;
}

const struct arg *args_of(struct expander *e, const struct stmt *stmt) {
  struct arg *first = NULL, **end = &first;
  if (!stmt->moved)
    return stmt->args;
  for (const struct arg *arg = stmt->args; arg; arg = arg->next) {
    struct arg *copy = arena_room(&e->scratch, 1, sizeof *copy);
    *copy = *arg;
    copy->span = moved_span(arg->span, stmt->moved);
    copy->value = moved_expr(&e->scratch, arg->value, stmt->moved);
    *end = copy;
    end = &copy->next;
  }
  return first;
}
