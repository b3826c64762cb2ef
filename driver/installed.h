/* Folders that came with netc: nets, the runtime's sources. */
#ifndef NETC_DRIVER_INSTALLED_H
#define NETC_DRIVER_INSTALLED_H

#include <stddef.h>

/*
 * Where `make install` put share/netc/NAME, beside the program or at the
 * prefix of the build; or the folder `in_tree` of the tree that it was built
 * in. The path may lead nowhere where netc is not installed.
 */
void installed_find(const char *name, const char *in_tree, char *path,
                    size_t room);

#endif
