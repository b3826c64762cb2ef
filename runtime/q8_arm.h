/*
 * 8-bit products with vector instructions of Cortex-M, if the compiler reports
 * them: Helium (M55, M85) with 16 values, else smlad of the DSP extension with
 * two (M4, M7, M33). The bytes are equal to those of the plain loops: 32-bit
 * sums wrap. NETRT_Q8_PLAIN disables them.
 */
#ifndef NETRT_Q8_ARM_H
#define NETRT_Q8_ARM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined NETRT_Q8_PLAIN
#elif defined __ARM_FEATURE_MVE && __ARM_FEATURE_MVE & 1
#define Q8_MVE 1
#elif defined __ARM_FEATURE_DSP && defined __ARM_FEATURE_SIMD32 && \
    defined __GNUC__
#define Q8_DSP 1
#endif

#ifdef Q8_MVE
#include <arm_mve.h>
#endif

/* Sums of four adjacent channels. */
struct q8_four {
#ifdef Q8_MVE
  int32x4_t all;
#else
  int32_t a, b, c, d;
#endif
};

#ifndef Q8_MVE

static inline struct q8_four q8_four_of(const int32_t sum[4]) {
  struct q8_four four;
  four.a = sum[0];
  four.b = sum[1];
  four.c = sum[2];
  four.d = sum[3];
  return four;
}

static inline void q8_four_put(const struct q8_four *four, int32_t sum[4]) {
  sum[0] = four->a;
  sum[1] = four->b;
  sum[2] = four->c;
  sum[3] = four->d;
}

#endif

#ifdef Q8_MVE
#define Q8_VECTORS 1

/*
 * Subtracts the zero at the end: sum of (x - zero) w = sum of x w - zero * sum
 * of w. Lanes from n on are 0.
 */
static inline void q8_add_dense(const int8_t *x, int32_t zero, const int8_t *w,
                                ptrdiff_t next, ptrdiff_t n, int32_t sum[4]) {
  int32_t a = sum[0], b = sum[1], c = sum[2], d = sum[3];
  int32_t of_a = 0, of_b = 0, of_c = 0, of_d = 0;
  for (; n > 0; n -= 16, x += 16, w += 16) {
    mve_pred16_t lanes = vctp8q(n < 16 ? (uint32_t)n : 16);
    int8x16_t values = vldrbq_z_s8(x, lanes);
    int8x16_t row = vldrbq_z_s8(w, lanes);
    a = vmladavaq_s8(a, values, row);
    of_a = vaddvaq_s8(of_a, row);
    row = vldrbq_z_s8(w + next, lanes);
    b = vmladavaq_s8(b, values, row);
    of_b = vaddvaq_s8(of_b, row);
    row = vldrbq_z_s8(w + 2 * next, lanes);
    c = vmladavaq_s8(c, values, row);
    of_c = vaddvaq_s8(of_c, row);
    row = vldrbq_z_s8(w + 3 * next, lanes);
    d = vmladavaq_s8(d, values, row);
    of_d = vaddvaq_s8(of_d, row);
  }
  sum[0] = a - zero * of_a;
  sum[1] = b - zero * of_b;
  sum[2] = c - zero * of_c;
  sum[3] = d - zero * of_d;
}

static inline int32_t q8_dense_product(const int8_t *x, int32_t zero,
                                       const int8_t *w, ptrdiff_t n) {
  int32_t sum = 0, of = 0;
  for (; n > 0; n -= 16, x += 16, w += 16) {
    mve_pred16_t lanes = vctp8q(n < 16 ? (uint32_t)n : 16);
    int8x16_t row = vldrbq_z_s8(w, lanes);
    sum = vmladavaq_s8(sum, vldrbq_z_s8(x, lanes), row);
    of = vaddvaq_s8(of, row);
  }
  return sum - zero * of;
}

static inline struct q8_four q8_four_of(const int32_t sum[4]) {
  struct q8_four four = {vld1q_s32(sum)};
  return four;
}

