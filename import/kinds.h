/* What a file is, by its first bytes: the rows of kinds.def. */
#ifndef NETC_IMPORT_KINDS_H
#define NETC_IMPORT_KINDS_H

#include <stdbool.h>

#include "base/slice.h"

enum file_kind_id {
#define READ(constant, ...) KIND_##constant,
#define TOLD(constant, ...) KIND_##constant,
#include "import/kinds.def"
#undef READ
#undef TOLD
  KIND_COUNT
};

/* Of the tests, all that a row has must hold. */
struct file_kind {
  const char *name;     /* "this is NAME" */
  const char *suffixes; /* ".h5 .hdf5": where the bytes do not say it */
  struct slice magic;   /* bytes, at `at` */
  size_t at;
  const char *opens; /* "<html|<!doctype": after blanks, in any case */
  const char *has;   /* "data.pkl|/code/": one of them is somewhere */
  const char *line;  /* what a line begins with, after blanks */
  bool (*knows)(struct slice head);
  bool always;        /* what is called so begins so, or is something else */
  bool text;          /* and so is what is no text */
  bool lines;         /* of a .net the compiler explains each line */
  bool read;          /* there is a reader, */
  bool header;        /* which needs no more than the first bytes, */
  bool opens_file;    /* or opens one by itself: it may be large */
  bool tensors;       /* `netc weights` lists what it has */
  const char *values; /* ".weights": what a file of its weights ends with */
  const char *help;   /* what to do, if there is none */
};

const struct file_kind *file_kind(enum file_kind_id kind);

/*
 * What a file is whose first bytes are `head`, at most FILE_HEAD of them.
 * KIND_COUNT: a source of netc's, as far as can be seen.
 */
enum file_kind_id file_kind_of(const char *path, struct slice head);

/* Whether a file that is called so can be of that kind, by its first bytes. */
bool file_kind_fits(enum file_kind_id kind, struct slice head);

#endif
