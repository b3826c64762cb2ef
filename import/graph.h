/*
 * The graph that readers of foreign files make: layers in netc's words, their
 * arguments as text. The layers' own rules give the shapes (rules.c), and those
 * that the file states are checks. Later passes turn the graph into statements
 * (structure.c), fold them (fold.c) and write them (write.c).
 */
#ifndef NETC_IMPORT_GRAPH_H
#define NETC_IMPORT_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/text.h"
#include "ops/function.h"

/*
 * The quantity that an argument gives. If equal blocks differ in an argument,
 * it becomes a parameter named by that quantity's letter. Blocks that differ in
 * an argument of PART_NONE are not equal.
 */
enum graph_part {
  PART_NONE,
  PART_CHANNELS,
  PART_KERNEL,
  PART_STRIDE,
  PART_PADDING,
  PART_GROUPS,
  PART_DILATION,
  PART_COUNT,
  PART_OTHER,
  PART_TENSOR, /* a label passed to a def; only passes make it */
};

/* An argument: `before`, `value` and `after` are written without spaces. */
struct part_text {
  enum graph_part part;
  const char *before; /* "", "/", "groups=" */
  const char *value;
  const char *usual; /* omitted if it has this value; NULL: never */
  const char *after; /* ":_"; NULL: nothing */
};

/* A layer's bias. It is written only where netc's default differs. */
enum graph_bias { BIAS_UNSAID, BIAS_WITH, BIAS_WITHOUT };

/* Values of a parameter or buffer, with the axes of docs/weights.md. A fill has
 * one value for all elements. */
struct graph_weight {
  const char *name; /* within its layer: "weight" */
  int64_t count;
  bool fill;
  bool is_matrix;    /* dense layer: outputs x inputs */
  bool as_file;      /* values in the file's order, else in the net's */
  const float *real; /* one of these two is set */
  const int64_t *whole;
  const char *scale, *zero; /* as in struct written_steps; NULL: none */
  const int32_t *stored;    /* integers before scaling to `real`; or NULL */
};

struct graph_shape {
  int rank;                 /* 0: the file does not say */
  int64_t size[LIMIT_RANK]; /* netc's order: channels last */
};

struct graph_node {
  int index;
  enum layer_word
      word; /* WORD_AGAIN: another use of `keyed`, with the `key` "" */
  VEC(struct part_text) args;
  enum graph_bias bias;
  bool frozen; /* its weights are not trained */
  /* Tensors that it reads, in order. A join has several. */
  VEC(int) inputs;
  /* One more tensor by key, as in `cross=LABEL`. */
  const char *key;
  int keyed;           /* the tensor of `key` */
  int values, mask;    /* attention's `values=`, `mask=`, an lstm's `cell=` in
                        * place of values; -1: none */
  bool again;          /* `again LABEL`: the layer `keyed` on another input */
  bool shared;         /* other statements name this layer: it has no tail */
  const char *name;    /* in the file; NULL: none worth keeping */
  const char *kind;    /* the file's word for the layer, for messages */
  size_t line, column; /* in the file; 0: none */
  const void *source;
  struct graph_shape shape; /* read it by graph_shape */
  bool open;                /* the layer's rule has not yet given the shape */
  bool indices;             /* the values are indices, by the layer's rule */
  int64_t params;           /* number in the file: the sizes of GRAPH_TENSOR */
  VEC(struct graph_weight) weights;
  const char *scale, *zero; /* of its output, as for a weight */
  const char *output;       /* name as an output of the net, or NULL */
  int place; /* among the outputs that the file lists, from 1; 0: not there */
};

/* Why a file could not be read: one message, for its first error. */
struct graph_error {
  const char *path;    /* of a file beside the one that is read; NULL: that */
  size_t line, column; /* 0: none */
  struct slice message, help;
  struct graph_shape input; /* an input of another size may help; rank 0: no */
};

/* The part of the file that is being read; new nodes take these members. */
struct graph_origin {
  const char *name, *kind;
  size_t line, column;
  bool frozen;
  const void *source; /* that part, as the reader stores it */
};

