/* Parses expressions of Python. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "import/python/parse.h"

static const char keywords[] =
    "False None True and as assert async await break class continue def del "
    "elif else except finally for from global if import in is lambda nonlocal "
    "not or pass raise return try while with yield";

struct py_node *py_new(struct py_parser *p, enum py_kind kind) {
  struct py_node *node = ARENA_NEW(p->arena, struct py_node);
  node->kind = kind;
  node->line = py_token(p)->line;
  return node;
}

void py_add_any(struct py_parser *p, struct py_node *node,
                struct py_node *kid) {
  if (node->count == node->room)
    node->kids = arena_grow(p->arena, node->kids, &node->room, node->count,
                            sizeof(struct py_node *));
  node->kids[node->count++] = kid;
}

bool py_add(struct py_parser *p, struct py_node *node, struct py_node *kid) {
  py_add_any(p, node, kid);
  return kid != NULL;
}

const struct py_token *py_token(const struct py_parser *p) {
  return &p->tokens.at[p->at];
}

bool py_sees(const struct py_parser *p, const char *text) {
  const struct py_token *t = py_token(p);
  return (t->kind == TOKEN_SIGN || t->kind == TOKEN_NAME) &&
         slice_is(t->text, text);
}

bool py_takes(struct py_parser *p, const char *text) {
  if (!py_sees(p, text))
    return false;
  p->at++;
  return true;
}

bool py_takes_name(struct py_parser *p, struct slice *name) {
  const struct py_token *t = py_token(p);
  if (t->kind != TOKEN_NAME || word_index(keywords, t->text))
    return false;
  *name = t->text;
  p->at++;
  return true;
}

/* Texts */

/* Escapes; those that are rare stay as they are. */
static struct slice unescaped(struct py_parser *p, const struct py_token *t) {
  static const char from[] = "ntr\\'\"0", to[] = "\n\t\r\\'\"";
  if (t->raw || !memchr(t->text.at, '\\', t->text.length))
    return t->text;
  char *text = arena_alloc(p->arena, t->text.length + 1, 1);
  size_t length = 0;
  for (size_t i = 0; i < t->text.length; i++) {
    const char *found = NULL;
    char c = t->text.at[i];
    if (c == '\\' && i + 1 < t->text.length) {
      char next = t->text.at[++i];
      if (next == '\n')
        continue;
      found = strchr(from, next);
      c = found && next ? to[found - from] : next;
    }
    text[length++] = c;
  }
  return (struct slice){text, length};
}

static struct py_node *text_node(struct py_parser *p, struct slice text) {
  struct py_node *node = py_new(p, NODE_TEXT);
  node->text = text;
  return node;
}

/* The end of the expression in `{..}`: at its `}`, or at `:` or `!`. */
static size_t part_end(struct slice text) {
  int depth = 0;
  for (size_t i = 0; i < text.length; i++) {
    char c = text.at[i];
    if (strchr("([{", c))
      depth++;
    else if (depth && strchr(")]}", c))
      depth--;
    else if (!depth && (c == '}' || c == ':' || c == '!'))
      return i;
  }
  return text.length;
}

/* The parts of f"layer{i}". */
static void add_parts(struct py_parser *p, struct py_node *node,
                      struct slice text) {
  while (text.length) {
    size_t plain = 0;
    while (plain < text.length && text.at[plain] != '{' &&
           text.at[plain] != '}')
      plain++;
    if (plain)
      py_add(p, node, text_node(p, slice_to(text, plain)));
    text = slice_from(text, plain);
    if (text.length > 1 && text.at[0] == text.at[1]) { /* {{ or }} */
      py_add(p, node, text_node(p, slice_to(text, 1)));
      text = slice_from(text, 2);
    } else if (text.length) {
      text = slice_from(text, 1);
      size_t end = part_end(text);
      py_add(p, node,
             py_parse_expression(p->arena, slice_to(text, end), node->line));
      bool plain_end = end < text.length && text.at[end] == '}';
      if (!plain_end) { /* a format such as {x:.2f} */
        struct py_node *other = py_new(p, NODE_OTHER);
        other->text = slice_of("a format in an f-string");
        node->kids[node->count - 1] = other;
        while (end < text.length && text.at[end] != '}')
          end++;
      }
      text = slice_from(text, end + 1);
    }
  }
}

