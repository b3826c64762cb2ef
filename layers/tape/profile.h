/* Profiles: how a framework runs a net, as far as memory depends on it. */
#ifndef NETC_LAYERS_TAPE_PROFILE_H
#define NETC_LAYERS_TAPE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

/* One row of a table; docs/memory.md says where each fact comes from. */
struct profile {
  const char *name;
  bool measured;         /* its figures are equal to measured ones */
  const char *said;      /* of its figures, in a report */
  int64_t block;         /* bytes that an allocation is rounded up to */
  bool byte_masks;       /* dropout keeps one byte a value, not the type's */
  bool sums_in_place;    /* gradients of a fan-out are added to the first */
  bool concat_anew;      /* `concat list` copies all parts each time */
  bool mean_keeps_input; /* a global mean saves what it averaged */
  bool keeps_numbers;    /* a product keeps a number where tensors are */
  bool slow_volumes;     /* a deconv of volumes begins with its input's size */
  bool unfold_keeps_input; /* its backward asks the input for its size */
  bool turned_products;    /* by sample, where its matrix is transposed */
  bool maps_prelu;         /* what prelu gives lies as maps do */
  bool recurrent_steps;    /* recurrent layers run step by step */
  bool pool_indices;       /* maximum pooling writes int64 places */
  bool fused_attention;    /* attention weights are never stored */
  bool norm_in_float32;    /* mixed precision: layer norm computes in 32 bits */
  bool packed_keeps_input; /* so does a product whose matrix is in blocks, and
                              written out in f16 before it is bf16 */
  bool caches;             /* an allocator with segments gives all tensors */
  bool foreach_optimizer;  /* a step works on all parameters at once */
  int64_t context;         /* bytes of the device's context, a typical value */
  int64_t workspace;       /* bytes of a handle of cuBLAS, if the card has no
                              others (sema/model/contexts.def) */
  int64_t beside;          /* what vLLM takes off its share for all but tensors,
                              the context not among it */
  int reserve;             /* percent of a step that an estimate keeps free */
};

/* A blank and a word for each profile. */
extern const char profile_words[];

/* The profile of a word's place, from 1. */
const struct profile *profile_at(int place);

/* A net that runs from a plan: no framework, nothing but the tensors. */
extern const struct profile profile_planned;

#endif
