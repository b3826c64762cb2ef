/* txt: the report for people: the answer, the layers, then the details. */
#include <stdlib.h>

#include "base/shown.h"
#include "base/check.h"
#include "codegen/report/screen.h"
#include "codegen/asked.h"
#include "codegen/columns.h"
#include "codegen/formula.h"
#include "codegen/report/compared.h"
#include "codegen/report/memory_report.h"

struct report {
  const struct compiled *c;
  struct text *out;
  struct rows rows;
};

/* The table of layers */

struct layer_table {
  const struct column *columns[COLUMN_MOST];
  size_t count;
  const struct field *fields;
  struct fold_line *lines;
  size_t line_count, left_out;
  int deepest;
  bool closed; /* groups are closed, to fit on a page */
  bool brief;  /* of one screen */
  struct grid_column shown[COLUMN_MOST];
  struct grid grid;
};

static bool is_mark(const struct column *column) {
  return column->heading && !*column->heading;
}

static void table_head(struct report *r, struct layer_table *t) {
  for (size_t i = 0; i < t->count; i++)
    t->shown[i] =
        (struct grid_column){.align = t->columns[i]->align,
                             .before = is_mark(t->columns[i])            ? " "
                                       : i && is_mark(t->columns[i - 1]) ? " "
                                                                         : "  ",
                             .rank = t->columns[i]->rank,
                             .least = t->columns[i]->least};
  t->grid = grid_new(r->c->arena, t->shown, t->count);
  t->grid.colour = r->c->options->colour;
  for (size_t i = 0; i < t->count; i++) {
    if (t->columns[i]->heading)
      text_put(&t->grid.pool, t->columns[i]->heading);
    else
      text_printf(&t->grid.pool, "per %s", sample_word(r->c));
    grid_cell(&t->grid);
  }
}

static void table_row(struct report *r, struct layer_table *t,
                      const struct fold_line *line) {
  struct line_view v = line_view(r->c, &r->rows, t->fields, line);
  v.brief = t->brief;
  for (size_t i = 0; i < t->count; i++) {
    t->columns[i]->put(&v, &t->grid.pool);
    grid_cell(&t->grid);
  }
}

/* Totals of the columns that can be summed. */
static void table_total(struct report *r, struct layer_table *t) {
  struct fold_line all = {.period = r->rows.count, .times = 1};
  struct line_view v = {.c = r->c,
                        .rows = &r->rows,
                        .line = &all,
                        .row = r->rows.at,
                        .cost = r->c->model->total,
                        .brief = t->brief};
  for (size_t i = 0; i < t->count; i++) {
    const struct column *column = t->columns[i];
    bool sum = column->value && !column->by_axis;
    if (strcmp(column->name, "name") == 0)
      text_put(&t->grid.pool, "total");
    else if (sum)
      column->put(&v, &t->grid.pool);
    grid_cell(&t->grid);
  }
}

/* Lines of the outermost level, sorted by a column, largest first. */
struct ranked {
  struct fold_line line;
  int64_t value;
};

static int by_value(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  if (x->value != y->value)
    return x->value < y->value ? 1 : -1;
  return x->line.row < y->line.row ? -1 : x->line.row > y->line.row;
}

static void sort_lines(struct report *r, struct layer_table *t) {
  const struct column *by = column_find(slice_of(r->c->options->sort));
  struct ranked *all = arena_alloc(r->c->arena, t->line_count + 1, sizeof *all);
  size_t count = 0;
  for (size_t i = 0; i < t->line_count; i++) {
    struct line_view v = line_view(r->c, &r->rows, t->fields, &t->lines[i]);
    if (t->lines[i].depth == 0)
      all[count++] = (struct ranked){t->lines[i], by->value(&v)};
  }
  qsort(all, count, sizeof *all, by_value);
  for (size_t i = 0; i < count; i++)
    t->lines[i] = all[i].line;
  t->line_count = count;
}

static void find_lines(struct report *r, struct layer_table *t,
                       enum fold_how how) {
  struct folds folds = folds_of(r->c, &r->rows, how);
  int64_t top = r->c->options->top;
  t->lines = folds.at;
  t->line_count = folds.count;
  t->deepest = folds.deepest;
  if (r->c->options->sort)
    sort_lines(r, t);
  if (top && (size_t)top < t->line_count) {
    t->left_out = t->line_count - (size_t)top;
    t->line_count = (size_t)top;
  }
}

