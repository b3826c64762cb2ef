/*
 * 8-bit reduce: sum, mean, maximum or minimum over the last axes, rounded like
 * other sums.
 */
#include "q8.h"

enum { SUM, MEAN, LARGEST, SMALLEST };

static int32_t taken(int mode, int32_t found, int32_t x) {
  return mode <= MEAN                       ? found + x
         : (mode == LARGEST) == (x > found) ? x
                                            : found;
}

/* Reduces all values of a view, each minus zero. */
static int32_t over_places(const struct netrt_view *part, int mode,
                           int32_t zero) {
  int32_t found = mode <= MEAN ? 0 : netrt_bytes(part)[0] - zero;
  struct kernel_walk walk;
  ptrdiff_t k;
  netrt_walk_open(&walk, part, 1);
  do {
    const int8_t *x = netrt_bytes(part) + walk.offset[0];
    for (k = 0; k < walk.length; k++)
      found = taken(mode, found, x[k * walk.step[0]] - zero);
  } while (netrt_walk_next(&walk));
  return found;
}

static int netrt_reference_q8reduce(const struct netrt *net,
                                    const struct netrt_op *op) {
  struct netrt_view in = netrt_in(net, op, 0), part = in, views[2];
  struct netrt_view scale = netrt_in(net, op, 1);
  struct q8_range range = q8_range_of(net, op, 2);
  int mode = netrt_args(net, op)[0];
  float by = *netrt_floats(&scale);
  struct kernel_walk walk;
  views[0] = netrt_out(net, op);
  views[1] = in;
  views[1].rank = views[0].rank; /* the axes that stay come first */
  part.rank = in.rank - views[0].rank;
  part.size += views[0].rank;
  part.stride += views[0].rank;
  if (mode == MEAN)
    by /= (float)rows_of(&part, 0);
  netrt_walk_open_outer(&walk, views, 2, 0);
  do {
    part.data = in.data + walk.offset[1];
    netrt_bytes_out(&views[0])[walk.offset[0]] =
        q8_of(over_places(&part, mode, range.in), by, &range);
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL(q8reduce);
