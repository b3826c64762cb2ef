/*
 * Files of torch.save, zipped and from before 1.6, and TorchScript: names and
 * shapes from the pickle, values from the storages that it names.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/map.h"
#include "import/bytes/zip.h"
#include "import/tensors/pickle.h"
#include "import/tensors/tensors.h"

enum { TORCH_STEPS = 1 << 22 }; /* of a walk: lists may hold one list often */

/* Where the values of a storage lie. */
struct torch_storage {
  enum value_type type;
  uint64_t at, bytes;
  bool packed;
};

struct torch_reading {
  struct tensor_file *file;
  struct arena *arena;
  struct zip *zip;   /* NULL: storages follow the pickles */
  struct slice root; /* of its members: "archive" */
  struct map legacy; /* storages by their keys, without a zip */
  struct text path;  /* of the value that is looked at */
  int depth, steps;
};

#define fault(t, ...) tensors_fail((t)->file, (t)->arena, __VA_ARGS__)

static const char *path_of(struct torch_reading *t) {
  return arena_copy(t->arena, t->path.at ? t->path.at : "", t->path.length);
}

/* Storages */

static struct slice own_name(const struct pickle_value *global) {
  return slice_from(global->text, global->name);
}

/* A member of the archive that is named by the key. */
static bool find_member(struct torch_reading *t, struct slice key,
                        struct torch_storage *storage) {
  struct text name = text_new(t->arena);
  text_puts(&name, t->root);
  text_put(&name, "/data/");
  text_puts(&name, key);
  const struct zip_member *m = zip_find(t->zip, text_string(&name));
  if (!m)
    return fault(t, "tensor `%s`: the archive has no `%.*s`", path_of(t),
                 SLICE_ARG(name));
  storage->at = m->at;
  storage->bytes = m->size;
  storage->packed = m->method != 0;
  return true;
}

static bool find_legacy(struct torch_reading *t, struct slice key,
                        struct torch_storage *storage) {
  const struct map_entry *entry = map_find(&t->legacy, key);
  if (!entry || !entry->pointer)
    return fault(t,
                 "tensor `%s`: its storage is missing; is the file "
                 "complete?",
                 path_of(t));
  const struct torch_storage *found = entry->pointer;
  storage->at = found->at;
  storage->bytes = found->bytes;
  return true;
}

/* ('storage', FloatStorage, '0', 'cpu', 64), then the view of older ones. */
static bool read_storage(struct torch_reading *t, struct pickle_value *id,
                         struct torch_storage *storage, int64_t *offset) {
  const struct pickle_value *about =
      pickle_is(id, PICKLE_PERSISTENT) ? id->head : NULL;
  const struct pickle_value *class = pickle_item(about, 1);
  const struct pickle_value *key = pickle_item(about, 2);
  const struct pickle_value *view = pickle_item(about, 5);
  if (!pickle_is(class, PICKLE_GLOBAL) || class->role != PICKLE_ROLE_STORAGE ||
      !pickle_is(key, PICKLE_TEXT))
    return fault(t, "tensor `%s` has no storage", path_of(t));
  storage->type = value_torch(own_name(class));
  storage->packed = false;
  if (pickle_is(view, PICKLE_LIST)) {
    const struct pickle_value *from = pickle_item(view, 1);
    if (!pickle_is(from, PICKLE_INTEGER) || from->integer < 0 ||
        !add_i64(*offset, from->integer, offset))
      return fault(t, "tensor `%s` has a broken view", path_of(t));
  }
  return t->zip ? find_member(t, key->text, storage)
                : find_legacy(t, key->text, storage);
}

/* Tensors */

static bool read_sizes(struct torch_reading *t, const struct pickle_value *list,
                       int64_t *to, int rank) {
  for (int i = 0; i < rank; i++) {
    const struct pickle_value *size = pickle_item(list, (size_t)i);
    if (!pickle_is(size, PICKLE_INTEGER) || size->integer < 0)
      return fault(t, "tensor `%s` has a size that is not a whole number",
                   path_of(t));
    to[i] = size->integer;
  }
  return true;
}

