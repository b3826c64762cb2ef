/* safetensors: reading what anybody may have written, with jansson. */
#include "import/tensors/safetensors.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "base/check.h"

struct safetensors_reading {
  struct tensor_file *file;
  struct arena *arena;
  uint64_t data;
  int64_t data_bytes;
};

#define ORIGIN "netc.origin"
#define fault(r, ...) tensors_fail((r)->file, (r)->arena, __VA_ARGS__)

/* One tensor. */

static bool read_type(const struct safetensors_reading *r, const json_t *about,
                      struct stored_tensor *tensor) {
  const char *word = json_string_value(json_object_get(about, "dtype"));
  if (!word)
    return fault(r, "tensor `%s` has no dtype", tensor->name);
  tensor->type = value_stored(slice_of(word));
  if (tensor->type == VALUE_COUNT)
    return fault(r, "tensor `%s` has the unknown type `%.32s`", tensor->name,
                 word);
  tensor->word = value_word(tensor->type);
  return true;
}

static bool read_shape(const struct safetensors_reading *r, const json_t *about,
                       struct stored_tensor *tensor) {
  const json_t *shape = json_object_get(about, "shape");
  size_t rank = json_array_size(shape);
  if (!json_is_array(shape))
    return fault(r, "tensor `%s` has no shape", tensor->name);
  if (rank > TENSOR_RANK)
    return fault(r, "tensor `%s` has %zu axes; at most %d are supported",
                 tensor->name, rank, TENSOR_RANK);
  int64_t *dims = arena_alloc(r->arena, rank + 1, sizeof *dims);
  tensor->rank = (int)rank;
  tensor->dims = dims;
  for (size_t i = 0; i < rank; i++) {
    const json_t *size = json_array_get(shape, i);
    dims[i] = json_is_integer(size) ? json_integer_value(size) : -1;
  }
  return tensors_count(r->file, r->arena, tensor);
}

static bool read_offsets(const struct safetensors_reading *r,
                         const json_t *about, struct stored_tensor *tensor) {
  const json_t *offsets = json_object_get(about, "data_offsets");
  const json_t *begin = json_array_get(offsets, 0);
  const json_t *end = json_array_get(offsets, 1);
  int64_t bytes, from, to;
  if (json_array_size(offsets) != 2 || !json_is_integer(begin) ||
      !json_is_integer(end))
    return fault(r, "tensor `%s` needs two data_offsets", tensor->name);
  from = json_integer_value(begin);
  to = json_integer_value(end);
  if (from < 0 || to < from || to > r->data_bytes)
    return fault(r,
                 "tensor `%s` should be at bytes %" PRId64 " to %" PRId64 ", "
                 "but the data have only %" PRId64 "; is the file complete?",
                 tensor->name, from, to, r->data_bytes);
  if (!mul_i64(tensor->count, value_bytes(tensor->type), &bytes) ||
      bytes != to - from)
    return fault(r,
                 "tensor `%s` has %" PRId64
                 " values of %s, which do not take %" PRId64 " bytes",
                 tensor->name, tensor->count, value_word(tensor->type),
                 to - from);
  tensor->at = r->data + (uint64_t)from;
  tensor->bytes = (uint64_t)bytes;
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
  *VEC_PUSH(r->arena, &r->file->tensors) = tensor;
  return true;
}

/* Metadata: NAME.scale and NAME.zero_point, numbers with blanks between. */

static size_t words_in(const char *text) {
  size_t count = 0;
  for (; *text; text += strspn(text, " ")) {
    count++;
    text += strcspn(text, " ");
  }
  return count;
}

static bool read_scales(const char *text, struct tensor_steps *steps) {
  char *end;
  for (size_t i = 0; i < steps->count; i++, text = end) {
    steps->scale[i] = strtof(text, &end);
    if (end == text || (*end && *end != ' ') || !isfinite(steps->scale[i]) ||
        steps->scale[i] <= 0)
      return false;
  }
  return true;
}

