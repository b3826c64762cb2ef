/*
 * OpenVINO's IR while it is read: xml.c has what the file says, operations.c
 * says it in ONNX's words (ops/openvino.def), which has the same axes, and
 * whose reader does the rest. Values are in a .bin beside the .xml.
 */
#ifndef NETC_IMPORT_OPENVINO_OPENVINO_H
#define NETC_IMPORT_OPENVINO_OPENVINO_H

#include "import/onnx/emit.h"

struct ir_layer;

struct ir_port {
  const char *id, *precision;
  int rank;
  int64_t dims[MOST_AXES]; /* -1: open */
  struct ir_layer *from;   /* of an input: which layer gives it, */
  const char *from_port;   /* and its port; NULL: none */
  const char *value;       /* of an output: its name; NULL: nothing gives it */
};

struct ir_ports {
  VEC(struct ir_port) all;
};

struct ir_attribute {
  const char *name, *value;
};

struct ir_layer {
  size_t index; /* in the net */
  const char *name, *type;
  size_t line;
  VEC(struct ir_attribute) attributes; /* of <data> */
  struct ir_ports in, out;
};

struct ir {
  struct graph *graph;
  struct arena *arena;
  const struct import_options *options;
  const char *name; /* of the net */
  VEC(struct ir_layer *) layers;
  struct map by_id;             /* places in it, from 1 */
  struct onnx x;                /* takes what emit_int and its kin make */
  const struct ir_layer *at;    /* that is being read */
  const char *bin;              /* the name of the file with values, */
  bool absent;                  /* which is not there */
  VEC(Onnx__NodeProto *) nodes; /* what is made of it */
  VEC(Onnx__TensorProto *) constants;
  VEC(Onnx__ValueInfoProto *) inputs, outputs, values;
};

/* Layers of ONNX's operators, for those that are the same here. */
import_type_fn onnx_type;

/* Of how many inputs it needs the values. */
size_t ir_uses(const struct ir_layer *layer);

/* Fills in layers; false, with the graph's error. */
bool ir_parse(struct ir *ir, struct slice file);

/* "`conv1` (Convolution): ..."; false. */
bool ir_fail(struct ir *ir, const char *format, ...) PRINTF_LIKE(2, 3);

/* Of the current layer: an attribute, or NULL. */
const char *ir_attribute(const struct ir *ir, const char *name);

/* Numbers of a text, "3, 3": how many; -1: more than `most`, or others. */
int ir_numbers(const char *text, int64_t *to, int most);

/* Types of values: what IR calls them, in constants and at ports, and ONNX. */
struct ir_type {
  const char *word, *port;
  int onnx, bytes;
  bool real;
};

/* By either word; NULL: netc has none. */
const struct ir_type *ir_type_of(const char *word);

/* Of the current layer, whose inputs and outputs these are. */

/* NULL, with an error: there is none. */
const struct ir_port *ir_in(struct ir *ir, const struct ir_layer *layer,
                            size_t i);
/* The output that an input reads; NULL: none. */
const struct ir_port *ir_source(const struct ir_port *port);
/* What gives an input; NULL, with an error: nothing before it does. */
const char *ir_value(struct ir *ir, const struct ir_layer *layer, size_t i);
char *ir_copy(struct ir *ir, const char *text);
Onnx__ValueInfoProto *ir_info(struct ir *ir, const char *name,
                              const struct ir_port *port);

/* A node; attributes by emit_int and its kin, inputs in order. */
Onnx__NodeProto *ir_node(struct ir *ir, const char *type);
void ir_take(struct ir *ir, Onnx__NodeProto *node, const char *value);
/* A value between two nodes that stand for one layer. */
const char *ir_between(struct ir *ir, Onnx__NodeProto *node);
/* The layer's outputs are the node's; true. */
bool ir_give(struct ir *ir, struct ir_layer *layer, Onnx__NodeProto *node);
/* The layer gives what its first input does. */
bool ir_give_same(struct ir *ir, struct ir_layer *layer);

/* Constants: the names of values. */
Onnx__TensorProto *ir_constant(struct ir *ir, const char *name, int type,
                               const int64_t *dims, int rank);
const char *ir_put_ints(struct ir *ir, const int64_t *values, int count);
const char *ir_put_real(struct ir *ir, const char *text);
/* The numbers of the first output's shape, of which one may be open. */
const char *ir_put_shape(struct ir *ir, const struct ir_layer *layer);
/* The constant that an input reads, converted or not; NULL: none. */
const struct ir_layer *ir_constant_before(const struct ir_port *port);
/* Whole numbers of a constant input; -1, with an error. */
int ir_read_ints(struct ir *ir, const struct ir_layer *layer, size_t index,
                 int64_t *to, int most);

/* An attribute that is set, or that is a word, in any case. */
bool ir_is_true(const struct ir *ir, const char *name);
bool ir_has_word(const struct ir *ir, const char *name, const char *word);
/* False, with an error: the layer has no output. */
bool ir_has_output(struct ir *ir, const struct ir_layer *layer);
/* One that ONNX has no word for: its reader says so, or leaves it out. */
bool ir_say_unknown(struct ir *ir, struct ir_layer *layer);

/* Operations: a row of ops/openvino.def each. */

typedef bool ir_op_fn(struct ir *ir, struct ir_layer *layer);

#define OP(name, onnx, function, uses) ir_op_fn function;
#include "ops/openvino.def"
#undef OP

/* ONNX's word for a layer that has a row. */
const char *ir_onnx(const struct ir_layer *layer);

/* Says the current layer in ONNX's words; false, with an error. */
bool ir_say(struct ir *ir, struct ir_layer *layer);

#endif
