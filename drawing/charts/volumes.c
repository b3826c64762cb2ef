/*
 * volumes.chart: the net's tensors as boxes to scale, like PlotNeuralNet and
 * NN-SVG. A map is a box with its sides as height and depth, a sequence a sheet
 * without depth, a vector a bar; the width is the channels. Square roots and
 * logarithms let 224 and 7, 3 and 2,048 share a picture; the subtitle says so.
 */
#include "drawing/charts/volumes.h"

#include <math.h>
#include <stdlib.h>

#include "base/real.h"

enum {
  COPIES = 3, /* maximum copies of equal boxes in a row */
  STRIP = 12, /* px below the boxes of a frame, for its number */
  LABEL = 25  /* px of the two lines of a label */
};

/* A gap is at least an arrow's head, which ends 1 px before a box. */
static const struct volume_spacing spacings[] = {{110, 13, 32}, {84, 8, 24},
                                                 {68, 7, 20},   {60, 7, 16},
                                                 {52, 7, 14},   {46, 7, 12}};

const struct shape *volumes_shape(const struct volumes *p, size_t box) {
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
  const struct shape *shape = volumes_shape(p, box);
  struct volume *v = &p->volumes[box];
  int sides = shape_spatial(shape);
  int64_t channels = shape->dtype == DTYPE_FLOAT ? shape_channels(shape) : 1;
  *v = (struct volume){
      .width = channels_of(channels), .line = v->line, .rise = v->rise};
  if (sides == 0) { /* a vector: a bar */
    v->width = 4;
    v->height = 8 * real_log2(1 + (double)channels);
    p->has_vectors = true;
  } else {
    v->height = fmin(side_of(p, shape->dim[sides > 1 ? sides - 2 : 0]),
                     p->spacing->tallest);
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

/* By the largest map, if there is one, otherwise the longest sequence. */
static void find_scale(struct volumes *p) {
  int64_t largest = 1;
  for (int axes = 2; axes > 0 && largest == 1; axes--)
    for (size_t i = 0; i < p->flow.count; i++) {
      const struct shape *shape = volumes_shape(p, i);
      int sides = shape_spatial(shape);
      for (int k = sides > 2 ? sides - 2 : 0; sides >= axes && k < sides; k++)
        largest = shape->dim[k] > largest ? shape->dim[k] : largest;
    }
  p->scale = p->spacing->tallest / sqrt((double)largest);
}

/* Lines */

/* In rows only the channels of a map, if its size is at the left. */
static struct slice shape_words(struct volumes *p, size_t box) {
  const struct shape *shape = volumes_shape(p, box);
  if (p->flow.boxes[box].elided)
    text_put(&p->chart.note, "...");
  else if (p->in_rows && shape_spatial(shape) == 2 &&
           p->volumes[box].line + p->volumes[box].place > 0)
    text_count(&p->chart.note, shape_channels(shape));
  else
    shape_put_grouped(&p->chart.note, shape, output_layout(p->c));
  return text_tamed(p->c->arena, chart_note(&p->chart), true);
}

static double shape_width(struct volumes *p, size_t box) {
  return chart_text_width(shape_words(p, box), CHART_SMALL);
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
    v->place = (int)(i - line->first);
    if (i == line->first) { /* room for its label */
      double box = v->width * v->copies + v->depth * VOLUME_SLANT_X;
      line->width = fmax(0, (shape_width(p, i) - CHART_MARGIN - box) / 2);
    }
    v->x = CHART_MARGIN + line->width;
    line->end = i + 1;
    line->width += v->slot;
    line->levels = 1;
    line->tallest = fmax(line->tallest, v->height + v->depth * VOLUME_SLANT_Y);
  }
  p->line_count = p->flow.count ? (int)(line - p->lines) + 1 : 0;
}

static void set_spacing(struct volumes *p, size_t index) {
  p->spacing = &spacings[index];
  find_scale(p);
  for (size_t i = 0; i < p->flow.count; i++)
    measure(p, i);
}

/* The x between which a label has room: up to those in its level and to edges
 * from rows below. */
struct label_room {
  double left, right;
};

static void limit(struct label_room *room, double x, double at, double away) {
  if (at < x)
    room->left = fmax(room->left, at + away);
  if (at > x)
    room->right = fmin(room->right, at - away);
}

static struct label_room label_room(const struct volumes *p, size_t box) {
  const struct volume *v = &p->volumes[box];
  int levels = p->lines[v->line].levels;
  double x = volumes_crown(p, box);
  struct label_room room = {CHART_MARGIN / 2.0,
                            p->chart.width - CHART_MARGIN / 2.0};
  for (size_t i = 0; i < p->flow.count; i++) {
    const struct volume *other = &p->volumes[i];
    double at = volumes_crown(p, i);
    if (other->line == v->line && abs(other->place - v->place) == levels)
      limit(&room, x, (at + x) / 2, 2.5);
    if (p->in_rows && other->line > v->line &&
        other->line - other->rise <= v->line)
      limit(&room, x, at, 5);
  }
  return room;
}

/* True if all shapes fit, in more levels if needed; names may be left out. */
static bool shapes_fit(struct volumes *p, int levels) {
  bool fit = true;
  for (size_t i = 0; i < p->flow.count; i++) {
    struct label_room room = label_room(p, i);
    int *have = &p->lines[p->volumes[i].line].levels;
    if (shape_width(p, i) <= room.right - room.left)
      continue;
    fit = *have < levels;
    if (!fit)
      continue;
    *have = levels;
    i = SIZE_MAX; /* from the beginning */
  }
  return fit;
}

static void make_flow(struct volumes *p, enum flow_join join) {
  p->join = join;
  p->flow = flow_of(p->c, MOST_VOLUMES, join);
  p->volumes = arena_alloc(p->c->arena, p->flow.count + 1, sizeof *p->volumes);
  p->has_numbers = false;
  p->in_rows = volumes_find_rows(p);
}

enum { SPACINGS = sizeof spacings / sizeof *spacings };

/* In rows, if possible; where they are too wide, a box is all of a size. */
static bool fits_in_rows(struct volumes *p) {
  for (enum flow_join join = FLOW_SHAPES; join <= FLOW_SIZES; join++) {
    make_flow(p, join);
    for (size_t k = 0; k < 2 * SPACINGS && p->in_rows; k++) {
      p->single = k >= SPACINGS || join == FLOW_SIZES;
      set_spacing(p, k % SPACINGS);
      if (volumes_place_rows(p) && shapes_fit(p, 3))
        return true;
    }
    if (!p->in_rows && !p->flow.elided)
      break;
  }
  if (p->join != FLOW_SHAPES)
    make_flow(p, FLOW_SHAPES);
  return false;
}

/* In rows, or in one line, or with all shapes, if possible. */
static void lay_out(struct volumes *p) {
  if (fits_in_rows(p))
    return;
  flow_choose_lanes(&p->flow, NULL);
  p->single = p->in_rows = p->has_numbers = false;
  for (size_t k = 0; k <= 2 * SPACINGS; k++) {
    set_spacing(p, k % SPACINGS); /* none fits: the first again */
    break_lines(p);
    if (shapes_fit(p, k ? 3 : 2) && (p->line_count <= 1 || k >= SPACINGS))
      return;
  }
}

int volumes_lane(const struct volumes *p, const struct flow_edge *edge) {
  return edge->lane > 0 && p->has_numbers ? edge->lane + 2 : edge->lane;
}

/* Places the lines; returns the y below the last. */
static double place_lines(struct volumes *p, double y) {
  for (size_t i = 0; i < p->flow.edges.count; i++) {
    const struct flow_edge *edge = &p->flow.edges.at[i];
    int from = p->volumes[edge->from].line, to = p->volumes[edge->to].line;
    bool numbered = volumes_has_number(p, edge);
    int least = numbered ? 2 : volumes_lane(p, edge); /* 2 for the numbers */
    int *lanes = &p->lines[numbered || from < to ? from : to].lanes;
    *lanes = *lanes < least ? least : *lanes;
    lanes = &p->lines[to].lanes;
    if (numbered && *lanes < least)
      *lanes = least;
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
  shape_put_grouped(note, volumes_shape(p, box), output_layout(p->c));
  text_printf(note, "\n%s values",
              count_text(shape_values(volumes_shape(p, box))).text);
}

/* Leaves out the groups of a name that does not fit. */
static struct slice label_name(struct volumes *p, size_t box, double room) {
  const struct flow_box *at = &p->flow.boxes[box];
  struct text *out = &p->chart.note, turns = text_new(p->c->arena);
  flow_put_name(out, &p->flow, at);
  if (chart_text_width(text_slice(out), CHART_SMALL) > room) {
    out->length = 0;
    flow_put_count(&turns, &p->flow, at);
    if (at->elided)
      text_printf(out, "%s more", count_text((int64_t)flow_size(at)).text);
    else if (!p->c->options->source_labels) {
      struct text layer = text_new(p->c->arena);
      room -= chart_text_width(text_slice(&turns), CHART_SMALL);
      leaf_put_layer(&layer, &p->flow.leaves, flow_leaf(&p->flow, at));
      text_puts(out, chart_phrases(text_slice(&layer), CHART_SMALL, room));
    } else
      leaf_put_own_name(out, &p->flow.leaves, flow_leaf(&p->flow, at));
    if (!at->elided)
      text_puts(out, text_slice(&turns));
  }
  return text_tamed(p->c->arena, chart_note(&p->chart), true);
}

/* Below the line, in alternating levels; a name that has no room is only in
 * the hover text. */
static void draw_label(struct volumes *p, size_t box) {
  const struct volume *v = &p->volumes[box];
  const struct volume_line *line = &p->lines[v->line];
  double y = line->bottom + 14 + v->place % line->levels * LABEL;
  struct label_room room = label_room(p, box);
  for (int i = 0; i < 2; i++) {
    struct slice text =
        i ? label_name(p, box, room.right - room.left) : shape_words(p, box);
    double half = chart_text_width(text, CHART_SMALL) / 2;
    bool fits = 2 * half <= room.right - room.left;
    double x =
        fmin(fmax(volumes_crown(p, box), room.left + half), room.right - half);
    if (fits || !i)
      chart_text_fit(&p->chart, i ? "faint" : "", CHART_SMALL, CHART_MIDDLE,
                     fits ? x : (room.left + room.right) / 2, y + 11 * i,
                     fmax(room.right - room.left, 8), text);
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
  if (!p->flow.boxes[box].elided)
    chart_about(
        &p->chart, p->c->model,
        leaf_head(&p->flow.leaves, flow_leaf(&p->flow, &p->flow.boxes[box])));
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
    text_printf(out,
                " Consecutive layers with the same output %s are one box, "
                "named after the first; +n: others follow.",
                p->join == FLOW_SIZES ? "size" : "shape");
  for (size_t i = 0; i < p->flow.count && !p->has_stripes; i++)
    p->has_stripes = !p->flow.boxes[i].elided && is_activated(p, i);
  if (p->has_stripes)
    text_put(out, " The darker end of a box is its activation.");
  if (p->flow.frames.count)
    text_put(out, " A dashed frame is repeated as often as its label says.");
  flow_put_remarks(out, &p->flow);
  if (p->in_rows)
    text_put(out, " Maps of one size are in a row; below a map are its "
                  "channels.");
  if (p->line_count > 1 && !p->in_rows)
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
    shape_put_grouped(out, volumes_shape(p, i), output_layout(p->c));
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
  lay_out(p);
  struct slice subtitle = subtitle_of(p, &above);
  double y = place_lines(p, chart_head_height(&p->chart, subtitle) + 6);
  chart_open(&p->chart, y + 30, slice_of("tensors that flow through the net"),
             subtitle, summary_of(p, &summary));
  for (size_t i = 0; i < p->flow.count; i++)
    draw_volume(p, i);
  for (int i = 1; p->in_rows && i < p->line_count; i++) {
    volumes_put_size(p, i);
    chart_text(&p->chart, CHART_TEXT, CHART_START, CHART_MARGIN,
               p->lines[i].middle + 4, chart_note(&p->chart));
  }
  volumes_draw_frames(p);
  volumes_draw_edges(p);
  chart_close(&p->chart, draw_legend(p, y + 16));
  return p->chart.scene;
}
