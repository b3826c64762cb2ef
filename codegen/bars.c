/*
 * bars.svg: where parameters, multiply-accumulates and saved bytes are, by
 * layer or group, with shares. Rows that are none of the largest are summed.
 */
#include <stdlib.h>

#include "base/check.h"
#include "codegen/rows.h"
#include "codegen/svg.h"

enum {
  MOST_ROWS = 40,
  ROW_HEIGHT = 17,
  NAME_WIDTH = 178,
  PANEL_LEFT = 206,
  PANEL_WIDTH = 194,
  VALUE_WIDTH = 84, /* at the right of a panel */
  PANELS = 3
};

struct panel {
  const char *name, *unit;
  int fill;
};
static const struct panel panels[PANELS] = {{"Parameters", "", 1},
                                            {"MACs of one sample", "", 3},
                                            {"Saved for backward", "B", 4}};

/* What a line of the chart shows. */
struct bar {
  size_t row;
  int64_t values[PANELS];
};

struct bars {
  const struct compiled *c;
  const struct emit_options *options;
  struct emit_options chosen; /* with the depth that the chart needs */
  struct svg svg;
  struct rows rows;
  struct bar *at;
  size_t count, empty;
  struct bar others; /* all that have no line of their own */
  size_t other_count;
  int64_t totals[PANELS], most[PANELS];
};

/* Rows */

static struct bar bar_of(const struct bars *b, size_t index) {
  const struct row *row = &b->rows.at[index];
  struct bar bar = {index, {row->cost.params, row->cost.macs, 0}};
  for (int64_t i = row->first; i < row->end; i++) /* at most the total */
    bar.values[2] += b->c->memory.saved_by_node[i];
  return bar;
}

static bool is_empty(const struct bar *bar) {
  return !bar->values[0] && !bar->values[1] && !bar->values[2];
}

static void find_bars(struct bars *b, int depth) {
  b->chosen = *b->options;
  b->chosen.depth = depth;
  b->rows = rows_of(b->c, &b->chosen);
  b->at = arena_alloc(b->c->arena, b->rows.count + 1, sizeof *b->at);
  b->count = b->empty = 0;
  for (size_t i = 0; i < b->rows.count; i++) {
    struct bar bar = bar_of(b, i);
    if (is_empty(&bar))
      b->empty++;
    else
      b->at[b->count++] = bar;
  }
}

/* Groups are folded where that is what makes the rows fit. */
static void choose_rows(struct bars *b) {
  find_bars(b, b->options->depth);
  if (b->options->depth || b->count <= MOST_ROWS)
    return;
  struct bars open = *b;
  for (int depth = 3; depth > 0; depth--) {
    find_bars(b, depth);
    if (b->count <= MOST_ROWS && b->count > 3)
      return;
  }
  *b = open;
}

static void find_totals(struct bars *b) {
  for (size_t i = 0; i < b->count; i++)
    for (int p = 0; p < PANELS; p++)
      b->totals[p] += b->at[i].values[p]; /* at most the totals of the net */
}

/* The largest of its shares, for which a row is shown. */
static double rank_of(const struct bars *b, const struct bar *bar) {
  double most = 0;
  for (int p = 0; p < PANELS; p++) {
    double share =
        b->totals[p] ? (double)bar->values[p] / (double)b->totals[p] : 0;
    most = share > most ? share : most;
  }
  return most;
}

struct ranked {
  double rank;
  size_t bar;
};

static int by_rank(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  if (x->rank > y->rank || x->rank < y->rank)
    return x->rank > y->rank ? -1 : 1;
  return x->bar < y->bar ? -1 : x->bar > y->bar;
}

/* The largest keep the order of the source, the others become one. */
static void keep_largest(struct bars *b) {
  struct arena *arena = b->c->arena;
  if (b->count <= MOST_ROWS)
    return;
  struct ranked *ranked = arena_alloc(arena, b->count, sizeof *ranked);
  bool *kept = arena_alloc(arena, b->count, sizeof *kept);
  for (size_t i = 0; i < b->count; i++)
    ranked[i] = (struct ranked){rank_of(b, &b->at[i]), i};
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
    text_size(&b->svg.note, value, b->options->units, 1);
    return;
  }
  while (rest >= 999.5 && unit < 5) {
    rest /= 1000;
    unit++;
  }
  if (unit)
    text_fixed(&b->svg.note, rest, rest < 9.995 ? 2 : rest < 99.95 ? 1 : 0);
  else
    text_int(&b->svg.note, value);
  text_put(&b->svg.note, units[unit]);
}

static void put_share(struct bars *b, int panel, int64_t value) {
  double share =
      b->totals[panel] ? 100 * (double)value / (double)b->totals[panel] : 0;
  if (value && share < 0.05)
    text_put(&b->svg.note, "<0.1");
  else
    text_fixed(&b->svg.note, share, 1);
  text_put(&b->svg.note, " %");
}

static struct slice title_of(struct bars *b) {
  text_puts(&b->svg.note, b->c->model->name);
  text_put(&b->svg.note, ": parameters, MACs and saved bytes by layer");
  return svg_note(&b->svg);
}

