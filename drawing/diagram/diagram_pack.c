/*
 * Packs a page: the net and each block that is drawn once are rectangles, which
 * are placed as high as they can be. The width is the one with the largest
 * letters.
 */
#include "drawing/diagram/diagram_page.h"

/* True for a grid that columns lead to. */
static bool is_led(const struct diagram_part *part) {
  return part->grid && part->grid->led;
}

/* The length of columns of a net that lead to a grid. */
static int64_t length_ahead(const struct diagram_part *part) {
  while (part->next)
    part = part->next;
  return is_led(part) ? part->length : INT64_MAX;
}

/* A column for each net; for what is before a grid, columns of at most
 * `longest` or the grid's length. Returns the length that saves a column, or
 * INT64_MAX. */
static int64_t deal_columns(struct diagram_paper *l, int64_t longest) {
  struct diagram_column *column = NULL;
  int64_t longer = INT64_MAX;
  l->columns.count = 0;
  for (size_t i = 0; i < l->parts.count; i++) {
    struct diagram_stretch *s = &l->parts.at[i];
    int64_t length = s->part->length + (s->starts ? 0 : column->length);
    bool full = length > most(length_ahead(s->part), longest);
    if (full && length < longer)
      longer = length;
    if (s->starts || full || is_led(s->part))
      column = column_add(l, i);
    column->end = i + 1;
    s->offset = column->length;
    s->shift = 0;
    column->left = most(column->left, s->part->left);
    column->right = most(column->right, s->part->right);
    column->length += s->part->length;
  }
  finish_columns(l);
  return longer;
}

/* The columns in the order of packing. Those in [first, end) are on the current
 * page. */
struct page_packing {
  struct diagram_column *at;
  size_t *order;
  size_t first, end;
  size_t net; /* columns of the net, side by side */
  int64_t width;
  int64_t longer; /* columns before a grid that would be one fewer */
};

/* The top of a column at `x`, below those on the page. */
static int64_t top_at(const struct page_packing *p,
                      const struct diagram_column *c, int64_t x) {
  int64_t top = 0;
  for (size_t i = p->first; i < p->end; i++) {
    const struct diagram_column *other = &p->at[p->order[i]];
    if (x < other->x + column_width(other) + NARROW_GUTTER &&
        other->x < x + column_width(c) + NARROW_GUTTER)
      top = most(top, other->y + other->length + NARROW_GUTTER);
  }
  return top;
}

/* Places a column as high as it can be, left of `width` if it can be. */
static void pack_column(const struct page_packing *p, struct diagram_column *c,
                        int64_t width) {
  c->x = 0;
  c->y = top_at(p, c, 0);
  for (size_t k = p->first; k < p->end; k++) {
    const struct diagram_column *other = &p->at[p->order[k]];
    int64_t x = other->x + column_width(other) + NARROW_GUTTER;
    int64_t y = top_at(p, c, x);
    if (x + column_width(c) <= width && y < c->y) {
      c->x = x;
      c->y = y;
    }
  }
}

/* Returns whether a column has another place than before. */
static bool pack_columns(struct page_packing *p, size_t count, int64_t width) {
  bool moved = false;
  p->first = 0;
  for (p->end = 0; p->end < count; p->end++) {
    struct diagram_column *c = &p->at[p->order[p->end]];
    int64_t x = c->x, y = c->y;
    pack_column(p, c, width);
    moved = moved || x != c->x || y != c->y;
  }
  return moved;
}

/* After the net's, the longest column first. */
static void sort_columns(struct page_packing *p, size_t count) {
  for (size_t i = p->net + 1; i < count; i++) {
    size_t at = i, column = p->order[i];
    for (; at > p->net && p->at[p->order[at - 1]].length < p->at[column].length;
         at--)
      p->order[at] = p->order[at - 1];
    p->order[at] = column;
  }
}

