/* The columns of the table of layers, shared by text, CSV and Markdown. */
#ifndef NETC_CODEGEN_COLUMNS_H
#define NETC_CODEGEN_COLUMNS_H

#include "codegen/fold.h"
#include "codegen/grid.h"

/* The data for the cells of a line. */
struct line_view {
  const struct compiled *c;
  const struct rows *rows;
  const struct field *fields; /* by node; NULL if no column needs them */
  const struct fold_line *line;
  const struct row *row; /* the first row */
  struct cost cost;      /* of all iterations */
  size_t index;          /* index of the row */
  bool brief;            /* large numbers have three digits */
};

struct column {
  const char *name;    /* for --columns */
  const char *heading; /* NULL: "per image" and the like */
  enum grid_align align;
  bool usual; /* shown by default */
  int rank;   /* the highest is dropped first */
  size_t least;
  const char *summary;
  void (*put)(const struct line_view *v, struct text *cell);
  /* The number for --sort and totals; NULL if the column has none. */
  int64_t (*value)(const struct line_view *v);
  bool by_axis; /* values are per axis and are not summed */
};

enum { COLUMN_MOST = 20 };

size_t column_count(void);
const struct column *column_at(size_t index);
const struct column *column_find(struct slice name);

/* Chooses the columns in a list like "name,output,macs", or the default ones if
 * it is NULL. Returns their number. *wrong is the first unknown name. */
size_t columns_choose(const char *list, const struct column **chosen,
                      struct slice *wrong);

/* Receptive fields of the net, if a column needs them. */
const struct field *columns_prepare(const struct compiled *c,
                                    const struct column *const *chosen,
                                    size_t count);

struct line_view line_view(const struct compiled *c, const struct rows *rows,
                           const struct field *fields,
                           const struct fold_line *line);

#endif
