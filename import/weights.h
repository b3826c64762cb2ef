/* Weights of an imported net. */
#ifndef NETC_IMPORT_WEIGHTS_H
#define NETC_IMPORT_WEIGHTS_H

#include <stdio.h>

#include "import/reader.h"
#include "netc.h"

/* Whether a file with its source has all weights of the net that this is. */
bool import_has_weights(struct netc *netc, const struct graph *graph);

/*
 * Writes the values of the net that is loaded, whose layers are those of
 * `result`, as safetensors; the caller looks at ferror. False: nothing is
 * written, and `graph` holds the error.
 */
bool import_weights(struct netc *netc, const struct imported *result,
                    struct graph *graph, FILE *file);

#endif
