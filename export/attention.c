/* ONNX forms of attention: single steps, or all in one. */
#include <math.h>
#include <string.h>

#include "export/export.h"
#include "runtime/shift.h"
#include "runtime/turn.h"

/* Tensor 0, 1, ... as a column or a row. */
static value_id places(struct exporting *x, int64_t count, bool column,
                       enum onnx_element type) {
  const int64_t dims[2] = {column ? count : 1, column ? 1 : count};
  int64_t *data = arena_alloc(x->arena, (size_t)count + 1, sizeof *data);
  float *reals = arena_alloc(x->arena, (size_t)count + 1, sizeof *reals);
  for (int64_t i = 0; i < count; i++) {
    data[i] = i;
    reals[i] = (float)i;
  }
  return model_tensor(&x->model, type, 2, dims,
                      type == ELEMENT_FLOAT ? (void *)reals : (void *)data);
}

/* Entry of a tensor that several layers share. */
static struct map_entry *shared(struct exporting *x, const char *format,
                                long long a, long long b, long long c,
                                long long d) {
  struct text key = text_new(x->arena);
  text_printf(&key, format, a, b, c, d);
  return map_add(x->arena, &x->shared, text_slice(&key));
}

static value_id compare(struct exporting *x, const char *op,
                        const struct onnx_layout *at, value_id distance,
                        int64_t limit) {
  value_id far = model_tensor(&x->model, ELEMENT_INT64, 0, NULL, &limit);
  return onnx_typed(x, NODE(x, op, at, distance, far), ELEMENT_BOOL);
}

/* Mask of the keys that a query does not attend to: q - k > behind, or k - q >
 * ahead. */
static value_id hidden(struct exporting *x, int64_t queries, int64_t keys,
                       int64_t behind, int64_t ahead) {
  const int64_t dims[2] = {queries, keys};
  struct onnx_layout at = layout_dense(2, dims);
  struct map_entry *entry =
      shared(x, "hidden %lld %lld %lld %lld", queries, keys, behind, ahead);
  const char *scope = x->model.scope;
  if (entry->number)
    return entry->number - 1;
  x->model.scope = "hidden";
  value_id distance =
      NODE(x, "Sub", &at, places(x, queries, true, ELEMENT_INT64),
           places(x, keys, false, ELEMENT_INT64));
  value_id y = NO_VALUE, far = NO_VALUE;
  onnx_typed(x, distance, ELEMENT_INT64);
  if (behind >= 0)
    y = compare(x, "Greater", &at, distance, behind);
  if (ahead >= 0)
    far = compare(x, "Less", &at, distance, -ahead);
  if (y != NO_VALUE && far != NO_VALUE)
    y = onnx_typed(x, NODE(x, "Or", &at, y, far), ELEMENT_BOOL);
  else if (y == NO_VALUE)
    y = far;
  x->model.scope = scope;
  entry->number = y + 1;
  return y;
}

static value_id mask(struct exporting *x, value_id scores,
                     const struct onnx_layout *at, int64_t behind,
                     int64_t ahead) {
  if (behind < 0 && ahead < 0)
    return scores;
  value_id which =
      hidden(x, at->dim[at->rank - 2], at->dim[at->rank - 1], behind, ahead);
  return NODE(x, "Where", at, which, model_scalar(&x->model, -INFINITY),
              scores);
}

bool onnx_mask(struct exporting *x) {
  struct view in = onnx_in(x, 0);
  struct onnx_layout at = onnx_out(x, 0);
  value_id scores = onnx_get_spread(x, &in);
  return onnx_put_first(
      x, mask(x, scores, &at, x->op.numbers[0], x->op.numbers[1]), &at);
}

/* Row of the table for each query and key of a window. */
static value_id relative_rows(struct exporting *x, int64_t queries,
                              int64_t keys) {
  const int64_t both[2] = {queries, keys}, *window = x->op.numbers + 1;
  int64_t dims[1];
  if (!onnx_constant_size(x, 2, both, &dims[0]))
    return NO_VALUE;
  int64_t *rows = arena_alloc(x->arena, (size_t)dims[0] + 1, sizeof *rows);
  for (int64_t i = 0; i < queries * keys; i++) {
    int64_t q = i / keys, k = i % keys, step = 1;
    for (int64_t axis = x->op.numbers[0]; axis-- > 0;) {
      rows[i] +=
          (q % window[axis] - k % window[axis] + window[axis] - 1) * step;
      step *= 2 * window[axis] - 1;
      q /= window[axis];
      k /= window[axis];
    }
  }
  return model_tensor(&x->model, ELEMENT_INT64, 1, dims, rows);
}