static struct slice subtitle_of(struct bars *b, struct text *out) {
  const struct training *t = &b->c->memory.training;
  const struct train_settings *train = &b->c->settings->train;
  text_printf(out, "Saved bytes: %s, %s, batch ",
              t->profile->measured ? "exact" : "simulated", t->profile->name);
  text_count(out, train->batch);
  text_put(out, ".");
  if (b->chosen.depth > 1)
    text_printf(out, " Groups inside %d others are folded",
                b->chosen.depth - 1);
  else if (b->chosen.depth == 1)
    text_put(out, " Groups are folded");
  if (b->chosen.depth > 0)
    text_put(out, b->options->depth ? "." : ", so that the rows fit.");
  if (b->empty) {
    text_putc(out, ' ');
    text_count(out, (int64_t)b->empty);
    text_printf(out, " row%s without any of the three %s left out.",
                b->empty == 1 ? "" : "s", b->empty == 1 ? "is" : "are");
  }
  if (b->other_count) {
    text_put(out, " The rows with the largest shares are shown, ");
    text_count(out, (int64_t)b->other_count);
    text_put(out, " others are the last bar.");
  }
  return text_slice(out);
}

static struct slice summary_of(struct bars *b, struct text *out) {
  text_count(out, b->c->model->total.params);
  text_put(out, " parameters, ");
  text_count(out, b->c->model->total.macs);
  text_put(out, " multiply-accumulates of one sample, ");
  text_size(out, b->totals[2], b->options->units, 2);
  text_put(out, " saved for backward, by layer or group.");
  return text_slice(out);
}

/* Drawing */

static void put_name(struct bars *b, struct text *out, const struct bar *bar) {
  if (bar == &b->others) {
    text_count(out, (int64_t)b->other_count);
    text_put(out, " others");
  } else {
    row_put_name(out, b->c, &b->rows.at[bar->row]);
  }
}

static void draw_bar(struct bars *b, const struct bar *bar, int panel,
                     double y) {
  double left = PANEL_LEFT + panel * PANEL_WIDTH;
  double room = PANEL_WIDTH - VALUE_WIDTH - 12;
  int64_t value = bar->values[panel];
  struct svg_scale scale = {(double)b->most[panel], left, left + room};
  char class[] = "edge c0";
  class[6] = (char)('0' + panels[panel].fill);
  if (!value)
    return;
  put_name(b, &b->svg.note, bar);
  text_put(&b->svg.note, "\n");
  text_count(&b->svg.note, value);
  text_printf(&b->svg.note, " %s, ",
              panel == 2   ? "B saved for backward"
              : panel == 1 ? "MACs"
                           : "parameters");
  put_share(b, panel, value);
  svg_rect(&b->svg, class,
           (struct svg_box){left, y - 10, svg_at(&scale, (double)value) - left,
                            ROW_HEIGHT - 5},
           svg_note(&b->svg));
  put_value(b, panel, value);
  svg_text(&b->svg, SVG_SMALL, SVG_END, left + PANEL_WIDTH - 52, y,
           svg_note(&b->svg));
  put_share(b, panel, value);
  svg_text_as(&b->svg, "faint", SVG_SMALL, SVG_END, left + PANEL_WIDTH - 14, y,
              svg_note(&b->svg));
}

static void draw_line(struct bars *b, const struct bar *bar, double y) {
  put_name(b, &b->svg.note, bar);
  struct slice name = svg_note(&b->svg);
  double width = svg_text_width(name, SVG_SMALL) + 8;
  svg_text_fit(&b->svg, "", SVG_SMALL, SVG_START, SVG_MARGIN, y, NAME_WIDTH,
               name);
  if (bar != &b->others)
    row_put_layer(&b->svg.note, b->c, &b->rows.at[bar->row], false);
  name = svg_note(&b->svg);
  if (name.length && NAME_WIDTH - width > 40)
    svg_text_fit(&b->svg, "faint", SVG_SMALL, SVG_START, SVG_MARGIN + width, y,
                 NAME_WIDTH - width, name);
  for (int p = 0; p < PANELS; p++)
    draw_bar(b, bar, p, y);
}

static void draw_heads(struct bars *b, double y) {
  for (int p = 0; p < PANELS; p++) {
    double left = PANEL_LEFT + p * PANEL_WIDTH;
    text_put(&b->svg.note, panels[p].name);
    text_put(&b->svg.note, ": ");
    put_value(b, p, b->totals[p]);
    svg_text(&b->svg, SVG_TEXT, SVG_START, left, y, svg_note(&b->svg));
  }
}

static void find_most(struct bars *b, const struct bar *bar) {
  for (int p = 0; p < PANELS; p++)
    b->most[p] = max_i64(b->most[p], bar->values[p]);
}

void emit_bars(const struct compiled *c, const struct emit_options *options,
               struct text *out) {
  struct bars b = {.c = c, .options = options};
  struct text above = text_new(c->arena), summary = text_new(c->arena);
  b.svg = svg_new(c, "bars", out);
  choose_rows(&b);
  find_totals(&b);
  keep_largest(&b);
  for (size_t i = 0; i < b.count; i++)
    find_most(&b, &b.at[i]);
  find_most(&b, &b.others);
  struct slice subtitle = subtitle_of(&b, &above);
  double top = svg_head_height(subtitle) + 18;
  size_t lines = b.count + (b.other_count > 0);
  double height = top + ROW_HEIGHT * ((double)lines + 1) + 8;
  svg_open(&b.svg, height, title_of(&b), summary_of(&b, &summary));
  svg_head(&b.svg, title_of(&b), subtitle);
  draw_heads(&b, top);
  for (size_t i = 0; i < b.count; i++)
    draw_line(&b, &b.at[i], top + ROW_HEIGHT * ((double)i + 1) + 3);
  if (b.other_count)
    draw_line(&b, &b.others, top + ROW_HEIGHT * (double)lines + 3);
  for (int p = 0; p < PANELS; p++)
    svg_line(&b.svg, "axis", PANEL_LEFT + p * PANEL_WIDTH, top + 5,
             PANEL_LEFT + p * PANEL_WIDTH, height - 12);
  svg_close(&b.svg);
}
