/*
 * roofline.chart: operations per byte of every layer against the limits of a
 * card (Williams, Waterman, Patterson 2009, "Roofline"). A layer reads its
 * inputs and weights once and writes its output once; everything inside it
 * stays on the chip. So times are lower bounds for the card.
 */
#include <math.h>
#include <stdlib.h>

#include "base/real.h"
#include "drawing/charts/roofline.h"

static const char default_gpu[] = "a100-80";

/* Operations and bytes of a layer */

static double shape_traffic(const struct roofline *r,
                            const struct shape *shape) {
  int64_t bytes;
  return shape_bytes(shape, r->element, &bytes)
             ? (double)bytes * (double)r->batch
             : 0;
}

static double weight_traffic(const struct roofline *r,
                             const struct node *node) {
  double values = 0;
  for (int i = 0; i < node->param_count; i++)
    values +=
        (double)r->c->model->params.at[node->first_param + (size_t)i].count;
  return values * element_bits(r->element) / 8;
}

/* A lookup table is read only at its indices. */
static double traffic_of(const struct roofline *r, int64_t index) {
  const struct model *model = r->c->model;
  const struct node *node = &model->nodes.at[index];
  double out = shape_traffic(r, node->out), bytes = out;
  double weights = weight_traffic(r, node);
  bool multiplies = model_cost(model, index)->macs != 0;
  if (node->kind->source || node->kind == &model_input_kind ||
      (node->kind->memory == OUTPUT_VIEW && !multiplies))
    return 0;
  for (int i = 0; i < node->input_count; i++)
    bytes += shape_traffic(r, model->nodes.at[node_input(model, node, i)].out);
  return bytes + (multiplies || weights < out ? weights : out);
}

static double flops_of(const struct roofline *r, int64_t index) {
  return 2 * (double)model_cost(r->c->model, index)->macs * (double)r->batch;
}

static double roof_seconds(const struct roofline *r, double flops,
                           double bytes) {
  double compute = flops / r->peak, memory = bytes / r->bandwidth;
  return compute > memory ? compute : memory;
}

bool roof_is_bound(const struct roofline *r, double flops, double bytes) {
  return flops / r->peak < bytes / r->bandwidth;
}

/* Axes */

double roof_x(const struct roofline *r, double intensity) {
  return ROOF_LOG_LEFT + (r->right - ROOF_LOG_LEFT) *
                             (real_log10(intensity) - r->low) / r->decades;
}

double roof_y(const struct roofline *r, double rate) {
  double y = r->top + ROOF_HEIGHT -
             ROOF_HEIGHT * (real_log10(rate) - r->floor) / r->rises;
  return y > r->top + ROOF_HEIGHT ? r->top + ROOF_HEIGHT : y;
}

double roof_rate(const struct roofline *r, double intensity) {
  double rate = intensity * r->bandwidth;
  return rate < r->peak ? rate : r->peak;
}

static void find_axes(struct roofline *r) {
  double least = r->peak / r->bandwidth / 10, most = least * 100;
  double highest = r->peak;
  for (size_t i = 0; i < r->c->model->nodes.count; i++) {
    double flops = flops_of(r, (int64_t)i), bytes = traffic_of(r, (int64_t)i);
    if (flops > 0 && bytes > 0) {
      least = flops / bytes < least ? flops / bytes : least;
      most = flops / bytes > most ? flops / bytes : most;
    }
  }
  for (int e = 1; e < ELEMENT_END; e++)
    if (e <= ELEMENT_BF16 && (double)gpu_rate(r->gpu, e) * 1e9 > highest)
      highest = (double)gpu_rate(r->gpu, e) * 1e9;
  r->low = floor(real_log10(least));
  r->decades = ceil(real_log10(most)) - r->low;
  r->floor = floor(real_log10(roof_rate(r, real_pow(10, r->low))));
  r->rises = real_log10(highest) + 0.25 - r->floor;
}

/* Bins */

