/*
 * arena.chart: the arena in inference. Steps run to the right, offsets upwards.
 * A buffer is a rectangle of its bytes over its lifetime. Rectangles that share
 * all their pixels are drawn as one. Where a plan repeats, its first and its
 * last repeats are drawn.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/hash.h"
#include "drawing/charts/chart.h"

enum {
  LEFT = 70,
  RIGHT_ROOM = 64,
  PLOT_HEIGHT = 340,
  MOST_BOXES = 3000,
  MOST_PERIOD = 256, /* steps of a block; keeps the search linear */
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

/* Steps [from, to) that are left out: they repeat those before them. */
struct arena_fold {
  int64_t from, to, period;
};

struct arena_map {
  double right; /* of the plot */
  struct arena_fold fold;
  double gap; /* steps, in place of those left out */
  const struct compiled *c;
  struct chart chart;
  struct chart_scale x, y;
  double top;
  int64_t steps;
  struct arena_box *boxes;
  size_t count, all; /* boxes, and buffers that are not left out */
  int cell;          /* px of the grid */
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

/* Equal blocks */

/* By step: a hash of the buffers that begin there; 0: none. */
static uint64_t *hash_steps(const struct arena_map *a) {
  uint64_t *hashes =
      arena_alloc(a->c->arena, (size_t)a->steps + 1, sizeof *hashes);
  for (size_t i = 0; i < a->c->memory.inference.arena.count; i++) {
    const struct arena_buffer *b = buffer_at(a, i);
    uint64_t hash =
        hash_mix(hash_mix(1, (uint64_t)b->offset), (uint64_t)b->bytes);
    hash = hash_mix(hash, b->last - b->first);
    hashes[b->first] += hash_mix(hash, role_of(a, b));
  }
  return hashes;
}

/* Chooses the repeat that leaves out most steps. More than a third must go.
 */
static void find_fold(struct arena_map *a) {
  const uint64_t *hashes = hash_steps(a);
  int64_t most = a->steps / 3;
  for (int64_t period = 2; period <= a->steps / 4 && period <= MOST_PERIOD;
       period++) {
    int64_t run = 0, begins = 0;
    for (int64_t step = 0; step + period < a->steps; step++) {
      bool equal = hashes[step] == hashes[step + period];
      run = equal ? run + 1 : 0;
      begins = equal ? begins + (hashes[step] != 0) : 0;
      int64_t left_out = (run / period - 1) * period, first = step + 1 - run;
      if (!begins || left_out <= most)
        continue;
      most = left_out;
      a->fold = (struct arena_fold){first + period, first + period + left_out,
                                    period};
    }
  }
}

/* The x of a step; of those left out, the side of the gap with the rest. */
static double step_at(const struct arena_map *a, int64_t step, bool begins) {
  double at = (double)step, left_out = (double)(a->fold.to - a->fold.from);
  if (step > a->fold.from)
    at = step >= a->fold.to ? at - left_out + a->gap
                            : (double)a->fold.from + (begins ? a->gap : 0);
  return chart_at(&a->x, at);
}

/* Boxes: where each buffer is, in cells of the grid. */

static int cell_of(const struct arena_map *a, double px) {
  return (int)(px / a->cell + 0.500001);
}

static struct chart_box exact_box(const struct arena_map *a, size_t index) {
  const struct arena_buffer *b = buffer_at(a, index);
  double x0 = step_at(a, b->first, true);
  double x1 = step_at(a, (int64_t)b->last + 1, false);
  double y0 = chart_at(&a->y, (double)b->offset);
  double y1 = chart_at(&a->y, (double)(b->offset + b->bytes));
  return (struct chart_box){x0, y1, x1 - x0, y0 - y1};
}

static struct arena_box box_of(const struct arena_map *a, size_t index) {
  struct chart_box at = exact_box(a, index);
  struct arena_box box = {.x0 = cell_of(a, at.x - LEFT),
                          .x1 = cell_of(a, at.x + at.width - LEFT),
                          .y0 = cell_of(a, a->y.zero - at.y - at.height),
                          .y1 = cell_of(a, a->y.zero - at.y),
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
  size_t kept = 0;
  a->all = 0;
  for (size_t i = 0; i < a->c->memory.inference.arena.count; i++)
    if (buffer_at(a, i)->first < a->fold.from ||
        buffer_at(a, i)->last >= a->fold.to)
      a->boxes[a->all++] = box_of(a, i);
  if (a->all)
    qsort(a->boxes, a->all, sizeof *a->boxes, by_place);
  for (size_t i = 0; i < a->all; i++) {
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
  if (a->count == a->all)
    return exact_box(a, box->buffer);
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

static void put_left_out(const struct arena_map *a, struct text *out) {
  text_count(out, (a->fold.to - a->fold.from) / a->fold.period);
  text_put(out, " equal spans");
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
  if (a->count < a->all) {
    text_put(out, "; those in the same place on a grid of ");
    text_printf(out, "%d px are one rectangle: ", a->cell);
    text_count(out, (int64_t)a->count);
    text_put(out, " are drawn");
  }
  if (a->fold.period) {
    text_put(out, "; ");
    put_left_out(a, out);
    text_printf(out, " of %lld steps are left out", (long long)a->fold.period);
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
  chart_about(&a->chart, a->c->model, b->node);
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

static void draw_gap(struct arena_map *a) {
  double left = step_at(a, a->fold.from, true);
  double right = step_at(a, a->fold.to, true);
  put_left_out(a, &a->chart.note);
  chart_line(&a->chart, "mark", left, a->top, left, a->top + PLOT_HEIGHT);
  chart_line(&a->chart, "mark", right, a->top, right, a->top + PLOT_HEIGHT);
  chart_text_up(&a->chart, "over", (left + right) / 2 + 3.5,
                a->top + PLOT_HEIGHT - 8, chart_note(&a->chart));
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
  if (step >= a->fold.from && step < a->fold.to) /* in the first block */
    step =
        a->fold.from - a->fold.period + (step - a->fold.from) % a->fold.period;
  double x = (step_at(a, step, true) + step_at(a, step + 1, false)) / 2;
  double y = a->top + PLOT_HEIGHT;
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
  find_fold(&a);
  double drawn = (double)(a.steps - a.fold.to + a.fold.from);
  a.gap = a.fold.period ? drawn / 20 : 0;
  a.x = (struct chart_scale){drawn + a.gap, LEFT, a.right};
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
  if (a.fold.period)
    draw_gap(&a);
  draw_peak(&a);
  y = draw_legend(&a, a.top + PLOT_HEIGHT + BELOW + 8);
  y = chart_paragraph(&a.chart, CHART_SMALL, CHART_MARGIN, y + 3, width,
                      caption);
  chart_close(&a.chart, y);
  return a.chart.scene;
}
