/*
 * Folding: the operators that are computed here if all of their inputs are
 * constants. What more than one number is made of is in fold_moves.c and
 * fold_product.c.
 */
#include <math.h>
#include <string.h>

#include "import/onnx/fold.h"

enum { MOST_INPUTS = 64, ANY = -1 /* number of inputs, but 0 */ };

/* A op_ion of one, two or three numbers. */
typedef double number_fn(double a, double b, double c);
typedef int64_t whole_fn(int64_t a, int64_t b, int64_t c);

#define REAL(name, value)                            \
  static double name(double a, double b, double c) { \
    (void)a;                                         \
    (void)b;                                         \
    (void)c;                                         \
    return value;                                    \
  }

/* Whole numbers wrap as the file's own would. */
#define WHOLE(name, value)                               \
  static int64_t name(int64_t a, int64_t b, int64_t c) { \
    (void)a;                                             \
    (void)b;                                             \
    (void)c;                                             \
    return value;                                        \
  }

REAL(add_real, a + b)
REAL(sub_real, a - b)
REAL(mul_real, a *b)
REAL(div_real, a / b)
REAL(mod_real, fmod(a, b))
REAL(pow_real, pow(a, b))
REAL(max_real, a > b ? a : b)
REAL(min_real, a < b ? a : b)
REAL(less, a < b)
REAL(less_equal, a <= b)
REAL(greater, a > b)
REAL(greater_equal, a >= b)
REAL(equal, !(a < b) && !(a > b))
REAL(both, a != 0 && b != 0)
REAL(either, a != 0 || b != 0)
REAL(differ, (a != 0) != (b != 0))
REAL(not_real, a == 0)
REAL(where_real, a != 0 ? b : c)
REAL(neg_real, -a)
REAL(abs_real, fabs(a))
REAL(floor_real, floor(a))
REAL(ceil_real, ceil(a))
REAL(round_real, nearbyint(a))
REAL(sqrt_real, sqrt(a))
REAL(exp_real, exp(a))
REAL(log_real, log(a))
REAL(sin_real, sin(a))
REAL(cos_real, cos(a))
REAL(tanh_real, tanh(a))
REAL(erf_real, erf(a))
REAL(one_over, 1 / a)
REAL(sigmoid_real, 1 / (1 + exp(-a)))
REAL(relu_real, a > 0 ? a : 0)
REAL(sign_real, (a > 0) - (a < 0))

static int64_t wrapped(uint64_t value) {
  int64_t result;
  memcpy(&result, &value, sizeof result);
  return result;
}

static int64_t power(int64_t a, int64_t b) {
  uint64_t result = 1, base = (uint64_t)a;
  for (uint64_t n = b > 0 ? (uint64_t)b : 0; n; n >>= 1) {
    result = n & 1 ? result * base : result;
    base *= base;
  }
  return b < 0 ? a == 1 : wrapped(result);
}

