/* Scene as SVG: for browsers, papers, and programs that draw. */
#include "drawing/scene/palette.h"
#include "drawing/scene/scene.h"

static void put_number(struct text *out, const char *name, int64_t tenths) {
  text_printf(out, " %s=\"", name);
  put_length(out, tenths);
  text_putc(out, '"');
}

static void put_colour(struct text *out, const char *name, int colour) {
  if (colour == NO_COLOUR)
    text_printf(out, " %s=\"none\"", name);
  else
    text_printf(out, " %s=\"#%06x\"", name, (unsigned)colour);
}

static void put_stroke(struct text *out, const struct scene_item *item) {
  put_colour(out, "stroke", item->stroke);
  if (item->stroke == NO_COLOUR)
    return;
  text_put(out, " stroke-width=\"");
  text_int(out, item->stroke_width / 100);
  text_printf(out, ".%02d\"", (int)(item->stroke_width % 100));
  if (item->dashed)
    text_put(out, " stroke-dasharray=\"3 2\"");
}

/* "<rect", and its class. */
static void put_start(struct text *out, const char *name,
                      const struct scene_item *item) {
  text_printf(out, "<%s", name);
  if (item->class && *item->class)
    text_printf(out, " class=\"%s\"", item->class);
  if (item->about.length) {
    text_put(out, " data-box=\"");
    put_xml(out, item->about);
    text_putc(out, '"');
  }
}

static void put_end(struct text *out, const char *name,
                    const struct scene_item *item) {
  if (!item->text.length) {
    text_put(out, "/>\n");
    return;
  }
  text_put(out, "><title>");
  put_xml(out, item->text);
  text_printf(out, "</title></%s>\n", name);
}

static void put_box(struct text *out, const struct scene_item *item) {
  put_start(out, "rect", item);
  put_number(out, "x", item->x);
  put_number(out, "y", item->y);
  put_number(out, "width", item->width);
  put_number(out, "height", item->height);
  if (item->radius)
    put_number(out, "rx", item->radius);
  if (!item->class) {
    put_colour(out, "fill", item->fill);
    put_stroke(out, item);
  }
  put_end(out, "rect", item);
}

static void put_point(struct text *out, struct point p) {
  put_length(out, p.x);
  text_putc(out, ' ');
  put_length(out, p.y);
}

static void put_words(struct text *out, const struct scene_item *item) {
  static const char *const anchors[] = {"", " text-anchor=\"middle\"",
                                        " text-anchor=\"end\""};
  put_start(out, "text", item);
  if (item->up) {
    text_put(out, " transform=\"translate(");
    put_point(out, (struct point){item->x, item->y});
    text_put(out, ") rotate(-90)\"");
  } else {
    put_number(out, "x", item->x);
    put_number(out, "y", item->y);
  }
  if (!item->class)
    put_number(out, "font-size", item->size);
  text_put(out, anchors[item->anchor]);
  if (item->bold && !item->class)
    text_put(out, " font-weight=\"bold\"");
  if (item->fill && !item->class)
    put_colour(out, "fill", item->fill);
  text_putc(out, '>');
  put_xml(out, item->text);
  text_put(out, "</text>\n");
}

static void put_step(void *user, const struct point *points, int count) {
  struct text *out = user;
  text_putc(out, count == 1 ? 'L' : 'C');
  for (int i = 0; i < count; i++) {
    if (i)
      text_putc(out, ' ');
    put_point(out, points[i]);
  }
}

static void put_line(struct text *out, const struct scene_item *item) {
  text_put(out, "<path d=\"M");
  put_point(out, item->points[0]);
  line_walk(item, put_step, out);
  text_put(out, "\" fill=\"none\"");
  put_stroke(out, item);
  text_put(out, "/>\n");
  if (!item->arrow)
    return;
  struct point corners[3];
  line_arrow(item, corners);
  text_put(out, "<path d=\"M");
  for (int i = 0; i < 3; i++) {
    if (i)
      text_putc(out, 'L');
    put_point(out, corners[i]);
  }
  text_put(out, "Z\"");
  put_colour(out, "fill", item->stroke);
  text_put(out, "/>\n");
}

