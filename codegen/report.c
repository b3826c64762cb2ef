/* txt: the report for people. */
#include "codegen/formula.h"
#include "codegen/grid.h"
#include "codegen/memory_report.h"
#include "codegen/rows.h"

struct report {
  const struct compiled *c;
  const struct emit_options *options;
  struct text *out;
  struct rows rows;
};

/* The table of layers */

static void cell_count(struct grid *grid, int64_t count, bool show_zero) {
  if (count || show_zero)
    text_count(&grid->pool, count);
  else
    text_putc(&grid->pool, '-');
  grid_cell(grid);
}

static void table_head(struct grid *grid, const struct compiled *c) {
  grid_text(grid, "#");
  grid_text(grid, "layer");
  grid_text(grid, "");
  grid_text(grid, "as written");
  grid_text(grid, "output");
  grid_text(grid, "activations");
  grid_text(grid, "parameters");
  grid_text(grid, "MACs");
  text_printf(&grid->pool, "per %s", sample_word(c));
  grid_cell(grid);
}

static void table_row(struct report *r, struct grid *grid, size_t index) {
  const struct row *row = &r->rows.at[index];
  text_int(&grid->pool, (int64_t)index);
  grid_cell(grid);
  row_put_name(&grid->pool, r->c, row);
  grid_cell(grid);
  grid_text(grid, row->warning_count ? "!" : "");
  row_put_layer(&grid->pool, r->c, row, true);
  grid_cell(grid);
  shape_put(&grid->pool, row_shape(r->c, row), r->options->layout);
  grid_cell(grid);
  cell_count(grid, row->cost.activations, false);
  if (row->cost.params == 0 && row->shares)
    grid_text(grid, "shared");
  else
    cell_count(grid, row->cost.params, false);
  cell_count(grid, row->cost.macs, false);
  if (row->cost.activation_bytes)
    text_size(&grid->pool, row->cost.activation_bytes, r->options->units, 1);
  else
    text_putc(&grid->pool, '-');
  grid_cell(grid);
}

static void table_total(struct report *r, struct grid *grid) {
  const struct cost *total = &r->c->model->total;
  grid_text(grid, "");
  grid_text(grid, "total");
  grid_text(grid, "");
  grid_text(grid, "");
  grid_text(grid, "");
  cell_count(grid, total->activations, true);
  cell_count(grid, total->params, true);
  cell_count(grid, total->macs, true);
  text_size(&grid->pool, total->activation_bytes, r->options->units, 1);
  grid_cell(grid);
}

static void put_title(struct report *r, size_t width) {
  const struct model *model = r->c->model;
  struct text title = text_new(r->c->arena);
  text_printf(&title, "%.*s   ", SLICE_ARG(model->name));
  for (size_t i = 0; i < model->sources.count; i++) {
    if (i)
      text_put(&title, ", ");
    shape_put(&title, &model->nodes.at[model->sources.at[i]].out,
              r->options->layout);
  }
  text_printf(&title, ", %s", element_long_name(r->c->settings->infer.dtype));
  struct slice file = r->c->sources->all.at[r->c->source].name;
  size_t used = text_width(text_slice(&title)) + text_width(file);
  text_puts(r->out, text_slice(&title));
  text_fill(r->out, ' ', used + 3 < width ? width - used : 3);
  text_printf(r->out, "%.*s\n\n", SLICE_ARG(file));
}

static void put_foot(struct report *r) {
  const struct model *model = r->c->model;
  int64_t flops = 0;
  text_put(r->out, "  MACs without bias; FLOPs = 2 x MACs = ");
  if (model->total.macs <= INT64_MAX / 2) {
    flops = model->total.macs * 2;
    text_count(r->out, flops);
  } else {
    text_put(r->out, "more than 2^63");
  }
  text_putc(r->out, '.');
  size_t warnings = model->warnings.count;
  if (warnings)
    text_printf(r->out, "   ! %zu warning%s, see above", warnings,
                warnings == 1 ? "" : "s");
  text_putc(r->out, '\n');
}

