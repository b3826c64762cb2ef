/* The roof of a card, its grid, and the dots and bars of layers. */
#include "drawing/charts/roofline.h"

#include "base/real.h"
#include <math.h>

/* 0.01, 1, 10,000: a power of ten. */
static void put_power(struct text *out, double power) {
  if (power < 0)
    text_fixed(out, real_pow(10, power), (int)-power);
  else
    text_count(out, (int64_t)real_pow(10, power));
}

static void draw_grid(struct roofline *r) {
  double bottom = r->below + ROOF_TIME_HEIGHT;
  for (double p = r->low; p <= r->low + r->decades; p++) {
    double x = roof_x(r, real_pow(10, p));
    chart_line(&r->chart, "grid", x, r->top, x, r->top + ROOF_HEIGHT);
    chart_line(&r->chart, "grid", x, r->below, x, bottom);
    put_power(&r->chart.note, p);
    chart_text(&r->chart, CHART_SMALL, CHART_MIDDLE, x, bottom + 13,
               chart_note(&r->chart));
  }
  for (double p = r->floor; p <= r->floor + r->rises; p++) {
    double y = roof_y(r, real_pow(10, p));
    chart_line(&r->chart, "grid", ROOF_LEFT, y, r->right, y);
    roof_put_scaled(&r->chart.note, real_pow(10, p), "FLOP/s");
    struct slice mark = chart_note(&r->chart);
    chart_text(&r->chart, CHART_SMALL, CHART_END, ROOF_LEFT - 5, y + 3.5, mark);
  }
  chart_text(&r->chart, CHART_TEXT, CHART_MIDDLE,
             (ROOF_LOG_LEFT + r->right) / 2.0, bottom + 28,
             slice_of("FLOP for each byte from or to memory"));
  chart_text(&r->chart, CHART_SMALL, CHART_MIDDLE,
             (ROOF_LEFT + ROOF_LOG_LEFT) / 2.0 - 8, bottom + 13,
             slice_of("no MACs"));
}

/* The words of all types with that rate; false if an earlier type has it. */
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

/* Draws the roofs of other types. */
static void draw_types(struct roofline *r) {
  for (int e = 1; e <= ELEMENT_BF16; e++) {
    double rate = (double)gpu_rate(r->gpu, e) * 1e9;
    if (rate <= 0 || real_log10(rate) <= r->floor || !put_types(r, e))
      continue;
    struct slice words = chart_note(&r->chart);
    double y = roof_y(r, rate);
    double x = fmax(roof_x(r, rate / r->bandwidth), ROOF_LOG_LEFT);
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
  chart_to(&r->chart, roof_x(r, first), roof_y(r, roof_rate(r, first)));
  chart_to(&r->chart, roof_x(r, ridge), roof_y(r, r->peak));
  chart_to(&r->chart, roof_x(r, last), roof_y(r, r->peak));
  chart_path_end(&r->chart);
  chart_line(&r->chart, "axis", roof_x(r, ridge), roof_y(r, r->peak),
             roof_x(r, ridge), r->below + ROOF_TIME_HEIGHT);
  roof_put_scaled(&r->chart.note, r->peak, "FLOP/s");
  text_printf(&r->chart.note, " in %s, ", element_word(r->rated));
  roof_put_scaled(&r->chart.note, r->bandwidth, "B/s");
  chart_text_as(&r->chart, "over", CHART_TEXT, CHART_END, roof_x(r, ridge) - 12,
                roof_y(r, r->peak) - 5, chart_note(&r->chart));
}

void roof_draw(struct roofline *r) {
  draw_grid(r);
  draw_types(r);
  draw_roof(r);
}

/* Dots and bars */

static void put_hover(struct roofline *r, const struct roof_bin *bin) {
  struct text *note = &r->chart.note;
  model_put_name(note, r->c->model, bin->largest);
  if (bin->count > 1)
    text_printf(note, " and %zu more", bin->count - 1);
  text_putc(note, '\n');
  roof_put_scaled(note, bin->flops, "FLOP");
  text_put(note, ", ");
  text_size(note, bin->bytes < 9e18 ? (int64_t)bin->bytes : INT64_MAX,
            output_units(r->c), 2);
  if (bin != &r->idle) {
    text_put(note, ", ");
    roof_put_rounded(note, bin->flops / bin->bytes);
    text_put(note, " FLOP/byte");
  }
  text_put(note, roof_is_bound(r, bin->flops, bin->bytes)
                     ? "\nbound by memory, "
                     : "\nbound by compute, ");
  roof_put_seconds(note, bin->seconds);
  text_put(note, " at least, ");
  roof_put_percent(note, bin->seconds, r->seconds);
}

static void draw_bin(struct roofline *r, const struct roof_bin *bin,
                     const struct chart_scale *scale) {
  double x = roof_bin_x(r, bin), y = chart_at(scale, bin->seconds);
  bool bound = roof_is_bound(r, bin->flops, bin->bytes);
  put_hover(r, bin);
  struct slice hover = chart_note(&r->chart);
  chart_about(&r->chart, r->c->model, bin->largest);
  chart_rect(
      &r->chart, bound ? "edge c4" : "edge c3",
      (struct chart_box){x - ROOF_BIN / 2.0, y, ROOF_BIN, scale->zero - y},
      hover);
  if (bin == &r->idle)
    return;
  double dot = roof_y(r, roof_rate(r, bin->flops / bin->bytes));
  chart_path(&r->chart, bound ? "edge c4" : "edge c3");
  chart_to(&r->chart, x - 5, dot + (bound ? 4 : 0));
  chart_to(&r->chart, x, dot - (bound ? 6 : 5));
  chart_to(&r->chart, x + 5, dot + (bound ? 4 : 0));
  if (!bound) /* a diamond if compute-bound, a triangle if memory-bound */
    chart_to(&r->chart, x, dot + 5);
  chart_about(&r->chart, r->c->model, bin->largest);
  chart_path_close(&r->chart, hover);
}

void roof_draw_layers(struct roofline *r) {
  double most = r->dearest[0]->seconds;
  double share = r->seconds > 0 ? 100 * most / r->seconds : 0;
  struct chart_scale scale = {most * 1.25, r->below + ROOF_TIME_HEIGHT,
                              r->below};
  int step = share > 40 ? 20 : share > 20 ? 10 : share > 8 ? 5 : 1;
  for (int percent = 0; percent <= (int)(share * 1.25) && percent <= 100;
       percent += step) {
    double y = chart_at(&scale, r->seconds * percent / 100);
    chart_line(&r->chart, percent ? "grid" : "axis", ROOF_LEFT, y, r->right, y);
    text_printf(&r->chart.note, "%d %%", percent);
    chart_text(&r->chart, CHART_SMALL, CHART_END, ROOF_LEFT - 5, y + 3.5,
               chart_note(&r->chart));
  }
  chart_text_as(&r->chart, "over", CHART_TEXT, CHART_START, ROOF_LEFT,
                r->below - 9,
                slice_of("share of the minimum time of a forward pass"));
  for (int i = 0; i < ROOF_BINS; i++)
    if (r->bins[i].count)
      draw_bin(r, &r->bins[i], &scale);
  if (r->idle.count)
    draw_bin(r, &r->idle, &scale);
  roof_name_bars(r, &scale);
  roof_name_dots(r);
}
