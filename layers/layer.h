/* What a layer is: the contract between layers/ and everything else. */
#ifndef NETC_LAYERS_LAYER_H
#define NETC_LAYERS_LAYER_H

#include <stddef.h>

#include "base/diag.h"
#include "layers/tape/tape.h"

/* Arguments. The binder fills a struct of the layer's own from these rows. */

/* Sizes by spatial axis. rank 0: not given; rank 1: the same for all. */
struct sizes {
  int rank;
  int64_t at[3];
};

/* Factors by axis, or one that is not an integer. */
struct scale_by {
  struct sizes whole;
  double real; /* 0: whole */
};

enum padding_mode {
  PADDING_NONE,
  PADDING_SAME, /* by the window alone: for stride 1 */
  PADDING_GIVEN,
  PADDING_TF, /* TensorFlow's SAME: by size and stride */
};

struct padding {
  enum padding_mode mode;
  struct sizes before, after;
};

#define SIZE_ANY INT64_MIN /* `_` in a shape or a range */

struct range {
  int64_t from, to; /* [from, to); SIZE_ANY: from the start, to the end */
};

struct axes {
  int count;
  int64_t at[LIMIT_RANK]; /* AXIS_* or a number; below 0 from the last */
};

enum { LIMIT_NUMBERS = 16 };

struct numbers {
  int count;
  int64_t at[LIMIT_NUMBERS];
};

/* Sizes of maps, one after the other. */
struct map_list {
  int count;
  struct sizes at[LIMIT_NUMBERS];
};

/* An axis by its letter; numbers count from 0. */
enum { AXIS_C = 100, AXIS_W, AXIS_H, AXIS_D, AXIS_LENGTH };

enum bias { BIAS_AUTO, BIAS_YES, BIAS_NO };

/* A layer named in an argument. */
struct layer_ref {
  struct slice name;
  struct span span;
  int64_t node; /* in the model; -1: not given */
  const struct layer *layer;
};

enum arg_type {
#define TYPE(name, ...) TYPE_##name,
#include "layers/arg_types.def"
#undef TYPE
};

enum arg_place {
  PLACE_POSITION, /* by its place; also by key */
  PLACE_KEY,      /* key=value */
  PLACE_WORD,     /* one of `words`, bare */
  PLACE_STRIDE,   /* /value */
};

enum {
  LIMIT_SPECS = 64, /* rows that a layer or a section may have */
  LIMIT_INPUTS = 4, /* of these, of TYPE_INPUT */
};

struct arg_spec {
  const char *name; /* in the manual, and its key */
  enum arg_type type;
  enum arg_place place;
  bool required;
  bool bytes;       /* a size in memory: 24GiB */
  bool grows;       /* channels: more of them, and no count is less */
  bool counts;      /* a large number, as which 1e12 is taken, too */
  bool varies;      /* blocks that differ in it are drawn as one */
  size_t offset;    /* in the layer's struct */
  int64_t min, max; /* TYPE_INT, TYPE_DECIMAL, TYPE_SIZES; max 0: no limit */
  double low, high; /* TYPE_REAL: low <= value < high; both 0: any */
  int64_t initial;  /* TYPE_INT, TYPE_DECIMAL, TYPE_CHOICE: the default */
  double initial_real;
  const char *words;    /* what may be said, separated by blanks */
  const char *number;   /* TYPE_WORDS: the key that takes a number; or NULL */
  const char *fallback; /* the default, for the manual */
  const char *doc;
};

static inline bool arg_is_int64(const struct arg_spec *spec) {
  return spec->type == TYPE_INT || spec->type == TYPE_DECIMAL;
}

/* All positions that follow belong to it. */
static inline bool arg_is_list(const struct arg_spec *spec) {
  static const bool lists[] = {
#define TYPE(name, store, value, list) list,
#include "layers/arg_types.def"
#undef TYPE
  };
  return lists[spec->type];
}

static inline bool arg_is_axes(const struct arg_spec *spec) {
  return spec->type == TYPE_AXIS || spec->type == TYPE_AXES;
}

/* One word among several, for which no value can stand. */
static inline bool arg_is_choice(const struct arg_spec *spec) {
  return spec->type == TYPE_CHOICE ||
         (spec->type == TYPE_WORDS && word_at(spec->words, 2).length);
}

