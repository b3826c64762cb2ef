/*
 * The graph that readers of foreign files make: layers in netc's words, with
 * their arguments as text, and what the file says of their shapes. Passes turn
 * it into statements (structure.h), fold these (fold.h) and write them
 * (write.h).
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
 * An argument counts one of these. If equal blocks differ in one argument, it
 * becomes a parameter with that letter. Blocks whose arguments of PART_NONE
 * differ are not equal.
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
  PART_TENSOR, /* a label that a def is given; only passes make it */
};

/* An argument: `before`, `value` and `after` are written without blanks. */
struct part_text {
  enum graph_part part;
  const char *before; /* "", "/", "groups=" */
  const char *value;
  const char *usual; /* left out when it has this value; NULL: never */
  const char *after; /* ":_"; NULL: nothing */
};

/* Layers with weights have a bias or none; it is written where netc would
 * choose otherwise. */
enum graph_bias { BIAS_UNSAID, BIAS_WITH, BIAS_WITHOUT };

/*
 * Values of a parameter or buffer, with the axes of a file of weights
 * (docs/weights.md); a fill has one for all of them.
 */
struct graph_weight {
  const char *name; /* in its layer: "weight" */
  int64_t count;
  bool fill;
  bool is_matrix;    /* of a dense layer: outputs x inputs; its inputs are in */
  bool as_file;      /* the order of a file, or in that of the net; of others
                        all of it is in the order of a file */
  const float *real; /* or */
  const int64_t *whole;
  const char *scale, *zero; /* struct written_steps'; NULL: it has none */
  const int32_t *stored;    /* whole numbers that `real` stands for; or NULL */
};

struct graph_shape {
  int rank;                 /* 0: the file does not say */
  int64_t size[LIMIT_RANK]; /* netc's order: channels last */
};

struct graph_node {
  int index;
  enum layer_word
      word; /* WORD_AGAIN: another use of `keyed`, whose `key` is "" */
  VEC(struct part_text) args;
  enum graph_bias bias;
  bool frozen; /* its weights are not trained */
  /* Tensors that it is made from, in order. A join has several. */
  VEC(int) inputs;
  /* One more tensor by key: `cross=LABEL`. */
  const char *key;
  int keyed;        /* with `key` */
  int values, mask; /* of an attention, by `values=`, `mask=`; -1: none */
  bool again;       /* `again LABEL`: it is `keyed` with another input */
  bool shared;      /* others name this layer: it has no tail */
  const char *name; /* the file's; NULL: none worth keeping */
  const char *kind; /* the file's word for it, for messages */
  size_t line;      /* of the file; 0: none */
  const void *source;
  struct graph_shape shape;
  bool open;      /* the rule of its layer has yet to give its shape, */
  bool indices;   /* and says that its values are indices */
  int64_t params; /* that it has in the file: the sizes of GRAPH_TENSOR */
  VEC(struct graph_weight) weights;
  const char *scale, *zero; /* of what it gives, as a weight's */
  const char *output; /* the name under which it leaves the net, or NULL */
};

/* Why a file could not be read: one message, for its first error. */
struct graph_error {
  size_t line, column; /* 0: none */
  struct slice message, help;
  struct graph_shape input; /* what another size of it may mend; rank 0: no */
};

/* The part of the file that is being read: new nodes belong to it. */
struct graph_origin {
  const char *name, *kind;
  size_t line;
  bool frozen;
  const void *source; /* it, as the reader has it */
};

struct graph {
  struct arena *arena;
  bool ruled;              /* the rules of layers give all shapes, */
  struct netc *rules;      /* compiled here; NULL: nobody has asked for one */
  struct map ruled_before; /* nodes with a shape, by what was compiled */
  struct graph_node *refused; /* by one: the source will not compile */
  struct graph_origin at;
  const char *name; /* of the net */
  VEC(struct graph_node *) nodes;
  bool failed;
  struct graph_error error;
  VEC(const char *) notes; /* what is left out on purpose, for a comment */
  struct map said;         /* them */
  const char *infer;       /* its settings in predictions; NULL: none */
  struct text source;      /* of a reader that writes it itself */
  bool kept;               /* the source is one that the file has */
  VEC(struct graph_weight) weights; /* then: those of the net, by its names */
  int64_t stored_bytes;             /* of the file's tensors; 0: not known */
  const char *stored_types;         /* "226 Q4_K, 65 F32" */
  bool rescaled; /* values of 8 bits get another scale between layers */
  int folded;    /* convolutions that a batch norm was folded into, maybe */
};

void graph_open(struct graph *graph, struct arena *arena);

static inline struct graph_node *graph_at(const struct graph *graph,
                                          int index) {
  return graph->nodes.at[index];
}

