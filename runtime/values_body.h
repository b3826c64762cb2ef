/* Functions of values and rows for one instruction set (isa.h). */
#include "vector_body.h"

/* out[i] = expression in x */
#define FUNCTION(id, expression)                                            \
  static TARGET void NAME(id)(float *out, const float *in, ptrdiff_t count, \
                              float p) {                                    \
    ptrdiff_t i;                                                            \
    (void)p;                                                                \
    for (i = 0; i < count; i += LANES) {                                    \
      NAME(floats) x = NAME(load)(in + i, count - i);                       \
      NAME(store)(out + i, expression, count - i);                          \
    }                                                                       \
  }

FUNCTION(relu, NAME(choose)(x < 0, NAME(all)(0), x))
FUNCTION(relu6, NAME(most)(NAME(least)(x, 6), 0))
FUNCTION(leaky, NAME(choose)(x > 0, x, x *p))
FUNCTION(elu, NAME(choose)(x > 0, x, NAME(expm1)(x) * p))
FUNCTION(selu,
         NAME(choose)(x > 0, x, NAME(expm1)(x) * 1.67326324f) * 1.05070099f)
FUNCTION(gelu, x * 0.5f * (NAME(erf)(x * 0.70710678f) + 1))
FUNCTION(sigmoid, 1 / (NAME(exp)(-x) + 1))
/* NaN for -inf, as in PyTorch: exp(inf) is finite here. */
FUNCTION(silu,
         NAME(choose)(x < -FLT_MAX, NAME(all)(NAN), x / (NAME(exp)(-x) + 1)))
FUNCTION(hsigmoid, NAME(most)(NAME(least)(x + 3, 6), 0) / 6)
FUNCTION(hswish, x *NAME(most)(NAME(least)(x + 3, 6), 0) / 6)
FUNCTION(tanh, NAME(tanh_of)(x))
FUNCTION(scale, x *p)

#undef FUNCTION

/* tanh(log(1 + e)) = (e e + 2 e) / (e e + 2 e + 2), e = exp(x) */
static TARGET void NAME(mish)(float *out, const float *in, ptrdiff_t count,
                              float p) {
  ptrdiff_t i;
  (void)p;
  for (i = 0; i < count; i += LANES) {
    NAME(floats) x = NAME(load)(in + i, count - i);
    NAME(floats) e = NAME(exp)(NAME(least)(x, 20)), n = e * (e + 2);
    NAME(store)(out + i, NAME(choose)(x > 20, x, x * n / (n + 2)), count - i);
  }
}

/* Functions of two rows; with a step of 0, one value for all. */
#define PAIRS(id, expression)                                             \
  static TARGET void NAME(id)(float *out, const float *a, const float *b, \
                              ptrdiff_t a_step, ptrdiff_t b_step,         \
                              ptrdiff_t count) {                          \
    NAME(floats) x = NAME(all)(*a), y = NAME(all)(*b);                    \
    ptrdiff_t i;                                                          \
    for (i = 0; i < count; i += LANES) {                                  \
      if (a_step)                                                         \
        x = NAME(load)(a + i, count - i);                                 \
      if (b_step)                                                         \
        y = NAME(load)(b + i, count - i);                                 \
      NAME(store)(out + i, expression, count - i);                        \
    }                                                                     \
  }

PAIRS(add, x + y)
PAIRS(sub, x - y)
PAIRS(mul, x *y)
PAIRS(max, NAME(larger)(x, y))

#undef PAIRS

static TARGET void NAME(softmax)(float *out, const float *in, ptrdiff_t n) {
  NAME(floats) top = NAME(all)(-INFINITY), sums = NAME(all)(0);
  float largest = -INFINITY, sum;
  ptrdiff_t i, whole = n - n % LANES;
  for (i = 0; i < whole; i += LANES)
    top = NAME(larger)(NAME(load)(in + i, LANES), top);
  for (i = 0; i < LANES; i++)
    largest = top[i] > largest || isnan(top[i]) ? top[i] : largest;
  for (i = whole; i < n; i++)
    largest = in[i] > largest ? in[i] : largest;
  for (i = 0; i < whole; i += LANES) {
    NAME(floats) e = NAME(exp)(NAME(load)(in + i, LANES) - largest);
    NAME(store)(out + i, e, LANES);
    sums += e;
  }
  sum = NAME(sum)(sums);
  if (i < n) {
    NAME(floats) e = NAME(exp)(NAME(load)(in + i, n - i) - largest);
    NAME(store)(out + i, e, n - i);
    for (i = 0; i < n - whole; i++)
      sum += e[i];
  }
  sum = 1 / sum;
  for (i = 0; i < n; i += LANES)
    NAME(store)(out + i, NAME(load)(out + i, n - i) * sum, n - i);
}

