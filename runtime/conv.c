/*
 * Convolution and its transpose, plain: any strides, one to three axes, groups.
 * If values are contiguous, sums stay in registers.
 */
#include "conv.h"

static const float *tap_of(const struct kernel_conv *c,
                           const ptrdiff_t tap[3]) {
  return c->weight + tap[0] * c->tap_stride[0] + tap[1] * c->tap_stride[1] +
         tap[2] * c->tap_stride[2];
}

/* Adds the products of the inputs at one position to the outputs at another. */
static void spread(const struct kernel_conv *c, const float *in,
                   const float *weight, float *out) {
  ptrdiff_t ins = c->in.size[4] / c->groups, outs = c->out.size[4] / c->groups;
  ptrdiff_t step = c->out_stride, to = c->out.stride[4];
  ptrdiff_t g, i, o;
  for (g = 0; g < c->groups; g++) {
    const float *from = in + g * ins * c->in.stride[4];
    const float *matrix = weight + g * outs * step;
    float *sums = out + g * outs * to;
    if (step == 1 && to == 1 && c->in.stride[4] == 1) {
      netrt_add_product(sums, from, matrix, ins, c->in_stride, outs);
      continue;
    }
    for (i = 0; i < ins; i++)
      for (o = 0; o < outs; o++)
        sums[o * to] +=
            from[i * c->in.stride[4]] * matrix[i * c->in_stride + o * step];
  }
}

/* The taps of a position that are inside the map, from the first one on. */
struct conv_taps {
  const float *in, *weight;
  ptrdiff_t count[3];
};

static struct conv_taps taps_of(const struct kernel_conv *c, ptrdiff_t batch,
                                const ptrdiff_t at[3]) {
  const struct kernel_window *w = &c->window;
  struct conv_taps taps;
  ptrdiff_t first[3], from[3];
  int i;
  for (i = 0; i < 3; i++) {
    first[i] = at[i] * w->stride[i] - w->before[i];
    taps_inside(first[i], w->dilation[i], w->kernel[i], c->in.size[i + 1],
                &from[i], &taps.count[i]);
    taps.count[i] -= from[i];
    first[i] += from[i] * w->dilation[i];
  }
  taps.in = position_of(&c->in, batch, first);
  taps.weight = tap_of(c, from);
  return taps;
}

/* The same for contiguous values and weights: the number of taps, the values of
 * each, and their strides. */
struct dense_taps {
  ptrdiff_t count[3], ins, row, map[3], tap[3];
};

static int is_dense_conv(const struct kernel_conv *c) {
  return c->out_stride == 1 && c->in.stride[4] == 1 && c->out.stride[4] == 1;
}

static struct dense_taps dense_taps_of(const struct kernel_conv *c,
                                       const struct conv_taps *taps) {
  struct dense_taps d;
  int i;
  for (i = 0; i < 3; i++) {
    d.count[i] = taps->count[i];
    d.map[i] = c->window.dilation[i] * c->in.stride[i + 1];
    d.tap[i] = c->tap_stride[i];
  }
  d.ins = c->in.size[4] / c->groups;
  d.row = c->in_stride;
  /* Taps of a line that are contiguous, with their weights, become one. */
  if (d.count[2] > 0 && d.map[2] == d.ins && d.tap[2] == d.ins * d.row &&
      c->groups == 1) {
    d.ins *= d.count[2];
    d.count[2] = 1;
  }
  return d;
}

/* Sums for several outputs in registers: of one group, or of groups with one
 * channel (`OF_OWN_GROUPS`). */
#define EIGHT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define FOUR(X) X(0) X(1) X(2) X(3)
#define ONE(X) X(0)
#define BEGIN(o) float sum##o = out[o];
#define ADD(o) sum##o += value * weight[o];
#define ADD_OWN(o) sum##o += in[o] * weight[o];
#define END(o) out[o] = sum##o;
#define OF_A_GROUP(EACH)                      \
  const float *from = in, *end = in + d->ins; \
  const float *weight = row;                  \
  do {                                        \
    float value = *from++;                    \
    EACH(ADD)                                 \
    weight += d->row;                         \
  } while (from != end);
#define OF_OWN_GROUPS(EACH)  \
  const float *weight = row; \
  EACH(ADD_OWN)
#define ADD_TAPS(id, EACH, ADD_TAP)                                            \
  static void id(const struct dense_taps *d, const float *plane,               \
                 const float *weights, float *out) {                           \
    ptrdiff_t z, y, x;                                                         \
    EACH(BEGIN)                                                                \
    for (z = d->count[0]; z > 0; z--) {                                        \
      const float *line = plane, *rows = weights;                              \
      for (y = d->count[1]; y > 0; y--) {                                      \
        const float *in = line, *row = rows;                                   \
        for (x = d->count[2]; x > 0; x--, in += d->map[2], row += d->tap[2]) { \
          ADD_TAP(EACH)                                                        \
        }                                                                      \
        line += d->map[1];                                                     \
        rows += d->tap[1];                                                     \
      }                                                                        \
      plane += d->map[0];                                                      \
      weights += d->tap[0];                                                    \
    }                                                                          \
    EACH(END)                                                                  \
  }

