/* The formatter: the same source, written the canonical way. */
#ifndef NETC_PARSER_FORMAT_H
#define NETC_PARSER_FORMAT_H

#include "parser/parse.h"

/* A mark `-> DIMS` to write after a statement, or to take away. */
struct format_mark {
  struct span stmt;  /* the statement, without mark */
  struct span old;   /* the mark it has, arrow and all; empty: none */
  struct slice dims; /* empty: no mark */
};

/*
 * Writes the source, which must have no syntax errors, with canonical blanks
 * and indentation: every comment, every line break and one blank line in a
 * row are kept; marks, comments and the columns of tables are aligned.
 * Formatting the result changes nothing. `marks` are in the order of the
 * text.
 */
void format_source(struct arena *arena, struct sources *sources, int source,
                   const struct format_mark *marks, size_t mark_count,
                   struct text *out);

#endif
