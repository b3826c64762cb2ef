/*
 * Attention as one operator: ONNX Runtime's with and without projections, and
 * ONNX's own of opset 23. Each is read as products, masks and moves;
 * onnx_find_attention then makes a layer of these and their projections.
 */
#include <math.h>
#include <string.h>

#include "import/onnx/emit.h"

/* Members that all of them have. */
struct core {
  int q, k, v; /* values: B, L, heads x dim */
  int64_t heads, kv;
  double scale; /* 0: 1 / sqrt(dim) */
  double softcap;
  double dropout; /* of the weights */
  int64_t module; /* enum onnx_module */
  bool causal;
  int64_t window; /* latest tokens; 0: all */
  int bias;       /* term of the scores; -1: none */
};

/* Rope. */

/* Cosines or sines of the first positions: L, 1, features. */
static int table_of(struct onnx *x, int cache, int64_t steps, bool pairs) {
  int64_t dims[MOST_AXES], to[4] = {steps, 1, 0, 1};
  if (emit_dims(x, cache, dims) != 2 || dims[0] < steps ||
      !x->values.at[cache].constant)
    return ONNX_NONE(x,
                     "its cosines must be a constant table of %lld positions",
                     (long long)steps);
  to[2] = dims[1];
  return emit_reshape(x, emit_slice(x, cache, 0, 0, steps), to, pairs ? 4 : 3);
}

/* Rotates the first features of each head of B, L, heads, dim. */
static int rotated(struct onnx *x, int value, int cosines, int sines,
                   bool neighbours) {
  int64_t dims[MOST_AXES], cache[MOST_AXES];
  int rank = emit_dims(x, value, dims), of[4], rest = -1;
  if (rank != 4 || emit_dims(x, cosines, cache) != 2)
    return ONNX_NONE(x, "its heads are not supported");
  int64_t half = cache[1], dim = dims[3];
  if (2 * half < dim) {
    rest = emit_slice(x, value, 3, 2 * half, dim);
    value = emit_slice(x, value, 3, 0, 2 * half);
  }
  const int64_t pairs[5] = {0, 0, 0, half, 2}, whole[4] = {0, 0, 0, 2 * half};
  if (neighbours)
    value = emit_reshape(x, value, pairs, 5);
  for (int i = 0; i < 2; i++)
    of[i] = neighbours ? emit_slice(x, value, 4, i, i + 1)
                       : emit_slice(x, value, 3, i * half, (i + 1) * half);
  of[2] = table_of(x, cosines, dims[1], neighbours);
  of[3] = table_of(x, sines, dims[1], neighbours);
  int first = emit_formula(x, "a c Mul b d Mul Sub", of);
  int second = emit_formula(x, "b c Mul a d Mul Add", of);
  value = emit_concat(x, first, second, neighbours ? 4 : 3);
  if (neighbours)
    value = emit_reshape(x, value, whole, 4);
  return rest < 0 ? value : emit_concat(x, value, rest, 3);
}

/* B, L, heads x dim, with the heads as an axis. */
static int by_heads(struct onnx *x, int value, int64_t heads) {
  int64_t dims[MOST_AXES], to[4] = {0, 0, heads, 0};
  int rank = emit_dims(x, value, dims);
  if (rank == 4)
    return value;
  if (rank != 3 || heads < 1 || dims[2] % heads != 0)
    return ONNX_NONE(x, "its features do not divide into so many heads");
  to[3] = dims[2] / heads;
  return emit_reshape(x, value, to, 4);
}

/* Merges the heads into the features again. */
static int without_heads(struct onnx *x, int value) {
  int64_t dims[MOST_AXES], to[3] = {0, 0, 0};
  if (emit_dims(x, value, dims) != 4)
    return -1;
  to[2] = dims[2] * dims[3];
  return emit_reshape(x, value, to, 3);
}

