/* csv: the table of layers for other programs. */
#include "codegen/columns.h"

/* Quotes a field if RFC 4180 requires it. */
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

/* Rows are never folded: programs sum and sort them. */
void emit_csv(const struct compiled *c, struct text *out) {
  struct rows rows = rows_of(c);
  struct text group = text_new(c->arena);
  text_put(out, "index,name,layer,output,activation_count,param_count,"
                "mac_count,activation_bytes,saved_bytes,group\n");
  for (size_t i = 0; i < rows.count; i++) {
    const struct row *row = &rows.at[i];
    int64_t saved = 0; /* at most what the net saves: no overflow */
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
