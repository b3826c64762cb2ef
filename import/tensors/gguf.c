/* GGUF: keys, and the table of tensors. */
#include "import/tensors/gguf.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/map.h"

enum { GGUF_ALIGN = 32, GGUF_RANK = 4 };

/* Types of values of keys. */
enum {
  GGUF_TYPE_BOOL = 7,
  GGUF_TYPE_TEXT = 8,
  GGUF_TYPE_LIST = 9,
};

struct gguf_reading {
  struct tensor_file *file;
  struct arena *arena;
  struct gguf *gguf;
  struct byte_reader r;
  struct map keys;
  bool narrow; /* version 1: counts of 32 bits */
};

static const struct gguf_type {
  uint32_t number;
  const char *word;
  int64_t values, bytes; /* of a block */
  enum value_type type;
} types[] = {
#define GGML(number, word, values, bytes, type) \
  {number, word, values, bytes, type},
#include "import/tensors/ggml.def"
#undef GGML
};

static uint64_t read_count(struct gguf_reading *g) {
  return g->narrow ? bytes_u32(&g->r) : bytes_u64(&g->r);
}

static struct slice read_text(struct gguf_reading *g) {
  return bytes_text(&g->r, g->arena, read_count(g));
}

/* Values of keys */

static void set_integer(struct gguf_value *value, int64_t integer) {
  value->kind = GGUF_INTEGER;
  value->integer = integer;
  value->real = (double)integer;
}

static void set_real(struct gguf_value *value, double real) {
  value->kind = GGUF_REAL;
  value->real = real;
}

static void read_value(struct gguf_reading *g, uint32_t type,
                       struct gguf_value *value);

/* Bytes that a value has at least: what is promised may not follow. */
static uint64_t least_bytes(uint32_t type) {
  static const uint8_t bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 4, 8, 8, 8, 8};
  return type < sizeof bytes ? bytes[type] : 1;
}

static void read_list(struct gguf_reading *g, struct gguf_value *value) {
  uint32_t type = bytes_u32(&g->r);
  value->kind = GGUF_LIST;
  value->count = read_count(g);
  if (!bytes_enter(&g->r) ||
      !bytes_fits(&g->r, value->count, least_bytes(type)))
    return;
  value->items =
      arena_alloc(g->arena, (size_t)value->count + 1, sizeof *value->items);
  for (uint64_t i = 0; i < value->count && bytes_ok(&g->r); i++)
    read_value(g, type, &value->items[i]);
  bytes_leave(&g->r);
}

static void read_value(struct gguf_reading *g, uint32_t type,
                       struct gguf_value *value) {
  struct byte_reader *r = &g->r;
  uint64_t wide;
  switch (type) {
  case 0: set_integer(value, bytes_u8(r)); break;
  case 1: set_integer(value, bytes_signed(r, 1)); break;
  case 2: set_integer(value, bytes_u16(r)); break;
  case 3: set_integer(value, bytes_signed(r, 2)); break;
  case 4: set_integer(value, bytes_u32(r)); break;
  case 5: set_integer(value, bytes_signed(r, 4)); break;
  case 6: set_real(value, bytes_real(r, 4)); break;
  case GGUF_TYPE_BOOL: set_integer(value, bytes_u8(r) != 0); break;
  case GGUF_TYPE_TEXT:
    value->kind = GGUF_TEXT;
    value->text = read_text(g);
    break;
  case GGUF_TYPE_LIST: read_list(g, value); break;
  case 10:
    wide = bytes_u64(r);
    set_integer(value, wide > INT64_MAX ? INT64_MAX : (int64_t)wide);
    break;
  case 11: set_integer(value, bytes_signed(r, 8)); break;
  case 12: set_real(value, bytes_real(r, 8)); break;
  default: bytes_fail(r, "a key has values of the unknown type %" PRIu32, type);
  }
}

static bool read_key(struct gguf_reading *g) {
  struct gguf_value value = {.key = read_text(g)};
  uint32_t type = bytes_u32(&g->r);
  read_value(g, type, &value);
  if (!bytes_ok(&g->r))
    return false;
  struct map_entry *entry = map_add(g->arena, &g->keys, value.key);
  if (entry->number)
    return bytes_fail(&g->r, "key `%.*s` is repeated",
                      (int)(value.key.length < 100 ? value.key.length : 100),
                      value.key.at);
  *VEC_PUSH(g->arena, &g->gguf->values) = value;
  entry->number = (int64_t)g->gguf->values.count;
  return true;
}

const struct gguf_value *gguf_find(const struct gguf *gguf, const char *key) {
  for (size_t i = 0; i < gguf->values.count; i++)
    if (slice_is(gguf->values.at[i].key, key))
      return &gguf->values.at[i];
  return NULL;
}

/* Tensors */

