/* Add, Mul and the like: of two tensors, a tensor and a number, or a tensor and
 * a constant, which may be a bias, a scale or a weight. */
#include <math.h>
#include <string.h>

#include "import/onnx/op_pattern.h"

static bool has_dims(const struct onnx_layout *at, int rank,
                     const int64_t *dims) {
  return at->rank == rank &&
         memcmp(at->dim, dims, (size_t)rank * sizeof *dims) == 0;
}

/* `view` with the rank of the result; its sizes are the result's. */
static bool whole_view(struct onnx *x, const struct onnx_view *view, int rank,
                       const int64_t *dims, struct onnx_view *result) {
  *result = *view;
  (void)x;
  for (int i = view->at.rank; i < rank; i++)
    layout_insert(&result->at, 0);
  return has_dims(&result->at, rank, dims);
}

/* Joins two tensors; the first has all sizes of the result. */
static int join_views(struct onnx *x, enum layer_word word,
                      const struct onnx_view *all,
                      const struct onnx_view *other, bool swapped) {
  struct onnx_layout spread, want;
  int64_t values = onnx_values(x, other->node);
  if (!layout_spread(&other->at, all->at.rank, all->at.dim, &spread) ||
      !layout_along(x, all, &spread, values, &want))
    return -1;
  int node = view_realise(x, other->node, &want, true);
  if (node < 0)
    return -1;
  int result = pattern_join(x, word, swapped ? node : all->node,
                            swapped ? all->node : node);
  if (result >= 0)
    return result;
  struct graph_node *join = swapped
                                ? graph_pair(x->graph, word, node, all->node)
                                : graph_pair(x->graph, word, all->node, node);
  return join->index;
}

/* The cost of bringing `other` to the order of `all`. */
static int cost_along(struct onnx *x, const struct onnx_view *all,
                      const struct onnx_view *other) {
  struct onnx_layout spread, want;
  int64_t values = onnx_values(x, other->node);
  if (!layout_spread(&other->at, all->at.rank, all->at.dim, &spread) ||
      !layout_along(x, all, &spread, values, &want))
    return 3;
  int cost = view_cost(x, other->node, &want);
  return cost < 0 ? 3 : cost;
}

/* True if the order of the second one is used: it has whole axes. */
static bool second_leads(struct onnx *x, const struct onnx_view *a,
                         const struct onnx_view *b) {
  struct onnx_axes axes;
  int bring_a = cost_along(x, b, a), bring_b = cost_along(x, a, b);
  bool whole_a = axes_of(x, a, &axes), whole_b = axes_of(x, b, &axes);
  if (bring_a > 0 && bring_b > 0 && whole_a != whole_b)
    return whole_b;
  return bring_a < bring_b;
}

/* Neither has all sizes: both get the file's order, and netc broadcasts. */
static bool outer_join(struct onnx *x, enum layer_word word,
                       const struct onnx_view *a, const struct onnx_view *b,
                       int rank, const int64_t *dims) {
  struct onnx_view left = *a, right = *b;
  struct onnx_axes axes = {.count = 0};
  for (int i = a->at.rank; i < rank; i++)
    layout_insert(&left.at, 0);
  for (int i = b->at.rank; i < rank; i++)
    layout_insert(&right.at, 0);
  for (int i = 0; i < rank; i++)
    if (i != x->batch_axis || dims[i] != x->batch)
      axes.order[axes.count++] = i;
  if (!view_rearrange(x, &left, axes.order, axes.count, &left) ||
      !view_rearrange(x, &right, axes.order, axes.count, &right))
    return false;
  struct graph_node *join = graph_pair(x->graph, word, left.node, right.node);
  return onnx_give_fresh(x, join->index, rank, dims, &axes);
}

static bool of_views(struct onnx *x, enum layer_word word,
                     const struct onnx_view *a, const struct onnx_view *b) {
  int64_t dims[MOST_AXES];
  int rank;
  struct onnx_view left, right, plain;
  if (!onnx_joint_dims(x, a->at.dim, a->at.rank, b->at.dim, b->at.rank, &rank,
                       dims))
    return false;
  bool all_a = whole_view(x, a, rank, dims, &left);
  bool all_b = whole_view(x, b, rank, dims, &right);
  if (!all_a && !all_b)
    return outer_join(x, word, a, b, rank, dims);
  bool swapped = !all_a || (all_b && second_leads(x, &left, &right));
  struct onnx_view *all = swapped ? &right : &left,
                   *other = swapped ? &left : &right;
  int node = join_views(x, word, all, other, swapped);
  if (node < 0 && !x->graph->failed) {
    if (!view_plain(x, all, &plain))
      return false;
    *all = plain;
    node = join_views(x, word, all, other, swapped);
  }
  if (node < 0)
    return onnx_fail(x, "the axes of its inputs cannot be aligned");
  return onnx_give_node(x, all, node);
}

