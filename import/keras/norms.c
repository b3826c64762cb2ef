/* Keras' norms, and constants per channel. */
#include <inttypes.h>

#include "import/keras/keras.h"

bool keras_on_channels(struct keras_call *call) {
  const struct graph_shape *in = &call->inputs[0].shape;
  const json_t *axis = keras_member(call->config, "axis");
  int64_t value = -1;
  if (json_array_size(axis) > 1)
    return keras_fail(call,
                      "netc has no equivalent of a norm over several axes");
  if (json_is_array(axis))
    axis = json_array_get(axis, 0);
  if (axis &&
      !keras_integer(call, axis, "axis", -LIMIT_RANK, LIMIT_RANK, &value))
    return false;
  int at = keras_axis(call, in, value);
  if (at >= 0 && at != in->rank - 1)
    keras_fail(call, "only a norm of channels is supported");
  return at == in->rank - 1;
}

static void put_eps(struct keras_call *call, struct graph_node *node,
                    double usual) {
  graph_eps(call->graph, node, keras_real(call, "epsilon", usual));
}

/* Adds scale and shift after a norm with only one of them. */
static bool finish_norm(struct keras_call *call, struct graph_node *node) {
  const struct graph_shape *shape = &call->inputs[0].shape;
  bool scale = keras_bool(call, "scale", true);
  bool center = keras_bool(call, "center", true);
  int64_t channels = shape->size[shape->rank - 1];
  struct graph_shape one = {1, {channels}};
  struct graph_node *shift = node;
  int last = node->index;
  if (!scale || !center)
    graph_flag(call->graph, node, scale ? "nobias" : "noaffine");
  if (!scale && center) {
    shift = graph_at(call->graph, keras_weight(call, &one, false));
    last = graph_pair(call->graph, WORD_ADD, last, shift->index)->index;
  }
  const char *name = scale ? "bias" : "weight";
  return (!scale || keras_take_vector(call, node, "weight", channels)) &&
         (!center || keras_take_vector(call, shift, name, channels)) &&
         (node->word != WORD_BN ||
          (keras_take_vector(call, node, "running_mean", channels) &&
           keras_take_vector(call, node, "running_var", channels))) &&
         keras_give_same(call, last);
}

/* BatchNormalization, LayerNormalization. */
bool keras_norm(struct keras_call *call) {
  enum layer_word word = call->row->words[0];
  const char *other = word == WORD_BN ? "renorm" : "rms_scaling";
  if (!keras_on_channels(call))
    return false;
  if (keras_bool(call, other, false))
    return keras_fail(call, "netc has no equivalent of `%s`", other);
  struct graph_node *node = keras_node(call, word, call->inputs[0].node);
  put_eps(call, node, 1e-3);
  return finish_norm(call, node);
}

bool keras_rms_norm(struct keras_call *call) {
  if (!keras_on_channels(call))
    return false;
  struct graph_node *node =
      keras_node(call, WORD_RMSNORM, call->inputs[0].node);
  put_eps(call, node, 1e-6);
  const struct graph_shape *in = &call->inputs[0].shape;
  return keras_take_vector(call, node, "weight", in->size[in->rank - 1]) &&
         keras_give_same(call, node->index);
}

bool keras_group_norm(struct keras_call *call) {
  const struct graph_shape *in = &call->inputs[0].shape;
  int64_t channels = in->size[in->rank - 1];
  int64_t groups = keras_int(call, "groups", 32, -1, KERAS_MOST);
  if (!keras_on_channels(call))
    return false;
  if (groups == 0 || (groups > 0 && channels % groups != 0))
    return keras_fail(call, "`groups` does not divide the channels");
  bool each = groups < 0 || groups == channels;
  struct graph_node *node =
      keras_node(call, each ? WORD_INSTNORM : WORD_GN, call->inputs[0].node);
  if (!each)
    graph_int(call->graph, node, PART_GROUPS, "", groups);
  put_eps(call, node, 1e-3);
  return finish_norm(call, node);
}

/* A constant per channel, from the file or from `adapt`. */
static int constant(struct keras_call *call, enum layer_word word, int input) {
  const struct graph_shape *in = &call->inputs[0].shape;
  struct graph_shape one = {1, {in->size[in->rank - 1]}};
  return graph_pair(call->graph, word, input, keras_weight(call, &one, true))
      ->index;
}

static bool is_for_channels(struct keras_call *call, const char *key,
                            const json_t *list) {
  const struct graph_shape *in = &call->inputs[0].shape;
  size_t count = json_array_size(list);
  int64_t channels = in->size[in->rank - 1];
  return (int64_t)count == channels ||
         keras_fail(call, "`%s` has %zu numbers for %" PRId64 " channels", key,
                    count, channels);
}

/* (x - mean) / deviation; neither is trained */
bool keras_normalization(struct keras_call *call) {
  int at = call->inputs[0].node;
  if (!keras_member(call->config, "axis") || !keras_on_channels(call))
    return keras_fail(call, "only a norm by channel is supported");
  if (keras_bool(call, "invert", false))
    return keras_fail(call, "netc has no equivalent of `invert`");
  at = constant(call, WORD_DIV, constant(call, WORD_SUB, at));
  return keras_leave_values(call) && keras_give_same(call, at);
}

bool keras_rescaling(struct keras_call *call) {
  static const char *const keys[] = {"scale", "offset"};
  static const enum layer_word words[] = {WORD_MUL, WORD_ADD};
  static const double none[] = {1, 0};
  int at = call->inputs[0].node;
  for (int i = 0; i < 2; i++) {
    const json_t *value = keras_member(call->config, keys[i]);
    double number =
        json_is_array(value) ? 0 : keras_real(call, keys[i], none[i]);
    if (json_is_array(value)) {
      if (!is_for_channels(call, keys[i], value))
        return false;
      at = constant(call, words[i], at);
    } else if (number < none[i] || number > none[i]) {
      at = graph_with(call->graph, words[i], at, number)->index;
    }
  }
  return keras_give_same(call, at);
}

/* unit norm, softmax: along the channels only */
