/*
 * nconv, nlinear, nexperts: products with weights of 8 or 16 bits. A strip of
 * them, some outputs of some inputs, is converted to floats on the stack and
 * applied to the whole map. Sums have the order of conv, linear and experts:
 * the bits are equal.
 */
#include "conv.h"

enum { STRIP_OUTS = 8, STRIP_ROWS = 8 };

struct narrow_conv {
  struct kernel_conv conv;
  struct narrow_weights weights;
};

struct strip {
  const struct kernel_conv *conv;
  const struct narrow_weights *narrow;
  ptrdiff_t tap[3], in, out; /* first channels */
  ptrdiff_t ins, outs;
  int own; /* each output has one input of its own */
  float weights[STRIP_ROWS * STRIP_OUTS];
};

static void add_strip(const struct strip *s, const float *in, ptrdiff_t in_step,
                      float *out, ptrdiff_t out_step) {
  ptrdiff_t i, o;
  if (s->own) {
    for (o = 0; o < s->outs; o++)
      out[o * out_step] += in[o * in_step] * s->weights[o];
    return;
  }
  if (in_step == 1 && out_step == 1) {
    netrt_add_product(out, in, s->weights, s->ins, STRIP_OUTS, s->outs);
    return;
  }
  for (i = 0; i < s->ins; i++)
    for (o = 0; o < s->outs; o++)
      out[o * out_step] += in[i * in_step] * s->weights[i * STRIP_OUTS + o];
}

/* Outputs [from, to) of an axis whose tap is inside the map. */
static void range_of(const struct strip *s, int axis, ptrdiff_t *from,
                     ptrdiff_t *to) {
  const struct kernel_conv *c = s->conv;
  ptrdiff_t step = c->window.stride[axis];
  ptrdiff_t low =
      c->window.before[axis] - s->tap[axis] * c->window.dilation[axis];
  ptrdiff_t high = c->in.size[axis + 1] - 1 + low;
  *from = low > 0 ? (low + step - 1) / step : 0;
  *to = high < 0 ? 0 : least(high / step + 1, c->out.size[axis + 1]);
}

/* Applies a strip to all positions of the map. */
static void run_strip(const struct strip *s) {
  const struct kernel_conv *c = s->conv;
  ptrdiff_t from[3], to[3], at[3], in[3], batch;
  int i;
  for (i = 0; i < 3; i++)
    range_of(s, i, &from[i], &to[i]);
  for (batch = 0; batch < c->out.size[0]; batch++)
    for (at[0] = from[0]; at[0] < to[0]; at[0]++)
      for (at[1] = from[1]; at[1] < to[1]; at[1]++)
        for (at[2] = from[2]; at[2] < to[2]; at[2]++) {
          for (i = 0; i < 3; i++)
            in[i] = at[i] * c->window.stride[i] - c->window.before[i] +
                    s->tap[i] * c->window.dilation[i];
          add_strip(s, position_of(&c->in, batch, in) + s->in * c->in.stride[4],
                    c->in.stride[4],
                    position_of(&c->out, batch, at) + s->out * c->out.stride[4],
                    c->out.stride[4]);
        }
}

/* Inputs from s->in on of one tap, whose weights start at `first`. */
static void run_inputs(struct strip *s, ptrdiff_t first, ptrdiff_t ins) {
  const struct kernel_conv *c = s->conv;
  ptrdiff_t begin = s->in, i, k;
  for (i = 0; i < ins; i += s->ins) {
    s->ins = least(ins - i, STRIP_ROWS);
    s->in = begin + i;
    for (k = 0; k < s->ins; k++)
      widen(s->narrow, first + (i + k) * c->in_stride + s->out, s->out, s->outs,
            s->weights + k * STRIP_OUTS);
    run_strip(s);
  }
  s->in = begin;
}

/* All taps for outputs from s->out on. */
static void run_taps(struct strip *s, ptrdiff_t ins) {
  const struct kernel_conv *c = s->conv;
  ptrdiff_t z, y, x;
  for (z = 0; z < c->window.kernel[0]; z++)
    for (y = 0; y < c->window.kernel[1]; y++)
      for (x = 0; x < c->window.kernel[2]; x++) {
        s->tap[0] = z;
        s->tap[1] = y;
        s->tap[2] = x;
        run_inputs(s,
                   z * c->tap_stride[0] + y * c->tap_stride[1] +
                       x * c->tap_stride[2],
                   ins);
      }
}

static int make_strips(void *user) {
  const struct narrow_conv *nconv = user;
  const struct kernel_conv *c = &nconv->conv;
  ptrdiff_t ins = c->in.size[4] / c->groups, outs = c->out.size[4] / c->groups;
  ptrdiff_t batch, group, all;
  struct strip s;
  for (batch = 0; batch < c->out.size[0]; batch++) {
    ptrdiff_t at[3] = {0, 0, 0};
    do
      begin_row(c, batch, at, position_of(&c->out, batch, at));
    while (next_position(at, c->out.size + 1));
  }
  s.conv = c;
  s.narrow = &nconv->weights;
  s.own = ins == 1 && outs == 1;
  all = s.own ? c->groups : outs;
  for (group = 0; group < (s.own ? 1 : c->groups); group++)
    for (s.out = group * outs; s.out < group * outs + all; s.out += s.outs) {
      s.outs = least(group * outs + all - s.out, STRIP_OUTS);
      s.in = s.own ? s.out : group * ins;
      run_taps(&s, ins);
    }
  return NETRT_OK;
}

