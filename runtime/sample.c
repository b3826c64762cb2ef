/* gridsample: computes torch.nn.functional.grid_sample. */
#include "kernel.h"

enum { LINEAR, NEAREST, CUBIC };
enum { ZEROS, BORDER, REFLECTION };

struct sampling {
  struct kernel_map in, out;
  struct netrt_view places;
  int mode, beyond, align, axes;
};

/* Indices on an axis that a position reads, and their weights. */
struct taps {
  ptrdiff_t at[4];
  float weight[4];
  int count;
};

/* Reflects into [0, size), give or take the border. */
static float reflect(float x, ptrdiff_t size, int align) {
  float low = align ? 0 : -0.5f;
  float span = align ? (float)(size - 1) : (float)size;
  float rest;
  if (span <= 0)
    return 0;
  x = fabsf(x - low);
  rest = fmodf(x, span);
  return (fmodf(floorf(x / span), 2) == 0 ? rest : span - rest) + low;
}

static float bounded(const struct sampling *s, float x, ptrdiff_t size) {
  if (s->beyond == REFLECTION)
    x = reflect(x, size, s->align);
  if (s->beyond != ZEROS)
    x = fminf(fmaxf(x, 0), (float)(size - 1));
  return x > -16777216 && x < 16777216 ? x : -16777216; /* also NaN */
}

/* Adds an index; outside the map its weight is 0. */
static void add_tap(struct taps *taps, float at, float weight, ptrdiff_t size) {
  int within = at >= 0 && at < (float)size;
  taps->at[taps->count] = within ? (ptrdiff_t)at : 0;
  taps->weight[taps->count++] = within ? weight : 0;
}

/* Cubic convolution with a = -0.75 (Keys, 1981). */
static float cubic(float x) {
  const float a = -0.75f;
  x = fabsf(x);
  return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1
                : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

static struct taps taps_of(const struct sampling *s, float place,
                           ptrdiff_t size) {
  struct taps taps = {{0}, {0}, 0};
  float low;
  float x = s->align ? (place + 1) / 2 * (float)(size - 1)
                     : ((place + 1) * (float)size - 1) / 2;
  int i;
  if (s->mode != CUBIC)
    x = bounded(s, x, size);
  low = s->mode == NEAREST ? rintf(x) : floorf(x);
  if (s->mode == NEAREST)
    add_tap(&taps, low, 1, size);
  for (i = 0; s->mode == LINEAR && i < 2; i++)
    add_tap(&taps, low + (float)i, i ? x - low : low + 1 - x, size);
  for (i = -1; s->mode == CUBIC && i < 3; i++)
    add_tap(&taps, bounded(s, low + (float)i, size), cubic(x - low - (float)i),
            size);
  return taps;
}

static float blended(const struct sampling *s, const float *from,
                     const struct taps taps[3]) {
  const ptrdiff_t *step = s->in.stride;
  float sum = 0;
  int i, j, k;
  for (i = 0; i < taps[0].count; i++)
    for (j = 0; j < taps[1].count; j++)
      for (k = 0; k < taps[2].count; k++) {
        float weight =
            taps[0].weight[i] * taps[1].weight[j] * taps[2].weight[k];
        if (weight != 0)
          sum +=
              weight * from[taps[0].at[i] * step[1] + taps[1].at[j] * step[2] +
                            taps[2].at[k] * step[3]];
      }
  return sum;
}

/* Computes all channels of a group at one position. */
static void one_place(const struct sampling *s, ptrdiff_t b, ptrdiff_t group,
                      const ptrdiff_t at[3]) {
  const int32_t *step = s->places.stride;
  ptrdiff_t each = s->in.size[4] / s->places.size[1], c = group * each;
  const float *place = netrt_floats(&s->places) + b * step[0] + group * step[1];
  float *to = s->out.data + b * s->out.stride[0];
  struct taps taps[3];
  int i, axes = s->axes;
  for (i = 0; i < 3; i++) {
    int axis = i - (3 - axes); /* axis of the positions; negative: none */
    taps[i].count = 1;
    taps[i].at[0] = 0;
    taps[i].weight[0] = 1;
    to += at[i] * s->out.stride[i + 1];
    if (axis >= 0)
      place += at[i] * step[2 + axis];
  }
  for (i = 3 - axes; i < 3; i++)
    taps[i] = taps_of(s, place[(2 - i) * step[2 + axes]], s->in.size[i + 1]);
  for (i = 0; i < each; i++, c++)
    to[c * s->out.stride[4]] = blended(
        s, s->in.data + b * s->in.stride[0] + c * s->in.stride[4], taps);
}

static int netrt_reference_gridsample(const struct netrt *net,
                                      const struct netrt_op *op) {
  struct netrt_view in = netrt_in(net, op, 0), out = netrt_out(net, op);
  const int32_t *args = netrt_args(net, op);
  struct sampling s;
  ptrdiff_t b, group, at[3];
  s.in = netrt_map_of(&in);
  s.out = netrt_map_of(&out);
  s.places = netrt_in(net, op, 1);
  s.mode = args[0];
  s.beyond = args[1];
  s.align = args[2];
  s.axes = in.rank - 2;
  for (b = 0; b < s.out.size[0]; b++)
    for (group = 0; group < s.places.size[1]; group++)
      for (at[0] = 0; at[0] < s.out.size[1]; at[0]++)
        for (at[1] = 0; at[1] < s.out.size[2]; at[1]++)
          for (at[2] = 0; at[2] < s.out.size[3]; at[2]++)
            one_place(&s, b, group, at);
  return NETRT_OK;
}

KERNEL(gridsample);