/* Texts one behind the other are one. */
static struct py_node *texts(struct py_parser *p) {
  struct py_node *all = py_new(p, NODE_PARTS);
  bool plain = true;
  while (py_token(p)->kind == TOKEN_TEXT) {
    const struct py_token *t = py_token(p);
    if (t->parts) {
      plain = false;
      add_parts(p, all, t->text);
    } else {
      py_add(p, all, text_node(p, unescaped(p, t)));
    }
    p->at++;
  }
  return plain && all->count == 1 ? all->kids[0] : all;
}

/* Numbers */

static struct py_node *number(struct py_parser *p) {
  const struct py_token *t = py_token(p);
  struct py_node *node = py_new(p, NODE_INT);
  char digits[64];
  size_t length = 0;
  bool whole = true, hex = slice_begins(t->text, "0x");
  for (size_t i = 0; i < t->text.length; i++) {
    char c = t->text.at[i];
    if (c == '_')
      continue;
    if (length + 1 >= sizeof digits)
      return NULL;
    digits[length++] = c;
    whole = whole && (is_digit(c) || hex);
  }
  digits[length] = '\0';
  char *end;
  p->at++;
  if (whole && length < 18) {
    node->integer = strtoll(digits, &end, hex ? 16 : 10);
  } else {
    node->kind = NODE_REAL;
    node->real = strtod(digits, &end);
  }
  return *end ? NULL : node;
}

/* Displays: (a, b), [a for b in c], {a: b} */

static bool add_each(struct py_parser *p, struct py_node *make) {
  while (py_sees(p, "for")) {
    struct py_node *each = py_new(p, NODE_EACH);
    p->at++;
    if (!py_add(p, make, each) || !py_add(p, each, py_targets(p)) ||
        !py_takes(p, "in"))
      return false;
    p->depth++;
    each->op = 1;
    struct py_node *from = py_expression(p);
    p->depth--;
    if (!py_add(p, each, from))
      return false;
    while (py_takes(p, "if"))
      if (!py_add(p, each, py_expression(p)))
        return false;
  }
  return true;
}

static struct py_node *starred(struct py_parser *p) {
  if (!py_sees(p, "*"))
    return py_expression(p);
  struct py_node *star = py_new(p, NODE_STAR);
  star->op = 1;
  p->at++;
  return py_add(p, star, py_expression(p)) ? star : NULL;
}

/* Items up to `end`: a tuple, list or set, or a comprehension. */
static struct py_node *items(struct py_parser *p, enum py_kind kind,
                             const char *end) {
  struct py_node *all = py_new(p, kind);
  bool comma = false;
  while (!py_sees(p, end)) {
    struct py_node *item = starred(p);
    if (!item)
      return NULL;
    if (py_sees(p, "for") && all->count == 0) {
      struct py_node *make = py_new(p, NODE_MAKE);
      make->op = kind == NODE_SET ? '{' : '[';
      py_add(p, make, item);
      py_add_any(p, make, NULL);
      return add_each(p, make) && py_takes(p, end) ? make : NULL;
    }
    py_add(p, all, item);
    comma = py_takes(p, ",");
    if (!comma)
      break;
  }
  if (!py_takes(p, end))
    return NULL;
  bool one = kind == NODE_TUPLE && all->count == 1 && !comma;
  return one ? all->kids[0] : all;
}

static struct py_node *dict(struct py_parser *p, struct py_node *key) {
  struct py_node *all = py_new(p, NODE_DICT);
  for (;;) {
    struct py_node *value = py_expression(p);
    if (!value)
      return NULL;
    py_add_any(p, all, key);
    py_add(p, all, value);
    if (py_sees(p, "for") && all->count == 2 && key) {
      struct py_node *make = py_new(p, NODE_MAKE);
      make->op = ':';
      py_add(p, make, key);
      py_add(p, make, value);
      return add_each(p, make) && py_takes(p, "}") ? make : NULL;
    }
    if (!py_takes(p, ",") || py_sees(p, "}"))
      break;
    key = NULL;
    if (!py_takes(p, "**") && (!(key = py_expression(p)) || !py_takes(p, ":")))
      return NULL;
  }
  return py_takes(p, "}") ? all : NULL;
}

