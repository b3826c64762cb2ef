/* Functions with which readers build the graph of an imported net. */
#include "import/graph.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/shown.h"
#include "base/utf8.h"
#include "layers/layer.h"

void graph_open(struct graph *graph, struct arena *arena) {
  *graph = (struct graph){.arena = arena};
}

/*
 * Formats a text from the file: control characters are escaped, and bytes that
 * are not UTF-8 become `?`, so that it can neither control a terminal nor end a
 * comment.
 */
static struct text harmless(struct graph *graph, const char *format,
                            va_list args) {
  struct text raw = text_new(graph->arena), shown = text_new(graph->arena);
  text_vprintf(&raw, format, args);
  for (size_t i = 0; i < raw.length;) {
    size_t length = utf8_length(raw.at + i, raw.length - i);
    if (length == 0)
      raw.at[i] = '?';
    i += length ? length : 1;
  }
  shown_put(&shown, text_slice(&raw), 0);
  return shown;
}

bool graph_fail(struct graph *graph, size_t line, const char *format, ...) {
  if (graph->failed)
    return false;
  va_list args;
  va_start(args, format);
  struct text text = harmless(graph, format, args);
  va_end(args);
  graph->failed = true;
  graph->error =
      (struct graph_error){.line = line, .message = text_slice(&text)};
  return false;
}

bool graph_help(struct graph *graph, const char *format, ...) {
  if (graph->error.help.length)
    return false;
  struct text text = text_new(graph->arena);
  va_list args;
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  graph->error.help = text_slice(&text);
  return false;
}

bool graph_help_leave(struct graph *graph) {
  return graph_help(
      graph, "--allow-unknown leaves it out, and all layers that depend on it");
}

void graph_note_left(struct graph *graph, const char *name, const char *type) {
  graph_note(graph,
             "`%.64s` (%.64s) and all layers that depend on it are left out: "
             "netc has no equivalent.",
             name, type);
}

const char *graph_text(struct graph *graph, const char *format, ...) {
  struct text text = text_new(graph->arena);
  va_list args;
  va_start(args, format);
  text_vprintf(&text, format, args);
  va_end(args);
  return text_string(&text);
}

void graph_note(struct graph *graph, const char *format, ...) {
  va_list args;
  va_start(args, format);
  struct text text = harmless(graph, format, args);
  va_end(args);
  text_putc(&text, '\0');
  struct map_entry *said =
      map_add(graph->arena, &graph->said, slice_of(text.at));
  if (said->number++ == 0)
    *VEC_PUSH(graph->arena, &graph->notes) = text.at;
}

bool graph_has_weights(enum layer_word word) {
  const struct layer_kind *kind = layer_kind_find(slice_of(word_name(word)));
  return kind && kind->params;
}

bool graph_same_shape(const struct graph_shape *a,
                      const struct graph_shape *b) {
  return a->rank == b->rank &&
         memcmp(a->size, b->size, (size_t)a->rank * sizeof *a->size) == 0;
}

/* 1x1xC and C are the same tensor. */
bool graph_equal_shape(const struct graph_shape *a,
                       const struct graph_shape *b) {
  int i = 0, k = 0;
  while (i < a->rank || k < b->rank) {
    if (i < a->rank && a->size[i] == 1)
      i++;
    else if (k < b->rank && b->size[k] == 1)
      k++;
    else if (i < a->rank && k < b->rank && a->size[i] == b->size[k])
      i++, k++;
    else
      return false;
  }
  return true;
}

static struct graph_node *add(struct graph *graph, enum layer_word word) {
  struct graph_node *node = ARENA_NEW(graph->arena, struct graph_node);
  node->index = (int)graph->nodes.count;
  node->word = word;
  node->open = word != WORD_INPUT;
  node->keyed = node->values = node->mask = -1;
  node->name = graph->at.name;
  node->kind = graph->at.kind;
  node->line = graph->at.line;
  node->column = graph->at.column;
  node->source = graph->at.source;
  node->frozen = graph->at.frozen && graph_has_weights(word);
  if (graph->nodes.count == LIMIT_LAYERS)
    graph_fail(graph, 0, "the net has more than %d layers, the maximum",
               LIMIT_LAYERS);
  *VEC_PUSH(graph->arena, &graph->nodes) = node;
  return node;
}

