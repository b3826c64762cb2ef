/* Applies a statement's word: its arguments, operands and tail. */

#include "base/check.h"
#include "sema/binding/hint.h"
#include "sema/statements.h"

/* Meaning of a word */

/* Other words that begin a statement, for suggestions. */
static const char *const statements[] = {"freeze", CHECKPOINT_WORD, "repeat",
                                         "output", "again",         "input",
                                         "train",  "budget",        "frozen"};

/* Reports that the def comes after its call. */
static bool is_below(struct expander *e, struct diagnostic *d,
                     struct slice name, struct span span) {
  struct sources *sources = e->diags->sources;
  const struct stmt *def = e->program ? e->program->first : NULL;
  while (def && (def->kind != STMT_DEF || !slice_equal(def->name, name) ||
                 def->span.begin < span.begin))
    def = def->next;
  if (!def)
    return false;
  struct position at = sources_position(sources, span.begin);
  struct span lines = {span.begin - at.offset, def->more->block->span.end};
  struct span moved = {def->span.begin, lines.end};
  struct span rest = {lines.begin, def->span.begin};
  struct text text = text_new(e->arena);
  text_puts(&text, sources_slice(sources, moved));
  text_putc(&text, '\n');
  text_puts(&text, sources_slice(sources, rest));
  diag_label(d, def->name_span, "defined here");
  diag_help(d, "a def must be above its calls");
  diag_offer(d, lines, text_slice(&text), "move it up");
  return true;
}

/* Reports `allow huge-fc` without its quotes. */
static bool quote_names(struct expander *e, struct diagnostic *d,
                        struct span span) {
  struct slice rest = sources_rest(e->diags->sources, span.end);
  struct text text = text_new(e->arena);
  size_t begin = 0, end = 0;
  while (end < rest.length && !strchr("\r\n#;{}\"", rest.at[end]))
    end++;
  while (end > 0 && rest.at[end - 1] == ' ')
    end--;
  while (begin < end && rest.at[begin] == ' ')
    begin++;
  text_printf(&text, "allow \"%.*s\"", (int)(end - begin), rest.at + begin);
  struct slice quoted = text_slice(&text);
  if (end > begin)
    diag_offer(d, (struct span){span.begin, span.end + (uint32_t)end}, quoted,
               "the name of a warning needs quotes: `%.*s`", SLICE_ARG(quoted));
  diag_otherwise(d, "the name of a warning needs quotes: `allow \"huge-fc\"`");
  return false;
}

static bool unknown_word(struct expander *e, struct slice name,
                         struct span span) {
  if (scope_lost(e, name))
    return false;
  struct diagnostic *d = report(e, UNKNOWN_LAYER, span,
                                "unknown layer or def `%.*s`", SLICE_ARG(name));
  if (!diag_is_shown(d))
    return false;
  if (is_below(e, d, name, span))
    return false;
  if (slice_is(name, "allow"))
    return quote_names(e, d, span);
  struct suggestion s = suggest_begin(name);
  for (size_t i = 0; i < layer_kind_count(); i++)
    suggest_offer(&s, slice_of(layer_kind_at(i)->name));
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
    suggest_offer(&s, slice_of(statements[i]));
  for (struct scope *scope = e->scope; scope; scope = scope->parent)
    for (struct symbol *symbol = scope->first; symbol; symbol = symbol->next)
      if (symbol->kind == SYMBOL_DEF)
        suggest_offer(&s, symbol->name);
  if (slice_is(name, CHECKPOINT_WORD) || slice_is(name, "freeze")) {
    diag_help(d, "`%.*s { ... }` takes one block and nothing else",
              SLICE_ARG(name));
  } else if (!(s.best.at && s.distance == 0) &&
             hint_foreign_layer(d, name, span)) {
    return false;
  } else if (s.best.at && slice_is(s.best, "frozen")) {
    diag_help(d, "did you mean `freeze { ... }`, or `linear 8 frozen` after "
                 "the layer?");
  } else if (s.best.at) {
    diag_suggest(d, span, s.best);
  }
  diag_otherwise(d, "`netc layers` lists the layers; a def must be above its "
                    "call");
  return false;
}

