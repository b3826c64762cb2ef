/* Scene as TikZ: for papers, with their letters and lines. */
#include "drawing/scene/scene.h"

struct tex_writer {
  struct text *out;
  int64_t scale;
  struct arena *arena;
  VEC(int) colours; /* already defined */
};

/* Escapes characters with a meaning in TeX. */
static void put_letter(struct text *out, uint32_t c) {
  static const struct {
    uint32_t letter;
    const char *name;
  } names[] = {{'\\', "\\textbackslash{}"},
               {'^', "\\textasciicircum{}"},
               {'~', "\\textasciitilde{}"},
               {'<', "$<$"},
               {'>', "$>$"},
               {'|', "$|$"},
               {'"', "''"},
               {'-', "{-}"}, /* no dashes, no ligatures */
               {0xB5, "$\\mu$"},
               {0xD7, "$\\times$"},
               {0x2013, "--"},
               {0x2026, "..."}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (c == names[i].letter) {
      text_put(out, names[i].name);
      return;
    }
  if (c < ' ' || c > '~') /* not in every paper's fonts */
    c = '?';
  if (strchr("{}$&#%_", (int)c))
    text_putc(out, '\\');
  text_putc(out, (char)c);
}

static void put_tex(struct text *out, struct slice text) {
  for (size_t at = 0, bytes; at < text.length; at += bytes)
    put_letter(out, text_code_point(text, at, &bytes));
}

/* A document of one page, up to the options of its tikzpicture; in cm. */
static void put_tex_head(struct text *out, double width, double height) {
  text_put(out, "% Compile it, or copy the tikzpicture into a paper.\n"
                "\\IfFileExists{standalone.cls}\n"
                "  {\\documentclass[border=4pt]{standalone}}\n"
                "  {\\documentclass{article}\\pagestyle{empty}\n"
                "   \\usepackage[margin=4pt,paperwidth=");
  text_fixed(out, width, 2);
  text_put(out, "cm,paperheight=");
  text_fixed(out, height, 2);
  text_put(out, "cm]{geometry}\n"
                "   \\setlength{\\parindent}{0pt}}\n"
                "\\usepackage{tikz}\n"
                "\\begin{document}\n"
                "\\begin{tikzpicture}[");
}

/* "name=n243b6b, "; defines a new colour first. */
static void name_colour(struct tex_writer *w, int colour) {
  for (size_t i = 0; i < w->colours.count; i++)
    if (w->colours.at[i] == colour)
      return;
  if (colour == NO_COLOUR)
    return;
  *VEC_PUSH(w->arena, &w->colours) = colour;
  text_printf(w->out, "  \\definecolor{n%06x}{HTML}{%06X}\n", (unsigned)colour,
              (unsigned)colour);
}

static void put_colour(struct tex_writer *w, const char *name, int colour) {
  if (colour != NO_COLOUR)
    text_printf(w->out, "%s=n%06x, ", name, (unsigned)colour);
}

static void put_place(struct tex_writer *w, struct point p) {
  text_putc(w->out, '(');
  put_length(w->out, p.x);
  text_putc(w->out, ',');
  put_length(w->out, p.y);
  text_putc(w->out, ')');
}

/* The scale in parts of WHOLE; a chart is as wide as a page. */
static int64_t scale_of(const struct scene *scene) {
  return scene->print_width ? scene_scale(scene)
         : scene->chart     ? WHOLE * 6 / 10
                            : page_scale(scene->width, scene->height);
}

static void put_path(struct tex_writer *w, const struct scene_item *item) {
  name_colour(w, item->fill);
  name_colour(w, item->stroke);
  text_put(w->out, "  \\path[");
  put_colour(w, "fill", item->kind == SCENE_LINE ? NO_COLOUR : item->fill);
  put_colour(w, "draw", item->stroke);
  text_put(w->out, item->dashed ? "densely dashed, " : "");
  text_put(w->out, item->arrow ? "->, " : "");
  int64_t round = item->kind == SCENE_LINE ? 4 * POINT : item->radius;
  if (round) {
    text_put(w->out, "rounded corners=");
    put_length(w->out, round * w->scale / WHOLE);
    text_put(w->out, "pt, ");
  }
  text_put(w->out, "line width=");
  text_fixed(w->out, (double)(item->stroke_width * w->scale) / WHOLE / 100, 2);
  text_put(w->out, "pt] ");
  if (item->kind == SCENE_BOX) {
    put_place(w, (struct point){item->x, item->y});
    text_put(w->out, " rectangle +");
    put_place(w, (struct point){item->width, item->height});
  }
  for (size_t i = 0; i < item->point_count; i++) {
    text_put(w->out, i ? " -- " : "");
    put_place(w, item->points[i]);
  }
  text_put(w->out, item->closed ? " -- cycle;\n" : ";\n");
}

static void put_words(struct tex_writer *w, const struct scene_item *item) {
  static const char *const anchors[] = {"base west", "base", "base east"};
  name_colour(w, item->fill);
  text_printf(w->out, "  \\node[anchor=%s, inner sep=%s, ",
              anchors[item->anchor], item->halo ? "0.8pt, fill=white" : "0pt");
  put_colour(w, "text", item->fill);
  text_printf(w->out, "%sfont=\\sffamily%s\\fontsize{",
              item->up ? "rotate=90, " : "", item->bold ? "\\bfseries" : "");
  put_length(w->out, item->size * w->scale / WHOLE);
  text_put(w->out, "}{0}\\selectfont] at ");
  put_place(w, (struct point){item->x, item->y});
  text_put(w->out, " {");
  put_tex(w->out, item->text);
  text_put(w->out, "};\n");
}

void scene_put_tex(const struct scene *scene, struct text *out) {
  struct tex_writer w = {
      .out = out, .arena = scene->arena, .scale = scale_of(scene)};
  double cm = 2.54 / 72.27 * (double)w.scale / WHOLE / POINT;
  text_put(out, "% Drawn by netc: ");
  put_tex(out, scene->title);
  text_put(out, ".\n");
  put_tex_head(out, (double)scene->width * cm + 0.5,
               (double)scene->height * cm + 0.5);
  text_printf(out, "x=%d.%04dpt, y=-%d.%04dpt, >=latex]\n",
              (int)(w.scale / WHOLE), (int)(w.scale % WHOLE),
              (int)(w.scale / WHOLE), (int)(w.scale % WHOLE));
  for (size_t i = 0; i < scene->items.count; i++) {
    const struct scene_item *item = &scene->items.at[i];
    bool path = item->kind == SCENE_BOX || item->kind == SCENE_LINE ||
                item->kind == SCENE_SHAPE;
    if (item->kind == SCENE_TEXT)
      put_words(&w, item);
    else if (path && !scene_is_hidden(item))
      put_path(&w, item);
  }
  text_put(out, "\\end{tikzpicture}\n\\end{document}\n");
}