static void put_foot(struct report *r, const struct layer_table *t) {
  const struct model *model = r->c->model;
  struct text foot = text_new(r->c->arena);
  bool folded = false;
  for (size_t i = 0; i < t->line_count; i++)
    folded = folded || t->lines[i].times > 1;
  text_put(&foot, "  MACs without bias; FLOPs = 2 x MACs = ");
  if (model->total.macs <= INT64_MAX / 2) {
    text_count(&foot, model->total.macs * 2);
    text_rounded(&foot, model->total.macs * 2, "GTP");
  } else {
    text_put(&foot, "more than 2^63");
  }
  text_putc(&foot, '.');
  if (model->total.train_macs > model->total.macs) {
    text_printf(&foot, " Training runs %s MACs more, in `fork train`.",
                count_text(model->total.train_macs - model->total.macs).text);
  }
  if (folded)
    text_put(&foot, " `x N`: N equal blocks; the rows below show one of them.");
  if (t->closed)
    text_put(&foot, " Groups are folded: --depth opens them.");
  if (folded || t->closed)
    text_put(&foot, " --unfold shows every row.");
  if (t->left_out)
    text_printf(&foot, " %zu more rows are not shown.", t->left_out);
  size_t warnings = model->warnings.count;
  if (warnings)
    text_printf(&foot, " ! %zu warning%s, see above.", warnings,
                warnings == 1 ? "" : "s");
  text_wrap(r->out, text_slice(&foot), 2, output_width(r->c));
}

static void fill_table(struct report *r, struct layer_table *t) {
  table_head(r, t);
  for (size_t i = 0; i < t->line_count; i++)
    table_row(r, t, &t->lines[i]);
  table_total(r, t);
  grid_fit(&t->grid, output_width(r->c));
}

/* Lines of a page: in a longer report, inner lines are left out. */
enum { PAGE = 66 };

static void close_groups(struct layer_table *t) {
  size_t count = 0;
  t->deepest--;
  t->closed = true;
  for (size_t i = 0; i < t->line_count; i++)
    if (t->lines[i].depth <= t->deepest)
      t->lines[count++] = t->lines[i];
  t->line_count = count;
}

/* Fills the table if it may fit: every row takes at least a line. */
static bool fills_page(struct report *r, struct layer_table *t) {
  size_t rows = t->line_count + 2; /* head and total */
  if (rows > PAGE)
    return false;
  fill_table(r, t);
  return grid_lines(&t->grid) <= PAGE;
}

/* Closes groups until the table fits; returns whether it does. */
static bool keep_to_page(struct report *r, struct layer_table *t) {
  while (!fills_page(r, t)) {
    if (t->deepest == 0)
      return false;
    close_groups(t);
  }
  return true;
}

static void choose_rows(struct report *r, struct layer_table *t) {
  bool all = r->c->options->unfold || r->c->options->explain;
  find_lines(r, t, all ? FOLD_NONE : FOLD_EQUAL);
  if (!r->c->options->depth) {
    if (keep_to_page(r, t))
      return;
    if (!all) {
      find_lines(r, t, FOLD_ALIKE);
      if (keep_to_page(r, t))
        return;
    }
  }
  fill_table(r, t);
}

/* Keeps the rows with the most parameters and MACs, in order. */
static void keep_largest(struct report *r, struct layer_table *t, size_t most) {
  struct ranked *all = arena_alloc(r->c->arena, t->line_count + 1, sizeof *all);
  bool *kept = arena_alloc(r->c->arena, t->line_count + 1, sizeof *kept);
  const struct cost *total = &r->c->model->total;
  size_t count = 0;
  for (size_t i = 0; i < t->line_count; i++) {
    struct cost cost = fold_cost(&r->rows, &t->lines[i]);
    double share = (double)cost.params / (double)max_i64(total->params, 1) +
                   (double)cost.macs / (double)max_i64(total->macs, 1);
    all[i] = (struct ranked){{.row = i}, (int64_t)(share * 1e15)};
  }
  qsort(all, t->line_count, sizeof *all, by_value);
  for (size_t i = 0; i < most && i < t->line_count; i++)
    kept[all[i].line.row] = true;
  for (size_t i = 0; i < t->line_count; i++)
    if (kept[i])
      t->lines[count++] = t->lines[i];
  t->left_out += t->line_count - count;
  t->line_count = count;
}

static void put_table(struct report *r) {
  struct layer_table t = {.count = 0};
  struct slice wrong;
  t.count = columns_choose(r->c->options->columns, t.columns, &wrong);
  t.fields = columns_prepare(r->c, t.columns, t.count);
  choose_rows(r, &t);
  size_t last = grid_rows(&t.grid) - 1;
  for (size_t i = 0; i <= last; i++) {
    grid_put_row(r->out, &t.grid, i);
    if (r->c->options->explain && i > 0 && i < last &&
        t.lines[i - 1].period == 1)
      formula_put_row(r->out, r->c, &r->rows.at[t.lines[i - 1].row],
                      r->c->options->ascii ? "| " : "\xE2\x94\x82 ", 6);
  }
  put_foot(r, &t);
}

