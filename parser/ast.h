/* The syntax tree: words with arguments; it knows no layer by name. */
#ifndef NETC_PARSER_AST_H
#define NETC_PARSER_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"

enum expr_kind {
  EXPR_INT,
  EXPR_REAL,
  EXPR_BOOL,
  EXPR_NAME,
  EXPR_ANY,    /* _ */
  EXPR_UNARY,  /* op left */
  EXPR_BINARY, /* left op right */
  EXPR_CALL,   /* name(items): a function, or a layer in a tail */
  EXPR_KEYED,  /* name=left, among the items of a call */
  EXPR_FIELD,  /* in.name */
  EXPR_INDEX,  /* left[right], a label */
  EXPR_PATH,   /* left.name, a label */
  EXPR_RANGE,  /* left..right, by steps of `step` */
  EXPR_TEXT,   /* of a message, which `name` holds as it is */
  EXPR_DIMS,   /* items joined by x */
  EXPR_PAIR,   /* left:right */
};

enum op {
  OP_NEGATE,
  OP_NOT,
  OP_ADD,
  OP_SUB,
  OP_MUL,
  OP_DIV,
  OP_FLOOR, /* // */
  OP_MOD,
  OP_POW,
  OP_EQ,
  OP_NE,
  OP_LT,
  OP_LE,
  OP_GT,
  OP_GE,
  OP_AND,
  OP_OR,
};

/* Nets of millions of lines are written, too: a node of the tree is small. */
struct expr {
  enum expr_kind kind : 8;
  enum op op : 8;
  unsigned depth : 16; /* of the tree below, at most LIMIT_DEPTH */
  struct span span;
  union {            /* by its kind */
    int64_t integer; /* EXPR_INT, EXPR_BOOL */
    double real;
    struct slice name; /* EXPR_NAME, _CALL, _KEYED, _FIELD, _PATH, _TEXT */
    struct {
      struct expr *right, *step;
    };
  };
  union {
    struct expr *left;
    struct expr *items; /* EXPR_CALL, EXPR_DIMS: a list by `next` */
  };
  struct expr *next;
};

enum arg_form {
  ARG_PLAIN,  /* value */
  ARG_KEYED,  /* key=value */
  ARG_STRIDE, /* /value */
  ARG_BLOCK,  /* { ... } */
};

struct arg {
  enum arg_form form;
  struct span span; /* begins with the key */
  struct slice key;
  union {
    struct expr *value;
    struct block *block; /* ARG_BLOCK */
  };
  struct arg *next;
};

static inline struct span arg_key_span(const struct arg *arg) {
  return (struct span){arg->span.begin,
                       arg->span.begin + (uint32_t)arg->key.length};
}

/* A parameter of a def. */
struct def_param {
  struct slice name;
  struct span span;
  struct expr *value; /* the default, or NULL */
  struct def_param *next;
};

struct name_list {
  struct slice name;
  struct span span;
  struct name_list *next;
};

/* One row of `for names in [rows]`. */
struct table_row {
  struct expr *values; /* a list by `next` */
  struct span span;
  struct table_row *next;
};

enum stmt_kind {
  STMT_APPLY, /* word args: a layer, a join or a def */
  STMT_GROUP, /* { ... } */
  STMT_FORK,
  STMT_FROM,
  STMT_AGAIN,
  STMT_OUTPUT,
  STMT_NET,
  STMT_INPUT,
  STMT_DEF,
  STMT_LET,
  STMT_PARAM,
  STMT_REPEAT,
  STMT_FOR,
  STMT_IF,
  STMT_USE,
  STMT_SETTINGS, /* train, infer, budget */
  STMT_MESSAGE,  /* error, warn, allow */
  STMT_HOLE,     /* a syntax error, which was reported */
};

/* What a layer does not have. */
struct stmt_more {
  struct expr *value; /* let, param, repeat, if; input: its dimensions; from,
                         again: what they refer to; error, warn: the parts of
                         the message, a list by `next` */
  struct block *block;
  struct expr *high;  /* for i in value..high */
  struct expr *step;  /* NULL: 1 */
  struct slice dtype; /* input: after the colon */
  struct span dtype_span;
  struct def_param *params;
  struct name_list *names; /* for; param: of the columns after its own */
  struct table_row *rows;  /* for, param: the values; NULL for a range */
  struct expr *range;      /* param: what is allowed */
  struct block *otherwise; /* if */
};

/* What stands in front of a statement and after it. */
struct stmt_ends {
  struct slice label; /* .at is NULL if there is none */
  struct span label_span;
  struct expr *label_indices; /* `skip[i]:`, a list by `next` */
  struct expr *mark;          /* -> DIMS */
  struct span mark_span;      /* with the arrow */
};

struct stmt {
  enum stmt_kind kind : 8;
  bool training : 1; /* fork train */
  bool single : 1;   /* fork of a layer without braces */
  int index;         /* among all statements of the compilation */
  struct span span;  /* without label and mark */
  struct span name_span;
  struct slice name; /* the word; what is named */
  uint32_t moved;    /* `args` are of an equal text, so many bytes before it */
  struct arg *args;
  struct stmt_ends *ends; /* where there is nothing of them, and of a layer, */
  struct stmt_more *more; /* empty ones, never written to */
  struct stmt *next;
};

struct block {
  struct stmt *first;
  struct span span;  /* with the braces */
  struct span close; /* the closing brace or the end of the text */
};

#endif