static void put_table(struct report *r, bool title) {
  struct grid_column columns[] = {
      {ALIGN_RIGHT, "  ", 0}, {ALIGN_LEFT, "  ", 0},  {ALIGN_LEFT, "", 0},
      {ALIGN_LEFT, " ", 0},   {ALIGN_RIGHT, "  ", 0}, {ALIGN_RIGHT, "  ", 0},
      {ALIGN_RIGHT, "  ", 0}, {ALIGN_RIGHT, "  ", 0}, {ALIGN_RIGHT, "  ", 0},
  };
  struct grid grid =
      grid_new(r->c->arena, columns, sizeof columns / sizeof *columns);
  table_head(&grid, r->c);
  for (size_t i = 0; i < r->rows.count; i++)
    table_row(r, &grid, i);
  table_total(r, &grid);
  if (columns[2].width == 0)
    columns[2].before = " "; /* no warnings: a blank for their mark */
  if (title)
    put_title(r, grid_width(&grid));
  size_t last = grid_rows(&grid) - 1;
  size_t indent = columns[0].width + 4;
  for (size_t i = 0; i <= last; i++) {
    grid_put_row(r->out, &grid, i);
    if (r->options->explain && i > 0 && i < last)
      formula_put_row(r->out, r->c, r->options, &r->rows.at[i - 1], indent);
  }
  put_foot(r);
}

/* The rule of thumb */

static void rule_row(struct report *r, struct grid *grid, int64_t prediction,
                     int64_t training) {
  grid_cell(grid);
  if (prediction >= 0) {
    grid_bytes(grid, r->options->units, prediction);
  } else {
    grid_text(grid, "");
    grid_text(grid, "");
  }
  grid_bytes(grid, r->options->units, training);
}

static void put_rule(struct report *r) {
  const struct rule *rule = &r->c->memory.rule;
  const struct train_settings *train = &r->c->settings->train;
  struct grid_column columns[] = {
      {ALIGN_LEFT, "  ", 0},  {ALIGN_RIGHT, "    ", 0},
      {ALIGN_RIGHT, "  ", 0}, {ALIGN_RIGHT, "    ", 0},
      {ALIGN_RIGHT, "  ", 0},
  };
  struct grid grid =
      grid_new(r->c->arena, columns, sizeof columns / sizeof *columns);
  text_printf(&grid.pool, "parameters x 1, x %d", rule->copies);
  rule_row(r, &grid, rule->prediction_params, rule->training_params);
  text_printf(&grid.pool, "activations x 1, x 2 x %lld",
              (long long)train->batch);
  rule_row(r, &grid, rule->prediction_activations, rule->training_activations);
  text_put(&grid.pool, train->misc < 0 ? "misc: the batch" : "misc");
  rule_row(r, &grid, -1, rule->misc);
  text_put(&grid.pool, "total");
  rule_row(r, &grid, rule->prediction, rule->training);

  struct text predict = text_new(r->c->arena), batch = predict;
  text_printf(&predict, "one %s, predict", sample_word(r->c));
  text_printf(&batch, "batch %lld, %s", (long long)train->batch,
              optimizer_word(train->optimizer));
  size_t first = columns[0].width + columns[1].width + columns[2].width + 8;
  size_t second = columns[3].width + columns[4].width + 6;
  const char *heading = "Rule of thumb (CS231n)";
  size_t used = strlen(heading) + predict.length;
  text_put(r->out, heading);
  text_fill(r->out, ' ', first > used ? first - used : 2);
  text_puts(r->out, text_slice(&predict));
  text_fill(r->out, ' ', second > batch.length ? second - batch.length : 2);
  text_puts(r->out, text_slice(&batch));
  text_putc(r->out, '\n');
  for (size_t i = 0; i < grid_rows(&grid); i++)
    grid_put_row(r->out, &grid, i);
}

void report_put_table(const struct compiled *c,
                      const struct emit_options *options, struct text *out) {
  struct report r = {
      .c = c, .options = options, .out = out, .rows = rows_of(c, options)};
  put_table(&r, false);
}

void emit_report(const struct compiled *c, const struct emit_options *options,
                 struct text *out) {
  struct report r = {
      .c = c, .options = options, .out = out, .rows = rows_of(c, options)};
  put_table(&r, true);
  text_putc(out, '\n');
  put_rule(&r);
  memory_report_put(c, options, out);
}
