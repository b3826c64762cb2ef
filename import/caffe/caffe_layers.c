/* Caffe's layer types (src/caffe/layers), a row of caffe.def for each. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "import/caffe/caffe.h"
#include "import/window.h"

int64_t caffe_int(struct caffe *c, const char *name, int64_t usual,
                  int64_t least) {
  return prototxt_int(c->graph, c->params, name, usual, least, CAFFE_MOST);
}

double caffe_real(struct caffe *c, const char *name, double usual) {
  return prototxt_real(c->graph, c->params, name, usual);
}

bool caffe_bool(struct caffe *c, const char *name, bool usual) {
  return prototxt_bool(c->params, name, usual);
}

bool caffe_is(struct caffe *c, const char *name, const char *word,
              const char *number) {
  struct slice text = prototxt_text(c->params, name, "");
  return slice_is(text, word) || slice_is(text, number);
}

int64_t caffe_given_axis(struct caffe *c, int64_t usual) {
  return prototxt_int(c->graph, c->params, "axis", usual, -8, 7);
}

const struct graph_shape *caffe_shape(struct caffe *c) {
  return graph_shape(c->graph, c->in);
}

int64_t caffe_channels(struct caffe *c) {
  const struct graph_shape *shape = caffe_shape(c);
  return shape->size[shape->rank - 1];
}

struct graph_node *caffe_first(struct caffe *c, enum layer_word word) {
  return graph_layer(c->graph, word, c->in);
}

bool caffe_give(struct caffe *c, const struct graph_node *node) {
  caffe_set(c, 0, node->index);
  graph_shape(c->graph, node->index);
  return !c->graph->failed;
}

bool caffe_fail(struct caffe *c, const char *what) {
  return graph_fail(c->graph, c->at->line, "`%s` (%s): %s", c->at->name,
                    c->at->type, what);
}

bool caffe_is_by_channel(struct caffe *c) {
  const struct graph_shape *shape = caffe_shape(c);
  return caffe_axis(shape, caffe_given_axis(c, 1)) == shape->rank - 1;
}

bool caffe_is_map(struct caffe *c) {
  return caffe_shape(c)->rank == 3 ||
         caffe_fail(
             c, "only maps of channels, height and width are supported here");
}

/* Activations and other elementwise layers. */

bool caffe_plain(struct caffe *c) {
  return caffe_give(c, caffe_first(c, c->word));
}

/* Adds a layer with a number that is omitted if it is `usual`. */
static bool with_option(struct caffe *c, enum layer_word word, double value,
                        double usual) {
  struct graph_node *node = graph_with(c->graph, word, c->in, value);
  graph_usual(node, graph_number(c->graph, usual));
  return caffe_give(c, node);
}

bool caffe_relu(struct caffe *c) {
  double slope = caffe_real(c, "negative_slope", 0);
  return slope == 0 ? caffe_plain(c) : with_option(c, WORD_LEAKY, slope, 0.01);
}

bool caffe_elu(struct caffe *c) {
  return with_option(c, WORD_ELU, caffe_real(c, "alpha", 1), 1);
}

bool caffe_prelu(struct caffe *c) {
  struct graph_node *node = caffe_first(c, WORD_PRELU);
  bool shared = caffe_bool(c, "channel_shared", false);
  if (shared)
    graph_flag(c->graph, node, "shared");
  CAFFE_TENSOR(c, node, "weight", 0, shared ? 1 : caffe_channels(c));
  return caffe_give(c, node);
}

bool caffe_dropout(struct caffe *c) {
  double p = caffe_real(c, "dropout_ratio", 0.5);
  if (!(p >= 0 && p < 1))
    return caffe_fail(c, "`dropout_ratio` must be at least 0 and less than 1");
  return with_option(c, WORD_DROPOUT, p, 0.5);
}

/* (shift + scale x) ^ power */
bool caffe_power(struct caffe *c) {
  const struct {
    enum layer_word word;
    double value, none;
  } steps[] = {{WORD_MUL, caffe_real(c, "scale", 1), 1},
               {WORD_ADD, caffe_real(c, "shift", 0), 0},
               {WORD_POW, caffe_real(c, "power", 1), 1}};
  struct graph_node *node = graph_at(c->graph, c->in);
  for (size_t i = 0; i < 3; i++)
    if (steps[i].value < steps[i].none || steps[i].value > steps[i].none)
      node = graph_with(c->graph, steps[i].word, node->index, steps[i].value);
  return caffe_give(c, node);
}

/* A vector as a map of one pixel. */
static int as_pixel(struct caffe *c, int input) {
  if (graph_shape(c->graph, input)->rank != 1)
    return input;
  struct graph_node *node = graph_layer(c->graph, WORD_RESHAPE, input);
  graph_flag(c->graph, node, "1x1x_");
  node->name = graph_text(c->graph, "%s_pixel", c->at->name);
  return node->index;
}

