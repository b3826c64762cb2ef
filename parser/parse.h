/* The parser: turns a text into a syntax tree. */
#ifndef NETC_PARSER_PARSE_H
#define NETC_PARSER_PARSE_H

#include "lexer/scan.h"
#include "parser/ast.h"

struct parsed_alike; /* recent texts: alike.c */

struct parser {
  struct arena *arena;
  struct diags *diags;
  struct scan scan;
  int skipped_braces;         /* open braces on lines with a syntax error */
  uint32_t error_at;          /* place of the last grammar error */
  int *statements;            /* count over all texts of a compilation */
  struct parsed_alike *alike; /* NULL: texts are not remembered */
  bool shares; /* arguments may be shared: no braces around or in them */
  struct arena_mark args; /* where the current arguments begin */
  size_t diags_before;    /* number of diagnostics at that point */
  struct block *program;  /* the result */
  bool stops;             /* stop when the limit of errors is reached */
  bool value_alone;       /* the text is one value of a message */
  bool begun;             /* its first token has been taken */
  struct expr *value;     /* the resulting value */
};

/*
 * Parses a source of `diags->sources`. `*statements` counts the statements of a
 * compilation and is 0 before the first text. After a syntax error the rest is
 * still parsed for further errors; the tree has the statements before and after
 * it. Never NULL.
 */
struct block *parse(struct arena *arena, struct diags *diags, int source,
                    int *statements);

/* Parses a text for its errors alone and stops at the limit of `diags`. The
 * tree has only what was parsed until then. */
struct block *parse_errors(struct arena *arena, struct diags *diags, int source,
                           int *statements);

/* Parses a piece of a source as one value. NULL: an error was reported. */
struct expr *parse_value(struct arena *arena, struct diags *diags,
                         struct span span, int *statements);

#endif
