/*
 * Charts: common drawing functions. Looks are classes, so that one SVG file
 * serves light screens, dark ones and paper, and loads nothing. CSS variables
 * would be shorter, but librsvg and older tools lack them.
 */
#include "codegen/rows.h"
#include "drawing/charts/chart.h"

#include "drawing/scene/palette.h"

static const int64_t sizes[] = {[CHART_SMALL] = 10 * POINT,
                                [CHART_TEXT] = 11 * POINT,
                                [CHART_HEAD] = 15 * POINT};
static const char *const size_classes[] = {
    [CHART_SMALL] = "small", [CHART_TEXT] = "text", [CHART_HEAD] = "head"};

enum { LINE = 15 }; /* px between the lines of a text */

/* The width in px at which the smallest letters stay readable; 0: the full
 * width. */
static double width_of(int64_t print_width) {
  double px = (double)(print_width * 10 / LEAST_TEXT);
  return !print_width || px > CHART_WIDTH ? CHART_WIDTH
         : px < CHART_LEAST_WIDTH         ? CHART_LEAST_WIDTH
                                          : px;
}

struct chart chart_new(const struct compiled *c, const char *kind) {
  struct scene *scene = ARENA_NEW(c->arena, struct scene);
  scene->arena = c->arena;
  scene->chart = kind;
  scene->print_width = c->options->picture_width;
  return (struct chart){.scene = scene,
                        .name = c->model->name,
                        .note = text_new(c->arena),
                        .title = c->options->title,
                        .bare = c->options->no_legend,
                        .width = width_of(c->options->picture_width)};
}

struct slice chart_caption(const struct chart *s, struct slice words) {
  return s->bare ? (struct slice){"", 0} : words;
}

struct slice chart_note(struct chart *s) {
  struct slice text = text_slice(&s->note);
  s->note = text_new(s->scene->arena); /* earlier notes stay valid */
  return text;
}

int64_t chart_tenths(double value) {
  static const double half = 0.500001;
  return (int64_t)(value < 0 ? value * 10 - half : value * 10 + half);
}

/* Looks */

static int ink(enum palette_chart_ink which) {
  return palette_chart_inks[0][which];
}

/* Looks of lines that are not edges of a fill. */
static const struct look {
  const char *class;
  enum palette_chart_ink stroke;
  int width; /* hundredths of a px */
  bool dashed;
} looks[] = {
    {"axis", CHART_FAINT, 100, false},  {"grid", CHART_GRID, 100, false},
    {"mark", CHART_LETTERS, 100, true}, {"ring", CHART_LETTERS, 200, false},
    {"skip", CHART_FAINT, 120, false},  {"halo", CHART_PAPER, 350, false}};

/* The colour of a shade over a fill. */
static int shaded(int fill) {
  int result = 0;
  for (int shift = 0; shift < 24; shift += 8)
    result |= (fill >> shift & 0xFF) * 78 / 100 << shift;
  return result;
}

/* Sets the colours of "edge c3", "c3" or a look, for formats without style
 * sheets. */
static void set_look(struct chart *s, struct scene_item *item,
                     const char *class) {
  const char *fill = strncmp(class, "edge ", 5) == 0 ? class + 5 : class;
  item->class = class;
  item->fill = item->stroke = NO_COLOUR;
  for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
    if (strcmp(class, looks[i].class) == 0) {
      item->stroke = ink(looks[i].stroke);
      item->stroke_width = looks[i].width;
      item->dashed = looks[i].dashed;
    }
  if (fill != class) {
    item->stroke = ink(CHART_EDGES);
    item->stroke_width = 50;
  }
  if (fill[0] == 'c' && fill[1] >= '0' && fill[1] < '0' + PALETTE_CHART_FILLS)
    item->fill = s->fill = palette_chart_fills[fill[1] - '0'].fill;
  else if (strcmp(fill, "shade") == 0)
    item->fill = shaded(s->fill);
  else if (strcmp(fill, "paper") == 0)
    item->fill = ink(CHART_PAPER);
  else if (strcmp(fill, "tip") == 0)
    item->fill = ink(CHART_FAINT);
}

/* Texts */

double chart_text_width(struct slice text, enum chart_font font) {
  return (double)text_extent(text, sizes[font], font == CHART_HEAD) / 10;
}

