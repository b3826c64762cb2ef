/* Costs: parameters, MACs and activations of every node, and their sums. */
#ifndef NETC_SEMA_COST_H
#define NETC_SEMA_COST_H

#include "sema/model.h"
#include "sema/settings.h"

/* Fills model->costs and model->total; an overflow is reported. */
bool cost_find(struct model *model, const struct settings *settings,
               struct diags *diags);

/* Bytes of a tensor of that shape; index tensors keep their own type. */
bool shape_bytes(const struct shape *shape, int element, int64_t *bytes);

/* *sum += *item, member by member; false on overflow. */
bool cost_add(struct cost *sum, const struct cost *item);

/* The rule of thumb: docs/memory.md, section 1. All in bytes. */
struct rule {
  int copies; /* of the parameters while training; adam8bit: halves apart */
  int64_t prediction_params, prediction_activations, prediction;
  int64_t training_params, training_activations, misc, training;
};

/*
 * Prediction of one sample: (parameters + activations) x bytes. Training:
 * parameters x (value + gradient + optimizer state) + activations x 2 x
 * batch + misc, where misc is the input batch unless the user says
 * otherwise (https://cs231n.github.io/convolutional-networks/#comp).
 */
bool rule_find(const struct model *model, const struct settings *settings,
               struct diags *diags, struct rule *rule);

/* Reports that the memory of the net does not fit into 63 bits. */
void memory_too_large(const struct model *model, struct diags *diags);

/* The same from the plain numbers. */
struct rule_input {
  int64_t params, activation_bytes, input_bytes, batch, misc;
  int element, optimizer;
  bool x3;
};
bool rule_apply(const struct rule_input *in, struct rule *rule);

#endif
