/* Pooling: the largest or the mean of windows, given or adaptive. */
#include "kernel.h"

struct pool {
  struct map out, in;
  struct window window;
  int mean, adaptive, counts;
};

/* The places [from, to) of an axis by `step`, and how many there are with
 * those in the padding. */
struct places {
  ptrdiff_t from, to, step, all;
};

/* floor(i I / O) to ceil((i + 1) I / O) */
static struct places adaptive_places(ptrdiff_t in, ptrdiff_t out,
                                     ptrdiff_t at) {
  struct places p;
  p.from = at * in / out;
  p.to = ((at + 1) * in + out - 1) / out;
  p.step = 1;
  p.all = p.to - p.from;
  return p;
}

static struct places window_places(const struct window *w, int axis,
                                   ptrdiff_t in, ptrdiff_t at) {
  struct places p;
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

static ptrdiff_t count_places(const struct places *p) {
  return p->to > p->from ? (p->to - p->from + p->step - 1) / p->step : 0;
}

static float pool_value(const struct pool *pool, const float *in,
                        const struct places *p) {
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

static void pool_position(const struct pool *pool, ptrdiff_t batch,
                          const ptrdiff_t at[3]) {
  const struct map *in = &pool->in, *out = &pool->out;
  const float *from = in->data + batch * in->stride[0];
  float *to = out->data + batch * out->stride[0], count = 1;
  struct places p[3];
  ptrdiff_t c;
  int i;
  for (i = 0; i < 3; i++) {
    p[i] = pool->adaptive
               ? adaptive_places(in->size[i + 1], out->size[i + 1], at[i])
               : window_places(&pool->window, i, in->size[i + 1], at[i]);
    to += at[i] * out->stride[i + 1];
    if (pool->mean)
      count *= (float)(pool->counts ? p[i].all : count_places(&p[i]));
  }
  for (c = 0; c < out->size[4]; c++)
    to[c * out->stride[4]] =
        pool_value(pool, from + c * in->stride[4], p) / count;
}

static int run_pool(const struct netrt *net, const struct netrt_op *op,
                    int mean, int adaptive) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  const int32_t *args = netrt_args(net, op);
  struct pool pool;
  ptrdiff_t batch, at[3];
  pool.out = netrt_map_of(&out);
  pool.in = netrt_map_of(&in);
  pool.mean = mean;
  pool.adaptive = adaptive;
  pool.counts = mean && !adaptive && args[0];
  if (!adaptive)
    pool.window = netrt_window_of_pool(args + mean, out.rank - 2);
  for (batch = 0; batch < pool.out.size[0]; batch++)
    for (at[0] = 0; at[0] < pool.out.size[1]; at[0]++)
      for (at[1] = 0; at[1] < pool.out.size[2]; at[1]++)
        for (at[2] = 0; at[2] < pool.out.size[3]; at[2]++)
          pool_position(&pool, batch, at);
  return NETRT_OK;
}

#define POOL(id, mean, adaptive)                               \
  static int netrt_reference_##id(const struct netrt *net,     \
                                  const struct netrt_op *op) { \
    return run_pool(net, op, mean, adaptive);                  \
  }                                                            \
  KERNEL(id)

POOL(maxpool, 0, 0);
POOL(avgpool, 1, 0);
POOL(adaptavg, 1, 1);
POOL(adaptmax, 0, 1);