static void put_shape(struct text *out, const struct scene_item *item) {
  const struct point *p = item->points;
  put_start(out, "path", item);
  text_put(out, " d=\"M");
  put_point(out, p[0]);
  for (size_t i = 1; i < item->point_count; i++) {
    bool level = p[i].y == p[i - 1].y, steep = p[i].x == p[i - 1].x;
    text_putc(out, level ? 'H' : steep ? 'V' : 'L');
    if (level || steep)
      put_length(out, level ? p[i].x : p[i].y);
    else
      put_point(out, p[i]);
  }
  text_put(out, item->closed ? "Z\"" : "\"");
  if (!item->class) {
    put_colour(out, "fill", item->fill);
    put_stroke(out, item);
  }
  put_end(out, "path", item);
}

static void put_open(struct text *out, const struct scene_item *item) {
  text_put(out, item->href.length ? "<a" : "<g");
  if (item->id.length) {
    text_put(out, " id=\"");
    put_xml(out, item->id);
    text_putc(out, '"');
  }
  if (item->href.length) {
    text_put(out, " href=\"");
    put_xml(out, item->href);
    text_putc(out, '"');
  }
  text_putc(out, '>');
  if (item->text.length) {
    text_put(out, "<title>");
    put_xml(out, item->text);
    text_put(out, "</title>");
  }
  text_putc(out, '\n');
}

/* Older tools skip this rule and keep the light colours. */
static void put_style(struct text *out) {
  text_printf(out,
              "<style>\n@media screen and (prefers-color-scheme:dark){\n"
              ".diagram .paper{fill:#%06x}\n",
              (unsigned)palette_inks[0].dark);
  for (int i = 1; i < PALETTE_INKS; i++) {
    unsigned light = (unsigned)palette_inks[i].light;
    unsigned dark = (unsigned)palette_inks[i].dark;
    text_printf(out,
                ".diagram [fill=\"#%06x\"]{fill:#%06x}"
                ".diagram [stroke=\"#%06x\"]{stroke:#%06x}\n",
                light, dark, light, dark);
  }
  text_put(out, "}\n</style>\n");
}

static void put_head(const struct scene *scene, struct text *out) {
  const char *name = scene->chart     ? scene->chart
                     : scene->inlined ? "diagram"
                                      : "";
  const char *unit = scene->chart && !scene->print_width ? "" : "pt";
  const char *dash = *name ? "-" : "";
  int64_t height = scene->height;
  if (scene->print_width)
    height = height * scene->print_width / scene->width;
  text_printf(out,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"%s\" width=\"",
              scene->chart ? "netc" : "diagram");
  put_length(out, scene->print_width ? scene->print_width : scene->width);
  text_printf(out, "%s\" height=\"", unit);
  put_length(out, height);
  text_printf(out, "%s\" viewBox=\"0 0 ", unit);
  put_length(out, scene->width);
  text_putc(out, ' ');
  put_length(out, scene->height);
  text_printf(out,
              "\" role=\"img\" aria-labelledby=\"%s%stitle %s%sdesc\" "
              "font-family=\"Helvetica, Arial, 'Liberation Sans', "
              "sans-serif\">\n<title id=\"%s%stitle\">",
              name, dash, name, dash, name, dash);
  put_xml(out, scene->title);
  text_printf(out, "</title>\n<desc id=\"%s%sdesc\">", name, dash);
  put_xml(out, scene->description);
  text_put(out, "</desc>\n");
}

void scene_put_svg(const struct scene *scene, struct text *out) {
  struct slice close = {"", 0};
  put_head(scene, out);
  if (scene->put_style)
    scene->put_style(out);
  else
    put_style(out);
  text_printf(out,
              "<rect class=\"paper\" width=\"100%%\" height=\"100%%\" "
              "fill=\"#%06x\"/>\n",
              (unsigned)PALETTE_PAPER);
  for (size_t i = 0; i < scene->items.count; i++) {
    const struct scene_item *item = &scene->items.at[i];
    switch (item->kind) {
    case SCENE_BOX: put_box(out, item); break;
    case SCENE_TEXT: put_words(out, item); break;
    case SCENE_LINE: put_line(out, item); break;
    case SCENE_SHAPE: put_shape(out, item); break;
    case SCENE_OPEN: /* they do not nest */
      put_open(out, item);
      close = slice_of(item->href.length ? "</a>\n" : "</g>\n");
      break;
    case SCENE_CLOSE: text_puts(out, close); break;
    }
  }
  text_put(out, "</svg>\n");
}
