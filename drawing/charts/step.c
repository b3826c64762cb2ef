/*
 * A training step as a picture. A column is an operation, or the largest of
 * those that share its place.
 */
#include "drawing/charts/step.h"

#include "base/check.h"

static const char *const band_names[BAND_COUNT] = {
    "parameters", "optimizer state",    "batch, buffers, rounding",
    "gradients",  "saved for backward", "temporaries"};
static const int band_fills[BAND_COUNT] = {0, 1, 5, 2, 3, 4};

/* With several devices it also has gathered tensors and copies in transfer. */
static const char with_transfers[] = "batch, buffers, transfers";
static const char *const part_names[] = {"gradients", "saved", "temporary"};

static const char *band_name(const struct step_chart *t, int band) {
  return t->several && band == BAND_OTHER ? with_transfers : band_names[band];
}

/* Columns */

static void join(struct step_column *to, const struct step_column *next) {
  to->last = next->last;
  if (next->most.bytes > to->most.bytes)
    to->most = next->most;
}

/* Doubles the moments per column, which halves the columns. */
static void halve(struct step_chart *t) {
  size_t kept = 0;
  for (size_t i = 0; i < t->count; i++) {
    bool pair = i + 1 < t->count &&
                t->columns[i].most.phase == t->columns[i + 1].most.phase;
    t->columns[kept] = t->columns[i];
    if (pair)
      join(&t->columns[kept], &t->columns[++i]);
    kept++;
  }
  t->count = kept;
  t->span *= 2;
}

static void note_moment(void *user, const struct moment *moment) {
  struct step_chart *t = user;
  struct step_column column = {*moment, moment->number, moment->number};
  struct step_column *last = t->count ? &t->columns[t->count - 1] : NULL;
  t->moments = moment->number;
  if (t->several && moment->bytes > t->at.bytes)
    t->at = *moment;
  if (last && last->most.phase == moment->phase &&
      last->last - last->first + 1 < t->span) {
    join(last, &column);
    return;
  }
  if (t->count == 2 * t->most)
    halve(t);
  t->columns[t->count++] = column;
}

/* Sets the bytes that are always in memory, and the moment of the optimizer's
 * step, which is no operation of the net. */
static struct moment open_bytes(struct step_chart *t) {
  struct stage device = memory_device(t->memory);
  struct moment step = {.phase = PHASE_STEP, .node = NO_NODE};
  int64_t *stands = t->standing;
  stands[BAND_PARAMETERS] = device.parameters;
  stands[BAND_STATE] = device.paged ? 0 : device.optimizer + device.master;
  stands[BAND_OTHER] = device.buffers + device.input + device.averaged +
                       device.gathered + device.buckets + device.rounding;
  for (int band = 0; band < BAND_STANDING; band++)
    t->stands += stands[band]; /* at most the peak */
  t->peak = device.peak;
  step.parts[PART_GRADIENTS] = device.gradients;
  step.parts[PART_TEMPORARY] =
      device.paged + max_i64(max_i64(device.workspace, device.clip),
                             2 * device.flat + device.flat_part);
  step.bytes = step.parts[PART_GRADIENTS] + step.parts[PART_TEMPORARY];
  return step;
}

struct step_chart step_open(struct chart *chart, const struct compiled *c,
                            const struct settings *settings,
                            const struct memory *memory, enum text_units units,
                            size_t most) {
  struct step_chart t = {.chart = chart,
                         .model = c->model,
                         .train = &settings->train,
                         .memory = memory,
                         .units = units,
                         .span = 1,
                         .most = most,
                         .several = memory->parallel.stages.count > 0};
  t.columns = arena_alloc(c->arena, 2 * most + 1, sizeof *t.columns);
  if (!t.several)
    t.at = memory->training.at;
  struct moment step = open_bytes(&t);
  memory_moments(c->model, settings, memory, true, note_moment, &t);
  while (t.count > most)
    halve(&t);
  if (t.several && step.bytes > t.at.bytes)
    t.at = step;
  t.columns[t.count++] =
      (struct step_column){step, t.moments + 1, t.moments + 1};
  return t;
}

/* Places */

static int64_t band_bytes(const struct step_chart *t, const struct moment *m,
                          int band) {
  return band < BAND_STANDING ? t->standing[band]
                              : m->parts[band - BAND_STANDING];
}

/* The y of the upper edge of a band, above all bands below it. */
static double edge_of(const struct step_chart *t, const struct moment *m,
                      int bands) {
  int64_t sum = 0;
  for (int b = 0; b < bands; b++)
    sum += band_bytes(t, m, b);
  return chart_at(&t->scale, (double)sum);
}

static double end_of(const struct step_chart *t) {
  return t->plot.x + t->plot.width;
}

static double left_of(const struct step_chart *t, size_t column) {
  double width = t->plot.width - t->step_width;
  size_t before = t->columns[column].first - 1;
  if (t->columns[column].most.phase == PHASE_STEP)
    return end_of(t) - t->step_width;
  return t->plot.x + width * (double)before / (double)t->moments;
}

static double right_of(const struct step_chart *t, size_t column) {
  return column + 1 < t->count ? left_of(t, column + 1) : end_of(t);
}

double step_peak_x(const struct step_chart *t) {
  for (size_t i = 0; i < t->count; i++) {
    const struct step_column *column = &t->columns[i];
    if (column->most.phase == t->at.phase &&
        (t->at.phase == PHASE_STEP ||
         (column->first <= t->at.number && t->at.number <= column->last)))
      return (left_of(t, i) + right_of(t, i)) / 2;
  }
  return t->plot.x;
}

