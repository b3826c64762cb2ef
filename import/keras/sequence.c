/* Keras' layers for sequences, and wrappers of layers. */
#include <string.h>

#include "import/keras/keras.h"

/* Marks the input as indices. */
static bool take_indices(struct keras_call *call, int node) {
  struct graph_node *at = graph_at(call->graph, node);
  if (at->word != WORD_INPUT)
    return true;
  if (at->args.count == 0)
    graph_arg(call->graph, at, PART_NONE, ": ", "i32");
  return true;
}

bool keras_embedding(struct keras_call *call) {
  int64_t entries = keras_int(call, "input_dim", 0, 1, KERAS_MOST);
  int64_t features = keras_int(call, "output_dim", 0, 1, KERAS_MOST);
  if (entries == 0 || features == 0)
    return keras_fail(call, "`input_dim` or `output_dim` is missing");
  if (!take_indices(call, call->inputs[0].node))
    return false;
  struct graph_node *node =
      graph_embed(call->graph, call->inputs[0].node, entries, features);
  const struct graph_shape table = {2, {entries, features}};
  return keras_take(call, node, "weight", &table, NULL) &&
         keras_give(call, node->index);
}

/* Recurrent layers. */

static const struct keras_recurrent {
  const char *theirs;
  enum layer_word ours;
  int gates;
  bool two; /* two biases for each gate */
} recurrents[] = {
    {"LSTM", WORD_LSTM, 4, false},     {"GRU", WORD_GRU, 3, false},
    {"SimpleRNN", WORD_RNN, 1, false}, {"CuDNNLSTM", WORD_LSTM, 4, true},
    {"CuDNNGRU", WORD_GRU, 3, true},
};

static const struct keras_recurrent *recurrent_of(const char *type) {
  for (size_t i = 0; i < sizeof recurrents / sizeof *recurrents; i++)
    if (strcmp(recurrents[i].theirs, type) == 0)
      return &recurrents[i];
  return NULL;
}

static bool usual_cell(struct keras_call *call) {
  bool values = call->keras->weights && call->keras->options->weights;
  const char *type = call->type;
  const char *active = keras_string(call->config, "activation", "tanh");
  const char *gates =
      keras_string(call->config, "recurrent_activation", "sigmoid");
  bool relu = strcmp(type, "SimpleRNN") == 0 && strcmp(active, "relu") == 0;
  if (strcmp(active, "tanh") != 0 ||
      (strcmp(gates, "sigmoid") != 0 && strcmp(gates, "hard_sigmoid") != 0))
    graph_note(call->graph,
               "`%.64s` has %s for its activation%s; netc uses tanh and "
               "sigmoid. The counts stay the same.",
               call->name, active, relu ? "" : "s");
  if (keras_bool(call, "go_backwards", false))
    graph_note(call->graph,
               "`%.64s` runs backwards; netc runs it forwards. The counts stay "
               "the same.",
               call->name);
  if (values && (strcmp(active, "tanh") != 0 || strcmp(gates, "sigmoid") != 0 ||
                 keras_bool(call, "go_backwards", false)))
    return keras_fail(call,
                      "its weights are for %s and %s, or for a backward run; "
                      "netc's cell runs forwards with tanh and sigmoid",
                      active, gates);
  return call->inputs[0].shape.rank == 2 ||
         keras_fail(call, "its input is not a sequence of vectors");
}

/* PyTorch has a gru's reset gate before the update gate. */
static void order_gates(const struct keras_call *call, struct graph_weight *w) {
  int64_t gate = w->count / 3;
  if (recurrent_of(call->type)->ours != WORD_GRU || !w->real)
    return;
  float *values =
      arena_room(call->graph->arena, (size_t)w->count + 1, sizeof *values);
  for (int64_t i = 0; i < w->count; i++)
    values[i] = w->real[i < gate ? i + gate : i < 2 * gate ? i - gate : i];
  w->real = values;
}

static bool take_gates(struct keras_call *call, struct graph_node *node,
                       const char *name, int64_t in, int64_t out) {
  struct graph_weight *w = keras_take_matrix(call, node, name, in, out);
  if (w)
    order_gates(call, w);
  return w;
}

