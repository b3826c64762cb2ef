/* Layers with arguments as values: `let act = leaky(0.1)`, `block 64 act`. */
#include "sema/statements.h"

void layer_bind_begin(struct expander *e, struct binding *b,
                      const struct meaning *meaning) {
  const struct layer_kind *kind = meaning->kind;
  bind_begin(e, b, kind->name, kind->specs, kind->args_size);
  if (!meaning->given)
    return;
  const struct binding *given = meaning->given->binding;
  memcpy(b->args, given->args, kind->args_size);
  for (int i = 0; b->specs[i].name; i++)
    b->spans[i] = given->spans[i];
  b->given = given->given;
  b->extra_count = given->extra_count;
  memcpy(b->extra_inputs, given->extra_inputs, sizeof b->extra_inputs);
}

/* Binds an item of `bn(eps=1e-3)` as an argument of a statement. */
static void bind_item(struct expander *e, struct binding *b,
                      const struct expr *item) {
  struct arg arg = {.form = ARG_PLAIN, .span = item->span};
  arg.value = (struct expr *)item;
  if (item->kind == EXPR_KEYED) {
    arg.form = ARG_KEYED;
    arg.key = item->name;
    arg.value = item->left;
  }
  if (item->kind != EXPR_NAME || !bind_word(e, b, item->name, item->span))
    bind_arg(e, b, &arg);
}

struct binding *layer_bind(struct expander *e, const struct meaning *meaning,
                           const struct expr *expr) {
  struct binding *b = e->free_bindings;
  if (b)
    e->free_bindings = b->next;
  else
    b = ARENA_NEW(e->arena, struct binding);
  layer_bind_begin(e, b, meaning);
  if (expr->kind == EXPR_CALL)
    for (const struct expr *item = expr->items; item; item = item->next)
      bind_item(e, b, item);
  bind_end(e, b, expr->span);
  return b;
}

/* Writes the argument's value in place of its expression. */
static void put_value(struct expander *e, struct text *out,
                      const struct expr *expr) {
  bool word = expr->kind == EXPR_NAME && !scope_find(e->scope, expr->name);
  struct value value = word ? value_poison : eval(e, expr);
  if (value.kind == VALUE_POISON)
    text_puts(out, sources_slice(e->diags->sources, expr->span));
  else
    value_put(out, &value);
}

static struct slice text_of(struct expander *e, const struct meaning *meaning,
                            const struct expr *call) {
  struct text text = text_new(e->arena);
  if (meaning->given) { /* without the closing parenthesis */
    text_puts(&text, meaning->given->text);
    text.length--;
  } else {
    text_printf(&text, "%s(", meaning->kind->name);
  }
  bool first = text.at[text.length - 1] == '(';
  for (const struct expr *x = call->items; x; x = x->next, first = false) {
    text_put(&text, first ? "" : ", ");
    if (x->kind == EXPR_KEYED)
      text_printf(&text, "%.*s=", SLICE_ARG(x->name));
    put_value(e, &text, x->kind == EXPR_KEYED ? x->left : x);
  }
  text_putc(&text, ')');
  return text_slice(&text);
}

static bool may_be_value(struct expander *e, const struct meaning *meaning,
                         const struct expr *call, struct span word) {
  struct slice name = call->name;
  if (!meaning->def && !meaning->kind->join && !meaning->kind->front)
    return true;
  struct diagnostic *d =
      report(e, WRONG_TYPE, word, "as a value `%.*s` takes no arguments",
             SLICE_ARG(name));
  return diag_help(d,
                   "write a def with the arguments, and pass its name: `def "
                   "mine() { %.*s ... }`",
                   SLICE_ARG(name)) &&
         false;
}

struct value eval_layer(struct expander *e, const struct expr *call) {
  struct span word = {call->span.begin,
                      call->span.begin + (uint32_t)call->name.length};
  struct meaning meaning;
  if (!resolve_word(e, call->name, word, &meaning) ||
      !may_be_value(e, &meaning, call, word))
    return value_poison;
  struct binding *binding = layer_bind(e, &meaning, call);
  if (binding->failed)
    return value_poison;
  struct layer_value *layer = ARENA_NEW(e->arena, struct layer_value);
  *layer = (struct layer_value){binding, text_of(e, &meaning, call)};
  return (struct value){.kind = VALUE_NAME,
                        .name = slice_of(meaning.kind->name),
                        .layer = layer,
                        .span = call->span};
}
