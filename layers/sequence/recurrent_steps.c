/*
 * rnn, lstm and gru, operation by operation, as PyTorch runs them on a CPU
 * without a kernel for whole layers. The order, in-place writes and held values
 * are those of aten/src/ATen/native/RNN.cpp. They were measured allocation by
 * allocation: tests/data/sequence.csv.
 */
#include "layers/sequence/recurrent_steps.h"

/* With more steps in total, each layer is one operation. */
enum { MOST_STEPS = 2048 };

/* RNN.cpp: lstm without projections. */
static bool has_kernel(const struct recurrent *recurrent,
                       const struct tape *tape, int64_t gates) {
  return tape->profile->lstm_kernel && gates == 4 && !recurrent->proj &&
         !recurrent_has_cells(recurrent);
}

bool recurrent_has_steps(const struct layer *layer, const struct tape *tape,
                         int64_t gates) {
  const struct recurrent *recurrent = layer->args;
  int64_t ways = recurrent_directions(recurrent), most = MOST_STEPS;
  int64_t count = has_kernel(recurrent, tape, gates) ? 1 : layer->in[0]->dim[0];
  return tape->profile->recurrent_steps && !tape->lowers && !tape->mixed &&
         (!recurrent_has_cells(recurrent) || ways == 1) &&
         count <= most / ways / recurrent->layers;
}

size_t recurrent_unary(struct recurrent_run *s, size_t in,
                       struct operation op) {
  op.in = &in;
  op.in_count = 1;
  return tape_run(s->tape, &op);
}

size_t recurrent_binary(struct recurrent_run *s, size_t a, size_t b,
                        struct operation op) {
  const size_t in[2] = {a, b};
  op.in = in;
  op.in_count = 2;
  return tape_run(s->tape, &op);
}

size_t recurrent_many(struct recurrent_run *s, const size_t *in, size_t count,
                      const size_t *held, size_t held_count,
                      struct operation op) {
  size_t *all = arena_alloc(s->tape->arena, count + held_count, sizeof *all);
  memcpy(all, in, count * sizeof *all);
  for (size_t i = 0; i < held_count; i++)
    all[count + i] = held[i];
  op.in = all;
  op.in_count = (int)(count + held_count);
  op.held = (int)held_count;
  return tape_run(s->tape, &op);
}

/* x += y */
static size_t add(struct recurrent_run *s, size_t x, size_t y) {
  return recurrent_binary(s, x, y,
                          (struct operation){.name = "add",
                                             .out = *tape_extent(s->tape, x),
                                             .result = RESULT_VIEW,
                                             .gradient = GRADIENT_SHARED});
}

/* x *= y: y's gradient needs a copy of x. */
static size_t multiply_in_place(struct recurrent_run *s, size_t x, size_t y) {
  return recurrent_binary(s, x, y,
                          (struct operation){.name = "mul",
                                             .out = s->unit,
                                             .result = RESULT_VIEW,
                                             .keeps = KEEPS_IN(1),
                                             .kept = {s->unit},
                                             .guarded = true});
}

/* x * y, while `held` stays in memory; SIZE_MAX: none. */
static size_t multiply_beside(struct recurrent_run *s, size_t x, size_t y,
                              size_t held) {
  const size_t in[2] = {x, y};
  return recurrent_many(s, in, 2, &held, held != SIZE_MAX,
                        (struct operation){.name = "mul",
                                           .out = s->unit,
                                           .keeps = KEEPS_IN(0) | KEEPS_IN(1),
                                           .guarded = true});
}

size_t recurrent_multiply(struct recurrent_run *s, size_t x, size_t y) {
  return multiply_beside(s, x, y, SIZE_MAX);
}

size_t recurrent_activate(struct recurrent_run *s, size_t x, const char *name,
                          enum result result) {
  return recurrent_unary(
      s, x,
      (struct operation){
          .name = name, .out = s->unit, .result = result, .keeps = KEEPS_OUT});
}