static struct slice class_of(struct chart *s, enum chart_font font,
                             const char *class) {
  struct text words = text_new(s->scene->arena);
  text_printf(&words, "%s%s%s", size_classes[font], *class ? " " : "", class);
  text_putc(&words, '\0');
  return text_slice(&words);
}

static struct scene_item text_item(struct chart *s, const char *class,
                                   enum chart_font font, double x, double y,
                                   struct slice text) {
  bool on = strncmp(class, "on", 2) == 0;
  return (struct scene_item){
      .kind = SCENE_TEXT,
      .x = chart_tenths(x),
      .y = chart_tenths(y),
      .size = sizes[font],
      .bold = font == CHART_HEAD,
      .halo = strcmp(class, "over") == 0,
      .fill =
          on ? palette_chart_fills[class[2] - '0'].ink
             : ink(strcmp(class, "faint") == 0 ? CHART_FAINT : CHART_LETTERS),
      .class = class_of(s, font, class).at,
      .text = text};
}

void chart_text_as(struct chart *s, const char *class, enum chart_font font,
                   enum chart_anchor anchor, double x, double y,
                   struct slice text) {
  static const enum scene_anchor anchors[] = {[CHART_START] = ANCHOR_START,
                                              [CHART_MIDDLE] = ANCHOR_MIDDLE,
                                              [CHART_END] = ANCHOR_END};
  struct scene_item item = text_item(s, class, font, x, y, text);
  item.anchor = anchors[anchor];
  scene_add(s->scene, item);
}

void chart_text(struct chart *s, enum chart_font font, enum chart_anchor anchor,
                double x, double y, struct slice text) {
  chart_text_as(s, "", font, anchor, x, y, text);
}

void chart_text_up(struct chart *s, const char *class, double x, double y,
                   struct slice text) {
  struct scene_item item = text_item(s, class, CHART_SMALL, x, y, text);
  item.up = true;
  scene_add(s->scene, item);
}

static bool starts_character(char c) {
  return ((unsigned char)c & 0xC0) != 0x80;
}

/* Keeps the beginning and the end, which distinguish layers, with dots
 * between. */
static void put_shortened(struct text *to, struct slice text, double width,
                          enum chart_font font) {
  size_t left = 0, right = text.length;
  double used = chart_text_width(slice_of("\xE2\x80\xA6"), font);
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
    used += chart_text_width(more, font);
    if (used > width)
      break;
    left = a;
    right = b;
  }
  text_bytes(to, text.at, left);
  text_put(to, "\xE2\x80\xA6");
  text_puts(to, slice_from(text, right));
}

void chart_text_fit(struct chart *s, const char *class, enum chart_font font,
                    enum chart_anchor anchor, double x, double y, double width,
                    struct slice text) {
  if (chart_text_width(text, font) <= width) {
    chart_text_as(s, class, font, anchor, x, y, text);
    return;
  }
  struct text shortened = text_new(s->scene->arena);
  put_shortened(&shortened, text, width, font);
  chart_text_as(s, class, font, anchor, x, y, text_slice(&shortened));
}

/* The next line of a text, broken at a blank. */
static struct slice next_line(struct slice *rest, enum chart_font font,
                              double width) {
  size_t end = 0;
  for (size_t i = 1; i <= rest->length; i++) {
    bool may_end = i == rest->length || rest->at[i] == ' ';
    if (may_end && end &&
        chart_text_width((struct slice){rest->at, i}, font) > width)
      break;
    if (may_end)
      end = i;
  }
  struct slice line = {rest->at, end};
  *rest = slice_from(*rest, end);
  if (rest->length) {
    rest->at++;
    rest->length--;
  }
  return line;
}

struct slice chart_phrases(struct slice text, enum chart_font font,
                           double width) {
  for (size_t i = text.length; i-- > 1;)
    if ((text.at[i] == ',' || slice_begins(slice_from(text, i), " (")) &&
        chart_text_width(text, font) > width)
      text = slice_to(text, i);
  return text;
}

int chart_lines(enum chart_font font, double width, struct slice text) {
  int lines = 0;
  while (text.length) {
    next_line(&text, font, width);
    lines++;
  }
  return lines;
}

double chart_paragraph(struct chart *s, enum chart_font font, double x,
                       double y, double width, struct slice text) {
  while (text.length) {
    struct slice line = next_line(&text, font, width);
    chart_text_fit(s, font == CHART_SMALL ? "faint" : "", font, CHART_START, x,
                   y, width, line);
    y += LINE;
  }
  return y;
}

