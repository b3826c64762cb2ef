/*
 * State of reading a TensorFlow Lite model: model.c parses the file, read.c
 * walks the operators, and the rows of tflite.def translate them. Tensors have
 * the batch first and channels last; in netc they have no batch.
 */
#ifndef NETC_IMPORT_TFLITE_TFLITE_H
#define NETC_IMPORT_TFLITE_TFLITE_H

#include "base/map.h"
#include "import/reader.h"
#include "import/tflite/flat.h"
#include "import/window.h"

/* The maximum size or number that is read. */
#define TFLITE_MOST ((int64_t)1 << 30)

/* The schema's types that layers can have. */
enum tflite_type {
  TFLITE_FLOAT32 = 0,
  TFLITE_FLOAT16 = 1,
  TFLITE_INT32 = 2,
  TFLITE_UINT8 = 3,
  TFLITE_INT64 = 4,
  TFLITE_INT16 = 7,
  TFLITE_INT8 = 9,
};

struct tflite_tensor {
  const char *name;
  int rank;
  int64_t dims[LIMIT_RANK]; /* with the batch */
  int64_t count;            /* number of values; 0: too many, or none */
  bool open;                /* an axis other than the batch is dynamic */
  bool state;               /* kept between inferences */
  int64_t type;
  struct flat_vector data, scales, zeros; /* data of a constant */
  struct flat_table sparsity;             /* of a constant; at 0: dense */
  int64_t axis;                           /* axis of the scales */
  int node;                               /* node with its values; -1: none */
  struct graph_shape shape; /* without the batch; the node's may differ */
  bool unknown;             /* the tensor is left out */
  bool wanted;              /* a left-out operator reads it: an output */
  bool sizes;               /* a tensor's shape, or computed from shapes */
  int variable;             /* of a handle: index plus 1; 0: no handle */
};

/* A value between runs, by its name in the file. */
struct tflite_variable {
  const char *name; /* of its input in the net */
  int state, now;   /* nodes: the input, and the latest value; -1: none */
  bool assigned;    /* before it is read */
};

struct tflite_op {
  int64_t code;
  const char *custom; /* name of an operator outside the schema */
  struct flat_vector inputs, outputs;
  struct flat_table options;
};

struct tflite {
  struct graph *graph;
  const struct import_options *options;
  struct flat_file flat;
  VEC(struct tflite_tensor) tensors;
  VEC(struct tflite_op) ops;
  struct flat_vector inputs, outputs;
  VEC(struct tflite_variable) variables;
  struct map variable_names; /* index in `variables` plus 1 */
  int states;                /* inputs of the net that are states */
  int64_t batch;
  const struct tflite_op *at; /* the current operator */
  const char *name, *word;    /* and its names */
};

/* Reads tensors and operators; false with the graph's error. */
bool tflite_open(struct tflite *t, struct byte_store *store);

/* The tensor at an index of a list, or NULL. */
struct tflite_tensor *tflite_tensor_at(struct tflite *t,
                                       const struct flat_vector *list,
                                       uint64_t index);
/* Gives a tensor to a node and keeps the tensor's scale. */
void tflite_keep_steps(struct tflite *t, struct tflite_tensor *tensor,
                       struct graph_node *node);

/* Operands of the current operator. */

/* Fails with "`conv1` (CONV_2D): ..."; returns false. */
#define tflite_fail(t, ...)                                              \
  graph_fail((t)->graph, 0, "`%.64s` (%.64s): %s", (t)->name, (t)->word, \
             graph_text((t)->graph, __VA_ARGS__))
