/* Takes the source of a model that netc wrote and nobody changed since. */
#include "export/seal.h"
#include "import/onnx/reader.h"
#include "import/recognise.h"

/* An entry of the metadata; "" if it is missing. */
static struct slice entry_of(const Onnx__ModelProto *model, const char *key) {
  for (size_t i = 0; i < model->n_metadata_props; i++) {
    const Onnx__StringStringEntryProto *entry = model->metadata_props[i];
    if (entry->key && entry->value && strcmp(entry->key, key) == 0)
      return slice_of(entry->value);
  }
  return slice_of("");
}

/* True for options that apply to the graph only. */
static bool asks_graph(const struct import_options *o) {
  return o->no_source || o->flat || o->assume_bn || o->input_count > 0 ||
         o->size_count > 0 || o->parameter_count > 0;
}

/* Takes the weights; the file has the net's names. */
static bool take_weights(struct onnx *x) {
  const Onnx__GraphProto *g = x->model->graph;
  for (size_t i = 0; i < g->n_initializer; i++) {
    struct constant *c = constant_of(x, g->initializer[i]);
    if (!constant_is_real(c))
      continue;
    if (x->options->weights && !constant_load(x, c))
      return false;
    *VEC_PUSH(x->arena, &x->graph->weights) = (struct graph_weight){
        .name = c->name, .count = c->count, .fill = c->fill, .real = c->real};
  }
  return !x->graph->failed;
}

bool onnx_take_source(struct onnx *x) {
  const Onnx__ModelProto *model = x->model;
  struct slice source = entry_of(model, SEAL_SOURCE);
  struct slice params = entry_of(model, SEAL_PARAMS);
  if (asks_graph(x->options) || source.length == 0 ||
      model->n_opset_import != 1)
    return false;
  struct seal seal =
      seal_of(model->graph, model->opset_import[0]->version, source, params);
  if (!slice_is(entry_of(model, SEAL_HASH), seal.digits) ||
      !recognise_set_params(x->arena, params.at, &source) || !take_weights(x))
    return false;
  x->graph->source = text_new(x->arena);
  text_puts(&x->graph->source, source);
  return x->graph->kept = true;
}
