/* Darknet's layers with weights: what each has of them, by its own source. */
#include "base/check.h"
#include "import/darknet/darknet.h"

/* A norm of so many channels: scales and biases (`l.scales`, `l.biases`). */
static int norm(struct darknet *d, int input, int64_t channels) {
  struct graph_node *node = graph_layer(d->graph, WORD_BN, input);
  GRAPH_TENSOR(node, 2, channels);
  return node->index;
}

/* Darknet's batch norm takes the place of a bias. */
static int normalize(struct darknet *d, struct darknet_section *s,
                     struct graph_node *node, int64_t channels) {
  bool normalizes = darknet_number(d, s, "batch_normalize", 0);
  node->bias = normalizes ? BIAS_WITHOUT : BIAS_WITH;
  if (normalizes)
    return norm(d, node->index, channels);
  GRAPH_TENSOR(node, channels);
  return node->index;
}

/*
 * Biases, which are those of the norm if there is one, then the norm's other
 * values and the weights, or, of a dense layer, these first.
 */
static int take(struct darknet *d, struct darknet_section *s,
                struct graph_node *node, int output, int64_t channels) {
  struct graph_node *last = graph_at(d->graph, output);
  bool dense = node->word == WORD_FC;
  int64_t weights = node->params - (last == node ? channels : 0);
  darknet_take(d, s, last, "bias", channels);
  if (dense)
    darknet_take(d, s, node, "weight", weights);
  if (last != node) {
    darknet_take(d, s, last, "weight", channels);
    darknet_take(d, s, last, "running_mean", channels);
    darknet_take(d, s, last, "running_var", channels);
  }
  if (!dense)
    darknet_take(d, s, node, "weight", weights);
  return output;
}

/* A convolution in groups, its norm and its activation. */
static int convolve(struct darknet *d, struct darknet_section *s, int input,
                    int64_t filters, struct graph_window w) {
  struct darknet_size in = darknet_size(d, input);
  int64_t groups = darknet_at_least(d, s, "groups", 1, 1);
  if (d->graph->failed || !darknet_fits(d, s, window_count(&w, 0, in.height),
                                        window_count(&w, 1, in.width)))
    return input;
  struct graph_node *node =
      window_conv(d->graph, input, in.channels, filters, groups, &w);
  GRAPH_TENSOR(node, in.channels / groups, filters, w.kernel[0], w.kernel[1]);
  int output = take(d, s, node, normalize(d, s, node, filters), filters);
  return darknet_activate(d, s, output, "logistic");
}

int darknet_convolution(struct darknet *d, struct darknet_section *s,
                        int input) {
  struct graph_window w = darknet_window(d, s, 1);
  int64_t filters = darknet_at_least(d, s, "filters", 1, 1);
  int64_t dilation = darknet_at_least(d, s, "dilation", 1, 1);
  int64_t pads = darknet_at_least(d, s, "padding", 0, 0);
  if (w.kernel[0] == 1)
    dilation = 1;
  /* AlexeyAB: padding = size / 2 * dilation. */
  if (darknet_number(d, s, "pad", 0))
    pads = w.kernel[0] / 2 * dilation;
  for (int i = 0; i < 2; i++) {
    w.dilate[i] = dilation;
    w.before[i] = w.after[i] = pads;
  }
  return convolve(d, s, input, filters, w);
}

int darknet_deconvolution(struct darknet *d, struct darknet_section *s,
                          int input) {
  int64_t filters = darknet_at_least(d, s, "filters", 1, 1);
  int64_t size = darknet_at_least(d, s, "size", 1, 1);
  int64_t stride = darknet_at_least(d, s, "stride", 1, 1);
  int64_t pads = darknet_number(d, s, "pad", 0)
                     ? size / 2
                     : darknet_at_least(d, s, "padding", 0, 0);
  struct graph_window w = window_square(2, size, stride);
  struct graph_node *node;
  for (int i = 0; i < 2; i++)
    w.before[i] = w.after[i] = pads;
  if (d->graph->failed ||
      (!window_deconv(d->graph, input, filters, 1, &w, NULL, &node) &&
       !darknet_fits(d, s, 0, 0)))
    return input;
  GRAPH_TENSOR(node, darknet_size(d, input).channels, filters, size, size);
  int output = take(d, s, node, normalize(d, s, node, filters), filters);
  return darknet_activate(d, s, output, "logistic");
}

/* All that comes in: `l.inputs`. */
static int64_t inputs_of(struct darknet *d, int index) {
  const struct graph_shape *shape = &graph_at(d->graph, index)->shape;
  int64_t count = 1;
  for (int i = 0; i < shape->rank; i++)
    if (!mul_i64(count, shape->size[i], &count))
      return INT64_MAX;
  return count;
}

int darknet_connected(struct darknet *d, struct darknet_section *s, int input) {
  int64_t output = darknet_at_least(d, s, "output", 1, 1);
  struct graph_node *node = graph_layer(d->graph, WORD_FC, input);
  graph_int(d->graph, node, PART_CHANNELS, "", output);
  node->shape = (struct graph_shape){1, {output}};
  GRAPH_TENSOR(node, inputs_of(d, input), output);
  int last = take(d, s, node, normalize(d, s, node, output), output);
  return darknet_activate(d, s, last, "logistic");
}

/* Gates' weights and two biases each, as PyTorch has them; with batch norm
 * those of the norms. Two connected layers a gate: of input and of state. */
