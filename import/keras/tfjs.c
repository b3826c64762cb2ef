/*
 * Reads TensorFlow.js' model.json: a Keras model in `modelTopology`, and a list
 * of its weights in `weightsManifest`. The weights are stored one after the
 * other in files next to it ("shards").
 */
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "import/keras/keras.h"
#include "import/keras/stored.h"

struct tfjs {
  struct keras k;
  struct keras_weights weights;
};

static const struct {
  const char *name;
  enum value_type type;
} types[] = {{"float32", VALUE_F32},
             {"int32", VALUE_I32},
             {"bool", VALUE_BOOL},
             {"float16", VALUE_F16},
             {"uint8", VALUE_U8}};

static enum value_type type_of(const char *name) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i].name, name) == 0)
      return types[i].type;
  return VALUE_COUNT;
}

/* Adds a weight's name, shape and type; `at` moves to the next one. */
static bool add_weight(struct tfjs *t, const json_t *item, uint64_t *at) {
  struct graph *g = t->k.graph;
  const json_t *shape = keras_member(item, "shape");
  const json_t *quantized = keras_member(item, "quantization");
  const char *name = keras_string(item, "name", NULL);
  const char *dtype = keras_string(item, "dtype", "");
  struct keras_stored s = {.rank = (int)json_array_size(shape), .count = 1};
  if (!name || !json_is_array(shape) || json_array_size(shape) > STORED_RANK)
    return graph_fail(g, 0,
                      "a weight of `weightsManifest` has no name, or an "
                      "invalid shape");
  s.path = arena_copy(g->arena, name, strlen(name));
  for (int i = 0; i < s.rank; i++) {
    s.dims[i] = json_integer_value(json_array_get(shape, (size_t)i));
    if (s.dims[i] < 0 || !mul_i64(s.count, s.dims[i], &s.count) ||
        s.count > INT64_MAX / 8)
      return graph_fail(g, 0, "`%.200s` has an impossible shape", name);
  }
  s.type = type_of(keras_string(quantized, "dtype", dtype));
  if (s.type == VALUE_COUNT)
    return graph_fail(g, 0,
                      "`%.200s` is of the type %.32s, which is not "
                      "supported",
                      name, keras_string(quantized, "dtype", dtype));
  s.step = json_number_value(keras_member(quantized, "scale"));
  s.low = json_number_value(keras_member(quantized, "min"));
  s.at = *at;
  *at += (uint64_t)(s.count * value_bytes(s.type));
  *VEC_PUSH(g->arena, &t->weights.all) = s;
  return *at <= INT64_MAX || graph_fail(g, 0, "its weights are too large");
}

/* Reads a file next to the model's after `used` bytes; NULL: only its size. */
static bool read_shard(struct tfjs *t, const char *name, unsigned char *bytes,
                       uint64_t *used) {
  struct graph *g = t->k.graph;
  struct byte_store store;
  const char *folder = t->k.options->folder;
  if (!*name || *name == '.' || strchr(name, '/'))
    return graph_fail(
        g, 0, "its weights are in `%.64s`, which is not in the model's folder",
        name);
  if (!folder)
    return graph_fail(g, 0,
                      "a model from <stdin> has no folder to read files from");
  bool read =
      byte_store_open(&store, graph_text(g, "%s/%s", folder, name)) &&
      (!bytes || byte_store_read(&store, 0, bytes + *used, (size_t)store.size));
  if (!read)
    graph_fail(g, 0, "cannot read `%.64s`: %s", name, store.fault);
  *used += store.size;
  byte_store_close(&store);
  return read;
}

/* Reads all files of a group. */
static bool read_files(struct tfjs *t, const json_t *paths,
                       unsigned char *bytes, uint64_t *used) {
  const json_t *path;
  size_t i;
  *used = 0;
  json_array_foreach(paths, i, path) {
    const char *name = json_string_value(path);
    if (!read_shard(t, name ? name : "", bytes, used))
      return false;
  }
  return true;
}

/* Reads a group in one piece; its first weight has the number `first`. */
static bool read_group(struct tfjs *t, const json_t *paths, size_t first,
                       uint64_t size) {
  struct arena *arena = t->k.graph->arena;
  struct byte_store *store = ARENA_NEW(arena, struct byte_store);
  uint64_t used;
  if (!read_files(t, paths, NULL, &used))
    return false;
  if (used != size)
    return graph_fail(t->k.graph, 0,
                      "its weights need %" PRIu64 " bytes, but the files in "
                      "its folder have %" PRIu64,
                      size, used);
  unsigned char *bytes = arena_room(arena, (size_t)size + 1, 1);
  if (!read_files(t, paths, bytes, &used))
    return false;
  *store = byte_store_of((struct slice){(const char *)bytes, (size_t)size});
  for (size_t i = first; i < t->weights.all.count; i++)
    t->weights.all.at[i].store = store;
  return true;
}

static bool read_manifest(struct tfjs *t) {
  const json_t *manifest = keras_member(t->k.root, "weightsManifest");
  const json_t *group, *item;
  size_t i, w;
  if (!manifest)
    return true;
  json_array_foreach(manifest, i, group) {
    size_t first = t->weights.all.count;
    uint64_t size = 0;
    json_array_foreach(keras_member(group, "weights"), w, item) {
      if (!add_weight(t, item, &size))
        return false;
    }
    if (t->k.options->weights &&
        !read_group(t, keras_member(group, "paths"), first, size))
      return false;
  }
  t->k.weights = &t->weights;
  keras_index_stored(&t->k);
  return true;
}

bool tfjs_read(struct graph *graph, struct slice file,
               const struct import_options *options) {
  struct tfjs t = {.k = {.graph = graph, .options = options, .path = ""}};
  if (!keras_parse(&t.k, file))
    return false;
  bool read = read_manifest(&t) && keras_read_root(&t.k);
  json_decref(t.k.root);
  return read && (!t.k.weights || keras_took_every(&t.k));
}
