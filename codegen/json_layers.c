/* json: a row for each layer. In a large net most layers are like an earlier
 * one: only the numbers of its row are formatted anew. */
#include "codegen/json_writer.h"

void writer_put_shape(struct json_writer *w, const struct shape *shape) {
  json_put_open(&w->json, '[');
  for (int i = 0; i < shape->rank; i++)
    json_put_int(&w->json, shape->dim[i]);
  json_put_close(&w->json, ']');
}

static void put_sizes(struct json *json, const struct sizes *sizes) {
  json_put_open(json, '[');
  for (int i = 0; i < sizes->rank; i++)
    json_put_int(json, sizes->at[i]);
  json_put_close(json, ']');
}

static void put_size(struct json *json, int64_t size) {
  if (size == SIZE_ANY)
    json_put_null(json);
  else
    json_put_int(json, size);
}

static void put_padding(struct json *json, const struct padding *pad) {
  if (pad->mode == PADDING_SAME) {
    json_put_string(json, slice_of("same"));
    return;
  }
  if (pad->mode == PADDING_TF) {
    json_put_string(json, slice_of("tf"));
    return;
  }
  json_put_open(json, '{');
  json_put_key(json, "before");
  put_sizes(json, &pad->before);
  json_put_key(json, "after");
  put_sizes(json, &pad->after);
  json_put_close(json, '}');
}

static void put_axes(struct json *json, const struct axes *axes) {
  static const char *const letters[] = {"c", "w", "h", "d", "l"};
  json_put_open(json, '[');
  for (int i = 0; i < axes->count; i++) {
    if (axes->at[i] >= AXIS_C)
      json_put_string(json, slice_of(letters[axes->at[i] - AXIS_C]));
    else
      json_put_int(json, axes->at[i]);
  }
  json_put_close(json, ']');
}

void writer_put_argument(struct json_writer *w, const struct arg_spec *spec,
                         const void *at) {
  struct json *json = &w->json;
  const struct range *range = at;
  const struct shape *shape = at;
  json_put_key(json, spec->name);
  switch (spec->type) {
  case TYPE_INT:
    if (spec->words && *(const int64_t *)at < 0)
      json_put_string(json, word_at(spec->words, (int)-*(const int64_t *)at));
    else
      json_put_int(json, *(const int64_t *)at);
    break;
  case TYPE_DECIMAL: json_put_millionths(json, *(const int64_t *)at); break;
  case TYPE_REAL: json_put_real(json, *(const double *)at); break;
  case TYPE_SIZES: put_sizes(json, at); break;
  case TYPE_SCALE:
    if (((const struct scale_by *)at)->real > 0)
      json_put_real(json, ((const struct scale_by *)at)->real);
    else
      put_sizes(json, &((const struct scale_by *)at)->whole);
    break;
  case TYPE_PADDING: put_padding(json, at); break;
  case TYPE_SHAPE:
    json_put_open(json, '[');
    for (int i = 0; i < shape->rank; i++)
      put_size(json, shape->dim[i]);
    json_put_close(json, ']');
    break;
  case TYPE_RANGE:
    json_put_open(json, '[');
    put_size(json, range->from);
    put_size(json, range->to);
    json_put_close(json, ']');
    break;
  case TYPE_AXIS:
  case TYPE_AXES: put_axes(json, at); break;
  case TYPE_NUMBERS:
    json_put_open(json, '[');
    for (int i = 0; i < ((const struct numbers *)at)->count; i++)
      json_put_int(json, ((const struct numbers *)at)->at[i]);
    json_put_close(json, ']');
    break;
  case TYPE_MAPS:
    json_put_open(json, '[');
    for (int i = 0; i < ((const struct map_list *)at)->count; i++)
      put_sizes(json, &((const struct map_list *)at)->at[i]);
    json_put_close(json, ']');
    break;
  case TYPE_WORDS:
  case TYPE_CHOICE:
    if (spec->type == TYPE_CHOICE && *(const int *)at == 0)
      json_put_null(json); /* not chosen */
    else if (spec->type == TYPE_WORDS && !word_at(spec->words, 2).length)
      json_put_bool(json, *(const int *)at != 0);
    else
      json_put_string(json, word_at(spec->words, *(const int *)at));
    break;
  case TYPE_BIAS:
    json_put_bool(json, *(const enum bias *)at == BIAS_YES);
    break;
  case TYPE_LAYER:
  case TYPE_INPUT:
    json_put_string(json, ((const struct layer_ref *)at)->name);
    break;
  }
}

static void put_attributes(struct json_writer *w, const struct node *node) {
  const struct arg_spec *specs = node->kind->specs;
  json_member_open(&w->json, "attributes", '{');
  for (int i = 0; specs && specs[i].name; i++)
    if (node->given >> i & 1)
      writer_put_argument(w, &specs[i],
                          (const char *)node->args + specs[i].offset);
  json_put_close(&w->json, '}');
}

static void put_shapes(struct json_writer *w, const struct node *node) {
  const struct model *model = w->c->model;
  json_member_open(&w->json, "in", '[');
  for (int i = 0; i < node->input_count; i++)
    writer_put_shape(w, model->nodes.at[node_input(model, node, i)].out);
  json_put_close(&w->json, ']');
  json_member_open(&w->json, "out", '[');
  writer_put_shape(w, node->out);
  json_put_close(&w->json, ']');
  shape_axes(&w->scratch, node->out, LAYOUT_HWC);
  json_member_string(&w->json, "axes", writer_text(w));
}