static int64_t modulo(int64_t a, int64_t b) {
  int64_t rest = b == 0 || b == -1 ? 0 : a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

WHOLE(add_whole, wrapped((uint64_t)a + (uint64_t)b))
WHOLE(sub_whole, wrapped((uint64_t)a - (uint64_t)b))
WHOLE(mul_whole, wrapped((uint64_t)a *(uint64_t)b))
WHOLE(div_whole, b == 0 ? 0 : b == -1 ? wrapped(0 - (uint64_t)a) : a / b)
WHOLE(mod_whole, modulo(a, b))
WHOLE(pow_whole, power(a, b))
WHOLE(max_whole, a > b ? a : b)
WHOLE(min_whole, a < b ? a : b)
WHOLE(less_whole, a < b)
WHOLE(less_equal_whole, a <= b)
WHOLE(greater_whole, a > b)
WHOLE(greater_equal_whole, a >= b)
WHOLE(equal_whole, a == b)
WHOLE(where_whole, a ? b : c)
WHOLE(neg_whole, wrapped(0 - (uint64_t)a))
WHOLE(abs_whole, a < 0 ? wrapped(0 - (uint64_t)a) : a)
WHOLE(same_whole, a)
WHOLE(sign_whole, (a > 0) - (a < 0))
WHOLE(not_whole, !a)
WHOLE(both_whole, a &&b)
WHOLE(either_whole, a || b)
WHOLE(differ_whole, !a != !b)

static fold_fn by_value, fold_shape, fold_size;

static const struct onnx_fold {
  const char *name;
  int inputs;
  fold_fn *fold; /* NULL: as with tensors, but without a layer (op_moves.c) */
  /* Of by_value; `type` of the result: 0 is that of the last input. */
  number_fn *real;
  whole_fn *whole;
  int type;
} folds[] = {
#define BY_VALUE(name, inputs, real, whole, type) \
  { #name, inputs, by_value, real, whole, type }
    BY_VALUE(Add, 2, add_real, add_whole, 0),
    BY_VALUE(Sub, 2, sub_real, sub_whole, 0),
    BY_VALUE(Mul, 2, mul_real, mul_whole, 0),
    BY_VALUE(Div, 2, div_real, div_whole, 0),
    BY_VALUE(Mod, 2, mod_real, mod_whole, 0),
    BY_VALUE(Pow, 2, pow_real, pow_whole, 0),
    BY_VALUE(Max, 2, max_real, max_whole, 0),
    BY_VALUE(Min, 2, min_real, min_whole, 0),
    BY_VALUE(Less, 2, less, less_whole, TYPE_BOOL),
    BY_VALUE(LessOrEqual, 2, less_equal, less_equal_whole, TYPE_BOOL),
    BY_VALUE(Greater, 2, greater, greater_whole, TYPE_BOOL),
    BY_VALUE(GreaterOrEqual, 2, greater_equal, greater_equal_whole, TYPE_BOOL),
    BY_VALUE(Equal, 2, equal, equal_whole, TYPE_BOOL),
    BY_VALUE(And, 2, both, both_whole, TYPE_BOOL),
    BY_VALUE(Or, 2, either, either_whole, TYPE_BOOL),
    BY_VALUE(Xor, 2, differ, differ_whole, TYPE_BOOL),
    BY_VALUE(Where, 3, where_real, where_whole, 0),
    BY_VALUE(Not, 1, not_real, not_whole, TYPE_BOOL),
    BY_VALUE(Neg, 1, neg_real, neg_whole, 0),
    BY_VALUE(Abs, 1, abs_real, abs_whole, 0),
    BY_VALUE(Sign, 1, sign_real, sign_whole, 0),
    BY_VALUE(Floor, 1, floor_real, same_whole, 0),
    BY_VALUE(Ceil, 1, ceil_real, same_whole, 0),
    BY_VALUE(Round, 1, round_real, same_whole, 0),
    BY_VALUE(Sqrt, 1, sqrt_real, NULL, 0),
    BY_VALUE(Exp, 1, exp_real, NULL, 0),
    BY_VALUE(Log, 1, log_real, NULL, 0),
    BY_VALUE(Sin, 1, sin_real, NULL, 0),
    BY_VALUE(Cos, 1, cos_real, NULL, 0),
    BY_VALUE(Tanh, 1, tanh_real, NULL, 0),
    BY_VALUE(Erf, 1, erf_real, NULL, 0),
    BY_VALUE(Reciprocal, 1, one_over, NULL, 0),
    BY_VALUE(Sigmoid, 1, sigmoid_real, NULL, 0),
    BY_VALUE(Relu, 1, relu_real, NULL, 0),
#define FOLD(name, inputs, fold) \
  { #name, inputs, fold, NULL, NULL, 0 }
    FOLD(Constant, 0, fold_constant_node),
    FOLD(ConstantOfShape, ANY, fold_constant_of_shape),
    FOLD(Shape, ANY, fold_shape),
    FOLD(Size, ANY, fold_size),
    FOLD(Cast, ANY, fold_cast),
    FOLD(Range, 3, fold_range),
    FOLD(Concat, ANY, fold_concat),
    FOLD(ReduceProd, ANY, fold_reduced),
    FOLD(ReduceSum, ANY, fold_reduced),
    FOLD(ReduceMin, ANY, fold_reduced),
    FOLD(ReduceMax, ANY, fold_reduced),
    FOLD(ReduceMean, ANY, fold_reduced),
    FOLD(Tile, ANY, fold_tile),
    FOLD(CumSum, ANY, fold_along_axis),
    FOLD(Trilu, ANY, fold_along_axis),
    FOLD(ScatterND, 3, fold_scatter),
    FOLD(MatMul, 2, fold_matmul),
    FOLD(Gather, 2, fold_gather),
    FOLD(Reshape, ANY, NULL),
    FOLD(Flatten, ANY, NULL),
    FOLD(Transpose, ANY, NULL),
    FOLD(Unsqueeze, ANY, NULL),
    FOLD(Squeeze, ANY, NULL),
    FOLD(Identity, ANY, NULL),
    FOLD(Slice, ANY, NULL),
    FOLD(Split, ANY, NULL),
    FOLD(Expand, ANY, NULL),
};

static const struct onnx_fold *fold_of(const char *type) {
  for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
    if (strcmp(folds[i].name, type) == 0)
      return &folds[i];
  return NULL;
}

const char *fold_name(size_t index) {
  return index < sizeof folds / sizeof *folds ? folds[index].name : NULL;
}

bool fold_knows(const char *type) {
  return fold_of(type);
}

/* Value by value. */

/* Without values yet. */
static struct constant *result_of(struct onnx *x, const struct onnx_fold *f,
                                  struct constant **in, int rank,
                                  const int64_t *dims) {
  const struct constant *last = in[f->inputs - 1];
  struct constant *result =
      constant_new(x, f->type ? f->type : last->type, rank, dims);
  for (int i = 0; i < f->inputs; i++) {
    /* A learned factor of a buffer does not make it a parameter. */
    result->trained = result->trained || (in[i]->trained && in[i]->count > 1);
    result->unknown = result->unknown || !constant_known(x, in[i]);
  }
  /* Positions as waves are a table, whatever they are made of. */
  if (f->real == sin_real || f->real == cos_real)
    result->trained = false;
  result->name = in[0]->name ? in[0]->name : last->name;
  return result;
}

/* Inputs that have as many values as the result, or one for all. */
static bool widen(struct onnx *x, const struct constant *result,
                  struct constant **in, int count) {
  for (int i = 0; i < count; i++) {
    struct onnx_layout dense = layout_dense(in[i]->rank, in[i]->dims), at;
    if (in[i]->count == result->count)
      continue;
    if (!layout_spread(&dense, result->rank, result->dims, &at) ||
        !fold_is_small(x, result->count))
      return false;
    in[i] = constant_through(x, in[i], &at);
  }
  return true;
}

static void compute(const struct onnx_fold *f, struct constant **in,
                    int64_t count, float *reals, int64_t *wholes) {
  bool exact = f->whole;
  for (int k = 0; k < f->inputs; k++)
    exact = exact && !constant_is_real(in[k]);
  for (int64_t i = 0; i < count; i++) {
    double a[3] = {0};
    int64_t w[3] = {0};
    for (int k = 0; k < f->inputs; k++) {
      int64_t at = in[k]->count == 1 ? 0 : i;
      if (exact)
        w[k] = constant_whole(in[k], at);
      else
        a[k] = constant_real(in[k], at);
    }
    if (exact && wholes)
      wholes[i] = f->whole(w[0], w[1], w[2]);
    else
      fold_put(reals, wholes, i,
               exact ? (double)f->whole(w[0], w[1], w[2])
                     : f->real(a[0], a[1], a[2]));
  }
}

static bool by_value(struct onnx *x, struct constant **in) {
  const struct onnx_fold *f = fold_of(x->at->type);
  int64_t dims[MOST_AXES];
  int rank = 0;
  bool fills = true;
  if (!f->whole && !constant_is_real(in[0]))
    return onnx_fail(x, "it does not take whole numbers");
  for (int i = 0; i < f->inputs; i++)
    if (!onnx_joint_dims(x, dims, rank, in[i]->dims, in[i]->rank, &rank, dims))
      return false;
  struct constant *result = result_of(x, f, in, rank, dims);
  if (x->graph->failed)
    return false;
  onnx_give_constant(x, 0, result);
  if (result->unknown)
    return true;
  for (int i = 0; i < f->inputs; i++)
    fills = fills && (in[i]->fill || in[i]->count == 1);
  result->fill = fills && result->count > 1;
  if (!fills && !widen(x, result, in, f->inputs))
    return false;
  struct constant values = *result;
  values.count = fills && result->count > 0 ? 1 : result->count;
  float *reals;
  int64_t *wholes;
  if (!fold_room(x, &values, &reals, &wholes))
    return false;
  result->real = reals;
  result->whole = wholes;
  compute(f, in, values.count, reals, wholes);
  return true;
}

static bool fold_shape(struct onnx *x, struct constant **in) {
  return onnx_give_constant(x, 0, constant_ints(x, in[0]->dims, in[0]->rank));
}

static bool fold_size(struct onnx *x, struct constant **in) {
  struct constant *size = constant_ints(x, &in[0]->count, 1);
  return onnx_give_constant(x, 0, constant_with(x, size, 0, NULL));
}

static bool carry_out(struct onnx *x, const struct onnx_fold *f,
                      struct constant **in, int count) {
  if (count == 0 && f->inputs != 0)
    return onnx_fail(x, "it has no inputs");
  if (fold_band(x, in, count))
    return true;
  if (f->inputs != ANY && f->inputs != count)
    return onnx_fail(x, "it cannot be carried out on constants");
  return f->fold(x, in);
}

/* What tensors could do as well: a matrix stays a layer's parameter, a table
 * by distance one, and what only moves values is a view. */
static bool is_left(struct onnx *x, const struct onnx_fold *f,
                    struct constant **in, int count) {
  bool matrix = false;
  if (f->fold == fold_gather)
    return count != 2 || onnx_is_by_distance(x, in[0], in[1]);
  for (int i = 0; i < count && f->fold == fold_matmul; i++)
    matrix = matrix || (in[i]->rank == 2 && in[i]->trained);
  return !f->fold || matrix;
}

bool fold_constants(struct onnx *x, bool *done) {
  struct constant *in[MOST_INPUTS + 1] = {NULL};
  int count = 0;
  const struct onnx_fold *f = fold_of(x->at->type);
  *done = false;
  if (!f || x->at->in_count > MOST_INPUTS)
    return true;
  for (size_t i = 0; i < x->at->in_count; i++) {
    if (x->at->ins[i] < 0)
      continue;
    if (!onnx_operand(x, i)->constant)
      return true;
    in[count++] = onnx_operand(x, i)->constant;
  }
  *done = !is_left(x, f, in, count);
  return !*done || carry_out(x, f, in, count);
}
