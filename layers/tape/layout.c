/* Layout: strides of a framework's tensors. */
#include "layers/tape/layout.h"

#include "layers/tape/tape.h"

enum { LATE = 16 }; /* recent layouts that are compared */

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
  bool same = a->front == b->front && a->by_steps == b->by_steps &&
              a->boxes == b->boxes && a->lies.rank == b->lies.rank;
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

/* Removes gaps but keeps the order of axes: TensorIterator allocates so. */
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

/* Strides with channels first, for sizes with channels last. */
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
  struct tape_layout map = {.lies = channels_first(sizes), .front = true};
  if (sizes->dim[sizes->rank - 1] != 1 && strides_are_dense(&map.lies))
    return LAYOUT_AS_INPUT; /* with one position, first and last are the same */
  return keep(tape, &map);
}

/* c10/core/MemoryFormat.h, is_channels_last_strides_2d_s4() and 3d_s5():
 * channels are innermost, then positions. */
static bool has_channels_last(const struct strides *lies) {
  int last = lies->rank - 1;
  int64_t least = 0;
  for (int i = last; i >= 0; i = i == last ? last - 1 : i - 1) {
    if (lies->stride[i] < least)
      return false;
    least = lies->stride[i] * (lies->dim[i] > 1 ? lies->dim[i] : 1);
  }
  return true;
}

bool layout_has_last(const struct shape *shape, int last) {
  return shape->rank >= 2 && shape->rank <= 4 &&
         (last >> (shape->rank - 2)) & 1;
}

