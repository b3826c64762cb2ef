/*
 * bars.chart: parameters, multiply-accumulates and saved bytes by layer or
 * group, with shares. Rows beyond the largest are summed.
 */
#include <stdlib.h>

#include "base/check.h"
#include "drawing/leaves.h"
#include "drawing/charts/chart.h"

enum { MOST_ROWS = 40, FEWEST_ROWS = 6, ROW_HEIGHT = 17, PANELS = 3 };

struct panel {
  const char *name, *brief, *unit;
  int fill;
};
static const struct panel panels[PANELS] = {
    {"Parameters", "params", "", 1},
    {"MACs of one sample", "MACs", "", 3},
    {"Saved for backward", "saved", "B", 4}};

/* px: a name, a panel, the figures beside a panel. */
struct bar_widths {
  double name, left, panel, values;
};
static const struct bar_widths wide = {208, 228, 186, 94};

/* A line of the chart. */
struct bar {
  size_t leaf;
  int64_t values[PANELS];
};

struct bars {
  const struct compiled *c;
  struct chart chart;
  struct bar_widths widths;
  struct leaves leaves;
  struct bar *at;
  size_t count, empty;
  bool alike;        /* iterations in one row may differ in sizes */
  struct bar others; /* sum of the rows without a line */
  size_t other_count;
  int64_t totals[PANELS], most[PANELS];
};

/* Rows */

static bool is_empty(const struct bar *bar) {
  return !bar->values[0] && !bar->values[1] && !bar->values[2];
}

/* Sums up all iterations of each leaf; at most the totals of the net. */
static void find_bars(struct bars *b) {
  const struct leaves *leaves = &b->leaves;
  size_t count = leaves->count;
  b->at = arena_alloc(b->c->arena, count + 1, sizeof *b->at);
  for (size_t i = 0; i < count; i++)
    b->at[i].leaf = i;
  for (size_t i = 0; i < leaves->rows.count; i++) {
    const struct row *row = &leaves->rows.at[i];
    int64_t *values = b->at[leaves->of_row[i]].values;
    values[0] += row->cost.params;
    values[1] += row->cost.macs;
    for (int64_t node = row->first; node < row->end; node++)
      values[2] += b->c->memory.saved_by_node[node];
  }
  b->count = 0;
  for (size_t i = 0; i < count; i++)
    if (!is_empty(&b->at[i]))
      b->at[b->count++] = b->at[i];
  b->empty = count - b->count;
}

static void find_rows(struct bars *b, enum fold_how how) {
  b->leaves = leaves_of(b->c, how);
  find_bars(b);
  while (b->count > MOST_ROWS && leaves_close(&b->leaves, FEWEST_ROWS))
    find_bars(b);
}

/* Prefers iterations of different sizes in one row to a bar of all others. */
static void choose_rows(struct bars *b) {
  find_rows(b, FOLD_EQUAL);
  if (b->count <= MOST_ROWS)
    return;
  struct bars equal = *b;
  find_rows(b, FOLD_ALIKE);
  b->alike = b->count < equal.count;
  if (!b->alike)
    *b = equal;
}

static void find_totals(struct bars *b) {
  for (size_t i = 0; i < b->count; i++)
    for (int p = 0; p < PANELS; p++)
      b->totals[p] += b->at[i].values[p]; /* at most the totals of the net */
}

/* The largest of its shares, by which rows are chosen. */
static double rank_of(const struct bars *b, const struct bar *bar) {
  double most = 0;
  for (int p = 0; p < PANELS; p++) {
    double share =
        b->totals[p] ? (double)bar->values[p] / (double)b->totals[p] : 0;
    most = share > most ? share : most;
  }
  return most;
}

struct ranked_bar {
  double rank;
  size_t bar;
};

static int by_rank(const void *a, const void *b) {
  const struct ranked_bar *x = a, *y = b;
  if (x->rank > y->rank || x->rank < y->rank)
    return x->rank > y->rank ? -1 : 1;
  return x->bar < y->bar ? -1 : x->bar > y->bar;
}

/* Keeps the largest rows in the order of the source and sums the others. */
static void keep_largest(struct bars *b) {
  struct arena *arena = b->c->arena;
  if (b->count <= MOST_ROWS)
    return;
  struct ranked_bar *ranked = arena_alloc(arena, b->count, sizeof *ranked);
  bool *kept = arena_alloc(arena, b->count, sizeof *kept);
  for (size_t i = 0; i < b->count; i++)
    ranked[i] = (struct ranked_bar){rank_of(b, &b->at[i]), i};
  qsort(ranked, b->count, sizeof *ranked, by_rank);
  for (size_t i = 0; i < MOST_ROWS - 1; i++)
    kept[ranked[i].bar] = true;
  size_t count = 0;
  for (size_t i = 0; i < b->count; i++) {
    if (kept[i]) {
      b->at[count++] = b->at[i];
      continue;
    }
    b->other_count++;
    for (int p = 0; p < PANELS; p++)
      b->others.values[p] += b->at[i].values[p];
  }
  b->count = count;
}

