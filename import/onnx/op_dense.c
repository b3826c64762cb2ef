/* Products: a dense layer if one factor is constant, else matmul. */
#include <inttypes.h>
#include <string.h>

#include "import/onnx/reader.h"

/* The matrix I x O as O x I, the order in files of weights. */
static struct constant *transposed(struct onnx *x, struct constant *c) {
  struct onnx_layout dense = layout_dense(2, c->dims);
  struct onnx_layout at = layout_move(&dense, 1, 0);
  return constant_through(x, c, &at);
}

static struct constant *scaled(struct onnx *x, struct constant *c,
                               double factor) {
  if ((factor >= 1 && factor <= 1) || c->unknown)
    return c;
  if (!constant_load(x, c))
    return c;
  struct constant *result = constant_with(x, c, c->rank, c->dims);
  size_t count = c->fill ? 1 : (size_t)c->count;
  float *to = arena_alloc(x->arena, count + 1, sizeof *to);
  for (size_t i = 0; i < count; i++)
    to[i] = (float)(constant_real(c, (int64_t)i) * factor);
  result->real = to;
  result->whole = NULL;
  result->proto = NULL;
  return result;
}

/* True if `view` is a map flattened in the file's order: C, H, W. */
static bool is_flat_map(struct onnx *x, const struct onnx_view *view) {
  const struct graph_shape *shape = graph_shape(x->graph, view->node);
  struct onnx_layout chw = {.rank = 0};
  int last = shape->rank - 1;
  if (shape->rank < 3 || view->at.rank != 2 || !view_is_batch(x, view, 0))
    return false;
  layout_add(&chw, view->at.dim[0], onnx_values(x, view->node));
  layout_add(&chw, shape->size[last], 1);
  for (int i = 0; i < last; i++)
    layout_add(&chw, shape->size[i],
               graph_count(shape->size + i + 1, (size_t)(last - i)));
  layout_merge(&chw, 1, last + 1);
  return chw.dim[1] == view->at.dim[1] && layout_equal(&chw, &view->at);
}

static struct graph_node *dense(struct onnx *x, enum layer_word word, int in,
                                int64_t units, struct constant *weight) {
  struct graph_node *node = onnx_layer(x, word, in);
  graph_int(x->graph, node, PART_CHANNELS, "", units);
  node->bias = BIAS_WITHOUT;
  onnx_add_weight(x, node, "weight", weight);
  onnx_extra(x, node->index)->weights.at[0].is_matrix = true;
  return node;
}

/* Makes axes that were split and moved, as windows are, axes of the node: later
 * layers work on windows. */
static bool in_file_order(struct onnx *x, const struct onnx_view *view,
                          struct onnx_view *result) {
  struct onnx_axes axes;
  *result = *view;
  if (view->at.rank < 3 || axes_of(x, view, &axes))
    return true;
  axes_plain(x, view, -1, &axes);
  struct onnx_layout want = layout_order(&view->at, axes.count, axes.order);
  int cost = x->batch > 1 ? 0 : view_cost(x, view->node, &want);
  if (cost != 2 && (cost != 1 || view->at.rank != 3))
    return true;
  return view_rearrange(x, view, axes.order, axes.count, result);
}

/* y = x W, W O x I, over the last axis of `view`. */
static bool linear(struct onnx *x, const struct onnx_view *view,
                   struct constant *weight, struct onnx_view *result) {
  struct onnx_view last;
  struct onnx_axes axes;
  int64_t dims[MOST_AXES];
  int axis = view->at.rank - 1;
  int64_t units = weight->dims[0];
  if (view->at.dim[axis] != weight->dims[1])
    return onnx_fail(x,
                     "its matrix does not fit: %" PRId64
                     " features times a matrix of %" PRId64,
                     view->at.dim[axis], weight->dims[1]);
  memcpy(dims, view->at.dim, sizeof dims);
  dims[axis] = units;
  if (is_flat_map(x, view)) {
    struct graph_node *node = dense(x, WORD_FC, view->node, units, weight);
    static const int order[1] = {1};
    onnx_extra(x, node->index)->weights.at[0].as_file = true;
    *result = view_fresh(x, node->index, 2, dims, order, 1);
    return true;
  }
  if (!in_file_order(x, view, &last) ||
      !view_to_last(x, &last, axis, &last, &axes))
    return false;
  bool vector = graph_shape(x->graph, last.node)->rank == 1;
  struct graph_node *node =
      dense(x, vector ? WORD_FC : WORD_LINEAR, last.node, units, weight);
  if (axes.count > 0)
    *result =
        view_fresh(x, node->index, view->at.rank, dims, axes.order, axes.count);
  else if (!view_resized(x, &last, node->index, result))
    return false;
  if (units == 1)
    result->at.dim[axis] = 1;
  return true;
}

/* Matrices of the inputs. */

/* A matrix with its last axes in netc's order, or both swapped. */
static int matrix(struct onnx *x, const struct onnx_view *view, int rank,
                  const struct onnx_axes *kept, bool crossed) {
  struct onnx_view whole = *view, result;
  struct onnx_axes axes = *kept;
  for (int i = view->at.rank; i < rank; i++)
    layout_insert(&whole.at, 0);
  if (crossed) {
    axes.order[axes.count - 1] = rank - 2;
    axes.order[axes.count - 2] = rank - 1;
  }
  return view_rearrange(x, &whole, axes.order, axes.count, &result)
             ? result.node
             : -1;
}

static int cost_of(struct onnx *x, const struct onnx_view *view, bool crossed) {
  int rank = view->at.rank;
  struct onnx_layout want =
      layout_move(&view->at, rank - 1, rank - 1 - crossed);
  int cost = view_cost(x, view->node, &want);
  return cost < 0 ? 3 : cost;
}

