/*
 * Folding: nodes of which all inputs are constants are carried out here.
 * Those that only move values are moves.c's; these compute.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "import/onnx/fold.h"

enum { MOST_INPUTS = 64 };

/* A function of one, two or three numbers. */
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

/* `type` of the result: 0 is that of the last input. */
static const struct fold {
  const char *name;
  int inputs;
  number_fn *real;
  whole_fn *whole;
  int type;
} folds[] = {
    {"Add", 2, add_real, add_whole, 0},
    {"Sub", 2, sub_real, sub_whole, 0},
    {"Mul", 2, mul_real, mul_whole, 0},
    {"Div", 2, div_real, div_whole, 0},
    {"Mod", 2, mod_real, mod_whole, 0},
    {"Pow", 2, pow_real, pow_whole, 0},
    {"Max", 2, max_real, max_whole, 0},
    {"Min", 2, min_real, min_whole, 0},
    {"Less", 2, less, less_whole, TYPE_BOOL},
    {"LessOrEqual", 2, less_equal, less_equal_whole, TYPE_BOOL},
    {"Greater", 2, greater, greater_whole, TYPE_BOOL},
    {"GreaterOrEqual", 2, greater_equal, greater_equal_whole, TYPE_BOOL},
    {"Equal", 2, equal, equal_whole, TYPE_BOOL},
    {"And", 2, both, both_whole, TYPE_BOOL},
    {"Or", 2, either, either_whole, TYPE_BOOL},
    {"Xor", 2, differ, differ_whole, TYPE_BOOL},
    {"Where", 3, where_real, where_whole, 0},
    {"Not", 1, not_real, not_whole, TYPE_BOOL},
    {"Neg", 1, neg_real, neg_whole, 0},
    {"Abs", 1, abs_real, abs_whole, 0},
    {"Sign", 1, sign_real, sign_whole, 0},
    {"Floor", 1, floor_real, same_whole, 0},
    {"Ceil", 1, ceil_real, same_whole, 0},
    {"Round", 1, round_real, same_whole, 0},
    {"Sqrt", 1, sqrt_real, NULL, 0},
    {"Exp", 1, exp_real, NULL, 0},
    {"Log", 1, log_real, NULL, 0},
    {"Sin", 1, sin_real, NULL, 0},
    {"Cos", 1, cos_real, NULL, 0},
    {"Tanh", 1, tanh_real, NULL, 0},
    {"Erf", 1, erf_real, NULL, 0},
    {"Reciprocal", 1, one_over, NULL, 0},
    {"Sigmoid", 1, sigmoid_real, NULL, 0},
    {"Relu", 1, relu_real, NULL, 0},
};

/* Those that moves.c carries out on constants as well. */
static const char *const moves[] = {
    "Reshape",  "Flatten", "Transpose", "Unsqueeze", "Squeeze",
    "Identity", "Slice",   "Split",     "Expand",    "Gather"};

static const char *const others[] = {
    "Constant",  "ConstantOfShape", "Shape",      "Size",      "Cast",
    "Range",     "Concat",          "ReduceProd", "ReduceSum", "ReduceMin",
    "ReduceMax", "ReduceMean",      "Tile",       "CumSum",    "Trilu",
    "ScatterND", "MatMul"};

static bool is_among(const char *type, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(words[i], type) == 0)
      return true;
  return false;
}

static const struct fold *fold_of(const char *type) {
  for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
    if (strcmp(folds[i].name, type) == 0)
      return &folds[i];
  return NULL;
}

const char *fold_name(size_t index) {
  const size_t first = sizeof folds / sizeof *folds;
  if (index < first)
    return folds[index].name;
  return index - first < sizeof others / sizeof *others ? others[index - first]
                                                        : NULL;
}

bool fold_knows(const char *type) {
  return fold_of(type) ||
         is_among(type, others, sizeof others / sizeof *others) ||
         is_among(type, moves, sizeof moves / sizeof *moves);
}

/* Value by value. */

static bool joint_dims(struct onnx *x, struct constant *const *in, int count,
                       int *rank, int64_t *dims) {
  *rank = 0;
  for (int i = 0; i < count; i++)
    *rank = in[i]->rank > *rank ? in[i]->rank : *rank;
  for (int k = 0; k < *rank; k++) {
    dims[k] = 1;
    for (int i = 0; i < count; i++) {
      int at = k - (*rank - in[i]->rank);
      int64_t size = at < 0 ? 1 : in[i]->dims[at];
      if (size != 1 && dims[k] != 1 && size != dims[k])
        return onnx_fail(x, "constants whose sizes do not agree");
      dims[k] = size != 1 ? size : dims[k];
    }
  }
  return true;
}