/* Texts */

static void put_value(struct bars *b, int panel, int64_t value) {
  static const char *const units[] = {"", " k", " M", " G", " T", " P"};
  double rest = (double)value;
  int unit = 0;
  if (panel == 2) {
    text_size(&b->chart.note, value, output_units(b->c), 1);
    return;
  }
  while (rest >= 999.5 && unit < 5) {
    rest /= 1000;
    unit++;
  }
  if (unit)
    text_fixed(&b->chart.note, rest, rest < 9.995 ? 2 : rest < 99.95 ? 1 : 0);
  else
    text_int(&b->chart.note, value);
  text_put(&b->chart.note, units[unit]);
}

static void put_share(struct bars *b, int panel, int64_t value) {
  double share =
      b->totals[panel] ? 100 * (double)value / (double)b->totals[panel] : 0;
  if (value && share < 0.05)
    text_put(&b->chart.note, "<0.1");
  else
    text_fixed(&b->chart.note, share, 1);
  text_put(&b->chart.note, " %");
}

static struct slice subtitle_of(struct bars *b, struct text *out) {
  const struct training *t = &b->c->memory.training;
  const struct train_settings *train = &b->c->settings->train;
  bool repeats = false;
  text_printf(out, "Saved bytes: %s, %s, batch %s.",
              t->profile->measured ? "exact" : "simulated", t->profile->name,
              count_text(train->batch).text);
  for (size_t i = 0; i < b->count; i++)
    repeats = repeats || b->leaves.at[b->at[i].leaf].turns > 1;
  if (repeats)
    text_put(
        out,
        b->alike
            ? " \xC3\x97 N: N blocks together, some of other sizes or inputs."
            : " \xC3\x97 N: N equal blocks together.");
  if (b->leaves.closed)
    text_put(out, " Groups are folded so that the rows fit.");
  if (b->empty) {
    text_printf(out, " %s row%s without any of the three %s left out.",
                count_text((int64_t)b->empty).text, b->empty == 1 ? "" : "s",
                b->empty == 1 ? "is" : "are");
  }
  if (b->other_count) {
    text_put(out, " The rows with the largest shares are shown, ");
    text_count(out, (int64_t)b->other_count);
    text_put(out, " the last bar is the rest.");
  }
  return text_slice(out);
}

static struct slice summary_of(struct bars *b, struct text *out) {
  text_count(out, b->c->model->total.params);
  text_put(out, " parameters, ");
  text_count(out, b->c->model->total.macs);
  text_put(out, " multiply-accumulates of one sample, ");
  text_size(out, b->totals[2], output_units(b->c), 2);
  text_put(out, " saved for backward, by layer or group.");
  return text_slice(out);
}

/* Drawing */

static void put_name(struct bars *b, struct text *out, const struct bar *bar) {
  if (bar == &b->others) {
    text_printf(out, "%s others", count_text((int64_t)b->other_count).text);
    return;
  }
  const struct leaf *leaf = &b->leaves.at[bar->leaf];
  struct text turns = text_new(b->c->arena);
  if (leaf->turns > 1)
    text_printf(&turns, " \xC3\x97 %lld", (long long)leaf->turns);
  double room =
      b->widths.name - chart_text_width(text_slice(&turns), CHART_SMALL);
  struct text full = text_new(b->c->arena);
  leaf_put_name(&full, &b->leaves, leaf);
  if (chart_text_width(text_slice(&full), CHART_SMALL) > room) {
    full.length = 0; /* "concat1..": the first row says most */
    leaf_put_own_name(&full, &b->leaves, leaf);
  }
  struct slice name = text_slice(&full);
  for (size_t i = 0; i + 1 < name.length; i++)
    if (name.at[i] == '.' && name.at[i + 1] != '.' &&
        chart_text_width(name, CHART_SMALL) > room) {
      name = slice_from(name, i + 1);
      i = 0;
    }
  text_puts(out, name);
  text_puts(out, text_slice(&turns));
}

/* Without room for figures, only shares are beside the bars. */
static struct bar_widths choose_widths(const struct chart *chart) {
  struct bar_widths w = wide;
  if (!chart_is_narrow(chart)) {
    w.panel += (chart->width - CHART_WIDTH) / PANELS;
    return w;
  }
  w.name = chart->width * 0.28;
  w.left = CHART_MARGIN + w.name + 6;
  w.panel = (chart->width - w.left - 8) / PANELS;
  w.values = 36;
  return w;
}

