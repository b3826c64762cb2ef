/* Applying a word: its arguments, its operands, the layers in its tail. */
#include <inttypes.h>

#include "base/check.h"
#include "binding/hint.h"
#include "sema/statements.h"

/* An operand of a join: a block, or the label of a tensor. */
struct operand {
  const struct block *block;
  int64_t node;
  struct span span;
};

struct bound {
  struct bound *next; /* among those that are free */
  const struct layer_kind *kind;
  uint32_t main_end; /* of the layer itself, without its tail */
  struct binding binding, options;
  struct tail tail;
  VEC(struct operand) operands;
  bool ranged; /* operands by a range: the current tensor is none of them */
};

struct operand_taker {
  struct expander *e;
  struct bound *bound;
  struct span span;
};

/* What a word means */

/* What begins a statement, too; and what stands behind a layer. */
static const char *const statements[] = {"freeze", "checkpoint", "repeat",
                                         "output", "again",      "input",
                                         "train",  "budget",     "frozen"};

static bool unknown_word(struct expander *e, struct slice name,
                         struct span span) {
  struct diagnostic *d = report(e, UNKNOWN_LAYER, span,
                                "unknown layer or def `%.*s`", SLICE_ARG(name));
  if (!diag_is_shown(d))
    return false;
  struct suggestion s = suggest_begin(name);
  for (size_t i = 0; i < layer_kind_count(); i++)
    suggest_offer(&s, slice_of(layer_kind_at(i)->name));
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
    suggest_offer(&s, slice_of(statements[i]));
  for (struct scope *scope = e->scope; scope; scope = scope->parent)
    for (struct symbol *symbol = scope->first; symbol; symbol = symbol->next)
      if (symbol->kind == SYMBOL_DEF)
        suggest_offer(&s, symbol->name);
  if (slice_is(name, "checkpoint") || slice_is(name, "freeze")) {
    diag_help(d, "`%.*s { ... }` takes one block and nothing else",
              SLICE_ARG(name));
  } else if (!(s.best.at && s.distance == 0) &&
             hint_foreign_layer(d, name, span)) {
    return false;
  } else if (s.best.at && slice_is(s.best, "frozen")) {
    diag_help(d, "did you mean `freeze { ... }`, or `linear 8 frozen`, behind "
                 "the layer?");
  } else if (s.best.at) {
    diag_help(d, "did you mean `%.*s`?", SLICE_ARG(s.best));
    diag_fixit(d, span, "%.*s", SLICE_ARG(s.best));
  } else {
    diag_help(d, "`netc layers` lists the layers; a def must stand above");
  }
  return false;
}

static bool no_layer(struct expander *e, struct symbol *symbol,
                     struct span span) {
  const char *what = symbol->kind == SYMBOL_LABEL ? "a label" : "a constant";
  if (symbol->kind == SYMBOL_CONSTANT && symbol->value.kind == VALUE_POISON)
    return false;
  struct diagnostic *d =
      report(e, UNKNOWN_LAYER, span, "`%.*s` is %s, not a layer or def",
             SLICE_ARG(symbol->name), what);
  diag_label(d, symbol->span, "defined here");
  if (symbol->kind == SYMBOL_LABEL)
    diag_help(d,
              "`from %.*s` makes its tensor current, `again %.*s` "
              "applies it again",
              SLICE_ARG(symbol->name), SLICE_ARG(symbol->name));
  return false;
}

/* A constant may hold a layer or def. */
bool resolve_word(struct expander *e, struct slice name, struct span span,
                  struct meaning *meaning) {
  struct symbol *symbol = scope_resolve(e->scope, name);
  *meaning = (struct meaning){0};
  e->depends = e->depends || symbol;
  if (!symbol) {
    meaning->kind = layer_kind_find(name);
    return meaning->kind || unknown_word(e, name, span);
  }
  if (symbol->kind == SYMBOL_DEF)
    meaning->def = symbol;
  else if (symbol->kind == SYMBOL_CONSTANT && symbol->value.kind == VALUE_NAME)
    meaning->kind = layer_kind_find(symbol->value.name);
  return meaning->def || meaning->kind || no_layer(e, symbol, span);
}

/* Arguments, operands and tail of a statement */

static bool is_word(const struct arg *arg) {
  return arg->form == ARG_PLAIN && arg->value->kind == EXPR_NAME;
}

