/* Scopes: which names a place in the source sees. */
#ifndef NETC_SEMA_BINDING_SCOPE_H
#define NETC_SEMA_BINDING_SCOPE_H

#include "base/map.h"
#include "base/suggest.h"
#include "parser/ast.h"
#include "sema/binding/value.h"

enum symbol_kind {
  SYMBOL_CONSTANT,
  SYMBOL_DEF,
  SYMBOL_LABEL,
  SYMBOL_FAMILY, /* labels that differ in their index */
};

struct symbol {
  enum symbol_kind kind;
  struct slice name;
  struct span span;
  struct value *value;     /* SYMBOL_CONSTANT; others may have room for one */
  const struct stmt *stmt; /* SYMBOL_DEF, SYMBOL_LABEL */
  struct scope *scope;     /* where the def or label stands */
  int64_t node;            /* SYMBOL_LABEL: the tensor; NO_NODE: poisoned */
  int64_t first, end;      /* SYMBOL_LABEL: the nodes it made */
  struct family *family;   /* SYMBOL_FAMILY: label.c */
  bool active;             /* SYMBOL_DEF: being called */
  struct symbol *next;
};

/* Whose scope it is: labels with an index belong to defs and files. */
enum scope_home {
  SCOPE_INNER, /* of braces */
  SCOPE_HOME,  /* of a call or the file */
  SCOPE_AGAIN, /* of a group applied again; sees the labels around it, too */
};

struct scope {
  struct scope *parent;
  struct symbol *first, *last;
  size_t count;
  struct map index; /* once there are many */
  enum scope_home home;
  bool kept; /* a label that lives longer stands in it: not used again */
  bool left;
  const struct stmt *loop; /* of which it is a turn, or NULL */
};

/* Scopes and symbols that were left, to be used again. */
struct scope_pool {
  struct arena *arena;
  struct scope *scopes;
  struct symbol *symbols;
};

struct scope *scope_enter(struct scope_pool *pool, struct scope *parent);

/* Nothing can see into it any more: it is used again. Returns its parent. */
struct scope *scope_leave(struct scope_pool *pool, struct scope *scope);

/* The symbol that a name means here, or NULL. */
struct symbol *scope_find(struct scope *scope, struct slice name);

/* The same, where a constant that holds a def or label stands for it. */
struct symbol *scope_resolve(struct scope *scope, struct slice name);

/* The def or label that a constant holds, or the symbol itself. */
struct symbol *scope_stands_for(struct symbol *symbol);

/* The symbol of that name in this very scope, or NULL. */
struct symbol *scope_own(struct scope *scope, struct slice name);

struct symbol *scope_add(struct scope_pool *pool, struct scope *scope,
                         enum symbol_kind kind, struct slice name,
                         struct span span);

/* Offers the names of a kind in all scopes from here on outwards. */
void scope_suggest(struct scope *scope, enum symbol_kind kind,
                   struct suggestion *suggestion);

#endif
