/* Darknet's layers with weights. Their tensors follow Darknet's own source. */
#include "import/darknet/darknet.h"

/* Adds a trained tensor of a layer, and its values. */
static void tensor(struct darknet *d, struct darknet_section *s,
                   struct graph_node *node, const char *name, int64_t count) {
  graph_tensor(node, &count, 1);
  darknet_take(d, s, node, name, count);
}

/*
 * Adds weights, then biases or a batch norm, then the activation. In the file
 * biases come first (the norm's, if there is one), then the norm's other values
 * and the weights. In a dense layer, weights come before the norm's other
 * values.
 */
static int weigh(struct darknet *d, struct darknet_section *s,
                 struct graph_node *node, int64_t weights, int64_t channels) {
  bool norm = darknet_number(d, s, "batch_normalize", 0);
  bool dense = node->word == WORD_FC;
  struct graph_node *last =
      norm ? graph_layer(d->graph, WORD_BN, node->index) : node;
  node->bias = norm ? BIAS_WITHOUT : BIAS_WITH;
  tensor(d, s, last, "bias", channels);
  if (dense)
    tensor(d, s, node, "weight", weights);
  if (norm) {
    tensor(d, s, last, "weight", channels);
    darknet_take(d, s, last, "running_mean", channels);
    darknet_take(d, s, last, "running_var", channels);
  }
  if (!dense)
    tensor(d, s, node, "weight", weights);
  return darknet_activate(d, s, last->index, "logistic");
}

/* Windows. */

/* Reads `pad`, which is half of the size, else `padding`. */
static void pad(struct darknet *d, struct darknet_section *s,
                struct graph_window *w) {
  int64_t pads = darknet_at_least(d, s, "padding", 0, 0);
  if (darknet_number(d, s, "pad", 0)) /* AlexeyAB: size / 2 * dilation */
    pads = w->kernel[0] / 2 * w->dilate[0];
  for (int i = 0; i < 2; i++)
    w->before[i] = w->after[i] = pads;
}

/* Adds a grouped convolution, its norm and its activation. */
static int convolve(struct darknet *d, struct darknet_section *s, int input,
                    int64_t filters, struct graph_window w) {
  int64_t groups = darknet_at_least(d, s, "groups", 1, 1);
  int64_t in = darknet_size(d, input).channels;
  pad(d, s, &w);
  struct graph_node *node =
      window_conv(d->graph, input, in, filters, groups, &w);
  const int64_t sizes[] = {in / groups, filters, w.kernel[0], w.kernel[1]};
  return weigh(d, s, node, graph_count(sizes, 4), filters);
}

int darknet_convolution(struct darknet *d, struct darknet_section *s,
                        int input) {
  struct graph_window w = darknet_window(d, s, 1);
  int64_t dilation = darknet_at_least(d, s, "dilation", 1, 1);
  darknet_strides(d, s, &w);
  if (w.kernel[0] > 1)
    w.dilate[0] = w.dilate[1] = dilation;
  return convolve(d, s, input, darknet_at_least(d, s, "filters", 1, 1), w);
}

int darknet_deconvolution(struct darknet *d, struct darknet_section *s,
                          int input) {
  int64_t filters = darknet_at_least(d, s, "filters", 1, 1);
  struct graph_window w = darknet_window(d, s, 1);
  pad(d, s, &w);
  struct graph_node *node =
      window_deconv(d->graph, input, filters, 1, &w, NULL);
  const int64_t sizes[] = {darknet_size(d, input).channels, filters,
                           w.kernel[0], w.kernel[1]};
  return weigh(d, s, node, graph_count(sizes, 4), filters);
}

/* One step of a recurrent layer of maps (src/crnn_layer.c of the fork). Its
 * products are convolutions that keep the map's size. */
int darknet_crnn(struct darknet *d, struct darknet_section *s, int input) {
  int64_t hidden = darknet_at_least(d, s, "hidden", 1, 1);
  int64_t output = darknet_at_least(d, s, "output", 1, 1);
  struct graph_window w = darknet_window(d, s, 3);
  int first = convolve(d, s, input, hidden, w);
  int own = convolve(d, s, first, hidden, w);
  if (!graph_same_shape(graph_shape(d->graph, first),
                        graph_shape(d->graph, own)))
    return DARKNET_FAIL(d, s, "the state of [crnn] does not keep its size");
  graph_note(d->graph, "[crnn] is read as one step, whose previous state is "
                       "computed from its input.");
  int state = graph_pair(d->graph, WORD_ADD, first, own)->index;
  return convolve(d, s, state, output, w);
}

