/* softmax, and the operations of attention: step by step, or fused. */
#include "kernel.h"
#include "shift.h"
#include "turn.h"

/* exp(x - largest) / sum, or x - largest - log(sum). */
static int softmax_rows(const struct netrt *net, const struct netrt_op *op,
                        int logarithm) {
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  ptrdiff_t n = size_back(&views[0], 0), i;
  ptrdiff_t to = stride_back(&views[0], 0), from = stride_back(&views[1], 0);
  struct kernel_walk walk;
  netrt_walk_open_outer(&walk, views, 2, 1);
  do {
    float *out = netrt_floats(&views[0]) + walk.offset[0];
    const float *in = netrt_floats(&views[1]) + walk.offset[1];
    float largest = in[0], sum = 0;
    for (i = 1; i < n; i++)
      if (in[i * from] > largest)
        largest = in[i * from];
    for (i = 0; i < n; i++) {
      float x = in[i * from] - largest, e = expf(x);
      out[i * to] = logarithm ? x : e;
      sum += e;
    }
    for (i = 0; i < n; i++)
      out[i * to] = logarithm ? out[i * to] - logf(sum) : out[i * to] / sum;
  } while (netrt_walk_next(&walk));
  return NETRT_OK;
}

static int netrt_reference_softmax(const struct netrt *net,
                                   const struct netrt_op *op) {
  return softmax_rows(net, op, 0);
}

static int netrt_reference_logsoftmax(const struct netrt *net,
                                      const struct netrt_op *op) {
  return softmax_rows(net, op, 1);
}

KERNEL_FAST(softmax);
KERNEL(logsoftmax);

/*
 * Rotates pairs of features of a head by position: features i and i + D / 2
 * (Llama), or 2 i and 2 i + 1.
 */
static int turn_pairs(const struct netrt *net, const struct netrt_op *op,
                      const float *rule) {
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  int neighbours = netrt_args(net, op)[0];
  ptrdiff_t dim = size_back(&views[0], 0), heads = size_back(&views[0], 1);
  ptrdiff_t steps = size_back(&views[0], 2), half = dim / 2, l, i, h;
  struct kernel_walk walk;
  netrt_walk_open_outer(&walk, views, 2, 3);
  do
    for (l = 0; l < steps; l++)
      for (i = 0; i < half; i++) {
        float angle = (float)l * netrt_turn(rule, i, dim);
        float c = cosf(angle), s = sinf(angle);
        ptrdiff_t first = neighbours ? 2 * i : i;
        ptrdiff_t second = neighbours ? 2 * i + 1 : i + half;
        for (h = 0; h < heads; h++) {
          float *out = netrt_floats(&views[0]) + walk.offset[0] +
                       l * stride_back(&views[0], 2) +
                       h * stride_back(&views[0], 1);
          const float *in = netrt_floats(&views[1]) + walk.offset[1] +
                            l * stride_back(&views[1], 2) +
                            h * stride_back(&views[1], 1);
          float a = in[first * stride_back(&views[1], 0)];
          float b = in[second * stride_back(&views[1], 0)];
          out[first * stride_back(&views[0], 0)] = a * c - b * s;
          out[second * stride_back(&views[0], 0)] = b * c + a * s;
        }
      }
  while (netrt_walk_next(&walk));
  return NETRT_OK;
}

static int netrt_reference_rope(const struct netrt *net,
                                const struct netrt_op *op) {
  const float rule[TURN_REALS] = {netrt_reals(net, op)[TURN_BASE], 1, 0};
  return turn_pairs(net, op, rule);
}

static int netrt_reference_stretched(const struct netrt *net,
                                     const struct netrt_op *op) {
  return turn_pairs(net, op, netrt_reals(net, op));
}

KERNEL(rope);
KERNEL(stretched);

/* True if query q attends to key k. */
static int sees(ptrdiff_t q, ptrdiff_t k, int32_t behind, int32_t ahead) {
  return (behind < 0 || q - k <= behind) && (ahead < 0 || k - q <= ahead);
}

