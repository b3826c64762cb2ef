/*
 * A model that the reader of another format says in ONNX's operators, which
 * the ONNX reader then reads: nodes, constants and the types of values.
 */
#ifndef NETC_IMPORT_ONNX_SAID_H
#define NETC_IMPORT_ONNX_SAID_H

#include "import/onnx/emit.h"

struct onnx_said {
  struct graph *graph;
  struct arena *arena;
  struct onnx x;  /* emit_int and related functions work on it */
  const char *at; /* the name of the layer that is said: of its nodes */
  VEC(Onnx__NodeProto *) nodes;
  VEC(Onnx__TensorProto *) constants;
  VEC(Onnx__ValueInfoProto *) inputs, outputs, values;
  struct text buffers; /* names of constants that are no parameters */
};

void said_open(struct onnx_said *s, struct graph *graph);

char *said_copy(struct onnx_said *s, const char *text);

/* Adds a node with room for `ins` inputs and `outs` outputs. emit_int and the
 * like set attributes; inputs and outputs are added in order. */
Onnx__NodeProto *said_node(struct onnx_said *s, const char *type, size_t ins,
                           size_t outs);
/* NULL: an input that is not given. */
void said_take(struct onnx_said *s, Onnx__NodeProto *node, const char *value);
void said_give(struct onnx_said *s, Onnx__NodeProto *node, const char *value);
/* Gives a new name, for a value between two nodes of one layer. */
const char *said_between(struct onnx_said *s, Onnx__NodeProto *node);

/* An initializer of a type of onnx.proto, without values. */
Onnx__TensorProto *said_tensor(struct onnx_said *s, const char *name, int type,
                               const int64_t *dims, int rank);
/* The values of `c` are in a file beside the model, from byte `at` on. */
void said_stored(struct onnx_said *s, Onnx__TensorProto *c, const char *file,
                 uint64_t at, uint64_t bytes);
/* It is no parameter: a table, or statistics. */
void said_buffer(struct onnx_said *s, const Onnx__TensorProto *c);
/* Constants that are no tensors of the net; they return its name. */
const char *said_ints(struct onnx_said *s, const int64_t *values, int count);
const char *said_int(struct onnx_said *s, int64_t value); /* without axes */
const char *said_real(struct onnx_said *s, double value); /* without axes */
const char *said_reals(struct onnx_said *s, double value, int64_t count);
const char *said_list(struct onnx_said *s, const double *values, int count);

/* The type of a value; sizes below 0 are dynamic. */
Onnx__ValueInfoProto *said_info(struct onnx_said *s, const char *name, int type,
                                const int64_t *dims, int rank);

Onnx__ModelProto *said_model(struct onnx_said *s, const char *name, int opset);

#endif
