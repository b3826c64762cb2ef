/* Functions that netc writes as formulas of others, and products along axes. */
#include <string.h>

#include "import/onnx/emit.h"

/* Formulas in postfix: inputs are `a` and `b`, `alpha=2` is an attribute and
 * its default. */
static const struct onnx_formula {
  const char *type, *steps;
} formulas[] = {
    {"Acosh", "a a Mul 1 Sub Sqrt a Add Log"},
    {"Atanh", "a 1 Add 1 a Sub Div Log 0.5 Mul"},
    {"Cosh", "a Exp a Neg Exp Add 0.5 Mul"},
    {"Sinh", "a Exp a Neg Exp Sub 0.5 Mul"},
    {"Tan", "a Sin a Cos Div"},
    {"And", "a b Mul"}, /* booleans are 0 and 1 */
    {"Or", "a b Max"},
    {"Xor", "a b Sub Abs"},
    {"Not", "1 a Sub"},
    {"QuickGelu", "a a alpha=1.702 Mul Sigmoid Mul"},
};

bool op_formula(struct onnx *x) {
  const struct onnx_formula *f = formulas;
  const int ins[] = {emit_input(x, 0), emit_input(x, 1)};
  while (strcmp(f->type, x->at->type) != 0)
    f++;
  bool two = strstr(f->steps, " b ");
  if (ins[0] < 0 || (two && ins[1] < 0))
    return onnx_fail(x, two ? "an input is missing" : "it has no input");
  return emit_give(x, 0, emit_formula(x, f->steps, ins));
}

/* The product of an axis, element by element. */
static int product_along(struct onnx *x, int value, int axis, int64_t size) {
  int product = emit_slice(x, value, axis, 0, 1);
  for (int64_t i = 1; i < size; i++)
    product = emit_two(x, "Mul", product, emit_slice(x, value, axis, i, i + 1));
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
    if (less)
      given = i ? sum : emit_two(x, "Mul", part, emit_scalar(x, 0));
    sum = i ? emit_two(x, "Add", sum, part) : part;
    given = less ? given : sum;
    all = i == 0 ? given
          : back ? emit_concat(x, given, all, axis)
                 : emit_concat(x, all, given, axis);
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
  float *to = constant_reals(x, ones->count);
  for (int64_t i = 0; i < ones->count; i++)
    to[i] = 1;
  ones->real = to;
  Onnx__NodeProto *node = emit_open(x, "Trilu");
  const int ins[2] = {emit_constant(x, ones), emit_input(x, 1)};
  emit_same(x, node);
  int mask = emit(x, node, ins, ins[1] < 0 ? 1 : 2);
  return emit_give(x, 0, emit_two(x, "Mul", value, mask));
}