/* One bias for each gate, or two: next to or after each other. */
static bool take_biases(struct keras_call *call, struct graph_node *node,
                        const char *suffix, int64_t count, bool two) {
  struct graph *g = call->graph;
  const struct graph_shape pair = {2, {2, count}}, line = {1, {2 * count}};
  const struct graph_shape one = {1, {count}};
  bool cuda = strncmp(call->type, "CuDNN", 5) == 0;
  struct graph_weight *w =
      keras_take(call, node, graph_text(g, "bias_ih_l0%s", suffix),
                 !two   ? &one
                 : cuda ? &line
                        : &pair,
                 NULL);
  if (!w || !w->real)
    return w;
  const float *other = w->real + count;
  w->count = count;
  order_gates(call, w);
  if (!two)
    return true;
  w = VEC_PUSH(g->arena, &node->weights);
  *w = (struct graph_weight){.name = graph_text(g, "bias_hh_l0%s", suffix),
                             .count = count,
                             .real = other};
  order_gates(call, w);
  return true;
}

/* Takes the weights of one direction, then those of the other. */
static bool take_cells(struct keras_call *call, struct graph_node *node,
                       int64_t units, bool both, bool two) {
  static const char *const suffixes[] = {"", "_reverse"};
  struct graph *g = call->graph;
  int64_t gates = recurrent_of(call->type)->gates * units;
  for (int i = 0; i <= both; i++)
    if (!take_gates(call, node, graph_text(g, "weight_ih_l0%s", suffixes[i]),
                    call->inputs[0].shape.size[1], gates) ||
        !take_gates(call, node, graph_text(g, "weight_hh_l0%s", suffixes[i]),
                    units, gates) ||
        (keras_bool(call, "use_bias", true) &&
         !take_biases(call, node, suffixes[i], gates, two)))
      return false;
  return true;
}

/* Adds nodes of one direction or both; outputs follow in Keras' order. */
static bool recurrent(struct keras_call *call, bool both, int *made) {
  const struct keras_recurrent *r = recurrent_of(call->type);
  int64_t units = keras_int(call, "units", 0, 1, KERAS_MOST);
  bool all = keras_bool(call, "return_sequences", false);
  bool two = r->two || (strcmp(call->type, "GRU") == 0 &&
                        keras_bool(call, "reset_after", false));
  if (!usual_cell(call))
    return false;
  if (call->input_count > 1)
    return keras_fail(call, "netc's recurrent layers start from zeros, not "
                            "from a given state");
  if (units == 0)
    return keras_fail(call, "`units` is missing");
  struct graph_node *node =
      keras_node(call, r->ours, keras_exact(call, call->inputs));
  struct graph *g = call->graph;
  graph_int(g, node, PART_CHANNELS, "", units);
  if (both)
    graph_flag(g, node, "bidir");
  if (!all)
    graph_flag(g, node, "last");
  if (!keras_bool(call, "use_bias", true))
    graph_flag(g, node, "nobias");
  else if (!two)
    graph_arg(g, node, PART_NONE, "bias=", "one");
  if (strcmp(call->type, "GRU") == 0 && !keras_bool(call, "reset_after", false))
    graph_arg(g, node, PART_NONE, "reset=", "before");
  *made = node->index;
  return take_cells(call, node, units, both, two);
}

/* netc gives neither the states of both directions nor an lstm's cell. */
static bool give_states(struct keras_call *call, const json_t *config,
                        int count) {
  if (json_is_true(keras_member(config, "return_state")))
    for (int i = 0; i < count; i++)
      keras_give(call, KERAS_STATE);
  return true;
}

/* Gives the state of one direction: its output, or the output's last step. */
static bool give_state(struct keras_call *call, int node) {
  if (!keras_bool(call, "return_state", false))
    return true;
  keras_give(call,
             keras_bool(call, "return_sequences", false) ? KERAS_LAST : node);
  call->outputs.at[call->outputs.count - 1].last_of = node;
  return strcmp(call->type, "LSTM") != 0 && strcmp(call->type, "CuDNNLSTM") != 0
             ? true
             : give_states(call, call->config, 1);
}

