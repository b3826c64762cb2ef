/* md: the answer and the table of layers, for documents. */
#include "codegen/columns.h"
#include "codegen/report/summary.h"
#include "codegen/section.h"

static void put_cell(struct text *out, struct slice field) {
  size_t indent = 0;
  for (; indent < field.length && field.at[indent] == ' '; indent++)
    text_put(out, "&nbsp;"); /* inside a group */
  for (size_t i = indent; i < field.length; i++) {
    if (strchr("|\\`*_<", field.at[i]))
      text_putc(out, '\\');
    text_putc(out, field.at[i]);
  }
}

static void put_line(struct text *out, const struct compiled *c,
                     const struct column *const *columns, size_t count,
                     const struct line_view *v) {
  struct text cell = text_new(c->arena);
  text_putc(out, '|');
  for (size_t i = 0; i < count; i++) {
    cell.length = 0;
    columns[i]->put(v, &cell);
    text_putc(out, ' ');
    put_cell(out, text_slice(&cell));
    text_put(out, " |");
  }
  text_putc(out, '\n');
}

static void put_totals(struct text *out, const struct compiled *c,
                       const struct column *const *columns, size_t count,
                       const struct line_view *all) {
  struct text cell = text_new(c->arena);
  text_putc(out, '|');
  for (size_t i = 0; i < count; i++) {
    cell.length = 0;
    if (strcmp(columns[i]->name, "name") == 0)
      text_put(&cell, "total");
    else if (columns[i]->value && !columns[i]->by_axis)
      columns[i]->put(all, &cell);
    if (cell.length)
      text_printf(out, " **%.*s** |", SLICE_ARG(cell));
    else
      text_put(out, " |");
  }
  text_putc(out, '\n');
}

static void put_ways(struct text *out, const struct compiled *c) {
  const struct fit *fit = &c->memory.fit;
  for (size_t i = 0; i < fit->ways.count; i++) {
    text_printf(out, "- `%s`: ", fit->ways.at[i].options);
    text_size(out, fit->ways.at[i].peak, output_units(c), 2);
    text_putc(out, '\n');
  }
  if (fit->ways.count)
    text_putc(out, '\n');
}

/* The first lines of the report. */
static void put_facts(struct text *out, const struct compiled *c) {
  struct summary_line lines[SUMMARY_LINES];
  int count = summary_lines(c, lines);
  struct text verdict = text_new(c->arena);
  text_printf(out, "**%.*s**: ", SLICE_ARG(c->model->name));
  text_count(out, c->model->total.params);
  text_put(out, " parameters, ");
  text_count(out, c->model->total.macs);
  text_printf(out, " MACs per %s.\n\n", sample_word(c));
  if (summary_put_verdict(c, &verdict) != VERDICT_NONE) {
    text_puts(out, text_slice(&verdict));
    text_put(out, "\n\n");
    if (!c->options->predict)
      put_ways(out, c);
  }
  text_put(out, "| memory | | |\n|---|---:|---|\n");
  for (int i = 0; i + 1 < count; i++) { /* not the parameters */
    text_printf(out, "| %s | ", lines[i].what);
    put_cell(out, lines[i].size);
    text_put(out, " | ");
    put_cell(out, lines[i].more);
    text_put(out, " |\n");
  }
  text_putc(out, '\n');
}

void emit_markdown(const struct compiled *c, struct text *out) {
  const char *usual = "name,layer,output,activations,params,macs";
  const struct column *columns[COLUMN_MOST];
  struct slice wrong;
  struct rows rows = rows_of(c);
  struct folds folds =
      folds_of(c, &rows, c->options->unfold ? FOLD_NONE : FOLD_EQUAL);
  size_t count = columns_choose(
      c->options->columns ? c->options->columns : usual, columns, &wrong);
  const struct field *fields = columns_prepare(c, columns, count);
  put_facts(out, c);
  text_putc(out, '|');
  for (size_t i = 0; i < count; i++)
    text_printf(out, " %s |",
                columns[i]->heading ? columns[i]->heading : "bytes");
  text_put(out, "\n|");
  for (size_t i = 0; i < count; i++)
    text_put(out, columns[i]->align == ALIGN_RIGHT ? "---:|" : "---|");
  text_putc(out, '\n');
  for (size_t i = 0; i < folds.count; i++) {
    struct line_view v = line_view(c, &rows, fields, &folds.at[i]);
    put_line(out, c, columns, count, &v);
  }
  struct fold_line line = {.period = rows.count, .times = 1};
  struct line_view all = {.c = c,
                          .rows = &rows,
                          .line = &line,
                          .row = rows.at,
                          .cost = c->model->total};
  put_totals(out, c, columns, count, &all);
#define SECTION(name) \
  if (name.markdown)  \
    name.markdown(c, out);
#include "codegen/sections.def"
}
