/* Tables: a net with several values of its settings. */
#ifndef NETC_DRIVER_TABLE_H
#define NETC_DRIVER_TABLE_H

#include "driver/net_options.h"

/* True if the options ask for a table: `--batch 1,8,32`, `--gpu all`. */
bool table_wanted(const struct net_options *options);

/* Prints the table; returns an exit status. */
int table(struct netc *netc, struct net_options *options);

#endif
