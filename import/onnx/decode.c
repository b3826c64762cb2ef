/*
 * Decodes the bytes of a model: the wire format of Protocol Buffers
 * (protobuf.dev/programming-guides/encoding) into the structs of protoc-c, by
 * their descriptors. Nesting and memory have limits. Instead of `raw_data` a
 * tensor gets its place in the file, so that a file of many GiB takes no more
 * memory than the values that are needed.
 */
#include <inttypes.h>
#include <string.h>

#include "base/limits.h"
#include "import/onnx/reader.h"

enum {
  DEEPEST = 24,             /* nesting of messages */
  MOST_MESSAGES = 64000000, /* messages in a file */
  RAW_DATA = 9,             /* field number in TensorProto */
};

struct onnx_walk {
  struct graph *graph;
  struct byte_reader r; /* ends with the innermost message */
  uint64_t taken;       /* bytes of values outside `raw_data` */
  int64_t messages;
};

/* A field on the wire: a number of 7 bits per byte, or the length of what
 * follows. */
enum wire { WIRE_NUMBER, WIRE_8, WIRE_LONG, WIRE_4 = 5 };
struct onnx_field {
  enum wire wire;
  uint64_t number;
};

static bool broken(struct onnx_walk *w, const char *what) {
  if (!bytes_ok(&w->r))
    return graph_fail(w->graph, 0, "cannot be read: %s", w->r.fault);
  return graph_fail(w->graph, 0,
                    "truncated or broken ONNX model: %s at byte %" PRIu64, what,
                    w->r.at);
}

static bool mistyped(struct onnx_walk *w) {
  return graph_fail(
      w->graph, 0,
      "not an ONNX model: its fields do not have the types of onnx.proto");
}

/* False if it does not end. */
static bool read_varint(struct onnx_walk *w, uint64_t *value) {
  *value = 0;
  for (int shift = 0; shift < 64 && w->r.at < w->r.end; shift += 7) {
    uint8_t byte = bytes_u8(&w->r);
    *value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128)
      return bytes_ok(&w->r);
  }
  return false;
}

static bool has_room(struct onnx_walk *w, uint64_t count) {
  if (w->taken > LIMIT_SOURCE_BYTES || count > LIMIT_SOURCE_BYTES - w->taken)
    return graph_fail(w->graph, 0,
                      "it has more than 1 GiB outside `raw_data`, which is not "
                      "supported");
  w->taken += count;
  return true;
}

/* Bytes with a NUL after them; NULL: `graph` has the error. */
static char *read_bytes(struct onnx_walk *w, uint64_t length) {
  if (!has_room(w, length))
    return NULL;
  char *at = arena_alloc(w->graph->arena, (size_t)length + 1, 1);
  at[length] = '\0';
  if (!bytes_copy(&w->r, at, (size_t)length)) {
    broken(w, "");
    return NULL;
  }
  return at;
}

/* The size of a value in its struct; 0: onnx.proto has none of this type. */
static size_t value_size(ProtobufCType type) {
  switch (type) {
  case PROTOBUF_C_TYPE_INT32:
  case PROTOBUF_C_TYPE_ENUM:
  case PROTOBUF_C_TYPE_FLOAT: return 4;
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_UINT64:
  case PROTOBUF_C_TYPE_DOUBLE: return 8;
  case PROTOBUF_C_TYPE_STRING: return sizeof(char *);
  case PROTOBUF_C_TYPE_BYTES: return sizeof(ProtobufCBinaryData);
  case PROTOBUF_C_TYPE_MESSAGE: return sizeof(void *);
  default: return 0;
  }
}

static enum wire wire_of(ProtobufCType type) {
  return type == PROTOBUF_C_TYPE_FLOAT     ? WIRE_4
         : type == PROTOBUF_C_TYPE_DOUBLE  ? WIRE_8
         : type == PROTOBUF_C_TYPE_STRING  ? WIRE_LONG
         : type == PROTOBUF_C_TYPE_BYTES   ? WIRE_LONG
         : type == PROTOBUF_C_TYPE_MESSAGE ? WIRE_LONG
                                           : WIRE_NUMBER;
}

/* Notes that a field has a value; one of a choice takes another's place. */
static void note_value(const ProtobufCFieldDescriptor *f, char *message) {
  char *quantifier = message + f->quantifier_offset;
  if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
    if (memcmp(quantifier, &f->id, sizeof f->id) != 0)
      memset(message + f->offset, 0, value_size(f->type));
    memcpy(quantifier, &f->id, sizeof f->id);
  } else if (f->type != PROTOBUF_C_TYPE_STRING &&
             f->type != PROTOBUF_C_TYPE_MESSAGE) {
    memcpy(quantifier, &(protobuf_c_boolean){1}, sizeof(protobuf_c_boolean));
  }
}

