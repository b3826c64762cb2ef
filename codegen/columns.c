/* The columns of the table of layers, shared by text, CSV and Markdown. */
#include "codegen/columns.h"

#include <inttypes.h>

#include "codegen/field.h"

/* Lines */

struct line_view line_view(const struct compiled *c, const struct rows *rows,
                           const struct field *fields,
                           const struct fold_line *line) {
  return (struct line_view){.c = c,
                            .rows = rows,
                            .fields = fields,
                            .line = line,
                            .row = &rows->at[line->row],
                            .cost = fold_cost(rows, line),
                            .index = line->row};
}

static const struct row *last_row(const struct line_view *v) {
  return v->row + v->line->period * (size_t)v->line->times - 1;
}

static void line_put_name(const struct line_view *v, struct text *cell) {
  text_fill(cell, ' ', 2 * (size_t)v->line->depth);
  if (v->line->group != NO_NODE)
    name_put(cell, &v->c->model->groups.at[v->line->group].name);
  else if (v->line->period == 1)
    row_put_name_inside(cell, v->c, v->row, v->line->inside);
  else
    text_put(cell, "block");
  if (v->line->times > 1)
    text_printf(cell, " x %" PRId64, v->line->times);
}

/* Cells with the name and the layer; loops are `block x 12`. */
static void line_put_layer(const struct line_view *v, struct text *cell) {
  if (v->line->period == 1)
    row_put_layer(cell, v->c, v->row, true);
  else if (v->line->group != NO_NODE)
    text_puts(cell, v->c->model->groups.at[v->line->group].call);
  if (v->line->varies)
    text_put(cell, cell->length ? " of other sizes" : "of other sizes");
}

/* Cells */

static void put_count(struct text *cell, int64_t count) {
  if (count)
    text_count(cell, count);
  else
    text_putc(cell, '-');
}

static void put_index(const struct line_view *v, struct text *cell) {
  text_int(cell, (int64_t)v->index);
}

static void put_mark(const struct line_view *v, struct text *cell) {
  size_t warnings = 0;
  for (size_t i = 0; i < v->line->period; i++)
    warnings += v->row[i].warning_count;
  text_put(cell, warnings && v->line->period == 1 ? "!" : "");
}

static void put_input(const struct line_view *v, struct text *cell) {
  const struct node *node = &v->c->model->nodes.at[v->row->head];
  if (node->input_count == 0) {
    text_putc(cell, '-');
    return;
  }
  int64_t in = node_input(v->c->model, node, 0);
  shape_put(cell, v->c->model->nodes.at[in].out, output_layout(v->c));
}

static void put_output(const struct line_view *v, struct text *cell) {
  shape_put(cell, row_shape(v->c, last_row(v)), output_layout(v->c));
}

/* A member of the cost, and its cell. */
#define VALUE(member)                                \
  static int64_t member(const struct line_view *v) { \
    return v->cost.member;                           \
  }
#define COUNT(member)                                                      \
  VALUE(member)                                                            \
  static void put_##member(const struct line_view *v, struct text *cell) { \
    put_count(cell, v->cost.member);                                       \
  }
VALUE(params)
COUNT(activations)
COUNT(trainable)
VALUE(macs)

static void put_macs(const struct line_view *v, struct text *cell) {
  if (v->brief && v->cost.macs)
    text_short_count(cell, v->cost.macs, 'G');
  else
    put_count(cell, v->cost.macs);
}

static int64_t bytes(const struct line_view *v) {
  return v->cost.activation_bytes;
}

static int64_t saved(const struct line_view *v) {
  const struct row *rows = v->row;
  size_t turns = v->line->period * (size_t)v->line->times;
  int64_t sum = 0; /* at most what the net saves: no overflow */
  if (turns == 0)
    return v->c->memory.training.saved;
  for (int64_t node = rows->first; node < rows[turns - 1].end; node++)
    sum += v->c->memory.saved_by_node[node];
  return sum;
}

static void put_params(const struct line_view *v, struct text *cell) {
  if (v->cost.params == 0 && v->row->shares && v->line->period == 1)
    text_put(cell, "shared");
  else
    put_count(cell, v->cost.params);
}

static void put_percent(struct text *cell, int64_t part, int64_t whole) {
  if (!part || !whole)
    text_putc(cell, '-');
  else
    text_fixed(cell, 100.0 * (double)part / (double)whole, 1);
}

static void put_param_share(const struct line_view *v, struct text *cell) {
  put_percent(cell, v->cost.params, v->c->model->total.params);
}

static void put_mac_share(const struct line_view *v, struct text *cell) {
  put_percent(cell, v->cost.macs, v->c->model->total.macs);
}

static void put_bytes(const struct line_view *v, struct text *cell,
                      int64_t size) {
  if (size)
    text_size(cell, size, output_units(v->c), 1);
  else
    text_putc(cell, '-');
}

