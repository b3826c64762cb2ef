/* --max-input: finds the largest square image that fits a device. */
#ifndef NETC_DRIVER_MAX_INPUT_H
#define NETC_DRIVER_MAX_INPUT_H

#include "driver/net_options.h"

/* Prints the result and the trials; returns an exit status. */
int max_input(struct netc *netc, struct net_options *options);

#endif
