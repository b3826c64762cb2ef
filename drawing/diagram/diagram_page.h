/* Pages: how the parts of a diagram are dealt out to columns and pages. */
#ifndef NETC_DRAWING_DIAGRAM_DIAGRAM_PAGE_H
#define NETC_DRAWING_DIAGRAM_DIAGRAM_PAGE_H

#include "drawing/diagram/diagram.h"

/* What still can be read when it is made smaller to fit a page. */
enum {
  READABLE = LEAST_TEXT * WHOLE / SMALL_SIZE,
  MOST_HEIGHT = PAGE_HEIGHT * SMALL_SIZE / LEAST_TEXT,
  LONGEST_PART = MOST_HEIGHT - 400,
};

struct diagram_skip {
  size_t from, to; /* items */
  size_t link;
  const struct diagram_part *frame; /* the innermost around both; NULL: none */
  int lane;                         /* of the frame */
};

/* True if a skip passes inside of a frame, and not beside its column. */
static inline bool skip_is_framed(const struct diagram_skip *skip) {
  return skip->frame && !skip->frame->opened;
}

/* A part of an outermost chain. */
struct diagram_stretch {
  struct diagram_part *part;
  bool starts;    /* nothing leads to it */
  int64_t offset; /* from the start of its column */
  int64_t shift;  /* from its spine */
};

struct diagram_column {
  size_t first, end; /* parts */
  int64_t left, right, length;
  int64_t across, along;
  size_t page;
  int lanes; /* of skips, on its right */
  bool flip; /* the right half of a U */
};

struct page_list {
  const struct scene **at;
  size_t count, room;
};

struct diagram_paper {
  struct diagram *d;
  VEC(struct diagram_skip) skips;
  VEC(struct diagram_stretch) parts;
  size_t *part_of; /* by item: the part of an outermost chain */
  VEC(struct diagram_column) columns;
  size_t page_count;
  int corridors;  /* below the columns, of skips that pass some */
  int64_t scale;  /* of the layout, on a page: so many parts of WHOLE */
  int64_t height; /* then */
  bool is_u;
  bool opened;      /* a frame was cut, or taken off its chain */
  bool tall;        /* no page limits its height */
  bool paged;       /* sides of parts do not reach over the end of a page */
  bool made[2];     /* the parts are of this layout: columns; a U */
  bool has_sources; /* that can stand at stubs */
  bool no_u;        /* what is drawn has no skips that a U could show */
  bool *cuts[2];    /* links that are cut: only those of many; far ones, too */
};

/* Between columns, where skips may pass. */
static inline int64_t gutter_of(const struct diagram_paper *l) {
  return l->d->c->options->picture_width && (l->is_u || !l->skips.count)
             ? NARROW_GUTTER
             : GUTTER;
}

/* The width that may be had without text becoming too small to be read. */
int64_t paper_width(const struct diagram_paper *l);

/* How much of its size a picture has on its paper. */
int64_t paper_scale(const struct diagram_paper *l, int64_t width,
                    int64_t height);

/* Says of each item in which part it is. */
void diagram_number_parts(struct diagram_paper *l);

/* The column that has an item. */
size_t column_of(const struct diagram_paper *l, size_t item);

/* Of all columns beside each other, with the edges of the picture. */
int64_t columns_width(const struct diagram_paper *l);

/* Whether what is drawn can be read on its paper; sets the scale. */
bool paper_is_readable(struct diagram_paper *l);

struct diagram_column *column_add(struct diagram_paper *l, size_t first);

/* Columns for the parts from `first` on, beside those that are there. */
void columns_add(struct diagram_paper *l, size_t first);

/* diagram_u.c: whether a net has maps that shrink and grow below skips. */
bool net_is_u(const struct compiled *c);

/* A U, if the skips nest; false if they do not, or it would be too large. */
bool layout_u(struct diagram_paper *l);

/* The best columns; false if a page would make them too small to be read. */
bool layout_columns(struct diagram_paper *l);

/* Columns as long as a page, on as many pages as they take; false if a part is
 * longer than a page. */
bool layout_pages(struct diagram_paper *l);

void page_draw(struct diagram_paper *l, size_t page, struct scene *scene);

#endif