static bool is_by_rows(const struct stored_tensor *tensor,
                       const int64_t *strides) {
  int64_t stride = 1;
  for (int i = tensor->rank; i-- > 0;) {
    if (tensor->dims[i] != 1 && strides[i] != stride)
      return false;
    stride *= tensor->dims[i];
  }
  return true;
}

/* Values from the first to the last; 0 of none. */
static bool find_extent(struct torch_reading *t,
                        const struct stored_tensor *tensor,
                        const int64_t *strides, int64_t *extent) {
  *extent = tensor->count > 0;
  for (int i = 0; i < tensor->rank && tensor->count > 0; i++)
    if (!add_product_i64(tensor->dims[i] - 1, strides[i], extent))
      return fault(t, "tensor `%s` would have more than 2^63 values",
                   path_of(t));
  return true;
}

static bool place(struct torch_reading *t, struct stored_tensor *tensor,
                  const struct torch_storage *storage, int64_t offset,
                  const int64_t *strides) {
  int64_t extent, bytes, from, end, size = value_bytes(tensor->type);
  if (!find_extent(t, tensor, strides, &extent))
    return false;
  if (offset < 0 || !mul_i64(extent, size, &bytes) ||
      !mul_i64(offset, size, &from) || !add_i64(from, bytes, &end) ||
      (uint64_t)end > storage->bytes)
    return fault(t,
                 "tensor `%s` has %" PRId64 " values of %s, which its storage "
                 "of %" PRIu64 " bytes does not hold",
                 path_of(t), tensor->count, tensor->word, storage->bytes);
  tensor->at = storage->at + (uint64_t)from;
  tensor->bytes = (uint64_t)bytes;
  tensor->packed = storage->packed;
  if (!is_by_rows(tensor, strides))
    tensor->strides = strides;
  return true;
}

/* _rebuild_tensor_v3 names the type; its storage has none. */
static enum value_type type_of(const struct pickle_value *args,
                               const struct torch_storage *storage) {
  const struct pickle_value *type = pickle_item(args, 6);
  return pickle_is(type, PICKLE_GLOBAL) && type->role == PICKLE_ROLE_TYPE
             ? value_torch(own_name(type))
             : storage->type;
}

/* torch.Size((64, 3)) or (64, 3) */
static const struct pickle_value *sizes_of(const struct pickle_value *value) {
  return pickle_is(value, PICKLE_CALL) ? pickle_item(value->args, 0) : value;
}

/* (storage, offset, sizes, strides, ...) */
static bool add_tensor(struct torch_reading *t,
                       const struct pickle_value *args) {
  const struct pickle_value *offset = pickle_item(args, 1);
  const struct pickle_value *sizes = sizes_of(pickle_item(args, 2));
  const struct pickle_value *steps = sizes_of(pickle_item(args, 3));
  struct stored_tensor tensor = {.name = path_of(t)};
  struct torch_storage storage = {.type = VALUE_COUNT};
  if (!pickle_is(offset, PICKLE_INTEGER) || !pickle_is(sizes, PICKLE_LIST) ||
      !pickle_is(steps, PICKLE_LIST) ||
      sizes->items.count != steps->items.count)
    return fault(t, "tensor `%s` has no shape", path_of(t));
  if (sizes->items.count > TENSOR_RANK)
    return fault(t, "tensor `%s` has %zu axes; at most %d are supported",
                 path_of(t), sizes->items.count, TENSOR_RANK);
  tensor.rank = (int)sizes->items.count;
  int64_t *dims = arena_alloc(t->arena, TENSOR_RANK, sizeof *dims);
  int64_t *strides = arena_alloc(t->arena, TENSOR_RANK, sizeof *strides);
  int64_t first = offset->integer;
  tensor.dims = dims;
  if (!read_sizes(t, sizes, dims, tensor.rank) ||
      !read_sizes(t, steps, strides, tensor.rank) ||
      !tensors_count(t->file, t->arena, &tensor) ||
      !read_storage(t, pickle_item(args, 0), &storage, &first))
    return false;
  tensor.type = type_of(args, &storage);
  if (tensor.type == VALUE_COUNT)
    return fault(t, "tensor `%s` has an unknown type", path_of(t));
  tensor.word = value_word(tensor.type);
  if (!place(t, &tensor, &storage, first, strides))
    return false;
  *VEC_PUSH(t->arena, &t->file->tensors) = tensor;
  return true;
}