bool caffe_scale(struct caffe *c) {
  bool bias = caffe_bool(c, "bias_term", false);
  struct graph_node *node = graph_at(c->graph, c->in);
  if (c->at->bottom_count == 2) {
    int by = c->at->bottoms[1];
    by = caffe_shape(c)->rank == 3 ? as_pixel(c, by) : by;
    return caffe_give(c, graph_pair(c->graph, WORD_MUL, c->in, by));
  }
  if (!caffe_is_by_channel(c))
    return caffe_fail(c, "only a scale by channel is supported");
  if (bias && node->word == WORD_BN &&
      strcmp(node->args.at[0].value, "noaffine") == 0 &&
      node->index + 1 == (int)c->graph->nodes.count) {
    node->args.at[0].usual = "noaffine";
    node->name = c->at->name;
  } else {
    node = caffe_first(c, WORD_SCALE);
    if (bias)
      graph_flag(c->graph, node, "bias");
  }
  CAFFE_TENSOR(c, node, "weight", 0, caffe_channels(c));
  if (bias)
    CAFFE_TENSOR(c, node, "bias", 1, caffe_channels(c));
  return caffe_give(c, node);
}

/* Joins. */

/* Multiplies the bottoms by their factors (`coeff`). */
static void weigh(struct caffe *c, int *terms) {
  struct prototxt_field *f = prototxt_find(c->params, "coeff");
  for (size_t i = 0; i < c->at->bottom_count; i++) {
    struct prototxt_field one = {.name = slice_of("x"), .inside = f};
    double factor = f ? prototxt_real(c->graph, &one, "coeff", 1) : 1;
    if (factor < 1 || factor > 1) {
      struct graph_node *scaled =
          graph_with(c->graph, WORD_MUL, terms[i], factor);
      scaled->name = graph_text(c->graph, "%s_scaled", c->at->name);
      terms[i] = scaled->index;
    }
    f = f ? prototxt_again(f) : NULL;
  }
}

/* Reports a bottom that differs from the first one. */
static bool shapes_differ(struct caffe *c, int bottom, const char *in_what) {
  struct graph *g = c->graph;
  struct graph_shape first = *caffe_shape(c), other = *graph_shape(g, bottom);
  caffe_fail(c, graph_text(g, "its bottoms have different %s: %s and %s",
                           in_what, graph_sizes(g, first.size, first.rank),
                           graph_sizes(g, other.size, other.rank)));
  return window_meet_help(g, first.size[first.rank - 1] ==
                                     other.size[other.rank - 1]
                                 ? "`pad: 1` keeps the size of a map at a "
                                   "`kernel_size` of 3"
                                 : "a convolution with `kernel_size: 1` gives "
                                   "it other channels");
}

bool caffe_eltwise(struct caffe *c) {
  bool product = caffe_is(c, "operation", "PROD", "0");
  bool most = caffe_is(c, "operation", "MAX", "2");
  int *terms = arena_alloc(c->graph->arena, c->at->bottom_count, sizeof *terms);
  if (c->at->bottom_count < 2)
    return caffe_fail(c, "it needs two bottoms");
  for (size_t i = 0; i < c->at->bottom_count; i++) {
    terms[i] = c->at->bottoms[i];
    if (!graph_same_shape(graph_shape(c->graph, terms[i]), caffe_shape(c)))
      return shapes_differ(c, terms[i], "shapes");
  }
  if (!product && !most)
    weigh(c, terms);
  enum layer_word word = product ? WORD_MUL : most ? WORD_MAX : WORD_ADD;
  return caffe_give(c,
                    graph_join_all(c->graph, word, terms, c->at->bottom_count));
}

int caffe_axis(const struct graph_shape *shape, int64_t axis) {
  if (axis < 0)
    axis += shape->rank + 1;
  return axis < 1 || axis > shape->rank ? -1
         : axis == 1                    ? shape->rank - 1
                                        : (int)axis - 2;
}

/* `axis`, or its old name `old`, for the first bottom. */
static int axis_or(struct caffe *c, const char *old) {
  int64_t usual = prototxt_int(c->graph, c->params, old, 1, 0, 7);
  return caffe_axis(caffe_shape(c), caffe_given_axis(c, usual));
}

bool caffe_concat(struct caffe *c) {
  int axis = axis_or(c, "concat_dim"), rank = caffe_shape(c)->rank;
  if (axis < 0)
    return caffe_fail(c, "samples of a batch cannot be joined");
  if (c->at->bottom_count == 1)
    return caffe_give(c, graph_at(c->graph, c->in));
  for (size_t i = 0; i < c->at->bottom_count; i++)
    if (graph_shape(c->graph, c->at->bottoms[i])->rank != rank)
      return shapes_differ(c, c->at->bottoms[i], "numbers of axes");
  return caffe_give(
      c, graph_concat(c->graph, c->at->bottoms, c->at->bottom_count, axis));
}

