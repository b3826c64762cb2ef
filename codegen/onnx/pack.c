/*
 * A model as the bytes of a file. Weights that are not given are nodes that
 * fill their shape, as those of ONNX's own light models are; so every tool
 * opens and runs it.
 */
#include <string.h>

#include "codegen/onnx/onnx.h"
#include "onnx.pb-c.h"

enum { IR_VERSION = 8 };

struct packing {
  struct arena *arena;
  struct onnx_model *model;
  const struct onnx_weights *from;
  int64_t offset; /* in the file beside it */
  VEC(Onnx__NodeProto *) nodes;
  VEC(Onnx__TensorProto *) tensors;
  VEC(Onnx__ValueInfoProto *) values;
};

/* protobuf-c's texts are not const, but it leaves them alone. */
static char *text_of(const char *text) {
  union {
    const char *in;
    char *out;
  } same = {text};
  return same.out;
}

static char *name_of(const struct packing *p, value_id id) {
  static char none[1];
  return id == NO_VALUE ? none : text_of(model_at(p->model, id)->name);
}

#define MESSAGE(p, type, INIT, to)                   \
  type *to = arena_alloc((p)->arena, 1, sizeof *to); \
  *to = (type)INIT

/* Types */

static Onnx__TypeProto *type_of(struct packing *p,
                                const struct model_value *value) {
  MESSAGE(p, Onnx__TypeProto, ONNX__TYPE_PROTO__INIT, type);
  MESSAGE(p, Onnx__TypeProto__Tensor, ONNX__TYPE_PROTO__TENSOR__INIT, tensor);
  MESSAGE(p, Onnx__TensorShapeProto, ONNX__TENSOR_SHAPE_PROTO__INIT, shape);
  shape->n_dim = (size_t)value->rank;
  shape->dim = arena_alloc(p->arena, shape->n_dim + 1, sizeof *shape->dim);
  for (int i = 0; i < value->rank; i++) {
    MESSAGE(p, Onnx__TensorShapeProto__Dimension,
            ONNX__TENSOR_SHAPE_PROTO__DIMENSION__INIT, dim);
    dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    dim->dim_value = value->dim[i];
    shape->dim[i] = dim;
  }
  tensor->has_elem_type = 1;
  tensor->elem_type = (int32_t)value->type;
  tensor->shape = shape;
  type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  type->tensor_type = tensor;
  return type;
}

static Onnx__ValueInfoProto *info_of(struct packing *p, value_id id) {
  MESSAGE(p, Onnx__ValueInfoProto, ONNX__VALUE_INFO_PROTO__INIT, info);
  info->name = name_of(p, id);
  info->type = type_of(p, model_at(p->model, id));
  return info;
}

static Onnx__ValueInfoProto **infos_of(struct packing *p, const value_id *ids,
                                       size_t count) {
  Onnx__ValueInfoProto **infos =
      arena_alloc(p->arena, count + 1, sizeof *infos);
  for (size_t i = 0; i < count; i++)
    infos[i] = info_of(p, ids[i]);
  return infos;
}

/* Constants */

static Onnx__TensorProto *tensor_of(struct packing *p, const char *name,
                                    enum onnx_element type, int rank,
                                    const int64_t *dims) {
  MESSAGE(p, Onnx__TensorProto, ONNX__TENSOR_PROTO__INIT, tensor);
  tensor->name = text_of(name);
  tensor->has_data_type = 1;
  tensor->data_type = (int32_t)type;
  tensor->n_dims = (size_t)rank;
  tensor->dims = arena_alloc(p->arena, (size_t)rank + 1, sizeof *tensor->dims);
  for (int i = 0; i < rank; i++)
    tensor->dims[i] = dims[i];
  return tensor;
}

/* As numbers, not as bytes: the order of bytes is then the library's. */
static void set_data(struct packing *p, Onnx__TensorProto *tensor,
                     const struct model_value *value) {
  void *copy = arena_alloc(p->arena, value->bytes + 1, 1);
  memcpy(copy, value->data, value->bytes);
  if (value->type == ELEMENT_INT64) {
    tensor->int64_data = copy;
    tensor->n_int64_data = value->bytes / sizeof(int64_t);
  } else {
    tensor->float_data = copy;
    tensor->n_float_data = value->bytes / sizeof(float);
  }
}

static void add_entry(struct packing *p, Onnx__TensorProto *tensor,
                      const char *key, const char *value) {
  MESSAGE(p, Onnx__StringStringEntryProto,
          ONNX__STRING_STRING_ENTRY_PROTO__INIT, entry);
  entry->key = text_of(key);
  entry->value = text_of(value);
  tensor->external_data[tensor->n_external_data++] = entry;
}

static const char *number_text(struct packing *p, int64_t number) {
  struct text text = text_new(p->arena);
  text_int(&text, number);
  return arena_copy(p->arena, text.at, text.length);
}

