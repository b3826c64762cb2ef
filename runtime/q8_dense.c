/* 8-bit dense layers: both a row and the weights of an
 * output are contiguous. */
#include "q8.h"

struct q8_dense {
  const int8_t *weight;
  const int32_t *bias; /* NULL: none */
  const float *scales;
  struct q8_range range;
  ptrdiff_t ins, outs, in_step, out_step, row;
  struct kernel_walk walk; /* over rows of out and in */
  struct netrt_view out, in;
};

static void begin(const struct q8_dense *d, ptrdiff_t o, int count,
                  int32_t sum[4]) {
  int k;
  for (k = 0; k < count; k++)
    sum[k] = d->bias ? d->bias[o + k] : 0;
}

static void make_outputs(void *data, ptrdiff_t from, ptrdiff_t to) {
  const struct q8_dense *d = data;
  const int8_t *x = netrt_bytes(&d->in) + d->walk.offset[1];
  int8_t *y = netrt_bytes_out(&d->out) + d->walk.offset[0];
  int32_t sum[4], zero = d->range.in;
  ptrdiff_t o, k;
  for (o = from; o + 4 <= to; o += 4) {
    begin(d, o, 4, sum);
    q8_add_four(x, d->in_step, zero, d->weight + o * d->row, d->row, d->ins,
                sum);
    for (k = 0; k < 4; k++)
      y[(o + k) * d->out_step] = q8_of(sum[k], d->scales[o + k], &d->range);
  }
  for (; o < to; o++) {
    begin(d, o, 1, sum);
    sum[0] += q8_product(x, d->in_step, zero, d->weight + o * d->row, d->ins);
    y[o * d->out_step] = q8_of(sum[0], d->scales[o], &d->range);
  }
}

static int netrt_reference_q8linear(const struct netrt *net,
                                    const struct netrt_op *op) {
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  struct netrt_view weight = netrt_in(net, op, 1);
  struct netrt_view scales = netrt_in(net, op, 2);
  struct q8_dense d;
  d.weight = netrt_bytes(&weight);
  d.scales = netrt_floats(&scales);
  d.bias = q8_bias_of(net, op);
  d.range = q8_range_of(net, op, 3);
  d.ins = weight.size[0];
  d.outs = weight.size[1];
  d.row = weight.stride[1];
  d.out = views[0];
  d.in = views[1];
  d.out_step = stride_back(&d.out, 0);
  d.in_step = stride_back(&d.in, 0);
  netrt_walk_open_outer(&d.walk, views, 2, 1);
  do
    netrt_run_parts(net, d.outs, 1 + 20000 / (d.ins + 1), make_outputs, &d);
  while (netrt_walk_next(&d.walk));
  return NETRT_OK;
}

KERNEL(q8linear);
