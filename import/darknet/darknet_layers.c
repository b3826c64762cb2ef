/* Darknet's layers: options of a section into layers of netc. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/suggest.h"
#include "import/darknet/darknet.h"

/* Layers. */

struct darknet_size darknet_size(struct darknet *d, int index) {
  const struct graph_shape *shape = &graph_at(d->graph, index)->shape;
  if (shape->rank < 3)
    return (struct darknet_size){1, 1, shape->size[0]};
  return (struct darknet_size){shape->size[0], shape->size[1], shape->size[2]};
}

int darknet_map(struct graph_node *node, int64_t height, int64_t width,
                int64_t channels) {
  node->shape = (struct graph_shape){3, {height, width, channels}};
  return node->index;
}

static int current(const struct darknet *d) {
  return d->layers.count ? d->layers.at[d->layers.count - 1] : 0;
}

/* The node of the layer that a number means: below 0 from here back. */
static int layer_at(struct darknet *d, size_t line, struct slice text) {
  int64_t index = 0, count = (int64_t)d->layers.count;
  if (!darknet_integer(d, line, darknet_trim(text), &index))
    return DARKNET_FAIL(d->graph, line, "`%.*s` is not the number of a layer",
                        SLICE_ARG(text));
  if (index < 0)
    index += count;
  if (index < 0 || index >= count) {
    graph_fail(d->graph, line, "there is no layer %.*s before this one",
               SLICE_ARG(text));
    graph_help(d->graph,
               "layers count from 0 below [net]; this one is %" PRId64, count);
    return 0;
  }
  return d->layers.at[index];
}

static const struct darknet_activation {
  const char *theirs;
  enum layer_word ours;
  const char *argument;
} activations[] = {
    {"leaky", WORD_LEAKY, "0.1"},     {"relu", WORD_RELU, NULL},
    {"logistic", WORD_SIGMOID, NULL}, {"mish", WORD_MISH, NULL},
    {"swish", WORD_SILU, NULL},       {"tanh", WORD_TANH, NULL},
    {"silu", WORD_SILU, NULL},        {"elu", WORD_ELU, NULL},
    {"selu", WORD_SELU, NULL},        {"gelu", WORD_GELU, NULL},
    {"relu6", WORD_RELU6, NULL},
};

int darknet_activate(struct darknet *d, struct darknet_section *s, int input,
                     const char *usual) {
  struct slice name = darknet_word(s, "activation", usual);
  const struct darknet_option *option = darknet_find(s, "activation");
  if (slice_is(name, "linear") || d->graph->failed)
    return input;
  for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
    if (slice_is(name, activations[i].theirs)) {
      struct graph_node *node =
          graph_layer(d->graph, activations[i].ours, input);
      if (activations[i].argument)
        graph_flag(d->graph, node, activations[i].argument);
      return node->index;
    }
  if (slice_is(name, "ramp")) {
    graph_note(d->graph, "Darknet's `ramp` is left out: it has no weights.");
    return input;
  }
  return DARKNET_FAIL(d->graph, option ? option->line : s->line,
                      "netc has no equivalent of the activation `%.*s`",
                      SLICE_ARG(name));
}

bool darknet_fits(struct darknet *d, const struct darknet_section *s,
                  int64_t height, int64_t width) {
  if (height > 0 && width > 0)
    return true;
  graph_fail(d->graph, s->line,
             "the window of [%.*s] is larger than its padded input",
             SLICE_ARG(s->name));
  return window_help(d->graph);
}

struct graph_window darknet_window(struct darknet *d, struct darknet_section *s,
                                   int64_t usual_size) {
  int64_t stride = darknet_at_least(d, s, "stride", 1, 1);
  int64_t size = darknet_at_least(d, s, "size", usual_size, 1);
  struct graph_window w = window_square(2, size, stride);
  w.stride[0] = darknet_at_least(d, s, "stride_y", stride, 1);
  w.stride[1] = darknet_at_least(d, s, "stride_x", stride, 1);
  return w;
}

