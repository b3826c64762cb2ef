/* Between the rules in scan.l and their functions in token.c and number.c. */
#ifndef NETC_LEXER_TOKEN_H
#define NETC_LEXER_TOKEN_H

#include "lexer/scan.h"

#define YYSTYPE union scan_value

/* The token's span. */
static inline struct span scan_here(const struct scan *scan) {
  return (struct span){scan->begin, scan->end};
}

/* The token in the source, which outlives flex's buffer. */
static inline struct slice scan_text(const struct scan *scan, size_t length) {
  return (struct slice){scan->text.at + (scan->begin - scan->base), length};
}

/* The byte at `offset` of the source map; 0 outside the text. */
static inline char scan_byte(const struct scan *scan, uint32_t offset) {
  size_t at = (size_t)offset - scan->base; /* wraps before the text */
  return at < scan->text.length ? scan->text.at[at] : '\0';
}

/* These return a token; TOKEN_ERROR after a report. */
int scan_word(struct scan *scan, size_t length);
int scan_number(struct scan *scan, size_t length); /* number.c */
int scan_string(struct scan *scan, size_t length);
int scan_open_string(struct scan *scan);
int scan_minus(struct scan *scan);
int scan_slash(struct scan *scan);

/* True if `//` divides: it is written as an operator. */
bool scan_floors(const struct scan *scan);

int scan_open(struct scan *scan, char bracket);
int scan_close(struct scan *scan, char bracket);
int scan_stray(struct scan *scan, const char *text);
int scan_eof(struct scan *scan);

/* True if a line end ends a statement here. */
bool scan_newline(const struct scan *scan);

/* True if `x` and a size follow the token directly. */
bool scan_joins(const struct scan *scan);

/* Keeps the context that the next token needs. */
void scan_follow(struct scan *scan, enum token token);

#endif
