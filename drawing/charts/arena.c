/*
 * arena.chart: the arena in inference. Steps run to the right, offsets upwards.
 * A buffer is a rectangle of its bytes over its lifetime. Rectangles that share
 * all their pixels are drawn as one.
 */
#include <stdlib.h>

#include "base/check.h"
#include "drawing/charts/chart.h"

enum {
  LEFT = 70,
  RIGHT_ROOM = 64,
  PLOT_HEIGHT = 340,
  MOST_BOXES = 3000,
  NAMED = 6,
  BELOW = 30 /* px between the plot and the legend */
};

enum role { ROLE_INPUT, ROLE_OUTPUT, ROLE_INNER, ROLE_WORK, ROLES };
static const char *const role_names[ROLES] = {
    "input of the net", "output of a layer", "inside a layer", "workspace"};
static const int role_fills[ROLES] = {5, 3, 4, 1};

/* Buffers in the same cells of the grid, the largest first. */
struct arena_box {
  int x0, x1, y0, y1; /* cells of the grid */
  size_t buffer;
  size_t count;
};

struct arena_map {
  double right; /* of the plot */
  const struct compiled *c;
  struct chart chart;
  struct chart_scale x, y;
  double top;
  int64_t steps;
  struct arena_box *boxes;
  size_t count;
  int cell; /* px of the grid */
};

static const struct arena_buffer *buffer_at(const struct arena_map *a,
                                            size_t index) {
  return &a->c->memory.inference.arena.at[index];
}

static enum role role_of(const struct arena_map *a,
                         const struct arena_buffer *buffer) {
  const struct node *node = &a->c->model->nodes.at[buffer->node];
  if (node->kind == &model_input_kind)
    return ROLE_INPUT;
  if (!buffer->part)
    return ROLE_OUTPUT;
  return strcmp(buffer->part, "workspace") == 0 ? ROLE_WORK : ROLE_INNER;
}

/* Boxes: where each buffer is, in cells of the grid. */

static int cell_of(const struct chart_scale *scale, int64_t value, int cell) {
  double at = chart_at(scale, (double)value) - scale->zero;
  return (int)((at < 0 ? -at : at) / cell + 0.500001);
}

static struct arena_box box_of(const struct arena_map *a, size_t index) {
  const struct arena_buffer *b = buffer_at(a, index);
  struct arena_box box = {.x0 = cell_of(&a->x, b->first, a->cell),
                          .x1 = cell_of(&a->x, b->last + 1, a->cell),
                          .y0 = cell_of(&a->y, b->offset, a->cell),
                          .y1 = cell_of(&a->y, b->offset + b->bytes, a->cell),
                          .buffer = index,
                          .count = 1};
  box.x1 += box.x1 == box.x0;
  box.y1 += box.y1 == box.y0;
  return box;
}

