/* Keras' layers without windows: dense, activations, shapes. */
#include <inttypes.h>
#include <string.h>

#include "import/keras/keras.h"

bool keras_plain(struct keras_call *call) {
  int input = call->inputs[0].node;
  return keras_give_same(call,
                         keras_node(call, call->row->words[0], input)->index);
}

static bool give_real(struct keras_call *call, enum layer_word word,
                      double value, double usual) {
  struct graph_node *node =
      graph_with(call->graph, word, call->inputs[0].node, value);
  graph_usual(node, graph_number(call->graph, usual));
  return keras_give_same(call, node->index);
}

/* Dense. */

bool keras_dense(struct keras_call *call) {
  const struct graph_shape *in = &call->inputs[0].shape;
  int64_t units = keras_int(call, "units", 0, 1, KERAS_MOST);
  bool vector = in->rank == 1;
  if (units == 0)
    return keras_fail(call, "`units` is missing");
  if (!vector && call->keras->channels_first[in->rank])
    return keras_fail(
        call,
        "its last axis is not the channels, which come first in this model");
  int input = vector ? call->inputs[0].node : keras_exact(call, call->inputs);
  struct graph_node *node =
      keras_node(call, vector ? WORD_FC : WORD_LINEAR, input);
  graph_int(call->graph, node, PART_CHANNELS, "", units);
  node->bias = keras_bool(call, "use_bias", true) ? BIAS_WITH : BIAS_WITHOUT;
  return keras_take_matrix(call, node, "weight", in->size[in->rank - 1],
                           units) &&
         (node->bias == BIAS_WITHOUT ||
          keras_take_vector(call, node, "bias", units)) &&
         keras_give_active(call, node->index);
}

/* Activations. */

bool keras_by_channel(struct keras_call *call) {
  return keras_on_channels(call) && keras_plain(call);
}

bool keras_activation(struct keras_call *call) {
  int last = keras_activate(call, call->inputs[0].node,
                            keras_member(call->config, "activation"));
  return last >= 0 && keras_give_same(call, last);
}

bool keras_relu(struct keras_call *call) {
  double most = keras_real(call, "max_value", -1);
  double slope = keras_real(call, "negative_slope", 0);
  double from = keras_real(call, "threshold", 0);
  if (from < 0 || from > 0)
    return keras_fail(call, "netc has no equivalent of a threshold");
  if (most < 0)
    return slope > 0 || slope < 0 ? give_real(call, WORD_LEAKY, slope, 0.01)
                                  : keras_plain(call);
  if (slope > 0 || slope < 0)
    return keras_fail(call,
                      "netc has no equivalent of a slope with a largest value");
  if (most <= 6 && most >= 6)
    return keras_give_same(
        call, keras_node(call, WORD_RELU6, call->inputs[0].node)->index);
  int node = keras_node(call, WORD_RELU, call->inputs[0].node)->index;
  return keras_give_same(call,
                         graph_with(call->graph, WORD_MIN, node, most)->index);
}

bool keras_leaky(struct keras_call *call) {
  double slope =
      keras_real(call, "negative_slope", keras_real(call, "alpha", 0.3));
  return give_real(call, WORD_LEAKY, slope, 0.01);
}

bool keras_elu(struct keras_call *call) {
  return give_real(call, WORD_ELU, keras_real(call, "alpha", 1), 1);
}

/* One slope for each value; `shared_axes` share one. */
bool keras_prelu(struct keras_call *call) {
  struct graph_shape slopes = call->inputs[0].shape;
  const json_t *shared = keras_member(call->config, "shared_axes");
  bool each = true;
  for (size_t i = 0; i < json_array_size(shared); i++) {
    int64_t axis;
    if (!keras_integer(call, json_array_get(shared, i), "shared_axes",
                       -LIMIT_RANK, LIMIT_RANK, &axis))
      return false;
    int at = keras_axis(call, &slopes, axis);
    if (at < 0)
      return false;
    slopes.size[at] = 1;
  }
  for (int i = 0; i + 1 < slopes.rank; i++)
    each = each && slopes.size[i] == 1;
  int64_t count = slopes.size[slopes.rank - 1];
  if (each) {
    struct graph_node *node =
        keras_node(call, WORD_PRELU, call->inputs[0].node);
    if (count != call->inputs[0].shape.size[slopes.rank - 1])
      graph_flag(call->graph, node, "shared");
    return keras_take(call, node, "weight", &slopes, NULL) &&
           keras_give_same(call, node->index);
  }
  /* max(0, x) + slope * min(0, x) */
  int input = keras_exact(call, call->inputs);
  int above = keras_node(call, WORD_RELU, input)->index;
  struct graph_node *below = keras_node(call, WORD_MIN, input);
  graph_flag(call->graph, below, "0");
  int slope = keras_weight(call, &slopes, false);
  int sloped = graph_pair(call->graph, WORD_MUL, below->index, slope)->index;
  return keras_take(call, graph_at(call->graph, slope), "weight", &slopes,
                    NULL) &&
         keras_give(call,
                    graph_pair(call->graph, WORD_ADD, above, sloped)->index);
}