static void set_outside(struct packing *p, Onnx__TensorProto *tensor,
                        int64_t count) {
  tensor->external_data =
      arena_alloc(p->arena, 3, sizeof *tensor->external_data);
  add_entry(p, tensor, "location", p->from->beside);
  add_entry(p, tensor, "offset", number_text(p, p->offset));
  add_entry(p, tensor, "length", number_text(p, count * 4));
  tensor->has_data_location = 1;
  tensor->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
  p->offset += count * 4;
}

/* What a file has as float32 goes through as it is. */
static void set_inside(struct packing *p, Onnx__TensorProto *tensor,
                       size_t weight, int64_t count) {
  union {
    const void *in;
    uint8_t *out;
  } same = {p->from->lie(p->from->user, weight)};
  if (same.in) {
    tensor->has_raw_data = 1;
    tensor->raw_data.data = same.out;
    tensor->raw_data.len = (size_t)count * 4;
    return;
  }
  tensor->float_data =
      arena_alloc(p->arena, (size_t)count + 1, sizeof *tensor->float_data);
  tensor->n_float_data = (size_t)count;
  p->from->read(p->from->user, weight, tensor->float_data);
}

static void add_weight(struct packing *p, value_id id) {
  struct model_value *value = &p->model->values.at[id];
  size_t number = (size_t)value->weight;
  int64_t count = p->model->weights.at[number].count;
  Onnx__TensorProto *tensor =
      tensor_of(p, value->name, ELEMENT_FLOAT, value->rank, value->dim);
  if (p->from->beside) {
    set_outside(p, tensor, count);
    p->from->append(p->from->user, number);
  } else {
    set_inside(p, tensor, number, count);
  }
  *VEC_PUSH(p->arena, &p->tensors) = tensor;
}

static void add_constant(struct packing *p, value_id id) {
  const struct model_value *value = model_at(p->model, id);
  Onnx__TensorProto *tensor =
      tensor_of(p, value->name, value->type, value->rank, value->dim);
  set_data(p, tensor, value);
  *VEC_PUSH(p->arena, &p->tensors) = tensor;
}

/* Nodes */

static Onnx__TensorProto *fill_of(struct packing *p, float with) {
  const int64_t one[1] = {1};
  Onnx__TensorProto *tensor = tensor_of(p, NULL, ELEMENT_FLOAT, 1, one);
  tensor->n_float_data = 1;
  tensor->float_data = arena_alloc(p->arena, 1, sizeof(float));
  tensor->float_data[0] = with;
  return tensor;
}

static Onnx__AttributeProto *attribute_of(struct packing *p,
                                          const struct attribute *from) {
  static const Onnx__AttributeProto__AttributeType types[] = {
      [ATTRIBUTE_INT] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT,
      [ATTRIBUTE_INTS] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS,
      [ATTRIBUTE_FLOAT] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT,
      [ATTRIBUTE_TEXT] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING,
      [ATTRIBUTE_FILL] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR};
  MESSAGE(p, Onnx__AttributeProto, ONNX__ATTRIBUTE_PROTO__INIT, to);
  to->name = text_of(from->name);
  to->has_type = 1;
  to->type = types[from->type];
  switch (from->type) {
  case ATTRIBUTE_INT:
    to->has_i = 1;
    to->i = from->number;
    break;
  case ATTRIBUTE_INTS:
    to->n_ints = from->count;
    to->ints = arena_alloc(p->arena, from->count + 1, sizeof *to->ints);
    memcpy(to->ints, from->numbers, from->count * sizeof *to->ints);
    break;
  case ATTRIBUTE_FLOAT:
    to->has_f = 1;
    to->f = from->real;
    break;
  case ATTRIBUTE_TEXT:
    to->has_s = 1;
    to->s.data = (uint8_t *)text_of(from->text);
    to->s.len = strlen(from->text);
    break;
  case ATTRIBUTE_FILL: to->t = fill_of(p, from->real); break;
  }
  return to;
}

static void add_node(struct packing *p, const struct onnx_node *from) {
  MESSAGE(p, Onnx__NodeProto, ONNX__NODE_PROTO__INIT, to);
  to->name = name_of(p, from->out);
  to->op_type = text_of(from->op);
  to->n_input = from->in_count;
  to->n_output = from->second == NO_VALUE ? 1 : 2;
  to->n_attribute = from->attributes.count;
  to->input = arena_alloc(p->arena, to->n_input + 1, sizeof *to->input);
  to->output = arena_alloc(p->arena, 2, sizeof *to->output);
  to->attribute =
      arena_alloc(p->arena, to->n_attribute + 1, sizeof *to->attribute);
  for (size_t i = 0; i < to->n_input; i++)
    to->input[i] = name_of(p, from->ins[i]);
  to->output[0] = name_of(p, from->out);
  to->output[1] = name_of(p, from->second);
  for (size_t i = 0; i < to->n_attribute; i++)
    to->attribute[i] = attribute_of(p, &from->attributes.at[i]);
  *VEC_PUSH(p->arena, &p->nodes) = to;
}

