/* Bounds of inputs: shapes and figures of the net at minimum and maximum. */
#include "codegen/grid.h"
#include "codegen/section.h"

/* Figures at each end. */
enum { MACS, TRAINING, WEIGHTS, ARENA, FIGURES };

static void find_figures(const struct compiled *c, int64_t figures[FIGURES]) {
  figures[MACS] = c->model->total.macs;
  figures[TRAINING] = memory_device(&c->memory).peak;
  figures[WEIGHTS] = c->memory.inference.weights;
  figures[ARENA] = c->memory.inference.plan.height;
}

static bool is_bounded(const struct compiled *c, size_t i) {
  const struct model *high = c->model, *low = c->low->model;
  return !shape_equal(high->nodes.at[high->sources.at[i]].out,
                      low->nodes.at[low->sources.at[i]].out);
}

static struct slice shapes(const struct compiled *c,
                           const struct model *model) {
  struct text out = text_new(c->arena);
  for (size_t i = 0; i < c->model->sources.count; i++)
    if (is_bounded(c, i))
      text_printf(&out, "%s%s", out.length ? ", " : "",
                  shape_text(model->nodes.at[model->sources.at[i]].out).text);
  return text_slice(&out);
}

/* A printed line: the shapes, then one line for each figure. */
struct bounds_row {
  const char *what;
  struct slice low, high;
};

enum { ROWS = 1 + FIGURES };

static struct slice figure_text(const struct compiled *c, int figure,
                                int64_t value) {
  struct text out = text_new(c->arena);
  text_put(&out, figure == MACS ? count_text(value).text
                                : output_size(c, value).text);
  return text_slice(&out);
}

static void find_rows(const struct compiled *c, struct bounds_row rows[ROWS]) {
  static const char *const words[] = {"MACs", "training", "weights", "arena"};
  int64_t low[FIGURES], high[FIGURES];
  find_figures(c->low, low);
  find_figures(c, high);
  rows[0] =
      (struct bounds_row){"", shapes(c, c->low->model), shapes(c, c->model)};
  for (int i = 0; i < FIGURES; i++)
    rows[1 + i] = (struct bounds_row){words[i], figure_text(c, i, low[i]),
                                      figure_text(c, i, high[i])};
}

static void put_text(const struct compiled *c, struct text *out) {
  struct grid_column columns[] = {{.align = ALIGN_LEFT, .before = "  "},
                                  {.align = ALIGN_RIGHT, .before = "  "},
                                  {.align = ALIGN_RIGHT, .before = "  "}};
  struct bounds_row rows[ROWS];
  if (!c->low)
    return;
  find_rows(c, rows);
  struct grid grid = grid_new(c->arena, columns, 3);
  text_put(out, "\nBounds of inputs: all figures above are for the upper "
                "bound\n");
  for (int i = 0; i < ROWS; i++) {
    grid_text(&grid, rows[i].what);
    text_puts(&grid.pool, rows[i].low);
    grid_cell(&grid);
    text_puts(&grid.pool, rows[i].high);
    grid_cell(&grid);
  }
  grid_put(out, &grid, output_width(c));
}

static void put_markdown(const struct compiled *c, struct text *out) {
  struct bounds_row rows[ROWS];
  if (!c->low)
    return;
  find_rows(c, rows);
  text_put(out, "\nBounds of inputs: all figures above are for the upper "
                "bound.\n\n");
  for (int i = 0; i < ROWS; i++)
    text_printf(out, "| %s | %.*s | %.*s |\n%s", rows[i].what,
                SLICE_ARG(rows[i].low), SLICE_ARG(rows[i].high),
                i ? "" : "|---|---:|---:|\n");
}

static void put_end(struct json_writer *w, const char *name,
                    const struct compiled *end) {
  int64_t figures[FIGURES];
  find_figures(end, figures);
  json_member_open(&w->json, name, '{');
  json_member_int(&w->json, "mac_count", figures[MACS]);
  json_member_int(&w->json, "training_peak_bytes", figures[TRAINING]);
  json_member_int(&w->json, "weight_bytes", figures[WEIGHTS]);
  json_member_int(&w->json, "arena_bytes", figures[ARENA]);
  json_put_close(&w->json, '}');
}

static void put_json(struct json_writer *w) {
  const struct model *high = w->c->model;
  if (!w->c->low)
    return;
  const struct model *low = w->c->low->model;
  json_member_open(&w->json, "bounds", '{');
  json_member_open(&w->json, "inputs", '[');
  for (size_t i = 0; i < high->sources.count; i++) {
    if (!is_bounded(w->c, i))
      continue;
    json_put_open(&w->json, '{');
    model_put_name(&w->scratch, high, high->sources.at[i]);
    json_member_string(&w->json, "name", writer_text(w));
    json_put_key(&w->json, "low");
    writer_put_shape(w, low->nodes.at[low->sources.at[i]].out);
    json_put_key(&w->json, "high");
    writer_put_shape(w, high->nodes.at[high->sources.at[i]].out);
    json_put_close(&w->json, '}');
  }
  json_put_close(&w->json, ']');
  put_end(w, "low", w->c->low);
  put_end(w, "high", w->c);
  json_put_close(&w->json, '}');
}

const struct report_section bounds_section = {put_text, put_json, put_markdown};
