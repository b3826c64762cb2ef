/* rnn, lstm and gru: shared by their files. */
#ifndef NETC_LAYERS_SEQUENCE_RECURRENT_H
#define NETC_LAYERS_SEQUENCE_RECURRENT_H

#include "layers/layer.h"

struct recurrent {
  int64_t units, layers, proj;
  int bidir, nobias, last, biases, norm, reset_first, batch_first, keep_cell;
  double dropout;
  struct layer_ref state, cell; /* before the first step */
};

/* True if the first state is an input, not zeros. */
static inline bool recurrent_is_given(const struct recurrent *recurrent) {
  return recurrent->state.node >= 0;
}

/* Number of parameters of a direction of a layer. */
int recurrent_param_count(const struct recurrent *recurrent);

/* Features of the state after a step. */
int64_t recurrent_state(const struct recurrent *recurrent);

int64_t recurrent_directions(const struct recurrent *recurrent);

/* True if no library has its cells: recurrent_cells.c */
bool recurrent_has_cells(const struct recurrent *recurrent);

/*
 * True if the tape has the operations of each step, as a framework without a
 * kernel for all steps runs them.
 */
bool recurrent_has_steps(const struct layer *layer, const struct tape *tape,
                         int64_t gates);

/* Records the layers step by step; returns the states of the last one. */
size_t recurrent_steps(const struct layer *layer, struct tape *tape,
                       const size_t *ins, int64_t gates);

/* Dropout between two layers. */
size_t recurrent_dropout(const struct recurrent *recurrent, struct tape *tape,
                         size_t in, struct extent extent);

#endif
