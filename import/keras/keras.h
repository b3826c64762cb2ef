/*
 * A Keras model while it is read: json.c has the file's values,
 * read.c walks layers and their calls, the other files know the layers.
 * Shapes are in netc's order, channels last, without the batch.
 */
#ifndef NETC_IMPORT_KERAS_KERAS_H
#define NETC_IMPORT_KERAS_KERAS_H

#include <jansson.h>

#include "import/reader.h"
#include "import/window.h"

/* The largest size, count or index that is read. */
#define KERAS_MOST ((int64_t)1 << 30)

/* Nesting of models inside models and of layers inside wrappers. */
enum { KERAS_DEEPEST = 16 };

/* Where an object begins in the file, both from 1. */
struct keras_place {
  size_t line, column;
};

struct keras_model;
struct keras_weights;

struct keras {
  struct graph *graph;
  const struct import_options *options;
  json_t *root;
  struct map order;          /* objects of the file by address: their number */
  struct keras_place *place; /* by that number */
  bool contained;            /* the JSON is not the file: nobody sees it */
  int version;               /* of Keras; 0: the file does not say */
  bool channels_first[LIMIT_RANK + 1]; /* by rank, without the batch */
  int lead;        /* axes before those that a layer sees: TimeDistributed's */
  int depth;       /* of models and wrappers */
  VEC(bool) alone; /* by node: one layer reads it */
  struct keras_weights *weights; /* NULL: the file is JSON alone */
  VEC(const char *) models;      /* the names of those that are being read */
  const char *path;              /* of the model, as weights have it */
};

/* Nodes of tensors that netc does not have. */
enum {
  KERAS_LEFT_OUT = -1,
  KERAS_STATE = -2,
  KERAS_LAST = -3,
  KERAS_MASK = -4 /* which steps count */
};

/* A tensor as Keras sees it; that of the node may have axes of 1 besides. */
struct keras_tensor {
  int node;
  struct graph_shape shape;
  bool padded; /* zeros that its only user, a convolution, adds itself */
  int64_t before[3], after[3];
  int last_of; /* of KERAS_LAST: whose last step it is */
};

/* What a call is given: a tensor, or a value of the file. */
struct keras_operand {
  const char *key; /* of a named argument; NULL */
  bool is_tensor;
  struct keras_tensor tensor;
  json_t *value;
};

/* "3.0.1", "tfjs-layers 4.22.0", which computes as Keras 2; NULL: not said. */
void keras_set_version(struct keras *k, const char *version);

struct keras_row;

/* One application of a layer. */
struct keras_call {
  struct keras *keras;
  struct graph *graph;
  const char *name, *type;
  const struct keras_row *row; /* what is known of the type */
  json_t *json, *config;
  struct keras_place place;
  bool frozen;
  const struct keras_operand *operands;
  size_t operand_count;
  const struct keras_tensor *inputs; /* of the operands, the tensors */
  size_t input_count;
  /* What alone uses the output, if it is one layer; NULL. */
  const char *user_type;
  json_t *user_config;
  struct keras_model *model; /* of a nested model */
  VEC(struct keras_tensor) outputs;
  const char *path;   /* of its weights, in files that have them by path */
  bool again;         /* it has its weights already */
  VEC(size_t) stored; /* of the file's weights, its own */
  size_t took;        /* of these */
};

typedef bool keras_layer_fn(struct keras_call *call);

/* The file. */

bool keras_parse(struct keras *keras, struct slice file);
/* The model in what was parsed, with what may be around it. */
bool keras_read_root(struct keras *keras);
/* Both. */
bool keras_read_text(struct keras *keras, struct slice text);
struct keras_place keras_place_of(const struct keras *keras,
                                  const json_t *object);
/* Fails at a place; always false. */
bool keras_refuse(struct keras *keras, struct keras_place place,
                  const char *format, ...) PRINTF_LIKE(3, 4);
