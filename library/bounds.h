/* Bounds of inputs: the net once more, with the smallest sizes. */
#ifndef NETC_LIBRARY_BOUNDS_H
#define NETC_LIBRARY_BOUNDS_H

#include "library/context.h"

/*
 * Compiles the lower end into load->low, which load->compiled.low is then; or
 * reports why the bounds cannot be.
 */
void bounds_find(struct load *load);

#endif