size_t recurrent_chunk(struct recurrent_run *s, size_t gates) {
  return recurrent_unary(s, gates,
                         (struct operation){.name = "chunk",
                                            .out = s->unit,
                                            .outs = (int)s->gates,
                                            .result = RESULT_VIEW});
}

bool recurrent_has_bias(const struct recurrent_run *s, bool state) {
  if (s->recurrent->norm)
    return false;
  int params = recurrent_param_count(s->recurrent) - (s->recurrent->proj > 0);
  return params > 2 + state;
}

size_t recurrent_matrix(struct recurrent_run *s, size_t x, bool state,
                        struct extent out, size_t held) {
  return recurrent_many(
      s, &x, 1, &held, held != SIZE_MAX,
      (struct operation){.name = "linear",
                         .out = out,
                         .keeps = KEEPS_IN(0),
                         .first_param = s->first_param + state,
                         .param_count = 1 + recurrent_has_bias(s, state),
                         .param_step = 2,
                         .plain = out.count == s->all.count,
                         .guarded = true});
}

static size_t rnn_step(struct recurrent_run *s, size_t x, size_t hidden) {
  size_t sum = add(s, recurrent_matrix(s, hidden, true, s->all, SIZE_MAX), x);
  return recurrent_activate(s, sum, "tanh", RESULT_NEW);
}

size_t recurrent_project(struct recurrent_run *s, size_t hidden) {
  if (s->recurrent->proj == 0)
    return hidden;
  int params = recurrent_param_count(s->recurrent);
  return recurrent_unary(
      s, hidden,
      (struct operation){.name = "project",
                         .out = s->out,
                         .keeps = KEEPS_IN(0),
                         .first_param = s->first_param + params - 1,
                         .param_count = 1,
                         .plain = true,
                         .guarded = true});
}

/* Gates: input, forget, cell, output. The caller holds the old cell until
 * there is a new one. */
static size_t lstm_step(struct recurrent_run *s, size_t x, size_t hidden,
                        size_t *cell) {
  size_t all = add(s, recurrent_matrix(s, hidden, true, s->all, SIZE_MAX), x);
  size_t at = recurrent_chunk(s, all);
  size_t in = recurrent_activate(s, at, "sigmoid", RESULT_VIEW);
  size_t forget = recurrent_activate(s, at + 1, "sigmoid", RESULT_VIEW);
  size_t gate = recurrent_activate(s, at + 2, "tanh", RESULT_VIEW);
  size_t out = recurrent_activate(s, at + 3, "sigmoid", RESULT_VIEW);
  size_t old = *cell;
  size_t kept = recurrent_multiply(s, forget, old);
  *cell = add(s, kept, recurrent_multiply(s, in, gate));
  size_t seen = recurrent_activate(s, *cell, "tanh", RESULT_NEW);
  return recurrent_project(s, multiply_beside(s, out, seen, old));
}

/* Gates: reset, update, new. */
static size_t gru_step(struct recurrent_run *s, size_t x, size_t hidden) {
  size_t of_x = recurrent_chunk(s, x);
  size_t of_h =
      recurrent_chunk(s, recurrent_matrix(s, hidden, true, s->all, SIZE_MAX));
  size_t reset =
      recurrent_activate(s, add(s, of_h, of_x), "sigmoid", RESULT_VIEW);
  size_t update =
      recurrent_activate(s, add(s, of_h + 1, of_x + 1), "sigmoid", RESULT_VIEW);
  size_t made = multiply_in_place(s, of_h + 2, reset);
  made = recurrent_binary(s, of_x + 2, made,
                          (struct operation){.name = "add",
                                             .out = s->unit,
                                             .gradient = GRADIENT_SHARED});
  made = recurrent_activate(s, made, "tanh", RESULT_VIEW);
  size_t rest = recurrent_binary(
      s, hidden, made,
      (struct operation){
          .name = "sub", .out = s->unit, .gradient = GRADIENT_FIRST});
  return add(s, multiply_in_place(s, rest, update), made);
}