static bool add_operand(void *user, struct symbol *label) {
  struct operand_taker *taker = user;
  struct bound *bound = taker->bound;
  if (label->node == NO_NODE)
    bound->binding.failed = true; /* in error, and reported there */
  *VEC_PUSH(taker->e->arena, &bound->operands) =
      (struct operand){NULL, label->node, taker->span};
  return true;
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
}

/* A label by its name alone, or a layer as reports call it. */
static bool add_label_operand(struct expander *e, struct bound *bound,
                              const struct arg *arg) {
  struct slice name = arg->value->name;
  struct symbol *symbol = scope_resolve(e->scope, name);
  if (!symbol && !layer_kind_find(name))
    symbol = path_find(e, NULL, name, NULL);
  if (symbol && symbol->kind == SYMBOL_CONSTANT &&
      symbol->value.kind == VALUE_POISON)
    symbol = NULL; /* in error, and reported there */
  else if (symbol && symbol->kind == SYMBOL_FAMILY)
    symbol = label_find(e, arg->value); /* says that it needs an index */
  else if (!symbol || symbol->kind != SYMBOL_LABEL)
    return false;
  struct operand_taker taker = {e, bound, arg->span};
  e->depends = true;
  if (!symbol || !add_operand(&taker, symbol))
    bound->binding.failed = true;
  return true;
}

static void add_tail(struct expander *e, struct bound *bound,
                     const struct arg *arg) {
  if (!tail_read(e, &bound->tail, arg->value))
    bound->binding.failed = true;
}

/* Whether a bare name means a layer for the tail, not a value. */
static bool names_layer(struct expander *e, struct slice name) {
  struct symbol *symbol = scope_find(e->scope, name);
  if (!symbol)
    return layer_kind_find(name);
  return symbol->kind == SYMBOL_DEF ||
         (symbol->kind == SYMBOL_CONSTANT && symbol->value.kind == VALUE_NAME);
}

static void option_behind_tail(struct expander *e, struct bound *bound,
                               const struct arg *arg) {
  struct diagnostic *d = report(e, TAIL_ARGUMENT, arg->span,
                                "`%.*s` belongs to %s, in front of its "
                                "tail",
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
  /* `max c` joins with a label c, where there is one. */
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
           symbol->value.kind == VALUE_POISON)
    b->failed = true; /* and reported */
  else if ((bound->kind->join || !bind_wants_position(b)) && !symbol) {
    report_unknown_name(e, name, arg->span,
                        bound->kind->join ? NAME_OF_TENSOR : NAME_OF_TAIL,
                        b->specs);
    b->failed = true;
  } else {
    bind_arg(e, b, arg);
  }
}

/* `leaky(0.1)`, where `min(a, b)` is a value. */
static bool is_tail_call(struct expander *e, const struct bound *bound,
                         const struct arg *arg) {
  if (arg->form != ARG_PLAIN || arg->value->kind != EXPR_CALL ||
      eval_is_function(arg->value->name))
    return false;
  return names_layer(e, arg->value->name) || bound->tail.words.count ||
         !bind_wants_position(&bound->binding);
}

