/* The contract between layers/ and everything else. */
#ifndef NETC_LAYERS_LAYER_H
#define NETC_LAYERS_LAYER_H

#include <stddef.h>

#include "base/diag.h"
#include "layers/tape/tape.h"

/* Arguments. The binder fills the layer's own struct by these rows. */

/* Sizes by spatial axis. rank 0: not given; rank 1: one size for all axes. */
struct sizes {
  int rank;
  int64_t at[3];
};

/* Factors by axis, or one factor that is not an integer. */
struct scale_by {
  struct sizes whole;
  double real; /* 0: `whole` holds the factors */
};

enum padding_mode {
  PADDING_NONE,
  PADDING_SAME, /* by the window alone, as if the stride were 1 */
  PADDING_GIVEN,
  PADDING_TF, /* TensorFlow's SAME: by size and stride */
};

struct padding {
  enum padding_mode mode;
  struct sizes before, after;
};

#define SIZE_ANY INT64_MIN /* `_` in a shape or a range */

struct range {
  int64_t from, to; /* [from, to); SIZE_ANY: the start, the end */
};

struct axes {
  int count;
  int64_t at[LIMIT_RANK]; /* AXIS_*, or an index; negative: from the last */
};

enum { LIMIT_NUMBERS = 16 };

struct numbers {
  int count;
  int64_t at[LIMIT_NUMBERS];
};

/* Sizes of several maps. */
struct map_list {
  int count;
  struct sizes at[LIMIT_NUMBERS];
};

/* An axis by its letter; other numbers are indices from 0. */
enum { AXIS_C = 100, AXIS_W, AXIS_H, AXIS_D, AXIS_LENGTH };

enum bias { BIAS_AUTO, BIAS_YES, BIAS_NO };

/* A layer that an argument names. */
struct layer_ref {
  struct slice name;
  struct span span;
  int64_t node; /* index in the model; -1: not given */
  const struct layer *layer;
};

enum arg_type {
#define TYPE(name, ...) TYPE_##name,
#include "layers/arg_types.def"
#undef TYPE
};

enum arg_place {
  PLACE_POSITION, /* by position, or by key */
  PLACE_KEY,      /* key=value */
  PLACE_WORD,     /* one of `words`, without a key */
  PLACE_STRIDE,   /* /value */
};

enum {
  LIMIT_SPECS = 64, /* maximum number of rows of a layer or a section */
  LIMIT_INPUTS = 4, /* maximum number of TYPE_INPUT rows among them */
};

/* Parts of a setting's value, as `cache="q8_0 q4_0"`: none, beside a value of
 * its own, or nothing else. */
enum arg_parts { PARTS_NONE, PARTS_TOO, PARTS_ONLY };

struct arg_spec {
  const char *name; /* key, and name in the manual */
  enum arg_type type;
  enum arg_place place;
  bool required;
  bool bytes;       /* a size in bytes: 24GiB */
  bool grows;       /* channels: a larger number decreases no count */
  bool counts;      /* a large number; 1e12 is accepted */
  bool varies;      /* blocks that differ only in it are drawn as one */
  size_t offset;    /* in the layer's struct */
  int64_t min, max; /* TYPE_INT, TYPE_DECIMAL, TYPE_SIZES; max 0: no limit */
  double low, high; /* TYPE_REAL: low <= value < high; both 0: no limits */
  int64_t initial;  /* TYPE_INT, TYPE_DECIMAL, TYPE_CHOICE: the default */
  double initial_real;
  const char *words;    /* accepted words, separated by blanks */
  const char *number;   /* TYPE_WORDS: the key for a number, or NULL */
  const char *fallback; /* the default, for the manual */
  const char *doc;
  /* Settings: the one that replaces an old name; and, if the old one is now a
   * part of its value, the words of the part: one for each of `words`, "small:"
   * before a number, or "" for a second word of the setting. */
  const char *now, *forms;
  enum arg_parts parts;
};

static inline bool arg_is_int64(const struct arg_spec *spec) {
  return spec->type == TYPE_INT || spec->type == TYPE_DECIMAL;
}

/* True if it takes all positions that follow. */
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

/* True if it is one of several words: no other value can be substituted. */
static inline bool arg_is_choice(const struct arg_spec *spec) {
  return spec->type == TYPE_CHOICE ||
         (spec->type == TYPE_WORDS && word_at(spec->words, 2).length);
}

/* Callbacks. */

struct layer_site; /* the place in the source, for messages: below */