static size_t copied_by_steps(struct recurrent_run *s, size_t x) {
  return recurrent_unary(
      s, x,
      (struct operation){.name = "copy",
                         .out = *tape_extent(s->tape, x),
                         .layout = LAYOUT_ROWS,
                         .view_of_one = !s->kernel ||
                                        layout_rows(s->tape, x) <= ROWS_OF_ONE,
                         .gradient = GRADIENT_SHARED});
}

/*
 * A direction of a layer: the products of all inputs, then step after step,
 * then a stack of the states. `gates` holds those of the direction before until
 * the new ones replace them.
 */
static size_t direction(struct recurrent_run *s, size_t x, bool reverse,
                        size_t *outs, size_t *gates, size_t last) {
  struct extent all = s->all, out = s->out;
  all.count = size_product(s->count, all.count);
  out.count = size_product(s->count, out.count);
  if (s->copies) /* made by the product */
    x = copied_by_steps(s, x);
  *gates = recurrent_matrix(s, x, false, all, *gates);
  size_t each = recurrent_unary(s, *gates,
                                (struct operation){.name = "unbind",
                                                   .out = s->all,
                                                   .outs = (int)s->count,
                                                   .result = RESULT_VIEW});
  size_t hidden = s->hidden, cell = s->cell;
  for (int64_t i = 0; i < s->count; i++) {
    size_t at = each + (size_t)(reverse ? s->count - 1 - i : i);
    if (s->gates == 1)
      hidden = rnn_step(s, at, hidden);
    else if (s->gates == 4)
      hidden = lstm_step(s, at, hidden, &cell);
    else
      hidden = gru_step(s, at, hidden);
    outs[i] = hidden;
  }
  s->last_hidden[last] = hidden;
  s->last_cell[last] = cell;
  const size_t held[] = {*gates, s->from};
  return recurrent_many(s, outs, (size_t)s->count, held, 2,
                        (struct operation){.name = "stack",
                                           .out = out,
                                           .gradient = GRADIENT_SHARED});
}

static size_t one_layer(struct recurrent_run *s, size_t x, int64_t layer) {
  if (s->kernel)
    return recurrent_kernel(s, s->copies ? copied_by_steps(s, x) : x, layer);
  int64_t ways = recurrent_directions(s->recurrent);
  size_t count = (size_t)s->count, gates = SIZE_MAX, way[2];
  s->from = x;
  for (int64_t i = 0; i < ways; i++) {
    size_t at = (size_t)(layer * ways + i);
    s->first_param = (int)at * recurrent_param_count(s->recurrent);
    way[i] = direction(s, x, i > 0, s->outs + (size_t)i * count, &gates, at);
  }
  if (ways == 1)
    return way[0];
  struct extent both = *tape_extent(s->tape, way[0]);
  both.count = size_product(2, both.count);
  s->outs[2 * count] = gates;
  s->outs[2 * count + 1] = x;
  return recurrent_many(s, way, 2, s->outs, 2 * count + 2,
                        (struct operation){.name = "concat",
                                           .out = both,
                                           .gradient = GRADIENT_SHARED});
}

size_t recurrent_zeros(struct recurrent_run *s, int64_t count) {
  return tape_run(s->tape,
                  &(struct operation){.name = "zeros",
                                      .out = extent_sample(count, WIDTH_NET)});
}

/* The last layer's state after the last step, both directions concatenated: a
 * view of the states of all layers. */
static size_t last_state(struct recurrent_run *s, size_t states) {
  struct extent both = s->out;
  if (recurrent_directions(s->recurrent) == 1)
    return recurrent_unary(s, states,
                           (struct operation){.name = "select",
                                              .out = s->out,
                                              .result = RESULT_VIEW});
  both.count = size_product(2, both.count);
  size_t ways = recurrent_unary(
      s, states,
      (struct operation){.name = "slice", .out = both, .result = RESULT_VIEW});
  size_t each = recurrent_unary(
      s, ways,
      (struct operation){
          .name = "unbind", .out = s->out, .outs = 2, .result = RESULT_VIEW});
  return recurrent_binary(s, each, each + 1,
                          (struct operation){.name = "concat",
                                             .out = both,
                                             .gradient = GRADIENT_SHARED});
}

