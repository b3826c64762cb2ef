/*
 * Values in files next to the model: onnx.proto's external_data, with the keys
 * location, offset and length. A model from an unknown source must not read
 * other files: the path has to stay in the model's folder, also through links.
 */
#include "import/onnx/external.h"

#include <inttypes.h>
#include <string.h>

bool external_is(const Onnx__TensorProto *proto) {
  return proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

static const char *value_of(const Onnx__TensorProto *proto, const char *key) {
  for (size_t i = 0; i < proto->n_external_data; i++) {
    const Onnx__StringStringEntryProto *entry = proto->external_data[i];
    if (entry->key && entry->value && strcmp(entry->key, key) == 0)
      return entry->value;
  }
  return NULL;
}

/* Reads digits, at most 2^62; *number is unchanged if the key is missing. */
static bool number_of(const Onnx__TensorProto *proto, const char *key,
                      int64_t *number) {
  const char *text = value_of(proto, key);
  int64_t value = 0;
  if (!text)
    return true;
  if (!*text)
    return false;
  for (; *text; text++) {
    if (*text < '0' || *text > '9' || value > (INT64_C(1) << 62) / 10 - 1)
      return false;
    value = value * 10 + (*text - '0');
  }
  *number = value;
  return true;
}

/* True if a relative path stays below its folder. */
static bool stays_inside(const char *path) {
  if (!*path || *path == '/')
    return false;
  for (const char *at = path; *at;) {
    size_t length = strcspn(at, "/");
    if (length == 2 && at[0] == '.' && at[1] == '.')
      return false;
    at += length + (at[length] == '/');
  }
  return true;
}

/* Looks up a file that tensors are stored in. */
static struct external_file *look(struct onnx *x, const char *location) {
  struct external_file *file = ARENA_NEW(x->arena, struct external_file);
  const char *folder = x->options->folder;
  if (!*location) {
    file->absent = "no file is named";
    return file;
  }
  if (!stays_inside(location)) {
    file->wrong = "which is outside the model's folder";
    return file;
  }
  if (!folder) {
    file->absent = "a model from <stdin> has no folder to read files from";
    return file;
  }
  external_find(x, folder, location, file);
  /* Folding may copy external values as often as those in the model. */
  x->room += 16 * (file->size < (INT64_C(1) << 50) ? file->size : 0);
  return file;
}

static const struct external_file *file_of(struct onnx *x,
                                           const Onnx__TensorProto *proto) {
  const char *location = value_of(proto, "location");
  struct map_entry *entry =
      map_add(x->arena, &x->beside, slice_of(location ? location : ""));
  if (entry->number == 0) {
    *VEC_PUSH(x->arena, &x->files) = look(x, location ? location : "");
    entry->number = (int64_t)x->files.count;
  }
  return x->files.at[entry->number - 1];
}

bool external_is_there(struct onnx *x, const Onnx__TensorProto *proto) {
  return !file_of(x, proto)->absent;
}

bool external_missing(struct onnx *x, const Onnx__TensorProto *proto) {
  const char *location = value_of(proto, "location");
  if (!location || !*location) {
    onnx_fail(x, "the values of `%s` are needed, and the file lacks them",
              onnx_shown(x, proto->name));
    return graph_help(x->graph, "write the model again with its values, as "
                                "torch.export.save does");
  }
  onnx_fail(x,
            "the values of `%s` are in the file `%s` beside the model, which "
            "cannot be read: %s",
            onnx_shown(x, proto->name), onnx_shown(x, location),
            file_of(x, proto)->absent);
  return graph_help(x->graph, "put that file into the model's folder; without "
                              "--weights it is rarely needed");
}

static bool are_zeros(struct byte_store *store, int64_t from, int64_t to) {
  uint8_t bytes[1 << 16];
  size_t size = (size_t)(to - from);
  if (size > sizeof bytes ||
      !byte_store_read(store, (uint64_t)from, bytes, size))
    return false;
  for (size_t i = 0; i < size; i++)
    if (bytes[i])
      return false;
  return true;
}

/* Holes are whole blocks of the file system, tensors may begin anywhere: bytes
 * outside whole blocks are read. */
bool external_is_hole(struct onnx *x, const Onnx__TensorProto *proto,
                      int64_t size) {
  enum { BLOCK = 1 << 16 };
  const struct external_file *file = file_of(x, proto);
  int64_t from = 0;
  if (!file->path || !number_of(proto, "offset", &from) || size < 4 * BLOCK ||
      from > file->size || size > file->size - from)
    return false;
  int64_t first = (from + BLOCK - 1) / BLOCK * BLOCK;
  int64_t last = (from + size) / BLOCK * BLOCK;
  struct byte_store store;
  bool hole = external_open_file(&store, file) &&
              external_has_hole(&store, first, last) &&
              are_zeros(&store, from, first) &&
              are_zeros(&store, last, from + size);
  byte_store_close(&store);
  return hole;
}

bool external_open(struct onnx *x, const Onnx__TensorProto *proto, int64_t size,
                   struct byte_store *store, uint64_t *at) {
  const struct external_file *file = file_of(x, proto);
  const char *name = onnx_shown(x, proto->name);
  const char *location = onnx_shown(x, value_of(proto, "location"));
  int64_t offset = 0, length = size;
  *store = (struct byte_store){.file = -1};
  if (file->wrong)
    onnx_fail(x, "the values of `%s` are in `%s`, %s", name, location,
              file->wrong);
  else if (!number_of(proto, "offset", &offset) ||
           !number_of(proto, "length", &length))
    onnx_fail(x, "`offset` or `length` of the values of `%s` is not a number",
              name);
  else if (length != size)
    onnx_fail(x,
              "the values of `%s` have %" PRId64
              " bytes, but the model gives %" PRId64,
              name, size, length);
  else if (offset > file->size || size > file->size - offset)
    onnx_fail(x,
              "`%s` is too short for the values of `%s`: it has %" PRId64 " "
              "bytes, but they take %" PRId64 " from byte %" PRId64,
              location, name, file->size, size, offset);
  if (!x->graph->failed && !external_open_file(store, file))
    onnx_fail(x, "`%s` cannot be read: %s", location, store->fault);
  *at = (uint64_t)offset;
  return !x->graph->failed;
}
