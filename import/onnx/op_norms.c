/* Normalisation. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "import/onnx/emit.h"

static double epsilon(const struct onnx *x) {
  return onnx_real(x, "epsilon", (double)1e-5F);
}

/* Takes weights of `channels` values: inputs `from` + 1 to `count`. */
static bool take_weights(struct onnx *x, struct graph_node *node, int from,
                         int count, int64_t channels) {
  static const char *const names[] = {"weight", "bias", "running_mean",
                                      "running_var"};
  for (int i = from; i < count; i++) {
    struct constant *c = onnx_constant(x, (size_t)i + 1);
    if (!c || c->count != channels)
      return onnx_fail(x,
                       "its input %d is not a constant of %" PRId64 " channels",
                       i + 1, channels);
    onnx_add_weight(x, node, names[i], constant_with(x, c, 1, &channels));
  }
  return true;
}

/* True if all values equal `value`: weights of 1 or biases of 0. */
static bool is_trivial(struct onnx *x, size_t index, double value) {
  struct constant *c = onnx_constant(x, index);
  double with;
  return c && !(c->name && onnx_is_weight_name(c->name)) &&
         constant_is_even(x, c, &with) && with >= value && with <= value;
}

/* Constant factors of 1 and shifts of 0 are no parameters. */
static bool is_bare(struct onnx *x) {
  const struct constant *scale = onnx_constant(x, 1),
                        *bias = onnx_constant(x, 2);
  return scale && bias && !scale->trained && !bias->trained &&
         is_trivial(x, 1, 1) && is_trivial(x, 2, 0);
}

bool op_batch_norm(struct onnx *x, const struct onnx_view *in) {
  struct onnx_view last;
  struct onnx_axes axes;
  if (in->at.rank < 2)
    return onnx_fail(x, "it needs a batch and channels");
  if (in->at.rank == 2 ? !view_to_last(x, in, 1, &last, &axes)
                       : !view_channels_last(x, in, &last))
    return false;
  struct graph_node *node = onnx_layer(x, WORD_BN, last.node);
  bool bare = is_bare(x);
  if (bare)
    graph_flag(x->graph, node, "noaffine");
  onnx_put_eps(x, node, epsilon(x));
  if (!take_weights(x, node, bare ? 2 : 0, 4, in->at.dim[1]))
    return false;
  return onnx_give_node(x, &last, node->index);
}

/* True if groups of channels are one axis: [N, g, ..] of [N, C, ..]. */
static bool is_grouped(struct onnx *x, const struct onnx_view *in) {
  const struct graph_shape *shape = graph_shape(x->graph, in->node);
  int64_t channels = shape->size[shape->rank - 1];
  return shape->rank >= 2 && in->at.rank == 3 &&
         channels % in->at.dim[1] == 0 && channels > in->at.dim[1];
}

/* As gn: the view's axes must be groups, then all values of a group. */
static bool group_norm(struct onnx *x, const struct onnx_view *in) {
  const struct graph_shape *shape = graph_shape(x->graph, in->node);
  int64_t groups = in->at.dim[1];
  int last = shape->rank - 1;
  int64_t each = shape->size[last] / groups;
  struct onnx_layout as = {.rank = 0};
  layout_add(&as, in->at.dim[0], onnx_values(x, in->node));
  layout_add(&as, groups, each);
  layout_add(&as, each, 1);
  for (int i = 0; i < last; i++)
    layout_add(&as, shape->size[i],
               graph_count(shape->size + i + 1, (size_t)(last - i)));
  layout_merge(&as, 2, last + 1);
  if (!layout_equal(&as, &in->at))
    return onnx_fail(x, "its groups of channels are not contiguous");
  struct graph_node *node = onnx_layer(x, WORD_GN, in->node);
  graph_int(x->graph, node, PART_GROUPS, "", groups);
  graph_flag(x->graph, node, "noaffine");
  onnx_put_eps(x, node, epsilon(x));
  return onnx_give_node(x, in, node->index);
}