/* The arguments of a tensor, also of a parameter; NULL: it is none. */
static const struct pickle_value *
tensor_args(const struct pickle_value *value) {
  for (int i = 0; i < 2 && pickle_is(value, PICKLE_CALL); i++) {
    if (value->head->role == PICKLE_ROLE_TENSOR)
      return value->args;
    if (value->head->role != PICKLE_ROLE_PARAMETER)
      return NULL;
    value = pickle_item(value->args, 0);
  }
  return NULL;
}

/* The tree */

static bool walk(struct torch_reading *t, const struct pickle_value *value);

static bool walk_at(struct torch_reading *t, const struct pickle_value *value,
                    struct slice name) {
  size_t length = t->path.length;
  if (name.length) {
    text_put(&t->path, length ? "." : "");
    text_puts(&t->path, name);
  }
  bool walked = walk(t, value);
  t->path.length = length;
  return walked;
}

static struct slice key_text(struct torch_reading *t,
                             const struct pickle_value *key) {
  struct text text = text_new(t->arena);
  if (key->kind == PICKLE_TEXT)
    return key->text;
  if (key->kind == PICKLE_INTEGER)
    text_int(&text, key->integer);
  else
    text_put(&text, "?");
  return text_slice(&text);
}

static bool walk_items(struct torch_reading *t,
                       const struct pickle_value *dict) {
  for (size_t i = 0; i + 1 < dict->items.count; i += 2) {
    struct slice key = key_text(t, dict->items.at[i]);
    bool optimizer = t->depth == 1 && key.length >= 5 &&
                     memcmp(key.at, "optim", 5) == 0; /* of a checkpoint */
    if (!optimizer && !walk_at(t, dict->items.at[i + 1], key))
      return false;
  }
  return true;
}

/* A module of torch.nn, or an object of TorchScript, which is flat. */
static bool walk_object(struct torch_reading *t,
                        const struct pickle_value *object) {
  static const char *const parts[] = {"_parameters", "_buffers", "_modules"};
  if (!pickle_is(pickle_get(object, "_modules"), PICKLE_DICT))
    return !pickle_is(object->state, PICKLE_DICT) ||
           walk_items(t, object->state);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    const struct pickle_value *part = pickle_get(object, parts[i]);
    if (pickle_is(part, PICKLE_DICT) && !walk_items(t, part))
      return false;
  }
  return true;
}

static bool walk_list(struct torch_reading *t,
                      const struct pickle_value *list) {
  for (size_t i = 0; i < list->items.count; i++) {
    struct text text = text_new(t->arena);
    text_int(&text, (int64_t)i);
    if (!walk_at(t, list->items.at[i], text_slice(&text)))
      return false;
  }
  return true;
}

/* Numbers and words need no name. */
static bool is_leaf(const struct pickle_value *value) {
  return value->kind < PICKLE_LIST || value->kind == PICKLE_GLOBAL ||
         value->kind == PICKLE_PERSISTENT;
}

static bool walk(struct torch_reading *t, const struct pickle_value *value) {
  const struct pickle_value *args = tensor_args(value);
  bool walked = true;
  if (args)
    return add_tensor(t, args);
  if (is_leaf(value))
    return true;
  if (t->depth == LIMIT_DEPTH || ++t->steps > TORCH_STEPS)
    return fault(t, "its pickle is too large, or nested too deeply");
  t->depth++;
  if (value->kind == PICKLE_DICT)
    walked = walk_items(t, value);
  else if (value->kind == PICKLE_LIST)
    walked = walk_list(t, value);
  else if (value->kind == PICKLE_OBJECT)
    walked = walk_object(t, value);
  t->depth--;
  return walked;
}

