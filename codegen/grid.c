/* Grid: columns of cells, as wide as their content. */
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

/* The total width of all columns. */
static size_t grid_width(const struct grid *grid) {
  size_t width = 0;
  for (size_t i = 0; i < grid->column_count; i++)
    if (!grid->columns[i].dropped)
      width += strlen(grid->columns[i].before) + grid->columns[i].width;
  return width;
}

/* The column to drop next; NULL if the rest must stay. */
static struct grid_column *least_wanted(struct grid *grid) {
  struct grid_column *most = NULL;
  for (size_t i = 0; i < grid->column_count; i++) {
    struct grid_column *column = &grid->columns[i];
    if (!column->dropped && column->rank > (most ? most->rank : 0))
      most = column;
  }
  return most;
}

void grid_fit(struct grid *grid, size_t width) {
  struct grid_column *least;
  while (grid_width(grid) > width && (least = least_wanted(grid)))
    least->dropped = true;
  for (size_t i = 0; i < grid->column_count; i++) {
    struct grid_column *column = &grid->columns[i];
    size_t now = grid_width(grid);
    size_t over = now > width ? now - width : 0;
    if (column->least && column->width > column->least && over)
      column->width = column->width - column->least > over
                          ? column->width - over
                          : column->least;
  }
}

/* True if a blank is between a number and its unit: 53,288,448 B, 2.14 GiB. */
static bool leads_to_unit(struct slice text, size_t blank) {
  size_t at = blank + 1;
  if (blank == 0 || text.at[blank - 1] < '0' || text.at[blank - 1] > '9')
    return false;
  if (at < text.length && strchr("kKMGTPE", text.at[at]))
    at++;
  if (at < text.length && text.at[at] == 'i')
    at++;
  if (at == text.length || text.at[at++] != 'B')
    return false;
  return at == text.length || strchr(" ,;.)", text.at[at]) != NULL;
}

/* Bytes of `text` that fit into `width`, broken at a blank if there is one. */
static size_t line_length(struct slice text, size_t width) {
  size_t length = 0, blank = 0, columns = 0;
  if (text.length <= width) /* in bytes, which are at least the columns */
    return text.length;
  while (length < text.length) {
    bool starts = ((unsigned char)text.at[length] & 0xC0) != 0x80;
    if (starts && columns++ == width)
      break;
    if (text.at[length] == ' ' && !leads_to_unit(text, length))
      blank = length;
    length++;
  }
  if (length == text.length ||
      (text.at[length] == ' ' && (!blank || !leads_to_unit(text, length))))
    return length;
  return blank ? blank : length;
}

static struct slice skip_blanks(struct slice text) {
  while (text.length && *text.at == ' ')
    text.at++, text.length--;
  return text;
}

void text_wrap(struct text *out, struct slice paragraph, size_t indent,
               size_t width) {
  size_t room = width; /* the first line has its own indent */
  for (;;) {
    size_t length = line_length(paragraph, room);
    text_bytes(out, paragraph.at, length);
    text_putc(out, '\n');
    paragraph = skip_blanks(slice_from(paragraph, length));
    if (!paragraph.length)
      return;
    text_fill(out, ' ', indent);
    room = width > indent + 8 ? width - indent : 8;
  }
}

size_t grid_lines(const struct grid *grid) {
  size_t lines = 0;
  for (size_t row = 0; row < grid_rows(grid); row++) {
    size_t most = 1;
    for (size_t i = 0; i < grid->column_count; i++) {
      struct slice cell = grid->cells.at[row * grid->column_count + i];
      size_t width = grid->columns[i].width, own = 0;
      while (!grid->columns[i].dropped && cell.length) {
        size_t length = line_length(cell, width);
        cell = skip_blanks(slice_from(cell, length));
        own++;
      }
      most = own > most ? own : most;
    }
    lines += most;
  }
  return lines;
}

/* Writes one line of a row; the rest of a wrapped cell stays in `cells`. */
static bool put_line(struct text *out, const struct grid *grid,
                     struct slice *cells) {
  size_t blanks = 0;
  bool more = false;
  for (size_t i = 0; i < grid->column_count; i++) {
    const struct grid_column *column = &grid->columns[i];
    struct slice cell = cells[i];
    if (column->dropped)
      continue;
    cell.length = line_length(cell, column->width);
    cells[i] = skip_blanks((struct slice){cells[i].at + cell.length,
                                          cells[i].length - cell.length});
    more = more || cells[i].length;
    size_t pad = column->width - text_width(cell);
    blanks += strlen(column->before) + (column->align == ALIGN_RIGHT) * pad;
    if (cell.length) {
      text_fill(out, ' ', blanks);
      bool dim = grid->colour && cell.length == 1 && *cell.at == '-';
      text_put(out, dim ? "\x1b[2m" : "");
      text_puts(out, cell);
      text_put(out, dim ? "\x1b[0m" : "");
      blanks = 0;
    }
    blanks += (column->align == ALIGN_LEFT) * pad;
  }
  text_putc(out, '\n');
  return more;
}

void grid_put_row(struct text *out, const struct grid *grid, size_t row) {
  struct slice cells[GRID_COLUMNS];
  memcpy(cells, &grid->cells.at[row * grid->column_count],
         grid->column_count * sizeof *cells);
  while (put_line(out, grid, cells))
    ;
}

void grid_put(struct text *out, struct grid *grid, size_t width) {
  grid_fit(grid, width);
  for (size_t i = 0; i < grid_rows(grid); i++)
    grid_put_row(out, grid, i);
}