/* Constants. */

static int with_number(struct onnx *x, enum layer_word word, int in,
                       double number) {
  int pattern = pattern_number(x, word, in, number);
  if (pattern >= 0)
    return pattern;
  bool minus = word == WORD_SUB;
  if ((word == WORD_ADD || minus) && number == 0)
    return in;
  if ((word == WORD_MUL || word == WORD_DIV) && number == 1)
    return in;
  if (word == WORD_DIV && number == 0)
    return ONNX_NONE(x, "it divides by 0");
  if (!isfinite(number))
    return ONNX_NONE(x, "it has a number that is not finite");
  struct graph_node *node = onnx_layer(x, word, in);
  onnx_set_number(x, node, number);
  return node->index;
}

/* number - x, number / x */
static int from_number(struct onnx *x, enum layer_word word, int in,
                       double number) {
  if (word == WORD_SUB) {
    int minus = onnx_layer(x, WORD_NEG, in)->index;
    return with_number(x, WORD_ADD, minus, number);
  }
  struct graph_node *node = onnx_layer(x, WORD_POW, in);
  onnx_set_number(x, node, -1);
  return with_number(x, WORD_MUL, node->index, number);
}

/* The constant in the order of the view's axes; repeated axes have size 1. */
static struct constant *along(struct onnx *x, struct constant *c,
                              const struct onnx_view *view) {
  struct onnx_layout dense = layout_dense(c->rank, c->dims), spread, want;
  if (!layout_spread(&dense, view->at.rank, view->at.dim, &spread) ||
      !layout_along(x, view, &spread, 0, &want))
    return NULL;
  int order[LAYOUT_RANK], count = 0, skip = 0;
  while (skip + 1 < want.rank && want.dim[skip] == 1)
    skip++;
  for (int i = skip; i < want.rank; i++)
    order[count++] = i;
  want = layout_order(&want, count, order);
  struct onnx_layout same = layout_dense(want.rank, want.dim);
  if (layout_equal(&same, &want) && layout_values(&want) == c->count)
    return constant_with(x, c, want.rank, want.dim);
  return constant_through(x, c, &want);
}

/* True if a constant differs only between channels. */
static bool by_channel(struct onnx *x, const struct constant *c, int node) {
  const struct graph_shape *shape = graph_shape(x->graph, node);
  return c->rank == 1 && c->count == shape->size[shape->rank - 1];
}

/* A constant with more values than the view becomes a separate layer. */
static bool of_wider(struct onnx *x, enum layer_word word,
                     const struct onnx_view *view, struct constant *c,
                     bool swapped) {
  struct onnx_axes axes = {0};
  if (c->rank == 0 || x->batch > 1)
    return onnx_fail(x, "its constant has more values than its input");
  for (int i = 0; i < c->rank; i++)
    axes.order[axes.count++] = i;
  struct onnx_view other = view_fresh(x, onnx_weight(x, c)->index, c->rank,
                                      c->dims, axes.order, axes.count);
  return swapped ? of_views(x, word, &other, view)
                 : of_views(x, word, view, &other);
}

static bool of_number(struct onnx *x, enum layer_word word,
                      const struct onnx_view *whole, double number,
                      bool swapped) {
  int node = swapped ? from_number(x, word, whole->node, number)
                     : with_number(x, word, whole->node, number);
  if (node < 0)
    return false;
  return onnx_give_node(x, whole, node);
}

static bool of_weight(struct onnx *x, enum layer_word word,
                      struct onnx_view *whole, struct constant *c,
                      bool swapped) {
  struct constant *lying = along(x, c, whole);
  int node = -1;
  if (!lying && !x->graph->failed) { /* it repeats part of an axis */
    struct onnx_view parted;
    if (!view_parted(x, whole, &parted))
      return false;
    *whole = parted;
    lying = along(x, c, whole);
  }
  if (!lying)
    return onnx_fail(x, "its constant does not match the axes of its input");
  if (by_channel(x, lying, whole->node) && !swapped)
    node = pattern_channels(x, word, whole->node, lying);
  if (node < 0)
    node = pattern_weight(x, word, whole->node, lying);
  if (node < 0) {
    int weight = onnx_weight(x, c->rank ? lying : c)->index;
    struct graph_node *join =
        graph_pair(x->graph, word, swapped ? weight : whole->node,
                   swapped ? whole->node : weight);
    node = join->index;
  }
  return onnx_give_node(x, whole, node);
}