/* The first axis is the fastest; PyTorch's shapes have it last. */
static bool read_shape(struct gguf_reading *g, struct stored_tensor *t) {
  uint32_t rank = bytes_u32(&g->r);
  if (!bytes_ok(&g->r))
    return false;
  if (rank > GGUF_RANK)
    return bytes_fail(
        &g->r, "tensor `%s` has %" PRIu32 " axes; at most %d are supported",
        t->name, rank, GGUF_RANK);
  int64_t *dims = arena_alloc(g->arena, rank + 1, sizeof *dims);
  t->rank = (int)rank;
  t->dims = dims;
  for (uint32_t i = 0; i < rank; i++) {
    uint64_t size = read_count(g);
    dims[rank - 1 - i] = size > INT64_MAX ? -1 : (int64_t)size;
  }
  return bytes_ok(&g->r) && tensors_count(g->file, g->arena, t);
}

static bool read_type(struct gguf_reading *g, struct stored_tensor *t) {
  uint32_t number = bytes_u32(&g->r);
  size_t i = 0, count = sizeof types / sizeof *types;
  int64_t bytes;
  while (i < count && types[i].number != number)
    i++;
  if (!bytes_ok(&g->r))
    return false;
  if (i == count)
    return bytes_fail(&g->r, "tensor `%s` has the unknown type %" PRIu32,
                      t->name, number);
  t->type = types[i].type;
  t->word = types[i].word;
  int64_t row = t->rank ? t->dims[t->rank - 1] : 1;
  if (row % types[i].values)
    return bytes_fail(&g->r,
                      "tensor `%s` has rows of %" PRId64 " values, but %s has "
                      "blocks of %" PRId64,
                      t->name, row, t->word, types[i].values);
  if (!mul_i64(t->count / types[i].values, types[i].bytes, &bytes))
    return bytes_fail(&g->r, "tensor `%s` would have more than 2^63 bytes",
                      t->name);
  t->bytes = (uint64_t)bytes;
  return true;
}

static bool read_tensor(struct gguf_reading *g) {
  struct stored_tensor t = {.name = read_text(g).at};
  if (!read_shape(g, &t) || !read_type(g, &t))
    return false;
  t.at = bytes_u64(&g->r);
  *VEC_PUSH(g->arena, &g->file->tensors) = t;
  return bytes_ok(&g->r);
}

/* From the header's end on; a file may be a header alone. */
static bool place_tensors(struct gguf_reading *g) {
  const struct gguf_value *given = gguf_find(g->gguf, "general.alignment");
  uint64_t align = given && given->kind == GGUF_INTEGER && given->integer > 0
                       ? (uint64_t)given->integer
                       : GGUF_ALIGN;
  uint64_t size = g->file->store.size, end = size;
  if (align > 1 << 30)
    return bytes_fail(&g->r, "its data would be aligned to %" PRIu64 " bytes",
                      align);
  uint64_t data = (g->r.at + align - 1) / align * align;
  for (size_t i = 0; i < g->file->tensors.count; i++) {
    struct stored_tensor *t = &g->file->tensors.at[i];
    if (t->at % align)
      return bytes_fail(&g->r,
                        "tensor `%s` is not aligned to %" PRIu64 " bytes",
                        t->name, align);
    if (t->at > INT64_MAX - data || t->bytes > INT64_MAX - data - t->at)
      return bytes_fail(&g->r, "tensor `%s` would end beyond 2^63 bytes",
                        t->name);
    t->at += data;
    end = t->at + t->bytes > end ? t->at + t->bytes : end;
  }
  g->file->missing = end - size;
  return true;
}

static bool read_all(struct gguf_reading *g) {
  struct byte_reader *r = &g->r;
  bytes_skip(r, 4);
  uint32_t version = bytes_u32(r);
  if (bytes_ok(r) && (version & 0xFFFF) == 0)
    return bytes_fail(r, "its numbers are big-endian");
  if (bytes_ok(r) && (version < 1 || version > 3))
    return bytes_fail(r,
                      "it has version %" PRIu32 "; versions 1 to 3 are "
                      "supported",
                      version);
  g->narrow = version == 1;
  uint64_t tensors = read_count(g), keys = read_count(g);
  for (uint64_t i = 0; i < keys; i++)
    if (!read_key(g))
      return false;
  for (uint64_t i = 0; i < tensors; i++)
    if (!read_tensor(g))
      return false;
  return bytes_ok(r) && place_tensors(g);
}

bool gguf_read_keys(struct tensor_file *file, struct arena *arena,
                    struct gguf *gguf) {
  struct gguf_reading g = {.file = file, .arena = arena, .gguf = gguf};
  *gguf = (struct gguf){.values = {0}};
  bytes_open(&g.r, &file->store, 0, UINT64_MAX);
  if (read_all(&g))
    return true;
  return *file->fault ? false : tensors_fail(file, arena, "%s", g.r.fault);
}

bool gguf_read(struct tensor_file *file, struct arena *arena) {
  struct gguf gguf;
  return gguf_read_keys(file, arena, &gguf);
}
