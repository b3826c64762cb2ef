/* delta, plain: the steps of one column of the state after the other. */
#include "delta.h"

/* The column and step of a head. */
struct delta_column {
  const float *q, *k, *step;
  float rate, v, beta;
};

static float take_step(const struct delta *s, const struct delta_column *c) {
  float *state = s->work, found = 0, y = 0, lacks;
  float decay = expf(c->rate * c->step[0]);
  ptrdiff_t i;
  for (i = 0; i < s->dim; i++) {
    if (s->own_steps)
      decay = expf(c->rate * c->step[i * s->step.stride[3]]);
    state[i] *= decay;
    found += c->k[i * s->k.stride[3]] * state[i];
  }
  lacks = c->beta * (c->v - found);
  for (i = 0; i < s->dim; i++) {
    state[i] += c->k[i * s->k.stride[3]] * lacks;
    y += c->q[i * s->q.stride[3]] * state[i];
  }
  return y;
}

static void run_column(const struct delta *s, ptrdiff_t batch, ptrdiff_t head,
                       ptrdiff_t value) {
  ptrdiff_t t, i;
  struct delta_column c;
  c.rate = delta_rate(s, head);
  for (i = 0; i < s->dim; i++)
    s->work[i] = 0;
  for (t = 0; t < s->steps; t++) {
    c.q = delta_at(&s->q, batch, t, head / s->shared);
    c.k = delta_at(&s->k, batch, t, head / s->shared);
    c.step = delta_at(&s->step, batch, t, head);
    c.v = delta_at(&s->v, batch, t, head)[value * s->v.stride[3]];
    c.beta = *delta_at(&s->beta, batch, t, head);
    delta_at(&s->out, batch, t, head)[value * s->out.stride[3]] =
        take_step(s, &c);
  }
}

static int netrt_reference_delta(const struct netrt *net,
                                 const struct netrt_op *op) {
  struct delta s = delta_of(net, op);
  ptrdiff_t batch, head, value;
  for (batch = 0; batch < s.out.size[0]; batch++)
    for (head = 0; head < s.heads; head++)
      for (value = 0; value < s.values; value++)
        run_column(&s, batch, head, value);
  return NETRT_OK;
}

KERNEL_FAST(delta);
