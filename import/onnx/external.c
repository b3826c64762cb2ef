/*
 * Values that lie in files beside the model: onnx.proto's external_data, with
 * the keys location, offset and length. A model names such a file, and whoever
 * reads a stranger's model does not want it to name any other: the path has to
 * stay in the model's folder, links followed.
 */
#define _XOPEN_SOURCE 700
#include "import/onnx/external.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Digits alone, at most 2^62; *number is left where there are none. */
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

/* Whether a path names something below the folder that it is seen from. */
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

/* The same for where links lead: both paths are without any. */
static bool is_below(const char *folder, const char *path) {
  size_t length = strlen(folder);
  return strncmp(folder, path, length) == 0 &&
         (path[length] == '/' || (length == 1 && *folder == '/'));
}

/* What is known of a file that tensors lie in. */
static struct external_file *look(struct onnx *x, const char *location) {
  struct external_file *file = ARENA_NEW(x->arena, struct external_file);
  const char *folder = x->options->folder;
  struct stat found;
  if (!stays_inside(location)) {
    file->wrong = "which is outside the model's folder";
    return file;
  }
  if (!folder) {
    file->absent = "a model from <stdin> has no files beside it";
    return file;
  }
  char *home = realpath(folder, NULL);
  char *whole = realpath(graph_text(x->graph, "%s/%s", folder, location), NULL);
  if (!home || !whole)
    file->absent = graph_text(x->graph, "%s", strerror(errno));
  else if (!is_below(home, whole))
    file->wrong = "which is a link to a place outside the model's folder";
  else if (stat(whole, &found) != 0)
    file->absent = graph_text(x->graph, "%s", strerror(errno));
  else if (!S_ISREG(found.st_mode))
    file->wrong = "which is not a file";
  else {
    file->path = graph_text(x->graph, "%s", whole);
    file->size = found.st_size;
    /* Folding may copy what is there as often as it may what the model has. */
    x->room += 16 * (file->size < (INT64_C(1) << 50) ? file->size : 0);
  }
  free(home);
  free(whole);
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
  onnx_fail(x,
            "the values of `%s` are in the file `%s` beside the model, which "
            "cannot be read: %s",
            onnx_shown(x, proto->name), onnx_shown(x, location),
            file_of(x, proto)->absent);
  return graph_help(x->graph, "put that file into the model's folder; without "
                              "--weights it is seldom needed");
}

static bool read_all(int file, uint8_t *to, size_t size, int64_t from) {
  while (size > 0) {
    ssize_t got = pread(file, to, size < (1U << 30) ? size : (1U << 30), from);
    if (got <= 0)
      return false;
    to += got;
    size -= (size_t)got;
    from += got;
  }
  return true;
}

const uint8_t *external_bytes(struct onnx *x, const Onnx__TensorProto *proto,
                              int64_t size) {
  const struct external_file *file = file_of(x, proto);
  const char *name = onnx_shown(x, proto->name);
  const char *location = onnx_shown(x, value_of(proto, "location"));
  int64_t offset = 0, length = size;
  if (file->wrong)
    onnx_fail(x, "the values of `%s` are in `%s`, %s", name, location,
              file->wrong);
  else if (!number_of(proto, "offset", &offset) ||
           !number_of(proto, "length", &length))
    onnx_fail(x, "`offset` or `length` of the values of `%s` is not a number",
              name);
  else if (length != size)
    onnx_fail(x,
              "the values of `%s` are %" PRId64 " bytes, and the model says "
              "%" PRId64,
              name, size, length);
  else if (offset > file->size || size > file->size - offset)
    onnx_fail(x,
              "`%s` is too short for the values of `%s`: it has %" PRId64
              " bytes, and they are %" PRId64 " from byte %" PRId64,
              location, name, file->size, size, offset);
  if (x->graph->failed)
    return NULL;
  uint8_t *bytes = arena_alloc(x->arena, (size_t)size + 1, 1);
  int opened = open(file->path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  bool right = opened >= 0 && read_all(opened, bytes, (size_t)size, offset);
  if (!right)
    onnx_fail(x, "`%s` cannot be read: %s", location,
              errno ? strerror(errno) : "it has become shorter");
  if (opened >= 0)
    close(opened);
  return right ? bytes : NULL;
}
