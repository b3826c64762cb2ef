/* Sweeps: one net for several batches and devices, as a table. */
#ifndef NETC_DRIVER_SWEEP_H
#define NETC_DRIVER_SWEEP_H

#include "driver/net_options.h"

/* Whether the options ask for one: `--batch 1,8,32`, `--gpu all`. */
bool sweep_wanted(const struct net_options *options);

/* Prints the table; an exit status. */
int sweep(struct netc *netc, struct net_options *options);

#endif
