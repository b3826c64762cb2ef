/* Operands and numbers of a convolution, for plain and fast kernels. */
#ifndef NETRT_CONV_H
#define NETRT_CONV_H

#include "narrow.h"
#include "values.h"

struct kernel_conv {
  struct kernel_map out, in, skip; /* skip.data NULL: nothing to add */
  struct kernel_window window;
  const float *weight, *bias; /* bias NULL: none */
  ptrdiff_t tap_stride[3], in_stride, out_stride, bias_stride;
  ptrdiff_t groups;
#ifdef NETRT_HAS_FAST
  int panels; /* weights are in panels; strides do not apply to panels */
#endif
  struct kernel_after after; /* for fast kernels */
};

/* Reads a convolution whose weights are operand `first` and whose
 * window starts at `args`. */
static inline struct kernel_conv conv_at(const struct netrt *net,
                                         const struct netrt_op *op,
                                         uint32_t first, const int32_t *args) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  struct netrt_view weight = netrt_in(net, op, first), bias;
  struct kernel_conv c;
  int i;
  c.out = netrt_map_of(&out);
  c.in = netrt_map_of(&in);
  c.window = netrt_window_of_conv(args, out.rank - 2);
  c.groups = netrt_args(net, op)[0];
  c.weight = netrt_floats(&weight);
  c.in_stride = stride_back(&weight, 1);
  c.out_stride = stride_back(&weight, 0);
  for (i = 0; i < 3; i++) {
    c.window.kernel[i] = size_back(&weight, 4 - i);
    c.tap_stride[i] = stride_back(&weight, 4 - i);
  }
#ifdef NETRT_HAS_FAST
  c.panels = netrt_in_panels(net, op, first);
#endif
  c.bias = NULL;
  c.bias_stride = 0;
  c.skip.data = NULL;
  c.skip.stride[3] = 0;
  c.after.function = NULL;
  for (first++; first < op->ins; first++) {
    bias = netrt_in(net, op, first);
    if (bias.rank > 1) {
      c.skip = netrt_map_of(&bias);
      continue;
    }
    c.bias = netrt_floats(&bias);
    c.bias_stride = bias.stride[0];
  }
  return c;
}

static inline struct kernel_conv conv_of(const struct netrt *net,
                                         const struct netrt_op *op) {
  return conv_at(net, op, 1, netrt_args(net, op) + 1);
}

static inline float *position_of(const struct kernel_map *map, ptrdiff_t batch,
                                 const ptrdiff_t at[3]) {
  return map->data + batch * map->stride[0] + at[0] * map->stride[1] +
         at[1] * map->stride[2] + at[2] * map->stride[3];
}

/* Advances to the next position in `size`; 0: there is none. */
static inline int next_position(ptrdiff_t at[3], const ptrdiff_t size[3]) {
  int i;
  for (i = 2; i >= 0; i--) {
    if (++at[i] < size[i])
      return 1;
    at[i] = 0;
  }
  return 0;
}

/* Initial sums: bias and skip, which may be the output itself. */
static inline void begin_row(const struct kernel_conv *c, ptrdiff_t batch,
                             const ptrdiff_t at[3], float *out) {
  const float *skip = c->skip.data ? position_of(&c->skip, batch, at) : NULL;
  ptrdiff_t o;
  for (o = 0; o < c->out.size[4]; o++)
    out[o * c->out.stride[4]] = (skip ? skip[o * c->skip.stride[4]] : 0) +
                                (c->bias ? c->bias[o * c->bias_stride] : 0);
}

/* A convolution with narrow weights: their scales are not a bias. */
static inline struct kernel_conv nconv_of(const struct netrt *net,
                                          const struct netrt_op *op,
                                          struct narrow_weights *narrow) {
  struct kernel_conv c = conv_of(net, op);
  uint32_t next;
  *narrow = narrow_of(net, op, 1, &next);
  if (c.bias == narrow->scale)
    c.bias = NULL;
  return c;
}

/* Range [from, to) of the taps inside an axis of `size`. */
static inline void taps_inside(ptrdiff_t first, ptrdiff_t dilation,
                               ptrdiff_t taps, ptrdiff_t size, ptrdiff_t *from,
                               ptrdiff_t *to) {
  *from = first < 0 ? least((-first + dilation - 1) / dilation, taps) : 0;
  *to =
      first >= size ? 0 : least((size - first + dilation - 1) / dilation, taps);
}

/* True if weights are rows of outputs in the order of the taps. */
static inline int weights_are_rows(const struct kernel_conv *c, ptrdiff_t ins) {
  const ptrdiff_t *size = c->window.kernel, *stride = c->tap_stride;
  ptrdiff_t expected = ins * c->in_stride;
  int i;
  for (i = 2; i >= 0; i--) {
    if (size[i] != 1 && stride[i] != expected)
      return 0;
    expected *= size[i];
  }
  return c->out_stride == 1;
}

/* For convolutions with a group for each channel. */
int netrt_fast_depthwise(const struct netrt *net, const struct kernel_conv *c);
/* For groups that are a part of a vector; else returns NOT_FOR_ME. */
int netrt_fast_grouped(const struct netrt *net, const struct kernel_conv *c);

#endif
