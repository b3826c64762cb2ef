/* Calls that move values: reshapes, slices, splits, sums over axes. */
#include <string.h>

#include "import/exported/exported.h"

enum { MOST_WRITTEN = 1 << 20 }; /* values of a part that is written over */

/* An axis counted from the front; -1 with an error. */
static int axis_of(struct exported *p, int64_t axis, int rank) {
  axis = axis < 0 ? axis + rank : axis;
  if (axis >= 0 && axis < rank)
    return (int)axis;
  exported_fail(p, "it has no such axis");
  return -1;
}

static Onnx__NodeProto *moving(struct exported *p, const char *type,
                               const char *value, const char *how) {
  Onnx__NodeProto *node = exported_node(p, type, 2);
  said_take(&p->s, node, value);
  if (how)
    said_take(&p->s, node, how);
  return node;
}

/* Reshapes to the output's sizes; one of them may be dynamic. */
bool call_reshape(struct exported *p) {
  struct meta out;
  int open = 0;
  if (!exported_out_meta(p, 0, &out))
    return false;
  for (int i = 0; i < out.rank; i++)
    open += out.dims[i] < 0;
  if (open > 1)
    return exported_fail(p, "its output leaves %d sizes open", open);
  Onnx__NodeProto *node = moving(p, "Reshape", exported_tensor(p, "self"),
                                 said_ints(&p->s, out.dims, out.rank));
  return exported_give(p, node, 0);
}

static bool give_order(struct exported *p, const int64_t *order, int rank) {
  Onnx__NodeProto *node =
      moving(p, "Transpose", exported_tensor(p, "self"), NULL);
  emit_ints(&p->s.x, node, "perm", order, rank);
  return exported_give(p, node, 0);
}

bool call_permute(struct exported *p) {
  int64_t order[MOST_AXES];
  int count = exported_ints(p, "dims", order, MOST_AXES);
  for (int i = 0; i < count; i++) {
    order[i] = axis_of(p, order[i], count);
    if (order[i] < 0)
      return false;
  }
  return count >= 0 && give_order(p, order, count);
}

bool call_transpose(struct exported *p) {
  int64_t order[MOST_AXES];
  struct meta in;
  bool plain = slice_is(p->op, "t"), swap = slice_is(p->op, "swapaxes");
  if (!exported_meta_of(p, "self", &in))
    return false;
  int a =
      plain ? 0
            : axis_of(p, exported_int(p, swap ? "axis0" : "dim0", 0), in.rank);
  int b =
      plain ? in.rank - 1
            : axis_of(p, exported_int(p, swap ? "axis1" : "dim1", 0), in.rank);
  if (a < 0 || b < 0)
    return !p->graph->failed &&
           exported_give_same(p, exported_tensor(p, "self"));
  for (int i = 0; i < in.rank; i++)
    order[i] = i == a ? b : i == b ? a : i;
  return give_order(p, order, in.rank);
}

/* A dynamic size, which is that of the batch, stays. */
bool call_expand(struct exported *p) {
  struct meta out;
  if (!exported_out_meta(p, 0, &out))
    return false;
  for (int i = 0; i < out.rank; i++)
    out.dims[i] = out.dims[i] < 0 ? 1 : out.dims[i];
  return exported_give(p,
                       moving(p, "Expand", exported_tensor(p, "self"),
                              said_ints(&p->s, out.dims, out.rank)),
                       0);
}

bool call_repeat(struct exported *p) {
  int64_t times[MOST_AXES];
  int count = exported_ints(p, "repeats", times, MOST_AXES);
  return count >= 0 &&
         exported_give(p,
                       moving(p, "Tile", exported_tensor(p, "self"),
                              said_ints(&p->s, times, count)),
                       0);
}

/* Joins and parts */

static const char *with_axis(struct exported *p, const char *value,
                             int64_t axis) {
  return said_between(
      &p->s, moving(p, "Unsqueeze", value, said_ints(&p->s, &axis, 1)));
}

