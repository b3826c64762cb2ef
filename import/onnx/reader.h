/*
 * Reads ONNX: nodes become layers one by one. A value of the file is a constant
 * or a view of a layer's output, which says where each axis is in the layer's
 * values. Reshape, Transpose and the like cost nothing until a reader needs the
 * axes in another order.
 */
#ifndef NETC_IMPORT_ONNX_READER_H
#define NETC_IMPORT_ONNX_READER_H

#include "import/bytes/bytes.h"
#include "import/reader.h"
#include "import/window.h"
#include "onnx.pb-c.h"
#include "export/layout.h"

enum {
  MOST_AXES = 12,          /* of a value */
  MOST_OPERATORS = 200000, /* nodes in a file */
  MOST_FOLDED = 1 << 24,   /* values that folding may compute */
  MOST_SIZE = 1 << 30,     /* of an axis */
  MOST_REPEATS = 64,       /* of a tensor along an axis */
  MOST_ROOM = 1 << 28,     /* values of all constants, for a small file */
};

/* Values of a tensor, of all samples; keeps strides from overflow. */
#define MOST_VALUES ((int64_t)1 << 46)

/* The element types that are read, by the numbers of onnx.proto. */
enum element_type {
  TYPE_FLOAT = 1,
  TYPE_UINT8 = 2,
  TYPE_INT8 = 3,
  TYPE_INT32 = 6,
  TYPE_INT64 = 7,
  TYPE_BOOL = 9,
  TYPE_DOUBLE = 11,
};

/* Row minus column of each element of a matrix, or a condition on it: true if
 * it is below `low` or above `high`. */
struct band {
  bool plain; /* the difference itself */
  int64_t low, high;
};

/*
 * Values that do not depend on the inputs, in `real` or `whole`; a `fill` has
 * one for all. Both are NULL before the values are loaded, and if the file does
 * not have them (`unknown`: a parameter without values).
 */
struct constant {
  int type; /* of onnx.proto */
  int rank;
  int64_t dims[MOST_AXES];
  int64_t count;
  bool fill, unknown;
  bool trained; /* an initializer, not a Constant */
  bool buffer;  /* by the file's metadata */
  bool left;    /* read by an operator that is left out */
  const float *real;
  const int64_t *whole;
  const Onnx__TensorProto *proto; /* the values in the file */
  const char *name;
  double kept; /* drawn.c: 1 with this probability, else 0; 0: not drawn */
  struct constant *mask;         /* for a condition: the term that it adds */
  const struct constant *origin; /* constant that this is a view of, or NULL */
  const struct constant *longer; /* table with more rows, or NULL */
  const struct band *band;       /* stands for values that are not computed */
  struct constant *stored;       /* integers that it was scaled from, or NULL */
  const struct onnx_steps *steps; /* their scale and zero */
};

/* A layer's output in the axes of the file, with the batch. */
struct onnx_view {
  int node; /* of the graph; -1: none */
  struct onnx_layout at;
};

struct onnx_value {
  const char *name;
  struct constant *constant;    /* or NULL */
  const struct onnx_view *view; /* or NULL */
  bool made;                    /* its node has been read */
  bool absent;                  /* left out, or depends on a left-out value */
  bool output;
  bool buffer;                 /* by the file's metadata: no parameter */
  bool idle;                   /* not needed: idle.c */
  int uses, read;              /* number of readers; of those already read */
  const Onnx__TypeProto *type; /* type in the file, or NULL */
};

/* Axis i of a node is axis order[i] of the file. */
struct onnx_axes {
  int order[LAYOUT_RANK];
  int count;
};

/* A node of the file. */
struct onnx_op {
  const Onnx__NodeProto *proto;
  const char *type, *name;
  size_t in_count, out_count;
  int *ins, *outs; /* values; -1: not given */
  bool idle;       /* it is not needed: idle.c */
  int depth;       /* 0: in the file; else part of one of depth - 1 */
};

/* A layer's weight; its values have the axes of a file of weights. */
struct from_weight {
  const char *name; /* in the layer: "weight" of "bn.weight" */
  const struct constant *from;
  bool is_matrix, as_file; /* as in struct graph_weight */
};

/* torch.nn.MultiheadAttention, by need_weights; with batch_first=False in a net
 * of length, batch, features. */
enum onnx_module {
  MODULE_NONE,
  MODULE_FUSED,
  MODULE_NAIVE,
  MODULE_FUSED_STEPS,
  MODULE_NAIVE_STEPS
};

