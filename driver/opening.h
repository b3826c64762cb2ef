/* Opening: what an operand is, and the source that it is or becomes. */
#ifndef NETC_DRIVER_OPENING_H
#define NETC_DRIVER_OPENING_H

#include "base/arena.h"
#include "driver/command.h"
#include "import/kinds.h"

/* All zero before the first. */
struct opened_file {
  struct arena arena;
  bool open;
  const char *operand;    /* as it was given: "zoo:resnet" */
  const char *path;       /* of the file; "-" is standard input */
  enum file_kind_id kind; /* KIND_COUNT: a source */
  struct slice text;
};

/*
 * Reads a file. What it is, its first bytes say: a source, or a kind that has
 * a reader; anything else is refused before more of it is read. An exit
 * status.
 */
int opening_open(struct opened_file *opening, const char *operand);

/* Refuses a file that is another kind than the command takes. */
int opening_refuse(const struct opened_file *opening, enum file_kind_id kind);

void opening_close(struct opened_file *opening);

/*
 * Makes a source of a file that has a reader, in place of its text; of the
 * options that were given those are taken that `netc import` has. An exit
 * status.
 */
struct option_given;
int opening_import(struct opened_file *opening,
                   const struct option_given *given, size_t count);

#endif
