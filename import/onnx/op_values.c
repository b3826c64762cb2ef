/* Elementwise operators, and operators along one axis. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "import/onnx/reader.h"

/* Adds a layer of netc without arguments. */
static bool plain(struct onnx *x, const struct onnx_view *in,
                  enum layer_word word) {
  struct graph_node *node = onnx_layer(x, word, in->node);
  static const char *const ways[] = {"none", "tanh", NULL};
  if (!onnx_one_of(x, "approximate", ways))
    return false;
  if (onnx_is(x, "approximate", "tanh", false))
    graph_arg(x->graph, node, PART_NONE, "approximate=", "tanh");
  return onnx_give_node(x, in, node->index);
}

bool op_plain(struct onnx *x, const struct onnx_view *in) {
  return plain(x, in, onnx_word(x));
}

bool op_erf(struct onnx *x, const struct onnx_view *in) {
  return plain(x, in, WORD_ERF);
}

/* LeakyRelu, Elu, Celu: ONNX and netc have the same default. */
bool op_alpha(struct onnx *x, const struct onnx_view *in) {
  double usual = onnx_word(x) == WORD_LEAKY ? 0.01 : 1;
  struct graph_node *node = onnx_layer(x, onnx_word(x), in->node);
  graph_flag(x->graph, node, onnx_real_text(x, onnx_real(x, "alpha", usual)));
  graph_usual(node, onnx_real_text(x, usual));
  return onnx_give_node(x, in, node->index);
}

bool op_selu(struct onnx *x, const struct onnx_view *in) {
  double alpha = onnx_real(x, "alpha", 1.67326319217681884765625);
  double gamma = onnx_real(x, "gamma", 1.05070102214813232421875);
  if (fabs(alpha - 1.6732632) < 1e-4 && fabs(gamma - 1.050701) < 1e-4)
    return onnx_give_node(x, in, onnx_layer(x, WORD_SELU, in->node)->index);
  struct graph_node *elu = onnx_layer(x, WORD_ELU, in->node);
  onnx_set_number(x, elu, alpha);
  struct graph_node *node = onnx_layer(x, WORD_MUL, elu->index);
  onnx_set_number(x, node, gamma);
  return onnx_give_node(x, in, node->index);
}

bool op_prelu(struct onnx *x, const struct onnx_view *in) {
  struct constant *slope = onnx_constant(x, 1);
  struct onnx_view last;
  struct onnx_axes axes;
  if (!slope)
    return onnx_fail(x, "its slopes depend on the inputs");
  int64_t dim = slope->count;
  double number;
  if (dim == 1 && !slope->rank && constant_is_even(x, slope, &number)) {
    struct graph_node *node = onnx_layer(x, WORD_LEAKY, in->node);
    graph_flag(x->graph, node, onnx_real_text(x, number));
    return onnx_give_node(x, in, node->index);
  }
  if (dim == 1) { /* nn.PReLU() */
    struct graph_node *node = onnx_layer(x, WORD_PRELU, in->node);
    graph_flag(x->graph, node, "shared");
    onnx_add_weight(x, node, "weight", constant_with(x, slope, 1, &dim));
    return onnx_give_node(x, in, node->index);
  }
  int axis = x->opset < 7 && slope->rank == 1 && in->at.rank > 1 ? 1 : -1;
  for (int i = 0; i < slope->rank && axis < 0; i++)
    if (slope->dims[i] > 1)
      axis = axis < 0 ? in->at.rank - slope->rank + i : MOST_AXES;
  if (axis < 0 || axis >= in->at.rank || in->at.dim[axis] != slope->count)
    return onnx_fail(x, "only a slope for each channel is supported");
  if (!view_to_last(x, in, axis, &last, &axes))
    return false;
  struct graph_node *node = onnx_layer(x, WORD_PRELU, last.node);
  onnx_add_weight(x, node, "weight", constant_with(x, slope, 1, &dim));
  return onnx_give_node(x, &last, node->index);
}