/* Facts about a node that the graph does not have. */
struct extra {
  double number; /* `mul 0.5`: 0.5 */
  int module;    /* enum onnx_module of a softmax */
  bool has_number;
  int axis; /* of a `slice`, with its start */
  int64_t from;
  int64_t shifts[3];           /* of a `roll` */
  int64_t before[3], after[3]; /* of a `pad`: its zeros */
  bool borders;                /* the pad has only zeros */
  const int *joined;           /* of a `concat` along `axis`: all its tensors */
  int parts;
  VEC(int) moves; /* nodes that only move its output */
  VEC(struct from_weight) weights;
};

struct external_file;

/* Operators of a type without an equivalent, or of an unsupported form. */
struct onnx_absence {
  const struct onnx_op *first;
  const char *why; /* NULL: no equivalent */
  int64_t count;
};

/* Names of the values of a graph inside a node, as in If. */
struct onnx_scope {
  struct map names;
  struct onnx_scope *outer;
};

/* Names of the enclosing graph that graphs inside a node read. */
struct onnx_captured {
  VEC(const char *) names;
  struct map seen;
};

/* A large mask: the keys that it hides; `is`: it is a mask. */
struct onnx_mask {
  const struct constant *of;
  bool is;
  int64_t behind, ahead;
};

struct onnx {
  struct graph *graph;
  struct arena *arena;
  const struct import_options *options;
  bool own_vectors;         /* as in options, or the file is netc's own */
  struct byte_store *store; /* the file */
  const Onnx__ModelProto *model;
  int64_t opset;
  VEC(struct onnx_value) values;
  struct map names;         /* index in `values` plus 1, by name */
  struct onnx_scope *scope; /* inside a node, or NULL */
  VEC(struct onnx_op) ops;
  VEC(struct extra) extras; /* by node of the graph */
  struct map sizes;         /* values of --dim, by name of a dynamic axis */
  int batch_axis;           /* of inputs; -1: none */
  int64_t batch;            /* samples in the file's sizes */
  bool other_batch;         /* an operator has the batch on another axis */
  bool open_batch;          /* the number of samples is dynamic */
  bool over_batch;          /* an operator covers that axis: no batch */
  bool stale;               /* sizes in the file are not those that are given */
  int64_t room;             /* values that constants may still take */
  VEC(struct external_file *) files;   /* with values, next to the model */
  struct map beside;                   /* index in `files` plus 1, by name */
  const struct onnx_op *at;            /* the current operator */
  VEC(const struct onnx_view *) spare; /* views without readers, for reuse */
  VEC(struct onnx_mask) masks;         /* examined masks */
  VEC(struct onnx_absence) absences;   /* of left-out operators */
  VEC(int) cuts;                       /* nodes that left-out operators read */
  VEC(const struct constant *) left;   /* parameters of left-out operators */
  const struct onnx_view *regions;     /* last pooled regions, or NULL */
  const char *suspect;          /* an input that may be a parameter, or NULL */
  bool lenient;                 /* leave out unsupported forms, too */
  bool folded;                  /* batch norms were probably folded: folded.c */
  bool quantised, wide, stored; /* layers, wide layers, weights with scales */
};

/* Decodes a model; false with the graph's error. */
bool onnx_decode(struct graph *graph, struct byte_store *store,
                 Onnx__ModelProto **model);

/* Sets strings that a model lacks to "". */
void onnx_fill(Onnx__ModelProto *model);
/* Reads a decoded model. */
bool onnx_read_model(struct graph *graph, struct byte_store *store,
                     Onnx__ModelProto *model,
                     const struct import_options *options);

/* The place of a TensorProto's raw_data in the file. */
struct onnx_raw {
  uint64_t at, count;
};

/* The first layer of the operator's row in ops/onnx.def. */
enum layer_word onnx_word(const struct onnx *x);

/* Fails with "`conv1` (Conv; group=1): WHAT"; returns false. */
bool onnx_fail(struct onnx *x, const char *format, ...) PRINTF_LIKE(2, 3);
/* Fails in a function that returns a node, an axis or a count: -1. */
#define ONNX_NONE(...) (onnx_fail(__VA_ARGS__), -1)
/* A name of the file without control characters. */
const char *onnx_shown(struct onnx *x, const char *name);

/* Attributes of the current node. */
const Onnx__AttributeProto *onnx_attribute(const struct onnx *x,
                                           const char *name);
int64_t onnx_int(const struct onnx *x, const char *name, int64_t usual);
double onnx_real(const struct onnx *x, const char *name, double usual);
bool onnx_is(const struct onnx *x, const char *name, const char *text,
             bool usual);