bool caffe_slice(struct caffe *c) {
  int axis = axis_or(c, "slice_dim");
  if (axis < 0)
    return caffe_fail(c, "samples of a batch cannot be split");
  struct prototxt_field *point = prototxt_find(c->params, "slice_point");
  size_t count = c->at->top_count;
  int64_t end = caffe_shape(c)->size[axis], from = 0;
  int64_t even = count ? end / (int64_t)count : 0;
  for (size_t i = 0; i < count; i++) {
    int64_t to = i + 1 == count ? end
                 : point        ? prototxt_value(c->graph, point, 1, end)
                                : from + even;
    point = point ? prototxt_again(point) : NULL;
    if (to <= from || to > end)
      return caffe_fail(c, "its points do not split the axis");
    caffe_set(c, i, graph_slice(c->graph, c->in, axis, NULL, from, to)->index);
    from = to;
  }
  return !c->graph->failed;
}

bool caffe_split(struct caffe *c) {
  for (size_t i = 0; i < c->at->top_count; i++)
    caffe_set(c, i, c->in);
  return true;
}

bool caffe_axpy(struct caffe *c) {
  if (c->at->bottom_count != 3)
    return caffe_fail(c, "it needs three bottoms");
  int by = as_pixel(c, c->in);
  int scaled = graph_pair(c->graph, WORD_MUL, c->at->bottoms[1], by)->index;
  return caffe_give(c,
                    graph_pair(c->graph, WORD_ADD, scaled, c->at->bottoms[2]));
}

/* Leaves out a type that netc does not have, if the user allows it. */
static bool unknown(struct caffe *c) {
  if (!c->options->allow_unknown) {
    graph_fail(c->graph, c->at->line,
               "netc has no equivalent of `%s`, a layer of type %s",
               c->at->name, c->at->type);
    return graph_help_leave(c->graph);
  }
  graph_note(c->graph,
             "`%s` (%s) and all layers that depend on it are left out: netc "
             "has no equivalent.",
             c->at->name, c->at->type);
  for (size_t i = 0; i < c->at->top_count; i++)
    map_add(c->graph->arena, &c->blobs, c->at->tops[i])->number = 0;
  return true;
}

static bool says_dropout(struct slice text) {
  for (size_t i = 0; i + 4 <= text.length; i++)
    if (strncasecmp(text.at + i, "drop", 4) == 0)
      return true;
  return false;
}

/* Only the name of a Python layer is known: ENet's spatial dropout. */
bool caffe_python(struct caffe *c) {
  if (!says_dropout(prototxt_text(c->params, "layer", "")) &&
      !says_dropout(prototxt_text(c->params, "module", "")))
    return unknown(c);
  graph_note(c->graph, "`%s` (Python) is left out: inference has no dropout.",
             c->at->name);
  caffe_set(c, 0, c->in);
  return true;
}

/* The table. */

static const struct caffe_row {
  const char *type;
  caffe_add_fn *add;
  const char *params;
  bool on_map; /* operates on height and width */
  enum layer_word words[IMPORT_WORDS];
} rows[] = {
#define TYPE(name, function, params, on_map, ...) \
  {name, function, params, on_map, {__VA_ARGS__}},
#include "ops/caffe.def"
#undef TYPE
};

/* The row of a type. A function of ops.def needs none. */
static struct caffe_row row_of(const char *type) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].type, type) == 0)
      return rows[i];
  const struct function *function = function_find(IN_CAFFE, slice_of(type));
  if (function)
    return (struct caffe_row){type, caffe_plain, "", false, {function->word}};
  return (struct caffe_row){.type = NULL};
}

bool caffe_knows_type(const char *type) {
  return row_of(type).type != NULL;
}

/* True if `old` is a type's name in the old `layers`: INNER_PRODUCT. */
static bool is_old_name(struct slice old, const char *type) {
  for (size_t i = 0; i < old.length; i++)
    if (old.at[i] != '_' && toupper((unsigned char)*type++) != old.at[i])
      return false;
  return !*type;
}

const char *caffe_type(struct slice old) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (is_old_name(old, rows[i].type))
      return rows[i].type;
  for (size_t i = 0; function_at(i); i++) {
    const char *name = function_at(i)->names[IN_CAFFE];
    if (name && is_old_name(old, name))
      return name;
  }
  return NULL;
}

bool caffe_type_at(struct graph *graph, size_t index,
                   struct import_type *type) {
  const size_t count = sizeof rows / sizeof *rows;
  if (index >= count)
    return import_function_type(graph, IN_CAFFE, "%.*s", index - count, type);
  import_type_set(type, rows[index].type, rows[index].words);
  return true;
}

bool caffe_add(struct caffe *c) {
  struct caffe_row row = row_of(c->at->type);
  if (!row.type)
    return unknown(c);
  c->in = c->at->bottoms[0];
  c->word = row.words[0];
  c->params = prototxt_find(c->at->message, row.params);
  return (!row.on_map || caffe_is_map(c)) && row.add(c);
}
