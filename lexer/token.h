/* Between scan.l, the rules, and what they call: token.c, number.c. */
#ifndef NETC_LEXER_TOKEN_H
#define NETC_LEXER_TOKEN_H

#include "lexer/scan.h"

#define YYSTYPE union scan_value

/* Where the token stands. */
static inline struct span scan_here(const struct scan *scan) {
  return (struct span){scan->begin, scan->end};
}

/* The token in the source itself, which outlives flex's buffer. */
static inline struct slice scan_text(const struct scan *scan, size_t length) {
  return (struct slice){scan->text.at + (scan->begin - scan->base), length};
}

/* The byte at `offset` of the source map; 0 outside the text. */
static inline char scan_byte(const struct scan *scan, uint32_t offset) {
  size_t at = (size_t)offset - scan->base; /* before the text: it wraps */
  return at < scan->text.length ? scan->text.at[at] : '\0';
}

/* Each returns the token; TOKEN_ERROR after having reported. */
int scan_word(struct scan *scan, size_t length);
int scan_number(struct scan *scan, size_t length); /* number.c */
int scan_string(struct scan *scan, size_t length);
int scan_open_string(struct scan *scan);
int scan_minus(struct scan *scan);
int scan_slash(struct scan *scan);

/* Whether `//` divides: it is written as other operators are. */
bool scan_floors(const struct scan *scan);

int scan_open(struct scan *scan, char bracket);
int scan_close(struct scan *scan, char bracket);
int scan_stray(struct scan *scan, const char *text);
int scan_eof(struct scan *scan);

/* Whether an end of line ends a statement here. */
bool scan_newline(const struct scan *scan);

/* Whether `x` and a size come right after the current token. */
bool scan_joins(const struct scan *scan);

/* Remembers what the next token needs to know of this one. */
void scan_follow(struct scan *scan, enum token token);

#endif
