/*
 * A hash of a model: its nodes, constants, inputs and outputs, and the names
 * and shapes of weights. Only weights have raw or external data.
 */
#include "export/seal.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"

static void append(ProtobufCBuffer *buffer, size_t length,
                   const uint8_t *bytes) {
  struct sealing *s = (struct sealing *)(void *)buffer;
  s->hash = hash_text(s->hash, (struct slice){(const char *)bytes, length});
}

void seal_number(struct sealing *s, int64_t number) {
  s->hash = hash_mix(s->hash, (uint64_t)number);
}

static void seal_text(struct sealing *s, struct slice text) {
  seal_number(s, (int64_t)text.length);
  s->hash = hash_text(s->hash, text);
}

/* Readers may set empty strings for absent ones. */
void seal_node(struct sealing *s, const Onnx__NodeProto *node) {
  Onnx__NodeProto plain = *node;
  if (plain.domain && !*plain.domain)
    plain.domain = NULL;
  seal_number(s, (int64_t)onnx__node_proto__get_packed_size(&plain));
  onnx__node_proto__pack_to_buffer(&plain, &s->base);
}

/* Values of weights are raw, external, or not written yet. */
static bool is_weight(const Onnx__TensorProto *t) {
  return t->n_float_data + t->n_int64_data + t->n_int32_data +
             t->n_double_data + t->n_uint64_data + t->n_string_data ==
         0;
}

void seal_tensor(struct sealing *s, const Onnx__TensorProto *tensor) {
  if (!is_weight(tensor)) {
    onnx__tensor_proto__pack_to_buffer(tensor, &s->base);
    return;
  }
  seal_text(s, slice_of(tensor->name ? tensor->name : ""));
  seal_number(s, tensor->data_type);
  for (size_t i = 0; i < tensor->n_dims; i++)
    seal_number(s, tensor->dims[i]);
}

void seal_info(struct sealing *s, const Onnx__ValueInfoProto *info) {
  onnx__value_info_proto__pack_to_buffer(info, &s->base);
}

static void seal_infos(struct sealing *s, Onnx__ValueInfoProto **infos,
                       size_t count) {
  seal_number(s, (int64_t)count);
  for (size_t i = 0; i < count; i++)
    seal_info(s, infos[i]);
}

struct sealing seal_open(int64_t opset, struct slice source,
                         struct slice params) {
  struct sealing s = {{append}, HASH_TEXT};
  seal_number(&s, opset);
  seal_text(&s, source);
  seal_text(&s, params);
  return s;
}

struct seal seal_close(const struct sealing *s) {
  struct seal seal;
  snprintf(seal.digits, sizeof seal.digits, "%016" PRIx64, s->hash);
  return seal;
}

struct seal seal_of(const Onnx__GraphProto *graph, int64_t opset,
                    struct slice source, struct slice params) {
  struct sealing s = seal_open(opset, source, params);
  for (size_t i = 0; i < graph->n_node; i++)
    seal_node(&s, graph->node[i]);
  for (size_t i = 0; i < graph->n_initializer; i++)
    seal_tensor(&s, graph->initializer[i]);
  seal_infos(&s, graph->input, graph->n_input);
  seal_infos(&s, graph->output, graph->n_output);
  return seal_close(&s);
}
