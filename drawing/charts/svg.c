/*
 * SVG: what the charts draw with. Colours are classes, so that one file
 * serves light screens, dark ones and paper; nothing is loaded from anywhere.
 * Variables of CSS would be shorter, but librsvg and older tools know none.
 */
#include "drawing/charts/svg.h"

#include "base/shown.h"
#include "base/utf8.h"

const struct svg_fill svg_fills[SVG_FILLS] = {
    {"#243b6b", "#ffffff"}, {"#7352a6", "#ffffff"}, {"#d1603d", "#111111"},
    {"#4bb5aa", "#111111"}, {"#f0bf4c", "#111111"}, {"#f6ecd2", "#111111"}};

const char *const svg_inks[2][3] = {{"#ffffff", "#1b1b1b", "#595959"},
                                    {"#16181d", "#ececec", "#a9adb5"}};

static const double sizes[] = {
    [SVG_SMALL] = 10, [SVG_TEXT] = 11, [SVG_HEAD] = 15};
static const char *const size_classes[] = {
    [SVG_SMALL] = "small", [SVG_TEXT] = "text", [SVG_HEAD] = "head"};

enum { LINE = 15 }; /* px from one line of a text to the next */

struct svg svg_new(const struct compiled *c, const char *kind,
                   struct text *out) {
  return (struct svg){.out = out, .note = text_new(c->arena), .kind = kind};
}

struct slice svg_note(struct svg *s) {
  struct slice text = text_slice(&s->note);
  s->note.length = 0;
  return text;
}

/* Texts and numbers */

static bool is_for_xml(struct slice c) {
  return !(c.length == 3 && memcmp(c.at, "\xEF\xBF", 2) == 0 &&
           (unsigned char)c.at[2] >= 0xBE); /* U+FFFE, U+FFFF */
}

static void put_character(struct text *out, struct slice c) {
  switch (*c.at) {
  case '<': text_put(out, "&lt;"); return;
  case '>': text_put(out, "&gt;"); return;
  case '&': text_put(out, "&amp;"); return;
  case '"': text_put(out, "&quot;"); return;
  default: text_puts(out, c);
  }
}

/* The character at the beginning of a text, as it may be shown. */
static size_t put_clean(struct text *out, struct slice text) {
  size_t length = utf8_length(text.at, text.length);
  struct slice c = {text.at, length};
  if (length == 0 || !is_for_xml(c))
    text_put(out, "\xEF\xBF\xBD");
  else if (*c.at == '\n')
    text_putc(out, '\n');
  else
    shown_put(out, c, 0);
  return length ? length : 1;
}

void svg_clean(struct text *out, struct slice text) {
  for (size_t i = 0; i < text.length;)
    i += put_clean(out, (struct slice){text.at + i, text.length - i});
}

void svg_escape(struct text *out, struct slice text) {
  struct text clean = text_new(out->arena);
  for (size_t i = 0; i < text.length;) {
    clean.length = 0;
    i += put_clean(&clean, (struct slice){text.at + i, text.length - i});
    put_character(out, text_slice(&clean));
  }
}

int64_t svg_tenths(double value) {
  static const double half = 0.500001;
  return (int64_t)(value < 0 ? value * 10 - half : value * 10 + half);
}

/* With one digit behind the point, or none. */
static void svg_number(struct text *out, double value) {
  int64_t tenths = svg_tenths(value);
  if (tenths < 0)
    text_putc(out, '-');
  tenths = tenths < 0 ? -tenths : tenths;
  text_int(out, tenths / 10);
  if (tenths % 10)
    text_printf(out, ".%d", (int)(tenths % 10));
}

static void put_attribute(struct svg *s, const char *name, double value) {
  text_printf(s->out, " %s=\"", name);
  svg_number(s->out, value);
  text_putc(s->out, '"');
}

/* Thousandths of the size, from ' ' to '~': Adobe's Helvetica.afm. */
static const short widths[] = {
    278, 278, 355, 556, 556,  889, 667, 191, 333, 333, 389, 584, 278, 333,
    278, 278, 556, 556, 556,  556, 556, 556, 556, 556, 556, 556, 278, 278,
    584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
    500, 667, 556, 833, 722,  778, 667, 778, 722, 667, 611, 722, 667, 944,
    667, 667, 611, 278, 278,  278, 469, 556, 333, 556, 556, 500, 556, 556,
    278, 556, 556, 222, 222,  500, 222, 833, 556, 556, 556, 556, 333, 500,
    278, 556, 500, 722, 500,  500, 500, 334, 260, 334, 584};

