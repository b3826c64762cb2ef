/*
 * Reading ONNX: nodes become layers one by one. A value of the file is a
 * constant or a view of what a layer gives: where its axes lie in that
 * layer's values, so that Reshape, Transpose and the like cost nothing until
 * somebody needs the axes in another order.
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
  MOST_OPERATORS = 200000, /* nodes of a file */
  MOST_FOLDED = 1 << 24,   /* values that folding makes */
  MOST_SIZE = 1 << 30,     /* of an axis */
  MOST_REPEATS = 64,       /* of a tensor along an axis */
  MOST_ROOM = 1 << 28,     /* values of all constants, for a small file */
};

/* Values of a tensor, of all samples: what strides are computed with. */
#define MOST_VALUES ((int64_t)1 << 46)

/* Element types that matter, by the numbers of onnx.proto. */
enum element_type {
  TYPE_FLOAT = 1,
  TYPE_UINT8 = 2,
  TYPE_INT8 = 3,
  TYPE_INT32 = 6,
  TYPE_INT64 = 7,
  TYPE_BOOL = 9,
  TYPE_DOUBLE = 11,
};

/*
 * Rows less columns of a matrix, or a condition on them: true where they are
 * below `low` or above `high`.
 */
struct band {
  bool plain; /* the difference itself */
  int64_t low, high;
};

/*
 * Values that do not depend on the inputs. `real` or `whole` has them, one
 * for all if it is a `fill`; neither before they are loaded, or if the file
 * does not have them (`unknown`: a parameter without its values).
 */
struct constant {
  int type; /* of onnx.proto */
  int rank;
  int64_t dims[MOST_AXES];
  int64_t count;
  bool fill, unknown;
  bool trained; /* an initializer, not a Constant */
  bool buffer;  /* as the file says */
  bool left;    /* an operator that is left out reads it */
  const float *real;
  const int64_t *whole;
  const Onnx__TensorProto *proto; /* where they are */
  const char *name;
  struct constant *mask;         /* what it adds where it is a condition */
  const struct constant *origin; /* that it is a view of, or NULL */
  const struct constant *longer; /* a table whose first rows they are */
  const struct band *band;       /* that stands for values which are not here */
  struct constant *stored;       /* whole numbers that it stands for, or NULL */
  const struct onnx_steps *steps; /* theirs */
};

/* What a layer gives, seen with the axes of the file, the batch among them. */
struct onnx_view {
  int node; /* of the graph; -1: none */
  struct onnx_layout at;
};

struct onnx_value {
  const char *name;
  struct constant *constant;    /* or NULL */
  const struct onnx_view *view; /* or NULL */
  bool made;                    /* its node has been read */
  bool absent;                  /* left out, with what it follows from */
  bool output;
  bool buffer;                 /* no parameter, as the file says */
  bool idle;                   /* nothing that is read depends on it */
  int uses, read;              /* operands that it is; those that were read */
  const Onnx__TypeProto *type; /* that the file states, or NULL */
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
  bool idle;       /* it is not read */
  int depth;       /* 0: of the file; it is a part of one of depth - 1 */
};

/* A weight of a layer: its values have the axes of a weights file. */
struct from_weight {
  const char *name; /* "bn.weight" has "weight" */
  const struct constant *from;
  bool is_matrix, as_file; /* as in the graph */
};

/* What is known of a node of the graph beside what the graph has. */
struct extra {
  double number; /* `mul 0.5`: 0.5 */
  bool has_number;
  int axis; /* of a `slice`, and where it begins */
  int64_t from;
  int64_t shifts[3];           /* of a `roll` */
  int64_t before[3], after[3]; /* zeros that a `pad` has, */
  bool borders;                /* and no others */
  const int *joined; /* of a `concat` along `axis`: what it joins in all */
  int parts;
  VEC(int) moves; /* nodes that only move what this one gives */
  VEC(struct from_weight) weights;
};

struct external_file;

/* Operators of a type that netc has no equivalent of, or not in their form. */
struct onnx_absence {
  const struct onnx_op *first;
  const char *why; /* NULL: of none */
  int64_t count;
};

/* Names of values of a graph inside a node, as of an If. */
struct onnx_scope {
  struct map names;
  struct onnx_scope *outer;
};

/* Names that graphs inside a node read of the one around it. */
struct onnx_captured {
  VEC(const char *) names;
  struct map seen;
};

/* What a large mask hides, or that it is none. */
struct onnx_mask {
  const struct constant *of;
  bool is;
  int64_t behind, ahead;
};

