/* Profiles: behaviour of a framework that memory depends on. */
#ifndef NETC_LAYERS_TAPE_PROFILE_H
#define NETC_LAYERS_TAPE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

/* A row of profiles.def. docs/memory.md has the source of each fact. */
struct profile {
  const char *name;
  const char *title;     /* "PyTorch on CUDA" */
  const char *framework; /* "PyTorch" */
  bool measured;         /* figures are equal to measured ones */
  const char *said;      /* a report's note on the figures */
  int64_t block;         /* allocations are rounded up to a multiple; bytes */
  bool byte_masks;       /* dropout keeps one byte a value */
  bool sums_in_place;    /* gradients of a fan-out are added to the first */
  bool concat_anew;      /* `concat list` copies all parts each time */
  bool mean_keeps_input; /* a global mean saves its input */
  bool mse_is_bare; /* mse_loss() allocates its number alone, before 1.10 */
  bool softmax_keeps_input; /* softmax saves its input beside its output */
  bool keeps_numbers;       /* a product keeps numbers as tensors */
  bool slow_volumes;        /* a deconv of volumes allocates its input's size */
  bool unfold_keeps_input;  /* backward of unfold reads the input */
  bool turned_products;     /* a product by sample, for a transposed matrix */
  bool maps_prelu;          /* prelu's output has a map's memory format */
  bool recurrent_steps;     /* recurrent layers run step by step */
  bool lstm_kernel;         /* but lstm is a kernel of oneDNN */
  bool pool_indices;        /* maximum pooling writes int64 indices */
  bool fused_attention;     /* attention weights are never stored */
  bool fused_steps;         /* nor where there are sinks or a softcap, whose
                             * kernels servers have (vLLM, llama.cpp) */
  bool cpu_kernels;         /* fused attention keeps a sum for each row and no
                             * seed, and has no dropout; ssm is not fused */
  bool fills_mask;          /* deformconv without a mask keeps one of zeros */
  bool norm_in_float32;    /* mixed precision: layer norm computes in 32 bits */
  bool rms_in_float32;     /* nn.RMSNorm copies 16-bit values to 32 bits */
  bool packed_keeps_input; /* a product with a matrix in blocks keeps its input
                            * and unpacks f16 before bf16 */
  bool cudnn;              /* maps' convolutions and norms are cuDNN's, others
                            * CUDA's */
  bool flash_by_samples;   /* the 16-bit kernel gives its output by sample, and
                            * not as its queries lie */
  bool zeroes_gradients;   /* zero_grad() leaves them, as zeros */
  bool caches;             /* a caching allocator with segments */
  bool foreach_optimizer;  /* an optimizer step updates all parameters */
  int64_t context;         /* typical bytes of a device's context */
  int64_t workspace;       /* bytes of a cuBLAS handle, unless in
                            * sema/model/contexts.def */
  int64_t beside;          /* bytes vLLM reserves for all but tensors and
                            * context */
  int reserve;             /* percent of a step that an estimate keeps free */
  int used;                /* thousandths of a device's free memory: no
                            * published step that ran took more; 0: unknown */
  int tight, tight_ran; /* published steps whose verdict is `tight`, and those
                         * of them that ran */
};

/* All names of profiles, each after a blank. */
extern const char profile_words[];

/* The profile at a place from 1. */
const struct profile *profile_at(int place);

/* A net that runs from a plan: no framework, only tensors. */
extern const struct profile profile_planned;

#endif
