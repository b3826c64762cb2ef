/* The rule of thumb: the usual estimate of a net's memory. */
#ifndef NETC_SEMA_MODEL_RULE_H
#define NETC_SEMA_MODEL_RULE_H

#include "sema/model/cost.h"

/* The rule of thumb in bytes: docs/memory.md, section 1. */
struct rule {
  int copies; /* of the parameters in training, of any type */
  int64_t prediction_params, prediction_activations, prediction;
  int64_t training_params, training_activations, misc, training;
};

/*
 * Inference on one sample: (parameters + activations) x bytes. Training:
 * parameters x (value + gradient + optimizer state) + activations x 2 x batch +
 * misc, where misc is the input batch unless the user sets it
 * (https://cs231n.github.io/convolutional-networks/#comp). False if a sum
 * passes 2^63 - 1.
 */
bool rule_find(const struct model *model, const struct settings *settings,
               struct rule *rule);

/* The rule from plain numbers. */
struct rule_input {
  int64_t params, activation_bytes, input_bytes, batch, misc;
  int element, optimizer;
  bool x3;
};
bool rule_apply(const struct rule_input *in, struct rule *rule);

#endif
