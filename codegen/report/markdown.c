/* md: the answer and the table of layers, for documents. */
#include "codegen/columns.h"
#include "codegen/report/screen.h"
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

/* The first lines of the report. */
static void put_facts(struct text *out, const struct compiled *c) {
  const struct screen_page *page = screen_page(c);
  text_printf(out, "**%.*s**: %.*s", SLICE_ARG(c->model->name),
              SLICE_ARG(page->counts));
  if (page->verdict)
    text_printf(out, ", **%s**", fit_word(page->verdict));
  text_printf(out, "\n\n%.*s\n\n| | |\n|---|---|\n", SLICE_ARG(page->question));
  for (size_t i = 0; i < page->count; i++) {
    const struct screen_row *row = &page->rows[i];
    const char *mark = row->option ? "`" : "";
    text_printf(out, "| %s | ", row->label);
    if (row->lead.length)
      text_printf(out, "%s%.*s%s: ", mark, SLICE_ARG(row->lead), mark);
    put_cell(out, row->text);
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
