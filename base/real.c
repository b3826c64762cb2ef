/*
 * Numbers are sums of two doubles, with about 100 bits (T. J. Dekker, "A
 * floating-point technique for extending the available precision", 1971). Small
 * arguments make the series converge fast.
 */
#if defined __i386__ && defined __GNUC__ && !defined __clang__
/* The x87 does not round to the bits of a double. */
#pragma GCC target("sse2,fpmath=sse")
#endif
#include "base/real.h"

#include <math.h>
#include <stdbool.h>

/* `low` is the rounding error of `high`. */
struct real_pair {
  double high, low;
};

static const struct real_pair ln_2 = {0x1.62e42fefa39efp-1,
                                      0x1.abc9e3b39803fp-56};
static const struct real_pair log2_e = {0x1.71547652b82fep+0,
                                        0x1.777d0ffda0d24p-56};
static const struct real_pair log10_2 = {0x1.34413509f79ffp-2,
                                         -0x1.9dc1da994fd21p-59};

/* |a| >= |b| */
static struct real_pair ordered_sum(double a, double b) {
  double high = a + b;
  return (struct real_pair){high, b - (high - a)};
}

static struct real_pair sum(double a, double b) {
  double high = a + b, part = high - a;
  return (struct real_pair){high, (a - (high - part)) + (b - part)};
}

static struct real_pair product(double a, double b) {
  double a_cut = a * 134217729, b_cut = b * 134217729; /* 2^27 + 1 */
  double a_high = a_cut - (a_cut - a), b_high = b_cut - (b_cut - b);
  double a_low = a - a_high, b_low = b - b_high, high = a * b;
  return (struct real_pair){
      high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) +
                a_low * b_low};
}

static struct real_pair add(struct real_pair a, struct real_pair b) {
  struct real_pair high = sum(a.high, b.high), low = sum(a.low, b.low);
  high = ordered_sum(high.high, high.low + low.high);
  return ordered_sum(high.high, high.low + low.low);
}

static struct real_pair multiply(struct real_pair a, struct real_pair b) {
  struct real_pair p = product(a.high, b.high);
  return ordered_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

static struct real_pair divide(struct real_pair a, struct real_pair b) {
  double first = a.high / b.high;
  struct real_pair part = multiply(b, (struct real_pair){-first, 0});
  struct real_pair rest = add(a, part);
  return ordered_sum(first, rest.high / b.high);
}

/* ln(m) = 2 artanh(s), s = (m - 1) / (m + 1). With m from sqrt(1/2) to sqrt(2),
 * s^2 is below 0.03. */
static struct real_pair log2_of(double value) {
  int exponent;
  double m = frexp(value, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    exponent--;
  }
  struct real_pair s = divide((struct real_pair){m - 1, 0}, sum(m, 1));
  struct real_pair square = multiply(s, s), series = {0, 0};
  for (int k = 43; k > 0; k -= 2)
    series = add(multiply(series, square),
                 divide((struct real_pair){2, 0}, (struct real_pair){k, 0}));
  struct real_pair ln = multiply(series, s);
  return add((struct real_pair){exponent, 0}, multiply(ln, log2_e));
}

/* 2^x = 2^round(x) times a series in the remainder. */
static double exp2_of(struct real_pair x) {
  if (x.high >= 1025 || x.high < -1080)
    return x.high > 0 ? (double)INFINITY : 0;
  double whole = floor(x.high + 0.5);
  struct real_pair rest = add(x, (struct real_pair){-whole, 0});
  struct real_pair result = {1, 0};
  rest = multiply(rest, ln_2);
  for (int k = 25; k > 0; k--)
    result = add((struct real_pair){1, 0},
                 multiply(divide(rest, (struct real_pair){k, 0}), result));
  return ldexp(result.high, (int)whole);
}

double real_log2(double value) {
  if (value > 0 && !isinf(value))
    return log2_of(value).high;
  return value < 0 ? (double)NAN : value == 0 ? -(double)INFINITY : value;
}

double real_log10(double value) {
  return multiply(log2_of(value), log10_2).high;
}

double real_pow(double base, double exponent) {
  double size = fabs(base);
  bool whole = floor(exponent) == exponent;
  bool odd = whole && fmod(exponent, 2) != 0;
  double result;
  if (exponent == 0 || base == 1)
    return 1;
  if (isnan(base) || isnan(exponent))
    return base + exponent;
  if (fabs(exponent) > 0x1p80) /* infinities, and exponents that give them */
    return size == 1 ? 1 : (size > 1) == (exponent > 0) ? (double)INFINITY : 0;
  if (size == 0 || isinf(size))
    result = (size == 0) == (exponent < 0) ? (double)INFINITY : 0;
  else if (base < 0 && !whole)
    return (double)NAN;
  else
    result = exp2_of(multiply(log2_of(size), (struct real_pair){exponent, 0}));
  return odd && signbit(base) ? -result : result;
}
