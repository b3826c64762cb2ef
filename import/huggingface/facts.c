/* Facts from JSON, each with its place in the file. */
#include "import/huggingface/facts.h"

#include <errno.h>
#include <stdlib.h>

enum { DEEPEST = 32, LONGEST_NUMBER = 40 };

struct json_reader {
  struct facts *facts;
  struct slice text;
  size_t at, line, begin; /* begin: of the line */
  int depth;
  struct fact odd; /* the first that is NaN or infinite */
  int odds;
};

const struct fact *fact_find(const struct facts *facts, struct slice name) {
  const struct map_entry *entry = map_find(&facts->places, name);
  const struct fact *fact = entry ? &facts->all.at[entry->number] : NULL;
  return fact && fact->kind != FACT_NULL ? fact : NULL;
}

const struct fact *fact_of(const struct facts *facts, const char *name) {
  return fact_find(facts, slice_of(name));
}

const struct slice *fact_shown(const struct fact *fact) {
  return fact->shown.length ? &fact->shown : &fact->name;
}

bool fact_is(const struct facts *facts, const char *name, const char *word) {
  const struct fact *fact = fact_of(facts, name);
  return fact && fact->kind == FACT_WORD && slice_is(fact->text, word);
}

struct fact *fact_put(struct facts *facts, struct slice name) {
  struct arena *arena = facts->graph->arena;
  struct map_entry *entry = map_find(&facts->places, name);
  if (!entry) {
    entry = map_add(arena, &facts->places, name);
    entry->number = (int64_t)facts->all.count;
    *VEC_PUSH(arena, &facts->all) = (struct fact){.name = name};
  }
  return &facts->all.at[entry->number];
}

void fact_put_text(struct facts *facts, struct slice name, struct slice text) {
  struct fact *fact = fact_put(facts, name);
  fact->text = text;
  fact->kind = FACT_INT;
  fact->integer = 0;
  if (slice_is(text, "true") || slice_is(text, "false"))
    fact->kind = FACT_BOOL;
  else if (!is_digit(*text.at))
    fact->kind = FACT_WORD;
  else if (memchr(text.at, '.', text.length) ||
           memchr(text.at, 'e', text.length))
    fact->kind = FACT_REAL;
  fact->integer = slice_is(text, "true");
  for (size_t i = 0; fact->kind == FACT_INT && i < text.length; i++)
    fact->integer = 10 * fact->integer + text.at[i] - '0';
}

bool fact_fail(struct facts *facts, const struct fact *fact, const char *format,
               ...) {
  struct text text = text_new(facts->graph->arena);
  va_list args;
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  if (facts->graph->failed)
    return false;
  graph_fail(facts->graph, fact->line, "%.*s", SLICE_ARG(text));
  facts->graph->error.column = fact->column;
  return false;
}

/* Reading */

static bool refuse(struct json_reader *r, const char *what) {
  graph_fail(r->facts->graph, r->line, "not JSON: %s", what);
  r->facts->graph->error.column = r->at - r->begin + 1;
  return false;
}

static int peek(const struct json_reader *r) {
  return r->at < r->text.length ? (unsigned char)r->text.at[r->at] : -1;
}

static int peek_word(struct json_reader *r) {
  while (peek(r) >= 0 && strchr(" \t\r\n", peek(r)) && peek(r)) {
    bool ends = peek(r) == '\n';
    r->at++;
    if (ends) {
      r->line++;
      r->begin = r->at;
    }
  }
  return peek(r);
}

static bool read_string(struct json_reader *r, struct slice *string) {
  size_t begin = ++r->at;
  for (; peek(r) >= ' ' && peek(r) != '"'; r->at++)
    if (peek(r) == '\\')
      r->at++;
  if (peek(r) != '"')
    return refuse(r, "a string has no closing quote");
  *string = (struct slice){r->text.at + begin, r->at - begin};
  r->at++;
  return true;
}

/* "500000.0" as 500000, "1e-05" as 1e-5: numbers as one writes them. */
static struct slice tidy(struct facts *facts, struct slice number) {
  struct text text = text_new(facts->graph->arena);
  const char *power = memchr(number.at, 'e', number.length);
  size_t length = power ? (size_t)(power - number.at) : number.length;
  bool real = memchr(number.at, '.', length);
  while (real && number.at[length - 1] == '0')
    length--;
  length -= real && number.at[length - 1] == '.';
  text_bytes(&text, number.at, length);
  for (const char *at = power; at && at < number.at + number.length; at++)
    if (*at != '+' &&
        (*at != '0' || is_digit(at[-1]) || at + 1 == number.at + number.length))
      text_putc(&text, *at);
  return text_slice(&text);
}

/* -12, 1.5e-05; a real without a rest is an integer: 10000.0. */
static bool read_number(struct json_reader *r, struct fact *fact) {
  char copy[LONGEST_NUMBER + 1], *end;
  size_t begin = r->at;
  bool real = false;
  for (; peek(r) > 0 && strchr("+-.0123456789eE", peek(r)); r->at++)
    real = real || strchr(".eE", peek(r));
  fact->text = (struct slice){r->text.at + begin, r->at - begin};
  if (fact->text.length > LONGEST_NUMBER)
    return refuse(r, "a number has more than 40 characters");
  memcpy(copy, fact->text.at, fact->text.length);
  copy[fact->text.length] = '\0';
  errno = 0;
  double value = real ? strtod(copy, &end) : 0;
  fact->integer = real ? 0 : strtoll(copy, &end, 10);
  if (*end || end == copy)
    return refuse(r, "a number was expected");
  if (errno && !(real && value < 1))
    return refuse(r, "a number is too large");
  fact->kind = real ? FACT_REAL : FACT_INT;
  if (!real)
    return true;
  fact->text = tidy(r->facts, fact->text);
  if (value > -1e15 && value < 1e15 && value <= (double)(int64_t)value &&
      value >= (double)(int64_t)value) {
    fact->kind = FACT_INT;
    fact->integer = (int64_t)value;
  }
  return true;
}

