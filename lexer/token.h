/* Between scan.l, the rules, and token.c, which has what they call. */
#ifndef NETC_LEXER_TOKEN_H
#define NETC_LEXER_TOKEN_H

#include "lexer/scan.h"

#define YYSTYPE union scan_value

/* Each returns the token; TOKEN_ERROR after having reported. */
int scan_word(struct scan *scan, size_t length);
int scan_number(struct scan *scan, size_t length);
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