ADD_TAPS(add_eight, EIGHT, OF_A_GROUP)
ADD_TAPS(add_four, FOUR, OF_A_GROUP)
ADD_TAPS(add_one, ONE, OF_A_GROUP)
ADD_TAPS(add_eight_groups, EIGHT, OF_OWN_GROUPS)
ADD_TAPS(add_one_group, ONE, OF_OWN_GROUPS)

static void dense_group(const struct dense_taps *d, ptrdiff_t outs,
                        const float *in, const float *weight, float *out) {
  ptrdiff_t o = 0;
  for (; o + 8 <= outs; o += 8)
    add_eight(d, in, weight + o, out + o);
  for (; o + 4 <= outs; o += 4)
    add_four(d, in, weight + o, out + o);
  for (; o < outs; o++)
    add_one(d, in, weight + o, out + o);
}

static void dense_position(const struct kernel_conv *c,
                           const struct conv_taps *taps, float *out) {
  struct dense_taps d = dense_taps_of(c, taps);
  ptrdiff_t outs = c->out.size[4] / c->groups, g = 0;
  /* With one group the taps of a line are merged: not for that case. */
  if (outs == 1 && c->groups > 1 && c->groups == c->in.size[4]) {
    for (; g + 8 <= c->groups; g += 8)
      add_eight_groups(&d, taps->in + g, taps->weight + g, out + g);
    for (; g < c->groups; g++)
      add_one_group(&d, taps->in + g, taps->weight + g, out + g);
    return;
  }
  for (; g < c->groups; g++)
    dense_group(&d, outs, taps->in + g * d.ins, taps->weight + g * outs,
                out + g * outs);
}

static void conv_position(const struct kernel_conv *c, ptrdiff_t batch,
                          const ptrdiff_t at[3]) {
  const ptrdiff_t *apart = c->window.dilation;
  float *out = position_of(&c->out, batch, at);
  struct conv_taps taps = taps_of(c, batch, at);
  ptrdiff_t z, y, x;
  begin_row(c, batch, at, out);
  if (is_dense_conv(c)) {
    dense_position(c, &taps, out);
    return;
  }
  for (z = 0; z < taps.count[0]; z++)
    for (y = 0; y < taps.count[1]; y++)
      for (x = 0; x < taps.count[2]; x++)
        spread(c,
               taps.in + z * apart[0] * c->in.stride[1] +
                   y * apart[1] * c->in.stride[2] +
                   x * apart[2] * c->in.stride[3],
               taps.weight + z * c->tap_stride[0] + y * c->tap_stride[1] +
                   x * c->tap_stride[2],
               out);
}

static void make_outputs(const struct kernel_conv *c) {
  ptrdiff_t batch;
  for (batch = 0; batch < c->out.size[0]; batch++) {
    ptrdiff_t at[3] = {0, 0, 0};
    do
      conv_position(c, batch, at);
    while (next_position(at, c->out.size + 1));
  }
}

#ifdef NETRT_HAS_PANELS
/* A convolution of the outputs in one panel. */
static struct kernel_conv panel_of(const struct kernel_conv *c,
                                   ptrdiff_t first) {
  struct kernel_conv part = *c;
  ptrdiff_t ins = c->in.size[4], i;
  part.out.size[4] = least(NETRT_PANEL, c->out.size[4] - first);
  part.out.data += first * c->out.stride[4];
  if (c->skip.data)
    part.skip.data += first * c->skip.stride[4];
  if (c->bias)
    part.bias += first * c->bias_stride;
  part.in_stride = part.out.size[4];
  for (i = 2; i >= 0; ins *= c->window.kernel[i--])
    part.tap_stride[i] = ins * part.in_stride;
  part.weight += first * ins;
  return part;
}
#endif

static int make_positions(void *user) {
  const struct kernel_conv *c = user;
#ifdef NETRT_HAS_PANELS
  ptrdiff_t first;
  for (first = 0; c->panels && first < c->out.size[4]; first += NETRT_PANEL) {
    struct kernel_conv part = panel_of(c, first);
    make_outputs(&part);
  }
  if (c->panels)
    return NETRT_OK;
#endif
  make_outputs(c);
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
      begin_row(&c, batch, at, position_of(&c.out, batch, at));
    while (next_position(at, c.out.size + 1));
    do
      deconv_position(&c, batch, at);
    while (next_position(at, c.in.size + 1));
  }
  return NETRT_OK;
}

KERNEL_FAST(deconv);