bool call_cat(struct exported *p) {
  const char *value;
  size_t count = 0;
  bool stack = slice_is(p->op, "stack");
  struct meta out;
  if (!exported_out_meta(p, 0, &out))
    return false;
  int axis = axis_of(p, exported_int(p, "dim", 0), out.rank);
  while (exported_item(p, "tensors", count))
    count++;
  if (axis < 0 || count == 0)
    return exported_fail(p, "it joins nothing");
  const char **all = arena_alloc(p->graph->arena, count, sizeof *all);
  for (size_t i = 0; i < count; i++) {
    value = exported_item(p, "tensors", i);
    all[i] = stack ? with_axis(p, value, axis) : value;
  }
  Onnx__NodeProto *node = exported_node(p, "Concat", count);
  for (size_t i = 0; i < count; i++)
    said_take(&p->s, node, all[i]);
  emit_int(&p->s.x, node, "axis", axis);
  return exported_give(p, node, 0);
}

static Onnx__NodeProto *part(struct exported *p, const char *value,
                             int64_t axis, int64_t from, int64_t to,
                             int64_t step) {
  Onnx__NodeProto *node = exported_node(p, "Slice", 5);
  said_take(&p->s, node, value);
  said_take(&p->s, node, said_ints(&p->s, &from, 1));
  said_take(&p->s, node, said_ints(&p->s, &to, 1));
  said_take(&p->s, node, said_ints(&p->s, &axis, 1));
  said_take(&p->s, node, said_ints(&p->s, &step, 1));
  return node;
}

/* Regions */

/* The part that `self` is of another tensor, or all of itself. */
static bool region_of_self(struct exported *p, struct exported_region *region) {
  const char *self = exported_own(p, "self");
  const struct map_entry *entry =
      self ? map_find(&p->regions, slice_of(self)) : NULL;
  if (entry) {
    *region = *(const struct exported_region *)entry->pointer;
    return true;
  }
  *region = (struct exported_region){.base = self};
  if (!self || !exported_meta(p, self, &region->whole))
    return false;
  region->rank = region->whole.rank;
  for (int i = 0; i < region->rank; i++) {
    region->axes[i] = i;
    region->to[i] = region->whole.dims[i];
  }
  return true;
}

/* Keeps the part [from, to) of an axis, which is dropped if `one`. */
static void keep_region(struct exported *p, int64_t axis, int64_t from,
                        int64_t to, bool one) {
  struct exported_region *region =
      ARENA_NEW(p->graph->arena, struct exported_region);
  const char *out = exported_out(p, 0);
  if (!region_of_self(p, region) || !out)
    return;
  axis = axis < 0 ? axis + region->rank : axis;
  if (axis < 0 || axis >= region->rank)
    return;
  int of = region->axes[axis];
  int64_t size = region->to[of] - region->from[of];
  from = from < 0 ? from + size : from;
  to = one ? from + 1 : to < 0 ? to + size : to;
  to = to > size ? size : to;
  if (from < 0 || from > to)
    return;
  region->to[of] = region->from[of] + to;
  region->from[of] += from;
  for (int i = (int)axis; one && i + 1 < region->rank; i++)
    region->axes[i] = region->axes[i + 1];
  region->rank -= one;
  map_add(p->graph->arena, &p->regions, slice_of(out))->pointer = region;
}

/* The positions of a region, a row each, in order; NULL: it is too large. */
static const char *positions(struct exported *p,
                             const struct exported_region *r, int64_t *count) {
  int rank = r->whole.rank;
  *count = 1;
  for (int i = 0; i < rank; i++) {
    *count *= r->to[i] - r->from[i];
    if (r->to[i] <= r->from[i] || *count > MOST_WRITTEN)
      return NULL;
  }
  int64_t *at =
      arena_alloc(p->graph->arena, (size_t)(*count * rank) + 1, sizeof *at);
  for (int64_t k = 0; k < *count; k++) {
    int64_t rest = k;
    for (int i = rank; i-- > 0;) {
      int64_t size = r->to[i] - r->from[i];
      at[k * rank + i] = r->from[i] + rest % size;
      rest /= size;
    }
  }
  const int64_t dims[2] = {*count, rank};
  Onnx__NodeProto *node =
      moving(p, "Reshape", said_ints(&p->s, at, (int)(*count * rank)),
             said_ints(&p->s, dims, 2));
  return said_between(&p->s, node);
}