static int netrt_reference_mask(const struct netrt *net,
                                const struct netrt_op *op) {
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  const int32_t *args = netrt_args(net, op);
  ptrdiff_t queries = size_back(&views[0], 1), keys = size_back(&views[0], 0);
  ptrdiff_t q, k;
  struct kernel_walk walk;
  netrt_walk_open_outer(&walk, views, 2, 2);
  do
    for (q = 0; q < queries; q++) {
      float *out = netrt_floats(&views[0]) + walk.offset[0] +
                   q * stride_back(&views[0], 1);
      const float *in = netrt_floats(&views[1]) + walk.offset[1] +
                        q * stride_back(&views[1], 1);
      for (k = 0; k < keys; k++)
        out[k * stride_back(&views[0], 0)] =
            sees(q, k, args[0], args[1]) ? in[k * stride_back(&views[1], 0)]
                                         : -INFINITY;
    }
  while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL(mask);

/* Index of the bias of a query and a key in the table. */
static ptrdiff_t relative_place(const int32_t *window, int rank, ptrdiff_t q,
                                ptrdiff_t k, const struct netrt_view *table) {
  ptrdiff_t place = 0;
  int i;
  for (i = rank - 1; i >= 0; i--) {
    place += (q % window[i] - k % window[i] + window[i] - 1) * table->stride[i];
    q /= window[i];
    k /= window[i];
  }
  return place;
}

static int netrt_reference_relative(const struct netrt *net,
                                    const struct netrt_op *op) {
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  struct netrt_view table = netrt_in(net, op, 1);
  const int32_t *args = netrt_args(net, op);
  ptrdiff_t heads = size_back(&views[0], 2), q, k, h;
  struct kernel_walk walk;
  netrt_walk_open_outer(&walk, views, 2, 3);
  do
    for (q = 0; q < size_back(&views[0], 1); q++)
      for (k = 0; k < size_back(&views[0], 0); k++) {
        const float *bias = netrt_floats(&table) +
                            relative_place(args + 1, args[0], q, k, &table);
        for (h = 0; h < heads; h++)
          netrt_floats(
              &views[0])[walk.offset[0] + h * stride_back(&views[0], 2) +
                         q * stride_back(&views[0], 1) +
                         k * stride_back(&views[0], 0)] =
              netrt_floats(
                  &views[1])[walk.offset[1] + h * stride_back(&views[1], 2) +
                             q * stride_back(&views[1], 1) +
                             k * stride_back(&views[1], 0)] +
              bias[h * table.stride[args[0]]];
      }
  while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL(relative);

/* Scores of a window and head. Swin adds -100. */
static void part_sides(const int32_t *args, ptrdiff_t window,
                       const struct netrt_view views[2], float *out,
                       const float *in) {
  ptrdiff_t q, k;
  for (q = 0; q < size_back(&views[0], 1); q++)
    for (k = 0; k < size_back(&views[0], 0); k++) {
      int apart = netrt_side(args, window, q) != netrt_side(args, window, k);
      out[q * stride_back(&views[0], 1) + k * stride_back(&views[0], 0)] =
          in[q * stride_back(&views[1], 1) + k * stride_back(&views[1], 0)] -
          (apart ? 100.0f : 0.0f);
    }
}

static int netrt_reference_shifted(const struct netrt *net,
                                   const struct netrt_op *op) {
  struct netrt_view views[2] = {netrt_out(net, op), netrt_in(net, op, 0)};
  ptrdiff_t g, h;
  struct kernel_walk walk;
  netrt_walk_open_outer(&walk, views, 2, 4);
  do
    for (g = 0; g < size_back(&views[0], 3); g++)
      for (h = 0; h < size_back(&views[0], 2); h++)
        part_sides(
            netrt_args(net, op), g, views,
            netrt_floats(&views[0]) + walk.offset[0] +
                g * stride_back(&views[0], 3) + h * stride_back(&views[0], 2),
            netrt_floats(&views[1]) + walk.offset[1] +
                g * stride_back(&views[1], 3) + h * stride_back(&views[1], 2));
  while (netrt_walk_next(&walk));
  return NETRT_OK;
}

KERNEL(shifted);

/* State of one query. Earlier terms are rescaled by the maximum and the sum so
 * far (Milakov and Gimelshein 2018), so that no score is stored. */
struct query {
  const struct netrt_view *out, *q, *k, *v;
  ptrdiff_t dim, keys;
  int32_t behind, ahead;
  float factor;
};

static void attend(const struct query *a, float *out, const float *q,
                   const float *k, const float *v, ptrdiff_t at) {
  ptrdiff_t to = a->out->stride[4], i, j;
  float largest = -INFINITY, sum = 0;
  for (i = 0; i < a->dim; i++)
    out[i * to] = 0;
  for (j = 0; j < a->keys; j++) {
    const float *key = k + j * a->k->stride[2], *value;
    float score = 0, old, fresh;
    if (!sees(at, j, a->behind, a->ahead))
      continue;
    for (i = 0; i < a->dim; i++)
      score += q[i * a->q->stride[4]] * key[i * a->k->stride[4]];
    score *= a->factor;
    old = score > largest && sum > 0 ? expf(largest - score) : 1;
    largest = score > largest ? score : largest;
    fresh = expf(score - largest);
    sum = sum * old + fresh;
    value = v + j * a->v->stride[2];
    for (i = 0; i < a->dim; i++)
      out[i * to] = out[i * to] * old + fresh * value[i * a->v->stride[4]];
  }
  for (i = 0; i < a->dim; i++)
    out[i * to] /= sum;
}

/* The vector at a batch index, group, step and head. */
static float *vector_at(const struct netrt_view *view, const ptrdiff_t at[3],
                        ptrdiff_t head) {
  return netrt_floats(view) + at[0] * view->stride[0] +
         at[1] * view->stride[1] + at[2] * view->stride[2] +
         head * view->stride[3];
}

static int netrt_reference_attention(const struct netrt *net,
                                     const struct netrt_op *op) {
  struct netrt_view out = netrt_out(net, op), q = netrt_in(net, op, 0);
  struct netrt_view k = netrt_in(net, op, 1), v = netrt_in(net, op, 2);
  struct query a = {&out, &q, &k, &v, out.size[4], k.size[2], 0, 0, 0};
  ptrdiff_t at[3], first[3], h;
  a.behind = netrt_args(net, op)[0];
  a.ahead = netrt_args(net, op)[1];
  a.factor = netrt_reals(net, op)[0];
  first[2] = 0;
  for (at[0] = 0; at[0] < out.size[0]; at[0]++)
    for (at[1] = 0; at[1] < out.size[1]; at[1]++)
      for (h = 0; h < out.size[3]; h++) {
        ptrdiff_t kv = h * k.size[3] / out.size[3];
        first[0] = at[0];
        first[1] = at[1];
        for (at[2] = 0; at[2] < out.size[2]; at[2]++)
          attend(&a, vector_at(&out, at, h), vector_at(&q, at, h),
                 vector_at(&k, first, kv), vector_at(&v, first, kv), at[2]);
      }
  return NETRT_OK;
}

KERNEL(attention);
