/*
 * scan: a selective state space. A state of H,P,S values for each sample, zeros
 * at first; at each step, with x and step of H,P and b and c of S:
 *
 *   state = exp(-exp(A_log) step) state + step x b
 *   out = sum over S of c state, + D x
 *
 * Mamba has one head of P channels. In Mamba 2 the P channels of a head have
 * the same step, A_log and D, whose sizes are then 1.
 */
#ifndef NETRT_SCAN_H
#define NETRT_SCAN_H

#include "kernel.h"

struct state_scan {
  struct netrt_view out, x, step, b, c, rates, skip;
  float *work; /* states H,S,P, then the rates if each value has its own */
  ptrdiff_t steps, heads, dim, state;
  ptrdiff_t shared; /* heads that share b and c */
  int own_rates;    /* each value of the state has its own rate */
};

static inline struct state_scan scan_of(const struct netrt *net,
                                        const struct netrt_op *op) {
  struct netrt_view work = netrt_in(net, op, op->ins);
  struct state_scan s;
  s.out = netrt_out(net, op);
  s.x = netrt_in(net, op, 0);
  s.step = netrt_in(net, op, 1);
  s.b = netrt_in(net, op, 2);
  s.c = netrt_in(net, op, 3);
  s.rates = netrt_in(net, op, 4);
  s.skip = netrt_in(net, op, 5);
  s.work = netrt_floats(&work);
  s.steps = s.out.size[1];
  s.heads = s.out.size[2];
  s.dim = s.out.size[3];
  s.state = s.b.size[3];
  s.shared = s.heads / s.b.size[2];
  s.own_rates = s.rates.size[2] > 1 || s.rates.size[1] > 1;
  return s;
}

/* The stride of an axis, 0 if one value serves all of it. */
static inline ptrdiff_t scan_stride(const struct netrt_view *view, int axis) {
  return view->size[axis] == 1 ? 0 : view->stride[axis];
}

/* Values of a sample, step and head. */
static inline float *scan_at(const struct netrt_view *view, ptrdiff_t batch,
                             ptrdiff_t step, ptrdiff_t head) {
  return netrt_floats(view) + batch * view->stride[0] + step * view->stride[1] +
         head * view->stride[2];
}

/* The rate of a value's decay: -exp(A_log). */
static inline float scan_rate(const struct state_scan *s, ptrdiff_t head,
                              ptrdiff_t channel, ptrdiff_t value) {
  return -expf(netrt_floats(&s->rates)[head * s->rates.stride[0] +
                                       channel * scan_stride(&s->rates, 1) +
                                       value * scan_stride(&s->rates, 2)]);
}

static inline float scan_skip(const struct state_scan *s, ptrdiff_t head,
                              ptrdiff_t channel) {
  return netrt_floats(
      &s->skip)[head * s->skip.stride[0] + channel * scan_stride(&s->skip, 1)];
}

#endif
