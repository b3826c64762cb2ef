/*
 * roofline.chart: operations for each byte of every layer against what a card
 * can do (Williams, Waterman, Patterson 2009, "Roofline"). A layer reads its
 * inputs and weights once and writes its output once; what happens inside it
 * stays on the chip. So times are the least that the card allows.
 */
#include <math.h>
#include <stdlib.h>

#include "base/real.h"
#include "drawing/charts/chart.h"
#include "sema/model/gpu.h"

enum {
  LEFT = 86,
  LOG_LEFT = 150,  /* before it: layers without multiply-accumulates */
  RIGHT_ROOM = 84, /* for the names of types */
  ROOF_HEIGHT = 190,
  GAP = 34,
  TIME_HEIGHT = 120,
  BIN = 4, /* px: layers of one bin are one dot */
  BINS = (CHART_WIDTH - RIGHT_ROOM - LOG_LEFT) / BIN + 1,
  LABELS = 8
};

static const char default_gpu[] = "a100-80";

/* Layers of about the same intensity. */
struct bin {
  double seconds, bytes, flops;
  int64_t largest; /* the node that takes most of the time */
  double largest_seconds;
  size_t count;
};

struct roofline {
  double right; /* of the plots */
  const struct compiled *c;
  struct chart chart;
  const struct gpu *gpu;
  const char *lacking; /* the device that was named, without figures */
  int element, rated;  /* `rated`: the type whose roof is drawn */
  bool chosen;         /* the user named the card */
  int64_t batch;
  double peak, bandwidth; /* a second */
  struct bin bins[BINS], idle;
  struct bin *dearest[BINS + 1];
  double low, decades;     /* of the axis: its least log10, and how many */
  double floor, rises;     /* the same of what the card can do */
  double seconds, waiting; /* of all; bound by memory */
  size_t layers, bound;
  double top, below; /* of the two plots */
};

/* What a layer does */

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

/* A table is read where it is asked for, not as a whole. */
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

static double seconds_of(const struct roofline *r, double flops, double bytes) {
  double compute = flops / r->peak, memory = bytes / r->bandwidth;
  return compute > memory ? compute : memory;
}

static bool is_bound(const struct roofline *r, double flops, double bytes) {
  return flops / r->peak < bytes / r->bandwidth;
}

/* Axes */

static double x_at(const struct roofline *r, double intensity) {
  return LOG_LEFT +
         (r->right - LOG_LEFT) * (real_log10(intensity) - r->low) / r->decades;
}

static double y_at(const struct roofline *r, double rate) {
  double y = r->top + ROOF_HEIGHT -
             ROOF_HEIGHT * (real_log10(rate) - r->floor) / r->rises;
  return y > r->top + ROOF_HEIGHT ? r->top + ROOF_HEIGHT : y;
}

static double roof_at(const struct roofline *r, double intensity) {
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
  r->floor = floor(real_log10(roof_at(r, real_pow(10, r->low))));
  r->rises = real_log10(highest) + 0.25 - r->floor;
}

/* Bins */

static void note_layer(struct roofline *r, int64_t index) {
  double flops = flops_of(r, index), bytes = traffic_of(r, index);
  double seconds = seconds_of(r, flops, bytes);
  struct bin *bin = &r->idle;
  if (flops <= 0 && bytes <= 0)
    return;
  if (flops > 0 && bytes > 0)
    bin = &r->bins[(int)(x_at(r, flops / bytes) - LOG_LEFT + 1e-6) / BIN];
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
  if (!is_bound(r, flops, bytes))
    return;
  r->waiting += seconds;
  r->bound += flops > 0;
}

static int by_seconds(const void *a, const void *b) {
  const struct bin *x = *(struct bin *const *)a, *y = *(struct bin *const *)b;
  if (x->seconds > y->seconds || x->seconds < y->seconds)
    return x->seconds > y->seconds ? -1 : 1;
  return x < y ? -1 : x > y;
}

