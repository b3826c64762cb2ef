/* dropout, droppath: noise in training, the identity in inference. */
#include "layers/layer.h"

struct drop {
  double probability;
};

#define PROBABILITY(value, text)                                   \
  ARG(REAL, POSITION, "p", drop, probability, .low = 0, .high = 1, \
      .varies = true, /* deeper blocks have larger ones */         \
      .initial_real = value, .fallback = text,                     \
      .doc = "fraction that is dropped, 0 <= p < 1")

static const struct arg_spec dropout_specs[] = {PROBABILITY(0.5, "0.5"),
                                                SPEC_END};
static const struct arg_spec droppath_specs[] = {PROBABILITY(0.1, "0.1"),
                                                 SPEC_END};

/* x * mask. There is no mask at p = 0. */
static size_t drop(const struct layer *layer, struct tape *tape,
                   const size_t *in, bool over, struct extent mask) {
  const struct drop *drop = layer->args;
  if (!tape->training || drop->probability == 0)
    return in[0];
  return layer_run(
      layer, tape, in[0],
      (struct operation){.elementwise = true,
                         .by_channel = true,
                         .kept = {mask},
                         .result = over ? RESULT_IN_PLACE : RESULT_NEW,
                         .always_makes = true});
}

/* In place there is no kernel with a mask of bits: dropout_() of
 * ATen/native/Dropout.cpp multiplies by a factor for each value. */
static size_t dropout_trace(const struct layer *layer, struct tape *tape,
                            const size_t *in) {
  bool over = tape->asked_in_place && tape_may_overwrite(tape, in[0]);
  return drop(
      layer, tape, in, over,
      extent_sample(shape_values(&layer->out), over ? WIDTH_NET : WIDTH_MASK));
}

/* One factor for each sample. */
static size_t droppath_trace(const struct layer *layer, struct tape *tape,
                             const size_t *in) {
  return drop(layer, tape, in, false, extent_sample(1, WIDTH_NET));
}

LAYER_KIND(dropout, "Regularisation",
           "sets values to 0 at random while training",
           LAYER_ARGS(drop, dropout_specs), .memory = OUTPUT_IN_PLACE,
           .overwrites = true, .shape = layer_same_shape,
           .trace = dropout_trace);

LAYER_KIND(droppath, "Regularisation",
           "stochastic depth: sets whole samples to 0 at random",
           LAYER_ARGS(drop, droppath_specs), .memory = OUTPUT_IN_PLACE,
           .shape = layer_same_shape, .trace = droppath_trace);
