/* Scene: boxes, lines and texts of a picture, for SVG, PDF, TikZ and Graphviz.
 */
#ifndef NETC_DRAWING_SCENE_SCENE_H
#define NETC_DRAWING_SCENE_SCENE_H

#include "base/text.h"

/*
 * Lengths are whole tenths of a point, y goes down: sums are exact, and a
 * picture has the same bytes everywhere.
 */
enum { POINT = 10 };

/* A4 within margins of 1.25 cm, and the least text that a reader can read. */
enum { PAGE_WIDTH = 5230, PAGE_HEIGHT = 7700, LEAST_TEXT = 6 * POINT };

enum { TEXT_SIZE = 9 * POINT, SMALL_SIZE = 8 * POINT };

struct point {
  int64_t x, y;
};

/* A line has rounded corners, and may end in an arrow; a shape has sharp ones.
 */
enum scene_kind {
  SCENE_BOX,
  SCENE_TEXT,
  SCENE_LINE,
  SCENE_SHAPE,
  SCENE_OPEN,
  SCENE_CLOSE
};

enum scene_anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };

/* Colours are 0xRRGGBB, or none. */
enum { NO_COLOUR = -1 };

struct scene_item {
  enum scene_kind kind;
  int64_t x, y, width, height; /* SCENE_TEXT: the place of its base line */
  int64_t radius;
  int fill, stroke;
  int64_t stroke_width; /* hundredths of a point */
  bool dashed, arrow;
  bool closed; /* SCENE_SHAPE */
  bool bold;
  bool up;      /* SCENE_TEXT: from below upwards */
  bool halo;    /* SCENE_TEXT: what is below is kept off */
  int64_t size; /* of text */
  enum scene_anchor anchor;
  const char *class;          /* in SVG it is said there how it looks */
  struct slice text;          /* but of SCENE_TEXT: the tooltip */
  struct slice id, href;      /* SCENE_OPEN */
  const struct point *points; /* SCENE_LINE, SCENE_SHAPE */
  size_t point_count;
};

struct scene {
  struct arena *arena;
  VEC(struct scene_item) items;
  int64_t width, height;
  int64_t print_width; /* it is shown so wide; 0: as wide as it is */
  struct slice title, description;
  bool inlined; /* in a page that has other ids */

  /* A chart: what its ids begin with, how its classes look. Its points are
   * those of a screen. */
  const char *chart;
  void (*put_style)(struct text *out);
};

/* Appends; the members that are not given are 0. */
void scene_add(struct scene *scene, struct scene_item item);

/* How wide a text is in Helvetica, whose metrics Arial and Liberation share;
 * about as wide, if it has letters beyond ASCII. */
int64_t text_extent(struct slice text, int64_t size, bool bold);

/* A text without what reorders or hides its neighbours; `x` in 3x3 as ×. */
struct slice text_tamed(struct arena *arena, struct slice text, bool times);

/* The next code point, and how many bytes it takes; U+FFFD for none. */
uint32_t text_code_point(struct slice text, size_t at, size_t *bytes);

/* Tenths of a point as "12.3". */
void put_length(struct text *out, int64_t tenths);

/* As UTF-8, without characters that nobody sees but programs obey. */
void text_put_clean(struct text *out, struct slice text);

/* The same in XML: in an element or a quoted attribute. */
void put_xml(struct text *out, struct slice text);

/* Inside the quotes of a string of Graphviz. */
void put_dot(struct text *out, struct slice text);

/* Whether only a screen shows it, where somebody points at it. */
static inline bool scene_is_hidden(const struct scene_item *item) {
  return item->fill == NO_COLOUR && item->stroke == NO_COLOUR;
}

void scene_put_svg(const struct scene *scene, struct text *out);

void scene_put_tex(const struct scene *scene, struct text *out);

/* For `neato -n2`, which keeps the places: how PNG is made. */
void scene_put_dot(const struct scene *scene, struct text *out);

/*
 * How much of its size a picture has on a page, which is turned if it is
 * wide: so many parts of WHOLE.
 */
enum { WHOLE = 10000 };
int64_t page_scale(int64_t width, int64_t height);

/* How much of its size it is shown in: so many parts of WHOLE. */
static inline int64_t scene_scale(const struct scene *scene) {
  return scene->print_width && scene->width > 0
             ? scene->print_width * WHOLE / scene->width
             : WHOLE;
}

/* One page for each scene; a scene that is larger than a page is made smaller.
 */
void scene_put_pdf(const struct scene *const *pages, size_t count,
                   struct text *out);

/*
 * A line with rounded corners: calls `step` with the points of a straight
 * piece (1) or of a cubic curve (3).
 */
typedef void line_step_fn(void *user, const struct point *points, int count);
void line_walk(const struct scene_item *line, line_step_fn *step, void *user);

/* The three corners of the arrow's head at the end of a line. */
void line_arrow(const struct scene_item *line, struct point corners[3]);

#endif
