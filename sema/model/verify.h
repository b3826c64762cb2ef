/* The verifier: checks that a model is as its header requires. */
#ifndef NETC_SEMA_MODEL_VERIFY_H
#define NETC_SEMA_MODEL_VERIFY_H

#include "sema/model/model.h"

/*
 * NULL if every index is in range, nodes read only earlier nodes, groups nest,
 * shapes and parameters can be counted, shared parameters have an owner, and
 * the costs, if any, add up to the total. Otherwise the fault, with its node in
 * *where.
 */
const char *model_verify(const struct model *model, int64_t *where);

#endif