struct graph_node *graph_input(struct graph *graph, const char *name,
                               const struct graph_shape *shape,
                               const char *dtype) {
  struct graph_node *node = add(graph, WORD_INPUT);
  node->name = name;
  node->shape = *shape;
  if (dtype)
    graph_arg(graph, node, PART_NONE, ": ", dtype);
  return node;
}

struct graph_node *graph_layer(struct graph *graph, enum layer_word word,
                               int input) {
  struct graph_node *node = add(graph, word);
  graph_operand(graph, node, input);
  return node;
}

struct graph_node *graph_join(struct graph *graph, enum layer_word word) {
  return add(graph, word);
}

void graph_operand(struct graph *graph, struct graph_node *node, int input) {
  VEC_RESERVE(graph->arena, &node->inputs, 1);
  *VEC_PUSH(graph->arena, &node->inputs) = input;
}

struct graph_node *graph_pair(struct graph *graph, enum layer_word word, int a,
                              int b) {
  struct graph_node *node = graph_layer(graph, word, a);
  graph_operand(graph, node, b);
  return node;
}

int graph_reshape(struct graph *graph, int input,
                  const struct graph_shape *shape) {
  bool flat = shape->rank == 1;
  if (graph_same_shape(graph_shape(graph, input), shape))
    return input;
  struct graph_node *node =
      graph_layer(graph, flat ? WORD_FLATTEN : WORD_RESHAPE, input);
  if (!flat)
    graph_arg(graph, node, PART_OTHER, "",
              graph_sizes(graph, shape->size, shape->rank));
  return node->index;
}

struct graph_node *graph_permute(struct graph *graph, int input,
                                 const int *order, int count) {
  struct graph_node *node = graph_layer(graph, WORD_PERMUTE, input);
  for (int i = 0; i < count; i++)
    graph_int(graph, node, PART_NONE, "", order[i]);
  return node;
}

struct graph_node *graph_constant(struct graph *graph,
                                  const struct graph_shape *shape, bool fixed) {
  struct graph_node *node = graph_join(graph, WORD_WEIGHT);
  graph_arg(graph, node, shape->rank == 1 ? PART_CHANNELS : PART_OTHER, "",
            graph_sizes(graph, shape->size, shape->rank));
  if (fixed) {
    graph_flag(graph, node, "fixed");
    node->frozen = false;
  }
  return node;
}

void graph_become(struct graph_node *node, enum layer_word word, int input) {
  node->word = word;
  node->open = true;
  node->args.count = 0;
  node->inputs.count = 1;
  node->inputs.at[0] = input;
}

int64_t graph_count(const int64_t *sizes, size_t count) {
  int64_t product = 1;
  for (size_t i = 0; i < count; i++)
    if (!mul_i64(product, sizes[i], &product))
      product = INT64_MAX;
  return product;
}

/* A count of 2^63 or more is no net's; it is capped and never compared. */
void graph_tensor(struct graph_node *node, const int64_t *sizes, size_t count) {
  if (!add_i64(node->params, graph_count(sizes, count), &node->params))
    node->params = INT64_MAX;
}

void graph_arg(struct graph *graph, struct graph_node *node,
               enum graph_part part, const char *before, const char *value) {
  VEC_RESERVE(graph->arena, &node->args, 2); /* most layers have one to three */
  *VEC_PUSH(graph->arena, &node->args) =
      (struct part_text){part, before, value, NULL, NULL};
}

void graph_int(struct graph *graph, struct graph_node *node,
               enum graph_part part, const char *before, int64_t value) {
  graph_arg(graph, node, part, before, graph_text(graph, "%" PRId64, value));
}

