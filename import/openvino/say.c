/* Makes the nodes and constants of ONNX with which operations.c translates. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "import/openvino/openvino.h"

/* Value types: IR's words in constants and at ports, and ONNX's number. */
static const struct ir_type types[] = {
    {"f32", "FP32", 1, 4, true},     {"f16", "FP16", 10, 2, true},
    {"bf16", "BF16", 16, 2, true},   {"f64", "FP64", 11, 8, true},
    {"i64", "I64", 7, 8, false},     {"i32", "I32", 6, 4, false},
    {"i16", "I16", 5, 2, false},     {"i8", "I8", 3, 1, false},
    {"u64", "U64", 13, 8, false},    {"u32", "U32", 12, 4, false},
    {"u16", "U16", 4, 2, false},     {"u8", "U8", 2, 1, false},
    {"boolean", "BOOL", 9, 1, false}};

const struct ir_type *ir_type_of(const char *word) {
  for (size_t i = 0; word && i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i].word, word) == 0 || strcmp(types[i].port, word) == 0)
      return &types[i];
  return NULL;
}

char *ir_copy(struct ir *ir, const char *text) {
  return said_copy(&ir->s, text);
}

/* Nodes */

const struct ir_port *ir_source(const struct ir_port *port) {
  struct ir_layer *from = port->from;
  for (size_t i = 0; from && i < from->out.all.count; i++)
    if (strcmp(from->out.all.at[i].id, port->from_port) == 0)
      return &from->out.all.at[i];
  return NULL;
}

const struct ir_port *ir_in(struct ir *ir, const struct ir_layer *layer,
                            size_t i) {
  if (i < layer->in.all.count)
    return &layer->in.all.at[i];
  ir_fail(ir, "input %zu is missing", i);
  return NULL;
}

/* The name of an input's value; NULL with an error if no layer has it. */
const char *ir_value(struct ir *ir, const struct ir_layer *layer, size_t i) {
  const struct ir_port *port = ir_in(ir, layer, i);
  const struct ir_port *from = port ? ir_source(port) : NULL;
  if (!from || !from->value)
    ir_fail(ir, "input %zu is not produced by any earlier layer", i);
  return from ? from->value : NULL;
}

Onnx__ValueInfoProto *ir_info(struct ir *ir, const char *name,
                              const struct ir_port *port) {
  const struct ir_type *element = ir_type_of(port->precision);
  return said_info(&ir->s, name, element ? element->onnx : TYPE_FLOAT,
                   port->dims, port->rank);
}

Onnx__NodeProto *ir_node(struct ir *ir, const char *type) {
  ir->s.at = ir->at->name;
  return said_node(&ir->s, type, ir->at->in.all.count + 4,
                   ir->at->out.all.count + 1);
}

void ir_take(struct ir *ir, Onnx__NodeProto *node, const char *value) {
  said_take(&ir->s, node, value);
}

Onnx__NodeProto *ir_reader(struct ir *ir, const char *type,
                           const char *const *values, size_t count) {
  Onnx__NodeProto *node = ir_node(ir, type);
  for (size_t i = 0; i < count; i++)
    ir_take(ir, node, values[i]);
  return node;
}

const char *ir_between(struct ir *ir, Onnx__NodeProto *node) {
  return said_between(&ir->s, node);
}

/* Gives the layer's outputs to the node. */
bool ir_give(struct ir *ir, struct ir_layer *layer, Onnx__NodeProto *node) {
  for (size_t i = 0; i < layer->out.all.count; i++) {
    struct ir_port *port = &layer->out.all.at[i];
    port->value =
        i ? graph_text(ir->graph, "%s.%zu", layer->name, i) : layer->name;
    node->output[node->n_output++] = ir_copy(ir, port->value);
    *VEC_PUSH(ir->arena, &ir->s.values) = ir_info(ir, port->value, port);
  }
  return true;
}

