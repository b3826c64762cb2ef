/* Binds a statement: arguments, operands and tail. */
#include "sema/binding/slip.h"
#include "sema/statements.h"

struct operand_taker {
  struct expander *e;
  struct bound *bound;
  struct span span;
};

/* An operand needs about 75 bytes and the time of ten other steps. */
enum { OPERAND_STEPS = 10 };

static bool is_word(const struct arg *arg) {
  return arg->form == ARG_PLAIN && arg->value->kind == EXPR_NAME;
}

static bool add_operand(void *user, struct symbol *label) {
  struct operand_taker *taker = user;
  struct bound *bound = taker->bound;
  if (label->node == NO_NODE)
    bound->binding.failed = true; /* in error and already reported */
  *VEC_PUSH(taker->e->arena, &bound->operands) =
      (struct join_operand){NULL, label->node, taker->span};
  taker->e->steps += OPERAND_STEPS - 1;
  return turns_step(taker->e, taker->span);
}

/* Adds an operand in place of one that is in error. */
static void lose_operand(struct expander *e, struct bound *bound,
                         struct span span) {
  *VEC_PUSH(e->arena, &bound->operands) =
      (struct join_operand){NULL, NO_NODE, span};
}

static bool is_range(const struct expr *expr) {
  return expr->kind == EXPR_INDEX && expr->right->kind == EXPR_RANGE;
}

/* skip[i], skip[1..n], stem.conv1 */
static void add_reference(struct expander *e, struct bound *bound,
                          const struct arg *arg) {
  struct operand_taker taker = {e, bound, arg->span};
  const struct expr *expr = arg->value;
  struct symbol *label = NULL;
  bool added;
  e->depends = true;
  bound->ranged = bound->ranged || is_range(expr);
  if (is_range(expr)) {
    added = label_each(e, expr, add_operand, &taker);
  } else {
    label = label_find(e, expr);
    added = label && add_operand(&taker, label);
  }
  bound->binding.failed = bound->binding.failed || !added;
  if (!added)
    lose_operand(e, bound, arg->span);
}

/* Adds a label by its name, or a layer by its name in reports. */
static bool add_label_operand(struct expander *e, struct bound *bound,
                              const struct arg *arg) {
  struct slice name = arg->value->name;
  struct symbol *symbol = scope_resolve(e->scope, name);
  if (!symbol && !layer_kind_find(name))
    symbol = path_of_net(e, name, arg->span);
  if (symbol && symbol->kind == SYMBOL_CONSTANT &&
      symbol->value->kind == VALUE_POISON)
    symbol = NULL; /* in error and already reported */
  else if (symbol && symbol->kind == SYMBOL_FAMILY)
    symbol = label_find(e, arg->value); /* reports the missing index */
  else if (!symbol || symbol->kind != SYMBOL_LABEL)
    return false;
  struct operand_taker taker = {e, bound, arg->span};
  e->depends = true;
  if (!symbol || !add_operand(&taker, symbol)) {
    bound->binding.failed = true;
    lose_operand(e, bound, arg->span);
  }
  return true;
}

static void add_tail(struct expander *e, struct bound *bound,
                     const struct arg *arg) {
  if (!tail_read(e, &bound->tail, arg->value))
    bound->binding.failed = true;
}

/* True if a bare name is a layer for the tail, not a value. */
static bool names_layer(struct expander *e, struct slice name) {
  struct symbol *symbol = scope_find(e->scope, name);
  if (!symbol)
    return layer_kind_find(name);
  return symbol->kind == SYMBOL_DEF ||
         (symbol->kind == SYMBOL_CONSTANT && symbol->value->kind == VALUE_NAME);
}

static void option_behind_tail(struct expander *e, struct bound *bound,
                               const struct arg *arg) {
  struct diagnostic *d =
      report(e, TAIL_ARGUMENT, arg->span,
             "`%.*s` belongs to %s: write it before the tail",
             SLICE_ARG(arg->value->name), bound->kind->name);
  diag_label(d, bound->tail.words.at[0].span, "the tail begins here");
  bound->binding.failed = true;
}

static void read_word(struct expander *e, struct bound *bound,
                      const struct arg *arg) {
  struct slice name = arg->value->name;
  struct binding *b = &bound->binding;
  if (bound->tail.words.count) {
    if (bind_knows(b, name))
      option_behind_tail(e, bound, arg);
    else
      add_tail(e, bound, arg);
    return;
  }
  /* `max c` joins with a label c if there is one. */
  bool operand = bound->kind->join && bind_is_axis(b, name);
  if (operand && add_label_operand(e, bound, arg))
    return;
  if (bind_word(e, b, name, arg->span))
    return;
  if (bound->kind->join && add_label_operand(e, bound, arg))
    return;
  const struct symbol *symbol = scope_find(e->scope, name);
  if (names_layer(e, name))
    add_tail(e, bound, arg);
  else if (symbol && symbol->kind == SYMBOL_CONSTANT &&
           symbol->value->kind == VALUE_POISON && !bind_wants_position(b))
    b->failed = true; /* already reported */
  else if ((bound->kind->join || !bind_wants_position(b)) && !symbol) {
    report_unknown_name(e, name, arg->span,
                        bound->kind->join ? NAME_OF_TENSOR : NAME_OF_TAIL,
                        b->specs);
    b->failed = true;
    if (bound->kind->join)
      lose_operand(e, bound, arg->span);
  } else {
    bind_arg(e, b, arg);
  }
}