/* The type of CastLike's second input: only real or integer matters. */
static int64_t type_like(struct onnx *x) {
  struct constant *like = onnx_constant(x, 1);
  const struct onnx_view *view = like ? NULL : onnx_input(x, 1);
  if (like || !view)
    return like ? like->type : TYPE_FLOAT;
  const struct graph_node *node = graph_at(x->graph, view->node);
  if (node->word == WORD_INPUT && node->args.count > 0)
    return TYPE_INT64;
  graph_note(x->graph,
             "`%s` may round to the bits of another tensor; netc does not "
             "round.",
             onnx_shown(x, x->at->name));
  return TYPE_FLOAT;
}

/* Reals stay reals, and so do integers that are inputs. */
bool op_cast(struct onnx *x, const struct onnx_view *in) {
  int64_t to = strcmp(x->at->type, "CastLike") == 0
                   ? type_like(x)
                   : onnx_int(x, "to", TYPE_FLOAT);
  const struct graph_node *node = graph_at(x->graph, in->node);
  bool whole = node->word == WORD_INPUT && node->args.count > 0;
  bool real = to == TYPE_FLOAT || to == TYPE_DOUBLE || to == 10 || to == 16;
  if (!real && !(whole && (to == TYPE_INT32 || to == TYPE_INT64)))
    return onnx_fail(x, "netc has no equivalent of a cast to this type");
  if (to == 10 || to == 16)
    graph_note(x->graph, "`%s` rounds to 16 bits; netc does not round.",
               onnx_shown(x, x->at->name));
  return onnx_give(x, 0, in);
}

bool op_dropout(struct onnx *x, const struct onnx_view *in) {
  struct constant *ratio = onnx_constant(x, 1);
  double p = onnx_real(x, "ratio", 0.5);
  if (ratio && !constant_is_even(x, ratio, &p))
    return false;
  struct constant *training = onnx_constant(x, 2);
  double on = 0;
  if (training && constant_is_even(x, training, &on) && on > 0 && p > 0)
    graph_note(x->graph, "`%s` also drops values in inference.",
               onnx_shown(x, x->at->name));
  if (!(p >= 0 && p < 1))
    return onnx_fail(x, "`ratio` must be at least 0 and less than 1");
  if (p <= 0)
    return onnx_give(x, 0, in);
  struct graph_node *node = onnx_layer(x, WORD_DROPOUT, in->node);
  graph_flag(x->graph, node, onnx_real_text(x, round(p * 1e6) / 1e6));
  graph_usual(node, "0.5");
  if (onnx_int(x, "inplace", 0)) /* from_torch */
    graph_flag(x->graph, node, "inplace=on");
  return onnx_give_node(x, in, node->index);
}

/* The softmax axis of a map if it is not the channels; -1 for a product of
 * attention, which is transposed instead. */
static int own_axis(struct onnx *x, const struct onnx_view *in, int axis) {
  const struct graph_node *node = graph_at(x->graph, in->node);
  int own = view_axis(x, in, axis);
  if (graph_shape(x->graph, in->node)->rank != 3 || own == 2 ||
      in->at.first != 0 || layout_values(&in->at) != onnx_values(x, in->node))
    return -1;
  while (node->inputs.count == 1)
    node = graph_at(x->graph, node->inputs.at[0]);
  return node->word == WORD_MATMUL ? -1 : own;
}

bool op_softmax(struct onnx *x, const struct onnx_view *in) {
  struct onnx_view last;
  struct onnx_axes axes;
  int axis =
      onnx_axis(x, onnx_int(x, "axis", x->opset < 13 ? 1 : -1), in->at.rank);
  if (axis < 0)
    return false;
  int found = axis;
  /* Before opset 13 the softmax is over all axes from `axis` on. */
  for (int i = axis; x->opset < 13 && i < in->at.rank; i++) {
    if (in->at.dim[i] > 1 && in->at.dim[found] > 1 && i != found)
      return onnx_fail(x,
                       "netc has no equivalent of a softmax over several axes");
    if (in->at.dim[i] > 1)
      found = i;
  }
  int own = own_axis(x, in, found);
  if (own >= 0) {
    struct graph_node *node = onnx_layer(x, onnx_word(x), in->node);
    graph_flag(x->graph, node, own ? "w" : "h");
    return onnx_give_node(x, in, node->index);
  }
  if (!view_to_last(x, in, found, &last, &axes))
    return false;
  struct graph_node *node = onnx_layer(x, onnx_word(x), last.node);
  onnx_extra(x, node->index)->module = (int)onnx_int(x, "module", 0);
  return onnx_give_node(x, &last, node->index);
}