bool op_rotary(struct onnx *x) {
  static const int64_t swap[4] = {0, 2, 1, 3};
  int64_t dims[MOST_AXES], cache[MOST_AXES];
  bool own = x->at->proto->domain && *x->at->proto->domain;
  int cosines = emit_input(x, own ? 2 : 1), sines = emit_input(x, own ? 3 : 2);
  int64_t heads = onnx_int(x, "num_heads", 0);
  int64_t rotary = onnx_int(x, "rotary_embedding_dim", 0);
  int value = emit_input(x, 0), rank = emit_dims(x, value, dims);
  if (rank < 3 || rank > 4 || emit_dims(x, cosines, cache) != 2 || sines < 0 ||
      cache[1] < 1)
    return onnx_fail(x, "it needs tables of cosines and sines");
  if (rank == 3 && heads == 0 && !rotary)
    heads = dims[2] / (2 * cache[1]);
  value =
      rank == 4 ? emit_transpose(x, value, swap, 4) : by_heads(x, value, heads);
  value = rotated(x, value, cosines, sines, onnx_int(x, "interleaved", 0) != 0);
  return emit_give(x, 0,
                   rank == 4 ? emit_transpose(x, value, swap, 4)
                             : without_heads(x, value));
}

/* Scores. */

/* Hides keys that a query does not attend to. */
static int hide(struct onnx *x, int scores, const struct core *c) {
  int64_t dims[MOST_AXES];
  int rank = emit_dims(x, scores, dims);
  if (rank < 2 || !c->causal)
    return scores;
  int64_t queries = dims[rank - 2], keys = dims[rank - 1];
  const int64_t sizes[2] = {queries, keys};
  struct constant *mask = constant_new(x, TYPE_BOOL, 2, sizes);
  struct band *band = ARENA_NEW(x->arena, struct band);
  band->high = c->window ? c->window - 1 : MOST_SIZE;
  mask->band = band;
  mask->unknown = queries > MOST_FOLDED / keys;
  if (!mask->unknown && !constant_room(x, queries * keys))
    return -1;
  if (!mask->unknown) {
    int64_t *to = constant_wholes(x, (queries * keys));
    for (int64_t i = 0; i < queries * keys; i++) {
      int64_t back = i / keys - i % keys;
      to[i] = back < 0 || back > band->high;
    }
    mask->whole = to;
  }
  const int ins[3] = {emit_constant(x, mask), emit_scalar(x, -INFINITY),
                      scores};
  return emit(x, emit_open(x, "Where"), ins, 3);
}

/* Repeats keys that heads share: B, kv, L, dim. */
static int shared(struct onnx *x, int value, int64_t sharing, int64_t heads) {
  const int64_t where = 2, times[5] = {1, 1, sharing, 1, 1};
  int64_t dims[MOST_AXES];
  if (sharing == 1 || value < 0 || emit_dims(x, value, dims) != 4)
    return value;
  value = emit_two(x, "Unsqueeze", value, emit_numbers(x, &where, 1));
  value = emit_two(x, "Expand", value, emit_numbers(x, times, 5));
  const int64_t to[4] = {dims[0], heads, dims[2], dims[3]};
  return emit_reshape(x, value, to, 4);
}

static int times(struct onnx *x, int value, double number) {
  return emit_two(x, "Mul", value, emit_scalar(x, number));
}

static int weights_of(struct onnx *x, const struct core *c, int scores,
                      int64_t dim) {
  double scale = c->scale > 0 ? c->scale : 1 / sqrt((double)dim);
  scores = times(x, scores, scale);
  if (c->softcap > 0) {
    scores = emit_one(x, "Tanh", times(x, scores, 1 / c->softcap));
    scores = times(x, scores, c->softcap);
  }
  if (c->bias >= 0)
    scores = emit_two(x, "Add", scores, c->bias);
  scores = hide(x, scores, c);
  Onnx__NodeProto *softmax = emit_open(x, "Softmax");
  emit_int(x, softmax, "axis", -1);
  if (c->module)
    emit_int(x, softmax, "module", c->module);
  scores = emit(x, softmax, &scores, 1);
  if (!(c->dropout > 0))
    return scores;
  Onnx__NodeProto *dropout = emit_open(x, "Dropout");
  emit_real(x, dropout, "ratio", c->dropout);
  return emit(x, dropout, &scores, 1);
}

