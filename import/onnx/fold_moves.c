/* Folding of operators that are not elementwise: shapes, joins, sums. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "import/onnx/fold.h"

bool fold_is_small(struct onnx *x, int64_t count) {
  return count <= MOST_FOLDED ||
         onnx_fail(x, "a constant is too large: it has %" PRId64 " values",
                   count);
}

bool fold_room(struct onnx *x, struct constant *c, struct fold_values *to) {
  *to = (struct fold_values){NULL, NULL};
  if (x->graph->failed || !fold_is_small(x, c->count) ||
      !constant_room(x, c->count))
    return false;
  if (constant_is_real(c))
    c->real = to->real = constant_reals(x, c->count);
  else
    c->whole = to->whole = constant_wholes(x, c->count);
  return true;
}

void fold_put(const struct fold_values *to, int64_t i, double value) {
  if (to->real)
    to->real[i] = (float)value;
  else
    to->whole[i] = value >= -9e18 && value <= 9e18 ? (int64_t)value : 0;
}

/* Copies value `k` of a constant. */
static void fold_copy(const struct fold_values *to, int64_t i,
                      const struct constant *from, int64_t k) {
  if (to->real)
    to->real[i] = (float)constant_real(from, k);
  else
    to->whole[i] = constant_whole(from, k);
}

bool fold_constant_node(struct onnx *x, struct constant **in) {
  const Onnx__AttributeProto *a = onnx_attribute(x, "value");
  struct constant *c;
  (void)in;
  if (a && a->t) {
    c = constant_of(x, a->t);
    c->name = NULL;
  } else if (onnx_attribute(x, "value_int") ||
             onnx_attribute(x, "value_ints")) {
    a = onnx_attribute(x, "value_ints");
    int64_t one = onnx_int(x, "value_int", 0);
    c = a ? constant_ints(x, a->ints, (int)(a->n_ints & 0xFFFFF))
          : constant_with(x, constant_ints(x, &one, 1), 0, NULL);
  } else if (onnx_attribute(x, "value_float") ||
             onnx_attribute(x, "value_floats")) {
    a = onnx_attribute(x, "value_floats");
    int64_t count = a ? (int64_t)a->n_floats : 1;
    c = constant_new(x, TYPE_FLOAT, a ? 1 : 0, &count);
    float *to = constant_reals(x, c->count);
    for (int64_t i = 0; i < c->count; i++)
      to[i] = a ? a->floats[i] : (float)onnx_real(x, "value_float", 0);
    c->real = to;
  } else {
    return onnx_fail(x, "a constant has a type that is not supported");
  }
  onnx_give_constant(x, 0, c);
  return !x->graph->failed;
}

/* Weights with a single value, as in ONNX's light models. */
bool fold_constant_of_shape(struct onnx *x, struct constant **in) {
  int64_t dims[MOST_AXES];
  const Onnx__AttributeProto *a = onnx_attribute(x, "value");
  int rank = onnx_numbers(x, 0, NULL, dims, MOST_AXES);
  (void)in;
  if (rank < 0)
    return onnx_fail(x, "its sizes are not known");
  struct constant *value = a && a->t ? constant_of(x, a->t) : NULL;
  struct constant *c =
      constant_new(x, value ? value->type : TYPE_FLOAT, rank, dims);
  static const float zero[1] = {0};
  if (value && (!constant_load(x, value) || value->count < 1))
    return onnx_fail(x, "its value is not known");
  c->fill = true;
  c->real = value ? value->real : zero;
  c->whole = value ? value->whole : NULL;
  c->name = x->at->proto->n_output ? x->at->proto->output[0] : NULL;
  c->trained = constant_is_real(c) &&
               (c->count > 1 || (c->name && onnx_is_weight_name(c->name)));
  onnx_give_constant(x, 0, c);
  return !x->graph->failed;
}