/* A layer with its arguments bound and its inputs' shapes known. */
struct layer {
  const struct layer_kind *kind;
  const void *args; /* the layer's own struct */
  int input_count;
  const struct shape *const *in;
  struct shape out;        /* set by the shape rule */
  int64_t copies;          /* of its parameters (experts); 0: 1 */
  struct layer_site *site; /* NULL outside the shape rule */
};

/* One spatial axis of a layer that moves a window over its input. */
struct window {
  int64_t in, kernel, dilation, stride, before, after, out;
  bool ceil; /* the last window may extend past the end */
  bool same; /* TensorFlow's SAME gives the padding */
};

/*
 * A product; MACs are a sum of them. `--explain` prints the data that is
 * counted. The factors before `split` are printed in parentheses.
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

/* Adds the product of `rows` rows with a matrix of `from` x `to`. */
void terms_add_product(struct terms *terms, int64_t rows, int64_t from,
                       int64_t to);

/* False if the sum exceeds 2^63 - 1. */
bool terms_sum(const struct terms *terms, int64_t *sum);

/* Order of a parameter's axes in files, which is PyTorch's. */
enum file_order {
  FILE_SAME,
  FILE_OUT_FIRST, /* O x I x K..: axes last, last but one, the others */
  FILE_IN_FIRST,  /* I x O/groups x K.., from K.. x I/groups x O */
  FILE_FLAT,      /* all axes but the last are merged */
};

/*
 * Weights that are computed from other parameters: in every training step, but
 * only once for inference, which then reads the result alone.
 */
enum computed {
  WEIGHTS_PLAIN,
  /* words of a layer: computed.h */
  WEIGHTS_WNORM,
  WEIGHTS_SPECTRAL,
  WEIGHTS_WS,
  /* of lora.h */
  WEIGHTS_DORA,
  WEIGHTS_PADDED
};

enum { COMPUTED_PARTS = 3 };

/* A parameter or buffer. The last axis is that of the outputs. */
struct param {
  const char *name; /* in PyTorch's module */
  int rank;
  int64_t dim[5];
  bool fixed;                   /* a parameter that training leaves alone */
  bool buffer;                  /* not a parameter: running statistics */
  bool adapter;                 /* trained even if its layer is frozen */
  struct slice type;            /* word of its own type; empty: its layer's */
  const struct layer_ref *tied; /* shares the first parameter of that layer */

  /* In files */
  enum file_order order;
  int64_t groups;            /* FILE_IN_FIRST; 0: 1 */
  const struct shape *whole; /* FILE_SAME: the shape, if it has more axes */
  int64_t first, rows;       /* rows from `first` of a tensor of `rows` that
                              * parameters share; 0: its own */

  /* Uniform random values in center +- spread. */
  double center, spread;
  bool sines; /* sines and cosines of positions instead */

  /* The other tensors it is computed from: offsets among the parameters of its
   * layer; 0: none. These are `part`, and inference does not read them. */
  enum computed computed;
  int parts[COMPUTED_PARTS];
  double factor; /* of the product that lora adds */
  bool part;

  bool narrow; /* only convolutions and products read it: inference may quantize
                * it */
};

struct params {
  struct arena *arena;
  VEC(struct param) all;
};

void params_add(struct params *params, struct param param);

/* A dense layer's matrix, and a vector. */
void params_add_matrix(struct params *params, const char *name, int64_t in,
                       int64_t out);
void params_add_vector(struct params *params, const char *name, int64_t width,
                       double center, double spread);

/*
 * Spreads that keep the variance of outputs equal to that of inputs, after relu
 * (He et al., 2015, arXiv 1502.01852) or without an activation. Biases have
 * PyTorch's default.
 */
double spread_relu(int64_t fan_in);
double spread_linear(int64_t fan_in);
double spread_bias(int64_t fan_in);

/* `all` blocks with their own parameters; `active` of them process a token. */
struct copies {
  int64_t all, active;
};

/* Heads of queries, and of keys and values; keys 0: all queries share one. */
struct head_counts {
  int64_t queries, keys;
};

/* A layer's part of the KV cache: vectors of `each` values. */
struct cache_terms {
  int64_t each;   /* 0: nothing is kept */
  int64_t values; /* of these, values rather than keys */
  int64_t rate;   /* tokens for each vector; 0: one */
  int64_t window; /* the latest tokens, which have vectors; 0: all */
  int64_t source; /* tokens of a second input, instead of the sequence's */
  int64_t joined; /* tokens of another stream before the sequence's */
  int64_t top;    /* vectors that a decode step reads, if an indexer chooses
                   * them; 0: all */
  int64_t index;  /* of `each`, values that it reads of all vectors */
};

