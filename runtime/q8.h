/*
 * Shared by 8-bit kernels. A value q represents (q - zero) * scale; a tensor
 * has one scale and one zero. Weights have a scale for each output, and a zero
 * of 0. Products are summed in 32 bits. The sum times in's scale * weight's
 * scale / out's scale, rounded as float32, is the output's distance from its
 * zero: docs/runtime.md.
 */
#ifndef NETRT_Q8_H
#define NETRT_Q8_H

#include <float.h>
#include <string.h>

#include "kernel.h"
#include "q8_arm.h"

/*
 * Without float32 hardware, or with one of higher precision, the product is
 * computed with integers. FLT_EVAL_METHOD 0, 16 and 32 compute a float as one
 * (C11 5.2.4.2.2; ISO/IEC TS 18661-3): gcc has 16 with half-float instructions,
 * as on a Cortex-M55.
 */
#ifndef NETRT_Q8_INTEGER
#if (defined __arm__ && !defined __ARM_FP) ||     \
    (defined __riscv && !defined __riscv_flen) || \
    (defined FLT_EVAL_METHOD &&                   \
     (FLT_EVAL_METHOD < 0 || FLT_EVAL_METHOD == 1 || FLT_EVAL_METHOD == 2))
#define NETRT_Q8_INTEGER 1
#else
#define NETRT_Q8_INTEGER 0
#endif
#endif

/* Zeros of input and output, and the output's minimum and maximum; read from an
 * operand of words. */
struct q8_range {
  int32_t in, zero, low, high;
};

static inline const int8_t *netrt_bytes(const struct netrt_view *view) {
  return (const int8_t *)view->data;
}

static inline int8_t *netrt_bytes_out(const struct netrt_view *view) {
  return (int8_t *)view->data;
}

static inline const int32_t *netrt_words(const struct netrt_view *view) {
  return (const int32_t *)(const void *)view->data;
}

/* Reads the range from input `at`. */
static inline struct q8_range
q8_range_of(const struct netrt *net, const struct netrt_op *op, uint32_t at) {
  struct netrt_view view = netrt_in(net, op, at);
  const int32_t *words = netrt_words(&view);
  struct q8_range range;
  range.in = words[0];
  range.zero = words[1];
  range.low = words[2];
  range.high = words[3];
  return range;
}

/* The bias, the last operand of operations with weights; NULL: none. */
static inline const int32_t *q8_bias_of(const struct netrt *net,
                                        const struct netrt_op *op) {
  struct netrt_view bias;
  if (op->ins < 5)
    return NULL;
  bias = netrt_in(net, op, 4);
  return netrt_words(&bias);
}

/*
 * Adds the products of n values, `step` apart, with the weights of four
 * outputs, `next` apart. Sums stay in registers.
 */
static inline void q8_add_four_plain(const int8_t *x, ptrdiff_t step,
                                     int32_t zero, const int8_t *w,
                                     ptrdiff_t next, ptrdiff_t n,
                                     int32_t sum[4]) {
  const int8_t *w1 = w + next, *w2 = w1 + next, *w3 = w2 + next;
  int32_t a = sum[0], b = sum[1], c = sum[2], d = sum[3];
  ptrdiff_t i;
  for (i = 0; i < n; i++, x += step) {
    int32_t value = *x - zero;
    a += value * w[i];
    b += value * w1[i];
    c += value * w2[i];
    d += value * w3[i];
  }
  sum[0] = a;
  sum[1] = b;
  sum[2] = c;
  sum[3] = d;
}

static inline int32_t q8_product_plain(const int8_t *x, ptrdiff_t step,
                                       int32_t zero, const int8_t *w,
                                       ptrdiff_t n) {
  int32_t sum = 0;
  ptrdiff_t i;
  for (i = 0; i < n; i++)
    sum += (x[i * step] - zero) * w[i];
  return sum;
}

