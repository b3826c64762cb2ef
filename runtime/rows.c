/* glu, l2norm, affine: functions of the values of the last axis. */
#include "kernel.h"

/* nn.GLU: the first half times the sigmoid of the second. */
static int netrt_reference_glu(const struct netrt *net,
                               const struct netrt_op *op) {
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  ptrdiff_t n = size_back(&views[0], 0), i;
  ptrdiff_t to = stride_back(&views[0], 0), from = stride_back(&views[1], 0);
  struct kernel_walk walk;
  netrt_walk_open_outer(&walk, views, 2, 1);
  do {
    const float *in = netrt_floats(&views[1]) + walk.offset[1];
    float *out = netrt_floats(&views[0]) + walk.offset[0];
    for (i = 0; i < n; i++)
      out[i * to] = in[i * from] / (1 + expf(-in[(n + i) * from]));
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL(glu);

/* F.normalize: divides by the root of the sum of squares, at least eps. */
static int netrt_reference_l2norm(const struct netrt *net,
                                  const struct netrt_op *op) {
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  ptrdiff_t n = size_back(&views[0], 0), i;
  ptrdiff_t to = stride_back(&views[0], 0), from = stride_back(&views[1], 0);
  float eps = netrt_reals(net, op)[0];
  struct kernel_walk walk;
  netrt_walk_open_outer(&walk, views, 2, 1);
  do {
    const float *in = netrt_floats(&views[1]) + walk.offset[1];
    float *out = netrt_floats(&views[0]) + walk.offset[0];
    struct netrt_sum squares = {0, 0};
    float norm;
    for (i = 0; i < n; i++)
      netrt_sum_add(&squares, in[i * from] * in[i * from]);
    norm = sqrtf(netrt_sum_total(&squares));
    if (norm < eps)
      norm = eps;
    for (i = 0; i < n; i++)
      out[i * to] = in[i * from] / norm;
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL(l2norm);

static int netrt_reference_affine(const struct netrt *net,
                                  const struct netrt_op *op) {
  struct netrt_view views[4], scale = netrt_in(net, op, 1);
  struct netrt_view shift = netrt_in(net, op, 2);
  struct kernel_along along[2];
  struct kernel_walk walk;
  ptrdiff_t k;
  views[0] = netrt_out(net, op);
  views[1] = netrt_in(net, op, 0);
  netrt_along_last(&along[0], &scale, &views[0]);
  netrt_along_last(&along[1], &shift, &views[0]);
  views[2] = along[0].view;
  views[3] = along[1].view;
  netrt_walk_open(&walk, views, 4);
  do {
    float *out = netrt_floats(&views[0]) + walk.offset[0];
    const float *in = netrt_floats(&views[1]) + walk.offset[1];
    const float *by = netrt_floats(&views[2]) + walk.offset[2];
    const float *plus = netrt_floats(&views[3]) + walk.offset[3];
    for (k = 0; k < walk.length; k++)
      out[k * walk.step[0]] =
          in[k * walk.step[1]] * by[k * walk.step[2]] + plus[k * walk.step[3]];
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL(affine);
