/*
 * Recurrent layers whose cells no library has, operation by operation: with
 * batch norm inside, or a gru whose reset gate acts before the product. They
 * run like Normed and ResetFirst of tools/sequence_truth.py, whose variables
 * hold the old values until they are assigned.
 */
#include "layers/sequence/recurrent_steps.h"

bool recurrent_has_cells(const struct recurrent *recurrent) {
  return recurrent->norm || recurrent->reset_first;
}

/* A product with its norm; parameters of the norms start at 2. */
static size_t normed(struct recurrent_run *s, size_t x, bool state,
                     const size_t held[2]) {
  enum { NORM_PARAMS = 4 }; /* scale, shift, and two buffers */
  size_t product = recurrent_matrix(s, x, state, s->all, SIZE_MAX);
  return recurrent_many(
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

static size_t sum(struct recurrent_run *s, size_t x, size_t y,
                  struct extent out) {
  return recurrent_binary(s, x, y,
                          (struct operation){.name = "add",
                                             .out = out,
                                             .gradient = GRADIENT_SHARED});
}

/* sigmoid(f) c + sigmoid(i) tanh(g), sigmoid(o) tanh(c) */
static size_t normed_lstm(struct recurrent_run *s, size_t sums, size_t *cell) {
  size_t at = recurrent_chunk(s, sums);
  size_t old = recurrent_multiply(
      s, recurrent_activate(s, at + 1, "sigmoid", RESULT_NEW), *cell);
  size_t in = recurrent_activate(s, at, "sigmoid", RESULT_NEW);
  size_t more = recurrent_multiply(
      s, in, recurrent_activate(s, at + 2, "tanh", RESULT_NEW));
  *cell = sum(s, old, more, s->unit);
  size_t out = recurrent_activate(s, at + 3, "sigmoid", RESULT_NEW);
  return recurrent_multiply(s, out,
                            recurrent_activate(s, *cell, "tanh", RESULT_NEW));
}

/* (1 - z) tanh(n + r hn) + z h */
static size_t normed_gru(struct recurrent_run *s, const size_t both[2],
                         size_t hidden) {
  size_t x = recurrent_chunk(s, both[0]), h = recurrent_chunk(s, both[1]),
         gate[2];
  for (size_t i = 0; i < 2; i++)
    gate[i] = recurrent_activate(s, sum(s, x + i, h + i, s->unit), "sigmoid",
                                 RESULT_NEW);
  size_t rest = recurrent_unary(
      s, gate[1], (struct operation){.name = "sub", .out = s->unit});
  size_t made = sum(s, x + 2, recurrent_multiply(s, gate[0], h + 2), s->unit);
  made = recurrent_multiply(s, rest,
                            recurrent_activate(s, made, "tanh", RESULT_NEW));
  return sum(s, made, recurrent_multiply(s, gate[1], hidden), s->unit);
}

/* A view of each step. */
static size_t unbind(struct recurrent_run *s, size_t x) {
  struct extent step = *tape_extent(s->tape, x);
  step.count /= s->count;
  return recurrent_unary(s, x,
                         (struct operation){.name = "unbind",
                                            .out = step,
                                            .outs = (int)s->count,
                                            .result = RESULT_VIEW});
}

static size_t normed_layer(struct recurrent_run *s, size_t x) {
  struct extent out = s->out;
  out.count = size_product(s->count, out.count);
  size_t each = unbind(s, x);
  size_t hidden = recurrent_zeros(s, s->state), sums = SIZE_MAX;
  size_t cell = s->gates == 4 ? recurrent_zeros(s, s->units) : SIZE_MAX;
  size_t both[2] = {SIZE_MAX, SIZE_MAX}, none[2] = {SIZE_MAX, SIZE_MAX};
  for (int64_t i = 0; i < s->count; i++) {
    size_t now[2] = {normed(s, each + (size_t)i, false, none)};
    now[1] = normed(s, hidden, true, both);
    memcpy(both, now, sizeof both);
    if (s->gates != 3) /* an lstm's parts hold these until the next step */
      sums = recurrent_many(s, both, 2, &sums, s->gates == 4 && i > 0,
                            (struct operation){.name = "add",
                                               .out = s->all,
                                               .gradient = GRADIENT_SHARED});
    if (s->gates == 1)
      hidden = recurrent_activate(s, sums, "tanh", RESULT_NEW);
    else if (s->gates == 4)
      hidden = recurrent_project(s, normed_lstm(s, sums, &cell));
    else
      hidden = normed_gru(s, both, hidden);
    s->outs[i] = hidden;
  }
  size_t held[5] = {both[0], both[1], x, cell, sums};
  return recurrent_many(
      s, s->outs, (size_t)s->count, held, s->gates == 4 ? 5 : 3,
      (struct operation){
          .name = "stack", .out = out, .gradient = GRADIENT_SHARED});
}

/* The rows of a parameter for two gates, and for the last gate. */
static size_t split(struct recurrent_run *s, int index, int64_t rows) {
  struct extent two = extent_fixed(size_product(2 * rows, s->units), WIDTH_NET);
  struct extent one = extent_fixed(size_product(rows, s->units), WIDTH_NET);
  size_t parts = recurrent_unary(
      s, tape_parameter(s->tape, index),
      (struct operation){
          .name = "split", .out = one, .outs = 2, .result = RESULT_VIEW});
  tape_resize(s->tape, parts, two);
  return parts;
}

/* The state's product with `part` of the weights and of the bias. */
static size_t product(struct recurrent_run *s, size_t x, const size_t *weights,
                      size_t part, struct extent out) {
  const size_t in[3] = {x, weights[0] + part, weights[1] + part};
  return recurrent_many(
      s, in, weights[1] == SIZE_MAX ? 2 : 3, NULL, 0,
      (struct operation){
          .name = "linear", .out = out, .keeps = KEEPS_IN(0), .guarded = true});
}

/* (1 - z) tanh(n + W (r h)) + z h */
static size_t reset_step(struct recurrent_run *s, size_t x, size_t hidden,
                         const size_t *weights) {
  struct extent two = s->unit;
  two.count = size_product(2, two.count);
  size_t gates = recurrent_chunk(s, x), gate[2];
  size_t of_h = recurrent_unary(
      s, product(s, hidden, weights, 0, two),
      (struct operation){
          .name = "chunk", .out = s->unit, .outs = 2, .result = RESULT_VIEW});
  for (size_t i = 0; i < 2; i++)
    gate[i] = recurrent_activate(s, sum(s, gates + i, of_h + i, s->unit),
                                 "sigmoid", RESULT_NEW);
  size_t rest = recurrent_unary(
      s, gate[1], (struct operation){.name = "sub", .out = s->unit});
  size_t reset = recurrent_multiply(s, gate[0], hidden);
  size_t made =
      sum(s, gates + 2, product(s, reset, weights, 1, s->unit), s->unit);
  made = recurrent_activate(s, made, "tanh", RESULT_NEW);
  made = recurrent_multiply(s, rest, made);
  return sum(s, made, recurrent_multiply(s, gate[1], hidden), s->unit);
}

/* The state's matrix is split once. The gradients of each part are summed over
 * all steps, then concatenated. */
static size_t reset_layer(struct recurrent_run *s, size_t x) {
  struct extent out = s->out;
  bool bias = recurrent_has_bias(s, true);
  size_t weights[2] = {split(s, s->first_param + 1, s->units), SIZE_MAX};
  if (bias)
    weights[1] = split(s, s->first_param + 3, 1);
  size_t hidden =
      s->hidden == SIZE_MAX ? recurrent_zeros(s, s->state) : s->hidden;
  size_t each = unbind(s, x);
  size_t gates = SIZE_MAX;
  out.count = size_product(s->count, out.count);
  for (int64_t i = 0; i < s->count; i++) {
    gates = recurrent_matrix(s, each + (size_t)i, false, s->all, gates);
    hidden = reset_step(s, gates, hidden, weights);
    s->outs[i] = hidden;
  }
  const size_t held[2] = {gates, x};
  return recurrent_many(s, s->outs, (size_t)s->count, held, 2,
                        (struct operation){.name = "stack",
                                           .out = out,
                                           .gradient = GRADIENT_SHARED});
}

size_t recurrent_cells(struct recurrent_run *s, size_t in) {
  const struct recurrent *recurrent = s->recurrent;
  for (int64_t i = 0; i < recurrent->layers; i++) {
    s->first_param = (int)i * recurrent_param_count(recurrent);
    in = recurrent->norm ? normed_layer(s, in) : reset_layer(s, in);
    if (i + 1 < recurrent->layers)
      in = recurrent_dropout(recurrent, s->tape, in, *tape_extent(s->tape, in));
  }
  return in;
}
