/* Translates OpenVINO's IR into an ONNX model for the ONNX reader. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

/* Marks the layers that another one reads. */
static bool *find_read(struct ir *ir) {
  bool *read = arena_alloc(ir->arena, ir->layers.count, sizeof *read);
  for (size_t i = 0; i < ir->layers.count; i++) {
    const struct ir_layer *layer = ir->layers.at[i];
    for (size_t k = 0; k < layer->in.all.count; k++)
      if (layer->in.all.at[k].from)
        read[layer->in.all.at[k].from->index] = true;
  }
  return read;
}

/* Marks the layers that results depend on; layers are sorted. Inputs that only
 * give shapes are not needed. */
static bool *find_needed(struct ir *ir, const bool *read) {
  size_t count = ir->layers.count;
  bool *needed = arena_alloc(ir->arena, count, sizeof *needed);
  for (size_t i = count; i-- > 0;) {
    const struct ir_layer *layer = ir->layers.at[i];
    needed[i] = needed[i] || strcmp(layer->type, "Result") == 0 ||
                strcmp(layer->type, "Parameter") == 0 ||
                (ir->old && !read[i] && strcmp(layer->type, "Const") != 0);
    size_t uses = needed[i] ? ir_uses(layer) : 0;
    for (size_t k = 0; k < layer->in.all.count && k < uses; k++)
      if (layer->in.all.at[k].from)
        needed[layer->in.all.at[k].from->index] = true;
  }
  return needed;
}

/* The outputs of a layer that nothing reads are the net's. */
static void give_end(struct ir *ir, const struct ir_layer *layer) {
  for (size_t i = 0; i < layer->out.all.count; i++)
    if (layer->out.all.at[i].value && strcmp(layer->type, "Input") != 0)
      *VEC_PUSH(ir->arena, &ir->s.outputs) =
          ir_info(ir, layer->out.all.at[i].value, &layer->out.all.at[i]);
}

static bool is_there(const struct ir *ir) {
  struct byte_store store;
  bool opened = byte_store_open(
      &store, graph_text(ir->graph, "%s/%s", ir->options->folder, ir->bin));
  byte_store_close(&store);
  return opened;
}

bool openvino_read(struct graph *graph, struct slice file,
                   const struct import_options *options) {
  struct ir ir = {.graph = graph, .arena = graph->arena, .options = options};
  struct byte_store store = byte_store_of(file);
  said_open(&ir.s, graph);
  ir.bin = bin_beside(&ir);
  ir.absent = !options->folder || !is_there(&ir);
  if (!ir_parse(&ir, file))
    return false;
  const bool *read = find_read(&ir), *needed = find_needed(&ir, read);
  for (size_t i = 0; i < ir.layers.count; i++)
    if (needed[i] && !ir_say(&ir, ir.layers.at[i]))
      return false;
  for (size_t i = 0; ir.old && i < ir.layers.count; i++)
    if (needed[i] && !read[i])
      give_end(&ir, ir.layers.at[i]);
  return onnx_read_model(graph, &store, said_model(&ir.s, ir.name, OPSET),
                         options);
}
