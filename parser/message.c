/*
 * Messages: `error "depth is {depth}"`, a text with values, and `allow
 * "huge-fc"`, which turns warnings off for a file.
 */
#include "base/suggest.h"
#include "parser/build.h"
#include "parser/syntax.h"

struct message {
  struct parser *p;
  struct expr_list parts;
  struct span rest; /* of the string, without quotes */
};

static char at(const struct message *m, uint32_t place) {
  struct span span = {place, place + 1};
  return place < m->rest.end ? *sources_slice(m->p->diags->sources, span).at
                             : '\0';
}

static void add_text(struct message *m, uint32_t end) {
  struct span span = {m->rest.begin, end};
  struct slice text = sources_slice(m->p->diags->sources, span);
  if (!text.length)
    return;
  struct expr *part = build_name(m->p, EXPR_TEXT, text, span);
  APPEND(m->parts, part);
}

/* Adds the value after a `{` and moves past it. */
static bool add_value(struct message *m, uint32_t open) {
  uint32_t end = open + 1;
  while (end < m->rest.end && at(m, end) != '}')
    end++;
  struct span brace = {open, open + 1}, span = {open + 1, end};
  if (end == m->rest.end) {
    struct diagnostic *d =
        diag(m->p->diags, SYNTAX, brace, "this `{` has no `}` in its message");
    return diag_help(
        d, "braces contain a value: `{depth}`; write `{{` for a brace");
  }
  struct expr *value =
      parse_value(m->p->arena, m->p->diags, span, m->p->statements);
  m->rest.begin = end + 1;
  if (value)
    APPEND(m->parts, value);
  return value;
}

/* Splits a string into texts and values in braces; `{{` and `}}` are braces. */
static bool read_parts(struct message *m) {
  for (uint32_t place = m->rest.begin; place < m->rest.end; place++) {
    char c = at(m, place);
    if (c != '{' && c != '}')
      continue;
    bool twice = at(m, place + 1) == c;
    add_text(m, place + twice);
    m->rest.begin = place + 1 + twice;
    if (c == '{' && !twice && !add_value(m, place))
      return false;
    if (c == '}' && !twice) {
      struct diagnostic *d =
          diag(m->p->diags, SYNTAX, (struct span){place, place + 1},
               "this `}` closes no value");
      return diag_help(d, "write `}}` for a brace");
    }
    place = m->rest.begin - 1;
  }
  add_text(m, m->rest.end);
  return true;
}

/* Allows a kind of warning; errors cannot be allowed. */
static void allow(struct parser *p, struct slice name, struct span span) {
  struct suggestion s = suggest_begin(name);
  enum slug slug = slug_find(name);
  if (slug < SLUG_COUNT && slug_info(slug)->severity != SEVERITY_ERROR) {
    diag_allow(p->diags, slug, span);
    return;
  }
  struct diagnostic *d =
      diag(p->diags, UNKNOWN_CHOICE, span,
           slug < SLUG_COUNT ? "`%.*s` is an error; only warnings can be "
                               "allowed"
                             : "unknown warning `%.*s`",
           SLICE_ARG(name));
  for (int i = 0; i < SLUG_COUNT; i++)
    if (slug_info((enum slug)i)->severity != SEVERITY_ERROR)
      suggest_offer(&s, slice_of(slug_info((enum slug)i)->name));
  if (slug < SLUG_COUNT)
    diag_offer_omission(d, span, "leave it out");
  else if (s.best.at)
    diag_suggest(d, span, s.best);
  diag_otherwise(d, "the name of a warning is printed in brackets at its end");
}

/* `allow "huge-fc stride-skips"` */
static struct stmt *build_allow(struct parser *p, struct named word,
                                struct span string, struct span span) {
  struct stmt *stmt = build_named(p, STMT_MESSAGE, word, span);
  struct span all = {string.begin + 1, string.end - 1};
  struct slice text = sources_slice(p->diags->sources, all);
  stmt->more->value = build_name(p, EXPR_TEXT, text, all);
  for (size_t i = 0, end; i < text.length; i = end) {
    struct slice name = {text.at + i, 0};
    while (i + name.length < text.length && name.at[name.length] != ' ')
      name.length++;
    end = i + name.length + 1;
    struct span place = {all.begin + (uint32_t)i,
                         all.begin + (uint32_t)(i + name.length)};
    if (name.length)
      allow(p, name, place);
  }
  return stmt;
}

struct stmt *build_message(struct parser *p, struct named word,
                           struct span string, struct span span) {
  static const enum token line_end = TOKEN_NEWLINE;
  if (slice_is(word.name, "allow"))
    return build_allow(p, word, string, span);
  if (!slice_is(word.name, "error") && !slice_is(word.name, "warn")) {
    syntax_report(p, TOKEN_STRING, string, &line_end, 1);
    return NULL;
  }
  struct message m = {.p = p, .rest = {string.begin + 1, string.end - 1}};
  if (!read_parts(&m))
    return NULL;
  struct stmt *stmt = build_named(p, STMT_MESSAGE, word, span);
  stmt->more->value = m.parts.first;
  return stmt;
}

struct expr *build_quoted(struct parser *p, struct slice key, struct slice text,
                          struct span string) {
  static const enum token number = TOKEN_INT;
  static const char *const keys[] = {
      "gpu",          "board", "runtime", "cut",  "tensor_split",
      "weight_dtype", "cache", "gather",  "rule", "sequence_parallel",
      "loss"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (slice_is(key, keys[i]))
      return build_name(p, EXPR_TEXT, text, string);
  syntax_report(p, TOKEN_STRING, string, &number, 1);
  return NULL;
}
