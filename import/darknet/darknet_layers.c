/* Translates sections of Darknet into layers of netc. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/suggest.h"
#include "import/darknet/darknet.h"
#include "import/window.h"

/* Layers. */

struct darknet_size darknet_size(struct darknet *d, int index) {
  const struct graph_shape *shape = graph_shape(d->graph, index);
  if (shape->rank < 3)
    return (struct darknet_size){1, 1, shape->size[0]};
  return (struct darknet_size){shape->size[0], shape->size[1], shape->size[2]};
}

/* The node of a layer number; negative ones count from the current layer. */
static int layer_at(struct darknet *d, const struct darknet_option *option,
                    struct slice text) {
  int64_t index = 0, count = (int64_t)d->layers.count;
  if (!darknet_integer(d, option->line, text, &index))
    return DARKNET_FAIL(d, option, "`%.*s` is not the number of a layer",
                        SLICE_ARG(text));
  index += index < 0 ? count : 0;
  if (index >= 0 && index < count)
    return d->layers.at[index];
  graph_fail(d->graph, option->line, "there is no layer %.*s before this one",
             SLICE_ARG(text));
  graph_help(d->graph, "layers count from 0 below [net]; this one is %" PRId64,
             count);
  return 0;
}

/* Takes the next item of a list; false at the end. */
static bool next_item(struct slice *list, struct slice *item) {
  if (list->length == 0)
    return false;
  const char *comma = memchr(list->at, ',', list->length);
  size_t length = comma ? (size_t)(comma - list->at) : list->length;
  *item = darknet_trim((struct slice){list->at, length});
  *list = slice_from(*list, length + (comma != NULL));
  return true;
}

/* An option that the section requires; fails if it is missing. */
static const struct darknet_option *
needed(struct darknet *d, struct darknet_section *s, const char *key) {
  static const struct darknet_option none;
  const struct darknet_option *option = darknet_find(s, key);
  if (!option)
    graph_fail(d->graph, s->line, "[%.*s] needs `%s`", SLICE_ARG(s->name), key);
  return option ? option : &none;
}

/* The layer in `from`. */
static int other_of(struct darknet *d, struct darknet_section *s) {
  const struct darknet_option *from = needed(d, s, "from");
  return d->graph->failed ? 0 : layer_at(d, from, from->value);
}

static const struct darknet_activation {
  const char *theirs;
  enum layer_word ours;
  const char *argument;
} activations[] = {
    {"leaky", WORD_LEAKY, "0.1"},
    {"elu", WORD_ELU, NULL},
    {"gelu", WORD_GELU, NULL},
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
  const struct function *function = function_find(IN_DARKNET, name);
  if (function)
    return graph_layer(d->graph, function->word, input)->index;
  if (slice_is(name, "ramp"))
    graph_note(d->graph, "Darknet's activation `ramp` is left out: it has no "
                         "weights.");
  else
    graph_fail(d->graph, option ? option->line : s->line,
               "netc has no equivalent of the activation `%.*s`",
               SLICE_ARG(name));
  return input;
}

int darknet_activation(struct darknet *d, struct darknet_section *s,
                       int input) {
  return darknet_activate(d, s, input, "linear");
}

int darknet_plain(struct darknet *d, struct darknet_section *s, int input) {
  (void)s;
  return graph_layer(d->graph, d->word, input)->index;
}

/* Windows. */

struct graph_window darknet_window(struct darknet *d, struct darknet_section *s,
                                   int64_t usual_size) {
  int64_t stride = darknet_at_least(d, s, "stride", 1, 1);
  return window_square(2, darknet_at_least(d, s, "size", usual_size, 1),
                       stride);
}

void darknet_strides(struct darknet *d, struct darknet_section *s,
                     struct graph_window *w) {
  w->stride[0] = darknet_at_least(d, s, "stride_y", w->stride[0], 1);
  w->stride[1] = darknet_at_least(d, s, "stride_x", w->stride[1], 1);
}