static void draw_bar(struct bars *b, const struct bar *bar, int panel,
                     double y) {
  double left = b->widths.left + panel * b->widths.panel;
  double room = b->widths.panel - b->widths.values - 12;
  int64_t value = bar->values[panel];
  struct chart_scale scale = {(double)b->most[panel], left, left + room};
  if (!value)
    return;
  put_name(b, &b->chart.note, bar);
  text_printf(&b->chart.note, "\n%s %s, ", count_text(value).text,
              panel == 2   ? "B saved for backward"
              : panel == 1 ? "MACs"
                           : "parameters");
  put_share(b, panel, value);
  if (bar != &b->others)
    chart_about(&b->chart, b->c->model,
                leaf_head(&b->leaves, &b->leaves.at[bar->leaf]));
  chart_rect(&b->chart, chart_fill_class(panels[panel].fill, true),
             (struct chart_box){left, y - 10,
                                chart_at(&scale, (double)value) - left,
                                ROW_HEIGHT - 5},
             chart_note(&b->chart));
  if (!chart_is_narrow(&b->chart)) {
    put_value(b, panel, value);
    chart_text(&b->chart, CHART_SMALL, CHART_END, left + b->widths.panel - 52,
               y, chart_note(&b->chart));
  }
  put_share(b, panel, value);
  chart_text_as(&b->chart, "faint", CHART_SMALL, CHART_END,
                left + b->widths.panel - (chart_is_narrow(&b->chart) ? 4 : 14),
                y, chart_note(&b->chart));
}

static void draw_line(struct bars *b, const struct bar *bar, double y) {
  put_name(b, &b->chart.note, bar);
  struct slice name = chart_note(&b->chart);
  double used = chart_text_width(name, CHART_SMALL) + 8;
  double room = b->widths.name - used;
  chart_text_fit(&b->chart, "", CHART_SMALL, CHART_START, CHART_MARGIN, y,
                 b->widths.name, name);
  if (bar != &b->others)
    leaf_put_layer(&b->chart.note, &b->leaves, &b->leaves.at[bar->leaf]);
  name = text_tamed(b->c->arena, chart_note(&b->chart), true);
  name = chart_phrases(name, CHART_SMALL, room);
  if (chart_text_width(name, CHART_SMALL) <= room)
    chart_text_as(&b->chart, "faint", CHART_SMALL, CHART_START,
                  CHART_MARGIN + used, y, name);
  for (int p = 0; p < PANELS; p++)
    draw_bar(b, bar, p, y);
}

static void draw_heads(struct bars *b, double y) {
  for (int p = 0; p < PANELS; p++) {
    double left = b->widths.left + p * b->widths.panel;
    bool narrow = chart_is_narrow(&b->chart);
    text_printf(&b->chart.note,
                "%s: ", narrow ? panels[p].brief : panels[p].name);
    put_value(b, p, b->totals[p]);
    chart_text_fit(&b->chart, "", narrow ? CHART_SMALL : CHART_TEXT,
                   CHART_START, left, y, b->widths.panel - 4,
                   chart_note(&b->chart));
  }
}

static void find_most(struct bars *b, const struct bar *bar) {
  for (int p = 0; p < PANELS; p++)
    b->most[p] = max_i64(b->most[p], bar->values[p]);
}

struct scene *bars_scene(const struct compiled *c) {
  struct bars b = {.c = c};
  struct text above = text_new(c->arena), summary = text_new(c->arena);
  b.chart = chart_new(c, "bars");
  b.widths = choose_widths(&b.chart);
  choose_rows(&b);
  find_totals(&b);
  keep_largest(&b);
  for (size_t i = 0; i < b.count; i++)
    find_most(&b, &b.at[i]);
  find_most(&b, &b.others);
  struct slice subtitle = subtitle_of(&b, &above);
  double top = chart_head_height(&b.chart, subtitle) + 18;
  size_t lines = b.count + (b.other_count > 0);
  double height = top + ROW_HEIGHT * ((double)lines + 1) + 8;
  chart_open(&b.chart, height,
             slice_of("parameters, MACs and saved bytes by layer"), subtitle,
             summary_of(&b, &summary));
  draw_heads(&b, top);
  for (size_t i = 0; i < b.count; i++)
    draw_line(&b, &b.at[i], top + ROW_HEIGHT * ((double)i + 1) + 3);
  if (b.other_count)
    draw_line(&b, &b.others, top + ROW_HEIGHT * (double)lines + 3);
  for (int p = 0; p < PANELS; p++) {
    double x = b.widths.left + p * b.widths.panel;
    chart_line(&b.chart, "axis", x, top + 5, x, height - 12);
  }
  return b.chart.scene;
}