static int recurrent(struct darknet *d, struct darknet_section *s, int input,
                     enum layer_word word, int64_t output, int64_t gates) {
  struct graph_node *node = graph_layer(d->graph, word, input);
  bool norm = darknet_number(d, s, "batch_normalize", 0);
  darknet_lacks_values(d, s);
  graph_int(d->graph, node, PART_CHANNELS, "", output);
  if (norm)
    graph_arg(d->graph, node, PART_NONE, "norm=", "bn");
  GRAPH_TENSOR(node, gates, inputs_of(d, input), output);
  GRAPH_TENSOR(node, gates, output, output);
  GRAPH_TENSOR(node, norm ? 4 : 2, gates, output);
  node->shape.size[node->shape.rank - 1] = output;
  return node->index;
}

/* Of its two other connected layers and of the one after them. */
int darknet_rnn(struct darknet *d, struct darknet_section *s, int input) {
  int64_t output = darknet_at_least(d, s, "output", 1, 1);
  int64_t hidden = darknet_at_least(d, s, "hidden", output, 1);
  int state = recurrent(d, s, input, WORD_RNN, hidden, 1);
  struct graph_node *node = graph_layer(d->graph, WORD_LINEAR, state);
  graph_int(d->graph, node, PART_CHANNELS, "", output);
  node->shape.size[node->shape.rank - 1] = output;
  GRAPH_TENSOR(node, hidden, output);
  graph_note(d->graph, "The states of [rnn] have its activation, which each "
                       "of both products goes through; here tanh of the sum.");
  return darknet_activate(d, s, normalize(d, s, node, output), "logistic");
}

/* A product of [crnn]: a convolution that keeps the map. */
static int crnn_product(struct darknet *d, struct darknet_section *s, int input,
                        int64_t filters) {
  struct graph_window w = window_square(2, darknet_at_least(d, s, "size", 3, 1),
                                        darknet_at_least(d, s, "stride", 1, 1));
  int64_t pads = darknet_at_least(d, s, "padding", 0, 0);
  if (darknet_number(d, s, "pad", 0))
    pads = w.kernel[0] / 2;
  for (int i = 0; i < 2; i++)
    w.before[i] = w.after[i] = pads;
  return convolve(d, s, input, filters, w);
}

/* One step of a recurrent layer of maps (src/crnn_layer.c of the fork). */
int darknet_crnn(struct darknet *d, struct darknet_section *s, int input) {
  int64_t hidden = darknet_at_least(d, s, "hidden", 1, 1);
  int64_t output = darknet_at_least(d, s, "output", 1, 1);
  int first = crnn_product(d, s, input, hidden);
  int own = crnn_product(d, s, first, hidden);
  if (!d->graph->failed && !graph_same_shape(&graph_at(d->graph, first)->shape,
                                             &graph_at(d->graph, own)->shape))
    return DARKNET_FAIL(d->graph, s->line,
                        "the state of [crnn] does not keep its size");
  graph_note(d->graph, "[crnn] is one step here, and the state before it what "
                       "its input gives.");
  int state = graph_pair(d->graph, WORD_ADD, first, own)->index;
  return crnn_product(d, s, state, output);
}

/* Weights of its own at every position (src/local_layer.c). */
int darknet_local(struct darknet *d, struct darknet_section *s, int input) {
  static const int64_t steps[2] = {1, 1};
  struct darknet_size in = darknet_size(d, input);
  int64_t filters = darknet_at_least(d, s, "filters", 1, 1), places;
  int64_t size = darknet_at_least(d, s, "size", 1, 1);
  struct graph_window w =
      window_square(2, size, darknet_at_least(d, s, "stride", 1, 1));
  bool pads = darknet_number(d, s, "pad", 0);
  for (int i = 0; i < 2 && pads; i++) {
    w.before[i] = (size - 1) / 2;
    w.after[i] = size - 1 - w.before[i];
  }
  int64_t height = window_count(&w, 0, in.height);
  int64_t width = window_count(&w, 1, in.width);
  if (d->graph->failed || !darknet_fits(d, s, height, width))
    return input;
  struct graph_node *node = graph_layer(d->graph, WORD_LOCAL, input);
  graph_int(d->graph, node, PART_CHANNELS, "", filters);
  graph_arg(d->graph, node, PART_KERNEL, "",
            graph_sizes(d->graph, w.kernel, 2));
  window_stride(d->graph, node, &w, steps);
  graph_padding(d->graph, node, 2, w.kernel, w.dilate, w.before, w.after);
  node->bias = BIAS_WITH;
  darknet_lacks_values(d, s);
  places = mul_i64(height, width, &places) ? places : INT64_MAX;
  GRAPH_TENSOR(node, in.channels, filters, size, size, places);
  GRAPH_TENSOR(node, places, filters);
  return darknet_activate(d, s, darknet_map(node, height, width, filters),
                          "logistic");
}

/* A learned value a channel (arXiv 2105.04206), and what it changes. */
int darknet_implicit(struct darknet *d, struct darknet_section *s, int input) {
  int64_t filters = darknet_at_least(d, s, "filters", 1, 1);
  struct graph_node *node = graph_join(d->graph, WORD_WEIGHT);
  (void)input;
  graph_int(d->graph, node, PART_CHANNELS, "", filters);
  node->shape = (struct graph_shape){1, {filters}};
  GRAPH_TENSOR(node, filters);
  darknet_take(d, s, node, "weight", filters);
  return node->index;
}

int darknet_gru(struct darknet *d, struct darknet_section *s, int input) {
  return recurrent(d, s, input, WORD_GRU,
                   darknet_at_least(d, s, "output", 1, 1), 3);
}

int darknet_lstm(struct darknet *d, struct darknet_section *s, int input) {
  return recurrent(d, s, input, WORD_LSTM,
                   darknet_at_least(d, s, "output", 1, 1), 4);
}

int darknet_batchnorm(struct darknet *d, struct darknet_section *s, int input) {
  darknet_lacks_values(d, s); /* forks differ in whether it has biases */
  return norm(d, input, darknet_size(d, input).channels);
}
