/* Child processes with a time limit, which end when netc is interrupted; and a
 * folder for their files. */
#ifndef NETC_DRIVER_CHILD_H
#define NETC_DRIVER_CHILD_H

#include <stdbool.h>

enum child_end {
  CHILD_ENDED,   /* exited; perhaps with an error */
  CHILD_ABSENT,  /* no such program */
  CHILD_FAILED,  /* could not be started: errno */
  CHILD_LATE,    /* killed at the time limit */
  CHILD_STOPPED, /* killed after a signal to netc */
};

/*
 * Runs argv[0], found by executable_find(), without input in a folder that netc
 * made: many programs search the current folder, and this one belongs to nobody
 * else. Paths in argv must be absolute. Output goes to the file `log`. `status`
 * is that of waitpid(). Children of the child end with it.
 */
enum child_end child_run(char *argv[], const char *folder, const char *log,
                         long seconds, int *status);

/*
 * Makes a folder with a unique name and stores its path in `path`; false:
 * errno. Removes folders of killed runs unless a child still holds them. From
 * then on the first signal that ends a program is only recorded, so that the
 * folder can be removed. A second one ends it.
 */
bool child_folder_make(char *path, unsigned long room);

/* The recorded signal, or 0. */
int child_stopped(void);

/* Removes the folder with its files; then raises a recorded signal. */
void child_folder_remove(const char *path);

#endif
