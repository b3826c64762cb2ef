/*
 * Reads FlatBuffers: tables, whose fields are found by a table of offsets,
 * vectors and texts. Many offsets of a file may point to the same place, so the
 * total amount read is limited, too.
 */
#ifndef NETC_IMPORT_TFLITE_FLAT_H
#define NETC_IMPORT_TFLITE_FLAT_H

#include "import/bytes/bytes.h"

struct flat_file {
  struct byte_reader in; /* holds the error of all reads */
  uint64_t left;         /* items that may still be read */
};

/* A table; `at` of 0: missing, all fields have their default. */
struct flat_table {
  uint64_t at, offsets; /* offset of the fields' offsets */
  uint64_t count;       /* number of fields */
};

struct flat_vector {
  uint64_t at, count;
};

/* The store must stay open while the file is read. */
void flat_open(struct flat_file *flat, struct byte_store *store);
/* Counts items that are read; false with an error if there are too many. */
bool flat_spend(struct flat_file *flat, uint64_t items);

struct flat_table flat_root(struct flat_file *flat);

/* An integer field of 1 to 8 bytes, by its number in the schema. */
int64_t flat_int(struct flat_file *flat, const struct flat_table *table,
                 unsigned field, int bytes, int64_t usual);
double flat_real(struct flat_file *flat, const struct flat_table *table,
                 unsigned field, double usual);
struct flat_table flat_child(struct flat_file *flat,
                             const struct flat_table *table, unsigned field);
/* A vector of items of `bytes` each; the whole vector is inside the file. */
struct flat_vector flat_vector(struct flat_file *flat,
                               const struct flat_table *table, unsigned field,
                               unsigned bytes);
struct slice flat_text(struct flat_file *flat, struct arena *arena,
                       const struct flat_table *table, unsigned field);

/* An item of a vector of numbers, or of tables. */
int64_t flat_item(struct flat_file *flat, const struct flat_vector *vector,
                  uint64_t index, int bytes);
double flat_item_real(struct flat_file *flat, const struct flat_vector *vector,
                      uint64_t index);
struct flat_table flat_item_table(struct flat_file *flat,
                                  const struct flat_vector *vector,
                                  uint64_t index);

#endif
