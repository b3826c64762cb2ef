/* Compiles the source of an import and compares each layer's shape and
 * parameters with the file's. */
#include "import/proof.h"

#include <inttypes.h>
#include <string.h>

#include "import/weights.h"

static const char *dims_text(struct graph *graph, const struct netc_shape *s) {
  return graph_sizes(graph, s->dims, (int)s->rank);
}

static bool same_shape(const struct netc_shape *a,
                       const struct graph_shape *b) {
  struct graph_shape own = {.rank = (int)a->rank};
  for (int i = 0; i < own.rank; i++)
    own.size[i] = a->dims[i];
  return graph_equal_shape(&own, b);
}

static const char *name_of(const struct graph_node *node) {
  return node->name && *node->name ? node->name : node->kind;
}

/* The word of a node's layer; for `again`, that of the layer it uses. */
static const char *word_of(const struct graph *graph,
                           const struct graph_node *node) {
  bool again = node->word == WORD_AGAIN;
  return word_name(again ? graph->nodes.at[node->keyed]->word : node->word);
}

/* A difference between an import and its file is a bug of netc. */
static bool verify(struct import_proof *p, struct graph *graph,
                   const struct imported *result) {
  size_t count = netc_layer_count(p->netc);
  if (graph->kept)
    return !netc_source(p->netc, 1) && import_has_weights(p->netc, graph);
  if (graph->source.length) /* already compared by the reader */
    return true;
  if (count != result->layer_count)
    return graph_fail(graph, 0,
                      "the source has %zu layers, but the file has %zu; please "
                      "report this bug",
                      count, result->layer_count);
  for (size_t i = 0; i < count; i++) {
    struct netc_layer layer = {.size = sizeof layer};
    const struct graph_node *node = result->layers[i];
    netc_layer(p->netc, i, &layer);
    if (strcmp(layer.op, word_of(graph, node)) != 0)
      return graph_fail(graph, node->line,
                        "layer %zu is `%s` in the source, but `%s` in the "
                        "file; please report this bug",
                        i, layer.op, word_of(graph, node));
    if (node->shape.rank > 0 && !same_shape(&layer.out, &node->shape))
      return graph_fail(
          graph, node->line, "%s outputs %s in the file, but `%s` outputs %s",
          name_of(node), graph_sizes(graph, node->shape.size, node->shape.rank),
          layer.written, dims_text(graph, &layer.out));
    if (layer.param_count != node->params)
      return graph_fail(
          graph, node->line,
          "%s has %" PRId64 " parameters in the file, but `%s` has %" PRId64,
          name_of(node), node->params, layer.written, layer.param_count);
  }
  return true;
}

bool import_holds(struct import_proof *p, struct graph *graph,
                  const struct imported *result) {
  struct slice text = text_slice(&result->source);
  graph->failed = false;
  graph->error = (struct graph_error){0};
  /* The path says `imported`: line numbers are the source's, not the file's. */
  p->loaded =
      netc_load_text(p->netc, graph_text(graph, "%s, imported", p->path),
                     text.at, text.length);
  return p->loaded == NETC_OK && verify(p, graph, result);
}

bool import_prove(struct import_proof *p, struct graph *graph, bool flat,
                  struct imported *result) {
  if (import_holds(p, graph, result))
    return true;
  if (flat || graph->source.length)
    return false;
  p->longer = "more lines than need be";
  while (import_longer(graph, result))
    if (import_holds(p, graph, result))
      return true;
  p->longer = "a line a layer";
  import_flat(graph, result);
  return import_holds(p, graph, result);
}