/* True for `leaky(0.1)`; false for `min(a, b)`, which is a value. */
static bool is_tail_call(struct expander *e, const struct bound *bound,
                         const struct arg *arg) {
  if (arg->form != ARG_PLAIN || arg->value->kind != EXPR_CALL ||
      eval_is_function(arg->value->name))
    return false;
  return names_layer(e, arg->value->name) || bound->tail.words.count ||
         !bind_wants_position(&bound->binding);
}

static bool is_reference(const struct arg *arg) {
  const struct expr *expr = arg->value;
  return arg->form == ARG_PLAIN &&
         (expr->kind == EXPR_INDEX || expr->kind == EXPR_PATH ||
          (expr->kind == EXPR_FIELD && !eval_is_size(expr->name)));
}

static void read_arg(struct expander *e, struct bound *bound,
                     const struct arg *arg) {
  if (row_options_read(e, &bound->options, &bound->binding, arg)) {
    bound->binding.failed = bound->binding.failed || bound->options.failed;
  } else if (is_word(arg)) {
    read_word(e, bound, arg);
  } else if (is_tail_call(e, bound, arg)) {
    add_tail(e, bound, arg);
  } else if (arg->form == ARG_BLOCK &&
             (bound->kind->join || bound->kind->front)) {
    struct join_operand *operand = VEC_PUSH(e->arena, &bound->operands);
    *operand = (struct join_operand){arg->block, NO_NODE, arg->span};
  } else if (bound->kind->join && is_reference(arg) &&
             !bound->tail.words.count) {
    add_reference(e, bound, arg);
  } else if (bound->tail.words.count) {
    tail_refuse_value(e, &bound->tail, arg);
    bound->binding.failed = true;
  } else {
    bind_arg(e, &bound->binding, arg);
  }
}

/* True for `concat a x b`: joins take no sizes, so x is a label here. */
static bool has_x(struct expander *e, const struct bound *bound,
                  const struct arg *arg) {
  return bound->kind->join && arg->form == ARG_PLAIN &&
         arg->value->kind == EXPR_DIMS && scope_find(e->scope, slice_of("x"));
}

static void read_around_x(struct expander *e, struct bound *bound,
                          const struct arg *arg) {
  for (const struct expr *item = arg->value->items; item; item = item->next) {
    struct arg one = *arg;
    one.value = (struct expr *)item;
    one.span = item->span;
    read_arg(e, bound, &one);
    if (!item->next)
      return;
    struct expr x = {.kind = EXPR_NAME, .name = slice_of("x")};
    struct slice between = sources_rest(e->diags->sources, item->span.end);
    const char *at = memchr(between.at, 'x', between.length);
    x.span.begin = item->span.end + (uint32_t)(at - between.at);
    x.span.end = x.span.begin + 1;
    one.value = &x;
    one.span = x.span;
    read_arg(e, bound, &one);
  }
}

static struct bound *bind_stmt(struct expander *e, const struct stmt *stmt,
                               const struct meaning *meaning) {
  const struct layer_kind *kind = meaning->kind;
  struct bound *bound = e->free_bound;
  if (bound) {
    e->free_bound = bound->next;
    bound->tail.words.count = bound->operands.count = 0;
    bound->ranged = false;
  } else {
    bound = ARENA_NEW(e->arena, struct bound);
  }
  struct arena_mark before = arena_mark(&e->scratch);
  bound->kind = kind;
  bound->args = stmt->args;
  bound->begin = stmt->span.begin;
  row_options_begin(e, &bound->options, kind->name);
  layer_bind_begin(e, &bound->binding, meaning);
  bound->main_end = stmt->name_span.end;
  for (const struct arg *arg = args_of(e, stmt); arg; arg = arg->next) {
    if (slip_comment(e, &bound->binding, arg))
      break;
    if (has_x(e, bound, arg))
      read_around_x(e, bound, arg);
    else
      read_arg(e, bound, arg);
    if (bound->tail.words.count == 0)
      bound->main_end = arg->span.end;
  }
  arena_release(&e->scratch, before);
  bind_end(e, &bound->binding, stmt->name_span);
  adapt_binding(e, &bound->binding, kind, stmt->name_span);
  tail_drop_biases(&bound->tail, &bound->binding);
  bind_share(e, &bound->binding, kind);
  for (size_t i = 0; i < bound->tail.words.count; i++) {
    const struct tail_word *word = &bound->tail.words.at[i];
    if (!word->binding)
      continue;
    adapt_binding(e, word->binding, word->kind, word->span);
    bind_share(e, word->binding, word->kind);
  }
  return bound;
}