/* Keeps the first error; returns false, so that readers may return it. */
bool graph_fail(struct graph *graph, size_t line, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* Says what to do about the error, if it is the one that was kept; false. */
bool graph_help(struct graph *graph, const char *format, ...) PRINTF_LIKE(2, 3);

/* Something of the file that the net does not have; said once. */
void graph_note(struct graph *graph, const char *format, ...) PRINTF_LIKE(2, 3);

/* A layer reads its inputs, then the tensors that it names by keys. */
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

/* An input of the net; `dtype` is NULL or "i32" or "i64". */
struct graph_node *graph_input(struct graph *graph, const char *name,
                               const struct graph_shape *shape,
                               const char *dtype);

/* True if layers of that word have parameters. */
bool graph_has_weights(enum layer_word word);

bool graph_same_shape(const struct graph_shape *a, const struct graph_shape *b);

/*
 * The shape of a node. Where the graph is `ruled`, the rule of its layer gives
 * it when it is first asked for, by the arguments that are there by then. If
 * the rule refuses the layer, the graph is `refused`: nothing else is an error
 * from then on, and its reader may stop, as the source will not compile.
 */
const struct graph_shape *graph_shape(struct graph *graph, int index);
/* Asks for the shape, too: the slug of the error if the rule refuses the layer
 * now, or NULL. */
const char *graph_refusal(struct graph *graph, int index);
/* Gives all nodes their shapes, once the graph is read; those from a refused
 * one on have none. */
void graph_close_rules(struct graph *graph);

/* A layer on one tensor, for now of its shape; inputs exist already. */
struct graph_node *graph_layer(struct graph *graph, enum layer_word word,
                               int input);
/* A join; operands follow with graph_operand. */
struct graph_node *graph_join(struct graph *graph, enum layer_word word);
void graph_operand(struct graph *graph, struct graph_node *node, int input);
/* A join of two, for now of the first one's shape. */
struct graph_node *graph_pair(struct graph *graph, enum layer_word word, int a,
                              int b);
/* A part of an axis, which is called so: a `slice`. */
struct graph_node *graph_slice(struct graph *graph, int input, int axis,
                               const char *name, int64_t from, int64_t to);

/*
 * A trained tensor of the layer, by what the file says of its sizes and never
 * by what the layer was made into: the source is compared with it.
 */
#define GRAPH_TENSOR(node, ...)                        \
  graph_tensor((node), (const int64_t[]){__VA_ARGS__}, \
               sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
void graph_tensor(struct graph_node *node, const int64_t *sizes, size_t count);

/* The product of sizes; INT64_MAX: it is too large for a number. */
int64_t graph_count(const int64_t *sizes, size_t count);

/* Arguments, in the order in which they are written. */
void graph_arg(struct graph *graph, struct graph_node *node,
               enum graph_part part, const char *before, const char *value);
void graph_int(struct graph *graph, struct graph_node *node,
               enum graph_part part, const char *before, int64_t value);
/* A word by itself: "causal". */
void graph_flag(struct graph *graph, struct graph_node *node, const char *word);
void graph_real(struct graph *graph, struct graph_node *node,
                const char *before, double value);
/* A norm's `eps=`, left out where it is netc's. */
void graph_eps(struct graph *graph, struct graph_node *node, double eps);
/* The value that the last argument is left out for. */
void graph_usual(struct graph_node *node, const char *value);
/* An integer that is left out where it has the usual value. */
void graph_option(struct graph *graph, struct graph_node *node,
                  enum graph_part part, const char *before, int64_t value,
                  int64_t usual);
/* An axis as an argument: "c", or its number. */
const char *graph_axis(struct graph *graph, const struct graph_shape *shape,
                       int axis);
/* "3x3" or, where all are equal and `square`, still "3x3": one a axis. */
const char *graph_sizes(struct graph *graph, const int64_t *sizes, int count);
/* "1:2x0": of each axis both sides, or one where they are equal. */
const char *graph_sides(struct graph *graph, const int64_t *before,
                        const int64_t *after, int count);

/*
 * `pad`, `pad=1` or `pad=0:1x1:2`, or nothing, for a window: `pad` where netc
 * would choose the same by itself. `kernel` and `dilation` by axis.
 */
void graph_padding(struct graph *graph, struct graph_node *node, int axes,
                   const int64_t *kernel, const int64_t *dilation,
                   const int64_t *before, const int64_t *after);

/* The shortest number that is the same float32: 0.20000000298 is 0.2. */
double graph_single(double value);

/* A real as text. */
const char *graph_number(struct graph *graph, double value);

/* A copy of a text in the graph's arena. */
const char *graph_text(struct graph *graph, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* A name as the language has them; NULL where nothing of it is left. */
const char *graph_identifier(struct graph *graph, const char *name);

#endif
