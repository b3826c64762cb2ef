/* Tables: one net for several batches and devices, as a table. */
#ifndef NETC_DRIVER_TABLE_H
#define NETC_DRIVER_TABLE_H

#include "driver/net_options.h"

/* Whether the options ask for one: `--batch 1,8,32`, `--gpu all`. */
bool table_wanted(const struct net_options *options);

/* Prints the table; an exit status. */
int table(struct netc *netc, struct net_options *options);

#endif
