/* 8-bit functions of values and pairs, and softmax, with integers. */
#include "q8.h"

/* A table of all 256 values. */
static int netrt_reference_q8table(const struct netrt *net,
                                   const struct netrt_op *op) {
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  struct netrt_view table = netrt_in(net, op, 1);
  const int8_t *to = netrt_bytes(&table) + 128;
  struct kernel_walk walk;
  ptrdiff_t k;
  netrt_walk_open(&walk, views, 2);
  do {
    int8_t *y = netrt_bytes_out(&views[0]) + walk.offset[0];
    const int8_t *x = netrt_bytes(&views[1]) + walk.offset[1];
    for (k = 0; k < walk.length; k++)
      y[k * walk.step[0]] = to[x[k * walk.step[1]]];
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL(q8table);

/* value / 2^by, rounded to the nearest, ties up. */
static int32_t shifted(int32_t value, int by) {
  value += (int32_t)1 << (by - 1);
  return value >= 0 ? value >> by : ~(~value >> by);
}

/* Two inputs walked with the output, and the operation's words; the last three
 * are the output's zero, minimum and maximum. */
struct q8_pairs {
  struct kernel_walk walk;
  int8_t *out;
  const int8_t *a, *b;
  const int32_t *words;
  struct q8_range range;
};

static struct q8_pairs pairs_of(const struct netrt *net,
                                const struct netrt_op *op) {
  struct netrt_view views[3], of_words = netrt_in(net, op, op->ins - 1U);
  struct q8_pairs p;
  const int32_t *last;
  views[0] = netrt_out(net, op);
  views[1] = netrt_in(net, op, 0);
  views[2] = netrt_in(net, op, 1);
  p.out = netrt_bytes_out(&views[0]);
  p.a = netrt_bytes(&views[1]);
  p.b = netrt_bytes(&views[2]);
  p.words = netrt_words(&of_words);
  last = p.words + of_words.size[0] - 3;
  p.range.in = 0;
  p.range.zero = last[0];
  p.range.low = last[1];
  p.range.high = last[2];
  netrt_walk_open(&p.walk, views, 3);
  return p;
}

/* words: zeros, factors, shift */
static int netrt_reference_q8add(const struct netrt *net,
                                 const struct netrt_op *op) {
  struct q8_pairs p = pairs_of(net, op);
  const int32_t *words = p.words;
  ptrdiff_t k;
  do {
    int8_t *y = p.out + p.walk.offset[0];
    const int8_t *a = p.a + p.walk.offset[1], *b = p.b + p.walk.offset[2];
    for (k = 0; k < p.walk.length; k++) {
      int32_t sum = (a[k * p.walk.step[1]] - words[0]) * words[2] +
                    (b[k * p.walk.step[2]] - words[1]) * words[3];
      y[k * p.walk.step[0]] =
          q8_clamp(shifted(sum, words[4]) + p.range.zero, &p.range);
    }
  } while (netrt_walk_next(&p.walk));
  return NETRT_OK;
}

KERNEL(q8add);

/* words: zeros */
static int netrt_reference_q8mul(const struct netrt *net,
                                 const struct netrt_op *op) {
  struct netrt_view scale = netrt_in(net, op, 2);
  struct q8_pairs p = pairs_of(net, op);
  ptrdiff_t k;
  do {
    int8_t *y = p.out + p.walk.offset[0];
    const int8_t *a = p.a + p.walk.offset[1], *b = p.b + p.walk.offset[2];
    for (k = 0; k < p.walk.length; k++)
      y[k * p.walk.step[0]] = q8_of((a[k * p.walk.step[1]] - p.words[0]) *
                                        (b[k * p.walk.step[2]] - p.words[1]),
                                    *netrt_floats(&scale), &p.range);
  } while (netrt_walk_next(&p.walk));
  return NETRT_OK;
}

KERNEL(q8mul);

/* x, or below 0 x times the channel's slope; each has a scale */
static int netrt_reference_q8prelu(const struct netrt *net,
                                   const struct netrt_op *op) {
  struct netrt_view views[3] = {netrt_out(net, op), netrt_in(net, op, 0)};
  struct netrt_view slopes = netrt_in(net, op, 1);
  struct netrt_view scales = netrt_in(net, op, 2);
  struct q8_range range = q8_range_of(net, op, 3);
  const float *by = netrt_floats(&scales);
  struct kernel_along along;
  struct kernel_walk walk;
  ptrdiff_t k;
  netrt_along_last(&along, &slopes, &views[0]);
  views[2] = along.view;
  netrt_walk_open(&walk, views, 3);
  do {
    int8_t *y = netrt_bytes_out(&views[0]) + walk.offset[0];
    const int8_t *in = netrt_bytes(&views[1]) + walk.offset[1];
    const int8_t *slope = netrt_bytes(&views[2]) + walk.offset[2];
    for (k = 0; k < walk.length; k++) {
      int32_t x = in[k * walk.step[1]] - range.in;
      int below = x < 0;
      y[k * walk.step[0]] =
          q8_of(below ? x * slope[k * walk.step[2]] : x, by[below], &range);
    }
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL(q8prelu);

/*
 * exp(-n * scale) in units of 2^-32, as the product of the powers for the bits
 * of n; words[i] is exp(-2^i * scale).
 */
static uint32_t power_of(const uint32_t *words, int n) {
  uint32_t value = UINT32_MAX;
  int i;
  for (i = 0; i < 8; i++)
    if (n >> i & 1)
      value = (uint32_t)(((uint64_t)value * words[i] + 0x80000000U) >> 32);
  return value;
}

/* The output has scale 1/256 and zero -128, as probabilities need. */
static int netrt_reference_q8softmax(const struct netrt *net,
                                     const struct netrt_op *op) {
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  struct netrt_view of_words = netrt_in(net, op, 1);
  const uint32_t *words = (const uint32_t *)(const void *)of_words.data;
  ptrdiff_t n = size_back(&views[0], 0), i;
  ptrdiff_t to = stride_back(&views[0], 0), from = stride_back(&views[1], 0);
  struct kernel_walk walk;
  netrt_walk_open_outer(&walk, views, 2, 1);
  do {
    int8_t *y = netrt_bytes_out(&views[0]) + walk.offset[0];
    const int8_t *x = netrt_bytes(&views[1]) + walk.offset[1];
    int largest = INT8_MIN;
    uint64_t sum = 0;
    for (i = 0; i < n; i++)
      largest = x[i * from] > largest ? x[i * from] : largest;
    for (i = 0; i < n; i++)
      sum += power_of(words, largest - x[i * from]);
    for (i = 0; i < n; i++) {
      uint64_t part = (uint64_t)power_of(words, largest - x[i * from]) << 8;
      int share = (int)((part + sum / 2) / sum);
      y[i * to] = (int8_t)((share > 255 ? 255 : share) - 128);
    }
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL(q8softmax);

/* Pads a map with the zero of its values. */
static int netrt_reference_q8pad(const struct netrt *net,
                                 const struct netrt_op *op) {
  struct netrt_view to = netrt_out(net, op), from = netrt_in(net, op, 0);
  struct netrt_view of_words = netrt_in(net, op, 1);
  const int32_t *before = netrt_args(net, op) + 1;
  struct kernel_map out = netrt_map_of(&to), in = netrt_map_of(&from);
  int8_t zero = (int8_t)netrt_words(&of_words)[0];
  ptrdiff_t line, lines = out.size[0] * out.size[1] * out.size[2], w, c;
  int i, missing = 5 - to.rank;
  ptrdiff_t shift[3];
  for (i = 0; i < 3; i++)
    shift[i] = i >= missing ? before[i - missing] : 0;
  for (line = 0; line < lines; line++) {
    ptrdiff_t h = line % out.size[2], d = line / out.size[2] % out.size[1];
    ptrdiff_t batch = line / out.size[2] / out.size[1];
    int8_t *y = out.small + batch * out.stride[0] + d * out.stride[1] +
                h * out.stride[2];
    const int8_t *x = in.small + batch * in.stride[0];
    int inside = d >= shift[0] && d - shift[0] < in.size[1] && h >= shift[1] &&
                 h - shift[1] < in.size[2];
    x += inside ? (d - shift[0]) * in.stride[1] + (h - shift[1]) * in.stride[2]
                : 0;
    for (w = 0; w < out.size[3]; w++, y += out.stride[3]) {
      ptrdiff_t at = w - shift[2];
      int there = inside && at >= 0 && at < in.size[3];
      for (c = 0; c < out.size[4]; c++)
        y[c * out.stride[4]] =
            there ? x[at * in.stride[3] + c * in.stride[4]] : zero;
    }
  }
  return NETRT_OK;
}

KERNEL(q8pad);