/* What of a checkpoint is the net: the first of these keys. */
static const struct pickle_value *find_net(struct torch_reading *t,
                                           const struct pickle_value *value) {
  static const char *const keys[] = {
      "state_dict", "model_state_dict", "model_state", "model",      "module",
      "net",        "network",          "weights",     "params_ema", "params",
      "ema"};
  const char *part = NULL;
  for (int depth = 0; depth < 4; depth++) {
    const struct pickle_value *found = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !found; i++) {
      found = value->kind == PICKLE_DICT ? pickle_get(value, keys[i]) : NULL;
      if (found && found->kind != PICKLE_DICT && found->kind != PICKLE_OBJECT)
        found = NULL;
      if (found)
        part = keys[i];
    }
    if (!found)
      return value;
    value = found;
    t->file->part = part;
  }
  return value;
}

/* DataParallel puts one word before all names. */
static void strip(struct torch_reading *t, const char *prefix) {
  size_t length = strlen(prefix), count = t->file->tensors.count;
  for (size_t i = 0; i < count; i++)
    if (strncmp(t->file->tensors.at[i].name, prefix, length) != 0)
      return;
  for (size_t i = 0; i < count; i++)
    t->file->tensors.at[i].name += length;
}

static int by_place(const void *a, const void *b) {
  const struct stored_tensor *x = *(struct stored_tensor *const *)a;
  const struct stored_tensor *y = *(struct stored_tensor *const *)b;
  return x->at != y->at ? (x->at < y->at ? -1 : 1) : (x > y) - (x < y);
}

/* Two names of one parameter: equal places, equally many values. */
static void mark_shared(struct torch_reading *t) {
  size_t count = t->file->tensors.count;
  struct stored_tensor **sorted =
      arena_alloc(t->arena, count + 1, sizeof *sorted);
  for (size_t i = 0; i < count; i++)
    sorted[i] = &t->file->tensors.at[i];
  qsort(sorted, count, sizeof *sorted, by_place);
  for (size_t i = 1; i < count; i++)
    sorted[i]->shared = sorted[i]->count > 0 &&
                        sorted[i]->at == sorted[i - 1]->at &&
                        sorted[i]->count == sorted[i - 1]->count;
}

static bool read_tree(struct torch_reading *t,
                      const struct pickle_value *root) {
  const struct pickle_value *net = find_net(t, root);
  t->path = text_new(t->arena);
  t->file->module = pickle_is(net, PICKLE_OBJECT) ? net : NULL;
  if (!walk(t, net))
    return false;
  strip(t, "module.");
  strip(t, "_orig_mod.");
  mark_shared(t);
  return true;
}

/* The archive */

/* A file of an older machine has its values in another order. */
static bool check_order(struct torch_reading *t) {
  const struct zip_member *m = zip_find_end(t->zip, "/byteorder");
  struct slice order;
  if (!m)
    return true;
  if (!zip_read(t->zip, m, t->arena, &order))
    return fault(t, "%s", t->zip->fault);
  return slice_is(order, "little") || fault(t, "its values are big-endian");
}

bool torch_read_zip(struct tensor_file *file, struct arena *arena) {
  struct zip zip;
  struct torch_reading t = {.file = file, .arena = arena, .zip = &zip};
  struct byte_reader r;
  struct slice bytes;
  if (!zip_open(&zip, &file->store, arena))
    return fault(&t, "%s", zip.fault);
  const struct zip_member *m = zip_find_end(&zip, "/data.pkl");
  if (!m)
    return fault(&t, "it has no `data.pkl`, in which torch.save and "
                     "torch.jit.save describe tensors");
  t.root = (struct slice){m->name, strlen(m->name) - strlen("/data.pkl")};
  if (!check_order(&t))
    return false;
  if (m->size > PICKLE_MOST)
    return fault(&t, "a pickle of more than %d MiB is not supported",
                 PICKLE_MOST >> 20);
  if (!zip_read(&zip, m, arena, &bytes))
    return fault(&t, "%s", zip.fault);
  struct byte_store store = byte_store_of(bytes);
  bytes_open(&r, &store, 0, UINT64_MAX);
  const struct pickle_value *root = pickle_read(&r, arena);
  return root ? read_tree(&t, root) : fault(&t, "`%s`: %s", m->name, r.fault);
}

