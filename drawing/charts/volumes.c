/*
 * volumes.chart: the net's tensors as boxes to scale, like PlotNeuralNet and
 * NN-SVG. A map is a box with its sides as height and depth, a sequence a sheet
 * without depth, a vector a bar; the width is the channels. Square roots and
 * logarithms let 224 and 7, 3 and 2,048 share a picture; the subtitle says so.
 */
#include "drawing/charts/volumes.h"

#include <math.h>

#include "base/real.h"

enum {
  COPIES = 3, /* maximum copies of equal boxes in a row */
  STRIP = 12, /* px below the boxes of a frame, for its number */
  LABEL = 25  /* px of the two lines of a label */
};

/* A gap is at least an arrow's head, which ends 1 px before a box. */
static const struct volume_spacing spacings[] = {
    {110, 13, 32, 2}, {84, 8, 24, 3}, {68, 7, 20, 3},
    {60, 7, 16, 3},   {52, 7, 14, 3}, {46, 7, 12, 3}};

static const struct shape *shape_at(const struct volumes *p, size_t box) {
  return row_shape(p->c, flow_row(&p->flow, &p->flow.boxes[box]));
}

/* Sizes */

static double side_of(const struct volumes *p, int64_t side) {
  return fmax(2, p->scale * sqrt((double)side));
}

static double channels_of(int64_t channels) {
  return fmax(2, 1.5 * real_log2(1 + (double)channels));
}

/* The last two axes of a map are height and width; further axes are not
 * drawn. */
static void measure(struct volumes *p, size_t box) {
  const struct shape *shape = shape_at(p, box);
  struct volume *v = &p->volumes[box];
  int sides = shape_spatial(shape);
  int64_t channels = shape->dtype == DTYPE_FLOAT ? shape_channels(shape) : 1;
  *v = (struct volume){.width = channels_of(channels)};
  if (sides == 0) { /* a vector: a bar */
    v->width = 4;
    v->height = 8 * real_log2(1 + (double)channels);
    p->has_vectors = true;
  } else {
    v->height = side_of(p, shape->dim[sides > 1 ? sides - 2 : 0]);
    v->depth = sides > 1 ? side_of(p, shape->dim[sides - 1]) : 0;
    p->has_sequences = p->has_sequences || sides == 1;
    p->has_more_axes = p->has_more_axes || sides > 2;
  }
  int64_t turns = flow_turns(&p->flow, &p->flow.boxes[box]);
  v->copies = turns < COPIES ? (int)turns : COPIES;
  v->copies = p->flow.boxes[box].elided || p->single ? 1 : v->copies;
  p->has_copies = p->has_copies || flow_size(&p->flow.boxes[box]) > 1;
  double width = v->width * v->copies + v->depth * VOLUME_SLANT_X;
  v->slot = fmax(p->spacing->least_slot, width + p->spacing->gap);
}

static void find_scale(struct volumes *p) {
  int64_t largest = 1;
  for (size_t i = 0; i < p->flow.count; i++) {
    const struct shape *shape = shape_at(p, i);
    int sides = shape_spatial(shape);
    for (int k = sides > 2 ? sides - 2 : 0; k < sides; k++)
      largest = shape->dim[k] > largest ? shape->dim[k] : largest;
  }
  p->scale = p->spacing->tallest / sqrt((double)largest);
}

/* Lines */

static void put_shape(struct volumes *p, size_t box) {
  if (p->flow.boxes[box].elided)
    text_put(&p->chart.note, "...");
  else
    shape_put_grouped(&p->chart.note, shape_at(p, box), output_layout(p->c));
}

static void break_lines(struct volumes *p) {
  struct volume_line *line = p->lines;
  memset(p->lines, 0, sizeof p->lines);
  for (size_t i = 0; i < p->flow.count; i++) {
    struct volume *v = &p->volumes[i];
    if (line->width > 0 && line->width + v->slot > chart_inner(&p->chart)) {
      line++;
      line->first = i;
    }
    v->line = (int)(line - p->lines);
    v->x = CHART_MARGIN + line->width;
    line->end = i + 1;
    line->width += v->slot;
    line->levels = line->levels ? line->levels : 1;
    line->tallest = fmax(line->tallest, v->height + v->depth * VOLUME_SLANT_Y);
    put_shape(p, i);
    if (chart_text_width(chart_note(&p->chart), CHART_SMALL) > v->slot - 4)
      line->levels = p->spacing->levels;
  }
  p->line_count = p->flow.count ? (int)(line - p->lines) + 1 : 0;
}

