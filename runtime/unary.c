/* relu to softplus, sqrt to pow, scale to atmost: elementwise functions. */
#include "kernel.h"

static float relu6(float x, float p) {
  (void)p;
  return x < 0 ? 0 : x > 6 ? 6 : x;
}

static float leaky(float x, float p) {
  return x > 0 ? x : x * p;
}

static float elu(float x, float p) {
  return x > 0 ? x : p * expm1f(x);
}

static float selu(float x, float p) {
  const float scale = 1.0507009873554804934193349852946f;
  const float alpha = 1.6732632423543772848170429916717f;
  (void)p;
  return scale * (x > 0 ? x : alpha * expm1f(x));
}

static float gelu(float x, float p) {
  (void)p;
  return 0.5f * x * (1 + erff(x * 0.70710678118654752440f));
}

/* Hendrycks and Gimpel 2016, arXiv 1606.08415 */
static float gelu_tanh(float x, float p) {
  const float root = 0.79788456080286535588f;
  (void)p;
  return 0.5f * x * (1 + tanhf(root * (x + 0.044715f * x * x * x)));
}

static float sigmoid(float x, float p) {
  (void)p;
  return 1 / (1 + expf(-x));
}

static float silu(float x, float p) {
  (void)p;
  return x / (1 + expf(-x));
}

/* From 20 on it is x in 32 bits (nn.Softplus). */
static float softplus(float x, float p) {
  (void)p;
  return x > 20 ? x : log1pf(expf(x));
}

static float mish(float x, float p) {
  return x * tanhf(softplus(x, p));
}

static float hsigmoid(float x, float p) {
  return relu6(x + 3, p) / 6;
}

static float hswish(float x, float p) {
  return x * relu6(x + 3, p) / 6;
}

static float hyperbolic(float x, float p) {
  (void)p;
  return tanhf(x);
}

static float scale(float x, float p) {
  return x * p;
}

static float square_root(float x, float p) {
  (void)p;
  return sqrtf(x);
}

static float exponential(float x, float p) {
  (void)p;
  return expf(x);
}

static float logarithm(float x, float p) {
  (void)p;
  return logf(x);
}

static float sine(float x, float p) {
  (void)p;
  return sinf(x);
}

static float cosine(float x, float p) {
  (void)p;
  return cosf(x);
}

static float celu(float x, float p) {
  return x > 0 ? x : p * expm1f(x / p);
}

static float softsign(float x, float p) {
  (void)p;
  return x / (fabsf(x) + 1);
}

static float magnitude(float x, float p) {
  (void)p;
  return fabsf(x);
}

static float negative(float x, float p) {
  (void)p;
  return -x;
}

static float shift(float x, float p) {
  return x + p;
}

static float at_least(float x, float p) {
  return x < p ? p : x;
}

static float at_most(float x, float p) {
  return x > p ? p : x;
}

/* Applies a function; both views may be the same. */
static int each_of(struct netrt_view views[2], float (*function)(float, float),
                   float p) {
  struct kernel_walk walk;
  ptrdiff_t k;
  netrt_walk_open(&walk, views, 2);
  do {
    float *out = netrt_floats(&views[0]) + walk.offset[0];
    const float *in = netrt_floats(&views[1]) + walk.offset[1];
    for (k = 0; k < walk.length; k++)
      out[k * walk.step[0]] = function(in[k * walk.step[1]], p);
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

static int each_value(const struct netrt *net, const struct netrt_op *op,
                      float (*function)(float, float), float p) {
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  return each_of(views, function, p);
}

static int netrt_reference_hardtanh(const struct netrt *net,
                                    const struct netrt_op *op) {
  const float *bounds = netrt_reals(net, op);
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  each_of(views, at_least, bounds[0]);
  views[1] = views[0];
  return each_of(views, at_most, bounds[1]);
}

KERNEL(hardtanh);

#define UNARY(id, function, p)                                 \
  static int netrt_reference_##id(const struct netrt *net,     \
                                  const struct netrt_op *op) { \
    return each_value(net, op, function, p);                   \
  }                                                            \
  KERNEL_FAST(id)

/* Functions of nearly every small net: no call for each value. */
#define INLINED(id, expression)                                              \
  static int netrt_reference_##id(const struct netrt *net,                   \
                                  const struct netrt_op *op) {               \
    struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)}; \
    struct kernel_walk walk;                                                 \
    netrt_walk_open(&walk, views, 2);                                        \
    do {                                                                     \
      float *out = netrt_floats(&views[0]) + walk.offset[0];                 \
      const float *in = netrt_floats(&views[1]) + walk.offset[1];            \
      ptrdiff_t left = walk.length;                                          \
      for (; left > 0; left--, out += walk.step[0]) {                        \
        float x = *in;                                                       \
        in += walk.step[1];                                                  \
        *out = (expression);                                                 \
      }                                                                      \
    } while (netrt_walk_next(&walk));                                        \
    return NETRT_OK;                                                         \
  }                                                                          \
  KERNEL_FAST(id)

INLINED(relu, x < 0 ? 0 : x);
INLINED(relu6, x<0 ? 0 : x> 6 ? 6 : x);

UNARY(leaky, leaky, netrt_reals(net, op)[0]);
UNARY(elu, elu, netrt_reals(net, op)[0]);
UNARY(selu, selu, 0);
UNARY(gelu, gelu, 0);
UNARY(silu, silu, 0);
UNARY(mish, mish, 0);
UNARY(sigmoid, sigmoid, 0);
UNARY(hsigmoid, hsigmoid, 0);
UNARY(hswish, hswish, 0);
UNARY(tanh, hyperbolic, 0);
UNARY(scale, scale, netrt_reals(net, op)[0]);

/* Functions with only the plain form. */
#define PLAIN(id, function, p)                                 \
  static int netrt_reference_##id(const struct netrt *net,     \
                                  const struct netrt_op *op) { \
    return each_value(net, op, function, p);                   \
  }                                                            \
  KERNEL(id)

PLAIN(gelutanh, gelu_tanh, 0);
PLAIN(softplus, softplus, 0);
PLAIN(sqrt, square_root, 0);
PLAIN(exp, exponential, 0);
PLAIN(log, logarithm, 0);
PLAIN(sin, sine, 0);
PLAIN(cos, cosine, 0);
PLAIN(celu, celu, netrt_reals(net, op)[0]);
PLAIN(softsign, softsign, 0);
PLAIN(abs, magnitude, 0);
PLAIN(neg, negative, 0);
PLAIN(pow, powf, netrt_reals(net, op)[0]);
PLAIN(shift, shift, netrt_reals(net, op)[0]);
PLAIN(atleast, at_least, netrt_reals(net, op)[0]);
PLAIN(atmost, at_most, netrt_reals(net, op)[0]);