/* True outside of loops and calls. */
static bool is_applied_once(const struct expander *e) {
  return e->frame == NULL;
}

/* Cache of bindings by the statement's text, for use outside of loops. */

static struct bound **recent_bound(struct expander *e, const struct stmt *stmt,
                                   const struct layer_kind *kind) {
  size_t place = stmt->args ? stmt->args->span.begin : strlen(kind->name);
  return &e->recent_bound[place % RECENT_BOUND];
}

/* True for numbers, and for words that name nothing here. */
static bool is_plain(struct expander *e, const struct expr *value) {
  const struct expr *item = value->kind == EXPR_DIMS ? value->items : NULL;
  switch (value->kind) {
  case EXPR_INT:
  case EXPR_REAL:
  case EXPR_BOOL: return true;
  case EXPR_NAME: return !scope_find(e->scope, value->name);
  case EXPR_DIMS:
    while (item && item->kind == EXPR_INT)
      item = item->next;
    return !item;
  default: return false;
  }
}

static bool all_plain(struct expander *e, const struct arg *arg) {
  while (arg && arg->form != ARG_BLOCK && is_plain(e, arg->value))
    arg = arg->next;
  return !arg;
}

static void move_span(struct span *span, uint32_t by) {
  span->begin += by;
  span->end += by;
}

static void move_spans(struct binding *b, uint32_t by) {
  uint64_t left = b->given;
  for (int i = 0; left; i++, left >>= 1)
    if (left & 1)
      move_span(&b->spans[i], by);
}

static void move_bound(struct bound *bound, uint32_t by) {
  bound->begin += by;
  bound->main_end += by;
  move_spans(&bound->binding, by);
  move_spans(&bound->options, by);
  for (size_t i = 0; i < bound->tail.words.count; i++)
    move_span(&bound->tail.words.at[i].span, by);
}

/* The binding of an equal text with the same meaning, or NULL. */
static struct bound *find_bound(struct expander *e, const struct stmt *stmt,
                                const struct layer_kind *kind) {
  struct bound *bound = *recent_bound(e, stmt, kind);
  if (!bound || bound->kind != kind || bound->args != stmt->args ||
      !all_plain(e, stmt->args))
    return NULL;
  move_bound(bound, stmt->span.begin - bound->begin);
  return bound;
}

struct bound *bound_stmt(struct expander *e, const struct stmt *stmt,
                         const struct meaning *meaning) {
  if (is_applied_once(e)) {
    struct bound *alike =
        meaning->given ? NULL : find_bound(e, stmt, meaning->kind);
    return alike ? alike : bind_stmt(e, stmt, meaning);
  }
  while (e->bound.count <= (size_t)stmt->index)
    VEC_PUSH(e->arena, &e->bound);
  struct bound **cached = &e->bound.at[stmt->index];
  if (*cached)
    return *cached;
  struct bound *bound = bind_stmt(e, stmt, meaning);
  bound->kept = !e->depends && !bound->binding.failed;
  if (bound->kept)
    e->bound.at[stmt->index] = bound;
  return bound;
}

bool block_repeats(const struct expander *e, const struct block *block) {
  for (const struct stmt *stmt = block->first; stmt; stmt = stmt->next) {
    size_t index = (size_t)stmt->index;
    const struct bound *bound = stmt->kind == STMT_APPLY &&
                                        !stmt->ends->label.at &&
                                        index < e->bound.count
                                    ? e->bound.at[index]
                                    : NULL;
    if (!bound || bound->kind->front || bound->kind->parts)
      return false;
    for (size_t i = 0; i < bound->operands.count; i++)
      if (!bound->operands.at[i].block ||
          !block_repeats(e, bound->operands.at[i].block))
        return false;
  }
  return true;
}

void bound_let_go(struct expander *e, const struct stmt *stmt,
                  struct bound *bound) {
  if (bound->kept)
    return;
  if (is_applied_once(e) && !bound->kind->join && !e->depends &&
      !bound->binding.failed && all_plain(e, stmt->args)) {
    struct bound **recent = recent_bound(e, stmt, bound->kind);
    struct bound *before = *recent;
    *recent = bound;
    bound->kept = true;
    if (!before)
      return;
    before->kept = false;
    bound = before;
  }
  tail_let_go(e, &bound->tail);
  bound->next = e->free_bound;
  e->free_bound = bound;
}
