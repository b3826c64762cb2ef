/*
 * 8-bit transposed convolution. Each output position sums the products of all
 * its taps at once, so that it is rounded once.
 */
#include "q8_conv.h"

/* Input index that a tap of an axis reads for output index `at`; -1: none. */
static ptrdiff_t place_read(const struct q8_conv *c, int axis, ptrdiff_t at,
                            ptrdiff_t tap) {
  const struct kernel_window *w = &c->window;
  ptrdiff_t far = at + w->before[axis] - tap * w->dilation[axis];
  if (far < 0 || far % w->stride[axis])
    return -1;
  far /= w->stride[axis];
  return far < c->in.size[axis + 1] ? far : -1;
}

/* Computes `count` outputs of a group, from `o` on. */
static void some_outputs(const struct q8_conv *c, const ptrdiff_t at[3],
                         const int8_t *in, ptrdiff_t o, int count,
                         int8_t *out) {
  const ptrdiff_t *taps = c->window.kernel, *step = c->in.stride + 1;
  const int8_t *weight = c->weight + o * c->out_stride;
  int32_t sum[4];
  ptrdiff_t d, h, w;
  in += o / c->outs * c->ins * c->in.stride[4];
  q8_begin(c, o, count, sum);
  for (d = 0; d < taps[0]; d++) {
    ptrdiff_t deep = place_read(c, 0, at[0], d);
    for (h = 0; deep >= 0 && h < taps[1]; h++) {
      ptrdiff_t high = place_read(c, 1, at[1], h);
      for (w = 0; high >= 0 && w < taps[2]; w++) {
        ptrdiff_t wide = place_read(c, 2, at[2], w);
        if (wide >= 0)
          q8_add_row(c, in + deep * step[0] + high * step[1] + wide * step[2],
                     weight + d * c->tap_stride[0] + h * c->tap_stride[1] +
                         w * c->tap_stride[2],
                     c->ins, count, sum);
      }
    }
  }
  q8_finish(c, sum, o, count, out);
}

static void deconv_lines(void *data, ptrdiff_t line, ptrdiff_t to) {
  const struct q8_conv *c = data;
  const struct kernel_map *in = &c->in, *out = &c->out;
  for (; line < to; line++) {
    ptrdiff_t rest = line / out->size[2], batch = rest / out->size[1], at[3];
    int8_t *begin = out->small + batch * out->stride[0];
    at[0] = rest % out->size[1];
    at[1] = line % out->size[2];
    begin += at[0] * out->stride[1] + at[1] * out->stride[2];
    for (at[2] = 0; at[2] < out->size[3]; at[2]++, begin += out->stride[3]) {
      ptrdiff_t g, o;
      for (g = 0; g < c->groups; g++)
        for (o = 0; o < c->outs; o += 4)
          some_outputs(c, at, in->small + batch * in->stride[0],
                       g * c->outs + o, (int)least(4, c->outs - o), begin);
    }
  }
}

static int netrt_reference_q8deconv(const struct netrt *net,
                                    const struct netrt_op *op) {
  struct q8_conv c;
  ptrdiff_t lines;
  q8_conv_open(&c, net, op);
  lines = c.out.size[0] * c.out.size[1] * c.out.size[2];
  netrt_run_parts(net, lines, 1, deconv_lines, &c);
  return NETRT_OK;
}

KERNEL(q8deconv);
