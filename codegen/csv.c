/* csv and md: the table of layers for other programs and documents. */
#include "codegen/columns.h"

/* Quoted as RFC 4180 wants it, where it must be. */
static void put_field(struct text *out, struct slice field) {
  bool quote = false;
  for (size_t i = 0; i < field.length; i++)
    quote = quote || strchr(",\"\n\r", field.at[i]);
  if (!quote) {
    text_puts(out, field);
    return;
  }
  text_putc(out, '"');
  for (size_t i = 0; i < field.length; i++) {
    if (field.at[i] == '"')
      text_putc(out, '"');
    text_putc(out, field.at[i]);
  }
  text_putc(out, '"');
}

static void put_names(struct text *out, const struct compiled *c,
                      const struct row *row,
                      void (*put)(struct text *out, struct slice field),
                      const char *between) {
  struct text text = text_new(c->arena);
  row_put_name(&text, c, row);
  put(out, text_slice(&text));
  text_put(out, between);
  text.length = 0;
  row_put_layer(&text, c, row, true);
  put(out, text_slice(&text));
}

/* Every row by itself: programs sum and sort. */
void emit_csv(const struct compiled *c, struct text *out) {
  struct rows rows = rows_of(c);
  struct text group = text_new(c->arena);
  text_put(out, "index,name,layer,output,activation_count,param_count,"
                "mac_count,activation_bytes,saved_bytes,group\n");
  for (size_t i = 0; i < rows.count; i++) {
    const struct row *row = &rows.at[i];
    int64_t saved = 0; /* at most what the net keeps, which was checked */
    for (int64_t n = row->first; n < row->end; n++)
      saved += c->memory.saved_by_node[n];
    text_int(out, (int64_t)i);
    text_putc(out, ',');
    put_names(out, c, row, put_field, ",");
    text_putc(out, ',');
    shape_put(out, row_shape(c, row), output_layout(c));
    const int64_t numbers[] = {row->cost.activations, row->cost.params,
                               row->cost.macs, row->cost.activation_bytes,
                               saved};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
      text_putc(out, ',');
      text_int(out, numbers[k]);
    }
    group.length = 0;
    if (row->owner > 0)
      model_put_group_name(&group, c->model, row->owner);
    text_putc(out, ',');
    put_field(out, text_slice(&group));
    text_putc(out, '\n');
  }
}

/* Markdown: the answer, and the table of the report */

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
      text_printf(out, " **%.*s** |", SLICE_ARG(text_slice(&cell)));
    else
      text_put(out, " |");
  }
  text_putc(out, '\n');
}

static void put_facts(struct text *out, const struct compiled *c) {
  const struct training *t = &c->memory.training;
  const struct inference *f = &c->memory.inference;
  text_printf(out, "**%.*s**: ", SLICE_ARG(c->model->name));
  text_count(out, c->model->total.params);
  text_put(out, " parameters, ");
  text_count(out, c->model->total.macs);
  text_printf(out, " MACs per %s.\n\n| memory | |\n|---|---:|\n",
              sample_word(c));
  text_printf(out, "| training, batch %lld, %s, %s | ",
              (long long)c->settings->train.batch,
              optimizer_word(c->settings->train.optimizer),
              t->profile->measured ? "exact" : "simulated");
  text_size(out, t->peak, output_units(c), 2);
  text_put(out, " |\n| prediction: weights | ");
  text_size(out, f->weights, output_units(c), 2);
  text_put(out, " |\n| prediction: arena | ");
  text_size(out, f->plan.height, output_units(c), 2);
  text_put(out, " |\n\n");
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
}