/* Gives the layer's input as its output. */
bool ir_give_same(struct ir *ir, struct ir_layer *layer) {
  const char *value = ir_value(ir, layer, 0);
  for (size_t i = 0; i < layer->out.all.count; i++)
    layer->out.all.at[i].value = value;
  return value != NULL;
}

/* Constants */

Onnx__TensorProto *ir_constant(struct ir *ir, const char *name, int type,
                               const int64_t *dims, int rank) {
  return said_tensor(&ir->s, name, type, dims, rank);
}

const char *ir_put_ints(struct ir *ir, const int64_t *values, int count) {
  return said_ints(&ir->s, values, count);
}

const char *ir_put_real(struct ir *ir, const char *text) {
  return said_real(&ir->s, text ? (double)strtof(text, NULL) : 0);
}

const struct ir_type *ir_constant_type(const struct ir *ir,
                                       const struct ir_layer *layer) {
  const char *word = ir_attribute(ir, "element_type");
  return ir_type_of(word || layer->out.all.count == 0
                        ? word
                        : layer->out.all.at[0].precision);
}

const struct ir_layer *ir_constant_before(const struct ir_port *port) {
  const struct ir_layer *from = port->from;
  while (from && strcmp(from->type, "Convert") == 0 && from->in.all.count)
    from = from->in.all.at[0].from;
  return from && strcmp(from->type, "Const") == 0 ? from : NULL;
}

/* Reads the integers of a constant input; -1 with an error. */
int ir_read_ints(struct ir *ir, const struct ir_layer *layer, size_t index,
                 int64_t *to, int most) {
  const struct ir_layer *outer = ir->at;
  const struct ir_port *port = ir_in(ir, layer, index);
  const struct ir_layer *c = port ? ir_constant_before(port) : NULL;
  int64_t offset, size;
  struct byte_store store;
  unsigned char bytes[8 * 2 * MOST_AXES];
  if (!c) {
    ir_fail(ir, "input %zu is not a constant", index);
    return -1;
  }
  ir->at = c;
  const struct ir_type *type = ir_constant_type(ir, c);
  const char *at = ir_attribute(ir, "offset"), *all = ir_attribute(ir, "size");
  bool right = type && !type->real && at && all &&
               ir_numbers(at, &offset, 1) == 1 &&
               ir_numbers(all, &size, 1) == 1 && size % type->bytes == 0 &&
               size <= (int64_t)sizeof bytes && size / type->bytes <= most;
  ir->at = outer;
  if (!right) {
    ir_fail(ir, "input %zu does not have supported integers", index);
    return -1;
  }
  const char *folder = ir->options->folder;
  const char *path =
      graph_text(ir->graph, "%s/%s", folder ? folder : "/dev/null", ir->bin);
  if (!byte_store_open(&store, path) ||
      !byte_store_read(&store, (uint64_t)offset, bytes, (size_t)size)) {
    ir_fail(ir, "its numbers are in `%s`, which cannot be read: %s", ir->bin,
            store.fault);
    graph_help(ir->graph, "put that file into the folder of the .xml");
    right = false;
  }
  byte_store_close(&store);
  struct byte_store read =
      byte_store_of((struct slice){(const char *)bytes, (size_t)size});
  struct byte_reader r;
  bytes_open(&r, &read, 0, (uint64_t)size);
  int count = (int)(size / type->bytes);
  for (int i = 0; right && i < count; i++)
    to[i] = bytes_signed(&r, type->bytes);
  return right ? count : -1;
}

/* The first output's shape as a constant; all sizes but one must be known. */
const char *ir_put_shape(struct ir *ir, const struct ir_layer *layer) {
  const struct ir_port *out = layer->out.all.at;
  int open = 0;
  for (int i = 0; i < out->rank; i++)
    open += out->dims[i] < 0;
  if (open > 1)
    ir_fail(ir, "its output leaves sizes open");
  return ir_put_ints(ir, out->dims, out->rank);
}
