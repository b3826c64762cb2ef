/* Slices of tensors. */
#include <string.h>

#include "import/tflite/tflite.h"

/* Slices an axis, counted without the batch; -1 with an error. */
static int take_part(struct tflite *t, int input, int axis, int64_t from,
                     int64_t to) {
  const struct graph_shape *in = graph_shape(t->graph, input);
  if (from < 0 || to <= from || to > in->size[axis]) {
    tflite_fail(t, "it selects a part that its input does not have");
    return -1;
  }
  return graph_part(t->graph, input, axis, from, to);
}

/* Gives a slice as an output, which may have more or fewer axes of size 1. */
static bool give_part(struct tflite *t, uint64_t index, int node) {
  const struct tflite_tensor *out = tflite_out(t, index);
  return tflite_give_view(t, index, node) &&
         (graph_equal_shape(graph_shape(t->graph, node), &out->shape) ||
          tflite_fail(t, "its output does not have the shape of its parts"));
}

/* Slices all axes, the batch first. */
static bool give_parts(struct tflite *t, const struct tflite_tensor *in,
                       const int64_t *from, const int64_t *to) {
  int node = tflite_exact(t, in);
  if (from[0] != 0 || to[0] != in->dims[0])
    return tflite_fail(t, "it selects a part of the batch");
  for (int i = 1; i < in->rank; i++) {
    node = take_part(t, node, i - 1, from[i], to[i]);
    if (node < 0)
      return false;
  }
  return give_part(t, 0, node);
}

/* Operands: begins and sizes; a size of -1 goes to the end. */
bool tflite_slice(struct tflite *t, const struct tflite_tensor *in) {
  int64_t from[LIMIT_RANK], size[LIMIT_RANK], to[LIMIT_RANK];
  int count = 0, sizes = 0;
  if (!tflite_ints(t, 1, "begin", LIMIT_RANK, from, &count) ||
      !tflite_ints(t, 2, "size", LIMIT_RANK, size, &sizes))
    return false;
  if (count != in->rank || sizes != in->rank)
    return tflite_fail(t, "its ranges do not match the axes of its input");
  for (int i = 0; i < count; i++)
    to[i] = size[i] == -1 ? in->dims[i] : from[i] + size[i];
  return give_parts(t, in, from, to);
}

enum { PART_BEGIN, PART_END, PART_ELLIPSIS, PART_NEW, PART_SHRINK, PART_MASKS };

struct ranges {
  int count;
  int64_t from[LIMIT_RANK], to[LIMIT_RANK], step[LIMIT_RANK];
  int64_t masks[PART_MASKS]; /* a bit for each axis */
  bool relative;             /* ends are relative to begins */
};

static bool has_bit(const struct ranges *r, int mask, int i) {
  return (r->masks[mask] >> i & 1) != 0;
}

static bool read_ranges(struct tflite *t, struct ranges *r) {
  int ends = 0, steps = 0;
  if (!tflite_ints(t, 1, "begin", LIMIT_RANK, r->from, &r->count) ||
      !tflite_ints(t, 2, "end", LIMIT_RANK, r->to, &ends) ||
      !tflite_ints(t, 3, "stride", LIMIT_RANK, r->step, &steps))
    return false;
  for (unsigned i = 0; i < PART_MASKS; i++)
    r->masks[i] = tflite_int(t, i, 4, 0);
  r->relative = tflite_int(t, PART_MASKS, 1, 0) != 0;
  return (ends == r->count && steps == r->count) ||
         tflite_fail(t, "its ends do not match its beginnings");
}

/* The range of an axis, with the meaning of NumPy's `from:to`. */
static bool place(struct tflite *t, const struct ranges *r, int i, int64_t size,
                  int64_t *from, int64_t *to) {
  bool one = has_bit(r, PART_SHRINK, i);
  *from = has_bit(r, PART_BEGIN, i) && !one ? 0 : r->from[i];
  *from += *from < 0 ? size : 0;
  *to = r->relative ? r->from[i] + r->to[i] : r->to[i];
  *to += *to < 0 ? size : 0;
  if (has_bit(r, PART_END, i) || *to > size)
    *to = size;
  if (one)
    *to = *from + 1;
  return r->step[i] == 1 || (*to - *from == 1 && r->step[i] > 0) ||
         tflite_fail(t, "only contiguous parts are supported");
}

/* As Python's x[1:, ..., 2]. The output's shape shows which axes remain. */
bool tflite_strided_slice(struct tflite *t, const struct tflite_tensor *in) {
  struct ranges r = {0};
  int64_t from[LIMIT_RANK] = {0}, to[LIMIT_RANK];
  int axis = 0;
  if (!read_ranges(t, &r))
    return false;
  memcpy(to, in->dims, sizeof to);
  for (int i = 0; i < r.count; i++) {
    if (has_bit(&r, PART_ELLIPSIS, i)) {
      axis = in->rank;
      for (int k = i + 1; k < r.count; k++)
        axis -= !has_bit(&r, PART_NEW, k);
    } else if (!has_bit(&r, PART_NEW, i)) {
      if (axis < 0 || axis >= in->rank)
        return tflite_fail(t, "it has more ranges than its input has axes");
      if (!place(t, &r, i, in->dims[axis], &from[axis], &to[axis]))
        return false;
      axis++;
    }
  }
  return give_parts(t, in, from, to);
}

