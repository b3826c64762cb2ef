/* The verifier: whether a model is what its header says. */
#ifndef NETC_SEMA_MODEL_VERIFY_H
#define NETC_SEMA_MODEL_VERIFY_H

#include "sema/model/model.h"

/*
 * NULL if every index is in range, nodes read only nodes before them, groups
 * nest, shapes and parameters count, shared parameters have an owner, and the
 * costs, where there are any, add up to the total. Else what is wrong, with
 * the node's number in *where.
 */
const char *model_verify(const struct model *model, int64_t *where);

#endif