bool keras_one_way(struct keras_call *call) {
  int node;
  return recurrent(call, false, &node) && keras_give(call, node) &&
         give_state(call, node);
}

/* A ConvLSTM whose maps keep their size. */
bool keras_conv_lstm(struct keras_call *call) {
  struct graph *g = call->graph;
  const struct graph_shape *in = &call->inputs[0].shape;
  int64_t filters = keras_int(call, "filters", 0, 1, KERAS_MOST);
  int64_t kernel[2], strides[2], dilation[2];
  bool all = keras_bool(call, "return_sequences", false);
  if (!keras_ints(call, "kernel_size", 1, 1, 2, kernel) ||
      !keras_ints(call, "strides", 1, 1, 2, strides) ||
      !keras_ints(call, "dilation_rate", 1, 1, 2, dilation))
    return false;
  if (filters == 0 || in->rank != 4 || call->keras->channels_first[4])
    return keras_fail(
        call, "it needs `filters`, and a clip with channels last as its input");
  if (strcmp(keras_string(call->config, "padding", "valid"), "same") != 0 ||
      strides[0] != 1 || strides[1] != 1 || dilation[0] != 1 ||
      dilation[1] != 1 || kernel[0] % 2 == 0 || kernel[1] % 2 == 0)
    return keras_fail(call, "netc's convlstm keeps the size of its maps: "
                            "padding=\"same\", an odd kernel, no strides and "
                            "no dilation");
  if (call->input_count > 1 || keras_bool(call, "return_state", false) ||
      keras_bool(call, "go_backwards", false))
    return keras_fail(call, "netc's convlstm starts from zeros, runs forwards "
                            "and returns no state");
  struct graph_node *node =
      keras_node(call, WORD_CONVLSTM, keras_exact(call, call->inputs));
  if (!keras_leave_values(call))
    return false;
  graph_int(g, node, PART_CHANNELS, "", filters);
  graph_arg(g, node, PART_KERNEL, "", graph_sizes(g, kernel, 2));
  if (!all)
    graph_flag(g, node, "last");
  if (!keras_bool(call, "use_bias", true))
    graph_flag(g, node, "nobias");
  GRAPH_TENSOR(node, kernel[0], kernel[1], in->size[3], filters, 4);
  GRAPH_TENSOR(node, kernel[0], kernel[1], filters, filters, 4);
  if (keras_bool(call, "use_bias", true))
    GRAPH_TENSOR(node, filters, 4);
  return keras_give(call, node->index);
}

/* Makes a call for the layer inside a wrapper. */
static bool unwrap(const struct keras_call *call, const char *key,
                   struct keras_call *inner) {
  json_t *layer = keras_member(call->config, key);
  const char *type = keras_string(layer, "class_name", NULL);
  *inner = *call;
  inner->outputs.count = 0;
  inner->outputs.at = NULL;
  inner->json = layer;
  /* Nodes keep this string after the JSON is freed. */
  inner->type =
      type ? arena_copy(call->graph->arena, type, strlen(type)) : NULL;
  if (type)
    inner->type = keras_class(call->keras, inner->type);
  inner->config = keras_member(layer, "config");
  keras_begin(inner);
  return type && inner->config;
}

