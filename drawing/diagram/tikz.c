/*
 * tex: the diagram in TikZ, for papers. It compiles as it is, with or without
 * the class `standalone`; the tikzpicture can be copied alone. Boxes stand in
 * columns in the order of the source, and what passes over others runs in
 * lanes beside them.
 */
#include "drawing/flow.h"
#include "drawing/scene/palette.h"
#include "drawing/scene/scene.h"

enum { MOST_BOXES = 66, ROWS = 22, NAME_LETTERS = 28, LAYER_LETTERS = 34 };

/* Centimetres. */
static const double box_width = 4.6, box_height = 0.72, pitch = 1.15;
static const double lane_width = 0.22, column_gap = 1.5;

struct drawing {
  const struct compiled *c;
  struct text *out;
  struct flow flow;
  int *numbers; /* by box: of what leads to other columns */
  int numbered;
};

static void put_fit(struct text *out, struct slice text, size_t most) {
  size_t half = (most - 3) / 2;
  if (text.length <= most) {
    put_tex(out, text);
    return;
  }
  put_tex(out, (struct slice){text.at, half});
  text_put(out, "...");
  put_tex(out, (struct slice){text.at + text.length - half, half});
}

static void put_number(struct text *out, double value) {
  text_fixed(out, value, 2);
}

static void put_place(struct text *out, double x, double y) {
  text_putc(out, '(');
  put_number(out, x);
  text_putc(out, ',');
  put_number(out, y);
  text_putc(out, ')');
}

/* Places */

static size_t column_of(size_t box) {
  return box / ROWS;
}

static double pitch_of_columns(const struct drawing *d) {
  return box_width + column_gap + lane_width * d->flow.lanes;
}

static double x_of(const struct drawing *d, size_t box) {
  return (double)column_of(box) * pitch_of_columns(d);
}

static double y_of(size_t box) {
  return 0 - pitch * (double)(box % ROWS); /* 0, not -0 */
}

/* Boxes and edges */

static const char *style_of(const struct drawing *d, size_t index) {
  const struct flow_box *box = &d->flow.boxes[index];
  const struct row *row = flow_row(&d->flow, box);
  const struct node *node = &d->c->model->nodes.at[row->head];
  if (box->elided)
    return "netc elided";
  if (node->kind == &model_input_kind)
    return "netc input";
  if (flow_is_group(&d->flow, box))
    return "netc group";
  if (node_joins(node))
    return "netc join";
  return row->cost.params || row->shares ? "netc layer" : "netc plain";
}

static void put_box(struct drawing *d, size_t index) {
  struct text text = text_new(d->c->arena);
  text_printf(d->out, "  \\node[%s] (n%zu) at ", style_of(d, index), index);
  put_place(d->out, x_of(d, index), y_of(index));
  text_put(d->out, " {\\textbf{");
  flow_put_name(&text, &d->flow, &d->flow.boxes[index]);
  put_fit(d->out, text_slice(&text), NAME_LETTERS);
  text_putc(d->out, '}');
  text.length = 0;
  flow_put_layer(&text, &d->flow, &d->flow.boxes[index]);
  if (text.length)
    text_put(d->out, "\\\\");
  put_fit(d->out, text_slice(&text), LAYER_LETTERS);
  text_put(d->out, "};\n");
}

static void put_shape(struct drawing *d, const struct flow_edge *edge) {
  struct text shape = text_new(d->c->arena);
  flow_put_change(&shape, &d->flow, edge);
  if (!shape.length)
    return;
  text_put(d->out, " node[netc shape] {");
  put_tex(d->out, text_slice(&shape));
  text_put(d->out, "}");
}

/* Down from a box to the next; to another column around both. */
static void put_next(struct drawing *d, const struct flow_edge *edge) {
  double x = x_of(d, edge->from), y = y_of(edge->from) - box_height / 2 - 0.25;
  double to = x_of(d, edge->to), top = y_of(edge->to) + box_height / 2 + 0.62;
  double between = to - box_width / 2 - column_gap * 0.75;
  text_printf(d->out, "  \\draw[netc flow] (n%zu)", edge->from);
  if (column_of(edge->from) != column_of(edge->to)) {
    const double at[4][2] = {{x, y}, {between, y}, {between, top}, {to, top}};
    for (int i = 0; i < 4; i++) {
      text_put(d->out, " -- ");
      put_place(d->out, at[i][0], at[i][1]);
      if (i == 0)
        put_shape(d, edge);
    }
    text_printf(d->out, " -- (n%zu);\n", edge->to);
    return;
  }
  text_put(d->out, " --");
  put_shape(d, edge);
  text_printf(d->out, " (n%zu);\n", edge->to);
}

static void put_skip(struct drawing *d, const struct flow_edge *edge) {
  double right = x_of(d, edge->from) + box_width / 2;
  double lane = right + lane_width * (edge->lane + 0.6);
  double y0 = y_of(edge->from) - 0.14, y1 = y_of(edge->to) + 0.14;
  text_put(d->out, "  \\draw[netc skip] ");
  put_place(d->out, right, y0);
  text_put(d->out, " -- ");
  put_place(d->out, lane, y0);
  text_put(d->out, " -- ");
  put_place(d->out, lane, y1);
  text_put(d->out, " -- ");
  put_place(d->out, right, y1);
  text_put(d->out, ";\n");
}

