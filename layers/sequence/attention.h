/* attention: arguments and sizes, shared by its files. */
#ifndef NETC_LAYERS_SEQUENCE_ATTENTION_H
#define NETC_LAYERS_SEQUENCE_ATTENTION_H

#include "layers/lora.h"
#include "layers/sequence/rope.h"

enum { ATTENTION_FUSED = 1, ATTENTION_NAIVE };
enum { ATTENTION_SCORES = 1, ATTENTION_QUERIES, ATTENTION_UNSCALED };
enum { ATTENTION_SBHD = 1, ATTENTION_SBHD_ALL };
enum { ATTENTION_GATE_CHANNELS = 1, ATTENTION_GATE_HEADS };

enum attention_adapted { LORA_QV = 1, LORA_QKV, LORA_QKVO, LORA_PADDED };

/* Letters of the projections that have biases. */
#define ATTENTION_BIASES "qkvo qvo qkv qko kvo qk qv qo kv ko vo q k v o none"

/* Norms of queries and keys over the features of a head, or of all heads. OWN:
 * of a head, with weights for the features of all heads and no biases. */
#define ATTENTION_NORMS \
  "qknorm qkln qknorm=all qkln=all qknorm=head qkln=head qkln=own"
enum {
  QKNORM = 1,
  QKLN,
  QKNORM_ALL,
  QKLN_ALL,
  QKNORM_HEAD,
  QKLN_HEAD,
  QKLN_OWN
};

static inline bool attention_norm_is_rms(int qknorm) {
  return qknorm == QKNORM || qknorm == QKNORM_ALL || qknorm == QKNORM_HEAD;
}

static inline bool attention_norm_is_all(int qknorm) {
  return qknorm == QKNORM_ALL || qknorm == QKLN_ALL;
}

struct attention {
  int64_t heads;
  int64_t kv;     /* heads of keys and values; 0: `heads` */
  int64_t dim;    /* features of a head; 0: channels / heads */
  int64_t vdim;   /* features of a head of values; 0: `dim` */
  int64_t rotary; /* features that rope rotates; 0: all of a head */
  struct rope_rule turns;
  int64_t window;
  int64_t indextop; /* keys that a query reads; 0: all */
  struct sizes relative, shift;
  double dropout, softcap;
  int64_t out; /* features of the output; 0: the input's */
  struct layer_ref cross;
  struct layer_ref values; /* source of the values, if not that of the keys */
  struct layer_ref joint;  /* another stream, whose positions come first */
  struct layer_ref mask;   /* added to the scores */
  int causal, rope, kernel, nobias, biases, packed, views, sbhd, noout, scale,
      qknorm;
  int sinks, talking, gate, noqueries, novalues, shared, uncached, vnorm;
  struct lora lora;
  int adapted; /* adapted projections: enum attention_adapted */
};

/* Rows that every kind of attention has. */
#define ATTENTION_HEADS(of)                                          \
  ARG(INT, POSITION, "heads", of, heads, .required = true, .min = 1, \
      .doc = "number of query heads")
#define ATTENTION_CAUSAL(of)                                \
  ARG(WORDS, WORD, "causal", of, causal, .words = "causal", \
      .doc = "mask later tokens")
#define ATTENTION_DROPOUT(of)                                                  \
  ARG(REAL, KEY, "dropout", of, dropout, .low = 0, .high = 1, .fallback = "0", \
      .doc = "fraction of the attention weights that is dropped")
#define ATTENTION_KERNEL(of)                                     \
  ARG(WORDS, WORD, "kernel", of, kernel, .words = "fused naive", \
      .fallback = "the profile's",                               \
      .doc = "attention kernel: `naive` stores the attention weights")

/*
 * Positions that each one attends to before and after it; -1: all. A causal
 * window ends with the position. Other windows have half of their size on each
 * side, like ModernBERT's local_attention=128 and Longformer's
 * attention_window=512 (129 and 513 positions).
 */
static inline int64_t attention_behind(const struct attention *attention) {
  if (!attention->window)
    return -1;
  return attention->causal ? attention->window - 1 : attention->window / 2;
}

static inline int64_t attention_ahead(const struct attention *attention) {
  return attention->causal ? 0 : attention_behind(attention);
}

/* True if queries, keys and values share one matrix. */
static inline bool attention_is_packed(const struct attention *attention) {
  return attention->packed || attention->views;
}

static inline bool attention_is_joint(const struct attention *attention) {
  return attention->joint.name.length > 0;
}

/* Indices of the inputs that keys (or the other stream)
 * and values come from. */
static inline int attention_keys(const struct attention *attention) {
  return attention->cross.name.length > 0 || attention_is_joint(attention);
}

static inline int attention_values(const struct attention *attention) {
  return attention_keys(attention) + (attention->values.name.length > 0);
}

/* Index of the input that is added to the scores, the last one; 0: none. */
static inline int attention_mask(const struct attention *attention) {
  return attention->mask.name.length ? attention_values(attention) + 1 : 0;
}

/* Sizes of one sample. */
struct attention_sizes {
  int64_t groups;  /* leading axes; each has attention of its own */
  int64_t queries; /* positions of the queries */
  int64_t keys;    /* positions of the keys */
  int64_t joined;  /* positions of the other stream, included in both */
  int64_t channels, key_channels, value_channels;
  int64_t heads, kv, dim, vdim;
  int64_t width, kv_width;             /* features of all heads */
  int64_t value_width, kv_value_width; /* the same of values */
  int64_t out;
};

struct attention_sizes attention_sizes(const struct layer *layer);

