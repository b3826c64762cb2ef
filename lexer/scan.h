/* Scanner: converts bytes to tokens with spans. */
#ifndef NETC_LEXER_SCAN_H
#define NETC_LEXER_SCAN_H

#include "base/diag.h"

/* Token numbers are bison's. */
enum token {
  TOKEN_END = 0,
  TOKEN_ERROR = 256, /* already reported */
  TOKEN_BEFORE_FIRST = 257,
#define TOKEN(id, words) TOKEN_##id,
#include "lexer/tokens.def"
#undef TOKEN
  TOKEN_AFTER_LAST
};

/* A token's name in messages: "name", "`->`". */
const char *token_words(enum token token);

/* True if `-` or `x` after it is an operator. */
bool token_ends_operand(enum token token);

/* True if the text can be a name: not a keyword, not a sign. */
bool is_name(struct slice text);

/* The unit with these letters in any case: GiB, M; or NULL. */
const char *scan_unit(struct slice letters);

/* Reads a whole number, which may have a unit: "64MiB". False: it is none. */
bool scan_amount(struct slice text, int64_t *value);

/* True for blanks within a line. */
static inline bool scan_is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/* Offset of the statement of a byte, with its label: after the last line end,
 * `{` or `;`, and blanks. */
size_t scan_statement_begin(struct slice text, size_t at);

/* A token's value. */
union scan_value {
  int64_t integer;
  double real;
  struct slice text;
};

/*
 * Blanks around a token decide what `/2`, `-1` and `f(` mean, for which the
 * scanner keeps a little context.
 */
struct scan {
  struct diags *diags;
  struct arena *arena; /* lives as long as the scan */
  uint32_t begin, end; /* the current token, in the source map */
  union scan_value *value;
  enum token last, before; /* the two tokens before */
  enum token first;        /* first token of the statement */
  bool at_start;           /* the next token starts a statement */
  bool headed;             /* the last token started the statement */
  bool labels;             /* the tokens so far may be a label */
  bool parted;             /* after its `=` or `in` */
  bool arguments;          /* the statement takes arguments */
  bool failed;             /* nested too deep; no more tokens */
  bool silent;             /* the line has an error already */
  int depth;               /* open brackets, and their kinds */
  char open[LIMIT_DEPTH];
  uint32_t open_at[LIMIT_DEPTH];
  struct slice text;
  uint32_t base;
  void *flex;
};

void scan_begin(struct scan *scan, struct arena *arena, struct diags *diags,
                int source);

/* Scans a part of a source as one value, as if in parentheses. */
void scan_begin_value(struct scan *scan, struct arena *arena,
                      struct diags *diags, struct span span);

/* The next token. At the end always TOKEN_END. */
enum token scan_next(struct scan *scan, union scan_value *value,
                     struct span *span);

/*
 * Checks that a text is UTF-8 without NUL; reports the first byte that is not.
 */
bool scan_check_text(struct diags *diags, int source);

#endif
