/* The model: the graph of layers that a source describes, by indices. */
#ifndef NETC_SEMA_MODEL_MODEL_H
#define NETC_SEMA_MODEL_MODEL_H

#include "base/progress.h"
#include "base/source.h"
#include "layers/layer.h"
#include "parser/ast.h"

enum { NO_NODE = -1, GROUP_OPEN = -2 };

/* How the source came to a place: calls and loops, the innermost first. */
enum frame_kind { FRAME_CALL, FRAME_LOOP, FRAME_AGAIN };

struct frame {
  struct frame *parent;
  const struct stmt *stmt; /* the call, with the def's name, or the loop */
  int32_t ordinal, total;  /* "3rd of 5"; total 0: not counted */
  int32_t first, end;      /* nodes [first, end) were made in it */
};

static inline enum frame_kind frame_kind(const struct frame *frame) {
  return frame->stmt->kind == STMT_APPLY   ? FRAME_CALL
         : frame->stmt->kind == STMT_AGAIN ? FRAME_AGAIN
                                           : FRAME_LOOP;
}

/* A name inside the groups that hold it: `stem.conv1`. */
struct node_name {
  const char *at;       /* a label, or the word */
  uint32_t length : 31; /* it is in the source: LIMIT_SOURCE_BYTES */
  bool repeated : 1;    /* a label once more: `C_2` */
  int32_t ordinal;      /* after the word; 0: none */
};

static inline struct node_name name_with(struct slice text, int32_t ordinal) {
  return (struct node_name){.at = text.at,
                            .length = (uint32_t)text.length & INT32_MAX,
                            .ordinal = ordinal};
}

static inline struct slice name_text(const struct node_name *name) {
  return (struct slice){name->at, name->length};
}

/* What every layer may be told: row_options.c. */
extern const struct arg_spec row_specs[];

/* checkpoint { ... }: not a word of the grammar, so that labels may have it. */
#define CHECKPOINT_WORD "checkpoint"

/* A named group, a call of a def, or the whole net (index 0). */
struct group {
  int64_t parent; /* NO_NODE for the net */
  struct node_name name;
  struct span span;
  const struct stmt *stmt;
  struct slice call;  /* a call with its values: `block 64 s=2` */
  bool checkpoint;    /* training keeps only what it reads */
  bool block;         /* of a layer that takes one: front, insides, layer */
  int64_t first, end; /* its nodes: [first, end) */
  int64_t out; /* the node it gives; NO_NODE: in error; GROUP_OPEN: not yet */
};

/*
 * One layer; it gives one tensor, which has the same index. There may be
 * LIMIT_LAYERS of them: indices have 32 bits, and equal shapes are one.
 */
struct node {
  const struct layer_kind *kind;
  const void *args;
  uint64_t given; /* rows of kind->specs that the source gives */
  struct span span;
  struct frame *frame;
  struct node_name name;
  const struct shape *out;
  int32_t group;
  int32_t head;   /* the node whose statement this one is in the tail of */
  int32_t shares; /* `again`: the node whose parameters it uses */
  /* Of experts: each parameter so often, and how many of them a value sees. */
  int32_t copies, active;
  uint32_t first_input, first_param;
  int input_count, param_count;
  char inplace;        /* enum toggle; TOGGLE_UNSET: as the settings say */
  bool frozen : 1;     /* its parameters are not trained */
  bool train_only : 1; /* in `fork train`, or an input that only these read */
  bool unsure : 1;     /* an error stands before or in it: sema/partial.c */
  bool channels_asked : 1, sizes_asked : 1; /* by expressions: in.c, in.h */
};

/* Buffers that hold no values. */
static inline int64_t node_index_bytes(const struct node *node) {
  return node->kind->index_bytes
             ? node->kind->index_bytes(node->args, node->out)
             : 0;
}

/* Parameters and buffers of all nodes, one after the other. */
struct model_param {
  int64_t count;
  /* The last two axes, as PyTorch orders them; NULL: there are fewer. */
  const struct shape *matrix;
  uint32_t same; /* the one it is shared with, or itself */
  unsigned char rank;
  bool buffer : 1, fixed : 1, train_only : 1;
  bool shared : 1;   /* counted where it was first */
  bool bias : 1;     /* what a layer with matrices adds to their products */
  bool part : 1;     /* weights are computed of it: no prediction reads it */
  bool narrow : 1;   /* a prediction may have fewer bits of it */
  bool grouped : 1;  /* an output of a convolution sees some inputs alone */
  bool detached : 1; /* `fixed`, as no gradient reaches it: detached.h */
};

/* What a node costs; sums over nodes are the totals. */
struct cost {
  int64_t params, trainable, buffers; /* values, shared ones left out */
  int64_t active;      /* parameters that a value sees: not all experts' */
  int64_t macs;        /* of a prediction of one sample */
  int64_t train_macs;  /* of training forward */
  int64_t activations; /* values by the rule of thumb */
  int64_t activation_bytes;
};

/* A warning about a node, as rows of reports show it. */
struct node_warning {
  int64_t node;
  enum slug slug;
};

