/* add, sub, mul, div, max, min, prelu: elementwise functions of two values. */
#include "kernel.h"

static float add(float a, float b) {
  return a + b;
}

static float sub(float a, float b) {
  return a - b;
}

static float mul(float a, float b) {
  return a * b;
}

static float larger(float a, float b) {
  return a > b || isnan(a) ? a : b;
}

static float quotient(float a, float b) {
  return a / b;
}

static float smaller(float a, float b) {
  return a < b || isnan(a) ? a : b;
}

static float prelu(float x, float slope) {
  return x > 0 ? x : x * slope;
}

static int each_pair(struct netrt_view views[3],
                     float (*function)(float, float)) {
  struct kernel_walk walk;
  ptrdiff_t k;
  netrt_walk_open(&walk, views, 3);
  do {
    float *out = netrt_floats(&views[0]) + walk.offset[0];
    const float *a = netrt_floats(&views[1]) + walk.offset[1];
    const float *b = netrt_floats(&views[2]) + walk.offset[2];
    for (k = 0; k < walk.length; k++)
      out[k * walk.step[0]] =
          function(a[k * walk.step[1]], b[k * walk.step[2]]);
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

#define BINARY(id, function, kernel)                           \
  static int netrt_reference_##id(const struct netrt *net,     \
                                  const struct netrt_op *op) { \
    struct netrt_view views[3];                                \
    views[0] = netrt_out(net, op);                             \
    views[1] = netrt_in(net, op, 0);                           \
    views[2] = netrt_in(net, op, 1);                           \
    return each_pair(views, function);                         \
  }                                                            \
  kernel(id)

BINARY(add, add, KERNEL_FAST);
BINARY(sub, sub, KERNEL_FAST);
BINARY(mul, mul, KERNEL_FAST);
BINARY(div, quotient, KERNEL);
BINARY(max, larger, KERNEL_FAST);
BINARY(min, smaller, KERNEL);

static int netrt_reference_prelu(const struct netrt *net,
                                 const struct netrt_op *op) {
  struct netrt_view views[3], slope = netrt_in(net, op, 1);
  struct kernel_along along;
  views[0] = netrt_out(net, op);
  views[1] = netrt_in(net, op, 0);
  netrt_along_last(&along, &slope, &views[0]);
  views[2] = along.view;
  return each_pair(views, prelu);
}

KERNEL(prelu);
