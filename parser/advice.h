/* A way out of a syntax error, for the mistakes that people make. */
#ifndef NETC_PARSER_ADVICE_H
#define NETC_PARSER_ADVICE_H

#include "parser/parse.h"

/* Adds help to the error at `found`, if one of the mistakes is known. */
void advice_give(struct parser *p, struct diagnostic *d, enum token found,
                 struct span span);

/* The rest of the line is in error: braces there are opened in vain. */
void advice_skip_line(struct parser *p, struct span span);

#endif