/* As many as there are scales, or one for all. */
static bool read_zeros(const char *text, size_t given,
                       struct tensor_steps *steps) {
  char *end;
  for (size_t i = 0; i < given; i++, text = end) {
    long zero = strtol(text, &end, 10);
    if (end == text || (*end && *end != ' ') || zero < INT32_MIN ||
        zero > INT32_MAX)
      return false;
    steps->zero[i] = (int32_t)zero;
  }
  for (size_t i = given; i < steps->count; i++)
    steps->zero[i] = given ? steps->zero[0] : 0;
  return given <= 1 || given == steps->count;
}

static bool read_steps(const struct safetensors_reading *r,
                       const json_t *metadata, struct slice name,
                       const char *scales) {
  struct text key = text_new(r->arena);
  struct tensor_steps steps = {.name =
                                   arena_copy(r->arena, name.at, name.length),
                               .count = words_in(scales)};
  text_printf(&key, "%.*s.zero_point", SLICE_ARG(name));
  const json_t *found = json_object_get(metadata, text_string(&key));
  const char *zeros = found ? json_string_value(found) : "";
  size_t given = zeros ? words_in(zeros) : 0;
  steps.scale = arena_alloc(r->arena, steps.count + 1, sizeof *steps.scale);
  steps.zero = arena_alloc(r->arena, steps.count + 1, sizeof *steps.zero);
  if (!zeros || !steps.count || given > steps.count ||
      !read_scales(scales, &steps) || !read_zeros(zeros, given, &steps))
    return fault(r,
                 "in the metadata, scales of `%.200s` must be above 0 and zero "
                 "points whole numbers",
                 steps.name);
  *VEC_PUSH(r->arena, &r->file->steps) = steps;
  return true;
}

static bool read_metadata(const struct safetensors_reading *r,
                          json_t *metadata) {
  static const char ending[] = ".scale";
  const char *key, *origin;
  json_t *value;
  origin = json_string_value(json_object_get(metadata, ORIGIN));
  if (origin && strspn(origin, "abcdefghijklmnopqrstuvwxyz0123456789.-") ==
                    strlen(origin)) /* as netc writes it, at least */
    r->file->origin = arena_copy(r->arena, origin, strlen(origin));
  json_object_foreach(metadata, key, value) {
    struct slice name = slice_of(key);
    if (!slice_ends(name, ending) || !json_is_string(value))
      continue;
    name = slice_without(name, slice_of(ending));
    if (!read_steps(r, metadata, name, json_string_value(value)))
      return false;
  }
  return true;
}

/* All of them. */

static bool read_tensors(const struct safetensors_reading *r, json_t *header) {
  const char *name;
  json_t *about;
  if (!json_is_object(header))
    return fault(r, "the header is not a JSON object");
  json_object_foreach(header, name, about) {
    if (strcmp(name, "__metadata__") == 0) {
      if (!read_metadata(r, about))
        return false;
      continue;
    }
    if (!read_tensor(r, name, about))
      return false;
  }
  return true;
}

static int by_begin(const void *a, const void *b) {
  const struct stored_tensor *x = a, *y = b;
  if (x->at != y->at)
    return x->at < y->at ? -1 : 1;
  if (x->bytes != y->bytes)
    return x->bytes < y->bytes ? -1 : 1;
  return strcmp(x->name, y->name);
}

/* Each byte of the data belongs to one tensor. */
static bool check_places(const struct safetensors_reading *r) {
  const struct tensor_file *file = r->file;
  uint64_t end = r->data;
  if (file->tensors.count)
    qsort(file->tensors.at, file->tensors.count, sizeof *file->tensors.at,
          by_begin);
  for (size_t i = 0; i < file->tensors.count; i++) {
    const struct stored_tensor *t = &file->tensors.at[i];
    if (t->at < end)
      return fault(r, "tensors `%s` and `%s` overlap", t[-1].name, t->name);
    if (t->at > end)
      return fault(r,
                   "bytes %" PRIu64 " to %" PRIu64 " of the data, before "
                   "tensor `%s`, belong to no tensor",
                   end - r->data, t->at - r->data, t->name);
    end = t->at + t->bytes;
  }
  if (end != file->store.size)
    return fault(r,
                 "%" PRIu64 " bytes after the last tensor belong to no tensor",
                 file->store.size - end);
  return true;
}