static bool is_reference(const struct arg *arg) {
  return arg->form == ARG_PLAIN &&
         (arg->value->kind == EXPR_INDEX || arg->value->kind == EXPR_PATH);
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
    struct operand *operand = VEC_PUSH(e->arena, &bound->operands);
    *operand = (struct operand){arg->block, NO_NODE, arg->span};
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

static struct bound *bind_stmt(struct expander *e, const struct stmt *stmt,
                               const struct layer_kind *kind) {
  struct bound *bound = e->free_bound;
  if (bound) {
    e->free_bound = bound->next;
    bound->tail.words.count = bound->operands.count = 0;
    bound->ranged = false;
  } else {
    bound = ARENA_NEW(e->arena, struct bound);
  }
  bound->kind = kind;
  row_options_begin(e, &bound->options, kind->name);
  bind_begin(e, &bound->binding, kind->name, kind->specs, kind->args_size);
  bound->main_end = stmt->name_span.end;
  for (const struct arg *arg = stmt->args; arg; arg = arg->next) {
    read_arg(e, bound, arg);
    if (bound->tail.words.count == 0)
      bound->main_end = arg->span.end;
  }
  bind_end(e, &bound->binding, stmt->name_span);
  tail_drop_biases(&bound->tail, &bound->binding);
  bind_share(e, &bound->binding, kind);
  return bound;
}

/* Outside of loops and calls a statement is applied once. */
static bool is_applied_once(const struct expander *e) {
  return e->frame == NULL;
}

/* In a loop, a statement of literals only is bound once. */
static struct bound *bound_stmt(struct expander *e, const struct stmt *stmt,
                                const struct layer_kind *kind) {
  if (is_applied_once(e))
    return bind_stmt(e, stmt, kind);
  while (e->bound.count <= (size_t)stmt->index)
    VEC_PUSH(e->arena, &e->bound);
  struct bound **cached = &e->bound.at[stmt->index];
  if (*cached)
    return *cached;
  struct bound *bound = bind_stmt(e, stmt, kind);
  if (!e->depends && !bound->binding.failed)
    e->bound.at[stmt->index] = bound;
  return bound;
}

bool block_repeats(const struct expander *e, const struct block *block) {
  for (const struct stmt *stmt = block->first; stmt; stmt = stmt->next) {
    size_t index = (size_t)stmt->index;
    const struct bound *bound =
        stmt->kind == STMT_APPLY && !stmt->label.at && index < e->bound.count
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

/* Operands */

static void no_tensor(struct expander *e, const struct stmt *stmt) {
  if (e->lost)
    return;
  struct diagnostic *d =
      report(e, NO_TENSOR, stmt->span, "`%.*s` has no tensor to work on",
             SLICE_ARG(stmt->name));
  diag_help(d, "`input 224x224x3` comes first");
}

/* A single operand joins with the current tensor. */
static bool joins_current(const struct bound *bound) {
  return bound->operands.count == 1 && !bound->ranged;
}

/* Runs every operand on the current tensor; their tensors in `nodes`. */
static bool run_operands(struct expander *e, const struct stmt *stmt,
                         const struct bound *bound, int64_t *nodes,
                         int *count) {
  int64_t before = e->current;
  bool known = !e->lost;
  *count = 0;
  if (joins_current(bound))
    nodes[(*count)++] = before;
  for (size_t i = 0; i < bound->operands.count; i++) {
    const struct operand *operand = &bound->operands.at[i];
    e->current = before;
    if (operand->block) {
      e->lost = !known;
      expand_scoped(e, operand->block);
      nodes[(*count)++] = e->current;
      if (known && e->current == NO_NODE)
        no_tensor(e, stmt); /* `{}` before there is any */
      if (e->lost || e->current == NO_NODE)
        known = false;
    } else {
      nodes[(*count)++] = operand->node;
    }
  }
  e->current = before;
  e->lost = !known;
  return known;
}

/* `add`, and its block on the next line. */
static bool brace_follows(struct expander *e, const struct stmt *stmt) {
  struct span rest = {stmt->span.end, stmt->span.end};
  struct slice text = sources_rest(e->diags->sources, rest.begin);
  size_t i = 0;
  while (i < text.length && strchr(" \t\r\n", text.at[i]))
    i++;
  return i < text.length && text.at[i] == '{';
}

static bool gather_inputs(struct expander *e, const struct stmt *stmt,
                          const struct bound *bound, int64_t *nodes,
                          int *count) {
  const struct layer_kind *kind = bound->kind;
  *count = 0;
  if (kind->source)
    return !bound->binding.failed;
  bool alone = kind->alone && bound->binding.given && !bound->operands.count;
  bool needs_current = !kind->join || alone || joins_current(bound);
  if (needs_current && e->current == NO_NODE) {
    no_tensor(e, stmt);
    e->lost = true;
  }
  if (kind->join && !alone) {
    if (bound->operands.count == 0 && !bound->binding.failed) {
      struct diagnostic *d =
          report(e, WRONG_COUNT, stmt->span, "%s needs operands", kind->name);
      if (bound->ranged)
        diag_help(d, "the range is empty: it ends before it begins");
      else if (brace_follows(e, stmt))
        diag_help(d,
                  "the `{` of its first branch stands on the same line: "
                  "`%s {`",
                  kind->name);
      else
        diag_help(d,
                  "`%s { ... } {}` joins two branches, `%s LABEL` the "
                  "current tensor with another",
                  kind->name, kind->name);
      return false;
    }
    return run_operands(e, stmt, bound, nodes, count) && !bound->binding.failed;
  }
  nodes[(*count)++] = e->current;
  for (int i = 0; i < bound->binding.extra_count; i++)
    nodes[(*count)++] = bound->binding.extra_inputs[i];
  return !e->lost && !bound->binding.failed;
}

/* The sum of one tensor is that tensor: only the tail is left to apply. */
static void apply_alone(struct expander *e, const struct stmt *stmt,
                        const struct bound *bound, int64_t node,
                        struct slice label) {
  e->current = node;
  if (bound->tail.words.count == 0)
    return;
  struct slice word = slice_of(bound->tail.words.at[0].kind->name);
  struct node_name name = label.at ? name_label(e, label) : name_word(e, word);
  e->lost = !tail_apply(e, &bound->tail, stmt, NO_NODE, &name);
}

/* A layer that takes a block: block.c */
static void apply_block(struct expander *e, const struct stmt *stmt,
                        struct bound *bound, struct slice label) {
  struct block_making m = {.kind = bound->kind,
                           .binding = &bound->binding,
                           .stmt = stmt,
                           .span = {stmt->span.begin, bound->main_end}};
  if (bound->operands.count == 1)
    m.block = bound->operands.at[0].block;
  if (e->current == NO_NODE)
    no_tensor(e, stmt);
  if (e->current == NO_NODE || e->lost || bound->binding.failed) {
    e->lost = true;
    return;
  }
  int64_t outer = group_enter(e, label, slice_of(m.kind->name), stmt);
  e->lost = !block_expand(e, &m) ||
            !tail_apply(e, &bound->tail, stmt, e->current, NULL);
  group_leave(e, outer);
}

static void apply_bound(struct expander *e, const struct stmt *stmt,
                        struct bound *bound, struct slice label) {
  const struct layer_kind *kind = bound->kind;
  if (kind->front) {
    apply_block(e, stmt, bound, label);
    return;
  }
  size_t room = bound->operands.count + LIMIT_INPUTS + 1;
  int64_t few[LIMIT_INPUTS + 4];
  int64_t *nodes = room <= sizeof few / sizeof *few
                       ? few
                       : arena_alloc(e->arena, room, sizeof *nodes);
  int count;
  if (!gather_inputs(e, stmt, bound, nodes, &count)) {
    e->lost = true;
    return;
  }
  if (kind->join && bound->ranged && count == 1) {
    apply_alone(e, stmt, bound, *nodes, label);
    return;
  }
  node_resolve_refs(e, &bound->binding);
  struct node_name name =
      label.at ? name_label(e, label) : name_word(e, slice_of(kind->name));
  struct node_making making = {kind, &bound->binding,
                               stmt, {stmt->span.begin, bound->main_end},
                               name, NO_NODE};
  if (kind->parts && bound->tail.words.count) {
    struct diagnostic *d = report(e, TAIL_ARGUMENT, stmt->span,
                                  "the parts of %s have no tail", kind->name);
    diag_help(d, "write it as a separate statement, which goes on with the "
                 "first part");
    e->lost = true;
    return;
  }
  int64_t first = (int64_t)e->model->nodes.count;
  row_options_set(e, &bound->options);
  e->lost = !node_add(e, &making, nodes, count) ||
            (kind->parts && !part_add_all(e, &making)) ||
            !tail_apply(e, &bound->tail, stmt, e->current, NULL) ||
            !row_options_check(e, &bound->options, first);
  row_options_clear(e);
}

static void apply_layer(struct expander *e, const struct stmt *stmt,
                        const struct layer_kind *kind, struct slice label) {
  bool once = is_applied_once(e);
  struct bound *bound = bound_stmt(e, stmt, kind);
  apply_bound(e, stmt, bound, label);
  if (once) {
    bound->next = e->free_bound;
    e->free_bound = bound;
  }
}

void apply_stmt(struct expander *e, const struct stmt *stmt,
                struct slice label) {
  struct meaning meaning;
  e->depends = false;
  if (is_checkpoint(stmt))
    expand_checkpoint(e, stmt, label);
  else if (is_freeze(stmt))
    expand_freeze(e, stmt, label);
  else if (!resolve_word(e, stmt->name, stmt->name_span, &meaning))
    e->lost = true;
  else if (meaning.def)
    expand_call(e, meaning.def, stmt, label);
  else
    apply_layer(e, stmt, meaning.kind, label);
}