/* Every position has weights of its own (src/local_layer.c). */
int darknet_local(struct darknet *d, struct darknet_section *s, int input) {
  static const int64_t steps[2] = {1, 1};
  struct graph_window w = darknet_window(d, s, 1);
  int64_t in = darknet_size(d, input).channels, size = w.kernel[0];
  int64_t filters = darknet_at_least(d, s, "filters", 1, 1);
  bool pads = darknet_number(d, s, "pad", 0);
  for (int i = 0; i < 2 && pads; i++) {
    w.before[i] = (size - 1) / 2;
    w.after[i] = size - 1 - w.before[i];
  }
  struct graph_node *node = graph_layer(d->graph, WORD_LOCAL, input);
  graph_int(d->graph, node, PART_CHANNELS, "", filters);
  graph_arg(d->graph, node, PART_KERNEL, "",
            graph_sizes(d->graph, w.kernel, 2));
  window_stride(d->graph, node, &w, steps);
  graph_padding(d->graph, node, 2, w.kernel, w.dilate, w.before, w.after);
  node->bias = BIAS_WITH;
  darknet_lacks_values(d, s);
  struct darknet_size out = darknet_size(d, node->index);
  GRAPH_TENSOR(node, in, filters, size, size, out.height, out.width);
  GRAPH_TENSOR(node, out.height, out.width, filters);
  return darknet_activate(d, s, node->index, "logistic");
}

/* Products. */

/* The number of input values: `l.inputs`. */
static int64_t inputs_of(struct darknet *d, int index) {
  const struct graph_shape *shape = graph_shape(d->graph, index);
  return graph_count(shape->size, (size_t)shape->rank);
}

int darknet_connected(struct darknet *d, struct darknet_section *s, int input) {
  int64_t output = darknet_at_least(d, s, "output", 1, 1);
  struct graph_node *node = graph_layer(d->graph, WORD_FC, input);
  const int64_t sizes[] = {inputs_of(d, input), output};
  graph_int(d->graph, node, PART_CHANNELS, "", output);
  return weigh(d, s, node, graph_count(sizes, 2), output);
}

/* Two connected layers for each gate, of the input and of the state. Each has
 * weights and a bias, as in PyTorch, or a batch norm. */
static int recurrent(struct darknet *d, struct darknet_section *s, int input,
                     int64_t output, int64_t gates) {
  struct graph_node *node = graph_layer(d->graph, d->word, input);
  bool norm = darknet_number(d, s, "batch_normalize", 0);
  darknet_lacks_values(d, s);
  graph_int(d->graph, node, PART_CHANNELS, "", output);
  if (norm)
    graph_arg(d->graph, node, PART_NONE, "norm=", "bn");
  GRAPH_TENSOR(node, gates, inputs_of(d, input), output);
  GRAPH_TENSOR(node, gates, output, output);
  GRAPH_TENSOR(node, norm ? 4 : 2, gates, output);
  return node->index;
}

int darknet_gated(struct darknet *d, struct darknet_section *s, int input) {
  return recurrent(d, s, input, darknet_at_least(d, s, "output", 1, 1),
                   d->word == WORD_GRU ? 3 : 4);
}

/* Two connected layers compute the state; a third reads it. */
int darknet_rnn(struct darknet *d, struct darknet_section *s, int input) {
  int64_t output = darknet_at_least(d, s, "output", 1, 1);
  int64_t hidden = darknet_at_least(d, s, "hidden", output, 1);
  const int64_t sizes[] = {hidden, output};
  struct graph_node *node =
      graph_layer(d->graph, WORD_LINEAR, recurrent(d, s, input, hidden, 1));
  graph_int(d->graph, node, PART_CHANNELS, "", output);
  graph_note(d->graph, "[rnn] applies its activation to each of its two "
                       "products; netc applies tanh to the sum.");
  return weigh(d, s, node, graph_count(sizes, 2), output);
}

/* A learned value for each channel (arXiv 2105.04206). */
int darknet_implicit(struct darknet *d, struct darknet_section *s, int input) {
  int64_t filters = darknet_at_least(d, s, "filters", 1, 1);
  struct graph_node *node = graph_join(d->graph, WORD_WEIGHT);
  (void)input;
  graph_int(d->graph, node, PART_CHANNELS, "", filters);
  tensor(d, s, node, "weight", filters);
  return node->index;
}

int darknet_batchnorm(struct darknet *d, struct darknet_section *s, int input) {
  struct graph_node *node = graph_layer(d->graph, WORD_BN, input);
  darknet_lacks_values(d, s); /* in some forks it has biases */
  GRAPH_TENSOR(node, 2, darknet_size(d, input).channels);
  return node->index;
}
