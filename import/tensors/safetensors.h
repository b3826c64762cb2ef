/*
 * safetensors: eight bytes with the length of a header, the header as JSON,
 * and the values, little-endian (github.com/huggingface/safetensors). Files
 * are mapped: what is not asked for is not read.
 */
#ifndef NETC_IMPORT_TENSORS_SAFETENSORS_H
#define NETC_IMPORT_TENSORS_SAFETENSORS_H

#include <stdio.h>

#include "base/arena.h"
#include "import/tensors/value.h"
#include "import/tensors/mapped.h"

enum {
  SAFETENSORS_HEADER = 100000000, /* bytes, as the reference allows */
  SAFETENSORS_RANK = 16,
};

struct stored_tensor {
  const char *name;
  enum value_type type;
  int rank;
  const int64_t *dims;
  int64_t count, begin, end; /* values; bytes of the data */
  const unsigned char *at;
};

struct safetensors {
  struct mapped file;
  VEC(struct stored_tensor) tensors; /* in the order of their data */
  size_t *by_name;                   /* places in it */
  char fault[512];                   /* what is wrong with the file */
  bool unread;                       /* it is not even there */
};

/*
 * Opens a file. False, and `fault` says why, if it cannot be read or does not
 * hold what its header promises; close it in any case. Names and sizes are in
 * `arena`.
 */
bool safetensors_open(struct safetensors *s, const char *path,
                      struct arena *arena);
void safetensors_close(struct safetensors *s);

/* NULL: there is none of that name. */
const struct stored_tensor *safetensors_find(const struct safetensors *s,
                                             const char *name);

/* What is written: float32, one after the other. */
struct float_tensor {
  const char *name;
  int rank;
  const int64_t *dims;
  int64_t count;
};

/* The header; the values follow. The caller looks at ferror. */
void safetensors_write_header(FILE *file, const struct float_tensor *tensors,
                              size_t count, struct arena *scratch);

/* Values, little-endian. */
void floats_write(FILE *file, const float *values, size_t count);

#endif
