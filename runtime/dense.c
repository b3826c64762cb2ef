/* linear, matmul, experts: plain matrix products. */
#include "narrow.h"

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

/* The matrix and the bias of one expert. */
struct expert_product {
  struct dense_product p;
  struct narrow_weights narrow;
  ptrdiff_t first; /* narrow: the matrix's first value */
  ptrdiff_t scale; /* and its first scale */
};

enum { EXPERT_ROWS = 8, EXPERT_OUTS = 8 };

/* A row times a narrow matrix, a part of which is widened at a time. */
static void narrow_row(const struct expert_product *e, const float *a,
                       float *out) {
  float part[EXPERT_ROWS * EXPERT_OUTS];
  struct dense_product p = e->p;
  ptrdiff_t i, k, o;
  for (o = 0; o < p.m; o++)
    out[o * p.out_step] = p.bias ? p.bias[o * p.bias_step] : 0;
  for (o = 0; o < e->p.m; o += p.m) {
    p.m = least(e->p.m - o, EXPERT_OUTS);
    for (i = 0; i < e->p.k; i += p.k) {
      p.k = least(e->p.k - i, EXPERT_ROWS);
      for (k = 0; k < p.k; k++)
        widen(&e->narrow, e->first + (i + k) * p.b_row + o, e->scale + o, p.m,
              part + k * EXPERT_OUTS);
      if (p.out_step == 1 && p.a_step == 1) {
        netrt_add_product(out + o, a + i, part, p.k, EXPERT_OUTS, p.m);
        continue;
      }
      for (k = 0; k < p.k * p.m; k++)
        out[(o + k % p.m) * p.out_step] +=
            a[(i + k / p.m) * p.a_step] * part[k / p.m * EXPERT_OUTS + k % p.m];
    }
  }
}

static int netrt_reference_experts(const struct netrt *net,
                                   const struct netrt_op *op) {
  struct netrt_view views[3] = {netrt_out(net, op), netrt_in(net, op, 0)};
  struct netrt_view weight = netrt_in(net, op, 2), bias;
  struct expert_product e = {{0}, {0}, 0, 0};
  struct kernel_walk walk;
  uint32_t next;
  bias = weight;
  e.narrow = narrow_of(net, op, 2, &next);
  e.p.m = weight.size[2];
  e.p.k = weight.size[1];
  e.p.b_row = weight.stride[1];
  e.p.b_step = weight.stride[2];
  if (next < op->ins) {
    bias = netrt_in(net, op, next);
    e.p.bias_step = bias.stride[1];
  }
  e.p.out_step = stride_back(&views[0], 0);
  e.p.a_step = stride_back(&views[1], 0);
  views[2] = netrt_in(net, op, 1);
  views[0].rank--;
  netrt_walk_open_outer(&walk, views, 3, 0);
  do {
    int64_t at = ((const int64_t *)(const void *)views[2].data)[walk.offset[2]];
    const float *a = netrt_floats(&views[1]) + walk.offset[1];
    float *out = netrt_floats(&views[0]) + walk.offset[0];
    if (at < 0 || at >= weight.size[0])
      return NETRT_BAD_INDEX;
    if (next < op->ins)
      e.p.bias = netrt_floats(&bias) + at * bias.stride[0];
    e.first = (ptrdiff_t)at * weight.stride[0];
    e.scale = (ptrdiff_t)at * e.p.m;
    e.p.b = netrt_floats(&weight) + (e.narrow.at ? 0 : e.first);
    if (e.narrow.at)
      narrow_row(&e, a, out);
    else
      product_row(&e.p, a, out);
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL_FAST(experts);