bool fold_cast(struct onnx *x, struct constant **in) {
  struct constant *c = in[0];
  int type = (int)onnx_int(x, "to", TYPE_FLOAT);
  struct constant *result = constant_new(x, type, c->rank, c->dims);
  result->trained = c->trained;
  result->name = c->name;
  result->unknown = !constant_known(x, c);
  if (x->graph->failed)
    return false;
  onnx_give_constant(x, 0, result);
  if (result->unknown)
    return true;
  result->fill = c->fill;
  result->real = c->real;
  result->whole = c->whole;
  if (constant_is_real(result) == constant_is_real(c) && type != TYPE_BOOL)
    return true;
  struct constant one = *result;
  struct fold_values to;
  one.count = c->fill ? 1 : c->count;
  if (!fold_room(x, &one, &to))
    return false;
  for (int64_t i = 0; i < one.count; i++) {
    double value = constant_real(c, i);
    if (!to.real && c->whole && type != TYPE_BOOL)
      to.whole[i] = constant_whole(c, i);
    else
      fold_put(&to, i, type == TYPE_BOOL ? value < 0 || value > 0 : value);
  }
  result->real = to.real;
  result->whole = to.whole;
  return true;
}

bool fold_range(struct onnx *x, struct constant **in) {
  for (int i = 0; i < 3; i++)
    if (in[i]->count != 1 || !constant_load(x, in[i]))
      return onnx_fail(x, "its bounds are not numbers");
  double from = constant_real(in[0], 0), to = constant_real(in[1], 0);
  double step = constant_real(in[2], 0), places = ceil((to - from) / step);
  if (!(step < 0 || step > 0) || !(places <= MOST_FOLDED))
    return onnx_fail(x, "it has too many steps");
  int64_t count = places > 0 ? (int64_t)places : 0;
  struct constant *c = constant_new(x, in[0]->type, 1, &count);
  struct fold_values values;
  if (!fold_room(x, c, &values))
    return false;
  for (int64_t i = 0; i < count; i++)
    fold_put(&values, i, from + (double)i * step);
  return onnx_give_constant(x, 0, c);
}

bool fold_concat(struct onnx *x, struct constant **in) {
  int count = 0;
  while (in[count])
    count++;
  int axis = onnx_concat_axis(x, in[0]->rank);
  int64_t dims[MOST_AXES], outer = 1, inner = 1, at = 0;
  if (axis < 0)
    return false;
  memcpy(dims, in[0]->dims, sizeof dims);
  dims[axis] = 0;
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < in[0]->rank; k++)
      if (in[i]->rank != in[0]->rank ||
          (k != axis && in[i]->dims[k] != in[0]->dims[k]))
        return onnx_fail(x, "the sizes of its constants do not agree");
    dims[axis] += in[i]->dims[axis];
  }
  struct constant *c = constant_new(x, in[0]->type, in[0]->rank, dims);
  c->trained = in[0]->trained;
  c->name = in[0]->name;
  for (int i = 0; i < count; i++)
    c->unknown = c->unknown || !constant_known(x, in[i]);
  onnx_give_constant(x, 0, c);
  struct fold_values to;
  if (x->graph->failed || c->unknown)
    return !x->graph->failed;
  if (c->count > MOST_FOLDED && c->trained) {
    c->unknown = true; /* too large to join weights */
    return true;
  }
  if (!fold_room(x, c, &to))
    return false;
  for (int k = 0; k < axis; k++)
    outer *= dims[k];
  for (int k = axis + 1; k < c->rank; k++)
    inner *= dims[k];
  for (int64_t o = 0; o < outer; o++)
    for (int i = 0; i < count; i++) {
      int64_t part = in[i]->dims[axis] * inner;
      for (int64_t n = 0; n < part; n++)
        fold_copy(&to, at++, in[i], o * part + n);
    }
  return true;
}

/* The operation with which a reduction joins two values. */
static enum layer_word joins_by(const char *type) {
  return strcmp(type, "ReduceProd") == 0  ? WORD_MUL
         : strcmp(type, "ReduceMax") == 0 ? WORD_MAX
         : strcmp(type, "ReduceMin") == 0 ? WORD_MIN
                                          : WORD_ADD;
}

static double joined(enum layer_word word, double a, double b) {
  switch (word) {
  case WORD_MUL: return a * b;
  case WORD_MAX: return b > a ? b : a;
  case WORD_MIN: return b < a ? b : a;
  default: return a + b;
  }
}