/* Finds the width at which the letters are largest. */
static int64_t pack_best(struct diagram_paper *l, struct page_packing *p) {
  int64_t best_scale = -1, best_width = 0, total = 0;
  for (size_t i = 0; i < l->columns.count; i++)
    total += column_width(&p->at[i]) + NARROW_GUTTER;
  for (int64_t width = total; width >= p->width; width -= most(total / 40, 1)) {
    bool moved = pack_columns(p, l->columns.count, width);
    int64_t across = columns_width(l), along = columns_length(l);
    int64_t most_scale = l->d->lr ? paper_scale(l, along, across)
                                  : paper_scale(l, across, along);
    if ((!moved && width != total) || most_scale <= best_scale)
      continue; /* the legend is below it */
    paper_is_readable(l);
    if (l->scale > best_scale) {
      best_scale = l->scale;
      best_width = width;
    }
  }
  pack_columns(p, l->columns.count, best_width);
  return best_scale;
}

static struct page_packing begin_packing(struct diagram_paper *l,
                                         int64_t longest) {
  l->page_count = 1;
  l->packed = true;
  struct page_packing p = {.longer = deal_columns(l, longest)};
  size_t count = l->columns.count;
  p.at = l->columns.at;
  p.order = arena_alloc(l->d->arena, count + 1, sizeof *p.order);
  for (size_t i = 0; i < count; i++) {
    p.order[i] = i;
    if (i > p.net || (i > 0 && l->parts.at[p.at[i].first].starts))
      continue;
    p.net = i + 1;
    p.width += column_width(&p.at[i]) + (i ? NARROW_GUTTER : 0);
  }
  return p;
}

/* Packs in the order of the parts, or also sorted if the letters are small. */
static struct page_packing pack_as(struct diagram_paper *l, int64_t longest,
                                   bool sorted, int64_t *scale) {
  struct page_packing p = begin_packing(l, longest);
  if (sorted)
    sort_columns(&p, l->columns.count);
  *scale = pack_best(l, &p);
  return p;
}

bool layout_packed(struct diagram_paper *l) {
  int64_t best = -1, best_length = 0, scale;
  bool best_sorted = false, is_best = false;
  for (int64_t longest = 0; best < READABLE && longest < INT64_MAX;) {
    int64_t longer = longest;
    for (int sorted = 0; sorted < 2 && best < READABLE; sorted++) {
      longer = pack_as(l, longest, sorted, &scale).longer;
      is_best = scale >= best + !sorted;
      if (!is_best)
        continue;
      best = scale;
      best_length = longest;
      best_sorted = sorted;
    }
    longest = longer;
  }
  if (!is_best)
    pack_as(l, best_length, best_sorted, &scale);
  return paper_is_readable(l);
}

bool layout_packed_pages(struct diagram_paper *l) {
  enum { SHORT = PAGE_WIDTH * SMALL_SIZE / LEAST_TEXT };
  enum {
    AROUND = 2 * EDGE + LANE,
    BELOW = AROUND + 40 * POINT /* the legend */
  };
  struct page_packing p = begin_packing(l, 0);
  int64_t width = 0, length = 0;
  sort_columns(&p, l->columns.count);
  for (p.end = 0; p.end < l->columns.count; p.end++) {
    struct diagram_column *c = &p.at[p.order[p.end]];
    bool begins = p.end == 0;
    if (!begins)
      pack_column(&p, c, width);
    if (begins || c->y + c->length > length ||
        c->x + column_width(c) > width) { /* a page of its own */
      bool wide =
          !l->d->c->options->picture_height && column_width(c) > SHORT - AROUND;
      width = (wide ? MOST_HEIGHT : SHORT) - AROUND;
      length = (wide ? SHORT : paper_height(l)) - BELOW;
      l->page_count += !begins;
      p.first = p.end;
      c->x = c->y = 0;
      if (column_width(c) > width || c->length > length)
        return false;
    }
    c->page = l->page_count - 1;
  }
  return true;
}
