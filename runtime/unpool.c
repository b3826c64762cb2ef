/* places, unpool, lrnwithin: windows over a map, by channel. */
#include "kernel.h"

/* The map index of the largest value in the window. */
static int64_t largest_place(const struct kernel_map *in,
                             const struct kernel_window *w, const float *from,
                             const ptrdiff_t at[3]) {
  ptrdiff_t k[3], place[3], index = -1;
  float best = 0;
  int i, inside;
  for (k[0] = 0; k[0] < w->kernel[0]; k[0]++)
    for (k[1] = 0; k[1] < w->kernel[1]; k[1]++)
      for (k[2] = 0; k[2] < w->kernel[2]; k[2]++) {
        const float *x = from;
        inside = 1;
        for (i = 0; i < 3; i++) {
          place[i] =
              at[i] * w->stride[i] - w->before[i] + k[i] * w->dilation[i];
          inside = inside && place[i] >= 0 && place[i] < in->size[i + 1];
          x += inside ? place[i] * in->stride[i + 1] : 0;
        }
        if (!inside || (index >= 0 && !(*x > best || isnan(*x))))
          continue;
        best = *x;
        index = (place[0] * in->size[2] + place[1]) * in->size[3] + place[2];
      }
  return index;
}

static int netrt_reference_places(const struct netrt *net,
                                  const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op), from = netrt_in(net, op, 0);
  struct kernel_map in = netrt_map_of(&from), to = netrt_map_of(&out);
  struct kernel_window w =
      netrt_window_of_pool(netrt_args(net, op), out.rank - 2);
  int64_t *places = (int64_t *)(void *)out.data;
  ptrdiff_t b, c, at[3];
  for (b = 0; b < to.size[0]; b++)
    for (at[0] = 0; at[0] < to.size[1]; at[0]++)
      for (at[1] = 0; at[1] < to.size[2]; at[1]++)
        for (at[2] = 0; at[2] < to.size[3]; at[2]++)
          for (c = 0; c < to.size[4]; c++)
            places[b * to.stride[0] + at[0] * to.stride[1] +
                   at[1] * to.stride[2] + at[2] * to.stride[3] +
                   c * to.stride[4]] =
                largest_place(
                    &in, &w, in.data + b * in.stride[0] + c * in.stride[4], at);
  return NETRT_OK;
}

KERNEL(places);

static void put_zeros(const struct netrt_view *out) {
  struct kernel_walk walk;
  ptrdiff_t k;
  netrt_walk_open(&walk, out, 1);
  do
    for (k = 0; k < walk.length; k++)
      netrt_floats(out)[walk.offset[0] + k * walk.step[0]] = 0;
  while (netrt_walk_next(&walk));
}

/* Copies one value to the map index in `places`. */
static int put_value(const struct kernel_map *out, const struct kernel_map *in,
                     const int64_t *places, const struct kernel_map *at,
                     const ptrdiff_t i[5]) {
  const float *from = in->data;
  float *to = out->data + i[0] * out->stride[0] + i[4] * out->stride[4];
  int64_t place;
  int k;
  for (k = 0; k < 5; k++) {
    from += i[k] * in->stride[k];
    places += i[k] * at->stride[k];
  }
  place = *places;
  if (place < 0 || place >= out->size[1] * out->size[2] * out->size[3])
    return NETRT_BAD_INDEX;
  to += (ptrdiff_t)place % out->size[3] * out->stride[3];
  to += (ptrdiff_t)place / out->size[3] % out->size[2] * out->stride[2];
  to += (ptrdiff_t)place / out->size[3] / out->size[2] * out->stride[1];
  *to = *from;
  return NETRT_OK;
}

static int netrt_reference_unpool(const struct netrt *net,
                                  const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op), from = netrt_in(net, op, 0);
  struct netrt_view where = netrt_in(net, op, 1);
  struct kernel_map to = netrt_map_of(&out), in = netrt_map_of(&from);
  struct kernel_map at = netrt_map_of(&where);
  const int64_t *places = (const int64_t *)(const void *)where.data;
  ptrdiff_t i[5];
  put_zeros(&out);
  for (i[0] = 0; i[0] < in.size[0]; i[0]++)
    for (i[1] = 0; i[1] < in.size[1]; i[1]++)
      for (i[2] = 0; i[2] < in.size[2]; i[2]++)
        for (i[3] = 0; i[3] < in.size[3]; i[3]++)
          for (i[4] = 0; i[4] < in.size[4]; i[4]++) {
            int status = put_value(&to, &in, places, &at, i);
            if (status != NETRT_OK)
              return status;
          }
  return NETRT_OK;
}

KERNEL(unpool);

/* Sum of squares in a window of `size` around a position. */
static float squares_around(const struct kernel_map *in, const float *from,
                            const ptrdiff_t at[3], ptrdiff_t size) {
  ptrdiff_t low[3], high[3], d, h, w;
  float sum = 0;
  int i;
  for (i = 0; i < 3; i++) {
    ptrdiff_t first = at[i] - (in->size[i + 1] > 1 ? (size - 1) / 2 : 0);
    low[i] = most(first, 0);
    high[i] =
        least(in->size[i + 1] > 1 ? first + size : first + 1, in->size[i + 1]);
  }
  for (d = low[0]; d < high[0]; d++)
    for (h = low[1]; h < high[1]; h++)
      for (w = low[2]; w < high[2]; w++) {
        float x =
            from[d * in->stride[1] + h * in->stride[2] + w * in->stride[3]];
        sum += x * x;
      }
  return sum;
}

static int netrt_reference_lrnwithin(const struct netrt *net,
                                     const struct netrt_op *op) {
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  struct kernel_map out = netrt_map_of(&views[0]), in = netrt_map_of(&views[1]);
  const float *reals = netrt_reals(net, op);
  ptrdiff_t size = netrt_args(net, op)[0], b, c, at[3];
  float all = 1;
  int i;
  for (i = 0; i < views[0].rank - 2; i++)
    all *= (float)size;
  for (b = 0; b < out.size[0]; b++)
    for (c = 0; c < out.size[4]; c++)
      for (at[0] = 0; at[0] < out.size[1]; at[0]++)
        for (at[1] = 0; at[1] < out.size[2]; at[1]++)
          for (at[2] = 0; at[2] < out.size[3]; at[2]++) {
            const float *map = in.data + b * in.stride[0] + c * in.stride[4];
            float x = map[at[0] * in.stride[1] + at[1] * in.stride[2] +
                          at[2] * in.stride[3]];
            float sum = squares_around(&in, map, at, size);
            out.data[b * out.stride[0] + at[0] * out.stride[1] +
                     at[1] * out.stride[2] + at[2] * out.stride[3] +
                     c * out.stride[4]] =
                x / powf(reals[2] + reals[0] * sum / all, reals[1]);
          }
  return NETRT_OK;
}

KERNEL(lrnwithin);
