/* Nodes of Keras' layers, and functions that most layers need. */
#include <inttypes.h>
#include <string.h>

#include "import/keras/keras.h"

void keras_begin(const struct keras_call *call) {
  call->graph->at = (struct graph_origin){.name = call->name,
                                          .kind = call->type,
                                          .line = call->place.line,
                                          .column = call->place.column,
                                          .frozen = call->frozen};
}

bool keras_leave(struct keras_call *call, const char *type, const char *why) {
  if (call->keras->options->allow_unknown) {
    graph_note_left(call->graph, call->name, type);
    return false;
  }
  keras_fail(call, "%s", why);
  return graph_help_leave(call->graph);
}

static bool is_open(const json_t *size) {
  return json_is_null(size) ||
         (json_is_integer(size) && json_integer_value(size) == -1);
}

bool keras_fill_shape(struct keras_call *call, const json_t *target,
                      size_t from, const char *what,
                      struct graph_shape *shape) {
  size_t length = json_array_size(target);
  const struct graph_shape *in = &call->inputs[0].shape;
  int64_t all = graph_count(in->size, (size_t)in->rank), known = 1;
  int open = -1;
  if (!json_is_array(target) || length <= from ||
      length - from > LIMIT_RANK - 1)
    return keras_fail(call, "`%s` is not a list of sizes", what);
  *shape = (struct graph_shape){.rank = (int)(length - from)};
  for (int i = 0; i < shape->rank; i++) {
    const json_t *size = json_array_get(target, from + (size_t)i);
    if (open < 0 && is_open(size))
      open = i;
    else if (!keras_integer(call, size, what, 1, KERAS_MOST, &shape->size[i]))
      return false;
    else if (all / shape->size[i] < known)
      return keras_fail(call, "`%s` has more values than its input", what);
    else
      known *= shape->size[i];
  }
  if (open >= 0)
    shape->size[open] = all / known;
  return (open >= 0 ? all % known == 0 : known == all) ||
         keras_fail(call,
                    "its input has %" PRId64 " values, which do not match `%s`",
                    all, what);
}

int keras_exact(struct keras_call *call, const struct keras_tensor *tensor) {
  return graph_reshape(call->graph, tensor->node, &tensor->shape);
}

void keras_note_masks(struct keras_call *call) {
  graph_note(
      call->graph,
      "Masks are left out: netc counts every step. The parameters stay the "
      "same.");
}

static bool give(struct keras_call *call, int node, bool vector) {
  struct graph *g = call->graph;
  if (node >= 0)
    graph_shape(g, node);
  VEC_RESERVE(g->arena, &call->outputs, 1);
  *VEC_PUSH(g->arena, &call->outputs) =
      (struct keras_tensor){.node = node, .vector = vector};
  return !g->failed;
}

bool keras_give(struct keras_call *call, int node) {
  return give(call, node, false);
}

bool keras_give_vector(struct keras_call *call, int node) {
  return give(call, node, true);
}

bool keras_give_like(struct keras_call *call, int node,
                     const struct keras_tensor *from) {
  return give(call, node, from->vector);
}

bool keras_give_same(struct keras_call *call, int node) {
  return keras_give_like(call, node, call->inputs);
}

bool keras_give_reshaped(struct keras_call *call,
                         const struct graph_shape *shape) {
  return keras_give(call,
                    graph_reshape(call->graph, call->inputs[0].node, shape));
}

bool keras_give_active(struct keras_call *call, int node) {
  node = keras_activate(call, node, keras_member(call->config, "activation"));
  return node >= 0 && keras_give(call, node);
}

struct graph_shape keras_shape(struct keras *k,
                               const struct keras_tensor *tensor) {
  if (tensor->node < 0 && tensor->node != KERAS_LAST)
    return (struct graph_shape){0};
  int node = tensor->node < 0 ? tensor->last_of : tensor->node;
  const struct graph_shape *shape = graph_shape(k->graph, node);
  size_t rank = (size_t)shape->rank;
  if (tensor->node < 0)
    return (struct graph_shape){1, {shape->size[rank - 1]}};
  return tensor->vector
             ? (struct graph_shape){1, {graph_count(shape->size, rank)}}
             : *shape;
}

int keras_spatial(const struct keras_call *call) {
  return call->inputs[0].shape.rank - call->keras->lead - 1;
}

int keras_axis(struct keras_call *call, const struct graph_shape *shape,
               int64_t axis) {
  if (axis > 0)
    axis += call->keras->lead;
  if (axis < 0)
    axis += shape->rank + 1;
  if (axis < 1 || axis > shape->rank) {
    keras_fail(call, axis == 0 ? "its axis is the batch"
                               : "its input has no such axis");
    return -1;
  }
  if (!call->keras->channels_first[shape->rank])
    return (int)axis - 1;
  return axis == 1 ? shape->rank - 1 : (int)axis - 2;
}

int keras_weight(struct keras_call *call, const struct graph_shape *shape,
                 bool fixed) {
  struct graph_node *node = graph_constant(call->graph, shape, fixed);
  if (!fixed)
    graph_tensor(node, shape->size, (size_t)shape->rank);
  return node->index;
}

