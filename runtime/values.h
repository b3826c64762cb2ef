/* Functions of rows that fast kernels share, by instruction set. */
#ifndef NETRT_VALUES_H
#define NETRT_VALUES_H

#include <float.h>

#include "isa.h"

/* The positions of a window inside the map. */
struct pool_window {
  const float *in;
  ptrdiff_t count[3], step[3];
  float factor; /* for a mean: 1 / number of positions */
  int mean;
};

typedef void unary_fn(float *out, const float *in, ptrdiff_t count, float p);
/* Steps are 1 or 0. */
typedef void pairs_fn(float *out, const float *a, const float *b,
                      ptrdiff_t a_step, ptrdiff_t b_step, ptrdiff_t count);

struct values {
#define OP(...)
#define FAST(code, id, reals) unary_fn *id;
#include "ops.def"
#undef OP
  pairs_fn *add, *sub, *mul, *max;
  void (*softmax)(float *out, const float *in, ptrdiff_t n);
  /* scale and shift may be NULL */
  void (*normalise)(float *out, const float *in, ptrdiff_t n,
                    const float *scale, const float *shift, float eps,
                    int centre);
  void (*affine)(float *out, const float *in, const float *scale,
                 const float *shift, ptrdiff_t n);
  void (*blend)(float *out, const float *const *rows, const float *weights,
                int count, ptrdiff_t n);
  void (*pool)(const struct pool_window *window, float *out,
               ptrdiff_t channels);
};

/* The functions for the processor's best instruction set. */
const struct values *netrt_values_of(const struct netrt *net);

/* A function that is applied to values in the cache, or in registers if
 * it only limits them. */
struct kernel_after {
  unary_fn *function; /* NULL: none */
  float p;
  const float *limits; /* minimum and maximum, or NULL */
};

/* The function of net->ahead, if it is one. */
struct kernel_after netrt_after(const struct netrt *net);

#endif
