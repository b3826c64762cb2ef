/* .npy: reading what anybody may have written; and the header we write. */
#include "import/tensors/npy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"

/* The header as it is read. */
struct npy_header {
  struct npy *npy;
  const char *at, *end;
  bool has_type, has_order, has_shape, columns;
};

/* Always false. What comes from the file is made harmless. */
static bool fault(struct npy *npy, const char *format, ...) PRINTF_LIKE(2, 3);
static bool fault(struct npy *npy, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(npy->fault, sizeof npy->fault, format, args);
  va_end(args);
  for (char *c = npy->fault; *c; c++)
    if (*c < ' ' || *c > '~')
      *c = '?';
  return false;
}

static void skip_blanks(struct npy_header *h) {
  while (h->at < h->end && (*h->at == ' ' || *h->at == '\n' || *h->at == '\t'))
    h->at++;
}

static bool take(struct npy_header *h, char c) {
  skip_blanks(h);
  if (h->at == h->end || *h->at != c)
    return false;
  h->at++;
  return true;
}

static bool take_word(struct npy_header *h, const char *word) {
  size_t length = strlen(word);
  skip_blanks(h);
  if ((size_t)(h->end - h->at) < length || memcmp(h->at, word, length) != 0)
    return false;
  h->at += length;
  return true;
}

/* 'text' or "text", without escapes. */
static bool take_string(struct npy_header *h, struct slice *text) {
  skip_blanks(h);
  if (h->at == h->end || (*h->at != '\'' && *h->at != '"'))
    return false;
  char quote = *h->at++;
  const char *end = memchr(h->at, quote, (size_t)(h->end - h->at));
  if (!end)
    return false;
  *text = (struct slice){h->at, (size_t)(end - h->at)};
  h->at = end + 1;
  return true;
}

/* '<f4': the order of bytes, and the type. */
static bool read_type(struct npy_header *h) {
  struct slice text;
  if (take(h, '['))
    return fault(h->npy, "its values are records; a plain array is needed");
  if (!take_string(h, &text) || text.length < 2)
    return fault(h->npy, "its header has no type of values");
  struct slice name = slice_from(text, 1);
  h->npy->type = value_npy(name);
  if (h->npy->type == VALUE_COUNT)
    return fault(h->npy,
                 "values of type `%.*s` cannot be read; in Python, "
                 "`x.astype('<f4')` makes float32 of them",
                 text.length < 32 ? (int)text.length : 32, text.at);
  if (*text.at == '>' && value_bytes(h->npy->type) > 1)
    return fault(h->npy,
                 "its values are big-endian (`%.*s`); in Python, "
                 "`x.astype('<%.*s')` swaps their bytes",
                 SLICE_ARG(text), SLICE_ARG(name));
  h->has_type = true;
  return true;
}

static bool read_order(struct npy_header *h) {
  h->columns = take_word(h, "True");
  h->has_order = h->columns || take_word(h, "False");
  return h->has_order ||
         fault(h->npy, "its header does not say `fortran_order`");
}

static bool read_size(struct npy_header *h, int64_t *size) {
  const char *first = h->at;
  *size = 0;
  for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++)
    if (!mul_i64(*size, 10, size) || !add_i64(*size, *h->at - '0', size))
      return false;
  if (h->at < h->end && *h->at == 'L') /* Python 2's long */
    h->at++;
  return h->at > first;
}

/* (3, 4), (3,) or () */
static bool read_shape(struct npy_header *h) {
  struct npy *npy = h->npy;
  if (!take(h, '('))
    return fault(npy, "its header has no shape");
  npy->count = 1;
  while (!take(h, ')')) {
    if (npy->rank == NPY_RANK)
      return fault(npy, "it has more than %d axes", NPY_RANK);
    int64_t *size = &npy->dims[npy->rank++];
    if (!read_size(h, size) || !mul_i64(npy->count, *size, &npy->count))
      return fault(npy, "its shape is broken");
    if (!take(h, ',') && (skip_blanks(h), h->at == h->end || *h->at != ')'))
      return fault(npy, "its shape is broken");
  }
  h->has_shape = true;
  return true;
}