/* A member's name, and how it is shown. */
struct json_name {
  struct slice name, shown;
};

static bool read_value(struct json_reader *r, struct json_name name);

static bool read_literal(struct json_reader *r, struct fact *fact) {
  static const struct {
    const char *text;
    enum fact_kind kind;
    bool value;
  } words[] = {{"null", FACT_NULL, false},
               {"true", FACT_BOOL, true},
               {"false", FACT_BOOL, false},
               /* Python's json writes them. */
               {"NaN", FACT_NULL, false},
               {"Infinity", FACT_NULL, false},
               {"-Infinity", FACT_NULL, false}};
  struct slice rest = slice_from(r->text, r->at);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t length = strlen(words[i].text);
    if (rest.length < length || memcmp(rest.at, words[i].text, length) != 0)
      continue;
    fact->kind = words[i].kind;
    fact->text = slice_of(words[i].text);
    fact->integer = words[i].value;
    r->at += length;
    if (i > 2 && r->odds++ == 0)
      r->odd = *fact;
    return true;
  }
  return refuse(r, rest.length ? "a value was expected" : "the file ends here");
}

/* The name of a member: a_b of b in a, shown as a.b, and a_0 as a[0]. */
static struct json_name inner(struct json_reader *r, struct json_name outer,
                              struct slice name, size_t index) {
  struct arena *arena = r->facts->graph->arena;
  struct text text = text_new(arena), shown = text_new(arena);
  if (!outer.name.length)
    return (struct json_name){name, name};
  text_printf(&text, "%.*s_", SLICE_ARG(outer.name));
  text_puts(&shown, outer.shown);
  if (name.at) {
    text_puts(&text, name);
    text_printf(&shown, ".%.*s", SLICE_ARG(name));
  } else {
    text_printf(&text, "%zu", index);
    text_printf(&shown, "[%zu]", index);
  }
  return (struct json_name){text_slice(&text), text_slice(&shown)};
}

/* An object or a list; how many members it has. */
static bool read_members(struct json_reader *r, struct json_name outer,
                         int64_t *count) {
  bool object = peek(r) == '{';
  int close = object ? '}' : ']';
  r->at++;
  if (++r->depth > DEEPEST)
    return refuse(r, "objects are nested more than 32 levels deep");
  for (*count = 0; peek_word(r) != close; ++*count) {
    struct slice name = {0};
    if (*count && peek(r) != ',')
      return refuse(r, "a comma was expected");
    r->at += *count > 0;
    if (object &&
        (peek_word(r) != '"' || !read_string(r, &name) || peek_word(r) != ':'))
      return refuse(r, "a name and a colon were expected");
    r->at += object;
    peek_word(r);
    if (!read_value(r, inner(r, outer, name, (size_t)*count)))
      return false;
  }
  r->at++;
  r->depth--;
  return true;
}

/* `-Infinity`, a word of Python's. */
static bool is_infinite(const struct json_reader *r) {
  return r->at + 1 < r->text.length && r->text.at[r->at + 1] == 'I';
}

static bool read_value(struct json_reader *r, struct json_name name) {
  int next = peek(r);
  struct fact fact = {.name = name.name,
                      .shown = name.shown,
                      .kind = FACT_OBJECT,
                      .line = r->line,
                      .column = r->at - r->begin + 1};
  if (next == '"') {
    fact.kind = FACT_WORD;
    if (!read_string(r, &fact.text))
      return false;
  } else if (next == '{' || next == '[') {
    fact.text = slice_of(next == '{' ? "an object" : "a list");
    if (!read_members(r, name, &fact.integer))
      return false;
  } else if ((next == '-' && !is_infinite(r)) || is_digit((char)next)) {
    if (!read_number(r, &fact))
      return false;
  } else if (!read_literal(r, &fact)) {
    return false;
  }
  if (!map_find(&r->facts->places, name.name))
    *fact_put(r->facts, name.name) = fact;
  return true;
}

bool facts_read_json(struct facts *facts, struct graph *graph,
                     struct slice file) {
  struct json_reader r = {.facts = facts, .text = file, .line = 1};
  *facts = (struct facts){.graph = graph};
  if (peek_word(&r) != '{')
    return refuse(&r, "an object was expected");
  if (!read_value(&r, (struct json_name){{"", 0}, {"", 0}}))
    return false;
  if (r.odds)
    graph_note(graph, "`%.*s` is %.*s%s: netc takes the type's default",
               SLICE_ARG(r.odd.shown), SLICE_ARG(r.odd.text),
               r.odds > 1 ? graph_text(graph, ", and %d more are no numbers",
                                       r.odds - 1)
                          : "");
  return peek_word(&r) < 0 || refuse(&r, "the file continues after the object");
}
