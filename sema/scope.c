/* Scopes: which names a place in the source sees. */
#include "sema/scope.h"

enum { FEW = 8 }; /* names that are searched faster than hashed */

struct scope *scope_enter(struct arena *arena, struct scope *parent,
                          struct scope **spare) {
  struct scope *scope = *spare;
  if (scope) {
    *spare = scope->parent;
    *scope = (struct scope){0};
  } else {
    scope = ARENA_NEW(arena, struct scope);
  }
  scope->parent = parent;
  return scope;
}

struct scope *scope_leave(struct scope *scope, struct scope **spare) {
  struct scope *parent = scope->parent;
  scope->parent = *spare;
  *spare = scope;
  return parent;
}

struct symbol *scope_own(struct scope *scope, struct slice name) {
  if (scope->count > FEW) {
    struct map_entry *entry = map_find(&scope->index, name);
    return entry ? entry->pointer : NULL;
  }
  for (struct symbol *s = scope->first; s; s = s->next)
    if (slice_equal(s->name, name))
      return s;
  return NULL;
}

struct symbol *scope_find(struct scope *scope, struct slice name) {
  for (; scope; scope = scope->parent) {
    struct symbol *symbol = scope_own(scope, name);
    if (symbol)
      return symbol;
  }
  return NULL;
}

struct symbol *scope_add(struct arena *arena, struct scope *scope,
                         enum symbol_kind kind, struct slice name,
                         struct span span) {
  struct symbol *symbol = ARENA_NEW(arena, struct symbol);
  symbol->kind = kind;
  symbol->name = name;
  symbol->span = span;
  if (scope->last)
    scope->last->next = symbol;
  else
    scope->first = symbol;
  scope->last = symbol;
  scope->count++;
  if (scope->count == FEW + 1)
    for (struct symbol *s = scope->first; s != symbol; s = s->next)
      map_add(arena, &scope->index, s->name)->pointer = s;
  if (scope->count > FEW)
    map_add(arena, &scope->index, name)->pointer = symbol;
  return symbol;
}

void scope_suggest(struct scope *scope, struct suggestion *suggestion) {
  for (; scope; scope = scope->parent)
    for (struct symbol *s = scope->first; s; s = s->next)
      suggest_offer(suggestion, s->name);
}
