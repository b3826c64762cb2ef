/*
 * A TensorFlow Lite model while it is read: model.c has what the file says,
 * read.c walks its operators, the others know them (tflite.def). Tensors have
 * their batch first and their channels last, netc's have no batch.
 */
#ifndef NETC_IMPORT_TFLITE_TFLITE_H
#define NETC_IMPORT_TFLITE_TFLITE_H

#include "import/reader.h"
#include "import/tflite/flat.h"
#include "import/window.h"

/* Sizes and numbers that are read. */
#define TFLITE_MOST ((int64_t)1 << 30)

/* The schema's types, those that layers have. */
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
  int64_t count;            /* values; 0: too many, or none */
  bool open;                /* an axis beside the batch may have any size */
  bool state;               /* it is kept from one prediction to the next */
  int64_t type;
  struct flat_vector data, scales, zeros; /* of a constant; of its steps */
  int64_t axis;                           /* that the scales are of */
  int node;                               /* what gives it; -1: nothing does */
  struct graph_shape shape; /* without the batch; the node may have another */
  bool unknown;             /* it is left out */
  bool wanted;              /* what is left out reads it: it is an output */
  bool sizes;               /* a tensor's shape, or made of such */
};

struct tflite_op {
  int64_t code;
  const char *custom; /* its name, of one that is not the schema's */
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
  int64_t batch;
  const struct tflite_op *at; /* that is being read, */
  const char *name, *word;    /* and what it is called */
};

/* Fills in tensors and operators; false, with the graph's error. */
bool tflite_open(struct tflite *t, struct byte_store *store);

/* A tensor by its place in a list; NULL: there is none. */
struct tflite_tensor *tflite_tensor_at(struct tflite *t,
                                       const struct flat_vector *list,
                                       uint64_t index);
/* The node gives the tensor, in steps of its size. */
void tflite_keep_steps(struct tflite *t, struct tflite_tensor *tensor,
                       struct graph_node *node);

/* Of the current operator. */

/* "`conv1` (CONV_2D): ..."; false. */
bool tflite_fail(struct tflite *t, const char *format, ...) PRINTF_LIKE(2, 3);
/* NULL: it has no such operand. */
struct tflite_tensor *tflite_in(struct tflite *t, uint64_t index);
struct tflite_tensor *tflite_out(struct tflite *t, uint64_t index);
/* An operand that layers give; NULL, with an error: it is none. */
struct tflite_tensor *tflite_value(struct tflite *t, uint64_t index);
/* A constant of that many axes; NULL, with an error: it is none. */
struct tflite_tensor *tflite_weight(struct tflite *t, uint64_t index, int rank);
/* Whether the file has its values. */
static inline bool tflite_is_constant(const struct tflite_tensor *tensor) {
  return tensor && tensor->data.count > 0;
}
int64_t tflite_int(struct tflite *t, unsigned field, int bytes, int64_t usual);
/* Whole numbers of a constant operand; false, with an error. */
bool tflite_ints(struct tflite *t, uint64_t index, const char *what, int most,
                 int64_t *values, int *count);
/* An axis of a tensor without its batch; -1, with an error. */
int tflite_axis(struct tflite *t, const struct tflite_tensor *tensor,
                int64_t axis);

/* A tensor's shape without the batch; false, with an error: it has none. */
bool tflite_shape(struct tflite *t, struct tflite_tensor *tensor);
/* A node of the tensor's own shape. */
int tflite_exact(struct tflite *t, const struct tflite_tensor *tensor);
/* The same of an operand, which may be a constant of at most so many axes
   beside the batch; -1, with an error. */
int tflite_operand(struct tflite *t, uint64_t index, int rank);
/* Of all operands, of which there are two or more; NULL, with an error. */
int *tflite_operands(struct tflite *t, int rank);
/* Its row's first layer. */
enum layer_word tflite_word(const struct tflite *t);
struct graph_node *tflite_layer(struct tflite *t, enum layer_word word,
                                int input);
/* The node gives the operator's next output, of the file's shape, */
bool tflite_give(struct tflite *t, uint64_t index, struct graph_node *node);
/* the same with a fused activation before that. */
bool tflite_give_active(struct tflite *t, struct graph_node *node,
                        int64_t activation);
/* the node's values in another shape, the file's; */
bool tflite_give_view(struct tflite *t, uint64_t index, int node);
/* a constant's, which the output then is. */
bool tflite_give_constant(struct tflite *t, const struct tflite_tensor *from);

/*
 * A trained tensor, under netc's name: its axes in the order that PyTorch has
 * them. False, with an error: the file lacks its values.
 */
bool tflite_take(struct tflite *t, struct graph_node *node, const char *name,
                 const struct tflite_tensor *tensor, const int *order);
/* One axis: a bias. */
bool tflite_take_bias(struct tflite *t, struct graph_node *node,
                      const char *name, uint64_t index, int64_t count);
/* Scales and zeros of tensors, "0.5 0.25", one tensor after the other, where
   values are wanted and there are some. */
void tflite_steps(struct tflite *t, const struct tflite_tensor *const *tensors,
                  size_t count, const char **scale, const char **zero);
/* Values as reals; NULL, with an error: they are not all there. */
float *tflite_reals(struct tflite *t, const struct tflite_tensor *tensor);

/* The state that an SVDF keeps, as an input of that number; false, with an
   error. */
bool tflite_svdf_state(struct tflite *t, int number);

/* Operators: a row of tflite.def each. */

typedef bool tflite_op_fn(struct tflite *t);

#define OP(number, name, function, ...) tflite_op_fn function;
#include "ops/tflite.def"
#undef OP

#endif
