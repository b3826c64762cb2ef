/* What a model says as one number, by which a change to it is noticed. */
#ifndef NETC_CODEGEN_ONNX_SEAL_H
#define NETC_CODEGEN_ONNX_SEAL_H

#include "base/slice.h"
#include "onnx.pb-c.h"

/* Entries of a model's metadata: the source that it was written from, values
 * of its params as "depth=18 width=64", and the hash of both and the graph. */
#define SEAL_SOURCE "netc.source"
#define SEAL_PARAMS "netc.params"
#define SEAL_HASH "netc.hash"

/* Sixteen digits and a NUL. */
struct seal {
  char digits[17];
};

/* Values of weights do not count: they may be trained further. */
struct seal seal_of(const Onnx__GraphProto *graph, int64_t opset,
                    struct slice source, struct slice params);

/*
 * The same of a graph that is never there as a whole: its nodes, its tensors,
 * the number of its inputs and each of them, then the same for its outputs.
 */
struct sealing {
  ProtobufCBuffer base;
  uint64_t hash;
};

struct sealing seal_open(int64_t opset, struct slice source,
                         struct slice params);
void seal_node(struct sealing *s, const Onnx__NodeProto *node);
void seal_tensor(struct sealing *s, const Onnx__TensorProto *tensor);
void seal_number(struct sealing *s, int64_t number);
void seal_info(struct sealing *s, const Onnx__ValueInfoProto *info);
struct seal seal_close(const struct sealing *s);

#endif
