/*
 * Reads protobuf's text format, `name: value` and `name { ... }`
 * (https://protobuf.dev/reference/protobuf/textformat-spec/), without
 * extensions and lists in brackets, which no network uses.
 */
#include "import/caffe/prototxt.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct prototxt_reader {
  struct graph *graph;
  const char *at, *end;
  size_t line;
};

static void skip_blanks(struct prototxt_reader *r) {
  for (; r->at < r->end; r->at++) {
    if (*r->at == '#')
      while (r->at + 1 < r->end && r->at[1] != '\n')
        r->at++;
    else if (*r->at == '\n')
      r->line++;
    else if (!isspace((unsigned char)*r->at) && *r->at != ',' && *r->at != ';')
      return;
  }
}

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-' ||
         c == '+';
}

static struct slice read_word(struct prototxt_reader *r) {
  const char *begin = r->at;
  while (r->at < r->end && is_word(*r->at))
    r->at++;
  return (struct slice){begin, (size_t)(r->at - begin)};
}

/* Strings are names and paths: escapes are kept as they are. */
static bool read_string(struct prototxt_reader *r,
                        struct prototxt_field *field) {
  char quote = *r->at++;
  const char *begin = r->at;
  while (r->at < r->end && *r->at != quote && *r->at != '\n')
    r->at += *r->at == '\\' && r->at + 1 < r->end ? 2 : 1;
  if (r->at >= r->end || *r->at != quote)
    return graph_fail(r->graph, r->line, "a string has no closing quote");
  field->value = (struct slice){begin, (size_t)(r->at++ - begin)};
  field->is_string = true;
  return !memchr(begin, '\0', field->value.length) ||
         graph_fail(r->graph, r->line, "the string of `%.*s` contains a NUL",
                    SLICE_ARG(field->name));
}

static bool read_value(struct prototxt_reader *r,
                       struct prototxt_field *field) {
  if (r->at < r->end && (*r->at == '"' || *r->at == '\''))
    return read_string(r, field);
  field->value = read_word(r);
  return field->value.length > 0 ||
         graph_fail(r->graph, r->line, "`%.*s` has no value",
                    SLICE_ARG(field->name));
}

/* Reads fields up to the end, or to a `}` at depth > 0. */
static bool read_fields(struct prototxt_reader *r,
                        struct prototxt_field **fields, int depth) {
  struct prototxt_field **last = fields;
  *fields = NULL;
  if (depth > LIMIT_DEPTH)
    return graph_fail(r->graph, r->line,
                      "messages are nested more than %d levels deep",
                      LIMIT_DEPTH);
  for (;;) {
    skip_blanks(r);
    if (r->at == r->end)
      return depth == 0 || graph_fail(r->graph, r->line, "unmatched `{`");
    if (*r->at == '}' || *r->at == '>') {
      r->at++;
      return depth > 0 || graph_fail(r->graph, r->line, "unmatched `}`");
    }
    struct prototxt_field *field =
        ARENA_NEW(r->graph->arena, struct prototxt_field);
    *last = field;
    last = &field->next;
    field->line = r->line;
    field->name = read_word(r);
    if (field->name.length == 0)
      return graph_fail(r->graph, r->line,
                        "expected the name of a field, not `%c`",
                        isprint((unsigned char)*r->at) ? *r->at : '?');
    skip_blanks(r);
    bool colon = r->at < r->end && *r->at == ':';
    if (colon)
      r->at++;
    skip_blanks(r);
    bool message = r->at < r->end && (*r->at == '{' || *r->at == '<');
    if (message)
      r->at++;
    else if (!colon)
      return graph_fail(r->graph, r->line, "expected `:` after `%.*s`",
                        SLICE_ARG(field->name));
    if (!(message ? read_fields(r, &field->inside, depth + 1)
                  : read_value(r, field)))
      return false;
  }
}

bool prototxt_read(struct graph *graph, struct slice text,
                   struct prototxt_field **fields) {
  struct prototxt_reader r = {graph, text.at, text.at + text.length, 1};
  return read_fields(&r, fields, 0);
}

struct prototxt_field *prototxt_find(const struct prototxt_field *message,
                                     const char *name) {
  struct prototxt_field *field = message ? message->inside : NULL;
  while (field && !slice_is(field->name, name))
    field = field->next;
  return field;
}

struct prototxt_field *prototxt_again(const struct prototxt_field *field) {
  struct prototxt_field *next = field->next;
  while (next && !slice_equal(next->name, field->name))
    next = next->next;
  return next;
}

struct slice prototxt_text(const struct prototxt_field *message,
                           const char *name, const char *usual) {
  const struct prototxt_field *field = prototxt_find(message, name);
  return field ? field->value : slice_of(usual);
}

bool prototxt_bool(const struct prototxt_field *message, const char *name,
                   bool usual) {
  struct slice text = prototxt_text(message, name, usual ? "true" : "false");
  return slice_is(text, "true") || slice_is(text, "1") || slice_is(text, "t") ||
         slice_is(text, "True");
}

int64_t prototxt_value(struct graph *graph, const struct prototxt_field *field,
                       int64_t least, int64_t most) {
  char buffer[32], *end = buffer;
  int64_t value = 0;
  if (field->value.length > 0 && field->value.length < sizeof buffer) {
    memcpy(buffer, field->value.at, field->value.length);
    buffer[field->value.length] = '\0';
    errno = 0;
    value = strtoll(buffer, &end, 10);
  }
  if (end == buffer || *end || errno)
    graph_fail(graph, field->line, "`%.*s: %.*s` is not an integer",
               SLICE_ARG(field->name), SLICE_ARG(field->value));
  else if (value < least || value > most)
    graph_fail(graph, field->line,
               "`%.*s` is %" PRId64 ", not from %" PRId64 " to %" PRId64,
               SLICE_ARG(field->name), value, least, most);
  else
    return value;
  return least;
}

int64_t prototxt_int(struct graph *graph, const struct prototxt_field *message,
                     const char *name, int64_t usual, int64_t least,
                     int64_t most) {
  const struct prototxt_field *field = prototxt_find(message, name);
  return field ? prototxt_value(graph, field, least, most) : usual;
}

double prototxt_real(struct graph *graph, const struct prototxt_field *message,
                     const char *name, double usual) {
  const struct prototxt_field *field = prototxt_find(message, name);
  char buffer[64], *end = buffer;
  double value = usual;
  if (!field)
    return usual;
  if (field->value.length > 0 && field->value.length < sizeof buffer) {
    memcpy(buffer, field->value.at, field->value.length);
    buffer[field->value.length] = '\0';
    value = strtod(buffer, &end);
  }
  if (end == buffer || *end || !isfinite(value)) {
    graph_fail(graph, field->line, "`%s: %.*s` is not a number", name,
               SLICE_ARG(field->value));
    return usual;
  }
  return value;
}