/* Padding of size - 1 in all, of which half, rounded down, comes before. */
static int pool(struct darknet *d, struct darknet_section *s, int input,
                enum layer_word word) {
  struct darknet_size in = darknet_size(d, input);
  struct graph_window w =
      darknet_window(d, s, darknet_at_least(d, s, "stride", 1, 1));
  struct graph_window bare = w;
  int64_t pads = darknet_at_least(d, s, "padding", w.kernel[0] - 1, 0);
  for (int i = 0; i < 2; i++) {
    w.before[i] = pads / 2;
    w.after[i] = pads - pads / 2;
  }
  int64_t height = window_count(&w, 0, in.height);
  int64_t width = window_count(&w, 1, in.width);
  if (d->graph->failed || !darknet_fits(d, s, height, width))
    return input;
  /* Padding after that no window reaches says nothing. */
  if (w.before[0] == 0 && window_count(&bare, 0, in.height) == height &&
      window_count(&bare, 1, in.width) == width)
    w = bare;
  if (word == WORD_AVGPOOL && (w.before[0] || w.after[0]))
    graph_note(d->graph, "[local_avgpool] leaves its padding out of the mean; "
                         "here it counts as zeros.");
  return darknet_map(window_pool(d->graph, word, input, &w, false), height,
                     width, in.channels);
}

static int maxpool(struct darknet *d, struct darknet_section *s, int input) {
  return pool(d, s, input, WORD_POOL);
}

static int local_avgpool(struct darknet *d, struct darknet_section *s,
                         int input) {
  return pool(d, s, input, WORD_AVGPOOL);
}

static int avgpool(struct darknet *d, struct darknet_section *s, int input) {
  (void)s;
  struct graph_node *node = graph_layer(d->graph, WORD_GAP, input);
  return darknet_map(node, 1, 1, darknet_size(d, input).channels);
}

static int upsample(struct darknet *d, struct darknet_section *s, int input) {
  struct darknet_size in = darknet_size(d, input);
  struct graph_node *node = graph_layer(d->graph, WORD_UP, input);
  int64_t stride = darknet_at_least(d, s, "stride", 2, 1);
  graph_int(d->graph, node, PART_NONE, "", stride);
  return darknet_map(node, in.height * stride, in.width * stride, in.channels);
}

/* `extra`: all values in a row, and so many zeros after them. */
static int extend(struct darknet *d, const struct darknet_section *s, int input,
                  int64_t extra) {
  struct darknet_size in = darknet_size(d, input);
  int64_t count;
  if (!mul_i64(in.height, in.width, &count) ||
      !mul_i64(count, in.channels, &count) || count > DARKNET_MOST)
    return DARKNET_FAIL(d->graph, s->line, "[reorg] has too many values");
  struct graph_node *node = graph_layer(d->graph, WORD_RESHAPE, input);
  graph_flag(d->graph, node, "1x_");
  node->shape = (struct graph_shape){2, {1, count}};
  node = graph_layer(d->graph, WORD_PAD, node->index);
  graph_flag(d->graph, node, "0");
  graph_arg(d->graph, node, PART_NONE,
            "c=", graph_text(d->graph, "0:%" PRId64, extra));
  node->shape.size[1] = count + extra;
  return node->index;
}

static int reorg(struct darknet *d, struct darknet_section *s, int input) {
  struct darknet_size in = darknet_size(d, input);
  int64_t stride = darknet_at_least(d, s, "stride", 1, 1);
  bool back = darknet_number(d, s, "reverse", 0);
  int64_t extra = darknet_at_least(d, s, "extra", 0, 0);
  if (darknet_number(d, s, "flatten", 0))
    return DARKNET_FAIL(d->graph, s->line,
                        "netc has no equivalent of `flatten` of [reorg]");
  if (extra > 0)
    return extend(d, s, input, extra);
  if (stride == 1)
    return input;
  graph_note(d->graph, "Darknet's [reorg] puts values into another order.");
  struct graph_node *node =
      graph_layer(d->graph, back ? WORD_PIXELSHUFFLE : WORD_SPACE2DEPTH, input);
  graph_int(d->graph, node, PART_NONE, "", stride);
  return back ? darknet_map(node, in.height * stride, in.width * stride,
                            in.channels / (stride * stride))
              : darknet_map(node, in.height / stride, in.width / stride,
                            in.channels * stride * stride);
}

/* One of a list; false: there is none left. */
static bool next_item(struct slice *list, struct slice *item) {
  if (list->length == 0)
    return false;
  const char *comma = memchr(list->at, ',', list->length);
  size_t length = comma ? (size_t)(comma - list->at) : list->length;
  *item = darknet_trim((struct slice){list->at, length});
  length += comma != NULL;
  *list = (struct slice){list->at + length, list->length - length};
  return true;
}

