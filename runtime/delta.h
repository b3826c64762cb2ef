/*
 * delta: the gated delta rule. A state of H,D,V values for each sample, zeros
 * at first; at each step, with q, k and step of D, v of V and a number beta:
 *
 *   state = exp(-exp(A_log) step) state     each of the D rows has its factor
 *   state += k x beta (v - k state)
 *   out = q state
 *
 * A column of the state needs no other column.
 */
#ifndef NETRT_DELTA_H
#define NETRT_DELTA_H

#include "kernel.h"

struct delta {
  struct netrt_view out, q, k, v, step, beta, rates;
  float *work; /* states H,D,V */
  ptrdiff_t steps, heads, dim, values;
  ptrdiff_t shared; /* heads that share q and k */
  int own_steps;    /* each row of the state has its own */
};

static inline struct delta delta_of(const struct netrt *net,
                                    const struct netrt_op *op) {
  struct netrt_view work = netrt_in(net, op, op->ins);
  struct delta s;
  s.out = netrt_out(net, op);
  s.q = netrt_in(net, op, 0);
  s.k = netrt_in(net, op, 1);
  s.v = netrt_in(net, op, 2);
  s.step = netrt_in(net, op, 3);
  s.beta = netrt_in(net, op, 4);
  s.rates = netrt_in(net, op, 5);
  s.work = netrt_floats(&work);
  s.steps = s.out.size[1];
  s.heads = s.out.size[2];
  s.values = s.out.size[3];
  s.dim = s.q.size[3];
  s.shared = s.heads / s.q.size[2];
  s.own_steps = s.step.size[3] > 1;
  return s;
}

/* Values of a sample, step and head. */
static inline float *delta_at(const struct netrt_view *view, ptrdiff_t batch,
                              ptrdiff_t step, ptrdiff_t head) {
  return netrt_floats(view) + batch * view->stride[0] + step * view->stride[1] +
         head * view->stride[2];
}

/* The rate of a head's decay: -exp(A_log). */
static inline float delta_rate(const struct delta *s, ptrdiff_t head) {
  return -expf(netrt_floats(&s->rates)[head * s->rates.stride[0]]);
}

#endif