static bool read_entry(struct npy_header *h, struct slice key) {
  static const struct {
    const char *key;
    bool (*read)(struct npy_header *h);
    size_t seen; /* of struct npy_header */
  } entries[] = {
      {"descr", read_type, offsetof(struct npy_header, has_type)},
      {"fortran_order", read_order, offsetof(struct npy_header, has_order)},
      {"shape", read_shape, offsetof(struct npy_header, has_shape)},
  };
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    if (!slice_is(key, entries[i].key))
      continue;
    if (*(bool *)((char *)h + entries[i].seen))
      return fault(h->npy, "its header repeats the key `%s`", entries[i].key);
    return entries[i].read(h);
  }
  return fault(h->npy, "its header has the unknown key `%.*s`",
               key.length < 32 ? (int)key.length : 32, key.at);
}

static bool read_dictionary(struct npy_header *h) {
  if (!take(h, '{'))
    return fault(h->npy, "its header is not a dictionary");
  while (!take(h, '}')) {
    struct slice key;
    if (!take_string(h, &key) || !take(h, ':'))
      return fault(h->npy, "its header is not a dictionary");
    if (!read_entry(h, key))
      return false;
    if (!take(h, ',') && (skip_blanks(h), h->at == h->end || *h->at != '}'))
      return fault(h->npy, "its header is not a dictionary");
  }
  if (!h->has_type || !h->has_order || !h->has_shape)
    return fault(h->npy, "its header needs descr, fortran_order and shape");
  return true;
}

static void find_strides(struct npy *npy, bool columns) {
  int64_t stride = 1;
  for (int i = 0; i < npy->rank; i++) {
    int axis = columns ? i : npy->rank - 1 - i;
    npy->strides[axis] = stride;
    stride *= npy->dims[axis]; /* at most the count, unless it is 0 */
    if (npy->count == 0)
      stride = 1;
  }
}

/* The header, and then exactly the values that it promises. */
static bool read_all(struct npy *npy, struct byte_store *store,
                     struct arena *arena) {
  struct byte_reader r;
  int64_t bytes;
  bytes_open(&r, store, 0, UINT64_MAX);
  if (!bytes_match(&r, "\x93NUMPY", 6))
    return fault(npy, "it is not a .npy file");
  int version = bytes_u8(&r);
  bytes_skip(&r, 1);
  if (bytes_ok(&r) && (version < 1 || version > 3))
    return fault(npy, "it has version %d; versions 1 to 3 are supported",
                 version);
  struct slice header =
      bytes_text(&r, arena, bytes_unsigned(&r, version == 1 ? 2 : 4));
  if (!bytes_ok(&r))
    return fault(npy, "it ends inside its header");
  struct npy_header h = {
      .npy = npy, .at = header.at, .end = header.at + header.length};
  if (!read_dictionary(&h))
    return false;
  uint64_t rest = r.end - r.at;
  if (!mul_i64(npy->count, value_bytes(npy->type), &bytes) ||
      (uint64_t)bytes != rest)
    return fault(npy,
                 "its shape needs %" PRId64 " values of %" PRId64
                 " bytes, but %" PRIu64 " bytes follow",
                 npy->count, value_bytes(npy->type), rest);
  unsigned char *values = arena_room(arena, (size_t)rest + 1, 1);
  if (!byte_store_read(store, r.at, values, (size_t)rest))
    return fault(npy, "%s", store->fault);
  npy->at = values;
  find_strides(npy, h.columns);
  return true;
}

bool npy_read(struct npy *npy, const char *path, struct arena *arena) {
  struct byte_store store;
  memset(npy, 0, sizeof *npy);
  npy->unread = !byte_store_open(&store, path);
  bool read = npy->unread ? fault(npy, "%s", store.fault)
                          : read_all(npy, &store, arena);
  byte_store_close(&store);
  return read;
}

/* NumPy aligns the values to 64 bytes; 32 axes of 63 bits would not fit 1.0. */
void npy_write_header(FILE *file, enum value_type type, int rank,
                      const int64_t *dims) {
  char text[1024];
  int used = snprintf(text, sizeof text,
                      "{'descr': '%s%s', 'fortran_order': False, 'shape': (",
                      value_bytes(type) == 1 ? "|" : "<", value_npy_name(type));
  for (int i = 0; i < rank; i++)
    used += snprintf(text + used, sizeof text - (size_t)used, "%s%" PRId64,
                     i ? ", " : "", dims[i]);
  used += snprintf(text + used, sizeof text - (size_t)used, "%s), }",
                   rank == 1 ? "," : "");
  int length = (used + 1 + 10 + 63) / 64 * 64 - 10;
  fwrite("\x93NUMPY\x01\x00", 1, 8, file);
  fputc(length & 255, file);
  fputc(length >> 8, file);
  fprintf(file, "%s%*s\n", text, length - 1 - used, "");
}
