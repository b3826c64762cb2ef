/* Finds other programs, independently of the current folder. */
#ifndef NETC_DRIVER_EXECUTABLE_H
#define NETC_DRIVER_EXECUTABLE_H

#include <stdbool.h>

/*
 * Removes empty and relative folders from lists of folders in the environment,
 * such as PATH: they depend on the current folder, which may be a stranger's.
 * Child processes inherit the lists.
 */
void executable_keep_absolute(void);

enum { EXECUTABLE_PATH = 4096 };
struct executable {
  char text[EXECUTABLE_PATH];
};

/*
 * Finds a program by name in PATH's absolute folders. A name with a slash is a
 * path. The result is absolute; false if there is none.
 */
bool executable_find(const char *name, struct executable *path);

#endif