static void note_layer(struct roofline *r, int64_t index) {
  double flops = flops_of(r, index), bytes = traffic_of(r, index);
  double seconds = roof_seconds(r, flops, bytes);
  struct roof_bin *bin = &r->idle;
  if (flops <= 0 && bytes <= 0)
    return;
  if (flops > 0 && bytes > 0)
    bin = &r->bins[(int)(roof_x(r, flops / bytes) - ROOF_LOG_LEFT + 1e-6) /
                   ROOF_BIN];
  if (!bin->count || seconds > bin->largest_seconds * (1 + 1e-9)) {
    bin->largest = index;
    bin->largest_seconds = seconds;
  }
  bin->seconds += seconds;
  bin->bytes += bytes;
  bin->flops += flops;
  bin->count++;
  r->seconds += seconds;
  if (flops > 0)
    r->layers++;
  if (!roof_is_bound(r, flops, bytes))
    return;
  r->waiting += seconds;
  r->bound += flops > 0;
}

static int by_seconds(const void *a, const void *b) {
  const struct roof_bin *x = *(struct roof_bin *const *)a,
                        *y = *(struct roof_bin *const *)b;
  if (x->seconds > y->seconds || x->seconds < y->seconds)
    return x->seconds > y->seconds ? -1 : 1;
  return x < y ? -1 : x > y;
}

static void find_bins(struct roofline *r) {
  for (size_t i = 0; i < r->c->model->nodes.count; i++)
    note_layer(r, (int64_t)i);
  for (int i = 0; i < ROOF_BINS; i++)
    r->dearest[i] = &r->bins[i];
  r->dearest[ROOF_BINS] = &r->idle;
  qsort(r->dearest, ROOF_BINS + 1, sizeof *r->dearest, by_seconds);
}

/* The batch and type of training if the settings train, else of inference. */
static void choose(struct roofline *r) {
  const struct settings *s = r->c->settings;
  const char *several;
  r->gpu = gpu_of(&s->train);
  if (r->gpu && !(r->gpu->bandwidth && gpu_rate(r->gpu, ELEMENT_F32)))
    r->lacking = r->gpu->word;
  r->chosen = r->gpu && !r->lacking;
  if (!r->chosen)
    r->gpu = gpu_at(NULL, gpu_find(NULL, slice_of(default_gpu), &several));
  r->batch = s->trains ? s->train.batch : s->infer.batch;
  r->element = s->trains ? s->train.dtype : s->infer.dtype;
  if (s->trains && s->train.precision == PRECISION_MIXED &&
      element_bits(r->element) == 32)
    r->element = ELEMENT_F16;
  r->rated = gpu_rate(r->gpu, r->element) ? r->element : ELEMENT_F32;
  r->peak = (double)gpu_rate(r->gpu, r->rated) * 1e9;
  r->bandwidth = (double)r->gpu->bandwidth * 1e9;
}

struct scene *roofline_scene(const struct compiled *c) {
  static const char *const names[] = {"bound by memory", "bound by compute"};
  static const int fills[] = {4, 3};
  struct roofline *r = ARENA_NEW(c->arena, struct roofline);
  struct text above = text_new(c->arena), below = text_new(c->arena);
  r->c = c;
  r->chart = chart_new(c, "roofline");
  r->right = r->chart.width - ROOF_RIGHT_ROOM;
  choose(r);
  find_axes(r);
  find_bins(r);
  struct slice subtitle = roof_subtitle(r, &above);
  r->top = chart_head_height(&r->chart, subtitle) + 8;
  r->below = r->top + ROOF_HEIGHT + ROOF_GAP;
  struct slice words = roof_words_below(r, &below);
  struct slice caption = chart_caption(&r->chart, words);
  double width = chart_inner(&r->chart);
  double y = r->below + ROOF_TIME_HEIGHT + 50;
  chart_open(&r->chart, y + 15 + 15 * chart_lines(CHART_SMALL, width, caption),
             roof_title(r), subtitle, words);
  roof_draw(r);
  roof_draw_layers(r);
  y = chart_legend(&r->chart, ROOF_LEFT, y, r->right - ROOF_LEFT, names, fills,
                   2);
  y = chart_paragraph(&r->chart, CHART_SMALL, CHART_MARGIN, y + 3, width,
                      caption);
  chart_close(&r->chart, y);
  return r->chart.scene;
}
