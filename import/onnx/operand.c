/* Attributes of a node, and inputs that are numbers. */
#include <inttypes.h>
#include <string.h>

#include "import/onnx/reader.h"

const Onnx__AttributeProto *onnx_attribute(const struct onnx *x,
                                           const char *name) {
  for (size_t i = 0; name && i < x->at->proto->n_attribute; i++)
    if (strcmp(x->at->proto->attribute[i]->name, name) == 0)
      return x->at->proto->attribute[i];
  return NULL;
}

int64_t onnx_int(const struct onnx *x, const char *name, int64_t usual) {
  const Onnx__AttributeProto *a = onnx_attribute(x, name);
  return a && a->has_i ? a->i : usual;
}

double onnx_real(const struct onnx *x, const char *name, double usual) {
  const Onnx__AttributeProto *a = onnx_attribute(x, name);
  return a && a->has_f ? (double)a->f : usual;
}

bool onnx_is(const struct onnx *x, const char *name, const char *text,
             bool usual) {
  const Onnx__AttributeProto *a = onnx_attribute(x, name);
  if (!a || !a->has_s)
    return usual;
  return slice_is((struct slice){(const char *)a->s.data, a->s.len}, text);
}

bool onnx_one_of(struct onnx *x, const char *name, const char *const *words) {
  bool known = !onnx_attribute(x, name);
  for (; *words && !known; words++)
    known = onnx_is(x, name, *words, true);
  return known || onnx_fail(x, "unknown `%s`", name);
}

int onnx_ints(struct onnx *x, const char *name, int64_t *to, int most) {
  const Onnx__AttributeProto *a = onnx_attribute(x, name);
  if (!a)
    return -1;
  if (a->n_ints > (size_t)most)
    return ONNX_NONE(x, "`%s` has %zu numbers; at most %d are supported", name,
                     a->n_ints, most);
  for (size_t i = 0; i < a->n_ints; i++)
    to[i] = a->ints[i];
  return (int)a->n_ints;
}

int onnx_numbers(struct onnx *x, size_t index, const char *name, int64_t *to,
                 int most) {
  if (!onnx_has(x, index))
    return onnx_ints(x, name, to, most);
  struct constant *c = onnx_constant(x, index);
  if (!c || !constant_load(x, c))
    return -1;
  if (c->rank > 1 || c->count > most)
    return ONNX_NONE(
        x, "input %zu has %" PRId64 " numbers; at most %d are supported", index,
        c->count, most);
  for (int64_t i = 0; i < c->count; i++)
    to[i] = constant_whole(c, i);
  return (int)c->count;
}

int onnx_axes_numbers(struct onnx *x, int64_t *axes) {
  return onnx_has(x, 1) || onnx_attribute(x, "axes")
             ? onnx_numbers(x, 1, "axes", axes, MOST_AXES)
             : 0;
}

int onnx_axis(struct onnx *x, int64_t axis, int rank) {
  if (axis >= -rank && axis < rank)
    return (int)(axis < 0 ? axis + rank : axis);
  return ONNX_NONE(x, "axis %" PRId64 " of %d does not exist", axis, rank);
}

int64_t onnx_index(struct onnx *x, const struct constant *places, int64_t i,
                   int64_t size) {
  int64_t place = constant_whole(places, i);
  place += place < 0 ? size : 0;
  if (place >= 0 && place < size)
    return place;
  return ONNX_NONE(x, "its index %" PRId64 " is outside an axis of %" PRId64,
                   place, size);
}

bool onnx_mark_axes(struct onnx *x, const int64_t *axes, int count, int rank,
                    bool marked[MOST_AXES]) {
  memset(marked, 0, MOST_AXES * sizeof *marked);
  for (int i = 0; i < count; i++) {
    int axis = onnx_axis(x, axes[i], rank);
    if (axis < 0)
      return false;
    if (marked[axis])
      return onnx_fail(x, "it repeats axis %d", axis);
    marked[axis] = true;
  }
  return true;
}

int onnx_concat_axis(struct onnx *x, int rank) {
  if (x->opset < 4 || onnx_attribute(x, "axis"))
    return onnx_axis(x, onnx_int(x, "axis", 1), rank);
  return ONNX_NONE(x, "it has no `axis`");
}

bool onnx_is_read(const struct onnx *x, size_t out) {
  int value = out < x->at->out_count ? x->at->outs[out] : -1;
  return value >= 0 &&
         (x->values.at[value].uses > 0 || x->values.at[value].output);
}