/* True for the one value that is the bias of a layer with one unit. */
static bool is_bias(struct onnx *x, enum layer_word word,
                    const struct onnx_view *view, const struct constant *c) {
  const struct graph_node *node = graph_at(x->graph, view->node);
  const struct graph_shape *shape = graph_shape(x->graph, view->node);
  return word == WORD_ADD && c->rank == 1 && node->bias == BIAS_WITHOUT &&
         (node->word == WORD_FC || node->word == WORD_LINEAR) &&
         shape->size[shape->rank - 1] == 1;
}

/* `swapped`: the constant is the first operand of - or /. */
static bool of_constant(struct onnx *x, enum layer_word word,
                        const struct onnx_view *view, struct constant *c,
                        bool swapped) {
  int64_t dims[MOST_AXES];
  int rank;
  double number;
  struct onnx_view whole;
  if (constant_is_drawn(c))
    return onnx_drop_path(x, view, c);
  if (!onnx_joint_dims(x, view->at.dim, view->at.rank, c->dims, c->rank, &rank,
                       dims))
    return false;
  bool even = constant_is_even(x, c, &number);
  if (!whole_view(x, view, rank, dims, &whole))
    return of_wider(x, word, view, c, swapped);
  bool learned = c->trained && (c->count > 1 || is_bias(x, word, view, c) ||
                                (c->name && onnx_is_weight_name(c->name)));
  return even && !learned ? of_number(x, word, &whole, number, swapped)
                          : of_weight(x, word, &whole, c, swapped);
}

static bool join(struct onnx *x, enum layer_word word,
                 const struct onnx_value *a, const struct onnx_value *b) {
  bool ordered = word == WORD_SUB || word == WORD_DIV;
  if (a->view && b->view)
    return of_views(x, word, a->view, b->view);
  if (a->view)
    return of_constant(x, word, a->view, b->constant, false);
  return of_constant(x, word, b->view, a->constant, ordered);
}

bool op_two(struct onnx *x) {
  if (x->at->in_count != 2 || !onnx_has(x, 0) || !onnx_has(x, 1))
    return onnx_fail(x, "it needs two inputs");
  return join(x, onnx_word(x), onnx_operand(x, 0), onnx_operand(x, 1));
}

/* Joins several operands, one after the other; `mean` divides at the end. */
static bool several(struct onnx *x, enum layer_word word) {
  size_t count = x->at->in_count;
  struct onnx_value sum;
  if (count == 0 || !onnx_has(x, 0))
    return onnx_fail(x, "it has no inputs");
  if (count == 1)
    return op_identity(x);
  sum = *onnx_operand(x, 0);
  for (size_t i = 1; i < count; i++) {
    if (!onnx_has(x, i))
      return onnx_fail(x, "input %zu is missing", i);
    if (sum.constant && onnx_operand(x, i)->constant)
      return onnx_fail(x, "both of its inputs are constants");
    if (!join(x, word, &sum, onnx_operand(x, i)) || x->graph->failed)
      return false;
    if (x->at->outs[0] < 0)
      return true;
    sum = x->values.at[x->at->outs[0]];
  }
  return true;
}

bool op_several(struct onnx *x) {
  return x->at->out_count > 0 && several(x, onnx_word(x));
}

bool op_mean(struct onnx *x) {
  if (x->at->out_count == 0 || !several(x, WORD_ADD) || x->at->outs[0] < 0)
    return false;
  if (x->at->in_count == 1)
    return true;
  const struct onnx_view *sum = x->values.at[x->at->outs[0]].view;
  if (!sum)
    return false;
  return onnx_give_node(
      x, sum, with_number(x, WORD_DIV, sum->node, (double)x->at->in_count));
}

bool op_pow(struct onnx *x, const struct onnx_view *in) {
  struct constant *c = onnx_constant(x, 1);
  double number;
  if (!c || !constant_is_even(x, c, &number))
    return onnx_fail(x, "only powers by a number are supported");
  struct graph_node *node = onnx_layer(x, WORD_POW, in->node);
  onnx_set_number(x, node, number);
  return onnx_give_node(x, in, node->index);
}

