/* Functions that netc writes as formulas of others, and products along axes. */
#include <string.h>

#include "import/onnx/emit.h"

/* (exp x + exp -x) / 2, or their difference. */
static int mean_of_exp(struct onnx *x, int in, const char *join) {
  int there = emit_one(x, "Exp", in);
  int back = there < 0 ? -1 : emit_one(x, "Neg", in);
  back = back < 0 ? -1 : emit_one(x, "Exp", back);
  int both = back < 0 ? -1 : emit_two(x, join, there, back);
  return both < 0 ? -1 : emit_two(x, "Mul", both, emit_scalar(x, 0.5));
}

/* log(x + sqrt(x x - 1)) */
static int area_cosine(struct onnx *x, int in) {
  int square = emit_two(x, "Mul", in, in);
  int less = square < 0 ? -1 : emit_two(x, "Sub", square, emit_scalar(x, 1));
  int root = less < 0 ? -1 : emit_one(x, "Sqrt", less);
  int sum = root < 0 ? -1 : emit_two(x, "Add", root, in);
  return sum < 0 ? -1 : emit_one(x, "Log", sum);
}

/* log((1 + x) / (1 - x)) / 2 */
static int area_tangent(struct onnx *x, int in) {
  int above = emit_two(x, "Add", in, emit_scalar(x, 1));
  int below = above < 0 ? -1 : emit_two(x, "Sub", emit_scalar(x, 1), in);
  int share = below < 0 ? -1 : emit_two(x, "Div", above, below);
  int log = share < 0 ? -1 : emit_one(x, "Log", share);
  return log < 0 ? -1 : emit_two(x, "Mul", log, emit_scalar(x, 0.5));
}

static int tangent(struct onnx *x, int in) {
  int above = emit_one(x, "Sin", in);
  int below = above < 0 ? -1 : emit_one(x, "Cos", in);
  return below < 0 ? -1 : emit_two(x, "Div", above, below);
}

bool op_formula(struct onnx *x) {
  int in = emit_input(x, 0);
  if (in < 0)
    return onnx_fail(x, "it has no input");
  switch (*x->at->type) {
  case 'S': return emit_give(x, 0, mean_of_exp(x, in, "Sub"));
  case 'C': return emit_give(x, 0, mean_of_exp(x, in, "Add"));
  case 'T': return emit_give(x, 0, tangent(x, in));
  default:
    return emit_give(x, 0,
                     strcmp(x->at->type, "Acosh") == 0 ? area_cosine(x, in)
                                                       : area_tangent(x, in));
  }
}

/* The product of an axis, element by element. */
static int product_along(struct onnx *x, int value, int axis, int64_t size) {
  int product = emit_slice(x, value, axis, 0, 1);
  for (int64_t i = 1; i < size && product >= 0; i++) {
    int part = emit_slice(x, value, axis, i, i + 1);
    product = part < 0 ? -1 : emit_two(x, "Mul", product, part);
  }
  return product;
}

bool op_reduce_product(struct onnx *x) {
  int64_t axes[MOST_AXES], dims[MOST_AXES], kept[MOST_AXES];
  bool marked[MOST_AXES], keep = onnx_int(x, "keepdims", 1);
  int value = emit_input(x, 0), rank = emit_dims(x, value, dims), left = 0;
  int count = onnx_numbers(x, 1, "axes", axes, MOST_AXES);
  if (rank < 0 || x->graph->failed)
    return onnx_fail(x, "it has no input");
  for (; count < 0 && left < rank; left++)
    axes[left] = left;
  count = count < 0 ? rank : count;
  if (!onnx_mark_axes(x, axes, count, rank, marked))
    return false;
  left = 0;
  for (int i = 0; i < rank; i++) {
    if (marked[i] && dims[i] > MOST_REPEATS)
      return onnx_fail(x,
                       "a product along an axis of more than %d is not "
                       "supported",
                       MOST_REPEATS);
    if (marked[i] && dims[i] > 1)
      value = product_along(x, value, i, dims[i]);
    if (value < 0)
      return false;
    if (!marked[i] || keep)
      kept[left++] = marked[i] ? 1 : dims[i];
  }
  return emit_give(x, 0, keep ? value : emit_reshape(x, value, kept, left));
}

/* Cumulative sums, element by element. */
bool op_cumulate(struct onnx *x) {
  int64_t dims[MOST_AXES], number;
  int value = emit_input(x, 0), rank = emit_dims(x, value, dims);
  bool back = onnx_int(x, "reverse", 0), less = onnx_int(x, "exclusive", 0);
  if (rank < 0 || onnx_numbers(x, 1, NULL, &number, 1) != 1)
    return onnx_fail(x, "its axis is not a constant");
  int axis = onnx_axis(x, number, rank), sum = -1, all = -1;
  if (axis < 0 || dims[axis] > MOST_REPEATS)
    return onnx_fail(x, "sums along an axis of more than %d are not supported",
                     MOST_REPEATS);
  for (int64_t i = 0; i < dims[axis]; i++) {
    int64_t at = back ? dims[axis] - 1 - i : i;
    int part = emit_slice(x, value, axis, at, at + 1), given = part;
    if (part >= 0 && less)
      given = i ? sum : emit_two(x, "Mul", part, emit_scalar(x, 0));
    if (part >= 0)
      sum = i ? emit_two(x, "Add", sum, part) : part;
    if (sum < 0 || given < 0)
      return false;
    given = less ? given : sum;
    all = i == 0 ? given
          : back ? emit_concat(x, given, all, axis)
                 : emit_concat(x, all, given, axis);
    if (all < 0)
      return false;
  }
  return emit_give(x, 0, all);
}

/* A factor of 0 or 1 for each place of the last two axes. */
bool op_triangle(struct onnx *x) {
  int64_t dims[MOST_AXES];
  int value = emit_input(x, 0), rank = emit_dims(x, value, dims);
  if (rank < 2)
    return onnx_fail(x, "it is not a matrix");
  if (onnx_has(x, 1) && !onnx_constant(x, 1))
    return onnx_fail(x, "its diagonal is not a constant");
  struct constant *ones = constant_new(x, TYPE_FLOAT, 2, dims + rank - 2);
  if (x->graph->failed || !constant_room(x, ones->count))
    return false;
  float *to = arena_alloc(x->arena, (size_t)ones->count + 1, sizeof *to);
  for (int64_t i = 0; i < ones->count; i++)
    to[i] = 1;
  ones->real = to;
  Onnx__NodeProto *node = emit_open(x, "Trilu");
  const int ins[2] = {emit_constant(x, ones), emit_input(x, 1)};
  emit_same(x, node);
  int mask = emit(x, node, ins, ins[1] < 0 ? 1 : 2);
  return mask >= 0 && emit_give(x, 0, emit_two(x, "Mul", value, mask));
}

/* On booleans, which are 0 and 1. */
bool op_logic(struct onnx *x) {
  int a = emit_input(x, 0), b = emit_input(x, 1), less;
  if (a < 0 || (b < 0 && *x->at->type != 'N'))
    return onnx_fail(x, "an input is missing");
  switch (*x->at->type) {
  case 'A': return emit_give(x, 0, emit_two(x, "Mul", a, b));
  case 'O': return emit_give(x, 0, emit_two(x, "Max", a, b));
  case 'N': return emit_give(x, 0, emit_two(x, "Sub", emit_scalar(x, 1), a));
  default:
    less = emit_two(x, "Sub", a, b);
    return less >= 0 && emit_give(x, 0, emit_one(x, "Abs", less));
  }
}
