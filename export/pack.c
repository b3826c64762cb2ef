/* Writes a model as the bytes of a file. */
#include <string.h>

#include "export/onnx.h"
#include "export/seal.h"

/*
 * The graph is written message by message, to keep only one in memory: first to
 * measure the lengths, then to the file.
 */
struct packing {
  struct arena arena; /* for the current message */
  struct onnx_model *model;
  const struct onnx_weights *from;
  int64_t offset;         /* in the file beside the model */
  struct sealing *seal;   /* while measuring; NULL: no seal */
  struct text_buffer *to; /* NULL: measuring */
  uint64_t size;
};

/* protobuf-c's strings are not const, but it does not change them. */
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

#define MESSAGE(p, type, INIT, to)                    \
  type *to = arena_alloc(&(p)->arena, 1, sizeof *to); \
  *to = (type)INIT

/* Types */

static Onnx__TypeProto *type_of(struct packing *p,
                                const struct model_value *value) {
  MESSAGE(p, Onnx__TypeProto, ONNX__TYPE_PROTO__INIT, type);
  MESSAGE(p, Onnx__TypeProto__Tensor, ONNX__TYPE_PROTO__TENSOR__INIT, tensor);
  MESSAGE(p, Onnx__TensorShapeProto, ONNX__TENSOR_SHAPE_PROTO__INIT, shape);
  shape->n_dim = (size_t)value->rank;
  shape->dim = arena_alloc(&p->arena, shape->n_dim + 1, sizeof *shape->dim);
  for (int i = 0; i < value->rank; i++) {
    MESSAGE(p, Onnx__TensorShapeProto__Dimension,
            ONNX__TENSOR_SHAPE_PROTO__DIMENSION__INIT, dim);
    const char *open = value->open ? value->open[i] : NULL;
    if (!open) {
      dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
      dim->dim_value = value->dim[i];
    } else if (*open) {
      dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
      dim->dim_param = text_of(open);
    }
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

/* Constants */

static Onnx__TensorProto *tensor_of(struct packing *p, const char *name,
                                    enum onnx_element type, int rank,
                                    const int64_t *dims) {
  MESSAGE(p, Onnx__TensorProto, ONNX__TENSOR_PROTO__INIT, tensor);
  tensor->name = text_of(name);
  tensor->has_data_type = 1;
  tensor->data_type = (int32_t)type;
  tensor->n_dims = (size_t)rank;
  tensor->dims = arena_alloc(&p->arena, (size_t)rank + 1, sizeof *tensor->dims);
  for (int i = 0; i < rank; i++)
    tensor->dims[i] = dims[i];
  return tensor;
}

/* protobuf-c's data are not const either. */
static void *data_of(const struct model_value *value) {
  union {
    const void *in;
    void *out;
  } same = {value->data};
  return same.out;
}

/* Stores numbers, not raw bytes, so that the library handles byte order. */
static void set_data(struct packing *p, Onnx__TensorProto *tensor,
                     const struct model_value *value) {
  if (value->type == ELEMENT_INT8) {
    const int8_t *from = value->data;
    int32_t *to = arena_alloc(&p->arena, value->bytes + 1, sizeof *to);
    for (size_t i = 0; i < value->bytes; i++)
      to[i] = from[i];
    tensor->int32_data = to;
    tensor->n_int32_data = value->bytes;
  } else if (value->type == ELEMENT_INT64) {
    tensor->int64_data = data_of(value);
    tensor->n_int64_data = value->bytes / sizeof(int64_t);
  } else {
    tensor->float_data = data_of(value);
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
  struct text text = text_new(&p->arena);
  text_int(&text, number);
  return arena_copy(&p->arena, text.at, text.length);
}

static void set_outside(struct packing *p, Onnx__TensorProto *tensor,
                        int64_t bytes) {
  tensor->external_data =
      arena_alloc(&p->arena, 3, sizeof *tensor->external_data);
  add_entry(p, tensor, "location", p->from->beside);
  add_entry(p, tensor, "offset", number_text(p, p->offset));
  add_entry(p, tensor, "length", number_text(p, bytes));
  tensor->has_data_location = 1;
  tensor->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
  p->offset += bytes;
}

/* Nodes */

/* A value of a body, whose sizes are those of the loop's operands. */
static Onnx__ValueInfoProto *body_info(struct packing *p, value_id id) {
  MESSAGE(p, Onnx__ValueInfoProto, ONNX__VALUE_INFO_PROTO__INIT, info);
  MESSAGE(p, Onnx__TypeProto, ONNX__TYPE_PROTO__INIT, type);
  MESSAGE(p, Onnx__TypeProto__Tensor, ONNX__TYPE_PROTO__TENSOR__INIT, tensor);
  tensor->has_elem_type = 1;
  tensor->elem_type = (int32_t)model_at(p->model, id)->type;
  type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  type->tensor_type = tensor;
  info->name = name_of(p, id);
  info->type = type;
  return info;
}

static Onnx__ValueInfoProto **body_infos(struct packing *p, const value_id *ids,
                                         size_t count) {
  Onnx__ValueInfoProto **infos =
      arena_alloc(&p->arena, count + 1, sizeof *infos);
  for (size_t i = 0; i < count; i++)
    infos[i] = body_info(p, ids[i]);
  return infos;
}

static Onnx__NodeProto *node_of(struct packing *p,
                                const struct onnx_node *from);

static Onnx__GraphProto *body_of(struct packing *p,
                                 const struct onnx_body *from) {
  MESSAGE(p, Onnx__GraphProto, ONNX__GRAPH_PROTO__INIT, to);
  to->name = text_of("body");
  to->n_node = from->nodes.count;
  to->node = arena_alloc(&p->arena, to->n_node + 1, sizeof *to->node);
  for (size_t i = 0; i < to->n_node; i++) {
    to->node[i] = node_of(p, &from->nodes.at[i]);
    to->node[i]->domain = text_of(""); /* as readers set it, for the seal */
  }
  to->n_input = from->ins.count;
  to->input = body_infos(p, from->ins.at, to->n_input);
  to->n_output = from->out_count;
  to->output = body_infos(p, from->outs, to->n_output);
  return to;
}

static Onnx__AttributeProto *attribute_of(struct packing *p,
                                          const struct attribute *from) {
  static const Onnx__AttributeProto__AttributeType types[] = {
      [ATTRIBUTE_INT] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT,
      [ATTRIBUTE_INTS] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS,
      [ATTRIBUTE_FLOAT] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT,
      [ATTRIBUTE_TEXT] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING,
      [ATTRIBUTE_BODY] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH};
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
    to->ints = arena_alloc(&p->arena, from->count + 1, sizeof *to->ints);
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
  case ATTRIBUTE_BODY: to->g = body_of(p, from->body); break;
  }
  return to;
}

static Onnx__NodeProto *node_of(struct packing *p,
                                const struct onnx_node *from) {
  MESSAGE(p, Onnx__NodeProto, ONNX__NODE_PROTO__INIT, to);
  size_t count = 0;
  to->name = name_of(p, from->out);
  to->op_type = text_of(from->op);
  to->n_input = from->in_count;
  to->n_output = from->second == NO_VALUE ? 1 : 2 + from->skips;
  for (const struct attribute *a = from->attributes; a; a = a->next)
    count++;
  to->input = arena_alloc(&p->arena, to->n_input + 1, sizeof *to->input);
  to->output = arena_alloc(&p->arena, 3, sizeof *to->output);
  to->attribute = arena_alloc(&p->arena, count + 1, sizeof *to->attribute);
  for (size_t i = 0; i < to->n_input; i++)
    to->input[i] = name_of(p, from->ins[i]);
  to->output[0] = name_of(p, from->out);
  to->output[1] = text_of("");
  to->output[1 + from->skips] = name_of(p, from->second);
  for (const struct attribute *a = from->attributes; a; a = a->next)
    to->attribute[to->n_attribute++] = attribute_of(p, a);
  return to;
}

/* The graph */

struct text_buffer {
  ProtobufCBuffer base;
  struct text text;
};

static void append(ProtobufCBuffer *buffer, size_t length,
                   const uint8_t *bytes) {
  text_bytes(&((struct text_buffer *)(void *)buffer)->text, (const char *)bytes,
             length);
}

/* Field numbers in onnx.proto. */
enum {
  MODEL_GRAPH = 7,
  GRAPH_NODE = 1,
  GRAPH_INITIALIZER = 5,
  GRAPH_INPUT = 11,
  GRAPH_OUTPUT = 12,
  GRAPH_VALUE_INFO = 13,
  TENSOR_RAW_DATA = 9,
  BYTES = 2,
};

/* Head of a field: its number and length. */
struct field_head {
  char bytes[16];
  size_t length;
};

static struct field_head head_of(int field, uint64_t length) {
  struct field_head head = {.length = 1};
  head.bytes[0] = (char)(field << 3 | BYTES);
  for (; length > 127; length >>= 7)
    head.bytes[head.length++] = (char)((length & 127) | 128);
  head.bytes[head.length++] = (char)length;
  return head;
}

static void put_head(struct packing *p, int field, uint64_t length) {
  struct field_head head = head_of(field, length);
  p->size += head.length;
  if (p->to)
    text_bytes(&p->to->text, head.bytes, head.length);
}

static void put_fields(struct packing *p, const ProtobufCMessage *message,
                       uint64_t size) {
  p->size += size;
  if (p->to)
    protobuf_c_message_pack_to_buffer(message, &p->to->base);
}

/* Writes a message of a field; `more` bytes of it follow. */
static void put_message(struct packing *p, int field,
                        const ProtobufCMessage *message, uint64_t more) {
  uint64_t size = protobuf_c_message_get_packed_size(message);
  put_head(p, field, size + more);
  put_fields(p, message, size);
}

static void put_node(struct packing *p, const struct onnx_node *from) {
  Onnx__NodeProto *node = node_of(p, from);
  if (p->seal)
    seal_node(p->seal, node);
  put_message(p, GRAPH_NODE, &node->base, 0);
}

static void put_constant(struct packing *p, const struct model_value *value) {
  Onnx__TensorProto *tensor =
      tensor_of(p, value->name, value->type, value->rank, value->dim);
  set_data(p, tensor, value);
  if (p->seal)
    seal_tensor(p->seal, tensor);
  put_message(p, GRAPH_INITIALIZER, &tensor->base, 0);
}

/* A weight of the net. Its values go directly to a file. */
static void put_weight(struct packing *p, const struct model_value *value) {
  size_t weight = (size_t)value->weight;
  int64_t bytes = p->model->weights.at[weight].count *
                  (int64_t)model_element_bytes(value->type);
  Onnx__TensorProto *head =
      tensor_of(p, value->name, value->type, value->rank, value->dim);
  struct field_head raw = head_of(TENSOR_RAW_DATA, (uint64_t)bytes);
  bool inside = !p->from->beside;
  if (!inside)
    set_outside(p, head, bytes);
  if (p->seal)
    seal_tensor(p->seal, head);
  put_message(p, GRAPH_INITIALIZER, &head->base,
              inside ? raw.length + (uint64_t)bytes : 0);
  if (inside) {
    put_head(p, TENSOR_RAW_DATA, (uint64_t)bytes);
    p->size += (uint64_t)bytes;
  }
  if (inside && p->to)
    text_flush(&p->to->text);
  if (p->to)
    p->from->put(p->from->user, weight);
}

static void put_info(struct packing *p, int field, value_id id) {
  Onnx__ValueInfoProto *info = info_of(p, id);
  if (p->seal && field != GRAPH_VALUE_INFO)
    seal_info(p->seal, info);
  put_message(p, field, &info->base, 0);
}

/* Frees the memory of the message. */
static void end_message(struct packing *p) {
  arena_close(&p->arena);
  arena_open_in(&p->arena, p->model->arena);
}

static void put_ends(struct packing *p, int field, const value_id *ids,
                     size_t count) {
  if (p->seal)
    seal_number(p->seal, (int64_t)count);
  for (size_t i = 0; i < count; i++) {
    put_info(p, field, ids[i]);
    end_message(p);
  }
}

enum packed_kind { CONSTANT, WEIGHT, INNER, OTHER };

static enum packed_kind kind_of(const struct model_value *value) {
  return value->from == FROM_CONSTANT ? value->weight >= 0 ? WEIGHT : CONSTANT
         : value->from == FROM_NODE && !value->output ? INNER
                                                      : OTHER;
}

/* INNER: shapes of values that are neither inputs nor outputs. */
static void put_values(struct packing *p, enum packed_kind kind) {
  for (size_t i = 0; i < p->model->values.count; i++) {
    const struct model_value *value = model_at(p->model, (value_id)i);
    if (kind_of(value) != kind)
      continue;
    if (kind == WEIGHT)
      put_weight(p, value);
    else if (kind == CONSTANT)
      put_constant(p, value);
    else
      put_info(p, GRAPH_VALUE_INFO, (value_id)i);
    end_message(p);
  }
}

/* Writes fields in the order of their numbers, as protobuf's own libraries
 * do. */
static void put_graph(struct packing *p) {
  struct onnx_model *m = p->model;
  Onnx__GraphProto named = ONNX__GRAPH_PROTO__INIT;
  named.name = text_of(m->name);
  p->offset = 0;
  for (size_t i = 0; i < m->nodes.count; i++) {
    put_node(p, &m->nodes.at[i]);
    end_message(p);
  }
  put_fields(p, &named.base, onnx__graph_proto__get_packed_size(&named));
  put_values(p, CONSTANT);
  put_values(p, WEIGHT);
  put_ends(p, GRAPH_INPUT, m->inputs.at, m->inputs.count);
  put_ends(p, GRAPH_OUTPUT, m->outputs.at, m->outputs.count);
  put_values(p, INNER);
}

/* Adds metadata; empty entries are omitted. */
static void put_entry(struct packing *p, Onnx__ModelProto *model,
                      const char *key, struct slice value) {
  enum { MOST_ENTRIES = 8 };
  if (value.length == 0)
    return;
  MESSAGE(p, Onnx__StringStringEntryProto,
          ONNX__STRING_STRING_ENTRY_PROTO__INIT, entry);
  entry->key = text_of(key);
  entry->value = text_of(arena_copy(&p->arena, value.at, value.length));
  if (!model->metadata_props)
    model->metadata_props =
        arena_alloc(&p->arena, MOST_ENTRIES, sizeof *model->metadata_props);
  model->metadata_props[model->n_metadata_props++] = entry;
}

/*
 * ONNX does not distinguish buffers from parameters. netc's reader finds the
 * names of buffers in the metadata, separated by blanks. Those of batch norms
 * are operands of their own.
 */
static void put_buffers(struct packing *p, Onnx__ModelProto *model) {
  struct text names = text_new(&p->arena);
  for (size_t i = 0; i < p->model->values.count; i++) {
    const struct model_value *value = &p->model->values.at[i];
    struct slice name = slice_of(value->name);
    if (value->weight < 0 || !p->model->weights.at[value->weight].buffer ||
        slice_ends(name, "running_mean") || slice_ends(name, "running_var"))
      continue;
    text_put(&names, names.length ? " " : "");
    text_put(&names, value->name);
  }
  put_entry(p, model, "netc.buffers", text_slice(&names));
}

/* Adds the source of the model and its seal. */
static void put_source(struct packing *p, const struct sealing *sealing,
                       Onnx__ModelProto *model) {
  const struct onnx_model *m = p->model;
  if (!m->source.length)
    return;
  struct seal seal = seal_close(sealing);
  put_entry(p, model, SEAL_SOURCE, m->source);
  put_entry(p, model, SEAL_PARAMS, m->params);
  put_entry(p, model, SEAL_HASH, slice_of(seal.digits));
}

int64_t onnx_weight_bytes(const struct onnx_model *m) {
  int64_t bytes = 0;
  for (size_t i = 0; i < m->values.count; i++)
    if (m->values.at[i].weight >= 0 && m->values.at[i].from == FROM_CONSTANT)
      bytes += m->weights.at[m->values.at[i].weight].count * 4;
  return bytes;
}

/* Format version that introduced the opset, at least 8. */
static int64_t version_of(int opset) {
  return opset >= 21 ? 10 : opset >= 19 ? 9 : 8;
}

/* Measures first, because a message begins with its length. */
static void write_graph(struct packing *p, struct sealing *sealing,
                        struct text_buffer *to) {
  const struct onnx_model *m = p->model;
  *sealing = seal_open(m->opset, m->source, m->params);
  p->seal = m->source.length ? sealing : NULL;
  put_graph(p);
  p->seal = NULL;
  p->to = to;
  put_head(p, MODEL_GRAPH, p->size);
  put_graph(p);
}

void onnx_write(struct onnx_model *m, const struct onnx_weights *from,
                netc_sink_fn *sink, void *user) {
  struct packing *p = &(struct packing){.model = m, .from = from};
  struct text_buffer buffer = {{append}, text_to(m->arena, sink, user)};
  struct sealing sealing;
  Onnx__ModelProto head = ONNX__MODEL_PROTO__INIT;
  Onnx__ModelProto tail = ONNX__MODEL_PROTO__INIT;
  Onnx__OperatorSetIdProto set = ONNX__OPERATOR_SET_ID_PROTO__INIT;
  Onnx__OperatorSetIdProto *sets[] = {&set};
  model_name_values(m);
  head.has_ir_version = 1;
  head.ir_version = version_of(m->opset);
  head.producer_name = text_of("netc");
  head.producer_version = text_of(NETC_VERSION);
  set.domain = text_of("");
  set.has_version = 1;
  set.version = m->opset;
  tail.n_opset_import = 1;
  tail.opset_import = sets;
  arena_open_in(&p->arena, m->arena);
  onnx__model_proto__pack_to_buffer(&head, &buffer.base);
  write_graph(p, &sealing, &buffer);
  put_buffers(p, &tail);
  put_source(p, &sealing, &tail);
  onnx__model_proto__pack_to_buffer(&tail, &buffer.base);
  text_flush(&buffer.text);
  arena_close(&p->arena);
}
