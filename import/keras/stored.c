/* Finds a layer's weights in the file. They must have the shapes that the
 * config gives, and all of them must be taken. */
#include "import/keras/stored.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "import/keras/model.h"

enum { MOST = 64 }; /* weights of a layer; no class has as many */

/* Takes the next part of a path, "kernel:0" of "a/b/kernel:0" at last. */
static bool next_part(const char **path, struct slice *part) {
  if (!**path)
    return false;
  *part = (struct slice){*path, strcspn(*path, "/")};
  *path += part->length + ((*path)[part->length] == '/');
  return true;
}

/* How well a path fits a layer in nested models: by the number of their names
 * in it, and by how early the layer's own name comes; -1 if that is missing. */
static int fit_of(const struct keras *k, const char *path, const char *name) {
  struct slice part;
  int at = 0, own = -1, models = 0;
  for (; next_part(&path, &part); at++) {
    if (own < 0 && slice_is(part, name))
      own = at;
    for (size_t i = 0; i < k->models.count; i++)
      models += slice_is(part, k->models.at[i]);
  }
  return own < 0 ? -1
                 : (models < 1000 ? models : 1000) * 1000 + 999 -
                       (own < 999 ? own : 999);
}

/* The weights of layers with a name, or below a path. */
struct key {
  VEC(size_t) stored;
};

static void note(struct keras *k, struct slice name, size_t i) {
  struct arena *arena = k->graph->arena;
  struct map_entry *entry = map_add(arena, &k->weights->keys, name);
  struct key *key = entry->pointer;
  if (!key)
    entry->pointer = key = ARENA_NEW(arena, struct key);
  if (key->stored.count == 0 || key->stored.at[key->stored.count - 1] != i)
    *VEC_PUSH(arena, &key->stored) = i;
}

/* True if the folder of a class's next layer, "dense_1" after "dense" or
 * "dense_3" after "dense_2", is in the file, too. */
static bool has_next(struct keras *k, struct slice path) {
  size_t end = path.length;
  while (end > 0 && path.at[end - 1] >= '0' && path.at[end - 1] <= '9')
    end--;
  bool counted = end < path.length && end > 0 && path.at[end - 1] == '_';
  int64_t number = counted ? strtol(path.at + end, NULL, 10) : 0;
  const char *next =
      graph_text(k->graph, "%.*s_%" PRId64,
                 (int)(counted ? end - 1 : path.length), path.at, number + 1);
  return map_find(&k->weights->keys, slice_of(next));
}

/* Keras 2.13's files have no two numbers of a class in succession. */
static bool counts_twice(struct keras *k) {
  static const char vars[] = "/vars/";
  if (!k->weights->by_path || k->weights->layers[0] != '_')
    return false;
  for (size_t i = 0; i < k->weights->all.count; i++) {
    const char *path = k->weights->all.at[i].path;
    const char *end = strstr(path, vars);
    if (end && has_next(k, (struct slice){path, (size_t)(end - path)}))
      return false;
  }
  return true;
}

void keras_index_stored(struct keras *k) {
  for (size_t i = 0; i < k->weights->all.count; i++) {
    const struct keras_stored *s = &k->weights->all.at[i];
    const char *at = s->path;
    struct slice part;
    if (s->group && !k->weights->by_path)
      note(k, slice_of(s->group), i);
    while (next_part(&at, &part)) {
      if (k->weights->by_path) /* by the path up to its end */
        part =
            (struct slice){s->path, (size_t)(part.at + part.length - s->path)};
      note(k, part, i);
    }
  }
  k->weights->twice = counts_twice(k);
}

static struct key key_of(const struct keras_call *call, const char *name) {
  const struct map_entry *entry =
      map_find(&call->keras->weights->keys, slice_of(name));
  return entry ? *(struct key *)entry->pointer : (struct key){0};
}