static struct py_node *braces(struct py_parser *p) {
  size_t before = p->at;
  if (py_takes(p, "}"))
    return py_new(p, NODE_DICT);
  if (py_takes(p, "**"))
    return dict(p, NULL);
  struct py_node *first = py_expression(p);
  if (first && py_takes(p, ":"))
    return dict(p, first);
  p->at = before;
  return items(p, NODE_SET, "}");
}

static struct py_node *atom(struct py_parser *p) {
  const struct py_token *t = py_token(p);
  struct py_node *node;
  if (t->kind == TOKEN_NUMBER)
    return number(p);
  if (t->kind == TOKEN_TEXT)
    return texts(p);
  if (py_takes(p, "("))
    return items(p, NODE_TUPLE, ")");
  if (py_takes(p, "["))
    return items(p, NODE_LIST, "]");
  if (py_takes(p, "{"))
    return braces(p);
  bool word = t->kind == TOKEN_NAME && word_index("None True False", t->text);
  if (t->kind == TOKEN_NAME && !word && word_index(keywords, t->text))
    return NULL;
  if (t->kind != TOKEN_NAME && !py_sees(p, "..."))
    return NULL;
  node = py_new(p, word || t->kind == TOKEN_SIGN ? NODE_WORD : NODE_NAME);
  node->text = t->text;
  p->at++;
  return node;
}

/* Calls, indices, attributes */

static struct py_node *argument(struct py_parser *p) {
  size_t before = p->at;
  struct slice name;
  struct py_node *node;
  if (py_sees(p, "*") || py_sees(p, "**")) {
    node = py_new(p, NODE_STAR);
    node->op = py_takes(p, "**") ? 2 : 1;
    if (node->op == 1)
      p->at++;
    return py_add(p, node, py_expression(p)) ? node : NULL;
  }
  if (py_takes_name(p, &name) && py_sees(p, "=")) {
    node = py_new(p, NODE_KEYWORD);
    node->text = name;
    p->at++;
    return py_add(p, node, py_expression(p)) ? node : NULL;
  }
  p->at = before;
  struct py_node *value = py_expression(p);
  if (!value || !py_sees(p, "for"))
    return value;
  node = py_new(p, NODE_MAKE);
  node->op = '[';
  py_add(p, node, value);
  py_add_any(p, node, NULL);
  return add_each(p, node) ? node : NULL;
}

bool py_arguments(struct py_parser *p, struct py_node *call) {
  while (!py_sees(p, ")")) {
    if (!py_add(p, call, argument(p)))
      return false;
    if (!py_takes(p, ","))
      break;
  }
  return py_takes(p, ")");
}

static struct py_node *slice(struct py_parser *p) {
  struct py_node *all = NULL, *part = NULL;
  int at = 0;
  if (!py_sees(p, ":") && !(part = starred(p)))
    return NULL;
  if (!py_sees(p, ":"))
    return part;
  all = py_new(p, NODE_SLICE);
  py_add_any(p, all, part);
  for (; at < 2; at++) {
    part = NULL;
    if (py_takes(p, ":") && !py_sees(p, ":") && !py_sees(p, ",") &&
        !py_sees(p, "]") && !(part = py_expression(p)))
      return NULL;
    py_add_any(p, all, part);
  }
  return all;
}

static struct py_node *subscript(struct py_parser *p) {
  struct py_node *all = py_new(p, NODE_TUPLE), *one;
  bool comma = false;
  do {
    if (comma && py_sees(p, "]"))
      break;
    one = slice(p);
    if (!py_add(p, all, one))
      return NULL;
    comma = py_takes(p, ",");
  } while (comma);
  if (!py_takes(p, "]"))
    return NULL;
  return all->count == 1 && !comma ? one : all;
}

static struct py_node *primary(struct py_parser *p) {
  struct py_node *node = atom(p), *outer;
  while (node) {
    if (py_takes(p, ".")) {
      outer = py_new(p, NODE_ATTR);
      py_add(p, outer, node);
      outer->text = py_token(p)->text;
      if (py_token(p)->kind != TOKEN_NAME)
        return NULL;
      p->at++;
    } else if (py_takes(p, "(")) {
      outer = py_new(p, NODE_CALL);
      outer->line = node->line;
      py_add(p, outer, node);
      if (!py_arguments(p, outer))
        return NULL;
    } else if (py_takes(p, "[")) {
      outer = py_new(p, NODE_INDEX);
      py_add(p, outer, node);
      if (!py_add(p, outer, subscript(p)))
        return NULL;
    } else {
      return node;
    }
    node = outer;
  }
  return NULL;
}

