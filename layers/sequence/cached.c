/*
 * cached: keeps vectors of the tokens in the KV cache. Compressed attention
 * (DeepSeek-V4) and indexers (MiniMax-M3) are layers beside the attention, and
 * what they keep is marked so.
 */
#include "base/check.h"
#include "layers/layer.h"

struct cached {
  int64_t rate, top, recent;
};

static const struct arg_spec cached_specs[] = {
    ARG(INT, KEY, "rate", cached, rate, .min = 1, .fallback = "1",
        .doc = "number of tokens for each vector that is kept"),
    ARG(INT, KEY, "top", cached, top, .min = 0, .fallback = "0",
        .doc = "number of vectors that a decode step reads, if an indexer "
               "chooses them; 0: all"),
    ARG(INT, KEY, "recent", cached, recent, .min = 1, .fallback = "all",
        .doc = "number of latest tokens, whose vectors are a state in "
               "`state_dtype=`"),
    SPEC_END};

static bool cached_shape(struct layer *layer) {
  const struct cached *cached = layer->args;
  if (cached->recent && (cached->rate || cached->top))
    return layer_refuse_surplus(layer, DUPLICATE_ARGUMENT,
                                cached->rate ? "rate" : "top",
                                "`recent` keeps each of the latest tokens");
  return layer_check_sequence(layer) && layer_same_shape(layer);
}

static struct cache_terms cached_terms(const struct layer *layer) {
  const struct cached *cached = layer->args;
  return (struct cache_terms){
      .each = cached->recent ? 0 : shape_channels(layer->in[0]),
      .rate = cached->rate,
      .top = cached->top};
}

static int64_t cached_state(const struct layer *layer, int64_t *window) {
  const struct cached *cached = layer->args;
  *window = 0;
  return size_product(cached->recent, shape_channels(layer->in[0]));
}

static size_t cached_trace(const struct layer *layer, struct tape *tape,
                           const size_t *in) {
  (void)layer;
  (void)tape;
  return in[0];
}

LAYER_KIND(cached, "Sequence",
           "its input, unchanged, which is kept in the KV cache",
           LAYER_ARGS(cached, cached_specs), .memory = OUTPUT_VIEW,
           .shape = cached_shape, .trace = cached_trace, .cache = cached_terms,
           .state = cached_state);