/* True if the attribute is missing or one of `words` (with NULL); else
 * fails. */
bool onnx_one_of(struct onnx *x, const char *name, const char *const *words);
/* Reads integers; returns their number, or -1 if the attribute is missing.
 * Fails if there are more than `most`. */
int onnx_ints(struct onnx *x, const char *name, int64_t *to, int most);

/*
 * The index of a value by name, which may be new: in the current graph, else in
 * enclosing ones. onnx_made_index is for values that the reader makes itself.
 */
int onnx_value_index(struct onnx *x, const char *name);
int onnx_made_index(struct onnx *x, const char *name);

/* Operands of the current node. */
struct onnx_value *onnx_operand(struct onnx *x, size_t index);
bool onnx_has(const struct onnx *x, size_t index);
/* True if an output of the current node has readers. */
bool onnx_is_read(const struct onnx *x, size_t out);
/* The constant in an operand, or NULL. */
struct constant *onnx_constant(struct onnx *x, size_t index);
/* The view in an operand; NULL with an error if it is constant. */
const struct onnx_view *onnx_input(struct onnx *x, size_t index);
/* Integers in an input or, in older opsets, in an attribute. */
int onnx_numbers(struct onnx *x, size_t index, const char *name, int64_t *to,
                 int most);
/* The axes of a reduction, in input 1 or `axes`; 0: not given. */
int onnx_axes_numbers(struct onnx *x, int64_t *axes);
/* An axis from 0; -1 with an error if it does not exist. */
int onnx_axis(struct onnx *x, int64_t axis, int rank);
/* An index of an axis, from 0; -1 with an error if it is outside. */
int64_t onnx_index(struct onnx *x, const struct constant *places, int64_t i,
                   int64_t size);
/* Concat's axis, which is required since opset 4. */
int onnx_concat_axis(struct onnx *x, int rank);
/* Marks axes; false, with an error, if one does not exist or is repeated. */
bool onnx_mark_axes(struct onnx *x, const int64_t *axes, int count, int rank,
                    bool marked[MOST_AXES]);

/* The element type and sizes of a tensor; NULL for a sequence, a map, or no
 * type. Only this function reads TypeProto's union. */
const Onnx__TypeProto__Tensor *onnx_tensor_type(const Onnx__TypeProto *type);
/* The size of an axis. 0, and its name if it has one, if neither the file nor
 * --dim gives it. */
int64_t onnx_dim_size(const struct onnx *x,
                      const Onnx__TensorShapeProto__Dimension *dim,
                      const char **name);

/* True for "conv1.weight" and similar names of parameters. */
bool onnx_is_weight_name(const char *name);

/* Outputs of the current node. */
bool onnx_give(struct onnx *x, size_t out, const struct onnx_view *view);
/* Gives a node in the layout of `like` as the first output; returns true. */
bool onnx_give_node(struct onnx *x, const struct onnx_view *like, int node);
/* Returns true. */
bool onnx_give_constant(struct onnx *x, size_t out, struct constant *constant);

/* Constants. */
struct constant *constant_new(struct onnx *x, int type, int rank,
                              const int64_t *dims);
struct constant *constant_of(struct onnx *x, const Onnx__TensorProto *proto);
/* True for numbers that are drawn anew each time. */
bool constant_is_drawn(const struct constant *c);
/* Multiplies samples by drawn numbers, which is stochastic depth. */
bool onnx_drop_path(struct onnx *x, const struct onnx_view *in,
                    const struct constant *c);
/* Loads the values; false with an error if the file lacks them. */
bool constant_load(struct onnx *x, struct constant *c);
bool constant_known(struct onnx *x, struct constant *c);
/* Memory for values, set to 0. */
float *constant_reals(struct onnx *x, int64_t count);
int64_t *constant_wholes(struct onnx *x, int64_t count);
/* Reserves `count` values; false with an error if the limit is reached. */
bool constant_room(struct onnx *x, int64_t count);
double constant_real(const struct constant *c, int64_t i);
int64_t constant_whole(const struct constant *c, int64_t i);
bool constant_is_real(const struct constant *c);
/* True if all values equal *with. Loads small constants only. */
bool constant_is_even(struct onnx *x, struct constant *c, double *with);
/* The values through a layout of their dense order. */
struct constant *constant_through(struct onnx *x, struct constant *c,
                                  const struct onnx_layout *at);
struct constant *constant_with(struct onnx *x, struct constant *c, int rank,
                               const int64_t *dims);
