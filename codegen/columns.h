/* The columns of the table of layers: one table for text, CSV and Markdown. */
#ifndef NETC_CODEGEN_COLUMNS_H
#define NETC_CODEGEN_COLUMNS_H

#include "codegen/fold.h"
#include "codegen/grid.h"

/* What the cells of a line are made of. */
struct line_view {
  const struct compiled *c;
  const struct rows *rows;
  const struct field *fields; /* by node; NULL where no column asks */
  const struct fold_line *line;
  const struct row *row; /* the first one */
  struct cost cost;      /* of all turns */
  size_t index;          /* of the row */
};

struct column {
  const char *name;    /* of --columns */
  const char *heading; /* NULL: "per image" */
  enum grid_align align;
  bool usual; /* shown unless --columns says otherwise */
  int rank;   /* the highest goes first where room is short */
  size_t least;
  const char *summary;
  void (*put)(const struct line_view *v, struct text *cell);
  /* What --sort compares and totals add up; NULL: it is not a number. */
  int64_t (*value)(const struct line_view *v);
  bool by_axis; /* the value does not add up */
};

enum { COLUMN_MOST = 20 };

size_t column_count(void);
const struct column *column_at(size_t index);
const struct column *column_find(struct slice name);

/*
 * The columns that a list like "name,output,macs" asks for, or the usual ones
 * if it is NULL; their number. A name that is none is left in *wrong.
 */
size_t columns_choose(const char *list, const struct column **chosen,
                      struct slice *wrong);

/* What a column needs of a whole net: receptive fields. */
const struct field *columns_prepare(const struct compiled *c,
                                    const struct column *const *chosen,
                                    size_t count);

struct line_view line_view(const struct compiled *c, const struct rows *rows,
                           const struct field *fields,
                           const struct fold_line *line);

#endif