/* (x - mean) / sqrt(mean of squares + eps); centre 0: the mean is 0. */
static TARGET void NAME(normalise)(float *out, const float *in, ptrdiff_t n,
                                   const float *scale, const float *shift,
                                   float eps, int centre) {
  NAME(floats) sums = NAME(all)(0);
  ptrdiff_t i, whole = n - n % LANES;
  float mean = 0, squares;
  if (centre) {
    for (i = 0; i < whole; i += LANES)
      sums += NAME(load)(in + i, LANES);
    mean = NAME(sum)(sums);
    for (i = whole; i < n; i++)
      mean += in[i];
    mean /= (float)n;
    sums = NAME(all)(0);
  }
  for (i = 0; i < whole; i += LANES) {
    NAME(floats) x = NAME(load)(in + i, LANES) - mean;
    sums += x * x;
  }
  squares = NAME(sum)(sums);
  for (i = whole; i < n; i++)
    squares += (in[i] - mean) * (in[i] - mean);
  squares = 1 / sqrtf(squares / (float)n + eps);
  for (i = 0; i < n; i += LANES) {
    NAME(floats) x = (NAME(load)(in + i, n - i) - mean) * squares;
    if (scale)
      x *= NAME(load)(scale + i, n - i);
    if (shift)
      x += NAME(load)(shift + i, n - i);
    NAME(store)(out + i, x, n - i);
  }
}

/* out = in * scale + shift */
static TARGET void NAME(affine)(float *out, const float *in, const float *scale,
                                const float *shift, ptrdiff_t n) {
  ptrdiff_t i;
  for (i = 0; i < n; i += LANES)
    NAME(store)
  (out + i,
   NAME(load)(in + i, n - i) * NAME(load)(scale + i, n - i) +
       NAME(load)(shift + i, n - i),
   n - i);
}

/* A weighted sum of rows, for up. */
static TARGET void NAME(blend)(float *out, const float *const *rows,
                               const float *weights, int count, ptrdiff_t n) {
  ptrdiff_t i;
  int k;
  for (i = 0; i < n; i += LANES) {
    NAME(floats) sum = NAME(load)(rows[0] + i, n - i) * weights[0];
    for (k = 1; k < count; k++)
      sum += NAME(load)(rows[k] + i, n - i) * weights[k];
    NAME(store)(out + i, sum, n - i);
  }
}

/* Maximum or mean of a window's positions, for all channels. */
static TARGET void NAME(pool)(const struct pool_window *w, float *out,
                              ptrdiff_t channels) {
  ptrdiff_t c, d, h, x;
  for (c = 0; c < channels; c += LANES) {
    NAME(floats) value = NAME(all)(w->mean ? 0 : -INFINITY);
    for (d = 0; d < w->count[0]; d++)
      for (h = 0; h < w->count[1]; h++) {
        const float *at = w->in + d * w->step[0] + h * w->step[1] + c;
        for (x = 0; x < w->count[2]; x++, at += w->step[2]) {
          NAME(floats) v = NAME(load)(at, channels - c);
          value = w->mean ? value + v : NAME(larger)(v, value);
        }
      }
    NAME(store)(out + c, w->mean ? value * w->factor : value, channels - c);
  }
}

static const struct values NAME(values) = {
#define OP(...)
#define FAST(code, id, reals) NAME(id),
#include "ops.def"
#undef OP
    NAME(add),       NAME(sub),    NAME(mul),   NAME(max), NAME(softmax),
    NAME(normalise), NAME(affine), NAME(blend), NAME(pool)};

#undef INLINE
