/* Python as it is being written: text with holes for what may vary. */
#ifndef NETC_CODEGEN_TORCH_CODE_H
#define NETC_CODEGEN_TORCH_CODE_H

#include "base/arena.h"
#include "base/text.h"

enum hole_kind {
  HOLE_VALUE,  /* a number or tuple, which a class may take as a parameter */
  HOLE_MODULE, /* a layer's module, or a unit's: names come last */
  HOLE_INPUT,  /* an input of the layer */
};

/* Each is one byte CODE_HOLE in the text. */
struct hole {
  enum hole_kind kind;
  bool receiver; /* HOLE_INPUT: a method of it is called */
  bool starred;  /* HOLE_INPUT: of a list, its tensors */
  bool flag;     /* HOLE_VALUE: whether some lines are run */
  union {
    struct {              /* HOLE_VALUE */
      const char *hint;   /* a name for the parameter */
      const char *key;    /* ", key=" stands before it; NULL: nothing does */
      const char *usual;  /* the default of `key`, which is left out */
      struct slice value; /* 3, (1, 2), False; no text: not known */
    };
    int64_t node; /* HOLE_MODULE; below 0: unit_as_node() */
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

/* A copy in another arena, in no more room than it takes. */
struct torch_code code_keep(struct arena *arena, const struct torch_code *code);

/* They are filled alike. */
bool hole_equal(const struct hole *a, const struct hole *b);

/* The same text, and holes that are filled alike. */
bool code_equal(const struct torch_code *a, const struct torch_code *b);

/* The columns that it takes when it is written out, about. */
size_t code_width(const struct torch_code *code);

static inline bool code_is_empty(const struct torch_code *code) {
  return code->text.length == 0;
}

#endif
