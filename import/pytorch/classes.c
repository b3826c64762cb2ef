/* Translates classes of torch.nn into layers, a row for each. */
#include <inttypes.h>

#include "import/pytorch/module.h"
#include "import/window.h"

/* The number of axes, from the class's name: Conv2d, MaxPool1d. */
static int axes_of(const struct modules *m) {
  return m->class.at[m->class.length - 2] - '0';
}

static bool is_map(struct modules *m) {
  int axes = axes_of(m), rank = module_shape(m)->rank;
  return rank == axes + 1 ||
         module_fail(m,
                     "it needs %d axes and channels, but its input has %d axes",
                     axes, rank - 1);
}

static bool take_biased(struct modules *m, struct graph_node *node,
                        int64_t weights, int64_t out) {
  bool bias = module_has_tensor(m, "bias");
  node->bias = bias ? BIAS_WITH : BIAS_WITHOUT;
  return module_take(m, node, "weight", weights) &&
         (!bias || module_take(m, node, "bias", out)) && module_give(m, node);
}

/* Takes padding of "zeros" as numbers, or "same" if the stride is 1. */
static bool take_window(struct modules *m, struct graph_window *w) {
  const struct pickle_value *mode = module_option(m, "padding_mode");
  const struct pickle_value *padding = module_option(m, "padding");
  w->axes = axes_of(m);
  if (pickle_is(mode, PICKLE_TEXT) && !slice_is(mode->text, "zeros"))
    return module_fail(m, "padding of mode `%.*s` is not supported",
                       SLICE_ARG(mode->text));
  if (!module_sizes(m, "kernel_size", w->axes, 1, w->kernel) ||
      !module_sizes(m, "stride", w->axes, 1, w->stride))
    return false;
  for (int i = 0; i < w->axes; i++)
    w->dilate[i] = 1;
  if (module_option(m, "dilation") &&
      !module_sizes(m, "dilation", w->axes, 1, w->dilate))
    return false;
  bool word = pickle_is(padding, PICKLE_TEXT);
  if (word && slice_is(padding->text, "same"))
    window_same(w, module_shape(m)->size);
  else if (!word && !module_sizes(m, "padding", w->axes, 0, w->before))
    return false;
  for (int i = 0; i < w->axes && !word; i++)
    w->after[i] = w->before[i];
  return true;
}

static bool take_channels(struct modules *m, int64_t *in, int64_t *out,
                          int64_t *groups) {
  return module_size(m, "in_channels", 1, in) &&
         module_size(m, "out_channels", 1, out) &&
         module_size(m, "groups", 1, groups) &&
         (*in % *groups == 0 ||
          module_fail(m, "its groups do not divide its input"));
}

/* The size of a kernel with `out` outputs that reads `in` channels each. */
static int64_t kernel_values(const struct graph_window *w, int64_t out,
                             int64_t in) {
  const int64_t sizes[] = {out, in, graph_count(w->kernel, (size_t)w->axes)};
  return graph_count(sizes, 3);
}

static bool add_conv(struct modules *m) {
  struct graph_window w = {0};
  int64_t in = 0, out = 0, groups = 1;
  if (!is_map(m) || !take_window(m, &w) ||
      !take_channels(m, &in, &out, &groups) || !module_has_channels(m, in))
    return false;
  struct graph_node *node = window_conv(m->graph, m->at, in, out, groups, &w);
  return take_biased(m, node, kernel_values(&w, out, in / groups), out);
}

static bool add_deconv(struct modules *m) {
  struct graph_window w = {0};
  int64_t in = 0, out = 0, groups = 1, more[3] = {0};
  if (!is_map(m) || !take_window(m, &w) ||
      !module_sizes(m, "output_padding", w.axes, 0, more) ||
      !take_channels(m, &in, &out, &groups) || !module_has_channels(m, in))
    return false;
  struct graph_node *node =
      window_deconv(m->graph, m->at, out, groups, &w, more);
  return take_biased(m, node, kernel_values(&w, in, out / groups), out);
}

static bool add_linear(struct modules *m) {
  int64_t in = 0, out = 0;
  if (!module_size(m, "in_features", 1, &in) ||
      !module_size(m, "out_features", 1, &out) || !module_has_channels(m, in))
    return false;
  if (module_shape(m)->rank > 2)
    return module_fail(
        m, "PyTorch applies it to the last axis of a map, which is the "
           "channels in netc");
  struct graph_node *node =
      module_layer(m, module_shape(m)->rank == 1 ? WORD_FC : WORD_LINEAR);
  graph_int(m->graph, node, PART_CHANNELS, "", out);
  return take_biased(m, node, in * out, out);
}

static bool add_bn(struct modules *m) {
  int64_t channels = 0;
  double eps = 0;
  if (!module_size(m, "num_features", 1, &channels) ||
      !module_real(m, "eps", &eps) || !module_has_channels(m, channels))
    return false;
  if (!module_is_true(m, "track_running_stats", true))
    return module_fail(m, "it keeps no statistics, which is not supported");
  struct graph_node *node = module_layer(m, WORD_BN);
  bool affine = module_has_tensor(m, "weight");
  if (!affine)
    graph_flag(m->graph, node, "noaffine");
  graph_eps(m->graph, node, eps);
  return (!affine || (module_take(m, node, "weight", channels) &&
                      module_take(m, node, "bias", channels))) &&
         module_take(m, node, "running_mean", channels) &&
         module_take(m, node, "running_var", channels) && module_give(m, node);
}

