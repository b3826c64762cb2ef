/* State that expressions.c and statements.c share while they parse. */
#ifndef NETC_IMPORT_PYTHON_PARSE_H
#define NETC_IMPORT_PYTHON_PARSE_H

#include "import/python/syntax.h"

struct py_parser {
  struct arena *arena;
  struct py_tokens tokens;
  size_t at;
  int depth;
};

/* Nodes; NULL: what stands there is no such thing. */
struct py_node *py_new(struct py_parser *p, enum py_kind kind);
/* Adds a child; false if it is NULL and must not be. */
bool py_add(struct py_parser *p, struct py_node *node, struct py_node *kid);
void py_add_any(struct py_parser *p, struct py_node *node, struct py_node *kid);

const struct py_token *py_token(const struct py_parser *p);
bool py_sees(const struct py_parser *p, const char *text); /* sign or word */
bool py_takes(struct py_parser *p, const char *text);
/* A name that is no keyword; false: there is none. */
bool py_takes_name(struct py_parser *p, struct slice *name);

struct py_node *py_expression(struct py_parser *p);
/* Expressions with commas between, which are then a tuple. */
struct py_node *py_expressions(struct py_parser *p);
/* Targets of `for`, which end at `in`. */
struct py_node *py_targets(struct py_parser *p);
/* Parameters up to `end`, which is not taken. */
struct py_node *py_parameters(struct py_parser *p, const char *end);
/* Arguments behind `(`, up to and with `)`, as children of `call`. */
bool py_arguments(struct py_parser *p, struct py_node *call);

#endif
