/*
 * rnn, lstm, gru: one direction along a sequence. The work memory has the gates
 * of each step, N x L x gates x units: first the inputs' products, then the
 * values. In an lstm the cell state replaces the input gate; in the others the
 * last output is the state.
 */
#ifndef NETRT_RECURRENT_H
#define NETRT_RECURRENT_H

#include "kernel.h"

struct recurrent_way {
  const struct netrt *net;
  struct netrt_view out, in, input, hidden; /* weights I,rows; units,rows */
  const float *input_bias, *hidden_bias;    /* NULL: none; contiguous */
  float *work;
  ptrdiff_t gates, units, steps, first; /* first: its offset in the output */
  struct netrt_view state, cell;        /* before the first step, if given */
  int given, keep_cell;                 /* keep: the output's last row */
  int backward;
  int reset_first; /* a gru's reset gate acts before the product */
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

/* The step at index i of the direction. */
static inline ptrdiff_t step_at(const struct recurrent_way *w, ptrdiff_t i) {
  return w->backward ? w->steps - 1 - i : i;
}

/* The state of a sample before the step at index i; NULL: zeros. `step` is set
 * to the distance of its values. */
static inline const float *before_of(const struct recurrent_way *w,
                                     ptrdiff_t batch, ptrdiff_t i,
                                     ptrdiff_t *step) {
  *step = i || !w->given ? w->out.stride[2] : w->state.stride[1];
  return i          ? state_of(w, batch, step_at(w, i - 1))
         : w->given ? netrt_floats(&w->state) + batch * w->state.stride[0]
                    : NULL;
}

/* The same of its cell. */
static inline const float *cell_before(const struct recurrent_way *w,
                                       ptrdiff_t batch, ptrdiff_t i,
                                       ptrdiff_t *step) {
  *step = i || !w->given ? 1 : w->cell.stride[1];
  return i          ? gates_of(w, batch, step_at(w, i - 1))
         : w->given ? netrt_floats(&w->cell) + batch * w->cell.stride[0]
                    : NULL;
}

/* Runs each direction of an operation. */
int netrt_recurrent(const struct netrt *net, const struct netrt_op *op,
                    ptrdiff_t gates,
                    void (*run)(const struct recurrent_way *way));

#endif
