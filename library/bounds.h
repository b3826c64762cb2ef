/* Bounds of inputs: compiles the net again with the smallest sizes. */
#ifndef NETC_LIBRARY_BOUNDS_H
#define NETC_LIBRARY_BOUNDS_H

#include "library/context.h"

/*
 * Compiles the lower end into load->low and points load->compiled.low to it, or
 * reports why the bounds are impossible.
 */
void bounds_find(struct load *load);

#endif
