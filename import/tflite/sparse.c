/*
 * Sparse constants: a file stores the values that are not 0, and where they
 * are, level by level: all indices of an axis, or a list of them for each index
 * of the level before (SparsityParameters in
 * tensorflow/lite/schema/schema.fbs). An axis may be cut into blocks, which are
 * a level of their own.
 */
#include "base/check.h"
#include "import/tflite/tflite.h"

enum { ORDER, BLOCKS, LEVELS };
enum { FORMAT, SIZE, SEGMENTS_TYPE, SEGMENTS, INDICES_TYPE, INDICES };
enum { MOST_LEVELS = 2 * LIMIT_RANK };

struct sparse_level {
  bool listed;
  int64_t size, step; /* of the axis or block; between dense indices */
  struct flat_vector segments, indices;
  int segment_bytes, index_bytes;
};

struct sparse_walk {
  struct tflite *t;
  int count;
  struct sparse_level level[MOST_LEVELS];
  int64_t stored, seen;
  int64_t *places; /* by stored value: its dense index */
};

/* A vector of one of three types: of 4, 2 or 1 bytes. */
static int read_list(struct flat_file *f, const struct flat_table *table,
                     unsigned field, struct flat_vector *list) {
  static const int bytes[] = {0, 4, 2, 1};
  int64_t type = flat_int(f, table, field, 1, 0);
  struct flat_table holder = flat_child(f, table, field + 1);
  if (type < 1 || type > 3)
    return 0;
  *list = flat_vector(f, &holder, 0, (unsigned)bytes[type]);
  return bytes[type];
}

static int64_t item(struct flat_file *f, const struct flat_vector *list,
                    int64_t index, int bytes) {
  int64_t value = flat_item(f, list, (uint64_t)index, bytes);
  return bytes == 4 ? value : value & (bytes == 2 ? 0xffff : 0xff);
}

/* The levels' sizes and steps; false if they do not fit the tensor. */
static bool read_levels(struct sparse_walk *w,
                        const struct tflite_tensor *tensor) {
  struct flat_file *f = &w->t->flat;
  const struct flat_table *from = &tensor->sparsity;
  struct flat_vector order = flat_vector(f, from, ORDER, 4);
  struct flat_vector blocks = flat_vector(f, from, BLOCKS, 4);
  struct flat_vector levels = flat_vector(f, from, LEVELS, 4);
  int64_t step[LIMIT_RANK], block[LIMIT_RANK], all = 1;
  uint64_t rank = (uint64_t)tensor->rank;
  if (order.count > MOST_LEVELS || levels.count != order.count ||
      order.count != rank + blocks.count)
    return false;
  w->count = (int)order.count;
  for (int i = tensor->rank; i-- > 0; all *= tensor->dims[i]) {
    step[i] = all;
    block[i] = 1;
  }
  for (int pass = 0; pass < 2; pass++) /* blocks first */
    for (int i = 0; i < w->count; i++) {
      int64_t axis = flat_item(f, &order, (uint64_t)i, 4);
      struct flat_table at = flat_item_table(f, &levels, (uint64_t)i);
      struct sparse_level *level = &w->level[i];
      bool inner = axis >= tensor->rank;
      if (inner)
        axis = flat_item(f, &blocks, (uint64_t)(axis - tensor->rank), 4);
      if (axis < 0 || axis >= tensor->rank)
        return false;
      level->listed = flat_int(f, &at, FORMAT, 1, 0) == 1;
      if (inner)
        block[axis] = flat_int(f, &at, SIZE, 4, 0);
      if (block[axis] < 1 || tensor->dims[axis] % block[axis])
        return false;
      level->size = inner ? block[axis] : tensor->dims[axis] / block[axis];
      level->step = inner ? step[axis] : step[axis] * block[axis];
      level->segment_bytes = read_list(f, &at, SEGMENTS_TYPE, &level->segments);
      level->index_bytes = read_list(f, &at, INDICES_TYPE, &level->indices);
    }
  return bytes_ok(&f->in);
}

/* `before`: the position in the level before; `place`: the dense index. */
static bool walk(struct sparse_walk *w, int at, int64_t before, int64_t place) {
  struct flat_file *f = &w->t->flat;
  const struct sparse_level *level = &w->level[at];
  int64_t from = 0, to;
  if (at == w->count) {
    if (before >= w->stored || ++w->seen > w->stored)
      return false;
    w->places[before] = place;
    return true;
  }
  if (!level->listed &&
      (!mul_i64(before, level->size, &from) || from > INT64_MAX / 2))
    return false;
  to = level->listed
           ? item(f, &level->segments, before + 1, level->segment_bytes)
           : from + level->size;
  if (level->listed)
    from = item(f, &level->segments, before, level->segment_bytes);
  for (int64_t i = from; i < to; i++) {
    int64_t index = level->listed
                        ? item(f, &level->indices, i, level->index_bytes)
                        : i - from;
    if (!flat_spend(f, 1) || from < 0 || index < 0 || index >= level->size ||
        !walk(w, at + 1, i, place + index * level->step))
      return false;
  }
  return true;
}

int64_t *tflite_places(struct tflite *t, const struct tflite_tensor *tensor,
                       int64_t stored, struct arena *arena) {
  struct sparse_walk w = {.t = t, .stored = stored};
  w.places = arena_room(arena, (size_t)stored + 1, sizeof *w.places);
  if (stored <= tensor->count && read_levels(&w, tensor) && walk(&w, 0, 0, 0) &&
      w.seen == stored)
    return w.places;
  tflite_fail(t, "the indices of its sparse `%.64s` do not fit its sizes",
              tensor->name);
  return NULL;
}
