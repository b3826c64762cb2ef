/* An ONNX model in memory: values, nodes and constants. */
#ifndef NETC_EXPORT_MODEL_H
#define NETC_EXPORT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "export/layout.h"
#include "netc.h"

/* Types of values, with the numbers of onnx.proto. */
enum onnx_element {
  ELEMENT_FLOAT = 1,
  ELEMENT_INT8 = 3,
  ELEMENT_INT32 = 6,
  ELEMENT_INT64 = 7,
  ELEMENT_BOOL = 9,
};

/* Index of a value. */
typedef int64_t value_id;
#define NO_VALUE ((value_id)-1)

enum value_from {
  FROM_INPUT,
  FROM_NODE,
  FROM_CONSTANT,
  FROM_BODY, /* inside a loop */
  FROM_NOTHING
};

struct model_value {
  const char *name; /* preferred name; unique after model_name_values() */
  enum value_from from;
  enum onnx_element type;
  bool output; /* output of the model; keeps its name */
  int rank;
  int64_t *dim;
  const char **open; /* by axis: name of an open size, "" if unnamed, NULL if
                      * fixed; NULL: all are fixed */

  /* Data of a constant; NULL: a tensor in the file of weights. */
  const void *data;
  size_t bytes;
  int64_t weight;
};

enum attribute_type {
  ATTRIBUTE_INT,
  ATTRIBUTE_INTS,
  ATTRIBUTE_FLOAT,
  ATTRIBUTE_TEXT,
  ATTRIBUTE_BODY
};

struct attribute {
  struct attribute *next;
  const char *name;
  enum attribute_type type;
  float real;
  int64_t number;
  const char *text;
  size_t count;
  const int64_t *numbers;
  const struct onnx_body *body;
};

struct onnx_node {
  const char *op;
  const value_id *ins;
  size_t in_count;
  value_id out, second; /* NO_VALUE: a single output */
  bool skips;           /* an unused output is between them */
  struct attribute *attributes;
};

typedef VEC(struct onnx_node) onnx_nodes;

/* The graph that a loop runs. It also reads values from outside. */
struct onnx_body {
  onnx_nodes nodes; /* while it is open, those outside */
  VEC(value_id) ins;
  const value_id *outs;
  size_t out_count;
  size_t first; /* index of its first value */
};

/* A tensor in the file of weights. */
struct model_weight {
  int64_t count; /* values */
  bool buffer;
};

struct onnx_model {
  struct arena *arena;
  const char *name;
  int opset;
  VEC(struct model_value) values;
  onnx_nodes nodes;
  VEC(value_id) inputs, outputs;
  VEC(struct model_weight) weights; /* all of the net */
  struct map constants;             /* by bytes: distinct constants */
  struct text key;                  /* scratch for the key of a constant */
  const char *scope;                /* prefix for names of new values */
  struct slice source, params;      /* kept in the file: seal.h; or empty */
};

/* Adds a value of that shape. */
value_id model_value(struct onnx_model *m, enum value_from from,
                     const char *name, enum onnx_element type, int rank,
                     const int64_t *dims);

/* Adds a node; returns its output. Drops absent inputs at the end. */
value_id model_node(struct onnx_model *m, const char *op,
                    enum onnx_element type, int rank, const int64_t *dims,
                    const value_id *ins, size_t in_count);

/* Adds a second output of the same sizes to the last node. */
value_id model_second(struct onnx_model *m, enum onnx_element type);

/* The same with other sizes. */
value_id model_other(struct onnx_model *m, enum onnx_element type, int rank,
                     const int64_t *dims);

/* The same as a third output, after one that nothing reads. */
value_id model_third(struct onnx_model *m, enum onnx_element type, int rank,
                     const int64_t *dims);

/*
 * Until model_close_body(), nodes are added to the body. Its inputs are in the
 * order of their creation.
 */
struct onnx_body *model_open_body(struct onnx_model *m);
value_id model_body_input(struct onnx_model *m, struct onnx_body *body,
                          int rank, const int64_t *dims);
void model_close_body(struct onnx_model *m, struct onnx_body *body,
                      const value_id *outs, size_t count);

/* Leaves the size of an axis open. */
void model_open_axis(struct onnx_model *m, struct model_value *value, int axis,
                     const char *name);

/* Appends an attribute to a node. */
struct attribute *model_attribute(struct onnx_model *m, struct onnx_node *node);

/* Add attributes to the last node. */
void model_int(struct onnx_model *m, const char *name, int64_t number);
void model_ints(struct onnx_model *m, const char *name, const int64_t *numbers,
                size_t count);
void model_real(struct onnx_model *m, const char *name, double real);
void model_text(struct onnx_model *m, const char *name, const char *text);
void model_body(struct onnx_model *m, const char *name,
                const struct onnx_body *body);

/* Bytes of an element. */
size_t model_element_bytes(enum onnx_element type);

/* Add constants; equal ones are shared. */
value_id model_numbers(struct onnx_model *m, const int64_t *numbers, int count);
value_id model_tensor(struct onnx_model *m, enum onnx_element type, int rank,
                      const int64_t *dims, const void *data);
value_id model_scalar(struct onnx_model *m, double real);

/* "stem.conv1/Transpose"; without a word, only the scope. */
const char *model_name(struct onnx_model *m, const char *scope,
                       const char *word);

/* Gives every value a unique name: the preferred one, or with a number. */
void model_name_values(struct onnx_model *m);

static inline const struct model_value *model_at(const struct onnx_model *m,
                                                 value_id id) {
  return &m->values.at[id];
}

#endif