/* The layer's output: all states of its last layer, or the last state. The last
 * states of all layers are computed in any case. */
static size_t finals(struct recurrent_run *s, size_t out, size_t count) {
  struct extent extent = s->out;
  size_t held[5], made = 0;
  extent.count = size_product((int64_t)count, extent.count);
  size_t states = recurrent_many(
      s, s->last_hidden, count, NULL, 0,
      (struct operation){
          .name = "states", .out = extent, .gradient = GRADIENT_SHARED});
  size_t given = s->recurrent->last ? states : out;
  held[made++] = s->recurrent->last ? out : states;
  held[made++] = s->hidden;
  if (s->gates == 4) {
    extent.count = size_product((int64_t)count, s->units);
    held[made++] =
        recurrent_many(s, s->last_cell, count, NULL, 0,
                       (struct operation){.name = "states", .out = extent});
    held[made++] = s->cell;
  }
  held[made++] = s->read;
  size_t result =
      recurrent_many(s, &given, 1, held, made,
                     (struct operation){.name = "states",
                                        .out = *tape_extent(s->tape, given),
                                        .result = RESULT_VIEW,
                                        .gradient = GRADIENT_SHARED});
  return s->recurrent->last ? last_state(s, result) : result;
}

/* The states before the first step: given ones or zeros. */
static void begin(struct recurrent_run *s, const size_t *ins, int64_t layers) {
  bool given = recurrent_is_given(s->recurrent);
  s->hidden =
      given ? ins[1] : recurrent_zeros(s, size_product(layers, s->state));
  if (s->gates == 4)
    s->cell =
        given ? ins[2] : recurrent_zeros(s, size_product(layers, s->units));
}

size_t recurrent_steps(const struct layer *layer, struct tape *tape,
                       const size_t *ins, int64_t gates) {
  const struct recurrent *recurrent = layer->args;
  size_t in = ins[0];
  int64_t ways = recurrent_directions(recurrent);
  size_t all = (size_t)(recurrent->layers * ways); /* at most MOST_STEPS */
  struct recurrent_run s = {.tape = tape,
                            .recurrent = recurrent,
                            .count = layer->in[0]->dim[0],
                            .units = recurrent->units,
                            .state = recurrent_state(recurrent),
                            .gates = gates,
                            .kernel = has_kernel(recurrent, tape, gates)};
  s.unit = extent_sample(s.units, WIDTH_NET);
  s.out = extent_sample(s.state, WIDTH_NET);
  s.all = extent_sample(size_product(gates, s.units), WIDTH_NET);
  if (!s.kernel)
    s.outs = arena_alloc(tape->arena, 2 * (size_t)s.count + 2, sizeof *s.outs);
  s.last_hidden = arena_alloc(tape->arena, all, sizeof *s.last_hidden);
  s.last_cell = arena_alloc(tape->arena, all, sizeof *s.last_cell);
  s.hidden = recurrent_is_given(recurrent) ? ins[1] : SIZE_MAX;
  if (recurrent_has_cells(recurrent))
    return recurrent_cells(&s, in);
  s.read = in;
  s.copies = s.count > 1 && /* one step is already a matrix */
             !layout_lies_by_steps(tape, in, recurrent->batch_first);
  if (recurrent->batch_first)
    in = recurrent_unary(&s, in,
                         (struct operation){.name = "transpose",
                                            .out = *tape_extent(tape, in),
                                            .result = RESULT_VIEW,
                                            .gradient = GRADIENT_SHARED,
                                            .gradient_rows = ROWS_OF_ONE});
  begin(&s, ins, (int64_t)all);
  for (int64_t i = 0; i < recurrent->layers; i++) {
    in = one_layer(&s, in, i);
    s.copies = false;
    if (i + 1 < recurrent->layers)
      in = recurrent_dropout(recurrent, tape, in, *tape_extent(tape, in));
  }
  return finals(&s, in, all);
}
