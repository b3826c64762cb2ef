/* The options of Darknet's sections. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/suggest.h"
#include "import/darknet/darknet.h"

/* The first option of a name counts, as in Darknet's own list. */
struct darknet_option *darknet_find(struct darknet_section *s,
                                    const char *key) {
  for (size_t i = 0; i < s->options.count; i++)
    if (slice_is(s->options.at[i].key, key)) {
      s->options.at[i].read = true;
      return &s->options.at[i];
    }
  if (s->missing_count < DARKNET_MISSING)
    s->missing[s->missing_count++] = key;
  return NULL;
}

void darknet_note_slips(struct darknet *d, struct darknet_section *s) {
  for (size_t i = 0; i < s->options.count; i++) {
    const struct darknet_option *option = &s->options.at[i];
    struct suggestion near = suggest_begin(option->key);
    for (size_t k = 0; k < s->missing_count && !option->read; k++)
      suggest_offer(&near, slice_of(s->missing[k]));
    if (near.best.at)
      graph_note(d->graph,
                 "Line %zu: `%.*s` of [%.*s] is not read; did you mean `%.*s`?",
                 option->line, SLICE_ARG(option->key), SLICE_ARG(s->name),
                 SLICE_ARG(near.best));
  }
}

struct slice darknet_word(struct darknet_section *s, const char *key,
                          const char *usual) {
  const struct darknet_option *option = darknet_find(s, key);
  return option ? option->value : slice_of(usual);
}

/* Darknet removes blanks from every line and calls atoi, which ignores whatever
 * follows the digits. */
bool darknet_integer(struct darknet *d, size_t line, struct slice text,
                     int64_t *value) {
  char buffer[24], *end = buffer;
  size_t length = 0, read = 0;
  for (; read < text.length && length + 1 < sizeof buffer; read++)
    if (!isspace((unsigned char)text.at[read]))
      buffer[length++] = text.at[read];
  buffer[length] = '\0';
  errno = 0;
  *value = strtoll(buffer, &end, 10);
  if (errno || end == buffer || (read < text.length && !*end))
    return false;
  if (*end || read < text.length)
    graph_note(d->graph,
               "Line %zu: `%.*s` is read as %" PRId64 ", as in Darknet.", line,
               SLICE_ARG(text), *value);
  return true;
}

int64_t darknet_number(struct darknet *d, struct darknet_section *s,
                       const char *key, int64_t usual) {
  const struct darknet_option *option = darknet_find(s, key);
  int64_t value = usual;
  if (!option)
    return usual;
  if (!darknet_integer(d, option->line, option->value, &value))
    graph_fail(d->graph, option->line, "`%s=%.*s` is not an integer", key,
               SLICE_ARG(option->value));
  else if (value < -DARKNET_MOST || value > DARKNET_MOST)
    graph_fail(d->graph, option->line, "`%s=%.*s` is out of range", key,
               SLICE_ARG(option->value));
  else
    return value;
  return usual;
}

/* A number that must be at least `least`. */
int64_t darknet_at_least(struct darknet *d, struct darknet_section *s,
                         const char *key, int64_t usual, int64_t least) {
  int64_t value = darknet_number(d, s, key, usual);
  if (value >= least)
    return value;
  const struct darknet_option *option = darknet_find(s, key);
  graph_fail(d->graph, option ? option->line : s->line,
             "[%.*s] needs `%s` of at least %" PRId64, SLICE_ARG(s->name), key,
             least);
  return least;
}