static void set_spacing(struct volumes *p, size_t index) {
  p->spacing = &spacings[index];
  find_scale(p);
  for (size_t i = 0; i < p->flow.count; i++)
    measure(p, i);
}

/* Twice the room beside a label that arrows to other lines of a U leave. */
static double beside_steps(const struct volumes *p, size_t box,
                           struct volume_run run) {
  double x = volumes_crown(p, box), left = p->chart.width, right = left;
  int line = p->volumes[box].line;
  if (!p->is_u)
    return left;
  if (run.first > 0 && p->volumes[run.first - 1].line > line)
    left = x - volumes_crown(p, run.first - 1);
  if (run.end < p->flow.count && p->volumes[run.end].line > line)
    right = volumes_crown(p, run.end) - x;
  return 2 * (fmin(left, right) - 3);
}

/* The room of a label below the line, up to the next label in its level. */
static double label_room(const struct volumes *p, size_t box, double *left,
                         double *right) {
  struct volume_run run = volumes_run(p, box);
  size_t levels = (size_t)p->lines[p->volumes[box].line].levels;
  double x = volumes_crown(p, box);
  *left = box - run.first >= levels ? volumes_crown(p, box - levels)
                                    : -p->chart.width;
  *right = box + levels < run.end ? volumes_crown(p, box + levels)
                                  : 2.0 * p->chart.width;
  return fmin(fmin(x - *left, *right - x) - 5, beside_steps(p, box, run));
}

/* True if all shapes fit; names may be shortened. */
static bool shapes_fit(struct volumes *p) {
  double left, right;
  for (size_t i = 0; i < p->flow.count; i++) {
    put_shape(p, i);
    if (chart_text_width(chart_note(&p->chart), CHART_SMALL) >
        label_room(p, i, &left, &right))
      return false;
  }
  return true;
}

/* As a U, or in one line, if possible. */
static void lay_out(struct volumes *p) {
  enum { COUNT = sizeof spacings / sizeof *spacings };
  for (size_t k = 0; k < 2 * COUNT; k++) {
    p->single = k >= COUNT;
    set_spacing(p, k % COUNT);
    if (volumes_make_u(p) && shapes_fit(p))
      return;
  }
  p->single = p->is_u = p->has_numbers = false;
  for (size_t k = 0; k <= COUNT; k++) {
    set_spacing(p, k % COUNT); /* none fits: the first again */
    break_lines(p);
    if (p->line_count <= 1)
      return;
  }
}

int volumes_lane(const struct volumes *p, const struct flow_edge *edge) {
  if (p->is_u && edge->lane)
    return p->has_numbers ? 3 : 1;
  return edge->lane;
}

/* Places the lines; returns the y below the last. */
static double place_lines(struct volumes *p, double y) {
  for (size_t i = 0; i < p->flow.edges.count; i++) {
    const struct flow_edge *edge = &p->flow.edges.at[i];
    int from = p->volumes[edge->from].line, to = p->volumes[edge->to].line;
    struct volume_line *line = &p->lines[from];
    int lane = volumes_lane(p, edge);
    int least = from == to ? lane : lane ? 2 : 0; /* 2 lanes for the numbers */
    line->lanes = line->lanes < least ? least : line->lanes;
    line = &p->lines[to];
    line->lanes = line->lanes < least ? least : line->lanes;
  }
  for (int i = 0; i < p->line_count; i++) {
    struct volume_line *line = &p->lines[i];
    line->top = y + 6 + VOLUME_LANE * line->lanes;
    line->middle = line->top + line->tallest / 2;
    line->bottom =
        line->top + line->tallest + (p->flow.frames.count ? STRIP : 0);
    y = line->bottom + 8 + LABEL * line->levels;
  }
  return y;
}

