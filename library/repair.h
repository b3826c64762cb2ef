/* Repairs of a text that the grammar refuses, for partial models. */
#ifndef NETC_LIBRARY_REPAIR_H
#define NETC_LIBRARY_REPAIR_H

#include "library/context.h"

/* The tree of the net's own text with what may be missing in it; or NULL. */
const struct block *repair(struct load *load);

/* Where a place of the repaired text stands in what was written. */
struct span repair_written(const struct load *load, struct span span);

#endif
