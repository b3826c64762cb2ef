/* netc check --fix: the edits that diagnostics offer, put into their files. */
#ifndef NETC_DRIVER_MEND_H
#define NETC_DRIVER_MEND_H

#include "driver/net_options.h"

/*
 * Mends a source and what it uses, round after round until nothing is offered
 * any more, and says each edit. Each file is replaced whole and
 * keeps its mode; one that changed meanwhile is left alone. An exit status.
 */
int mend(struct net_options *options, struct netc *netc, const char *operand);

#endif