static inline void q8_four_put(const struct q8_four *four, int32_t sum[4]) {
  vst1q_s32(sum, four->all);
}

static inline void q8_add_dense_channels(const int8_t *x, int32_t zero,
                                         const int8_t *w,
                                         struct q8_four *four) {
  int32x4_t values = vsubq_n_s32(vldrbq_s32(x), zero);
  four->all = vaddq_s32(four->all, vmulq_s32(values, vldrbq_s32(w)));
}

#elif defined Q8_DSP
#include <arm_acle.h>
#define Q8_VECTORS 1

/* Four values as two pairs of 16 bits: values 0 and 2, and 1 and 3. */
struct q8_halves {
  int16x2_t even, odd;
};

/* `add` has a 16-bit number for each of a pair. */
static inline struct q8_halves q8_halves_of(const int8_t *from, int16x2_t add) {
  struct q8_halves halves;
  int8x4_t four;
  memcpy(&four, from, sizeof four);
  halves.even = __sxtab16(add, four);
  __asm__("sxtab16 %0, %1, %2, ror #8"
          : "=r"(halves.odd)
          : "r"(add), "r"(four));
  return halves;
}

static inline int16x2_t q8_less(int32_t zero) {
  uint32_t half = (uint32_t)-zero & 0xffff;
  return (int16x2_t)(half | half << 16);
}

static inline struct q8_halves q8_weights(const int8_t *from) {
  struct q8_halves halves;
  int8x4_t four;
  memcpy(&four, from, sizeof four);
  halves.even = __sxtb16(four);
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(halves.odd) : "r"(four));
  return halves;
}

static inline int32_t q8_add_halves(const struct q8_halves *x, const int8_t *w,
                                    int32_t sum) {
  struct q8_halves y = q8_weights(w);
  __asm__("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(x->even), "r"(y.even));
  __asm__("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(x->odd), "r"(y.odd));
  return sum;
}

static inline void q8_add_dense(const int8_t *x, int32_t zero, const int8_t *w,
                                ptrdiff_t next, ptrdiff_t n, int32_t sum[4]) {
  const int8_t *w1 = w + next, *w2 = w1 + next, *w3 = w2 + next;
  int32_t a = sum[0], b = sum[1], c = sum[2], d = sum[3];
  int16x2_t less = q8_less(zero);
  ptrdiff_t i = 0;
  for (; i + 4 <= n; i += 4) {
    struct q8_halves halves = q8_halves_of(x + i, less);
    a = q8_add_halves(&halves, w + i, a);
    b = q8_add_halves(&halves, w1 + i, b);
    c = q8_add_halves(&halves, w2 + i, c);
    d = q8_add_halves(&halves, w3 + i, d);
  }
  for (; i < n; i++) {
    int32_t value = x[i] - zero;
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

static inline int32_t q8_dense_product(const int8_t *x, int32_t zero,
                                       const int8_t *w, ptrdiff_t n) {
  int16x2_t less = q8_less(zero);
  int32_t sum = 0;
  ptrdiff_t i = 0;
  for (; i + 4 <= n; i += 4) {
    struct q8_halves halves = q8_halves_of(x + i, less);
    sum = q8_add_halves(&halves, w + i, sum);
  }
  for (; i < n; i++)
    sum += (x[i] - zero) * w[i];
  return sum;
}

#define Q8_ADD(name, sum, x, w) \
  __asm__(name " %0, %1, %2, %0" : "+r"(sum) : "r"(x), "r"(w))

static inline void q8_add_dense_channels(const int8_t *x, int32_t zero,
                                         const int8_t *w,
                                         struct q8_four *four) {
  struct q8_halves halves = q8_halves_of(x, q8_less(zero)), y = q8_weights(w);
  Q8_ADD("smlabb", four->a, halves.even, y.even);
  Q8_ADD("smlabb", four->b, halves.odd, y.odd);
  Q8_ADD("smlatt", four->c, halves.even, y.even);
  Q8_ADD("smlatt", four->d, halves.odd, y.odd);
}

#endif
#endif