/* A box */

static const char *class_of(const struct volumes *p, size_t box) {
  const struct flow_box *at = &p->flow.boxes[box];
  const struct leaf *leaf = flow_leaf(&p->flow, at);
  const struct row *first = &p->flow.leaves.rows.at[leaf->line->row];
  const struct layer_kind *kind = p->c->model->nodes.at[first->head].kind;
  bool params = false, group = flow_is_group(&p->flow, at);
  for (size_t i = at->first; i < at->end; i++) {
    const struct row *row = leaf_row(&p->flow.leaves, &p->flow.leaves.at[i]);
    params = params || row->cost.params || row->shares;
  }
  if (kind == &model_input_kind)
    return "edge c0";
  if (group)
    return "edge c1";
  return kind->join ? "edge c4" : params ? "edge c3" : "edge c5";
}

double volumes_top(const struct volumes *p, size_t box) {
  const struct volume *v = &p->volumes[box];
  return p->lines[v->line].middle - (v->height + v->depth * VOLUME_SLANT_Y) / 2;
}

double volumes_crown(const struct volumes *p, size_t box) {
  const struct volume *v = &p->volumes[box];
  return v->x + (v->width * v->copies + v->depth * VOLUME_SLANT_X) / 2;
}

void volumes_face(struct volumes *p, const char *class, const double (*at)[2]) {
  chart_path(&p->chart, class);
  for (int i = 0; i < 4; i++)
    chart_to(&p->chart, at[i][0], at[i][1]);
  chart_path_close(&p->chart, (struct slice){"", 0});
}

static bool is_activation(const struct node *node) {
  const char *family = node->kind->family; /* NULL for an input */
  return family && strcmp(family, "Activation") == 0;
}

/* True if the output of a box has passed an activation. */
static bool is_activated(const struct volumes *p, size_t box) {
  const struct flow_box *at = &p->flow.boxes[box];
  const struct leaf *last = &p->flow.leaves.at[at->end - 1];
  const struct row *row = leaf_row(&p->flow.leaves, last);
  const struct model *model = p->c->model;
  if (flow_is_group(&p->flow, at) || row->group != NO_NODE)
    return false;
  for (int64_t i = row->first; i < row->end; i++)
    if (is_activation(&model->nodes.at[i]))
      return true;
  return false;
}

/* A darker end of a box: its activation. */
static void draw_stripe(struct volumes *p, const struct volume *v, double x,
                        double top) {
  double dx = v->depth * VOLUME_SLANT_X, dy = v->depth * VOLUME_SLANT_Y;
  double wide = fmin(4, v->width * 0.4), right = x + v->width;
  const double upper[4][2] = {{right - wide, top},
                              {right - wide + dx, top - dy},
                              {right + dx, top - dy},
                              {right, top}};
  chart_rect(&p->chart, "shade",
             (struct chart_box){right - wide, top, wide, v->height},
             (struct slice){"", 0});
  if (v->depth > 0)
    volumes_face(p, "shade", upper);
}

static void draw_solid(struct volumes *p, size_t box, double x) {
  const struct volume *v = &p->volumes[box];
  const char *class = class_of(p, box);
  double dx = v->depth * VOLUME_SLANT_X, dy = v->depth * VOLUME_SLANT_Y;
  double top = volumes_top(p, box) + dy, low = top + v->height;
  double right = x + v->width;
  chart_rect(&p->chart, class, (struct chart_box){x, top, v->width, v->height},
             (struct slice){"", 0});
  bool stripe = is_activated(p, box);
  if (v->depth <= 0) {
    if (stripe)
      draw_stripe(p, v, x, top);
    return;
  }
  const double upper[4][2] = {
      {x, top}, {x + dx, top - dy}, {right + dx, top - dy}, {right, top}};
  const double side[4][2] = {{right, top},
                             {right + dx, top - dy},
                             {right + dx, low - dy},
                             {right, low}};
  volumes_face(p, class, upper);
  volumes_face(p, class, side);
  volumes_face(p, "shade", side);
  if (stripe)
    draw_stripe(p, v, x, top);
}