/* What it does not know is as wide as it is high. */
static double width_of(char c) {
  unsigned char byte = (unsigned char)c;
  if ((byte & 0xC0) == 0x80)
    return 0; /* the rest of a character */
  return byte >= ' ' && byte <= '~' ? widths[byte - ' '] : 1000;
}

double svg_text_width(struct slice text, enum svg_font font) {
  double width = 0;
  for (size_t i = 0; i < text.length; i++)
    width += width_of(text.at[i]);
  return width * sizes[font] / (font == SVG_HEAD ? 930 : 1000); /* bold */
}

void svg_text_as(struct svg *s, const char *class, enum svg_font font,
                 enum svg_anchor anchor, double x, double y,
                 struct slice text) {
  static const char *const anchors[] = {
      [SVG_START] = "", [SVG_MIDDLE] = " mid", [SVG_END] = " end"};
  text_printf(s->out, "<text class=\"%s%s%s%s\"", size_classes[font],
              *class ? " " : "", class, anchors[anchor]);
  put_attribute(s, "x", x);
  put_attribute(s, "y", y);
  text_putc(s->out, '>');
  svg_escape(s->out, text);
  text_put(s->out, "</text>\n");
}

void svg_text(struct svg *s, enum svg_font font, enum svg_anchor anchor,
              double x, double y, struct slice text) {
  svg_text_as(s, "", font, anchor, x, y, text);
}

void svg_text_up(struct svg *s, const char *class, double x, double y,
                 struct slice text) {
  text_printf(s->out, "<text class=\"small %s\" transform=\"translate(", class);
  svg_number(s->out, x);
  text_putc(s->out, ' ');
  svg_number(s->out, y);
  text_put(s->out, ") rotate(-90)\">");
  svg_escape(s->out, text);
  text_put(s->out, "</text>\n");
}

static bool starts_character(char c) {
  return ((unsigned char)c & 0xC0) != 0x80;
}

/* Its beginning and its end, which tell layers apart, with dots between. */
static void put_shortened(struct text *to, struct slice text, double width,
                          enum svg_font font) {
  size_t left = 0, right = text.length;
  double used = svg_text_width(slice_of("\xE2\x80\xA6"), font);
  for (bool front = true; left < right; front = !front) {
    size_t a = left, b = right;
    if (front)
      do
        a++;
      while (a < right && !starts_character(text.at[a]));
    else
      do
        b--;
      while (b > left && !starts_character(text.at[b]));
    struct slice more = front ? (struct slice){text.at + left, a - left}
                              : (struct slice){text.at + b, right - b};
    used += svg_text_width(more, font);
    if (used > width)
      break;
    left = a;
    right = b;
  }
  text_bytes(to, text.at, left);
  text_put(to, "\xE2\x80\xA6");
  text_bytes(to, text.at + right, text.length - right);
}

void svg_text_fit(struct svg *s, const char *class, enum svg_font font,
                  enum svg_anchor anchor, double x, double y, double width,
                  struct slice text) {
  if (svg_text_width(text, font) <= width) {
    svg_text_as(s, class, font, anchor, x, y, text);
    return;
  }
  struct text shortened = text_new(s->out->arena);
  put_shortened(&shortened, text, width, font);
  svg_text_as(s, class, font, anchor, x, y, text_slice(&shortened));
}

/* The next line of a text that is broken at blanks. */
static struct slice next_line(struct slice *rest, enum svg_font font,
                              double width) {
  size_t end = 0;
  for (size_t i = 1; i <= rest->length; i++) {
    bool may_end = i == rest->length || rest->at[i] == ' ';
    if (may_end && end &&
        svg_text_width((struct slice){rest->at, i}, font) > width)
      break;
    if (may_end)
      end = i;
  }
  struct slice line = {rest->at, end};
  rest->at += end;
  rest->length -= end;
  if (rest->length) {
    rest->at++;
    rest->length--;
  }
  return line;
}

