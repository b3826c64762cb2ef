/* Outputs: files that are whole or not there, and dependency files. */
#ifndef NETC_DRIVER_OUTPUT_H
#define NETC_DRIVER_OUTPUT_H

#include "driver/command.h"

/*
 * A file on its way: bytes go to a temporary one beside it, which takes its
 * place in output_commit and is removed in output_abandon. What is no plain
 * file (a device, a pipe) is written to as it is; a link is followed.
 */
struct output_file {
  char *path;
  char *temporary; /* NULL: bytes go straight to `file` */
  FILE *file;
};

/* `path` "-" is standard output. False, with errno set, if it cannot be. */
bool output_open(struct output_file *output, const char *path);

/* False, with errno set, if the file could not be put in place. */
bool output_commit(struct output_file *output, bool if_changed);
void output_abandon(struct output_file *output);

/* Names of files with what make and Ninja would misread escaped. */
void put_make_name(FILE *file, const char *name);

#endif