/* NULL if the operator has no such operand. */
struct tflite_tensor *tflite_in(struct tflite *t, uint64_t index);
struct tflite_tensor *tflite_out(struct tflite *t, uint64_t index);
/* An operand that layers compute; NULL with an error if it is constant. */
struct tflite_tensor *tflite_value(struct tflite *t, uint64_t index);
/* A constant of that rank; NULL with an error if the operand is none. */
struct tflite_tensor *tflite_weight(struct tflite *t, uint64_t index, int rank);
/* True if the file has the tensor's values. */
static inline bool tflite_is_constant(const struct tflite_tensor *tensor) {
  return tensor && tensor->data.count > 0;
}
int64_t tflite_int(struct tflite *t, unsigned field, int bytes, int64_t usual);
/* Reads integers of a constant operand; false with an error. */
bool tflite_ints(struct tflite *t, uint64_t index, const char *what, int most,
                 int64_t *values, int *count);
/* An axis of a tensor without its batch; -1 with an error. */
int tflite_axis(struct tflite *t, const struct tflite_tensor *tensor,
                int64_t axis);

/* Sets a tensor's shape without the batch; false with an error if unknown. */
bool tflite_shape(struct tflite *t, struct tflite_tensor *tensor);
/* A node with the tensor's own shape. */
int tflite_exact(struct tflite *t, const struct tflite_tensor *tensor);
/* Does this for an operand, which may be a constant of at most `rank` axes
 * without the batch; -1 with an error. */
int tflite_operand(struct tflite *t, uint64_t index, int rank);
/* Does this for all operands, at least two; NULL with an error. */
int *tflite_operands(struct tflite *t, int rank);
/* The first layer of the operator's row. */
enum layer_word tflite_word(const struct tflite *t);
struct graph_node *tflite_layer(struct tflite *t, enum layer_word word,
                                int input);
/* Gives the node as output `index`; the shape in the file is a check. */
bool tflite_give(struct tflite *t, uint64_t index, struct graph_node *node);
/* Gives the node after the fused activation. */
bool tflite_give_active(struct tflite *t, struct graph_node *node,
                        int64_t activation);
/* Gives the node's values in the shape in the file. */
bool tflite_give_view(struct tflite *t, uint64_t index, int node);
/* Gives a constant's values: the output is then constant. */
bool tflite_give_constant(struct tflite *t, const struct tflite_tensor *from);

/* Adds a trained tensor under netc's name, with its axes in PyTorch's order.
 * False, with an error, if the file lacks its values. */
bool tflite_take(struct tflite *t, struct graph_node *node, const char *name,
                 const struct tflite_tensor *tensor, const int *order);
/* Adds a bias. */
bool tflite_take_bias(struct tflite *t, struct graph_node *node,
                      const char *name, uint64_t index, int64_t count);
/* Writes the scales and zeros of tensors, "0.5 0.25", one tensor after the
 * other, if values are needed and there are scales. */
void tflite_steps(struct tflite *t, const struct tflite_tensor *const *tensors,
                  size_t count, const char **scale, const char **zero);
/* Dense indices of a sparse tensor's stored values; NULL with an error. */
int64_t *tflite_places(struct tflite *t, const struct tflite_tensor *tensor,
                       int64_t stored, struct arena *arena);
/* The values as reals; NULL with an error if some are missing. */
float *tflite_reals(struct tflite *t, const struct tflite_tensor *tensor);

/* Sets the current operator, for messages. */
void tflite_begin(struct tflite *t, const struct tflite_op *op);
/* Adds the inputs for values that are kept between runs. */
bool tflite_read_states(struct tflite *t);
/* Makes the last values of variables outputs. */
void tflite_put_states(struct tflite *t);
/* Makes the state of an SVDF input `number` of the net; false with an error. */
bool tflite_svdf_state(struct tflite *t, int number);

/* Operators: a row of tflite.def each. */

typedef bool tflite_op_fn(struct tflite *t);
typedef bool tflite_value_fn(struct tflite *t, const struct tflite_tensor *in);

#define OP(number, name, function, ...) tflite_op_fn function;
#define VALUE(number, name, function, ...) tflite_value_fn function;
#include "ops/tflite.def"

#endif
