/* Parses statements of Python. What is none is refused when it runs. */
#include "import/python/parse.h"

#include "base/limits.h"

static struct py_node *statement(struct py_parser *p);

static struct py_node *other(struct py_parser *p, int line, const char *why) {
  struct py_node *node = py_new(p, NODE_OTHER);
  node->line = line;
  node->text = slice_of(why);
  return node;
}

/* Goes behind a statement that is not understood, and behind its block. */
static void skip_statement(struct py_parser *p) {
  int depth = 0;
  while (py_token(p)->kind != TOKEN_LINE && py_token(p)->kind != TOKEN_END)
    p->at++;
  if (py_token(p)->kind == TOKEN_LINE)
    p->at++;
  if (py_token(p)->kind != TOKEN_INDENT)
    return;
  do {
    depth += py_token(p)->kind == TOKEN_INDENT;
    depth -= py_token(p)->kind == TOKEN_DEDENT;
    p->at++;
  } while (depth > 0 && py_token(p)->kind != TOKEN_END);
}

/* Statements of one line, with `;` between. */
static bool simple_line(struct py_parser *p, struct py_node *block) {
  do {
    if (py_token(p)->kind == TOKEN_LINE)
      break;
    if (!py_add(p, block, statement(p)))
      return false;
  } while (py_takes(p, ";"));
  if (py_token(p)->kind != TOKEN_LINE)
    return false;
  p->at++;
  return true;
}

static bool is_compound(const struct py_parser *p) {
  static const char words[] = "if for while def class with try @";
  const struct py_token *t = py_token(p);
  return (t->kind == TOKEN_NAME || t->kind == TOKEN_SIGN) &&
         word_index(words, t->text);
}

static void add_statement(struct py_parser *p, struct py_node *block) {
  size_t before = p->at, count = block->count;
  int line = py_token(p)->line, depth = p->depth;
  if (py_token(p)->kind == TOKEN_DEDENT || py_token(p)->kind == TOKEN_INDENT ||
      py_token(p)->kind == TOKEN_LINE) {
    p->at++;
    return;
  }
  bool compound = is_compound(p);
  struct py_node *node = compound ? statement(p) : NULL;
  if (node) {
    py_add(p, block, node);
  } else if (compound || !simple_line(p, block)) {
    block->count = count;
    p->at = before;
    p->depth = depth;
    skip_statement(p);
    py_add(p, block, other(p, line, "this statement of Python"));
  }
}

/* `:` and the statements in the same line, or indented below. */
static struct py_node *suite(struct py_parser *p) {
  struct py_node *block = py_new(p, NODE_BLOCK);
  if (!py_takes(p, ":"))
    return NULL;
  if (py_token(p)->kind != TOKEN_LINE)
    return simple_line(p, block) ? block : NULL;
  p->at++;
  if (py_token(p)->kind != TOKEN_INDENT || p->depth > LIMIT_DEPTH)
    return NULL;
  p->at++;
  p->depth++;
  while (py_token(p)->kind != TOKEN_DEDENT && py_token(p)->kind != TOKEN_END)
    add_statement(p, block);
  p->depth--;
  if (py_token(p)->kind == TOKEN_DEDENT)
    p->at++;
  return block;
}

static struct py_node *if_statement(struct py_parser *p) {
  struct py_node *node = py_new(p, NODE_IF), *below = NULL;
  p->at++;
  if (p->depth > LIMIT_DEPTH || !py_add(p, node, py_expression(p)) ||
      !py_add(p, node, suite(p)))
    return NULL;
  p->depth++;
  if (py_sees(p, "elif")) {
    below = py_new(p, NODE_BLOCK);
    if (!py_add(p, below, if_statement(p)))
      return NULL;
  } else if (py_takes(p, "else") && !(below = suite(p))) {
    return NULL;
  }
  p->depth--;
  py_add_any(p, node, below);
  return node;
}

static struct py_node *loop(struct py_parser *p, enum py_kind kind) {
  struct py_node *node = py_new(p, kind), *below = NULL;
  p->at++;
  if (kind == NODE_FOR &&
      (!py_add(p, node, py_targets(p)) || !py_takes(p, "in")))
    return NULL;
  if (!py_add(p, node, py_expressions(p)) || !py_add(p, node, suite(p)))
    return NULL;
  if (py_takes(p, "else") && !(below = suite(p)))
    return NULL;
  py_add_any(p, node, below);
  return node;
}

