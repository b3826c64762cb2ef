/* Columns: breaks chains into columns so that the text is largest on a page. */
#include "drawing/diagram/diagram_page.h"

enum { MOST_COLUMNS = 200 };

struct diagram_column *column_add(struct diagram_paper *l, size_t first) {
  struct diagram_column *column = VEC_PUSH(l->d->arena, &l->columns);
  column->first = column->end = first;
  return column;
}

/* The length of a net. */
static int64_t net_length(const struct diagram_paper *l, size_t first) {
  int64_t length = l->parts.at[first].part->length;
  for (size_t i = first + 1; i < l->parts.count && !l->parts.at[i].starts; i++)
    length += l->parts.at[i].part->length;
  return length + BAND;
}

/* Shifts a net below another one, as their spines need not align. */
static void shift_net(struct diagram_paper *l, struct diagram_column *column,
                      size_t first, int64_t left, int64_t right) {
  int64_t shift = 0;
  if (left > column->left || left + right > column->left + column->right)
    shift = left - column->left;
  else if (right > column->right)
    shift = column->right - right;
  column->right = most(column->right, right + shift);
  for (size_t i = first; i < column->end; i++)
    l->parts.at[i].shift = shift;
}

/* Ends a net's parts in a column. */
static void end_net(struct diagram_paper *l, struct diagram_column *column,
                    size_t first, int64_t left, int64_t right) {
  if (first > column->first) {
    shift_net(l, column, first, left, right);
  } else {
    column->left = left;
    column->right = right;
  }
}

/* Places sides one after the other: returns the end of the last side of a part,
 * which leaves at `at`, if the side before it ends at `free`. */
static int64_t place_ahead(const struct diagram_part *part, int64_t at,
                           int64_t free) {
  for (struct diagram_part *side = part->side; side; side = side->next) {
    side->ahead = free > at ? free + BUS : at;
    free = side->ahead + side->length;
  }
  return free;
}

/* Deals parts out to at most `columns` columns of at most `length`. */
static bool fill_at_most(struct diagram_paper *l, size_t columns,
                         int64_t length) {
  struct diagram_column *column = NULL;
  size_t net = 0; /* the start of the current net */
  int64_t left = 0, right = 0, free = 0;
  int64_t used = length + 1; /* a new column begins */
  bool alone = l->d->effort == EFFORT_NONE;
  l->columns.count = 0;
  for (size_t i = 0; i < l->parts.count; i++) {
    struct diagram_stretch *s = &l->parts.at[i];
    const struct diagram_part *part = s->part;
    int64_t ends = l->paged ? place_ahead(part, used + part->length, free) : 0;
    bool full = used + part->length > length || ends > most(length, free) ||
                (s->starts && (alone || used + net_length(l, i) > length));
    if (full || s->starts) {
      if (column) {
        column->end = i;
        column->length = used;
        end_net(l, column, net, left, right);
      }
      left = right = 0;
      net = i;
      used += BAND; /* room between nets */
    }
    if (full) {
      if (columns-- == 0)
        return false;
      column = column_add(l, i);
      used = 0;
      ends = l->paged ? place_ahead(part, part->length, 0) : 0;
    }
    s->offset = used;
    s->shift = 0;
    used += part->length;
    free = ends;
    left = most(left, part->left);
    right = most(right, part->right);
  }
  if (column) {
    column->end = l->parts.count;
    column->length = used;
    end_net(l, column, net, left, right);
  }
  return true;
}

static void fill_columns(struct diagram_paper *l, int64_t length) {
  fill_at_most(l, SIZE_MAX, length);
}

/* Sides extend to the right of all parts next to them. */
static void add_sides(struct diagram_paper *l, struct diagram_column *column) {
  int64_t free = 0, right = column->right;
  for (size_t i = column->first; i < column->end; i++) {
    struct diagram_stretch *s = &l->parts.at[i];
    free = place_ahead(s->part, s->offset + s->part->length, free);
    for (struct diagram_part *side = s->part->side; side; side = side->next) {
      side->shift = right + tightness(l->d)->branch_gap + side->left;
      column->right = most(column->right, side->shift + side->right);
      column->length = most(column->length, free);
    }
  }
}

void columns_number(struct diagram_paper *l) {
  for (size_t i = 0; i < l->columns.count && l->skips.count; i++)
    for (size_t k = l->columns.at[i].first; k < l->columns.at[i].end; k++)
      l->column_of_part[k] = i;
}

enum { MOST_LANES = 40 };

static void count_lanes(struct diagram_paper *l) {
  l->corridors = 0;
  columns_number(l);
  for (size_t i = 0; i < l->skips.count; i++) {
    if (skip_is_framed(&l->skips.at[i]) || l->skips.at[i].in_grid)
      continue;
    size_t from = column_of(l, l->skips.at[i].from);
    size_t to = column_of(l, l->skips.at[i].to);
    struct diagram_column *column = &l->columns.at[from];
    if (column->lanes < MOST_LANES)
      column->lanes++;
    l->corridors += to > from + 1 || to < from;
  }
}

int64_t columns_width(const struct diagram_paper *l) {
  int64_t width = 0, last = 0;
  for (size_t i = 0; i < l->columns.count; i++) {
    const struct diagram_column *c = &l->columns.at[i];
    if (l->packed)
      last = most(last, c->x + column_width(c));
    else
      width += column_width(c) + (i ? gutter_of(l) : 0);
  }
  return most(width, last) + 2 * edge_of(l->d);
}