enum input_type { INPUT_FLOAT, INPUT_INDEX, INPUT_ANY };

/* Memory of an output by the rule of thumb. */
enum output_memory { OUTPUT_FRESH, OUTPUT_IN_PLACE, OUTPUT_VIEW };

struct layer_kind {
  const char *name;
  const char *summary;          /* one line */
  const char *family;           /* the heading in the manual */
  const struct arg_spec *specs; /* ended by a NULL name; or NULL */
  size_t args_size;

  /* Inputs */
  enum input_type input;
  bool source; /* makes a tensor without any input */
  bool join;   /* takes operands: blocks and labels */
  bool alone;  /* needs no operand if it has an argument; accepts 0-d values */
  /*
   * A layer with one block. `front` runs on the current tensor and makes the
   * block's input. The layer reads the block's output, the output of `front`
   * and the current tensor. Both have the same arguments.
   */
  const struct layer_kind *front;
  /* With `front`: the number of copies of the block, and how many of them
   * process a token. The block's parameters are those of all copies. */
  struct copies (*copies)(const void *args);
  enum output_memory memory;

  /* Sets `out`, or reports with layer_fail() and returns false. */
  bool (*shape)(struct layer *layer);
  /* Parameters and buffers; NULL: none. */
  void (*params)(const struct layer *layer, struct params *params);
  /* Multiply-accumulates of one sample; NULL: none. */
  void (*macs)(const struct layer *layer, struct terms *terms);
  /* Windows by spatial axis; returns their number. NULL: none. */
  int (*windows)(const struct layer *layer, struct window *windows);
  /* The same of a layer that spreads each value over a window of its output,
   * which is `stride` times as large: deconv, up. Its padding is cut off. 0:
   * the output is no multiple. NULL: none. */
  int (*spreads)(const struct layer *layer, struct window *windows);
  /*
   * Records the operations a framework runs for it, and what they save, alias
   * and allocate. `in` has a value for each input. Returns the value of the
   * output.
   */
  size_t (*trace)(const struct layer *layer, struct tape *tape,
                  const size_t *in);
  /* Bytes of buffers that hold counts or indices; NULL: none. */
  int64_t (*index_bytes)(const void *args, const struct shape *out);
  /* The part of the KV cache; NULL: none. */
  struct cache_terms (*cache)(const struct layer *layer);
  /* Values of a state of the same size for any sequence, and of the window of
   * the convolution before it; NULL: none. */
  int64_t (*state)(const struct layer *layer, int64_t *window);
  /* With `cache`: the heads that devices may divide. NULL: none. */
  struct head_counts (*heads)(const struct layer *layer);
  /* With `heads`: the argument for which PyTorch has no fused kernel, so that
   * attention weights are stored: "sinks"; or NULL. NULL: none. */
  const char *(*unfused)(const struct layer *layer);
  /* True if no gradient passes through it. NULL: false. */
  bool (*stops)(const void *args);
  int led; /* number of leading inputs that get gradients; 0: all */
  /* True if it has no effect after `before`. NULL: false. */
  bool (*redundant)(const struct layer *layer, const struct layer *before);

  /* The kind of the nodes for its several outputs; or NULL. */
  const struct layer_kind *parts;

  unsigned opcode; /* enum opcode of its own operation; 0: none */
  enum cast cast;  /* of that operation, unless `trace` gives another */

  /* Properties for checks and rules. */
  bool per_position; /* dense, with the same weights at every position */
  bool cancels_bias; /* a bias before it has no effect */
  bool idle;         /* its output is its input */
  bool drops_bias;   /* in the tail of a layer, the default bias is none */
  bool overwrites;   /* a framework may run it in place */
  bool asks;         /* its first input is queries, which each sample has */
  const char *loss;  /* the loss that includes this function; NULL: none */
  const char *sign;  /* of a join in diagrams: "+"; NULL: none */
};

/* The table of all layers, in the order of ops.def. */
size_t layer_kind_count(void);
const struct layer_kind *layer_kind_at(size_t index);
const struct layer_kind *layer_kind_find(struct slice name);

/* Names that papers use, from ops.def; "" if the kind is not there. */
const char *layer_plain_words(const struct layer_kind *kind);

/*
 * The parameters of a layer. With copies, all copies of a parameter are
 * consecutive and are named 0.weight, 1.weight..
 */
void layer_params(const struct layer *layer, struct params *params);

/* For shape rules. */

