/*
 * FlatBuffers: tables whose fields lie where a table of offsets says, vectors
 * and texts. Any place that a file names may be read by many others, so what
 * is read in all is bounded, too.
 */
#ifndef NETC_IMPORT_TFLITE_FLAT_H
#define NETC_IMPORT_TFLITE_FLAT_H

#include "import/bytes/bytes.h"

struct flat_file {
  struct byte_reader in; /* its error is that of all */
  uint64_t left;         /* items that may still be read */
};

/* A place of 0: there is none, and its fields have their usual values. */
struct flat_table {
  uint64_t at, offsets; /* of its fields, */
  uint64_t count;       /* so many */
};

struct flat_vector {
  uint64_t at, count;
};

/* The store stays open as long as the file is read. */
void flat_open(struct flat_file *flat, struct byte_store *store);
/* Says that so many items are read besides; false, with an error: too many. */
bool flat_spend(struct flat_file *flat, uint64_t items);

struct flat_table flat_root(struct flat_file *flat);

/* The field of a number in the schema, of 1 to 8 bytes. */
int64_t flat_int(struct flat_file *flat, const struct flat_table *table,
                 unsigned field, int bytes, int64_t usual);
double flat_real(struct flat_file *flat, const struct flat_table *table,
                 unsigned field, double usual);
struct flat_table flat_child(struct flat_file *flat,
                             const struct flat_table *table, unsigned field);
/* Of items of `bytes` each, which all lie in the file. */
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
