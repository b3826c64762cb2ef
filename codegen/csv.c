/* csv and md: the table of layers for other programs and documents. */
#include "codegen/rows.h"

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

void emit_csv(const struct compiled *c, const struct emit_options *options,
              struct text *out) {
  struct rows rows = rows_of(c, options);
  text_put(out, "index,name,layer,output,activation_count,param_count,"
                "mac_count,activation_bytes\n");
  for (size_t i = 0; i < rows.count; i++) {
    const struct row *row = &rows.at[i];
    text_int(out, (int64_t)i);
    text_putc(out, ',');
    put_names(out, c, row, put_field, ",");
    text_putc(out, ',');
    shape_put(out, row_shape(c, row), options->layout);
    const int64_t numbers[] = {row->cost.activations, row->cost.params,
                               row->cost.macs, row->cost.activation_bytes};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
      text_putc(out, ',');
      text_int(out, numbers[k]);
    }
    text_putc(out, '\n');
  }
}

static void put_cell(struct text *out, struct slice field) {
  for (size_t i = 0; i < field.length; i++) {
    if (field.at[i] == '|')
      text_putc(out, '\\');
    text_putc(out, field.at[i]);
  }
}

static void put_count(struct text *out, int64_t count) {
  text_put(out, " | ");
  if (count)
    text_count(out, count);
  else
    text_putc(out, '-');
}

void emit_markdown(const struct compiled *c, const struct emit_options *options,
                   struct text *out) {
  struct rows rows = rows_of(c, options);
  const struct cost *total = &c->model->total;
  text_put(out, "| layer | as written | output | activations | parameters | "
                "MACs |\n|---|---|---|---:|---:|---:|\n");
  for (size_t i = 0; i < rows.count; i++) {
    const struct row *row = &rows.at[i];
    text_put(out, "| ");
    put_names(out, c, row, put_cell, " | ");
    text_put(out, " | ");
    shape_put(out, row_shape(c, row), options->layout);
    put_count(out, row->cost.activations);
    put_count(out, row->cost.params);
    put_count(out, row->cost.macs);
    text_put(out, " |\n");
  }
  text_put(out, "| **total** | | ");
  put_count(out, total->activations);
  put_count(out, total->params);
  put_count(out, total->macs);
  text_put(out, " |\n");
}