/* fill_(value), zero_() and copy_(src) of a part: the whole is another one. */
bool call_write(struct exported *p) {
  struct exported_region region;
  int64_t count;
  bool copy = slice_is(p->op, "copy");
  const char *value =
      copy ? exported_tensor(p, "src") : exported_operand(p, "value");
  if (!region_of_self(p, &region))
    return exported_fail(p, "the sizes of its `self` are not in the file");
  const char *where = positions(p, &region, &count);
  if (!where)
    return exported_fail(p, "it writes over too many values");
  if (!value)
    value = region.whole.type == TYPE_INT64 ? said_int(&p->s, 0)
                                            : said_real(&p->s, 0);
  Onnx__NodeProto *node = moving(p, copy ? "Reshape" : "Expand", value,
                                 said_ints(&p->s, &count, 1));
  value = said_between(&p->s, node);
  const struct map_entry *entry = map_find(&p->names, slice_of(region.base));
  node = exported_node(p, "ScatterND", 3);
  said_take(&p->s, node, entry ? entry->pointer : region.base);
  said_take(&p->s, node, where);
  said_take(&p->s, node, value);
  const char *whole = said_between(&p->s, node);
  map_add(p->graph->arena, &p->names, slice_of(region.base))->pointer =
      said_copy(&p->s, whole);
  return exported_give_same(p, whole);
}

bool call_slice(struct exported *p) {
  const char *value = exported_tensor(p, "self");
  bool narrow = slice_is(p->op, "narrow");
  int64_t from = exported_int(p, "start", 0), most = INT64_MAX / 4;
  int64_t to = narrow ? from + exported_int(p, "length", 0)
                      : exported_int(p, "end", most);
  int64_t step = exported_int(p, "step", 1);
  to = to > most ? most : to;
  if (step == 1)
    keep_region(p, exported_int(p, "dim", 0), from, to, false);
  if (from == 0 && to == most && step == 1)
    return exported_give_same(p, value);
  return exported_give(
      p, part(p, value, exported_int(p, "dim", 0), from, to, step), 0);
}

/* select(self, dim, index) drops the axis; index_select has a tensor. */
bool call_select(struct exported *p) {
  const char *index = exported_tensor(p, "index");
  int64_t at = exported_int(p, "index", 0);
  if (!index)
    keep_region(p, exported_int(p, "dim", 0), at, at + 1, true);
  Onnx__NodeProto *node = moving(p, "Gather", exported_tensor(p, "self"),
                                 index ? index : said_int(&p->s, at));
  emit_int(&p->s.x, node, "axis", exported_int(p, "dim", 0));
  return exported_give(p, node, 0);
}

/* self[index] by one axis alone. */
bool call_index(struct exported *p) {
  const json_t *arg = exported_arg(p, "indices");
  const json_t *list = json_object_get(arg, "as_optional_tensors");
  size_t count =
      json_array_size(list ? list : json_object_get(arg, "as_tensors"));
  size_t axis = count, given = 0;
  for (size_t i = 0; i < count; i++)
    if (exported_item(p, "indices", i)) {
      axis = i;
      given++;
    }
  if (given != 1)
    return exported_fail(p, "indices of %zu axes are not supported", given);
  Onnx__NodeProto *node = moving(p, "Gather", exported_tensor(p, "self"),
                                 exported_item(p, "indices", axis));
  emit_int(&p->s.x, node, "axis", (int64_t)axis);
  return exported_give(p, node, 0);
}

/* The outputs say how large the parts are. */
bool call_split(struct exported *p) {
  struct meta in, out;
  size_t count = 0;
  if (!exported_meta_of(p, "self", &in))
    return false;
  int axis = axis_of(p, exported_int(p, "dim", 0), in.rank);
  while (exported_out(p, count))
    count++;
  if (axis < 0 || count == 0)
    return exported_fail(p, "it has no parts");
  int64_t *sizes = arena_alloc(p->graph->arena, count, sizeof *sizes);
  for (size_t i = 0; i < count; i++) {
    if (!exported_out_meta(p, i, &out) || axis >= out.rank ||
        out.dims[axis] < 0)
      return exported_fail(p, "the sizes of its parts are not in the file");
    sizes[i] = out.dims[axis];
  }
  Onnx__NodeProto *node = moving(p, "Split", exported_tensor(p, "self"),
                                 said_ints(&p->s, sizes, (int)count));
  emit_int(&p->s.x, node, "axis", axis);
  for (size_t i = 0; i < count; i++)
    exported_give(p, node, i);
  return true;
}

