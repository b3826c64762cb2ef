/* Model: the graph of layers that a source describes, by indices. */
#ifndef NETC_SEMA_MODEL_MODEL_H
#define NETC_SEMA_MODEL_MODEL_H

#include "base/progress.h"
#include "base/source.h"
#include "layers/layer.h"
#include "parser/ast.h"

enum { NO_NODE = -1, GROUP_OPEN = -2 };

/* The calls and loops that lead to a place, innermost first. */
enum frame_kind { FRAME_CALL, FRAME_LOOP, FRAME_AGAIN };

struct frame {
  struct frame *parent;
  const struct stmt *stmt; /* call, with the def's name, or loop */
  int32_t ordinal, total;  /* "3rd of 5"; total 0: not counted */
  int32_t first, end;      /* nodes [first, end) are made in it */
};

static inline enum frame_kind frame_kind(const struct frame *frame) {
  return frame->stmt->kind == STMT_APPLY   ? FRAME_CALL
         : frame->stmt->kind == STMT_AGAIN ? FRAME_AGAIN
                                           : FRAME_LOOP;
}

/* A name inside its groups: `stem.conv1`. */
struct node_name {
  const char *at;       /* label or word */
  uint32_t length : 31; /* in the source: LIMIT_SOURCE_BYTES */
  bool repeated : 1;    /* repeated label: `C_2` */
  int32_t ordinal;      /* number after the word; 0: none */
};

static inline struct node_name name_with(struct slice text, int32_t ordinal) {
  return (struct node_name){.at = text.at,
                            .length = (uint32_t)text.length & INT32_MAX,
                            .ordinal = ordinal};
}

static inline struct slice name_text(const struct node_name *name) {
  return (struct slice){name->at, name->length};
}

/* Options of every layer: row_options.c. */
extern const struct arg_spec row_specs[];

/* checkpoint { ... }: not a keyword, so that labels may have that name. */
#define CHECKPOINT_WORD "checkpoint"

/* A named group, a call of a def, or the whole net (index 0). */
struct group {
  int64_t parent; /* NO_NODE: the net */
  struct node_name name;
  struct span span;
  const struct stmt *stmt;
  struct slice call;  /* call with its values: `block 64 s=2` */
  bool checkpoint;    /* training keeps only its inputs */
  bool block;         /* of a layer with a block: front, insides, layer */
  int64_t first, end; /* nodes [first, end) */
  int64_t out;        /* output node; NO_NODE: in error; GROUP_OPEN: not yet */
};

/*
 * One layer, which gives one tensor with the same index. There may be
 * LIMIT_LAYERS nodes, so indices have 32 bits, and equal shapes are shared.
 */
struct node {
  const struct layer_kind *kind;
  const void *args;
  uint64_t given; /* rows of kind->specs given in the source */
  struct span span;
  struct frame *frame;
  struct node_name name;
  const struct shape *out;
  int32_t group;
  int32_t head;   /* the node in whose tail this one is */
  int32_t shares; /* `again`: the node whose parameters it uses */
  /* Experts: copies of each parameter, and number that a value passes. */
  int32_t copies, active;
  uint32_t first_input, first_param;
  int input_count, param_count;
  char inplace;        /* enum toggle; TOGGLE_UNSET: as in the settings */
  char dtype;          /* enum element; ELEMENT_NONE: as in the settings */
  bool frozen : 1;     /* its parameters are not trained */
  bool train_only : 1; /* in `fork train`, or an input only for it */
  bool unsure : 1;     /* an error is before or in it: sema/partial.c */
  bool repeated : 1;   /* a weight, once for each sample: queries.h */
  bool channels_asked : 1, sizes_asked : 1; /* expressions read in.c, in.h */
};

/* Bytes of buffers that hold indices. */
static inline int64_t node_index_bytes(const struct node *node) {
  return node->kind->index_bytes
             ? node->kind->index_bytes(node->args, node->out)
             : 0;
}

/* Parameters and buffers of all nodes, in order. */
struct model_param {
  int64_t count;
  /* The last two axes in PyTorch's order; NULL: fewer axes. */
  const struct shape *matrix;
  uint32_t same; /* parameter it is shared with, or itself */
  unsigned char rank;
  unsigned char element; /* enum element; ELEMENT_NONE: as in the settings */
  bool buffer : 1, fixed : 1, train_only : 1;
  bool shared : 1;   /* counted at its first use */
  bool bias : 1;     /* added to a layer's matrix products */
  bool part : 1;     /* weights are computed from it; not read in inference */
  bool narrow : 1;   /* may have fewer bits in inference */
  bool adapter : 1;  /* low-rank, beside a weight: lora.h */
  bool grouped : 1;  /* of a grouped convolution, or of an expert */
  bool detached : 1; /* `fixed` because no gradient reaches it: detached.h */
};

/* Costs of a node; sums over nodes are the totals. */
struct cost {
  int64_t params, trainable, buffers; /* values, without shared ones */
  int64_t active;      /* parameters that a value passes: not all experts' */
  int64_t macs;        /* of inference on one sample */
  int64_t train_macs;  /* of training, forward */
  int64_t activations; /* values by the rule of thumb */
  int64_t activation_bytes;
};

/* A warning about a node, for the rows of reports. */
struct node_warning {
  int64_t node;
  enum slug slug;
};

struct output {
  int64_t node;
  struct slice name; /* .at is NULL: the last tensor */
  struct span span;
  const char *text; /* its name, made on demand */
  bool train_only;
};