/* Callbacks. */

struct layer_site; /* where it stands, for messages: layer.c */

/* A layer with its arguments bound and its inputs' shapes known. */
struct layer {
  const struct layer_kind *kind;
  const void *args; /* the kind's own struct */
  int input_count;
  const struct shape *const *in;
  struct shape out;        /* what the shape rule finds */
  int64_t copies;          /* of its parameters: those of experts; 0: 1 */
  struct layer_site *site; /* NULL but in the shape rule */
};

/* One spatial axis of a layer that moves a window over its input. */
struct window {
  int64_t in, kernel, dilation, stride, before, after, out;
  bool ceil; /* the last window may pass the end */
};

/*
 * A sum of products: what `--explain` prints and what is counted are the
 * same data. Factors before `split` are shown in parentheses of their own.
 */
struct term {
  int64_t factor[LIMIT_RANK + 4];
  int count, split;
};

struct terms {
  struct arena *arena;
  VEC(struct term) all;
};

void terms_add(struct terms *terms, struct term term);

/* Of rows that go through a matrix. */
void terms_add_product(struct terms *terms, int64_t rows, int64_t from,
                       int64_t to);

/* False if it passes 2^63 - 1. */
bool terms_sum(const struct terms *terms, int64_t *sum);

/* How the axes of a parameter lie in files, which is as PyTorch has them. */
enum file_order {
  FILE_SAME,
  FILE_OUT_FIRST, /* O x I x K..: the last axis, the one before, the others */
  FILE_IN_FIRST,  /* I x O/groups x K..: of K.. x I/groups x O */
  FILE_FLAT,      /* all axes but the last are one */
};

/*
 * Weights that are computed from other parameters: in every step of a
 * training, but once for a prediction, which then reads them alone.
 */
enum computed {
  WEIGHTS_PLAIN,
  /* As the words of a layer say: computed.h. */
  WEIGHTS_WNORM,
  WEIGHTS_SPECTRAL,
  WEIGHTS_WS,
  /* Of lora.h: */
  WEIGHTS_DORA,
  WEIGHTS_PADDED
};

enum { COMPUTED_PARTS = 3 };

/* A parameter or buffer tensor. The last axis is that of the outputs. */
struct param {
  const char *name; /* of the parameter in PyTorch's module */
  int rank;
  int64_t dim[5];
  bool fixed;                   /* a parameter that is not trained */
  bool buffer;                  /* no parameter: running statistics, say */
  bool adapter;                 /* trained also where its layer is frozen */
  const struct layer_ref *tied; /* shares the first one of that layer */

  /* In files. */
  enum file_order order;
  int64_t groups;            /* FILE_IN_FIRST; 0: 1 */
  const struct shape *whole; /* FILE_SAME: its shape, if it has more axes */
  int64_t first, rows;       /* it is rows from `first` of a tensor of `rows`
                                that other parameters share; 0: its own */

  /* A random set: center +- spread, each value as likely. */
  double center, spread;
  bool sines; /* no, but sines and cosines of positions */

  /* Of what it is computed besides: so many places on among the parameters of
   * its layer, or back; 0: none. They are parts, which no prediction reads. */
  enum computed computed;
  int parts[COMPUTED_PARTS];
  double factor; /* of what lora adds */
  bool part;

  bool narrow; /* convolutions and products alone read it: a prediction may
                  have it in 8 or 16 bits, its last axis being the outputs */
};

struct params {
  struct arena *arena;
  VEC(struct param) all;
};

void params_add(struct params *params, struct param param);

/* Common ones: of a dense layer, and of one axis. */
void params_add_matrix(struct params *params, const char *name, int64_t in,
                       int64_t out);
void params_add_vector(struct params *params, const char *name, int64_t width,
                       double center, double spread);

/*
 * Limits of random values: outputs vary as inputs do, behind relu (He et al.,
 * 2015, arXiv 1502.01852) or behind nothing; biases as PyTorch begins.
 */
double spread_relu(int64_t fan_in);
double spread_linear(int64_t fan_in);
double spread_bias(int64_t fan_in);

