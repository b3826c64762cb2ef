/* Weights of 8 or 16 bits, converted to floats when used. */
#ifndef NETRT_NARROW_H
#define NETRT_NARROW_H

#include <string.h>

#include "kernel.h"

/* Consecutive values belong to consecutive outputs. */
struct narrow_weights {
  const unsigned char *at; /* NULL: weights are floats, elsewhere */
  const float *scale;      /* of 8 bits: one for each output */
  uint8_t type;
};

/* Operand i of an operation, with the scales after it if it has 8 bits; *next
 * is the operand after these. */
static inline struct narrow_weights narrow_of(const struct netrt *net,
                                              const struct netrt_op *op,
                                              uint32_t i, uint32_t *next) {
  struct netrt_view view = netrt_in(net, op, i);
  struct narrow_weights w = {NULL, NULL, NETRT_F32};
  *next = i + 1;
  if (view.type == NETRT_F32)
    return w;
  w.at = view.data;
  w.type = view.type;
  if (view.type == NETRT_I8) {
    view = netrt_in(net, op, (*next)++);
    w.scale = netrt_floats(&view);
  }
  return w;
}

static inline float float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* A finite half-precision value: its exponent bias is 112
 * less than a float's. */
static inline float float_of_half(uint32_t half) {
  float magnitude =
      float_of_bits((half & 0x7fff) << 13) * 5.192296858534828e33F;
  return half & 0x8000 ? -magnitude : magnitude;
}

/* Converts `count` values from index `first` on, of
 * outputs from `output` on. */
static inline void widen(const struct narrow_weights *w, ptrdiff_t first,
                         ptrdiff_t output, ptrdiff_t count, float *to) {
  const int8_t *bytes = (const int8_t *)w->at + first;
  const uint16_t *halves = (const uint16_t *)(const void *)w->at + first;
  ptrdiff_t i;
  if (w->type == NETRT_I8)
    for (i = 0; i < count; i++)
      to[i] = (float)bytes[i] * w->scale[output + i];
  else if (w->type == NETRT_BF16)
    for (i = 0; i < count; i++)
      to[i] = float_of_bits((uint32_t)halves[i] << 16);
  else
    for (i = 0; i < count; i++)
      to[i] = float_of_half(halves[i]);
}

#endif