/* (2 window - 1).. x heads: a bias for each head, query and key. */
bool onnx_relative(struct exporting *x) {
  struct view in = onnx_in(x, 0), table = onnx_in(x, 1);
  struct onnx_layout at = onnx_out(x, 0);
  int rank = at.rank, axes = (int)x->op.numbers[0];
  int64_t heads = at.dim[rank - 3], queries = at.dim[rank - 2];
  int64_t keys = at.dim[rank - 1];
  layout_merge(&table.at, 0, axes);
  const int64_t picked[2] = {queries * keys, heads};
  const int64_t transposed[2] = {heads, queries * keys}, perm[2] = {1, 0};
  const int64_t shape[3] = {heads, queries, keys};
  struct onnx_layout rows = layout_dense(2, picked);
  struct onnx_layout columns = layout_dense(2, transposed);
  struct onnx_layout bias = layout_dense(3, shape);
  value_id scores = onnx_get_spread(x, &in), from = onnx_get(x, &table);
  value_id which = relative_rows(x, queries, keys);
  value_id y = NODE(x, "Gather", &rows, from, which);
  y = NODE(x, "Transpose", &columns, y);
  model_ints(&x->model, "perm", perm, 2);
  y = onnx_reshaped(x, y, &bias);
  return onnx_put_first(x, NODE(x, "Add", &at, scores, y), &at);
}

/* Region of each place of each window relative to the map's edges (netrt_side),
 * as a column or a row beside the scores. */
static value_id sides(struct exporting *x, const struct onnx_layout *at,
                      bool column) {
  int32_t numbers[SHIFT_AXES + SHIFT_NUMBERS * LAYOUT_RANK];
  int64_t groups = at->dim[at->rank - 4], places = at->dim[at->rank - 1];
  int64_t dims[4] = {groups, 1, column ? places : 1, column ? 1 : places};
  int64_t count;
  if (!onnx_constant_size(x, 4, dims, &count))
    return NO_VALUE;
  int64_t *side = arena_alloc(x->arena, (size_t)count + 1, sizeof *side);
  for (int64_t i = 0; i <= SHIFT_NUMBERS * x->op.numbers[SHIFT_RANK]; i++)
    numbers[i] = (int32_t)x->op.numbers[i];
  for (int64_t i = 0; i < count; i++)
    side[i] = netrt_side(numbers, i / places, i % places);
  return model_tensor(&x->model, ELEMENT_INT64, 4, dims, side);
}

/* Swin's mask: subtracts 100 from scores of places in different regions. */
bool onnx_shifted(struct exporting *x) {
  struct view in = onnx_in(x, 0);
  struct onnx_layout at = onnx_out(x, 0), same = at;
  value_id scores = onnx_get_spread(x, &in);
  same.dim[0] = same.dim[same.rank - 3] = 1; /* all samples and heads */
  value_id column = sides(x, &at, true), row = sides(x, &at, false);
  if (column == NO_VALUE || row == NO_VALUE)
    return false;
  same = layout_dense(same.rank - 1, same.dim + 1);
  value_id equal =
      onnx_typed(x, NODE(x, "Equal", &same, column, row), ELEMENT_BOOL);
  value_id mask = NODE(x, "Where", &same, equal, model_scalar(&x->model, 0.0f),
                       model_scalar(&x->model, -100.0f));
  return onnx_put_first(x, NODE(x, "Add", &at, scores, mask), &at);
}

/* Entry of the rotation with the operation's reals, or with plain RoPE's. */
static struct map_entry *turns_of(struct exporting *x, int64_t steps,
                                  int64_t dim, float rule[TURN_REALS]) {
  bool stretched = strcmp(x->op.code, "stretched") == 0;
  struct text key = text_new(x->arena);
  for (int i = 0; i < TURN_REALS; i++)
    rule[i] =
        i == TURN_BASE || stretched ? (float)x->op.reals[i] : i == TURN_STRETCH;
  text_printf(&key, "rotation %lld %lld", (long long)steps, (long long)dim);
  for (int i = 0; i < TURN_REALS; i++)
    text_printf(&key, " %.9g", (double)rule[i]);
  return map_add(x->arena, &x->shared, text_slice(&key));
}

/* Cosines and sines of each position's rotation of pairs: L x 1 x D/2. */
static void find_turns(struct exporting *x, int64_t steps, int64_t dim,
                       value_id rotation[2]) {
  const int64_t half[2] = {1, dim / 2}, one[3] = {steps, 1, dim / 2};
  const int64_t flat[2] = {steps, dim / 2};
  struct onnx_layout angles = layout_dense(2, flat),
                     by_head = layout_dense(3, one);
  float rule[TURN_REALS];
  struct map_entry *entry = turns_of(x, steps, dim, rule);
  const char *scope = x->model.scope;
  if (!entry->number) {
    float *slow = arena_alloc(x->arena, (size_t)dim, sizeof *slow);
    for (int64_t i = 0; i < dim / 2; i++)
      slow[i] = netrt_turn(rule, (ptrdiff_t)i, (ptrdiff_t)dim);
    x->model.scope = "positions";
    value_id speed = model_tensor(&x->model, ELEMENT_FLOAT, 2, half, slow);
    value_id angle =
        NODE(x, "Mul", &angles, places(x, steps, true, ELEMENT_FLOAT), speed);
    angle = onnx_reshaped(x, angle, &by_head);
    entry->number = NODE(x, "Cos", &by_head, angle) + 1;
    NODE(x, "Sin", &by_head, angle);
    x->model.scope = scope;
  }
  rotation[0] = entry->number - 1;
  rotation[1] = entry->number;
}