struct constant *constant_zeros(struct onnx *x, int64_t count);
struct constant *constant_ints(struct onnx *x, const int64_t *numbers,
                               int count);

/* Takes the source in the file, if the model was not changed since. */
bool onnx_take_source(struct onnx *x);

/* Sets `folded`: true if batch norms were probably folded. */
void onnx_find_folded(struct onnx *x);
/* The convolution, or with --assume-bn the norm that was folded into it. */
struct graph_node *onnx_unfold_norm(struct onnx *x, struct graph_node *conv,
                                    int64_t channels);

/* Folds a node whose inputs are all constants; *done: it was folded. */
bool fold_constants(struct onnx *x, bool *done);

/* Nodes of the graph. */
struct extra *onnx_extra(struct onnx *x, int index);
/* Nodes added from now on belong to this operator, or to none. */
void onnx_begin(struct onnx *x, const struct onnx_op *op);
/* Adds a layer on a node. */
static inline struct graph_node *onnx_layer(struct onnx *x,
                                            enum layer_word word, int input) {
  return graph_layer(x->graph, word, input);
}
void onnx_put_eps(struct onnx *x, struct graph_node *node, double eps);
void onnx_set_number(struct onnx *x, struct graph_node *node, double number);
const char *onnx_real_text(struct onnx *x, double value);
void onnx_add_weight(struct onnx *x, struct graph_node *node, const char *name,
                     const struct constant *from);
const struct constant *onnx_find_weight(struct onnx *x, int node,
                                        const char *name);
/* Adds a `weight` with these values. */
struct graph_node *onnx_weight(struct onnx *x, struct constant *c);

/* Gives a new view of a node as the first output; returns true. */
bool onnx_give_fresh(struct onnx *x, int node, int rank, const int64_t *dims,
                     const struct onnx_axes *axes);

/* The language's name for an axis of a node: "h". */
const char *onnx_axis_word(struct onnx *x, const struct graph_shape *shape,
                           int axis);

/* Views. */
int64_t onnx_values(struct onnx *x, int node);
/* A view in which axis i of the node is axis `order[i]` of the file. */
struct onnx_view view_fresh(struct onnx *x, int node, int rank,
                            const int64_t *dims, const int *order, int count);
/* A node with these axes; -1 with an error if that is impossible. */
int view_realise(struct onnx *x, int node, const struct onnx_layout *want,
                 bool loose);
/* The cost of that: 0 nothing, 1 a reshape, 2 a permute; -1: impossible. */
int view_cost(struct onnx *x, int node, const struct onnx_layout *want);
/* Rearranges a view to axes of the file in this order, without the batch. */
bool view_rearrange(struct onnx *x, const struct onnx_view *view,
                    const int *order, int count, struct onnx_view *result);
/* Rearranges it to all axes but the batch, in the file's order. */
bool view_plain(struct onnx *x, const struct onnx_view *view,
                struct onnx_view *result);
/* Rearranges it to all axes but the batch, in the order in memory. */
bool view_parted(struct onnx *x, const struct onnx_view *view,
                 struct onnx_view *result);
/* Rearranges a map to rows and columns, then channels. */
bool view_channels_last(struct onnx *x, const struct onnx_view *view,
                        struct onnx_view *result);
/* The node's axis for an axis of the file; -1: none. */
int view_axis(struct onnx *x, const struct onnx_view *view, int axis);
/* The file's axes of the node; false if they are not whole axes. */
bool axes_of(struct onnx *x, const struct onnx_view *view,
             struct onnx_axes *axes);
int axes_place(const struct onnx_axes *axes, int axis);
/* All axes but the batch; always includes `with`. */
void axes_plain(struct onnx *x, const struct onnx_view *view, int with,
                struct onnx_axes *axes);
void axes_near(struct onnx *x, const struct onnx_view *view, int with,
               struct onnx_axes *axes);
/* Rearranges a view so that `axis` is a whole axis of the node. */
bool view_with_axis(struct onnx *x, const struct onnx_view *view, int axis,
                    struct onnx_axes *axes, struct onnx_view *result);
/* Makes an axis the node's last; no `axes` if it is the last already. */
bool view_to_last(struct onnx *x, const struct onnx_view *view, int axis,
                  struct onnx_view *result, struct onnx_axes *axes);
/* The view of a node whose axes have other sizes than those of `view`. */
bool view_resized(struct onnx *x, const struct onnx_view *view, int node,
                  struct onnx_view *result);