/* The rule of thumb */

static void rule_row(struct report *r, struct grid *grid, int64_t prediction,
                     int64_t training) {
  grid_cell(grid);
  if (prediction >= 0) {
    grid_bytes(grid, output_units(r->c), prediction);
  } else {
    grid_text(grid, "");
    grid_text(grid, "");
  }
  grid_bytes(grid, output_units(r->c), training);
}

static void put_rule(struct report *r) {
  const struct rule *rule = &r->c->memory.rule;
  const struct train_settings *train = &r->c->settings->train;
  struct grid_column columns[] = {
      {.align = ALIGN_LEFT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "    ", .rank = 2},
      {.align = ALIGN_RIGHT, .before = "  "},
      {.align = ALIGN_RIGHT, .before = "    ", .rank = 1},
      {.align = ALIGN_RIGHT, .before = "  "},
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
  grid_fit(&grid, output_width(r->c));
  size_t first = columns[0].width + columns[2].width + 4 +
                 (columns[1].dropped ? 0 : columns[1].width + 4);
  size_t second =
      columns[4].width + 2 + (columns[3].dropped ? 0 : columns[3].width + 4);
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
  text_put(r->out, "  Only a rule of thumb; the figures below count every "
                   "tensor.\n");
}

/* A table with a maximum of lines, the foot included. Nets of few layers are
 * shown whole. */
static void put_short_table(struct report *r, int lines) {
  enum { FEW = 12, LEAST = 7, FRAME = 3 }; /* head, total, foot */
  struct layer_table t = {.brief = true};
  struct slice wrong;
  size_t most = (size_t)(lines > LEAST ? lines : LEAST) - FRAME;
  t.count =
      columns_choose("name,mark,layer,output,params,macs", t.columns, &wrong);
  t.fields = columns_prepare(r->c, t.columns, t.count);
  find_lines(r, &t, FOLD_NONE);
  size_t all = t.line_count;
  bool few = all <= FEW;
  for (int how = FOLD_EQUAL; !few && how <= FOLD_ALIKE; how++) {
    if (how > FOLD_EQUAL && t.line_count <= most)
      break;
    find_lines(r, &t, (enum fold_how)how);
    while (t.line_count > most && t.deepest > 0)
      close_groups(&t);
  }
  if (!few && t.line_count > most)
    keep_largest(r, &t, most);
  fill_table(r, &t);
  while (!few && t.line_count > LEAST - FRAME &&
         grid_lines(&t.grid) > most + FRAME - 1) {
    keep_largest(r, &t, t.line_count - 1); /* some rows are of several lines */
    fill_table(r, &t);
  }
  for (size_t i = 0; i < grid_rows(&t.grid); i++)
    grid_put_row(r->out, &t.grid, i);
  screen_put_foot(r->c, t.line_count < all, t.left_out, r->out);
}

void report_put_table(const struct compiled *c, struct text *out) {
  struct report r = {.c = c, .out = out, .rows = rows_of(c)};
  put_table(&r);
}

/* True if options ask for all layers, or shape the table. */
static bool shapes_table(const struct netc_options *o) {
  return o->unfold || o->explain || o->details || o->depth || o->columns ||
         o->sort || o->top;
}

static int lines_in(struct slice text) {
  int lines = 0;
  for (size_t i = 0; i < text.length; i++)
    lines += text.at[i] == '\n';
  return lines;
}

static void put_details(const struct compiled *c, struct text *out) {
  struct report r = {.c = c, .out = out};
  if (!c->options->predict) {
    text_putc(out, '\n');
    put_rule(&r);
  }
  memory_report_put(c, out);
}

static void put_report(const struct compiled *c, struct text *out) {
  struct report r = {.c = c, .out = out, .rows = rows_of(c)};
  struct text answer = text_new(c->arena);
  screen_put_answer(c, &answer);
  text_puts(out, text_slice(&answer));
  text_putc(out, '\n');
  if (shapes_table(c->options))
    put_table(&r);
  else
    put_short_table(&r, SCREEN_LINES - lines_in(text_slice(&answer)) - 1);
  if (c->options->details || c->options->explain)
    put_details(c, out);
  else
    compared_report(c, out);
}

/* Repeats the answer at the end if it has scrolled off the screen. */
void emit_report(const struct compiled *c, struct text *out) {
  struct text all = text_new(c->arena);
  if (c->options->brief) {
    screen_put_answer(c, out);
  } else if (!c->options->height) {
    put_report(c, out);
  } else {
    put_report(c, &all);
    text_puts(out, text_slice(&all));
    if (lines_in(text_slice(&all)) < c->options->height)
      return;
    text_putc(out, '\n');
    screen_put_last(c, out);
  }
}