/* Reduces a constant over axes. */
static double *reduced(struct onnx *x, const struct constant *c,
                       const struct constant *to, const bool *over) {
  enum layer_word word = joins_by(x->at->type);
  double *results =
      arena_alloc(x->arena, (size_t)to->count + 1, sizeof *results);
  bool *begun = arena_alloc(x->arena, (size_t)to->count + 1, 1);
  for (int64_t i = 0; i < c->count; i++) {
    int64_t rest = i, at = 0, stride = 1;
    for (int k = c->rank; k-- > 0;) {
      at += over[k] ? 0 : rest % c->dims[k] * stride;
      stride *= to->dims[k];
      rest /= c->dims[k];
    }
    double v = constant_real(c, i);
    results[at] = begun[at] ? joined(word, results[at], v) : v;
    begun[at] = true;
  }
  return results;
}

/* Reduces over all axes or some of them. */
bool fold_reduced(struct onnx *x, struct constant **in) {
  struct constant *c = in[0];
  int64_t axes[MOST_AXES], dims[MOST_AXES];
  bool over[MOST_AXES];
  bool keep = onnx_int(x, "keepdims", 1) != 0;
  int count = onnx_axes_numbers(x, axes);
  if (count < 0 || !constant_load(x, c) || !fold_is_small(x, c->count))
    return onnx_fail(x, "its axes are not known");
  if (!onnx_mark_axes(x, axes, count, c->rank, over))
    return false;
  for (int i = 0; i < c->rank; i++)
    over[i] = over[i] || count == 0;
  int64_t each = 1;
  for (int i = 0; i < c->rank; i++) {
    dims[i] = over[i] ? 1 : c->dims[i];
    each *= over[i] ? c->dims[i] : 1;
  }
  struct constant *result = constant_new(x, c->type, c->rank, dims);
  struct constant flat = *result;
  struct fold_values to;
  if (!fold_room(x, &flat, &to) || each == 0)
    return onnx_fail(x, "its result is empty");
  const double *results = reduced(x, c, result, over);
  double by = strcmp(x->at->type, "ReduceMean") == 0 ? (double)each : 1;
  for (int64_t i = 0; i < result->count; i++)
    fold_put(&to, i, results[i] / by);
  int rank = 0;
  for (int i = 0; i < c->rank; i++)
    if (keep || !over[i])
      dims[rank++] = dims[i];
  flat.rank = c->rank;
  return onnx_give_constant(x, 0, constant_with(x, &flat, rank, dims));
}

bool fold_tile(struct onnx *x, struct constant **in) {
  struct constant *c = in[0];
  int64_t times[MOST_AXES];
  struct onnx_layout at = {.rank = 0};
  int count = onnx_numbers(x, 1, NULL, times, MOST_AXES);
  if (count != c->rank)
    return onnx_fail(x, "its repeats are not known");
  for (int i = 0; i < c->rank; i++) {
    if (times[i] < 1 || times[i] > MOST_SIZE)
      return onnx_fail(x, "it repeats %" PRId64 " times", times[i]);
    layout_add(&at, times[i], 0);
    layout_add(&at, c->dims[i],
               graph_count(c->dims + i + 1, (size_t)(c->rank - 1 - i)));
  }
  for (int i = 0; i < c->rank; i++)
    layout_merge(&at, i, 2);
  onnx_give_constant(x, 0, constant_through(x, c, &at));
  return !x->graph->failed;
}