/* Layers that only training uses. */

bool keras_dropout(struct keras_call *call) {
  double rate = keras_real(call, "rate", 0.5);
  keras_leave_stored(call); /* of a random generator */
  const json_t *noise = keras_member(call->config, "noise_shape");
  bool samples = json_array_size(noise) > 1;
  if (!(rate >= 0 && rate < 1))
    return keras_fail(call, "`rate` must be at least 0 and less than 1");
  for (size_t i = 1; i < json_array_size(noise); i++)
    samples = samples && json_integer_value(json_array_get(noise, i)) == 1;
  if (rate <= 0)
    return keras_give_same(call, call->inputs[0].node);
  return samples ? give_real(call, WORD_DROPPATH, rate, 0.1)
                 : give_real(call, WORD_DROPOUT, rate, 0.5);
}

bool keras_drop_path(struct keras_call *call) {
  double rate = keras_real(call, "drop_path_rate", 0);
  if (!(rate >= 0 && rate < 1))
    return keras_fail(call,
                      "`drop_path_rate` must be at least 0 and less than 1");
  if (rate <= 0)
    return keras_give_same(call, call->inputs[0].node);
  return give_real(call, WORD_DROPPATH, rate, 0.1);
}

bool keras_left_out(struct keras_call *call) {
  graph_note(call->graph, "%s changes nothing in inference: it is left out.",
             call->type);
  keras_leave_stored(call);
  *VEC_PUSH(call->graph->arena, &call->outputs) = call->inputs[0];
  return true;
}

bool keras_masking(struct keras_call *call) {
  keras_note_masks(call);
  *VEC_PUSH(call->graph->arena, &call->outputs) = call->inputs[0];
  return true;
}

/* A Lambda is compiled Python; netc assumes that it keeps its input's shape. */
bool keras_lambda(struct keras_call *call) {
  if (!call->keras->options->allow_unknown) {
    keras_fail(call, "its computation is Python code, which the file has only "
                     "in compiled form");
    return graph_help(call->graph,
                      "--allow-unknown leaves it out, assuming that it keeps "
                      "the shape of its input");
  }
  graph_note(call->graph,
             "`%.64s` (Lambda) is left out: netc assumes that it keeps the "
             "shape of its input.",
             call->name);
  keras_leave_stored(call);
  *VEC_PUSH(call->graph->arena, &call->outputs) = call->inputs[0];
  return true;
}

/* Shapes. */

bool keras_flatten(struct keras_call *call) {
  struct graph_shape out = call->inputs[0].shape;
  int lead = call->keras->lead;
  /* `fc` flattens its input. */
  if (lead == 0 && call->user_type && strcmp(call->user_type, "Dense") == 0)
    return keras_give_vector(call, call->inputs[0].node);
  out.size[lead] = graph_count(out.size + lead, (size_t)(out.rank - lead));
  out.rank = lead + 1;
  return keras_give(
      call, graph_reshape(call->graph, keras_exact(call, call->inputs), &out));
}

/* A model with channels first needs transposes. */
bool keras_reshape_layer(struct keras_call *call) {
  const json_t *target = keras_member(call->config, "target_shape");
  struct graph_shape out;
  if (!keras_fill_shape(call, target, 0, "target_shape", &out))
    return false;
  if (call->keras->lead > 0)
    return keras_fail(call, "it is not supported in TimeDistributed");
  if (call->keras->channels_first[out.rank]) {
    int64_t channels = out.size[0];
    memmove(out.size, out.size + 1, (size_t)(out.rank - 1) * sizeof *out.size);
    out.size[out.rank - 1] = channels;
  }
  /* A vector after `gap` is a map of one pixel in netc. */
  return keras_give_reshaped(call, &out);
}

bool keras_permute(struct keras_call *call, const struct keras_tensor *in,
                   const json_t *dims, int from) {
  const int rank = in->shape.rank;
  bool seen[LIMIT_RANK] = {false}, same = true;
  int input = keras_exact(call, in), order[LIMIT_RANK];
  if (json_array_size(dims) != (size_t)(rank + from) || call->keras->lead > 0 ||
      call->keras->channels_first[rank])
    return keras_fail(
        call, "its order must be one of the input's axes, channels last");
  for (int i = 0; i < rank; i++) {
    int64_t axis;
    if (!keras_integer(call, json_array_get(dims, (size_t)(i + from)), "dims",
                       1, rank, &axis))
      return false;
    if (seen[axis - 1])
      return keras_fail(call, "an axis is listed twice");
    seen[axis - 1] = true;
    same = same && axis == i + 1;
    order[i] = (int)axis - 1;
  }
  return keras_give(
      call,
      same ? input : graph_permute(call->graph, input, order, rank)->index);
}

