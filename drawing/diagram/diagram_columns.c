/*
 * Columns: of all ways to break the chains into columns, the one whose text
 * is largest on a page.
 */
#include "drawing/diagram/diagram_page.h"

enum { MOST_COLUMNS = 200 };

struct diagram_column *column_add(struct diagram_paper *l, size_t first) {
  struct diagram_column *column = VEC_PUSH(l->d->arena, &l->columns);
  column->first = column->end = first;
  return column;
}

/* From the start of a net to its end. */
static int64_t net_length(const struct diagram_paper *l, size_t first) {
  int64_t length = l->parts.at[first].part->length;
  for (size_t i = first + 1; i < l->parts.count && !l->parts.at[i].starts; i++)
    length += l->parts.at[i].part->length;
  return length + BAND;
}

/* Deals parts out to at most so many columns, each no longer than that. */
static bool deal_parts(struct diagram_paper *l, size_t first, size_t columns,
                       int64_t length) {
  struct diagram_column *column = NULL;
  for (size_t i = first; i < l->parts.count; i++) {
    struct diagram_stretch *s = &l->parts.at[i];
    bool starts = s->starts && column &&
                  (l->d->effort == EFFORT_NONE ||
                   column->length + net_length(l, i) > length);
    if (!column || starts || column->length + s->part->length > length) {
      if (columns-- == 0)
        return false;
      column = column_add(l, i);
      *column = (struct diagram_column){.first = i, .end = i};
    } else if (s->starts)
      column->length += BAND; /* below what has ended */
    s->offset = column->length;
    column->length += s->part->length;
    column->left = most(column->left, s->part->left);
    column->right = most(column->right, s->part->right);
    column->end = i + 1;
  }
  return true;
}

static bool fill_at_most(struct diagram_paper *l, size_t columns,
                         int64_t length) {
  l->columns.count = 0;
  return deal_parts(l, 0, columns, length);
}

static void fill_columns(struct diagram_paper *l, int64_t length) {
  fill_at_most(l, SIZE_MAX, length);
}

/* Sides reach to the right of all parts beside them. */
static void add_sides(struct diagram_paper *l, struct diagram_column *column) {
  int64_t free = 0, right = column->right;
  for (size_t i = column->first; i < column->end; i++) {
    struct diagram_stretch *s = &l->parts.at[i];
    int64_t at = s->offset + s->part->length;
    for (struct diagram_part *side = s->part->side; side; side = side->next) {
      side->ahead = free > at ? free + BUS : at;
      side->shift = right + tightness(l->d)->branch_gap + side->left;
      free = side->ahead + side->length;
      column->right = most(column->right, side->shift + side->right);
      column->length = most(column->length, free);
    }
  }
}

size_t column_of(const struct diagram_paper *l, size_t item) {
  size_t part = l->part_of[item], low = 0, high = l->columns.count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (l->columns.at[middle].first <= part)
      low = middle;
    else
      high = middle;
  }
  return low;
}

enum { MOST_LANES = 40 };

static void count_lanes(struct diagram_paper *l) {
  l->corridors = 0;
  for (size_t i = 0; i < l->skips.count; i++) {
    size_t from = column_of(l, l->skips.at[i].from);
    size_t to = column_of(l, l->skips.at[i].to);
    struct diagram_column *column = &l->columns.at[from];
    if (column->lanes < MOST_LANES)
      column->lanes++;
    l->corridors += to > from + 1 || to < from;
  }
}

int64_t columns_width(const struct diagram_paper *l) {
  int64_t width = 2 * EDGE;
  for (size_t i = 0; i < l->columns.count; i++) {
    const struct diagram_column *c = &l->columns.at[i];
    width += c->left + c->right + c->lanes * LANE + (i ? GUTTER : 0);
  }
  return width;
}

static int64_t columns_length(const struct diagram_paper *l) {
  int64_t length = 0;
  for (size_t i = 0; i < l->columns.count; i++)
    length = most(length, l->columns.at[i].length);
  return length + l->corridors * LANE + 2 * EDGE + OVER;
}

static void finish_columns(struct diagram_paper *l) {
  l->corridors = 0;
  for (size_t i = 0; i < l->columns.count; i++)
    add_sides(l, &l->columns.at[i]);
  count_lanes(l);
}

/* After the columns that are there; false: there would be more of them. */
static bool add_at_most(struct diagram_paper *l, size_t first, size_t columns,
                        int64_t length) {
  size_t before = l->columns.count;
  bool fits = deal_parts(l, first, columns, length);
  for (size_t i = before; fits && i < l->columns.count; i++)
    add_sides(l, &l->columns.at[i]);
  return fits;
}

int64_t paper_width(const struct diagram_paper *l) {
  int64_t width = l->d->c->options->picture_width;
  return (width ? width : PAGE_WIDTH) * SMALL_SIZE / LEAST_TEXT;
}

