/* Charts: numbers, texts, axes, legend and colours that all of them use. */
#ifndef NETC_DRAWING_CHARTS_CHART_H
#define NETC_DRAWING_CHARTS_CHART_H

#include "codegen/backend.h"
#include "drawing/scene/scene.h"

/*
 * A chart that is drawn into a scene. Lengths are px; a page is CHART_WIDTH
 * wide, or less if a narrow picture is requested. x grows to the right, y
 * downwards. One file serves light and dark screens and paper: looks are
 * classes, which SVG has in a style sheet and other formats write out.
 */
struct chart {
  struct scene *scene;
  struct slice name; /* of the net */
  struct text note;  /* buffer for texts: chart_note */
  VEC(struct point) path;
  const char *class;  /* of the path */
  struct slice about; /* of the next shape with a tooltip */
  int fill;           /* the last fill, under a shade */
  const char *title;  /* replaces the chart's own; "": none; NULL: its own */
  bool bare;          /* no legend and no explanation of the drawing */
  double width;       /* from CHART_LEAST_WIDTH to CHART_WIDTH */
};

enum { CHART_LEAST_WIDTH = 300, CHART_WIDTH = 800, CHART_MARGIN = 16 };

/* The width between the margins. */
static inline double chart_inner(const struct chart *s) {
  return s->width - 2 * CHART_MARGIN;
}

/* True if a name and three figures do not fit on a line. */
static inline bool chart_is_narrow(const struct chart *s) {
  return s->width < 600;
}

/* Font sizes. CHART_SMALL is 6 pt in a picture 170 mm wide. */
enum chart_font { CHART_SMALL, CHART_TEXT, CHART_HEAD };
enum chart_anchor { CHART_START, CHART_MIDDLE, CHART_END };

/* `kind`, such as "timeline", begins the ids, which are unique in an HTML
 * page. */
struct chart chart_new(const struct compiled *c, const char *kind);

/*
 * Begins the chart: a title after the net's name, a subtitle below it, and a
 * summary for screen readers.
 */
void chart_open(struct chart *s, double height, struct slice title,
                struct slice subtitle, struct slice summary);

/* Ends the chart at that y. */
void chart_close(struct chart *s, double y);

/* The y at which the picture may begin. */
double chart_head_height(const struct chart *s, struct slice subtitle);

/* Words around the picture; empty if the caption has them. */
struct slice chart_caption(const struct chart *s, struct slice words);

/* The text put into s->note since the last call; later notes do not change
 * it. */
struct slice chart_note(struct chart *s);

/*
 * In tenths, the precision of written lengths. Halves are rounded with a
 * margin, so that all machines write the same bytes.
 */
int64_t chart_tenths(double value);

/* The width of a text in Helvetica, in px. */
double chart_text_width(struct slice text, enum chart_font font);

void chart_text(struct chart *s, enum chart_font font, enum chart_anchor anchor,
                double x, double y, struct slice text);

/* With a class: "on0" to "on5" are the ink on a fill. */
void chart_text_as(struct chart *s, const char *class, enum chart_font font,
                   enum chart_anchor anchor, double x, double y,
                   struct slice text);

/* With a class, shortened in the middle to at most `width`. */
void chart_text_fit(struct chart *s, const char *class, enum chart_font font,
                    enum chart_anchor anchor, double x, double y, double width,
                    struct slice text);

/* The first phrase and as many others as fit: "1x1 conv" of "1x1 conv, 256,
 * BN", "Attention" of "Attention (12)". */
struct slice chart_phrases(struct slice text, enum chart_font font,
                           double width);

/* Upwards from that place. */
void chart_text_up(struct chart *s, const char *class, double x, double y,
                   struct slice text);

/* Breaks a text into lines of at most `width`; returns the y below the last. */
double chart_paragraph(struct chart *s, enum chart_font font, double x,
                       double y, double width, struct slice text);

/* The number of lines of such a paragraph. */
int chart_lines(enum chart_font font, double width, struct slice text);

/* A line: "axis", "grid", "mark" (dashed), "skip". */
void chart_line(struct chart *s, const char *class, double x0, double y0,
                double x1, double y1);

/* "edge c0", or "c0" without an edge. */
const char *chart_fill_class(int fill, bool edge);

/* The next shape with a tooltip is about a layer: pages mark its box. */
void chart_about(struct chart *s, const struct model *model, int64_t node);

/* A rectangle with a hover text, which may be empty. It is at least visible. */
struct chart_box {
  double x, y, width, height;
};
void chart_rect(struct chart *s, const char *class, struct chart_box box,
                struct slice hover);

/* A path through points, or a closed shape. */
void chart_path(struct chart *s, const char *class);
void chart_to(struct chart *s, double x, double y);
void chart_path_close(struct chart *s, struct slice hover);
void chart_path_end(struct chart *s);

/* Fills with their meaning, in lines; returns the y below. */
double chart_legend(struct chart *s, double x, double y, double width,
                    const char *const *names, const int *fills, int count);

/* An axis of values from 0 to `high`, in px from `zero` to `end`. */
struct chart_scale {
  double high, zero, end;
};
double chart_at(const struct chart_scale *scale, double value);

/* Ticks in bytes with grid lines from x0 to x1, labelled on the left. */
void chart_byte_axis(struct chart *s, const struct chart_scale *scale,
                     double x0, double x1, enum text_units units);

/* The charts. */
typedef struct scene *chart_fn(const struct compiled *c);
chart_fn timeline_scene, arena_scene, bars_scene, roofline_scene, volumes_scene,
    pareto_scene;

/* The charts as outputs, in every format. */
#define CHART(id, about)                                            \
  void emit_##id(const struct compiled *c, struct text *out);       \
  void emit_##id##_pdf(const struct compiled *c, struct text *out); \
  void emit_##id##_tex(const struct compiled *c, struct text *out); \
  void emit_##id##_drawing(const struct compiled *c, struct text *out);
#define SEARCH CHART
#include "drawing/charts/charts.def"

#endif