static int part_of(struct darknet *d, int input, int64_t from, int64_t to) {
  int axis = graph_at(d->graph, input)->shape.rank < 3 ? 0 : 2;
  return graph_slice(d->graph, input, axis, "c", from, to)->index;
}

static int route(struct darknet *d, struct darknet_section *s, int input) {
  const struct darknet_option *layers = darknet_find(s, "layers");
  int64_t groups = darknet_at_least(d, s, "groups", 1, 1);
  int64_t group = darknet_at_least(d, s, "group_id", 0, 0);
  struct slice rest = layers ? layers->value : (struct slice){NULL, 0}, item;
  struct graph_node join = {0};
  int64_t channels = 0;
  while (next_item(&rest, &item)) {
    int from = layer_at(d, layers->line, item);
    if (d->graph->failed)
      return input;
    struct darknet_size in = darknet_size(d, from);
    if (in.channels % groups != 0 || group >= groups)
      return DARKNET_FAIL(d->graph, s->line,
                          "%" PRId64 " channels have no group %" PRId64
                          " of %" PRId64,
                          in.channels, group, groups);
    int64_t part = in.channels / groups;
    if (groups > 1)
      from = part_of(d, from, group * part, (group + 1) * part);
    channels += part;
    *VEC_PUSH(d->graph->arena, &join.inputs) = from;
  }
  if (join.inputs.count == 0)
    return DARKNET_FAIL(d->graph, s->line, "[route] needs `layers`");
  if (join.inputs.count == 1)
    return join.inputs.at[0];
  struct darknet_size in = darknet_size(d, join.inputs.at[0]);
  struct graph_node *node = graph_join(d->graph, WORD_CONCAT);
  for (size_t i = 0; i < join.inputs.count; i++) {
    struct darknet_size other = darknet_size(d, join.inputs.at[i]);
    graph_operand(d->graph, node, join.inputs.at[i]);
    if (other.height != in.height || other.width != in.width)
      return DARKNET_FAIL(d->graph, s->line,
                          "[route] joins maps of different sizes");
  }
  return darknet_map(node, in.height, in.width, channels);
}

/*
 * Adds what both have: every n-th pixel of a larger map, the first channels
 * of one with more (src/blas.c, shortcut_cpu).
 */
static int add_part(struct darknet *d, const struct darknet_section *s, int to,
                    int from) {
  struct darknet_size a = darknet_size(d, to), b = darknet_size(d, from);
  int64_t step = a.height ? b.height / a.height : 0;
  if (step < 1 || b.height != a.height * step || b.width != a.width * step)
    return DARKNET_FAIL(d->graph, s->line,
                        "[shortcut] adds a map of %" PRId64 "x%" PRId64
                        " to one of "
                        "%" PRId64 "x%" PRId64,
                        b.height, b.width, a.height, a.width);
  if (step > 1) {
    struct graph_node *node = graph_layer(d->graph, WORD_POOL, from);
    graph_flag(d->graph, node, "1x1");
    graph_int(d->graph, node, PART_NONE, "/", step);
    from = darknet_map(node, a.height, a.width, b.channels);
  }
  if (b.channels > a.channels)
    from = part_of(d, from, 0, a.channels);
  if (b.channels >= a.channels)
    return graph_pair(d->graph, WORD_ADD, to, from)->index;
  int first = part_of(d, to, 0, b.channels);
  int rest = part_of(d, to, b.channels, a.channels);
  first = graph_pair(d->graph, WORD_ADD, first, from)->index;
  return darknet_map(graph_pair(d->graph, WORD_CONCAT, first, rest), a.height,
                     a.width, a.channels);
}

static int shortcut(struct darknet *d, struct darknet_section *s, int input) {
  const struct darknet_option *from = darknet_find(s, "from");
  struct slice rest = from ? from->value : (struct slice){NULL, 0}, item;
  int result = input;
  if (!from)
    graph_fail(d->graph, s->line, "[shortcut] needs `from`");
  while (next_item(&rest, &item)) {
    int other = layer_at(d, from->line, item);
    if (d->graph->failed)
      return input;
    result = add_part(d, s, result, other);
  }
  return darknet_activate(d, s, result, "linear");
}

