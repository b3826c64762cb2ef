/* Scene: boxes, lines and texts of a picture, for SVG, PDF, TikZ, Graphviz. */
#ifndef NETC_DRAWING_SCENE_SCENE_H
#define NETC_DRAWING_SCENE_SCENE_H

#include "base/xml.h"
#include "base/text.h"

/*
 * Lengths are integers in tenths of a point and y grows downwards. So sums are
 * exact, and a picture has the same bytes everywhere.
 */
enum { POINT = 10 };

/* A4 with margins of 1.25 cm, and the smallest readable text. */
enum { PAGE_WIDTH = 5230, PAGE_HEIGHT = 7700, LEAST_TEXT = 6 * POINT };

enum { TEXT_SIZE = 9 * POINT, SMALL_SIZE = 8 * POINT };

struct point {
  int64_t x, y;
};

/* A line has rounded corners and may end in an arrow; a shape has sharp
 * ones. */
enum scene_kind {
  SCENE_BOX,
  SCENE_TEXT,
  SCENE_LINE,
  SCENE_SHAPE,
  SCENE_OPEN,
  SCENE_CLOSE
};

enum scene_anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };

/* Colours are 0xRRGGBB, or this. */
enum { NO_COLOUR = -1 };

struct scene_item {
  enum scene_kind kind;
  int64_t x, y, width, height; /* SCENE_TEXT: the place on its base line */
  int64_t radius;
  int fill, stroke;
  int64_t stroke_width; /* hundredths of a point */
  bool dashed, arrow;
  bool closed; /* SCENE_SHAPE */
  bool bold;
  bool up;      /* SCENE_TEXT: runs upwards */
  bool halo;    /* SCENE_TEXT: with a margin over what is below */
  int64_t size; /* of text */
  enum scene_anchor anchor;
  const char *class;          /* its look in SVG */
  struct slice text;          /* SCENE_TEXT: the text; else the tooltip */
  struct slice id, href;      /* SCENE_OPEN */
  struct slice about;         /* the id of the box that it is about */
  const struct point *points; /* SCENE_LINE, SCENE_SHAPE */
  size_t point_count;
};

struct scene {
  struct arena *arena;
  VEC(struct scene_item) items;
  int64_t width, height;
  int64_t print_width; /* width at which it is shown; 0: its own width */
  struct slice title, description;
  bool inlined; /* inside a page that has other ids */

  /* A chart: the prefix of its ids, and its classes. Its points are px of a
   * screen. */
  const char *chart;
  void (*put_style)(struct text *out);
};

/* Appends an item. */
void scene_add(struct scene *scene, struct scene_item item);

/* The width of a text in Helvetica, which Arial and Liberation Sans share;
 * approximate for letters beyond ASCII. */
int64_t text_extent(struct slice text, int64_t size, bool bold);

/* A text without invisible characters that reorder or hide others; with
 * `times`, the x in 3x3 becomes ×. */
struct slice text_tamed(struct arena *arena, struct slice text, bool times);

/* The code point at an offset and its length in bytes; U+FFFD if invalid. */
uint32_t text_code_point(struct slice text, size_t at, size_t *bytes);

/* Tenths of a point as "12.3". */
void put_length(struct text *out, int64_t tenths);

/* As text_put_clean(), for a quoted string of Graphviz. */
void put_dot(struct text *out, struct slice text);

/* True if an item is invisible and has only a tooltip. */
static inline bool scene_is_hidden(const struct scene_item *item) {
  return item->fill == NO_COLOUR && item->stroke == NO_COLOUR;
}

void scene_put_svg(const struct scene *scene, struct text *out);

void scene_put_tex(const struct scene *scene, struct text *out);

/* For `neato -n2`, which keeps the places and makes the PNG. */
void scene_put_dot(const struct scene *scene, struct text *out);

/*
 * The scale of a picture on a page, which is rotated for a wide one; in parts
 * of WHOLE.
 */
enum { WHOLE = 10000 };
int64_t page_scale(int64_t width, int64_t height);

/* The scale at which a scene is shown, in parts of WHOLE. */
static inline int64_t scene_scale(const struct scene *scene) {
  return scene->print_width && scene->width > 0
             ? scene->print_width * WHOLE / scene->width
             : WHOLE;
}

/* One page for each scene; a larger scene is scaled down to a page. */
void scene_put_pdf(const struct scene *const *pages, size_t count,
                   struct text *out);

/*
 * Walks a line with rounded corners: calls `step` with the points of a straight
 * piece (1) or a cubic curve (3).
 */
typedef void line_step_fn(void *user, const struct point *points, int count);
void line_walk(const struct scene_item *line, line_step_fn *step, void *user);

/* The three corners of the arrowhead at the end of a line. */
void line_arrow(const struct scene_item *line, struct point corners[3]);

#endif
