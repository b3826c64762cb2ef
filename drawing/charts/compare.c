/* compare: timelines of a step under several settings, on one scale. */
#include "drawing/charts/timeline.h"

#include "codegen/report/compared.h"

enum {
  MOST_PANELS = MOST_COMPARED + 1,
  LEFT = 66,
  GAP = 14,
  COLUMNS = 400, /* of all panels in a row together */
  STEP_WIDTH = 10,
  PLOT_HEIGHT = 200,
  HEAD = 50,  /* px of the words above a panel's plot */
  UNDER = 40, /* px from a plot to the next row or the legend */
  LINE = 15
};

struct comparing {
  const struct compiled *c;
  struct chart chart;
  struct step_chart panels[MOST_PANELS];
  size_t count, across;
  double high; /* bytes, over all panels */
};

/* Panels: the net's own settings, then the compared ones. */

static struct compared_step step_at(const struct comparing *t, size_t i) {
  return compared_step(t->c, i);
}

static void open_panels(struct comparing *t) {
  t->count = t->c->compared_count + 1;
  t->across = t->count <= 4 ? t->count : 3;
  if (chart_is_narrow(&t->chart) && t->across > 2)
    t->across = 2;
  for (size_t i = 0; i < t->count; i++) {
    struct compared_step step = step_at(t, i);
    struct step_chart *panel = &t->panels[i];
    *panel = step_open(&t->chart, t->c, step.settings, step.memory,
                       output_units(t->c), COLUMNS / t->across);
    double high = (double)panel->peak * 1.05;
    t->high = high > t->high ? high : t->high;
  }
  double high = t->high; /* includes a device's line if it is near */
  for (size_t i = 0; i < t->count; i++) {
    double room = (double)t->panels[i].memory->fit.device.room * 1.04;
    t->high = room > t->high && room < 1.5 * high ? room : t->high;
  }
}

static size_t row_count(const struct comparing *t) {
  return (t->count + t->across - 1) / t->across;
}

static void place_panel(struct comparing *t, size_t i, double top) {
  double across = (double)t->across;
  double width =
      (t->chart.width - CHART_MARGIN - LEFT - GAP * (across - 1)) / across;
  double x = LEFT + (width + GAP) * (double)(i % t->across);
  double y =
      top + HEAD + (HEAD + PLOT_HEIGHT + UNDER) * (double)(i / t->across);
  struct step_chart *panel = &t->panels[i];
  panel->plot = (struct chart_box){x, y, width, PLOT_HEIGHT};
  panel->step_width = STEP_WIDTH;
  panel->scale = (struct chart_scale){t->high, y + PLOT_HEIGHT, y};
}

/* Texts */

static struct slice subtitle_of(struct comparing *t, struct text *out) {
  const struct train_settings *train = &t->c->settings->train;
  const struct profile *profile = t->c->memory.training.profile;
  text_printf(out, "A step, %s; %s; as set: batch %s, %s%s, %s", profile->said,
              profile->name, count_text(train->batch).text,
              optimizer_word(train->optimizer),
              precision_remark(train->precision),
              element_long_name(train->dtype));
  if (train->checkpoint || t->c->memory.ranges.count)
    text_printf(out, ", %zu checkpointed segment%s", t->c->memory.ranges.count,
                t->c->memory.ranges.count == 1 ? "" : "s");
  text_put(out, "; the others use the settings above them. All have one scale; "
                "operations are in order, and time is not to scale; the last "
                "column is the optimizer step.");
  return text_slice(out);
}

static struct slice words_below(struct comparing *t, struct text *out) {
  for (size_t i = 0; i < t->count; i++) {
    struct compared_step step = step_at(t, i);
    const struct step_chart *panel = &t->panels[i];
    text_printf(out, "%s%.*s: %s in the ",
                i ? " " : "Peaks: ", SLICE_ARG(step.name),
                output_size(t->c, panel->peak).text);
    step_put_place(panel, out, &panel->at);
    timeline_put_device(out, &step.memory->parallel);
    text_putc(out, i + 1 < t->count ? ';' : '.');
  }
  const struct fit *fit = &t->c->memory.fit;
  if (fit->device.bytes) {
    text_printf(out, " Dashed: %s for the step on a device of %s%s",
                output_size(t->c, fit->device.room).text,
                output_size(t->c, fit->device.bytes).text,
                (double)fit->device.room > t->high
                    ? " (the line is above the picture)."
                    : ".");
  }
  return text_slice(out);
}

/* Drawing */

static void put_line(struct comparing *t, const struct step_chart *panel,
                     int line) {
  chart_text_fit(&t->chart, "faint", CHART_SMALL, CHART_START, panel->plot.x,
                 panel->plot.y - HEAD + 11 + LINE * line, panel->plot.width,
                 chart_note(&t->chart));
}

static void draw_head(struct comparing *t, size_t i) {
  struct compared_step step = step_at(t, i);
  const struct step_chart *panel = &t->panels[i];
  struct text *note = &t->chart.note;
  chart_text_fit(&t->chart, "", CHART_TEXT, CHART_START, panel->plot.x,
                 panel->plot.y - HEAD + 11, panel->plot.width, step.name);
  text_size(note, panel->peak, output_units(t->c), 2);
  if (i) {
    text_put(note, ", ");
    compared_put_change(note, panel->peak, t->panels[0].peak);
  }
  put_line(t, panel, 1);
  if (compared_put_price(note, t->c, &step))
    put_line(t, panel, 2);
}

static void draw_rows(struct comparing *t) {
  for (size_t i = 0; i < t->count; i += t->across) {
    size_t last = i + t->across <= t->count ? i + t->across : t->count;
    const struct chart_box *plot = &t->panels[last - 1].plot;
    chart_byte_axis(&t->chart, &t->panels[i].scale, LEFT, plot->x + plot->width,
                    output_units(t->c));
  }
  for (size_t i = 0; i < t->count; i++) {
    draw_head(t, i);
    step_draw(&t->panels[i]);
  }
  for (size_t i = 0; i < t->count; i++) {
    const struct chart_box *plot = &t->panels[i].plot;
    bool last = i % t->across + 1 == t->across || i + 1 == t->count;
    chart_line(&t->chart, "axis", plot->x, plot->y + plot->height,
               plot->x + plot->width + (last ? 0 : GAP),
               plot->y + plot->height);
  }
}

struct scene *timeline_compare(const struct compiled *c) {
  struct comparing *t = ARENA_NEW(c->arena, struct comparing);
  struct text above = text_new(c->arena), below = text_new(c->arena);
  t->c = c;
  t->chart = chart_new(c, "timeline");
  double width = chart_inner(&t->chart);
  open_panels(t);
  struct slice subtitle = subtitle_of(t, &above);
  double top = chart_head_height(&t->chart, subtitle) + 8;
  for (size_t i = 0; i < t->count; i++)
    place_panel(t, i, top);
  struct slice words = words_below(t, &below);
  struct slice caption = chart_caption(&t->chart, words);
  double legend = top + (HEAD + PLOT_HEIGHT + UNDER) * (double)row_count(t) + 4;
  chart_open(
      &t->chart,
      legend + 2 * LINE + LINE * chart_lines(CHART_SMALL, width, caption),
      slice_of("memory through one training step, compared"), subtitle, words);
  draw_rows(t);
  double y = step_legend(t->panels, t->count, LEFT, legend);
  y = chart_paragraph(&t->chart, CHART_SMALL, CHART_MARGIN, y + 3, width,
                      caption);
  chart_close(&t->chart, y);
  return t->chart.scene;
}