void writer_put_cost(struct json_writer *w, const struct cost *cost) {
  struct json *json = &w->json;
  json_member_int(json, "param_count", cost->params);
  if (cost->active != cost->params)
    json_member_int(json, "active_param_count", cost->active);
  json_member_int(json, "trainable_count", cost->trainable);
  json_member_int(json, "buffer_count", cost->buffers);
  json_member_int(json, "activation_count", cost->activations);
  json_member_int(json, "mac_count", cost->macs);
}

static void put_facts(struct json_writer *w, const struct node *node) {
  int64_t index = node - w->c->model->nodes.at;
  put_shapes(w, node);
  put_attributes(w, node);
  if (node->dtype)
    json_member_string(&w->json, "dtype", slice_of(element_word(node->dtype)));
  writer_put_cost(w, model_cost(w->c->model, index));
  if (node->train_only)
    json_member_bool(&w->json, "only_training", true);
  json_member_int(&w->json, "saved_bytes", w->c->memory.saved_by_node[index]);
}

/* Forms of rows. */
enum { FORMS = 64, FEW_INPUTS = 4 };

enum {
  HOLE_INDEX,
  HOLE_NAME,
  HOLE_LINE,
  HOLE_COLUMN,
  HOLE_INPUTS,
  HOLE_WARNINGS,
};

struct json_row {
  const struct node *node; /* last node with this form; NULL: none */
  struct position place;   /* of that node */
  struct json_form form;
  struct names names;
  struct counter line, column;
};

struct json_rows {
  struct json_row at[FORMS];
  struct counter index, inputs[FEW_INPUTS];
  size_t warning; /* the next one */
};

/* True if rows differ only in their place in the source and in holes. */
static bool same_form(const struct json_writer *w, const struct node *a,
                      const struct node *b) {
  const struct model *model = w->c->model;
  const int64_t *saved = w->c->memory.saved_by_node;
  int64_t i = a - model->nodes.at, k = b - model->nodes.at;
  return model->like[i] == model->like[k] && a->given == b->given &&
         saved[i] == saved[k];
}

static void write_form(struct json_writer *w, struct json_row *row,
                       const struct node *node, const struct source *source) {
  struct json_form *form = &row->form;
  struct json *json = &w->json;
  struct text *out = form_begin(w, form);
  json_put_open(json, '{');
  json_put_key(json, "index");
  form_hole(w, form);
  json_put_key(json, "name");
  text_putc(json->out, '"');
  form_hole(w, form);
  text_putc(json->out, '"');
  json_member_string(json, "op", slice_of(node->kind->name));
  json_member_open(json, "source", '{');
  json_member_string(json, "file", source->name);
  json_put_key(json, "line");
  form_hole(w, form);
  json_put_key(json, "col");
  form_hole(w, form);
  json_put_close(json, '}');
  json_member_open(json, "inputs", '[');
  form_hole(w, form);
  json_put_close(json, ']');
  put_facts(w, node);
  json_member_open(json, "warnings", '[');
  form_hole(w, form);
  json_put_close(json, ']');
  json_put_close(json, '}');
  form_end(w, form, out);
}

static void put_inputs(struct json_writer *w, struct json_rows *rows,
                       const struct node *node) {
  const struct model *model = w->c->model;
  struct text *out = w->json.out;
  for (int i = 0; i < node->input_count; i++) {
    if (i)
      text_bytes(out, ", ", 2);
    if (i < FEW_INPUTS)
      text_counter(out, &rows->inputs[i], node_input(model, node, i));
    else
      text_int(out, node_input(model, node, i));
  }
}

static void put_warnings(struct json_writer *w, int64_t index, size_t *next) {
  const struct model *model = w->c->model;
  struct json *json = &w->json;
  json->depth += 2; /* inside a row in a list */
  json->first = true;
  for (;
       *next < model->warnings.count && model->warnings.at[*next].node == index;
       (*next)++)
    json_put_string(json,
                    slice_of(slug_info(model->warnings.at[*next].slug)->name));
  json->first = false;
  json->depth -= 2;
}

static void put_layer(struct json_writer *w, struct json_rows *rows,
                      int64_t index) {
  const struct model *model = w->c->model;
  const struct node *node = &model->nodes.at[index];
  struct json_row *row = &rows->at[model->like[index] % FORMS];
  const struct json_form *form = &row->form;
  struct text *out = w->json.out;
  struct position place = row->place;
  if (!row->node || row->node->span.begin != node->span.begin)
    place = sources_position(w->c->sources, node->span.begin);
  if (!row->node || row->place.source != place.source ||
      !same_form(w, row->node, node))
    write_form(w, row, node, place.source);
  row->node = node;
  row->place = place;
  form_open(w, form);
  text_counter(out, &rows->index, index);
  form_put(out, form, HOLE_INDEX);
  names_put(&row->names, out, model, index);
  form_put(out, form, HOLE_NAME);
  text_counter(out, &row->line, place.line);
  form_put(out, form, HOLE_LINE);
  text_counter(out, &row->column, place.column);
  form_put(out, form, HOLE_COLUMN);
  put_inputs(w, rows, node);
  form_put(out, form, HOLE_INPUTS);
  put_warnings(w, index, &rows->warning);
  form_put(out, form, HOLE_WARNINGS);
}

void writer_put_layers(struct json_writer *w) {
  struct json_rows *rows = ARENA_NEW(w->json.out->arena, struct json_rows);
  json_member_open(&w->json, "layers", '[');
  for (size_t i = 0; i < w->c->model->nodes.count; i++)
    put_layer(w, rows, (int64_t)i);
  json_put_close(&w->json, ']');
}