static bool no_layer(struct expander *e, struct symbol *symbol,
                     struct span span) {
  const char *what = symbol->kind == SYMBOL_LABEL ? "a label" : "a constant";
  if (symbol->kind == SYMBOL_CONSTANT && symbol->value->kind == VALUE_POISON)
    return false;
  bool word =
      symbol->kind == SYMBOL_CONSTANT && symbol->value->kind == VALUE_NAME;
  struct diagnostic *d =
      word ? report(e, UNKNOWN_LAYER, span,
                    "`%.*s` is `%.*s` here, which is neither a layer nor a def",
                    SLICE_ARG(symbol->name), SLICE_ARG(symbol->value->name))
           : report(e, UNKNOWN_LAYER, span, "`%.*s` is %s, not a layer or def",
                    SLICE_ARG(symbol->name), what);
  diag_label(d, symbol->span, "defined here");
  if (word)
    diag_help(d, "its value is the word `%.*s`: `if %.*s == %.*s { ... }`",
              SLICE_ARG(symbol->value->name), SLICE_ARG(symbol->name),
              SLICE_ARG(symbol->value->name));
  if (symbol->kind == SYMBOL_LABEL)
    diag_help(d,
              "`from %.*s` makes its tensor current, `again %.*s` "
              "applies it again",
              SLICE_ARG(symbol->name), SLICE_ARG(symbol->name));
  return false;
}

/* A constant may hold a layer. */
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
  else if (symbol->kind == SYMBOL_CONSTANT &&
           symbol->value->kind == VALUE_NAME) {
    meaning->kind = layer_kind_find(symbol->value->name);
    meaning->given = symbol->value->layer;
  }
  return meaning->def || meaning->kind || no_layer(e, symbol, span);
}

/* Operands */

static void no_tensor(struct expander *e, const struct stmt *stmt) {
  if (e->lost)
    return;
  struct diagnostic *d =
      report(e, NO_TENSOR, stmt->span, "`%.*s` has no tensor to work on",
             SLICE_ARG(stmt->name));
  diag_help(d, "write `input 224x224x3` first");
}

/* True if the layer can be made. A partial model takes failed bindings too. */
static bool is_bound(const struct expander *e, const struct bound *bound) {
  return !bound->binding.failed || (e->in->partial && !bound->kind->parts);
}

/* A single operand joins with the current tensor. */
static bool joins_current(const struct bound *bound) {
  return bound->operands.count == 1 && !bound->ranged;
}

/* Runs every operand on the current tensor; stores their tensors in `nodes`. */
static bool run_operands(struct expander *e, const struct stmt *stmt,
                         const struct bound *bound, int64_t *nodes,
                         int *count) {
  int64_t before = e->current;
  bool known = !e->lost;
  *count = 0;
  if (joins_current(bound))
    nodes[(*count)++] = before;
  for (size_t i = 0; i < bound->operands.count; i++) {
    const struct join_operand *operand = &bound->operands.at[i];
    e->current = before;
    if (operand->block) {
      e->steps++;
      e->lost = !known;
      expand_scoped(e, operand->block);
      nodes[(*count)++] = e->current;
      if (known && e->current == NO_NODE)
        no_tensor(e, stmt); /* `{}` without a current tensor */
      if (e->lost || e->current == NO_NODE)
        known = false;
    } else if (operand->node == NO_NODE && e->in->partial) {
      nodes[(*count)++] = partial_operand(e, operand->span);
    } else {
      nodes[(*count)++] = operand->node;
    }
  }
  e->current = before;
  e->lost = !known;
  return known;
}

