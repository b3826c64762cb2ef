/* Outputs: files that are whole or not there. */
#ifndef NETC_DRIVER_OUTPUT_H
#define NETC_DRIVER_OUTPUT_H

#include "driver/command.h"

/*
 * A file on its way: bytes go to one without a name in its folder, which takes
 * its place in output_commit, and is gone in output_abandon, or when the
 * program ends. Where a file system has none it has a temporary name, which a
 * signal removes; what SIGKILL leaves the next output there does. A file that
 * is replaced leaves its mode to the new one. What is not a plain file (a
 * device, a pipe) is written to as it is; a link is followed.
 */
struct output_file {
  char *path;
  bool placed;     /* in the end; if not, bytes go straight to `file` */
  char *temporary; /* NULL: it has no name yet, or none is needed */
  int slot;        /* among those that a signal removes */
  int held;        /* the file, if it is placed, until that is done */
  FILE *file;
};

/* The first bytes of a path with an end, from malloc; NULL: no memory. */
char *path_copy(const char *path, size_t length, const char *end);

/* `path` "-" is standard output. False, with errno set, if it cannot be. */
bool output_open(struct output_file *output, const char *path);

/* False, with errno set, if the file could not be put in place. */
bool output_commit(struct output_file *output, bool if_changed);
void output_abandon(struct output_file *output);

/* Whether two paths, there or not yet, are one plain file. */
bool output_same_file(const char *a, const char *b);

/* Complains of an output that would take a source's place; EXIT_USAGE. */
int output_spares_sources(const char *path, const struct netc *netc);

/* Says that a path could not be written, and why; EXIT_IO. */
int output_failed(const char *path, int error);

#endif