static int by_place(const void *a, const void *b) {
  const struct arena_box *x = a, *y = b;
  int order = x->x0 != y->x0   ? x->x0 - y->x0
              : x->y0 != y->y0 ? x->y0 - y->y0
              : x->x1 != y->x1 ? x->x1 - y->x1
                               : x->y1 - y->y1;
  return order ? order : x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

static bool same_place(const struct arena_box *a, const struct arena_box *b) {
  return a->x0 == b->x0 && a->x1 == b->x1 && a->y0 == b->y0 && a->y1 == b->y1;
}

static void find_boxes(struct arena_map *a) {
  size_t all = a->c->memory.inference.arena.count;
  size_t kept = 0;
  for (size_t i = 0; i < all; i++)
    a->boxes[i] = box_of(a, i);
  if (all)
    qsort(a->boxes, all, sizeof *a->boxes, by_place);
  for (size_t i = 0; i < all; i++) {
    struct arena_box *last = kept ? &a->boxes[kept - 1] : NULL;
    if (!last || !same_place(last, &a->boxes[i])) {
      a->boxes[kept++] = a->boxes[i];
      continue;
    }
    if (buffer_at(a, a->boxes[i].buffer)->bytes >
        buffer_at(a, last->buffer)->bytes)
      last->buffer = a->boxes[i].buffer;
    last->count++;
  }
  a->count = kept;
}

/* Chooses the finest grid with few enough boxes. */
static void choose_grid(struct arena_map *a) {
  a->cell = 1;
  find_boxes(a);
  while (a->count > MOST_BOXES && a->cell < 64) {
    a->cell *= 2;
    find_boxes(a);
  }
}

/* A net of few steps is drawn without rounding to cells. */
static struct chart_box place_of(const struct arena_map *a,
                                 const struct arena_box *box) {
  const struct arena_buffer *b = buffer_at(a, box->buffer);
  if (a->count == a->c->memory.inference.arena.count) {
    double x0 = chart_at(&a->x, (double)b->first);
    double x1 = chart_at(&a->x, (double)(b->last + 1));
    double y0 = chart_at(&a->y, (double)b->offset);
    double y1 = chart_at(&a->y, (double)(b->offset + b->bytes));
    return (struct chart_box){x0, y1, x1 - x0, y0 - y1};
  }
  return (struct chart_box){LEFT + (double)box->x0 * a->cell,
                            a->y.zero - (double)box->y1 * a->cell,
                            (double)(box->x1 - box->x0) * a->cell,
                            (double)(box->y1 - box->y0) * a->cell};
}

/* Texts */

static void put_name(struct arena_map *a, struct text *out,
                     const struct arena_buffer *buffer) {
  model_put_name(out, a->c->model, buffer->node);
  if (buffer->part)
    text_printf(out, ".%s", buffer->part);
}

static struct slice subtitle_of(struct arena_map *a, struct text *out) {
  const struct inference *f = &a->c->memory.inference;
  const struct infer_settings *infer = &a->c->settings->infer;
  size_t all = f->arena.count;
  text_printf(out,
              "Planned by netc; batch %s, %s, offsets in multiples of %lld. %s "
              "buffer%s over %s steps; time is not to scale",
              count_text(infer->batch).text, element_long_name(infer->dtype),
              (long long)infer->align, count_text((int64_t)all).text,
              all == 1 ? "" : "s", count_text(a->steps).text);
  if (a->count < all) {
    text_put(out, "; those in the same place on a grid of ");
    text_printf(out, "%d px are one rectangle: ", a->cell);
    text_count(out, (int64_t)a->count);
    text_put(out, " are drawn");
  }
  text_printf(out, ". Weights, %s, are not included.",
              output_size(a->c, f->weights).text);
  return text_slice(out);
}

static struct slice words_below(struct arena_map *a, struct text *out) {
  const struct inference *f = &a->c->memory.inference;
  text_printf(out, "Arena %s", output_size(a->c, f->plan.height).text);
  if (f->plan.optimal) {
    text_put(out, " = the lower bound: no plan is smaller");
  } else {
    text_printf(out, "; lower bound %s: no plan is smaller; this one takes ",
                output_size(a->c, f->plan.lower_bound).text);
    text_fixed(out,
               100.0 * (double)(f->plan.height - f->plan.lower_bound) /
                   (double)(f->plan.lower_bound ? f->plan.lower_bound : 1),
               2);
    text_put(out, " % more");
  }
  text_put(out, ". The maximum in memory is at ");
  if (f->live_node == NO_NODE)
    text_put(out, "the input");
  else
    model_put_name(out, a->c->model, f->live_node);
  for (size_t i = 0; i < f->at_peak.count && i < NAMED; i++) {
    const struct arena_buffer *b = buffer_at(a, f->at_peak.at[i]);
    text_put(out, i ? ", " : ": ");
    put_name(a, out, b);
    text_printf(out, " (%s)", output_size(a->c, b->bytes).text);
  }
  if (f->at_peak.count > NAMED)
    text_printf(out, " and %zu more", f->at_peak.count - NAMED);
  text_putc(out, '.');
  if (f->order.count)
    text_put(out, " Layers run in the order with the smallest arena, which "
                  "differs from the source.");
  return text_slice(out);
}

/* Drawing */

/* Along the box, or upwards, or without its groups: whatever fits. */
static void draw_name(struct arena_map *a, const struct arena_buffer *b,
                      struct chart_box at, const char *ink) {
  struct text names[2] = {text_new(a->c->arena), text_new(a->c->arena)};
  put_name(a, &names[0], b);
  name_put(&names[1], &a->c->model->nodes.at[b->node].name);
  for (int i = 0; i < 2; i++) {
    struct slice name = text_slice(&names[i]);
    double width = chart_text_width(name, CHART_SMALL);
    double drop = at.height < 30 ? at.height / 2 + 3.5 : 11;
    if (width <= at.width - 4 && at.height >= 11) {
      chart_text_as(&a->chart, ink, CHART_SMALL, CHART_START, at.x + 2,
                    at.y + drop, name);
      return;
    }
    if (width <= at.height - 4 && at.width >= 11) {
      chart_text_up(&a->chart, ink,
                    at.x + (at.width < 26 ? at.width / 2 + 3.5 : 11),
                    at.y + at.height - 3, name);
      return;
    }
  }
}

static void draw_box(struct arena_map *a, const struct arena_box *box) {
  const struct arena_buffer *b = buffer_at(a, box->buffer);
  struct text *note = &a->chart.note;
  struct chart_box at = place_of(a, box);
  int fill = role_fills[role_of(a, b)];
  char ink[] = {'o', 'n', (char)('0' + fill), '\0'};
  bool thin = at.width < 2.5 || at.height < 2.5; /* no fill, only edges */
  put_name(a, note, b);
  text_printf(note, "\n%s at offset %s\nsteps %lld to %lld",
              output_size(a->c, b->bytes).text, count_text(b->offset).text,
              (long long)b->first, (long long)b->last);
  if (box->count > 1)
    text_printf(note, "\nthe largest of %zu drawn here", box->count);
  chart_rect(&a->chart, chart_fill_class(fill, !thin), at,
             chart_note(&a->chart));
  draw_name(a, b, at, ink);
}

static void draw_bound(struct arena_map *a) {
  const struct plan *plan = &a->c->memory.inference.plan;
  double y = chart_at(&a->y, (double)plan->lower_bound);
  chart_line(&a->chart, "mark", LEFT, y, a->right, y);
  text_printf(&a->chart.note, "%s%s",
              plan->optimal ? "= lower bound " : "lower bound ",
              output_size(a->c, plan->lower_bound).text);
  chart_text_as(&a->chart, "over", CHART_TEXT, CHART_END, a->right, y - 6,
                chart_note(&a->chart));
}

/* Marks the peak, from the last of its buffers to be allocated. */
static void draw_peak(struct arena_map *a) {
  const struct inference *f = &a->c->memory.inference;
  int64_t step = 0;
  if (!f->at_peak.count)
    return;
  for (size_t i = 0; i < f->at_peak.count; i++)
    if (buffer_at(a, f->at_peak.at[i])->first > step)
      step = buffer_at(a, f->at_peak.at[i])->first;
  double x = chart_at(&a->x, (double)step + 0.5), y = a->top + PLOT_HEIGHT;
  text_put(&a->chart.note, "maximum in memory: ");
  if (f->live_node == NO_NODE)
    text_put(&a->chart.note, "the input");
  else
    model_put_name(&a->chart.note, a->c->model, f->live_node);
  struct slice name = chart_note(&a->chart);
  double half = chart_text_width(name, CHART_TEXT) / 2;
  chart_path(&a->chart, "axis");
  chart_to(&a->chart, x - 4, y + 8);
  chart_to(&a->chart, x, y + 2);
  chart_to(&a->chart, x + 4, y + 8);
  chart_path_end(&a->chart);
  x = x - half < LEFT ? LEFT + half : x + half > a->right ? a->right - half : x;
  chart_text_fit(&a->chart, "", CHART_TEXT, CHART_MIDDLE, x, y + 19,
                 a->right - LEFT, name);
}

/* Lists only roles that occur. */
static double draw_legend(struct arena_map *a, double y) {
  const char *names[ROLES];
  int fills[ROLES], count = 0;
  bool there[ROLES] = {false};
  for (size_t i = 0; i < a->count; i++)
    there[role_of(a, buffer_at(a, a->boxes[i].buffer))] = true;
  for (int role = 0; role < ROLES; role++) {
    if (!there[role])
      continue;
    names[count] = role_names[role];
    fills[count++] = role_fills[role];
  }
  return chart_legend(&a->chart, LEFT, y, a->right - LEFT, names, fills, count);
}

struct scene *arena_scene(const struct compiled *c) {
  const struct inference *f = &c->memory.inference;
  struct arena_map a = {.c = c};
  struct text above = text_new(c->arena), below = text_new(c->arena);
  a.chart = chart_new(c, "arena");
  a.right = a.chart.width - (chart_is_narrow(&a.chart) ? 16 : RIGHT_ROOM);
  a.boxes = arena_alloc(c->arena, f->arena.count + 1, sizeof *a.boxes);
  for (size_t i = 0; i < f->arena.count; i++)
    a.steps = max_i64(a.steps, f->arena.at[i].last + 1);
  a.x = (struct chart_scale){(double)a.steps, LEFT, a.right};
  a.y = (struct chart_scale){(double)f->plan.height * 1.06, PLOT_HEIGHT, 0};
  choose_grid(&a);
  struct slice subtitle = subtitle_of(&a, &above);
  a.top = chart_head_height(&a.chart, subtitle) + 8;
  a.y.zero = a.top + PLOT_HEIGHT;
  a.y.end = a.top;
  struct slice words = words_below(&a, &below);
  struct slice caption = chart_caption(&a.chart, words);
  double width = chart_inner(&a.chart);
  double y = a.top + PLOT_HEIGHT + BELOW + 2 * 15;
  chart_open(&a.chart, y + 15 * chart_lines(CHART_SMALL, width, caption),
             slice_of("arena for inference"), subtitle, words);
  chart_byte_axis(&a.chart, &a.y, LEFT, a.right, output_units(c));
  for (size_t i = 0; i < a.count; i++)
    draw_box(&a, &a.boxes[i]);
  draw_bound(&a);
  draw_peak(&a);
  y = draw_legend(&a, a.top + PLOT_HEIGHT + BELOW + 8);
  y = chart_paragraph(&a.chart, CHART_SMALL, CHART_MARGIN, y + 3, width,
                      caption);
  chart_close(&a.chart, y);
  return a.chart.scene;
}