/* `all` blocks with parameters of their own, of which `active` see a value. */
struct copies {
  int64_t all, active;
};

/* Heads of queries, and of keys and values; 0: all read the same ones. */
struct head_counts {
  int64_t queries, keys;
};

enum input_type { INPUT_FLOAT, INPUT_INDEX, INPUT_ANY };

/* Whether an output takes memory of its own by the rule of thumb. */
enum output_memory { OUTPUT_FRESH, OUTPUT_IN_PLACE, OUTPUT_VIEW };

struct layer_kind {
  const char *name;
  const char *summary;          /* one line */
  const char *family;           /* the heading in the manual */
  const struct arg_spec *specs; /* ended by a name of NULL; or NULL */
  size_t args_size;

  /* What it takes. */
  enum input_type input;
  bool source; /* makes a tensor of its own, takes none */
  bool join;   /* takes operands: blocks and labels */
  bool alone;  /* a join that with an argument needs no operand: value by
                  value, so that a value without an axis may be one, too */
  /*
   * It takes one block: `front` runs on the current tensor and gives the
   * block its own, and the layer itself reads what the block gives, what
   * `front` gave, and the current tensor. Both have the same arguments.
   */
  const struct layer_kind *front;
  /* With `front`: how often the block is there, and how often a sample is
   * in it; its parameters are those of all copies. */
  struct copies (*copies)(const void *args);
  enum output_memory memory;

  /* Sets `out`, or reports with layer_fail and returns false. */
  bool (*shape)(struct layer *layer);
  /* Parameters and buffers; NULL: it has none. */
  void (*params)(const struct layer *layer, struct params *params);
  /* Multiply-accumulates for one sample; NULL: none are counted. */
  void (*macs)(const struct layer *layer, struct terms *terms);
  /* Its windows by spatial axis; returns their number. NULL: none. */
  int (*windows)(const struct layer *layer, struct window *windows);
  /*
   * Records what a framework runs for it, on one value for each input;
   * returns the value of its output. What it saves, aliases and allocates.
   */
  size_t (*trace)(const struct layer *layer, struct tape *tape,
                  const size_t *in);
  /* Bytes of buffers that hold no values, which are counts and indices; NULL:
     there are none. */
  int64_t (*index_bytes)(const void *args, const struct shape *out);
  /* Values of keys and values that a context leaves behind; NULL: none. */
  int64_t (*cache)(const struct layer *layer, int64_t context);
  /* Values of a state that every sequence has, however long; NULL: none. */
  int64_t (*state)(const struct layer *layer);
  /* With `cache`: the heads that devices may share out. NULL: none. */
  struct head_counts (*heads)(const struct layer *layer);
  /* Whether no gradient passes it. NULL: one does. */
  bool (*stops)(const void *args);
  int led; /* of its inputs, those that get gradients, the first; 0: all */
  /* Whether it does nothing on what `before` gives. NULL: it always acts. */
  bool (*redundant)(const struct layer *layer, const struct layer *before);

  /* A node of this kind for each of the tensors that it gives; or NULL. */
  const struct layer_kind *parts;

  unsigned opcode; /* enum opcode of its own operation, where it has one */

  /* Facts that checks and rules ask for. */
  bool per_position; /* dense, and the same at every position */
  bool cancels_bias; /* a bias before it has no effect */
  bool idle;         /* it gives its input as it is */
  bool drops_bias;   /* in the tail of a layer it leaves the bias out */
  bool overwrites;   /* a framework may run it in place */
  const char *loss;  /* that computes this itself; NULL: none does */
  const char *sign;  /* of a join in diagrams: "+"; NULL: it has none */
};

/* The table of all layers, in the order of ops.def. */
size_t layer_kind_count(void);
const struct layer_kind *layer_kind_at(size_t index);
const struct layer_kind *layer_kind_find(struct slice name);

/* The words of papers, from ops.def; "" for a kind that is not in it. */
const char *layer_plain_words(const struct layer_kind *kind);

/*
 * The parameters of a layer: of each the copies, one after the other, named
 * 0.weight, 1.weight..
 */
void layer_params(const struct layer *layer, struct params *params);

/* For shape rules. */

