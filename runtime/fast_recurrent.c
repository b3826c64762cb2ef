/*
 * rnn, lstm, gru: the inputs of all steps are one matrix product. Then each
 * step adds the state's product for all samples of the batch. Threads divide
 * the units of a step.
 */
#include "gemm.h"
#include "recurrent.h"

#ifdef NETRT_HAS_FAST

int netrt_fast_rnn(const struct netrt *net, const struct netrt_op *op);
int netrt_fast_lstm(const struct netrt *net, const struct netrt_op *op);
int netrt_fast_gru(const struct netrt *net, const struct netrt_op *op);

/* to[b, n] += sum over k of vector[b, k] matrix[k, n] */
struct recurrent_product {
  float *to;
  const float *vector, *matrix;
  ptrdiff_t to_row, vector_row, matrix_row;
  ptrdiff_t batch, depth, columns;
};

/* Units [from, to) of a step of one sample. `before` and `cells` are NULL in
 * the first step. */
struct recurrent_units {
  float *gates, *state;
  const float *before, *cells, *bias;
  ptrdiff_t units, from, to;
  int reset_first;
};

struct recurrent_steps {
  void (*add_product)(const struct recurrent_product *product);
  void (*rnn)(const struct recurrent_units *units);
  void (*lstm)(const struct recurrent_units *units);
  void (*reset)(const struct recurrent_units *units);
  void (*gru)(const struct recurrent_units *units);
};

#define BODY "recurrent_body.h"
#include "isa_each.h"

static const struct recurrent_steps *steps_of(const struct netrt *net) {
#if ISA_HAS_X86
  enum isa isa = isa_of(net);
  if (isa == ISA_AVX512)
    return &avx512_recurrent;
  if (isa == ISA_AVX2)
    return &avx2_recurrent;
#endif
  (void)net;
  return &base_recurrent;
}

struct recurrent_job {
  const struct recurrent_way *way;
  const struct recurrent_steps *steps;
  ptrdiff_t i; /* index of the step in its direction */
};

/* units of a task: whole vectors of any instruction set */
enum { PANEL = 64, GRAIN = 400000 };

/* Adds the product of the last states to gates [gate, gate + gates), or to a
 * new gate that is stored in place of the state. */
static void add_states(const struct recurrent_job *job, ptrdiff_t gate,
                       ptrdiff_t gates, ptrdiff_t from, ptrdiff_t to,
                       int in_state) {
  const struct recurrent_way *w = job->way;
  ptrdiff_t step = step_at(w, job->i), g, one;
  struct recurrent_product p;
  int whole = from == 0 && to == w->units;
  p.batch = w->out.size[0];
  p.depth = w->units;
  p.vector = before_of(w, 0, job->i, &one);
  p.vector_row = job->i ? w->out.stride[0] : w->state.stride[0];
  p.to_row = in_state ? w->out.stride[0] : w->steps * w->gates * w->units;
  p.matrix_row = w->hidden.stride[0];
  p.columns = whole ? gates * w->units : to - from;
  for (g = gate; g < gate + (whole ? 1 : gates); g++) {
    p.matrix = netrt_floats(&w->hidden) + g * w->units + from;
    p.to = in_state ? state_of(w, 0, step) + from
                    : gates_of(w, 0, step) + g * w->units + from;
    job->steps->add_product(&p);
  }
}

static struct recurrent_units units_of(const struct recurrent_job *job,
                                       ptrdiff_t batch, ptrdiff_t from,
                                       ptrdiff_t to) {
  const struct recurrent_way *w = job->way;
  ptrdiff_t step = step_at(w, job->i), one;
  struct recurrent_units s;
  s.gates = gates_of(w, batch, step);
  s.state = state_of(w, batch, step);
  s.before = before_of(w, batch, job->i, &one);
  s.cells = w->gates == 4 ? cell_before(w, batch, job->i, &one) : NULL;
  s.bias = w->hidden_bias;
  s.units = w->units;
  s.from = from;
  s.to = to;
  s.reset_first = w->reset_first;
  return s;
}

/* Initializes the new gate of a gru, in place of the state,
 * with its bias or 0. */
static void begin_state(const struct recurrent_job *job, ptrdiff_t from,
                        ptrdiff_t to) {
  const struct recurrent_way *w = job->way;
  ptrdiff_t b, u;
  for (b = 0; b < w->out.size[0]; b++) {
    float *state = state_of(w, b, step_at(w, job->i));
    for (u = from; u < to; u++)
      state[u] = w->hidden_bias ? w->hidden_bias[2 * w->units + u] : 0;
  }
}

/* A gru whose reset gate acts on the state: the new gate needs the
 * whole reset state. */