/* Darknet pads by size - 1 in all; half of it, rounded down, comes before. */
int darknet_pool(struct darknet *d, struct darknet_section *s, int input) {
  struct graph_window bare =
      darknet_window(d, s, darknet_at_least(d, s, "stride", 1, 1));
  darknet_strides(d, s, &bare);
  struct graph_window w = bare;
  int64_t pads = darknet_at_least(d, s, "padding", w.kernel[0] - 1, 0);
  bool same = pads < 2;
  for (int i = 0; i < 2; i++) {
    w.before[i] = pads / 2;
    w.after[i] = pads - pads / 2;
    int64_t size = graph_shape(d->graph, input)->size[i];
    same = same && window_count(&w, i, size) == window_count(&bare, i, size);
  }
  if (same) /* padding is outside all windows */
    w = bare;
  if (d->word == WORD_AVGPOOL && w.after[0])
    graph_note(d->graph, "[local_avgpool] excludes its padding from the mean; "
                         "netc counts it as zeros.");
  return window_pool(d->graph, d->word, input, &w, false)->index;
}

/* Sizes. */

int darknet_upsample(struct darknet *d, struct darknet_section *s, int input) {
  struct graph_node *node = graph_layer(d->graph, WORD_UP, input);
  graph_int(d->graph, node, PART_NONE, "",
            darknet_at_least(d, s, "stride", 2, 1));
  return node->index;
}

/* `extra`: all values as a vector, with that many zeros after them. */
static int extend(struct darknet *d, const struct darknet_section *s, int input,
                  int64_t extra) {
  if (graph_count(graph_shape(d->graph, input)->size, 3) > DARKNET_MOST)
    return DARKNET_FAIL(d, s, "[reorg] has too many values");
  struct graph_node *node = graph_layer(d->graph, WORD_RESHAPE, input);
  graph_flag(d->graph, node, "1x_");
  node = graph_layer(d->graph, WORD_PAD, node->index);
  graph_flag(d->graph, node, "0");
  graph_arg(d->graph, node, PART_NONE,
            "c=", graph_text(d->graph, "0:%" PRId64, extra));
  return node->index;
}

int darknet_reorg(struct darknet *d, struct darknet_section *s, int input) {
  int64_t stride = darknet_at_least(d, s, "stride", 1, 1);
  bool back = darknet_number(d, s, "reverse", 0);
  int64_t extra = darknet_at_least(d, s, "extra", 0, 0);
  if (darknet_number(d, s, "flatten", 0))
    return DARKNET_FAIL(d, s, "netc has no equivalent of `flatten` of [reorg]");
  if (extra > 0)
    return extend(d, s, input, extra);
  if (stride == 1)
    return input;
  graph_note(d->graph, "Darknet's [reorg] has a different order of values.");
  struct graph_node *node =
      graph_layer(d->graph, back ? WORD_PIXELSHUFFLE : WORD_SPACE2DEPTH, input);
  graph_int(d->graph, node, PART_NONE, "", stride);
  return node->index;
}

int darknet_crop(struct darknet *d, struct darknet_section *s, int input) {
  struct darknet_size in = darknet_size(d, input);
  int64_t to[2] = {darknet_at_least(d, s, "crop_height", 1, 1),
                   darknet_at_least(d, s, "crop_width", 1, 1)};
  if (to[0] == in.height && to[1] == in.width)
    return input;
  struct graph_node *node = graph_layer(d->graph, WORD_CROP, input);
  graph_arg(d->graph, node, PART_NONE, "", graph_sizes(d->graph, to, 2));
  return node->index;
}

/* Joins. */

static int part_of(struct darknet *d, int input, int64_t from, int64_t to) {
  int axis = graph_shape(d->graph, input)->rank < 3 ? 0 : 2;
  return graph_part(d->graph, input, axis, from, to);
}

static int maps_differ(struct darknet *d, const struct darknet_section *s,
                       const char *what, struct darknet_size a,
                       struct darknet_size b) {
  graph_fail(d->graph, s->line,
             "%s a map of %" PRId64 "x%" PRId64 " to one of %" PRId64
             "x%" PRId64,
             what, a.height, a.width, b.height, b.width);
  int64_t more = max_i64(a.height, b.height);
  int64_t less = max_i64(1, min_i64(a.height, b.height));
  return window_meet_help(d->graph,
                          more % less == 0
                              ? "compare the `stride` of the layers before both"
                              : "`pad=1` in a [convolutional] section keeps "
                                "the size of its map");
}