static bool clip_bound(struct onnx *x, size_t index, const char *name,
                       double *bound, bool *given) {
  struct constant *c = onnx_constant(x, index);
  *given = onnx_attribute(x, name) != NULL;
  *bound = onnx_real(x, name, 0);
  if (!onnx_has(x, index))
    return true;
  *given = true;
  return (c && constant_is_even(x, c, bound)) ||
         onnx_fail(x, "its bounds depend on the inputs");
}

bool op_clip(struct onnx *x, const struct onnx_view *in) {
  double low, high;
  bool has_low, has_high;
  if (!clip_bound(x, 1, "min", &low, &has_low) ||
      !clip_bound(x, 2, "max", &high, &has_high))
    return false;
  has_low = has_low && low > -3e38;
  has_high = has_high && high < 3e38;
  int node = in->node;
  if (has_low && has_high && low == 0 && high == 6) {
    node = onnx_layer(x, WORD_RELU6, node)->index;
  } else if (has_low && has_high && low < high) {
    struct graph_node *both = onnx_layer(x, WORD_HARDTANH, node);
    if (low > -1 || low < -1 || high > 1 || high < 1) {
      graph_flag(x->graph, both, onnx_real_text(x, low));
      graph_flag(x->graph, both, onnx_real_text(x, high));
    }
    node = both->index;
  } else {
    if (has_low && low == 0)
      node = onnx_layer(x, WORD_RELU, node)->index;
    else if (has_low)
      node = with_number(x, WORD_MAX, node, low);
    if (has_high && node >= 0)
      node = with_number(x, WORD_MIN, node, high);
  }
  return node >= 0 && onnx_give_node(x, in, node);
}

/* 1 / x */
bool op_reciprocal(struct onnx *x, const struct onnx_view *in) {
  struct graph_node *node = onnx_layer(x, WORD_POW, in->node);
  onnx_set_number(x, node, -1);
  return onnx_give_node(x, in, node->index);
}

/* alpha x + beta between 0 and 1 */
bool op_hard_sigmoid(struct onnx *x, const struct onnx_view *in) {
  double alpha = onnx_real(x, "alpha", 0.2);
  double beta = onnx_real(x, "beta", 0.5);
  int node = in->node;
  if (fabs(alpha - 1.0 / 6) < 1e-6 && fabs(beta - 0.5) < 1e-6) {
    node = onnx_layer(x, WORD_HSIGMOID, node)->index;
  } else {
    node = with_number(x, WORD_MUL, node, alpha);
    node = node < 0 ? node : with_number(x, WORD_ADD, node, beta);
    node = node < 0 ? node : onnx_layer(x, WORD_RELU, node)->index;
    node = node < 0 ? node : with_number(x, WORD_MIN, node, 1);
  }
  return node >= 0 && onnx_give_node(x, in, node);
}

/* The term that a mask adds: 0 or `number`, by the condition. */
static struct constant *mask_of(struct onnx *x, struct constant *condition,
                                bool hides, double number) {
  bool usual = hides && number < -1e30;
  if (usual && condition->mask)
    return condition->mask; /* shared by all layers */
  struct constant *c =
      constant_new(x, TYPE_FLOAT, condition->rank, condition->dims);
  if (usual)
    condition->mask = c;
  c->band = hides && usual ? condition->band : NULL;
  c->unknown = condition->band && !condition->whole;
  if (c->unknown)
    return c;
  float *to = constant_reals(x, c->count);
  for (int64_t i = 0; i < c->count; i++) {
    bool set = constant_whole(condition, i) != 0;
    to[i] = set == hides ? (float)number : 0;
  }
  c->real = to;
  return c;
}

/* A mask hides scores: it adds nearly minus infinity, which softmax turns into
 * 0. netc has no equivalent of other selections. */
bool op_where(struct onnx *x) {
  struct constant *condition = onnx_constant(x, 0);
  struct constant *a = onnx_constant(x, 1), *b = onnx_constant(x, 2);
  bool hides = a != NULL;
  double number;
  if (!condition || (!a) == (!b) || !onnx_has(x, hides ? 2 : 1))
    return onnx_fail(x, "only a constant mask is supported");
  if (!constant_is_even(x, hides ? a : b, &number) || number > -1e4)
    return onnx_fail(x, "netc has no equivalent of a choice between values");
  if ((!condition->band || condition->whole) &&
      (!constant_load(x, condition) || condition->count > MOST_FOLDED))
    return false;
  if (condition->count < 1)
    return onnx_fail(x, "it is empty");
  number = number < -3e38 ? -3e38 : number;
  return of_constant(x, WORD_ADD, onnx_operand(x, hides ? 2 : 1)->view,
                     mask_of(x, condition, hides, number), false);
}
