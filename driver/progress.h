/* Progress: a line on a terminal for work that takes over a second. */
#ifndef NETC_DRIVER_PROGRESS_H
#define NETC_DRIVER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct netc;

/* The line is rewritten on standard error and erased at the end. */
struct progress_line {
  bool wanted; /* standard error is a terminal */
  bool shown;
  int64_t start, last; /* milliseconds: start of the command, last update */
};

/* Starts the progress; connects it to `netc` unless that is NULL. */
void progress_open(struct progress_line *line, struct netc *netc);

/* A netc_progress_fn; `user` is the line. */
bool progress_show(void *user, const char *what, int64_t done, int64_t total);

/* Erases the line before other output. */
void progress_erase(struct progress_line *line);

#endif