int keras_withdraw(struct keras_call *call, int node,
                   const enum layer_word *words, int count) {
  struct keras *k = call->keras;
  int at = node;
  if (node + 1 != (int)k->graph->nodes.count)
    return -1;
  for (int i = count; i-- > 0;) {
    const struct graph_node *made = at >= 0 ? graph_at(call->graph, at) : NULL;
    if (!made || at != node - (count - 1 - i) || at >= (int)k->alone.count ||
        !k->alone.at[at] || made->inputs.count != 1 || made->word != words[i])
      return -1;
    at = made->inputs.at[0];
  }
  k->graph->nodes.count -= (size_t)count;
  k->alone.count = k->graph->nodes.count;
  return at;
}

/* Activations: strings, or objects in Keras 3. */

static const struct keras_activation {
  const char *theirs;
  enum layer_word ours;
  const char *argument;
} activations[] = {
#define ACTIVATION(theirs, ours, argument) {theirs, ours, argument},
#include "ops/keras.def"
};

bool keras_activation_type(struct graph *graph, size_t index,
                           struct import_type *type) {
  const size_t count = sizeof activations / sizeof *activations;
  if (index >= count)
    return keras_function_type(graph, IN_KERAS_ACTIVATIONS, "activation=%.*s",
                               index - count, type);
  const struct keras_activation *a = &activations[index];
  *type = (struct import_type){graph_text(graph, "activation=%s", a->theirs),
                               {a->ours}};
  return true;
}

/* Lists names in both dialects, then those in `own` alone. */
bool keras_function_type(struct graph *graph, enum dialect own,
                         const char *format, size_t index,
                         struct import_type *type) {
  struct slice name;
  size_t both = 0;
  while (function_name_at(IN_KERAS, both, &name))
    both++;
  return index < both
             ? import_function_type(graph, IN_KERAS, format, index, type)
             : import_function_type(graph, own, format, index - both, type);
}

/* QKeras rounds the result of a function: the function that is rounded. */
static const struct {
  const char *theirs, *ours;
} quantizers[] = {
    {"quantized_relu", "relu"},         {"quantized_relu_po2", "relu"},
    {"quantized_tanh", "tanh"},         {"quantized_sigmoid", "sigmoid"},
    {"quantized_swish", "swish"},       {"quantized_bits", "linear"},
    {"quantized_linear", "linear"},     {"quantized_po2", "linear"},
    {"quantized_hswish", "hard_swish"},
};

/* "relu" of "quantized_relu(6,0)" */
static const char *without_quantizer(const char *name) {
  struct slice called = {name, strcspn(name, "(")};
  for (size_t i = 0; i < sizeof quantizers / sizeof *quantizers; i++)
    if (slice_is(called, quantizers[i].theirs))
      return quantizers[i].ours;
  return name;
}

/* The name in a string, or in an object {class_name, config}. */
static const char *activation_name(const json_t *value) {
  if (json_is_string(value))
    return json_string_value(value);
  const char *inner = keras_string(value, "config", NULL);
  return inner ? inner : keras_string(value, "class_name", NULL);
}

/* clip(x/5 + 1/2, 0, 1); Keras 3 and PyTorch have x/6 + 1/2. */
static int old_hard_sigmoid(struct keras_call *call, int node) {
  node = graph_with(call->graph, WORD_MUL, node, 0.2)->index;
  node = graph_with(call->graph, WORD_ADD, node, 0.5)->index;
  node = keras_node(call, WORD_RELU, node)->index;
  return graph_with(call->graph, WORD_MIN, node, 1)->index;
}

int keras_activate(struct keras_call *call, int node, const json_t *value) {
  const char *name = activation_name(value);
  if (!value)
    return node;
  bool hard = name && strcmp(name, "hard_sigmoid") == 0;
  if (hard && call->keras->version > 0 && call->keras->version < 3)
    return old_hard_sigmoid(call, node);
  if (hard && !call->keras->version && call->keras->weights &&
      call->keras->options->weights) {
    keras_fail(call,
               "hard_sigmoid is x/5 + 1/2 in Keras 2 and x/6 + 1/2 in Keras 3, "
               "and the file does not say which version wrote it");
    return -1;
  }
  name = name ? without_quantizer(name) : NULL;
  for (size_t i = 0; name && i < sizeof activations / sizeof *activations;
       i++) {
    const struct keras_activation *a = &activations[i];
    if (strcmp(name, a->theirs) != 0)
      continue;
    if (!a->ours)
      return node;
    struct graph_node *active = keras_node(call, a->ours, node);
    if (a->argument)
      graph_flag(call->graph, active, a->argument);
    return active->index;
  }
  const struct function *function =
      name ? function_find(IN_KERAS, slice_of(name)) : NULL;
  if (name && !function)
    function = function_find(IN_KERAS_ACTIVATIONS, slice_of(name));
  if (function)
    return keras_node(call, function->word, node)->index;
  keras_fail(call, "netc has no equivalent of the activation `%.64s`",
             name ? name : "?");
  return -1;
}