/* The length of the header, once it is plausible. */
static bool read_length(const struct safetensors_reading *r, uint64_t *length) {
  struct byte_store *store = &r->file->store;
  struct byte_reader bytes;
  bytes_open(&bytes, store, 0, UINT64_MAX);
  *length = bytes_u64(&bytes);
  if (!bytes_ok(&bytes))
    return fault(r, "it has %" PRIu64 " bytes, too few for a safetensors file",
                 store->size);
  if (*length > SAFETENSORS_HEADER)
    return fault(r,
                 "its header would have %" PRIu64
                 " bytes, more than %d; is it a safetensors file?",
                 *length, SAFETENSORS_HEADER);
  if (*length > store->size - 8)
    return fault(r,
                 "its header should have %" PRIu64 " bytes, but only %" PRIu64
                 " follow; is the file complete?",
                 *length, store->size - 8);
  return true;
}

bool safetensors_read(struct tensor_file *file, struct arena *arena) {
  struct safetensors_reading r = {.file = file, .arena = arena};
  struct arena scratch;
  uint64_t length;
  json_error_t error;
  if (!read_length(&r, &length))
    return false;
  r.data = 8 + length;
  r.data_bytes = (int64_t)(file->store.size - r.data);
  arena_open_in(&scratch, arena);
  char *text = arena_room(&scratch, (size_t)length + 1, 1);
  if (!byte_store_read(&file->store, 8, text, (size_t)length)) {
    arena_close(&scratch);
    return fault(&r, "%s", file->store.fault);
  }
  json_t *header =
      json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
  arena_close(&scratch);
  if (!header)
    return fault(&r, "its header is not JSON: %s (byte %d)", error.text,
                 error.position);
  bool read = read_tensors(&r, header) && check_places(&r);
  json_decref(header);
  return read;
}

/* Writing. */

static void put_tensor(struct text *out, const struct written_tensor *tensor,
                       int64_t *offset) {
  text_putc(out, ',');
  json_t *name = json_string(tensor->name);
  char *quoted = name ? json_dumps(name, JSON_ENCODE_ANY) : NULL;
  json_decref(name);
  text_put(out, quoted ? quoted : "\"\"");
  free(quoted);
  text_printf(out, ":{\"dtype\":\"%s\",\"shape\":[", value_word(tensor->type));
  for (int i = 0; i < tensor->rank; i++)
    text_printf(out, "%s%" PRId64, i ? "," : "", tensor->dims[i]);
  int64_t end = *offset + value_bytes(tensor->type) * tensor->count;
  text_printf(out, "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", *offset,
              end);
  *offset = end;
}

/* Blanks fill it up, so that the values are aligned. */
void safetensors_write_header(FILE *file, const struct written_tensor *tensors,
                              size_t count, const struct written_about *about,
                              struct arena *scratch) {
  const struct written_steps *steps = about->steps;
  struct text out = text_new(scratch);
  int64_t offset = 0;
  text_put(&out, "{\"__metadata__\":{\"format\":\"pt\"");
  if (about->origin)
    text_printf(&out, ",\"" ORIGIN "\":\"%s\"", about->origin);
  for (size_t i = 0; i < about->step_count; i++)
    text_printf(&out, ",\"%s.scale\":\"%s\",\"%s.zero_point\":\"%s\"",
                steps[i].name, steps[i].scale, steps[i].name, steps[i].zero);
  text_putc(&out, '}');
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
  uint32_t words[1024];
  while (count > 0) {
    size_t now = count < 1024 ? count : 1024;
    memcpy(words, values, now * sizeof *words);
    words_write(file, words, now);
    values += now;
    count -= now;
  }
}

void words_write(FILE *file, const uint32_t *words, size_t count) {
  unsigned char bytes[4096];
  while (count > 0) {
    size_t now = count < sizeof bytes / 4 ? count : sizeof bytes / 4;
    for (size_t i = 0; i < now; i++) {
      uint32_t bits = words[i];
      for (int k = 0; k < 4; k++)
        bytes[4 * i + (size_t)k] = (unsigned char)(bits >> 8 * k);
    }
    fwrite(bytes, 4, now, file);
    words += now;
    count -= now;
  }
}
