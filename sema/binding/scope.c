/* Scopes: the names that are visible at a place in the source. */
#include "sema/binding/scope.h"

enum {
  FEW = 8,   /* names; searching them is faster than hashing */
  MUCH = 16, /* maximum room of an index per name of its scope */
};

struct scope *scope_enter(struct scope_pool *pool, struct scope *parent) {
  struct scope *scope = pool->scopes;
  if (scope)
    pool->scopes = scope->parent;
  else
    scope = arena_alloc(pool->arena, 1, sizeof *scope);
  *scope = (struct scope){.parent = parent, .index = scope->index};
  return scope;
}

struct scope *scope_leave(struct scope_pool *pool, struct scope *scope) {
  struct scope *parent = scope->parent;
  scope->left = true;
  if (scope->kept)
    return parent;
  if (scope->last) {
    scope->last->next = pool->symbols;
    pool->symbols = scope->first;
  }
  if (scope->index.room > MUCH * scope->count)
    scope->index = (struct map){0}; /* clearing it would take longer */
  map_clear(&scope->index);
  scope->parent = pool->scopes;
  pool->scopes = scope;
  return parent;
}

static struct symbol *new_symbol(struct scope_pool *pool) {
  struct symbol *symbol = pool->symbols;
  if (!symbol)
    return ARENA_NEW(pool->arena, struct symbol);
  pool->symbols = symbol->next;
  *symbol = (struct symbol){.value = symbol->value};
  return symbol;
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

struct symbol *scope_stands_for(struct symbol *symbol) {
  bool stands_for = symbol->kind == SYMBOL_CONSTANT &&
                    symbol->value->kind == VALUE_NAME && symbol->value->symbol;
  return stands_for ? symbol->value->symbol : symbol;
}

struct symbol *scope_resolve(struct scope *scope, struct slice name) {
  struct symbol *symbol = scope_find(scope, name);
  return symbol ? scope_stands_for(symbol) : NULL;
}

struct symbol *scope_add(struct scope_pool *pool, struct scope *scope,
                         enum symbol_kind kind, struct slice name,
                         struct span span) {
  struct symbol *symbol = new_symbol(pool);
  if (kind == SYMBOL_CONSTANT && !symbol->value)
    symbol->value = arena_room(pool->arena, 1, sizeof *symbol->value);
  if (kind == SYMBOL_CONSTANT)
    *symbol->value = value_poison;
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
      map_add(pool->arena, &scope->index, s->name)->pointer = s;
  if (scope->count > FEW)
    map_add(pool->arena, &scope->index, name)->pointer = symbol;
  return symbol;
}

void scope_suggest(struct scope *scope, enum symbol_kind kind,
                   struct suggestion *suggestion) {
  for (; scope; scope = scope->parent)
    for (struct symbol *s = scope->first; s; s = s->next)
      if (s->kind == kind)
        suggest_offer(suggestion, s->name);
}
