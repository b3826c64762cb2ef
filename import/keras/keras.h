/*
 * State of reading a Keras model: json.c parses the file, read.c walks layers
 * and their calls, and the other files translate layers. Shapes are in netc's
 * order, channels last, without the batch.
 */
#ifndef NETC_IMPORT_KERAS_KERAS_H
#define NETC_IMPORT_KERAS_KERAS_H

#include <jansson.h>

#include "import/reader.h"
#include "import/window.h"

/* The maximum size, count or index that is read. */
#define KERAS_MOST ((int64_t)1 << 30)

/* Maximum nesting of models and wrappers. */
enum { KERAS_DEEPEST = 16 };

/* Where an object begins in the file; both count from 1. */
struct keras_place {
  size_t line, column;
};

struct keras_model;
struct keras_weights;

struct keras {
  struct graph *graph;
  const struct import_options *options;
  json_t *root;
  struct map order;          /* number of an object in the file, by address */
  struct keras_place *place; /* by that number */
  bool contained;            /* the JSON is inside another file: no lines */
  int version;               /* of Keras; 0: unknown */
  bool channels_first[LIMIT_RANK + 1]; /* by rank, without the batch */
  int lead;                      /* axes that TimeDistributed adds in front */
  int depth;                     /* nesting of models and wrappers */
  VEC(bool) alone;               /* by node: it has one reader */
  struct keras_weights *weights; /* NULL: the file is only JSON */
  VEC(const char *) models;      /* names of the models being read */
  const char *path;              /* path of the model in the weights' names */
};

/* Nodes of tensors that netc does not have. */
enum {
  KERAS_LEFT_OUT = -1,
  KERAS_STATE = -2,
  KERAS_LAST = -3,
  KERAS_MASK = -4 /* which steps are valid */
};

/* A tensor in Keras. */
struct keras_tensor {
  int node;
  bool vector;              /* a vector in Keras of all values of the node */
  struct graph_shape shape; /* of a call's inputs; outputs have none yet */
  bool padded; /* zeros that its only user, a convolution, adds itself */
  int64_t before[3], after[3];
  int last_of; /* of KERAS_LAST: the sequence */
};

/* An argument of a call: a tensor, or a value in the file. */
struct keras_operand {
  const char *key; /* of a named argument; else NULL */
  bool is_tensor;
  struct keras_tensor tensor;
  json_t *value;
};

/* "3.0.1"; "tfjs-layers 4.22.0", which is as Keras 2; NULL: unknown. */
void keras_set_version(struct keras *k, const char *version);

struct keras_row;

/* One call of a layer. */
struct keras_call {
  struct keras *keras;
  struct graph *graph;
  const char *name, *type;
  const struct keras_row *row; /* of the type */
  json_t *json, *config;
  struct keras_place place;
  bool frozen;
  const struct keras_operand *operands;
  size_t operand_count;
  const struct keras_tensor *inputs; /* operands that are tensors */
  size_t input_count;
  /* The only user of the output, if it is one layer; else NULL. */
  const char *user_type;
  json_t *user_config;
  struct keras_model *model; /* of a nested model */
  VEC(struct keras_tensor) outputs;
  const char *path;   /* of its weights, in files with paths */
  bool again;         /* its weights were read by an earlier call */
  VEC(size_t) stored; /* its own weights in the file */
  size_t took;        /* number already taken */
};

typedef bool keras_layer_fn(struct keras_call *call);

/* The file. */

bool keras_parse(struct keras *keras, struct slice file);
/* Reads the model in the parsed JSON, which may be nested. */
bool keras_read_root(struct keras *keras);
/* Parses a text and reads the model. */
bool keras_read_text(struct keras *keras, struct slice text);
struct keras_place keras_place_of(const struct keras *keras,
                                  const json_t *object);
/* Fails at a place; returns false. */
bool keras_refuse(struct keras *keras, struct keras_place place,
                  const char *format, ...) PRINTF_LIKE(3, 4);
/* A member: Keras 3's tuples as arrays; NULL if it is null or missing. */
json_t *keras_member(const json_t *object, const char *key);
const char *keras_string(const json_t *object, const char *key,
                         const char *usual);

/* Values of a layer's config. */

/* Fails with "`conv1` (Conv2D): ..."; returns false. */
#define keras_fail(call, ...)                                       \
  keras_refuse((call)->keras, (call)->place, "`%.64s` (%.64s): %s", \
               (call)->name, (call)->type,                          \
               graph_text((call)->graph, __VA_ARGS__))
bool keras_bool(const struct keras_call *call, const char *key, bool usual);
int64_t keras_int(struct keras_call *call, const char *key, int64_t usual,
                  int64_t least, int64_t most);
double keras_real(struct keras_call *call, const char *key, double usual);
/* Reads `count` integers, or one for all of them. */
bool keras_ints(struct keras_call *call, const char *key, int64_t usual,
                int64_t least, int count, int64_t *values);
bool keras_integer(struct keras_call *call, const json_t *value,
                   const char *what, int64_t least, int64_t most,
                   int64_t *result);

/* Nodes. */