/* Attention of all heads: B, L, heads x dim. */
static int attend(struct onnx *x, const struct core *c) {
  static const int64_t front[4] = {0, 2, 1, 3};
  static const int64_t cross[4] = {0, 1, 3, 2};
  const int of[3] = {c->q, c->k, c->v};
  int64_t dims[MOST_AXES];
  int parts[3];
  if (c->heads < 1 || c->kv < 1 || c->heads % c->kv != 0)
    return ONNX_NONE(x, "it has too many heads");
  for (int i = 0; i < 3; i++) {
    parts[i] = by_heads(x, of[i], i ? c->kv : c->heads);
    parts[i] = emit_transpose(x, parts[i], front, 4);
    if (i)
      parts[i] = shared(x, parts[i], c->heads / c->kv, c->heads);
  }
  if (emit_dims(x, parts[0], dims) != 4)
    return -1;
  parts[1] = emit_transpose(x, parts[1], cross, 4);
  int weights = emit_two(x, "MatMul", parts[0], parts[1]);
  weights = weights_of(x, c, weights, dims[3]);
  int value = emit_two(x, "MatMul", weights, parts[2]);
  return without_heads(x, emit_transpose(x, value, front, 4));
}

/* Operators. */

static struct core core_of(struct onnx *x) {
  return (struct core){.heads = onnx_int(x, "num_heads", 0),
                       .kv = onnx_int(x, "num_heads", 0),
                       .scale = onnx_real(x, "scale", 0),
                       .softcap = onnx_real(x, "softcap", 0),
                       .dropout = onnx_real(x, "dropout_p", 0), /* PyTorch */
                       .module = onnx_int(x, "module", 0),
                       .bias = -1};
}

/* Splits the features of a tensor into queries, keys and values. */
static bool parted(struct onnx *x, struct core *c, int value,
                   const int64_t widths[3]) {
  int *const to[3] = {&c->q, &c->k, &c->v};
  for (int64_t i = 0, from = 0; i < 3; from += widths[i++]) {
    *to[i] = emit_slice(x, value, 2, from, from + widths[i]);
    if (*to[i] < 0)
      return false;
  }
  return true;
}

/* com.microsoft: includes the matrix of queries, keys and values. */
static bool with_projections(struct onnx *x) {
  struct core c = core_of(x);
  int64_t dims[MOST_AXES], widths[3];
  if (emit_dims(x, emit_input(x, 1), dims) != 2)
    return onnx_fail(x, "its weights are not a matrix");
  int given = onnx_ints(x, "qkv_hidden_sizes", widths, 3);
  for (int i = 0; i < 3 && given != 3; i++)
    widths[i] = dims[1] / 3;
  if (onnx_int(x, "do_rotary", 0))
    return onnx_fail(x, "netc has no equivalent of its angles");
  int value = emit_two(x, "MatMul", emit_input(x, 0), emit_input(x, 1));
  if (onnx_has(x, 2))
    value = emit_two(x, "Add", value, emit_input(x, 2));
  c.causal = onnx_int(x, "unidirectional", 0) != 0;
  c.bias = emit_input(x, 5);
  return parted(x, &c, value, widths) && emit_give(x, 0, attend(x, &c));
}

