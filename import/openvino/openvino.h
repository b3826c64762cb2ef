/*
 * State of reading OpenVINO's IR. xml.c parses the file, and operations.c
 * translates it into ONNX's operators (ops/openvino.def), which have the same
 * axes. The ONNX reader does the rest. Values are in a .bin next to the .xml.
 * Before version 10 layers are Caffe's (old.c): they have their weights as
 * <blobs>, and no layer marks the results.
 */
#ifndef NETC_IMPORT_OPENVINO_OPENVINO_H
#define NETC_IMPORT_OPENVINO_OPENVINO_H

#include "import/onnx/said.h"

struct ir_layer;

struct ir_port {
  const char *id, *precision;
  int rank;
  int64_t dims[MOST_AXES]; /* -1: dynamic */
  struct ir_layer *from;   /* for an input: the layer that it reads */
  const char *from_port;   /* and the port of that layer; NULL: none */
  const char *value;       /* for an output: its name; NULL: not translated */
};

struct ir_ports {
  VEC(struct ir_port) all;
};

struct ir_attribute {
  const char *name, *value;
};

struct ir_layer {
  size_t index; /* index in the net */
  const char *name, *type;
  size_t line;
  VEC(struct ir_attribute) attributes; /* attributes of <data> */
  struct ir_ports in, out;
};

struct ir {
  struct graph *graph;
  struct arena *arena;
  const struct import_options *options;
  const char *name; /* of the net */
  VEC(struct ir_layer *) layers;
  struct map by_id;          /* index in `layers` plus 1, by id */
  struct onnx_said s;        /* the translated nodes */
  const struct ir_layer *at; /* the current layer */
  const char *bin;           /* name of the file with values */
  bool absent;               /* that file is missing */
  bool old;                  /* a version below 10 */
};

/* ONNX's operators, for operations that are the same in both. */
import_type_fn onnx_type;

/* The number of inputs whose values the operation needs. */
size_t ir_uses(const struct ir_layer *layer);

/* Fills in the layers; false with the graph's error. */
bool ir_parse(struct ir *ir, struct slice file);

/* Fails with "`conv1` (Convolution): ..."; returns false. */
#define ir_fail(ir, ...)                                          \
  graph_fail((ir)->graph, (ir)->at->line, "`%.100s` (%.64s): %s", \
             (ir)->at->name, (ir)->at->type,                      \
             graph_text((ir)->graph, __VA_ARGS__))

/* An attribute of the current layer, or NULL. */
const char *ir_attribute(const struct ir *ir, const char *name);

/* Reads the numbers of a text, "3, 3". Returns their count, or -1 if there are
 * more than `most` or the text has something else. */
int ir_numbers(const char *text, int64_t *to, int most);

/* A value type: IR's words in constants and at ports, and ONNX's number. */
struct ir_type {
  const char *word, *port;
  int onnx, bytes;
  bool real;
};

/* The type of the current layer, a constant; NULL if netc has none. */
const struct ir_type *ir_constant_type(const struct ir *ir,
                                       const struct ir_layer *layer);
/* Finds a type by either word; NULL if netc has none. */
const struct ir_type *ir_type_of(const char *word);

/* Inputs and outputs of the current layer. */

/* An input; NULL with an error if it is missing. */
const struct ir_port *ir_in(struct ir *ir, const struct ir_layer *layer,
                            size_t i);
/* The output that an input reads, or NULL. */
const struct ir_port *ir_source(const struct ir_port *port);
/* The name of an input's value; NULL with an error if no layer has it. */
const char *ir_value(struct ir *ir, const struct ir_layer *layer, size_t i);
char *ir_copy(struct ir *ir, const char *text);
Onnx__ValueInfoProto *ir_info(struct ir *ir, const char *name,
                              const struct ir_port *port);

/* Adds a node. Attributes are set by emit_int and the like, inputs in order. */
Onnx__NodeProto *ir_node(struct ir *ir, const char *type);
/* Adds a node that reads these values; NULL: none. */
#define IR_NODE(ir, type, ...)                           \
  ir_reader((ir), (type), (const char *[]){__VA_ARGS__}, \
            sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *))
Onnx__NodeProto *ir_reader(struct ir *ir, const char *type,
                           const char *const *values, size_t count);
void ir_take(struct ir *ir, Onnx__NodeProto *node, const char *value);
/* A new name for a value between two nodes of one layer. */
const char *ir_between(struct ir *ir, Onnx__NodeProto *node);
/* Gives the layer's outputs to the node; returns true. */
bool ir_give(struct ir *ir, struct ir_layer *layer, Onnx__NodeProto *node);
/* Gives the layer's first input as its output. */
bool ir_give_same(struct ir *ir, struct ir_layer *layer);

/* Constants, by the names of values. */
Onnx__TensorProto *ir_constant(struct ir *ir, const char *name, int type,
                               const int64_t *dims, int rank);
const char *ir_put_ints(struct ir *ir, const int64_t *values, int count);
const char *ir_put_real(struct ir *ir, const char *text);
/* The first output's shape as a constant; one size may be dynamic. */
const char *ir_put_shape(struct ir *ir, const struct ir_layer *layer);
/* The constant that an input reads, maybe through a conversion; or NULL. */
const struct ir_layer *ir_constant_before(const struct ir_port *port);
/* Reads the integers of a constant input; -1 with an error. */
int ir_read_ints(struct ir *ir, const struct ir_layer *layer, size_t index,
                 int64_t *to, int most);

/* The same value in another shape. */
const char *ir_reshaped(struct ir *ir, const char *value, const int64_t *dims,
                        int rank);
/* The kernel of a convolution that has its groups as an attribute. */
const char *ir_kernel(struct ir *ir, const struct ir_layer *layer,
                      int64_t *groups);
/* Adds the layer's bias, if it has one; false with an error. */
bool ir_take_bias(struct ir *ir, const struct ir_layer *layer,
                  Onnx__NodeProto *node);
bool ir_old_prelu(struct ir *ir, struct ir_layer *layer);

/* True if an attribute is set, or is a word (in any case). */
bool ir_is_true(const struct ir *ir, const char *name);
bool ir_has_word(const struct ir *ir, const char *name, const char *word);
/* False, with an error, if the layer has no output. */
bool ir_has_output(struct ir *ir, const struct ir_layer *layer);
/* Passes on an operation without an ONNX equivalent: ONNX's reader decides. */
bool ir_say_unknown(struct ir *ir, struct ir_layer *layer);

/* Operations: a row of ops/openvino.def each. */

typedef bool ir_op_fn(struct ir *ir, struct ir_layer *layer);

#define OP(name, onnx, function, uses) ir_op_fn function;
#include "ops/openvino.def"
#undef OP

/* The ONNX operator of a layer with a row. */
const char *ir_onnx(const struct ir_layer *layer);

/* Translates the current layer; false with an error. */
bool ir_say(struct ir *ir, struct ir_layer *layer);

#endif
