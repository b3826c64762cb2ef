/*
 * 8-bit convolution. The sums of four outputs stay in registers over a row of
 * the window; in a depthwise one, those of four channels.
 */
#include "q8_conv.h"

/* The taps of a position inside the map, by axis. */
struct q8_taps {
  ptrdiff_t from[3], to[3];
  const int8_t *in; /* the first tap, even if it is outside */
  ptrdiff_t step[3];
};

static void find_taps(const struct q8_conv *c, const ptrdiff_t at[3],
                      const int8_t *in, struct q8_taps *taps) {
  const struct kernel_window *w = &c->window;
  int i;
  taps->in = in;
  for (i = 0; i < 3; i++) {
    ptrdiff_t first = at[i] * w->stride[i] - w->before[i];
    ptrdiff_t step = w->dilation[i], size = c->in.size[i + 1];
    ptrdiff_t from = first < 0 ? (-first + step - 1) / step : 0;
    ptrdiff_t to = first < size ? (size - 1 - first) / step + 1 : 0;
    taps->from[i] = from;
    taps->to[i] = least(to, w->kernel[i]);
    taps->in += first * c->in.stride[i + 1];
    taps->step[i] = step * c->in.stride[i + 1];
  }
}

/* Adds a row of taps along the last axis. */
static void add_taps(const struct q8_conv *c, const struct q8_taps *t,
                     const int8_t *in, const int8_t *w, int count,
                     int32_t sum[4]) {
  ptrdiff_t n = c->ins, each = c->tap_stride[2], k;
  ptrdiff_t from = t->from[2], to = t->to[2];
  if (from < to && each == n && t->step[2] == n * c->in.stride[4])
    q8_add_row(c, in + from * t->step[2], w + from * each, (to - from) * n,
               count, sum); /* contiguous taps are one row */
  else
    for (k = from; k < to; k++)
      q8_add_row(c, in + k * t->step[2], w + k * each, n, count, sum);
}

/* Computes `count` outputs of a group, from `o` on. */
static void some_outputs(const struct q8_conv *c, const struct q8_taps *t,
                         ptrdiff_t o, int count, int8_t *out) {
  const int8_t *in = t->in + o / c->outs * c->ins * c->in.stride[4];
  const int8_t *weight = c->weight + o * c->out_stride;
  int32_t sum[4];
  ptrdiff_t d, h;
  q8_begin(c, o, count, sum);
  for (d = t->from[0]; d < t->to[0]; d++)
    for (h = t->from[1]; h < t->to[1]; h++)
      add_taps(c, t, in + d * t->step[0] + h * t->step[1],
               weight + d * c->tap_stride[0] + h * c->tap_stride[1], count,
               sum);
  q8_finish(c, sum, o, count, out);
}

static void mixed_position(const struct q8_conv *c, const struct q8_taps *t,
                           int8_t *out) {
  ptrdiff_t g, o;
  for (g = 0; g < c->groups; g++)
    for (o = 0; o < c->outs; o += 4)
      some_outputs(c, t, g * c->outs + o, (int)least(4, c->outs - o), out);
}

/* Computes four depthwise channels with contiguous weights. */
static void four_channels(const struct q8_conv *c, const struct q8_taps *t,
                          ptrdiff_t o, int8_t *out) {
  const int8_t *in = t->in + o * c->in.stride[4];
  ptrdiff_t next = c->in.stride[4], d, h, w;
  int32_t zero = c->range.in, sum[4];
  struct q8_four four;
  q8_begin(c, o, 4, sum);
  four = q8_four_of(sum);
  for (d = t->from[0]; d < t->to[0]; d++)
    for (h = t->from[1]; h < t->to[1]; h++) {
      const int8_t *x = in + d * t->step[0] + h * t->step[1];
      const int8_t *y =
          c->weight + o + d * c->tap_stride[0] + h * c->tap_stride[1];
      for (w = t->from[2]; w < t->to[2]; w++)
        q8_add_channels(x + w * t->step[2], next, zero,
                        y + w * c->tap_stride[2], &four);
    }
  q8_four_put(&four, sum);
  q8_finish(c, sum, o, 4, out);
}

/* Computes one output of one input channel. */
static void one_channel(const struct q8_conv *c, const struct q8_taps *t,
                        ptrdiff_t o, int8_t *out) {
  const int8_t *in = t->in + o / c->outs * c->in.stride[4];
  int32_t sum[4];
  ptrdiff_t d, h;
  q8_begin(c, o, 1, sum);
  for (d = t->from[0]; d < t->to[0]; d++)
    for (h = t->from[1]; h < t->to[1]; h++) {
      ptrdiff_t w;
      for (w = t->from[2]; w < t->to[2]; w++)
        sum[0] += (in[d * t->step[0] + h * t->step[1] + w * t->step[2]] -
                   c->range.in) *
                  c->weight[o + d * c->tap_stride[0] + h * c->tap_stride[1] +
                            w * c->tap_stride[2]];
    }
  q8_finish(c, sum, o, 1, out);
}

static void apart_position(const struct q8_conv *c, const struct q8_taps *t,
                           int8_t *out) {
  ptrdiff_t o = 0, all = c->out.size[4];
  if (c->outs == 1)
    for (; o + 4 <= all; o += 4)
      four_channels(c, t, o, out);
  for (; o < all; o++)
    one_channel(c, t, o, out);
}

/* Computes lines of the output. */
static void conv_lines(void *data, ptrdiff_t line, ptrdiff_t to) {
  const struct q8_conv *c = data;
  const struct kernel_map *in = &c->in, *out = &c->out;
  for (; line < to; line++) {
    ptrdiff_t rest = line / out->size[2], batch = rest / out->size[1], at[3];
    const int8_t *from = in->small + batch * in->stride[0];
    int8_t *begin = out->small + batch * out->stride[0];
    at[1] = line % out->size[2];
    at[0] = rest % out->size[1];
    begin += at[0] * out->stride[1] + at[1] * out->stride[2];
    for (at[2] = 0; at[2] < out->size[3]; at[2]++, begin += out->stride[3]) {
      struct q8_taps taps;
      find_taps(c, at, from, &taps);
      if (c->ins == 1 && c->out_stride == 1)
        apart_position(c, &taps, begin);
      else
        mixed_position(c, &taps, begin);
    }
  }
}

static int make_lines(void *user) {
  struct q8_conv *c = user;
  ptrdiff_t lines = c->out.size[0] * c->out.size[1] * c->out.size[2];
  netrt_run_parts(c->net, lines, 1, conv_lines, c);
  return NETRT_OK;
}

static int netrt_reference_q8conv(const struct netrt *net,
                                  const struct netrt_op *op) {
  struct kernel_rows rows;
  struct q8_conv c;
  q8_conv_open(&c, net, op);
  rows.out = &c.out;
  rows.in = &c.in;
  rows.window = &c.window;
  rows.make = make_lines;
  rows.user = &c;
  return netrt_by_rows(&rows);
}

KERNEL(q8conv);