int svg_lines(enum svg_font font, double width, struct slice text) {
  int lines = 0;
  while (text.length) {
    next_line(&text, font, width);
    lines++;
  }
  return lines;
}

double svg_paragraph(struct svg *s, enum svg_font font, double x, double y,
                     double width, struct slice text) {
  while (text.length) {
    struct slice line = next_line(&text, font, width);
    svg_text_fit(s, font == SVG_SMALL ? "faint" : "", font, SVG_START, x, y,
                 width, line);
    y += LINE;
  }
  return y;
}

/* The style sheet */

static void put_inks(struct text *out, const char *const inks[3], bool dark) {
  text_printf(out, ".netc .paper{fill:%s}.netc text{fill:%s}\n", inks[0],
              inks[1]);
  text_printf(out, ".netc .faint{fill:%s}.netc .halo,.netc .over{stroke:%s}\n",
              inks[2], inks[0]);
  text_printf(out,
              ".netc .axis,.netc .skip{stroke:%s}.netc .tip{fill:%s}.netc "
              ".grid{stroke:%s}\n"
              ".netc .mark,.netc .ring{stroke:%s}.netc .edge{stroke:%s}\n",
              inks[2], inks[2], dark ? "#3a3e46" : "#dcdcdc", inks[1],
              dark ? "#d0d3d8" : "#333333");
}

static void put_style(struct text *out) {
  text_put(out, "<style>\n"
                ".netc text{font-family:Helvetica,Arial,sans-serif}\n"
                ".netc .head{font-size:15px;font-weight:bold}"
                ".netc .text{font-size:11px}.netc .small{font-size:10px}\n"
                ".netc .mid{text-anchor:middle}.netc .end{text-anchor:end}\n"
                ".netc .axis,.netc .grid,.netc .mark,.netc .ring,.netc .skip"
                "{fill:none;stroke-width:1}\n"
                ".netc .mark{stroke-dasharray:5 3}"
                ".netc .skip{stroke-width:1.2}"
                ".netc .ring{stroke-width:2}\n"
                ".netc .edge{stroke-width:.5}"
                ".netc .halo{fill:none;stroke-width:3.5}"
                ".netc .over{stroke-width:3;paint-order:stroke}\n"
                ".netc .shade{fill:#000;fill-opacity:.22}"
                ".netc .hit{fill:#808080;fill-opacity:0}"
                ".netc .hit:hover{fill-opacity:.3}\n");
  put_inks(out, svg_inks[0], false);
  for (int i = 0; i < SVG_FILLS; i++)
    text_printf(out, ".netc .c%d{fill:%s}.netc .on%d{fill:%s}\n", i,
                svg_fills[i].fill, i, svg_fills[i].ink);
  text_put(out, "@media screen and (prefers-color-scheme:dark){\n");
  put_inks(out, svg_inks[1], true);
  text_put(out, "}\n</style>\n");
}

void svg_open(struct svg *s, double height, struct slice title,
              struct slice summary) {
  struct text *out = s->out;
  height = (double)(int64_t)(height + 0.999); /* whole: no half a line of px */
  text_put(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"netc\"");
  text_printf(out, " viewBox=\"0 0 %d ", SVG_WIDTH);
  svg_number(out, height);
  text_printf(out, "\" width=\"%d\"", SVG_WIDTH);
  put_attribute(s, "height", height);
  text_printf(out,
              " role=\"img\" aria-labelledby=\"%s-title %s-desc\">\n"
              "<title id=\"%s-title\">",
              s->kind, s->kind, s->kind);
  svg_escape(out, title);
  text_printf(out, "</title>\n<desc id=\"%s-desc\">", s->kind);
  svg_escape(out, summary);
  text_put(out, "</desc>\n");
  put_style(out);
  svg_rect(s, "paper", (struct svg_box){0, 0, SVG_WIDTH, height},
           (struct slice){"", 0});
}

void svg_close(struct svg *s) {
  text_put(s->out, "</svg>\n");
}

/* Shapes */

void svg_line(struct svg *s, const char *class, double x0, double y0, double x1,
              double y1) {
  text_printf(s->out, "<line class=\"%s\"", class);
  put_attribute(s, "x1", x0);
  put_attribute(s, "y1", y0);
  put_attribute(s, "x2", x1);
  put_attribute(s, "y2", y1);
  text_put(s->out, "/>\n");
}