/* Reductions. */

/* A reduction applies a layer to each value before it, and to each result. */
static const struct onnx_reduction {
  const char *type;
  enum layer_word before, word, after;
} reductions[] = {
    {"ReduceMean", WORD_NONE, WORD_MEAN, WORD_NONE},
    {"ReduceSum", WORD_NONE, WORD_SUM, WORD_NONE},
    {"ReduceMax", WORD_NONE, WORD_MAX, WORD_NONE},
    {"ReduceMin", WORD_NONE, WORD_MIN, WORD_NONE},
    {"ReduceL1", WORD_ABS, WORD_SUM, WORD_NONE},
    {"ReduceL2", WORD_POW, WORD_SUM, WORD_SQRT},
    {"ReduceLogSum", WORD_NONE, WORD_SUM, WORD_LOG},
    {"ReduceLogSumExp", WORD_EXP, WORD_SUM, WORD_LOG},
    {"ReduceSumSquare", WORD_POW, WORD_SUM, WORD_NONE},
};

static const struct onnx_reduction *reduction_of(const char *type) {
  size_t i = 0, count = sizeof reductions / sizeof *reductions;
  while (i < count && strcmp(reductions[i].type, type) != 0)
    i++;
  assert(i < count); /* onnx.def has no other */
  return &reductions[i];
}

/* Adds such a layer without arguments; `pow` is a square. */
static int applied(struct onnx *x, enum layer_word word, int in) {
  if (word == WORD_NONE)
    return in;
  struct graph_node *node = onnx_layer(x, word, in);
  if (word == WORD_POW)
    onnx_set_number(x, node, 2);
  return node->index;
}

/* Sums over axes of a node, which keep a size of 1. */
static int reduce_node(struct onnx *x, enum layer_word word, int in,
                       const bool *over) {
  const struct graph_shape *shape = graph_shape(x->graph, in);
  bool mean = word == WORD_MEAN, rest = shape->rank > 1;
  for (int i = 0; i + 1 < shape->rank; i++)
    rest = rest && over[i];
  bool only_last = over[shape->rank - 1];
  for (int i = 0; i + 1 < shape->rank; i++)
    only_last = only_last && !over[i];
  struct graph_node *node;
  if (rest && !over[shape->rank - 1] && shape->rank >= 3 && mean) {
    node = onnx_layer(x, WORD_GAP, in);
  } else {
    node = graph_reduce(x->graph, mean && only_last ? WORD_CENTRE : word, in,
                        over, true);
  }
  return node->index;
}

/* Marks the node's axes for axes of the file; false if one is not whole. */
static bool node_axes(struct onnx *x, const struct onnx_view *view,
                      const bool *over, bool *which) {
  memset(which, 0, LIMIT_RANK * sizeof *which);
  for (int i = 0; i < view->at.rank; i++) {
    int axis = view_axis(x, view, i);
    if (!over[i] || view->at.dim[i] == 1)
      continue;
    if (axis < 0)
      return false;
    which[axis] = true;
  }
  return true;
}

/* A mean over only the file's last axis is part of a norm: the axis becomes the
 * last one for all readers of the tensor. */
static bool settle_last(struct onnx *x, struct onnx_view *view,
                        const bool *over) {
  int last = view->at.rank - 1;
  struct onnx_axes axes;
  for (int i = 0; i < last; i++)
    if (over[i])
      return true;
  if (last < 1 || !over[last] || view->at.dim[last] < 2 ||
      strcmp(x->at->type, "ReduceMean") != 0)
    return true;
  if (!view_to_last(x, view, last, view, &axes))
    return false;
  struct onnx_view *copy = ARENA_NEW(x->arena, struct onnx_view);
  *copy = *view;
  onnx_operand(x, 0)->view = copy;
  return true;
}