/* Operators */

static struct py_node *unary(struct py_parser *p);

static struct py_node *power(struct py_parser *p) {
  struct py_node *left = primary(p), *node;
  if (!left || !py_sees(p, "**"))
    return left;
  node = py_new(p, NODE_BINARY);
  node->op = OP_POWER;
  p->at++;
  return py_add(p, node, left) && py_add(p, node, unary(p)) ? node : NULL;
}

static struct py_node *unary(struct py_parser *p) {
  static const struct {
    const char *sign;
    int op;
  } signs[] = {{"-", OP_SUB}, {"+", OP_ADD}, {"~", OP_INVERT}};
  if (p->depth > LIMIT_DEPTH)
    return NULL;
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (py_sees(p, signs[i].sign)) {
      struct py_node *node = py_new(p, NODE_UNARY);
      node->op = signs[i].op;
      p->at++;
      p->depth++;
      bool right = py_add(p, node, unary(p));
      p->depth--;
      return right ? node : NULL;
    }
  return power(p);
}

/* Binary operators; a higher level binds more. */
static const struct binary {
  const char *sign;
  int op, level;
} binaries[] = {
    {"|", OP_OR, 1},     {"^", OP_XOR, 2},    {"&", OP_AND, 3},
    {"<<", OP_LEFT, 4},  {">>", OP_RIGHT, 4}, {"+", OP_ADD, 5},
    {"-", OP_SUB, 5},    {"*", OP_MUL, 6},    {"/", OP_DIV, 6},
    {"//", OP_FLOOR, 6}, {"%", OP_MOD, 6},    {"@", OP_MATMUL, 6},
};

static struct py_node *binary(struct py_parser *p, int level) {
  struct py_node *left = level > 6 ? unary(p) : binary(p, level + 1);
  while (left && level <= 6) {
    const struct binary *found = NULL;
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
      if (binaries[i].level == level && py_sees(p, binaries[i].sign))
        found = &binaries[i];
    if (!found)
      return left;
    struct py_node *node = py_new(p, NODE_BINARY);
    node->op = found->op;
    p->at++;
    if (!py_add(p, node, left) || !py_add(p, node, binary(p, level + 1)))
      return NULL;
    left = node;
  }
  return left;
}

static int compares(struct py_parser *p) {
  static const struct {
    const char *sign;
    int op;
  } signs[] = {{"<", OP_LT},  {"<=", OP_LE}, {"==", OP_EQ}, {"!=", OP_NE},
               {">=", OP_GE}, {">", OP_GT},  {"in", OP_IN}};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (py_takes(p, signs[i].sign))
      return signs[i].op;
  if (py_sees(p, "not") && slice_is(py_token(p)[1].text, "in")) {
    p->at += 2;
    return OP_NOT_IN;
  }
  if (py_takes(p, "is"))
    return py_takes(p, "not") ? OP_IS_NOT : OP_IS;
  return OP_NONE;
}

static struct py_node *comparison(struct py_parser *p) {
  struct py_node *left = binary(p, 1), *all = NULL;
  int op;
  while (left && (op = compares(p))) {
    struct py_node *right = py_new(p, NODE_UNARY);
    right->op = op;
    if (!all) {
      all = py_new(p, NODE_COMPARE);
      py_add(p, all, left);
    }
    if (!py_add(p, right, binary(p, 1)))
      return NULL;
    py_add(p, all, right);
  }
  return all ? all : left;
}

static struct py_node *negation(struct py_parser *p) {
  if (!py_sees(p, "not"))
    return comparison(p);
  struct py_node *node = py_new(p, NODE_NOT);
  p->at++;
  if (p->depth > LIMIT_DEPTH)
    return NULL;
  p->depth++;
  bool right = py_add(p, node, negation(p));
  p->depth--;
  return right ? node : NULL;
}

