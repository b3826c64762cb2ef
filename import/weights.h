/* The weights of an imported net. */
#ifndef NETC_IMPORT_WEIGHTS_H
#define NETC_IMPORT_WEIGHTS_H

#include <stdio.h>

#include "import/reader.h"
#include "netc.h"

/* True if a file with a source has all weights of the net that was loaded. */
bool import_has_weights(struct netc *netc, const struct graph *graph);

/*
 * Writes the values of the loaded net, whose layers are those of `result`, as
 * safetensors. The caller checks ferror. False: nothing is written, and `graph`
 * holds the error.
 */
bool import_weights(struct netc *netc, const struct imported *result,
                    struct graph *graph, FILE *file);

#endif
