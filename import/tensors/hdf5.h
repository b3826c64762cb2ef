/*
 * HDF5 as Keras writes it (The HDF5 Group, "File Format Specification",
 * version 3.0): a superblock of version 0, groups as B-trees, values in one
 * piece. What newer or packed files have is refused by name.
 */
#ifndef NETC_IMPORT_TENSORS_HDF5_H
#define NETC_IMPORT_TENSORS_HDF5_H

#include "base/map.h"
#include "import/bytes/bytes.h"
#include "import/tensors/value.h"

enum { HDF5_RANK = 16 };

/* Values of a data set or an attribute. */
struct hdf5_values {
  enum value_type type; /* VALUE_COUNT: no numbers that netc reads */
  bool text, variable;  /* texts, of one length or in the heap */
  const char *strange;  /* why they cannot be read; NULL: they can */
  uint64_t size;        /* of one, in bytes */
  int rank;
  int64_t dims[HDF5_RANK];
  int64_t count;
  uint64_t at; /* where they lie in the store */
};

struct hdf5_item {
  const char *path; /* "model_weights/dense/kernel:0", "dense@weight_names" */
  bool attribute;
  struct hdf5_values values;
};

struct hdf5 {
  struct byte_reader r;
  struct arena *arena;
  uint64_t steps; /* that may still be made */
  VEC(struct hdf5_item) items;
  struct map by_path; /* their numbers */
};

/*
 * Reads what there is, but not the values. False: hdf5->r.fault says why.
 */
bool hdf5_open(struct hdf5 *hdf5, struct byte_store *store,
               struct arena *arena);

/* NULL: there is none of that path. */
const struct hdf5_item *hdf5_find(const struct hdf5 *hdf5, const char *path);

/* Text number `index` of those; false: there is none, or a fault. */
bool hdf5_text(struct hdf5 *hdf5, const struct hdf5_values *values,
               int64_t index, struct slice *text);

#endif
