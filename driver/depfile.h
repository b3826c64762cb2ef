/* Dependency files for make and Ninja. */
#ifndef NETC_DRIVER_DEPFILE_H
#define NETC_DRIVER_DEPFILE_H

#include "driver/net_options.h"
#include "driver/output.h"

/*
 * Writes the dependencies of -MD, -MF, -MT and -MP to a file that the caller
 * commits; *path is its path, from malloc. Returns an exit status.
 */
int depfile_write(const struct netc *netc, const struct net_options *options,
                  struct output_file *output, char **path);

#endif
