/* The rotation of a pair of features by rope; also used to
 * precompute tables. */
#ifndef NETRT_TURN_H
#define NETRT_TURN_H

#include <math.h>
#include <stddef.h>

/* Reals of `rope` and `stretched` in ops.def; rope has only the first. */
enum { TURN_BASE, TURN_STRETCH, TURN_TRAINED, TURN_REALS };

/* Llama 3.1's low_freq_factor and high_freq_factor. */
enum { TURN_SELDOM = 1, TURN_OFTEN = 4 };

/*
 * _compute_llama3_parameters of transformers' modeling_rope_utils.py. Radians
 * from one position to the next for pair i of `dim` features: base^(-2 i / dim)
 * divided by `stretch`. If `trained` is not 0, only pairs that rotate less than
 * once in that many positions are divided; pairs that rotate 4 times are not,
 * and those in between are interpolated.
 */
static inline float netrt_turn(const float *rule, ptrdiff_t i, ptrdiff_t dim) {
  const float around = 6.283185307179586f;
  float speed = powf(rule[TURN_BASE], -2 * (float)i / (float)dim);
  float turns = rule[TURN_TRAINED] * speed / around, kept;
  if (rule[TURN_STRETCH] == 1)
    return speed;
  kept = (turns - TURN_SELDOM) / (TURN_OFTEN - TURN_SELDOM);
  kept = kept < 0 ? 0 : kept > 1 ? 1 : kept;
  return speed * ((1 - kept) / rule[TURN_STRETCH] + kept);
}

#endif