static void find_by_name(struct keras_call *call) {
  struct keras *k = call->keras;
  const struct keras_weights *w = k->weights;
  bool inside = k->models.count > 0;
  const char *outermost = inside ? k->models.at[0] : call->name;
  struct key key = key_of(call, call->name);
  int best = 0;
  for (size_t n = 0; n < key.stored.count; n++) {
    size_t i = key.stored.at[n];
    const struct keras_stored *s = &w->all.at[i];
    if (s->taken || (s->group && strcmp(s->group, outermost) != 0))
      continue;
    int fit = s->group && !inside ? 0 : fit_of(k, s->path, call->name);
    if (fit < best)
      continue;
    if (fit > best)
      call->stored.count = 0;
    best = fit;
    *VEC_PUSH(call->graph->arena, &call->stored) = i;
  }
}

/* Keras' order of the parts of a composite layer. */
static int rank_of(const char *below) {
  static const char *const parts[] = {"forward", "backward", "query",
                                      "key",     "value",    "output"};
  for (int i = 0; i < 6; i++)
    if (strstr(below, parts[i]))
      return i;
  return -1;
}

static bool is_before(const char *a, const char *b) {
  const char *x = strrchr(a, '/'), *y = strrchr(b, '/');
  int first = rank_of(a), second = rank_of(b);
  return first != second ? first < second
                         : strtol(x + 1, NULL, 10) < strtol(y + 1, NULL, 10);
}

/* Finds weights below the layer's path, the tenth after the ninth. */
static void find_by_path(struct keras_call *call) {
  const struct keras_weights *w = call->keras->weights;
  size_t length = strlen(call->path);
  struct key key = key_of(call, call->path);
  for (size_t n = 0; n < key.stored.count && call->stored.count <= MOST; n++) {
    size_t i = key.stored.at[n];
    const char *path = w->all.at[i].path;
    if (w->all.at[i].taken || path[length] != '/')
      continue;
    size_t at = call->stored.count;
    *VEC_PUSH(call->graph->arena, &call->stored) = i;
    for (; at > 0; at--) {
      size_t before = call->stored.at[at - 1];
      if (!is_before(path + length, w->all.at[before].path + length))
        break;
      call->stored.at[at] = before;
    }
    call->stored.at[at] = i;
  }
}

void keras_find_stored(struct keras_call *call) {
  if (!call->keras->weights || call->again)
    return;
  if (call->keras->weights->by_path)
    find_by_path(call);
  else
    find_by_name(call);
}

bool keras_took_all(struct keras_call *call) {
  return call->took == call->stored.count ||
         keras_fail(
             call, "the file has %s%zu weights for it, but its class has %zu",
             call->stored.count > MOST ? "over " : "",
             call->stored.count > MOST ? MOST : call->stored.count, call->took);
}

void keras_leave_stored(struct keras_call *call) {
  for (; call->took < call->stored.count; call->took++)
    call->keras->weights->all.at[call->stored.at[call->took]].taken = true;
}

bool keras_leave_values(struct keras_call *call) {
  if (call->keras->weights && call->keras->options->weights)
    return keras_fail(call, "its weights cannot be converted, because netc "
                            "stores them differently; without --weights netc "
                            "reads the layer");
  keras_leave_stored(call);
  return true;
}

/* Reads values in the order of axes that netc's file has. */
static bool load(struct keras_call *call, const struct keras_stored *s,
                 const int *order, float *to) {
  struct arena scratch;
  int64_t size[STORED_RANK], stride[STORED_RANK], steps[STORED_RANK];
  int64_t step = 1;
  for (int i = s->rank; i-- > 0; step *= s->dims[i])
    steps[i] = step;
  for (int i = 0; i < s->rank; i++) {
    size[i] = s->dims[order ? order[i] : i];
    stride[i] = steps[order ? order[i] : i];
  }
  arena_open_in(&scratch, call->graph->arena);
  size_t bytes = (size_t)(s->count * value_bytes(s->type));
  unsigned char *raw = arena_room(&scratch, bytes + 1, 1);
  bool read = byte_store_read(s->store, s->at, raw, bytes);
  if (read)
    scattered_floats(&(struct scattered){raw, s->type, s->rank, size, stride},
                     to);
  arena_close(&scratch);
  for (int64_t i = 0; read && s->step != 0 && i < s->count; i++)
    to[i] = (float)(to[i] * s->step + s->low);
  return read || keras_fail(call, "`%.64s` cannot be read: %s", s->path,
                            s->store->fault);
}

