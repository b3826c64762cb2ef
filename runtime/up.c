/* up: a larger map, by nearest values or linear interpolation. */
#include "values.h"

/* Two positions of an axis, and the weight of the second. */
struct up_between {
  ptrdiff_t low, high;
  float part;
};

static struct up_between between_of(ptrdiff_t in, ptrdiff_t out, ptrdiff_t at,
                                    int mode, int align) {
  struct up_between b;
  float place;
  b.low = b.high = at * in / out;
  b.part = 0;
  if (mode == 0 || in == 1)
    return b;
  if (align)
    place = out > 1 ? (float)at * (float)(in - 1) / (float)(out - 1) : 0;
  else
    place = ((float)at + 0.5f) * (float)in / (float)out - 0.5f;
  if (place < 0)
    place = 0;
  b.low = least((ptrdiff_t)place, in - 1);
  b.high = least(b.low + 1, in - 1);
  b.part = place - (float)b.low;
  return b;
}

/* The positions around, and their weights: at most eight. */
struct corners {
  const float *at[8];
  float weight[8];
  int count;
};

static struct corners corners_of(const struct kernel_map *in, const float *from,
                                 const struct up_between b[3]) {
  struct corners c;
  int corner, i;
  c.count = 0;
  for (corner = 0; corner < 8; corner++) {
    float weight = 1;
    const float *at = from;
    for (i = 0; i < 3; i++) {
      int high = corner >> i & 1;
      weight *= high ? b[i].part : 1 - b[i].part;
      at += (high ? b[i].high : b[i].low) * in->stride[i + 1];
    }
    if (weight == 0)
      continue;
    c.at[c.count] = at;
    c.weight[c.count++] = weight;
  }
  return c;
}

struct upsampling {
  struct kernel_map out, in;
  const int32_t *args;
  const struct values *values; /* NULL: plain */
};

static void blend(const struct upsampling *up, float *out,
                  const struct corners *corners) {
  ptrdiff_t c, to = up->out.stride[4], step = up->in.stride[4];
  int k;
#ifdef NETRT_HAS_FAST
  if (up->values) {
    up->values->blend(out, corners->at, corners->weight, corners->count,
                      up->out.size[4]);
    return;
  }
#endif
  for (c = 0; c < up->out.size[4]; c++) {
    float sum = 0;
    for (k = 0; k < corners->count; k++)
      sum += corners->weight[k] * corners->at[k][c * step];
    out[c * to] = sum;
  }
}

/* Computes pixels [pixel, to) of all maps. */
static void up_pixels(void *data, ptrdiff_t pixel, ptrdiff_t to) {
  const struct upsampling *up = data;
  for (; pixel < to; pixel++) {
    struct up_between b[3];
    struct corners corners;
    ptrdiff_t rest = pixel;
    float *out = up->out.data;
    int i;
    for (i = 2; i >= 0; i--) {
      ptrdiff_t at = rest % up->out.size[i + 1];
      rest /= up->out.size[i + 1];
      b[i] = between_of(up->in.size[i + 1], up->out.size[i + 1], at,
                        up->args[0], up->args[1]);
      out += at * up->out.stride[i + 1];
    }
    corners = corners_of(&up->in, up->in.data + rest * up->in.stride[0], b);
    blend(up, out + rest * up->out.stride[0], &corners);
  }
}

static struct upsampling up_of(const struct netrt *net,
                               const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  struct upsampling up;
  up.out = netrt_map_of(&out);
  up.in = netrt_map_of(&in);
  up.args = netrt_args(net, op);
  up.values = NULL;
  return up;
}

static int netrt_reference_up(const struct netrt *net,
                              const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op);
  struct upsampling up = up_of(net, op);
  up_pixels(&up, 0, rows_of(&out, 1));
  return NETRT_OK;
}

KERNEL_FAST(up);

#ifdef NETRT_HAS_FAST
int netrt_fast_up(const struct netrt *net, const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op);
  struct upsampling up = up_of(net, op);
  if (up.out.stride[4] != 1 || up.in.stride[4] != 1)
    return NOT_FOR_ME;
  up.values = netrt_values_of(net);
  netrt_run_parts(net, rows_of(&out, 1), 1 + 4000 / up.out.size[4], up_pixels,
                  &up);
  return NETRT_OK;
}
#endif