bool call_unbind(struct exported *p) {
  for (size_t i = 0; exported_out(p, i); i++) {
    Onnx__NodeProto *node = moving(p, "Gather", exported_tensor(p, "self"),
                                   said_int(&p->s, (int64_t)i));
    emit_int(&p->s.x, node, "axis", exported_int(p, "dim", 0));
    if (!exported_give(p, node, i))
      return false;
  }
  return true;
}

/* Two slices of each axis, joined the other way around. */
bool call_roll(struct exported *p) {
  int64_t shifts[MOST_AXES], axes[MOST_AXES];
  int count = exported_ints(p, "shifts", shifts, MOST_AXES);
  const char *value = exported_tensor(p, "self");
  struct meta in;
  if (count < 1 || exported_ints(p, "dims", axes, MOST_AXES) != count ||
      !exported_meta_of(p, "self", &in))
    return exported_fail(p, "without axes it is not supported");
  for (int i = 0; i < count; i++) {
    int axis = axis_of(p, axes[i], in.rank);
    int64_t size = axis < 0 ? -1 : in.dims[axis];
    if (size < 1)
      return exported_fail(p, "its axis has no size");
    int64_t from = ((-shifts[i] % size) + size) % size;
    const char *end =
        said_between(&p->s, part(p, value, axis, from, INT64_MAX / 4, 1));
    const char *begin = said_between(&p->s, part(p, value, axis, 0, from, 1));
    Onnx__NodeProto *node = moving(p, "Concat", end, begin);
    emit_int(&p->s.x, node, "axis", axis);
    if (i + 1 == count)
      return exported_give(p, node, 0);
    value = said_between(&p->s, node);
  }
  return true;
}

/* Maps */

bool call_pixel_shuffle(struct exported *p) {
  Onnx__NodeProto *node =
      moving(p, "DepthToSpace", exported_tensor(p, "self"), NULL);
  emit_int(&p->s.x, node, "blocksize", exported_int(p, "upscale_factor", 1));
  emit_text(&p->s.x, node, "mode", "CRD");
  return exported_give(p, node, 0);
}

/* PyTorch lists both sides of the last axis first. */
bool call_pad(struct exported *p) {
  int64_t sides[2 * MOST_AXES], pads[2 * MOST_AXES] = {0};
  int count = exported_ints(p, "pad", sides, 2 * MOST_AXES);
  const char *mode = exported_word(p, "mode");
  struct meta in;
  if (count < 0 || !exported_meta_of(p, "self", &in) || count > 2 * in.rank)
    return exported_fail(p, "its `pad` is not supported");
  for (int i = 0; i < count / 2; i++) {
    pads[in.rank - 1 - i] = sides[2 * i];
    pads[2 * in.rank - 1 - i] = sides[2 * i + 1];
  }
  Onnx__NodeProto *node = exported_node(p, "Pad", 3);
  said_take(&p->s, node, exported_tensor(p, "self"));
  said_take(&p->s, node, said_ints(&p->s, pads, 2 * in.rank));
  said_take(&p->s, node, said_real(&p->s, exported_real(p, "value", 0)));
  emit_text(&p->s.x, node, "mode",
            !mode                            ? "constant"
            : strcmp(mode, "replicate") == 0 ? "edge"
            : strcmp(mode, "circular") == 0  ? "wrap"
                                             : mode);
  return exported_give(p, node, 0);
}

/* Over some axes, or over all; linalg_vector_norm: of order 2. */
bool call_reduce(struct exported *p) {
  int64_t axes[MOST_AXES];
  bool norm = slice_is(p->op, "linalg_vector_norm");
  struct meta in;
  int count = exported_ints(p, "dim", axes, MOST_AXES);
  if (count < 0 || !exported_meta_of(p, "self", &in))
    return false;
  if (norm && exported_real(p, "ord", 2) != 2)
    return exported_fail(p, "of this order it is not supported");
  if (slice_is(p->op, "max") && exported_arg(p, "other"))
    return exported_fail(p, "with two tensors it is not supported");
  for (int i = 0; count == 0 && i < in.rank; i++)
    axes[i] = i;
  Onnx__NodeProto *node =
      moving(p, p->row->onnx, exported_tensor(p, "self"),
             said_ints(&p->s, axes, count ? count : in.rank));
  emit_int(&p->s.x, node, "keepdims", exported_true(p, "keepdim", false));
  return exported_give(p, node, 0);
}
