/* delta: vectors of columns. Threads divide them and take all their steps. */
#include "delta.h"
#include "isa.h"

#ifdef NETRT_HAS_FAST

int netrt_fast_delta(const struct netrt *net, const struct netrt_op *op);

/* Columns [from, to) of a head's state at one step. */
struct delta_columns {
  float *out, *state;
  const float *q, *k, *v, *step;
  ptrdiff_t from, to, row, dim, q_step, k_step, step_step;
  float rate, decay, beta;
  int own_steps; /* otherwise `decay` is the factor of all rows */
};

#define BODY "delta_body.h"
#include "isa_each.h"

typedef void delta_step_fn(const struct delta_columns *columns);

static delta_step_fn *step_of(const struct netrt *net) {
#if ISA_HAS_X86
  enum isa isa = isa_of(net);
  if (isa == ISA_AVX512)
    return avx512_delta_step;
  if (isa == ISA_AVX2)
    return avx2_delta_step;
#endif
  (void)net;
  return base_delta_step;
}

struct delta_job {
  struct delta delta;
  delta_step_fn *step;
  ptrdiff_t batch, panels; /* panels of a head */
};

/* columns of a task: their states fit the cache */
enum { PANEL = 32, GRAIN = 30000 };

static void run_panel(const struct delta_job *job, ptrdiff_t head,
                      ptrdiff_t from) {
  const struct delta *s = &job->delta;
  struct delta_columns p = {0};
  ptrdiff_t t, i, group = head / s->shared;
  p.from = from;
  p.to = least(from + PANEL, s->values);
  p.row = s->values;
  p.dim = s->dim;
  p.state = s->work + head * s->dim * s->values;
  p.q_step = s->q.stride[3];
  p.k_step = s->k.stride[3];
  p.step_step = s->step.stride[3];
  p.own_steps = s->own_steps;
  p.rate = delta_rate(s, head);
  for (i = 0; i < s->dim; i++)
    for (t = p.from; t < p.to; t++)
      p.state[i * p.row + t] = 0;
  for (t = 0; t < s->steps; t++) {
    p.out = delta_at(&s->out, job->batch, t, head);
    p.q = delta_at(&s->q, job->batch, t, group);
    p.k = delta_at(&s->k, job->batch, t, group);
    p.v = delta_at(&s->v, job->batch, t, head);
    p.step = delta_at(&s->step, job->batch, t, head);
    p.beta = *delta_at(&s->beta, job->batch, t, head);
    p.decay = expf(p.rate * p.step[0]);
    job->step(&p);
  }
}

static void delta_part(void *data, ptrdiff_t from, ptrdiff_t to) {
  const struct delta_job *job = data;
  ptrdiff_t part;
  for (part = from; part < to; part++)
    run_panel(job, part / job->panels, part % job->panels * PANEL);
}

int netrt_fast_delta(const struct netrt *net, const struct netrt_op *op) {
  struct delta_job job;
  const struct delta *s = &job.delta;
  ptrdiff_t grain;
  job.delta = delta_of(net, op);
  if (!is_dense(&s->out, 1) || !is_dense(&s->v, 1))
    return NOT_FOR_ME;
  job.step = step_of(net);
  job.panels = (s->values + PANEL - 1) / PANEL;
  grain = 1 + GRAIN / (PANEL * s->dim * s->steps);
  for (job.batch = 0; job.batch < s->out.size[0]; job.batch++)
    netrt_run_parts(net, s->heads * job.panels, grain, delta_part, &job);
  return NETRT_OK;
}

#else
typedef int netrt_fast_delta_is_off; /* an empty file is not valid C */
#endif