struct layer_site {
  struct diags *diags;
  struct span span;             /* the layer in the source */
  const struct span *arg_spans; /* by row of `specs` */
  const struct span *in_spans;  /* the sources of the inputs */
  void (*context)(void *user, struct diagnostic *d); /* adds notes */
  void *user;
};

/*
 * Reports an error at the argument `arg`, or at the layer if `arg` is NULL or
 * not given. The caller may add help to the result.
 */
struct diagnostic *layer_fail(const struct layer *layer, enum slug slug,
                              const char *arg, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* The same without a result to add help to. Always returns false. */
bool layer_refuse(const struct layer *layer, enum slug slug, const char *arg,
                  const char *format, ...) PRINTF_LIKE(4, 5);

/* Offers to omit the argument of the report. */
void layer_offer_omission(const struct layer *layer, struct diagnostic *d);

/* layer_refuse() with an offer to omit the argument. */
bool layer_refuse_surplus(const struct layer *layer, enum slug slug,
                          const char *arg, const char *format, ...)
    PRINTF_LIKE(4, 5);

/*
 * Offers another value for the argument of the report, if the source has a
 * number or sizes there: `groups=2` or `2`.
 */
void layer_offer_value(struct diagnostic *d, const char *arg, int64_t value);

/* Offers the divisor of `count` nearest to `value`. */
void layer_offer_divisor(struct diagnostic *d, const char *arg, int64_t value,
                         int64_t count);

/* Reports `groups` that do not divide the input's channels. */
bool layer_check_groups(const struct layer *layer, int64_t groups);

/* Offers to insert a word or a layer before the report's place. */
void layer_offer_before(struct diagnostic *d, const char *format, ...)
    PRINTF_LIKE(2, 3);

/* The size for a spatial axis, or `fallback`. */
int64_t size_at(const struct sizes *sizes, int axis, int64_t fallback);

/* Checks that the sizes of argument `arg` fit the map's number of axes. */
bool layer_check_sizes(const struct layer *layer, const char *arg,
                       const struct sizes *sizes);

/* Checks that the input is a map with 1 to 3 spatial axes. */
bool layer_check_map(const struct layer *layer);

/* Checks that the input is a sequence. */
bool layer_check_sequence(const struct layer *layer);

/* The index of `axis` of struct axes in a shape; -1: the shape has none. */
int axis_index(int64_t axis, const struct shape *shape);

/* Values in the KV cache after `context` tokens; INT64_MAX on overflow. */
int64_t layer_cache(const struct layer *layer, int64_t context);

/* True if the layer keeps something of each token in the KV cache. */
bool layer_keeps_tokens(const struct layer *layer);

/* Shape rule of layers that keep the shape. */
bool layer_same_shape(struct layer *layer);

/* For `redundant`: true if the layer keeps the shape. */
bool layer_moves_nothing(const struct layer *layer, const struct layer *before);

/* For traces: records an operation on `in` that makes the output. Without a
 * name it gets the layer's. */
size_t layer_run(const struct layer *layer, struct tape *tape, size_t in,
                 struct operation op);

/* A new tensor of the output's extent; nothing is saved. */
size_t layer_moves(const struct layer *layer, struct tape *tape,
                   const size_t *in, const struct lowering *does,
                   uint32_t layout, enum map_order map);

/* A view of a part with the strides `lies`. Its gradient is a tensor of zeros
 * that contains the part's gradient. */
size_t layer_cut(const struct layer *layer, struct tape *tape, size_t in,
                 const struct strides *lies);

/*
 * Multiplies by parameter `factors` of the layer, a factor for each value of
 * the last axis. The factors' gradient is summed over the other axes. `out` is
 * the extent of the result.
 */
size_t layer_weigh(struct tape *tape, size_t in, int factors, bool folds,
                   struct extent out);

/*
 * A row of `specs`: type, place, name, the member of the layer's struct, and
 * further members of struct arg_spec.
 */
#define ARG(TYPE, PLACE, called, kind, member, ...)              \
  {                                                              \
    .name = called, .type = TYPE_##TYPE, .place = PLACE_##PLACE, \
    .offset = offsetof(struct kind, member), __VA_ARGS__         \
  }
#define SPEC_END \
  { .name = NULL }

/*
 * A kind of layer: name, heading in the manual, one line of help, and further
 * members of struct layer_kind.
 */
#define LAYER_KIND(id, heading, text, ...) \
  const struct layer_kind layer_##id = {   \
      .name = #id, .family = heading, .summary = text, __VA_ARGS__}
#define LAYER_ARGS(type, rows) .specs = rows, .args_size = sizeof(struct type)

#endif
