/* Python code under construction: text with holes for parts that may vary. */
#ifndef NETC_CODEGEN_TORCH_CODE_H
#define NETC_CODEGEN_TORCH_CODE_H

#include "base/arena.h"
#include "base/text.h"

enum hole_kind {
  HOLE_VALUE,  /* a number or tuple, which may become a parameter of a class */
  HOLE_MODULE, /* the module of a layer or unit, which is named last */
  HOLE_INPUT,  /* an input of the layer */
};

/* A hole is one byte CODE_HOLE in the text. */
struct hole {
  enum hole_kind kind;
  bool receiver; /* HOLE_INPUT: a method of it is called */
  bool starred;  /* HOLE_INPUT: a list's tensors, as arguments */
  bool flag;     /* HOLE_VALUE: a condition for lines */
  union {
    struct {              /* HOLE_VALUE */
      const char *hint;   /* name for the parameter */
      const char *key;    /* writes ", key=" before it; NULL: positional */
      const char *usual;  /* default of `key`, which is not written */
      struct slice value; /* 3, (1, 2), False; no text: unknown */
    };
    int64_t node; /* HOLE_MODULE; negative: unit_as_node() */
    int input;    /* HOLE_INPUT */
  };
};

enum { CODE_HOLE = 1 };

struct torch_code {
  struct text text;
  VEC(struct hole) holes; /* in the order of the text */
};

struct torch_code code_new(struct arena *arena);

/*
 * Appends `format`, in which these stand for arguments:
 *   %s const char *            %d int64_t
 *   %S struct slice            %c const struct torch_code *
 *   %i hint, int64_t           a value
 *   %v hint, struct slice      a value
 *   %k key, usual, struct slice  a value by key, left out if it is usual
 *   %m int64_t                 the module of a node
 *   %x int                     an input, as an argument
 *   %r int                     an input of which a method is called
 *   %e int                     an input, or what it is a list of
 */
void code_format(struct torch_code *code, const char *format, ...);

/* Appends `hole`. */
void code_hole(struct torch_code *code, struct hole hole);

void code_append(struct torch_code *code, const struct torch_code *more);

/* A copy in another arena, without spare room. */
struct torch_code code_keep(struct arena *arena, const struct torch_code *code);

/* True if both are filled with the same. */
bool hole_equal(const struct hole *a, const struct hole *b);

/* True if texts and holes are equal. */
bool code_equal(const struct torch_code *a, const struct torch_code *b);

/* The approximate width in columns once written. */
size_t code_width(const struct torch_code *code);

static inline bool code_is_empty(const struct torch_code *code) {
  return code->text.length == 0;
}

#endif
