/* rnn, lstm, gru, plain: a state that is updated along a sequence. */
#include "recurrent.h"

/* to[0..rows) += vector times matrix[:, from..from + rows) */
static void add_product(float *to, const float *vector, ptrdiff_t step,
                        const struct netrt_view *matrix, ptrdiff_t from,
                        ptrdiff_t rows) {
  ptrdiff_t i, r;
  if (step == 1) {
    netrt_add_product(to, vector, netrt_floats(matrix) + from, matrix->size[0],
                      matrix->stride[0], rows);
    return;
  }
  for (i = 0; i < matrix->size[0]; i++) {
    float value = vector[i * step];
    const float *row = netrt_floats(matrix) + i * matrix->stride[0] + from;
    for (r = 0; r < rows; r++)
      to[r] += value * row[r];
  }
}

static void add_vector(float *to, const float *bias, ptrdiff_t count) {
  ptrdiff_t i;
  for (i = 0; bias && i < count; i++)
    to[i] += bias[i];
}

static float squash(float x) {
  return 1 / (1 + expf(-x));
}

/* The state before a step, and the distance of its values. */
struct old_state {
  const float *at; /* NULL: zeros */
  ptrdiff_t step;
};

static void step_rnn(const struct recurrent_way *w, float *gates, float *state,
                     struct old_state old) {
  ptrdiff_t u, to = w->out.stride[2];
  if (old.at)
    add_product(gates, old.at, old.step, &w->hidden, 0, w->units);
  add_vector(gates, w->hidden_bias, w->units);
  for (u = 0; u < w->units; u++)
    state[u * to] = tanhf(gates[u]);
}

/* Gates: input, forget, cell, output. */
static void step_lstm(const struct recurrent_way *w, float *gates, float *state,
                      struct old_state old, struct old_state cells) {
  ptrdiff_t u, to = w->out.stride[2], n = w->units;
  if (old.at)
    add_product(gates, old.at, old.step, &w->hidden, 0, 4 * n);
  add_vector(gates, w->hidden_bias, 4 * n);
  for (u = 0; u < n; u++) {
    float cell = squash(gates[u]) * tanhf(gates[2 * n + u]);
    if (cells.at)
      cell += squash(gates[n + u]) * cells.at[u * cells.step];
    gates[u] = cell;
    state[u * to] = squash(gates[3 * n + u]) * tanhf(cell);
  }
}

/* The reset state replaces the reset gate. */
static void reset_state(const struct recurrent_way *w, float *gates,
                        struct old_state old) {
  ptrdiff_t u, n = w->units;
  for (u = 0; u < n; u++)
    gates[u] = old.at ? squash(gates[u]) * old.at[u * old.step] : 0;
  add_product(gates + 2 * n, gates, 1, &w->hidden, 2 * n, n);
}

/* Gates: reset, update, new. The reset gate acts on the state's
 * product, or on the state. */
static void step_gru(const struct recurrent_way *w, float *gates, float *state,
                     struct old_state old) {
  ptrdiff_t u, i, to = w->out.stride[2], n = w->units;
  const struct netrt_view *hidden = &w->hidden;
  if (old.at)
    add_product(gates, old.at, old.step, hidden, 0, 2 * n);
  add_vector(gates, w->hidden_bias, 2 * n);
  for (u = 0; u < n; u++)
    state[u * to] = w->hidden_bias ? w->hidden_bias[2 * n + u] : 0;
  if (w->reset_first)
    reset_state(w, gates, old);
  for (i = 0; old.at && !w->reset_first && i < n; i++) {
    const float *row = netrt_floats(hidden) + i * hidden->stride[0] + 2 * n;
    float value = old.at[i * old.step];
    for (u = 0; u < n; u++)
      state[u * to] += value * row[u];
  }
  for (u = 0; u < n; u++) {
    float reset = w->reset_first ? 1 : squash(gates[u]);
    float update = squash(gates[n + u]);
    float fresh = tanhf(gates[2 * n + u] + reset * state[u * to]);
    float last = old.at ? old.at[u * old.step] : 0;
    state[u * to] = (1 - update) * fresh + update * last;
  }
}

