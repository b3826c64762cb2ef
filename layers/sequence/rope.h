/* rope: rotates the features of a head by position. */
#ifndef NETC_LAYERS_SEQUENCE_ROPE_H
#define NETC_LAYERS_SEQUENCE_ROPE_H

#include "layers/layer.h"

/*
 * Pair i of D features is rotated by position / base^(2 i / D) (Su et al. 2021,
 * "RoFormer", arXiv 2104.09864). To extend the context, positions are divided
 * by `stretch` (arXiv 2306.15595), or with `trained` as in Llama 3.1
 * (runtime/turn.h). 0: not given.
 */
struct rope_rule {
  double base, stretch;
  int64_t trained; /* positions */
};

/* Rows of arg_spec for `base=500000 stretch=8 trained=8192`. */
#define ROPE_SPECS(owner, member)                                              \
  ARG(REAL, KEY, "base", owner, member.base, .low = 2, .high = 1e12,           \
      .fallback = "10000",                                                     \
      .doc = "base of the rotation: pair i turns by position / base^(2 i / "   \
             "features)"),                                                     \
      ARG(REAL, KEY, "stretch", owner, member.stretch, .low = 1, .high = 1e6,  \
          .fallback = "1",                                                     \
          .doc = "divisor of the positions (rope_scaling linear)"),            \
      ARG(INT, KEY, "trained", owner, member.trained, .min = 1,                \
          .fallback = "none",                                                  \
          .doc = "context in training; pairs with less than 1 rotation in it " \
                 "are stretched, those with 4 are not (Llama 3.1)")

/* Reports an error and returns false if an option has no effect. */
bool rope_check(const struct layer *layer, const struct rope_rule *rule,
                bool turns);

/* Sets opcode, numbers and reals. `neighbours`: pairs are 2 i and 2 i + 1. */
void rope_lower(struct lowering *does, const struct rope_rule *rule,
                bool neighbours);

#endif
