/* Charts: what they are drawn with; numbers, texts, axes, legend, colours. */
#ifndef NETC_DRAWING_CHARTS_CHART_H
#define NETC_DRAWING_CHARTS_CHART_H

#include "codegen/backend.h"
#include "drawing/scene/scene.h"

/*
 * A chart on its way to a scene. Lengths are in px, of which a page has
 * CHART_WIDTH across, or fewer where a narrow picture is asked for; x grows to
 * the right and y downwards. The same file serves a light and a dark screen,
 * and paper: how things look is a class, which SVG has in a style sheet and the
 * others have in full.
 */
struct chart {
  struct scene *scene;
  struct slice name; /* of the net */
  struct text note;  /* where texts are made: chart_note */
  VEC(struct point) path;
  const char *class; /* of the path */
  int fill;          /* the last one, which a shade is on */
  const char *title; /* in place of its own; "": none; NULL: its own */
  bool bare;         /* no legend, and no words on how it is drawn */
  double width;      /* from CHART_LEAST_WIDTH to CHART_WIDTH */
};

enum { CHART_LEAST_WIDTH = 300, CHART_WIDTH = 800, CHART_MARGIN = 16 };

/* Between the margins. */
static inline double chart_inner(const struct chart *s) {
  return s->width - 2 * CHART_MARGIN;
}

/* Too narrow for a name and three figures in a line. */
static inline bool chart_is_narrow(const struct chart *s) {
  return s->width < 600;
}

/* Sizes of letters: the smallest is 6 pt where the picture is 170 mm wide. */
enum chart_font { CHART_SMALL, CHART_TEXT, CHART_HEAD };
enum chart_anchor { CHART_START, CHART_MIDDLE, CHART_END };

/* `kind`: "timeline" begins the ids, which are unique on a page of HTML. */
struct chart chart_new(const struct compiled *c, const char *kind);

/*
 * The chart begins: a title after the net's name, a subtitle below it, and
 * what it says to who cannot see it.
 */
void chart_open(struct chart *s, double height, struct slice title,
                struct slice subtitle, struct slice summary);

/* It ends at that y: what was drawn is all. */
void chart_close(struct chart *s, double y);

/* The y where the picture may begin. */
double chart_head_height(const struct chart *s, struct slice subtitle);

/* Words around the picture: none where they are in the caption. */
struct slice chart_caption(const struct chart *s, struct slice words);

/* What was put into s->note since; valid until the next such text. */
struct slice chart_note(struct chart *s);

/*
 * In tenths, which is all that is written of a length. Halves are not left to
 * the last bit, so that all machines write the same bytes.
 */
int64_t chart_tenths(double value);

/* How wide Helvetica sets a text, in px. */
double chart_text_width(struct slice text, enum chart_font font);

void chart_text(struct chart *s, enum chart_font font, enum chart_anchor anchor,
                double x, double y, struct slice text);

/* The same in a class of its own: "on0" to "on5" is ink on that fill. */
void chart_text_as(struct chart *s, const char *class, enum chart_font font,
                   enum chart_anchor anchor, double x, double y,
                   struct slice text);

/* The same, shortened in the middle until it is at most `width` wide. */
void chart_text_fit(struct chart *s, const char *class, enum chart_font font,
                    enum chart_anchor anchor, double x, double y, double width,
                    struct slice text);

/* The words that there is room for: what differs stands in front. */
void chart_text_words(struct chart *s, const char *class, enum chart_font font,
                      double x, double y, double width, struct slice text);

/* From below upwards, beginning at that place. */
void chart_text_up(struct chart *s, const char *class, double x, double y,
                   struct slice text);

/* Lines of at most `width`; returns the y below the last. */
double chart_paragraph(struct chart *s, enum chart_font font, double x,
                       double y, double width, struct slice text);

/* How many lines that takes. */
int chart_lines(enum chart_font font, double width, struct slice text);

/* A line: "axis", "grid", "mark" (dashed), "skip". */
void chart_line(struct chart *s, const char *class, double x0, double y0,
                double x1, double y1);

/* "edge c0", or "c0": with that fill. */
const char *chart_fill_class(int fill, bool edge);

/* A rectangle; a hover text may be empty. Never thinner than can be seen. */
struct chart_box {
  double x, y, width, height;
};
void chart_rect(struct chart *s, const char *class, struct chart_box box,
                struct slice hover);

/* A line through points, or around them if it is closed. */
void chart_path(struct chart *s, const char *class);
void chart_to(struct chart *s, double x, double y);
void chart_path_close(struct chart *s, struct slice hover);
void chart_path_end(struct chart *s);

/* Fills with what they stand for, in lines; returns the y below. */
double chart_legend(struct chart *s, double x, double y, double width,
                    const char *const *names, const int *fills, int count);

/* An axis of values from 0 to `high`, in px from `zero` to `end`. */
struct chart_scale {
  double high, zero, end;
};
double chart_at(const struct chart_scale *scale, double value);

/* Marks with lines across from x0 to x1, named at the left: bytes. */
void chart_byte_axis(struct chart *s, const struct chart_scale *scale,
                     double x0, double x1, enum text_units units);

/* The charts themselves. */
typedef struct scene *chart_fn(const struct compiled *c);
chart_fn timeline_scene, arena_scene, bars_scene, roofline_scene, volumes_scene,
    pareto_scene;

/* The charts as outputs, of each form. */
#define CHART(id, about)                                            \
  void emit_##id(const struct compiled *c, struct text *out);       \
  void emit_##id##_pdf(const struct compiled *c, struct text *out); \
  void emit_##id##_tex(const struct compiled *c, struct text *out); \
  void emit_##id##_drawing(const struct compiled *c, struct text *out);
#define SEARCH CHART
#include "drawing/charts/charts.def"

#endif