int darknet_route(struct darknet *d, struct darknet_section *s, int input) {
  const struct darknet_option *layers = needed(d, s, "layers");
  int64_t groups = darknet_at_least(d, s, "groups", 1, 1);
  int64_t group = darknet_at_least(d, s, "group_id", 0, 0);
  struct slice rest = layers->value, item;
  struct graph_node join = {0};
  while (next_item(&rest, &item)) {
    int from = layer_at(d, layers, item);
    struct darknet_size in = darknet_size(d, from);
    int64_t part = in.channels / groups;
    if (d->graph->failed)
      return input;
    if (in.channels % groups != 0 || group >= groups)
      return DARKNET_FAIL(d, s,
                          "%" PRId64 " channels cannot be split into the "
                          "groups: there is no group %" PRId64 " of %" PRId64,
                          in.channels, group, groups);
    if (groups > 1)
      from = part_of(d, from, group * part, (group + 1) * part);
    *VEC_PUSH(d->graph->arena, &join.inputs) = from;
    struct darknet_size first = darknet_size(d, join.inputs.at[0]);
    if (in.height != first.height || in.width != first.width)
      return maps_differ(d, s, "[route] joins", in, first);
  }
  if (join.inputs.count == 0)
    return DARKNET_FAIL(d, s, "[route] needs `layers`");
  if (join.inputs.count == 1)
    return join.inputs.at[0];
  return graph_concat(d->graph, join.inputs.at, join.inputs.count, -1)->index;
}

/* Adds the common part of two maps: every n-th pixel of a larger map, the first
 * channels of one with more (src/blas.c, shortcut_cpu). */
static int add_part(struct darknet *d, const struct darknet_section *s, int to,
                    int from) {
  struct darknet_size a = darknet_size(d, to), b = darknet_size(d, from);
  int64_t step = b.height / a.height;
  if (step < 1 || b.height != a.height * step || b.width != a.width * step)
    return maps_differ(d, s, "[shortcut] adds", b, a);
  if (step > 1) {
    struct graph_node *node = graph_layer(d->graph, WORD_POOL, from);
    graph_flag(d->graph, node, "1x1");
    graph_int(d->graph, node, PART_NONE, "/", step);
    from = node->index;
  }
  if (b.channels > a.channels)
    from = part_of(d, from, 0, a.channels);
  if (b.channels >= a.channels)
    return graph_pair(d->graph, WORD_ADD, to, from)->index;
  int first = part_of(d, to, 0, b.channels);
  int rest = part_of(d, to, b.channels, a.channels);
  first = graph_pair(d->graph, WORD_ADD, first, from)->index;
  return graph_pair(d->graph, WORD_CONCAT, first, rest)->index;
}

int darknet_shortcut(struct darknet *d, struct darknet_section *s, int input) {
  const struct darknet_option *from = needed(d, s, "from");
  struct slice rest = from->value, item;
  int result = input;
  while (!d->graph->failed && next_item(&rest, &item)) {
    int other = layer_at(d, from, item);
    result = d->graph->failed ? input : add_part(d, s, result, other);
  }
  return darknet_activate(d, s, result, "linear");
}

/* Scales another layer's output by the current tensor or its channels. */
int darknet_scale(struct darknet *d, struct darknet_section *s, int input) {
  int other = other_of(d, s);
  int64_t channels = darknet_size(d, input).channels;
  int64_t scaled = darknet_size(d, other).channels;
  if (channels != scaled)
    return DARKNET_FAIL(d, s,
                        "[%.*s] cannot scale %" PRId64 " channels by %" PRId64,
                        SLICE_ARG(s->name), scaled, channels);
  if (slice_is(s->name, "scale_channels") &&
      graph_shape(d->graph, input)->rank < 3) {
    struct graph_node *node = graph_layer(d->graph, WORD_RESHAPE, input);
    graph_flag(d->graph, node, "1x1x_");
    input = node->index;
  }
  return darknet_activate(
      d, s, graph_pair(d->graph, WORD_MUL, other, input)->index, "linear");
}