struct onnx {
  struct graph *graph;
  struct arena *arena;
  const struct import_options *options;
  struct byte_store *store; /* the file */
  const Onnx__ModelProto *model;
  int64_t opset;
  VEC(struct onnx_value) values;
  struct map names;         /* of values: the index plus 1 */
  struct onnx_scope *scope; /* inside a node, or NULL */
  VEC(struct onnx_op) ops;
  VEC(struct extra) extras; /* by node of the graph */
  struct map sizes;         /* dynamic axes: the value of --dim */
  int batch_axis;           /* of inputs; -1: they have none */
  int64_t batch;            /* samples that the file's sizes speak of */
  bool other_batch;         /* an operator has them along another axis */
  bool open_batch;          /* how many samples there are is not stated */
  bool over_batch;          /* an operator is over that axis: it is none */
  int64_t room;             /* values that constants may still take */
  VEC(struct external_file *) files;   /* that hold values, beside the model */
  struct map beside;                   /* them by name: the index plus 1 */
  const struct onnx_op *at;            /* the one that is being read */
  VEC(const struct onnx_view *) spare; /* that nobody reads any more */
  VEC(struct onnx_mask) masks;         /* that were looked at */
  VEC(struct onnx_absence) absences;   /* of operators that are left out */
  VEC(int) cuts;                       /* nodes that such operators read */
  VEC(const struct constant *) left;   /* parameters of what is left out */
  const struct onnx_view *regions;     /* the last that were pooled, or NULL */
  bool lenient;                        /* nor what cannot be read as it is */
  bool folded; /* batch norms were folded, as it seems: folded.c */
  bool quantised, wide, stored; /* what layers give is in steps, of more than 8
                                   bits; weights are: op_quant.c */
};

/* Decoding. False with the graph's error. */
bool onnx_decode(struct graph *graph, struct byte_store *store,
                 Onnx__ModelProto **model);

/* Texts that a model leaves out are empty. */
void onnx_fill(Onnx__ModelProto *model);
/* One that is decoded, of a file of that size. */
bool onnx_read_model(struct graph *graph, struct byte_store *store,
                     Onnx__ModelProto *model,
                     const struct import_options *options);

/* What stands in a TensorProto's raw_data: where that lies in the file. */
struct onnx_raw {
  uint64_t at, count;
};

/* The first layer of the operator's row in ops/onnx.def. */
enum layer_word onnx_word(const struct onnx *x);

/* "`conv1` (Conv; group=1): WHAT"; false. */
bool onnx_fail(struct onnx *x, const char *format, ...) PRINTF_LIKE(2, 3);
/* The same where a node, an axis or a count is returned: -1. */
#define ONNX_NONE(...) (onnx_fail(__VA_ARGS__), -1)
/* A name of the file, fit to be read. */
const char *onnx_shown(struct onnx *x, const char *name);

/* Attributes of the current node. */
const Onnx__AttributeProto *onnx_attribute(const struct onnx *x,
                                           const char *name);
int64_t onnx_int(const struct onnx *x, const char *name, int64_t usual);
double onnx_real(const struct onnx *x, const char *name, double usual);
bool onnx_is(const struct onnx *x, const char *name, const char *text,
             bool usual);
/* Whether it is not given, or one of these; the last is NULL. Fails if not. */
bool onnx_one_of(struct onnx *x, const char *name, const char *const *words);
/* How many; -1: it is not given; fails if more than `most`. */
int onnx_ints(struct onnx *x, const char *name, int64_t *to, int most);

/* Values by name, new ones included: of the graph that is being read, else of
 * those around it; and one that it makes itself. */
int onnx_value_index(struct onnx *x, const char *name);
int onnx_made_index(struct onnx *x, const char *name);

/* Operands of the current node. */
struct onnx_value *onnx_operand(struct onnx *x, size_t index);
bool onnx_has(const struct onnx *x, size_t index);
/* Whether something reads that output of it. */
bool onnx_is_read(const struct onnx *x, size_t out);
/* Its constant; NULL: it is none. */
struct constant *onnx_constant(struct onnx *x, size_t index);
/* Its view; fails, and gives NULL, where it is a constant. */
const struct onnx_view *onnx_input(struct onnx *x, size_t index);
/* Whole numbers, of an input or, before a later opset, of an attribute. */
int onnx_numbers(struct onnx *x, size_t index, const char *name, int64_t *to,
                 int most);
/* An axis from 0; -1, and failed, if there is none. */
int onnx_axis(struct onnx *x, int64_t axis, int rank);
/* That of a Concat, which has to say it since opset 4. */
int onnx_concat_axis(struct onnx *x, int rank);
/* Marks the axes that are named; false, and failed, if one does not exist or
 * is named twice. */