/* A member; tuples of Keras 3 as arrays, NULL for null and for none. */
json_t *keras_member(const json_t *object, const char *key);
const char *keras_string(const json_t *object, const char *key,
                         const char *usual);

/* Values of a layer's config. */

/* "`conv1` (Conv2D): ..."; always false. */
bool keras_fail(struct keras_call *call, const char *format, ...)
    PRINTF_LIKE(2, 3);
bool keras_bool(const struct keras_call *call, const char *key, bool usual);
int64_t keras_int(struct keras_call *call, const char *key, int64_t usual,
                  int64_t least, int64_t most);
double keras_real(struct keras_call *call, const char *key, double usual);
/* `count` integers, or one for all of them. */
bool keras_ints(struct keras_call *call, const char *key, int64_t usual,
                int64_t least, int count, int64_t *values);
bool keras_integer(struct keras_call *call, const json_t *value,
                   const char *what, int64_t least, int64_t most,
                   int64_t *result);

/* Nodes. */

/* What is added to the graph from now on is of this call. */
void keras_begin(const struct keras_call *call);
/* A layer of netc on a node, for now of its shape. */
static inline struct graph_node *keras_node(struct keras_call *call,
                                            enum layer_word word, int input) {
  return graph_layer(call->graph, word, input);
}
/* A node whose shape is the tensor's own: flattens where it has more axes. */
int keras_exact(struct keras_call *call, const struct keras_tensor *tensor);
/* `reshape` unless the shape is the same. */
int keras_reshape(struct keras_call *call, int input,
                  const struct graph_shape *shape);
/* Says that masks are left out. */
void keras_note_masks(struct keras_call *call);
/* Gives out a node as the call's next output. */
bool keras_give(struct keras_call *call, int node,
                const struct graph_shape *shape);
/* The same where the shape is that of the first input; the first input with
 * another shape. */
bool keras_give_same(struct keras_call *call, int node);
bool keras_give_reshaped(struct keras_call *call,
                         const struct graph_shape *shape);
/* The same of a node that has that shape now. */
bool keras_give_node(struct keras_call *call, struct graph_node *node,
                     const struct graph_shape *shape);
/* With the activation of the config before that. */
bool keras_give_active(struct keras_call *call, struct graph_node *node,
                       const struct graph_shape *shape);
/* `value`: a name or an object; NULL: none. The node that results, or -1. */
int keras_activate(struct keras_call *call, int node, const json_t *value);
/* Netc's axis for one of Keras', which counts the batch; -1, with an error. */
int keras_axis(struct keras_call *call, const struct graph_shape *shape,
               int64_t axis);
/*
 * The nodes that end in `node`, `count` of them, if they were made last and
 * nothing else reads them, leave the graph; returns what the first reads, or
 * -1. Models spell activations out: relu6(x + 3) / 6.
 */
int keras_withdraw(struct keras_call *call, int node,
                   const enum layer_word *words, int count);
/* A part of an axis. */
int keras_part(struct keras_call *call, int input, int axis, int64_t from,
               int64_t to);
/* A weight of that shape; `fixed`: not trained. */
int keras_weight(struct keras_call *call, const struct graph_shape *shape,
                 bool fixed);
/* Axes of positions: without those of the lead, and without channels. */
int keras_spatial(const struct keras_call *call);
/* The axes of positions that the class's name says, as `Conv2D`; the same where
 * these are all, outside TimeDistributed. False, and failed: others come in. */
bool keras_axes(struct keras_call *call, int *axes);
bool keras_own_axes(struct keras_call *call, int *axes);
/* Values; false with an error where they pass 2^62. */
bool keras_count(struct keras_call *call, const struct graph_shape *shape,
                 int64_t *count);
/* The first input's values in the shape of a list, from its item `from` on,
 * of which one, null or -1, is inferred; `what` is the list's name. */