static void reset_part(void *data, ptrdiff_t from, ptrdiff_t to) {
  const struct recurrent_job *job = data;
  const struct recurrent_way *w = job->way;
  ptrdiff_t b;
  from *= PANEL;
  to = least(to * PANEL, w->units);
  add_states(job, 0, 2, from, to, 0);
  for (b = 0; b < w->out.size[0]; b++) {
    struct recurrent_units s = units_of(job, b, from, to);
    job->steps->reset(&s);
  }
}

/* The reset state is in the first gate. */
static void add_reset(const struct recurrent_job *job, ptrdiff_t from,
                      ptrdiff_t to) {
  const struct recurrent_way *w = job->way;
  struct recurrent_product p;
  p.batch = w->out.size[0];
  p.depth = w->units;
  p.columns = to - from;
  p.vector = gates_of(w, 0, step_at(w, job->i));
  p.vector_row = w->steps * w->gates * w->units;
  p.matrix = netrt_floats(&w->hidden) + 2 * w->units + from;
  p.matrix_row = w->hidden.stride[0];
  p.to = state_of(w, 0, step_at(w, job->i)) + from;
  p.to_row = w->out.stride[0];
  job->steps->add_product(&p);
}

static void step_part(void *data, ptrdiff_t from, ptrdiff_t to) {
  const struct recurrent_job *job = data;
  const struct recurrent_way *w = job->way;
  int has_state = job->i || w->given;
  ptrdiff_t b;
  from *= PANEL;
  to = least(to * PANEL, w->units);
  if (w->gates == 3)
    begin_state(job, from, to);
  if (has_state && w->gates == 3 && w->reset_first)
    add_reset(job, from, to);
  else if (has_state && w->gates == 3) {
    add_states(job, 0, 2, from, to, 0);
    add_states(job, 2, 1, from, to, 1);
  } else if (has_state)
    add_states(job, 0, w->gates, from, to, 0);
  for (b = 0; b < w->out.size[0]; b++) {
    struct recurrent_units s = units_of(job, b, from, to);
    if (w->gates == 4)
      job->steps->lstm(&s);
    else if (w->gates == 3)
      job->steps->gru(&s);
    else
      job->steps->rnn(&s);
  }
}

/* Products of the inputs of all steps: one product if samples are as
 * far apart as steps. */
static void begin_gates(const struct recurrent_way *w) {
  ptrdiff_t batch = w->out.size[0], b;
  struct gemm g = {0};
  int one = batch == 1 || w->in.stride[0] == w->steps * w->in.stride[1];
  g.b = netrt_floats(&w->input);
  g.b_row = w->input.stride[0];
  g.b_step = 1;
  g.bias = w->input_bias;
  g.out_row = g.n = w->gates * w->units;
  g.m = g.line = one ? batch * w->steps : w->steps;
  g.taps = 1;
  g.ins = w->in.size[2];
  g.tap_rows = NULL;
  g.rows = NULL;
  g.user = NULL;
  g.a_row = w->in.stride[1];
  for (b = 0; b < (one ? 1 : batch); b++) {
    g.out = gates_of(w, b, 0);
    g.a = netrt_floats(&w->in) + b * w->in.stride[0];
    netrt_gemm(w->net, &g);
  }
}

static void run_way(const struct recurrent_way *w) {
  ptrdiff_t panels = (w->units + PANEL - 1) / PANEL, grain;
  struct recurrent_job job;
  job.way = w;
  job.steps = steps_of(w->net);
  grain = 1 + GRAIN / (PANEL * w->gates * w->units * w->out.size[0]);
  begin_gates(w);
  for (job.i = 0; job.i < w->steps; job.i++) {
    if ((job.i || w->given) && w->gates == 3 && w->reset_first)
      netrt_run_parts(w->net, panels, grain, reset_part, &job);
    netrt_run_parts(w->net, panels, grain, step_part, &job);
  }
}

static int run_fast(const struct netrt *net, const struct netrt_op *op,
                    ptrdiff_t gates) {
  struct netrt_view out = netrt_out(net, op), in = netrt_in(net, op, 0);
  uint32_t i;
  if (out.stride[2] != 1 || in.stride[2] != 1)
    return NOT_FOR_ME;
  if (netrt_args(net, op)[1] & 8) /* given states */
    for (i = 1; i <= 1 + (gates == 4); i++)
      if (netrt_in(net, op, i).stride[1] != 1)
        return NOT_FOR_ME;
  return netrt_recurrent(net, op, gates, run_way);
}

int netrt_fast_rnn(const struct netrt *net, const struct netrt_op *op) {
  return run_fast(net, op, 1);
}

int netrt_fast_lstm(const struct netrt *net, const struct netrt_op *op) {
  return run_fast(net, op, 4);
}

int netrt_fast_gru(const struct netrt *net, const struct netrt_op *op) {
  return run_fast(net, op, 3);
}

#else
typedef int netrt_fast_recurrent_is_off; /* an empty file is not valid C */
#endif