void graph_flag(struct graph *graph, struct graph_node *node,
                const char *word) {
  graph_arg(graph, node, PART_NONE, "", word);
}

void graph_real(struct graph *graph, struct graph_node *node,
                const char *before, double value) {
  graph_arg(graph, node, PART_NONE, before, graph_number(graph, value));
}

void graph_usual(struct graph_node *node, const char *value) {
  node->args.at[node->args.count - 1].usual = value;
}

void graph_eps(struct graph *graph, struct graph_node *node, double eps) {
  graph_real(graph, node, "eps=", eps);
  graph_usual(node, graph_number(graph, 1e-5));
}

void graph_option(struct graph *graph, struct graph_node *node,
                  enum graph_part part, const char *before, int64_t value,
                  int64_t usual) {
  graph_int(graph, node, part, before, value);
  graph_usual(node, graph_text(graph, "%" PRId64, usual));
}

/* Writes a range of an axis: "0:64", "64:_", "16:32". */
static void put_range(struct graph *graph, struct graph_node *node,
                      enum graph_part part, int64_t from, int64_t to,
                      int64_t size) {
  const char *begin = graph_text(graph, "%" PRId64, from);
  const char *end = graph_text(graph, "%" PRId64, to);
  if (to != size && from != 0) {
    graph_arg(graph, node, PART_NONE, graph_text(graph, "%s:", begin), end);
  } else if (to != size) {
    graph_arg(graph, node, part, "0:", end);
  } else {
    graph_arg(graph, node, part, "", begin);
    node->args.at[node->args.count - 1].after = ":_";
  }
}

struct graph_node *graph_slice(struct graph *graph, int input, int axis,
                               const char *name, int64_t from, int64_t to) {
  struct graph_node *node = graph_layer(graph, WORD_SLICE, input);
  int64_t size = graph_shape(graph, input)->size[axis];
  bool channels = axis + 1 == graph_shape(graph, input)->rank;
  graph_flag(graph, node,
             name ? name : graph_axis(graph, graph_shape(graph, input), axis));
  put_range(graph, node, channels ? PART_CHANNELS : PART_OTHER, from, to, size);
  return node;
}

int graph_part(struct graph *graph, int input, int axis, int64_t from,
               int64_t to) {
  if (from == 0 && to == graph_shape(graph, input)->size[axis])
    return input;
  return graph_slice(graph, input, axis, NULL, from, to)->index;
}

struct graph_node *graph_join_all(struct graph *graph, enum layer_word word,
                                  const int *nodes, size_t count) {
  struct graph_node *node = graph_join(graph, word);
  for (size_t i = 0; i < count; i++)
    graph_operand(graph, node, nodes[i]);
  return node;
}

struct graph_node *graph_concat(struct graph *graph, const int *nodes,
                                size_t count, int axis) {
  struct graph_node *node = graph_join_all(graph, WORD_CONCAT, nodes, count);
  if (axis >= 0 && axis != graph_shape(graph, nodes[0])->rank - 1)
    graph_int(graph, node, PART_NONE, "axis=", axis);
  return node;
}

struct graph_node *graph_with(struct graph *graph, enum layer_word word,
                              int input, double number) {
  struct graph_node *node = graph_layer(graph, word, input);
  graph_real(graph, node, "", number);
  return node;
}

struct graph_node *graph_reduce(struct graph *graph, enum layer_word word,
                                int input, const bool *over, bool keep) {
  struct graph_node *node = graph_layer(graph, word, input);
  for (int i = 0; i < graph_shape(graph, input)->rank; i++)
    if (over[i])
      graph_int(graph, node, PART_NONE, "axis=", i);
  if (keep)
    graph_flag(graph, node, "keep");
  return node;
}

struct graph_node *graph_embed(struct graph *graph, int input, int64_t rows,
                               int64_t columns) {
  struct graph_node *node = graph_layer(graph, WORD_EMBED, input);
  graph_int(graph, node, PART_OTHER, "", rows);
  graph_int(graph, node, PART_CHANNELS, "", columns);
  return node;
}

