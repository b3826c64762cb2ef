/* A model as the bytes of a file. */
#include <string.h>

#include "codegen/onnx/onnx.h"
#include "codegen/onnx/seal.h"

/* A weight of the net, whose values go straight to a file. */
struct weight_in_file {
  Onnx__TensorProto *head; /* all but values that are inside */
  size_t weight;
  int64_t bytes;
};

struct packing {
  struct arena *arena;
  struct onnx_model *model;
  const struct onnx_weights *from;
  int64_t offset; /* in the file beside it */
  VEC(Onnx__NodeProto *) nodes;
  VEC(Onnx__TensorProto *) tensors;
  VEC(struct weight_in_file) weights;
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
    if (!value->open[i]) {
      dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
      dim->dim_value = value->dim[i];
    } else if (*value->open[i]) {
      dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
      dim->dim_param = text_of(value->open[i]);
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
  if (value->type == ELEMENT_INT8) {
    const int8_t *from = copy;
    int32_t *to = arena_alloc(p->arena, value->bytes + 1, sizeof *to);
    for (size_t i = 0; i < value->bytes; i++)
      to[i] = from[i];
    tensor->int32_data = to;
    tensor->n_int32_data = value->bytes;
  } else if (value->type == ELEMENT_INT64) {
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
                        int64_t bytes) {
  tensor->external_data =
      arena_alloc(p->arena, 3, sizeof *tensor->external_data);
  add_entry(p, tensor, "location", p->from->beside);
  add_entry(p, tensor, "offset", number_text(p, p->offset));
  add_entry(p, tensor, "length", number_text(p, bytes));
  tensor->has_data_location = 1;
  tensor->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
  p->offset += bytes;
}

static void add_weight(struct packing *p, value_id id) {
  const struct model_value *value = model_at(p->model, id);
  struct weight_in_file *w = VEC_PUSH(p->arena, &p->weights);
  w->weight = (size_t)value->weight;
  w->bytes = p->model->weights.at[w->weight].count *
             (int64_t)model_element_bytes(value->type);
  w->head = tensor_of(p, value->name, value->type, value->rank, value->dim);
  if (!p->from->beside)
    return;
  set_outside(p, w->head, w->bytes);
  p->from->put(p->from->user, w->weight);
}

static void add_constant(struct packing *p, value_id id) {
  const struct model_value *value = model_at(p->model, id);
  Onnx__TensorProto *tensor =
      tensor_of(p, value->name, value->type, value->rank, value->dim);
  set_data(p, tensor, value);
  *VEC_PUSH(p->arena, &p->tensors) = tensor;
}

/* Nodes */

static Onnx__AttributeProto *attribute_of(struct packing *p,
                                          const struct attribute *from) {
  static const Onnx__AttributeProto__AttributeType types[] = {
      [ATTRIBUTE_INT] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT,
      [ATTRIBUTE_INTS] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS,
      [ATTRIBUTE_FLOAT] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT,
      [ATTRIBUTE_TEXT] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING};
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
 * The graph, field by field in the order of their numbers, as protobuf's own
 * libraries write it: what comes before the values of weights, and what comes
 * after them. A message in two parts is one message.
 */
struct graph_parts {
  Onnx__GraphProto before, after;
};

static struct graph_parts graph_of(struct packing *p) {
  struct onnx_model *m = p->model;
  struct graph_parts parts = {ONNX__GRAPH_PROTO__INIT, ONNX__GRAPH_PROTO__INIT};
  for (size_t i = 0; i < m->nodes.count; i++)
    add_node(p, &m->nodes.at[i]);
  add_values(p);
  parts.before.name = text_of(m->name);
  parts.before.n_node = p->nodes.count;
  parts.before.node = p->nodes.at;
  parts.before.n_initializer = p->tensors.count;
  parts.before.initializer = p->tensors.at;
  parts.after.n_input = m->inputs.count;
  parts.after.input = infos_of(p, m->inputs.at, m->inputs.count);
  parts.after.n_output = m->outputs.count;
  parts.after.output = infos_of(p, m->outputs.at, m->outputs.count);
  parts.after.n_value_info = p->values.count;
  parts.after.value_info = p->values.at;
  return parts;
}

/* Fields of bytes by their numbers in onnx.proto. */
enum {
  MODEL_GRAPH = 7,
  GRAPH_INITIALIZER = 5,
  TENSOR_RAW_DATA = 9,
  BYTES = 2,
};

/* The head of a field: its number, and how many bytes follow. */
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

static uint64_t field_size(int field, uint64_t length) {
  return head_of(field, length).length + length;
}

static uint64_t weight_size(const struct packing *p,
                            const struct weight_in_file *w) {
  uint64_t size = onnx__tensor_proto__get_packed_size(w->head);
  return p->from->beside
             ? size
             : size + field_size(TENSOR_RAW_DATA, (uint64_t)w->bytes);
}

static void put_head(struct text_buffer *to, int field, uint64_t length) {
  struct field_head head = head_of(field, length);
  text_bytes(&to->text, head.bytes, head.length);
}

static void put_weight(const struct packing *p, const struct weight_in_file *w,
                       struct text_buffer *to) {
  put_head(to, GRAPH_INITIALIZER, weight_size(p, w));
  onnx__tensor_proto__pack_to_buffer(w->head, &to->base);
  if (p->from->beside)
    return;
  put_head(to, TENSOR_RAW_DATA, (uint64_t)w->bytes);
  text_flush(&to->text);
  p->from->put(p->from->user, w->weight);
}

static void put_graph(struct packing *p, const struct graph_parts *parts,
                      struct text_buffer *to) {
  uint64_t size = onnx__graph_proto__get_packed_size(&parts->before) +
                  onnx__graph_proto__get_packed_size(&parts->after);
  for (size_t i = 0; i < p->weights.count; i++)
    size += field_size(GRAPH_INITIALIZER, weight_size(p, &p->weights.at[i]));
  put_head(to, MODEL_GRAPH, size);
  onnx__graph_proto__pack_to_buffer(&parts->before, &to->base);
  for (size_t i = 0; i < p->weights.count; i++)
    put_weight(p, &p->weights.at[i], to);
  onnx__graph_proto__pack_to_buffer(&parts->after, &to->base);
}

/* Metadata; one that says nothing is left out. */
static void put_entry(struct packing *p, Onnx__ModelProto *model,
                      const char *key, struct slice value) {
  enum { MOST_ENTRIES = 8 };
  if (value.length == 0)
    return;
  MESSAGE(p, Onnx__StringStringEntryProto,
          ONNX__STRING_STRING_ENTRY_PROTO__INIT, entry);
  entry->key = text_of(key);
  entry->value = text_of(arena_copy(p->arena, value.at, value.length));
  if (!model->metadata_props)
    model->metadata_props =
        arena_alloc(p->arena, MOST_ENTRIES, sizeof *model->metadata_props);
  model->metadata_props[model->n_metadata_props++] = entry;
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
  put_entry(p, model, "netc.buffers", text_slice(&names));
}

/* The source that the model is of, and by what it is known to be still. */
static void put_source(struct packing *p, const struct graph_parts *parts,
                       Onnx__ModelProto *model) {
  const struct onnx_model *m = p->model;
  Onnx__GraphProto all = parts->before;
  if (!m->source.length)
    return;
  all.n_initializer += p->weights.count;
  all.initializer =
      arena_alloc(p->arena, all.n_initializer + 1, sizeof *all.initializer);
  for (size_t i = 0; i < p->tensors.count; i++)
    all.initializer[i] = p->tensors.at[i];
  for (size_t i = 0; i < p->weights.count; i++)
    all.initializer[p->tensors.count + i] = p->weights.at[i].head;
  all.n_input = parts->after.n_input;
  all.input = parts->after.input;
  all.n_output = parts->after.n_output;
  all.output = parts->after.output;
  struct seal seal = seal_of(&all, m->opset, m->source, m->params);
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

/* The version of the format that brought an opset, but at least 8. */
static int64_t version_of(int opset) {
  return opset >= 21 ? 10 : opset >= 19 ? 9 : 8;
}

void onnx_write(struct onnx_model *m, const struct onnx_weights *from,
                netc_sink_fn *sink, void *user) {
  struct packing *p =
      &(struct packing){.arena = m->arena, .model = m, .from = from};
  model_name_values(m);
  MESSAGE(p, Onnx__ModelProto, ONNX__MODEL_PROTO__INIT, head);
  MESSAGE(p, Onnx__ModelProto, ONNX__MODEL_PROTO__INIT, tail);
  MESSAGE(p, Onnx__OperatorSetIdProto, ONNX__OPERATOR_SET_ID_PROTO__INIT, set);
  struct text_buffer buffer = {{append}, text_to(m->arena, sink, user)};
  head->has_ir_version = 1;
  head->ir_version = version_of(m->opset);
  head->producer_name = text_of("netc");
  head->producer_version = text_of(NETC_VERSION);
  set->domain = text_of("");
  set->has_version = 1;
  set->version = m->opset;
  tail->n_opset_import = 1;
  tail->opset_import = &set;
  struct graph_parts parts = graph_of(p);
  put_buffers(p, tail);
  put_source(p, &parts, tail);
  onnx__model_proto__pack_to_buffer(head, &buffer.base);
  put_graph(p, &parts, &buffer);
  onnx__model_proto__pack_to_buffer(tail, &buffer.base);
  text_flush(&buffer.text);
}
