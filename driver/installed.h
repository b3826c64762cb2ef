/* Folders that are installed with netc: nets, sources of the runtime. */
#ifndef NETC_DRIVER_INSTALLED_H
#define NETC_DRIVER_INSTALLED_H

#include <stddef.h>

/*
 * Finds the folder share/netc/NAME of `make install`, beside the program or at
 * the prefix of the build, or the folder `in_tree` of the source tree. The path
 * may not exist if netc is not installed.
 */
void installed_find(const char *name, const char *in_tree, char *path,
                    size_t room);

#endif
