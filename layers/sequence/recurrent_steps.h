/* rnn, lstm and gru step by step: what their two files share. */
#ifndef NETC_LAYERS_SEQUENCE_RECURRENT_STEPS_H
#define NETC_LAYERS_SEQUENCE_RECURRENT_STEPS_H

#include "layers/sequence/recurrent.h"

struct recurrent_run {
  struct tape *tape;
  const struct recurrent *recurrent;
  int64_t count, units, state, gates;
  struct extent unit, out, all; /* of a step: a state, its result, its gates */
  int first_param;              /* of the direction */
  bool copies;                  /* what the layer reads does not lie by steps */
  size_t hidden, cell;          /* zeros, which all begin with */
  size_t read;                  /* by the first layer: its caller has it */
  size_t *outs;                 /* of each step of a layer's directions */
  size_t from;                  /* what the current layer reads */
  size_t *last_hidden, *last_cell; /* of each layer and direction */
};

size_t recurrent_unary(struct recurrent_run *s, size_t in, struct operation op);
size_t recurrent_binary(struct recurrent_run *s, size_t a, size_t b,
                        struct operation op);

/* Of `count` tensors; `held` others are alive until it has ended. */
size_t recurrent_many(struct recurrent_run *s, const size_t *in, size_t count,
                      const size_t *held, size_t held_count,
                      struct operation op);

size_t recurrent_multiply(struct recurrent_run *s, size_t x, size_t y);

/* sigmoid, tanh: over its input, or of its own. */
size_t recurrent_activate(struct recurrent_run *s, size_t x, const char *name,
                          enum result result);

/* Gates side by side, each as a view; backward puts their gradients together.
 */
size_t recurrent_chunk(struct recurrent_run *s, size_t gates);

/* Whether the product of the input, or of the state, adds a bias. */
bool recurrent_has_bias(const struct recurrent_run *s, bool state);

/* weight_ih with bias_ih, or weight_hh with bias_hh: two parameters on. */
size_t recurrent_matrix(struct recurrent_run *s, size_t x, bool state,
                        struct extent out, size_t held);

/* The state of an lstm that has a projection. */
size_t recurrent_project(struct recurrent_run *s, size_t hidden);

size_t recurrent_zeros(struct recurrent_run *s, int64_t count);

/* recurrent_cells.c: layers whose cells no library has. */
size_t recurrent_cells(struct recurrent_run *s, size_t in);

#endif