/* Both directions, concatenated; other merges work on the halves. */
bool keras_bidirectional(struct keras_call *call) {
  struct keras_call inner;
  int node;
  const char *mode = keras_string(call->config, "merge_mode", NULL);
  static const struct {
    const char *mode;
    enum layer_word word;
  } modes[] = {{"sum", WORD_ADD}, {"mul", WORD_MUL}, {"ave", WORD_ADD}};
  if (!unwrap(call, "layer", &inner) || !recurrent_of(inner.type))
    return keras_fail(call, "only LSTM, GRU and SimpleRNN run both ways");
  if (!mode)
    return keras_fail(call, "outputs that are not merged are not supported");
  if (!recurrent(&inner, true, &node))
    return false;
  call->took = inner.took;
  keras_begin(call);
  if (strcmp(mode, "concat") == 0)
    return keras_give(call, node) && give_states(call, inner.config, 4);
  const struct graph_shape *out = graph_shape(call->graph, node);
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    if (strcmp(mode, modes[i].mode) != 0)
      continue;
    int axis = out->rank - 1;
    int64_t half = out->size[axis] / 2;
    int there = graph_part(call->graph, node, axis, 0, half);
    int back = graph_part(call->graph, node, axis, half, half * 2);
    struct graph_node *join =
        graph_pair(call->graph, modes[i].word, there, back);
    if (strcmp(mode, "ave") == 0) {
      join = keras_node(call, WORD_MUL, join->index);
      graph_flag(call->graph, join, "0.5");
    }
    return keras_give(call, join->index) && give_states(call, inner.config, 4);
  }
  return keras_fail(call, "netc has no equivalent of the merge_mode `%.32s`",
                    mode);
}

/* Applies the layer to each step: it has the axes after the first. */
bool keras_time_distributed(struct keras_call *call) {
  struct keras *k = call->keras;
  struct keras_call inner;
  if (!unwrap(call, "layer", &inner))
    return keras_fail(call, "it has no `layer` inside");
  if (k->lead > 0)
    return keras_fail(call,
                      "one TimeDistributed inside another is not supported");
  if (call->inputs[0].shape.rank < 2 ||
      k->channels_first[call->inputs[0].shape.rank - 1])
    return keras_fail(call, "its input has no steps, or channels first");
  if (recurrent_of(inner.type) ||
      word_index("Bidirectional Embedding MultiHeadAttention",
                 slice_of(inner.type)))
    return keras_fail(call,
                      "netc has no equivalent of a sequence of sequences");
  if (k->depth == KERAS_DEEPEST)
    return keras_fail(call, "wrappers are nested more than %d levels deep",
                      KERAS_DEEPEST);
  inner.user_type = NULL;
  k->lead = 1;
  k->depth++;
  bool model = keras_member(inner.config, "layers");
  if (model)
    inner.path = graph_text(call->graph, "%s/layer", call->path);
  bool done = model ? keras_add_model(&inner) : keras_add_layer(&inner);
  call->took = model ? call->stored.count : inner.took;
  k->depth--;
  k->lead = 0;
  call->outputs.at = inner.outputs.at;
  call->outputs.count = inner.outputs.count;
  call->outputs.room = inner.outputs.room;
  return done;
}

/* Attention. */

static bool is_causal(const struct keras_call *call) {
  for (size_t i = 0; i < call->operand_count; i++)
    if (call->operands[i].key &&
        strcmp(call->operands[i].key, "use_causal_mask") == 0)
      return json_is_true(call->operands[i].value);
  return false;
}

static bool needs_heads(struct keras_call *call, int64_t heads, int64_t dim) {
  int64_t value = keras_int(call, "value_dim", dim, 1, KERAS_MOST);
  const json_t *axes = keras_member(call->config, "attention_axes");
  if (heads == 0 || dim == 0)
    return keras_fail(call, "it has no number of heads");
  if (value != dim)
    return keras_fail(
        call, "netc has no equivalent of values of another size than keys");
  if (json_array_size(axes) > 1)
    return keras_fail(call,
                      "netc has no equivalent of attention over several axes");
  if (call->input_count < 2 || call->inputs[0].shape.rank != 2 ||
      call->inputs[1].shape.rank != 2)
    return keras_fail(call, "it needs two sequences, queries and values");
  if (call->input_count > 3 ||
      (call->input_count == 3 && call->inputs[2].node != call->inputs[1].node))
    return keras_fail(
        call, "keys other than the values, and masks, are not supported");
  return true;
}