bool op_instance_norm(struct onnx *x, const struct onnx_view *in) {
  struct onnx_view map;
  if (in->at.rank < 3)
    return onnx_fail(x, "it needs a batch, channels and positions");
  bool trivial = is_trivial(x, 1, 1) && is_trivial(x, 2, 0);
  if (trivial && is_grouped(x, in))
    return group_norm(x, in);
  if (!view_channels_last(x, in, &map))
    return false;
  struct graph_node *node = onnx_layer(x, WORD_INSTNORM, map.node);
  bool unshifted = is_trivial(x, 2, 0);
  if (unshifted)
    graph_flag(x->graph, node, trivial ? "noaffine" : "nobias");
  onnx_put_eps(x, node, epsilon(x));
  if (!trivial && !take_weights(x, node, 0, unshifted ? 1 : 2, in->at.dim[1]))
    return false;
  return onnx_give_node(x, &map, node->index);
}

bool op_group_norm(struct onnx *x, const struct onnx_view *in) {
  struct onnx_view map;
  if (in->at.rank < 3)
    return onnx_fail(x, "it needs a batch, channels and positions");
  int64_t groups = onnx_int(x, "num_groups", 0), channels = in->at.dim[1];
  if (x->opset < 21)
    return onnx_fail(x, "before opset 21 it has one factor for each group, "
                        "which is not supported");
  if (groups < 1 || channels % groups != 0)
    return onnx_fail(x, "%" PRId64 " groups do not divide %" PRId64 " channels",
                     groups, channels);
  if (!view_channels_last(x, in, &map))
    return false;
  struct graph_node *node = onnx_layer(x, WORD_GN, map.node);
  graph_int(x->graph, node, PART_GROUPS, "", groups);
  onnx_put_eps(x, node, epsilon(x));
  if (is_bare(x))
    graph_flag(x->graph, node, "noaffine");
  else if (!take_weights(x, node, 0, 2, channels))
    return false;
  return onnx_give_node(x, &map, node->index);
}

/* The first axis of several that the norm covers; -1 if it covers one. */
static int several_axes(struct onnx *x, const struct onnx_view *in) {
  int axis = in ? onnx_axis(x, onnx_int(x, "axis", -1), in->at.rank) : -1;
  while (axis >= 0 && axis + 1 < in->at.rank && in->at.dim[axis] == 1)
    axis++;
  return axis >= 0 && axis + 1 < in->at.rank ? axis : -1;
}

/* Merges several axes into one, and splits them after the norm. */
static bool norm_of_several(struct onnx *x, int axis) {
  const int64_t whole = -1;
  int64_t dims[MOST_AXES];
  int ins[3], count = 1, rank = emit_dims(x, emit_input(x, 0), dims);
  if (axis <= x->batch_axis && dims[x->batch_axis] > 1)
    return onnx_fail(
        x, "netc has no equivalent of a norm over the samples of a batch");
  int64_t flat[MOST_AXES];
  memcpy(flat, dims, sizeof flat);
  flat[axis] = -1;
  ins[0] = emit_reshape(x, emit_input(x, 0), flat, axis + 1);
  for (size_t i = 1; i < 3 && onnx_has(x, i); i++)
    ins[count++] = emit_reshape(x, emit_input(x, i), &whole, 1);
  if (x->graph->failed)
    return false;
  Onnx__NodeProto *norm = emit_open(x, x->at->type);
  emit_real(x, norm, "epsilon", epsilon(x));
  int value = emit(x, norm, ins, count);
  return emit_give(x, 0, emit_reshape(x, value, dims, rank));
}

static int mean_from(struct onnx *x, int value, int axis, int rank) {
  Onnx__NodeProto *mean = emit_open(x, "ReduceMean");
  int64_t axes[MOST_AXES];
  int count = 0;
  for (int i = axis; i < rank; i++)
    axes[count++] = i;
  if (x->opset < 18)
    emit_ints(x, mean, "axes", axes, count);
  const int ins[2] = {value, x->opset < 18 ? -1 : emit_numbers(x, axes, count)};
  return emit(x, mean, ins, ins[1] < 0 ? 1 : 2);
}