static void find_bins(struct roofline *r) {
  for (size_t i = 0; i < r->c->model->nodes.count; i++)
    note_layer(r, (int64_t)i);
  for (int i = 0; i < BINS; i++)
    r->dearest[i] = &r->bins[i];
  r->dearest[BINS] = &r->idle;
  qsort(r->dearest, BINS + 1, sizeof *r->dearest, by_seconds);
}

/* Texts */

static void put_rounded(struct text *out, double value) {
  text_fixed(out, value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

/* 8.10 TFLOP/s; whole numbers of a unit without digits after the point. */
static void put_scaled(struct text *out, double value, const char *unit) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
  int prefix = 0;
  for (; value >= 999.5 && prefix < 5; prefix++)
    value /= 1000;
  if (value >= 0.999 && value - floor(value + 0.001) < 0.001)
    text_count(out, (int64_t)(value + 0.5));
  else
    put_rounded(out, value);
  text_printf(out, " %s%s", prefixes[prefix], unit);
}

static void put_seconds(struct text *out, double seconds) {
  static const char *const units[] = {"s", "ms", "\xC2\xB5s"};
  int unit = 0;
  for (; seconds < 0.9995 && unit < 2; unit++)
    seconds *= 1000;
  put_rounded(out, seconds);
  text_printf(out, " %s", units[unit]);
}

static void put_percent(struct text *out, double part, double of) {
  text_fixed(out, of > 0 ? 100 * part / of : 0, 1);
  text_put(out, " %");
}

static void put_bin_name(struct roofline *r, struct text *out,
                         const struct bin *bin) {
  model_put_name(out, r->c->model, bin->largest);
  if (bin->count > 1)
    text_printf(out, " +%zu", bin->count - 1);
}

static struct slice title_of(struct roofline *r) {
  text_printf(&r->chart.note, "its layers under the roof of %s", r->gpu->word);
  return chart_note(&r->chart);
}

static struct slice subtitle_of(struct roofline *r, struct text *out) {
  text_printf(out, "Computed from %s's peaks by its maker, not measured",
              r->gpu->word);
  if (r->lacking)
    text_printf(out, " (no peaks are known of %s; this one is the default)",
                r->lacking);
  else if (!r->chosen)
    text_put(out, " (no --gpu was given; this one is the default)");
  text_printf(out, ". Forward pass, batch %s, %s", count_text(r->batch).text,
              element_long_name(r->element));
  if (r->rated != r->element)
    text_printf(out, ", for which there is no figure: the roof is that of %s",
                element_long_name(r->rated));
  text_put(out, ". Each layer reads its inputs and weights once and writes "
                "its output once, none are fused; FLOPs = 2 x MACs.");
  return text_slice(out);
}

static struct slice words_below(struct roofline *r, struct text *out) {
  text_printf(out, "%zu of %zu layers with MACs are bound by memory: left of ",
              r->bound, r->layers);
  put_rounded(out, r->peak / r->bandwidth);
  text_put(out, " FLOP/byte the bytes take longer than the operations. A "
                "forward pass takes ");
  put_seconds(out, r->seconds);
  text_put(out, " at the least, ");
  put_percent(out, r->waiting, r->seconds);
  text_put(out, " of it bound by memory");
  if (r->idle.count) {
    text_put(out, ", ");
    put_percent(out, r->idle.seconds, r->seconds);
    text_printf(out, " in %zu layer%s without MACs", r->idle.count,
                r->idle.count == 1 ? "" : "s");
  }
  text_put(out, ". Layers of about the same intensity share a dot and a bar, "
                "named by the dearest (+n more).");
  return text_slice(out);
}

/* The roof */

/* 0.01, 1, 10,000: a power of ten. */
static void put_power(struct text *out, double power) {
  if (power < 0)
    text_fixed(out, real_pow(10, power), (int)-power);
  else
    text_count(out, (int64_t)real_pow(10, power));
}

static void draw_grid(struct roofline *r) {
  double bottom = r->below + TIME_HEIGHT;
  for (double p = r->low; p <= r->low + r->decades; p++) {
    double x = x_at(r, real_pow(10, p));
    chart_line(&r->chart, "grid", x, r->top, x, r->top + ROOF_HEIGHT);
    chart_line(&r->chart, "grid", x, r->below, x, bottom);
    put_power(&r->chart.note, p);
    chart_text(&r->chart, CHART_SMALL, CHART_MIDDLE, x, bottom + 13,
               chart_note(&r->chart));
  }
  for (double p = r->floor; p <= r->floor + r->rises; p++) {
    double y = y_at(r, real_pow(10, p));
    chart_line(&r->chart, "grid", LEFT, y, r->right, y);
    put_scaled(&r->chart.note, real_pow(10, p), "FLOP/s");
    struct slice mark = chart_note(&r->chart);
    chart_text(&r->chart, CHART_SMALL, CHART_END, LEFT - 5, y + 3.5, mark);
  }
  chart_text(&r->chart, CHART_TEXT, CHART_MIDDLE, (LOG_LEFT + r->right) / 2.0,
             bottom + 28, slice_of("FLOP for each byte from or to memory"));
  chart_text(&r->chart, CHART_SMALL, CHART_MIDDLE, (LEFT + LOG_LEFT) / 2.0 - 8,
             bottom + 13, slice_of("no MACs"));
}

/* The words of all types with that rate; false if an earlier one has it. */
static bool put_types(struct roofline *r, int element) {
  int64_t rate = gpu_rate(r->gpu, element);
  bool first = true;
  for (int e = 1; e <= ELEMENT_BF16; e++) {
    if (gpu_rate(r->gpu, e) != rate)
      continue;
    if (first && e < element)
      return false;
    text_printf(&r->chart.note, "%s%s", first ? "" : " ", element_word(e));
    first = false;
  }
  return true;
}

/* What the card could do with other types. */
static void draw_types(struct roofline *r) {
  for (int e = 1; e <= ELEMENT_BF16; e++) {
    double rate = (double)gpu_rate(r->gpu, e) * 1e9;
    if (rate <= 0 || real_log10(rate) <= r->floor || !put_types(r, e))
      continue;
    struct slice words = chart_note(&r->chart);
    double y = y_at(r, rate);
    double x = fmax(x_at(r, rate / r->bandwidth), LOG_LEFT);
    bool drawn = gpu_rate(r->gpu, e) == gpu_rate(r->gpu, r->rated);
    if (!drawn && x < r->right)
      chart_line(&r->chart, "mark", x, y, r->right, y);
    chart_text_fit(&r->chart, drawn ? "" : "faint", CHART_SMALL, CHART_START,
                   r->right + 4, y + 3.5, r->chart.width - r->right - 8, words);
  }
}

static void draw_roof(struct roofline *r) {
  double ridge = r->peak / r->bandwidth;
  double first = real_pow(10, r->low), last = real_pow(10, r->low + r->decades);
  chart_path(&r->chart, "ring");
  chart_to(&r->chart, x_at(r, first), y_at(r, roof_at(r, first)));
  chart_to(&r->chart, x_at(r, ridge), y_at(r, r->peak));
  chart_to(&r->chart, x_at(r, last), y_at(r, r->peak));
  chart_path_end(&r->chart);
  chart_line(&r->chart, "axis", x_at(r, ridge), y_at(r, r->peak),
             x_at(r, ridge), r->below + TIME_HEIGHT);
  put_scaled(&r->chart.note, r->peak, "FLOP/s");
  text_printf(&r->chart.note, " in %s, ", element_word(r->rated));
  put_scaled(&r->chart.note, r->bandwidth, "B/s");
  chart_text_as(&r->chart, "over", CHART_TEXT, CHART_END, x_at(r, ridge) - 12,
                y_at(r, r->peak) - 5, chart_note(&r->chart));
}

/* Dots and bars */

static double bin_x(const struct roofline *r, const struct bin *bin) {
  if (bin == &r->idle)
    return (LEFT + LOG_LEFT) / 2.0 - 8;
  return x_at(r, bin->flops / bin->bytes);
}

static void put_hover(struct roofline *r, const struct bin *bin) {
  struct text *note = &r->chart.note;
  model_put_name(note, r->c->model, bin->largest);
  if (bin->count > 1)
    text_printf(note, " and %zu more", bin->count - 1);
  text_putc(note, '\n');
  put_scaled(note, bin->flops, "FLOP");
  text_put(note, ", ");
  text_size(note, bin->bytes < 9e18 ? (int64_t)bin->bytes : INT64_MAX,
            output_units(r->c), 2);
  if (bin != &r->idle) {
    text_put(note, ", ");
    put_rounded(note, bin->flops / bin->bytes);
    text_put(note, " FLOP/byte");
  }
  text_put(note, is_bound(r, bin->flops, bin->bytes) ? "\nbound by memory, "
                                                     : "\nbound by compute, ");
  put_seconds(note, bin->seconds);
  text_put(note, " at the least, ");
  put_percent(note, bin->seconds, r->seconds);
}

static void draw_bin(struct roofline *r, const struct bin *bin,
                     const struct chart_scale *scale) {
  double x = bin_x(r, bin), y = chart_at(scale, bin->seconds);
  bool bound = is_bound(r, bin->flops, bin->bytes);
  put_hover(r, bin);
  struct slice hover = chart_note(&r->chart);
  chart_rect(&r->chart, bound ? "edge c4" : "edge c3",
             (struct chart_box){x - BIN / 2.0, y, BIN, scale->zero - y}, hover);
  if (bin == &r->idle)
    return;
  double dot = y_at(r, roof_at(r, bin->flops / bin->bytes));
  chart_path(&r->chart, bound ? "edge c4" : "edge c3");
  chart_to(&r->chart, x - 5, dot + (bound ? 4 : 0));
  chart_to(&r->chart, x, dot - (bound ? 6 : 5));
  chart_to(&r->chart, x + 5, dot + (bound ? 4 : 0));
  if (!bound) /* a square on its corner; memory: a triangle */
    chart_to(&r->chart, x, dot + 5);
  chart_path_close(&r->chart, hover);
}

/* Whether the bar of a bin stands where a text would be. */
static bool crosses(const struct roofline *r, const struct bin *bin,
                    const struct chart_scale *scale, double x, double half,
                    double y) {
  double at = bin->count ? bin_x(r, bin) : 0;
  return bin->count && at > x - half - BIN && at < x + half + BIN &&
         chart_at(scale, bin->seconds) < y + 1;
}

/* Whether a text around at.x would touch one of those that are there. */
static bool touches(const struct chart_box *taken, int count,
                    struct chart_box at) {
  for (int k = 0; k < count; k++)
    if (at.x - at.width / 2 <= taken[k].x + taken[k].width + 4 &&
        at.x + at.width / 2 >= taken[k].x - 4 && at.y >= taken[k].y - 12 &&
        at.y <= taken[k].y + 12)
      return true;
  return false;
}

/* The dearest are named, as long as their names do not touch. */
static void draw_labels(struct roofline *r, const struct chart_scale *scale) {
  struct chart_box taken[LABELS];
  int count = 0;
  for (int i = 0; i <= BINS && count < LABELS; i++) {
    const struct bin *bin = r->dearest[i];
    double x, y = chart_at(scale, bin->seconds) - 4;
    bool free = bin->count > 0;
    if (!free)
      return;
    put_bin_name(r, &r->chart.note, bin);
    struct slice name = chart_note(&r->chart);
    double width = chart_text_width(name, CHART_SMALL);
    x = bin_x(r, bin);
    x = x - width / 2 < LEFT ? LEFT + width / 2 : x;
    for (int k = 0; k <= BINS && free; k++)
      free = k == i || !crosses(r, r->dearest[k], scale, x, width / 2, y);
    if (!free || touches(taken, count, (struct chart_box){x, y, width, 0}))
      continue;
    chart_text_as(&r->chart, "over", CHART_SMALL, CHART_MIDDLE, x, y, name);
    taken[count++] = (struct chart_box){x - width / 2, y, width, 0};
  }
}

/* The dearest are named at their dots, too, on the side of the roof's inside.
 */
static void name_dots(struct roofline *r) {
  struct chart_box taken[LABELS];
  int count = 0;
  for (int i = 0; i <= BINS && count < LABELS && r->dearest[i]->count; i++) {
    const struct bin *bin = r->dearest[i];
    if (bin == &r->idle)
      continue;
    put_bin_name(r, &r->chart.note, bin);
    struct slice name = chart_note(&r->chart);
    double width = chart_text_width(name, CHART_SMALL);
    double x = fmin(bin_x(r, bin) + 8, r->right - width);
    double y = y_at(r, roof_at(r, bin->flops / bin->bytes)) + 18;
    struct chart_box at = {x + width / 2, y, width, 0};
    if (y > r->top + ROOF_HEIGHT - 3 || touches(taken, count, at))
      continue;
    chart_text_as(&r->chart, "over", CHART_SMALL, CHART_START, x, y, name);
    taken[count++] = (struct chart_box){x, y, width, 0};
  }
}

static void draw_times(struct roofline *r) {
  double most = r->dearest[0]->seconds;
  double share = r->seconds > 0 ? 100 * most / r->seconds : 0;
  struct chart_scale scale = {most * 1.25, r->below + TIME_HEIGHT, r->below};
  int step = share > 40 ? 20 : share > 20 ? 10 : share > 8 ? 5 : 1;
  for (int percent = 0; percent <= (int)(share * 1.25) && percent <= 100;
       percent += step) {
    double y = chart_at(&scale, r->seconds * percent / 100);
    chart_line(&r->chart, percent ? "grid" : "axis", LEFT, y, r->right, y);
    text_printf(&r->chart.note, "%d %%", percent);
    chart_text(&r->chart, CHART_SMALL, CHART_END, LEFT - 5, y + 3.5,
               chart_note(&r->chart));
  }
  chart_text(&r->chart, CHART_TEXT, CHART_START, LEFT, r->below - 9,
             slice_of("share of the least time of a forward pass"));
  for (int i = 0; i < BINS; i++)
    if (r->bins[i].count)
      draw_bin(r, &r->bins[i], &scale);
  if (r->idle.count)
    draw_bin(r, &r->idle, &scale);
  draw_labels(r, &scale);
  name_dots(r);
}

/* Where training is spoken of, its batch and type; else those of prediction. */
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
  r->right = r->chart.width - RIGHT_ROOM;
  choose(r);
  find_axes(r);
  find_bins(r);
  struct slice subtitle = subtitle_of(r, &above);
  r->top = chart_head_height(&r->chart, subtitle) + 8;
  r->below = r->top + ROOF_HEIGHT + GAP;
  struct slice words = words_below(r, &below);
  struct slice caption = chart_caption(&r->chart, words);
  double width = chart_inner(&r->chart);
  double y = r->below + TIME_HEIGHT + 50;
  chart_open(&r->chart, y + 15 + 15 * chart_lines(CHART_SMALL, width, caption),
             title_of(r), subtitle, words);
  draw_grid(r);
  draw_types(r);
  draw_roof(r);
  draw_times(r);
  y = chart_legend(&r->chart, LEFT, y, r->right - LEFT, names, fills, 2);
  y = chart_paragraph(&r->chart, CHART_SMALL, CHART_MARGIN, y + 3, width,
                      caption);
  chart_close(&r->chart, y);
  return r->chart.scene;
}
