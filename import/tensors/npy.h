/*
 * .npy: an array as NumPy saves it: a magic word, a version, a header that is
 * a Python dictionary, the values (numpy/lib/format.py).
 */
#ifndef NETC_IMPORT_TENSORS_NPY_H
#define NETC_IMPORT_TENSORS_NPY_H

#include <stdio.h>

#include "import/bytes/bytes.h"
#include "import/tensors/value.h"

enum { NPY_RANK = 32 }; /* what NumPy allows */

struct npy {
  enum value_type type;
  int rank;
  int64_t dims[NPY_RANK];
  int64_t strides[NPY_RANK]; /* in values: an array by columns has others */
  int64_t count;
  const unsigned char *at; /* in the arena */
  char fault[512];         /* what is wrong with it */
  bool unread;             /* it is not even there */
};

/*
 * Reads a file of version 1 to 3 into the arena. False, and `fault` says why,
 * if it cannot be read or is not whole.
 */
bool npy_read(struct npy *npy, const char *path, struct arena *arena);

/* The header of values by rows, which follow, lowest byte first. NumPy has the
 * type. */
void npy_write_header(FILE *file, enum value_type type, int rank,
                      const int64_t *dims);

#endif