/* ONNX's own: three tensors, whose heads may be an axis in front. */
static bool of_three(struct onnx *x) {
  static const int64_t swap[4] = {0, 2, 1, 3};
  struct core c = core_of(x);
  int *const to[3] = {&c.q, &c.k, &c.v};
  int64_t dims[MOST_AXES];
  bool fronted = false;
  c.heads = onnx_int(x, "q_num_heads", 0);
  c.kv = onnx_int(x, "kv_num_heads", c.heads);
  c.causal = onnx_int(x, "is_causal", 0) != 0;
  c.bias = emit_input(x, 3);
  for (int i = 0; i < 3; i++) {
    *to[i] = emit_input(x, (size_t)i);
    int rank = emit_dims(x, *to[i], dims);
    fronted = rank == 4;
    if (rank != 4)
      continue;
    *(i ? &c.kv : &c.heads) = dims[1];
    *to[i] = emit_transpose(x, *to[i], swap, 4);
  }
  if (c.bias >= 0 && x->values.at[c.bias].constant &&
      !constant_is_real(x->values.at[c.bias].constant))
    return onnx_fail(x, "a mask of truth values is not supported here");
  int value = attend(x, &c);
  if (fronted)
    value = emit_transpose(x, by_heads(x, value, c.heads), swap, 4);
  return emit_give(x, 0, value);
}

bool op_attention(struct onnx *x) {
  const char *domain = x->at->proto->domain;
  if (!onnx_has(x, 0) || !onnx_has(x, 1))
    return onnx_fail(x, "it needs two inputs");
  return domain && strcmp(domain, "com.microsoft") == 0 ? with_projections(x)
                                                        : of_three(x);
}

/* Adds one part of the bias of queries, keys and values. */
static int biased(struct onnx *x, int value, int64_t *from) {
  int64_t dims[MOST_AXES];
  int bias = emit_input(x, 3);
  if (bias < 0 || value < 0 || emit_dims(x, value, dims) != 3)
    return value;
  int part = emit_slice(x, bias, 0, *from, *from + dims[2]);
  *from += dims[2];
  return emit_two(x, "Add", value, part);
}

bool op_multi_head(struct onnx *x) {
  struct core c = core_of(x);
  int64_t from = 0;
  if (!onnx_has(x, 0) || !onnx_has(x, 1) || !onnx_has(x, 2))
    return onnx_fail(
        x, "queries, keys and values in one tensor are not supported here");
  c.q = biased(x, emit_input(x, 0), &from);
  c.k = biased(x, emit_input(x, 1), &from);
  c.v = biased(x, emit_input(x, 2), &from);
  c.causal = onnx_int(x, "unidirectional", 0) != 0;
  c.bias = emit_input(x, 5);
  return emit_give(x, 0, attend(x, &c));
}

bool op_group_query(struct onnx *x) {
  struct core c = core_of(x);
  int64_t dims[MOST_AXES];
  c.kv = onnx_int(x, "kv_num_heads", c.heads);
  c.causal = true;
  c.window = onnx_int(x, "local_window_size", -1);
  c.window = c.window < 0 ? 0 : c.window;
  c.bias = emit_input(x, 10);
  c.q = emit_input(x, 0);
  c.k = emit_input(x, 1);
  c.v = emit_input(x, 2);
  if (emit_dims(x, c.q, dims) != 3 || c.heads < 1 || c.kv < 1)
    return onnx_fail(x, "its queries are not supported");
  if (onnx_has(x, 11) || onnx_int(x, "smooth_softmax", 0))
    return onnx_fail(x, "scores without a key are not supported");
  int64_t dim = dims[2] / (c.heads + 2 * c.kv);
  const int64_t widths[3] = {c.heads * dim, c.kv * dim, c.kv * dim};
  if (c.k < 0 && !parted(x, &c, c.q, widths))
    return false;
  c.q = by_heads(x, c.q, c.heads);
  c.k = by_heads(x, c.k, c.kv);
  if (onnx_int(x, "do_rotary", 0)) {
    bool neighbours = onnx_int(x, "rotary_interleaved", 0) != 0;
    int cosines = emit_input(x, 7), sines = emit_input(x, 8);
    c.q = rotated(x, c.q, cosines, sines, neighbours);
    c.k = rotated(x, c.k, cosines, sines, neighbours);
  }
  return emit_give(x, 0, attend(x, &c));
}