/* Cumulative sums; the lower or upper triangle of matrices. */
bool fold_along_axis(struct onnx *x, struct constant **in) {
  struct constant *c = in[0];
  bool sums = strcmp(x->at->type, "CumSum") == 0;
  struct constant *second = onnx_constant(x, 1);
  int64_t number = 0;
  if (!constant_load(x, c) || (second && !constant_load(x, second)) ||
      (sums && (!second || second->count != 1)) || (!sums && c->rank < 2) ||
      onnx_int(x, "exclusive", 0) || onnx_int(x, "reverse", 0))
    return onnx_fail(x, "it is not supported");
  if (second && second->count == 1)
    number = constant_whole(second, 0);
  int axis = sums ? onnx_axis(x, number, c->rank) : c->rank - 2;
  struct constant *result = constant_new(x, c->type, c->rank, c->dims);
  struct fold_values to;
  int64_t inner = 1;
  if (axis < 0 || !fold_room(x, result, &to))
    return false;
  for (int k = axis + 1; k < c->rank; k++)
    inner *= c->dims[k];
  bool upper = onnx_int(x, "upper", 1) != 0;
  for (int64_t i = 0; i < c->count; i++) {
    int64_t row = i / inner % c->dims[axis], column = i % inner;
    double value = constant_real(c, i);
    if (sums && row > 0)
      value += constant_real(result, i - inner);
    if (!sums && (upper ? column - row < number : column - row > number))
      value = 0;
    fold_put(&to, i, value);
  }
  return onnx_give_constant(x, 0, result);
}

/* Selects indices of a constant table, in any order. */
bool fold_gather(struct onnx *x, struct constant **in) {
  struct constant *c = in[0], *places = in[1];
  int axis = onnx_axis(x, onnx_int(x, "axis", 0), c->rank);
  int64_t dims[MOST_AXES * 2], outer = 1, inner = 1, at = 0;
  int rank = 0;
  if (axis < 0 || !constant_load(x, places))
    return false;
  int64_t size = c->dims[axis];
  for (int i = 0; i < axis; i++)
    outer *= dims[rank++] = c->dims[i];
  for (int i = 0; i < places->rank; i++)
    dims[rank++] = places->dims[i];
  for (int i = axis + 1; i < c->rank; i++)
    inner *= dims[rank++] = c->dims[i];
  struct constant *result = constant_new(x, c->type, rank, dims);
  result->trained = c->trained;
  result->name = c->name;
  result->unknown = !constant_known(x, c);
  bool first = c->trained && c->rank == 2 && axis == 0;
  for (int64_t i = 0; i < places->count && first; i++)
    first = constant_whole(places, i) == i;
  result->longer = first && places->count < size ? c : NULL;
  struct fold_values to;
  onnx_give_constant(x, 0, result);
  if (x->graph->failed || result->unknown)
    return !x->graph->failed;
  if (!fold_room(x, result, &to))
    return false;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t p = 0; p < places->count; p++) {
      int64_t place = onnx_index(x, places, p, size);
      if (place < 0)
        return false;
      for (int64_t i = 0; i < inner; i++)
        fold_copy(&to, at++, c, (o * size + place) * inner + i);
    }
  return true;
}

/* Sets values at constant places; each place is a row of indices. */
bool fold_scatter(struct onnx *x, struct constant **in) {
  const struct constant *c = in[0], *at = in[1];
  int64_t depth = at->rank ? at->dims[at->rank - 1] : 0, inner = 1;
  struct fold_values to;
  for (int i = 0; i < 3; i++)
    if (!constant_load(x, in[i]))
      return false;
  if (depth < 1 || depth > c->rank)
    return onnx_fail(x, "its indices have %" PRId64 " axes", depth);
  for (int k = (int)depth; k < c->rank; k++)
    inner *= c->dims[k];
  int64_t rows = at->count / depth;
  struct constant *result = constant_new(x, c->type, c->rank, c->dims);
  /* Swin V2 keeps a part of a bias at 0. Masks begin without a tensor. */
  result->trained = c->trained && c->proto;
  result->name = c->name;
  if (in[2]->count != rows * inner || !fold_room(x, result, &to))
    return onnx_fail(x, "its values do not match its indices");
  for (int64_t i = 0; i < c->count; i++)
    fold_put(&to, i, constant_real(c, i));
  for (int64_t r = 0; r < rows; r++) {
    int64_t place = 0;
    for (int64_t k = 0; k < depth; k++) {
      int64_t index = onnx_index(x, at, r * depth + k, c->dims[k]);
      if (index < 0)
        return false;
      place = place * c->dims[k] + index;
    }
    for (int64_t i = 0; i < inner; i++)
      fold_put(&to, place * inner + i, constant_real(in[2], r * inner + i));
  }
  return onnx_give_constant(x, 0, result);
}
