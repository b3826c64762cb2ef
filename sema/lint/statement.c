/* Statements that compile but look like others, found in the text. */
#include "base/check.h"
#include "sema/lint/lint.h"

struct statement_walk {
  struct diags *diags;
  const struct block *program;
};

static void walk_block(struct statement_walk *w, const struct block *block);

static bool is_def(const struct statement_walk *w, struct slice name) {
  for (const struct stmt *s = w->program->first; s; s = s->next)
    if (s->kind == STMT_DEF && slice_equal(s->name, name))
      return true;
  return false;
}

/* `output softmax` */
static void check_output(struct statement_walk *w, const struct stmt *stmt) {
  if (!layer_kind_find(stmt->name))
    return;
  struct diagnostic *d =
      diag(w->diags, MEANT_OTHERWISE, stmt->span,
           "this names the output `%.*s`, and applies no layer",
           SLICE_ARG(stmt->name));
  diag_offer(d, stmt->span, stmt->name,
             "write the layer as `%.*s`, without `output`",
             SLICE_ARG(stmt->name));
}

/* `block 64 * 3`: the blanks distinguish it from a width. */
static void check_product(struct statement_walk *w, const struct stmt *stmt) {
  const struct arg *last = stmt->args;
  while (last && last->next)
    last = last->next;
  const struct expr *expr =
      last && last->form == ARG_PLAIN ? last->value : NULL;
  if (!expr || expr->kind != EXPR_BINARY || expr->op != OP_MUL ||
      expr->left->kind != EXPR_INT || expr->right->kind != EXPR_INT ||
      stmt->moved || !is_def(w, stmt->name))
    return;
  struct slice left = sources_slice(w->diags->sources, expr->left->span);
  struct slice right = sources_slice(w->diags->sources, expr->right->span);
  uint32_t before = expr->span.begin;
  int64_t product;
  struct slice opens =
      sources_slice(w->diags->sources, (struct span){before - 1, before});
  if (!mul_i64(expr->left->integer, expr->right->integer, &product) ||
      expr->span.end - before != left.length + right.length + 3 ||
      slice_is(opens, "("))
    return;
  struct diagnostic *d =
      diag(w->diags, MEANT_OTHERWISE, expr->span,
           "this is one value: `%.*s` is called once with %lld",
           SLICE_ARG(stmt->name), (long long)product);
  struct text text = text_new(w->diags->arena);
  struct span call = {stmt->name_span.begin, expr->left->span.end};
  text_printf(&text, "repeat %.*s { ", SLICE_ARG(right));
  text_puts(&text, sources_slice(w->diags->sources, call));
  text_put(&text, " }");
  diag_offer(d, stmt->span, text_slice(&text),
             "to repeat it, write `%.*s`; write a product in parentheses: "
             "`(%.*s * %.*s)`",
             SLICE_ARG(text), SLICE_ARG(left), SLICE_ARG(right));
}

/* `return conv 8 3x3` in a def that is never called */
static void check_return(struct statement_walk *w, const struct stmt *stmt) {
  if (!slice_is(stmt->name, "return") || is_def(w, stmt->name) || !stmt->args)
    return;
  struct diagnostic *d =
      diag(w->diags, MEANT_OTHERWISE, stmt->name_span, "a net has no `return`");
  struct span word = {stmt->name_span.begin, stmt->args->span.begin};
  diag_offer(d, word, slice_of(""),
             "leave out `return`: a def returns its last tensor");
}

static void walk_stmt(struct statement_walk *w, const struct stmt *stmt) {
  if (stmt->kind == STMT_OUTPUT && stmt->name.at)
    check_output(w, stmt);
  if (stmt->kind == STMT_APPLY) {
    check_product(w, stmt);
    check_return(w, stmt);
  }
  for (const struct arg *arg = stmt->args; arg; arg = arg->next)
    if (arg->form == ARG_BLOCK)
      walk_block(w, arg->block);
  if (stmt->more->block)
    walk_block(w, stmt->more->block);
  if (stmt->more->otherwise)
    walk_block(w, stmt->more->otherwise);
}

static void walk_block(struct statement_walk *w, const struct block *block) {
  for (const struct stmt *stmt = block->first; stmt; stmt = stmt->next)
    walk_stmt(w, stmt);
}

/* `#include "a.net"` at the start of a line. */
static void check_includes(struct diags *diags, const struct source *source) {
  static const char word[] = "#include \"";
  struct slice text = source->text;
  for (size_t at = 0; at + sizeof word < text.length; at++) {
    const char *end = memchr(text.at + at, '\n', text.length - at);
    size_t length = end ? (size_t)(end - text.at) - at : text.length - at;
    if (length > sizeof word && memcmp(text.at + at, word, strlen(word)) == 0) {
      struct span span = {source->base + (uint32_t)at,
                          source->base + (uint32_t)(at + length)};
      struct diagnostic *d =
          diag(diags, MEANT_OTHERWISE, span, "this is a comment");
      struct text use = text_new(diags->arena);
      text_put(&use, "use ");
      text_bytes(&use, text.at + at + strlen("#include "),
                 length - strlen("#include "));
      diag_offer(d, span, text_slice(&use), "`%.*s` includes another file",
                 SLICE_ARG(use));
    }
    at += length;
  }
}

void lint_statements(const struct expansion *expansion,
                     const struct block *program) {
  struct statement_walk w = {expansion->diags, program};
  walk_block(&w, program);
  check_includes(expansion->diags,
                 &expansion->diags->sources->all.at[expansion->source]);
}
