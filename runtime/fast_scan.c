/*
 * scan: vectors of channels, whose states are beside each other. Threads divide
 * the channels and take all steps of theirs.
 */
#include "isa.h"
#include "scan.h"

#ifdef NETRT_HAS_FAST

int netrt_fast_scan(const struct netrt *net, const struct netrt_op *op);

/* Channels [from, to) of a head at one step; `row`: from a value of the state
 * to the next one. `rates` NULL: `decay` is the factor of all values. */
struct scan_channels {
  float *out, *state;
  const float *x, *step, *skip, *rates, *b, *c;
  ptrdiff_t from, to, row, values, b_step, c_step;
  float decay;
  int own_steps, own_skip;
};

#define BODY "scan_body.h"
#include "isa_each.h"

typedef void scan_step_fn(const struct scan_channels *channels);

static scan_step_fn *step_of(const struct netrt *net) {
#if ISA_HAS_X86
  enum isa isa = isa_of(net);
  if (isa == ISA_AVX512)
    return avx512_scan_step;
  if (isa == ISA_AVX2)
    return avx2_scan_step;
#endif
  (void)net;
  return base_scan_step;
}

struct scan_job {
  struct state_scan scan;
  scan_step_fn *step;
  ptrdiff_t batch, panels; /* panels of a head */
};

/* channels of a task: their states fit the cache */
enum { PANEL = 32, GRAIN = 30000 };

static struct scan_channels channels_of(const struct scan_job *job,
                                        ptrdiff_t part) {
  const struct state_scan *s = &job->scan;
  ptrdiff_t head = part / job->panels, each = s->state * s->dim;
  struct scan_channels p = {0};
  p.from = part % job->panels * PANEL;
  p.to = least(p.from + PANEL, s->dim);
  p.row = s->dim;
  p.values = s->state;
  p.state = s->work + head * each;
  p.rates = s->own_rates ? s->work + (s->heads + head) * each : NULL;
  p.b_step = s->b.stride[3];
  p.c_step = s->c.stride[3];
  p.own_steps = s->step.size[3] > 1;
  p.own_skip = s->skip.size[1] > 1;
  p.skip = netrt_floats(&s->skip) + head * s->skip.stride[0];
  return p;
}

/* Zeros and rates. */
static void begin(const struct state_scan *s, const struct scan_channels *p,
                  ptrdiff_t head) {
  float *rates = s->work + (s->heads + head) * s->state * s->dim;
  ptrdiff_t i, n;
  for (i = 0; i < s->state; i++)
    for (n = p->from; n < p->to; n++) {
      p->state[i * p->row + n] = 0;
      if (p->rates)
        rates[i * p->row + n] = scan_rate(s, head, n, i);
    }
}

static void scan_part(void *data, ptrdiff_t from, ptrdiff_t to) {
  const struct scan_job *job = data;
  const struct state_scan *s = &job->scan;
  ptrdiff_t part, t;
  for (part = from; part < to; part++) {
    struct scan_channels p = channels_of(job, part);
    ptrdiff_t head = part / job->panels, group = head / s->shared;
    float rate = scan_rate(s, head, p.from, 0);
    begin(s, &p, head);
    for (t = 0; t < s->steps; t++) {
      p.out = scan_at(&s->out, job->batch, t, head);
      p.x = scan_at(&s->x, job->batch, t, head);
      p.step = scan_at(&s->step, job->batch, t, head);
      p.b = scan_at(&s->b, job->batch, t, group);
      p.c = scan_at(&s->c, job->batch, t, group);
      p.decay = p.rates ? 0 : expf(rate * *p.step);
      job->step(&p);
    }
  }
}

int netrt_fast_scan(const struct netrt *net, const struct netrt_op *op) {
  struct scan_job job;
  const struct state_scan *s = &job.scan;
  ptrdiff_t grain;
  job.scan = scan_of(net, op);
  if (!is_dense(&s->out, 1) || !is_dense(&s->x, 1) || !is_dense(&s->step, 1) ||
      !is_dense(&s->skip, 1) || (!s->own_rates && s->step.size[3] > 1))
    return NOT_FOR_ME;
  job.step = step_of(net);
  job.panels = (s->dim + PANEL - 1) / PANEL;
  grain = 1 + GRAIN / (PANEL * s->state * s->steps);
  for (job.batch = 0; job.batch < s->out.size[0]; job.batch++)
    netrt_run_parts(net, s->heads * job.panels, grain, scan_part, &job);
  return NETRT_OK;
}

#else
typedef int netrt_fast_scan_is_off; /* an empty file is not valid C */
#endif
