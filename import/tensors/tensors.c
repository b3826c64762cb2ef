/* Files of tensors, whatever their format. */
#include "import/tensors/tensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/shown.h"

bool tensors_fail(struct tensor_file *file, struct arena *arena,
                  const char *format, ...) {
  va_list args;
  va_start(args, format);
  shown_format(file->fault, sizeof file->fault, arena, format, args);
  va_end(args);
  return false;
}

bool tensors_count(struct tensor_file *file, struct arena *arena,
                   struct stored_tensor *t) {
  t->count = 1;
  for (int i = 0; i < t->rank; i++) {
    if (t->dims[i] < 0)
      return tensors_fail(file, arena,
                          "tensor `%s` has a size that is not a whole number",
                          t->name);
    if (!mul_i64(t->count, t->dims[i], &t->count))
      return tensors_fail(
          file, arena, "tensor `%s` would have more than 2^63 values", t->name);
  }
  return true;
}

/* Opening */

static const struct tensor_format {
  const char *name, *magic;
  size_t length;
  tensors_read_fn *read;
} formats[] = {
    {"GGUF", "GGUF", 4, gguf_read},
    {"PyTorch", "PK\3\4", 4, torch_read_zip},
    {"PyTorch", "\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9", 9, torch_read_legacy},
    {"Caffe", "\n", 1, caffemodel_read}, /* field 1, a text: its name */
    {"safetensors", "", 0, safetensors_read},
};

static int by_name(const void *a, const void *b) {
  return strcmp((*(const struct stored_tensor *const *)a)->name,
                (*(const struct stored_tensor *const *)b)->name);
}

static int by_step(const void *a, const void *b) {
  const struct tensor_steps *x = a, *y = b;
  return strcmp(x->name, y->name);
}

static bool sort_names(struct tensor_file *file, struct arena *arena) {
  size_t count = file->tensors.count;
  const struct stored_tensor **named =
      arena_alloc(arena, count + 1, sizeof *named);
  file->by_name = named;
  for (size_t i = 0; i < count; i++)
    named[i] = &file->tensors.at[i];
  qsort(named, count, sizeof *named, by_name);
  for (size_t i = 1; i < count; i++)
    if (strcmp(named[i - 1]->name, named[i]->name) == 0)
      return tensors_fail(file, arena, "two tensors are named `%s`",
                          named[i]->name);
  if (file->steps.count)
    qsort(file->steps.at, file->steps.count, sizeof *file->steps.at, by_step);
  for (size_t i = 0; i < count && file->steps.count; i++)
    file->tensors.at[i].stepped = !value_is_real(file->tensors.at[i].type) &&
                                  tensors_steps(file, file->tensors.at[i].name);
  return true;
}

/* A size before the JSON of a safetensors file may be any byte. */
static bool opens_with(const struct tensor_format *format, const char *head,
                       size_t length) {
  bool json = length > 8 && head[8] == '{' && format->length < 4;
  return format->length == 0 ||
         (!json && length >= format->length &&
          memcmp(head, format->magic, format->length) == 0);
}

static bool read_opened(struct tensor_file *file, bool opened,
                        struct arena *arena) {
  char head[16] = "";
  file->unread = !opened;
  if (!opened)
    return tensors_fail(file, arena, "%s", file->store.fault);
  size_t length =
      file->store.size < sizeof head ? (size_t)file->store.size : sizeof head;
  const struct tensor_format *format = formats;
  if (!byte_store_read(&file->store, 0, head, length))
    return tensors_fail(file, arena, "%s", file->store.fault);
  while (!opens_with(format, head, length))
    format++;
  file->format = format->name;
  return format->read(file, arena) && sort_names(file, arena);
}

bool tensors_open(struct tensor_file *file, const char *path,
                  struct arena *arena) {
  memset(file, 0, sizeof *file);
  return read_opened(file, byte_store_open(&file->store, path), arena);
}

bool tensors_open_file(struct tensor_file *file, int open,
                       struct arena *arena) {
  memset(file, 0, sizeof *file);
  return read_opened(file, byte_store_dup(&file->store, open), arena);
}

void tensors_close(struct tensor_file *file) {
  byte_store_close(&file->store);
}

const struct stored_tensor *tensors_find(const struct tensor_file *file,
                                         const char *name) {
  const struct stored_tensor key = {.name = name}, *at = &key, **found = NULL;
  if (file->tensors.count)
    found = bsearch(&at, file->by_name, file->tensors.count, sizeof *found,
                    by_name);
  return found ? *found : NULL;
}

const struct tensor_steps *tensors_steps(const struct tensor_file *file,
                                         const char *name) {
  const struct tensor_steps key = {.name = name};
  return file->steps.count ? bsearch(&key, file->steps.at, file->steps.count,
                                     sizeof key, by_step)
                           : NULL;
}