struct graph {
  struct arena *arena;
  struct netc *rules;      /* compiles single layers; NULL: not yet opened */
  struct map ruled_before; /* nodes with a shape, by compiled text */
  struct graph_origin at;
  const char *name; /* name of the net */
  VEC(struct graph_node *) nodes;
  bool failed;
  struct graph_error error;
  VEC(const char *) beside; /* paths of other files that were read */
  VEC(const char *) notes;  /* parts left out on purpose, for a comment */
  struct map said;          /* these notes, to print each once */
  const char *infer;        /* settings for inference; NULL: none */
  struct text source;       /* set by a reader that writes the source itself */
  bool kept;                /* the source comes from the file */
  VEC(struct graph_weight) weights; /* if `kept`: the net's weights, by name */
  int64_t stored_bytes;             /* of the file's tensors; 0: unknown */
  const char *stored_types;         /* "226 Q4_K, 65 F32" */
  bool rescaled; /* 8-bit values are rescaled between layers */
  int folded;    /* convolutions that may contain a folded batch norm */
  int outputs;   /* that the file lists */
};

void graph_open(struct graph *graph, struct arena *arena);

static inline struct graph_node *graph_at(const struct graph *graph,
                                          int index) {
  return graph->nodes.at[index];
}

/* Keeps the first error. Returns false, so that readers can return the call. */
bool graph_fail(struct graph *graph, size_t line, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* Adds help to the error that was kept; returns false. */
bool graph_help(struct graph *graph, const char *format, ...) PRINTF_LIKE(2, 3);

/* Adds the help that --allow-unknown leaves a layer out; returns false. */
bool graph_help_leave(struct graph *graph);

/* Notes a part of the file that the net leaves out; printed once. */
void graph_note(struct graph *graph, const char *format, ...) PRINTF_LIKE(2, 3);

/* Notes a layer without an equivalent, which --allow-unknown leaves out. */
void graph_note_left(struct graph *graph, const char *name, const char *type);

/* The key of `values`. */
static inline const char *graph_values_key(const struct graph_node *node) {
  return node->word == WORD_LSTM ? "cell=" : "values=";
}

/* Number of tensors that a layer reads: inputs, then tensors by key. */
static inline size_t graph_feeds(const struct graph_node *node) {
  return node->inputs.count + (node->keyed >= 0) + (node->values >= 0) +
         (node->mask >= 0);
}

static inline int graph_feed(const struct graph_node *node, size_t i) {
  const int more[] = {node->keyed, node->values, node->mask};
  size_t at = node->inputs.count, k = 0;
  if (i < at)
    return node->inputs.at[i];
  while (more[k] < 0 || at++ < i)
    k++;
  return more[k];
}

/* An input of the net; `dtype` is NULL, "i32" or "i64". */
struct graph_node *graph_input(struct graph *graph, const char *name,
                               const struct graph_shape *shape,
                               const char *dtype);

/* Makes a node the next output that the file lists, with that name or one
 * like it. */
void graph_output(struct graph *graph, struct graph_node *node,
                  const char *name);

/* True if layers of that word have parameters. */
bool graph_has_weights(enum layer_word word);

bool graph_same_shape(const struct graph_shape *a, const struct graph_shape *b);

/*
 * The shape of a node, which the layer's rule gives at the first call, from the
 * arguments added so far. What the rule refuses is the file's error, in the
 * rule's words: "`conv1` (Conv2D): a window of 9x9 does not fit the map of
 * 6x8x8". After an error all sizes are 1.
 */
const struct graph_shape *graph_shape(struct graph *graph, int index);
/* Computes all shapes at the end. */
void graph_close_rules(struct graph *graph);
/* Compares a layer's shape with the one that the file states, in which axes of
 * size 1 may differ. False with an error. */
bool graph_check(struct graph *graph, const struct graph_node *node,
                 const struct graph_shape *stated);
/* True if the shapes differ in axes of size 1 alone. */
bool graph_equal_shape(const struct graph_shape *a,
                       const struct graph_shape *b);

/* Adds a layer on one existing tensor. */
struct graph_node *graph_layer(struct graph *graph, enum layer_word word,
                               int input);
/* Adds a join; graph_operand adds its operands. */
struct graph_node *graph_join(struct graph *graph, enum layer_word word);
void graph_operand(struct graph *graph, struct graph_node *node, int input);
/* Adds a join of two tensors. */
struct graph_node *graph_pair(struct graph *graph, enum layer_word word, int a,
                              int b);
/* Adds a `flatten` or a `reshape` unless the shape is the same. */
int graph_reshape(struct graph *graph, int input,
                  const struct graph_shape *shape);
/* Adds a `permute` of `count` axes. */
struct graph_node *graph_permute(struct graph *graph, int input,
                                 const int *order, int count);
/* Adds a `weight` of that shape; `fixed`: not trained, and not counted. */
struct graph_node *graph_constant(struct graph *graph,
                                  const struct graph_shape *shape, bool fixed);
/* Makes a node another layer, on one tensor; arguments are added later. */
void graph_become(struct graph_node *node, enum layer_word word, int input);
/* Adds a `slice` of the axis called `name`; NULL: as graph_axis names it. */
struct graph_node *graph_slice(struct graph *graph, int input, int axis,
                               const char *name, int64_t from, int64_t to);
/* The same as a node; the input itself if that is the whole axis. */
int graph_part(struct graph *graph, int input, int axis, int64_t from,
               int64_t to);
/* Adds a join of `count` tensors. */
struct graph_node *graph_join_all(struct graph *graph, enum layer_word word,
                                  const int *nodes, size_t count);
/* Adds a `concat` along an axis; -1: the last one. */
struct graph_node *graph_concat(struct graph *graph, const int *nodes,
                                size_t count, int axis);
/* Adds a layer with a number: `pow 2`. */
struct graph_node *graph_with(struct graph *graph, enum layer_word word,
                              int input, double number);
/* Adds `mean`, `sum` or the like over the marked axes. */
struct graph_node *graph_reduce(struct graph *graph, enum layer_word word,
                                int input, const bool *over, bool keep);
/* Adds an `embed`. */
struct graph_node *graph_embed(struct graph *graph, int input, int64_t rows,
                               int64_t columns);

/* Counts a trained tensor of the layer. The sizes must be the file's, not those
 * of the layer that was made: the compiled source is compared with them. */
#define GRAPH_TENSOR(node, ...)                        \
  graph_tensor((node), (const int64_t[]){__VA_ARGS__}, \
               sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
void graph_tensor(struct graph_node *node, const int64_t *sizes, size_t count);

/* The product of sizes, at most INT64_MAX. */
int64_t graph_count(const int64_t *sizes, size_t count);

/* Adds an argument; arguments are written in this order. */
void graph_arg(struct graph *graph, struct graph_node *node,
               enum graph_part part, const char *before, const char *value);
void graph_int(struct graph *graph, struct graph_node *node,
               enum graph_part part, const char *before, int64_t value);
/* Adds a flag: "causal". */
void graph_flag(struct graph *graph, struct graph_node *node, const char *word);
void graph_real(struct graph *graph, struct graph_node *node,
                const char *before, double value);
/* Adds a norm's `eps=`, which is omitted if it is netc's default. */
void graph_eps(struct graph *graph, struct graph_node *node, double eps);
/* Sets the default of the last argument: with this value it is omitted. */
void graph_usual(struct graph_node *node, const char *value);
/* Adds an integer that is omitted if it is `usual`. */
void graph_option(struct graph *graph, struct graph_node *node,
                  enum graph_part part, const char *before, int64_t value,
                  int64_t usual);
/* An axis as an argument: "c", or its number. */
const char *graph_axis(struct graph *graph, const struct graph_shape *shape,
                       int axis);
/* "3x3": the size of each axis. */
const char *graph_sizes(struct graph *graph, const int64_t *sizes, int count);
/* "1:2x0": both sides of each axis, or one number if they are equal. */
const char *graph_sides(struct graph *graph, const int64_t *before,
                        const int64_t *after, int count);

/*
 * Adds a window's padding: `pad` if it is what netc computes for `pad`, else
 * `pad=1` or `pad=0:1x1:2`; nothing if it is 0. `kernel` and `dilation` are by
 * axis.
 */
void graph_padding(struct graph *graph, struct graph_node *node, int axes,
                   const int64_t *kernel, const int64_t *dilation,
                   const int64_t *before, const int64_t *after);

/* The shortest number with the same float32 value: 0.2 for 0.20000000298. */
double graph_single(double value);

/* A real as text. */
const char *graph_number(struct graph *graph, double value);

/* A copy of a text in the graph's arena. */
const char *graph_text(struct graph *graph, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* A name with only the characters of identifiers; NULL if none is left. */
const char *graph_identifier(struct graph *graph, const char *name);

#endif