/* True if some windows join positions of opposite edges of the map. */
bool attention_is_shifted(const struct attention *attention);

/* A step of the scores that fused kernels do not support; NULL: none. */
const char *attention_steps(const struct attention *attention);

/* Projections in the order of their parameters. */
enum {
  PROJECTION_QUERY,
  PROJECTION_KEY,
  PROJECTION_VALUE,
  PROJECTION_OUT,
  PROJECTION_JOINT,
  PROJECTIONS = PROJECTION_JOINT + 3
};

/* Matrix and bias of a projection; packed ones belong to the first. */
struct projection {
  int first, count;
  int64_t in, out; /* features; out 0: packed into another */
  int64_t biases;
  bool adapted;   /* A and B of lora follow */
  int64_t padded; /* outputs of B, padded with zeros; 0: all */
};

void attention_projections(const struct layer *layer,
                           struct projection projections[PROJECTIONS]);

/* Indices of the parameters after the projections; -1: none. */
struct attention_places {
  int relative, norm[4], talk[2], sinks, gate;
};

struct attention_places attention_places(const struct layer *layer);

void attention_params(const struct layer *layer, struct params *params);
void attention_macs(const struct layer *layer, struct terms *terms);
struct cache_terms attention_cache(const struct layer *layer);
struct head_counts attention_head_counts(const struct layer *layer);

/* True if one kernel runs attention with a `kernel` of its own, or 0. */
bool attention_is_fused(const struct tape *tape, int kernel);

/* State of recording. */
struct attention_recorder {
  struct tape *tape;
  const struct layer *layer;
  const struct attention *attention;
  struct attention_sizes s;
  struct projection projections[PROJECTIONS];
  struct attention_places places;
  double factor; /* of the scores */
  size_t mask;   /* a value, if there is a mask */
  bool fused;    /* one kernel */
  bool math;     /* _scaled_dot_product_attention_math(), which a CPU runs for
                  * dropout: it scales queries and keys, by the root of the
                  * factor, which is no tensor (ATen/native/transformers/
                  * attention.cpp) */
  bool chooses;  /* the mask is another one for each sample: an indexer's */
};

/*
 * Logarithms of the sums of each row. The kernel for 32 bits,
 * with a mask, or where values have not the size of keys (`alike` is false),
 * pads the rows of a head to ALIGNED (kAlignLSE in aten/src/ATen/native/
 * transformers/cuda/mem_eff_attention/kernel_forward.h); that of a CPU does
 * not (ATen/native/cpu/FlashAttentionKernel.cpp).
 */
struct extent attention_row_sums(const struct attention_recorder *r,
                                 bool alike);

/*
 * repeat_kv of transformers: repeats heads of keys or values for the query
 * heads that share them, before any is read. A single head is only expanded;
 * the product copies it. A plan needs no copies.
 */
size_t attention_repeat(const struct attention_recorder *r, size_t in,
                        int64_t dim);

/* True for nn.MultiheadAttention since PyTorch 2, which copies the product of a
 * packed matrix as a whole: its parts are views. */
bool attention_copies_whole(const struct attention_recorder *r);

/* Extent of rows of features, over all groups. */
struct extent attention_rows(const struct attention_recorder *r, int64_t rows,
                             int64_t features);

/* Reports an error and returns false if a gate, or values of another kind,
 * do not fit other arguments. */
bool attention_check_parts(const struct layer *layer,
                           const struct attention_sizes *s);

/* Queries and their gate, from the projection of both. */
void attention_part_gate(const struct attention_recorder *r, size_t both,
                         size_t *queries, size_t *gate);

/* A number for each head, for its gate. */
size_t attention_project_gate(const struct attention_recorder *r, size_t in);

/* The product of the heads' results and the sigmoid of the gate. */
size_t attention_gate(const struct attention_recorder *r, size_t context,
                      size_t gate);

/* RMS norm of each head of values, without weights. */
size_t attention_normalise_values(const struct attention_recorder *r,
                                  size_t values);

/* Strides of such rows, one group after the other. */
struct strides attention_strides(const struct attention_recorder *r,
                                 int64_t rows, int64_t features);

/* Records an operation on one value. */
size_t attention_unary(const struct attention_recorder *r, size_t in,
                       struct operation op);

/* Rows of features, with an axis for the heads of `dim` features. */
struct strides attention_heads(const struct strides *rows, int64_t dim);

/* Adds how many positions before and after are attended to. */
void attention_lower_mask(const struct attention_recorder *r,
                          struct lowering *does);

/* Workspace of several operations in a framework; a plan has one operation. */
struct extent attention_work(const struct attention_recorder *r,
                             struct extent extent);

/* True if rope rotates only a part of each head. */
bool attention_turns_part(const struct attention_recorder *r);

/* Rotates queries or keys by their positions. */
size_t attention_rotate(const struct attention_recorder *r, size_t in,
                        const struct lowering *does);

/* softmax(factor q k') v, for queries and keys with heads first. */
size_t attention_weigh(const struct attention_recorder *r, size_t q, size_t k,
                       size_t v);

/* Moves the heads back: the features of all heads of a
 * position are contiguous. */
size_t attention_together(const struct attention_recorder *r, size_t context,
                          struct extent unit, bool view_of_one);

/* attention_weigh() for rows of all heads' features. */
size_t attention_step_by_step(const struct attention_recorder *r, size_t q,
                              size_t k, size_t v);

/* layer->kind->trace */
size_t attention_trace(const struct layer *layer, struct tape *tape,
                       const size_t *in);

#endif