/* Where the next value of a field is put. Arrays grow to powers of two. */
static void *place_of(struct onnx_walk *w, const ProtobufCFieldDescriptor *f,
                      char *message) {
  size_t size = value_size(f->type), count;
  char *all;
  if (f->label != PROTOBUF_C_LABEL_REPEATED) {
    note_value(f, message);
    return message + f->offset;
  }
  memcpy(&count, message + f->quantifier_offset, sizeof count);
  memcpy(&all, message + f->offset, sizeof all);
  if ((count & (count - 1)) == 0) { /* also 0 */
    char *more = arena_alloc(w->graph->arena, count ? 2 * count : 1, size);
    if (count)
      memcpy(more, all, count * size);
    all = more;
    memcpy(message + f->offset, &all, sizeof all);
  }
  char *place = all + count++ * size;
  memcpy(message + f->quantifier_offset, &count, sizeof count);
  return place;
}

static void put_bits(void *to, size_t size, uint64_t bits) {
  if (size == 4)
    memcpy(to, &(uint32_t){(uint32_t)bits}, size);
  else
    memcpy(to, &bits, size);
}

/* The bits of a number. */
static bool read_bits(struct onnx_walk *w, ProtobufCType type, uint64_t *bits) {
  size_t size = value_size(type);
  if (wire_of(type) == WIRE_NUMBER)
    return read_varint(w, bits) || broken(w, "a number is cut off");
  if (size > w->r.end - w->r.at)
    return broken(w, "a number is cut off");
  *bits = bytes_unsigned(&w->r, (int)size);
  return bytes_ok(&w->r) || broken(w, "");
}

static bool walk(struct onnx_walk *w, const ProtobufCMessageDescriptor *kind,
                 char *message, int depth);

/* A message that is there twice is merged. */
static bool read_message(struct onnx_walk *w, const ProtobufCFieldDescriptor *f,
                         char *message, uint64_t length, int depth) {
  const ProtobufCMessageDescriptor *kind = f->descriptor;
  void *to = place_of(w, f, message);
  uint64_t end = w->r.end;
  char *inner = NULL;
  if (f->label != PROTOBUF_C_LABEL_REPEATED)
    memcpy(&inner, to, sizeof inner);
  if (!inner) {
    inner = arena_alloc(w->graph->arena, kind->sizeof_message, 1);
    kind->message_init((ProtobufCMessage *)(void *)inner);
    memcpy(to, &inner, sizeof inner);
  }
  w->r.end = w->r.at + length;
  bool right = walk(w, kind, inner, depth);
  w->r.end = end;
  return right;
}

/* Numbers of fixed size, as an array with room for a power of two. */
static bool read_array(struct onnx_walk *w, const ProtobufCFieldDescriptor *f,
                       char *message, size_t count) {
  size_t size = value_size(f->type), room = 1;
  uint64_t bits = 0;
  bool right = true;
  while (room < count)
    room *= 2;
  char *all = arena_alloc(w->graph->arena, room, size);
  for (size_t i = 0; i < count && right; i++) {
    right = read_bits(w, f->type, &bits);
    put_bits(all + i * size, size, bits);
  }
  memcpy(message + f->offset, &all, sizeof all);
  memcpy(message + f->quantifier_offset, &count, sizeof count);
  return right;
}

/* Several numbers one after the other. */
static bool read_packed(struct onnx_walk *w, const ProtobufCFieldDescriptor *f,
                        char *message, uint64_t length) {
  size_t size = value_size(f->type), count;
  uint64_t end = w->r.end, bits = 0;
  bool right = has_room(w, length);
  memcpy(&count, message + f->quantifier_offset, sizeof count);
  w->r.end = w->r.at + length;
  if (right && count == 0 && length > 0 && length % size == 0 &&
      wire_of(f->type) != WIRE_NUMBER)
    right = read_array(w, f, message, (size_t)length / size);
  while (right && w->r.at < w->r.end)
    if ((right = read_bits(w, f->type, &bits)))
      put_bits(place_of(w, f, message), size, bits);
  w->r.end = end;
  return right;
}

static bool read_long(struct onnx_walk *w,
                      const ProtobufCMessageDescriptor *kind,
                      const ProtobufCFieldDescriptor *f, char *message,
                      uint64_t length, int depth) {
  struct onnx_raw raw = {w->r.at, length};
  if (f->type == PROTOBUF_C_TYPE_MESSAGE)
    return read_message(w, f, message, length, depth + 1);
  if (wire_of(f->type) != WIRE_LONG)
    return f->label == PROTOBUF_C_LABEL_REPEATED
               ? read_packed(w, f, message, length)
               : mistyped(w);
  if (f->type == PROTOBUF_C_TYPE_STRING) {
    char *text = read_bytes(w, length);
    if (text)
      memcpy(place_of(w, f, message), &text, sizeof text);
    return text != NULL;
  }
  bool is_raw = kind == &onnx__tensor_proto__descriptor && f->id == RAW_DATA;
  ProtobufCBinaryData data = {.len = is_raw ? sizeof raw : (size_t)length};
  if (is_raw) {
    data.data = arena_alloc(w->graph->arena, sizeof raw, 1);
    memcpy(data.data, &raw, sizeof raw);
    if (!bytes_skip(&w->r, length))
      return broken(w, "");
  } else if (!(data.data = (uint8_t *)read_bytes(w, length))) {
    return false;
  }
  memcpy(place_of(w, f, message), &data, sizeof data);
  return true;
}

