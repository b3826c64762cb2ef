/*
 * Vectors of LANES values for one instruction set (isa.h), and their functions.
 * Other bodies include it.
 */
typedef float NAME(floats) __attribute__((vector_size(LANES * 4), aligned(4)));
typedef int32_t NAME(ints) __attribute__((vector_size(LANES * 4), aligned(4)));
#define INLINE static inline __attribute__((always_inline, unused)) TARGET

INLINE NAME(floats) NAME(load)(const float *from, ptrdiff_t count) {
  NAME(floats) v = {0};
  ptrdiff_t i;
  if (count >= LANES)
    return *(const NAME(floats) *)(const void *)from;
  for (i = 0; i < count; i++)
    v[i] = from[i];
  return v;
}

INLINE void NAME(store)(float *to, NAME(floats) v, ptrdiff_t count) {
  ptrdiff_t i;
  if (count >= LANES)
    *(NAME(floats) *)(void *)to = v;
  else
    for (i = 0; i < count; i++)
      to[i] = v[i];
}

INLINE NAME(floats) NAME(all)(float x) {
  NAME(floats) v = {0};
  return v + x;
}

/* a where the mask is set, else b. */
INLINE NAME(floats)
    NAME(choose)(NAME(ints) mask, NAME(floats) a, NAME(floats) b) {
  return (NAME(floats))((mask & (NAME(ints))a) | (~mask & (NAME(ints))b));
}

INLINE NAME(floats) NAME(least)(NAME(floats) a, float b) {
  NAME(floats) v = NAME(all)(b);
  return NAME(choose)(a > v, v, a);
}

INLINE NAME(floats) NAME(most)(NAME(floats) a, float b) {
  NAME(floats) v = NAME(all)(b);
  return NAME(choose)(a < v, v, a);
}

/* The larger values; NaN if either is. */
INLINE NAME(floats) NAME(larger)(NAME(floats) a, NAME(floats) b) {
  return NAME(choose)((a > b) | (a != a), a, b);
}

/*
 * x = n log(2) + r, |r| <= log(2) / 2. Sets *less_one to exp(r) - 1 by the
 * polynomial of Cephes' expf; returns 2^n. For -87.3 <= x <= 88.3.
 */
INLINE NAME(floats) NAME(exp_parts)(NAME(floats) x, NAME(floats) * less_one) {
  const float round = 12582912.0f; /* 1.5 * 2^23: rounds to integers */
  NAME(floats) n = x * 1.44269504088896341f + round;
  NAME(ints) power = ((NAME(ints))n - 0x4b400000 + 127) << 23;
  NAME(floats) y;
  n -= round;
  x -= n * 0.693359375f;
  x += n * 2.12194440e-4f;
  y = x * 1.9875691500e-4f + 1.3981999507e-3f;
  y = y * x + 8.3334519073e-3f;
  y = y * x + 4.1665795894e-2f;
  y = y * x + 1.6666665459e-1f;
  y = y * x + 5.0000001201e-1f;
  *less_one = y * x * x + x;
  return (NAME(floats))power;
}

INLINE NAME(floats) NAME(exp)(NAME(floats) x) {
  NAME(floats) part, power, zero = {0};
  power = NAME(exp_parts)(NAME(most)(NAME(least)(x, 88.3f), -87.3f), &part);
  return NAME(choose)(x < -87.3f, zero, power * part + power);
}

/* exp(x) - 1 for x <= 0 */
INLINE NAME(floats) NAME(expm1)(NAME(floats) x) {
  NAME(floats) part, power = NAME(exp_parts)(NAME(most)(x, -87.3f), &part);
  return power * part + (power - 1);
}

INLINE NAME(floats) NAME(tanh_of)(NAME(floats) x) {
  NAME(floats) z = x * x, y, far;
  y = z * -5.70498872745e-3f + 2.06390887954e-2f;
  y = y * z - 5.37397155531e-2f;
  y = y * z + 1.33314422036e-1f;
  y = y * z - 3.33332819422e-1f;
  y = y * z * x + x;
  far = 1 - 2 / (NAME(exp)(2 * x) + 1);
  return NAME(choose)(z < 0.390625f, y, far);
}

/* A rational approximation, which is 1 in 32 bits from 4 on (Eigen's erf). */
INLINE NAME(floats) NAME(erf)(NAME(floats) x) {
  NAME(floats) z, p, q;
  x = NAME(most)(NAME(least)(x, 4), -4);
  z = x * x;
  p = z * -2.72614225801306e-10f + 2.77068142495902e-08f;
  p = p * z - 2.10102402082508e-06f;
  p = p * z - 5.69250639462346e-05f;
  p = p * z - 7.34990630326855e-04f;
  p = p * z - 2.95459980854025e-03f;
  p = p * z - 1.60960333262415e-02f;
  q = z * -1.45660718464996e-05f - 2.13374055278905e-04f;
  q = q * z - 1.68282697438203e-03f;
  q = q * z - 7.37332916720468e-03f;
  q = q * z - 1.42647390514189e-02f;
  return x * p / q;
}

INLINE float NAME(sum)(NAME(floats) v) {
  float sum = 0;
  int i;
  for (i = 0; i < LANES; i++)
    sum += v[i];
  return sum;
}
