/*
 * Convolution and its transpose, plain: any strides, one to three axes,
 * groups. Each input value is spread over a row of outputs, whose weights lie
 * one after the other.
 */
#include "conv.h"

static float *position_of(const struct kernel_map *map, ptrdiff_t batch,
                          const ptrdiff_t at[3]) {
  return map->data + batch * map->stride[0] + at[0] * map->stride[1] +
         at[1] * map->stride[2] + at[2] * map->stride[3];
}

static const float *tap_of(const struct kernel_conv *c,
                           const ptrdiff_t tap[3]) {
  return c->weight + tap[0] * c->tap_stride[0] + tap[1] * c->tap_stride[1] +
         tap[2] * c->tap_stride[2];
}

/* The next of all positions in `size`; 0: there is none. */
static int next_position(ptrdiff_t at[3], const ptrdiff_t size[3]) {
  int i;
  for (i = 2; i >= 0; i--) {
    if (++at[i] < size[i])
      return 1;
    at[i] = 0;
  }
  return 0;
}

static void begin_row(const struct kernel_conv *c, float *out) {
  ptrdiff_t o;
  for (o = 0; o < c->out.size[4]; o++)
    out[o * c->out.stride[4]] = c->bias ? c->bias[o * c->bias_stride] : 0;
}

/* Adds what the inputs of one position give the outputs of another. */
static void spread(const struct kernel_conv *c, const float *in,
                   const float *weight, float *out) {
  ptrdiff_t ins = c->in.size[4] / c->groups, outs = c->out.size[4] / c->groups;
  ptrdiff_t step = c->out_stride, to = c->out.stride[4];
  ptrdiff_t g, i, o;
  for (g = 0; g < c->groups; g++)
    for (i = 0; i < ins; i++) {
      float value = in[(g * ins + i) * c->in.stride[4]];
      const float *row = weight + i * c->in_stride + g * outs * step;
      float *sums = out + g * outs * to;
      if (step == 1 && to == 1)
        for (o = 0; o < outs; o++)
          sums[o] += value * row[o];
      else
        for (o = 0; o < outs; o++)
          sums[o * to] += value * row[o * step];
    }
}

static void conv_position(const struct kernel_conv *c, ptrdiff_t batch,
                          const ptrdiff_t at[3]) {
  const struct kernel_window *w = &c->window;
  float *out = position_of(&c->out, batch, at);
  ptrdiff_t tap[3] = {0, 0, 0}, from[3];
  begin_row(c, out);
  do {
    int i, inside = 1;
    for (i = 0; i < 3; i++) {
      from[i] = at[i] * w->stride[i] - w->before[i] + tap[i] * w->dilation[i];
      inside = inside && from[i] >= 0 && from[i] < c->in.size[i + 1];
    }
    if (inside)
      spread(c, position_of(&c->in, batch, from), tap_of(c, tap), out);
  } while (next_position(tap, w->kernel));
}

static int make_positions(void *user) {
  const struct kernel_conv *c = user;
  ptrdiff_t batch;
  for (batch = 0; batch < c->out.size[0]; batch++) {
    ptrdiff_t at[3] = {0, 0, 0};
    do
      conv_position(c, batch, at);
    while (next_position(at, c->out.size + 1));
  }
  return NETRT_OK;
}

static int netrt_reference_conv(const struct netrt *net,
                                const struct netrt_op *op) {
  struct kernel_conv c = conv_of(net, op);
  struct kernel_rows rows;
  rows.out = &c.out;
  rows.in = &c.in;
  rows.window = &c.window;
  rows.make = make_positions;
  rows.user = &c;
  return netrt_by_rows(&rows);
}

KERNEL_FAST(conv);

/* out[at * stride - before + tap * dilation] += in[at] * weight[tap] */
static void deconv_position(const struct kernel_conv *c, ptrdiff_t batch,
                            const ptrdiff_t at[3]) {
  const struct kernel_window *w = &c->window;
  const float *in = position_of(&c->in, batch, at);
  ptrdiff_t tap[3] = {0, 0, 0}, to[3];
  do {
    int i, inside = 1;
    for (i = 0; i < 3; i++) {
      to[i] = at[i] * w->stride[i] - w->before[i] + tap[i] * w->dilation[i];
      inside = inside && to[i] >= 0 && to[i] < c->out.size[i + 1];
    }
    if (inside)
      spread(c, in, tap_of(c, tap), position_of(&c->out, batch, to));
  } while (next_position(tap, w->kernel));
}

static int netrt_reference_deconv(const struct netrt *net,
                                  const struct netrt_op *op) {
  struct kernel_conv c = conv_of(net, op);
  ptrdiff_t batch;
  for (batch = 0; batch < c.out.size[0]; batch++) {
    ptrdiff_t at[3] = {0, 0, 0};
    do
      begin_row(&c, position_of(&c.out, batch, at));
    while (next_position(at, c.out.size + 1));
    do
      deconv_position(&c, batch, at);
    while (next_position(at, c.in.size + 1));
  }
  return NETRT_OK;
}

KERNEL_FAST(deconv);
