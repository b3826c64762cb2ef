/* Grid: columns of cells, as wide as their content. */
#ifndef NETC_CODEGEN_GRID_H
#define NETC_CODEGEN_GRID_H

#include "base/text.h"

enum { GRID_COLUMNS = 16 }; /* maximum */

enum grid_align { ALIGN_LEFT, ALIGN_RIGHT };

struct grid_column {
  enum grid_align align;
  const char *before; /* separator from the column on the left */
  size_t width;       /* of the widest cell, after grid_fit */
  int rank;           /* the highest is dropped first; 0: never */
  size_t least;       /* minimum width after wrapping; 0: never */
  bool dropped;
};

struct grid {
  struct arena *arena;
  struct grid_column *columns;
  size_t column_count;
  VEC(struct slice) cells; /* row by row */
  bool colour;             /* `-` is dim */
  struct text pool;        /* holds the texts of cells */
};

struct grid grid_new(struct arena *arena, struct grid_column *columns,
                     size_t column_count);

/* Adds the next cell of the row: the text added to `grid->pool` since then. */
void grid_cell(struct grid *grid);

/* Adds the next cell with this text. */
void grid_text(struct grid *grid, const char *text);

/* Two cells: 4,632,902 B and 4.42 MiB; the second is empty for UNITS_BYTES. */
void grid_bytes(struct grid *grid, enum text_units units, int64_t bytes);

size_t grid_rows(const struct grid *grid);

/* The number of lines after wrapping. */
size_t grid_lines(const struct grid *grid);

/* Drops columns by rank, then wraps cells, until rows fit the width. */
void grid_fit(struct grid *grid, size_t width);

/* Wraps a paragraph to `width`; lines after the first are indented. */
void text_wrap(struct text *out, struct slice paragraph, size_t indent,
               size_t width);

/* Writes a row without trailing blanks. */
void grid_put_row(struct text *out, const struct grid *grid, size_t row);

/* Fits the grid to the width and writes all rows. */
void grid_put(struct text *out, struct grid *grid, size_t width);

#endif