/* To another column: a number at both ends. */
static void put_far(struct drawing *d, const struct flow_edge *edge) {
  int *number = &d->numbers[edge->from];
  if (!*number) {
    *number = ++d->numbered;
    text_put(d->out, "  \\node[netc number] at ");
    put_place(d->out, x_of(d, edge->from) - box_width / 2 - 0.42,
              y_of(edge->from) - 0.14);
    text_printf(d->out, " {%d$\\to$};\n", *number);
  }
  text_put(d->out, "  \\node[netc number] at ");
  put_place(d->out, x_of(d, edge->to) - box_width / 2 - 0.42,
            y_of(edge->to) + 0.14);
  text_printf(d->out, " {$\\to$%d};\n", *number);
}

static void put_edge(struct drawing *d, const struct flow_edge *edge) {
  if (edge->lane == 0)
    put_next(d, edge);
  else if (column_of(edge->from) != column_of(edge->to))
    put_far(d, edge);
  else if (edge->lane > 0)
    put_skip(d, edge);
}

/* What is there several times, in the columns where it is. */
static void put_frame(struct drawing *d, const struct flow_frame *frame) {
  double half = box_width / 2 + 0.12, above = box_height / 2 + 0.1;
  for (size_t first = frame->first; first < frame->end;) {
    size_t end = (column_of(first) + 1) * ROWS;
    end = end < frame->end ? end : frame->end;
    double x = x_of(d, first);
    text_put(d->out, "  \\draw[netc frame] ");
    put_place(d->out, x - half, y_of(first) + above);
    text_put(d->out, " rectangle ");
    put_place(d->out, x + half, y_of(end - 1) - above);
    text_put(d->out, ";\n  \\node[netc number, anchor=south west] at ");
    put_place(d->out, x - half, y_of(first) + above + 0.05);
    text_printf(d->out, " {$\\times$ %lld};\n", (long long)frame->times);
    first = end;
  }
}

/* The file */

static void put_style(struct drawing *d, const char *name, int fill) {
  const struct palette_fill *both = &palette_chart_fills[fill];
  text_printf(d->out, "  netc %s/.style={netc box", name);
  for (int i = 0; i < 2; i++) {
    int colour = i ? both->ink : both->fill;
    text_printf(d->out, ", %s={rgb,255:red,%d;green,%d;blue,%d}",
                i ? "text" : "fill", colour >> 16, colour >> 8 & 0xFF,
                colour & 0xFF);
  }
  text_put(d->out, "},\n");
}

static void put_head(struct drawing *d) {
  size_t columns = d->flow.count ? column_of(d->flow.count - 1) + 1 : 1;
  size_t rows = d->flow.count < ROWS ? d->flow.count : ROWS;
  struct text remarks = text_new(d->c->arena);
  flow_put_remarks(&remarks, &d->flow);
  text_put(d->out, "% Drawn by netc: ");
  put_tex(d->out, d->c->model->name);
  text_put(d->out, ".");
  put_tex(d->out, text_slice(&remarks));
  text_putc(d->out, '\n');
  put_tex_head(d->out, (double)columns * pitch_of_columns(d) + 1,
               (double)rows * pitch + 1.7);
  text_putc(d->out, '\n');
}

static void put_styles(struct drawing *d) {
  text_put(d->out, "  netc box/.style={draw, rounded corners=1.5pt, "
                   "align=center, inner sep=2pt,\n    minimum width=");
  put_number(d->out, box_width);
  text_put(d->out, "cm, minimum height=");
  put_number(d->out, box_height);
  text_put(d->out, "cm, font=\\sffamily\\fontsize{7}{8}\\selectfont},\n");
  put_style(d, "input", 0);
  put_style(d, "group", 1);
  put_style(d, "layer", 3);
  put_style(d, "join", 4);
  put_style(d, "plain", 5);
  text_put(d->out,
           "  netc elided/.style={netc box, draw=none},\n"
           "  netc frame/.style={densely dashed, rounded corners=3pt},\n"
           "  netc flow/.style={->, >=latex},\n"
           "  netc skip/.style={->, >=latex, rounded corners=2pt},\n"
           "  netc shape/.style={midway, right, inner sep=1.5pt,\n"
           "    font=\\sffamily\\fontsize{6}{7}\\selectfont},\n"
           "  netc number/.style={inner sep=0pt, "
           "font=\\sffamily\\fontsize{6}{7}\\selectfont}]\n");
}

void emit_tikz(const struct compiled *c, struct text *out) {
  struct drawing d = {.c = c, .out = out};
  d.flow = flow_of(c, MOST_BOXES, false);
  d.numbers = arena_alloc(c->arena, d.flow.count + 1, sizeof *d.numbers);
  put_head(&d);
  put_styles(&d);
  for (size_t i = 0; i < d.flow.count; i++)
    put_box(&d, i);
  for (size_t i = 0; i < d.flow.edges.count; i++)
    put_edge(&d, &d.flow.edges.at[i]);
  for (size_t i = 0; i < d.flow.frames.count; i++)
    put_frame(&d, &d.flow.frames.at[i]);
  text_put(out, "\\end{tikzpicture}\n\\end{document}\n");
}
