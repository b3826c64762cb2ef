/* attention: its arguments and sizes, for its two files. */
#ifndef NETC_LAYERS_ATTENTION_H
#define NETC_LAYERS_ATTENTION_H

#include "layers/lora.h"

enum { ATTENTION_FUSED = 1, ATTENTION_NAIVE };

struct attention {
  int64_t heads;
  int64_t kv;  /* heads of keys and values; 0: as many as heads */
  int64_t dim; /* features of a head; 0: channels / heads */
  int64_t window;
  struct sizes relative;
  double dropout;
  struct layer_ref cross;
  int causal, rope, kernel, nobias, biases, packed;
  struct lora lora;
  int adapted; /* which projections have it */
};

/* Sizes of one sample. */
struct attention_sizes {
  int64_t groups;  /* leading axes, each attended to by itself */
  int64_t queries; /* positions that ask */
  int64_t keys;    /* positions that are looked at */
  int64_t channels, key_channels;
  int64_t heads, kv, dim;
  int64_t width, kv_width; /* features of all heads together */
};

struct attention_sizes attention_sizes(const struct layer *layer);

/* Where its projections stand among its parameters. */
enum { PROJECTION_QUERY, PROJECTION_KEY, PROJECTION_VALUE, PROJECTION_OUT };

/* Matrices and biases of a projection; packed ones are those of the first. */
struct projection {
  int first, count;
  int64_t in, out; /* features; out 0: it is packed into another */
  int64_t biases;
  bool adapted; /* A and B of lora follow them */
};

void attention_projections(const struct layer *layer,
                           struct projection projections[4]);

/* layer->kind->trace */
size_t attention_trace(const struct layer *layer, struct tape *tape,
                       const size_t *in);

#endif
