/* Layout: how a framework's tensors lie in memory. */
#include "layers/tape/layout.h"

#include "layers/tape/tape.h"

enum { LATE = 16 }; /* layouts that alternate */

static const struct tape_layout *known(const struct tape *tape,
                                       uint32_t layout) {
  return layout < LAYOUT_KNOWN ? NULL
                               : &tape->layouts.at[layout - LAYOUT_KNOWN];
}

static const struct tape_layout *layout_at(const struct tape *tape,
                                           size_t value) {
  return tape->lowers ? NULL : known(tape, tape->values.at[value].strides);
}

static bool same_layout(const struct tape_layout *a,
                        const struct tape_layout *b) {
  bool same = a->map == b->map && a->by_steps == b->by_steps &&
              a->lies.rank == b->lies.rank;
  for (int i = 0; same && i < a->lies.rank; i++)
    same = a->lies.dim[i] == b->lies.dim[i] &&
           a->lies.stride[i] == b->lies.stride[i];
  return same;
}

static uint32_t keep(struct tape *tape, const struct tape_layout *layout) {
  size_t count = tape->layouts.count;
  for (size_t i = count; i-- > 0 && i + LATE >= count;)
    if (same_layout(&tape->layouts.at[i], layout))
      return LAYOUT_KNOWN + (uint32_t)i;
  *VEC_PUSH(tape->arena, &tape->layouts) = *layout;
  return LAYOUT_KNOWN + tape_place(tape, count);
}

/* Strides as they are, but without gaps: as TensorIterator allocates. */
static struct strides compact(const struct strides *lies) {
  struct strides result = *lies;
  bool done[STRIDES_RANK] = {false};
  int64_t stride = 1;
  for (int k = 0; k < lies->rank; k++) {
    int next = -1;
    for (int i = lies->rank; i-- > 0;)
      if (!done[i] && (next < 0 || lies->stride[i] < lies->stride[next]))
        next = i;
    done[next] = true;
    result.stride[next] = stride;
    stride = size_product(stride, lies->dim[next]);
  }
  result.offset = 0;
  return result;
}

/* Channels first, of sizes that have them last. */
static struct strides channels_first(const struct strides *sizes) {
  struct strides lies = strides_dense(sizes->rank, sizes->dim);
  int last = lies.rank - 1;
  lies.stride[last] = 1;
  for (int i = 0; i < last; i++) {
    lies.stride[i] /= lies.dim[last];
    lies.stride[last] = size_product(lies.stride[last], lies.dim[i]);
  }
  return lies;
}

static bool same_places(const struct strides *a, const struct strides *b) {
  for (int i = 0; i < a->rank; i++)
    if (a->dim[i] != 1 && a->stride[i] != b->stride[i])
      return false;
  return true;
}

static uint32_t first(struct tape *tape, const struct strides *sizes) {
  struct tape_layout map = {.lies = channels_first(sizes), .map = true};
  if (strides_are_dense(&map.lies)) /* one channel, or one position */
    return LAYOUT_AS_INPUT;
  return keep(tape, &map);
}

/* Channels stay last: of pictures and volumes. */
static bool may_be_last(const struct tape *tape, size_t in,
                        const struct shape *shape, int last) {
  uint32_t lies = tape->values.at[in].strides;
  return (lies == LAYOUT_ROWS || lies == LAYOUT_LAST) && shape->rank >= 3 &&
         shape->rank <= last;
}

uint32_t layout_of_map(struct tape *tape, size_t in, const struct shape *shape,
                       int last) {
  struct strides sizes = strides_of(shape);
  if (tape->lowers)
    return LAYOUT_AS_INPUT;
  if (may_be_last(tape, in, shape, last))
    return LAYOUT_LAST;
  return first(tape, &sizes);
}

struct strides layout_as_seen(const struct tape *tape, size_t in,
                              const struct shape *shape) {
  const struct tape_layout *layout = layout_at(tape, in);
  if (tape->lowers)
    return tape_strides(tape, in);
  return layout && layout->lies.rank == shape->rank ? layout->lies
                                                    : strides_of(shape);
}

uint32_t layout_of_view(struct tape *tape, const struct strides *lies) {
  if (tape->lowers)
    return LAYOUT_AS_INPUT;
  struct tape_layout layout = {.lies = *lies};
  layout.lies.offset = 0;
  return keep(tape, &layout);
}

uint32_t layout_by_steps(struct tape *tape, const struct shape *shape) {
  struct tape_layout layout = {.lies = strides_of(shape), .by_steps = true};
  return keep(tape, &layout);
}

bool layout_lies_by_steps(const struct tape *tape, size_t in, bool samples) {
  const struct tape_layout *layout = layout_at(tape, in);
  bool by_steps = layout && layout->by_steps, map = layout && layout->map;
  return by_steps || (!samples && !map && layout_is_whole(tape, in));
}