/* Consecutive parts along an axis; equal ones if `sizes` is NULL. */
static bool give_split(struct tflite *t, const struct tflite_tensor *in,
                       int64_t axis_at, const int64_t *sizes) {
  int axis = tflite_axis(t, in, axis_at), node = tflite_exact(t, in);
  int64_t count = (int64_t)t->at->outputs.count, from = 0, left;
  if (axis < 0)
    return false;
  left = in->dims[axis + 1];
  for (int64_t i = 0; sizes && i < count; i++)
    left -= sizes[i] > 0 ? sizes[i] : 0; /* the rest goes to the size of -1 */
  for (int64_t i = 0; i < count; i++) {
    int64_t size = !sizes           ? in->dims[axis + 1] / count
                   : sizes[i] == -1 ? left
                                    : sizes[i];
    int part = take_part(t, node, axis, from, from + size);
    if (part < 0 || !give_part(t, (uint64_t)i, part))
      return false;
    from += size;
  }
  return from == in->dims[axis + 1] ||
         tflite_fail(t, "its parts do not add up to its input");
}

bool tflite_split(struct tflite *t) {
  int64_t axis;
  int count = 0;
  struct tflite_tensor *in = tflite_value(t, 1);
  return in && tflite_ints(t, 0, "axis", 1, &axis, &count) &&
         give_split(t, in, axis, NULL);
}

enum { MOST_PARTS = 256 };

bool tflite_split_sizes(struct tflite *t, const struct tflite_tensor *in) {
  int64_t axis, sizes[MOST_PARTS];
  int count = 0, one = 0;
  if (!tflite_ints(t, 1, "sizes", MOST_PARTS, sizes, &count) ||
      !tflite_ints(t, 2, "axis", 1, &axis, &one))
    return false;
  if ((uint64_t)count != t->at->outputs.count)
    return tflite_fail(t, "its number of sizes differs from its number of "
                          "outputs");
  return give_split(t, in, axis, sizes);
}

bool tflite_unpack(struct tflite *t, const struct tflite_tensor *in) {
  if (tflite_int(t, 1, 4, 0) == 0 && t->batch == 1 && in->dims[0] == 1)
    return tflite_give_view(t, 0, in->node); /* the batch is dropped */
  return give_split(t, in, tflite_int(t, 1, 4, 0), NULL);
}

/* Rows of a table by index. */
static bool give_rows(struct tflite *t, const struct tflite_tensor *table,
                      uint64_t index) {
  struct tflite_tensor *in = tflite_value(t, index);
  if (!in)
    return false;
  if (table->rank != 2)
    return tflite_fail(t, "only rows of a table are supported");
  struct graph_node *node = graph_embed(t->graph, tflite_exact(t, in),
                                        table->dims[0], table->dims[1]);
  return tflite_take(t, node, "weight", table, NULL) && tflite_give(t, 0, node);
}

/* Rows by index, or constant indices of an axis. */
bool tflite_gather(struct tflite *t) {
  struct tflite_tensor *table = tflite_in(t, 0);
  int64_t place[MOST_PARTS], from[LIMIT_RANK] = {0}, to[LIMIT_RANK];
  int count = 0, axis;
  if (tflite_int(t, 1, 4, 0) != 0)
    return tflite_fail(t, "only rows of a table are supported");
  if (tflite_is_constant(table) && table->node < 0)
    return tflite_int(t, 0, 4, 0) == 0
               ? give_rows(t, table, 1)
               : tflite_fail(t, "only rows of a table are supported");
  table = tflite_value(t, 0);
  if (!table || !tflite_ints(t, 1, "places", MOST_PARTS, place, &count))
    return false;
  axis = tflite_axis(t, table, tflite_int(t, 0, 4, 0));
  if (axis < 0)
    return false;
  for (int i = 1; i < count; i++)
    if (place[i] != place[0] + i)
      return tflite_fail(t, "only contiguous parts are supported");
  memcpy(to, table->dims, sizeof to);
  from[axis + 1] = place[0] + (place[0] < 0 ? table->dims[axis + 1] : 0);
  to[axis + 1] = from[axis + 1] + count;
  return give_parts(t, table, from, to);
}

/* Rows of a table; the indices are the first operand. */
bool tflite_lookup(struct tflite *t) {
  struct tflite_tensor *table = tflite_in(t, 1);
  if (!tflite_is_constant(table) || table->node >= 0)
    return tflite_fail(t, "only rows of a table are supported");
  return give_rows(t, table, 0);
}
