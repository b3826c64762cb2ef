/* html: the table of layers, as a tree of groups and repeats. */
#include <inttypes.h>

#include "codegen/columns.h"
#include "codegen/formula.h"
#include "drawing/page/html.h"

/* Columns of the page; the default ones are shown at first. */
struct page_layers {
  struct page_writer *w;
  const struct column *columns[COLUMN_MOST];
  size_t count;
  struct rows rows;
  struct folds folds;
  const struct field *fields;
  struct text cell, lines;
};

static bool is(const struct column *column, const char *name) {
  return strcmp(column->name, name) == 0;
}

/* The name is first, with marks beside it. */
static void choose(struct page_layers *t) {
  const struct column *chosen[COLUMN_MOST];
  struct slice wrong;
  const char *list = t->w->c->options->columns;
  size_t count = list ? columns_choose(list, chosen, &wrong) : column_count();
  t->columns[t->count++] = column_find(slice_of("name"));
  for (size_t i = 0; i < count && t->count < COLUMN_MOST; i++) {
    const struct column *column = list ? chosen[i] : column_at(i);
    if (!is(column, "mark") && !is(column, "name"))
      t->columns[t->count++] = column;
  }
}

static bool is_shown(const struct page_layers *t, const struct column *column) {
  return t->w->c->options->columns ||
         (column->usual && !is(column, "index") && !is(column, "activations"));
}

static void put_head(struct page_layers *t) {
  struct text *out = t->w->out;
  text_put(out, "<thead>\n<tr>");
  for (size_t i = 0; i < t->count; i++) {
    const struct column *column = t->columns[i];
    text_printf(out, "<th scope=\"col\" title=\"%s\"%s%s>", column->summary,
                column->align == ALIGN_RIGHT ? " class=\"n\"" : "",
                is_shown(t, column) ? "" : " data-off");
    if (column->heading)
      text_put(out, column->heading);
    else
      text_printf(out, "per %s", sample_word(t->w->c));
    text_put(out, "</th>");
  }
  text_put(out, "</tr>\n</thead>\n");
}

/* True if a cell shows exactly this value. */
static bool says(struct slice cell, int64_t value) {
  int64_t read = 0;
  for (size_t i = 0; i < cell.length; i++) {
    if (cell.at[i] == ',')
      continue;
    if (cell.at[i] < '0' || cell.at[i] > '9' || read > INT64_MAX / 10 - 1)
      return false;
    read = read * 10 + (cell.at[i] - '0');
  }
  return read == value || (slice_is(cell, "-") && value == 0);
}

static void put_cell(struct page_layers *t, const struct line_view *v,
                     const struct column *column) {
  struct text *out = t->w->out;
  t->cell.length = 0;
  column->put(v, &t->cell);
  struct slice cell = text_slice(&t->cell);
  if (is(column, "name")) {
    for (; cell.length && *cell.at == ' '; cell.at++)
      cell.length--;
    text_put(out, "<th scope=\"row\">");
    html_put(t->w, cell);
    if (v->line->period == 1 && v->row->warning_count)
      text_put(out, " <span class=\"mark\" title=\"a warning: see the "
                    "source\">!</span>");
    text_put(out, "</th>");
    return;
  }
  text_put(out, "<td");
  if (column->value && !says(cell, column->value(v)))
    text_printf(out, " data-v=\"%" PRId64 "\"", column->value(v));
  text_putc(out, '>');
  html_put(t->w, cell);
  text_put(out, "</td>");
}

/* Writes a row's formulas. */
static void put_formulas(struct page_layers *t, const struct row *row) {
  t->lines.length = 0;
  formula_put_row(&t->lines, t->w->c, row, "", 0);
  if (t->lines.length == 0)
    return;
  text_put(t->w->out, " data-f=\"");
  html_put(t->w, text_slice(&t->lines));
  text_putc(t->w->out, '"');
}

/* Writes the calls and loops that led to a row, if any. */
static void put_callers(struct page_layers *t, const struct node *node) {
  if (!node->frame)
    return;
  t->lines.length = 0;
  frame_put(&t->lines, t->w->c->sources, node->frame);
  text_put(t->w->out, " title=\"");
  html_put(t->w, text_slice(&t->lines));
  text_putc(t->w->out, '"');
}

