/* Inside rnn, lstm and gru: what their files share. */
#ifndef NETC_LAYERS_SEQUENCE_RECURRENT_H
#define NETC_LAYERS_SEQUENCE_RECURRENT_H

#include "layers/layer.h"

struct recurrent {
  int64_t units, layers, proj;
  int bidir, nobias, last, biases, norm, reset_first, batch_first;
  double dropout;
};

/* Parameters of a direction of a layer. */
int recurrent_param_count(const struct recurrent *recurrent);

/* Features of the state that a step gives. */
int64_t recurrent_state(const struct recurrent *recurrent);

int64_t recurrent_directions(const struct recurrent *recurrent);

/* Whether its cells are none that a library has: recurrent_cells.c */
bool recurrent_has_cells(const struct recurrent *recurrent);

/*
 * Whether the tape has each step of its own, as a framework without a kernel
 * for all of them runs it.
 */
bool recurrent_has_steps(const struct layer *layer, const struct tape *tape);

/* Records the layers step by step; returns the states of the last one. */
size_t recurrent_steps(const struct layer *layer, struct tape *tape, size_t in,
                       int64_t gates);

/* What is dropped between two layers. */
size_t recurrent_dropout(const struct recurrent *recurrent, struct tape *tape,
                         size_t in, struct extent extent);

#endif
