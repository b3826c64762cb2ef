/* Time of inference: a lower bound for a batch. */
#ifndef NETC_MEMORY_INFERENCE_TIME_H
#define NETC_MEMORY_INFERENCE_TIME_H

#include "memory/memory.h"
#include "sema/model/gpu.h"

/* Bytes of a parameter by its index; false if they pass 2^63 - 1. */
typedef bool param_bytes_fn(const void *user, size_t index, int64_t *bytes);

/*
 * Bytes of the weights that one pass has to read: of layers that multiply, each
 * once, and of experts as many as a value passes. A lookup table is read only
 * at its indices, which is not counted.
 */
double inference_reads(const struct model *model, param_bytes_fn *bytes,
                       const void *user);

struct inference_time {
  double bound;            /* seconds of a batch; 0: unknown */
  double products, memory; /* the parts that `bound` is the maximum of */
  const char *missing;     /* figure of the device that is unknown; or NULL */
};

/*
 * Peak operations per second of products of that type; 0: unknown. 16 bits run
 * as the faster one of both types, and a card without a type computes in the
 * next wider one.
 */
double inference_rate(const struct gpu *gpu, int element);

/*
 * A batch cannot take less than
 *
 *   max(2 MACs batch / operations a second, (bytes of weights - 128 MiB) /
 *       bandwidth)
 *
 * at the maker's peak rates: 128 MiB of the weights may stay in caches, and
 * activations may never leave the chip (roofline: Williams et al. 2009). Of a
 * card without a rate the bytes alone count. False if no device is named.
 */
bool inference_time_find(const struct model *model,
                         const struct settings *settings,
                         struct inference_time *time);

#endif
