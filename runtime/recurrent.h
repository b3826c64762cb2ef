/*
 * rnn, lstm, gru: one way along a sequence. The work memory holds the gates of
 * each step, N x L x gates x units: what the inputs give them, then their
 * values. Of an lstm, the cells of a step lie where its input gate was; of the
 * others, the last output is the state.
 */
#ifndef NETRT_RECURRENT_H
#define NETRT_RECURRENT_H

#include "kernel.h"

struct recurrent_way {
  const struct netrt *net;
  struct netrt_view out, in, input, hidden; /* weights I,rows; units,rows */
  const float *input_bias, *hidden_bias;    /* NULL: none; dense */
  float *work;
  ptrdiff_t gates, units, steps, first; /* of its features in the output */
  int backward;
  int reset_first; /* a gru's reset gate, before the state's product */
};

static inline float *gates_of(const struct recurrent_way *w, ptrdiff_t batch,
                              ptrdiff_t step) {
  return w->work + (batch * w->steps + step) * w->gates * w->units;
}

static inline float *state_of(const struct recurrent_way *w, ptrdiff_t batch,
                              ptrdiff_t step) {
  return netrt_floats(&w->out) + batch * w->out.stride[0] +
         step * w->out.stride[1] + w->first * w->out.stride[2];
}

/* The step at place i of the way. */
static inline ptrdiff_t step_at(const struct recurrent_way *w, ptrdiff_t i) {
  return w->backward ? w->steps - 1 - i : i;
}

/* Runs each way of an operation. */
int netrt_recurrent(const struct netrt *net, const struct netrt_op *op,
                    ptrdiff_t gates,
                    void (*run)(const struct recurrent_way *way));

#endif