static void put_line(struct page_layers *t, size_t index) {
  const struct fold_line *line = &t->folds.at[index];
  struct page_writer *w = t->w;
  struct line_view v = line_view(w->c, &t->rows, t->fields, line);
  const struct model *model = w->c->model;
  bool opens =
      index + 1 < t->folds.count && t->folds.at[index + 1].depth > line->depth;
  text_printf(w->out, "<tr aria-level=\"%d\"", line->depth + 1);
  if (line->depth)
    text_printf(w->out, " style=\"--d:%d\"", line->depth);
  if (opens)
    text_put(w->out, " aria-expanded=\"true\"");
  t->cell.length = 0;
  if (line->group != NO_NODE)
    model_put_group_name(&t->cell, model, line->group);
  else
    row_put_name(&t->cell, w->c, v.row);
  text_put(w->out, " data-n=\"");
  html_put(w, text_slice(&t->cell));
  text_put(w->out, "\" data-l=\"");
  html_put_line_id(w, line->group != NO_NODE
                          ? model->groups.at[line->group].span.begin
                          : model->nodes.at[v.row->head].span.begin);
  text_putc(w->out, '"');
  if (line->group == NO_NODE)
    put_callers(t, &model->nodes.at[v.row->head]);
  if (line->period == 1)
    put_formulas(t, v.row);
  text_putc(w->out, '>');
  for (size_t i = 0; i < t->count; i++)
    put_cell(t, &v, t->columns[i]);
  text_put(w->out, "</tr>\n");
}

static void put_totals(struct page_layers *t) {
  struct page_writer *w = t->w;
  struct fold_line all = {.period = t->rows.count, .times = 1};
  struct line_view v = {.c = w->c,
                        .rows = &t->rows,
                        .line = &all,
                        .row = t->rows.at,
                        .cost = w->c->model->total};
  text_put(w->out, "</tbody>\n<tfoot>\n<tr>");
  for (size_t i = 0; i < t->count; i++) {
    const struct column *column = t->columns[i];
    if (is(column, "name")) {
      text_put(w->out, "<th scope=\"row\">total</th>");
      continue;
    }
    t->cell.length = 0;
    if (column->value && !column->by_axis)
      column->put(&v, &t->cell);
    text_put(w->out, "<td>");
    html_put(w, text_slice(&t->cell));
    text_put(w->out, "</td>");
  }
  text_put(w->out, "</tr>\n</tfoot>\n</table>\n</div>\n"
                   "<button type=\"button\" id=\"more\" hidden>Show all rows"
                   "</button>\n</section>\n");
}

void html_put_table_style(struct page_writer *w) {
  struct page_layers t = {.w = w};
  choose(&t);
  for (size_t i = 0; i < t.count; i++)
    text_printf(w->out, "#table tr>:nth-child(%zu){%s}\n", i + 1,
                t.columns[i]->align == ALIGN_RIGHT
                    ? "text-align:right;white-space:nowrap"
                    : "min-width:min(10rem,24vw)");
}

void html_put_table(struct page_writer *w) {
  struct page_layers t = {.w = w,
                          .rows = rows_of(w->c),
                          .cell = text_new(w->c->arena),
                          .lines = text_new(w->c->arena)};
  t.folds =
      folds_of(w->c, &t.rows, w->c->options->unfold ? FOLD_NONE : FOLD_EQUAL);
  choose(&t);
  t.fields = columns_prepare(w->c, t.columns, t.count);
  text_put(w->out,
           "<section id=\"layers\" aria-labelledby=\"layers-head\">\n"
           "<h2 id=\"layers-head\">Layers</h2>\n"
           "<div class=\"bar\" role=\"toolbar\" aria-label=\"Layers\" hidden>"
           "<button type=\"button\" id=\"open\">Open all</button>"
           "<button type=\"button\" id=\"shut\">Close all</button>"
           "<details id=\"columns\"><summary>Columns</summary>"
           "<div></div></details></div>\n"
           "<p class=\"faint\" id=\"layers-note\">MACs without bias. "
           "<code>x N</code> stands for N equal blocks, the rows inside are "
           "those of one."
           "</p>\n<div class=\"wide\">\n<table id=\"table\" role=\"treegrid\" "
           "aria-labelledby=\"layers-head\" "
           "aria-describedby=\"layers-note\">\n");
  put_head(&t);
  text_put(w->out, "<tbody>\n");
  for (size_t i = 0; i < t.folds.count; i++)
    put_line(&t, i);
  put_totals(&t);
}
