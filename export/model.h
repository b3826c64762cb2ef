/* A model on its way: values, the nodes that make them, and constants. */
#ifndef NETC_CODEGEN_ONNX_MODEL_H
#define NETC_CODEGEN_ONNX_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "export/layout.h"
#include "netc.h"

/* Types of values, by the numbers of onnx.proto. */
enum onnx_element {
  ELEMENT_FLOAT = 1,
  ELEMENT_INT8 = 3,
  ELEMENT_INT32 = 6,
  ELEMENT_INT64 = 7,
  ELEMENT_BOOL = 9,
};

/* The number of a value, from 0. */
typedef int64_t value_id;
#define NO_VALUE ((value_id)-1)

enum value_from { FROM_INPUT, FROM_NODE, FROM_CONSTANT, FROM_NOTHING };

struct model_value {
  const char *name; /* what it should be called; in the end its own name */
  enum value_from from;
  enum onnx_element type;
  bool output; /* of the model: it keeps its name */
  int rank;
  int64_t *dim;
  const char **open; /* by axis: the name of a size that is left open, or ""
                        without one, or NULL; NULL: all are numbers */

  /* A constant: its bytes; or NULL, and a tensor in the file of weights. */
  const void *data;
  size_t bytes;
  int64_t weight;
};

enum attribute_type {
  ATTRIBUTE_INT,
  ATTRIBUTE_INTS,
  ATTRIBUTE_FLOAT,
  ATTRIBUTE_TEXT
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
};

struct onnx_node {
  const char *op;
  const value_id *ins;
  size_t in_count;
  value_id out, second; /* NO_VALUE: there is only one */
  struct attribute *attributes;
};

/* A tensor in the file of weights. */
struct model_weight {
  int64_t count; /* of values */
  bool buffer;
};

struct onnx_model {
  struct arena *arena;
  const char *name;
  int opset;
  VEC(struct model_value) values;
  VEC(struct onnx_node) nodes;
  VEC(value_id) inputs, outputs;
  VEC(struct model_weight) weights; /* all of the net */
  struct map constants;             /* by their bytes: each is there once */
  struct text key;                  /* of the constant that is looked for */
  const char *scope;                /* what the next values are called after */
  struct slice source, params;      /* that the file keeps: seal.h; or none */
};

/* A value of that shape, with its own name. */
value_id model_value(struct onnx_model *m, enum value_from from,
                     const char *name, enum onnx_element type, int rank,
                     const int64_t *dims);

/* A node, and what it makes; absent inputs at the end are left out. */
value_id model_node(struct onnx_model *m, const char *op,
                    enum onnx_element type, int rank, const int64_t *dims,
                    const value_id *ins, size_t in_count);

/* One more value that the last node makes, of the same sizes. */
value_id model_second(struct onnx_model *m, enum onnx_element type);

/* The size of an axis is left open. */
void model_open_axis(struct onnx_model *m, struct model_value *value, int axis,
                     const char *name);

/* An attribute of a node, after those that it has. */
struct attribute *model_attribute(struct onnx_model *m, struct onnx_node *node);

/* Attributes of the last node. */
void model_int(struct onnx_model *m, const char *name, int64_t number);
void model_ints(struct onnx_model *m, const char *name, const int64_t *numbers,
                size_t count);
void model_real(struct onnx_model *m, const char *name, double real);
void model_text(struct onnx_model *m, const char *name, const char *text);

/* Bytes of one. */
size_t model_element_bytes(enum onnx_element type);

/* Constants; equal ones are one. */
value_id model_numbers(struct onnx_model *m, const int64_t *numbers, int count);
value_id model_tensor(struct onnx_model *m, enum onnx_element type, int rank,
                      const int64_t *dims, const void *data);
value_id model_scalar(struct onnx_model *m, double real);

/* "stem.conv1/Transpose"; without a word, the scope alone. */
const char *model_name(struct onnx_model *m, const char *scope,
                       const char *word);

/* Every value gets the name that it wants, or that with a number appended. */
void model_name_values(struct onnx_model *m);

static inline const struct model_value *model_at(const struct onnx_model *m,
                                                 value_id id) {
  return &m->values.at[id];
}

#endif
