/*
 * Computes a layer's shape by the layer's own rule: compiles the layer after
 * inputs of its operands' shapes. Readers that only name a layer and its
 * arguments need no shape arithmetic.
 */
#include <string.h>

#include "import/window.h"
#include "netc.h"

/* `input n1 14x14x256` */
static void put_input(struct graph *graph, struct text *out, const char *name,
                      int number, int index) {
  const struct graph_node *node = graph_at(graph, index);
  const struct graph_shape *shape = graph_shape(graph, index);
  bool indices =
      node->indices || (node->word == WORD_INPUT && node->args.count > 0);
  text_printf(out, "input %s%d ", name, number);
  text_sizes(out, shape->size, shape->rank);
  text_printf(out, "%s\n", indices ? " : i32" : "");
}

/* The index of the first operand that reads the same tensor: one input each. */
static int place_of(const struct graph_node *node, size_t i) {
  int place = 0;
  while (node->inputs.at[place] != node->inputs.at[i])
    place++;
  return place;
}

/* A further use of a layer needs the other one for its weights alone. */
static bool has_key(const struct graph_node *node) {
  return node->keyed >= 0 && !node->again;
}

static void put_layer(struct text *out, const struct graph_node *node) {
  text_put(out, word_name(node->word));
  for (size_t i = 0; i < node->args.count; i++) {
    const struct part_text *arg = &node->args.at[i];
    if (arg->usual && strcmp(arg->usual, arg->value) == 0)
      continue;
    text_printf(out, " %s%s%s", arg->before, arg->value,
                arg->after ? arg->after : "");
  }
  for (size_t i = 0; node->inputs.count > 1 && i < node->inputs.count; i++)
    text_printf(out, " n%d", place_of(node, i));
  if (has_key(node))
    text_printf(out, " %skeyed0", node->key);
  if (node->values >= 0)
    text_printf(out, " %svalues0", graph_values_key(node));
  if (node->mask >= 0)
    text_put(out, " mask=mask0");
  text_putc(out, '\n');
}

/* Writes the layer that another one names before it, on an input of its own. */
static void put_keyed(struct graph *graph, struct text *out, int index) {
  const struct graph_node *node = graph_at(graph, index);
  if (node->inputs.count != 1 || graph_feeds(node) != 1) {
    put_input(graph, out, "keyed", 0, index);
    return;
  }
  put_input(graph, out, "keyed", 1, node->inputs.at[0]);
  text_put(out, "keyed0: ");
  put_layer(out, node);
}

/* The text to compile. Equal layers on equal shapes have equal texts. */
static struct slice source_of(struct graph *graph, struct graph_node *node) {
  struct text out = text_new(graph->arena);
  if (has_key(node))
    put_keyed(graph, &out, node->keyed);
  if (node->values >= 0)
    put_input(graph, &out, "values", 0, node->values);
  if (node->mask >= 0)
    put_input(graph, &out, "mask", 0, node->mask);
  bool next = graph_feeds(node) == 2 && node->inputs.count == 1;
  for (size_t i = 0; i < node->inputs.count; i++)
    if (place_of(node, i) == (int)i &&
        !(next && has_key(node) && node->inputs.at[i] == node->keyed))
      put_input(graph, &out, "n", (int)i, node->inputs.at[i]);
  put_layer(&out, node);
  return text_slice(&out);
}

/* Reports the first error; warnings may precede it. */
static void report(struct graph *graph, const struct graph_node *node) {
  struct netc_diagnostic d = {.size = sizeof d, .slug = "", .message = ""};
  size_t i = 0;
  while (netc_diagnostic(graph->rules, i++, &d) == NETC_OK &&
         d.severity != NETC_SEVERITY_ERROR)
    continue;
  graph_fail(graph, node->line, "`%.64s` (%.64s): %s",
             node->name ? node->name : "", node->kind ? node->kind : "",
             d.message);
  graph->error.column = node->column;
  if (strcmp(d.slug, "kernel-too-large") == 0)
    window_help(graph);
}

/* Compiles a source whose last layer is the node. */
static void compile(struct graph *graph, struct slice source,
                    struct graph_node *node) {
  struct netc_layer layer = {.size = sizeof layer};
  if (!graph->rules && !(graph->rules = netc_open(NULL, NULL)))
    arena_fail(graph->arena);
  if (netc_load_text(graph->rules, "", source.at, source.length) != NETC_OK) {
    report(graph, node);
    return;
  }
  netc_layer(graph->rules, netc_layer_count(graph->rules) - 1, &layer);
  node->shape.rank = layer.out.rank;
  for (int i = 0; i < layer.out.rank; i++)
    node->shape.size[i] = layer.out.dims[i];
  node->indices = layer.out.type != NETC_FLOAT;
}

static int open_feed(const struct graph *graph, const struct graph_node *node) {
  for (size_t i = 0; i < graph_feeds(node); i++)
    if (graph_at(graph, graph_feed(node, i))->open)
      return graph_feed(node, i);
  return -1;
}

/* Computes the shape of a node whose inputs have theirs. */
static void close_node(struct graph *graph, struct graph_node *node) {
  node->open = false;
  if (node->word == WORD_ERF) { /* no layer: a part of a pattern */
    node->shape = *graph_shape(graph, node->inputs.at[0]);
    return;
  }
  struct slice source = source_of(graph, node);
  struct map_entry *entry = map_add(graph->arena, &graph->ruled_before, source);
  const struct graph_node *before = entry->pointer;
  if (before) {
    node->shape = before->shape;
    node->indices = before->indices;
    return;
  }
  compile(graph, source, node);
  entry->pointer = graph->failed ? NULL : node;
}

/* Without recursion: nets are deep. */
const struct graph_shape *graph_shape(struct graph *graph, int index) {
  static const struct graph_shape failed = {1, {1, 1, 1, 1, 1, 1, 1, 1}};
  struct graph_node *node = graph_at(graph, index);
  VEC(int) path = {0};
  for (int at = index; node->open && !graph->failed;) {
    int deeper = open_feed(graph, graph_at(graph, at));
    if (deeper >= 0) {
      *VEC_PUSH(graph->arena, &path) = at;
      at = deeper;
      continue;
    }
    close_node(graph, graph_at(graph, at));
    at = path.count ? path.at[--path.count] : index;
  }
  return graph->failed ? &failed : &node->shape;
}

void graph_close_rules(struct graph *graph) {
  for (size_t i = 0; i < graph->nodes.count; i++)
    graph_shape(graph, (int)i);
  netc_close(graph->rules);
  graph->rules = NULL;
}

bool graph_check(struct graph *graph, const struct graph_node *node,
                 const struct graph_shape *stated) {
  const struct graph_shape *own = graph_shape(graph, node->index);
  return !graph->failed &&
         (graph_equal_shape(own, stated) ||
          graph_fail(graph, node->line,
                     "`%.64s` (%.64s): its output is %s in the file, but %s by "
                     "its operands",
                     node->name ? node->name : "", node->kind ? node->kind : "",
                     graph_sizes(graph, stated->size, stated->rank),
                     graph_sizes(graph, own->size, own->rank)));
}