/* Texts */

void step_put_place(const struct step_chart *t, struct text *out,
                    const struct moment *m) {
  static const char *const places[] = {"forward pass of ", "backward pass of "};
  if (m->phase == PHASE_STEP) {
    text_put(out, "optimizer step");
    return;
  }
  text_put(out, places[m->phase]);
  model_put_name(out, t->model, m->node);
}

/* Drawing */

static void draw_standing(struct step_chart *t, int band) {
  struct moment none = {.bytes = 0};
  double high = edge_of(t, &none, band + 1), low = edge_of(t, &none, band);
  if (!t->standing[band])
    return;
  text_printf(&t->chart->note, "%s of %s, all the time",
              size_text(t->standing[band], t->units).text, band_name(t, band));
  chart_rect(t->chart, chart_fill_class(band_fills[band], false),
             (struct chart_box){t->plot.x, high, t->plot.width, low - high},
             chart_note(t->chart));
}

/* Along the upper edge to the right, along the lower one back. */
static void draw_band(struct step_chart *t, int band) {
  struct chart *chart = t->chart;
  double y = edge_of(t, &t->columns[0].most, band), last = y;
  chart_path(chart, chart_fill_class(band_fills[band], false));
  chart_to(chart, t->plot.x, y);
  for (size_t i = 0; i < t->count; i++) {
    y = edge_of(t, &t->columns[i].most, band + 1);
    if (chart_tenths(y) != chart_tenths(last)) {
      chart_to(chart, left_of(t, i), last);
      chart_to(chart, left_of(t, i), y);
      last = y;
    }
  }
  chart_to(chart, end_of(t), last);
  for (size_t i = t->count; i-- > 0;) {
    y = edge_of(t, &t->columns[i].most, band);
    if (chart_tenths(y) != chart_tenths(last)) {
      chart_to(chart, right_of(t, i), last);
      chart_to(chart, right_of(t, i), y);
      last = y;
    }
  }
  chart_to(chart, t->plot.x, last);
  chart_path_close(chart, (struct slice){"", 0});
}

static void draw_hover(struct step_chart *t, size_t index) {
  const struct step_column *column = &t->columns[index];
  const struct moment *m = &column->most;
  struct text *note = &t->chart->note;
  double left = left_of(t, index), right = right_of(t, index);
  text_printf(note, "%s in the ",
              size_text(m->bytes + t->stands, t->units).text);
  step_put_place(t, note, m);
  if (m->phase != PHASE_STEP)
    text_printf(note, " (%s)", m->op);
  for (int p = 0; p < PART_COUNT; p++) {
    if (!m->parts[p])
      continue;
    text_printf(note, "\n%s %s", part_names[p],
                size_text(m->parts[p], t->units).text);
  }
  if (column->last > column->first)
    text_printf(note, "\nthe largest of %zu operations",
                column->last - column->first + 1);
  if (m->phase != PHASE_STEP)
    chart_about(t->chart, t->model, m->node);
  chart_rect(t->chart, "hit",
             (struct chart_box){left, t->plot.y, right - left, t->plot.height},
             chart_note(t->chart));
}

/* Names the passes under the axis where they fit. */
static void draw_phases(struct step_chart *t) {
  static const char *const names[] = {"forward", "backward", "step"};
  double y = t->plot.y + t->plot.height;
  for (size_t first = 0, end; first < t->count; first = end) {
    enum step_phase phase = t->columns[first].most.phase;
    for (end = first; end < t->count && t->columns[end].most.phase == phase;)
      end++;
    double left = left_of(t, first), right = right_of(t, end - 1);
    struct slice name = slice_of(names[phase]);
    if (first)
      chart_line(t->chart, "axis", left, t->plot.y, left, y + 20);
    if (chart_text_width(name, CHART_TEXT) <= right - left)
      chart_text(t->chart, CHART_TEXT, CHART_MIDDLE, (left + right) / 2, y + 15,
                 name);
  }
}

static void draw_device(struct step_chart *t) {
  double room = (double)t->memory->fit.device.room,
         y = chart_at(&t->scale, room);
  if (!t->memory->fit.device.bytes || room > t->scale.high)
    return;
  chart_line(t->chart, "halo", t->plot.x, y, end_of(t), y);
  chart_line(t->chart, "mark", t->plot.x, y, end_of(t), y);
}

double step_legend(const struct step_chart *charts, size_t count, double x,
                   double y) {
  const char *names[BAND_COUNT];
  const struct step_chart *chart = charts; /* prefers several devices */
  for (size_t i = 0; i < count; i++)
    chart = charts[i].several ? &charts[i] : chart;
  for (int band = 0; band < BAND_COUNT; band++)
    names[band] = band_name(chart, band);
  return chart_legend(charts[0].chart, x, y,
                      charts[0].chart->width - CHART_MARGIN - x, names,
                      band_fills, BAND_COUNT);
}

void step_draw(struct step_chart *t) {
  for (int band = 0; band < BAND_STANDING; band++)
    draw_standing(t, band);
  for (int band = BAND_STANDING; band < BAND_COUNT; band++)
    draw_band(t, band);
  draw_phases(t);
  draw_device(t);
  for (size_t i = 0; i < t->count; i++)
    draw_hover(t, i);
  double x = step_peak_x(t), y = chart_at(&t->scale, (double)t->peak);
  chart_rect(t->chart, "ring", (struct chart_box){x - 3.5, y - 3.5, 7, 7},
             (struct slice){"", 0});
}