/* Applies a learned value per channel to the current tensor. */
int darknet_control(struct darknet *d, struct darknet_section *s, int input) {
  int other = other_of(d, s);
  if (darknet_size(d, input).channels != darknet_size(d, other).channels)
    return DARKNET_FAIL(d, s,
                        "[%.*s] needs inputs with the same number of channels",
                        SLICE_ARG(s->name));
  return graph_pair(d->graph, d->word, input, other)->index;
}

int darknet_dropout(struct darknet *d, struct darknet_section *s, int input) {
  struct slice p = darknet_word(s, "probability", "0.5");
  const char *text = graph_text(d->graph, "%.*s", SLICE_ARG(p));
  char *end;
  double value = strtod(text, &end);
  if (*end || !(value >= 0 && value < 1))
    return DARKNET_FAIL(
        d, s, "`probability=%s` must be at least 0 and less than 1", text);
  return graph_with(d->graph, WORD_DROPOUT, input, value)->index;
}

/* Sections that are only used in training or to decode boxes. */
static bool is_left_out(struct darknet *d, const struct darknet_section *s) {
  static const char *const names[] = {
      "yolo", "yolo4",       "Gaussian_yolo", "region", "detection",
      "cost", "contrastive", "empty",         "silence"};
  enum { HEADS = 5 };
  size_t i = 0;
  while (i < sizeof names / sizeof *names && !slice_is(s->name, names[i]))
    i++;
  if (i < HEADS)
    graph_note(d->graph,
               "[%s] is left out: it decodes boxes and has no weights.",
               names[i]);
  return i < sizeof names / sizeof *names;
}

/* The table. */

static const struct darknet_row {
  const char *name, *short_name;
  darknet_add_fn *add;
  bool on_map; /* operates on height and width */
  enum layer_word words[IMPORT_WORDS];
} rows[] = {
#define SECTION(name, short_name, function, on_map, ...) \
  {name, short_name, function, on_map, {__VA_ARGS__}},
#include "ops/darknet.def"
#undef SECTION
};

enum { ROWS = sizeof rows / sizeof *rows };

bool darknet_type(struct graph *graph, size_t index, struct import_type *type) {
  size_t active = sizeof activations / sizeof *activations;
  if (index < ROWS) {
    import_type_set(type, rows[index].name, rows[index].words);
  } else if (index < ROWS + active) {
    const struct darknet_activation *a = &activations[index - ROWS];
    *type = (struct import_type){graph_text(graph, "activation=%s", a->theirs),
                                 {a->ours}};
  } else {
    return import_function_type(graph, IN_DARKNET, "activation=%.*s",
                                index - ROWS - active, type);
  }
  return true;
}

static const struct darknet_row *row_of(struct slice name) {
  for (size_t i = 0; i < ROWS; i++)
    if (slice_is(name, rows[i].name) ||
        (rows[i].short_name && slice_is(name, rows[i].short_name)))
      return &rows[i];
  return NULL;
}

/* Fails and suggests a section with a similar name. */
static void unknown(struct darknet *d, const struct darknet_section *s) {
  struct suggestion near = suggest_begin(s->name);
  graph_fail(d->graph, s->line, "netc has no equivalent of [%.*s]",
             SLICE_ARG(s->name));
  for (size_t i = 0; i < ROWS; i++)
    suggest_offer(&near, slice_of(rows[i].name));
  if (near.best.at)
    graph_help(d->graph, "did you mean [%.*s]?", SLICE_ARG(near.best));
}

int darknet_layer(struct darknet *d, struct darknet_section *s) {
  size_t number = d->layers.count;
  int input = number ? d->layers.at[number - 1] : 0;
  const struct darknet_row *row = row_of(s->name);
  d->graph->at = (struct graph_origin){
      .name = graph_text(d->graph, "layer%zu", number),
      .kind = graph_text(d->graph, "[%.*s]", SLICE_ARG(s->name)),
      .line = s->line};
  if (!row) {
    if (!is_left_out(d, s))
      unknown(d, s);
    return input;
  }
  if (row->on_map && graph_shape(d->graph, input)->rank != 3)
    return DARKNET_FAIL(d, s, "[%.*s] needs a map, but its input is a vector",
                        SLICE_ARG(s->name));
  d->word = row->words[0];
  int output = row->add(d, s, input);
  darknet_note_slips(d, s);
  return output;
}