const char *graph_axis(struct graph *graph, const struct graph_shape *shape,
                       int axis) {
  return axis == shape->rank - 1 ? "c" : graph_text(graph, "%d", axis);
}

double graph_single(double value) {
  double scale = 0, shorter = value;
  if (!isfinite(value) || fabs(value) < 1e-30 || fabs(value) > 1e30 ||
      (double)(float)value < value || (double)(float)value > value)
    return value;
  for (int digits = 1; digits < 10; digits++) {
    scale = pow(10, digits - 1 - floor(log10(fabs(value))));
    shorter = round(value * scale) / scale;
    if (!((float)shorter < (float)value) && !((float)shorter > (float)value))
      return shorter;
  }
  return value;
}

const char *graph_number(struct graph *graph, double value) {
  struct text text = text_new(graph->arena);
  text_real(&text, value);
  return text_string(&text);
}

const char *graph_sizes(struct graph *graph, const int64_t *sizes, int count) {
  struct text text = text_new(graph->arena);
  text_sizes(&text, sizes, count);
  return text_string(&text);
}

const char *graph_sides(struct graph *graph, const int64_t *before,
                        const int64_t *after, int count) {
  struct text text = text_new(graph->arena);
  for (int i = 0; i < count; i++) {
    text_printf(&text, "%s%" PRId64, i ? "x" : "", before[i]);
    if (before[i] != after[i])
      text_printf(&text, ":%" PRId64, after[i]);
  }
  return text_string(&text);
}

void graph_padding(struct graph *graph, struct graph_node *node, int axes,
                   const int64_t *kernel, const int64_t *dilation,
                   const int64_t *before, const int64_t *after) {
  bool none = true, same = true, even = true;
  for (int i = 0; i < axes; i++) {
    int64_t whole = dilation[i] * (kernel[i] - 1);
    none = none && before[i] == 0 && after[i] == 0;
    same = same && before[i] == whole / 2 && after[i] == whole - whole / 2;
    even = even && before[i] == before[0] && after[i] == after[0];
  }
  if (none)
    return;
  if (same) {
    graph_arg(graph, node, PART_NONE, "", "pad");
    return;
  }
  if (axes == 1 && after[0] == 0) { /* causal: may differ between blocks */
    graph_int(graph, node, PART_PADDING, "pad=", before[0]);
    node->args.at[node->args.count - 1].after = ":0";
    return;
  }
  graph_arg(graph, node, PART_PADDING,
            "pad=", graph_sides(graph, before, after, even ? 1 : axes));
}

/* True for a keyword of the language. tokens.def has keywords as `word`. */
static bool is_taken(const char *name) {
  static const char *const words[] = {
#define TOKEN(id, text) text,
#include "lexer/tokens.def"
#undef TOKEN
  };
  size_t length = strlen(name);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (words[i][0] == '`' && strncmp(words[i] + 1, name, length) == 0 &&
        words[i][length + 1] == '`')
      return true;
  return false;
}

const char *graph_identifier(struct graph *graph, const char *name) {
  struct text text = text_new(graph->arena);
  bool gap = false;
  for (; name && *name && text.length < 64; name++) {
    unsigned char c = (unsigned char)*name;
    if (c < 128 && (isalnum(c) || c == '_')) {
      if (gap && text.length)
        text_putc(&text, '_');
      if (!text.length && isdigit(c))
        text_put(&text, "n");
      text_putc(&text, (char)c);
      gap = false;
    } else {
      gap = true;
    }
  }
  if (text.length == 0)
    return NULL;
  text_putc(&text, '\0');
  if (is_taken(text.at)) {
    text.at[text.length - 1] = '_';
    text_putc(&text, '\0');
  }
  return text.at;
}

void graph_output(struct graph *graph, struct graph_node *node,
                  const char *name) {
  const char *plain = graph_identifier(graph, name);
  node->output = plain ? plain : "result";
  node->place = ++graph->outputs;
}
