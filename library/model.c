/* Queries of a net: layers, arguments, inputs, outputs and totals. */
#include "library/context.h"
#include "library/repair.h"

static const struct model *model_of(const struct netc *netc) {
  return netc->load ? netc->load->compiled.model : NULL;
}

/* The model, also a partial one. */
static const struct model *layers_of(const struct netc *netc) {
  const struct load *load = netc->load;
  return load && load->partial ? &load->model : model_of(netc);
}

struct layer_asking {
  size_t index, row;
  void *to;
};

/* Texts about layers, made on demand. */

static struct layer_texts *texts_at(struct load *load, size_t index) {
  const struct model *model = &load->model;
  if (!load->layers)
    load->layers =
        arena_alloc(&load->arena, model->nodes.count + 1, sizeof *load->layers);
  struct layer_texts *texts = &load->layers[index];
  if (texts->written)
    return texts;
  struct text name = text_new(&load->arena), written = name;
  model_put_name(&name, model, (int64_t)index);
  texts->name = context_keep(&load->arena, text_slice(&name)).at;
  const struct node *node = &model->nodes.at[index];
  if (node->unsure) /* its arguments may be in error */
    text_puts(&written,
              sources_slice(&load->sources, repair_written(load, node->span)));
  else
    model_put_layer(&written, model, (int64_t)index, NULL);
  texts->written = context_keep(&load->arena, text_slice(&written)).at;
  int64_t *inputs =
      arena_alloc(&load->arena, (size_t)node->input_count + 1, sizeof *inputs);
  for (int i = 0; i < node->input_count; i++)
    inputs[i] = node_input(model, node, i);
  texts->inputs = inputs;
  return texts;
}

const char *load_layer_name(struct load *load, size_t index) {
  return texts_at(load, index)->name;
}

static struct netc_shape shape_for(const struct shape *shape) {
  static const enum netc_type types[] = {[DTYPE_FLOAT] = NETC_FLOAT,
                                         [DTYPE_I32] = NETC_I32,
                                         [DTYPE_I64] = NETC_I64};
  return (struct netc_shape){types[shape->dtype], shape->rank, shape->dim};
}

static void call_name(struct call *call) {
  struct load *load = call->netc->load;
  *(const char **)call->request =
      context_keep(&load->arena, load->model.name).at;
}

const char *netc_name(struct netc *netc) {
  const char *name = "";
  if (!layers_of(netc))
    return name;
  context_call(netc, CALL_READS, call_name, &name);
  return name;
}

size_t netc_layer_count(const struct netc *netc) {
  return layers_of(netc) ? layers_of(netc)->nodes.count : 0;
}

static size_t count_specs(const struct arg_spec *specs) {
  size_t count = 0;
  while (specs && specs[count].name)
    count++;
  return count;
}

/* Costs of a layer; unknown in a partial model. */
static void put_costs(const struct load *load, size_t index,
                      struct netc_layer *layer) {
  const struct cost unknown = {.params = NETC_UNKNOWN,
                               .trainable = NETC_UNKNOWN,
                               .buffers = NETC_UNKNOWN,
                               .macs = NETC_UNKNOWN,
                               .activations = NETC_UNKNOWN};
  bool known = load->compiled.model;
  const struct cost *cost =
      known ? model_cost(&load->model, (int64_t)index) : &unknown;
  layer->param_count = cost->params;
  layer->trainable_count = cost->trainable;
  layer->buffer_count = cost->buffers;
  layer->mac_count = cost->macs;
  layer->activation_count = cost->activations;
  layer->saved_bytes =
      known ? load->compiled.memory.saved_by_node[index] : NETC_UNKNOWN;
}

static void call_layer(struct call *call) {
  const struct layer_asking *asking = call->request;
  struct load *load = call->netc->load;
  const struct model *model = &load->model;
  const struct node *node = &model->nodes.at[asking->index];
  const struct layer_texts *texts = texts_at(load, asking->index);
  struct netc_layer layer = {.name = texts->name,
                             .op = node->kind->name,
                             .written = texts->written,
                             .place = load_place(load, node->span),
                             .head = node->head,
                             .out = shape_for(node->out),
                             .input_count = (size_t)node->input_count,
                             .inputs = texts->inputs,
                             .attribute_count = count_specs(node->kind->specs)};
  put_costs(load, asking->index, &layer);
  call->status = FILL(asking->to, &layer);
}

enum netc_status netc_layer(struct netc *netc, size_t index,
                            struct netc_layer *layer) {
  struct layer_asking asking = {index, 0, layer};
  if (index >= netc_layer_count(netc))
    return NETC_USAGE;
  return context_call(netc, CALL_READS, call_layer, &asking);
}

/* Arguments */