/* Gives the mean and 1 / sqrt(variance + eps), outputs for training. */
static bool give_moments(struct onnx *x) {
  int64_t dims[MOST_AXES];
  if (!onnx_is_read(x, 1) && !onnx_is_read(x, 2))
    return true;
  int value = emit_input(x, 0), rank = emit_dims(x, value, dims);
  int axis = onnx_axis(x, onnx_int(x, "axis", -1), rank);
  int mean = axis < 0 ? -1 : mean_from(x, value, axis, rank);
  if (mean < 0 || !emit_give(x, 1, mean))
    return false;
  if (!onnx_is_read(x, 2))
    return true;
  int far = emit_two(x, "Sub", value, mean);
  far = mean_from(x, emit_two(x, "Mul", far, far), axis, rank);
  const int ins[2] = {far, emit_scalar(x, epsilon(x))};
  return emit_give(x, 2, emit_formula(x, "a b Add Sqrt Reciprocal", ins));
}

/* A norm over the last axis, which becomes the node's. */
static bool norm_of_last(struct onnx *x, enum layer_word word,
                         const struct onnx_view *in) {
  struct onnx_view last;
  struct onnx_axes axes;
  int rank = in->at.rank, several = several_axes(x, in);
  bool bias = word == WORD_LN && onnx_has(x, 2);
  if (several >= 0)
    return norm_of_several(x, several);
  if (!view_to_last(x, in, rank - 1, &last, &axes))
    return false;
  struct graph_node *node = onnx_layer(x, word, last.node);
  onnx_put_eps(x, node, epsilon(x));
  if (word == WORD_LN && !bias)
    graph_flag(x->graph, node, "nobias");
  return take_weights(x, node, 0, bias ? 2 : 1, in->at.dim[rank - 1]) &&
         onnx_give_node(x, &last, node->index);
}

bool op_layer_norm(struct onnx *x, const struct onnx_view *in) {
  return give_moments(x) && norm_of_last(x, WORD_LN, in);
}

bool op_rms_norm(struct onnx *x, const struct onnx_view *in) {
  return norm_of_last(x, WORD_RMSNORM, in);
}

bool op_lrn(struct onnx *x, const struct onnx_view *in) {
  struct onnx_view map;
  int64_t size = onnx_int(x, "size", 0);
  double alpha = onnx_real(x, "alpha", 1e-4);
  double beta = onnx_real(x, "beta", 0.75);
  double bias = onnx_real(x, "bias", 1);
  if (size < 1 || size > MOST_SIZE || !view_channels_last(x, in, &map))
    return onnx_fail(x, "it has no `size`");
  if (fabs(alpha - 1e-4) > 1e-9 || fabs(beta - 0.75) > 1e-6 ||
      fabs(bias - 1) > 1e-6)
    graph_note(
        x->graph,
        "`%s` has alpha %s, beta %s and bias %s; netc uses 0.0001, 0.75 and 1.",
        onnx_shown(x, x->at->name), onnx_real_text(x, alpha),
        onnx_real_text(x, beta), onnx_real_text(x, bias));
  struct graph_node *node = onnx_layer(x, WORD_LRN, map.node);
  graph_int(x->graph, node, PART_OTHER, "", size);
  return onnx_give_node(x, &map, node->index);
}

bool op_lp_norm(struct onnx *x, const struct onnx_view *in) {
  struct onnx_view last;
  struct onnx_axes axes;
  if (onnx_int(x, "p", 2) != 2)
    return onnx_fail(x, "only the norm of squares is supported");
  int axis = onnx_axis(x, onnx_int(x, "axis", -1), in->at.rank);
  if (axis < 0 || !view_to_last(x, in, axis, &last, &axes))
    return false;
  return onnx_give_node(x, &last, onnx_layer(x, WORD_L2NORM, last.node)->index);
}
