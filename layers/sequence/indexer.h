/* indexer: chooses the keys that each query of latent attention reads. */
#ifndef NETC_LAYERS_SEQUENCE_INDEXER_H
#define NETC_LAYERS_SEQUENCE_INDEXER_H

#include "layers/layer.h"

/*
 * The lightning indexer of DeepSeek-V3.2 (class Indexer of inference/model.py,
 * deepseek-ai/DeepSeek-V3.2-Exp) and GLM-5. Its parameters follow those of the
 * layer. transformers/models/deepseek_v32 runs it without gradients, so that
 * training leaves it alone.
 */
struct indexer {
  int64_t heads; /* 0: none */
  int64_t dim;
  int64_t top; /* 0: the default */
};

#define INDEXER_SPECS(owner, member)                                           \
  ARG(INT, KEY, "index", owner, member.heads, .min = 1, .fallback = "none",    \
      .doc = "number of heads of an indexer that chooses the keys for each "   \
             "query (DeepSeek-V3.2, GLM-5)"),                                  \
      ARG(INT, KEY, "indexdim", owner, member.dim, .min = 1,                   \
          .fallback = "128",                                                   \
          .doc = "with `index`: features of the indexer's heads; its one key " \
                 "is cached for each token"),                                  \
      ARG(INT, KEY, "indextop", owner, member.top, .min = 1,                   \
          .fallback = "2048 with index, else all",                             \
          .doc = "number of keys that each query reads; without `index`, an "  \
                 "earlier layer has chosen them")

/* Members of the layer around it. */
struct indexer_sizes {
  int64_t steps, channels;
  int64_t latent; /* features that queries are computed from */
  int64_t rope;   /* rotated features of a head */
};

/* Reports an error and returns false if sizes do not fit. */
bool indexer_check(const struct layer *layer, const struct indexer *indexer,
                   const struct indexer_sizes *s);

/* Number of keys of `keys` that a query reads. */
int64_t indexer_seen(const struct indexer *indexer, int64_t keys);

/* Values that are cached for a token. */
int64_t indexer_cache(const struct indexer *indexer);

void indexer_params(const struct indexer *indexer,
                    const struct indexer_sizes *s, struct params *params);
void indexer_macs(const struct indexer *indexer, const struct indexer_sizes *s,
                  struct terms *terms);

/*
 * Records it for the layer's input and the latent vector of its queries. `at`:
 * index of the first parameter. `fused`: no scores of single heads are stored.
 * Returns the indices of the keys.
 */
size_t indexer_trace(const struct indexer *indexer,
                     const struct indexer_sizes *s, struct tape *tape,
                     const size_t in[2], int at, bool fused);

#endif
