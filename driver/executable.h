/* Other programs: where they are found, never by where netc was started. */
#ifndef NETC_DRIVER_EXECUTABLE_H
#define NETC_DRIVER_EXECUTABLE_H

#include <stdbool.h>

/*
 * Takes empty and relative folders out of the environment's lists of folders,
 * PATH among them: those follow the current folder, which may be a stranger's.
 * Child processes inherit the rest.
 */
void executable_keep_absolute(void);

enum { EXECUTABLE_PATH = 4096 };
struct executable {
  char text[EXECUTABLE_PATH];
};

/*
 * The program that a name stands for: the first of that name in PATH's absolute
 * folders. A name with a slash is itself a path. An absolute path; false: there
 * is none.
 */
bool executable_find(const char *name, struct executable *path);

#endif
