/* The parser: a text in, a syntax tree out. */
#ifndef NETC_PARSER_PARSE_H
#define NETC_PARSER_PARSE_H

#include "lexer/scan.h"
#include "parser/ast.h"

struct parsed_alike; /* texts that were parsed of late: alike.c */

struct parser {
  struct arena *arena;
  struct diags *diags;
  struct scan scan;
  int skipped_braces;         /* opened on lines with a syntax error */
  uint32_t error_at;          /* where the last error of the grammar is */
  int *statements;            /* counted through all texts of a compilation */
  struct parsed_alike *alike; /* NULL: none are remembered */
  bool shares; /* the current arguments are outside of braces, and have none; */
  struct arena_mark args; /* where they begin */
  size_t diags_before;    /* and what was reported by then */
  struct block *program;  /* what came out */
  bool stops;             /* once no more errors are wanted */
  bool value_alone;       /* the text is one value of a message, */
  bool begun;             /* of which the first token was taken */
  struct expr *value;     /* what came out of that */
};

/*
 * Parses a source of `diags->sources`; `*statements` counts the statements
 * of a compilation, from 0 before the first text. After a syntax error the rest
 * is still parsed, for its own errors; the statements before and after are in
 * the tree. Never NULL.
 */
struct block *parse(struct arena *arena, struct diags *diags, int source,
                    int *statements);

/* The same of a text of which only the errors are wanted, as many as the limit
 * of `diags` says: there it ends. The tree is no more than what was read. */
struct block *parse_errors(struct arena *arena, struct diags *diags, int source,
                           int *statements);

/* The same for a piece of a source that is one value; NULL: reported. */
struct expr *parse_value(struct arena *arena, struct diags *diags,
                         struct span span, int *statements);

#endif