static int netrt_reference_nconv(const struct netrt *net,
                                 const struct netrt_op *op) {
  struct narrow_conv c;
  struct kernel_rows rows;
  c.conv = nconv_of(net, op, &c.weights);
  rows.out = &c.conv.out;
  rows.in = &c.conv.in;
  rows.window = &c.conv.window;
  rows.make = make_strips;
  rows.user = &c;
  return netrt_by_rows(&rows);
}

KERNEL_FAST(nconv);

/* Rows of a matrix with any strides. */
struct narrow_rows {
  struct netrt_view views[3]; /* out, in, skip */
  int count;
  const float *bias;
  ptrdiff_t bias_step;
};

static void begin_rows(const struct narrow_rows *r) {
  struct kernel_walk walk;
  ptrdiff_t outs = size_back(&r->views[0], 0), o;
  netrt_walk_open_outer(&walk, r->views, r->count, 1);
  do {
    float *out = netrt_floats(&r->views[0]) + walk.offset[0];
    const float *skip = NULL;
    if (r->count > 2)
      skip = netrt_floats(&r->views[2]) + walk.offset[2];
    for (o = 0; o < outs; o++)
      out[o * stride_back(&r->views[0], 0)] =
          (skip ? skip[o * stride_back(&r->views[2], 0)] : 0) +
          (r->bias ? r->bias[o * r->bias_step] : 0);
  } while (netrt_walk_next(&walk));
}

static void add_to_rows(const struct narrow_rows *r, const struct strip *s) {
  ptrdiff_t to = stride_back(&r->views[0], 0),
            from = stride_back(&r->views[1], 0);
  struct kernel_walk walk;
  netrt_walk_open_outer(&walk, r->views, 2, 1);
  do
    add_strip(s, netrt_floats(&r->views[1]) + walk.offset[1] + s->in * from,
              from, netrt_floats(&r->views[0]) + walk.offset[0] + s->out * to,
              to);
  while (netrt_walk_next(&walk));
}

static int netrt_reference_nlinear(const struct netrt *net,
                                   const struct netrt_op *op) {
  struct netrt_view weight = netrt_in(net, op, 1), more;
  struct narrow_rows r = {
      {netrt_out(net, op), netrt_in(net, op, 0)}, 2, NULL, 0};
  struct strip s;
  uint32_t i;
  ptrdiff_t k;
  struct narrow_weights narrow = narrow_of(net, op, 1, &i);
  for (; i < op->ins; i++) {
    more = netrt_in(net, op, i);
    if (more.rank > 1) {
      r.views[r.count++] = more;
      continue;
    }
    r.bias = netrt_floats(&more);
    r.bias_step = more.stride[0];
  }
  begin_rows(&r);
  s.own = 0;
  for (s.out = 0; s.out < weight.size[1]; s.out += s.outs) {
    s.outs = least(weight.size[1] - s.out, STRIP_OUTS);
    for (s.in = 0; s.in < weight.size[0]; s.in += s.ins) {
      s.ins = least(weight.size[0] - s.in, STRIP_ROWS);
      for (k = 0; k < s.ins; k++)
        widen(&narrow, (s.in + k) * weight.stride[0] + s.out, s.out, s.outs,
              s.weights + k * STRIP_OUTS);
      add_to_rows(&r, &s);
    }
  }
  return NETRT_OK;
}

KERNEL_FAST(nlinear);

/* A row times the matrix of its expert, strip by strip. */
static void add_expert(struct strip *s, const struct netrt_view *weight,
                       ptrdiff_t expert, const float *in, ptrdiff_t in_step,
                       float *out, ptrdiff_t out_step) {
  ptrdiff_t first = expert * weight->stride[0], k;
  for (s->out = 0; s->out < weight->size[2]; s->out += s->outs) {
    s->outs = least(weight->size[2] - s->out, STRIP_OUTS);
    for (s->in = 0; s->in < weight->size[1]; s->in += s->ins) {
      s->ins = least(weight->size[1] - s->in, STRIP_ROWS);
      for (k = 0; k < s->ins; k++)
        widen(s->narrow, first + (s->in + k) * weight->stride[1] + s->out,
              expert * weight->size[2] + s->out, s->outs,
              s->weights + k * STRIP_OUTS);
      add_strip(s, in + s->in * in_step, in_step, out + s->out * out_step,
                out_step);
    }
  }
}

static int netrt_reference_nexperts(const struct netrt *net,
                                    const struct netrt_op *op) {
  struct netrt_view views[3] = {netrt_out(net, op), netrt_in(net, op, 0),
                                netrt_in(net, op, 1)};
  struct netrt_view weight = netrt_in(net, op, 2), bias = weight;
  const int64_t *experts = (const int64_t *)(const void *)views[2].data;
  ptrdiff_t to = stride_back(&views[0], 0), o;
  struct kernel_walk walk;
  struct strip s;
  uint32_t next;
  struct narrow_weights narrow = narrow_of(net, op, 2, &next);
  s.narrow = &narrow;
  s.own = 0;
  if (next < op->ins)
    bias = netrt_in(net, op, next);
  netrt_walk_open_outer(&walk, views, 3, 1);
  do {
    ptrdiff_t expert = (ptrdiff_t)experts[walk.offset[2]];
    float *out = netrt_floats(&views[0]) + walk.offset[0];
    if (expert < 0 || expert >= weight.size[0])
      return NETRT_BAD_INDEX;
    for (o = 0; o < weight.size[2]; o++)
      out[o * to] =
          next < op->ins
              ? netrt_floats(
                    &bias)[expert * bias.stride[0] + o * bias.stride[1]]
              : 0;
    add_expert(&s, &weight, expert, netrt_floats(&views[1]) + walk.offset[1],
               stride_back(&views[1], 0), out, to);
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL_FAST(nexperts);
