/* --beside: other nets in the same process. */
#ifndef NETC_DRIVER_BESIDE_H
#define NETC_DRIVER_BESIDE_H

#include "driver/net_options.h"

/* Loads the nets of --beside and adds them. Returns an exit status. */
int beside_load(struct net_options *options);

#endif
