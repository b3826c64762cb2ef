/* A hash of a model, which detects changes. */
#ifndef NETC_EXPORT_SEAL_H
#define NETC_EXPORT_SEAL_H

#include "base/slice.h"
#include "onnx.pb-c.h"

/* Entries of a model's metadata: its source, values of params as "depth=18
 * width=64", and the hash of both and the graph. */
#define SEAL_SOURCE "netc.source"
#define SEAL_PARAMS "netc.params"
#define SEAL_HASH "netc.hash"

/* Sixteen digits and a NUL. */
struct seal {
  char digits[17];
};

/* Ignores the values of weights, so that they may be trained further. */
struct seal seal_of(const Onnx__GraphProto *graph, int64_t opset,
                    struct slice source, struct slice params);

/* Hashes a graph that is never in memory as a whole: its nodes, its tensors,
 * the number of inputs and each input, then the same for outputs. */
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
