/* Grid: cells in columns, as wide as their content needs. */
#ifndef NETC_CODEGEN_GRID_H
#define NETC_CODEGEN_GRID_H

#include "base/text.h"

enum { GRID_COLUMNS = 16 }; /* at most */

enum grid_align { ALIGN_LEFT, ALIGN_RIGHT };

struct grid_column {
  enum grid_align align;
  const char *before; /* what separates it from the column to its left */
  size_t width;       /* of the widest cell, or what grid_fit left of it */
  int rank;           /* the highest is dropped first; 0: never */
  size_t least;       /* cells may be wrapped to this; 0: never */
  bool dropped;
};

struct grid {
  struct arena *arena;
  struct grid_column *columns;
  size_t column_count;
  VEC(struct slice) cells; /* row by row */
  bool colour;             /* what is nothing, `-`, is dim */
  struct text pool;        /* where the texts of cells are made */
};

struct grid grid_new(struct arena *arena, struct grid_column *columns,
                     size_t column_count);

/* Adds the next cell of the row: what was put into `grid->pool` since. */
void grid_cell(struct grid *grid);

/* Adds the next cell with that text. */
void grid_text(struct grid *grid, const char *text);

/* Two cells: 4,632,902 B and 4.42 MiB; the second is empty for UNITS_BYTES. */
void grid_bytes(struct grid *grid, enum text_units units, int64_t bytes);

size_t grid_rows(const struct grid *grid);

/* The lines that they take, where cells are wrapped. */
size_t grid_lines(const struct grid *grid);

/* Drops columns by rank, then wraps cells, until a row is that wide. */
void grid_fit(struct grid *grid, size_t width);

/* A paragraph in lines of `width`; those after the first are indented. */
void text_wrap(struct text *out, struct slice paragraph, size_t indent,
               size_t width);

/* Writes a row, without blanks at its end. */
void grid_put_row(struct text *out, const struct grid *grid, size_t row);

/* Fits the grid to that width, and writes all of its rows. */
void grid_put(struct text *out, struct grid *grid, size_t width);

#endif
