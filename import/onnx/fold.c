/* Folding: computes operators whose inputs are all constants. Operators that do
 * not work elementwise are in fold_moves.c and fold_product.c. */
#include <math.h>
#include <string.h>

#include "import/onnx/fold.h"

enum { MOST_INPUTS = 64, ANY = -1 /* number of inputs: any but 0 */ };

/* A function of one, two or three numbers. */
typedef double number_fn(double a, double b, double c);
typedef int64_t whole_fn(int64_t a, int64_t b, int64_t c);

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

#define NUMBERS(type, name, value)           \
  static type name(type a, type b, type c) { \
    (void)a;                                 \
    (void)b;                                 \
    (void)c;                                 \
    return value;                            \
  }
#define VALUE(name, inputs, type, real, whole) \
  NUMBERS(double, name##_real, real) NUMBERS(int64_t, name##_whole, whole)
#define REAL(name, real) NUMBERS(double, name##_real, real)
#include "import/onnx/folds.def"

static fold_fn by_value, fold_shape, fold_size;

static const struct onnx_fold {
  const char *name;
  int inputs;
  fold_fn *fold; /* NULL: op_moves.c does it, without a layer */
  /* For by_value; `type` of the result: 0 is that of the last input. */
  number_fn *real;
  whole_fn *whole;
  int type;
} folds[] = {
#define VALUE(name, inputs, type, real, whole) \
  {#name, inputs, by_value, name##_real, name##_whole, type},
#define REAL(name, real) {#name, 1, by_value, name##_real, NULL, 0},
#define FOLD(name, inputs, fold) {#name, inputs, fold, NULL, NULL, 0},
#include "import/onnx/folds.def"
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

/* Elementwise. */

/* The result, before its values are computed. */
static struct constant *result_of(struct onnx *x, const struct onnx_fold *f,
                                  struct constant **in, int rank,
                                  const int64_t *dims) {
  const struct constant *last = in[f->inputs - 1];
  struct constant *result =
      constant_new(x, f->type ? f->type : last->type, rank, dims);
  for (int i = 0; i < f->inputs; i++) {
    /* A learned factor does not make a buffer a parameter. */
    result->trained = result->trained || (in[i]->trained && in[i]->count > 1);
    result->unknown = result->unknown || !constant_known(x, in[i]);
  }
  /* Sines of positions are a table, even if they are computed from weights. */
  if (f->real == Sin_real || f->real == Cos_real)
    result->trained = false;
  result->name = in[0]->name ? in[0]->name : last->name;
  return result;
}

/* Expands inputs to the size of the result; a scalar stays as it is. */
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
                    int64_t count, const struct fold_values *to) {
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
    if (exact && to->whole)
      to->whole[i] = f->whole(w[0], w[1], w[2]);
    else
      fold_put(to, i,
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
    return onnx_fail(x, "its inputs cannot be whole numbers");
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
  struct fold_values to;
  if (!fold_room(x, &values, &to))
    return false;
  result->real = to.real;
  result->whole = to.whole;
  compute(f, in, values.count, &to);
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
  for (int i = 0; i < count; i++)
    if (constant_is_drawn(in[i]))
      return fold_drawn(x, in, count);
  if (fold_band(x, in, count))
    return true;
  if (f->inputs != ANY && f->inputs != count)
    return onnx_fail(x, "it cannot be computed on constants");
  return f->fold(x, in);
}

/* True if layers should do the operator: a matrix stays a layer's parameter, a
 * table by distance stays a table, and a move of values is a view. */
static bool is_left(struct onnx *x, const struct onnx_fold *f,
                    struct constant **in, int count) {
  bool matrix = false;
  if (f->fold == fold_gather)
    return count != 2 || onnx_is_by_distance(x, in[0], in[1]);
  for (int i = 0; i < count && f->fold == fold_matmul; i++)
    matrix = matrix || (in[i]->rank == 2 && in[i]->trained);
  return !f->fold || matrix;
}

/* Makes a buffer a tensor if it is joined to a parameter. In netc's own files,
 * which mark buffers, neither is part of the other. */
static bool free_buffer(struct onnx *x, struct constant **in, int count) {
  if (count != 2 || x->at->in_count != 2)
    return false;
  size_t buffer = in[1]->buffer;
  if (!in[buffer]->buffer || !in[1 - buffer]->trained ||
      !constant_is_real(in[0]) || !constant_is_real(in[1]) ||
      !onnx_input(x, buffer))
    return false;
  onnx_operand(x, buffer)->constant = NULL;
  return true;
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
  *done = !is_left(x, f, in, count) &&
          !(f->fold == by_value && free_buffer(x, in, count));
  return !*done || carry_out(x, f, in, count);
}