struct layer_site {
  struct diags *diags;
  struct span span;             /* the layer as written */
  const struct span *arg_spans; /* by row of `specs` */
  const struct span *in_spans;  /* where the inputs come from */
  void (*context)(void *user, struct diagnostic *d); /* adds notes */
  void *user;
};

/*
 * Reports at the argument of that name, or at the layer if `arg` is NULL or
 * not given. The result takes help.
 */
struct diagnostic *layer_fail(const struct layer *layer, enum slug slug,
                              const char *arg, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* The same where there is nothing to help with: always false. */
bool layer_refuse(const struct layer *layer, enum slug slug, const char *arg,
                  const char *format, ...) PRINTF_LIKE(4, 5);

/* Offers to leave out the argument that a report is about. */
void layer_offer_omission(const struct layer *layer, struct diagnostic *d);

/* The same as layer_refuse, of an argument that may be left out. */
bool layer_refuse_surplus(const struct layer *layer, enum slug slug,
                          const char *arg, const char *format, ...)
    PRINTF_LIKE(4, 5);

/*
 * Offers another value for the argument that a report is about, where it is
 * written as a number or sizes: `groups=2` or `2`.
 */
void layer_offer_value(struct diagnostic *d, const char *arg, int64_t value);

/* The same of the divisor of `count` that is nearest to a value that is none.
 */
void layer_offer_divisor(struct diagnostic *d, const char *arg, int64_t value,
                         int64_t count);

/* Reports `groups=` that do not divide the channels of the input. */
bool layer_check_groups(const struct layer *layer, int64_t groups);

/* Offers a word or a layer in front of what is reported. */
void layer_offer_before(struct diagnostic *d, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* The size for a spatial axis. */
int64_t size_at(const struct sizes *sizes, int axis, int64_t fallback);

/* Checks that sizes of the argument `arg` fit the map's number of axes. */
bool layer_check_sizes(const struct layer *layer, const char *arg,
                       const struct sizes *sizes);

/* Checks that the input is a map with 1 to 3 spatial axes. */
bool layer_check_map(const struct layer *layer);

/* Checks that it is a sequence. */
bool layer_check_sequence(const struct layer *layer);

/* The axis that `axis` of struct axes means for a shape; -1: it has none. */
int axis_index(int64_t axis, const struct shape *shape);

/* Shape rule of everything that changes values only. */
bool layer_same_shape(struct layer *layer);

/* For `redundant`: whether the shape stays as it is. */
bool layer_moves_nothing(const struct layer *layer, const struct layer *before);

/* For traces: an operation on `in` that gives the output; it is called as the
   layer, if it has no name. */
size_t layer_run(const struct layer *layer, struct tape *tape, size_t in,
                 struct operation op);

/* A new tensor of the output's extent; nothing is kept. */
size_t layer_moves(const struct layer *layer, struct tape *tape,
                   const size_t *in, const struct lowering *does,
                   uint32_t layout, enum map_order map);

/* A view of a part, as `lies` says; its gradient is a tensor of zeros around
   it. */
size_t layer_cut(const struct layer *layer, struct tape *tape, size_t in,
                 const struct strides *lies);

/*
 * A product with that parameter of the layer, a factor for each value of the
 * last axis, whose gradient is summed over the others; `out` comes out.
 */
size_t layer_weigh(struct tape *tape, size_t in, int factors, bool folds,
                   struct extent out);

/* A row of `specs`, short. */
/*
 * A row of arguments: its type and place, what it is called, the member of the
 * layer's struct that has it, and whatever else there is to say.
 */
#define ARG(TYPE, PLACE, called, kind, member, ...)              \
  {                                                              \
    .name = called, .type = TYPE_##TYPE, .place = PLACE_##PLACE, \
    .offset = offsetof(struct kind, member), __VA_ARGS__         \
  }
#define SPEC_END \
  { .name = NULL }

/*
 * A kind of layer: its name, the heading in the manual, a line on it, and
 * whatever else there is to say, of its arguments their struct and rows first.
 */
#define LAYER_KIND(id, heading, text, ...) \
  const struct layer_kind layer_##id = {   \
      .name = #id, .family = heading, .summary = text, __VA_ARGS__}
#define LAYER_ARGS(type, rows) .specs = rows, .args_size = sizeof(struct type)

#endif