bool keras_permute_layer(struct keras_call *call) {
  return keras_permute(call, call->inputs, keras_member(call->config, "dims"),
                       0);
}

/* N copies: a map of one position, enlarged. */
bool keras_repeat_vector(struct keras_call *call) {
  int64_t times = keras_int(call, "n", 1, 1, KERAS_MOST);
  const struct graph_shape *in = &call->inputs[0].shape;
  struct graph_shape one = {2, {1, in->size[0]}};
  if (in->rank != 1)
    return keras_fail(call, "its input is not a vector");
  struct graph_node *node = keras_node(
      call, WORD_UP, graph_reshape(call->graph, call->inputs[0].node, &one));
  graph_int(call->graph, node, PART_OTHER, "", times);
  return keras_give(call, node->index);
}

/* Layers of Keras' applications: a factor by channel; x + scale * branch. */

bool keras_scale_by_channel(struct keras_call *call) {
  const struct graph_shape *in = &call->inputs[0].shape;
  struct graph_node *node = keras_node(call, WORD_SCALE, call->inputs[0].node);
  return keras_take_vector(call, node, "weight", in->size[in->rank - 1]) &&
         keras_give_same(call, node->index);
}

bool keras_custom_scale(struct keras_call *call) {
  if (call->input_count != 2)
    return keras_fail(call, "it needs two inputs");
  struct graph_node *node =
      keras_node(call, WORD_MUL, keras_exact(call, &call->inputs[1]));
  graph_real(call->graph, node, "", keras_real(call, "scale", 1));
  return keras_give(call,
                    graph_pair(call->graph, WORD_ADD,
                               keras_exact(call, call->inputs), node->index)
                        ->index);
}

/* Classes for 1, 2 and 3 spatial axes. */
static const struct keras_row rows[] = {
#define LAYER(type, function, ...) {type, function, {__VA_ARGS__}},
#include "ops/keras.def"
};

static const struct keras_row *find_row(const char *type) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].type, type) == 0)
      return &rows[i];
  return NULL;
}

/* QKeras: the same layers, with rounded weights and results. */
const char *keras_class(struct keras *k, const char *type) {
  if (type[0] != 'Q' || find_row(type) || !find_row(type + 1))
    return type;
  graph_note(k->graph, "Layers of QKeras are read as Keras layers, without "
                       "their rounding of values.");
  return type + 1;
}

/* Lists layers, then activations, then operations. */
bool keras_type(struct graph *graph, size_t index, struct import_type *type) {
  const size_t count = sizeof rows / sizeof *rows;
  if (index < count) {
    import_type_set(type, rows[index].type, rows[index].words);
    return true;
  }
  index -= count;
  size_t activations = 0;
  while (keras_activation_type(graph, activations, type))
    if (activations++ == index)
      return true;
  return keras_operation_type(graph, index - activations, type);
}

/* True for Keras 1, which had other names of classes and options. */
static bool is_old(const struct keras_call *call) {
  static const char types[] = "Convolution1D Convolution2D Convolution3D "
                              "Deconvolution2D Merge TimeDistributedDense";
  return word_index(types, slice_of(call->type)) ||
         keras_member(call->config, "nb_filter") ||
         keras_member(call->config, "border_mode") ||
         (keras_member(call->config, "output_dim") &&
          !keras_member(call->config, "units") &&
          strcmp(call->type, "Embedding") != 0);
}

static bool refuse_old(struct keras_call *call) {
  keras_fail(call, "it is in the format of Keras 1");
  return graph_help(call->graph,
                    "load the model with Keras 2 and save it again");
}

static bool unknown(struct keras_call *call) {
  return keras_leave(call, call->type, "netc has no equivalent of this class");
}

bool keras_add_layer(struct keras_call *call) {
  const char *module = keras_string(call->json, "module", "");
  const char *function = keras_string(call->config, "function", NULL);
  if (strstr(module, ".ops."))
    return keras_add_operation(call, call->type);
  if (strcmp(call->type, "TFOpLambda") == 0 ||
      strcmp(call->type, "SlicingOpLambda") == 0)
    return keras_add_operation(call, function ? function : call->name);
  if (is_old(call))
    return refuse_old(call);
  call->row = find_row(call->type);
  if (!call->row)
    return unknown(call);
  if (call->input_count == 0)
    return keras_fail(call, "it has no input");
  return call->row->add(call);
}