static void put_memory(const struct line_view *v, struct text *cell) {
  put_bytes(v, cell, v->cost.activation_bytes);
}

static void put_saved(const struct line_view *v, struct text *cell) {
  put_bytes(v, cell, saved(v));
}

static const struct field *field_of(const struct line_view *v) {
  return &v->fields[last_row(v)->end - 1];
}

static void put_axes(struct text *cell, int axes, const int64_t *at) {
  bool same = true;
  for (int i = 1; i < axes; i++)
    same = same && at[i] == at[0];
  text_sizes(cell, at, same ? 1 : axes);
}

static void put_field(const struct line_view *v, struct text *cell) {
  const struct field *field = field_of(v);
  if (field->axes)
    put_axes(cell, field->axes, field->size);
  else
    text_putc(cell, '-');
}

static void put_step(const struct line_view *v, struct text *cell) {
  const struct field *field = field_of(v);
  if (field->axes)
    put_axes(cell, field->axes, field->step);
  else
    text_putc(cell, '-');
  if (field->axes && field->parts[0] > 1) /* finer than the input */
    text_printf(cell, "/%" PRId64, field->parts[0]);
}

static int64_t field_value(const struct line_view *v) {
  return field_of(v)->axes ? field_of(v)->size[0] : 0;
}

/* The table */

#define LEFT .align = ALIGN_LEFT
#define RIGHT .align = ALIGN_RIGHT
#define USUAL .usual = true

static const struct column columns[] = {
    {"index", "#", RIGHT, USUAL, .rank = 5, .put = put_index,
     .summary = "number of the row, from 0"},
    {"name", "layer", LEFT, USUAL, .least = 24, .put = line_put_name,
     .summary = "name of the layer, inside its groups"},
    {"mark", "", LEFT, USUAL, .put = put_mark,
     .summary = "! if the layer has a warning"},
    {"layer", "as written", LEFT, USUAL, .least = 16, .put = line_put_layer,
     .summary = "layer with its values and its tail"},
    {"input", "input", RIGHT, .put = put_input,
     .summary = "shape of the first input"},
    {"output", "output", RIGHT, USUAL, .put = put_output,
     .summary = "shape of the output"},
    {"activations", "activations", RIGHT, USUAL, .rank = 3,
     .put = put_activations, .value = activations,
     .summary = "number of values of all outputs, with the tail's"},
    {"params", "parameters", RIGHT, USUAL, .put = put_params, .value = params,
     .summary = "parameters"},
    {"trainable", "trainable", RIGHT, .put = put_trainable, .value = trainable,
     .summary = "trained parameters"},
    {"share", "% params", RIGHT, .put = put_param_share, .value = params,
     .summary = "share of all parameters"},
    {"macs", "MACs", RIGHT, USUAL, .put = put_macs, .value = macs,
     .summary = "multiply-accumulates for one sample"},
    {"macshare", "% MACs", RIGHT, .put = put_mac_share, .value = macs,
     .summary = "share of all multiply-accumulates"},
    {"bytes", NULL, RIGHT, USUAL, .rank = 4, .put = put_memory, .value = bytes,
     .summary = "bytes of the activations of one sample"},
    {"saved", "saved", RIGHT, .put = put_saved, .value = saved,
     .summary = "bytes kept for backward, for the batch"},
    {"rf", "field", RIGHT, .put = put_field, .value = field_value,
     .by_axis = true, .summary = "receptive field in positions of the input"},
    {"stride", "stride", RIGHT, .put = put_step,
     .summary = "effective stride in positions of the input"},
};

size_t column_count(void) {
  return sizeof columns / sizeof *columns;
}

const struct column *column_at(size_t index) {
  return &columns[index];
}

const struct column *column_find(struct slice name) {
  for (size_t i = 0; i < column_count(); i++)
    if (slice_is(name, columns[i].name))
      return &columns[i];
  return NULL;
}

size_t columns_choose(const char *list, const struct column **chosen,
                      struct slice *wrong) {
  size_t count = 0;
  *wrong = (struct slice){NULL, 0};
  for (size_t i = 0; !list && i < column_count(); i++)
    if (columns[i].usual)
      chosen[count++] = &columns[i];
  while (list && *list) {
    struct slice name = {list, strcspn(list, ",")};
    const struct column *column = column_find(name);
    list += name.length + (list[name.length] == ',');
    if (!column || count == COLUMN_MOST) {
      *wrong = name;
      return count;
    }
    chosen[count++] = column;
  }
  return count;
}

const struct field *columns_prepare(const struct compiled *c,
                                    const struct column *const *chosen,
                                    size_t count) {
  for (size_t i = 0; i < count; i++)
    if (chosen[i]->put == put_field || chosen[i]->put == put_step)
      return fields_of(c);
  return NULL;
}
