/* Speed: time of a decode step and of a prompt, from published runs. */
#ifndef NETC_MEMORY_SERVING_SPEED_H
#define NETC_MEMORY_SERVING_SPEED_H

#include <stdbool.h>
#include <stdint.h>

struct serving;

/* Parts of the time at the maker's peaks. */
enum speed_part {
  SPEED_WEIGHTS,  /* decode: bytes of weights that a token reads */
  SPEED_CACHE,    /* decode: bytes of the KV cache that it reads */
  SPEED_PRODUCTS, /* prompt: matrix products */
  SPEED_SCORES,   /* prompt: attention scores, causal ones half */
  SPEED_PARTS
};

/* Seconds; 0: unknown. */
struct serving_time {
  double predicted; /* decode step: a token of each sequence */
  double bound;     /* the same, at least */
  double prompt;    /* prefill of one prompt of the context's length */
  double prompt_bound;
  double tokens; /* of all sequences per second; without `predicted` at most */
  double parts[SPEED_PARTS];
  int64_t layers;      /* attention layers */
  int64_t runs, cards; /* published decode runs that it rests on, and cards */
  double error, prompt_error; /* median on runs that were left out */
  const char *missing;        /* why nothing is predicted; or NULL */
  const char *lacks; /* figure of the device that is unknown; or NULL */
};

/*
 * Decode, on a card of compute capability k (speeds.def):
 *
 *   seconds = a(k) weights read / bandwidth + b(k) cache read / bandwidth
 *             + c(k) layers
 *
 * Prompt: seconds = p(k) 2 MACs / operations a second + s(k) the same of
 * attention scores, in 8 bits, as llama.cpp multiplies blocks. Bounds: the
 * larger of operations at the peak rate and bytes, less 128 MiB that caches
 * may hold. Experts: as many as a token passes. False if no device is named.
 */
bool speed_find(struct serving *serving, int64_t context, int64_t sequences,
                struct serving_time *time);

#endif