bool onnx_mark_axes(struct onnx *x, const int64_t *axes, int count, int rank,
                    bool marked[MOST_AXES]);

/* The element type and sizes of an input; NULL: a sequence, a map, or none.
 * The members of TypeProto are a union: no other place reads them. */
const Onnx__TypeProto__Tensor *
onnx_tensor_type(const Onnx__ValueInfoProto *info);

/* "conv1.weight" and the like, as exporters name parameters. */
bool onnx_is_weight_name(const char *name);

/* Results. */
bool onnx_give(struct onnx *x, size_t out, const struct onnx_view *view);
/* The first output, a node that lies as `like` does; true. */
bool onnx_give_node(struct onnx *x, const struct onnx_view *like, int node);
/* True. */
bool onnx_give_constant(struct onnx *x, size_t out, struct constant *constant);

/* Constants. */
struct constant *constant_new(struct onnx *x, int type, int rank,
                              const int64_t *dims);
struct constant *constant_of(struct onnx *x, const Onnx__TensorProto *proto);
/* Loads them; false, and failed, if the file has none. */
bool constant_load(struct onnx *x, struct constant *c);
bool constant_known(struct onnx *x, struct constant *c);
/* Takes room for so many values; false, and failed, if there is no more. */
bool constant_room(struct onnx *x, int64_t count);
double constant_real(const struct constant *c, int64_t i);
int64_t constant_whole(const struct constant *c, int64_t i);
bool constant_is_real(const struct constant *c);
/* All values are the same: *with. Loads only what is small. */
bool constant_is_even(struct onnx *x, struct constant *c, double *with);
/* The same values, seen through a layout of their dense space. */
struct constant *constant_through(struct onnx *x, struct constant *c,
                                  const struct onnx_layout *at);
struct constant *constant_with(struct onnx *x, struct constant *c, int rank,
                               const int64_t *dims);
struct constant *constant_zeros(struct onnx *x, int64_t count);
struct constant *constant_ints(struct onnx *x, const int64_t *numbers,
                               int count);

/* Takes the source that the file has, if the model is still what it says. */
bool onnx_take_source(struct onnx *x);

/* Whether batch norms were folded into convolutions. */
void onnx_find_folded(struct onnx *x);
/* What takes the place of a convolution: itself, or with --assume-bn the norm
 * that was folded into it. */
struct graph_node *onnx_unfold_norm(struct onnx *x, struct graph_node *conv,
                                    int64_t channels);

/* Folding: nodes whose inputs are all constants; *done: it was one. */
bool fold_constants(struct onnx *x, bool *done);

/* Nodes of the graph. */
struct extra *onnx_extra(struct onnx *x, int index);
/* What is added to the graph from now on is of this operator, or of none. */
void onnx_begin(struct onnx *x, const struct onnx_op *op);
/* A layer on a node, for now with its shape. */
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
/* A `weight` of these values. */
struct graph_node *onnx_weight(struct onnx *x, struct constant *c);

/* Gives out a new view of a node as the first output; true. */
bool onnx_give_fresh(struct onnx *x, int node, int rank, const int64_t *dims,
                     const struct onnx_axes *axes);

/* The language's name of an axis of a node: "h". */
const char *onnx_axis_word(struct onnx *x, const struct graph_shape *shape,
                           int axis);

/* Views. */
int64_t onnx_values(struct onnx *x, int node);
/* Axis `order[i]` of the file is axis i of the node. */
struct onnx_view view_fresh(struct onnx *x, int node, int rank,
                            const int64_t *dims, const int *order, int count);
/* A node that has these axes; -1, and failed, if that cannot be. */
int view_realise(struct onnx *x, int node, const struct onnx_layout *want,
                 bool loose);
/* What it takes: 0 nothing, 1 a reshape, 2 a permute; -1: cannot be. */
int view_cost(struct onnx *x, int node, const struct onnx_layout *want);
/* The same with axes of the file in that order, but for the batch. */
bool view_rearrange(struct onnx *x, const struct onnx_view *view,
                    const int *order, int count, struct onnx_view *result);
/* All axes but the batch, in the file's order. */
bool view_plain(struct onnx *x, const struct onnx_view *view,
                struct onnx_view *result);
/* The same, but that the axes are in the order in which they lie. */
bool view_parted(struct onnx *x, const struct onnx_view *view,
                 struct onnx_view *result);
/* Maps: rows and columns, then channels. */
bool view_channels_last(struct onnx *x, const struct onnx_view *view,
                        struct onnx_view *result);
