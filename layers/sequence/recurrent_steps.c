/*
 * rnn, lstm and gru step by step, operation by operation: what PyTorch runs on
 * a CPU, where it has no kernel for a whole layer. Order, what is written in
 * place and what is held meanwhile are those of aten/src/ATen/native/RNN.cpp,
 * and were measured allocation by allocation: tests/data/sequence.csv.
 */
#include "layers/sequence/recurrent.h"

/* With more steps in all they are counted as one operation. */
enum { MOST_STEPS = 2048 };

struct steps {
  struct tape *tape;
  const struct recurrent *recurrent;
  int64_t count, units, state, gates;
  struct extent unit, out, all; /* of a step: a state, its result, its gates */
  int first_param;              /* of the direction */
  size_t hidden, cell;          /* zeros, which all begin with */
  size_t *outs;                 /* of each step of a layer's directions */
  size_t *last_hidden, *last_cell; /* of each layer and direction */
};

bool recurrent_has_steps(const struct layer *layer, const struct tape *tape) {
  const struct recurrent *recurrent = layer->args;
  int64_t ways = recurrent_directions(recurrent), most = MOST_STEPS;
  return tape->profile->recurrent_steps && !tape->lowers && !tape->mixed &&
         (!recurrent->norm || ways == 1) && !recurrent->reset_first &&
         layer->in[0]->dim[0] <= most / ways / recurrent->layers;
}

static size_t unary(struct steps *s, size_t in, struct operation op) {
  op.in = &in;
  op.in_count = 1;
  return tape_run(s->tape, &op);
}

static size_t binary(struct steps *s, size_t a, size_t b, struct operation op) {
  const size_t in[2] = {a, b};
  op.in = in;
  op.in_count = 2;
  return tape_run(s->tape, &op);
}