/* The current tensor scales another one, by channel or value by value. */
static int scale(struct darknet *d, struct darknet_section *s, int input) {
  const struct darknet_option *from = darknet_find(s, "from");
  if (!from)
    return DARKNET_FAIL(d->graph, s->line, "[%.*s] needs `from`",
                        SLICE_ARG(s->name));
  int other = layer_at(d, from->line, from->value);
  if (d->graph->failed)
    return input;
  struct darknet_size in = darknet_size(d, input), to = darknet_size(d, other);
  bool by_channel = slice_is(s->name, "scale_channels");
  if (in.channels != to.channels)
    return DARKNET_FAIL(d->graph, s->line,
                        "[%.*s] scales %" PRId64 " channels by %" PRId64,
                        SLICE_ARG(s->name), to.channels, in.channels);
  if (by_channel && graph_at(d->graph, input)->shape.rank < 3) {
    struct graph_node *node = graph_layer(d->graph, WORD_RESHAPE, input);
    graph_flag(d->graph, node, "1x1x_");
    input = darknet_map(node, 1, 1, in.channels);
  }
  return darknet_activate(
      d, s, graph_pair(d->graph, WORD_MUL, other, input)->index, "linear");
}

static int crop(struct darknet *d, struct darknet_section *s, int input) {
  struct darknet_size in = darknet_size(d, input);
  int64_t height = darknet_at_least(d, s, "crop_height", 1, 1);
  int64_t width = darknet_at_least(d, s, "crop_width", 1, 1);
  if (height == in.height && width == in.width)
    return input;
  struct graph_node *node = graph_layer(d->graph, WORD_CROP, input);
  graph_arg(d->graph, node, PART_NONE, "",
            graph_sizes(d->graph, (int64_t[]){height, width}, 2));
  return darknet_map(node, height, width, in.channels);
}

static int dropout(struct darknet *d, struct darknet_section *s, int input) {
  struct slice p = darknet_word(s, "probability", "0.5");
  const char *text = graph_text(d->graph, "%.*s", SLICE_ARG(p));
  char *end;
  double value = strtod(text, &end);
  if (*end || !(value >= 0 && value < 1))
    return DARKNET_FAIL(d->graph, s->line,
                        "`probability=%s` must be at least 0 and less than 1",
                        text);
  struct graph_node *node = graph_layer(d->graph, WORD_DROPOUT, input);
  graph_real(d->graph, node, "", value);
  return node->index;
}

/* Sections that only training or the decoding of boxes needs. */
static bool is_left_out(struct darknet *d, const struct darknet_section *s) {
  static const char *const heads[] = {"yolo", "yolo4", "Gaussian_yolo",
                                      "region", "detection"};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    if (slice_is(s->name, heads[i])) {
      graph_note(d->graph,
                 "[%s] is left out: it decodes boxes and has no weights.",
                 heads[i]);
      return true;
    }
  return slice_is(s->name, "cost") || slice_is(s->name, "contrastive") ||
         slice_is(s->name, "empty") || slice_is(s->name, "silence");
}

static int by_implicit(struct darknet *d, struct darknet_section *s, int input,
                       enum layer_word word) {
  const struct darknet_option *from = darknet_find(s, "from");
  if (!from)
    return DARKNET_FAIL(d->graph, s->line, "[%.*s] needs `from`",
                        SLICE_ARG(s->name));
  int other = layer_at(d, from->line, from->value);
  if (d->graph->failed)
    return input;
  if (darknet_size(d, input).channels != darknet_size(d, other).channels)
    return DARKNET_FAIL(d->graph, s->line, "[%.*s] needs as many channels",
                        SLICE_ARG(s->name));
  return graph_pair(d->graph, word, input, other)->index;
}

static int shift_channels(struct darknet *d, struct darknet_section *s,
                          int input) {
  return by_implicit(d, s, input, WORD_ADD);
}

static int control_channels(struct darknet *d, struct darknet_section *s,
                            int input) {
  return by_implicit(d, s, input, WORD_MUL);
}

static int activation(struct darknet *d, struct darknet_section *s, int input) {
  return darknet_activate(d, s, input, "linear");
}

/* The table. */

