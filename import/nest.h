/* Concats within concats, where branches fork again. */
#ifndef NETC_IMPORT_NEST_H
#define NETC_IMPORT_NEST_H

#include "import/graph.h"

/*
 * Operands of a concat along the last axis that leave the others at one tensor
 * get a concat of their own, as Inception's branches of 1x3 and 3x1: all are
 * blocks then. Values, shapes and parameters stay the same. Shapes are known.
 */
void import_nest(struct graph *graph);

#endif