/* The style sheet */

static void put_inks(struct text *out, bool dark) {
  const int *inks = palette_chart_inks[dark];
  text_printf(out, ".netc .paper{fill:#%06x}.netc text{fill:#%06x}\n",
              (unsigned)inks[CHART_PAPER], (unsigned)inks[CHART_LETTERS]);
  text_printf(out,
              ".netc .faint,.netc .tip{fill:#%06x}.netc .over{stroke:#%06x}\n",
              (unsigned)inks[CHART_FAINT], (unsigned)inks[CHART_PAPER]);
  for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
    text_printf(out, ".netc .%s{stroke:#%06x}", looks[i].class,
                (unsigned)inks[looks[i].stroke]);
  text_printf(out, ".netc .edge{stroke:#%06x}\n", (unsigned)inks[CHART_EDGES]);
}

static void put_style(struct text *out) {
  text_put(out, "<style>\n"
                ".netc .head{font-size:15px;font-weight:bold}"
                ".netc .text{font-size:11px}.netc .small{font-size:10px}\n");
  for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
    text_printf(out, ".netc .%s{fill:none;stroke-width:%d.%02d%s}",
                looks[i].class, looks[i].width / 100, looks[i].width % 100,
                looks[i].dashed ? ";stroke-dasharray:5 3" : "");
  text_put(out, "\n.netc .edge{stroke-width:.5}"
                ".netc .over{stroke-width:3;paint-order:stroke}\n"
                ".netc .shade{fill:#000;fill-opacity:.22}"
                ".netc .hit{fill:#808080;fill-opacity:0}"
                ".netc .hit:hover{fill-opacity:.3}\n");
  put_inks(out, false);
  for (int i = 0; i < PALETTE_CHART_FILLS; i++)
    text_printf(out, ".netc .c%d{fill:#%06x}.netc .on%d{fill:#%06x}\n", i,
                (unsigned)palette_chart_fills[i].fill, i,
                (unsigned)palette_chart_fills[i].ink);
  text_put(out, "@media screen and (prefers-color-scheme:dark){\n");
  put_inks(out, true);
  text_put(out, "}\n</style>\n");
}

/* Shapes */

const char *chart_fill_class(int fill, bool edge) {
  static const char *const classes[PALETTE_CHART_FILLS] = {
      "edge c0", "edge c1", "edge c2", "edge c3", "edge c4", "edge c5"};
  return classes[fill] + (edge ? 0 : 5);
}

void chart_about(struct chart *s, const struct model *model, int64_t node) {
  struct text name = text_new(s->scene->arena), id = name;
  model_put_name(&name, model, node);
  name_put_id(&id, text_slice(&name));
  s->about = text_slice(&id);
}

static struct slice take_about(struct chart *s, struct slice hover) {
  struct slice about = hover.length ? s->about : (struct slice){"", 0};
  if (hover.length)
    s->about = (struct slice){"", 0};
  return about;
}

void chart_rect(struct chart *s, const char *class, struct chart_box box,
                struct slice hover) {
  struct scene_item item = {
      .kind = SCENE_BOX,
      .x = chart_tenths(box.x),
      .y = chart_tenths(box.y),
      .width = chart_tenths(box.width > 0.5 ? box.width : 0.5),
      .height = chart_tenths(box.height > 0.5 ? box.height : 0.5),
      .text = hover,
      .about = take_about(s, hover)};
  set_look(s, &item, class);
  scene_add(s->scene, item);
}

void chart_path(struct chart *s, const char *class) {
  s->class = class;
  s->path.at = NULL;
  s->path.count = s->path.room = 0;
}

void chart_to(struct chart *s, double x, double y) {
  *VEC_PUSH(s->scene->arena, &s->path) =
      (struct point){chart_tenths(x), chart_tenths(y)};
}

static void end_path(struct chart *s, bool closed, struct slice hover) {
  struct scene_item item = {.kind = SCENE_SHAPE,
                            .points = s->path.at,
                            .point_count = s->path.count,
                            .closed = closed,
                            .text = hover,
                            .about = take_about(s, hover)};
  set_look(s, &item, s->class);
  scene_add(s->scene, item);
}