/* Which axis of the node that axis of the file is; -1: none of them. */
int view_axis(struct onnx *x, const struct onnx_view *view, int axis);
/* False: its axes are not whole axes of the file. */
bool axes_of(struct onnx *x, const struct onnx_view *view,
             struct onnx_axes *axes);
int axes_place(const struct onnx_axes *axes, int axis);
/* All but the batch, `with` in any case. */
void axes_plain(struct onnx *x, const struct onnx_view *view, int with,
                struct onnx_axes *axes);
void axes_near(struct onnx *x, const struct onnx_view *view, int with,
               struct onnx_axes *axes);
/* A view of which that axis is one of the node's. */
bool view_with_axis(struct onnx *x, const struct onnx_view *view, int axis,
                    struct onnx_axes *axes, struct onnx_view *result);
/* An axis of the file as the node's last one; no `axes`: as it was. */
bool view_to_last(struct onnx *x, const struct onnx_view *view, int axis,
                  struct onnx_view *result, struct onnx_axes *axes);
/* The view of a node whose axes have other sizes than those of `view`. */
bool view_resized(struct onnx *x, const struct onnx_view *view, int node,
                  struct onnx_view *result);
/* Is the axis the batch (or of size 1)? */
bool view_is_batch(struct onnx *x, const struct onnx_view *view, int axis);
/* Values of `other` in the order of those of `view`: netc's axes; those that
 * are repeated have size 1. */
bool layout_along(struct onnx *x, const struct onnx_view *view,
                  const struct onnx_layout *other, int64_t other_values,
                  struct onnx_layout *want);
/* The sizes of both together, from the last axis on; `dims` may be `a`. */
bool onnx_joint_dims(struct onnx *x, const int64_t *a, int a_rank,
                     const int64_t *b, int b_rank, int *rank, int64_t *dims);
/* With axes of size 1 in front, and repeated along `dims`. */
bool layout_spread(const struct onnx_layout *at, int rank, const int64_t *dims,
                   struct onnx_layout *result);

/* The operator and its attributes, for messages. */
const char *onnx_op_text(struct onnx *x, const struct onnx_op *op);
/* Whether it has a row in ops/onnx.def. */
bool onnx_knows(const struct onnx_op *op);

/* Operators without an equivalent: all at once, before anything else is said;
 * false, and failed, if they may not be left out. */
bool onnx_refuse_unknown(struct onnx *x);
/* The current one is, since it is `unknown` or follows from one; true. */
bool onnx_leave_out(struct onnx *x, bool unknown);
/* What reads something absent, but makes an input of its own; or is not
 * `done`. */
bool onnx_read_regions(struct onnx *x, bool *done);
/* The current one cannot be read: it is left out, too, if that may be; true. */
bool onnx_leave_failed(struct onnx *x);
/* What these read are outputs where one of the file's is left out, too. */
void onnx_say_left_out(struct onnx *x);

/* Graphs inside a node: what they read of the one around it. */
void onnx_find_captured(struct onnx *x, const Onnx__NodeProto *proto,
                        struct onnx_captured *inside);
/* Reads such a graph in the place of its node; outs: its outputs. */
bool onnx_read_graph(struct onnx *x, const Onnx__GraphProto *g,
                     struct onnx_value *outs, size_t count);

/* What is not read, where attention is one operator. */
void onnx_find_idle(struct onnx *x);
/* The current node becomes layers. */
bool onnx_read_op(struct onnx *x);

/* The ends: inputs first, outputs when all is read. */
bool onnx_read_inputs(struct onnx *x);
bool onnx_finish(struct onnx *x);

/* Rows of a table by how far two positions are apart: embed of distances. */
bool onnx_is_by_distance(struct onnx *x, const struct constant *table,
                         struct constant *places);
/* The table that a bias of heads x n x n was picked from, if its values are of
 * distances in a square window of n positions; else NULL. */
const struct constant *onnx_distance_table(struct onnx *x,
                                           const struct constant *bias,
                                           int64_t heads, int64_t n,
                                           const char **window);
bool onnx_read_by_distance(struct onnx *x, struct constant *table,
                           struct constant *places);

/* Products, a softmax and moves become `attention`. */
void onnx_find_attention(struct onnx *x);

/* Whether an operator is one that may be folded; their names, NULL after
 * the last. */
bool fold_knows(const char *type);
const char *fold_name(size_t index);

/* Rows of the table. */
typedef bool onnx_op_fn(struct onnx *x);

#define OP(name, function, ...) onnx_op_fn function;
#include "ops/onnx.def"
#undef OP

#endif
