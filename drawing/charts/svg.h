/* SVG: what the charts draw with; numbers, texts, axes, legend, colours. */
#ifndef NETC_DRAWING_CHARTS_SVG_H
#define NETC_DRAWING_CHARTS_SVG_H

#include "codegen/backend.h"

/*
 * A picture on its way. Lengths are in px, of which a page has SVG_WIDTH
 * across; x grows to the right and y downwards. The same file serves a light
 * and a dark screen, and paper: colours are classes of a style sheet.
 */
struct svg {
  struct text *out;
  struct text note; /* where texts are made: svg_note */
  const char *kind; /* "timeline": begins the ids, unique on a page of HTML */
};

enum { SVG_WIDTH = 800, SVG_MARGIN = 16 };

/* Sizes of letters: the smallest is 6 pt where the picture is 170 mm wide. */
enum svg_font { SVG_SMALL, SVG_TEXT, SVG_HEAD };
enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/*
 * Fills from dark to light, class "c0" to "c5": each pair is told apart in
 * grey and by deuteranopes; what is written on them is `ink`.
 */
enum { SVG_FILLS = 6 };
struct svg_fill {
  const char *fill, *ink;
};
extern const struct svg_fill svg_fills[SVG_FILLS];

/* Paper, letters, faint letters: first on a light screen, then a dark one. */
extern const char *const svg_inks[2][3];

struct svg svg_new(const struct compiled *c, const char *kind,
                   struct text *out);

/* The picture begins: its name, and what it says to who cannot see it. */
void svg_open(struct svg *s, double height, struct slice title,
              struct slice summary);
void svg_close(struct svg *s);

/* What was put into s->note since; valid until the next such text. */
struct slice svg_note(struct svg *s);

/* As UTF-8, without characters that nobody sees but programs obey. */
void svg_clean(struct text *out, struct slice text);

/* Characters that XML would take for its own, or refuses, are replaced. */
void svg_escape(struct text *out, struct slice text);

/*
 * In tenths, which is all that is written of a length. Halves are not left to
 * the last bit, so that all machines write the same bytes.
 */
int64_t svg_tenths(double value);

/* How wide Helvetica sets a text, in px. */
double svg_text_width(struct slice text, enum svg_font font);

void svg_text(struct svg *s, enum svg_font font, enum svg_anchor anchor,
              double x, double y, struct slice text);

/* The same in a class of its own: "on0" to "on5" is ink on that fill. */
void svg_text_as(struct svg *s, const char *class, enum svg_font font,
                 enum svg_anchor anchor, double x, double y, struct slice text);

/* The same, shortened in the middle until it is at most `width` wide. */
void svg_text_fit(struct svg *s, const char *class, enum svg_font font,
                  enum svg_anchor anchor, double x, double y, double width,
                  struct slice text);

/* From below upwards, beginning at that place. */
void svg_text_up(struct svg *s, const char *class, double x, double y,
                 struct slice text);

/* Lines of at most `width`; returns the y below the last. */
double svg_paragraph(struct svg *s, enum svg_font font, double x, double y,
                     double width, struct slice text);

/* How many lines that takes. */
int svg_lines(enum svg_font font, double width, struct slice text);

/* A line: "axis", "grid", "mark" (dashed), "skip". */
void svg_line(struct svg *s, const char *class, double x0, double y0, double x1,
              double y1);

/* A rectangle; a hover text may be empty. Never thinner than can be seen. */
struct svg_box {
  double x, y, width, height;
};
void svg_rect(struct svg *s, const char *class, struct svg_box box,
              struct slice hover);

/* `<path class="..." d="`; end it with svg_path_end. */
void svg_path(struct svg *s, const char *class);
void svg_to(struct svg *s, char command, double x, double y);
void svg_path_end(struct svg *s, struct slice hover);

/* Title and subtitle; returns the y where the picture may begin. */
double svg_head(struct svg *s, struct slice title, struct slice subtitle);
double svg_head_height(struct slice subtitle);

/* Fills with what they stand for, in lines; returns the y below. */
double svg_legend(struct svg *s, double x, double y, double width,
                  const char *const *names, const int *fills, int count);

/* An axis of values from 0 to `high`, in px from `zero` to `end`. */
struct svg_scale {
  double high, zero, end;
};
double svg_at(const struct svg_scale *scale, double value);

/* Marks with lines across from x0 to x1, named at the left: bytes. */
void svg_byte_axis(struct svg *s, const struct svg_scale *scale, double x0,
                   double x1, enum text_units units);

#endif