/* A `param`, which a user may choose. */
struct model_param_choice {
  const struct stmt *stmt;
  struct slice fallback, value; /* in source syntax */
  struct slice allowed;         /* "[18 34 50]", "0..1"; empty: any */
  struct slice follows;         /* "width/64"; empty: the default is a value */
  bool given;                   /* by -D */
};

/*
 * Iterations in nodes [first, first + length * count). After the first, each
 * node is like the one `length` before it. In model->turns it also reads the
 * same, or what is as far before it; and but for the last iteration, results
 * are read in it or in the next one only, and parameters are its own.
 */
struct node_turns {
  int64_t first, length, count;
};

struct model {
  struct arena *arena;
  struct slice name;
  bool named; /* by the source */
  VEC(struct node) nodes;
  VEC(uint32_t) inputs; /* of all nodes: indices of nodes */
  int most_inputs;      /* maximum of a node */
  VEC(struct group) groups;
  VEC(struct model_param) params;
  VEC(struct output) outputs;
  VEC(struct model_param_choice) choices;
  VEC(int64_t) sources; /* nodes that are inputs of the net */
  /* The ones of inference come first. */
  size_t predicted_outputs, predicted_sources;
  /* After cost_find: costs of different layers, and their index by node. */
  VEC(struct cost) costs;
  uint32_t *like;
  struct cost total;
  struct cost predicted;        /* without layers only for training */
  VEC(struct node_turns) turns; /* by node_turns_find, disjoint and in order */
  VEC(struct node_warning) warnings; /* in the order of the nodes */
  struct progress *progress;         /* reports long searches; or NULL */
  bool stops;                        /* some node stops gradients: detached.h */
  bool computes; /* some weights are computed from others: model_param.part */
  bool typed;    /* some parameters have a type of their own */
};

/* The kind of nodes that are inputs of the net. */
extern const struct layer_kind model_input_kind;

/* A node in the form that layers use; `in` has room for its input shapes. */
struct layer model_layer(const struct model *model, int64_t node,
                         const struct shape **in);

/* Allocates room for the inputs of any node. */
const struct shape **model_layer_room(const struct model *model);

/* True for a join of tensors: `add skip`, not `add 1`. */
static inline bool node_joins(const struct node *node) {
  return node->kind->join && (node->input_count > 1 || !node->given);
}

static inline int64_t node_input(const struct model *model,
                                 const struct node *node, int i) {
  return model->inputs.at[node->first_input + (size_t)i];
}

/* Number of parameters from `first` on that are equal and not shared. */
size_t model_params_alike(const struct model *model, size_t first, size_t end);

/* The costs of a node, after cost_find. */
static inline const struct cost *model_cost(const struct model *model,
                                            int64_t node) {
  return &model->costs.at[model->like[node]];
}

/* The shape of a node's first input. */
static inline const struct shape *model_input(const struct model *model,
                                              const struct node *node) {
  return model->nodes.at[node_input(model, node, 0)].out;
}

/* Prints conv1, without groups. */
void name_put(struct text *out, const struct node_name *name);

/* Prints stem.conv1. */
void model_put_name(struct text *out, const struct model *model, int64_t node);

/* Prints stem.conv, or stem.conv_: without the last number. */
void model_put_stem(struct text *out, const struct model *model, int64_t node);

void model_put_group_name(struct text *out, const struct model *model,
                          int64_t group);

/*
 * Prints a layer with its arguments' values, as conv 64 3x3 pad. `labels` by
 * node replace labels in arguments; NULL: as in the source.
 */
void model_put_layer(struct text *out, const struct model *model, int64_t node,
                     const struct slice *labels);

/* Prints an argument as in a source: "/2", "groups=4". */
void model_put_argument(struct text *out, const struct model *model,
                        int64_t node, const struct arg_spec *spec);

/* True if blocks drawn as one may differ in arguments of a layer kind. */
bool model_may_vary(const struct layer_kind *kind);

/* Prints the layer, or a tail, without those arguments. */
void model_put_common(struct text *out, const struct model *model, int64_t node,
                      bool tail);

/* True if model_put_common prints two nodes equally, by kind and arguments. */
bool model_put_alike(const struct model *model, int64_t a, int64_t b);

/* True if two layers of a kind agree in an argument, if that is a window, a
 * scale or a number of groups, not a tensor's size. */
bool model_same_window(const struct model *model, int64_t a, int64_t b,
                       const struct arg_spec *spec);

/* Prints a layer in the tail of another one: leaky(0.1). */
void model_put_tail(struct text *out, const struct model *model, int64_t node,
                    const struct slice *labels);

/* Prints an argument's value in source syntax: 3x3, auto, same. */
void model_put_size(struct text *out, int64_t size); /* `_`: any */
void model_put_value(struct text *out, const struct arg_spec *spec,
                     const void *at);

/* The type of a parameter in a net of type `element`. */
static inline int param_element(const struct model_param *param, int element) {
  return param->element ? param->element : element;
}

/* True if a layer is one of several experts. */
bool model_has_experts(const struct model *model);

/* The first layer with another type of its own than `element`; or NO_NODE. */
int64_t model_other_type(const struct model *model, int element);

/* The node after the last one of the row whose head is `head`. */
int64_t model_row_end(const struct model *model, int64_t head);

/* Adds notes on the calls and loops that lead to a node. */
void frame_describe(struct diagnostic *d, struct sources *sources,
                    const struct frame *frame);

/* Prints them in one line: "in block, called at line 3; in the loop at.." */
void frame_put(struct text *out, struct sources *sources,
               const struct frame *frame);

#endif
