/* Values that are known before a net is compiled: those of its params. */
#ifndef NETC_IMPORT_HUGGINGFACE_KNOWN_H
#define NETC_IMPORT_HUGGINGFACE_KNOWN_H

#include "base/text.h"
#include "parser/ast.h"

enum known_kind {
  KNOWN_NOT,
  KNOWN_INT,
  KNOWN_REAL,
  KNOWN_BOOL,
  KNOWN_WORD,
  KNOWN_LIST,
};

/* Calls of defs, in order; a layer of several is one: `attend; sized 4096`. */
struct known_list {
  VEC(struct slice) all;
};

/* The def that the next call of `calls` names, which is cut off; false: none
 * is left. */
bool known_call(struct slice *calls, struct slice *name);

struct settled {
  enum known_kind kind;
  int64_t integer;   /* KNOWN_BOOL, too */
  double real;       /* KNOWN_REAL, and of KNOWN_INT the same */
  struct slice text; /* KNOWN_WORD, KNOWN_REAL: as it is written */
  const struct known_list *list;
};

struct settled known_int(int64_t value);
struct settled known_bool(bool value);

/* By name, the innermost last; what hides another one is KNOWN_NOT. */
struct known_names {
  struct arena *arena;
  VEC(struct {
    struct slice name;
    struct settled value;
  })
  all;
};

void known_add(struct known_names *names, struct slice name,
               struct settled value);

/* KNOWN_NOT: it depends on tensors, loops or arguments, or is in error. */
struct settled known_value(const struct known_names *names,
                           const struct expr *expr);

void known_put(struct text *out, const struct settled *value);

#endif
