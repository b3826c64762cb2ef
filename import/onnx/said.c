/* Models in ONNX's operators, for readers of other formats. */
#include "import/onnx/said.h"

#include <inttypes.h>
#include <string.h>

void said_open(struct onnx_said *s, struct graph *graph) {
  *s = (struct onnx_said){.graph = graph,
                          .arena = graph->arena,
                          .x = {.graph = graph, .arena = graph->arena},
                          .buffers = text_new(graph->arena)};
}

char *said_copy(struct onnx_said *s, const char *text) {
  return arena_copy(s->arena, text, strlen(text));
}

/* Nodes */

Onnx__NodeProto *said_node(struct onnx_said *s, const char *type, size_t ins,
                           size_t outs) {
  Onnx__NodeProto *node = emit_open(&s->x, type);
  node->name = said_copy(s, s->at);
  node->domain = said_copy(s, "");
  node->input = arena_alloc(s->arena, ins + 1, sizeof *node->input);
  node->output = arena_alloc(s->arena, outs + 1, sizeof *node->output);
  *VEC_PUSH(s->arena, &s->nodes) = node;
  return node;
}

void said_take(struct onnx_said *s, Onnx__NodeProto *node, const char *value) {
  node->input[node->n_input++] = said_copy(s, value ? value : "");
}

void said_give(struct onnx_said *s, Onnx__NodeProto *node, const char *value) {
  node->output[node->n_output++] = said_copy(s, value);
}

const char *said_between(struct onnx_said *s, Onnx__NodeProto *node) {
  const char *name = graph_text(s->graph, "%s (%zu)", s->at, s->nodes.count);
  said_give(s, node, name);
  return name;
}

/* Constants */

Onnx__TensorProto *said_tensor(struct onnx_said *s, const char *name, int type,
                               const int64_t *dims, int rank) {
  Onnx__TensorProto *c = ARENA_NEW(s->arena, Onnx__TensorProto);
  *c = (Onnx__TensorProto)ONNX__TENSOR_PROTO__INIT;
  c->name = said_copy(s, name);
  c->has_data_type = 1;
  c->data_type = type;
  c->n_dims = (size_t)rank;
  c->dims = arena_alloc(s->arena, MOST_AXES, sizeof *c->dims);
  if (rank)
    memcpy(c->dims, dims, (size_t)rank * sizeof *dims);
  *VEC_PUSH(s->arena, &s->constants) = c;
  return c;
}

static void put_entry(struct onnx_said *s, Onnx__TensorProto *c,
                      const char *key, const char *value) {
  Onnx__StringStringEntryProto *entry =
      ARENA_NEW(s->arena, Onnx__StringStringEntryProto);
  *entry = (Onnx__StringStringEntryProto)ONNX__STRING_STRING_ENTRY_PROTO__INIT;
  entry->key = said_copy(s, key);
  entry->value = said_copy(s, value);
  c->external_data[c->n_external_data++] = entry;
}

void said_stored(struct onnx_said *s, Onnx__TensorProto *c, const char *file,
                 uint64_t at, uint64_t bytes) {
  c->has_data_location = 1;
  c->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
  c->external_data = arena_alloc(s->arena, 3, sizeof *c->external_data);
  put_entry(s, c, "location", file);
  put_entry(s, c, "offset", graph_text(s->graph, "%" PRIu64, at));
  put_entry(s, c, "length", graph_text(s->graph, "%" PRIu64, bytes));
}

void said_buffer(struct onnx_said *s, const Onnx__TensorProto *c) {
  text_printf(&s->buffers, "%s%s", s->buffers.length ? " " : "", c->name);
}

static Onnx__TensorProto *constant(struct onnx_said *s, int type,
                                   const int64_t *dims, int rank) {
  Onnx__TensorProto *c =
      said_tensor(s, graph_text(s->graph, "constant/%zu", s->constants.count),
                  type, dims, rank);
  said_buffer(s, c);
  return c;
}

static const char *whole(struct onnx_said *s, const int64_t *values, int count,
                         int rank) {
  int64_t dim = count;
  Onnx__TensorProto *c = constant(s, TYPE_INT64, &dim, rank);
  c->n_int64_data = (size_t)count;
  c->int64_data = arena_alloc(s->arena, (size_t)count + 1, sizeof dim);
  memcpy(c->int64_data, values, (size_t)count * sizeof *values);
  return c->name;
}

const char *said_ints(struct onnx_said *s, const int64_t *values, int count) {
  return whole(s, values, count, 1);
}

const char *said_int(struct onnx_said *s, int64_t value) {
  return whole(s, &value, 1, 0);
}

