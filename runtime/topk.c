/* topk: the largest values along an axis, or their indices. */
#include "kernel.h"

/* A tensor without one of its axes. */
struct across {
  struct netrt_view rest;
  int32_t size[NETRT_RANK], stride[NETRT_RANK];
};

static void open_across(struct across *a, const struct netrt_view *view,
                        int axis) {
  int i, to = 0;
  for (i = 0; i < view->rank; i++) {
    if (i == axis)
      continue;
    a->size[to] = view->size[i];
    a->stride[to++] = view->stride[i];
  }
  a->rest = *view;
  a->rest.size = a->size;
  a->rest.stride = a->stride;
  a->rest.rank = to;
}

/* True if `a` comes before `b`; NaN is larger than all numbers. */
static int comes_before(float a, float b, int smallest) {
  if (isnan(a) || isnan(b))
    return smallest ? isnan(b) && !isnan(a) : isnan(a) && !isnan(b);
  return smallest ? a < b : a > b;
}

/*
 * Index of the value after the one at `last` (-1: the first). Equal values are
 * in the order of their indices.
 */
static ptrdiff_t next_of(const float *from, ptrdiff_t size, ptrdiff_t step,
                         ptrdiff_t last, int smallest) {
  ptrdiff_t i, found = -1;
  for (i = 0; i < size; i++) {
    float x = from[i * step];
    if (last >= 0 &&
        (comes_before(x, from[last * step], smallest) ||
         (i <= last && !comes_before(from[last * step], x, smallest))))
      continue; /* taken before */
    if (found < 0 || comes_before(x, from[found * step], smallest))
      found = i;
  }
  return found;
}

static int netrt_reference_topk(const struct netrt *net,
                                const struct netrt_op *op) {
  const int32_t *args = netrt_args(net, op);
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  struct netrt_view views[2];
  ptrdiff_t size = in.size[args[0]], step = in.stride[args[0]], i;
  struct kernel_walk walk;
  struct across to_rows, from_rows;
  open_across(&to_rows, &out, args[0]);
  open_across(&from_rows, &in, args[0]);
  views[0] = to_rows.rest;
  views[1] = from_rows.rest;
  netrt_walk_open_outer(&walk, views, 2, 0);
  do {
    const float *from = netrt_floats(&in) + walk.offset[1];
    ptrdiff_t last = -1;
    for (i = 0; i < out.size[args[0]]; i++) {
      ptrdiff_t to = walk.offset[0] + i * out.stride[args[0]];
      last = next_of(from, size, step, last, args[1]);
      if (args[2])
        ((int64_t *)(void *)out.data)[to] = last;
      else
        netrt_floats(&out)[to] = from[last * step];
    }
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL(topk);
