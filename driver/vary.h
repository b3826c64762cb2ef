/* --vary: lengths that differ from batch to batch. */
#ifndef NETC_DRIVER_VARY_H
#define NETC_DRIVER_VARY_H

#include "driver/net_options.h"

/* A..B, or a file with a length on each line. Returns an exit status. */
int vary_set(struct net_options *options, const char *argument);

#endif
