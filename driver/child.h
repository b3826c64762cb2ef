/* Other programs as child processes: with a time limit, and an end when netc
 * is interrupted; and a folder for their files. */
#ifndef NETC_DRIVER_CHILD_H
#define NETC_DRIVER_CHILD_H

#include <stdbool.h>

enum child_end {
  CHILD_ENDED,   /* by itself; it may have failed */
  CHILD_ABSENT,  /* there is no such program */
  CHILD_FAILED,  /* it could not be begun: errno */
  CHILD_LATE,    /* it took too long, and was killed */
  CHILD_STOPPED, /* so it was because of a signal to netc */
};

/*
 * Runs argv[0], found by executable_find, in a folder that netc made, with no
 * input: a current folder is searched by many programs, and here it is nobody
 * else's. Paths in argv are absolute. What it prints goes to the file `log`.
 * `status` is that of waitpid. Its own children end with it.
 */
enum child_end child_run(char *argv[], const char *folder, const char *log,
                         long seconds, int *status);

/*
 * A folder of a name of its own, whose path goes to `path`; false: errno. Those
 * of runs that were killed are removed, unless a child lives on. From
 * then on signals that end a program are only noted, so that the folder can be
 * removed; a second one ends it.
 */
bool child_folder_make(char *path, unsigned long room);

/* The signal that came since, or 0. */
int child_stopped(void);

/* Removes it with its files; a signal that was noted then ends the program. */
void child_folder_remove(const char *path);

#endif
