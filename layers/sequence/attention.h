/* attention: its arguments and sizes, for its two files. */
#ifndef NETC_LAYERS_SEQUENCE_ATTENTION_H
#define NETC_LAYERS_SEQUENCE_ATTENTION_H

#include "layers/lora.h"
#include "layers/sequence/rope.h"

enum { ATTENTION_FUSED = 1, ATTENTION_NAIVE };
enum { ATTENTION_SCORES = 1, ATTENTION_QUERIES, ATTENTION_UNSCALED };

enum attention_adapted { LORA_QV = 1, LORA_QKV, LORA_QKVO, LORA_PADDED };

/* The letters of the projections that have biases. */
#define ATTENTION_BIASES "qkvo qvo qkv qko kvo qk qv qo kv ko vo q k v o"

/* Norms of queries and keys: of each head's features, or of all heads'. OWN:
   of each head, then weights for each feature of all heads, without biases. */
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
  int64_t kv;     /* heads of keys and values; 0: as many as heads */
  int64_t dim;    /* features of a head; 0: channels / heads */
  int64_t rotary; /* features that rope turns; 0: all of a head */
  struct rope_rule turns;
  int64_t window;
  struct sizes relative, shift;
  double dropout, softcap;
  int64_t out; /* features of the output; 0: as the input has */
  struct layer_ref cross;
  struct layer_ref values; /* of which they are, if not of the keys' tensor */
  struct layer_ref joint;  /* positions of another stream, in front */
  struct layer_ref mask;   /* what is added to the scores */
  int causal, rope, kernel, nobias, biases, packed, views, sbhd, noout, scale,
      qknorm;
  int sinks, talking;
  struct lora lora;
  int adapted; /* which projections have it: enum attention_adapted */
};

/*
 * How many positions back and ahead each one sees; -1: all. A causal window
 * ends with the position; one that looks both ways has half of its size on
 * each side, as ModernBERT's local_attention=128 and Longformer's
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

/* One matrix for queries, keys and values. */
static inline bool attention_is_packed(const struct attention *attention) {
  return attention->packed || attention->views;
}

static inline bool attention_is_joint(const struct attention *attention) {
  return attention->joint.name.length > 0;
}

/* The inputs that keys and values are of, or that joins. */
static inline int attention_keys(const struct attention *attention) {
  return attention->cross.name.length > 0 || attention_is_joint(attention);
}

static inline int attention_values(const struct attention *attention) {
  return attention_keys(attention) + (attention->values.name.length > 0);
}

/* The input that is added to the scores, the last one; 0: none is. */
static inline int attention_mask(const struct attention *attention) {
  return attention->mask.name.length ? attention_values(attention) + 1 : 0;
}

/* Sizes of one sample. */
struct attention_sizes {
  int64_t groups;  /* leading axes, each attended to by itself */
  int64_t queries; /* positions that ask */
  int64_t keys;    /* positions that are looked at */
  int64_t joined;  /* of both, those of the other stream */
  int64_t channels, key_channels, value_channels;
  int64_t heads, kv, dim;
  int64_t width, kv_width; /* features of all heads together */
  int64_t out;
};

struct attention_sizes attention_sizes(const struct layer *layer);

/* Whether some positions of a window come from the other edge of the map. */
bool attention_is_shifted(const struct attention *attention);

/* What the scores go through that a fused kernel has not; NULL: nothing. */
const char *attention_steps(const struct attention *attention);

/* Where its projections stand among its parameters; last those of `joint`. */
enum {
  PROJECTION_QUERY,
  PROJECTION_KEY,
  PROJECTION_VALUE,
  PROJECTION_OUT,
  PROJECTION_JOINT,
  PROJECTIONS = PROJECTION_JOINT + 3
};

/* Matrices and biases of a projection; packed ones are those of the first. */
struct projection {
  int first, count;
  int64_t in, out; /* features; out 0: it is packed into another */
  int64_t biases;
  bool adapted;   /* A and B of lora follow them */
  int64_t padded; /* outputs of B, which zeros are put among; 0: all */
};

void attention_projections(const struct layer *layer,
                           struct projection projections[PROJECTIONS]);

/* What stands among its parameters after the projections; -1: nothing. */
struct attention_places {
  int relative, norm[4], talk[2], sinks;
};

struct attention_places attention_places(const struct layer *layer);

void attention_params(const struct layer *layer, struct params *params);
void attention_macs(const struct layer *layer, struct terms *terms);
int64_t attention_cache(const struct layer *layer, int64_t context);
struct head_counts attention_head_counts(const struct layer *layer);

/* While its operations are recorded. */
struct attention_recorder {
  struct tape *tape;
  const struct layer *layer;
  const struct attention *attention;
  struct attention_sizes s;
  struct projection projections[PROJECTIONS];
  struct attention_places places;
  double factor; /* of the scores */
  size_t mask;   /* a value, if it has one */
  bool fused;    /* one kernel */
};

/* Values of a sample: rows of features, over all groups. */
struct extent attention_rows(const struct attention_recorder *r, int64_t rows,
                             int64_t features);

/* How they lie, one group after the other. */
struct strides attention_strides(const struct attention_recorder *r,
                                 int64_t rows, int64_t features);

/* Runs an operation on one value. */
size_t attention_unary(const struct attention_recorder *r, size_t in,
                       struct operation op);

/* Rows of features, each with its heads. */
struct strides attention_heads(const struct attention_recorder *r,
                               const struct strides *rows);

/* How far back and ahead a position sees. */
void attention_lower_mask(const struct attention_recorder *r,
                          struct lowering *does);

/* Work that a framework has of several operations, the runtime of one. */
struct extent attention_work(const struct attention_recorder *r,
                             struct extent extent);

/* Whether rope turns a part of each head only. */
bool attention_turns_part(const struct attention_recorder *r);

/* Queries or keys, turned by their positions. */
size_t attention_rotate(const struct attention_recorder *r, size_t in,
                        const struct lowering *does);

/* softmax(factor q k') v of queries and keys that lie heads first. */
size_t attention_weigh(const struct attention_recorder *r, size_t q, size_t k,
                       size_t v);

/* The features of all heads of a position again side by side. */
size_t attention_together(const struct attention_recorder *r, size_t context,
                          struct extent unit, bool view_of_one);

/* The same of rows of all heads' features, with every step in memory. */
size_t attention_step_by_step(const struct attention_recorder *r, size_t q,
                              size_t k, size_t v);

/* layer->kind->trace */
size_t attention_trace(const struct layer *layer, struct tape *tape,
                       const size_t *in);

#endif
