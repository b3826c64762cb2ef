/* timeline.chart: the memory of one training step, or of several compared. */
#include "drawing/charts/timeline.h"
#include "sema/model/gpu.h"

#include <inttypes.h>
#include <math.h>

enum {
  MOST_COLUMNS = 400, /* thinner ones cannot be hovered over */
  LEFT = 70,
  RIGHT_ROOM = 64, /* for a device's name */
  STEP_WIDTH = 34, /* px of the optimizer's step, which is one moment */
  PLOT_HEIGHT = 280,
  NAMED = 6, /* tensors named at the peak */
  BELOW = 34 /* px between the plot and the legend */
};

struct timeline {
  double right; /* of the plot */
  const struct compiled *c;
  struct chart chart;
  struct step_chart step;
};

static const char *const part_names[] = {"gradients", "saved", "temporary"};

/* Texts */

static double timeline_high(const struct step_chart *chart) {
  double high = (double)chart->peak * 1.1;
  double room = (double)chart->memory->fit.device.room * 1.04;
  return room > high && room < 2.5 * high ? room : high;
}

void timeline_put_device(struct text *out, const struct parallel *p) {
  if (!p->stages.count)
    return;
  int64_t earlier = p->stages.at[p->most_loaded].in_flight - 1;
  text_printf(out, ", %s of %" PRId64 " device%s",
              p->stages.count > 1 ? "the most loaded" : "each", p->devices,
              p->devices == 1 ? "" : "s");
  if (p->stages.count > 1)
    text_printf(out, " at a microbatch of %" PRId64, p->microbatch);
  if (earlier > 0)
    text_printf(out, ", %" PRId64 " earlier one%s waiting for backward",
                earlier, earlier == 1 ? "" : "s");
}

static struct slice subtitle_of(struct timeline *t, struct text *out) {
  const struct train_settings *train = &t->c->settings->train;
  const struct training *training = &t->c->memory.training;
  text_printf(out, "A step, %s; %s, batch %s, %s%s, %s",
              training->profile->said, training->profile->name,
              count_text(train->batch).text, optimizer_word(train->optimizer),
              precision_remark(train->precision),
              element_long_name(train->dtype));
  if (t->c->memory.ranges.count)
    text_printf(out, ", %zu checkpointed segment%s", t->c->memory.ranges.count,
                t->c->memory.ranges.count == 1 ? "" : "s");
  timeline_put_device(out, &t->c->memory.parallel);
  text_put(out, ". Operations are in order; time is not to scale");
  if (t->step.span > 1) {
    text_printf(out, "; %s operations, and a column shows the largest of %zu",
                count_text((int64_t)t->step.moments).text, t->step.span);
  }
  text_putc(out, '.');
  return text_slice(out);
}

static void put_peak(struct timeline *t, struct text *out) {
  const struct memory *m = &t->c->memory;
  text_printf(out, "Peak %s in the ", output_size(t->c, t->step.peak).text);
  step_put_place(&t->step, out, &t->step.at);
  if (t->step.several) {
    text_putc(out, '.');
    return;
  }
  if (m->alive.count)
    text_put(out, "; in memory there, besides the permanent parts:");
  for (size_t i = 0; i < m->alive.count && i < NAMED; i++) {
    text_put(out, i ? ", " : " ");
    if (m->alive.at[i].node == NO_NODE)
      text_put(out, "loss");
    else
      model_put_name(out, t->c->model, m->alive.at[i].node);
    text_printf(out, " (%s, %s)", part_names[m->alive.at[i].part],
                output_size(t->c, m->alive.at[i].bytes).text);
  }
  if (m->alive.count > NAMED)
    text_printf(out, " and %zu more", m->alive.count - NAMED);
  text_putc(out, '.');
}

static void put_device(struct timeline *t, struct text *out) {
  const struct memory *m = &t->c->memory;
  int64_t peak = t->step.peak, room = m->fit.device.room;
  text_printf(out, "Dashed: %s for the step on a device of %s",
              output_size(t->c, room).text,
              output_size(t->c, m->fit.device.bytes).text);
  if (m->fit.device.taken) {
    text_printf(out, " whose framework takes %s",
                output_size(t->c, m->fit.device.taken).text);
  }
  if (m->fit.device.reserve > 0) {
    text_printf(out, " and which has a reserve of %s",
                output_size(t->c, m->fit.device.reserve).text);
  }
  enum fit_verdict verdict = fit_judge(peak, room, m->fit.device.slack, 0, 0);
  text_printf(out, "; it %s%s, %s %s", verdict == VERDICT_TIGHT ? "is " : "",
              fit_word(verdict),
              output_size(t->c, peak <= room ? room - peak : peak - room).text,
              peak <= room               ? "are left"
              : verdict == VERDICT_TIGHT ? "in the reserve"
                                         : "too much");
  if ((double)room > t->step.scale.high)
    text_put(out, " (the line is above the picture)");
  text_putc(out, '.');
}

