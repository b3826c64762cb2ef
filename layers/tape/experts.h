/* Experts of a plan: operations on rows that have an expert each. */
#ifndef NETC_LAYERS_TAPE_EXPERTS_H
#define NETC_LAYERS_TAPE_EXPERTS_H

#include "layers/tape/tape.h"

/*
 * Records an operation of an expert for the rows of all experts, which
 * parameters are read by. Rows are in an order of their own, so that an
 * operation that reads several rows is not known to the runtime.
 */
size_t experts_run(struct tape *tape, const struct operation *op);

#endif
