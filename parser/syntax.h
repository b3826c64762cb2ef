/* Syntax errors in words: what was found, and what was expected. */
#ifndef NETC_PARSER_SYNTAX_H
#define NETC_PARSER_SYNTAX_H

#include "parser/parse.h"

/* Reports `found` where one of `expected` was required. */
void syntax_report(struct parser *p, enum token found, struct span span,
                   const enum token *expected, int count);

#endif
