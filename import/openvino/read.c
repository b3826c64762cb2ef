/* Translates OpenVINO's IR into an ONNX model for the ONNX reader. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "import/openvino/openvino.h"

enum { OPSET = 17 };

const char *ir_attribute(const struct ir *ir, const char *name) {
  for (size_t i = 0; i < ir->at->attributes.count; i++)
    if (strcmp(ir->at->attributes.at[i].name, name) == 0)
      return ir->at->attributes.at[i].value;
  return NULL;
}

int ir_numbers(const char *text, int64_t *to, int most) {
  int count = 0;
  for (; *text; text += strspn(text, ", \t\r\n")) {
    char *end;
    int64_t number = strtoll(text, &end, 10);
    if (end == text || (*end && !strchr(", \t\r\n", *end)) || count == most ||
        number > INT64_MAX / 2 || number < -INT64_MAX / 2)
      return -1;
    to[count++] = number;
    text = end;
  }
  return count;
}

/* "net.bin" for "nets/net.xml" */
static const char *bin_beside(struct ir *ir) {
  const char *path = ir->options->path ? ir->options->path : "net.xml";
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
  int length = (int)(dot ? (size_t)(dot - name) : strlen(name));
  return graph_text(ir->graph, "%.*s.bin", length, name);
}

/* Marks the layers that results depend on; layers are sorted. Inputs that only
 * give shapes are not needed. */
static bool *find_needed(struct ir *ir) {
  size_t count = ir->layers.count;
  bool *needed = arena_alloc(ir->arena, count, sizeof *needed);
  for (size_t i = count; i-- > 0;) {
    const struct ir_layer *layer = ir->layers.at[i];
    needed[i] = needed[i] || strcmp(layer->type, "Result") == 0 ||
                strcmp(layer->type, "Parameter") == 0;
    size_t uses = needed[i] ? ir_uses(layer) : 0;
    for (size_t k = 0; k < layer->in.all.count && k < uses; k++)
      if (layer->in.all.at[k].from)
        needed[layer->in.all.at[k].from->index] = true;
  }
  return needed;
}

static Onnx__ModelProto *model_of(struct ir *ir) {
  Onnx__ModelProto *model = ARENA_NEW(ir->arena, Onnx__ModelProto);
  Onnx__GraphProto *g = ARENA_NEW(ir->arena, Onnx__GraphProto);
  Onnx__OperatorSetIdProto *set =
      ARENA_NEW(ir->arena, Onnx__OperatorSetIdProto);
  *model = (Onnx__ModelProto)ONNX__MODEL_PROTO__INIT;
  *g = (Onnx__GraphProto)ONNX__GRAPH_PROTO__INIT;
  *set = (Onnx__OperatorSetIdProto)ONNX__OPERATOR_SET_ID_PROTO__INIT;
  set->has_version = 1;
  set->version = OPSET;
  model->graph = g;
  model->n_opset_import = 1;
  model->opset_import = arena_alloc(ir->arena, 1, sizeof set);
  model->opset_import[0] = set;
  g->name = arena_copy(ir->arena, ir->name, strlen(ir->name));
  g->n_node = ir->nodes.count;
  g->node = ir->nodes.at;
  g->n_initializer = ir->constants.count;
  g->initializer = ir->constants.at;
  g->n_input = ir->inputs.count;
  g->input = ir->inputs.at;
  g->n_output = ir->outputs.count;
  g->output = ir->outputs.at;
  g->n_value_info = ir->values.count;
  g->value_info = ir->values.at;
  return model;
}

bool openvino_read(struct graph *graph, struct slice file,
                   const struct import_options *options) {
  struct ir ir = {.graph = graph,
                  .arena = graph->arena,
                  .options = options,
                  .x = {.graph = graph, .arena = graph->arena}};
  struct byte_store store = byte_store_of(file);
  ir.bin = bin_beside(&ir);
  ir.absent =
      !options->folder ||
      !file_identify(graph_text(graph, "%s/%s", options->folder, ir.bin)).known;
  if (!ir_parse(&ir, file))
    return false;
  const bool *needed = find_needed(&ir);
  for (size_t i = 0; i < ir.layers.count; i++)
    if (needed[i] && !ir_say(&ir, ir.layers.at[i]))
      return false;
  return onnx_read_model(graph, &store, model_of(&ir), options);
}
