/* Syntax errors in words: what was found, and what was expected. */
#include "parser/syntax.h"

#include "parser/advice.h"

/* Describes the token that was found, quoting it where that helps. */
static void put_found(struct text *out, struct parser *p, enum token token,
                      struct span span) {
  struct slice text = sources_slice(p->diags->sources, span);
  switch (token) {
  case TOKEN_NAME:
  case TOKEN_FUNC:
  case TOKEN_INT:
  case TOKEN_REAL: text_printf(out, "`%.*s`", SLICE_ARG(text)); break;
  case TOKEN_END:
    text_put(out, p->value_alone ? "`}`" : token_words(token));
    break;
  default: text_put(out, token_words(token));
  }
}

static bool wanted(const enum token *tokens, int count, enum token token) {
  for (int i = 0; i < count; i++)
    if (tokens[i] == token)
      return true;
  return false;
}

/* True for tokens that a message calls "a value". */
static bool begins_value(enum token token) {
  switch (token) {
  case TOKEN_FUNC:
  case TOKEN_REAL:
  case TOKEN_ANY:
  case TOKEN_NEGATE:
  case TOKEN_PAREN:
  case TOKEN_BRACKET:
  case TOKEN_KW_IN:
  case TOKEN_KW_TRUE:
  case TOKEN_KW_FALSE:
  case TOKEN_KW_NOT: return true;
  default: return false;
  }
}

static void put_expected(struct text *out, const enum token *tokens,
                         int count) {
  enum { SHOWN = 4 }; /* longer lists do not help */
  bool value = wanted(tokens, count, TOKEN_INT);
  const char *words[SHOWN];
  int shown = 0;
  if (value)
    words[shown++] = "a value";
  for (int i = 0; i < count; i++) {
    bool part = value && (begins_value(tokens[i]) || tokens[i] == TOKEN_INT ||
                          tokens[i] == TOKEN_NAME);
    if (part)
      continue;
    if (shown == SHOWN)
      return;
    words[shown++] = token_words(tokens[i]);
  }
  for (int i = 0; i < shown; i++)
    text_printf(out, "%s%s", i == 0 ? ": expected " : " or ", words[i]);
}

static struct span open_bracket(const struct parser *p) {
  uint32_t at = p->scan.open_at[p->scan.depth - 1];
  return (struct span){at, at + 1};
}

void syntax_report(struct parser *p, enum token found, struct span span,
                   const enum token *expected, int count) {
  if (found == TOKEN_BRACE_CLOSE && p->skipped_braces > 0) {
    p->skipped_braces--; /* its opening brace was on a line in error */
    return;
  }
  if (found == TOKEN_END && p->scan.failed)
    return; /* nested too deep, already reported */
  if (found != TOKEN_BRACE_CLOSE && found != TOKEN_NEWLINE)
    advice_skip_line(p, span);
  struct text what = text_new(p->arena);
  if (found == TOKEN_END && p->scan.depth > 0 && !p->value_alone) {
    span = open_bracket(p); /* report the open bracket, not the end */
    text_put(&what, "this `");
    text_puts(&what, sources_slice(p->diags->sources, span));
    text_put(&what, "` is not closed");
  } else {
    bool complete =
        found != TOKEN_END && wanted(expected, count, TOKEN_NEWLINE);
    put_found(&what, p, found, span);
    text_put(&what, complete ? " does not belong here" : " is unexpected here");
    if (!complete && found != TOKEN_END)
      put_expected(&what, expected, count);
  }
  struct diagnostic *d = diag(p->diags, SYNTAX, span, "%.*s", SLICE_ARG(what));
  if (diag_is_shown(d))
    advice_give(p, d, found, span);
}
