/* A step of rnn, lstm and gru for one instruction set (isa.h). */
#include "vector_body.h"

/*
 * Reads rows of the matrix in order, eight at a time, for all samples while
 * they are in the cache.
 */
static TARGET void NAME(add_product)(const struct recurrent_product *p) {
  ptrdiff_t k, b, n;
  for (k = 0; k < p->depth; k += 8) {
    ptrdiff_t rows = least(8, p->depth - k), i;
    const float *m = p->matrix + k * p->matrix_row, *at[8];
    for (i = 0; i < 8; i++) /* rows after the last are multiplied by 0 */
      at[i] = m + least(i, rows - 1) * p->matrix_row;
    for (b = 0; b < p->batch; b++) {
      const float *from = p->vector + b * p->vector_row + k;
      float *to = p->to + b * p->to_row, a[8];
      for (i = 0; i < 8; i++)
        a[i] = i < rows ? from[i] : 0;
      for (n = 0; n < p->columns; n += LANES) {
        ptrdiff_t left = p->columns - n;
        NAME(floats) sum = NAME(load)(to + n, left), other;
        sum += a[0] * NAME(load)(at[0] + n, left);
        other = a[1] * NAME(load)(at[1] + n, left);
        sum += a[2] * NAME(load)(at[2] + n, left);
        other += a[3] * NAME(load)(at[3] + n, left);
        sum += a[4] * NAME(load)(at[4] + n, left);
        other += a[5] * NAME(load)(at[5] + n, left);
        sum += a[6] * NAME(load)(at[6] + n, left);
        other += a[7] * NAME(load)(at[7] + n, left);
        NAME(store)(to + n, sum + other, left);
      }
    }
  }
}

INLINE NAME(floats) NAME(squash)(NAME(floats) x) {
  return 1 / (1 + NAME(exp)(-x));
}

/* Values from u on of a gate, with its bias. */
INLINE NAME(floats)
    NAME(gate)(const struct recurrent_units *s, ptrdiff_t gate, ptrdiff_t u) {
  ptrdiff_t at = gate * s->units + u, left = s->to - u;
  NAME(floats) x = NAME(load)(s->gates + at, left);
  return s->bias ? x + NAME(load)(s->bias + at, left) : x;
}

static TARGET void NAME(end_rnn)(const struct recurrent_units *s) {
  ptrdiff_t u;
  for (u = s->from; u < s->to; u += LANES)
    NAME(store)(s->state + u, NAME(tanh_of)(NAME(gate)(s, 0, u)), s->to - u);
}

static TARGET void NAME(end_lstm)(const struct recurrent_units *s) {
  ptrdiff_t u;
  for (u = s->from; u < s->to; u += LANES) {
    ptrdiff_t left = s->to - u;
    NAME(floats)
    cell =
        NAME(squash)(NAME(gate)(s, 0, u)) * NAME(tanh_of)(NAME(gate)(s, 2, u));
    if (s->cells)
      cell +=
          NAME(squash)(NAME(gate)(s, 1, u)) * NAME(load)(s->cells + u, left);
    NAME(store)(s->gates + u, cell, left);
    NAME(store)
    (s->state + u, NAME(squash)(NAME(gate)(s, 3, u)) * NAME(tanh_of)(cell),
     left);
  }
}

/* The reset state replaces the reset gate. */
static TARGET void NAME(reset)(const struct recurrent_units *s) {
  ptrdiff_t u;
  for (u = s->from; u < s->to; u += LANES)
    NAME(store)
  (s->gates + u,
   NAME(squash)(NAME(gate)(s, 0, u)) * NAME(load)(s->before + u, s->to - u),
   s->to - u);
}

/* The state holds the product of the last state for the new gate. */
static TARGET void NAME(end_gru)(const struct recurrent_units *s) {
  ptrdiff_t u;
  for (u = s->from; u < s->to; u += LANES) {
    ptrdiff_t left = s->to - u;
    NAME(floats) given = NAME(load)(s->state + u, left), fresh;
    NAME(floats) update = NAME(squash)(NAME(gate)(s, 1, u));
    if (!s->reset_first)
      given *= NAME(squash)(NAME(gate)(s, 0, u));
    fresh = NAME(load)(s->gates + 2 * s->units + u, left) + given;
    fresh = (1 - update) * NAME(tanh_of)(fresh);
    if (s->before)
      fresh += update * NAME(load)(s->before + u, left);
    NAME(store)(s->state + u, fresh, left);
  }
}

static const struct recurrent_steps NAME(recurrent) = {
    NAME(add_product), NAME(end_rnn), NAME(end_lstm), NAME(reset),
    NAME(end_gru)};

#undef INLINE
