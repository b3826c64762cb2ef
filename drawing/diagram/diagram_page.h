/* Pages: deals the parts of a diagram out to columns and pages. */
#ifndef NETC_DRAWING_DIAGRAM_DIAGRAM_PAGE_H
#define NETC_DRAWING_DIAGRAM_DIAGRAM_PAGE_H

#include "drawing/diagram/diagram.h"

/* Sizes that stay readable when they are scaled to fit a page. */
enum {
  READABLE = LEAST_TEXT * WHOLE / SMALL_SIZE,
  MOST_HEIGHT = PAGE_HEIGHT * SMALL_SIZE / LEAST_TEXT,
};

struct diagram_skip {
  size_t from, to; /* items */
  size_t link;
  const struct diagram_part *frame; /* the innermost around both; NULL: none */
  int lane;                         /* in the frame */
  bool in_grid;                     /* which has room for its lines */
};

/* True if a skip passes inside a frame, instead of beside its column. */
static inline bool skip_is_framed(const struct diagram_skip *skip) {
  return skip->frame && !skip->frame->opened;
}

/* A part of an outermost chain. */
struct diagram_stretch {
  struct diagram_part *part;
  bool starts;    /* nothing leads to it: a net begins */
  int64_t offset; /* from the start of the column */
  int64_t shift;  /* of its spine from the column's */
};

struct diagram_column {
  size_t first, end; /* parts */
  int64_t left, right, length;
  int64_t x, y; /* of a packed column, from the first one's corner */
  int64_t across, along;
  size_t page;
  int lanes; /* of skips, on its right */
};

struct page_list {
  const struct scene **at;
  size_t count, room;
};

/* Forms of a picture: maps in rows, then behind columns; columns with and
 * without cut links. */
enum diagram_form { FORM_GRID, FORM_LED, FORM_COLUMNS, FORM_WHOLE, FORMS };
static inline bool form_has_grid(enum diagram_form form) {
  return form == FORM_GRID || form == FORM_LED;
}

struct diagram_paper {
  struct diagram *d;
  VEC(struct diagram_skip) skips;
  VEC(struct diagram_stretch) parts;
  size_t *part_of;        /* by item: the part of an outermost chain */
  size_t *column_of_part; /* by columns_number() */
  VEC(struct diagram_column) columns;
  size_t page_count;
  int corridors;          /* below the columns, for skips that pass some */
  int64_t scale;          /* of the layout on a page, in parts of WHOLE */
  int64_t height;         /* at that scale */
  bool packed;            /* columns have places of their own */
  int64_t raised;         /* the page is by this higher than asked for */
  bool paged;             /* sides must not cross the end of a page */
  enum diagram_form made; /* whose parts are current; FORMS: none */
  bool has_sources;       /* some sources can be drawn at stubs */
  bool no_grid;           /* no net or block for a grid */
  bool has_grid;          /* some boxes make one, though no pyramid */
  bool *cut;              /* cut links in columns; NULL: not known yet */
};

/* The gap between columns, in which skips may pass. */
static inline int64_t gutter_of(const struct diagram_paper *l) {
  return l->d->c->options->picture_width && !l->skips.count ? NARROW_GUTTER
                                                            : GUTTER;
}

/* The maximum width and height at which text stays readable. */
int64_t paper_width(const struct diagram_paper *l);
int64_t paper_height(const struct diagram_paper *l);

/* True if a width or height was asked for. */
bool paper_is_given(const struct diagram_paper *l);

/* The scale of a picture of that size on its paper. */
int64_t paper_scale(const struct diagram_paper *l, int64_t width,
                    int64_t height);

/* Notes for each part its column, for skips; then the column of an item. */
void columns_number(struct diagram_paper *l);
static inline size_t column_of(const struct diagram_paper *l, size_t item) {
  return l->column_of_part[l->part_of[item]];
}

/* Places sides; counts lanes and corridors of skips. */
void finish_columns(struct diagram_paper *l);

static inline int64_t column_width(const struct diagram_column *c) {
  return c->left + c->right + c->lanes * LANE;
}

/* The width of all columns side by side, with margins. */
int64_t columns_width(const struct diagram_paper *l);

/* Their length, with margins and without a legend. */
int64_t columns_length(const struct diagram_paper *l);

/* Returns whether the drawing is readable on its paper; sets the scale. */
bool paper_is_readable(struct diagram_paper *l);

struct diagram_column *column_add(struct diagram_paper *l, size_t first);

/* diagram_pack.c: lays out the net and, beside it or below it, the calls that
 * are drawn once; false if they are not readable on a page. */
bool layout_packed(struct diagram_paper *l);

/* The same on as many pages as needed; false if the net or a call is too large
 * for one. */
bool layout_packed_pages(struct diagram_paper *l);

/* Lays out the best columns; false if they are not readable on a page. */
bool layout_columns(struct diagram_paper *l);

/* Lays out columns of a page's length on as many pages as needed; false if a
 * part is longer than a page. */
bool layout_pages(struct diagram_paper *l);

/* diagram_route.c: leads lines around the boxes and lines of a scene, between
 * two corners, on a grid of `step`. */
struct router;
struct router *router_new(const struct scene *scene, struct point low,
                          struct point high, int64_t step);

/* A box that a line leaves or enters. */
struct route_box {
  int64_t x, y, width, height;
  int64_t stack; /* sheets below it and to its right */
  int closed;    /* the side that is closed: left, right, top, bottom: 0-3 */
};

/* The lines that follow stay in a frame; NULL: anywhere. */
void router_stay(struct router *r, const struct scene_item *in);

/* The points of a line, at most `room`; 0: there is no way. Lines of one owner
 * may share their way. */
size_t router_lead(struct router *r, const struct route_box *from,
                   const struct route_box *to, size_t owner,
                   struct point *points, size_t room);

void page_draw(struct diagram_paper *l, size_t page, struct scene *scene);

#endif