/* Operands of `and` (level 1) or `or` (0). */
static struct py_node *logical(struct py_parser *p, int level) {
  struct py_node *left = level ? negation(p) : logical(p, 1);
  while (left && py_sees(p, level ? "and" : "or")) {
    struct py_node *node = py_new(p, level ? NODE_AND : NODE_OR);
    p->at++;
    if (!py_add(p, node, left) ||
        !py_add(p, node, level ? negation(p) : logical(p, 1)))
      return NULL;
    left = node;
  }
  return left;
}

static struct py_node *lambda(struct py_parser *p) {
  struct py_node *node = py_new(p, NODE_LAMBDA);
  p->at++;
  return py_add(p, node, py_parameters(p, ":")) && py_takes(p, ":") &&
                 py_add(p, node, py_expression(p))
             ? node
             : NULL;
}

static struct py_node *conditional(struct py_parser *p) {
  bool source = py_sees(p, "lambda");
  struct py_node *value = source ? lambda(p) : logical(p, 0), *node;
  if (value && py_sees(p, ":=") && value->kind == NODE_NAME) {
    node = py_new(p, NODE_BIND);
    p->at++;
    return py_add(p, node, value) && py_add(p, node, py_expression(p)) ? node
                                                                       : NULL;
  }
  if (!value || source || !py_sees(p, "if"))
    return value;
  size_t before = p->at;
  node = py_new(p, NODE_IF_ELSE);
  p->at++;
  py_add(p, node, value);
  if (!py_add(p, node, logical(p, 0)))
    return NULL;
  if (!py_takes(p, "else")) { /* of a comprehension */
    p->at = before;
    return value;
  }
  return py_add(p, node, py_expression(p)) ? node : NULL;
}

struct py_node *py_expression(struct py_parser *p) {
  if (p->depth > LIMIT_DEPTH)
    return NULL;
  p->depth++;
  struct py_node *node = conditional(p);
  p->depth--;
  return node;
}

static bool ends_list(const struct py_parser *p) {
  const struct py_token *t = py_token(p);
  return t->kind == TOKEN_LINE || t->kind == TOKEN_END || py_sees(p, "=") ||
         py_sees(p, ";") || py_sees(p, ")") || py_sees(p, ":");
}

struct py_node *py_expressions(struct py_parser *p) {
  struct py_node *first = starred(p), *all;
  if (!first || (!py_sees(p, ",") && first->kind != NODE_STAR))
    return first;
  all = py_new(p, NODE_TUPLE);
  py_add(p, all, first);
  while (py_takes(p, ",") && !ends_list(p))
    if (!py_add(p, all, starred(p)))
      return NULL;
  return all;
}

struct py_node *py_targets(struct py_parser *p) {
  struct py_node *all = py_new(p, NODE_TUPLE), *one;
  bool comma;
  do {
    one = py_sees(p, "*") ? NULL : primary(p);
    if (!py_add(p, all, one))
      return NULL;
    comma = py_takes(p, ",");
  } while (comma && !py_sees(p, "in"));
  return all->count == 1 && !comma ? one : all;
}

struct py_node *py_parameters(struct py_parser *p, const char *end) {
  struct py_node *all = py_new(p, NODE_PARAMS);
  while (!py_sees(p, end)) {
    struct py_node *param = py_new(p, NODE_PARAM);
    bool slash = py_takes(p, "/");
    param->op = slash ? 0 : py_takes(p, "**") ? 2 : py_takes(p, "*") ? 1 : 0;
    bool named = !slash && py_takes_name(p, &param->text);
    if (!slash && !named && param->op != 1)
      return NULL;
    if (named && end[0] == ')' && py_takes(p, ":") && !py_expression(p))
      return NULL;
    struct py_node *usual = NULL;
    if (named && py_takes(p, "=") && !(usual = py_expression(p)))
      return NULL;
    py_add_any(p, param, usual);
    if (!slash)
      py_add(p, all, param);
    if (!py_takes(p, ","))
      break;
  }
  return all;
}

struct py_node *py_parse_expression(struct arena *arena, struct slice text,
                                    int line) {
  struct py_parser p = {.arena = arena,
                        .tokens = py_scan(arena, text, line, true)};
  struct py_node *node = py_expressions(&p);
  if (node &&
      (py_token(&p)->kind == TOKEN_LINE || py_token(&p)->kind == TOKEN_END))
    return node;
  node = py_new(&p, NODE_OTHER);
  node->text = slice_of("an expression");
  return node;
}