/* True if a kernel that supports channels last would keep them last. */
static bool may_be_last(const struct tape *tape, size_t in,
                        const struct shape *shape, int last) {
  uint32_t lies = tape->values.at[in].strides;
  const struct tape_layout *layout = layout_at(tape, in);
  if (!layout_has_last(shape, last))
    return false;
  if (layout)
    return layout->lies.rank == shape->rank && !layout->by_steps &&
           has_channels_last(&layout->lies);
  return lies == LAYOUT_ROWS || lies == LAYOUT_LAST;
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

uint32_t layout_of_view(struct tape *tape, const struct strides *lies,
                        bool front) {
  if (tape->lowers)
    return LAYOUT_AS_INPUT;
  struct tape_layout layout = {.lies = *lies, .front = front};
  layout.lies.offset = 0;
  return keep(tape, &layout);
}

uint32_t layout_of_cut(struct tape *tape, size_t in,
                       const struct strides *lies) {
  uint32_t own = tape->values.at[in].strides;
  const struct tape_layout *from = layout_at(tape, in);
  if (!from || !from->by_steps || lies->dim[0] == 1)
    return layout_of_view(tape, lies, layout_of_axes(tape, own));
  struct tape_layout part = *from; /* samples are still inside its steps */
  part.lies = strides_dense(lies->rank, lies->dim);
  return keep(tape, &part);
}

uint32_t layout_of_boxes(struct tape *tape, const struct shape *shape) {
  struct strides box = strides_of(shape);
  int64_t boxes = box.dim[0], values = strides_values(&box) / boxes;
  box.rank--;
  for (int i = 0; i < box.rank; i++)
    box.dim[i] = box.dim[i + 1];
  box = channels_first(&box);
  struct tape_layout layout = {.lies = strides_insert(&box, 0, boxes, values),
                               .boxes = true};
  return tape->lowers ? LAYOUT_AS_INPUT : keep(tape, &layout);
}

uint32_t layout_by_steps(struct tape *tape, const struct shape *shape,
                         bool front) {
  struct tape_layout layout = {
      .lies = strides_of(shape), .by_steps = true, .front = front};
  return keep(tape, &layout);
}

bool layout_lies_by_steps(const struct tape *tape, size_t in, bool samples) {
  const struct tape_layout *layout = layout_at(tape, in);
  bool by_steps = layout && layout->by_steps;
  bool front = layout && layout->front;
  return by_steps || (!samples && !front && layout_is_whole(tape, in) &&
                      layout_rows(tape, in) != ROWS_OF_ONE);
}

uint32_t layout_of_part(struct tape *tape, size_t in,
                        const struct strides *part) {
  uint32_t own = tape->values.at[in].strides;
  bool front = layout_of_axes(tape, own);
  struct tape_layout packed = {.lies = compact(part), .front = front};
  if (tape->lowers || own == LAYOUT_APART)
    return LAYOUT_AS_INPUT;
  if (own < LAYOUT_KNOWN)
    return own;
  if (strides_are_dense(&packed.lies) &&
      (!front || has_channels_last(&packed.lies))) /* or with one channel */
    return front ? LAYOUT_LAST : LAYOUT_ROWS;
  return keep(tape, &packed);
}

uint32_t layout_of_result(struct tape *tape, size_t in, bool elementwise,
                          bool packs, const struct strides *out) {
  uint32_t own = tape->values.at[in].strides;
  const struct tape_layout *layout = layout_at(tape, in);
  bool front = layout_of_axes(tape, own);
  if (tape->lowers)
    return LAYOUT_AS_INPUT;
  if (elementwise && !packs && (!layout || layout->by_steps))
    return own == LAYOUT_APART ? LAYOUT_AS_INPUT : own;
  if (elementwise && !packs)
    return layout_of_part(tape, in, &layout->lies);
  if (front)
    return out ? first(tape, out) : LAYOUT_AS_INPUT;
  if (!layout)
    return own == LAYOUT_APART ? LAYOUT_AS_INPUT : own;
  return LAYOUT_ROWS;
}

/* The same layout, with the framework's channel axis in `front` or last. */
static uint32_t with_front(struct tape *tape, uint32_t lies, bool front) {
  const struct tape_layout *layout = known(tape, lies);
  if (lies == LAYOUT_LAST || lies == LAYOUT_ROWS)
    return front ? LAYOUT_LAST : LAYOUT_ROWS;
  if (!layout || layout->front == front)
    return lies;
  struct tape_layout other = *layout;
  other.front = front;
  return keep(tape, &other);
}

static uint32_t of_values(struct tape *tape, size_t in, bool front) {
  if (tape->lowers)
    return LAYOUT_AS_INPUT;
  uint32_t lies = layout_of_result(tape, in, true, false, NULL);
  return with_front(tape, lies, front);
}

uint32_t layout_of_rows(struct tape *tape, size_t in) {
  return of_values(tape, in, false);
}

uint32_t layout_of_front(struct tape *tape, size_t in) {
  return of_values(tape, in, true);
}

uint32_t layout_alike(struct tape *tape, size_t in, uint32_t lies) {
  uint32_t own = tape->values.at[in].strides;
  if (tape->lowers || own == LAYOUT_AS_INPUT || own == LAYOUT_APART)
    return lies;
  return with_front(tape, lies, layout_of_axes(tape, own));
}

uint32_t layout_of_joined(struct tape *tape, const size_t *in, int count,
                          const struct shape *out) {
  struct strides sizes = strides_of(out);
  bool last = true, alike = true;
  uint32_t own = tape->values.at[in[0]].strides;
  if (tape->lowers)
    return LAYOUT_AS_INPUT;
  for (int i = 1; i < count; i++)
    alike = alike && tape->values.at[in[i]].strides == own;
  if (!layout_of_axes(tape, own) &&
      (alike || own == LAYOUT_AS_INPUT || out->rank < 3))
    return layout_of_result(tape, in[0], false, false, NULL);
  for (int i = 0; i < count && last; i++)
    last = may_be_last(tape, in[i], out, LAST_2D | LAST_3D);
  return last ? LAYOUT_LAST : first(tape, &sizes);
}

/* True if it is a contiguous map with channels first. */
static bool is_map(const struct tape *tape, size_t in) {
  const struct tape_layout *layout = layout_at(tape, in);
  if (!layout || !layout->front)
    return false;
  struct strides map = channels_first(&layout->lies);
  int64_t storage = tape_sample_values(tape, in);
  return same_places(&layout->lies, &map) && storage == strides_values(&map);
}

/*
 * computeStride of aten/src/ATen/TensorUtils.cpp: each axis of `to` is a part
 * of an axis of `from`, or several adjacent ones merged.
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

bool layout_reshape(struct tape *tape, size_t in, const struct shape *shape,
                    const struct strides *to, uint32_t *layout) {
  const struct tape_layout *from = layout_at(tape, in);
  struct strides seen = *to;
  bool flat = to->rank == 1 && shape->rank > 1;
  *layout = tape->values.at[in].strides;
  if (*layout == LAYOUT_LAST) { /* a vector has channels in order */
    *layout = LAYOUT_ROWS;
    return !flat || packing_of(shape) != PACKS_MAPS;
  }
  if (!from)
    return *layout != LAYOUT_APART;
  if (from->by_steps) {
    struct tape_layout parts = {.lies = *to, .by_steps = true};
    int64_t steps = from->lies.dim[0];
    if (from->front) /* positions of a map */
      steps = strides_values(&from->lies) / from->lies.dim[from->lies.rank - 1];
    *layout = keep(tape, &parts);
    return to->rank > 1 && to->dim[0] == steps;
  }
  struct strides lies = from->lies;
  flat = flat && from->front && !from->boxes && !is_map(tape, in);
  if (flat) /* axes in the framework's order */
    lies = strides_move(&lies, lies.rank - 1, 0);
  if (reshape(&lies, &seen)) {
    *layout =
        strides_are_dense(&seen) &&
                strides_values(&seen) == tape_sample_values(tape, in)
            ? LAYOUT_ROWS
            : layout_of_view(tape, &seen, from->front && to->rank == lies.rank);
    return true;
  }
  if (flat)
    return false;
  *layout = LAYOUT_AS_INPUT; /* a framework views a map in its own order */
  if (from->boxes) {
    *layout = to->dim[0] == from->lies.dim[0] ? LAYOUT_ROWS : LAYOUT_AS_INPUT;
    return true;
  }
  return is_map(tape, in);
}

