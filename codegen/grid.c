/* Grid: cells in columns, as wide as their content needs. */
#include "codegen/grid.h"

struct grid grid_new(struct arena *arena, struct grid_column *columns,
                     size_t column_count) {
  return (struct grid){.arena = arena,
                       .columns = columns,
                       .column_count = column_count,
                       .pool = text_new(arena)};
}

void grid_cell(struct grid *grid) {
  struct slice made = text_slice(&grid->pool);
  struct grid_column *column =
      &grid->columns[grid->cells.count % grid->column_count];
  struct slice cell = {arena_copy(grid->arena, made.at, made.length),
                       made.length};
  *VEC_PUSH(grid->arena, &grid->cells) = cell;
  grid->pool.length = 0;
  size_t width = text_width(cell);
  if (width > column->width)
    column->width = width;
}

void grid_text(struct grid *grid, const char *text) {
  text_put(&grid->pool, text);
  grid_cell(grid);
}

void grid_bytes(struct grid *grid, enum text_units units, int64_t bytes) {
  text_count(&grid->pool, bytes);
  text_put(&grid->pool, " B");
  grid_cell(grid);
  if (units != UNITS_BYTES)
    text_size(&grid->pool, bytes, units, 2);
  grid_cell(grid);
}

size_t grid_rows(const struct grid *grid) {
  return grid->cells.count / grid->column_count;
}

size_t grid_width(const struct grid *grid) {
  size_t width = 0;
  for (size_t i = 0; i < grid->column_count; i++)
    width += strlen(grid->columns[i].before) + grid->columns[i].width;
  return width;
}

void grid_put_row(struct text *out, const struct grid *grid, size_t row) {
  size_t blanks = 0;
  for (size_t i = 0; i < grid->column_count; i++) {
    const struct grid_column *column = &grid->columns[i];
    struct slice cell = grid->cells.at[row * grid->column_count + i];
    size_t pad = column->width - text_width(cell);
    blanks += strlen(column->before) + (column->align == ALIGN_RIGHT) * pad;
    if (cell.length) {
      text_fill(out, ' ', blanks);
      text_puts(out, cell);
      blanks = 0;
    }
    blanks += (column->align == ALIGN_LEFT) * pad;
  }
  text_putc(out, '\n');
}
