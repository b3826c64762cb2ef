/*
 * Levels the rows of a grid: a line from cell to cell of a row is straight if
 * both of its ends are at the same place along the row, which longer arrows
 * before the boxes give.
 */
#include "drawing/diagram/diagram.h"

enum {
  MOST_PASSES = 20,  /* each line may move another one */
  MOST_LEVELLED = 64 /* lines of a row */
};

/* A part of a cell. */
struct level_part {
  struct diagram_part *part, *before; /* in its chain */
  struct diagram_part *cell;
  int64_t lowered; /* with those below it */
  int lines;       /* that are level */
};

/* A line that becomes straight. */
struct level_line {
  size_t from, to; /* items */
};

struct levelling {
  struct diagram *d;
  struct level_part *parts;
  size_t *part_of; /* by item; SIZE_MAX: it is in no cell of the row */
  size_t count;
  struct level_line lines[MOST_LEVELLED];
  size_t line_count;
};

static void add_cell(struct levelling *l, struct diagram_part *cell) {
  struct diagram_part *before = NULL;
  part_place(l->d, cell, 0, 0);
  for (struct diagram_part *p = cell->first; p; before = p, p = p->next) {
    l->parts[l->count] =
        (struct level_part){.part = p, .before = before, .cell = cell};
    part_number(p, l->part_of, l->count++);
  }
}

static struct level_part *part_at(const struct levelling *l, size_t item) {
  return &l->parts[l->part_of[item]];
}

/* The place of an item along the row. */
static int64_t place_of(const struct levelling *l, size_t item) {
  const struct level_part *part = part_at(l, item);
  int64_t place = item_middle(l->d, item);
  for (size_t i = 0; i < l->count; i++) {
    const struct level_part *other = &l->parts[i];
    bool above = part->cell->flip ? other >= part : other <= part;
    if (other->cell == part->cell && above)
      place += other->lowered;
  }
  return place;
}

static int64_t length_of(const struct levelling *l) {
  int64_t longest = 0, length = 0;
  for (size_t i = 0; i < l->count; i++) {
    if (i == 0 || l->parts[i].cell != l->parts[i - 1].cell)
      length = l->parts[i].cell->length;
    length += l->parts[i].lowered;
    longest = most(longest, length);
  }
  return longest;
}

/* The first part that may move with one: behind the one above it that has a
 * line. */
static struct level_part *free_part(const struct levelling *l, size_t part) {
  bool up = l->parts[part].cell->flip;
  for (size_t next = part;; part = next) {
    next += up ? 1 : (size_t)-1;
    if (next >= l->count || l->parts[next].cell != l->parts[part].cell ||
        l->parts[next].lines)
      return &l->parts[part];
  }
}

/* Lowers the higher end of each line, until all are level; false: they never
 * are. */
static bool level_lines(struct levelling *l) {
  for (int pass = 0; pass < MOST_PASSES; pass++) {
    bool level = true;
    for (size_t i = 0; i < l->line_count; i++) {
      size_t from = l->lines[i].from, to = l->lines[i].to;
      int64_t lower = place_of(l, to) - place_of(l, from);
      free_part(l, l->part_of[lower > 0 ? from : to])->lowered +=
          lower > 0 ? lower : -lower;
      level = level && !lower;
    }
    if (level)
      return true;
  }
  return false;
}

/* Levels a line, too, if that is possible. The row may become longer only
 * between a way down and a way up, as in a U. */
static void add_line(struct levelling *l, struct level_line line) {
  struct level_part *from = part_at(l, line.from);
  struct level_part *to = part_at(l, line.to);
  struct levelling before = *l;
  int64_t length = length_of(l);
  before.parts = arena_alloc(l->d->arena, l->count, sizeof *l->parts);
  memcpy(before.parts, l->parts, l->count * sizeof *l->parts);
  l->lines[l->line_count++] = line;
  from->lines++;
  to->lines++;
  if (level_lines(l) &&
      (from->cell->flip != to->cell->flip || length_of(l) <= length))
    return;
  l->line_count = before.line_count;
  memcpy(l->parts, before.parts, l->count * sizeof *l->parts);
}

/* Lines */

