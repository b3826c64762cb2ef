/* Repairs sources with syntax errors, for partial models. */
#ifndef NETC_LIBRARY_REPAIR_H
#define NETC_LIBRARY_REPAIR_H

#include "library/context.h"

/* The tree of the net's source with repairs, or NULL. */
const struct block *repair(struct load *load);

/* Maps a place of the repaired text to the original one. */
struct span repair_written(const struct load *load, struct span span);

#endif