int64_t columns_length(const struct diagram_paper *l) {
  int64_t length = 0;
  for (size_t i = 0; i < l->columns.count; i++)
    length = most(length, l->columns.at[i].y + l->columns.at[i].length);
  return length + l->corridors * LANE + 2 * edge_of(l->d) + OVER;
}

void finish_columns(struct diagram_paper *l) {
  l->corridors = 0;
  for (size_t i = 0; i < l->columns.count; i++)
    add_sides(l, &l->columns.at[i]);
  count_lanes(l);
}

static int64_t page_width(const struct diagram_paper *l) {
  int64_t width = l->d->c->options->picture_width;
  return width ? width : PAGE_WIDTH;
}

int64_t paper_width(const struct diagram_paper *l) {
  return page_width(l) * SMALL_SIZE / LEAST_TEXT;
}

static int64_t page_height(const struct diagram_paper *l) {
  int64_t height = l->d->c->options->picture_height;
  return (height ? height : PAGE_HEIGHT) + l->raised;
}

int64_t paper_height(const struct diagram_paper *l) {
  return page_height(l) * SMALL_SIZE / LEAST_TEXT;
}

bool paper_is_given(const struct diagram_paper *l) {
  const struct netc_options *o = l->d->c->options;
  return o->picture_width || o->picture_height;
}

int64_t paper_scale(const struct diagram_paper *l, int64_t width,
                    int64_t height) {
  int64_t wide = page_width(l), high = page_height(l), scale = WHOLE;
  if (!paper_is_given(l))
    return page_scale(width, height);
  if (width > wide)
    scale = wide * WHOLE / width;
  if (height > high && high * WHOLE / height < scale)
    scale = high * WHOLE / height;
  return scale > 0 ? scale : 1;
}

struct diagram_fitting {
  int64_t scale;
  int64_t height; /* on the paper */
  int64_t excess; /* of height over the preferred ratio */
};

static struct diagram_fitting fit_columns(struct diagram_paper *l) {
  int64_t width = columns_width(l), height = columns_length(l);
  if (l->d->lr) {
    int64_t swap = width;
    width = height;
    height = swap;
  }
  height += legend_measure(l->d, width - 2 * edge_of(l->d)) + edge_of(l->d);
  height += title_draw(l->d, width - 2 * edge_of(l->d), false);
  int64_t scale = paper_scale(l, width, height);
  int64_t printed = height * scale / WHOLE;
  if (l->d->c->options->picture_width && scale >= READABLE)
    return (struct diagram_fitting){READABLE, printed, most(printed, 4000)};
  return (struct diagram_fitting){
      scale, printed,
      l->d->parts && l->d->parts->next
          ? 0 /* each net has its own column */
          : most(0, height - most(2 * width, 4000))};
}

bool paper_is_readable(struct diagram_paper *l) {
  struct diagram_fitting fit = fit_columns(l);
  l->scale = fit.scale;
  l->height = fit.height;
  return l->scale >= READABLE;
}

/* The minimum length that needs at most `columns` columns. */
static int64_t least_length(struct diagram_paper *l, size_t columns) {
  int64_t low = 0, high = 1;
  for (size_t i = 0; i < l->parts.count; i++) {
    low = most(low, l->parts.at[i].part->length);
    high +=
        l->parts.at[i].part->length + (i && l->parts.at[i].starts ? BAND : 0);
  }
  if (l->d->parts && !l->d->parts->next) { /* bounds for one chain */
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
  bool narrow = l->d->c->options->picture_width > 0;
  struct diagram_fitting best = {.excess = INT64_MAX};
  fill_columns(l, best_length);
  size_t least = l->columns.count;
  for (size_t extra = 0; least + extra < MOST_COLUMNS; extra++) {
    int64_t length = least_length(l, least + extra);
    fill_columns(l, length);
    finish_columns(l);
    struct diagram_fitting fit = fit_columns(l);
    if (fit.scale > best.scale ||
        (fit.scale == best.scale && fit.excess < best.excess &&
         (narrow ? fit.excess : length) <=
             (narrow ? best.excess : best_length) / 4 * 3)) {
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

/* Pages */

bool layout_pages(struct diagram_paper *l) {
  int64_t across = l->d->lr ? paper_height(l) : paper_width(l), used = 0;
  int64_t along = (l->d->lr ? paper_width(l) : paper_height(l)) - 60 * POINT;
  bool fits = true;
  l->paged = true;
  fill_columns(l, along);
  finish_columns(l);
  l->page_count = 1;
  for (size_t i = 0; i < l->columns.count; i++) {
    struct diagram_column *c = &l->columns.at[i];
    int64_t width = c->left + c->right + c->lanes * LANE + gutter_of(l);
    if (used > 0 && used + width > across) {
      used = 0;
      l->page_count++;
    }
    used += width;
    c->page = l->page_count - 1;
    fits = fits && c->length <= along;
  }
  return fits;
}

bool layout_columns(struct diagram_paper *l) {
  l->page_count = 1;
  choose_columns(l);
  return paper_is_readable(l);
}
