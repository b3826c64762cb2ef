/* safetensors: reading what anybody may have written, with jansson. */
#include "import/tensors/safetensors.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/shown.h"
#include "base/text.h"

struct safetensors_reading {
  struct safetensors *s;
  struct arena *arena;
  int64_t data_bytes;
  const unsigned char *data;
};

/* Always false. The text may hold what the file says: it is made harmless. */
static bool fault(const struct safetensors_reading *r, const char *format, ...)
    PRINTF_LIKE(2, 3);
static bool fault(const struct safetensors_reading *r, const char *format,
                  ...) {
  struct text raw = text_new(r->arena), shown = text_new(r->arena);
  va_list args;
  va_start(args, format);
  text_vprintf(&raw, format, args);
  va_end(args);
  shown_put(&shown, text_slice(&raw), 0);
  snprintf(r->s->fault, sizeof r->s->fault, "%.*s", SLICE_ARG(shown));
  return false;
}

/* One tensor. */

static bool read_type(const struct safetensors_reading *r, const json_t *about,
                      struct stored_tensor *tensor) {
  const char *word = json_string_value(json_object_get(about, "dtype"));
  if (!word)
    return fault(r, "tensor `%s` has no dtype", tensor->name);
  tensor->type = value_stored(slice_of(word));
  if (tensor->type == VALUE_COUNT)
    return fault(r, "tensor `%s` is of type `%.32s`, which is not known",
                 tensor->name, word);
  return true;
}

static bool read_shape(const struct safetensors_reading *r, const json_t *about,
                       struct stored_tensor *tensor) {
  const json_t *shape = json_object_get(about, "shape");
  size_t rank = json_array_size(shape);
  if (!json_is_array(shape))
    return fault(r, "tensor `%s` has no shape", tensor->name);
  if (rank > SAFETENSORS_RANK)
    return fault(r, "tensor `%s` has %zu axes; at most %d are supported",
                 tensor->name, rank, SAFETENSORS_RANK);
  int64_t *dims = arena_alloc(r->arena, rank + 1, sizeof *dims);
  tensor->rank = (int)rank;
  tensor->dims = dims;
  tensor->count = 1;
  for (size_t i = 0; i < rank; i++) {
    const json_t *size = json_array_get(shape, i);
    dims[i] = json_integer_value(size);
    if (!json_is_integer(size) || dims[i] < 0)
      return fault(r, "tensor `%s` has a size that is not a whole number",
                   tensor->name);
    if (!mul_i64(tensor->count, dims[i], &tensor->count))
      return fault(r, "tensor `%s` would have over 2^63 values", tensor->name);
  }
  return true;
}

static bool read_offsets(const struct safetensors_reading *r,
                         const json_t *about, struct stored_tensor *tensor) {
  const json_t *offsets = json_object_get(about, "data_offsets");
  const json_t *begin = json_array_get(offsets, 0);
  const json_t *end = json_array_get(offsets, 1);
  int64_t bytes;
  if (json_array_size(offsets) != 2 || !json_is_integer(begin) ||
      !json_is_integer(end))
    return fault(r, "tensor `%s` needs two data_offsets", tensor->name);
  tensor->begin = json_integer_value(begin);
  tensor->end = json_integer_value(end);
  if (tensor->begin < 0 || tensor->end < tensor->begin ||
      tensor->end > r->data_bytes)
    return fault(r,
                 "tensor `%s` is said to lie at bytes %" PRId64 " to %" PRId64
                 ", but the data have %" PRId64 "; is the file complete?",
                 tensor->name, tensor->begin, tensor->end, r->data_bytes);
  if (!mul_i64(tensor->count, value_bytes(tensor->type), &bytes) ||
      bytes != tensor->end - tensor->begin)
    return fault(r,
                 "tensor `%s` has %" PRId64
                 " values of %s, which are not %" PRId64 " bytes",
                 tensor->name, tensor->count, value_word(tensor->type),
                 tensor->end - tensor->begin);
  tensor->at = r->data + tensor->begin;
  return true;
}

static bool read_tensor(const struct safetensors_reading *r, const char *name,
                        const json_t *about) {
  struct stored_tensor tensor = {.name =
                                     arena_copy(r->arena, name, strlen(name))};
  if (!json_is_object(about))
    return fault(r, "tensor `%s` is not described", tensor.name);
  if (!read_type(r, about, &tensor) || !read_shape(r, about, &tensor) ||
      !read_offsets(r, about, &tensor))
    return false;
  *VEC_PUSH(r->arena, &r->s->tensors) = tensor;
  return true;
}

/* All of them. */

static bool read_tensors(const struct safetensors_reading *r, json_t *header) {
  const char *name;
  json_t *about;
  if (!json_is_object(header))
    return fault(r, "the header is not a JSON object");
  json_object_foreach(header, name, about) {
    if (strcmp(name, "__metadata__") == 0)
      continue;
    if (!read_tensor(r, name, about))
      return false;
  }
  return true;
}

static int by_begin(const void *a, const void *b) {
  const struct stored_tensor *x = a, *y = b;
  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  if (x->end != y->end)
    return x->end < y->end ? -1 : 1;
  return strcmp(x->name, y->name);
}