static bool pool(struct modules *m, enum layer_word word) {
  struct graph_window w = {0};
  if (!is_map(m) || !take_window(m, &w))
    return false;
  bool ceil = module_is_true(m, "ceil_mode", false), padded = false;
  for (int i = 0; i < w.axes; i++)
    padded = padded || w.before[i];
  if (module_is_true(m, "return_indices", false) ||
      (padded && !module_is_true(m, "count_include_pad", true)) ||
      pickle_is(module_option(m, "divisor_override"), PICKLE_INTEGER))
    return module_fail(m, "its options are not supported");
  struct graph_node *node = window_pool(m->graph, word, m->at, &w, ceil);
  return module_give(m, node);
}

static bool add_max_pool(struct modules *m) {
  return pool(m, WORD_POOL);
}

static bool add_mean_pool(struct modules *m) {
  return pool(m, WORD_AVGPOOL);
}

static bool whole(struct modules *m, enum layer_word word) {
  int64_t sizes[3] = {0};
  int axes = axes_of(m);
  if (!is_map(m) || !module_sizes(m, "output_size", axes, 1, sizes))
    return false;
  for (int i = 0; i < axes; i++)
    if (sizes[i] != 1)
      return module_fail(m, "only an output_size of 1 is supported");
  return module_give(m, module_layer(m, word));
}

static bool add_whole_mean(struct modules *m) {
  return whole(m, WORD_GAP);
}

static bool add_whole_max(struct modules *m) {
  return whole(m, WORD_GMP);
}

static bool add_flatten(struct modules *m) {
  const struct pickle_value *end = module_option(m, "end_dim");
  int64_t first = 0;
  int rank = module_shape(m)->rank;
  if (!module_size(m, "start_dim", 0, &first))
    return false;
  if (first != 1 || !pickle_is(end, PICKLE_INTEGER) ||
      (end->integer != -1 && end->integer != rank))
    return module_fail(m, "only a Flatten of all axes is supported");
  return rank == 1 || module_give(m, module_layer(m, WORD_FLATTEN));
}

static bool add_dropout(struct modules *m) {
  double p = 0;
  if (!module_real(m, "p", &p))
    return false;
  if (!(p >= 0 && p < 1))
    return module_fail(m, "its p is not supported");
  if (!slice_is(m->class, "Dropout"))
    graph_note(m->graph,
               "%.*s drops whole channels in training; netc drops single "
               "values.",
               SLICE_ARG(m->class));
  struct graph_node *node = module_layer(m, WORD_DROPOUT);
  graph_real(m->graph, node, "", p);
  graph_usual(node, "0.5");
  return module_give(m, node);
}

static bool with_real(struct modules *m, enum layer_word word, const char *key,
                      const char *usual) {
  double value = 0;
  if (!module_real(m, key, &value))
    return false;
  struct graph_node *node = module_layer(m, word);
  graph_real(m->graph, node, "", value);
  graph_usual(node, usual);
  return module_give(m, node);
}

static bool add_leaky(struct modules *m) {
  return with_real(m, WORD_LEAKY, "negative_slope", "0.01");
}

static bool add_elu(struct modules *m) {
  return with_real(m, WORD_ELU, "alpha", "1");
}

static bool add_prelu(struct modules *m) {
  int64_t count = 0;
  if (!module_size(m, "num_parameters", 1, &count) ||
      (count > 1 && !module_has_channels(m, count)))
    return false;
  struct graph_node *node = module_layer(m, WORD_PRELU);
  if (count == 1)
    graph_flag(m->graph, node, "shared");
  return module_take(m, node, "weight", count) && module_give(m, node);
}

static bool add_gelu(struct modules *m) {
  const struct pickle_value *how = module_option(m, "approximate");
  struct graph_node *node = module_layer(m, WORD_GELU);
  if (pickle_is(how, PICKLE_TEXT) && slice_is(how->text, "tanh"))
    graph_arg(m->graph, node, PART_NONE, "approximate=", "tanh");
  return module_give(m, node);
}

static bool add_softmax(struct modules *m) {
  const struct pickle_value *dim = module_option(m, "dim");
  int rank = module_shape(m)->rank;
  bool channels = pickle_is(dim, PICKLE_INTEGER) &&
                  (dim->integer == 1 || (rank == 1 && dim->integer == -1));
  if (!channels)
    return module_fail(m, "only its dim 1, channels or features, is supported");
  return module_give(m, module_layer(m, slice_is(m->class, "Softmax")
                                            ? WORD_SOFTMAX
                                            : WORD_LOGSOFTMAX));
}

static bool add_nothing(struct modules *m) {
  return !m->graph->failed;
}

static const struct module_row rows[] = {
#define MODULE(class, function, ...) {class, function, {__VA_ARGS__}},
#include "ops/torch.def"
#undef MODULE
};

struct module_row module_row(struct slice class) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (slice_is(class, rows[i].class))
      return rows[i];
  const struct function *function = function_find(IN_TORCH, class);
  if (function)
    return (struct module_row){
        function->names[IN_TORCH], NULL, {function->word}};
  return (struct module_row){.class = NULL};
}

bool modules_type(struct graph *graph, size_t index, struct import_type *type) {
  const size_t count = sizeof rows / sizeof *rows;
  if (index >= count)
    return import_function_type(graph, IN_TORCH, "%.*s", index - count, type);
  import_type_set(type, rows[index].class, rows[index].words);
  return true;
}
