/* Checked 64-bit arithmetic: each function returns false on overflow. */
#ifndef NETC_BASE_CHECK_H
#define NETC_BASE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

static inline bool add_i64(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_add_overflow(a, b, out);
}

static inline bool sub_i64(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_sub_overflow(a, b, out);
}

static inline bool mul_i64(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_mul_overflow(a, b, out);
}

/* *sum += a * b */
static inline bool add_product_i64(int64_t a, int64_t b, int64_t *sum) {
  int64_t product;
  return mul_i64(a, b, &product) && add_i64(*sum, product, sum);
}

/* Division rounded towards minus infinity; b is neither 0 nor -1. */
static inline int64_t floor_div_i64(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static inline int64_t ceil_div_i64(int64_t a, int64_t b) {
  return a / b + (a % b > 0);
}

/* The greatest common divisor; of 0 and b it is b. */
static inline int64_t gcd_i64(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/*
 * `bytes` x `count` / `all` in integers, equal on all machines. Requires 0 <=
 * count <= all and 0 < all. Exact unless the product of `count` and the
 * remainder exceeds 63 bits.
 */
static inline int64_t share_i64(int64_t bytes, int64_t count, int64_t all) {
  int64_t rest = bytes % all, part;
  int64_t whole = count * (bytes / all);
  while (!mul_i64(count, rest, &part)) {
    rest /= 2;
    all /= 2;
  }
  return whole + part / all;
}

static inline int64_t max_i64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static inline int64_t min_i64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Comparison for qsort: negative if `a` comes first. */
static inline int compare_i64(int64_t a, int64_t b) {
  return (a > b) - (a < b);
}

#endif
