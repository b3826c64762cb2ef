/* Options of the command line: one table for getopt, --help and the manual. */
#ifndef NETC_DRIVER_OPTIONS_H
#define NETC_DRIVER_OPTIONS_H

#include "driver/command.h"

enum { MOST_OUTPUTS = 64 };

/* An output that was asked for: a kind, and where it goes. */
struct wanted {
  char kind[16];    /* empty: by the path's suffix */
  const char *path; /* "-": standard output */
};

struct options {
  char **files;
  int file_count;
  struct wanted wanted[MOST_OUTPUTS];
  size_t wanted_count;
  struct netc_options look;
  struct display display;
  const char *dump;
  bool if_changed;
  bool depfile; /* -MD or -MF */
  bool phony;   /* -MP */
  const char *dep_path, *dep_target;
  bool help, version;
};

/*
 * Reads the command line; settings go straight to the context. Returns an
 * exit status.
 */
int read_options(struct options *options, struct netc *netc, int argc,
                 char **argv);

void put_help(FILE *file);

#endif
