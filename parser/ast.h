/* The syntax tree: words with arguments. It knows no layer by name. */
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
  EXPR_RANGE,  /* left..right, in steps of `step` */
  EXPR_TEXT,   /* text of a message, unchanged, in `name` */
  EXPR_DIMS,   /* items joined by x */
  EXPR_PAIR,   /* left:right */
  EXPR_LIST,   /* [items] of a let or a param */
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

/* Kept small, since nets may have millions of lines. */
struct expr {
  enum expr_kind kind : 8;
  enum op op : 8;
  unsigned depth : 16; /* of its subtree, at most LIMIT_DEPTH */
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
    struct expr *items; /* EXPR_CALL, _DIMS, _LIST: linked by `next` */
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
  struct expr *values; /* linked by `next` */
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
  STMT_HOLE,     /* a syntax error that has been reported */
};

/* Members that a layer does not have. */
struct stmt_more {
  struct expr *value; /* let, param, repeat, if; input: its dimensions; from,
                       * again: the label; error, warn: parts of the message,
                       * linked by `next` */
  struct block *block;
  struct expr *high;  /* for i in value..high; NULL: value is a list */
  struct expr *step;  /* NULL: 1 */
  struct slice dtype; /* input: after the colon */
  struct span dtype_span;
  struct def_param *params;
  struct name_list *names; /* for; param: names of the further columns */
  struct table_row *rows;  /* for, param: the values; NULL: a range */
  struct expr *range;      /* param: the allowed values */
  struct block *otherwise; /* if */
};

/* The label before a statement and the mark after it. */
struct stmt_ends {
  struct slice label; /* .at is NULL: none */
  struct span label_span;
  struct expr *label_indices; /* `skip[i]:`, linked by `next` */
  struct expr *mark;          /* -> DIMS */
  struct span mark_span;      /* including the arrow */
};

struct stmt {
  enum stmt_kind kind : 8;
  bool training : 1; /* fork train */
  bool single : 1;   /* fork of one layer without braces */
  int index;         /* among all statements of a compilation */
  struct span span;  /* without label and mark */
  struct span name_span;
  struct slice name; /* the word, or the name that is defined */
  uint32_t moved;    /* bytes after the text whose `args` it shares */
  struct arg *args;
  struct stmt_ends *ends; /* for layers and statements without them, */
  struct stmt_more *more; /* shared empty ones, never written to */
  struct stmt *next;
};

struct block {
  struct stmt *first;
  struct span span;  /* including the braces */
  struct span close; /* the closing brace or the end of the text */
};

#endif
