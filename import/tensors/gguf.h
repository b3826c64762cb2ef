/*
 * GGUF (github.com/ggml-org/ggml, docs/gguf.md): keys with values, and a table
 * of tensors, whose data follow. The keys say what a model is: hidden sizes,
 * heads, layers.
 */
#ifndef NETC_IMPORT_TENSORS_GGUF_H
#define NETC_IMPORT_TENSORS_GGUF_H

#include "import/tensors/tensors.h"

enum gguf_kind {
  GGUF_INTEGER, /* a bool, too */
  GGUF_REAL,
  GGUF_TEXT,
  GGUF_LIST,
};

struct gguf_value {
  struct slice key; /* "llama.block_count"; with a NUL after it */
  enum gguf_kind kind;
  int64_t integer; /* above 2^63: INT64_MAX */
  double real;     /* of an integer, too */
  struct slice text;
  struct gguf_value *items; /* of a list, all of one kind; they have no key */
  uint64_t count;
};

struct gguf {
  VEC(struct gguf_value) values; /* in the file's order */
};

/*
 * Reads keys and tensors of a file that is opened by tensors_open, or of one
 * in memory: `file->store` is what counts. False: `file->fault` says why.
 */
bool gguf_read_keys(struct tensor_file *file, struct arena *arena,
                    struct gguf *gguf);

/* NULL: there is no such key. */
const struct gguf_value *gguf_find(const struct gguf *gguf, const char *key);

#endif
