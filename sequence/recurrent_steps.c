/*
 * rnn, lstm and gru step by step, operation by operation: what PyTorch runs on
 * a CPU, where it has no kernel for a whole layer. Order, what is written in
 * place and what is held meanwhile are those of aten/src/ATen/native/RNN.cpp,
 * and were measured allocation by allocation: tests/data/sequence.csv.
 */
#include "base/check.h"
#include "sequence/recurrent.h"

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
         !recurrent->norm && !recurrent->reset_first &&
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
  hidden = multiply(s, out, activate(s, *cell, "tanh", RESULT_NEW));
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
