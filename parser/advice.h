/* Advice: suggests a fix for syntax errors that are common mistakes. */
#ifndef NETC_PARSER_ADVICE_H
#define NETC_PARSER_ADVICE_H

#include "parser/parse.h"

/* Adds help to the error at `found` if it is a known mistake. */
void advice_give(struct parser *p, struct diagnostic *d, enum token found,
                 struct span span);

/* Skips the rest of the line, which is in error, and counts its open braces. */
void advice_skip_line(struct parser *p, struct span span);

#endif