/* True if no level line crosses this one, or has its end. */
static bool is_clear(const struct levelling *l, struct level_line line) {
  const struct level_part *from = part_at(l, line.from);
  const struct level_part *to = part_at(l, line.to);
  for (size_t i = 0; i < l->line_count; i++) {
    const struct level_part *x = part_at(l, l->lines[i].from);
    const struct level_part *y = part_at(l, l->lines[i].to);
    bool above = x->cell->flip ? x > from : x < from;
    if (x->cell == from->cell && y->cell == to->cell &&
        (x == from || y == to || above != (y->cell->flip ? y > to : y < to)))
      return false;
  }
  return true;
}

static bool has_cell_between(const struct diagram_part *grid,
                             const struct diagram_part *a,
                             const struct diagram_part *b) {
  for (const struct diagram_part *c = grid->first; c; c = c->next)
    if (c->row == a->row &&
        (c->column > a->column) != (c->column > b->column) && c != a && c != b)
      return true;
  return false;
}

/* True if an earlier item of the same cell is read, too: that line is level. */
static bool has_earlier(const struct levelling *l, struct level_line line) {
  const struct diagram_item *item = &l->d->items.at[line.to];
  for (size_t k = 0; k < item->link_count; k++) {
    size_t other = l->d->links.at[item->first_link + k].from;
    if (other < line.from && l->part_of[other] != SIZE_MAX &&
        part_at(l, other)->cell == part_at(l, line.from)->cell)
      return true;
  }
  return false;
}

static bool may_be_level(const struct levelling *l,
                         const struct diagram_part *grid,
                         struct level_line line) {
  if (l->part_of[line.to] == SIZE_MAX || l->part_of[line.from] == SIZE_MAX)
    return false;
  const struct diagram_part *a = part_at(l, line.from)->cell;
  const struct diagram_part *b = part_at(l, line.to)->cell;
  return a != b && !has_cell_between(grid, a, b) && !has_earlier(l, line);
}

/* Levels lines, those of the first boxes first. */
static void level_all(struct levelling *l, const struct diagram_part *grid) {
  const struct diagram *d = l->d;
  struct level_line lines[MOST_LEVELLED];
  size_t count = 0;
  for (size_t to = 0; to < d->items.count; to++)
    for (size_t k = 0; k < d->items.at[to].link_count; k++) {
      struct level_line line = {
          d->links.at[d->items.at[to].first_link + k].from, to};
      if (count == MOST_LEVELLED || !may_be_level(l, grid, line))
        continue;
      size_t at = count++;
      for (; at > 0 && lines[at - 1].from > line.from; at--)
        lines[at] = lines[at - 1];
      lines[at] = line;
    }
  for (size_t i = 0; i < count; i++)
    if (is_clear(l, lines[i]))
      add_line(l, lines[i]);
}

/* Makes the arrows longer: before a part, or the start of its cell. */
static void lower_part(const struct level_part *p) {
  struct diagram_part *longer = p->cell->flip ? p->part : p->before;
  p->cell->length += p->lowered;
  if (longer) {
    longer->after += p->lowered;
    longer->length += p->lowered;
  } else {
    p->cell->ahead += p->lowered;
  }
}

static void level_row(struct diagram *d, struct diagram_part *grid,
                      int64_t row) {
  struct levelling l = {
      .d = d,
      .part_of = arena_alloc(d->arena, d->items.count + 1, sizeof *l.part_of),
      .parts = arena_alloc(d->arena, d->items.count + 1, sizeof *l.parts)};
  for (size_t i = 0; i < d->items.count; i++)
    l.part_of[i] = SIZE_MAX;
  for (struct diagram_part *c = grid->first; c; c = c->next)
    if (c->row == row)
      add_cell(&l, c);
  level_all(&l, grid);
  for (size_t i = 0; i < l.count; i++)
    lower_part(&l.parts[i]);
}

void grid_level(struct diagram *d, struct diagram_part *grid) {
  for (struct diagram_part *c = grid->first; c; c = c->next)
    c->ahead = 0;
  for (int64_t row = 0; row < grid->grid->rows; row++)
    level_row(d, grid, row);
}