/* Values */

bool tensors_bytes(struct tensor_file *file, const struct stored_tensor *t,
                   uint64_t first, size_t count, void *to) {
  if (t->packed)
    snprintf(file->fault, sizeof file->fault,
             "its members are compressed; torch.save and `zip -0` store them "
             "uncompressed");
  else if (!byte_store_read(&file->store, t->at + first, to, count))
    snprintf(file->fault, sizeof file->fault, "%s", file->store.fault);
  else
    return true;
  return false;
}

/* Where a value lies that is the `index`-th by rows. */
static int64_t place_of(const struct stored_tensor *t, int64_t index) {
  int64_t place = 0;
  for (int i = t->rank; i-- > 0; index /= t->dims[i])
    place += index % t->dims[i] * t->strides[i];
  return place;
}

/* Values that do not lie by rows: one after the other. */
static bool gather(struct tensor_file *file, const struct stored_tensor *t,
                   int64_t first, int64_t count, float *to) {
  unsigned char bytes[8];
  int64_t size = value_bytes(t->type), one = 1;
  for (int64_t i = 0; i < count; i++) {
    uint64_t at = (uint64_t)(place_of(t, first + i) * size);
    struct scattered from = {bytes, t->type, 1, &one, &one};
    if (!tensors_bytes(file, t, at, (size_t)size, bytes))
      return false;
    scattered_floats(&from, to + i);
  }
  return true;
}

/* Whole numbers become what they stand for. */
static void step(const struct tensor_file *file, const struct stored_tensor *t,
                 int64_t first, int64_t count, float *to) {
  const struct tensor_steps *steps =
      t->stepped ? tensors_steps(file, t->name) : NULL;
  if (!steps)
    return;
  int64_t each = t->count / (int64_t)steps->count;
  for (int64_t i = 0; i < count; i++) {
    int64_t at = each ? (first + i) / each : 0;
    at = at < (int64_t)steps->count ? at : (int64_t)steps->count - 1;
    to[i] =
        (float)(((double)to[i] - steps->zero[at]) * (double)steps->scale[at]);
  }
}

/* Some of the next values, of those that lie by rows. */
struct tensor_piece {
  unsigned char bytes[1 << 14];
  int64_t count, stride;
  struct scattered from;
};

static bool read_piece(struct tensor_file *file, const struct stored_tensor *t,
                       int64_t first, int64_t count,
                       struct tensor_piece *piece) {
  int64_t size = value_bytes(t->type);
  piece->count = min_i64((int64_t)sizeof piece->bytes / size, count);
  piece->stride = 1;
  piece->from = (struct scattered){piece->bytes, t->type, 1, &piece->count,
                                   &piece->stride};
  return tensors_bytes(file, t, (uint64_t)(first * size),
                       (size_t)(piece->count * size), piece->bytes);
}

bool tensors_ints(struct tensor_file *file, const struct stored_tensor *t,
                  int64_t first, int64_t count, int32_t *to) {
  struct tensor_piece piece;
  int64_t wrong;
  while (count > 0) {
    if (!read_piece(file, t, first, count, &piece))
      return false;
    if (!scattered_ints(&piece.from, to, &wrong)) {
      snprintf(file->fault, sizeof file->fault,
               "a value of `%.200s` passes 32 bits", t->name);
      return false;
    }
    first += piece.count;
    to += piece.count;
    count -= piece.count;
  }
  return true;
}

static bool read_floats(struct tensor_file *file, const struct stored_tensor *t,
                        int64_t first, int64_t count, float *to) {
  struct tensor_piece piece;
  if (t->strides)
    return gather(file, t, first, count, to);
  while (count > 0) {
    if (!read_piece(file, t, first, count, &piece))
      return false;
    scattered_floats(&piece.from, to);
    first += piece.count;
    to += piece.count;
    count -= piece.count;
  }
  return true;
}

bool tensors_floats(struct tensor_file *file, const struct stored_tensor *t,
                    int64_t first, int64_t count, float *to) {
  if (!read_floats(file, t, first, count, to))
    return false;
  step(file, t, first, count, to);
  return true;
}

/* PyTorch's norms keep statistics, and some tables are no parameters. */
bool tensor_is_buffer(const struct stored_tensor *t) {
  static const char *const buffers[] = {"running_mean", "running_var",
                                        "num_batches_tracked", "inv_freq",
                                        "rope_freqs.weight"};
  if (t->type != VALUE_COUNT && !value_counts(t->type) && !t->stepped)
    return true;
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
    struct slice name = slice_of(t->name);
    size_t length = strlen(buffers[i]);
    if (slice_ends(name, buffers[i]) &&
        (name.length == length || name.at[name.length - length - 1] == '.'))
      return true;
  }
  return false;
}
