/*
 * Pooling: maximum or mean of windows, given or adaptive. The fast form handles
 * all channels of a position together.
 */
#include "values.h"

struct pool {
  const struct netrt *net;
  struct kernel_map out, in;
  struct kernel_window window;
  int mean, adaptive, counts;
  const struct values *values; /* NULL: plain */
};

/* Positions [from, to) of an axis by `step`, and their number
 * including padding. */
struct pool_places {
  ptrdiff_t from, to, step, all;
};

/* floor(i I / O) to ceil((i + 1) I / O) */
static struct pool_places adaptive_places(ptrdiff_t in, ptrdiff_t out,
                                          ptrdiff_t at) {
  struct pool_places p;
  p.from = at * in / out;
  p.to = ((at + 1) * in + out - 1) / out;
  p.step = 1;
  p.all = p.to - p.from;
  return p;
}

static struct pool_places window_places(const struct kernel_window *w, int axis,
                                        ptrdiff_t in, ptrdiff_t at) {
  struct pool_places p;
  ptrdiff_t from = at * w->stride[axis] - w->before[axis], tap;
  p.step = w->dilation[axis];
  p.to = least(from + (w->kernel[axis] - 1) * p.step + 1, in);
  p.from = from;
  while (p.from < 0)
    p.from += p.step;
  p.all = 0;
  for (tap = 0; tap < w->kernel[axis]; tap++)
    p.all += from + tap * p.step < in + w->after[axis];
  return p;
}

static ptrdiff_t count_places(const struct pool_places *p) {
  return p->to > p->from ? (p->to - p->from + p->step - 1) / p->step : 0;
}

static float pool_value(const struct pool *pool, const float *in,
                        const struct pool_places *p) {
  const ptrdiff_t *stride = pool->in.stride + 1;
  float value = pool->mean ? 0 : -INFINITY;
  ptrdiff_t d, h, w;
  for (d = p[0].from; d < p[0].to; d += p[0].step)
    for (h = p[1].from; h < p[1].to; h += p[1].step)
      for (w = p[2].from; w < p[2].to; w += p[2].step) {
        float x = in[d * stride[0] + h * stride[1] + w * stride[2]];
        if (pool->mean)
          value += x;
        else if (x > value || isnan(x))
          value = x;
      }
  return value;
}

/* Finds the positions on each axis; returns how many a mean counts. */
static float find_places(const struct pool *pool, const ptrdiff_t at[3],
                         struct pool_places p[3]) {
  float count = 1;
  int i;
  for (i = 0; i < 3; i++) {
    ptrdiff_t in = pool->in.size[i + 1], out = pool->out.size[i + 1];
    p[i] = pool->adaptive ? adaptive_places(in, out, at[i])
                          : window_places(&pool->window, i, in, at[i]);
    if (pool->mean)
      count *= (float)(pool->counts ? p[i].all : count_places(&p[i]));
  }
  return count;
}

static void pool_plain(const struct pool *pool, const float *in, float *out,
                       const struct pool_places p[3], float count) {
  ptrdiff_t c;
  for (c = 0; c < pool->out.size[4]; c++)
    out[c * pool->out.stride[4]] =
        pool_value(pool, in + c * pool->in.stride[4], p) / count;
}

static void pool_fast(const struct pool *pool, const float *in, float *out,
                      const struct pool_places p[3], float count) {
#ifdef NETRT_HAS_FAST
  struct pool_window w;
  int i;
  w.in = in;
  w.mean = pool->mean;
  w.factor = 1 / count;
  for (i = 0; i < 3; i++) {
    w.in += p[i].from * pool->in.stride[i + 1];
    w.count[i] = count_places(&p[i]);
    w.step[i] = p[i].step * pool->in.stride[i + 1];
  }
  pool->values->pool(&w, out, pool->out.size[4]);
#else
  pool_plain(pool, in, out, p, count);
#endif
}

/* Computes lines of the output. */
static void pool_lines(void *data, ptrdiff_t line, ptrdiff_t to) {
  const struct pool *pool = data;
  const struct kernel_map *in = &pool->in, *out = &pool->out;
  for (; line < to; line++) {
    ptrdiff_t rest = line / out->size[2], batch = rest / out->size[1], at[3];
    const float *from = in->data + batch * in->stride[0];
    float *begin = out->data + batch * out->stride[0];
    at[1] = line % out->size[2];
    at[0] = rest % out->size[1];
    begin += at[0] * out->stride[1] + at[1] * out->stride[2];
    for (at[2] = 0; at[2] < out->size[3]; at[2]++) {
      struct pool_places p[3];
      float count = find_places(pool, at, p);
      if (pool->values)
        pool_fast(pool, from, begin + at[2] * out->stride[3], p, count);
      else
        pool_plain(pool, from, begin + at[2] * out->stride[3], p, count);
    }
  }
}

static int make_lines(void *user) {
  struct pool *pool = user;
  const struct kernel_map *in = &pool->in, *out = &pool->out;
  ptrdiff_t lines = out->size[0] * out->size[1] * out->size[2];
  ptrdiff_t values = in->size[0] * in->stride[0];
  if (pool->values)
    netrt_run_parts(pool->net, lines, 1 + 20000 / (values / lines + 1),
                    pool_lines, pool);
  else
    pool_lines(pool, 0, lines);
  return NETRT_OK;
}

static int run_pool(const struct netrt *net, const struct netrt_op *op,
                    int mean, int adaptive, const struct values *values) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  const int32_t *args = netrt_args(net, op);
  struct pool pool;
  struct kernel_rows rows;
  pool.net = net;
  pool.out = netrt_map_of(&out);
  pool.in = netrt_map_of(&in);
  pool.mean = mean;
  pool.adaptive = adaptive;
  pool.counts = mean && !adaptive && args[0];
  pool.values = values;
  if (values && (pool.out.stride[4] != 1 || pool.in.stride[4] != 1))
    return NOT_FOR_ME;
  if (!adaptive)
    pool.window = netrt_window_of_pool(args + mean, out.rank - 2);
  rows.out = &pool.out;
  rows.in = &pool.in;
  rows.window = &pool.window;
  rows.make = make_lines;
  rows.user = &pool;
  return adaptive ? make_lines(&pool) : netrt_by_rows(&rows);
}

#ifdef NETRT_HAS_FAST
#define FAST(id, mean, adaptive)                                            \
  int netrt_fast_##id(const struct netrt *net, const struct netrt_op *op);  \
  int netrt_fast_##id(const struct netrt *net, const struct netrt_op *op) { \
    return run_pool(net, op, mean, adaptive, netrt_values_of(net));         \
  }
#else
#define FAST(id, mean, adaptive)
#endif

#define POOL(id, mean, adaptive)                               \
  static int netrt_reference_##id(const struct netrt *net,     \
                                  const struct netrt_op *op) { \
    return run_pool(net, op, mean, adaptive, NULL);            \
  }                                                            \
  FAST(id, mean, adaptive)                                     \
  KERNEL_FAST(id)

POOL(maxpool, 0, 0);
POOL(avgpool, 1, 0);
POOL(adaptavg, 1, 1);
POOL(adaptmax, 0, 1);