static bool product(struct onnx *x, const struct onnx_view *a,
                    const struct onnx_view *b) {
  int64_t dims[MOST_AXES];
  struct onnx_axes axes = {.count = 0};
  int rank = a->at.rank > b->at.rank ? a->at.rank : b->at.rank;
  if (a->at.rank < 2 || b->at.rank < 2)
    return onnx_fail(x, "netc has no equivalent of a product of vectors");
  int64_t inner = a->at.dim[a->at.rank - 1];
  if (inner != b->at.dim[b->at.rank - 2])
    return onnx_fail(x,
                     "its matrices do not fit: %" PRId64
                     " columns times %" PRId64 " rows",
                     inner, b->at.dim[b->at.rank - 2]);
  for (int i = 0; i + 2 < rank; i++) {
    int64_t one =
        i < rank - a->at.rank ? 1 : a->at.dim[i - (rank - a->at.rank)];
    int64_t two =
        i < rank - b->at.rank ? 1 : b->at.dim[i - (rank - b->at.rank)];
    dims[i] = one > two ? one : two;
    if (one != two && one != 1 && two != 1)
      return onnx_fail(x, "the outer axes of its inputs differ");
  }
  dims[rank - 2] = a->at.dim[a->at.rank - 2];
  dims[rank - 1] = b->at.dim[b->at.rank - 1];
  for (int i = 0; i < rank; i++)
    if (i >= rank - 2 ||
        !(dims[i] == 1 || (i == x->batch_axis && dims[i] == x->batch)))
      axes.order[axes.count++] = i;
  bool crossed = cost_of(x, b, true) < cost_of(x, b, false);
  int left = matrix(x, a, rank, &axes, false);
  int right = matrix(x, b, rank, &axes, crossed);
  if (left < 0 || right < 0)
    return false;
  struct graph_node *node = graph_pair(x->graph, WORD_MATMUL, left, right);
  if (crossed)
    graph_flag(x->graph, node, "transpose");
  return onnx_give_fresh(x, node->index, rank, dims, &axes);
}

/* A constant on the left mixes the rows of the other factor. */
static bool from_left(struct onnx *x, struct constant *c,
                      const struct onnx_view *view) {
  struct onnx_view turned_view = *view, result;
  int rank = view->at.rank;
  if (rank == 1) /* a vector is a column */
    return linear(x, view, c, &result) && onnx_give(x, 0, &result);
  turned_view.at = layout_move(&view->at, rank - 1, rank - 2);
  if (!linear(x, &turned_view, c, &result))
    return false;
  result.at = layout_move(&result.at, rank - 1, rank - 2);
  return onnx_give(x, 0, &result);
}

bool op_matmul(struct onnx *x) {
  struct constant *a = onnx_constant(x, 0), *b = onnx_constant(x, 1);
  struct onnx_view result;
  if (!onnx_has(x, 0) || !onnx_has(x, 1))
    return onnx_fail(x, "it needs two inputs");
  if (a && !b && a->rank == 2)
    return from_left(x, a, onnx_operand(x, 1)->view);
  const struct onnx_view *in = onnx_input(x, 0);
  if (!in)
    return false;
  if (!b) {
    bool made = product(x, in, onnx_operand(x, 1)->view);
    if (!made && x->suspect)
      graph_help(x->graph, "if `%s` is a parameter, add --parameter %s",
                 x->suspect, x->suspect);
    return made;
  }
  if (b->rank == 1) { /* one unit, whose axis is dropped */
    b = constant_with(x, b, 2, (const int64_t[]){1, b->count});
    if (!linear(x, in, b, &result))
      return false;
    layout_drop(&result.at, result.at.rank - 1);
    return onnx_give(x, 0, &result);
  }
  if (b->rank != 2)
    return onnx_fail(x, "a product with a constant of %d axes is not supported",
                     b->rank);
  if (!linear(x, in, transposed(x, b), &result))
    return false;
  return onnx_give(x, 0, &result);
}

bool op_gemm(struct onnx *x, const struct onnx_view *in) {
  struct constant *b = onnx_constant(x, 1), *c = onnx_constant(x, 2);
  double alpha = onnx_real(x, "alpha", 1);
  double beta = onnx_real(x, "beta", 1), number = 0;
  struct onnx_view a, result;
  if (onnx_has(x, 1) && !b)
    return op_gemm_of_tensors(x);
  if (in->at.rank != 2 || !b || b->rank != 2)
    return onnx_fail(x, "only a product with a matrix of weights is supported");
  a = *in;
  if (onnx_int(x, "transA", 0))
    a.at = layout_move(&a.at, 1, 0);
  struct constant *weight = onnx_int(x, "transB", 0) ? b : transposed(x, b);
  if (!linear(x, &a, scaled(x, weight, alpha), &result))
    return false;
  if (!onnx_has(x, 2))
    return onnx_give(x, 0, &result);
  if (!c || (c->count != weight->dims[0] && c->count != 1) || c->rank > 2)
    return onnx_fail(x,
                     "its bias must be a constant with a value for each unit");
  struct graph_node *node = graph_at(x->graph, result.node);
  if (c->count == 1 && weight->dims[0] != 1 &&
      constant_is_even(x, c, &number) && number * beta == 0) {
    return onnx_give(x, 0, &result);
  }
  int64_t dim = weight->dims[0];
  struct constant *bias = c;
  if (c->count == 1 && dim != 1) {
    struct onnx_layout all = layout_of(1, &dim, (const int64_t[]){0}, 0);
    bias = constant_through(x, c, &all);
  }
  node->bias = BIAS_WITH;
  onnx_add_weight(x, node, "bias",
                  scaled(x, constant_with(x, bias, 1, &dim), beta));
  return onnx_give(x, 0, &result);
}