int64_t paper_scale(const struct diagram_paper *l, int64_t width,
                    int64_t height) {
  int64_t most_width = l->d->c->options->picture_width, scale = WHOLE;
  if (!most_width)
    return page_scale(width, height);
  if (width > most_width)
    scale = most_width * WHOLE / width;
  if (!l->tall && height > PAGE_HEIGHT && PAGE_HEIGHT * WHOLE / height < scale)
    scale = PAGE_HEIGHT * WHOLE / height;
  return scale > 0 ? scale : 1;
}

struct diagram_fitting {
  int64_t scale;
  int64_t excess; /* of height over one and a half times the width */
};

static struct diagram_fitting fit_columns(struct diagram_paper *l) {
  int64_t width = columns_width(l), height = columns_length(l);
  if (l->d->lr) {
    int64_t swap = width;
    width = height;
    height = swap;
  }
  height += legend_measure(l->d, width - 2 * EDGE) + EDGE;
  height += title_draw(l->d, width - 2 * EDGE, false);
  return (struct diagram_fitting){
      paper_scale(l, width, height),
      l->d->parts && l->d->parts->next
          ? 0 /* each net in a column of its own */
          : most(0, height - most(2 * width, 4000))};
}

bool paper_is_readable(struct diagram_paper *l) {
  l->scale = fit_columns(l).scale;
  return l->scale * SMALL_SIZE >= (int64_t)LEAST_TEXT * WHOLE;
}

/* The least length that takes no more than so many columns. */
static int64_t least_length(struct diagram_paper *l, size_t columns) {
  int64_t low = 0, high = 1;
  for (size_t i = 0; i < l->parts.count; i++) {
    low = most(low, l->parts.at[i].part->length);
    high += l->parts.at[i].part->length;
  }
  if (l->d->parts && !l->d->parts->next) { /* what one chain is dealt out to */
    int64_t even = high / (int64_t)columns, longest = low;
    low = most(longest, even - 1);
    high = even + longest + 1 < high ? even + longest + 1 : high;
  }
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (fill_at_most(l, columns, middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static void choose_columns(struct diagram_paper *l) {
  int64_t best_length = INT64_MAX / 4;
  struct diagram_fitting best = {0, INT64_MAX};
  fill_columns(l, best_length);
  size_t least = l->columns.count;
  for (size_t extra = 0; extra < MOST_COLUMNS; extra++) {
    int64_t length = least_length(l, least + extra);
    fill_columns(l, length);
    finish_columns(l);
    struct diagram_fitting fit = fit_columns(l);
    if (fit.scale > best.scale ||
        (fit.scale == best.scale && fit.excess < best.excess &&
         length <= best_length / 4 * 3)) {
      best = fit;
      best_length = length;
    } else if (extra > 8 && fit.scale < best.scale * 9 / 10) {
      break;
    }
    if (l->columns.count < least + extra || best.excess == 0)
      if (best.scale == WHOLE || l->columns.count < least + extra)
        break;
  }
  fill_columns(l, best_length);
  finish_columns(l);
}

void columns_add(struct diagram_paper *l, size_t first) {
  size_t before = l->columns.count, parts = l->parts.count - first;
  int64_t total = 0, best_length = 0, best_scale = -1;
  for (size_t i = first; i < l->parts.count; i++)
    total += l->parts.at[i].part->length + BAND;
  for (size_t columns = 1; columns <= parts && columns < MOST_COLUMNS;
       columns++) {
    int64_t low = total / (int64_t)columns, high = total;
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      l->columns.count = before;
      if (add_at_most(l, first, columns, middle))
        high = middle;
      else
        low = middle + 1;
    }
    l->columns.count = before;
    add_at_most(l, first, columns, low);
    int64_t scale = fit_columns(l).scale;
    if (scale <= best_scale)
      break;
    best_scale = scale;
    best_length = low;
  }
  l->columns.count = before;
  add_at_most(l, first, SIZE_MAX, best_length);
}

/* Pages */

void layout_pages(struct diagram_paper *l) {
  int64_t across = l->d->lr ? MOST_HEIGHT : paper_width(l), used = 0;
  fill_columns(l, (l->d->lr ? paper_width(l) : MOST_HEIGHT) - 60 * POINT);
  finish_columns(l);
  l->page_count = 1;
  for (size_t i = 0; i < l->columns.count; i++) {
    struct diagram_column *c = &l->columns.at[i];
    int64_t width = c->left + c->right + c->lanes * LANE + GUTTER;
    if (used > 0 && used + width > across) {
      used = 0;
      l->page_count++;
    }
    used += width;
    c->page = l->page_count - 1;
  }
}

bool layout_columns(struct diagram_paper *l) {
  l->page_count = 1;
  choose_columns(l);
  return paper_is_readable(l);
}