static struct py_node *definition(struct py_parser *p) {
  struct py_node *node = py_new(p, NODE_DEF);
  p->at++;
  if (!py_takes_name(p, &node->text) || !py_takes(p, "(") ||
      !py_add(p, node, py_parameters(p, ")")) || !py_takes(p, ")"))
    return NULL;
  if (py_takes(p, "->") && !py_expression(p))
    return NULL;
  return py_add(p, node, suite(p)) ? node : NULL;
}

static struct py_node *class_statement(struct py_parser *p) {
  struct py_node *node = py_new(p, NODE_CLASS), *bases = NULL;
  p->at++;
  if (!py_takes_name(p, &node->text))
    return NULL;
  if (py_takes(p, "(")) {
    bases = py_new(p, NODE_CALL);
    if (!py_arguments(p, bases))
      return NULL;
  }
  py_add_any(p, node, bases);
  return py_add(p, node, suite(p)) ? node : NULL;
}

static struct py_node *decorated(struct py_parser *p) {
  struct py_node *marks = py_new(p, NODE_LIST), *node;
  while (py_takes(p, "@"))
    if (!py_add(p, marks, py_expression(p)) ||
        py_token(p)->kind != TOKEN_LINE || !++p->at)
      return NULL;
  if (!py_sees(p, "def") && !py_sees(p, "class"))
    return NULL;
  node = statement(p);
  for (size_t i = 0; node && i < marks->count; i++)
    py_add(p, node, marks->kids[i]);
  return node;
}

static struct py_node *with_statement(struct py_parser *p) {
  struct py_node *node = py_new(p, NODE_WITH), *names = py_new(p, NODE_LIST);
  p->at++;
  do {
    if (!py_expression(p) ||
        (py_takes(p, "as") && !py_add(p, names, py_expression(p))))
      return NULL;
  } while (py_takes(p, ","));
  return py_add(p, node, suite(p)) && py_add(p, node, names) ? node : NULL;
}

static struct py_node *try_statement(struct py_parser *p) {
  struct py_node *node = py_new(p, NODE_TRY);
  p->at++;
  if (!py_add(p, node, suite(p)))
    return NULL;
  while (py_sees(p, "except") || py_sees(p, "else") || py_sees(p, "finally")) {
    bool handles = py_sees(p, "except");
    p->at++;
    while (!py_sees(p, ":") && py_token(p)->kind != TOKEN_LINE &&
           py_token(p)->kind != TOKEN_END)
      p->at++;
    if (!py_add(p, node, suite(p)))
      return NULL;
    node->kids[node->count - 1]->op = handles;
  }
  return node;
}

/* "torch.nn", with the dots of a relative import counted. */
static struct slice dotted(struct py_parser *p, int64_t *dots) {
  struct slice path = {NULL, 0}, name;
  while (py_sees(p, ".") || py_sees(p, "...")) {
    *dots += (int64_t)py_token(p)->text.length;
    p->at++;
  }
  while (py_takes_name(p, &name)) {
    path = path.at ? (struct slice){path.at,
                                    (size_t)(name.at + name.length - path.at)}
                   : name;
    if (!py_takes(p, "."))
      break;
  }
  return path;
}

static struct py_node *name_node(struct py_parser *p, struct slice name) {
  struct py_node *node = py_new(p, NODE_NAME);
  node->text = name;
  return node;
}

static struct py_node *import_statement(struct py_parser *p) {
  struct py_node *node = py_new(p, NODE_IMPORT);
  p->at++;
  do {
    struct slice path = dotted(p, &node->integer), alias = {NULL, 0};
    if (!path.at || (py_takes(p, "as") && !py_takes_name(p, &alias)))
      return NULL;
    py_add(p, node, name_node(p, path));
    py_add(p, node, name_node(p, alias));
  } while (py_takes(p, ","));
  return node;
}

static struct py_node *from_statement(struct py_parser *p) {
  struct py_node *node = py_new(p, NODE_FROM);
  p->at++;
  node->text = dotted(p, &node->integer);
  if (!py_takes(p, "import"))
    return NULL;
  if (py_takes(p, "*"))
    return node;
  bool inside = py_takes(p, "(");
  do {
    struct slice name, alias;
    if (inside && py_sees(p, ")"))
      break;
    if (!py_takes_name(p, &name))
      return NULL;
    alias = name;
    if (py_takes(p, "as") && !py_takes_name(p, &alias))
      return NULL;
    py_add(p, node, name_node(p, name));
    py_add(p, node, name_node(p, alias));
  } while (py_takes(p, ","));
  return !inside || py_takes(p, ")") ? node : NULL;
}