static bool elementwise(struct onnx *x, const struct fold *f,
                        struct constant **in) {
  int64_t dims[MOST_AXES];
  int rank;
  struct constant *wide[3] = {NULL};
  if (!joint_dims(x, in, f->inputs, &rank, dims))
    return false;
  const struct constant *last = in[f->inputs - 1];
  struct constant *result =
      constant_new(x, f->type ? f->type : last->type, rank, dims);
  bool fills = true, real = false;
  for (int i = 0; i < f->inputs; i++) {
    /* A learned factor of a buffer does not make it a parameter. */
    result->trained = result->trained || (in[i]->trained && in[i]->count > 1);
    result->unknown = result->unknown || !constant_known(x, in[i]);
    fills = fills && (in[i]->fill || in[i]->count == 1);
    real = real || constant_is_real(in[i]);
  }
  result->name = in[0]->name ? in[0]->name : last->name;
  /* Positions as waves are a table, whatever they are made of. */
  if (strcmp(f->name, "Sin") == 0 || strcmp(f->name, "Cos") == 0)
    result->trained = false;
  if (x->graph->failed)
    return false;
  give_constant(x, 0, result);
  if (result->unknown)
    return true;
  result->fill = fills && result->count > 1;
  for (int i = 0; i < f->inputs; i++) {
    struct layout dense = layout_dense(in[i]->rank, in[i]->dims), at;
    wide[i] = in[i];
    if (in[i]->count != result->count && !fills) {
      if (!layout_spread(&dense, rank, dims, &at) ||
          !fold_is_small(x, result->count))
        return false;
      wide[i] = constant_through(x, in[i], &at);
    }
  }
  int64_t count = result->count;
  struct constant one = *result;
  one.count = fills && count > 0 ? 1 : count;
  float *reals;
  int64_t *wholes;
  if (!fold_room(x, &one, &reals, &wholes))
    return false;
  result->real = reals;
  result->whole = wholes;
  bool exact = !real && f->whole;
  for (int64_t i = 0; i < one.count; i++) {
    double a[3] = {0};
    int64_t w[3] = {0};
    for (int k = 0; k < f->inputs; k++) {
      int64_t at = wide[k]->count == 1 ? 0 : i;
      if (exact)
        w[k] = constant_whole(wide[k], at);
      else
        a[k] = constant_real(wide[k], at);
    }
    if (exact && wholes)
      wholes[i] = f->whole(w[0], w[1], w[2]);
    else
      fold_put(reals, wholes, i,
               exact ? (double)f->whole(w[0], w[1], w[2])
                     : f->real(a[0], a[1], a[2]));
  }
  return true;
}

static bool carry_out(struct onnx *x, struct constant **in, int count) {
  const char *type = x->at->type;
  const struct fold *f = fold_of(type);
  if (strcmp(type, "Constant") == 0)
    return fold_constant_node(x);
  if (count == 0)
    return onnx_fail(x, "it has no inputs");
  if (fold_band(x, in, count))
    return true;
  if (f && f->inputs == count)
    return (!constant_is_real(in[0]) && !f->whole)
               ? onnx_fail(x, "of whole numbers")
               : elementwise(x, f, in);
  if (strcmp(type, "ConstantOfShape") == 0)
    return fold_constant_of_shape(x, in[0]);
  if (strcmp(type, "Shape") == 0 || strcmp(type, "Size") == 0) {
    bool size = strcmp(type, "Size") == 0;
    struct constant *c = size ? constant_ints(x, &in[0]->count, 1)
                              : constant_ints(x, in[0]->dims, in[0]->rank);
    give_constant(x, 0, size ? constant_with(x, c, 0, NULL) : c);
    return true;
  }
  if (strcmp(type, "Cast") == 0)
    return fold_cast(x, in[0]);
  if (strcmp(type, "Range") == 0 && count == 3)
    return fold_range(x, in);
  if (strcmp(type, "Concat") == 0)
    return fold_concat(x, in, count);
  if (strcmp(type, "Tile") == 0)
    return fold_tile(x, in[0]);
  if (strcmp(type, "CumSum") == 0 || strcmp(type, "Trilu") == 0)
    return fold_along_axis(x, in[0]);
  if (strcmp(type, "ScatterND") == 0 && count == 3)
    return fold_scatter(x, in);
  if (strcmp(type, "MatMul") == 0 && count == 2)
    return fold_matmul(x, in);
  if (strncmp(type, "Reduce", 6) == 0)
    return fold_reduced(x, in[0]);
  return onnx_fail(x, "it cannot be carried out on constants");
}

/* A layer of what is constant: its matrix stays a parameter. */
static bool is_dense(struct onnx *x, struct constant **in, int count) {
  bool dense = strcmp(x->at->type, "MatMul") == 0;
  bool matrix = false;
  for (int i = 0; i < count && dense; i++)
    matrix = matrix || (in[i]->rank == 2 && in[i]->trained);
  return matrix;
}

bool fold_constants(struct onnx *x, bool *done) {
  struct constant *in[MOST_INPUTS];
  int count = 0;
  const char *type = x->at->type;
  *done = false;
  if (!fold_knows(type) || x->at->in_count > MOST_INPUTS)
    return true;
  for (size_t i = 0; i < x->at->in_count; i++) {
    if (x->at->ins[i] < 0)
      continue;
    if (!operand(x, i)->constant)
      return true;
    in[count++] = operand(x, i)->constant;
  }
  if (strcmp(type, "Gather") == 0 && count == 2) {
    *done = !is_by_distance(x, in[0], in[1]);
    return !*done || fold_gather(x, in[0], in[1]);
  }
  if (is_among(type, moves, sizeof moves / sizeof *moves) ||
      is_dense(x, in, count))
    return true;
  *done = true;
  return carry_out(x, in, count);
}
