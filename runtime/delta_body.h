/* Steps of delta for one instruction set (isa.h). */
#include "vector_body.h"

/* A step of columns [from, to) of a head. */
static TARGET void NAME(delta_step)(const struct delta_columns *p) {
  ptrdiff_t n, i;
  for (n = p->from; n < p->to; n += LANES) {
    ptrdiff_t left = p->to - n;
    float *state = p->state + n;
    NAME(floats) found = NAME(all)(0), y = found, lacks;
    for (i = 0; i < p->dim; i++) {
      float decay =
          p->own_steps ? expf(p->rate * p->step[i * p->step_step]) : p->decay;
      NAME(floats) now = decay * NAME(load)(state + i * p->row, left);
      NAME(store)(state + i * p->row, now, left);
      found += p->k[i * p->k_step] * now;
    }
    lacks = p->beta * (NAME(load)(p->v + n, left) - found);
    for (i = 0; i < p->dim; i++) {
      NAME(floats) now = NAME(load)(state + i * p->row, left);
      now += p->k[i * p->k_step] * lacks;
      NAME(store)(state + i * p->row, now, left);
      y += p->q[i * p->q_step] * now;
    }
    NAME(store)(p->out + n, y, left);
  }
}

#undef INLINE