bool layout_is_whole(const struct tape *tape, size_t in) {
  const struct tape_layout *layout = layout_at(tape, in);
  if (!layout)
    return tape->values.at[in].strides != LAYOUT_APART;
  return !layout->by_steps &&
         (is_map(tape, in) || strides_are_dense(&layout->lies));
}

enum row_order layout_rows(const struct tape *tape, size_t in) {
  const struct tape_layout *layout = layout_at(tape, in);
  if (!layout)
    return ROWS_TOGETHER;
  if (layout->by_steps)
    return ROWS_OF_ONE;
  return strides_rows(&layout->lies, tape_sample_values(tape, in));
}

bool layout_of_axes(const struct tape *tape, uint32_t layout) {
  if (layout < LAYOUT_KNOWN)
    return layout == LAYOUT_LAST && !tape->lowers;
  return !tape->lowers && known(tape, layout)->front;
}

bool layout_turned(const struct tape *tape, uint32_t layout) {
  const struct tape_layout *at = tape->lowers ? NULL : known(tape, layout);
  if (!at)
    return false;
  struct strides packed = compact(&at->lies);
  return !strides_are_dense(&packed);
}

/* True if it is a contiguous map, whose channels may be `last`. `one`: true if
 * its samples are contiguous, even with gaps between them. */
static bool is_packed(const struct tape *tape, size_t in,
                      const struct shape *shape, int last, bool *one) {
  const struct tape_value *value = &tape->values.at[in];
  struct strides lies = layout_as_seen(tape, in, shape),
                 sizes = strides_of(shape);
  struct strides map = channels_first(&sizes);
  int64_t storage = tape_sample_values(tape, in);
  *one = may_be_last(tape, in, shape, last) ? strides_are_dense(&lies)
                                            : same_places(&lies, &map);
  const struct tape_layout *at = layout_at(tape, in);
  return tape->lowers || value->strides == LAYOUT_AS_INPUT ||
         (*one && !(at && at->by_steps) && storage == strides_values(&sizes));
}

size_t layout_pack(struct tape *tape, size_t in, const struct shape *shape,
                   int last) {
  bool one;
  if (is_packed(tape, in, shape, last, &one))
    return in;
  return tape_run_on(
      tape, in,
      (struct operation){.name = "copy",
                         .out = *tape_extent(tape, in),
                         .layout = layout_of_map(tape, in, shape, last),
                         .view_of_one = one,
                         .gradient = GRADIENT_SHARED});
}

int64_t layout_copied(const struct tape *tape, size_t in,
                      const struct shape *shape) {
  bool one;
  return is_packed(tape, in, shape, LAST_NEVER, &one) ? 0 : shape_values(shape);
}
