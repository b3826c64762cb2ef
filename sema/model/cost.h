/* Costs: parameters, MACs and activations of every node, and their sums. */
#ifndef NETC_SEMA_MODEL_COST_H
#define NETC_SEMA_MODEL_COST_H

#include "sema/model/model.h"
#include "sema/model/settings.h"

/* Fills in model->costs and model->total; reports overflow. */
bool cost_find(struct model *model, const struct settings *settings,
               struct diags *diags);

/* Bytes of a tensor of that shape. Index tensors keep their own type. */
bool shape_bytes(const struct shape *shape, int element, int64_t *bytes);

/* *sum += *item, member by member; false on overflow. */
bool cost_add(struct cost *sum, const struct cost *item);

/* Parameters in a sum, without shared ones: all, those that are trained;
 * buffers, those that inference reads. */
enum param_sum { SUM_PARAMS, SUM_TRAINED, SUM_BUFFERS, SUM_READ_BUFFERS };

/* Their bytes, in a net of type `element`; false if they pass 2^63 - 1. */
bool model_param_bytes(const struct model *model, enum param_sum sum,
                       int element, int64_t *bytes);

#endif
