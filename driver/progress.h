/* Progress: a line on a terminal for what lasts longer than a second. */
#ifndef NETC_DRIVER_PROGRESS_H
#define NETC_DRIVER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct netc;

/* The line rewrites itself on standard error, and is erased in the end. */
struct progress_line {
  bool wanted; /* a terminal shows it */
  bool shown;
  int64_t start, last; /* milliseconds: of the command, of the line */
};

/* From now on; `netc` tells it, if it is not NULL. */
void progress_open(struct progress_line *line, struct netc *netc);

/* A netc_progress_fn; `user` is the line. */
bool progress_show(void *user, const char *what, int64_t done, int64_t total);

/* Before anything else is written. */
void progress_erase(struct progress_line *line);

#endif