static struct slice words_below(struct timeline *t, struct text *out) {
  put_peak(t, out);
  if (t->c->memory.fit.device.bytes) {
    text_putc(out, ' ');
    put_device(t, out);
  }
  return text_slice(out);
}

/* Drawing */

static void draw_peak(struct timeline *t) {
  double x = step_peak_x(&t->step);
  double y = chart_at(&t->step.scale, (double)t->step.peak);
  bool left = x > (LEFT + t->right) / 2.0;
  double room = left ? x - LEFT : t->right - x;
  text_printf(&t->chart.note, "peak %s, ",
              output_size(t->c, t->step.peak).text);
  step_put_place(&t->step, &t->chart.note, &t->step.at);
  struct slice label = chart_note(&t->chart);
  double width = chart_text_width(label, CHART_TEXT);
  double end = left ? x + 3.5 : x - 3.5 + width;
  if (width > room) { /* longer than half the plot */
    room = t->right - LEFT;
    width = fmin(width, room);
    end = fmin(fmax(end, LEFT + width), t->right);
    left = true;
  }
  /* Only grid lines are above the peak, so cover them. */
  chart_rect(&t->chart, "paper",
             (struct chart_box){end - width, y - 18, width, 13},
             (struct slice){"", 0});
  chart_text_fit(&t->chart, "", CHART_TEXT, left ? CHART_END : CHART_START,
                 left ? end : end - width, y - 8, room, label);
}

static void name_device(struct timeline *t) {
  const struct fit *fit = &t->c->memory.fit;
  const struct train_settings *train = &t->c->settings->train;
  if (!fit->device.bytes || (double)fit->device.room > t->step.scale.high)
    return;
  if (train->memory)
    text_size(&t->chart.note, train->memory, output_units(t->c), 0);
  else
    text_put(&t->chart.note, gpu_of(train)->word);
  chart_text_fit(&t->chart, "", CHART_SMALL, CHART_START, t->right + 6,
                 chart_at(&t->step.scale, (double)fit->device.room) + 3.5,
                 t->chart.width - t->right - 8, chart_note(&t->chart));
}

static struct scene *draw_one(const struct compiled *c) {
  struct timeline *t = ARENA_NEW(c->arena, struct timeline);
  struct text above = text_new(c->arena), below = text_new(c->arena);
  t->c = c;
  t->chart = chart_new(c, "timeline");
  bool free = chart_is_narrow(&t->chart) && !c->memory.fit.device.bytes;
  t->right = t->chart.width - (free ? CHART_MARGIN : RIGHT_ROOM);
  t->step = step_open(&t->chart, c, c->settings, &c->memory, output_units(c),
                      MOST_COLUMNS);
  struct slice subtitle = subtitle_of(t, &above);
  double top = chart_head_height(&t->chart, subtitle) + 8;
  t->step.plot = (struct chart_box){LEFT, top, t->right - LEFT, PLOT_HEIGHT};
  t->step.step_width = STEP_WIDTH;
  t->step.scale =
      (struct chart_scale){timeline_high(&t->step), top + PLOT_HEIGHT, top};
  struct slice words = words_below(t, &below);
  struct slice caption = chart_caption(&t->chart, words);
  double width = chart_inner(&t->chart);
  double y = top + PLOT_HEIGHT + BELOW + 2 * 15;
  chart_open(&t->chart, y + 15 * chart_lines(CHART_SMALL, width, caption),
             slice_of("memory through one training step"), subtitle, words);
  chart_byte_axis(&t->chart, &t->step.scale, LEFT, t->right, output_units(c));
  step_draw(&t->step);
  name_device(t);
  draw_peak(t);
  y = step_legend(&t->step, 1, LEFT, top + PLOT_HEIGHT + BELOW + 6);
  y = chart_paragraph(&t->chart, CHART_SMALL, CHART_MARGIN, y + 3, width,
                      caption);
  chart_close(&t->chart, y);
  return t->chart.scene;
}

struct scene *timeline_scene(const struct compiled *c) {
  return c->compared_count ? timeline_compare(c) : draw_one(c);
}
