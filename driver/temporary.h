/* Temporary files and folders: held while a process lives, swept afterwards. */
#ifndef NETC_DRIVER_TEMPORARY_H
#define NETC_DRIVER_TEMPORARY_H

#include <stdbool.h>

/* Start of their names; six letters follow. */
#define TEMPORARY_FILE "netc-tmp."
#define TEMPORARY_FOLDER "netc-verify."

/*
 * Marks an open file as held until the last copy of the descriptor is closed,
 * even by SIGKILL. False: another process has already removed it.
 */
bool temporary_hold(int fd);

/* Removes this user's temporary files in a folder that nobody holds. */
void temporary_sweep(const char *folder, const char *prefix);

/* Removes a folder with its files and inner folders. */
void temporary_remove(const char *path);

#endif