static bool reduce(struct onnx *x, const struct onnx_view *in, const bool *over,
                   bool keep, const struct onnx_reduction *r) {
  bool which[LIMIT_RANK];
  struct onnx_view from = *in, result;
  if (!settle_last(x, &from, over))
    return false;
  if (!node_axes(x, &from, over, which) &&
      (!view_plain(x, in, &from) || !node_axes(x, &from, over, which)))
    return onnx_fail(x, "it has axes that its input does not have");
  bool any = false;
  for (int i = 0; i < LIMIT_RANK; i++)
    any = any || which[i];
  from.node = applied(x, r->before, from.node);
  result = from;
  if (any) {
    int node = reduce_node(x, r->word, from.node, which);
    if (!view_resized(x, &from, node, &result))
      return false;
  }
  for (int i = in->at.rank; i-- > 0 && !keep;)
    if (over[i])
      layout_drop(&result.at, i);
  result.node = applied(x, r->after, result.node);
  return onnx_give(x, 0, &result);
}

bool op_reduce(struct onnx *x, const struct onnx_view *in) {
  int64_t axes[MOST_AXES];
  bool over[MOST_AXES];
  int count = onnx_axes_numbers(x, axes);
  if (count < 0)
    return onnx_fail(x, "its axes depend on the inputs");
  if (count == 0 && onnx_int(x, "noop_with_empty_axes", 0))
    return op_identity(x);
  if (!onnx_mark_axes(x, axes, count, in->at.rank, over))
    return false;
  for (int i = 0; i < in->at.rank && count == 0; i++)
    over[i] = true;
  if (x->batch > 1 && x->batch_axis >= 0 && x->batch_axis < in->at.rank &&
      over[x->batch_axis])
    return onnx_fail(x, "samples of a batch cannot be summed");
  return reduce(x, in, over, onnx_int(x, "keepdims", 1) != 0,
                reduction_of(x->at->type));
}

bool op_global_pool(struct onnx *x, const struct onnx_view *in) {
  struct onnx_view map;
  int64_t dims[MOST_AXES];
  struct onnx_axes axes = {.count = 0};
  bool mean = strcmp(x->at->type, "GlobalAveragePool") == 0;
  if (!view_channels_last(x, in, &map))
    return false;
  struct graph_node *node = onnx_layer(x, mean ? WORD_GAP : WORD_GMP, map.node);
  for (int i = 0; i < map.at.rank; i++)
    dims[i] = i < 2 ? map.at.dim[i] : 1;
  for (int i = 2; i < map.at.rank; i++)
    axes.order[axes.count++] = i;
  axes.order[axes.count++] = 1;
  if (map.at.rank == 2)
    return onnx_fail(x, "its input has no rows or columns");
  return onnx_give_fresh(x, node->index, map.at.rank, dims, &axes);
}

/* The shapes of layers are known. */
bool op_shape(struct onnx *x, const struct onnx_view *in) {
  int64_t dims[MOST_AXES];
  int64_t rank = in->at.rank;
  int64_t from = onnx_int(x, "start", 0), to = onnx_int(x, "end", rank);
  from += from < 0 ? rank : 0;
  to += to < 0 ? rank : 0;
  from = from < 0 ? 0 : from > rank ? rank : from;
  to = to < 0 ? 0 : to > rank ? rank : to;
  int count = 0;
  for (int64_t i = from; i < to; i++)
    dims[count++] = in->at.dim[i];
  return onnx_give_constant(x, 0, constant_ints(x, dims, count));
}

bool op_size(struct onnx *x, const struct onnx_view *in) {
  int64_t values = layout_values(&in->at);
  struct constant *c = constant_ints(x, &values, 1);
  return onnx_give_constant(x, 0, constant_with(x, c, 0, NULL));
}
