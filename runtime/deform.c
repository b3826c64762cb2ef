/* deformconv: computes torchvision.ops.deform_conv2d. */
#include "conv.h"

struct deforming {
  struct kernel_conv c;
  struct netrt_view offsets, mask;
  int masked;
};

/* Interpolates between four values; outside the map, and at NaN, it is 0. */
static float read_at(const struct kernel_map *in, const float *from, float y,
                     float x) {
  ptrdiff_t i, k, top, left;
  float down, right, sum = 0;
  if (!(y > -1 && y < (float)in->size[2] && x > -1 && x < (float)in->size[3]))
    return 0;
  top = (ptrdiff_t)floorf(y);
  left = (ptrdiff_t)floorf(x);
  down = y - (float)top;
  right = x - (float)left;
  for (i = 0; i < 2; i++)
    for (k = 0; k < 2; k++)
      if (top + i >= 0 && top + i < in->size[2] && left + k >= 0 &&
          left + k < in->size[3])
        sum += (i ? down : 1 - down) * (k ? right : 1 - right) *
               from[(top + i) * in->stride[2] + (left + k) * in->stride[3]];
  return sum;
}

static float beside(const struct netrt_view *view, const ptrdiff_t at[3],
                    ptrdiff_t channel) {
  return netrt_floats(
      view)[at[0] * view->stride[0] + at[1] * view->stride[1] +
            at[2] * view->stride[2] + channel * view->stride[3]];
}

/* Adds tap `tap` of the window at a position to all outputs. */
static void one_tap(const struct deforming *d, const ptrdiff_t at[3],
                    ptrdiff_t tap, float *out) {
  const struct kernel_conv *c = &d->c;
  const struct kernel_window *w = &c->window;
  ptrdiff_t taps = w->kernel[1] * w->kernel[2], i, o;
  ptrdiff_t row = tap / w->kernel[2], column = tap % w->kernel[2];
  ptrdiff_t ins = c->in.size[4], outs = c->out.size[4] / c->groups;
  ptrdiff_t each = ins / (d->offsets.size[3] / (2 * taps));
  const float *weight =
      c->weight + row * c->tap_stride[1] + column * c->tap_stride[2];
  float y = 0, x = 0, counts = 1;
  for (i = 0; i < ins; i++) {
    ptrdiff_t moved = i / each * taps + tap, group = i / (ins / c->groups);
    float value;
    if (i % each == 0) {
      y = (float)(at[1] * w->stride[1] - w->before[1] + row * w->dilation[1]) +
          beside(&d->offsets, at, 2 * moved);
      x = (float)(at[2] * w->stride[2] - w->before[2] +
                  column * w->dilation[2]) +
          beside(&d->offsets, at, 2 * moved + 1);
      counts = d->masked ? beside(&d->mask, at, moved) : 1;
    }
    value = counts *
            read_at(&c->in,
                    c->in.data + at[0] * c->in.stride[0] + i * c->in.stride[4],
                    y, x);
    for (o = group * outs; o < (group + 1) * outs; o++)
      out[o * c->out.stride[4]] +=
          value *
          weight[i % (ins / c->groups) * c->in_stride + o * c->out_stride];
  }
}

static void one_position(const struct deforming *d, const ptrdiff_t at[3]) {
  const struct kernel_conv *c = &d->c;
  float *out = c->out.data + at[0] * c->out.stride[0] +
               at[1] * c->out.stride[2] + at[2] * c->out.stride[3];
  ptrdiff_t o, tap;
  for (o = 0; o < c->out.size[4]; o++)
    out[o * c->out.stride[4]] = c->bias ? c->bias[o * c->bias_stride] : 0;
  for (tap = 0; tap < c->window.kernel[1] * c->window.kernel[2]; tap++)
    one_tap(d, at, tap, out);
}

static int netrt_reference_deformconv(const struct netrt *net,
                                      const struct netrt_op *op) {
  struct deforming d;
  ptrdiff_t at[3];
  d.masked = netrt_args(net, op)[1];
  d.c = conv_at(net, op, (uint32_t)(2 + d.masked), netrt_args(net, op) + 2);
  d.offsets = netrt_in(net, op, 1);
  d.mask = netrt_in(net, op, d.masked ? 2 : 1);
  for (at[0] = 0; at[0] < d.c.out.size[0]; at[0]++)
    for (at[1] = 0; at[1] < d.c.out.size[2]; at[1]++)
      for (at[2] = 0; at[2] < d.c.out.size[3]; at[2]++)
        one_position(&d, at);
  return NETRT_OK;
}

KERNEL(deformconv);
