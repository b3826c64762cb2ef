/* FlatBuffers (flatbuffers.dev, "FlatBuffer Internals"). */
#include "import/tflite/flat.h"

enum { ITEMS_A_BYTE = 4 }; /* limit on reads; a valid file needs less than 1 */

void flat_open(struct flat_file *flat, struct byte_store *store) {
  bytes_open(&flat->in, store, 0, store->size);
  flat->left = ITEMS_A_BYTE * store->size;
}

bool flat_spend(struct flat_file *f, uint64_t items) {
  if (items > f->left)
    return bytes_fail(&f->in, "its tables refer to each other too often");
  f->left -= items;
  return bytes_ok(&f->in);
}

/* The number at an offset. */
static int64_t number(struct flat_file *f, uint64_t at, int bytes) {
  return bytes_go(&f->in, at) ? bytes_signed(&f->in, bytes) : 0;
}

/* Follows an offset, which is relative to its own position. */
static uint64_t follow(struct flat_file *f, uint64_t at) {
  uint64_t offset = bytes_go(&f->in, at) ? bytes_u32(&f->in) : 0;
  if (offset == 0)
    bytes_fail(&f->in, "an offset points outside the file");
  return at + offset;
}

/* A table starts with the distance to its vtable, which is mostly before it. */
static struct flat_table table_at(struct flat_file *f, uint64_t at) {
  struct flat_table none = {0}, table = {.at = at};
  int64_t back = number(f, at, 4);
  if (!flat_spend(f, 1))
    return none;
  if (back > (int64_t)at || (int64_t)at - back > (int64_t)f->in.end) {
    bytes_fail(&f->in, "the fields of a table are outside the file");
    return none;
  }
  table.offsets = at - (uint64_t)back;
  uint64_t bytes = (uint64_t)number(f, table.offsets, 2) & 0xffff;
  table.count = bytes < 4 ? 0 : (bytes - 4) / 2;
  return bytes_ok(&f->in) ? table : none;
}

struct flat_table flat_root(struct flat_file *flat) {
  return table_at(flat, follow(flat, 0));
}

/* The offset of a field; 0 if it has the default value. */
static uint64_t field_at(struct flat_file *f, const struct flat_table *table,
                         unsigned field) {
  if (table->at == 0 || field >= table->count)
    return 0;
  uint64_t offset =
      (uint64_t)number(f, table->offsets + 4 + 2 * field, 2) & 0xffff;
  return offset ? table->at + offset : 0;
}

int64_t flat_int(struct flat_file *flat, const struct flat_table *table,
                 unsigned field, int bytes, int64_t usual) {
  uint64_t at = field_at(flat, table, field);
  return at ? number(flat, at, bytes) : usual;
}

double flat_real(struct flat_file *flat, const struct flat_table *table,
                 unsigned field, double usual) {
  uint64_t at = field_at(flat, table, field);
  return at && bytes_go(&flat->in, at) ? bytes_real(&flat->in, 4) : usual;
}

struct flat_table flat_child(struct flat_file *flat,
                             const struct flat_table *table, unsigned field) {
  uint64_t at = field_at(flat, table, field);
  return at ? table_at(flat, follow(flat, at)) : (struct flat_table){0};
}

struct flat_vector flat_vector(struct flat_file *flat,
                               const struct flat_table *table, unsigned field,
                               unsigned bytes) {
  struct flat_vector none = {0}, vector;
  uint64_t at = field_at(flat, table, field);
  if (at == 0 || !bytes_go(&flat->in, follow(flat, at)))
    return none;
  vector.count = bytes_u32(&flat->in);
  vector.at = flat->in.at;
  return bytes_fits(&flat->in, vector.count, bytes) ? vector : none;
}

struct slice flat_text(struct flat_file *flat, struct arena *arena,
                       const struct flat_table *table, unsigned field) {
  struct flat_vector text = flat_vector(flat, table, field, 1);
  if (text.count == 0 || !flat_spend(flat, text.count) ||
      !bytes_go(&flat->in, text.at))
    return (struct slice){"", 0};
  return bytes_text(&flat->in, arena, text.count);
}

int64_t flat_item(struct flat_file *flat, const struct flat_vector *vector,
                  uint64_t index, int bytes) {
  if (index >= vector->count || !flat_spend(flat, 1))
    return 0;
  return number(flat, vector->at + index * (unsigned)bytes, bytes);
}

double flat_item_real(struct flat_file *flat, const struct flat_vector *vector,
                      uint64_t index) {
  if (index >= vector->count || !flat_spend(flat, 1) ||
      !bytes_go(&flat->in, vector->at + 4 * index))
    return 0;
  return bytes_real(&flat->in, 4);
}

struct flat_table flat_item_table(struct flat_file *flat,
                                  const struct flat_vector *vector,
                                  uint64_t index) {
  if (index >= vector->count)
    return (struct flat_table){0};
  return table_at(flat, follow(flat, vector->at + 4 * index));
}