struct output {
  int64_t node;
  struct slice name; /* .at is NULL for the last tensor */
  struct span span;
  const char *text; /* its name, once somebody has asked for it */
  bool train_only;
};

/* A `param` that the source lets be chosen. */
struct model_param_choice {
  const struct stmt *stmt;
  struct slice fallback, value; /* as they could be written */
  struct slice allowed;         /* "[18 34 50]", "0..1"; empty: all */
  struct slice follows;         /* "width/64"; empty: its default is a value */
  bool given;                   /* by -D */
};

/*
 * Layers [first, first + length * count): after the first turn each is like
 * the one `length` before it, and reads the same as that, or what is as far
 * before it. What a turn makes is read in it and in the next one alone, and
 * its parameters are its own; but for the last.
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
  int most_inputs;      /* of one node */
  VEC(struct group) groups;
  VEC(struct model_param) params;
  VEC(struct output) outputs;
  VEC(struct model_param_choice) choices;
  VEC(int64_t) sources; /* the nodes that are inputs of the net */
  /* Those that a prediction has, too, come first. */
  size_t predicted_outputs, predicted_sources;
  /* After cost_find: of layers that differ, and which each node is like. */
  VEC(struct cost) costs;
  uint32_t *like;
  struct cost total;
  struct cost predicted;        /* without layers that only training runs */
  VEC(struct node_turns) turns; /* by node_turns_find, apart and in order */
  VEC(struct node_warning) warnings; /* in the order of the nodes */
  struct progress *progress;         /* told of long searches; or NULL */
  bool stops;    /* somewhere no gradient flows back: detached.h */
  bool computes; /* some weights are computed of others: model_param.part */
};

/* The kind of the nodes that are inputs of the net. */
extern const struct layer_kind model_input_kind;

/* A node as layers see it; `in` has room for its inputs' shapes. */
struct layer model_layer(const struct model *model, int64_t node,
                         const struct shape **in);

/* Room for the inputs of any node. */
const struct shape **model_layer_room(const struct model *model);

/* A join of tensors: `add skip`, not `add 1`. */
static inline bool node_joins(const struct node *node) {
  return node->kind->join && (node->input_count > 1 || !node->given);
}

static inline int64_t node_input(const struct model *model,
                                 const struct node *node, int i) {
  return model->inputs.at[node->first_input + (size_t)i];
}

/* How many parameters from one on are alike and shared with none before. */
size_t model_params_alike(const struct model *model, size_t first, size_t end);

/* What a node costs, after cost_find. */
static inline const struct cost *model_cost(const struct model *model,
                                            int64_t node) {
  return &model->costs.at[model->like[node]];
}

/* The shape of a node's first input. */
static inline const struct shape *model_input(const struct model *model,
                                              const struct node *node) {
  return model->nodes.at[node_input(model, node, 0)].out;
}

/* conv1: without the groups around it */
void name_put(struct text *out, const struct node_name *name);

/* stem.conv1 */
void model_put_name(struct text *out, const struct model *model, int64_t node);

/* stem.conv, or stem.conv_: without the number of its last part */
void model_put_stem(struct text *out, const struct model *model, int64_t node);

void model_put_group_name(struct text *out, const struct model *model,
                          int64_t group);

/*
 * conv 64 3x3 pad: the layer with its arguments' values. `labels` by node
 * stand for the labels that arguments refer to; NULL: as the source has them.
 */
void model_put_layer(struct text *out, const struct model *model, int64_t node,
                     const struct slice *labels);

/* An argument as it is written: "/2", "groups=4". */
void model_put_argument(struct text *out, const struct model *model,
                        int64_t node, const struct arg_spec *spec);

/* Whether a layer of that kind has arguments in which blocks may differ that
 * are drawn as one. */
bool model_may_vary(const struct layer_kind *kind);

/* The layer, or a tail, without these. */
void model_put_common(struct text *out, const struct model *model, int64_t node,
                      bool tail);

/* Whether two nodes are written alike so, by kind and arguments. */
bool model_put_alike(const struct model *model, int64_t a, int64_t b);

/* True if two layers of a kind agree in an argument, as far as it is no size of
 * a tensor but a window, a scale or a number of groups. */
bool model_same_window(const struct model *model, int64_t a, int64_t b,
                       const struct arg_spec *spec);

/* The same in the tail of another layer: leaky(0.1). */
void model_put_tail(struct text *out, const struct model *model, int64_t node,
                    const struct slice *labels);

/* An argument's value as it could be written: 3x3, auto, same. */
void model_put_size(struct text *out, int64_t size); /* `_`: any */
void model_put_value(struct text *out, const struct arg_spec *spec,
                     const void *at);

/* The node after the last one of the row that starts at `head`. */
int64_t model_row_end(const struct model *model, int64_t head);

/* Notes on how the source came to a node. */
void frame_describe(struct diagnostic *d, struct sources *sources,
                    const struct frame *frame);

/* The same in one line: "in block, called at line 3; in the loop at.." */
void frame_put(struct text *out, struct sources *sources,
               const struct frame *frame);

#endif