static const char *real(struct onnx_said *s, double value, int64_t count,
                        int rank) {
  Onnx__TensorProto *c = constant(s, TYPE_FLOAT, &count, rank);
  c->n_float_data = (size_t)count;
  c->float_data = arena_alloc(s->arena, (size_t)count, sizeof *c->float_data);
  for (int64_t i = 0; i < count; i++)
    c->float_data[i] = (float)value;
  return c->name;
}

const char *said_real(struct onnx_said *s, double value) {
  return real(s, value, 1, 0);
}

const char *said_reals(struct onnx_said *s, double value, int64_t count) {
  return real(s, value, count, 1);
}

const char *said_list(struct onnx_said *s, const double *values, int count) {
  int64_t dim = count;
  Onnx__TensorProto *c = constant(s, TYPE_FLOAT, &dim, 1);
  c->n_float_data = (size_t)count;
  c->float_data = arena_alloc(s->arena, (size_t)count, sizeof *c->float_data);
  for (int i = 0; i < count; i++)
    c->float_data[i] = (float)values[i];
  return c->name;
}

/* Types */

static Onnx__TensorShapeProto__Dimension *size_of(struct onnx_said *s,
                                                  int64_t size) {
  Onnx__TensorShapeProto__Dimension *dim =
      ARENA_NEW(s->arena, Onnx__TensorShapeProto__Dimension);
  *dim = (Onnx__TensorShapeProto__Dimension)
      ONNX__TENSOR_SHAPE_PROTO__DIMENSION__INIT;
  if (size >= 0) {
    dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    dim->dim_value = size;
  }
  return dim;
}

Onnx__ValueInfoProto *said_info(struct onnx_said *s, const char *name, int type,
                                const int64_t *dims, int rank) {
  Onnx__ValueInfoProto *value = ARENA_NEW(s->arena, Onnx__ValueInfoProto);
  Onnx__TypeProto *is = ARENA_NEW(s->arena, Onnx__TypeProto);
  Onnx__TypeProto__Tensor *tensor =
      ARENA_NEW(s->arena, Onnx__TypeProto__Tensor);
  Onnx__TensorShapeProto *shape = ARENA_NEW(s->arena, Onnx__TensorShapeProto);
  *value = (Onnx__ValueInfoProto)ONNX__VALUE_INFO_PROTO__INIT;
  *is = (Onnx__TypeProto)ONNX__TYPE_PROTO__INIT;
  *tensor = (Onnx__TypeProto__Tensor)ONNX__TYPE_PROTO__TENSOR__INIT;
  *shape = (Onnx__TensorShapeProto)ONNX__TENSOR_SHAPE_PROTO__INIT;
  value->name = said_copy(s, name);
  value->type = is;
  is->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  is->tensor_type = tensor;
  tensor->has_elem_type = 1;
  tensor->elem_type = type;
  tensor->shape = shape;
  shape->dim = arena_alloc(s->arena, MOST_AXES, sizeof *shape->dim);
  for (int i = 0; i < rank; i++)
    shape->dim[shape->n_dim++] = size_of(s, dims[i]);
  return value;
}

Onnx__ModelProto *said_model(struct onnx_said *s, const char *name, int opset) {
  Onnx__ModelProto *model = ARENA_NEW(s->arena, Onnx__ModelProto);
  Onnx__GraphProto *g = ARENA_NEW(s->arena, Onnx__GraphProto);
  Onnx__OperatorSetIdProto *set = ARENA_NEW(s->arena, Onnx__OperatorSetIdProto);
  Onnx__StringStringEntryProto *entry =
      ARENA_NEW(s->arena, Onnx__StringStringEntryProto);
  *model = (Onnx__ModelProto)ONNX__MODEL_PROTO__INIT;
  *g = (Onnx__GraphProto)ONNX__GRAPH_PROTO__INIT;
  *set = (Onnx__OperatorSetIdProto)ONNX__OPERATOR_SET_ID_PROTO__INIT;
  *entry = (Onnx__StringStringEntryProto)ONNX__STRING_STRING_ENTRY_PROTO__INIT;
  set->has_version = 1;
  set->version = opset;
  model->graph = g;
  model->n_opset_import = 1;
  model->opset_import = arena_alloc(s->arena, 1, sizeof set);
  model->opset_import[0] = set;
  entry->key = said_copy(s, "netc.buffers");
  entry->value = said_copy(s, text_string(&s->buffers));
  model->n_metadata_props = 1;
  model->metadata_props = arena_alloc(s->arena, 1, sizeof entry);
  model->metadata_props[0] = entry;
  g->name = said_copy(s, name);
  g->n_node = s->nodes.count;
  g->node = s->nodes.at;
  g->n_initializer = s->constants.count;
  g->initializer = s->constants.at;
  g->n_input = s->inputs.count;
  g->input = s->inputs.at;
  g->n_output = s->outputs.count;
  g->output = s->outputs.at;
  g->n_value_info = s->values.count;
  g->value_info = s->values.at;
  return model;
}
