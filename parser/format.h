/* The formatter: writes a source in its canonical form. */
#ifndef NETC_PARSER_FORMAT_H
#define NETC_PARSER_FORMAT_H

#include "parser/parse.h"

/* A mark `-> DIMS` to write after a statement, or to remove. */
struct format_mark {
  struct span stmt;  /* without its mark */
  struct span old;   /* its present mark with the arrow; empty: none */
  struct slice dims; /* empty: no mark */
};

/*
 * Writes the source, which must have no syntax errors, with canonical blanks
 * and indentation. Comments, line breaks and single blank lines are kept.
 * Marks, comments and the columns of tables are aligned. Formatting the result
 * changes nothing. `marks` are in the order of the text.
 */
void format_source(struct arena *arena, struct sources *sources, int source,
                   const struct format_mark *marks, size_t mark_count,
                   struct text *out);

#endif