/*
 * In files with paths, a layer's own weights give its name, and those of parts
 * give the parts' names. True if the path made from the class belongs to the
 * layer.
 */
static bool is_called(const struct keras_call *call,
                      const struct keras_stored *s) {
  size_t length = strlen(call->path);
  return !call->keras->weights->by_path || !s->group ||
         strncmp(s->path + length, "/vars/", 6) != 0 ||
         strcmp(s->group, call->name) == 0;
}

static bool is_of(const struct keras_stored *s,
                  const struct graph_shape *shape) {
  bool same = s->rank == shape->rank;
  for (int i = 0; same && i < s->rank; i++)
    same = s->dims[i] == shape->size[i];
  return same;
}

struct graph_weight *keras_take(struct keras_call *call,
                                struct graph_node *node, const char *name,
                                const struct graph_shape *shape,
                                const int *order) {
  static struct graph_weight unread;
  struct keras *k = call->keras;
  struct graph *g = call->graph;
  if (node->word != WORD_WEIGHT && strncmp(name, "running_", 8) != 0)
    graph_tensor(node, shape->size, (size_t)shape->rank);
  if (!k->weights || call->again)
    return &unread;
  if (call->took == call->stored.count) {
    keras_fail(call, "the file has %zu weights for it, but its class has more",
               call->stored.count);
    return NULL;
  }
  struct keras_stored *s = &k->weights->all.at[call->stored.at[call->took++]];
  s->taken = true;
  if (!is_called(call, s)) {
    keras_fail(call, "`%.64s` belongs to `%.64s` in the file", s->path,
               s->group);
    return NULL;
  }
  if (!is_of(s, shape)) {
    keras_fail(
        call, "`%.64s` is %s in the file, but %s in its config", s->path,
        graph_sizes(g, s->dims, s->rank < LIMIT_RANK ? s->rank : LIMIT_RANK),
        graph_sizes(g, shape->size, shape->rank));
    return NULL;
  }
  if (!k->options->weights)
    return &unread;
  if (s->strange) {
    keras_fail(call, "`%.64s` is %s, which is not supported", s->path,
               s->strange);
    graph_help(g, "without --weights netc reads the net alone; Keras itself "
                  "saves weights in a supported form");
    return NULL;
  }
  float *values = arena_room(g->arena, (size_t)s->count + 1, sizeof *values);
  if (!load(call, s, order, values))
    return NULL;
  struct graph_weight *w = VEC_PUSH(g->arena, &node->weights);
  *w = (struct graph_weight){.name = name,
                             .count = s->count,
                             .real = values,
                             .is_matrix = node->word == WORD_FC ||
                                          node->word == WORD_LINEAR};
  return w;
}

bool keras_take_vector(struct keras_call *call, struct graph_node *node,
                       const char *name, int64_t count) {
  return keras_take(call, node, name, &(struct graph_shape){1, {count}}, NULL);
}

struct graph_weight *keras_take_matrix(struct keras_call *call,
                                       struct graph_node *node,
                                       const char *name, int64_t in,
                                       int64_t out) {
  static const int order[] = {1, 0};
  return keras_take(call, node, name, &(struct graph_shape){2, {in, out}},
                    order);
}

bool keras_took_every(struct keras *k) {
  if (k->options->allow_unknown)
    return true;
  for (size_t i = 0; i < k->weights->all.count; i++)
    if (!k->weights->all.at[i].taken)
      return graph_fail(k->graph, 0,
                        "`%.200s` is in the file, but no layer uses it",
                        k->weights->all.at[i].path);
  return true;
}