static int change_of(struct py_parser *p) {
  static const struct {
    const char *sign;
    int op;
  } signs[] = {{"+=", OP_ADD},    {"-=", OP_SUB},    {"*=", OP_MUL},
               {"/=", OP_DIV},    {"//=", OP_FLOOR}, {"%=", OP_MOD},
               {"**=", OP_POWER}, {"@=", OP_MATMUL}, {"|=", OP_OR},
               {"&=", OP_AND}};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (py_takes(p, signs[i].sign))
      return signs[i].op;
  return OP_NONE;
}

/* An expression, or an assignment to targets. */
static struct py_node *expression_statement(struct py_parser *p) {
  int line = py_token(p)->line;
  struct py_node *first = py_expressions(p), *node;
  if (!first)
    return NULL;
  int change = change_of(p);
  if (change) {
    node = py_new(p, NODE_CHANGE);
    node->op = change;
    py_add(p, node, first);
    return py_add(p, node, py_expressions(p)) ? node : NULL;
  }
  bool typed = py_takes(p, ":");
  if (typed && !py_expression(p))
    return NULL;
  if (!py_sees(p, "=")) {
    node = py_new(p, typed ? NODE_PASS : NODE_SAY);
    node->line = line;
    py_add(p, node, first);
    return node;
  }
  node = py_new(p, NODE_ASSIGN);
  node->line = line;
  node->op = typed;
  py_add(p, node, first);
  while (py_takes(p, "="))
    if (!py_add(p, node, py_expressions(p)))
      return NULL;
  return node;
}

/* `global`, `nonlocal`, `yield` and the like: known, and refused. */
static struct py_node *word_statement(struct py_parser *p) {
  int line = py_token(p)->line;
  while (py_token(p)->kind != TOKEN_LINE && py_token(p)->kind != TOKEN_END)
    p->at++;
  return other(p, line, "`global`, `nonlocal` or `yield`");
}

static struct py_node *with_value(struct py_parser *p, enum py_kind kind) {
  struct py_node *node = py_new(p, kind), *value = NULL;
  p->at++;
  if (py_token(p)->kind != TOKEN_LINE && !py_sees(p, ";") &&
      !(value = py_expressions(p)))
    return NULL;
  py_add_any(p, node, value);
  if (kind == NODE_RAISE && py_takes(p, "from") && !py_expression(p))
    return NULL;
  if (kind == NODE_ASSERT && py_takes(p, ",") && !py_expression(p))
    return NULL;
  return node;
}

static struct py_node *plain(struct py_parser *p, enum py_kind kind) {
  struct py_node *node = py_new(p, kind);
  p->at++;
  return node;
}

static struct py_node *assertion(struct py_parser *p) {
  struct py_node *node = py_new(p, NODE_ASSERT);
  p->at++;
  if (!py_add(p, node, py_expression(p)) ||
      (py_takes(p, ",") && !py_expression(p)))
    return NULL;
  return node;
}

static struct py_node *statement(struct py_parser *p) {
  static const char words[] =
      "if for while def class @ with try import from return raise assert "
      "break continue pass del global nonlocal yield";
  const struct py_token *t = py_token(p);
  int word = t->kind == TOKEN_NAME || t->kind == TOKEN_SIGN
                 ? word_index(words, t->text)
                 : 0;
  switch (word) {
  case 1: return if_statement(p);
  case 2: return loop(p, NODE_FOR);
  case 3: return loop(p, NODE_WHILE);
  case 4: return definition(p);
  case 5: return class_statement(p);
  case 6: return decorated(p);
  case 7: return with_statement(p);
  case 8: return try_statement(p);
  case 9: return import_statement(p);
  case 10: return from_statement(p);
  case 11: return with_value(p, NODE_RETURN);
  case 12: return with_value(p, NODE_RAISE);
  case 13: return assertion(p);
  case 14: return plain(p, NODE_BREAK);
  case 15: return plain(p, NODE_CONTINUE);
  case 16: return plain(p, NODE_PASS);
  case 17: return with_value(p, NODE_DEL);
  case 18:
  case 19:
  case 20: return word_statement(p);
  default: return expression_statement(p);
  }
}

struct py_node *py_parse(struct arena *arena, struct slice file, int line) {
  struct py_parser p = {.arena = arena,
                        .tokens = py_scan(arena, file, line, false)};
  struct py_node *block = py_new(&p, NODE_BLOCK);
  while (py_token(&p)->kind != TOKEN_END)
    add_statement(&p, block);
  return block;
}
