/* Folding: products of constant matrices, as in tables of angles. */
#include <inttypes.h>

#include "import/onnx/fold.h"

enum { MOST_PRODUCTS = 1 << 28 }; /* multiplications */

/* A matrix, and the strides between the matrices of its batch. */
struct onnx_factor {
  struct constant *of;
  int64_t rows, columns;
  int64_t step[MOST_AXES]; /* by outer axis of the result; 0: repeated */
};

static struct onnx_factor factor_of(struct constant *c, int rank) {
  struct onnx_factor f = {.of = c, .rows = c->dims[c->rank - 2]};
  f.columns = c->dims[c->rank - 1];
  int64_t step = f.rows * f.columns;
  for (int i = c->rank - 2; i-- > 0; step *= c->dims[i])
    f.step[i + rank - c->rank] = c->dims[i] > 1 ? step : 0;
  return f;
}

static void multiply(const struct onnx_factor *a, const struct onnx_factor *b,
                     int64_t from_a, int64_t from_b, float *to) {
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t k = 0; k < b->columns; k++) {
      double sum = 0;
      for (int64_t n = 0; n < a->columns; n++)
        sum += constant_real(a->of, from_a + i * a->columns + n) *
               constant_real(b->of, from_b + n * b->columns + k);
      *to++ = (float)sum;
    }
}

static bool outer_dims(struct onnx *x, const struct constant *c, int rank,
                       int64_t *dims) {
  for (int i = 0; i < c->rank - 2; i++) {
    int64_t *to = &dims[i + rank - c->rank];
    if (*to != 1 && c->dims[i] != 1 && *to != c->dims[i])
      return onnx_fail(x, "the sizes of its constants do not agree");
    *to = c->dims[i] != 1 ? c->dims[i] : *to;
  }
  return true;
}

bool fold_matmul(struct onnx *x, struct constant **in) {
  int rank = in[0]->rank > in[1]->rank ? in[0]->rank : in[1]->rank;
  int64_t dims[MOST_AXES];
  struct fold_values to;
  if (in[0]->rank < 2 || in[1]->rank < 2)
    return onnx_fail(x, "it multiplies constants that are not matrices");
  struct onnx_factor a = factor_of(in[0], rank), b = factor_of(in[1], rank);
  for (int i = 0; i < rank - 2; i++)
    dims[i] = 1;
  if (!outer_dims(x, in[0], rank, dims) || !outer_dims(x, in[1], rank, dims))
    return false;
  if (a.columns != b.rows)
    return onnx_fail(x,
                     "its matrices do not fit: %" PRId64
                     " columns times %" PRId64 " rows",
                     a.columns, b.rows);
  dims[rank - 2] = a.rows;
  dims[rank - 1] = b.columns;
  struct constant *result = constant_new(x, TYPE_FLOAT, rank, dims);
  result->trained = in[0]->trained || in[1]->trained;
  result->name = in[0]->name ? in[0]->name : in[1]->name;
  result->unknown = !constant_known(x, in[0]) || !constant_known(x, in[1]);
  onnx_give_constant(x, 0, result);
  if (x->graph->failed || result->unknown)
    return !x->graph->failed;
  if (result->count > MOST_PRODUCTS / (a.columns + 1))
    return onnx_fail(x, "its product of constants is too large");
  if (!fold_room(x, result, &to))
    return false;
  int64_t size = a.rows * b.columns;
  for (int64_t i = 0; size > 0 && i < result->count / size; i++) {
    int64_t from_a = 0, from_b = 0, rest = i;
    for (int k = rank - 2; k-- > 0; rest /= dims[k]) {
      from_a += rest % dims[k] * a.step[k];
      from_b += rest % dims[k] * b.step[k];
    }
    multiply(&a, &b, from_a, from_b, to.real + i * size);
  }
  return true;
}
