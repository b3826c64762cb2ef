/* Steps of scan for one instruction set (isa.h). */
#include "vector_body.h"

/* A step of channels [from, to) of a head. */
static TARGET void NAME(scan_step)(const struct scan_channels *p) {
  ptrdiff_t n, i;
  for (n = p->from; n < p->to; n += LANES) {
    ptrdiff_t left = p->to - n;
    float *state = p->state + n;
    NAME(floats) x = NAME(load)(p->x + n, left), y = NAME(all)(0);
    NAME(floats)
    step = p->own_steps ? NAME(load)(p->step + n, left) : NAME(all)(*p->step);
    NAME(floats) given = step * x;
    for (i = 0; i < p->values; i++, state += p->row) {
      NAME(floats) decay = NAME(all)(p->decay), now;
      if (p->rates)
        decay = NAME(exp)(step * NAME(load)(p->rates + i * p->row + n, left));
      now = decay * NAME(load)(state, left) + given * p->b[i * p->b_step];
      NAME(store)(state, now, left);
      y += now * p->c[i * p->c_step];
    }
    NAME(store)
    (p->out + n,
     y + x * (p->own_skip ? NAME(load)(p->skip + n, left)
                          : NAME(all)(*p->skip)),
     left);
  }
}

#undef INLINE