static void end_shape(struct svg *s, const char *name, struct slice hover) {
  if (!hover.length) {
    text_put(s->out, "/>\n");
    return;
  }
  text_put(s->out, "><title>");
  svg_escape(s->out, hover);
  text_printf(s->out, "</title></%s>\n", name);
}

void svg_rect(struct svg *s, const char *class, struct svg_box box,
              struct slice hover) {
  text_printf(s->out, "<rect class=\"%s\"", class);
  put_attribute(s, "x", box.x);
  put_attribute(s, "y", box.y);
  put_attribute(s, "width", box.width > 0.5 ? box.width : 0.5);
  put_attribute(s, "height", box.height > 0.5 ? box.height : 0.5);
  end_shape(s, "rect", hover);
}

void svg_path(struct svg *s, const char *class) {
  text_printf(s->out, "<path class=\"%s\" d=\"", class);
}

void svg_to(struct svg *s, char command, double x, double y) {
  text_putc(s->out, command);
  if (command != 'V')
    svg_number(s->out, x);
  if (command != 'V' && command != 'H')
    text_putc(s->out, ' ');
  if (command != 'H')
    svg_number(s->out, y);
}

void svg_path_end(struct svg *s, struct slice hover) {
  text_putc(s->out, '"');
  end_shape(s, "path", hover);
}

/* Parts of a chart */

static const double inner = SVG_WIDTH - 2 * SVG_MARGIN;

double svg_head_height(struct slice subtitle) {
  return 34 + LINE * svg_lines(SVG_SMALL, inner, subtitle);
}

double svg_head(struct svg *s, struct slice title, struct slice subtitle) {
  svg_text_fit(s, "", SVG_HEAD, SVG_START, SVG_MARGIN, 25, inner, title);
  return svg_paragraph(s, SVG_SMALL, SVG_MARGIN, 43, inner, subtitle) - 9;
}

double svg_legend(struct svg *s, double x, double y, double width,
                  const char *const *names, const int *fills, int count) {
  double at = x;
  char class[16] = "edge c0";
  for (int i = 0; i < count; i++) {
    struct slice name = slice_of(names[i]);
    double room = 14 + svg_text_width(name, SVG_SMALL) + 16;
    if (at > x && at + room > x + width) {
      at = x;
      y += LINE;
    }
    class[6] = (char)('0' + fills[i]);
    svg_rect(s, class, (struct svg_box){at, y - 9, 10, 10},
             (struct slice){"", 0});
    svg_text(s, SVG_SMALL, SVG_START, at + 14, y, name);
    at += room;
  }
  return y + LINE;
}

double svg_at(const struct svg_scale *scale, double value) {
  if (scale->high <= 0)
    return scale->zero;
  return scale->zero + (scale->end - scale->zero) * (value / scale->high);
}

/* 1, 2, 4, ..., 512 of a unit by 1,024; 1, 2, 5 by tens for the others. */
static int64_t svg_step(int64_t high, enum text_units units, int most) {
  int64_t step = 1;
  for (int i = 0; high / step > most && step < INT64_MAX / 10; i++)
    step = units == UNITS_IEC ? step * 2 : i % 3 == 1 ? step / 2 * 5 : step * 2;
  return step;
}

void svg_byte_axis(struct svg *s, const struct svg_scale *scale, double x0,
                   double x1, enum text_units units) {
  int64_t high = (int64_t)scale->high;
  int64_t step = svg_step(high, units, 6);
  for (int64_t value = 0;; value += step) {
    double y = svg_at(scale, (double)value);
    int64_t unit = units == UNITS_SI ? 1000 : 1024;
    int64_t of = 1;
    while (units != UNITS_BYTES && value / of >= unit && of < INT64_MAX / unit)
      of *= unit;
    svg_line(s, value ? "grid" : "axis", x0, y, x1, y);
    /* 1.25 GiB is no 1.2 GiB. */
    text_size(&s->note, value, units,
              value % of == 0                                      ? 0
              : value % of % (of / 10) == 0 || value * 2 % of == 0 ? 1
                                                                   : 2);
    svg_text(s, SVG_SMALL, SVG_END, x0 - 5, y + 3.5, svg_note(s));
    if (value > high - step)
      break;
  }
}
