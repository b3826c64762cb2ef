/* --dump: the result of each pass, for tests and debugging. */
#include "codegen/rows.h"
#include "lexer/scan.h"

void dump_tokens(const struct compiled *c, struct text *out) {
  struct scan scan;
  struct span span;
  union scan_value value;
  struct diags quiet;
  diags_open(&quiet, c->arena, c->sources);
  quiet.quiet = true; /* already reported by the parser */
  scan_begin(&scan, c->arena, &quiet, c->source);
  for (;;) {
    enum token token = scan_next(&scan, &value, &span);
    struct position p = sources_position(c->sources, span.begin);
    text_printf(out, "%u:%u %s", p.line, p.column, token_words(token));
    if (token == TOKEN_INT)
      text_printf(out, " %lld", (long long)value.integer);
    else if (token == TOKEN_NAME || token == TOKEN_FUNC ||
             token == TOKEN_STRING)
      text_printf(out, " %.*s", SLICE_ARG(value.text));
    if (token == TOKEN_REAL) {
      text_putc(out, ' ');
      text_real(out, value.real);
    }
    text_putc(out, '\n');
    if (token == TOKEN_END)
      break;
  }
}

/* The tree as nested lists, one statement per line. */

static void put_expr(struct text *out, const struct expr *expr);

static void put_step(struct text *out, const struct expr *step) {
  if (!step)
    return;
  text_put(out, " step ");
  put_expr(out, step);
}

static void put_expr(struct text *out, const struct expr *expr) {
  static const char *const ops[] = {"-",  "not", "+",  "-",   "*",  "/",
                                    "//", "%",   "**", "==",  "!=", "<",
                                    "<=", ">",   ">=", "and", "or"};
  switch (expr->kind) {
  case EXPR_INT: text_int(out, expr->integer); break;
  case EXPR_REAL: text_real(out, expr->real); break;
  case EXPR_BOOL: text_put(out, expr->integer ? "true" : "false"); break;
  case EXPR_NAME: text_puts(out, expr->name); break;
  case EXPR_ANY: text_putc(out, '_'); break;
  case EXPR_FIELD: text_printf(out, "in.%.*s", SLICE_ARG(expr->name)); break;
  case EXPR_UNARY:
    text_printf(out, "(%s ", ops[expr->op]);
    put_expr(out, expr->left);
    text_putc(out, ')');
    break;
  case EXPR_BINARY:
  case EXPR_PAIR:
    text_printf(out, "(%s ", expr->kind == EXPR_PAIR ? ":" : ops[expr->op]);
    put_expr(out, expr->left);
    text_putc(out, ' ');
    put_expr(out, expr->right);
    text_putc(out, ')');
    break;
  case EXPR_TEXT: text_printf(out, "\"%.*s\"", SLICE_ARG(expr->name)); break;
  case EXPR_INDEX:
    put_expr(out, expr->left);
    text_putc(out, '[');
    put_expr(out, expr->right);
    text_putc(out, ']');
    break;
  case EXPR_PATH:
    put_expr(out, expr->left);
    text_printf(out, ".%.*s", SLICE_ARG(expr->name));
    break;
  case EXPR_RANGE:
    put_expr(out, expr->left);
    text_put(out, " .. ");
    put_expr(out, expr->right);
    put_step(out, expr->step);
    break;
  case EXPR_KEYED:
    text_printf(out, "%.*s=", SLICE_ARG(expr->name));
    put_expr(out, expr->left);
    break;
  case EXPR_CALL:
  case EXPR_DIMS:
  case EXPR_LIST:
    text_putc(out, '(');
    text_puts(out, expr->kind == EXPR_DIMS   ? slice_of("x")
                   : expr->kind == EXPR_LIST ? slice_of("list")
                                             : expr->name);
    for (const struct expr *x = expr->items; x; x = x->next) {
      text_putc(out, ' ');
      put_expr(out, x);
    }
    text_putc(out, ')');
    break;
  }
}

static void put_block(struct text *out, const struct block *block,
                      size_t indent);

static void put_arg(struct text *out, const struct arg *arg, size_t indent) {
  text_putc(out, ' ');
  if (arg->form == ARG_KEYED)
    text_printf(out, "%.*s=", SLICE_ARG(arg->key));
  if (arg->form == ARG_STRIDE)
    text_putc(out, '/');
  if (arg->form == ARG_BLOCK)
    put_block(out, arg->block, indent);
  else
    put_expr(out, arg->value);
}

static const char *stmt_words(enum stmt_kind kind) {
  static const char *const words[] = {
      "apply", "group", "fork", "from",     "again",   "output",
      "net",   "input", "def",  "let",      "param",   "repeat",
      "for",   "if",    "use",  "settings", "message", "hole"};
  return words[kind];
}

static void put_rows(struct text *out, const struct table_row *row) {
  text_put(out, " [");
  for (; row; row = row->next) {
    for (const struct expr *x = row->values; x; x = x->next) {
      put_expr(out, x);
      if (x->next)
        text_putc(out, ' ');
    }
    if (row->next)
      text_put(out, "; ");
  }
  text_putc(out, ']');
}