bool keras_fill_shape(struct keras_call *call, const json_t *target,
                      size_t from, const char *what, struct graph_shape *shape);
/* What a join of both by value gives; false, with an error: they differ. */
bool keras_broadcast(struct keras_call *call, const struct graph_shape *a,
                     const struct graph_shape *b, struct graph_shape *result);
/* Leaves out a class or operation that netc has no equivalent of, if that may
 * be, or else says why not; false. */
bool keras_leave(struct keras_call *call, const char *type, const char *why);

/* Weights (stored.c). Without any in the file, all of it succeeds. */

/* Once, before any is looked for. */
void keras_index_stored(struct keras *keras);
/* Finds the call's own. */
void keras_find_stored(struct keras_call *call);
/*
 * The next of them, a parameter of the node: of that shape, whose axes `order`
 * brings into that of a file of netc's; NULL: as they are. NULL, with an error,
 * if there is none or it has another shape.
 */
struct graph_weight *keras_take(struct keras_call *call,
                                struct graph_node *node, const char *name,
                                const struct graph_shape *shape,
                                const int *order);
bool keras_take_vector(struct keras_call *call, struct graph_node *node,
                       const char *name, int64_t count);
/* A matrix from `in` to `out` values. */
struct graph_weight *keras_take_matrix(struct keras_call *call,
                                       struct graph_node *node,
                                       const char *name, int64_t in,
                                       int64_t out);
/* The others are none of a net, or cannot be converted. */
void keras_leave_stored(struct keras_call *call);
bool keras_leave_values(struct keras_call *call);
/* Whether there are no others, of the call and of the file. */
bool keras_took_all(struct keras_call *call);
bool keras_took_every(struct keras *keras);

/* Layers: tables; each file has its own. */

struct keras_row {
  const char *type;
  keras_layer_fn *add; /* NULL: it is the layer words[0] */
  enum layer_word words[IMPORT_WORDS];
};

/* The layer words[0] of its row, without arguments, on the first input. */
bool keras_add_plain(struct keras_call *call);

/* Whether `axis` is that of the channels; false, with an error. */
bool keras_on_channels(struct keras_call *call);

struct keras_rows {
  const struct keras_row *at;
  size_t count;
};

/* A class for maps of each number of axes. */
#define KERAS_BY_AXES(name, end, add, ...)                                    \
  {name "1D" end, add, {__VA_ARGS__}}, {name "2D" end, add, {__VA_ARGS__}}, { \
    name "3D" end, add, {                                                     \
      __VA_ARGS__                                                             \
    }                                                                         \
  }

extern const struct keras_rows keras_norm_rows, keras_window_rows,
    keras_border_rows, keras_sequence_rows, keras_merge_rows;

/* What an activation or an operation of that number is. */
bool keras_activation_type(struct graph *graph, size_t index,
                           struct import_type *type);
bool keras_operation_type(struct graph *graph, size_t index,
                          struct import_type *type);
/* Functions of ops.def, by the names of both or of `own` alone. */
bool keras_function_type(struct graph *graph, enum dialect own,
                         const char *format, size_t index,
                         struct import_type *type);
/* The first tensor's axes in the order that a list gives, from its item
 * `from` on, which counts the batch as 0. */
bool keras_permute(struct keras_call *call, const struct keras_tensor *in,
                   const json_t *dims, int from);
bool keras_concat(struct keras_call *call, int64_t axis);
bool keras_add_layer(struct keras_call *call);
/* The class's name; of one of QKeras that of Keras' own, which it says. */
const char *keras_class(struct keras *keras, const char *type);
/* `tf.math.add`, or an operation of Keras 3. */
bool keras_add_operation(struct keras_call *call, const char *function);
/* Whether such an operation may be what a mask is computed by. */
bool keras_makes_mask(const char *function);
/* A whole model, whose layers become the caller's. */
bool keras_add_model(struct keras_call *call);

#endif
