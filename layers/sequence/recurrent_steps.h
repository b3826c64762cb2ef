/* rnn, lstm and gru step by step: shared by two files. */
#ifndef NETC_LAYERS_SEQUENCE_RECURRENT_STEPS_H
#define NETC_LAYERS_SEQUENCE_RECURRENT_STEPS_H

#include "layers/sequence/recurrent.h"

struct recurrent_run {
  struct tape *tape;
  const struct recurrent *recurrent;
  int64_t count, units, state, gates;
  struct extent unit, out, all; /* of a step: a state, its output, its gates */
  int first_param;              /* of the direction */
  bool copies;                  /* the input is not contiguous by step */
  bool kernel;                  /* one for each direction */
  size_t hidden, cell;          /* before the first step */
  size_t read;                  /* by the first layer; its caller holds it */
  size_t *outs;                 /* by step, for each direction of a layer */
  size_t from;                  /* input of the current layer */
  size_t *last_hidden, *last_cell; /* by layer and direction */
};

size_t recurrent_unary(struct recurrent_run *s, size_t in, struct operation op);
size_t recurrent_binary(struct recurrent_run *s, size_t a, size_t b,
                        struct operation op);

/* An operation on `count` values; `held` values stay in
 * memory until it has run. */
size_t recurrent_many(struct recurrent_run *s, const size_t *in, size_t count,
                      const size_t *held, size_t held_count,
                      struct operation op);

size_t recurrent_multiply(struct recurrent_run *s, size_t x, size_t y);

/* sigmoid or tanh, in place or not. */
size_t recurrent_activate(struct recurrent_run *s, size_t x, const char *name,
                          enum result result);

/* A view of each gate; backward concatenates their gradients. */
size_t recurrent_chunk(struct recurrent_run *s, size_t gates);

/* True if the product of the input, or of the state, adds a bias. */
bool recurrent_has_bias(const struct recurrent_run *s, bool state);

/* Product with weight_ih and bias_ih, or weight_hh and bias_hh. */
size_t recurrent_matrix(struct recurrent_run *s, size_t x, bool state,
                        struct extent out, size_t held);

/* Projects the state of an lstm, if it has a projection. */
size_t recurrent_project(struct recurrent_run *s, size_t hidden);

size_t recurrent_zeros(struct recurrent_run *s, int64_t count);

/* recurrent_kernel.c: a layer whose directions are kernels. */
size_t recurrent_kernel(struct recurrent_run *s, size_t x, int64_t layer);

/* recurrent_cells.c: layers whose cells no library has. */
size_t recurrent_cells(struct recurrent_run *s, size_t in);

#endif