static bool skip(struct onnx_walk *w, struct onnx_field field) {
  return field.wire == WIRE_NUMBER || bytes_skip(&w->r, field.number) ||
         broken(w, "");
}

/* A field up to what follows its length. */
static bool read_field(struct onnx_walk *w, uint64_t *id,
                       struct onnx_field *field) {
  uint64_t tag;
  if (!read_varint(w, &tag) || tag >> 3 == 0 || tag > UINT32_MAX)
    return broken(w, "a field is missing");
  *id = tag >> 3;
  *field = (struct onnx_field){.wire = (enum wire)(tag & 7)};
  switch (field->wire) {
  case WIRE_NUMBER:
    return read_varint(w, &field->number) || broken(w, "a number is cut off");
  case WIRE_8: field->number = 8; break;
  case WIRE_4: field->number = 4; break;
  case WIRE_LONG:
    if (!read_varint(w, &field->number))
      return broken(w, "a length is cut off");
    break;
  default: return broken(w, "a field has an unknown kind");
  }
  return field->number <= w->r.end - w->r.at ||
         broken(w, "a field is longer than the rest of the file");
}

static const ProtobufCFieldDescriptor *
field_of(const ProtobufCMessageDescriptor *kind, uint64_t id) {
  for (unsigned i = 0; i < kind->n_fields; i++)
    if (kind->fields[i].id == id)
      return value_size(kind->fields[i].type) ? &kind->fields[i] : NULL;
  return NULL;
}

/* Fields that onnx.proto does not have are passed over. */
static bool walk(struct onnx_walk *w, const ProtobufCMessageDescriptor *kind,
                 char *message, int depth) {
  if (depth > DEEPEST)
    return broken(w, "messages are nested too deeply");
  if (++w->messages > MOST_MESSAGES)
    return broken(w, "there are too many messages");
  while (w->r.at < w->r.end) {
    struct onnx_field field;
    uint64_t id = 0;
    if (!read_field(w, &id, &field))
      return false;
    const ProtobufCFieldDescriptor *f = field_of(kind, id);
    bool right;
    if (!f) {
      right = skip(w, field);
    } else if (field.wire == WIRE_LONG) {
      right = read_long(w, kind, f, message, field.number, depth);
    } else if (field.wire == wire_of(f->type)) {
      right =
          (field.wire == WIRE_NUMBER || read_bits(w, f->type, &field.number)) &&
          has_room(w, value_size(f->type));
      if (right)
        put_bits(place_of(w, f, message), value_size(f->type), field.number);
    } else {
      right = mistyped(w);
    }
    if (!right)
      return false;
  }
  return true;
}

static void fill(char **text) {
  static char none[1];
  if (!*text)
    *text = none;
}

static void fill_infos(Onnx__ValueInfoProto **infos, size_t count) {
  for (size_t i = 0; i < count; i++)
    fill(&infos[i]->name);
}

static void fill_graph(Onnx__GraphProto *g);

static void fill_node(Onnx__NodeProto *node) {
  fill(&node->name);
  fill(&node->op_type);
  fill(&node->domain);
  for (size_t i = 0; i < node->n_attribute; i++) {
    fill(&node->attribute[i]->name);
    if (node->attribute[i]->t)
      fill(&node->attribute[i]->t->name);
    if (node->attribute[i]->g)
      fill_graph(node->attribute[i]->g);
  }
}

/* Includes the graphs inside nodes, which the walk has counted. */
static void fill_graph(Onnx__GraphProto *g) {
  fill(&g->name);
  fill_infos(g->input, g->n_input);
  fill_infos(g->output, g->n_output);
  fill_infos(g->value_info, g->n_value_info);
  for (size_t i = 0; i < g->n_initializer; i++)
    fill(&g->initializer[i]->name);
  for (size_t i = 0; i < g->n_node; i++)
    fill_node(g->node[i]);
}

void onnx_fill(Onnx__ModelProto *model) {
  fill_graph(model->graph);
  for (size_t i = 0; i < model->n_opset_import; i++)
    fill(&model->opset_import[i]->domain);
  for (size_t i = 0; i < model->n_functions; i++)
    fill(&model->functions[i]->name);
}

bool onnx_decode(struct graph *graph, struct byte_store *store,
                 Onnx__ModelProto **model) {
  struct onnx_walk w = {.graph = graph};
  *model = ARENA_NEW(graph->arena, Onnx__ModelProto);
  onnx__model_proto__init(*model);
  bytes_open(&w.r, store, 0, store->size);
  if (!walk(&w, &onnx__model_proto__descriptor, (char *)*model, 0))
    return false;
  if (!(*model)->graph)
    return graph_fail(graph, 0, "not an ONNX model: it has no graph");
  return true;
}