/* Before 1.6 */

/* Every storage that a tensor of the tree may name has its type here. */
static void add_storage(struct torch_reading *t,
                        const struct pickle_value *about) {
  const struct pickle_value *class = pickle_item(about, 1);
  const struct pickle_value *key = pickle_item(about, 2);
  if (!pickle_is(class, PICKLE_GLOBAL) || !pickle_is(key, PICKLE_TEXT))
    return;
  struct map_entry *entry = map_add(t->arena, &t->legacy, key->text);
  if (entry->pointer)
    return;
  struct torch_storage *storage = ARENA_NEW(t->arena, struct torch_storage);
  storage->type = value_torch(own_name(class));
  entry->pointer = storage;
}

static bool find_storages(struct torch_reading *t,
                          const struct pickle_value *value) {
  bool found = true;
  if (value->kind == PICKLE_PERSISTENT)
    add_storage(t, value->head);
  if (value->kind < PICKLE_LIST || value->kind == PICKLE_GLOBAL ||
      value->kind == PICKLE_PERSISTENT)
    return true;
  if (t->depth == LIMIT_DEPTH || ++t->steps > TORCH_STEPS)
    return fault(t, "its pickle is too large, or nested too deeply");
  t->depth++;
  for (size_t i = 0; i < value->items.count && found; i++)
    found = find_storages(t, value->items.at[i]);
  found = found && (!value->args || find_storages(t, value->args)) &&
          (!value->state || find_storages(t, value->state));
  t->depth--;
  return found;
}

/* Their keys, then of each how many values, and these. */
static bool read_storages(struct torch_reading *t, struct byte_reader *r,
                          const struct pickle_value *keys) {
  for (size_t i = 0; i < keys->items.count; i++) {
    const struct pickle_value *key = keys->items.at[i];
    struct map_entry *entry =
        key->kind == PICKLE_TEXT ? map_find(&t->legacy, key->text) : NULL;
    struct torch_storage *storage = entry ? entry->pointer : NULL;
    int64_t count = bytes_signed(r, 8), bytes;
    if (!bytes_ok(r))
      return fault(t, "%s; is the file complete?", r->fault);
    if (!storage || storage->type == VALUE_COUNT || count < 0 ||
        !mul_i64(count, value_bytes(storage->type), &bytes))
      return fault(t, "storage %zu is not described", i);
    storage->at = r->at;
    storage->bytes = (uint64_t)bytes;
    if (!bytes_skip(r, (uint64_t)bytes))
      return fault(t, "%s; is the file complete?", r->fault);
  }
  return true;
}

/* Pickles one after the other: a magic number, the protocol, facts of the
   machine, what was saved, keys of storages. */
bool torch_read_legacy(struct tensor_file *file, struct arena *arena) {
  enum { PICKLES = 5 };
  struct torch_reading t = {.file = file, .arena = arena};
  struct pickle_value *pickles[PICKLES];
  struct byte_reader r;
  bytes_open(&r, &file->store, 0, UINT64_MAX);
  for (int i = 0; i < PICKLES; i++) {
    pickles[i] = pickle_read(&r, arena);
    if (!pickles[i])
      return fault(&t, "%s", r.fault);
  }
  const struct pickle_value *little = pickle_get(pickles[2], "little_endian");
  if (pickle_is(little, PICKLE_BOOL) && !little->integer)
    return fault(&t, "its values are big-endian");
  if (!pickle_is(pickles[4], PICKLE_LIST))
    return fault(&t, "it has no list of storages");
  if (!find_storages(&t, pickles[3]) || !read_storages(&t, &r, pickles[4]))
    return false;
  t.steps = 0;
  return read_tree(&t, pickles[3]);
}