/* Takes matrices of queries, keys and values by head, and the output's. */
static bool take_heads(struct keras_call *call, struct graph_node *node,
                       int64_t heads, int64_t groups, int64_t dim,
                       int64_t result) {
  static const char *const names[] = {"q_proj", "k_proj", "v_proj", "out_proj"};
  static const int in[] = {1, 2, 0}, out[] = {2, 0, 1};
  struct graph *g = call->graph;
  for (int i = 0; i < 4; i++) {
    int64_t count = i == 1 || i == 2 ? groups : heads;
    int64_t from = call->inputs[i == 1 || i == 2].shape.size[1];
    const struct graph_shape split = {3, {from, count, dim}};
    const struct graph_shape joined = {3, {heads, dim, result}};
    const struct graph_shape bias = {2, {count, dim}}, last = {1, {result}};
    if (!keras_take(call, node, graph_text(g, "%s.weight", names[i]),
                    i < 3 ? &split : &joined, i < 3 ? in : out) ||
        (keras_bool(call, "use_bias", true) &&
         !keras_take(call, node, graph_text(g, "%s.bias", names[i]),
                     i < 3 ? &bias : &last, NULL)))
      return false;
  }
  return true;
}

/* Inputs: query, value and key; the default for key is value. */
bool keras_multi_head(struct keras_call *call) {
  struct graph *g = call->graph;
  int64_t heads = keras_int(call, "num_heads", 0, 1, KERAS_MOST);
  int64_t dim = keras_int(call, "key_dim", 0, 1, KERAS_MOST);
  int64_t groups = keras_int(call, "num_query_heads", 0, 1, KERAS_MOST);
  double drop = keras_real(call, "dropout", 0);
  if (groups > 0) { /* GroupedQueryAttention */
    dim = keras_int(call, "head_dim", 0, 1, KERAS_MOST);
    heads = groups;
    groups = keras_int(call, "num_key_value_heads", 0, 1, KERAS_MOST);
  }
  if (!needs_heads(call, heads, dim))
    return false;
  int64_t channels = call->inputs[0].shape.size[1];
  struct graph_node *node =
      keras_node(call, WORD_ATTENTION, keras_exact(call, call->inputs));
  graph_int(g, node, PART_GROUPS, "", heads);
  if (is_causal(call))
    graph_flag(g, node, "causal");
  if (groups > 0 && groups != heads)
    graph_int(g, node, PART_NONE, "kv=", groups);
  if (channels % heads != 0 || channels / heads != dim)
    graph_int(g, node, PART_NONE, "dim=", dim);
  if (drop > 0)
    graph_real(g, node, "dropout=", drop);
  if (!keras_bool(call, "use_bias", true))
    graph_flag(g, node, "nobias");
  int64_t out = channels;
  const json_t *stated = keras_member(call->config, "output_shape");
  if (json_is_array(stated))
    stated = json_array_get(stated, 0);
  if (stated &&
      !keras_integer(call, stated, "output_shape", 1, KERAS_MOST, &out))
    return false;
  if (out != channels)
    graph_int(g, node, PART_NONE, "out=", out);
  if (call->inputs[1].node != call->inputs[0].node) {
    node->key = "cross=";
    node->keyed = keras_exact(call, &call->inputs[1]);
  }
  return take_heads(call, node, heads, groups > 0 ? groups : heads, dim, out) &&
         keras_give(call, node->index);
}

/* softmax(q k') v, without weights. */
bool keras_attention(struct keras_call *call) {
  struct graph *g = call->graph;
  const char *mode = keras_string(call->config, "score_mode", "dot");
  if (keras_bool(call, "use_scale", false) || strcmp(mode, "dot") != 0)
    return keras_fail(call, "only scores that are products are supported");
  if (call->input_count < 2 || call->inputs[0].shape.rank != 2 ||
      call->inputs[1].shape.rank != 2)
    return keras_fail(call, "it needs two sequences");
  const struct keras_tensor *values = &call->inputs[1];
  const struct keras_tensor *keys =
      call->input_count > 2 ? &call->inputs[2] : values;
  struct graph_node *scores =
      graph_pair(call->graph, WORD_MATMUL, keras_exact(call, call->inputs),
                 keras_exact(call, keys));
  graph_flag(g, scores, "transpose");
  int shares = keras_node(call, WORD_SOFTMAX, scores->index)->index;
  struct graph_node *node =
      graph_pair(call->graph, WORD_MATMUL, shares, keras_exact(call, values));
  return keras_give(call, node->index);
}
