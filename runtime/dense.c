/* linear, matmul, experts: plain matrix products. */
#include "kernel.h"

/* out[n, m] = skip[n, m] + bias[m] + sum over k of a[n, k] b[k, m] */
struct dense_product {
  float *out;
  const float *a, *b, *bias, *skip; /* skip: the current row, or NULL */
  ptrdiff_t n, k, m, out_row, out_step, a_row, a_step, b_row, b_step;
  ptrdiff_t bias_step, skip_step;
#ifdef NETRT_HAS_PANELS
  int panels; /* b is in panels */
#endif
};

static void product_row(const struct dense_product *p, const float *a,
                        float *out) {
  ptrdiff_t i, o, to = p->out_step;
  for (o = 0; o < p->m; o++)
    out[o * to] = (p->skip ? p->skip[o * p->skip_step] : 0) +
                  (p->bias ? p->bias[o * p->bias_step] : 0);
  if (to == 1 && p->b_step == 1 && p->a_step == 1) {
    netrt_add_product(out, a, p->b, p->k, p->b_row, p->m);
    return;
  }
  for (i = 0; i < p->k; i++) {
    float value = a[i * p->a_step];
    const float *row = p->b + i * p->b_row;
    for (o = 0; o < p->m; o++)
      out[o * to] += value * row[o * p->b_step];
  }
}

/* A product for the outputs of each panel. */
static void make_row(const struct dense_product *p, const float *a,
                     float *out) {
#ifdef NETRT_HAS_PANELS
  ptrdiff_t first;
  for (first = 0; p->panels && first < p->m; first += NETRT_PANEL) {
    struct dense_product part = *p;
    part.m = part.b_row = least(NETRT_PANEL, p->m - first);
    part.b += first * p->k;
    if (p->bias)
      part.bias += first * p->bias_step;
    if (p->skip)
      part.skip += first * p->skip_step;
    product_row(&part, a, out + first * p->out_step);
  }
  if (p->panels)
    return;
#endif
  product_row(p, a, out);
}

static int netrt_reference_linear(const struct netrt *net,
                                  const struct netrt_op *op) {
  struct netrt_view views[3] = {netrt_out(net, op), netrt_in(net, op, 0)};
  struct netrt_view weight = netrt_in(net, op, 1), bias;
  struct dense_product p = {0};
  struct kernel_walk walk;
  uint32_t i;
  int count = 2;
  for (i = 2; i < op->ins; i++) {
    bias = netrt_in(net, op, i);
    if (bias.rank > 1) {
      views[count++] = bias;
      continue;
    }
    p.bias = netrt_floats(&bias);
    p.bias_step = bias.stride[0];
  }
  p.b = netrt_floats(&weight);
  p.k = weight.size[0];
  p.m = weight.size[1];
  p.b_row = weight.stride[0];
  p.b_step = weight.stride[1];
#ifdef NETRT_HAS_PANELS
  p.panels = netrt_in_panels(net, op, 1);
#endif
  p.out_step = stride_back(&views[0], 0);
  p.a_step = stride_back(&views[1], 0);
  if (count > 2)
    p.skip_step = stride_back(&views[2], 0);
  netrt_walk_open_outer(&walk, views, count, 1);
  do {
    if (count > 2)
      p.skip = netrt_floats(&views[2]) + walk.offset[2];
    make_row(&p, netrt_floats(&views[1]) + walk.offset[1],
             netrt_floats(&views[0]) + walk.offset[0]);
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL_FAST(linear);

static int netrt_reference_matmul(const struct netrt *net,
                                  const struct netrt_op *op) {
  struct netrt_view views[3] = {netrt_out(net, op), netrt_in(net, op, 0),
                                netrt_in(net, op, 1)};
  struct dense_product p = {0};
  struct kernel_walk walk;
  ptrdiff_t i;
  p.n = size_back(&views[0], 1);
  p.m = size_back(&views[0], 0);
  p.k = size_back(&views[1], 0);
  p.out_step = stride_back(&views[0], 0);
  p.a_step = stride_back(&views[1], 0);
  p.b_row = stride_back(&views[2], 1);
  p.b_step = stride_back(&views[2], 0);
  netrt_walk_open_outer(&walk, views, 3, 2);
  do {
    p.b = netrt_floats(&views[2]) + walk.offset[2];
    for (i = 0; i < p.n; i++)
      product_row(&p,
                  netrt_floats(&views[1]) + walk.offset[1] +
                      i * stride_back(&views[1], 1),
                  netrt_floats(&views[0]) + walk.offset[0] +
                      i * stride_back(&views[0], 1));
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL_FAST(matmul);

/* Each row has the matrix and the bias of its expert. */
static int netrt_reference_experts(const struct netrt *net,
                                   const struct netrt_op *op) {
  struct netrt_view views[3] = {netrt_out(net, op), netrt_in(net, op, 0),
                                netrt_in(net, op, 1)};
  struct netrt_view weight = netrt_in(net, op, 2), bias = weight;
  const int64_t *experts = (const int64_t *)(const void *)views[2].data;
  struct dense_product p = {0};
  struct kernel_walk walk;
  p.k = weight.size[1];
  p.m = weight.size[2];
  p.b_row = weight.stride[1];
  p.b_step = weight.stride[2];
  if (op->ins > 3) {
    bias = netrt_in(net, op, 3);
    p.bias_step = bias.stride[1];
  }
  p.out_step = stride_back(&views[0], 0);
  p.a_step = stride_back(&views[1], 0);
  netrt_walk_open_outer(&walk, views, 3, 1);
  do {
    int64_t expert = experts[walk.offset[2]];
    if (expert < 0 || expert >= weight.size[0])
      return NETRT_BAD_INDEX;
    if (op->ins > 3)
      p.bias = netrt_floats(&bias) + (ptrdiff_t)expert * bias.stride[0];
    p.b = netrt_floats(&weight) + (ptrdiff_t)expert * weight.stride[0];
    product_row(&p, netrt_floats(&views[1]) + walk.offset[1],
                netrt_floats(&views[0]) + walk.offset[0]);
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL_FAST(experts);
