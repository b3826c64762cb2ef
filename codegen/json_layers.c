/*
 * json: the layers, a row each. In a large net most layers are like one that
 * came before: the two parts of a row that do not count, where it is written
 * and what it is, are kept as text.
 */
#include "codegen/json_writer.h"

void writer_put_shape(struct writer *w, const struct shape *shape) {
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

void writer_put_argument(struct writer *w, const struct arg_spec *spec,
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

static void put_attributes(struct writer *w, const struct node *node) {
  const struct arg_spec *specs = node->kind->specs;
  json_put_key(&w->json, "attributes");
  json_put_open(&w->json, '{');
  for (int i = 0; specs && specs[i].name; i++)
    if (node->given >> i & 1)
      writer_put_argument(w, &specs[i],
                          (const char *)node->args + specs[i].offset);
  json_put_close(&w->json, '}');
}

static void put_place(struct writer *w, const struct node *node) {
  struct position p = sources_position(w->c->sources, node->span.begin);
  json_member_string(&w->json, "op", slice_of(node->kind->name));
  json_put_key(&w->json, "source");
  json_put_open(&w->json, '{');
  json_member_string(&w->json, "file", p.source->name);
  json_member_int(&w->json, "line", p.line);
  json_member_int(&w->json, "col", p.column);
  json_put_close(&w->json, '}');
}

static void put_inputs(struct writer *w, const struct node *node) {
  const struct model *model = w->c->model;
  json_put_key(&w->json, "inputs");
  json_put_open(&w->json, '[');
  for (int i = 0; i < node->input_count; i++)
    json_put_int(&w->json, node_input(model, node, i));
  json_put_close(&w->json, ']');
}

static void put_shapes(struct writer *w, const struct node *node) {
  const struct model *model = w->c->model;
  json_put_key(&w->json, "in");
  json_put_open(&w->json, '[');
  for (int i = 0; i < node->input_count; i++)
    writer_put_shape(w, model->nodes.at[node_input(model, node, i)].out);
  json_put_close(&w->json, ']');
  json_put_key(&w->json, "out");
  json_put_open(&w->json, '[');
  writer_put_shape(w, node->out);
  json_put_close(&w->json, ']');
  shape_axes(&w->scratch, node->out, LAYOUT_HWC);
  json_member_string(&w->json, "axes", writer_text(w));
}

void writer_put_cost(struct writer *w, const struct cost *cost) {
  struct json *json = &w->json;
  json_member_int(json, "param_count", cost->params);
  if (cost->active != cost->params)
    json_member_int(json, "active_param_count", cost->active);
  json_member_int(json, "trainable_count", cost->trainable);
  json_member_int(json, "buffer_count", cost->buffers);
  json_member_int(json, "activation_count", cost->activations);
  json_member_int(json, "mac_count", cost->macs);
}

static void put_facts(struct writer *w, const struct node *node) {
  int64_t index = node - w->c->model->nodes.at;
  put_shapes(w, node);
  put_attributes(w, node);
  writer_put_cost(w, model_cost(w->c->model, index));
  if (node->train_only)
    json_member_bool(&w->json, "only_training", true);
  json_member_int(&w->json, "saved_bytes", w->c->memory.saved_by_node[index]);
}

/* Parts of rows that were written before. */
enum { MEMOS = 64 };

struct memo {
  const struct node *node; /* whose part it is; NULL: none yet */
  struct text text;
};

struct memos {
  struct memo places[MEMOS], facts[MEMOS];
};

static bool same_place(const struct compiled *c, const struct node *a,
                       const struct node *b) {
  (void)c;
  return a->kind == b->kind && a->span.begin == b->span.begin;
}

/* All that put_facts reads. */
static bool same_facts(const struct compiled *c, const struct node *a,
                       const struct node *b) {
  int64_t i = a - c->model->nodes.at, k = b - c->model->nodes.at;
  return c->model->like[i] == c->model->like[k] && a->given == b->given &&
         c->memory.saved_by_node[i] == c->memory.saved_by_node[k];
}

/* Writes a part of the row of `node`, or what stood in a row like it. */
static void put_memo(struct writer *w, struct memo *memo,
                     const struct node *node,
                     bool (*same)(const struct compiled *c,
                                  const struct node *a, const struct node *b),
                     void (*put)(struct writer *w, const struct node *node)) {
  struct text *out = w->json.out;
  if (!memo->node || !same(w->c, memo->node, node)) {
    memo->node = node;
    memo->text.length = 0;
    memo->text.arena = out->arena;
    w->json.out = &memo->text;
    put(w, node);
    w->json.out = out;
  }
  text_puts(out, text_slice(&memo->text));
}

static void put_layer(struct writer *w, struct memos *memos, int64_t index,
                      size_t *warning) {
  const struct model *model = w->c->model;
  const struct node *node = &model->nodes.at[index];
  struct json *json = &w->json;
  size_t place = node->span.begin % MEMOS;
  json_put_open(json, '{');
  json_member_int(json, "index", index);
  model_put_name(&w->scratch, model, index);
  json_member_string(json, "name", writer_text(w));
  put_memo(w, &memos->places[place], node, same_place, put_place);
  put_inputs(w, node);
  put_memo(w, &memos->facts[model->like[index] % MEMOS], node, same_facts,
           put_facts);
  json_put_key(json, "warnings");
  json_put_open(json, '[');
  for (; *warning < model->warnings.count &&
         model->warnings.at[*warning].node == index;
       (*warning)++)
    json_put_string(
        json, slice_of(slug_info(model->warnings.at[*warning].slug)->name));
  json_put_close(json, ']');
  json_put_close(json, '}');
}

void writer_put_layers(struct writer *w) {
  size_t warning = 0;
  struct memos *memos = ARENA_NEW(w->json.out->arena, struct memos);
  json_put_key(&w->json, "layers");
  json_put_open(&w->json, '[');
  for (size_t i = 0; i < w->c->model->nodes.count; i++)
    put_layer(w, memos, (int64_t)i, &warning);
  json_put_close(&w->json, ']');
}
