/*
 * The shape of a layer by the layer's own rule: the layer is written below
 * inputs of its operands' shapes and compiled. A reader that names a layer
 * and its arguments needs no arithmetic of its own.
 */
#include <string.h>

#include "import/graph.h"
#include "netc.h"

/* `input n3 14x14x256`, once for each tensor. */
static void put_input(struct graph *graph, struct text *out, int index) {
  const struct graph_node *node = graph_at(graph, index);
  const struct graph_shape *shape = graph_shape(graph, index);
  bool indices =
      node->indices || (node->word == WORD_INPUT && node->args.count > 0);
  text_printf(out, "input n%d ", index);
  text_sizes(out, shape->size, shape->rank);
  text_printf(out, "%s\n", indices ? " : i32" : "");
}

static void put_layer(struct text *out, const struct graph_node *node) {
  text_put(out, word_name(node->word));
  for (size_t i = 0; i < node->args.count; i++)
    text_printf(out, " %s%s%s", node->args.at[i].before, node->args.at[i].value,
                node->args.at[i].after ? node->args.at[i].after : "");
  for (size_t i = 0; node->inputs.count > 1 && i < node->inputs.count; i++)
    text_printf(out, " n%d", node->inputs.at[i]);
  if (node->keyed >= 0)
    text_printf(out, " %sn%d", node->key, node->keyed);
  text_putc(out, '\n');
}

/* The layer that another one names stands before it, on an input of its own. */
static void put_keyed(struct graph *graph, struct text *out, int index) {
  const struct graph_node *node = graph_at(graph, index);
  if (node->word == WORD_INPUT) {
    put_input(graph, out, index);
    return;
  }
  put_input(graph, out, node->inputs.at[0]);
  text_printf(out, "n%d: ", index);
  put_layer(out, node);
}

static struct text source_of(struct graph *graph, struct graph_node *node) {
  struct text out = text_new(graph->arena);
  if (node->keyed >= 0)
    put_keyed(graph, &out, node->keyed);
  for (size_t i = 0; i < node->inputs.count; i++) {
    size_t k = 0;
    while (node->inputs.at[k] != node->inputs.at[i])
      k++;
    if (k == i && node->inputs.at[i] != node->keyed)
      put_input(graph, &out, node->inputs.at[i]);
  }
  put_layer(&out, node);
  return out;
}

/* The slug of the first error; warnings may come before it. */
static const char *error_of(struct netc *netc) {
  struct netc_diagnostic d = {.size = sizeof d};
  for (size_t i = 0; netc_diagnostic(netc, i, &d) == NETC_OK; i++)
    if (d.severity == NETC_SEVERITY_ERROR)
      return d.slug;
  return "";
}

const char *graph_refusal(struct graph *graph, int index) {
  struct graph_node *node = graph_at(graph, index);
  struct netc_layer layer = {.size = sizeof layer};
  if (!node->open || graph->failed || graph->refused)
    return NULL;
  node->open = false;
  if (!graph->rules && !(graph->rules = netc_open(NULL, NULL)))
    arena_fail(graph->arena);
  struct text text = source_of(graph, node);
  if (netc_load_text(graph->rules, "", text.at, text.length) != NETC_OK) {
    graph->refused = node;
    return error_of(graph->rules);
  }
  netc_layer(graph->rules, netc_layer_count(graph->rules) - 1, &layer);
  node->shape.rank = layer.out.rank;
  for (int i = 0; i < layer.out.rank; i++)
    node->shape.size[i] = layer.out.dims[i];
  node->indices = layer.out.type != NETC_FLOAT;
  return NULL;
}

const struct graph_shape *graph_shape(struct graph *graph, int index) {
  graph_refusal(graph, index);
  return &graph_at(graph, index)->shape;
}

void graph_close_rules(struct graph *graph) {
  for (size_t i = 0; i < graph->nodes.count; i++) {
    struct graph_node *node = graph->nodes.at[i];
    graph_shape(graph, (int)i);
    if (node->open || node == graph->refused)
      node->shape.rank = 0;
  }
  netc_close(graph->rules);
  graph->rules = NULL;
}
