/* Tails: the layers after the first one of a statement, applied in order. */
#include "sema/statements.h"

void tail_refuse_value(struct expander *e, const struct tail *tail,
                       const struct arg *arg) {
  struct slice said = sources_slice(e->diags->sources, arg->span);
  const char *last = tail->words.at[tail->words.count - 1].kind->name;
  struct diagnostic *d =
      report(e, TAIL_ARGUMENT, arg->span,
             "`%s` in a tail takes its arguments in parentheses", last);
  if (arg->form == ARG_PLAIN || arg->form == ARG_KEYED)
    diag_otherwise(d, "write `%s(%.*s)`, or move this in front of the tail",
                   last, SLICE_ARG(said));
  else
    diag_otherwise(d,
                   "write it as a separate statement, with its arguments, or "
                   "move this in front of the tail");
}

/* There are few kinds, so the search is short. */
static int64_t next_ordinal(const struct tail *tail,
                            const struct layer_kind *kind) {
  for (size_t i = tail->words.count; i-- > 0;)
    if (tail->words.at[i].kind == kind)
      return tail->words.at[i].ordinal + 1;
  return 1;
}

bool tail_read(struct expander *e, struct tail *tail, const struct expr *expr) {
  struct slice name = expr->name;
  struct span word = {expr->span.begin,
                      expr->span.begin + (uint32_t)name.length};
  struct meaning meaning;
  if (!resolve_word(e, name, word, &meaning))
    return false;
  if (meaning.def || meaning.kind->join || meaning.kind->source ||
      meaning.kind->front) {
    struct diagnostic *d =
        report(e, TAIL_ARGUMENT, word,
               "`%.*s` is not allowed in the tail of a layer", SLICE_ARG(name));
    struct span before = {word.begin - 1, word.begin};
    struct slice blank = sources_slice(e->diags->sources, before);
    if (slice_is(blank, " ") || slice_is(blank, "\t"))
      diag_offer(d, before, slice_of("; "),
                 "write it as a separate statement: `; %.*s`", SLICE_ARG(name));
    diag_otherwise(d, "write it as a separate statement");
    return false;
  }
  struct tail_word read = {meaning.kind, expr->span,
                           next_ordinal(tail, meaning.kind), NULL};
  if (expr->kind == EXPR_CALL || meaning.given)
    read.binding = layer_bind(e, &meaning, expr);
  *VEC_PUSH(e->arena, &tail->words) = read;
  return !read.binding || !read.binding->failed;
}

void tail_let_go(struct expander *e, const struct tail *tail) {
  for (size_t i = 0; i < tail->words.count; i++) {
    struct binding *b = tail->words.at[i].binding;
    if (!b)
      continue;
    b->next = e->free_bindings;
    e->free_bindings = b;
  }
}

static bool has_bias(const struct binding *b) {
  for (int i = 0; b->specs[i].name; i++)
    if (b->specs[i].type == TYPE_BIAS)
      return true;
  return false;
}

static void drop_bias(const struct binding *b) {
  for (int i = 0; b->specs[i].name; i++) {
    const struct arg_spec *spec = &b->specs[i];
    if (spec->type != TYPE_BIAS)
      continue;
    enum bias *bias = (void *)((char *)b->args + spec->offset);
    if (*bias == BIAS_AUTO)
      *bias = BIAS_NO;
  }
}

void tail_drop_biases(struct tail *tail, struct binding *head) {
  struct binding *last = head;
  for (size_t i = 0; i < tail->words.count; i++) {
    struct tail_word *word = &tail->words.at[i];
    if (word->binding && has_bias(word->binding))
      last = word->binding;
    else if (word->kind->drops_bias)
      drop_bias(last);
  }
}

/* Names the tail's layers after the head: conv1.relu, then conv1.relu2. */
static struct node_name tail_name(const struct tail_word *word) {
  return name_with(slice_of(word->kind->name),
                   word->ordinal > 1 ? (int32_t)word->ordinal : 0);
}

static bool apply_word(struct expander *e, const struct tail_word *word,
                       int64_t head, struct node_name name) {
  struct span spans[LIMIT_SPECS];
  struct binding none = {.spans = spans, .span_room = LIMIT_SPECS};
  struct binding *b = word->binding ? word->binding : &none;
  int64_t inputs[LIMIT_INPUTS + 1] = {e->current};
  if (word->binding) {
    node_resolve_refs(e, b);
  } else {
    bind_begin(e, b, word->kind->name, word->kind->specs,
               word->kind->args_size);
    bind_end(e, b, word->span);
    bind_share(e, b, word->kind);
  }
  for (int i = 0; i < b->extra_count; i++)
    inputs[i + 1] = b->extra_inputs[i];
  struct node_making making = {word->kind, b, word->span, name, head};
  return (!b->failed || e->in->partial) &&
         node_add(e, &making, inputs, b->extra_count + 1);
}

bool tail_apply(struct expander *e, const struct tail *tail, int64_t head,
                const struct node_name *alone) {
  for (size_t i = 0; i < tail->words.count; i++) {
    const struct tail_word *word = &tail->words.at[i];
    struct node_name name = head == NO_NODE ? *alone : tail_name(word);
    if (!apply_word(e, word, head, name))
      return false;
    if (head == NO_NODE)
      head = e->current;
  }
  return true;
}
