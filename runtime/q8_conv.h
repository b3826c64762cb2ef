/* Operands and numbers of an 8-bit convolution, transposed or not. */
#ifndef NETRT_Q8_CONV_H
#define NETRT_Q8_CONV_H

#include "q8.h"

struct q8_conv {
  const struct netrt *net;
  struct kernel_map out, in;
  struct kernel_window window;
  const int8_t *weight;
  const int32_t *bias; /* NULL: none */
  const float *scales;
  struct q8_range range;
  ptrdiff_t tap_stride[3], out_stride, groups;
  ptrdiff_t ins, outs; /* of a group */
};

static inline void q8_conv_open(struct q8_conv *c, const struct netrt *net,
                                const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  struct netrt_view weight = netrt_in(net, op, 1);
  struct netrt_view scales = netrt_in(net, op, 2);
  int i;
  c->net = net;
  c->out = netrt_map_of(&out);
  c->in = netrt_map_of(&in);
  c->window = netrt_window_of_conv(netrt_args(net, op) + 1, out.rank - 2);
  c->groups = netrt_args(net, op)[0];
  c->weight = netrt_bytes(&weight);
  c->scales = netrt_floats(&scales);
  c->bias = q8_bias_of(net, op);
  c->range = q8_range_of(net, op, 3);
  c->ins = size_back(&weight, 1);
  c->outs = size_back(&weight, 0) / c->groups;
  c->out_stride = stride_back(&weight, 0);
  for (i = 0; i < 3; i++) {
    c->window.kernel[i] = size_back(&weight, 4 - i);
    c->tap_stride[i] = stride_back(&weight, 4 - i);
  }
}

/* Adds the products of n values with the weights of `count` outputs, 1 to 4. */
static inline void q8_add_row(const struct q8_conv *c, const int8_t *x,
                              const int8_t *w, ptrdiff_t n, int count,
                              int32_t sum[4]) {
  ptrdiff_t step = c->in.stride[4], next = c->out_stride;
  int k;
  if (count == 4)
    q8_add_four(x, step, c->range.in, w, next, n, sum);
  else
    for (k = 0; k < count; k++)
      sum[k] += q8_product(x, step, c->range.in, w + k * next, n);
}

/* Initial sums of `count` outputs, from output `o` on. */
static inline void q8_begin(const struct q8_conv *c, ptrdiff_t o, int count,
                            int32_t sum[4]) {
  int k;
  for (k = 0; k < count; k++)
    sum[k] = c->bias ? c->bias[o + k] : 0;
}

static inline void q8_finish(const struct q8_conv *c, const int32_t sum[4],
                             ptrdiff_t o, int count, int8_t *out) {
  int k;
  for (k = 0; k < count; k++)
    out[(o + k) * c->out.stride[4]] =
        q8_of(sum[k], c->scales[o + k], &c->range);
}

#endif
