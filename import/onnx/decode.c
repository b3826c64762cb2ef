/*
 * The bytes of a model. They are looked over before protobuf-c unpacks them:
 * it goes as deep as messages nest, and takes what they cost.
 */

#include "import/onnx/reader.h"

enum {
  DEEPEST = 24,             /* messages in messages */
  MOST_MESSAGES = 64000000, /* of a file */
};

struct onnx_walk {
  struct graph *graph;
  const uint8_t *begin;
  int64_t messages;
};

/* A number of 7 bits a byte; false: it does not end. */
static bool read_varint(const uint8_t **at, const uint8_t *end,
                        uint64_t *value) {
  *value = 0;
  for (int shift = 0; shift < 64 && *at < end; shift += 7) {
    uint8_t byte = *(*at)++;
    *value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128)
      return true;
  }
  return false;
}

static bool broken(struct onnx_walk *w, const uint8_t *at, const char *what) {
  return graph_fail(w->graph, 0,
                    "truncated or broken ONNX model: %s at byte %zu", what,
                    (size_t)(at - w->begin));
}

static bool walk(struct onnx_walk *w, const ProtobufCMessageDescriptor *kind,
                 const uint8_t *at, const uint8_t *end, int depth);

static bool walk_field(struct onnx_walk *w,
                       const ProtobufCMessageDescriptor *kind, uint64_t tag,
                       const uint8_t **at, const uint8_t *end, int depth) {
  uint64_t length;
  const ProtobufCFieldDescriptor *field =
      tag >> 3 > UINT32_MAX
          ? NULL
          : protobuf_c_message_descriptor_get_field(kind, (unsigned)(tag >> 3));
  switch (tag & 7) {
  case 0:
    return read_varint(at, end, &length) ||
           broken(w, *at, "an unterminated number");
  case 1: length = 8; break;
  case 5: length = 4; break;
  case 2:
    if (!read_varint(at, end, &length))
      return broken(w, *at, "an unterminated length");
    break;
  default: return broken(w, *at, "a field of unknown kind");
  }
  if (length > (uint64_t)(end - *at))
    return broken(w, *at, "a field longer than the rest of the file");
  const uint8_t *inside = *at;
  *at += length;
  if ((tag & 7) != 2 || !field || field->type != PROTOBUF_C_TYPE_MESSAGE)
    return true;
  return walk(w, field->descriptor, inside, *at, depth + 1);
}

static bool walk(struct onnx_walk *w, const ProtobufCMessageDescriptor *kind,
                 const uint8_t *at, const uint8_t *end, int depth) {
  if (depth > DEEPEST)
    return broken(w, at, "messages nested too deeply");
  if (++w->messages > MOST_MESSAGES)
    return broken(w, at, "too many messages");
  while (at < end) {
    uint64_t tag;
    if (!read_varint(&at, end, &tag) || tag >> 3 == 0)
      return broken(w, at, "no field");
    if (!walk_field(w, kind, tag, &at, end, depth))
      return false;
  }
  return true;
}

static void *take(void *arena, size_t size) {
  return arena_alloc(arena, size ? size : 1, 1);
}

static void leave(void *arena, void *block) {
  (void)arena;
  (void)block;
}

/* Texts that a file leaves out are empty. */
static void fill(char **text) {
  static char none[1];
  if (!*text)
    *text = none;
}

static void fill_infos(Onnx__ValueInfoProto **infos, size_t count) {
  for (size_t i = 0; i < count; i++)
    fill(&infos[i]->name);
}

static void fill_node(Onnx__NodeProto *node) {
  fill(&node->name);
  fill(&node->op_type);
  fill(&node->domain);
  for (size_t i = 0; i < node->n_attribute; i++) {
    fill(&node->attribute[i]->name);
    if (node->attribute[i]->t)
      fill(&node->attribute[i]->t->name);
  }
}

static void fill_model(Onnx__ModelProto *model) {
  Onnx__GraphProto *g = model->graph;
  fill(&g->name);
  fill_infos(g->input, g->n_input);
  fill_infos(g->output, g->n_output);
  fill_infos(g->value_info, g->n_value_info);
  for (size_t i = 0; i < g->n_initializer; i++)
    fill(&g->initializer[i]->name);
  for (size_t i = 0; i < g->n_node; i++)
    fill_node(g->node[i]);
  for (size_t i = 0; i < model->n_opset_import; i++)
    fill(&model->opset_import[i]->domain);
  for (size_t i = 0; i < model->n_functions; i++)
    fill(&model->functions[i]->name);
}

bool onnx_decode(struct graph *graph, struct slice file,
                 const Onnx__ModelProto **model) {
  struct onnx_walk w = {.graph = graph, .begin = (const uint8_t *)file.at};
  ProtobufCAllocator allocator = {take, leave, graph->arena};
  if (!walk(&w, &onnx__model_proto__descriptor, w.begin, w.begin + file.length,
            0))
    return false;
  Onnx__ModelProto *unpacked =
      onnx__model_proto__unpack(&allocator, file.length, w.begin);
  *model = unpacked;
  if (!unpacked)
    return graph_fail(
        graph, 0,
        "not an ONNX model: its fields do not have the types of onnx.proto");
  if (!unpacked->graph)
    return graph_fail(graph, 0, "not an ONNX model: it has no graph");
  fill_model(unpacked);
  return true;
}
