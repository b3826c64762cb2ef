/*
 * The part of Python that modules of PyTorch are written in, as a tree. A
 * statement that the parser does not know becomes a node that is refused when
 * it runs: much of a file is never run. The parser descends by hand, because
 * it must go on behind such a statement, and because blocks are indentation.
 */
#ifndef NETC_IMPORT_PYTHON_SYNTAX_H
#define NETC_IMPORT_PYTHON_SYNTAX_H

#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

enum py_kind {
  /* Expressions */
  NODE_NAME,    /* text */
  NODE_INT,     /* integer */
  NODE_REAL,    /* real */
  NODE_TEXT,    /* text */
  NODE_PARTS,   /* f"..": texts and expressions */
  NODE_WORD,    /* text: None, True, False, ... */
  NODE_TUPLE,   /* items; NODE_STAR among them */
  NODE_LIST,    /* items */
  NODE_SET,     /* items */
  NODE_DICT,    /* key, value, ..; a key NULL: **value */
  NODE_MAKE,    /* op: '[', '{' or ':'; item, value or NULL, then NODE_EACH */
  NODE_EACH,    /* target, iterable, conditions */
  NODE_ATTR,    /* object; text */
  NODE_CALL,    /* callee, arguments: expressions, NODE_STAR, NODE_KEYWORD */
  NODE_STAR,    /* op: 1 or 2 stars; value */
  NODE_KEYWORD, /* text; value */
  NODE_INDEX,   /* object, index */
  NODE_SLICE,   /* start, stop, step; each may be NULL */
  NODE_UNARY,   /* op; value */
  NODE_BINARY,  /* op; left, right */
  NODE_COMPARE, /* left, then for each operator NODE_UNARY (op; right) */
  NODE_AND,     /* left, right */
  NODE_OR,      /* left, right */
  NODE_NOT,     /* value */
  NODE_IF_ELSE, /* value, condition, other */
  NODE_LAMBDA,  /* NODE_PARAMS, value */
  NODE_BIND,    /* target, value: `:=` */
  /* Statements */
  NODE_BLOCK,    /* statements */
  NODE_SAY,      /* value: a statement that is an expression */
  NODE_ASSIGN,   /* targets, value */
  NODE_CHANGE,   /* op; target, value: += */
  NODE_RETURN,   /* value or NULL */
  NODE_IF,       /* condition, block, other block or NULL */
  NODE_FOR,      /* target, iterable, block, other block or NULL */
  NODE_WHILE,    /* condition, block, other block or NULL */
  NODE_BREAK,    /* */
  NODE_CONTINUE, /* */
  NODE_PASS,     /* */
  NODE_DEF,      /* text; NODE_PARAMS, block, decorators */
  NODE_PARAMS,   /* NODE_PARAM */
  NODE_PARAM,    /* text, op: 0, 1 or 2 stars; usual value or NULL */
  NODE_CLASS,    /* text; bases as NODE_CALL or NULL, block, decorators */
  NODE_IMPORT,   /* text: the path; integer: dots; name, alias, .. as NODE_NAME
                  */
  NODE_FROM,     /* the same */
  NODE_RAISE,    /* value or NULL */
  NODE_ASSERT,   /* condition */
  NODE_WITH,     /* block; names that it sets */
  NODE_TRY,      /* block; others as blocks, op 1: `except` */
  NODE_DEL,      /* targets */
  NODE_OTHER     /* text: why it is refused */
};

enum py_operator {
  OP_NONE,
  OP_ADD,
  OP_SUB,
  OP_MUL,
  OP_DIV,
  OP_FLOOR,
  OP_MOD,
  OP_POWER,
  OP_MATMUL,
  OP_LEFT,
  OP_RIGHT,
  OP_AND,
  OP_XOR,
  OP_OR,
  OP_INVERT,
  OP_LT,
  OP_LE,
  OP_EQ,
  OP_NE,
  OP_GE,
  OP_GT,
  OP_IN,
  OP_NOT_IN,
  OP_IS,
  OP_IS_NOT
};

struct py_node {
  enum py_kind kind;
  int line; /* 0: of torch.py */
  int op;
  struct slice text;
  int64_t integer;
  double real;
  struct py_node **kids;
  size_t count, room;
};

enum py_token_kind {
  TOKEN_END,
  TOKEN_NAME,
  TOKEN_NUMBER,
  TOKEN_TEXT,
  TOKEN_SIGN,
  TOKEN_LINE,
  TOKEN_INDENT,
  TOKEN_DEDENT,
  TOKEN_BAD
};

struct py_token {
  enum py_token_kind kind;
  struct slice text; /* of a text: without its quotes */
  int line;
  bool raw, parts, bytes; /* r"", f"", b"" */
};

struct py_tokens {
  struct py_token *at;
  size_t count, room;
};

/* Splits a file, or with `inner` one expression in a text. */
struct py_tokens py_scan(struct arena *arena, struct slice file, int line,
                         bool inner);

/* The statements of a file as NODE_BLOCK. Lines count from `line`; 0: all
 * nodes have line 0. */
struct py_node *py_parse(struct arena *arena, struct slice file, int line);
/* One expression; NODE_OTHER if it is none. */
struct py_node *py_parse_expression(struct arena *arena, struct slice text,
                                    int line);

#endif
