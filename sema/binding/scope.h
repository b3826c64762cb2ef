/* Scopes: the names that are visible at a place in the source. */
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
  SYMBOL_FAMILY, /* labels with different indices */
};

struct symbol {
  enum symbol_kind kind;
  struct slice name;
  struct span span;
  struct value *value; /* SYMBOL_CONSTANT; other kinds may have memory for it */
  const struct stmt *stmt; /* SYMBOL_DEF, SYMBOL_LABEL */
  struct scope *scope;     /* scope of the def or label */
  int64_t node;            /* SYMBOL_LABEL: the tensor; NO_NODE: poisoned */
  int64_t first, end;      /* SYMBOL_LABEL: its nodes */
  struct family *family;   /* SYMBOL_FAMILY: label.c */
  bool active;             /* SYMBOL_DEF: a call is running */
  struct symbol *next;
};

/* Kind of a scope. Labels with an index belong to defs and files. */
enum scope_home {
  SCOPE_INNER, /* braces */
  SCOPE_HOME,  /* a call or a file */
  SCOPE_AGAIN, /* a group applied again; outer labels are visible, too */
};

struct scope {
  struct scope *parent;
  struct symbol *first, *last;
  size_t count;
  struct map index; /* used for many names */
  enum scope_home home;
  bool kept; /* a longer-lived label refers to it: do not reuse */
  bool left;
  const struct stmt *loop; /* loop of which it is an iteration, or NULL */
};

/* Free lists of scopes and symbols. */
struct scope_pool {
  struct arena *arena;
  struct scope *scopes;
  struct symbol *symbols;
};

struct scope *scope_enter(struct scope_pool *pool, struct scope *parent);

/* Leaves a scope, which is reused unless kept. Returns its parent. */
struct scope *scope_leave(struct scope_pool *pool, struct scope *scope);

/* The symbol of a name here, or NULL. */
struct symbol *scope_find(struct scope *scope, struct slice name);

/* The same; resolves a constant that holds a def or label. */
struct symbol *scope_resolve(struct scope *scope, struct slice name);

/* The def or label that a constant holds, or the symbol itself. */
struct symbol *scope_stands_for(struct symbol *symbol);

/* The symbol of that name in exactly this scope, or NULL. */
struct symbol *scope_own(struct scope *scope, struct slice name);

struct symbol *scope_add(struct scope_pool *pool, struct scope *scope,
                         enum symbol_kind kind, struct slice name,
                         struct span span);

/* Offers the names of a kind in this scope and all outer ones. */
void scope_suggest(struct scope *scope, enum symbol_kind kind,
                   struct suggestion *suggestion);

#endif
