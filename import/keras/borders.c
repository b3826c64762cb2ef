/* Keras' layers that pad, crop and resize maps. */
#include <inttypes.h>
#include <string.h>

#include "import/keras/keras.h"

/* `padding` and `cropping`: one number, one for each axis, or two for each. */
static bool read_sides(struct keras_call *call, const char *key, int axes,
                       int64_t usual, int64_t *before, int64_t *after) {
  const json_t *value = keras_member(call->config, key);
  size_t count = json_array_size(value);
  bool pair = axes == 1 && count == 2; /* of the only axis */
  for (int i = 0; i < axes; i++) {
    const json_t *item = pair || !json_is_array(value)
                             ? value
                             : json_array_get(value, (size_t)i);
    before[i] = after[i] = usual;
    if (!value)
      continue;
    if ((json_is_array(value) && !pair && count != (size_t)axes) ||
        (json_is_array(item) && json_array_size(item) != 2))
      return keras_fail(call, "`%s` needs a number for each side", key);
    const json_t *low = json_is_array(item) ? json_array_get(item, 0) : item;
    const json_t *high = json_is_array(item) ? json_array_get(item, 1) : item;
    if (!keras_integer(call, low, key, 0, KERAS_MOST, &before[i]) ||
        !keras_integer(call, high, key, 0, KERAS_MOST, &after[i]))
      return false;
  }
  return true;
}

/* True if the next convolution takes the zeros as its padding. */
static bool is_taken_by_user(const struct keras_call *call) {
  static const char types[] = "Conv1D Conv2D Conv3D DepthwiseConv1D "
                              "DepthwiseConv2D SeparableConv1D SeparableConv2D";
  if (!call->user_type || call->keras->lead > 0 ||
      strcmp(keras_string(call->user_config, "padding", "valid"), "valid") != 0)
    return false;
  return word_index(types, slice_of(call->user_type));
}

/* A maximum pool takes the zeros if no value is below 0. */
static bool is_taken_by_pool(const struct keras_call *call) {
  enum layer_word word = graph_at(call->graph, call->inputs[0].node)->word;
  return call->user_type && call->keras->lead == 0 &&
         strncmp(call->user_type, "MaxPooling", 10) == 0 &&
         strcmp(keras_string(call->user_config, "padding", "valid"), "valid") ==
             0 &&
         (word == WORD_RELU || word == WORD_RELU6);
}

bool keras_zero_padding(struct keras_call *call) {
  struct keras_tensor out = {.padded = true};
  struct graph *g = call->graph;
  int axes;
  if (!keras_own_axes(call, &axes))
    return false;
  if (!read_sides(call, "padding", axes, 1, out.before, out.after))
    return false;
  out.node = keras_exact(call, &call->inputs[0]);
  if (is_taken_by_user(call) || is_taken_by_pool(call)) {
    *VEC_PUSH(g->arena, &call->outputs) = out;
    return true;
  }
  struct graph_node *node = keras_node(call, WORD_PAD, out.node);
  struct text text = text_new(g->arena);
  bool even = true;
  for (int i = 0; i < axes; i++) {
    text_printf(&text, "%s%" PRId64 ":%" PRId64, i ? "x" : "", out.before[i],
                out.after[i]);
    even =
        even && out.before[i] == out.before[0] && out.after[i] == out.before[0];
  }
  if (even)
    graph_int(g, node, PART_PADDING, "", out.before[0]);
  else
    graph_arg(g, node, PART_PADDING, "", text_string(&text));
  return keras_give(call, node->index);
}

bool keras_cropping(struct keras_call *call) {
  int64_t before[3], after[3];
  struct graph_shape out = call->inputs[0].shape;
  int axes, node;
  bool middle = true;
  if (!keras_own_axes(call, &axes))
    return false;
  if (!read_sides(call, "cropping", axes, axes == 1 ? 1 : 0, before, after))
    return false;
  for (int i = 0; i < axes; i++) {
    if (before[i] + after[i] >= out.size[i])
      return keras_fail(call, "it removes its whole input");
    middle = middle && before[i] == after[i];
    out.size[i] -= before[i] + after[i];
  }
  node = keras_exact(call, &call->inputs[0]);
  if (middle && axes == 2) {
    struct graph_node *crop = keras_node(call, WORD_CROP, node);
    graph_arg(call->graph, crop, PART_OTHER, "",
              graph_sizes(call->graph, out.size, axes));
    return keras_give(call, crop->index);
  }
  for (int i = 0; i < axes; i++)
    node = graph_part(call->graph, node, i, before[i], before[i] + out.size[i]);
  return keras_give(call, node);
}

bool keras_center_crop(struct keras_call *call) {
  const int64_t sizes[] = {keras_int(call, "height", 0, 1, KERAS_MOST),
                           keras_int(call, "width", 0, 1, KERAS_MOST)};
  if (call->inputs[0].shape.rank != 3 || sizes[0] == 0 || sizes[1] == 0)
    return keras_fail(call, "it needs a map, `height` and `width`");
  struct graph_node *crop =
      keras_node(call, WORD_CROP, keras_exact(call, &call->inputs[0]));
  graph_arg(call->graph, crop, PART_OTHER, "",
            graph_sizes(call->graph, sizes, 2));
  return keras_give(call, crop->index);
}

/* Sizes. */

static bool put_mode(struct keras_call *call, struct graph_node *node) {
  const char *mode = keras_string(call->config, "interpolation", "nearest");
  if (strcmp(call->type, "Resizing") == 0)
    mode = keras_string(call->config, "interpolation", "bilinear");
  if (strcmp(mode, "nearest") != 0 && strcmp(mode, "bilinear") != 0)
    return keras_fail(
        call, "netc has no equivalent of the interpolation `%.32s`", mode);
  if (strcmp(mode, "bilinear") == 0)
    graph_flag(call->graph, node, "bilinear");
  return true;
}

bool keras_upsampling(struct keras_call *call) {
  int64_t by[3] = {1, 1, 1};
  int axes;
  bool even = true;
  if (!keras_axes(call, &axes) ||
      !keras_ints(call, "size", 2, 1, axes, by + call->keras->lead))
    return false;
  for (int i = 0; i < call->keras->lead + axes; i++)
    even = even && by[i] == by[0];
  struct graph_node *node =
      keras_node(call, WORD_UP, keras_exact(call, &call->inputs[0]));
  graph_arg(call->graph, node, PART_OTHER, "",
            graph_sizes(call->graph, by, even ? 1 : call->keras->lead + axes));
  return put_mode(call, node) && keras_give(call, node->index);
}

bool keras_resizing(struct keras_call *call) {
  const struct graph_shape *in = &call->inputs[0].shape;
  const int64_t sizes[] = {keras_int(call, "height", 0, 1, KERAS_MOST),
                           keras_int(call, "width", 0, 1, KERAS_MOST)};
  if (in->rank != 3 || sizes[0] == 0 || sizes[1] == 0)
    return keras_fail(call, "it needs a map, `height` and `width`");
  static const char *const kept[] = {"crop_to_aspect_ratio",
                                     "pad_to_aspect_ratio"};
  for (int i = 0; i < 2; i++)
    if (keras_bool(call, kept[i], false) &&
        in->size[0] * sizes[1] != in->size[1] * sizes[0])
      return keras_fail(call, "netc has no equivalent of `%s`", kept[i]);
  struct graph_node *node =
      keras_node(call, WORD_UP, keras_exact(call, &call->inputs[0]));
  graph_arg(call->graph, node, PART_OTHER,
            "size=", graph_sizes(call->graph, sizes, 2));
  return put_mode(call, node) && keras_give(call, node->index);
}