static const struct darknet_row {
  const char *name, *short_name;
  darknet_add_fn *add;
  enum layer_word
      words[IMPORT_WORDS]; /* of netc; without `add`, it is that layer */
  bool on_map;             /* works on height and width */
} rows[] = {
    {"convolutional",
     "conv",
     darknet_convolution,
     {WORD_CONV, WORD_DWCONV},
     true},
    {"deconvolutional", "deconv", darknet_deconvolution, {WORD_DECONV}, true},
    {"connected", "conn", darknet_connected, {WORD_FC}, false},
    {"maxpool", "max", maxpool, {WORD_POOL}, true},
    {"avgpool", "avg", avgpool, {WORD_GAP}, true},
    {"upsample", NULL, upsample, {WORD_UP}, true},
    {"reorg",
     NULL,
     reorg,
     {WORD_SPACE2DEPTH, WORD_PIXELSHUFFLE, WORD_PAD},
     true},
    {"reorg3d", NULL, reorg, {WORD_SPACE2DEPTH, WORD_PIXELSHUFFLE}, true},
    {"route", NULL, route, {WORD_CONCAT, WORD_SLICE}, false},
    {"shortcut", NULL, shortcut, {WORD_ADD}, false},
    {"scale_channels", NULL, scale, {WORD_MUL}, false},
    {"sam", NULL, scale, {WORD_MUL}, false},
    {"crop", NULL, crop, {WORD_CROP}, true},
    {"dropout", NULL, dropout, {WORD_DROPOUT}, false},
    {"local_avgpool", NULL, local_avgpool, {WORD_AVGPOOL}, true},
    {"local", NULL, darknet_local, {WORD_LOCAL}, true},
    {"rnn", NULL, darknet_rnn, {WORD_RNN, WORD_LINEAR}, false},
    {"crnn", NULL, darknet_crnn, {WORD_CONV, WORD_ADD}, true},
    {"implicit_add", NULL, darknet_implicit, {WORD_WEIGHT}, false},
    {"implicit_mul", NULL, darknet_implicit, {WORD_WEIGHT}, false},
    {"shift_channels", NULL, shift_channels, {WORD_ADD}, false},
    {"control_channels", NULL, control_channels, {WORD_MUL}, false},
    {"gru", NULL, darknet_gru, {WORD_GRU}, false},
    {"lstm", NULL, darknet_lstm, {WORD_LSTM}, false},
    {"batchnorm", NULL, darknet_batchnorm, {WORD_BN}, false},
    {"softmax", "soft", NULL, {WORD_SOFTMAX}, false},
    {"activation", NULL, activation, {WORD_NONE}, false},
};

bool darknet_type(struct graph *graph, size_t index, struct import_type *type) {
  size_t count = sizeof rows / sizeof *rows;
  size_t active = sizeof activations / sizeof *activations;
  if (index < count) {
    import_type_set(type, rows[index].name, rows[index].words);
  } else if (index < count + active) {
    const struct darknet_activation *a = &activations[index - count];
    *type = (struct import_type){graph_text(graph, "activation=%s", a->theirs),
                                 {a->ours}};
  }
  return index < count + active;
}

int darknet_layer(struct darknet *d, struct darknet_section *s) {
  int input = current(d);
  d->graph->at = (struct graph_origin){
      .name = graph_text(d->graph, "layer%zu", d->layers.count),
      .kind = graph_text(d->graph, "[%.*s]", SLICE_ARG(s->name)),
      .line = s->line};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct darknet_row *r = &rows[i];
    if (!slice_is(s->name, r->name) &&
        (!r->short_name || !slice_is(s->name, r->short_name)))
      continue;
    if (!r->on_map || graph_at(d->graph, input)->shape.rank == 3) {
      int output = r->add ? r->add(d, s, input)
                          : graph_layer(d->graph, r->words[0], input)->index;
      darknet_note_slips(d, s);
      return output;
    }
    return DARKNET_FAIL(d->graph, s->line,
                        "[%.*s] needs a map, but its input is a vector",
                        SLICE_ARG(s->name));
  }
  if (is_left_out(d, s))
    return input;
  graph_fail(d->graph, s->line, "netc has no equivalent of [%.*s]",
             SLICE_ARG(s->name));
  struct suggestion near = suggest_begin(s->name);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    suggest_offer(&near, slice_of(rows[i].name));
  if (near.best.at)
    graph_help(d->graph, "did you mean [%.*s]?", SLICE_ARG(near.best));
  return input;
}
