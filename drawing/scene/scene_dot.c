/* Scene as a placed graph for PNG: `dot -Kneato -n2` keeps the places. */
#include <stdio.h>

#include "drawing/scene/scene.h"

struct dot_writer {
  const struct scene *scene;
  struct text *out;
  size_t count;
  struct point last;
};

void put_dot(struct text *out, struct slice text) {
  for (size_t i = 0; i < text.length; i++) {
    if (text.at[i] == '"' || text.at[i] == '\\')
      text_putc(out, '\\');
    text_putc(out, text.at[i]);
  }
}

/* In Graphviz, y grows upwards. */
static void put_point(struct dot_writer *w, struct point p) {
  put_length(w->out, p.x);
  text_putc(w->out, ',');
  put_length(w->out, w->scene->height - p.y);
}

/* Sizes of nodes are in inches, to 1/10000. */
static void put_inches(struct text *out, int64_t tenths) {
  int64_t size = (tenths * 10000 + 360) / 720;
  text_int(out, size / 10000);
  text_printf(out, ".%04d", (int)(size % 10000));
}

static void put_place(struct dot_writer *w, int64_t x, int64_t y, int64_t width,
                      int64_t height) {
  text_printf(w->out, "n%zu [pos=\"", w->count++);
  put_point(w, (struct point){x + width / 2, y + height / 2});
  text_put(w->out, "\", width=");
  put_inches(w->out, width);
  text_put(w->out, ", height=");
  put_inches(w->out, height);
}

static void put_colour(struct text *out, const char *name, int colour) {
  if (colour == NO_COLOUR)
    text_printf(out, ", %s=\"#ffffff00\"", name);
  else
    text_printf(out, ", %s=\"#%06x\"", name, (unsigned)colour);
}

static void put_pen(struct text *out, const struct scene_item *item) {
  text_put(out, ", penwidth=");
  text_int(out, item->stroke_width / 100);
  text_printf(out, ".%02d", (int)(item->stroke_width % 100));
}

static void put_box(struct dot_writer *w, const struct scene_item *item) {
  put_place(w, item->x, item->y, item->width, item->height);
  text_printf(w->out, ", shape=box, style=\"filled%s%s\", label=\"\"",
              item->radius >= 4 * POINT ? ",rounded" : "",
              item->dashed ? ",dashed" : "");
  put_colour(w->out, "fillcolor", item->fill);
  put_colour(w->out, "color", item->stroke);
  put_pen(w->out, item);
  text_put(w->out, "];\n");
}

static void put_words(struct dot_writer *w, const struct scene_item *item) {
  int64_t width = text_extent(item->text, item->size, item->bold);
  int64_t x = item->anchor == ANCHOR_START    ? item->x
              : item->anchor == ANCHOR_MIDDLE ? item->x - width / 2
                                              : item->x - width;
  /* With ample room around centred text, Graphviz does not complain. */
  put_place(w, x - width / 2 - 50, item->y - item->size * 4 / 3,
            2 * width + 100, 2 * item->size);
  text_put(w->out, ", shape=plaintext, fontsize=");
  put_length(w->out, item->size);
  if (item->bold)
    text_put(w->out, ", fontname=\"Arial Bold\"");
  put_colour(w->out, "fontcolor", item->fill);
  text_put(w->out, ", label=\"");
  put_dot(w->out, item->text);
  text_put(w->out, "\"];\n");
}

static void put_curve_point(struct dot_writer *w, struct point p) {
  text_putc(w->out, ' ');
  put_point(w, p);
}

static void put_step(void *user, const struct point *points, int count) {
  struct dot_writer *w = user;
  if (count == 1) {
    put_curve_point(w, w->last);
    put_curve_point(w, points[0]);
  }
  for (int i = 0; i < count; i++)
    put_curve_point(w, points[i]);
  w->last = points[count - 1];
}

static void put_line(struct dot_writer *w, const struct scene_item *item) {
  struct point tip = item->points[item->point_count - 1];
  size_t from = w->count;
  put_place(w, item->points[0].x, item->points[0].y, 0, 0);
  text_put(w->out, ", style=invis];\n");
  put_place(w, tip.x, tip.y, 0, 0);
  text_printf(w->out, ", style=invis];\nn%zu -> n%zu [pos=\"", from, from + 1);
  if (item->arrow) {
    text_put(w->out, "e,");
    put_point(w, tip);
    text_putc(w->out, ' ');
  }
  put_point(w, item->points[0]);
  w->last = item->points[0];
  line_walk(item, put_step, w);
  text_put(w->out, "\"");
  put_colour(w->out, "color", item->stroke);
  put_pen(w->out, item);
  text_printf(w->out, "%s%s];\n", item->dashed ? ", style=dashed" : "",
              item->arrow ? "" : ", dir=none");
}

