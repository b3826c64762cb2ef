/*
 * 8-bit pooling. A maximum needs no scale. If input and output have the same
 * scale and zero, a mean is the sum of the stored values divided by their
 * number, rounded away from 0, as in AVERAGE_POOL_2D of TensorFlow Lite.
 * Otherwise, and for adaptive pooling, it is rounded through float32 like other
 * sums.
 */
#include "q8.h"

struct q8_pool {
  const struct netrt *net;
  struct kernel_map out, in;
  struct kernel_window window;
  int mean, adaptive, counts;
  float scale;
  struct q8_range range;
};

/* Positions inside the map, and the number that counts. */
struct q8_places {
  ptrdiff_t from, to, step, all;
};

static ptrdiff_t count_of(const struct q8_places *p) {
  return p->to > p->from ? (p->to - p->from + p->step - 1) / p->step : 0;
}

static struct q8_places places_at(const struct q8_pool *p, int axis,
                                  ptrdiff_t at) {
  ptrdiff_t in = p->in.size[axis + 1], out = p->out.size[axis + 1], first, tap;
  const struct kernel_window *w = &p->window;
  struct q8_places places;
  places.step = p->adaptive ? 1 : w->dilation[axis];
  places.from =
      p->adaptive ? at * in / out : at * w->stride[axis] - w->before[axis];
  places.to = p->adaptive
                  ? ((at + 1) * in + out - 1) / out
                  : places.from + (w->kernel[axis] - 1) * places.step + 1;
  first = places.from;
  places.to = least(places.to, in);
  while (places.from < 0)
    places.from += places.step;
  places.all = p->counts ? 0 : count_of(&places);
  for (tap = 0; p->counts && tap < w->kernel[axis]; tap++)
    places.all += first + tap * places.step < in + w->after[axis];
  return places;
}

/* Maximum or sum of a channel's values. */
static int32_t gather(const struct q8_pool *pool, const int8_t *in,
                      const struct q8_places p[3]) {
  const ptrdiff_t *stride = pool->in.stride + 1;
  int32_t value = pool->mean ? 0 : INT8_MIN;
  ptrdiff_t d, h, w;
  for (d = p[0].from; d < p[0].to; d += p[0].step)
    for (h = p[1].from; h < p[1].to; h += p[1].step)
      for (w = p[2].from; w < p[2].to; w += p[2].step) {
        int32_t x = in[d * stride[0] + h * stride[1] + w * stride[2]];
        value = pool->mean ? value + x : x > value ? x : value;
      }
  return value;
}

/* The mean of `all` positions, of which `there` are in the sum. */
static int8_t mean_of(const struct q8_pool *p, int32_t sum, int32_t there,
                      int32_t all) {
  int same = p->range.in == p->range.zero && p->scale >= 1 && p->scale <= 1;
  int32_t half;
  if (same && !p->adaptive && all > 0) {
    sum += (all - there) * p->range.in;
    half = sum < 0 ? -all / 2 : all / 2;
    return q8_clamp((sum + half) / all, &p->range);
  }
  return q8_of(sum - there * p->range.in, p->scale / (float)most(all, 1),
               &p->range);
}

static void pool_lines(void *data, ptrdiff_t line, ptrdiff_t to) {
  const struct q8_pool *p = data;
  const struct kernel_map *in = &p->in, *out = &p->out;
  for (; line < to; line++) {
    ptrdiff_t rest = line / out->size[2], batch = rest / out->size[1], w, c;
    const int8_t *from = in->small + batch * in->stride[0];
    int8_t *begin = out->small + batch * out->stride[0];
    struct q8_places places[3];
    places[0] = places_at(p, 0, rest % out->size[1]);
    places[1] = places_at(p, 1, line % out->size[2]);
    begin += rest % out->size[1] * out->stride[1];
    begin += line % out->size[2] * out->stride[2];
    for (w = 0; w < out->size[3]; w++, begin += out->stride[3]) {
      ptrdiff_t there = 1, all = 1;
      int i;
      places[2] = places_at(p, 2, w);
      for (i = 0; i < 3; i++) {
        there *= count_of(&places[i]);
        all *= places[i].all;
      }
      for (c = 0; c < out->size[4]; c++) {
        int32_t value = gather(p, from + c * in->stride[4], places);
        begin[c * out->stride[4]] =
            p->mean ? mean_of(p, value, (int32_t)there, (int32_t)all)
                    : (int8_t)value;
      }
    }
  }
}

static int make_lines(void *user) {
  struct q8_pool *p = user;
  ptrdiff_t lines = p->out.size[0] * p->out.size[1] * p->out.size[2];
  netrt_run_parts(p->net, lines, 1, pool_lines, p);
  return NETRT_OK;
}

static int run_pool(const struct netrt *net, const struct netrt_op *op,
                    int mean, int adaptive) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0), scale;
  const int32_t *args = netrt_args(net, op);
  struct kernel_rows rows;
  struct q8_pool p;
  memset(&p, 0, sizeof p);
  p.net = net;
  p.out = netrt_map_of(&out);
  p.in = netrt_map_of(&in);
  p.mean = mean;
  p.counts = mean && !adaptive && args[0];
  p.adaptive = adaptive;
  if (mean) {
    scale = netrt_in(net, op, 1);
    p.scale = *netrt_floats(&scale);
    p.range = q8_range_of(net, op, 2);
  }
  if (!adaptive)
    p.window = netrt_window_of_pool(args + mean, out.rank - 2);
  rows.out = &p.out;
  rows.in = &p.in;
  rows.window = &p.window;
  rows.make = make_lines;
  rows.user = &p;
  return adaptive ? make_lines(&p) : netrt_by_rows(&rows);
}

#define POOL(id, mean, adaptive)                               \
  static int netrt_reference_##id(const struct netrt *net,     \
                                  const struct netrt_op *op) { \
    return run_pool(net, op, mean, adaptive);                  \
  }                                                            \
  KERNEL(id)

POOL(q8maxpool, 0, 0);
POOL(q8avgpool, 1, 0);
POOL(q8adaptavg, 1, 1);
POOL(q8adaptmax, 0, 1);