void chart_path_close(struct chart *s, struct slice hover) {
  end_path(s, true, hover);
}

void chart_path_end(struct chart *s) {
  end_path(s, false, (struct slice){"", 0});
}

void chart_line(struct chart *s, const char *class, double x0, double y0,
                double x1, double y1) {
  chart_path(s, class);
  chart_to(s, x0, y0);
  chart_to(s, x1, y1);
  chart_path_end(s);
}

/* Parts of a chart */

static bool has_title(const struct chart *s) {
  return !s->title || *s->title;
}

double chart_head_height(const struct chart *s, struct slice subtitle) {
  return (has_title(s) ? 34 : 16) +
         LINE * chart_lines(CHART_SMALL, chart_inner(s),
                            chart_caption(s, subtitle));
}

void chart_open(struct chart *s, double height, struct slice title,
                struct slice subtitle, struct slice summary) {
  struct text head = text_new(s->scene->arena);
  if (s->title && *s->title)
    text_put(&head, s->title);
  else
    text_printf(&head, "%.*s: %.*s", SLICE_ARG(s->name), SLICE_ARG(title));
  s->scene->put_style = put_style;
  s->scene->width = (int64_t)(s->width * POINT);
  chart_close(s, height);
  s->scene->title = text_slice(&head);
  s->scene->description = summary;
  if (has_title(s)) {
    bool fits = chart_text_width(s->scene->title, CHART_HEAD) <= chart_inner(s);
    chart_text_fit(s, "", fits ? CHART_HEAD : CHART_TEXT, CHART_START,
                   CHART_MARGIN, 25, chart_inner(s), s->scene->title);
  }
  chart_paragraph(s, CHART_SMALL, CHART_MARGIN, has_title(s) ? 43 : 25,
                  chart_inner(s), chart_caption(s, subtitle));
}

void chart_close(struct chart *s, double y) {
  s->scene->height = (int64_t)(y + 0.999) * POINT; /* whole px */
}

double chart_legend(struct chart *s, double x, double y, double width,
                    const char *const *names, const int *fills, int count) {
  double at = x;
  if (s->bare)
    return y - 9;
  for (int i = 0; i < count; i++) {
    struct slice name = slice_of(names[i]);
    double room = 14 + chart_text_width(name, CHART_SMALL) + 16;
    if (at > x && at + room > x + width) {
      at = x;
      y += LINE;
    }
    chart_rect(s, chart_fill_class(fills[i], true),
               (struct chart_box){at, y - 9, 10, 10}, (struct slice){"", 0});
    chart_text(s, CHART_SMALL, CHART_START, at + 14, y, name);
    at += room;
  }
  return y + LINE;
}

double chart_at(const struct chart_scale *scale, double value) {
  if (scale->high <= 0)
    return scale->zero;
  return scale->zero + (scale->end - scale->zero) * (value / scale->high);
}

/* 1, 2, 4, ..., 512 of a binary unit, else 1, 2, 5 times a power of ten. */
static int64_t chart_step(int64_t high, enum text_units units, int most) {
  int64_t step = 1;
  for (int i = 0; high / step > most && step < INT64_MAX / 10; i++)
    step = units == UNITS_IEC ? step * 2 : i % 3 == 1 ? step / 2 * 5 : step * 2;
  return step;
}

void chart_byte_axis(struct chart *s, const struct chart_scale *scale,
                     double x0, double x1, enum text_units units) {
  int64_t high = (int64_t)scale->high;
  int64_t step = chart_step(high, units, 6);
  for (int64_t value = 0;; value += step) {
    double y = chart_at(scale, (double)value);
    int64_t unit = units == UNITS_SI ? 1000 : 1024;
    int64_t of = 1;
    while (units != UNITS_BYTES && value / of >= unit && of < INT64_MAX / unit)
      of *= unit;
    chart_line(s, value ? "grid" : "axis", x0, y, x1, y);
    /* Enough digits: 1.25 GiB, not 1.2 GiB. */
    text_size(&s->note, value, units,
              value % of == 0                                      ? 0
              : value % of % (of / 10) == 0 || value * 2 % of == 0 ? 1
                                                                   : 2);
    chart_text(s, CHART_SMALL, CHART_END, x0 - 5, y + 3.5, chart_note(s));
    if (value > high - step)
      break;
  }
}
