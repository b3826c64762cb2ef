/* Identifiers: names of a net as C identifiers. */
#include "codegen/c/identifier.h"

static char capital(char c) {
  if (c >= 'a' && c <= 'z')
    return (char)(c - 'a' + 'A');
  return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
}

/* A text in upper case; bytes that are no letters or digits become `_`. */
static struct slice identifier_of(struct arena *arena, struct slice text) {
  char *at = arena_alloc(arena, text.length + 1, 1);
  size_t used = 0;
  for (size_t i = 0; i < text.length; i++) {
    char c = capital(text.at[i]);
    if (c != '_' || (used > 0 && at[used - 1] != '_')) /* C reserves __ */
      at[used++] = c;
  }
  while (used > 0 && at[used - 1] == '_')
    used--;
  return (struct slice){at, used};
}

/* A prefix neither begins with a digit nor is empty. */
struct identifiers identifiers_open(const struct compiled *c) {
  struct identifiers ids = {.arena = c->arena};
  struct slice name = c->options->prefix && *c->options->prefix
                          ? slice_of(c->options->prefix)
                          : c->model->name;
  struct text prefix = text_new(c->arena);
  name = identifier_of(c->arena, name);
  if (name.length == 0 || (name.at[0] >= '0' && name.at[0] <= '9'))
    text_put(&prefix, name.length ? "NET_" : "NET");
  text_puts(&prefix, name);
  text_putc(&prefix, '_');
  ids.prefix = text_slice(&prefix);
  return ids;
}

struct slice identifiers_small(const struct identifiers *ids) {
  size_t length = ids->prefix.length - 1;
  char *at = arena_alloc(ids->arena, length + 1, 1);
  for (size_t i = 0; i < length; i++) {
    char c = ids->prefix.at[i];
    at[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
  }
  return (struct slice){at, length};
}

void identifiers_take(struct identifiers *ids, const char *name) {
  map_add(ids->arena, &ids->taken, slice_of(name));
}

static bool has_ending(const char *const *endings, struct slice ending) {
  while (*endings && !slice_is(ending, *endings))
    endings++;
  return *endings;
}

/* Endings begin with underscores: a stem ends before one. */
static bool is_taken(const struct identifiers *ids, struct slice name) {
  for (size_t i = 1; i < name.length; i++) {
    const struct map_entry *stem =
        name.at[i] == '_' ? map_find(&ids->stems, (struct slice){name.at, i})
                          : NULL;
    if (stem && has_ending(stem->pointer, slice_from(name, i)))
      return true;
  }
  return map_find(&ids->taken, name);
}

static bool is_free(const struct identifiers *ids, struct slice stem,
                    const char *const *endings) {
  struct arena_mark mark = arena_mark(ids->arena);
  struct text name = text_new(ids->arena);
  bool is_free = true;
  text_puts(&name, stem);
  for (; is_free && *endings; endings++) {
    name.length = stem.length;
    text_put(&name, *endings);
    is_free = !is_taken(ids, text_slice(&name));
  }
  arena_release(ids->arena, mark);
  return is_free;
}

struct slice identifiers_stem(struct identifiers *ids, struct slice text,
                              const char *const *endings) {
  struct slice first = identifier_of(ids->arena, text), stem = first;
  if (first.length == 0)
    stem = first = slice_of("LAYER");
  for (int number = 2; !is_free(ids, stem, endings); number++) {
    struct text next = text_new(ids->arena);
    text_printf(&next, "%.*s_%d", SLICE_ARG(first), number);
    stem = text_slice(&next);
  }
  map_add(ids->arena, &ids->stems, stem)->pointer = (void *)endings;
  return stem;
}