/* Computes the products of the inputs of all steps. */
static void begin_gates(const struct recurrent_way *w, ptrdiff_t batch) {
  ptrdiff_t rows = w->gates * w->units, step, r;
  for (step = 0; step < w->steps; step++) {
    float *gates = gates_of(w, batch, step);
    for (r = 0; r < rows; r++)
      gates[r] = w->input_bias ? w->input_bias[r] : 0;
    add_product(gates,
                netrt_floats(&w->in) + batch * w->in.stride[0] +
                    step * w->in.stride[1],
                w->in.stride[2], &w->input, 0, rows);
  }
}

static void run_sequence(const struct recurrent_way *w, ptrdiff_t batch) {
  ptrdiff_t i;
  begin_gates(w, batch);
  for (i = 0; i < w->steps; i++) {
    ptrdiff_t step = step_at(w, i);
    float *gates = gates_of(w, batch, step);
    float *state = state_of(w, batch, step);
    struct old_state old, cells;
    old.at = before_of(w, batch, i, &old.step);
    if (w->gates == 4) {
      cells.at = cell_before(w, batch, i, &cells.step);
      step_lstm(w, gates, state, old, cells);
    } else if (w->gates == 3)
      step_gru(w, gates, state, old);
    else
      step_rnn(w, gates, state, old);
  }
}

static void run_way(const struct recurrent_way *w) {
  ptrdiff_t batch;
  for (batch = 0; batch < w->out.size[0]; batch++)
    run_sequence(w, batch);
}

/* Copies the cells after the last step to the row after it. */
static void keep_cells(const struct recurrent_way *w) {
  ptrdiff_t batch, u;
  for (batch = 0; batch < w->out.size[0]; batch++) {
    const float *from = gates_of(w, batch, w->steps - 1);
    float *to = state_of(w, batch, w->steps);
    for (u = 0; u < w->units; u++)
      to[u * w->out.stride[2]] = from[u];
  }
}

int netrt_recurrent(const struct netrt *net, const struct netrt_op *op,
                    ptrdiff_t gates,
                    void (*run)(const struct recurrent_way *way)) {
  int ways = netrt_args(net, op)[0], how = netrt_args(net, op)[1], i;
  int biased = how & 3;
  uint32_t next = 1;
  struct netrt_view work = netrt_in(net, op, op->ins), bias;
  struct recurrent_way w;
  w.net = net;
  w.out = netrt_out(net, op);
  w.in = netrt_in(net, op, 0);
  w.work = netrt_floats(&work);
  w.gates = gates;
  w.units = w.out.size[2] / ways;
  w.steps = w.in.size[1];
  w.reset_first = how & 4;
  w.given = how & 8;
  w.keep_cell = how & 16;
  if (w.given)
    w.state = netrt_in(net, op, next++);
  if (w.given && gates == 4)
    w.cell = netrt_in(net, op, next++);
  for (i = 0; i < ways; i++) {
    w.input = netrt_in(net, op, next++);
    w.hidden = netrt_in(net, op, next++);
    w.input_bias = w.hidden_bias = NULL;
    if (biased) {
      bias = netrt_in(net, op, next++);
      w.input_bias = netrt_floats(&bias);
    }
    if (biased == 1) {
      bias = netrt_in(net, op, next++);
      w.hidden_bias = netrt_floats(&bias);
    }
    w.first = i * w.units;
    w.backward = i;
    run(&w);
  }
  if (w.keep_cell)
    keep_cells(&w);
  return NETRT_OK;
}

#define RECURRENT(id, gates)                                   \
  static int netrt_reference_##id(const struct netrt *net,     \
                                  const struct netrt_op *op) { \
    return netrt_recurrent(net, op, gates, run_way);           \
  }                                                            \
  KERNEL_FAST(id)

RECURRENT(rnn, 1);
RECURRENT(lstm, 4);
RECURRENT(gru, 3);