static inline void q8_add_four(const int8_t *x, ptrdiff_t step, int32_t zero,
                               const int8_t *w, ptrdiff_t next, ptrdiff_t n,
                               int32_t sum[4]) {
#ifdef Q8_VECTORS
  if (step == 1) {
    q8_add_dense(x, zero, w, next, n, sum);
    return;
  }
#endif
  q8_add_four_plain(x, step, zero, w, next, n, sum);
}

static inline int32_t q8_product(const int8_t *x, ptrdiff_t step, int32_t zero,
                                 const int8_t *w, ptrdiff_t n) {
#ifdef Q8_VECTORS
  if (step == 1)
    return q8_dense_product(x, zero, w, n);
#endif
  return q8_product_plain(x, step, zero, w, n);
}

/* Adds the products of four channels, `next` apart, with a weight each. */
static inline void q8_add_channels(const int8_t *x, ptrdiff_t next,
                                   int32_t zero, const int8_t *w,
                                   struct q8_four *sums) {
  int32_t sum[4];
#ifdef Q8_VECTORS
  if (next == 1) {
    q8_add_dense_channels(x, zero, w, sums);
    return;
  }
#endif
  q8_four_put(sums, sum);
  sum[0] += (x[0] - zero) * w[0];
  sum[1] += (x[next] - zero) * w[1];
  sum[2] += (x[2 * next] - zero) * w[2];
  sum[3] += (x[3 * next] - zero) * w[3];
  *sums = q8_four_of(sum);
}

static inline int8_t q8_clamp(int32_t value, const struct q8_range *to) {
  return (int8_t)(value < to->low    ? to->low
                  : value > to->high ? to->high
                                     : value);
}

/* value / 2^by, rounded to the nearest, ties to even; by < 64. */
static inline uint64_t q8_halved(uint64_t value, int by) {
  uint64_t odd = by ? value >> by & 1 : 0;
  return by ? (value + ((uint64_t)1 << (by - 1)) - 1 + odd) >> by : value;
}

static inline int q8_bits(uint64_t value) {
  int bits = 0;
  for (; value; value >>= 1)
    bits++;
  return bits;
}

/*
 * (float)sum * scale, rounded to an integer and limited to +-2^20, with
 * integers only: both roundings of float32, then the last one.
 */
static inline int32_t q8_product_of_integers(int32_t sum, float scale) {
  enum { MOST = 1 << 20 };
  uint32_t bits, from = sum < 0 ? 0 - (uint32_t)sum : (uint32_t)sum;
  uint64_t product;
  int power, over = q8_bits(from) - 24;
  memcpy(&bits, &scale, sizeof bits);
  power = (int)(bits >> 23 & 255) - 150;
  if (over > 0) {
    from = (uint32_t)q8_halved(from, over);
    power += over;
  }
  product = (uint64_t)from * ((bits & 0x7fffff) | 0x800000);
  over = q8_bits(product) - 24;
  if (over > 0) {
    product = q8_halved(product, over);
    power += over;
  }
  if (power >= 0)
    product = product ? MOST : 0;
  else
    product = power < -40 ? 0 : q8_halved(product, -power);
  product = product > MOST ? MOST : product;
  return sum < 0 ? -(int32_t)product : (int32_t)product;
}

/* The same with float32. */
static inline int32_t q8_product_of_floats(int32_t sum, float scale) {
  float x = (float)sum * scale, most = 1048576.0F;
  int32_t bits;
  x = x < -most ? -most : x > most ? most : x;
  x += 12582912.0F; /* 1.5 * 2^23: rounds the fraction */
  memcpy(&bits, &x, sizeof bits);
  return bits - 0x4b400000;
}

static inline int8_t q8_of(int32_t sum, float scale,
                           const struct q8_range *to) {
  int32_t x = NETRT_Q8_INTEGER ? q8_product_of_integers(sum, scale)
                               : q8_product_of_floats(sum, scale);
  return q8_clamp(x + to->zero, to);
}

#endif
