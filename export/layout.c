/* Layouts: places of a tensor's axes in a block of values. */
#include "export/layout.h"

#include <assert.h>
#include <string.h>

/* Axes of size 0 or 1 need no atom. */
static void add_atom(struct onnx_layout *to, int axis, int64_t size,
                     int64_t stride) {
  struct onnx_atom *last = to->count ? &to->atom[to->count - 1] : NULL;
  if (size <= 1)
    return;
  if (last && last->axis == axis && last->stride == stride * size) {
    last->size *= size; /* continues the last atom */
    last->stride = stride;
    return;
  }
  assert(to->count < LAYOUT_ATOMS);
  to->atom[to->count++] = (struct onnx_atom){size, stride, axis};
}

static int add_axis(struct onnx_layout *to, int64_t dim) {
  assert(to->rank < LAYOUT_RANK);
  to->dim[to->rank] = dim;
  return to->rank++;
}

/* Appends the atoms of an axis. */
static void copy_atoms(struct onnx_layout *to, int axis,
                       const struct onnx_layout *from, int from_axis) {
  for (int i = 0; i < from->count; i++)
    if (from->atom[i].axis == from_axis)
      add_atom(to, axis, from->atom[i].size, from->atom[i].stride);
}

void layout_add(struct onnx_layout *layout, int64_t dim, int64_t stride) {
  add_atom(layout, add_axis(layout, dim), dim, stride);
}

struct onnx_layout layout_of(int rank, const int64_t *dims,
                             const int64_t *strides, int64_t first) {
  struct onnx_layout layout = {.first = first};
  for (int i = 0; i < rank; i++)
    layout_add(&layout, dims[i], strides[i]);
  return layout;
}