static const struct slice *attributes_of(struct load *load, size_t index) {
  struct layer_texts *texts = texts_at(load, index);
  const struct node *node = &load->model.nodes.at[index];
  size_t count = count_specs(node->kind->specs);
  if (texts->attributes)
    return texts->attributes;
  struct slice *values = arena_alloc(&load->arena, count + 1, sizeof *values);
  for (size_t i = 0; i < count; i++) {
    const struct arg_spec *spec = &node->kind->specs[i];
    struct text text = text_new(&load->arena);
    if (node->given >> i & 1)
      model_put_value(&text, spec, (const char *)node->args + spec->offset);
    else if (spec->fallback)
      text_put(&text, spec->fallback);
    values[i] = context_keep(&load->arena, text_slice(&text));
  }
  texts->attributes = values;
  return values;
}

static void call_attribute(struct call *call) {
  const struct layer_asking *asking = call->request;
  struct load *load = call->netc->load;
  const struct node *node = &load->model.nodes.at[asking->index];
  struct netc_attribute attribute = {
      .name = node->kind->specs[asking->row].name,
      .value = attributes_of(load, asking->index)[asking->row].at,
      .given = node->given >> asking->row & 1};
  call->status = FILL(asking->to, &attribute);
}

enum netc_status netc_attribute(struct netc *netc, size_t layer, size_t index,
                                struct netc_attribute *attribute) {
  struct layer_asking asking = {layer, index, attribute};
  if (layer >= netc_layer_count(netc) ||
      index >= count_specs(layers_of(netc)->nodes.at[layer].kind->specs))
    return NETC_USAGE;
  return context_call(netc, CALL_READS, call_attribute, &asking);
}

/* Ends */

size_t netc_input_count(const struct netc *netc) {
  return layers_of(netc) ? layers_of(netc)->sources.count : 0;
}

static void call_input(struct call *call) {
  const struct layer_asking *asking = call->request;
  struct load *load = call->netc->load;
  int64_t layer = load->model.sources.at[asking->index];
  struct netc_end end = {.name = texts_at(load, (size_t)layer)->name,
                         .layer = layer};
  if (load->compiled.low) {
    const struct model *low = load->compiled.low->model;
    end.low = low->nodes.at[low->sources.at[asking->index]].out->dim;
  }
  call->status = FILL(asking->to, &end);
}

enum netc_status netc_input(struct netc *netc, size_t index,
                            struct netc_end *input) {
  struct layer_asking asking = {index, 0, input};
  if (index >= netc_input_count(netc))
    return NETC_USAGE;
  return context_call(netc, CALL_READS, call_input, &asking);
}

size_t netc_output_count(const struct netc *netc) {
  return layers_of(netc) ? layers_of(netc)->outputs.count : 0;
}

/* An output's name is a part of the source, if it has one. */
static void call_output(struct call *call) {
  const struct layer_asking *asking = call->request;
  struct load *load = call->netc->load;
  struct output *output = &load->model.outputs.at[asking->index];
  if (!output->text)
    output->text = output->name.at ? context_keep(&load->arena, output->name).at
                                   : texts_at(load, (size_t)output->node)->name;
  struct netc_end end = {.name = output->text, .layer = output->node};
  call->status = FILL(asking->to, &end);
}

enum netc_status netc_output(struct netc *netc, size_t index,
                             struct netc_end *output) {
  struct layer_asking asking = {index, 0, output};
  if (index >= netc_output_count(netc))
    return NETC_USAGE;
  return context_call(netc, CALL_READS, call_output, &asking);
}

/* Params */

static void call_param(struct call *call) {
  const struct layer_asking *asking = call->request;
  struct load *load = call->netc->load;
  const struct model_param_choice *choice =
      &load->model.choices.at[asking->index];
  struct netc_param param = {
      .name = context_keep(&load->arena, choice->stmt->name).at,
      .fallback = context_keep(&load->arena, choice->fallback).at,
      .value = context_keep(&load->arena, choice->value).at,
      .allowed = context_keep(&load->arena, choice->allowed).at,
      .given = choice->given,
      .follows = context_keep(&load->arena, choice->follows).at};
  call->status = FILL(asking->to, &param);
}

enum netc_status netc_param(struct netc *netc, size_t index,
                            struct netc_param *param) {
  struct layer_asking asking = {index, 0, param};
  if (!netc->load || index >= netc->load->model.choices.count)
    return NETC_USAGE;
  return context_call(netc, CALL_READS, call_param, &asking);
}

/* True if costs are known though memory was not computed, as in a check. */
static bool is_whole(const struct load *load) {
  return load->sealed && !load->partial && !load->diags.errors &&
         load->model.nodes.count > 0;
}

enum netc_status netc_totals(const struct netc *netc,
                             struct netc_totals *totals) {
  const struct load *load = netc->load;
  const struct model *model = model_of(netc);
  if (!model && load && is_whole(load))
    model = &load->model;
  if (!model)
    return NETC_USAGE;
  struct netc_totals found = {.param_count = model->total.params,
                              .trainable_count = model->total.trainable,
                              .buffer_count = model->total.buffers,
                              .mac_count = model->total.macs,
                              .activation_count = model->total.activations,
                              .activation_bytes = model->total.activation_bytes,
                              .active_count = model->total.active};
  return FILL(totals, &found);
}
