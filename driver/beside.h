/* --beside: other nets in the same process. */
#ifndef NETC_DRIVER_BESIDE_H
#define NETC_DRIVER_BESIDE_H

#include "driver/net_options.h"

/* Loads the nets of --beside and adds them. Returns an exit status. */
int beside_load(struct net_options *options);

/* Adds the other nets of the pipeline that was opened, which only run. */
int beside_load_parts(struct net_options *options, struct netc *netc);

#endif
