/* Dependency files, as make and Ninja read them. */
#ifndef NETC_DRIVER_DEPFILE_H
#define NETC_DRIVER_DEPFILE_H

#include "driver/net_options.h"
#include "driver/output.h"

/*
 * Writes what -MD, -MF, -MT and -MP ask for to a file that is still to be
 * committed, with its path in *path (from malloc). An exit status.
 */
int depfile_write(const struct netc *netc, const struct net_options *options,
                  struct output_file *output, char **path);

#endif
