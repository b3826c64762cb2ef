/* --must-fit: reports as exit status whether a net fits the named device. */
#ifndef NETC_DRIVER_MUST_FIT_H
#define NETC_DRIVER_MUST_FIT_H

#include "driver/net_options.h"

/* EXIT_USAGE and a complaint if --must-fit is given without a device. */
int must_fit_is_asked(struct netc *netc, const struct net_options *options);

/*
 * EXIT_SOURCE if the training step, or with --predict inference, does not fit
 * the named device. With `said`, complains and offers ways out.
 */
int must_fit_check(struct netc *netc, const struct net_options *options,
                   const char *file, bool said);

#endif
