/*
 * Weights for inference that are computed from tensors of a file. They are
 * computed in 64 bits and rounded once, in the file's order. A row has the
 * values at one index of the first axis.
 *
 *   weight norm     w = g v / |v|, by rows (Salimans and Kingma 2016, arXiv
 *                   1602.07868; torch.nn.utils.weight_norm)
 *   spectral norm   w = w_orig / (u' W v) with the vectors in the file
 *                   (Miyato et al. 2018, arXiv 1802.05957;
 *                   torch.nn.utils.spectral_norm in eval mode)
 *   standardised    w = (w - mean) / sqrt(variance + 1e-6) by rows, with a gain
 *                   times gain / sqrt(n), n values in a row (Qiao et al. 2019,
 *                   arXiv 1903.10520; timm's StdConv2d, ScaledStdConv2d)
 *   dora            w = m (w + f B A) / |w + f B A| by rows (layers/lora.h)
 *   lora, padded    w = w + f B A for rows of queries and values, each with
 *                   its part of A
 */
#include <math.h>

#include "driver/run/weight_set.h"

#define STANDARD_EPS 1e-6

struct computing {
  const struct weight_set *set;
  const struct netc_tensor *tensor;
  struct arena scratch;
  float *at; /* the rows of the tensor */
  int64_t rows, each;
  const float *parts[3]; /* NULL: none */
};

static const float *read_part(struct computing *c, int i) {
  int64_t weight = c->tensor->parts[i];
  if (weight < 0)
    return NULL;
  int64_t count = c->set->weights.at[weight].count;
  float *all = arena_room(&c->scratch, (size_t)count + 1, sizeof *all);
  weight_set_values(c->set, (size_t)weight, 0, count, all);
  return all;
}

static int64_t part_count(const struct computing *c, int i) {
  return c->set->weights.at[c->tensor->parts[i]].count;
}

static double length_of(const double *row, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++)
    sum += row[i] * row[i];
  return sqrt(sum);
}

static void put_row(float *to, const double *row, int64_t count,
                    double factor) {
  for (int64_t i = 0; i < count; i++)
    to[i] = (float)(row[i] * factor);
}

static void normalise(struct computing *c, int64_t index, double *row) {
  put_row(c->at + index * c->each, row, c->each,
          (double)c->parts[0][index] / length_of(row, c->each));
}

static void standardise(struct computing *c, int64_t index, double *row) {
  double sum = 0, count = (double)c->each;
  for (int64_t i = 0; i < c->each; i++)
    sum += row[i];
  for (int64_t i = 0; i < c->each; i++)
    row[i] -= sum / count;
  double length = length_of(row, c->each);
  double factor = 1 / sqrt(length * length / count + STANDARD_EPS);
  if (c->parts[0])
    factor *= (double)c->parts[0][index] / sqrt(count);
  put_row(c->at + index * c->each, row, c->each, factor);
}

/* Adds row `b` of B times A, which has `rank` rows. */
static void add_product(const struct computing *c, double *row, const float *a,
                        const float *b, int64_t rank) {
  for (int64_t r = 0; r < rank; r++) {
    double factor = c->tensor->factor * (double)b[r];
    for (int64_t i = 0; i < c->each; i++)
      row[i] += factor * (double)a[r * c->each + i];
  }
}

static void adapt(struct computing *c, int64_t index, double *row) {
  int64_t rank = part_count(c, 0) / c->each;
  add_product(c, row, c->parts[0], c->parts[1] + index * rank, rank);
  put_row(c->at + index * c->each, row, c->each,
          (double)c->parts[2][index] / length_of(row, c->each));
}

/* Queries come first, then keys, which have no adapter, then as many values. */
static void adapt_padded(struct computing *c, int64_t index, double *row) {
  const float *a = c->parts[0], *b = c->parts[1];
  int64_t rank = part_count(c, 0) / c->each / 2;
  int64_t adapted = part_count(c, 1) / rank, keys = c->rows - adapted;
  int64_t queries = adapted - keys;
  if (index < queries)
    add_product(c, row, a, b + index * rank, rank);
  else if (index >= queries + keys)
    add_product(c, row, a + rank * c->each, b + (index - keys) * rank, rank);
  put_row(c->at + index * c->each, row, c->each, 1);
}

/* u' W v, where W has places along `axis` as rows and all others as columns. */
static void divide(struct computing *c) {
  const float *u = c->parts[0], *v = c->parts[1];
  int64_t count = c->rows * c->each, height = part_count(c, 0);
  int64_t after = c->tensor->axis ? c->each / height : c->each;
  double sum = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t row = i / after % height;
    int64_t column = i / after / height * after + i % after;
    sum += (double)u[row] * (double)c->at[i] * (double)v[column];
  }
  for (int64_t i = 0; i < count; i++)
    c->at[i] = (float)((double)c->at[i] / sum);
}

static void each_row(struct computing *c,
                     void (*compute)(struct computing *c, int64_t index,
                                     double *row)) {
  double *row = arena_room(&c->scratch, (size_t)c->each + 1, sizeof *row);
  for (int64_t index = 0; index < c->rows; index++) {
    for (int64_t i = 0; i < c->each; i++)
      row[i] = (double)c->at[index * c->each + i];
    compute(c, index, row);
  }
}

void weight_set_compute(const struct weight_set *set,
                        const struct netc_tensor *tensor, float *all) {
  static void (*const ways[])(struct computing * c, int64_t index,
                              double *row) = {[NETC_WEIGHT_NORM] = normalise,
                                              [NETC_STANDARDISED] = standardise,
                                              [NETC_DORA] = adapt,
                                              [NETC_LORA_PADDED] =
                                                  adapt_padded};
  const struct netc_weight *weight = &set->weights.at[tensor->weight];
  if (tensor->computed == NETC_AS_STORED || weight->count == 0)
    return;
  struct computing c = {.set = set, .tensor = tensor};
  arena_open_in(&c.scratch, set->arena);
  c.each = weight->count / weight->dims[0];
  c.rows = tensor->count / c.each;
  c.at = all + tensor->first / c.each * c.each; /* rows of a shared weight */
  for (int i = 0; i < 3; i++)
    c.parts[i] = read_part(&c, i);
  if (tensor->computed == NETC_SPECTRAL_NORM)
    divide(&c);
  else
    each_row(&c, ways[tensor->computed]);
  arena_close(&c.scratch);
}

bool weight_set_is_computed(const struct weight_set *set, size_t weight) {
  for (size_t i = set->first[weight]; i; i = set->next[i - 1])
    if (set->tensors.at[i - 1].computed != NETC_AS_STORED)
      return true;
  return false;
}

void weight_set_used(const struct weight_set *set, size_t weight, float *all) {
  weight_set_values(set, weight, 0, set->weights.at[weight].count, all);
  for (size_t i = set->first[weight]; i; i = set->next[i - 1])
    weight_set_compute(set, &set->tensors.at[i - 1], all);
}
