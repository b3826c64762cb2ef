/* Fit: whether a device that was named holds a net, as an exit status. */
#ifndef NETC_DRIVER_MUST_FIT_H
#define NETC_DRIVER_MUST_FIT_H

#include "driver/net_options.h"

/* --must-fit asks about a device: EXIT_USAGE, said, if none was named. */
int must_fit_is_asked(struct netc *netc, const struct net_options *options);

/*
 * EXIT_SOURCE if a device was named and the step or, with --predict, the
 * prediction of the net does not fit. `said`: and says so, with ways out.
 */
int must_fit_check(struct netc *netc, const struct net_options *options,
                   const char *file, bool said);

#endif
