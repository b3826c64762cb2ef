/* --max-input: the largest square picture that fits a device. */
#ifndef NETC_DRIVER_MAX_INPUT_H
#define NETC_DRIVER_MAX_INPUT_H

#include "driver/net_options.h"

/* Prints it, and what was tried; an exit status. */
int max_input(struct netc *netc, struct net_options *options);

#endif
