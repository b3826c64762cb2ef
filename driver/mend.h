/* netc check --fix: applies the edits that diagnostics offer. */
#ifndef NETC_DRIVER_MEND_H
#define NETC_DRIVER_MEND_H

#include "driver/net_options.h"

/*
 * Fixes a source and the files it uses, in rounds until no edits are offered;
 * prints each edit. Files are replaced as a whole and keep their mode. A file
 * that changed meanwhile is not touched. Returns an exit status.
 */
int mend(struct net_options *options, struct netc *netc, const char *operand);

#endif
