/* scan, plain: the steps of one channel after the other. */
#include "scan.h"

/* One step of a channel; returns the state's output. `rate`: of the first
 * value, which is that of all unless they have their own. */
static float take_step(const struct state_scan *s, float step, float given,
                       const float *b, const float *c, float rate) {
  float *state = s->work, *rates = s->work + s->state, y = 0;
  float decay = expf(rate * step);
  ptrdiff_t i;
  for (i = 0; i < s->state; i++) {
    if (s->own_rates)
      decay = expf(rates[i] * step);
    state[i] = decay * state[i] + given * b[i * s->b.stride[3]];
    y += state[i] * c[i * s->c.stride[3]];
  }
  return y;
}

static void run_channel(const struct state_scan *s, ptrdiff_t batch,
                        ptrdiff_t head, ptrdiff_t channel) {
  float rate = scan_rate(s, head, channel, 0), skip;
  ptrdiff_t t, i;
  skip = scan_skip(s, head, channel);
  for (i = 0; i < s->state; i++) {
    s->work[i] = 0;
    if (s->own_rates)
      s->work[s->state + i] = scan_rate(s, head, channel, i);
  }
  for (t = 0; t < s->steps; t++) {
    float x = scan_at(&s->x, batch, t, head)[channel * s->x.stride[3]];
    float step =
        scan_at(&s->step, batch, t, head)[channel * scan_stride(&s->step, 3)];
    float y =
        take_step(s, step, step * x, scan_at(&s->b, batch, t, head / s->shared),
                  scan_at(&s->c, batch, t, head / s->shared), rate);
    scan_at(&s->out, batch, t, head)[channel * s->out.stride[3]] = y + skip * x;
  }
}

static int netrt_reference_scan(const struct netrt *net,
                                const struct netrt_op *op) {
  struct state_scan s = scan_of(net, op);
  ptrdiff_t batch, head, channel;
  for (batch = 0; batch < s.out.size[0]; batch++)
    for (head = 0; head < s.heads; head++)
      for (channel = 0; channel < s.dim; channel++)
        run_channel(&s, batch, head, channel);
  return NETRT_OK;
}

KERNEL_FAST(scan);
