/* Lengths that differ from batch to batch. */
#ifndef NETC_LIBRARY_VARY_H
#define NETC_LIBRARY_VARY_H

#include "library/context.h"

/*
 * Finds the peaks of the shortest and the mean length; the load itself has the
 * longest. The net is compiled again for each, without a message.
 */
void vary_find(struct load *load, const struct lengths *lengths);

#endif