static void put_hover(struct volumes *p, size_t box) {
  const struct flow_box *at = &p->flow.boxes[box];
  struct text *note = &p->chart.note;
  flow_put_name(note, &p->flow, at);
  text_putc(note, '\n');
  if (!at->elided)
    leaf_put_layer(note, &p->flow.leaves, flow_leaf(&p->flow, at));
  text_put(note, " -> ");
  shape_put_grouped(note, shape_at(p, box), output_layout(p->c));
  text_printf(note, "\n%s values",
              count_text(shape_values(shape_at(p, box))).text);
}

/* "1x1 conv" of "1x1 conv, 256, BN": as many phrases as fit. */
static void put_phrase(struct volumes *p, struct text *out,
                       const struct flow_box *box, double room) {
  leaf_put_layer(out, &p->flow.leaves, flow_leaf(&p->flow, box));
  for (size_t i = out->length; i-- > 1;)
    if (out->at[i] == ',' &&
        chart_text_width(text_slice(out), CHART_SMALL) > room)
      out->length = i;
}

/* Leaves out the groups of a name that does not fit. */
static void put_label_name(struct volumes *p, struct text *out, size_t box,
                           double room) {
  const struct flow_box *at = &p->flow.boxes[box];
  flow_put_name(out, &p->flow, at);
  if (chart_text_width(text_slice(out), CHART_SMALL) <= room)
    return;
  out->length = 0;
  if (at->elided) {
    text_printf(out, "%s more", count_text((int64_t)flow_size(at)).text);
    return;
  }
  struct text turns = text_new(p->c->arena);
  flow_put_count(&turns, &p->flow, at);
  room -= chart_text_width(text_slice(&turns), CHART_SMALL);
  if (!p->c->options->source_labels)
    put_phrase(p, out, at, room);
  else
    leaf_put_own_name(out, &p->flow.leaves, flow_leaf(&p->flow, at));
  text_puts(out, text_slice(&turns));
}

/* Below the line, in alternating levels, up to the next label in its level. */
static void draw_label(struct volumes *p, size_t box) {
  const struct volume *v = &p->volumes[box];
  const struct volume_line *line = &p->lines[v->line];
  struct volume_run run = volumes_run(p, box);
  size_t place = box - run.first, levels = (size_t)line->levels;
  double x = volumes_crown(p, box);
  double y = line->bottom + 14 + (double)(place % levels) * LABEL;
  double left, right, room = label_room(p, box, &left, &right);
  double rooms[2] = {room, room}; /* for the shape, which fits, and the name */
  /* A label that is moved away from an edge has less room on its other side. */
  if (x - room / 2 < CHART_MARGIN / 2.0)
    rooms[1] = fmin(room, (x + right - 5 - CHART_MARGIN) / 2);
  if (x + room / 2 > p->chart.width - CHART_MARGIN / 2.0)
    rooms[1] = fmin(room, p->chart.width - (x + left + 5 + CHART_MARGIN) / 2);
  struct text texts[2] = {text_new(p->c->arena), text_new(p->c->arena)};
  if (p->flow.boxes[box].elided)
    text_put(&texts[0], "...");
  else
    shape_put_grouped(&texts[0], shape_at(p, box), output_layout(p->c));
  put_label_name(p, &texts[1], box, rooms[1]);
  for (int i = 0; i < 2; i++) {
    struct slice text = text_tamed(p->c->arena, text_slice(&texts[i]), true);
    double half = fmin(chart_text_width(text, CHART_SMALL), rooms[i]) / 2;
    double edge = CHART_MARGIN / 2.0 + half;
    double at = fmin(fmax(x, edge), p->chart.width - edge);
    chart_text_fit(&p->chart, i ? "faint" : "", CHART_SMALL, CHART_MIDDLE, at,
                   y + 11 * i, fmax(rooms[i], 8), text);
  }
}

