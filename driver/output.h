/* Outputs: files that are complete or absent. */
#ifndef NETC_DRIVER_OUTPUT_H
#define NETC_DRIVER_OUTPUT_H

#include "driver/command.h"

/*
 * An output in progress. Bytes go to an unnamed file in its folder.
 * output_commit() puts it in place; output_abandon() and the end of the program
 * delete it. File systems without unnamed files get a temporary name, which a
 * signal removes; after SIGKILL the next output in the folder removes it. A
 * replaced file's mode is kept. Devices and pipes are written directly; links
 * are followed.
 */
struct output_file {
  char *path;
  bool placed;     /* put in place at the end; false: writes directly */
  char *temporary; /* NULL: unnamed, or not needed */
  int slot;        /* among the files that a signal removes */
  int held;        /* descriptor that holds the file until it is in place */
  FILE *file;
};

/* The first `length` bytes of a path with `end`, from malloc; NULL: no
 * memory. */
char *path_copy(const char *path, size_t length, const char *end);

/* Opens an output; "-" is standard output. False with errno. */
bool output_open(struct output_file *output, const char *path);

/* Puts the file in place; false with errno. */
bool output_commit(struct output_file *output, bool if_changed);
void output_abandon(struct output_file *output);

/* True if two paths, of existing or future files, are the same regular file. */
bool output_same_file(const char *a, const char *b);

/* Complains about an output that would replace a source: EXIT_USAGE. */
int output_spares_sources(const char *path, const struct netc *netc);

/* Complains that a path could not be written: EXIT_IO. */
int output_failed(const char *path, int error);

#endif
