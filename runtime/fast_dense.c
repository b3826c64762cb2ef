/* linear, matmul, experts: matrix products of views whose rows have equal
 * distances. */
#include "onednn.h"

#ifdef NETRT_HAS_FAST

int netrt_fast_linear(const struct netrt *net, const struct netrt_op *op);
int netrt_fast_nlinear(const struct netrt *net, const struct netrt_op *op);
int netrt_fast_matmul(const struct netrt *net, const struct netrt_op *op);
int netrt_fast_experts(const struct netrt *net, const struct netrt_op *op);
int netrt_fast_nexperts(const struct netrt *net, const struct netrt_op *op);

/* A view without its last axis, to walk over rows. */
static struct netrt_view without_last(struct netrt_view view) {
  view.rank--;
  return view;
}

static struct gemm gemm_of(const struct netrt_view *b) {
  struct gemm g = {0};
  g.b = netrt_floats(b);
  g.b_row = stride_back(b, 1);
  g.b_step = stride_back(b, 0);
  g.n = size_back(b, 0);
  g.ins = size_back(b, 1);
  g.taps = 1;
  return g;
}

int netrt_fast_linear(const struct netrt *net, const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  struct netrt_view weight = netrt_in(net, op, 1), more, views[3];
  struct gemm g = gemm_of(&weight);
  struct kernel_walk walk;
  const float *skip = NULL;
  int count = 2;
  uint32_t i;
  if (stride_back(&out, 0) != 1 || stride_back(&in, 0) != 1)
    return NOT_FOR_ME;
  g.narrow = narrow_of(net, op, 1, &i);
  for (; i < op->ins; i++) {
    more = netrt_in(net, op, i);
    if (stride_back(&more, 0) != 1)
      return NOT_FOR_ME;
    if (more.rank > 1) {
      skip = netrt_floats(&more);
      views[count++] = without_last(more);
    } else
      g.bias = netrt_floats(&more);
  }
  views[0] = without_last(out);
  views[1] = without_last(in);
  g.panels = netrt_in_panels(net, op, 1);
  g.after = netrt_after(net);
  netrt_walk_open(&walk, views, count);
  g.m = g.line = walk.length;
  g.out_row = walk.step[0];
  g.a_row = walk.step[1];
  do {
    g.out = netrt_floats(&out) + walk.offset[0];
    g.a = netrt_floats(&in) + walk.offset[1];
    if (skip) {
      g.skip = skip + walk.offset[2];
      g.skip_row = walk.step[2];
    }
    if (g.narrow.at || netrt_onednn_linear(net, op, &g) != NETRT_OK)
      netrt_gemm(net, &g);
  } while (netrt_walk_next(&walk));
  return g.after.function ? DONE_AHEAD : NETRT_OK;
}

int netrt_fast_nlinear(const struct netrt *net, const struct netrt_op *op) {
  return netrt_fast_linear(net, op);
}

int netrt_fast_matmul(const struct netrt *net, const struct netrt_op *op) {
  struct netrt_view views[3];
  struct gemm g;
  struct kernel_walk walk;
  views[0] = netrt_out(net, op);
  views[1] = netrt_in(net, op, 0);
  views[2] = netrt_in(net, op, 1);
  if (stride_back(&views[0], 0) != 1 || stride_back(&views[1], 0) != 1)
    return NOT_FOR_ME;
  g = gemm_of(&views[2]);
  g.m = g.line = size_back(&views[0], 1);
  g.out_row = stride_back(&views[0], 1);
  g.a_row = stride_back(&views[1], 1);
  netrt_walk_open_outer(&walk, views, 3, 2);
  do {
    g.out = netrt_floats(&views[0]) + walk.offset[0];
    g.a = netrt_floats(&views[1]) + walk.offset[1];
    g.b = netrt_floats(&views[2]) + walk.offset[2];
    netrt_gemm(net, &g);
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

/* Rows [from, to) have the same expert. */
static void run_expert(const struct netrt *net, const struct netrt_op *op,
                       const struct gemm *all, ptrdiff_t from, ptrdiff_t to) {
  struct netrt_view weight = netrt_in(net, op, 2);
  struct netrt_view experts = netrt_in(net, op, 1);
  const int64_t *expert = (const int64_t *)(const void *)experts.data;
  ptrdiff_t at = (ptrdiff_t)expert[from];
  struct gemm g = *all;
  g.m = g.line = to - from;
  g.out += from * g.out_row;
  g.a += from * g.a_row;
  if (g.bias)
    g.bias += at * g.n;
  if (g.narrow.at) {
    g.narrow_first = at * weight.stride[0];
    g.narrow_out = at * g.n;
  } else
    g.b += at * weight.stride[0];
  netrt_gemm(net, &g);
}

/* Neighbours with the same expert are one product. */
int netrt_fast_experts(const struct netrt *net, const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  struct netrt_view weight = netrt_in(net, op, 2), bias, views[3];
  struct gemm g = gemm_of(&weight);
  struct kernel_walk walk;
  const int64_t *expert;
  ptrdiff_t row, from = 0;
  uint32_t next;
  views[0] = without_last(out);
  views[1] = without_last(in);
  views[2] = netrt_in(net, op, 1);
  netrt_walk_open(&walk, views, 3);
  g.narrow = narrow_of(net, op, 2, &next);
  if (next < op->ins) {
    bias = netrt_in(net, op, next);
    if (!is_dense(&bias, 2))
      return NOT_FOR_ME;
    g.bias = netrt_floats(&bias);
  }
  if (walk.length != rows_of(&out, 1) || stride_back(&out, 0) != 1 ||
      stride_back(&in, 0) != 1 || !is_dense(&views[2], views[2].rank))
    return NOT_FOR_ME;
  expert = (const int64_t *)(const void *)views[2].data;
  for (row = 0; row < walk.length; row++)
    if (expert[row] < 0 || expert[row] >= weight.size[0])
      return NETRT_BAD_INDEX;
  g.out = netrt_floats(&out);
  g.a = netrt_floats(&in);
  g.out_row = walk.step[0];
  g.a_row = walk.step[1];
  g.after = netrt_after(net);
  for (row = 1; row <= walk.length; row++)
    if (row == walk.length || expert[row] != expert[from]) {
      run_expert(net, op, &g, from, row);
      from = row;
    }
  return g.after.function ? DONE_AHEAD : NETRT_OK;
}

int netrt_fast_nexperts(const struct netrt *net, const struct netrt_op *op) {
  return netrt_fast_experts(net, op);
}

#else
typedef int netrt_fast_dense_is_off; /* an empty file is not valid C */
#endif