struct onnx_layout layout_dense(int rank, const int64_t *dims) {
  int64_t strides[LAYOUT_RANK], stride = 1;
  for (int i = rank; i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return layout_of(rank, dims, strides, 0);
}

int64_t layout_values(const struct onnx_layout *layout) {
  int64_t values = 1;
  for (int i = 0; i < layout->rank; i++)
    values *= layout->dim[i];
  return values;
}

bool layout_equal(const struct onnx_layout *a, const struct onnx_layout *b) {
  if (a->rank != b->rank || a->count != b->count || a->first != b->first)
    return false;
  for (int i = 0; i < a->rank; i++)
    if (a->dim[i] != b->dim[i])
      return false;
  for (int i = 0; i < a->count; i++)
    if (a->atom[i].size != b->atom[i].size ||
        a->atom[i].stride != b->atom[i].stride ||
        a->atom[i].axis != b->atom[i].axis)
      return false;
  return true;
}

struct onnx_layout layout_order(const struct onnx_layout *layout, int rank,
                                const int *order) {
  struct onnx_layout result = {.first = layout->first};
  for (int i = 0; i < rank; i++) {
    int axis = add_axis(&result, layout->dim[order[i]]);
    copy_atoms(&result, axis, layout, order[i]);
  }
  return result;
}

struct onnx_layout layout_move(const struct onnx_layout *layout, int from,
                               int to) {
  int order[LAYOUT_RANK], next = 0;
  for (int i = 0; i < layout->rank; i++) {
    if (i == to)
      order[i] = from;
    else
      order[i] = next == from ? ++next : next;
    next += i != to;
  }
  return layout_order(layout, layout->rank, order);
}

struct onnx_layout layout_channels_first(const struct onnx_layout *layout) {
  return layout_move(layout, layout->rank - 1, 1);
}

/* Strides of the atoms in the dense space of an axis, or of all axes (-1). */
static int axis_digits(const struct onnx_layout *layout, int axis,
                       struct onnx_atom *digits, int *which) {
  int count = 0;
  int64_t stride = 1;
  for (int i = layout->count; i-- > 0;) {
    if (axis >= 0 && layout->atom[i].axis != axis)
      continue;
    which[count] = i;
    digits[count++] = (struct onnx_atom){layout->atom[i].size, stride, 0};
    stride *= layout->atom[i].size;
  }
  return count;
}

int layout_pieces(const struct onnx_atom *digits, int count, int64_t size,
                  int64_t stride, struct onnx_piece *pieces) {
  int made = 0;
  while (size > 1) {
    int at = 0;
    while (at < count && (digits[at].stride > stride ||
                          stride / digits[at].stride >= digits[at].size ||
                          stride % digits[at].stride != 0))
      at++;
    if (at == count || made == LAYOUT_ATOMS)
      return 0;
    int64_t step = stride / digits[at].stride;
    int64_t room = (digits[at].size + step - 1) / step;
    int64_t part = size;
    if (size > room) {
      if (digits[at].size % step != 0 || size % room != 0)
        return 0;
      part = room;
    }
    memmove(pieces + 1, pieces, (size_t)made++ * sizeof *pieces);
    pieces[0] = (struct onnx_piece){at, part, step};
    size /= part;
    stride = digits[at].stride * digits[at].size;
  }
  return made;
}

/* Adds an atom of a dense space as atoms of `in`. */
static bool add_through(struct onnx_layout *to, int axis,
                        const struct onnx_layout *in,
                        const struct onnx_atom *digits, const int *which,
                        int count, const struct onnx_atom *atom) {
  struct onnx_piece pieces[LAYOUT_ATOMS];
  if (atom->stride == 0) {
    add_atom(to, axis, atom->size, 0);
    return true;
  }
  int made = layout_pieces(digits, count, atom->size, atom->stride, pieces);
  if (made == 0 || to->count + made > LAYOUT_ATOMS)
    return false;
  for (int i = 0; i < made; i++)
    add_atom(to, axis, pieces[i].size,
             pieces[i].step * in->atom[which[pieces[i].digit]].stride);
  return true;
}

bool layout_split(struct onnx_layout *layout, int axis, int64_t outer) {
  struct onnx_atom digits[LAYOUT_ATOMS];
  int which[LAYOUT_ATOMS];
  int count = axis_digits(layout, axis, digits, which);
  int64_t inner = layout->dim[axis] / outer;
  const struct onnx_atom parts[2] = {{outer, inner, 0}, {inner, 1, 0}};
  struct onnx_layout result = {.first = layout->first};
  for (int i = 0; i < layout->rank; i++) {
    if (i != axis) {
      int to = add_axis(&result, layout->dim[i]);
      copy_atoms(&result, to, layout, i);
      continue;
    }
    for (int k = 0; k < 2; k++) {
      int to = add_axis(&result, parts[k].size);
      if (parts[k].size > 1 &&
          !add_through(&result, to, layout, digits, which, count, &parts[k]))
        return false;
    }
  }
  *layout = result;
  return true;
}

void layout_merge(struct onnx_layout *layout, int axis, int count) {
  struct onnx_layout result = {.first = layout->first};
  for (int i = 0; i < layout->rank; i++) {
    if (i > axis && i < axis + count) {
      result.dim[axis] *= layout->dim[i];
      copy_atoms(&result, axis, layout, i);
      continue;
    }
    int to = add_axis(&result, layout->dim[i]);
    copy_atoms(&result, to, layout, i);
  }
  *layout = result;
}

void layout_insert(struct onnx_layout *layout, int axis) {
  struct onnx_layout result = {.first = layout->first};
  for (int i = 0; i <= layout->rank; i++) {
    if (i == axis)
      add_axis(&result, 1);
    if (i == layout->rank)
      break;
    int to = add_axis(&result, layout->dim[i]);
    copy_atoms(&result, to, layout, i);
  }
  *layout = result;
}

void layout_drop(struct onnx_layout *layout, int axis) {
  int order[LAYOUT_RANK], rank = 0;
  for (int i = 0; i < layout->rank; i++)
    if (i != axis)
      order[rank++] = i;
  *layout = layout_order(layout, rank, order);
}

bool layout_slice(struct onnx_layout *layout, int axis, int64_t from,
                  int64_t size) {
  struct onnx_atom digits[LAYOUT_ATOMS], whole = {size, 1, 0};
  int which[LAYOUT_ATOMS];
  int count = axis_digits(layout, axis, digits, which);
  struct onnx_layout result = {.first = layout->first};
  for (int i = 0; i < count; i++) {
    int64_t place = from / digits[i].stride % digits[i].size;
    result.first += place * layout->atom[which[i]].stride;
  }
  for (int i = 0; i < layout->rank; i++) {
    int to = add_axis(&result, i == axis ? size : layout->dim[i]);
    if (i != axis)
      copy_atoms(&result, to, layout, i);
    else if (size > 1 &&
             !add_through(&result, to, layout, digits, which, count, &whole))
      return false;
  }
  *layout = result;
  return true;
}

bool layout_through(const struct onnx_layout *in, const struct onnx_layout *of,
                    struct onnx_layout *result) {
  struct onnx_atom digits[LAYOUT_ATOMS];
  int which[LAYOUT_ATOMS];
  int count = axis_digits(in, -1, digits, which);
  *result = (struct onnx_layout){.first = in->first};
  for (int i = 0; i < count; i++) {
    int64_t place = of->first / digits[i].stride % digits[i].size;
    result->first += place * in->atom[which[i]].stride;
  }
  for (int i = 0; i < of->rank; i++)
    add_axis(result, of->dim[i]);
  for (int i = 0; i < of->count; i++)
    if (!add_through(result, of->atom[i].axis, in, digits, which, count,
                     &of->atom[i]))
      return false;
  return true;
}

bool layout_seen(const struct onnx_layout *in, const struct onnx_layout *at,
                 struct onnx_layout *result) {
  struct onnx_atom digits[LAYOUT_ATOMS];
  struct onnx_piece pieces[LAYOUT_ATOMS];
  int which[LAYOUT_ATOMS];
  int count = axis_digits(in, -1, digits, which);
  if (layout_values(in) != layout_values(at) || in->first || at->first)
    return false;
  *result = (struct onnx_layout){.first = 0};
  for (int i = 0; i < in->count; i++)
    if (in->atom[i].stride == 0)
      return false;
  for (int i = 0; i < at->rank; i++)
    add_axis(result, at->dim[i]);
  for (int i = 0; i < at->count; i++) {
    int made = layout_pieces(in->atom, in->count, at->atom[i].size,
                             at->atom[i].stride, pieces);
    if (made == 0 || result->count + made > LAYOUT_ATOMS)
      return false;
    for (int k = 0; k < made; k++) {
      int digit = 0;
      while (which[digit] != pieces[k].digit)
        digit++;
      add_atom(result, at->atom[i].axis, pieces[k].size,
               pieces[k].step * digits[digit].stride);
    }
  }
  (void)count;
  return true;
}