/* Nodes added from now on belong to this call. */
void keras_begin(const struct keras_call *call);
/* Adds a layer on a node. */
static inline struct graph_node *keras_node(struct keras_call *call,
                                            enum layer_word word, int input) {
  return graph_layer(call->graph, word, input);
}
/* A node with exactly the tensor's shape: a flatten if it has more axes. */
int keras_exact(struct keras_call *call, const struct keras_tensor *tensor);
/* Notes that masks are left out. */
void keras_note_masks(struct keras_call *call);
/* Gives a node as the call's next output. */
bool keras_give(struct keras_call *call, int node);
/* Gives a node: a vector in Keras. */
bool keras_give_vector(struct keras_call *call, int node);
/* Gives a layer of equal shape on `from`, or on the first input. */
bool keras_give_like(struct keras_call *call, int node,
                     const struct keras_tensor *from);
bool keras_give_same(struct keras_call *call, int node);
/* Gives the first input in another shape. */
bool keras_give_reshaped(struct keras_call *call,
                         const struct graph_shape *shape);
/* Gives a node after the activation in the config. */
bool keras_give_active(struct keras_call *call, int node);
/* The shape that a tensor has in Keras. */
struct graph_shape keras_shape(struct keras *keras,
                               const struct keras_tensor *tensor);
/* Adds the activation `value`, a name or an object; NULL: none. Returns the
 * last node, or -1. */
int keras_activate(struct keras_call *call, int node, const json_t *value);
/* netc's axis for one of Keras, which counts the batch; -1 with an error. */
int keras_axis(struct keras_call *call, const struct graph_shape *shape,
               int64_t axis);
/*
 * Removes the `count` nodes that end in `node`, if they were added last and
 * have no other readers. Returns the input of the first one, or -1. Models
 * spell out activations: relu6(x + 3) / 6.
 */
int keras_withdraw(struct keras_call *call, int node,
                   const enum layer_word *words, int count);
/* Adds a weight of that shape; `fixed`: not trained. */
int keras_weight(struct keras_call *call, const struct graph_shape *shape,
                 bool fixed);
/* The number of spatial axes, without TimeDistributed's and channels. */
int keras_spatial(const struct keras_call *call);
/* Checks the spatial axes against the class's name, as `Conv2D`. keras_own_axes
 * allows no axes of TimeDistributed. False with an error if they differ. */
bool keras_axes(struct keras_call *call, int *axes);
bool keras_own_axes(struct keras_call *call, int *axes);
/* The shape in a list, from its item `from` on, for the first input's values.
 * One size may be null or -1 and is inferred; `what` is the list's name. */
bool keras_fill_shape(struct keras_call *call, const json_t *target,
                      size_t from, const char *what, struct graph_shape *shape);
/* Leaves out a class or operation without an equivalent if allowed, else fails
 * with `why`; false. */
bool keras_leave(struct keras_call *call, const char *type, const char *why);

/* Weights (stored.c). All functions succeed if the file has none. */

/* Call once, before any are looked up. */
void keras_index_stored(struct keras *keras);
/* Finds the weights of the call. */
void keras_find_stored(struct keras_call *call);
/*
 * Takes the call's next weight, of that shape, as a parameter of the node.
 * `order` transposes its axes for netc's file; NULL: not needed. NULL, with an
 * error, if there is none or it has another shape.
 */
struct graph_weight *keras_take(struct keras_call *call,
                                struct graph_node *node, const char *name,
                                const struct graph_shape *shape,
                                const int *order);
bool keras_take_vector(struct keras_call *call, struct graph_node *node,
                       const char *name, int64_t count);
/* Takes a matrix from `in` to `out` values. */
struct graph_weight *keras_take_matrix(struct keras_call *call,
                                       struct graph_node *node,
                                       const char *name, int64_t in,
                                       int64_t out);
/* Skips the call's other weights: no part of the net, or not converted. */
void keras_leave_stored(struct keras_call *call);
bool keras_leave_values(struct keras_call *call);
/* True if all weights of the call, or of the file, were taken. */
bool keras_took_all(struct keras_call *call);
bool keras_took_every(struct keras *keras);

/* Rows of ops/keras.def. */

struct keras_row {
  const char *type;
  keras_layer_fn *add;
  enum layer_word words[IMPORT_WORDS];
};

/* Adds words[0] of the row, without arguments, on the first input. */
bool keras_plain(struct keras_call *call);

/* True if `axis` is that of the channels; else false with an error. */
bool keras_on_channels(struct keras_call *call);

#define LAYER(type, function, ...) keras_layer_fn function;
#define OPERATION(type, function, ...) keras_layer_fn function;
#include "ops/keras.def"

/* Give the activation or operation of a number. */
bool keras_activation_type(struct graph *graph, size_t index,
                           struct import_type *type);
bool keras_operation_type(struct graph *graph, size_t index,
                          struct import_type *type);
/* Functions of ops.def, by names of both dialects or of `own` alone. */
bool keras_function_type(struct graph *graph, enum dialect own,
                         const char *format, size_t index,
                         struct import_type *type);
/* Transposes a tensor to the order of a list, from its item `from` on; the list
 * counts the batch as axis 0. */
bool keras_permute(struct keras_call *call, const struct keras_tensor *in,
                   const json_t *dims, int from);
bool keras_concat(struct keras_call *call, int64_t axis);
bool keras_add_layer(struct keras_call *call);
/* The class's name; for a class of QKeras, notes it and returns Keras' own. */
const char *keras_class(struct keras *keras, const char *type);
/* Reads `tf.math.add`, or an operation of Keras 3. */
bool keras_add_operation(struct keras_call *call, const char *function);
/* True if an operation may be part of computing a mask. */
bool keras_makes_mask(const char *function);
/* Adds a whole model, whose layers become part of the caller's. */
bool keras_add_model(struct keras_call *call);

#endif
