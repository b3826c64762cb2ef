/* The scanner: bytes in, tokens with spans out. */
#ifndef NETC_LEXER_SCAN_H
#define NETC_LEXER_SCAN_H

#include "base/diag.h"

/* Tokens are numbered as bison numbers them. */
enum token {
  TOKEN_END = 0,
  TOKEN_ERROR = 256, /* already reported */
  TOKEN_BEFORE_FIRST = 257,
#define TOKEN(id, words) TOKEN_##id,
#include "lexer/tokens.def"
#undef TOKEN
  TOKEN_AFTER_LAST
};

/* How a token is called in a message: "name", "`->`". */
const char *token_words(enum token token);

/* Whether `-` or `x` after it would be an operator. */
bool token_ends_operand(enum token token);

/* Whether a text can name something: no word of the language, no sign. */
bool is_name(struct slice text);

/* A unit in letters of any case, as it is written: GiB, M; or NULL. */
const char *scan_unit(struct slice letters);

/* Blanks in a line. */
static inline bool scan_is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/* Where the statement of a byte begins, after its label: after a line's end,
 * `{` or `;` and blanks. */
size_t scan_statement_begin(struct slice text, size_t at);

/* What a token carries. */
union scan_value {
  int64_t integer;
  double real;
  struct slice text;
};

/*
 * Blanks around a token decide what `/2`, `-1` and `f(` mean, so the scanner
 * keeps the little context that this takes.
 */
struct scan {
  struct diags *diags;
  struct arena *arena; /* as long as it scans */
  uint32_t begin, end; /* the current token, in the source map */
  union scan_value *value;
  enum token last, before; /* the two tokens before */
  enum token first;        /* of the statement */
  bool at_start;           /* of it */
  bool headed;             /* the last token is its first */
  bool labels;             /* what was read of it may be a label */
  bool parted;             /* its `=` or `in` was there */
  bool arguments;          /* the statement takes arguments */
  bool failed;             /* nested too deep: no more tokens */
  bool silent;             /* the line has an error, and needs no second one */
  int depth;               /* brackets that are open, and which */
  char open[LIMIT_DEPTH];
  uint32_t open_at[LIMIT_DEPTH];
  struct slice text;
  uint32_t base;
  void *flex;
};

void scan_begin(struct scan *scan, struct arena *arena, struct diags *diags,
                int source);

/* A piece of a source by itself: one value, as if in parentheses. */
void scan_begin_value(struct scan *scan, struct arena *arena,
                      struct diags *diags, struct span span);

/* The next token; TOKEN_END at the end, again and again. */
enum token scan_next(struct scan *scan, union scan_value *value,
                     struct span *span);

/*
 * Checks that a text is UTF-8 without NUL; reports the first byte that is
 * not.
 */
bool scan_check_text(struct diags *diags, int source);

#endif
