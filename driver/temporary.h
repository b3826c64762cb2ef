/* Temporary files and folders: held while a process lives, swept after it. */
#ifndef NETC_DRIVER_TEMPORARY_H
#define NETC_DRIVER_TEMPORARY_H

#include <stdbool.h>

/* The beginning of their names; six letters follow. */
#define TEMPORARY_FILE "netc-tmp."
#define TEMPORARY_FOLDER "netc-verify."

/*
 * Keeps what is open as this process's own until the last copy of the
 * descriptor is closed, be it by SIGKILL. False: another process has swept it
 * before, so that it has no name any more.
 */
bool temporary_hold(int fd);

/* Removes those of a folder that are this user's and that nobody holds. */
void temporary_sweep(const char *folder, const char *prefix);

/* Removes a folder with its files, and folders in it of the same kind. */
void temporary_remove(const char *path);

#endif
