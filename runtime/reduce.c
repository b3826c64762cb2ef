/* reduce: sum, mean, maximum or minimum over the last axes. */
#include "kernel.h"

enum { SUM, MEAN, LARGEST, SMALLEST };

/* Advances over the axes from `first` on; 0: there are no more. */
static int next_place(const struct netrt_view *in, int first,
                      int32_t at[NETRT_RANK], ptrdiff_t *offset) {
  int i;
  for (i = in->rank - 1; i >= first; i--) {
    *offset += in->stride[i];
    if (++at[i] < in->size[i])
      return 1;
    *offset -= (ptrdiff_t)in->stride[i] * in->size[i];
    at[i] = 0;
  }
  return 0;
}

static float over_places(const struct netrt_view *in, int first,
                         const float *from, int mode) {
  int32_t at[NETRT_RANK] = {0};
  ptrdiff_t offset = 0, count = 0;
  struct netrt_sum sum = {0, 0};
  float found = from[0];
  do {
    float x = from[offset];
    netrt_sum_add(&sum, x);
    count++;
    if (isnan(x) || (mode == LARGEST ? x > found : x < found))
      found = x;
    if (isnan(found))
      break;
  } while (next_place(in, first, at, &offset));
  if (isnan(found) || mode >= LARGEST)
    return found;
  return netrt_sum_total(&sum) / (float)(mode == MEAN ? count : 1);
}

static int netrt_reference_reduce(const struct netrt *net,
                                  const struct netrt_op *op) {
  struct netrt_view in = netrt_in(net, op, 0), views[2];
  int mode = netrt_args(net, op)[0];
  struct kernel_walk walk;
  views[0] = netrt_out(net, op);
  views[1] = in;
  views[1].rank = views[0].rank; /* the axes that stay come first */
  netrt_walk_open_outer(&walk, views, 2, 0);
  do
    netrt_floats(&views[0])[walk.offset[0]] = over_places(
        &in, views[0].rank, netrt_floats(&in) + walk.offset[1], mode);
  while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL(reduce);