static void put_allowed(struct text *out, const struct stmt *stmt) {
  if (stmt->kind != STMT_PARAM || (!stmt->more->range && !stmt->more->rows))
    return;
  text_put(out, " in");
  if (stmt->more->rows) {
    put_rows(out, stmt->more->rows);
  } else {
    text_putc(out, ' ');
    put_expr(out, stmt->more->range);
  }
}

static void put_params(struct text *out, const struct def_param *param) {
  text_put(out, " (");
  for (; param; param = param->next) {
    text_puts(out, param->name);
    if (param->value) {
      text_putc(out, '=');
      put_expr(out, param->value);
    }
    if (param->next)
      text_putc(out, ' ');
  }
  text_putc(out, ')');
}

static void put_label(struct text *out, const struct stmt *stmt) {
  if (!stmt->ends->label.at)
    return;
  text_puts(out, stmt->ends->label);
  for (const struct expr *x = stmt->ends->label_indices; x; x = x->next) {
    text_putc(out, '[');
    put_expr(out, x);
    text_putc(out, ']');
  }
  text_put(out, ": ");
}

static void put_stmt(struct text *out, const struct stmt *stmt, size_t indent) {
  text_fill(out, ' ', indent);
  put_label(out, stmt);
  text_put(out, stmt_words(stmt->kind));
  bool refers = stmt->kind == STMT_FROM || stmt->kind == STMT_AGAIN;
  if (stmt->name.at && !refers)
    text_printf(out, " %.*s", SLICE_ARG(stmt->name));
  for (const struct name_list *n = stmt->more->names; n; n = n->next)
    text_printf(out, " %.*s", SLICE_ARG(n->name));
  if (stmt->kind == STMT_DEF)
    put_params(out, stmt->more->params);
  for (const struct expr *x = stmt->more->value; x; x = x->next) {
    text_putc(out, ' ');
    put_expr(out, x);
    if (stmt->kind != STMT_MESSAGE)
      break;
  }
  put_allowed(out, stmt);
  if (stmt->more->high) {
    text_put(out, " .. ");
    put_expr(out, stmt->more->high);
    put_step(out, stmt->more->step);
  }
  if (stmt->more->dtype.at)
    text_printf(out, " : %.*s", SLICE_ARG(stmt->more->dtype));
  if (stmt->kind == STMT_FOR && !stmt->more->value)
    put_rows(out, stmt->more->rows);
  for (const struct arg *arg = stmt->args; arg; arg = arg->next)
    put_arg(out, arg, indent);
  if (stmt->more->block) {
    text_putc(out, ' ');
    put_block(out, stmt->more->block, indent);
  }
  if (stmt->more->otherwise) {
    text_put(out, " else ");
    put_block(out, stmt->more->otherwise, indent);
  }
  if (stmt->ends->mark) {
    text_put(out, " -> ");
    put_expr(out, stmt->ends->mark);
  }
  text_putc(out, '\n');
}

static void put_block(struct text *out, const struct block *block,
                      size_t indent) {
  text_put(out, "{\n");
  for (const struct stmt *s = block->first; s; s = s->next)
    put_stmt(out, s, indent + 2);
  text_fill(out, ' ', indent);
  text_putc(out, '}');
}

void dump_ast(const struct compiled *c, struct text *out) {
  for (const struct stmt *s = c->program->first; s; s = s->next)
    put_stmt(out, s, 0);
}

void dump_graph(const struct compiled *c, struct text *out) {
  const struct model *model = c->model;
  for (size_t i = 0; i < model->nodes.count; i++) {
    const struct node *node = &model->nodes.at[i];
    text_printf(out, "%zu ", i);
    model_put_name(out, model, (int64_t)i);
    text_put(out, ": ");
    model_put_layer(out, model, (int64_t)i, NULL);
    for (int k = 0; k < node->input_count; k++)
      text_printf(out, "%s%lld", k ? " " : " <- ",
                  (long long)node_input(model, node, k));
    if (node->shares != NO_NODE)
      text_printf(out, " shares %lld", (long long)node->shares);
    text_putc(out, '\n');
  }
}

void dump_shapes(const struct compiled *c, struct text *out) {
  for (size_t i = 0; i < c->model->nodes.count; i++) {
    model_put_name(out, c->model, (int64_t)i);
    text_putc(out, ' ');
    shape_put(out, c->model->nodes.at[i].out, output_layout(c));
    text_putc(out, '\n');
  }
}

/* The arena as a table for `netc plan`; lifetimes are [lower, upper). */
void dump_plan(const struct compiled *c, struct text *out) {
  const struct inference *f = &c->memory.inference;
  text_put(out, "id,lower,upper,size,offset\n");
  for (size_t i = 0; i < f->arena.count; i++) {
    const struct arena_buffer *buffer = &f->arena.at[i];
    model_put_name(out, c->model, buffer->node);
    if (buffer->part)
      text_printf(out, ".%s", buffer->part);
    const int64_t values[] = {buffer->first, buffer->last + 1, buffer->bytes,
                              buffer->offset};
    for (int k = 0; k < 4; k++) {
      text_putc(out, ',');
      text_int(out, values[k]);
    }
    text_putc(out, '\n');
  }
}