/* True if the axis is the batch or has size 1. */
bool view_is_batch(struct onnx *x, const struct onnx_view *view, int axis);
/* The layout of `other` in the order of `view`; repeated axes have size 1. */
bool layout_along(struct onnx *x, const struct onnx_view *view,
                  const struct onnx_layout *other, int64_t other_values,
                  struct onnx_layout *want);
/* Broadcasts sizes, from the last axis on; `dims` may be `a`. */
bool onnx_joint_dims(struct onnx *x, const int64_t *a, int a_rank,
                     const int64_t *b, int b_rank, int *rank, int64_t *dims);
/* Adds axes of size 1 in front, and repeats along `dims`. */
bool layout_spread(const struct onnx_layout *at, int rank, const int64_t *dims,
                   struct onnx_layout *result);

/* The operator and its attributes, for messages. */
const char *onnx_op_text(struct onnx *x, const struct onnx_op *op);
/* True if the operator has a row in ops/onnx.def. */
bool onnx_knows(const struct onnx_op *op);

/* Reports all operators without an equivalent, before other errors; false with
 * an error if they may not be left out. */
bool onnx_refuse_unknown(struct onnx *x);
/* Leaves out the current operator, which is `unknown` or depends on a left-out
 * one; returns true. */
bool onnx_leave_out(struct onnx *x, bool unknown);
/* Reads an operator that has an absent input, but makes an input of its own;
 * else not `done`. */
bool onnx_read_regions(struct onnx *x, bool *done);
/* Leaves out the current operator after an error, if allowed; returns true. */
bool onnx_leave_failed(struct onnx *x);
/* Makes the inputs of left-out operators outputs if an output is left out. */
void onnx_say_left_out(struct onnx *x);

/* Finds the names of the enclosing graph that inner graphs read. */
void onnx_find_captured(struct onnx *x, const Onnx__NodeProto *proto,
                        struct onnx_captured *inside);
/* Reads an inner graph in place of its node; `outs` are its outputs. */
bool onnx_read_graph(struct onnx *x, const Onnx__GraphProto *g,
                     struct onnx_value *outs, size_t count);

/* Finds values that are not needed: idle.c. */
void onnx_find_idle(struct onnx *x);
/* Translates the current node into layers. */
bool onnx_read_op(struct onnx *x);

/* True if the sizes of input `i` of the graph must be known: `axis` is that of
 * its batch, or -1. */
typedef bool onnx_asked_fn(struct onnx *x, void *user, size_t i, int index,
                           int *axis);
/* Fails if sizes or numbers are open: asks for all of them. */
bool onnx_ask(struct onnx *x, onnx_asked_fn *batch_axis, void *user);
/* Fails if a name of --value is not an input. */
bool onnx_check_scalars(struct onnx *x);
/* Makes an input that --value names a constant, else not `done`. */
bool onnx_add_scalar(struct onnx *x, const Onnx__ValueInfoProto *info,
                     struct onnx_value *value, bool *done);

/* Inputs are read first, outputs last. */
bool onnx_read_inputs(struct onnx *x);
bool onnx_finish(struct onnx *x);

/* Tests whether a table is indexed by the distance of two positions. */
bool onnx_is_by_distance(struct onnx *x, const struct constant *table,
                         struct constant *places);
/* The table that a bias of heads x n x n was selected from; NULL unless its
 * values depend on distances in a square window of n positions. */
const struct constant *onnx_distance_table(struct onnx *x,
                                           const struct constant *bias,
                                           int64_t heads, int64_t n,
                                           const char **window);
bool onnx_read_by_distance(struct onnx *x, struct constant *table,
                           struct constant *places);
/* The same of a table that layers compute; *done: it is one. */
bool onnx_gather_by_distance(struct onnx *x, const struct onnx_view *table,
                             struct constant *places, bool *done);

/* Turns products, a softmax and moves into `attention`. */
void onnx_find_attention(struct onnx *x);

/* True if an operator can be folded. fold_name lists them, then NULL. */
bool fold_knows(const char *type);
const char *fold_name(size_t index);

/* Reads a Gemm whose matrix is no constant. */
bool op_gemm_of_tensors(struct onnx *x);

/* Functions of the table's rows. `in` is the first input. */
typedef bool onnx_op_fn(struct onnx *x);
typedef bool onnx_view_fn(struct onnx *x, const struct onnx_view *in);

#define OP(name, function, ...) onnx_op_fn function;
#define VIEW(name, function, ...) onnx_view_fn function;
#include "ops/onnx.def"

#endif