/* Each byte of the data belongs to one tensor. */
static bool check_places(const struct safetensors_reading *r) {
  const struct safetensors *s = r->s;
  int64_t end = 0;
  if (s->tensors.count)
    qsort(s->tensors.at, s->tensors.count, sizeof *s->tensors.at, by_begin);
  for (size_t i = 0; i < s->tensors.count; i++) {
    const struct stored_tensor *at = &s->tensors.at[i];
    if (at->begin < end)
      return fault(r, "tensors `%s` and `%s` overlap", at[-1].name, at->name);
    if (at->begin > end)
      return fault(r,
                   "bytes %" PRId64 " to %" PRId64 " of the data, before "
                   "tensor `%s`, belong to none",
                   end, at->begin, at->name);
    end = at->end;
  }
  if (end != r->data_bytes)
    return fault(r, "%" PRId64 " bytes after the last tensor belong to none",
                 r->data_bytes - end);
  return true;
}

struct safetensors_named {
  const char *name;
  size_t place;
};

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct safetensors_named *)a)->name,
                ((const struct safetensors_named *)b)->name);
}

static void sort_names(struct safetensors *s, struct arena *arena) {
  size_t count = s->tensors.count;
  struct safetensors_named *named =
      arena_alloc(arena, count + 1, sizeof *named);
  s->by_name = arena_alloc(arena, count + 1, sizeof *s->by_name);
  for (size_t i = 0; i < count; i++)
    named[i] = (struct safetensors_named){s->tensors.at[i].name, i};
  qsort(named, count, sizeof *named, by_name);
  for (size_t i = 0; i < count; i++)
    s->by_name[i] = named[i].place;
}

/* The length of the header, once it is plausible. */
static bool read_length(const struct safetensors_reading *r, uint64_t *length) {
  const struct mapped *file = &r->s->file;
  *length = 0;
  if (file->length < 8)
    return fault(r, "it has %zu bytes, too few for a safetensors file",
                 file->length);
  for (int i = 8; i-- > 0;)
    *length = *length << 8 | file->at[i];
  if (*length > SAFETENSORS_HEADER)
    return fault(r,
                 "its header would have %" PRIu64 " bytes, over %d; is it a "
                 "safetensors file?",
                 *length, SAFETENSORS_HEADER);
  if (*length > file->length - 8)
    return fault(r,
                 "its header would have %" PRIu64 " bytes, but %zu follow; is "
                 "the file complete?",
                 *length, file->length - 8);
  return true;
}

static bool read_header(struct safetensors_reading *r) {
  const struct mapped *file = &r->s->file;
  uint64_t length;
  json_error_t error;
  if (!read_length(r, &length))
    return false;
  r->data = file->at + 8 + length;
  r->data_bytes = (int64_t)(file->length - 8 - length);
  json_t *header = json_loadb((const char *)file->at + 8, (size_t)length,
                              JSON_REJECT_DUPLICATES, &error);
  if (!header)
    return fault(r, "its header is not JSON: %s (byte %d)", error.text,
                 error.position);
  bool read = read_tensors(r, header) && check_places(r);
  json_decref(header);
  return read;
}

bool safetensors_open(struct safetensors *s, const char *path,
                      struct arena *arena) {
  struct safetensors_reading r = {.s = s, .arena = arena};
  const char *reason;
  memset(s, 0, sizeof *s);
  if (!mapped_open(&s->file, path, &reason)) {
    s->unread = true;
    return fault(&r, "%s", reason);
  }
  if (!read_header(&r))
    return false;
  sort_names(s, arena);
  return true;
}

void safetensors_close(struct safetensors *s) {
  mapped_close(&s->file);
}

const struct stored_tensor *safetensors_find(const struct safetensors *s,
                                             const char *name) {
  size_t low = 0, high = s->tensors.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const struct stored_tensor *at = &s->tensors.at[s->by_name[middle]];
    int order = strcmp(name, at->name);
    if (order == 0)
      return at;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

/* Writing. */

static void put_tensor(struct text *out, const struct float_tensor *tensor,
                       int64_t *offset) {
  text_putc(out, ',');
  json_t *name = json_string(tensor->name);
  char *quoted = name ? json_dumps(name, JSON_ENCODE_ANY) : NULL;
  json_decref(name);
  text_put(out, quoted ? quoted : "\"\"");
  free(quoted);
  text_put(out, ":{\"dtype\":\"F32\",\"shape\":[");
  for (int i = 0; i < tensor->rank; i++)
    text_printf(out, "%s%" PRId64, i ? "," : "", tensor->dims[i]);
  int64_t end = *offset + 4 * tensor->count;
  text_printf(out, "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", *offset,
              end);
  *offset = end;
}

/* Blanks fill it up, so that the values are aligned. */
void safetensors_write_header(FILE *file, const struct float_tensor *tensors,
                              size_t count, struct arena *scratch) {
  struct text out = text_new(scratch);
  int64_t offset = 0;
  text_put(&out, "{\"__metadata__\":{\"format\":\"pt\"}");
  for (size_t i = 0; i < count; i++)
    put_tensor(&out, &tensors[i], &offset);
  text_putc(&out, '}');
  while (out.length % 8)
    text_putc(&out, ' ');
  for (int i = 0; i < 8; i++)
    fputc((int)((uint64_t)out.length >> 8 * i & 255), file);
  fwrite(out.at, 1, out.length, file);
}

void floats_write(FILE *file, const float *values, size_t count) {
  unsigned char bytes[4096];
  while (count > 0) {
    size_t now = count < sizeof bytes / 4 ? count : sizeof bytes / 4;
    for (size_t i = 0; i < now; i++) {
      uint32_t bits;
      memcpy(&bits, &values[i], sizeof bits);
      for (int k = 0; k < 4; k++)
        bytes[4 * i + (size_t)k] = (unsigned char)(bits >> 8 * k);
    }
    fwrite(bytes, 4, now, file);
    values += now;
    count -= now;
  }
}