/* Of `count` tensors; `held` others are alive until it has ended. */
static size_t many(struct steps *s, const size_t *in, size_t count,
                   const size_t *held, size_t held_count, struct operation op) {
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
static size_t add(struct steps *s, size_t x, size_t y) {
  return binary(s, x, y,
                (struct operation){.name = "add",
                                   .out = *tape_extent(s->tape, x),
                                   .result = RESULT_VIEW,
                                   .gradient = GRADIENT_SHARED});
}

/* x *= y: of x, y's gradient needs a copy. */
static size_t multiply_in_place(struct steps *s, size_t x, size_t y) {
  return binary(s, x, y,
                (struct operation){.name = "mul",
                                   .out = s->unit,
                                   .result = RESULT_VIEW,
                                   .keeps = KEEPS_IN(1),
                                   .kept = {s->unit},
                                   .spares = true});
}

static size_t multiply(struct steps *s, size_t x, size_t y) {
  return binary(s, x, y,
                (struct operation){.name = "mul",
                                   .out = s->unit,
                                   .keeps = KEEPS_IN(0) | KEEPS_IN(1),
                                   .spares = true});
}

/* sigmoid, tanh: over its input, or of its own. */
static size_t activate(struct steps *s, size_t x, const char *name,
                       enum result result) {
  return unary(
      s, x,
      (struct operation){
          .name = name, .out = s->unit, .result = result, .keeps = KEEPS_OUT});
}

/* Gates side by side, each as a view; backward puts their gradients together.
 */
static size_t chunk(struct steps *s, size_t gates) {
  return unary(s, gates,
               (struct operation){.name = "chunk",
                                  .out = s->unit,
                                  .outs = (int)s->gates,
                                  .result = RESULT_VIEW});
}

static bool has_bias(const struct steps *s, bool second) {
  if (s->recurrent->norm)
    return false;
  int params = recurrent_param_count(s->recurrent) - (s->recurrent->proj > 0);
  return params > 2 + (int)second;
}

/* weight_ih with bias_ih, or weight_hh with bias_hh: two parameters on. */
static size_t matrix(struct steps *s, size_t x, bool state, struct extent out,
                     size_t held) {
  return many(s, &x, 1, &held, held != SIZE_MAX,
              (struct operation){.name = "linear",
                                 .out = out,
                                 .keeps = KEEPS_IN(0),
                                 .first_param = s->first_param + state,
                                 .param_count = 1 + has_bias(s, state),
                                 .param_step = 2,
                                 .spares = true});
}

static size_t rnn_step(struct steps *s, size_t x, size_t hidden) {
  size_t sum = add(s, matrix(s, hidden, true, s->all, SIZE_MAX), x);
  return activate(s, sum, "tanh", RESULT_NEW);
}

/* The state of an lstm that has a projection. */
static size_t project(struct steps *s, size_t hidden) {
  if (s->recurrent->proj == 0)
    return hidden;
  int params = recurrent_param_count(s->recurrent);
  return unary(s, hidden,
               (struct operation){.name = "project",
                                  .out = s->out,
                                  .keeps = KEEPS_IN(0),
                                  .first_param = s->first_param + params - 1,
                                  .param_count = 1,
                                  .spares = true});
}

/* Gates: input, forget, cell, output. */
static size_t lstm_step(struct steps *s, size_t x, size_t hidden,
                        size_t *cell) {
  size_t all = add(s, matrix(s, hidden, true, s->all, SIZE_MAX), x);
  size_t at = chunk(s, all);
  size_t in = activate(s, at, "sigmoid", RESULT_VIEW);
  size_t forget = activate(s, at + 1, "sigmoid", RESULT_VIEW);
  size_t gate = activate(s, at + 2, "tanh", RESULT_VIEW);
  size_t out = activate(s, at + 3, "sigmoid", RESULT_VIEW);
  size_t old = multiply(s, forget, *cell);
  *cell = add(s, old, multiply(s, in, gate));
  return project(s, multiply(s, out, activate(s, *cell, "tanh", RESULT_NEW)));
}

/* Gates: reset, update, new. */
static size_t gru_step(struct steps *s, size_t x, size_t hidden) {
  size_t of_x = chunk(s, x);
  size_t of_h = chunk(s, matrix(s, hidden, true, s->all, SIZE_MAX));
  size_t reset = activate(s, add(s, of_h, of_x), "sigmoid", RESULT_VIEW);
  size_t update =
      activate(s, add(s, of_h + 1, of_x + 1), "sigmoid", RESULT_VIEW);
  size_t made = multiply_in_place(s, of_h + 2, reset);
  made =
      binary(s, of_x + 2, made,
             (struct operation){
                 .name = "add", .out = s->unit, .gradient = GRADIENT_SHARED});
  made = activate(s, made, "tanh", RESULT_VIEW);
  size_t rest =
      binary(s, hidden, made,
             (struct operation){
                 .name = "sub", .out = s->unit, .gradient = GRADIENT_FIRST});
  return add(s, multiply_in_place(s, rest, update), made);
}

/*
 * A direction of a layer: all inputs at once, then step after step; their
 * states side by side. `gates`: of the direction before, which are held until
 * there are new ones; then these.
 */
static size_t direction(struct steps *s, size_t x, bool reverse, size_t *outs,
                        size_t *gates, size_t last) {
  struct extent all = s->all, out = s->out;
  all.count = size_product(s->count, all.count);
  out.count = size_product(s->count, out.count);
  *gates = matrix(s, x, false, all, *gates);
  size_t each = unary(s, *gates,
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
  return many(s, outs, (size_t)s->count, gates, 1,
              (struct operation){
                  .name = "stack", .out = out, .gradient = GRADIENT_SHARED});
}

static size_t one_layer(struct steps *s, size_t x, int64_t layer) {
  int64_t ways = recurrent_directions(s->recurrent);
  size_t count = (size_t)s->count, gates = SIZE_MAX, way[2];
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
  return many(s, way, 2, s->outs, 2 * count + 1,
              (struct operation){
                  .name = "concat", .out = both, .gradient = GRADIENT_SHARED});
}

static size_t zeros(struct steps *s, int64_t count) {
  return tape_run(s->tape,
                  &(struct operation){.name = "zeros",
                                      .out = extent_sample(count, WIDTH_NET)});
}

/* The last states of all layers: they are made, whoever wants them. */
static size_t finals(struct steps *s, size_t out, size_t count) {
  struct extent extent = s->out;
  size_t held[4], made = 0;
  extent.count = size_product((int64_t)count, extent.count);
  held[made++] = many(s, s->last_hidden, count, NULL, 0,
                      (struct operation){.name = "states", .out = extent});
  held[made++] = s->hidden;
  if (s->gates == 4) {
    extent.count = size_product((int64_t)count, s->units);
    held[made++] = many(s, s->last_cell, count, NULL, 0,
                        (struct operation){.name = "states", .out = extent});
    held[made++] = s->cell;
  }
  return many(s, &out, 1, held, made,
              (struct operation){.name = "states",
                                 .out = *tape_extent(s->tape, out),
                                 .result = RESULT_VIEW,
                                 .gradient = GRADIENT_SHARED});
}

/* Products whose norms are the layer's parameters from 2 on. */
static size_t normed(struct steps *s, size_t x, bool state,
                     const size_t held[2]) {
  enum { NORM_PARAMS = 4 }; /* scale, shift, and two buffers */
  size_t product = matrix(s, x, state, s->all, SIZE_MAX);
  return many(
      s, &product, 1, held, held[0] == SIZE_MAX ? 0 : 2,
      (struct operation){
          .name = "bn",
          .out = s->all,
          .keeps = KEEPS_IN(0),
          .kept = {extent_fixed(size_product(2, s->all.count), WIDTH_F32)},
          .always_makes = true,
          .first_param = s->first_param + 2 + NORM_PARAMS * state,
          .param_count = 2});
}

static size_t sum(struct steps *s, size_t x, size_t y, struct extent out) {
  return binary(s, x, y,
                (struct operation){
                    .name = "add", .out = out, .gradient = GRADIENT_SHARED});
}

/* sigmoid(f) c + sigmoid(i) tanh(g), sigmoid(o) tanh(c) */
static size_t normed_lstm(struct steps *s, size_t sums, size_t *cell) {
  size_t at = chunk(s, sums);
  size_t old = multiply(s, activate(s, at + 1, "sigmoid", RESULT_NEW), *cell);
  size_t in = activate(s, at, "sigmoid", RESULT_NEW);
  size_t more = multiply(s, in, activate(s, at + 2, "tanh", RESULT_NEW));
  *cell = sum(s, old, more, s->unit);
  size_t out = activate(s, at + 3, "sigmoid", RESULT_NEW);
  return multiply(s, out, activate(s, *cell, "tanh", RESULT_NEW));
}

/* (1 - z) tanh(n + r hn) + z h */
static size_t normed_gru(struct steps *s, const size_t both[2], size_t hidden) {
  size_t x = chunk(s, both[0]), h = chunk(s, both[1]), gate[2];
  for (size_t i = 0; i < 2; i++)
    gate[i] = activate(s, sum(s, x + i, h + i, s->unit), "sigmoid", RESULT_NEW);
  size_t rest =
      unary(s, gate[1], (struct operation){.name = "sub", .out = s->unit});
  size_t made = sum(s, x + 2, multiply(s, gate[0], h + 2), s->unit);
  made = multiply(s, rest, activate(s, made, "tanh", RESULT_NEW));
  return sum(s, made, multiply(s, gate[1], hidden), s->unit);
}

/*
 * A layer with batch norm inside, which no library has: as Normed of
 * tools/sequence_truth.py, whose variables hold what they had before.
 */
static size_t normed_layer(struct steps *s, size_t x) {
  struct extent in = *tape_extent(s->tape, x), out = s->out;
  in.count /= s->count;
  out.count = size_product(s->count, out.count);
  size_t each = unary(s, x,
                      (struct operation){.name = "unbind",
                                         .out = in,
                                         .outs = (int)s->count,
                                         .result = RESULT_VIEW});
  size_t hidden = zeros(s, s->state), sums = SIZE_MAX;
  size_t cell = s->gates == 4 ? zeros(s, s->units) : SIZE_MAX;
  size_t both[2] = {SIZE_MAX, SIZE_MAX}, none[2] = {SIZE_MAX, SIZE_MAX};
  for (int64_t i = 0; i < s->count; i++) {
    size_t now[2] = {normed(s, each + (size_t)i, false, none)};
    now[1] = normed(s, hidden, true, both);
    memcpy(both, now, sizeof both);
    if (s->gates != 3) /* parts of an lstm's are there until new ones are */
      sums =
          many(s, both, 2, &sums, s->gates == 4 && i > 0,
               (struct operation){
                   .name = "add", .out = s->all, .gradient = GRADIENT_SHARED});
    if (s->gates == 1)
      hidden = activate(s, sums, "tanh", RESULT_NEW);
    else if (s->gates == 4)
      hidden = project(s, normed_lstm(s, sums, &cell));
    else
      hidden = normed_gru(s, both, hidden);
    s->outs[i] = hidden;
  }
  size_t held[5] = {both[0], both[1], x, cell, sums};
  return many(s, s->outs, (size_t)s->count, held, s->gates == 4 ? 5 : 3,
              (struct operation){
                  .name = "stack", .out = out, .gradient = GRADIENT_SHARED});
}

static size_t normed_layers(struct steps *s, size_t in) {
  for (int64_t i = 0; i < s->recurrent->layers; i++) {
    s->first_param = (int)i * recurrent_param_count(s->recurrent);
    in = normed_layer(s, in);
    if (i + 1 < s->recurrent->layers)
      in = recurrent_dropout(s->recurrent, s->tape, in,
                             *tape_extent(s->tape, in));
  }
  return in;
}

size_t recurrent_steps(const struct layer *layer, struct tape *tape, size_t in,
                       int64_t gates) {
  const struct recurrent *recurrent = layer->args;
  int64_t ways = recurrent_directions(recurrent);
  size_t all = (size_t)(recurrent->layers * ways); /* at most MOST_STEPS */
  struct steps s = {.tape = tape,
                    .recurrent = recurrent,
                    .count = layer->in[0]->dim[0],
                    .units = recurrent->units,
                    .state = recurrent_state(recurrent),
                    .gates = gates};
  s.unit = extent_sample(s.units, WIDTH_NET);
  s.out = extent_sample(s.state, WIDTH_NET);
  s.all = extent_sample(size_product(gates, s.units), WIDTH_NET);
  s.outs = arena_alloc(tape->arena, 2 * (size_t)s.count + 1, sizeof *s.outs);
  s.last_hidden = arena_alloc(tape->arena, all, sizeof *s.last_hidden);
  s.last_cell = arena_alloc(tape->arena, all, sizeof *s.last_cell);
  if (recurrent->norm)
    return normed_layers(&s, in);
  s.hidden = zeros(&s, size_product((int64_t)all, s.state));
  if (gates == 4)
    s.cell = zeros(&s, size_product((int64_t)all, s.units));
  for (int64_t i = 0; i < recurrent->layers; i++) {
    in = one_layer(&s, in, i);
    if (i + 1 < recurrent->layers)
      in = recurrent_dropout(recurrent, tape, in, *tape_extent(tape, in));
  }
  return finals(&s, in, all);
}
