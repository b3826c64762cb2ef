/*
 * 8-bit up: scale and zero stay. Nearest values are copied; values in between
 * are integer means. Positions and weights are in 1/1024, as in
 * ResizeBilinearInteger() of TensorFlow Lite's reference/resize_bilinear.h.
 * Sums are rounded to the nearest, ties away from 0.
 */
#include "q8.h"

enum { ONE_PLACE = 1024 };

/* Two positions of an axis and their weights. */
struct q8_between {
  ptrdiff_t at[2];
  int32_t part[2];
};

static struct q8_between between_of(ptrdiff_t in, ptrdiff_t out, ptrdiff_t at,
                                    const int32_t *args) {
  struct q8_between b;
  int align = args[1] && out > 1;
  int64_t from = align ? in - 1 : in, to = align ? out - 1 : out;
  int64_t step = (ONE_PLACE * from + to / 2) / to, place;
  b.at[0] = b.at[1] = at * in / out;
  b.part[0] = ONE_PLACE;
  b.part[1] = 0;
  if (args[0] == 0)
    return b;
  place = args[1] ? at * step : at * step + step / 2 - ONE_PLACE / 2;
  b.at[0] = (ptrdiff_t)(place > 0 ? place / ONE_PLACE : 0);
  b.at[0] = least(b.at[0], in - 1);
  b.at[1] = least(b.at[0] + 1, in - 1);
  b.part[1] = (int32_t)(place > 0 ? place - ONE_PLACE * (int64_t)b.at[0] : 0);
  b.part[0] = ONE_PLACE - b.part[1];
  return b;
}

struct q8_up {
  struct kernel_map out, in;
  const int32_t *args;
};

static void blend(const struct q8_up *up, const struct q8_between b[3],
                  const int8_t *in, int8_t *out) {
  const ptrdiff_t *stride = up->in.stride + 1;
  ptrdiff_t c, place[8];
  int32_t part[8];
  int corner, count = 0, i;
  for (corner = 0; corner < 8; corner++) {
    part[count] = 1;
    place[count] = 0;
    for (i = 0; i < 3; i++) {
      int high = corner >> i & 1;
      part[count] *= b[i].part[high];
      place[count] += b[i].at[high] * stride[i];
    }
    count += part[count] != 0;
  }
  for (c = 0; c < up->out.size[4]; c++, in += stride[3]) {
    int64_t sum = 0, half = (int64_t)1 << 29;
    if (count == 1) {
      out[c * up->out.stride[4]] = in[place[0]];
      continue;
    }
    for (i = 0; i < count; i++)
      sum += (int64_t)part[i] * in[place[i]];
    sum = (sum + (sum > 0 ? half : -half)) / ((int64_t)1 << 30);
    out[c * up->out.stride[4]] = (int8_t)sum;
  }
}

/* Computes positions [at, to) of all maps. */
static void up_places(void *data, ptrdiff_t at, ptrdiff_t to) {
  const struct q8_up *up = data;
  for (; at < to; at++) {
    struct q8_between b[3];
    ptrdiff_t rest = at;
    int8_t *out = up->out.small;
    int i;
    for (i = 2; i >= 0; i--) {
      ptrdiff_t size = up->out.size[i + 1];
      b[i] = between_of(up->in.size[i + 1], size, rest % size, up->args);
      out += rest % size * up->out.stride[i + 1];
      rest /= size;
    }
    blend(up, b, up->in.small + rest * up->in.stride[0],
          out + rest * up->out.stride[0]);
  }
}

static int netrt_reference_q8up(const struct netrt *net,
                                const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  struct q8_up up;
  up.out = netrt_map_of(&out);
  up.in = netrt_map_of(&in);
  up.args = netrt_args(net, op);
  netrt_run_parts(net, rows_of(&out, 1), 16, up_places, &up);
  return NETRT_OK;
}

KERNEL(q8up);