/* True for `add` whose block begins on the next line. */
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
    return is_bound(e, bound);
  bool alone = kind->alone && bound->binding.given && !bound->operands.count;
  bool needs_current = !kind->join || alone || joins_current(bound);
  if (needs_current && e->current == NO_NODE) {
    no_tensor(e, stmt);
    e->lost = true;
  }
  if (kind->join && !alone) {
    bool none = bound->operands.count == 0 && !bound->binding.failed;
    if (none && e->broken && brace_follows(e, stmt))
      return false; /* reported by the parser */
    if (none) {
      struct diagnostic *d =
          report(e, WRONG_COUNT, stmt->span, "%s needs operands", kind->name);
      if (bound->ranged)
        diag_help(d, "the range is empty: its end is before its start");
      else if (brace_follows(e, stmt))
        diag_help(
            d, "the `{` of its first branch must be on the same line: `%s {`",
            kind->name);
      else
        diag_help(d,
                  "`%s { ... } {}` joins two branches, `%s LABEL` the "
                  "current tensor with another",
                  kind->name, kind->name);
      return false;
    }
    return run_operands(e, stmt, bound, nodes, count) && is_bound(e, bound);
  }
  nodes[(*count)++] = e->current;
  for (int i = 0; i < bound->binding.extra_count; i++)
    nodes[(*count)++] = bound->binding.extra_inputs[i];
  return !e->lost && is_bound(e, bound);
}

/* The sum of one tensor is that tensor, so only the tail is applied. */
static void apply_alone(struct expander *e, const struct bound *bound,
                        int64_t node, struct slice label) {
  e->current = node;
  if (bound->tail.words.count == 0)
    return;
  struct slice word = slice_of(bound->tail.words.at[0].kind->name);
  struct node_name name = label.at ? name_label(e, label) : name_word(e, word);
  e->lost = !tail_apply(e, &bound->tail, NO_NODE, &name);
}

/* A layer that takes a block: block.c */
static void apply_block(struct expander *e, const struct stmt *stmt,
                        struct bound *bound, struct slice label) {
  struct block_making m = {.kind = bound->kind,
                           .binding = &bound->binding,
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
  e->lost =
      !block_expand(e, &m) || !tail_apply(e, &bound->tail, e->current, NULL);
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
    apply_alone(e, bound, *nodes, label);
    return;
  }
  node_resolve_refs(e, &bound->binding);
  struct node_name name =
      label.at ? name_label(e, label) : name_word(e, slice_of(kind->name));
  struct node_making making = {kind,
                               &bound->binding,
                               {stmt->span.begin, bound->main_end},
                               name,
                               NO_NODE};
  if (kind->parts && bound->tail.words.count) {
    struct diagnostic *d = report(e, TAIL_ARGUMENT, stmt->span,
                                  "the parts of %s have no tail", kind->name);
    diag_help(d, "write it as a separate statement, which continues with the "
                 "first part");
    e->lost = true;
    return;
  }
  int64_t first = (int64_t)e->model->nodes.count;
  row_options_set(e, &bound->options);
  e->lost = !node_add(e, &making, nodes, count) ||
            (kind->parts && !part_add_all(e, &making)) ||
            !tail_apply(e, &bound->tail, e->current, NULL) ||
            !row_options_check(e, &bound->options, first);
  row_options_clear(e);
}

static void apply_layer(struct expander *e, const struct stmt *stmt,
                        const struct meaning *meaning, struct slice label) {
  struct bound *bound = bound_stmt(e, stmt, meaning);
  apply_bound(e, stmt, bound, label);
  bound_let_go(e, stmt, bound);
}

/* After `network LeNet { ... }`, checks the block for further mistakes. */
static void look_inside(struct expander *e, const struct stmt *stmt) {
  int64_t before = e->current, found = NO_NODE;
  for (const struct arg *arg = args_of(e, stmt); arg; arg = arg->next) {
    if (arg->form != ARG_BLOCK)
      continue;
    if (e->in->partial) /* the word may be a join, and the block its operand */
      e->current = before;
    expand_scoped(e, arg->block);
    found = e->current;
  }
  e->lost = true;
  if (found != NO_NODE)
    partial_join(e, stmt, found);
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
    look_inside(e, stmt);
  else if (meaning.def)
    expand_call(e, meaning.def, stmt, label);
  else
    apply_layer(e, stmt, &meaning, label);
}