/*
 * A chart has shapes that no node of Graphviz has. It is the background of a
 * graph, in the xdot language, which has no upward text.
 */

static void put_xdot_point(struct dot_writer *w, int64_t x, int64_t y) {
  text_putc(w->out, ' ');
  put_length(w->out, x);
  text_putc(w->out, ' ');
  put_length(w->out, w->scene->height - y);
}

/* A chart's fill also draws its edge, unless it has another one. */
static void put_xdot_pen(struct dot_writer *w, const struct scene_item *item) {
  int stroke = item->stroke == NO_COLOUR ? item->fill : item->stroke;
  int64_t width = item->stroke == NO_COLOUR ? 10 : item->stroke_width;
  char pen[32];
  int length = snprintf(pen, sizeof pen, "setlinewidth(%d.%02d)",
                        (int)(width / 100), (int)(width % 100));
  text_printf(w->out, " c 7 -#%06x S %d -%s S %s", (unsigned)stroke, length,
              pen, item->dashed ? "6 -dashed" : "5 -solid");
  if (item->fill != NO_COLOUR)
    text_printf(w->out, " C 7 -#%06x", (unsigned)item->fill);
}

static void put_xdot_path(struct dot_writer *w, const struct scene_item *item) {
  bool box = item->kind == SCENE_BOX, filled = item->fill != NO_COLOUR;
  int64_t x = item->x, y = item->y, right = x + item->width,
          low = y + item->height;
  const struct point corners[] = {{x, y}, {right, y}, {right, low}, {x, low}};
  const struct point *points = box ? corners : item->points;
  size_t count = box ? 4 : item->point_count;
  put_xdot_pen(w, item);
  text_printf(w->out, " %s %zu",
              filled                ? "P"
              : box || item->closed ? "p"
                                    : "L",
              count);
  for (size_t i = 0; i < count; i++)
    put_xdot_point(w, points[i].x, points[i].y);
}

static void put_xdot_words(struct dot_writer *w,
                           const struct scene_item *item) {
  static const int places[] = {-1, 0, 1};
  struct text words = text_new(w->scene->arena);
  const char *font = item->bold ? "10 -Arial Bold" : "5 -Arial";
  for (size_t i = 0; i < item->text.length; i++)
    text_putc(&words, item->text.at[i] == '\\' ? '?' : item->text.at[i]);
  text_printf(w->out, " c 7 -#%06x F ", (unsigned)item->fill);
  put_length(w->out, item->size);
  text_printf(w->out, " %s T", font);
  put_xdot_point(w, item->x, item->y);
  text_printf(w->out, " %d ", places[item->anchor]);
  put_length(w->out, text_extent(item->text, item->size, item->bold));
  text_printf(w->out, " %zu -", words.length);
  put_dot(w->out, text_slice(&words));
}

static void put_background(struct dot_writer *w) {
  text_put(w->out, "  graph [_background=\"");
  for (size_t i = 0; i < w->scene->items.count; i++) {
    const struct scene_item *item = &w->scene->items.at[i];
    bool path = item->kind == SCENE_BOX || item->kind == SCENE_SHAPE;
    if (path && !scene_is_hidden(item))
      put_xdot_path(w, item);
    else if (item->kind == SCENE_TEXT && !item->up)
      put_xdot_words(w, item);
    text_put(w->out, "\" +\n\""); /* Graphviz limits the length of a string */
  }
  text_put(w->out, "\"];\n");
}

void scene_put_dot(const struct scene *scene, struct text *out) {
  struct dot_writer w = {.scene = scene, .out = out};
  int64_t side = scene->width > scene->height ? scene->width : scene->height;
  text_printf(out,
              "digraph {\n  graph [outputorder=nodesfirst, pad=0, dpi=%d, "
              "bb=\"0,0,",
              side > 40000 ? 96 : 192);
  put_length(out, scene->width);
  text_putc(out, ',');
  put_length(out, scene->height);
  text_put(out, "\"];\n  node [fixedsize=true, fontname=\"Arial\", "
                "margin=0, label=\"\"];\n  edge [arrowsize=0.5];\n");
  if (scene->chart)
    put_background(&w);
  put_place(&w, 0, 0, scene->width, scene->height);
  text_put(out, scene->chart ? ", shape=box, style=invis];\n"
                             : ", shape=box, style=filled, color=white, "
                               "fillcolor=white];\n");
  if (scene->chart) {
    text_put(out, "}\n");
    return;
  }
  for (size_t i = 0; i < scene->items.count; i++) {
    const struct scene_item *item = &scene->items.at[i];
    if (item->kind == SCENE_BOX)
      put_box(&w, item);
    else if (item->kind == SCENE_TEXT)
      put_words(&w, item);
    else if (item->kind == SCENE_LINE)
      put_line(&w, item);
  }
  text_put(out, "}\n");
}
