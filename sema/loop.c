/* Loops and conditions: repeat, for, if. */
#include <inttypes.h>

#include "sema/statements.h"

static void enter_turn(struct expander *e, const struct stmt *stmt) {
  expand_enter(e);
  e->scope->loop = stmt;
}

/* Runs one iteration; its names are already bound. */
static bool turn(struct expander *e, const struct stmt *stmt, int64_t ordinal,
                 int64_t total) {
  struct frame frame = {.stmt = stmt,
                        .ordinal = (int32_t)ordinal, /* at most LIMIT_LAYERS */
                        .total = (int32_t)total};
  if (!turns_step(e, stmt->span) || !frame_enter(e, frame))
    return false;
  expand_block(e, stmt->more->block);
  frame_leave(e);
  return true;
}

static void declare_unknown(struct expander *e, const struct stmt *stmt) {
  for (const struct name_list *n = stmt->more->names; n; n = n->next)
    scope_declare(e, SYMBOL_CONSTANT, n->name, n->span);
}

/* Unknown count: keeps what one iteration leaves unchanged. */
static void expand_doubtful(struct expander *e, const struct stmt *stmt) {
  int64_t before = e->current;
  e->lost = !e->in->partial;
  if (e->lost)
    return;
  enter_turn(e, stmt);
  declare_unknown(e, stmt);
  turn(e, stmt, 1, 1);
  expand_leave(e);
  partial_meet(e, stmt, before);
}

void expand_repeat(struct expander *e, const struct stmt *stmt) {
  int64_t count;
  if (!eval_count(e, stmt->more->value, &count)) {
    expand_doubtful(e, stmt);
    return;
  }
  if (count < 0 || count > LIMIT_LAYERS) {
    struct diagnostic *d = report(e, OUT_OF_RANGE, stmt->more->value->span,
                                  "cannot repeat %" PRId64 " times", count);
    diag_help(d, "a loop has 0 to %s iterations",
              count_text(LIMIT_LAYERS).text);
    expand_doubtful(e, stmt);
    return;
  }
  bool going = true;
  struct loop loop = loop_begin(e, stmt, count);
  for (int64_t i = 0; i < count && going; i++) {
    enter_turn(e, stmt);
    going = turn(e, stmt, i + 1, count);
    expand_leave(e);
    i += loop_copy(e, &loop, i + 1);
  }
}

static int count_values(const struct expr *expr) {
  int count = 0;
  for (; expr; expr = expr->next)
    count++;
  return count;
}

/* Binds one value to each name of an iteration, from `expr` on. */
static bool bind_row_names(struct expander *e, const struct stmt *stmt,
                           const struct table_row *row,
                           const struct expr *expr) {
  int names = 0, values = count_values(row->values);
  for (const struct name_list *n = stmt->more->names; n; n = n->next)
    names++;
  if (names != values && names > 1) {
    struct diagnostic *d =
        report(e, WRONG_COUNT, row->span, "a row has %d value%s for %d name%s",
               values, values == 1 ? "" : "s", names, names == 1 ? "" : "s");
    diag_help(d, "end a row with `;` or a new line, and separate values with "
                 "blanks");
    if (e->in->partial)
      declare_unknown(e, stmt);
    return e->in->partial;
  }
  struct scope *inner = e->scope;
  for (const struct name_list *n = stmt->more->names; n; n = n->next) {
    e->scope = inner->parent; /* a row's values see the names outside */
    struct value value = eval(e, expr);
    e->scope = inner;
    *scope_declare(e, SYMBOL_CONSTANT, n->name, n->span)->value = value;
    expr = expr->next;
  }
  return true;
}

static void expand_rows(struct expander *e, const struct stmt *stmt) {
  int64_t total = 0, ordinal = 0;
  bool going = true;
  bool each = !stmt->more->names->next; /* one value per iteration */
  for (const struct table_row *row = stmt->more->rows; row; row = row->next)
    total += each ? count_values(row->values) : 1;
  for (const struct table_row *row = stmt->more->rows; row && going;
       row = row->next)
    for (const struct expr *x = row->values; x && going;
         x = each ? x->next : NULL) {
      enter_turn(e, stmt);
      if (bind_row_names(e, stmt, row, x))
        going = turn(e, stmt, ++ordinal, total);
      expand_leave(e);
    }
}

static void expand_range(struct expander *e, const struct stmt *stmt) {
  struct turns turns;
  if (stmt->more->names->next) {
    report(e, WRONG_COUNT, stmt->more->names->next->span,
           "a range gives one value at a time, so it needs one name");
    return;
  }
  if (!turns_of(e, stmt->more->value, stmt->more->high, stmt->more->step,
                &turns)) {
    expand_doubtful(e, stmt);
    return;
  }
  bool going = true;
  struct loop loop = loop_begin(e, stmt, turns.count);
  for (int64_t i = 0; i < turns.count && going; i++) {
    enter_turn(e, stmt);
    struct symbol *symbol = scope_declare(
        e, SYMBOL_CONSTANT, stmt->more->names->name, stmt->more->names->span);
    *symbol->value =
        (struct value){.kind = VALUE_INT, .integer = turn_at(&turns, i)};
    going = turn(e, stmt, i + 1, turns.count);
    expand_leave(e);
    i += loop_copy(e, &loop, i + 1);
  }
}

/* A list that a `let` or a `param` names. */
static void expand_list(struct expander *e, const struct stmt *stmt) {
  struct value list = eval(e, stmt->more->value);
  const struct name_list *name = stmt->more->names;
  if (name->next) {
    report(e, WRONG_COUNT, name->next->span,
           "a list gives one value at a time, so it needs one name");
    return;
  }
  if (list.kind != VALUE_LIST) {
    eval_mismatch(e, &list, stmt->more->value->span, "a list");
    expand_doubtful(e, stmt);
    return;
  }
  bool going = true;
  for (int i = 0; i < list.count && going; i++) {
    enter_turn(e, stmt);
    *scope_declare(e, SYMBOL_CONSTANT, name->name, name->span)->value =
        list.items[i];
    going = turn(e, stmt, i + 1, list.count);
    expand_leave(e);
  }
}

void expand_for(struct expander *e, const struct stmt *stmt) {
  if (stmt->more->rows || !stmt->more->value)
    expand_rows(e, stmt);
  else if (!stmt->more->high)
    expand_list(e, stmt);
  else
    expand_range(e, stmt);
}

/* Unknown condition: keeps what both branches have in common. */
static void expand_either(struct expander *e, const struct stmt *stmt) {
  int64_t before = e->current, first;
  e->lost = !e->in->partial;
  if (e->lost)
    return;
  expand_scoped(e, stmt->more->block);
  first = e->current;
  e->current = before;
  if (stmt->more->otherwise)
    expand_scoped(e, stmt->more->otherwise);
  partial_meet(e, stmt, first);
}

void expand_if(struct expander *e, const struct stmt *stmt) {
  bool condition;
  if (!eval_bool(e, stmt->more->value, &condition)) {
    expand_either(e, stmt); /* the current tensor depends on it */
    return;
  }
  const struct block *block =
      condition ? stmt->more->block : stmt->more->otherwise;
  if (block)
    expand_scoped(e, block);
}