/* The graph */

/* The shape of everything that is neither an input nor an output. */
static void add_values(struct packing *p) {
  for (size_t i = 0; i < p->model->values.count; i++) {
    const struct model_value *value = model_at(p->model, (value_id)i);
    if (value->from == FROM_CONSTANT && value->weight >= 0)
      add_weight(p, (value_id)i);
    else if (value->from == FROM_CONSTANT)
      add_constant(p, (value_id)i);
    else if (value->from == FROM_NODE && !value->output)
      *VEC_PUSH(p->arena, &p->values) = info_of(p, (value_id)i);
  }
}

static Onnx__GraphProto *graph_of(struct packing *p) {
  struct onnx_model *m = p->model;
  MESSAGE(p, Onnx__GraphProto, ONNX__GRAPH_PROTO__INIT, graph);
  for (size_t i = 0; i < m->fills.count; i++)
    add_node(p, &m->fills.at[i]);
  for (size_t i = 0; i < m->nodes.count; i++)
    add_node(p, &m->nodes.at[i]);
  add_values(p);
  graph->name = text_of(m->name);
  graph->n_node = p->nodes.count;
  graph->node = p->nodes.at;
  graph->n_initializer = p->tensors.count;
  graph->initializer = p->tensors.at;
  graph->n_input = m->inputs.count;
  graph->input = infos_of(p, m->inputs.at, m->inputs.count);
  graph->n_output = m->outputs.count;
  graph->output = infos_of(p, m->outputs.at, m->outputs.count);
  graph->n_value_info = p->values.count;
  graph->value_info = p->values.at;
  return graph;
}

struct text_buffer {
  ProtobufCBuffer base;
  struct text text;
};

static void append(ProtobufCBuffer *buffer, size_t length,
                   const uint8_t *bytes) {
  text_bytes(&((struct text_buffer *)(void *)buffer)->text, (const char *)bytes,
             length);
}

/*
 * ONNX does not tell buffers from parameters: netc's own reader finds their
 * names in the model's metadata, with blanks between. Those of batch norms
 * have a place of their own.
 */
static void put_buffers(struct packing *p, Onnx__ModelProto *model) {
  struct text names = text_new(p->arena);
  for (size_t i = 0; i < p->model->values.count; i++) {
    const struct model_value *value = &p->model->values.at[i];
    struct slice name = slice_of(value->name);
    if (value->weight < 0 || !p->model->weights.at[value->weight].buffer ||
        slice_ends(name, "running_mean") || slice_ends(name, "running_var"))
      continue;
    text_put(&names, names.length ? " " : "");
    text_put(&names, value->name);
  }
  if (names.length == 0)
    return;
  MESSAGE(p, Onnx__StringStringEntryProto,
          ONNX__STRING_STRING_ENTRY_PROTO__INIT, entry);
  Onnx__StringStringEntryProto **entries =
      arena_alloc(p->arena, 1, sizeof *entries);
  entry->key = text_of("netc.buffers");
  entry->value = text_of(arena_copy(p->arena, names.at, names.length));
  *entries = entry;
  model->n_metadata_props = 1;
  model->metadata_props = entries;
}

int64_t onnx_weight_bytes(const struct onnx_model *m) {
  int64_t bytes = 0;
  for (size_t i = 0; i < m->values.count; i++)
    if (m->values.at[i].weight >= 0 && m->values.at[i].from == FROM_CONSTANT)
      bytes += m->weights.at[m->values.at[i].weight].count * 4;
  return bytes;
}

void onnx_write(struct onnx_model *m, const struct onnx_weights *from,
                netc_sink_fn *sink, void *user) {
  struct packing *p =
      &(struct packing){.arena = m->arena, .model = m, .from = from};
  model_name_values(m);
  MESSAGE(p, Onnx__ModelProto, ONNX__MODEL_PROTO__INIT, model);
  MESSAGE(p, Onnx__OperatorSetIdProto, ONNX__OPERATOR_SET_ID_PROTO__INIT, set);
  struct text_buffer buffer = {{append}, text_to(m->arena, sink, user)};
  set->domain = text_of("");
  set->has_version = 1;
  set->version = m->opset;
  model->has_ir_version = 1;
  model->ir_version = IR_VERSION;
  model->producer_name = text_of("netc");
  model->producer_version = text_of(NETC_VERSION);
  model->n_opset_import = 1;
  model->opset_import = &set;
  model->graph = graph_of(p);
  put_buffers(p, model);
  onnx__model_proto__pack_to_buffer(model, &buffer.base);
  text_flush(&buffer.text);
}