static void draw_volume(struct volumes *p, size_t box) {
  const struct volume *v = &p->volumes[box];
  const struct volume_line *line = &p->lines[v->line];
  if (p->flow.boxes[box].elided)
    chart_text(&p->chart, CHART_HEAD, CHART_MIDDLE, volumes_crown(p, box),
               line->middle + 4, slice_of("..."));
  for (int i = v->copies; i-- > 0 && !p->flow.boxes[box].elided;)
    draw_solid(p, box, v->x + v->width * i);
  put_hover(p, box);
  chart_rect(&p->chart, "hit",
             (struct chart_box){v->x, line->top, v->slot - 4, line->tallest},
             chart_note(&p->chart));
  draw_label(p, box);
}

/* Texts */

static struct slice subtitle_of(struct volumes *p, struct text *out) {
  text_put(out, "Heights and depths by the square root of a map's sides, "
                "widths by the logarithm of its channels.");
  if (p->has_sequences)
    text_put(out, " Sequences have no depth; their height is their length.");
  if (p->has_vectors)
    text_put(out, " Vectors are bars, by the logarithm of their size.");
  if (p->has_more_axes)
    text_put(out, " Axes before the last two are only in the label.");
  if (p->has_copies)
    text_put(out, " Consecutive layers with the same output shape are one box, "
                  "named after the first; +n: others follow.");
  for (size_t i = 0; i < p->flow.count && !p->has_stripes; i++)
    p->has_stripes = !p->flow.boxes[i].elided && is_activated(p, i);
  if (p->has_stripes)
    text_put(out, " The darker end of a box is its activation.");
  if (p->flow.frames.count)
    text_put(out, " A dashed frame is repeated as often as its label says.");
  if (p->is_u)
    p->flow.hidden = 0; /* a U has a lane for every skip */
  flow_put_remarks(out, &p->flow);
  if (p->line_count > 1 && !p->is_u)
    text_put(out, " A number marks both ends of a connection to another line.");
  if (p->has_numbers)
    text_put(out, " A number is a vector or sequence.");
  return text_slice(out);
}

static struct slice summary_of(struct volumes *p, struct text *out) {
  text_put(out, "From left to right: ");
  for (size_t i = 0; i < p->flow.count; i++) {
    text_put(out, i ? ", " : "");
    flow_put_name(out, &p->flow, &p->flow.boxes[i]);
    text_putc(out, ' ');
    shape_put_grouped(out, shape_at(p, i), output_layout(p->c));
  }
  text_putc(out, '.');
  return text_slice(out);
}

static double draw_legend(struct volumes *p, double y) {
  static const char *const names[] = {"input", "with parameters",
                                      "without parameters", "join", "group"};
  static const int fills[] = {0, 3, 5, 4, 1};
  const char *shown[5];
  int used[5], count = 0;
  for (int k = 0; k < 5; k++) {
    bool there = false;
    for (size_t i = 0; i < p->flow.count && !there; i++)
      there = class_of(p, i)[6] == (char)('0' + fills[k]);
    if (!there)
      continue;
    shown[count] = names[k];
    used[count++] = fills[k];
  }
  return chart_legend(&p->chart, CHART_MARGIN, y, chart_inner(&p->chart), shown,
                      used, count);
}

struct scene *volumes_scene(const struct compiled *c) {
  struct volumes *p = ARENA_NEW(c->arena, struct volumes);
  struct text above = text_new(c->arena), summary = text_new(c->arena);
  p->c = c;
  p->chart = chart_new(c, "volumes");
  p->flow = flow_of(c, MOST_VOLUMES, true);
  p->volumes = arena_alloc(c->arena, p->flow.count + 1, sizeof *p->volumes);
  lay_out(p);
  struct slice subtitle = subtitle_of(p, &above);
  double y = place_lines(p, chart_head_height(&p->chart, subtitle) + 6);
  chart_open(&p->chart, y + 30, slice_of("tensors that flow through the net"),
             subtitle, summary_of(p, &summary));
  for (size_t i = 0; i < p->flow.count; i++)
    draw_volume(p, i);
  volumes_draw_frames(p);
  volumes_draw_edges(p);
  chart_close(&p->chart, draw_legend(p, y + 16));
  return p->chart.scene;
}
