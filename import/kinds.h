/* A file's kind, by its first bytes: the rows of kinds.def. */
#ifndef NETC_IMPORT_KINDS_H
#define NETC_IMPORT_KINDS_H

#include <stdbool.h>

#include "base/slice.h"

/* The way out for a module of PyTorch whose file netc does not read. */
#define EXPORT_PROGRAM                                                      \
  "torch.export.save(torch.export.export(model, (input,)), \"model.pt2\") " \
  "in Python, then `netc model.pt2`"

enum file_kind_id {
#define READ(constant, ...) KIND_##constant,
#define TOLD(constant, ...) KIND_##constant,
#include "import/kinds.def"
#undef READ
#undef TOLD
  KIND_COUNT
};

/* A file is of a kind if all tests of its row hold. */
struct file_kind {
  const char *name;     /* "this is NAME" */
  const char *suffixes; /* ".h5 .hdf5": used where the bytes do not decide */
  struct slice magic;   /* bytes, at `at` */
  size_t at;
  const char *opens; /* "<html|<!doctype": after blanks, in any case */
  const char *has;   /* "data.pkl|/code/": the head contains one of these */
  const char *line;  /* a line begins with this, after blanks */
  bool (*knows)(struct slice head);
  bool always;        /* a file with this suffix must begin so */
  bool text;          /* and must be a text */
  bool lines;         /* for a .net, the compiler explains each line instead */
  bool read;          /* there is a reader */
  bool header;        /* the reader needs the first bytes only */
  bool opens_file;    /* the reader opens the file: it may be large */
  bool tensors;       /* `netc weights` lists its tensors */
  const char *values; /* ".weights": suffix of a file with its weights */
  const char *help;   /* what to do, if there is no reader */
};

const struct file_kind *file_kind(enum file_kind_id kind);

/* The kind of a file whose first bytes are `head`, at most FILE_HEAD of them.
 * KIND_COUNT: as far as can be seen, a source of netc. */
enum file_kind_id file_kind_of(const char *path, struct slice head);

/* True if a file with the suffix of a kind can be one, by its first bytes. */
bool file_kind_fits(enum file_kind_id kind, struct slice head);

#endif