/* a cos - b sin and b cos + a sin, for the pairs a, b of a head. */
bool onnx_rope(struct exporting *x) {
  bool neighbours = x->op.numbers[0];
  struct view pairs = onnx_in(x, 0), half[2];
  struct onnx_layout at = onnx_out(x, 0), part;
  int last = at.rank - 1, way = neighbours ? last + 1 : last;
  value_id rotation[2], of[2];
  if (!layout_split(&pairs.at, last, neighbours ? at.dim[last] / 2 : 2) ||
      !layout_split(&at, last, neighbours ? at.dim[last] / 2 : 2))
    return onnx_refuse(x, "cannot identify its pairs") != NO_VALUE;
  find_turns(x, at.dim[last - 2], 2 * at.dim[neighbours ? last : last + 1],
             rotation);
  for (int i = 0; i < 2; i++) {
    half[i] = pairs;
    if (!layout_slice(&half[i].at, way, i, 1))
      return onnx_refuse(x, "cannot identify its pairs") != NO_VALUE;
    layout_drop(&half[i].at, way);
    of[i] = onnx_get_spread(x, &half[i]);
  }
  part = layout_dense(half[0].at.rank, half[0].at.dim);
  value_id first =
      NODE(x, "Sub", &part, NODE(x, "Mul", &part, of[0], rotation[0]),
           NODE(x, "Mul", &part, of[1], rotation[1]));
  value_id second =
      NODE(x, "Add", &part, NODE(x, "Mul", &part, of[1], rotation[0]),
           NODE(x, "Mul", &part, of[0], rotation[1]));
  if (neighbours) {
    struct onnx_layout single = part;
    layout_insert(&single, single.rank);
    value_id shape = model_numbers(&x->model, single.dim, single.rank);
    first = NODE(x, "Reshape", &single, first, shape);
    second = NODE(x, "Reshape", &single, second, shape);
  } else {
    layout_merge(&at, last, 2);
  }
  value_id y = NODE(x, "Concat", &at, first, second);
  model_int(&x->model, "axis", at.rank - 1);
  return onnx_put_first(x, y, &at);
}

/* Moves the heads of N,G,L,heads,D to the front; splits off heads that share
 * keys. */
static bool heads_first(struct view *view, int64_t sharing, bool transposed) {
  if (sharing > 1 && !layout_split(&view->at, 3, view->at.dim[3] / sharing))
    return false;
  if (sharing > 1)
    view->at = layout_move(&view->at, 4, 2); /* N,G,sharing,L,heads,D */
  int rank = view->at.rank;
  view->at = layout_move(&view->at, rank - 2, 2); /* N,G,heads,(sharing,)L,D */
  if (transposed)
    view->at = layout_move(&view->at, rank - 1, rank - 2);
  return true;
}

/*
 * softmax(q k' factor) v. Heads that share keys are an axis, which has size 1
 * in keys and values.
 */
bool onnx_attention(struct exporting *x) {
  struct view q = onnx_in(x, 0), k = onnx_in(x, 1), v = onnx_in(x, 2);
  struct onnx_layout at = onnx_out(x, 0);
  int64_t sharing = q.at.dim[3] / k.at.dim[3], queries = q.at.dim[2];
  int64_t keys = k.at.dim[2];
  struct view out = {.of = NULL, .at = at};
  if (!heads_first(&q, sharing, false) || !heads_first(&k, 1, true) ||
      !heads_first(&v, 1, false) || !heads_first(&out, sharing, false))
    return onnx_refuse(x, "cannot identify its heads") != NO_VALUE;
  if (sharing > 1) {
    layout_insert(&k.at, 3);
    layout_insert(&v.at, 3);
  }
  if (at.dim[1] == 1) { /* one group */
    layout_drop(&q.at, 1);
    layout_drop(&k.at, 1);
    layout_drop(&v.at, 1);
    layout_drop(&out.at, 1);
  }
  int rank = q.at.rank;
  int64_t dims[LAYOUT_RANK];
  memcpy(dims, out.at.dim, sizeof dims);
  dims[rank - 2] = queries;
  dims[rank - 1] = keys;
  struct onnx_layout all = layout_dense(rank, dims);
  value_id a = onnx_get_spread(x, &q), b = onnx_get_spread(x, &k),
           c = onnx_get_spread(x, &v);
  value_id y = NODE(x, "MatMul", &all, a, b);
  y = NODE(x, "Mul", &all, y, model_scalar(&x->model, x->op.reals[0]));
  y = mask(x, y, &all, x->op.numbers[0], x->op.numbers[1]);
  y = NODE(x, "Softmax", &all, y);
  model_int(&x->model, "axis", rank - 1);
  return onnx_put_first(x, NODE(x, "MatMul", &out.at, y, c), &out.at);
}