uint32_t layout_of_result(struct tape *tape, size_t in, bool elementwise,
                          bool packs, const struct strides *out) {
  uint32_t own = tape->values.at[in].strides;
  const struct tape_layout *layout = layout_at(tape, in);
  if (own == LAYOUT_LAST && elementwise)
    return packs && out ? first(tape, out) : own;
  if (!layout)
    return own == LAYOUT_APART  ? LAYOUT_AS_INPUT
           : own == LAYOUT_LAST ? LAYOUT_ROWS
                                : own;
  if (layout->map && out && !elementwise)
    return first(tape, out);
  if (layout->map)
    return elementwise ? own : LAYOUT_AS_INPUT;
  if (packs)
    return LAYOUT_ROWS;
  if (layout->by_steps)
    return elementwise ? own : LAYOUT_AS_INPUT;
  struct tape_layout packed = {.lies = compact(&layout->lies)};
  if (strides_are_dense(&packed.lies))
    return LAYOUT_ROWS;
  return elementwise ? keep(tape, &packed) : LAYOUT_AS_INPUT;
}

/*
 * Axes of `to` are parts of those of `from`, or several of them that lie one in
 * the other: computeStride of aten/src/ATen/TensorUtils.cpp.
 */
static bool reshape(const struct strides *from, struct strides *to) {
  int at = from->rank - 1, end = to->rank - 1;
  while (at >= 0) {
    int64_t inner = from->stride[at], values = from->dim[at], made = 1;
    for (; at > 0; at--) {
      bool goes_on = from->dim[at - 1] == 1 ||
                     from->stride[at - 1] == size_product(values, inner);
      if (!goes_on)
        break;
      values = size_product(values, from->dim[at - 1]);
    }
    for (; end >= 0 && (made < values || to->dim[end] == 1); end--) {
      to->stride[end] = size_product(inner, made);
      made = size_product(made, to->dim[end]);
    }
    if (made != values)
      return false;
    at--;
  }
  return true;
}

bool layout_reshape(struct tape *tape, size_t in, const struct strides *to,
                    uint32_t *layout) {
  const struct tape_layout *from = layout_at(tape, in);
  struct strides seen = *to;
  *layout = tape->values.at[in].strides;
  if (*layout == LAYOUT_LAST)
    *layout = LAYOUT_ROWS;
  if (!from)
    return *layout != LAYOUT_APART;
  if (from->by_steps) {
    struct tape_layout parts = {.lies = *to, .by_steps = true};
    *layout = keep(tape, &parts);
    return to->rank > 1 && to->dim[0] == from->lies.dim[0];
  }
  if (reshape(&from->lies, &seen)) {
    *layout = strides_are_dense(&seen) &&
                      strides_values(&seen) ==
                          tape_storage_extent(tape, tape->values.at[in].storage)
                              ->count
                  ? LAYOUT_ROWS
                  : layout_of_view(tape, &seen);
    return true;
  }
  *layout = LAYOUT_AS_INPUT; /* a framework sees a map in its own order */
  return from->map;
}

bool layout_is_whole(const struct tape *tape, size_t in) {
  const struct tape_layout *layout = layout_at(tape, in);
  if (!layout)
    return tape->values.at[in].strides != LAYOUT_APART;
  return !layout->by_steps && (layout->map || strides_are_dense(&layout->lies));
}

enum row_order layout_rows(const struct tape *tape, size_t in) {
  const struct tape_value *value = &tape->values.at[in];
  const struct tape_layout *layout = layout_at(tape, in);
  if (!layout)
    return ROWS_TOGETHER;
  if (layout->by_steps)
    return ROWS_OF_ONE;
  return strides_rows(&layout->lies,
                      tape_storage_extent(tape, value->storage)->count);
}

/* Whether it is that of a map in one piece, channels in front. */
static bool is_map(const struct tape *tape, uint32_t layout) {
  const struct tape_layout *at = tape->lowers ? NULL : known(tape, layout);
  return at && at->map;
}

bool layout_of_axes(const struct tape *tape, uint32_t layout) {
  return layout == LAYOUT_LAST || is_map(tape, layout);
}

bool layout_turned(const struct tape *tape, uint32_t layout) {
  const struct tape_layout *at = tape->lowers ? NULL : known(tape, layout);
  if (!at)
    return false;
  struct strides packed = compact(&at->lies);
  return !strides_are_dense(&packed);
}

/* A map in one piece, channels first or, of at most `last` axes, last. Only its
 * samples may lie apart if it is in `one`. */
static bool is_packed(const struct tape *tape, size_t in,
                      const struct shape *shape, int last, bool *one) {
  const struct tape_value *value = &tape->values.at[in];
  struct strides lies = layout_as_seen(tape, in, shape),
                 sizes = strides_of(shape);
  struct strides map = channels_first(&sizes);
  int64_t storage = tape_storage_extent(tape, value->storage)->count;
  *one = same_places(&lies, &map);
  return tape->lowers || value->strides == LAYOUT_AS_INPUT ||
         (*one && storage == strides_values(&sizes)) ||
         may_be_last(tape, in, shape, last);
}

size_t layout_pack(struct tape *tape, size_t in, const struct shape *shape,
                   int last) {
  struct strides sizes = strides_of(shape);
  bool one;
  if (is_packed(tape, in, shape, last, &one))
    return in;
  return tape_run_on(tape, in,
                     (struct operation){.name = "copy",
                                        .out = *tape_extent(tape, in),
                                        .layout = first(tape, &sizes),
                                        .view_of_one = one,
                                        .gradient = GRADIENT_SHARED});
}

int64_t layout_copied(const struct tape *tape, size_t in,
                      const struct shape *shape) {
  bool one;
  return is_packed(tape, in, shape, 0, &one) ? 0 : shape_values(shape);
}
