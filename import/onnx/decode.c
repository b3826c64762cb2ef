/*
 * Decodes the bytes of a model. They are checked before protobuf-c unpacks
 * them, as it has no limits on nesting or memory. It unpacks a copy without
 * `raw_data`, with the places of that in the file, so that a file of many GiB
 * takes no more memory than the values that are needed.
 */
#include <inttypes.h>

#include "base/limits.h"
#include "import/onnx/reader.h"

enum {
  DEEPEST = 24,             /* nesting of messages */
  MOST_MESSAGES = 64000000, /* messages in a file */
  RAW_DATA = 9,             /* field number in TensorProto */
  LENGTH_BYTES = 5,         /* of a length that is filled in later */
};

struct onnx_walk {
  struct graph *graph;
  struct byte_reader r; /* ends with the innermost message */
  struct text copy;
  int64_t messages;
};

static bool broken(struct onnx_walk *w, const char *what) {
  if (!bytes_ok(&w->r))
    return graph_fail(w->graph, 0, "cannot be read: %s", w->r.fault);
  return graph_fail(w->graph, 0,
                    "truncated or broken ONNX model: %s at byte %" PRIu64, what,
                    w->r.at);
}

/* Reads a number of 7 bits per byte; false if it does not end. */
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

static void put_varint(struct text *to, uint64_t value) {
  for (; value >= 128; value >>= 7)
    text_putc(to, (char)(value | 128));
  text_putc(to, (char)value);
}

static bool has_room(struct onnx_walk *w, uint64_t count) {
  return (w->copy.length <= LIMIT_SOURCE_BYTES &&
          count <= LIMIT_SOURCE_BYTES - w->copy.length) ||
         graph_fail(w->graph, 0,
                    "it has more than 1 GiB outside `raw_data`, which is not "
                    "supported");
}

static bool put_bytes(struct onnx_walk *w, uint64_t count) {
  char piece[4096];
  if (!has_room(w, count))
    return false;
  while (count > 0) {
    size_t now = count < sizeof piece ? (size_t)count : sizeof piece;
    if (!bytes_copy(&w->r, piece, now))
      return broken(w, "");
    text_bytes(&w->copy, piece, now);
    count -= now;
  }
  return true;
}

static bool walk(struct onnx_walk *w, const ProtobufCMessageDescriptor *kind,
                 int depth);

/* The length is known after copying, so it has a fixed number of bytes. */
static bool walk_inside(struct onnx_walk *w,
                        const ProtobufCMessageDescriptor *kind, uint64_t length,
                        int depth) {
  uint64_t end = w->r.end;
  size_t at = w->copy.length;
  text_fill(&w->copy, '\x80', LENGTH_BYTES);
  w->r.end = w->r.at + length;
  bool right = walk(w, kind, depth);
  w->r.end = end;
  length = w->copy.length - at - LENGTH_BYTES;
  for (size_t i = 0; i < LENGTH_BYTES; i++, length >>= 7)
    w->copy.at[at + i] =
        (char)((length & 127) | (i + 1 < LENGTH_BYTES ? 128 : 0));
  return right;
}

static bool put_place(struct onnx_walk *w, uint64_t length) {
  struct onnx_raw raw = {w->r.at, length};
  put_varint(&w->copy, sizeof raw);
  text_bytes(&w->copy, (const char *)&raw, sizeof raw);
  return bytes_skip(&w->r, length);
}

/* Copies a field with a length. */
static bool walk_long(struct onnx_walk *w,
                      const ProtobufCMessageDescriptor *kind, unsigned number,
                      uint64_t length, int depth) {
  const ProtobufCFieldDescriptor *field =
      protobuf_c_message_descriptor_get_field(kind, number);
  if (field && field->type == PROTOBUF_C_TYPE_MESSAGE)
    return walk_inside(w, field->descriptor, length, depth + 1);
  if (kind == &onnx__tensor_proto__descriptor && number == RAW_DATA)
    return put_place(w, length);
  put_varint(&w->copy, length);
  return put_bytes(w, length);
}

static bool walk_field(struct onnx_walk *w,
                       const ProtobufCMessageDescriptor *kind, int depth) {
  uint64_t tag, number;
  if (!read_varint(w, &tag) || tag >> 3 == 0 || tag > UINT32_MAX)
    return broken(w, "a field is missing");
  put_varint(&w->copy, tag);
  switch (tag & 7) {
  case 0:
    if (!read_varint(w, &number))
      return broken(w, "a number is cut off");
    put_varint(&w->copy, number);
    return true;
  case 1: number = 8; break;
  case 5: number = 4; break;
  case 2:
    if (!read_varint(w, &number))
      return broken(w, "a length is cut off");
    break;
  default: return broken(w, "a field has an unknown kind");
  }
  if (number > w->r.end - w->r.at)
    return broken(w, "a field is longer than the rest of the file");
  return (tag & 7) == 2
             ? walk_long(w, kind, (unsigned)(tag >> 3), number, depth)
             : put_bytes(w, number);
}

static bool walk(struct onnx_walk *w, const ProtobufCMessageDescriptor *kind,
                 int depth) {
  if (depth > DEEPEST)
    return broken(w, "messages are nested too deeply");
  if (++w->messages > MOST_MESSAGES)
    return broken(w, "there are too many messages");
  while (w->r.at < w->r.end)
    if (!has_room(w, 0) || !walk_field(w, kind, depth))
      return false;
  return true;
}

static void *take(void *arena, size_t size) {
  return arena_alloc(arena, size ? size : 1, 1);
}

static void leave(void *arena, void *block) {
  (void)arena;
  (void)block;
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
  struct onnx_walk w = {.graph = graph, .copy = text_new(graph->arena)};
  ProtobufCAllocator allocator = {take, leave, graph->arena};
  bytes_open(&w.r, store, 0, store->size);
  if (!walk(&w, &onnx__model_proto__descriptor, 0))
    return false;
  size_t length = w.copy.length;
  Onnx__ModelProto *unpacked = onnx__model_proto__unpack(
      &allocator, length, (const uint8_t *)text_string(&w.copy));
  *model = unpacked;
  if (!unpacked)
    return graph_fail(
        graph, 0,
        "not an ONNX model: its fields do not have the types of onnx.proto");
  if (!unpacked->graph)
    return graph_fail(graph, 0, "not an ONNX model: it has no graph");
  return true;
}
