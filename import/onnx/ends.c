/* The end of a model: its outputs, nodes without users, shared weights. */
#include <inttypes.h>
#include <string.h>

#include "import/onnx/external.h"
#include "import/onnx/reader.h"
#include "import/onnx/steps.h"

/* Finds a node with the file's order of values, or netc's order of a map. */
static bool settle_output(struct onnx *x, const struct onnx_view *view,
                          int *node) {
  struct onnx_view result;
  int order[LAYOUT_RANK], count = 0;
  for (int i = 2; i < view->at.rank; i++)
    order[count++] = i;
  order[count++] = 1;
  if (view->at.rank >= 3 && view_is_batch(x, view, 0)) {
    struct onnx_axes axes;
    if (axes_of(x, view, &axes) && axes.count == count &&
        memcmp(axes.order, order, (size_t)count * sizeof *order) == 0) {
      *node = view->node;
      return true;
    }
  }
  if (!view_plain(x, view, &result))
    return false;
  *node = result.node;
  return true;
}

static bool read_output(struct onnx *x, const Onnx__ValueInfoProto *info) {
  const struct map_entry *entry = map_find(&x->names, slice_of(info->name));
  struct onnx_value *value = &x->values.at[entry->number - 1];
  int node;
  if (value->absent || !value->output)
    return true;
  if (!value->made)
    return onnx_fail(x, "no node produces the output `%s`",
                     onnx_shown(x, info->name));
  if (!value->view) {
    graph_note(x->graph, "The output `%s` is a constant: it is left out.",
               onnx_shown(x, info->name));
    return true;
  }
  if (!settle_output(x, value->view, &node))
    return false;
  if (graph_at(x->graph, node)->output ||
      graph_at(x->graph, node)->word == WORD_INPUT)
    node = onnx_layer(x, WORD_IDENTITY, node)->index;
  graph_output(x->graph, graph_at(x->graph, node), info->name);
  return true;
}

/* Removes nodes that no output depends on. */
static void drop_dead(struct onnx *x) {
  size_t count = x->graph->nodes.count, kept = 0;
  bool *live = arena_alloc(x->arena, count + 1, sizeof *live);
  int *place = arena_alloc(x->arena, count + 1, sizeof *place);
  for (size_t i = count; i-- > 0;) {
    struct graph_node *node = x->graph->nodes.at[i];
    live[i] = live[i] || node->output;
    for (size_t k = 0; k < graph_feeds(node) && live[i]; k++)
      live[graph_feed(node, k)] = true;
  }
  for (size_t i = 0; i < count; i++) {
    struct graph_node *node = x->graph->nodes.at[i];
    if (!live[i])
      continue;
    place[i] = (int)kept;
    const struct extra *extra = onnx_extra(x, (int)i); /* `at` may move */
    x->extras.at[kept] = *extra;
    x->graph->nodes.at[kept] = node;
    node->index = (int)kept++;
    for (size_t k = 0; k < node->inputs.count; k++)
      node->inputs.at[k] = place[node->inputs.at[k]];
    if (node->keyed >= 0)
      node->keyed = place[node->keyed];
    if (node->values >= 0)
      node->values = place[node->values];
    if (node->mask >= 0)
      node->mask = place[node->mask];
  }
  x->graph->nodes.count = kept;
  x->extras.count = kept;
}

static const struct constant *origin_of(const struct constant *c) {
  return c && c->origin ? c->origin : c;
}

/* True if two layers are alike and share the file's tensors. */
static bool is_again(struct onnx *x, int a, int b) {
  const struct graph_node *one = graph_at(x->graph, a),
                          *two = graph_at(x->graph, b);
  const struct extra *first = onnx_extra(x, a), *second = onnx_extra(x, b);
  if (one->word != two->word || one->bias != two->bias ||
      one->args.count != two->args.count || one->inputs.count != 1 ||
      two->inputs.count != 1 || graph_feeds(one) > 1 || graph_feeds(two) > 1 ||
      first->weights.count != second->weights.count)
    return false;
  for (size_t i = 0; i < one->args.count; i++)
    if (strcmp(one->args.at[i].value, two->args.at[i].value) != 0)
      return false;
  for (size_t i = 0; i < first->weights.count; i++)
    if (origin_of(first->weights.at[i].from) !=
        origin_of(second->weights.at[i].from))
      return false;
  return true;
}

/* The first layer with the node's main tensor, or the node itself. */
static int first_with(struct onnx *x, struct map *owners, int node) {
  const struct extra *extra = onnx_extra(x, node);
  const struct constant *origin = NULL;
  /* No vectors: exporters merge norms that are still equal before training. */
  for (size_t i = 0; i < extra->weights.count && !origin; i++)
    if (extra->weights.at[i].from->rank >= (x->own_vectors ? 1 : 2))
      origin = origin_of(extra->weights.at[i].from);
  if (!origin || !origin->trained)
    return node;
  struct slice key = {arena_copy(x->arena, (char *)&origin, sizeof origin),
                      sizeof origin};
  struct map_entry *entry = map_add(x->arena, owners, key);
  if (!entry->number)
    entry->number = node + 1;
  return (int)entry->number - 1;
}

/* Finds layers that share weights, as a dense layer with an embedding. */
static void find_ties(struct onnx *x) {
  struct map owners = {0};
  for (size_t i = 0; i < x->graph->nodes.count; i++) {
    struct graph_node *node = x->graph->nodes.at[i];
    int first = first_with(x, &owners, (int)i);
    if (first == (int)i)
      continue;
    bool tied = node->word == WORD_LINEAR && node->keyed < 0 &&
                graph_at(x->graph, first)->word == WORD_EMBED;
    if (!tied && !is_again(x, first, (int)i))
      continue;
    node->key = tied ? "tie=" : "";
    node->keyed = first;
    node->again = !tied;
    graph_at(x->graph, first)->shared = true;
  }
}

/* A layer's own tensor of the file, or NULL. */
static struct constant *tensor_of(struct onnx *x, int node, const char *name) {
  const struct constant *c = origin_of(onnx_find_weight(x, node, name));
  return c && c->trained ? (struct constant *)c : NULL;
}

/* True if the values are in memory and few enough to compare for a note. */
static bool can_compare(struct onnx *x, struct constant *c) {
  bool outside =
      c->proto && external_is(c->proto) && !external_is_there(x, c->proto);
  return !outside && c->count <= MOST_FOLDED && c->count <= x->room / 2 &&
         constant_known(x, c) && c->real;
}

/* True if the matrices are equal and not constant, as in a new layer. */
static bool has_equal_matrix(struct onnx *x, int a, int b) {
  struct constant *one = tensor_of(x, a, "weight"),
                  *two = tensor_of(x, b, "weight");
  double even;
  return one && two && one != two && one->rank == 2 && two->rank == 2 &&
         memcmp(one->dims, two->dims, 2 * sizeof *one->dims) == 0 &&
         can_compare(x, one) && can_compare(x, two) && !one->fill &&
         !two->fill && !constant_is_even(x, one, &even) &&
         memcmp(one->real, two->real, (size_t)one->count * sizeof(float)) == 0;
}

/*
 * PyTorch writes the matrix of a layer that is used twice as two, with one
 * bias. It does so, too, for copies of a layer, as in a new
 * nn.TransformerEncoder. Both are counted, and a note says so.
 */
static void note_copies(struct onnx *x) {
  struct map owners = {0}; /* by bias */
  int64_t copies = 0;
  const char *first = NULL;
  for (size_t i = 0; i < x->graph->nodes.count; i++) {
    const struct constant *bias = tensor_of(x, (int)i, "bias");
    if (!bias || graph_at(x->graph, (int)i)->again)
      continue;
    struct slice key = {arena_copy(x->arena, (char *)&bias, sizeof bias),
                        sizeof bias};
    struct map_entry *entry = map_add(x->arena, &owners, key);
    if (!entry->number) {
      entry->number = (int64_t)i + 1;
    } else if (has_equal_matrix(x, (int)entry->number - 1, (int)i)) {
      first = first ? first : bias->name;
      copies++;
    }
  }
  if (copies)
    graph_note(x->graph,
               "%" PRId64 " layer%s %s the bias and the matrix values of "
               "another layer, such as `%s`. Each is counted; if the model "
               "applies one layer several times, write `again` for it.",
               copies, copies > 1 ? "s" : "", copies > 1 ? "have" : "has",
               onnx_shown(x, first ? first : ""));
}

static bool is_fixed(const struct graph_node *node) {
  for (size_t i = 0; i < node->args.count; i++)
    if (strcmp(node->args.at[i].value, "fixed") == 0)
      return true;
  return false;
}

/* Counts the file's trained tensors of each layer that it does not share. */
static void count_weights(struct onnx *x) {
  for (size_t i = 0; i < x->graph->nodes.count; i++) {
    struct graph_node *node = x->graph->nodes.at[i];
    const struct extra *extra = onnx_extra(x, (int)i);
    for (size_t k = 0; k < extra->weights.count; k++) {
      const struct from_weight *w = &extra->weights.at[k];
      bool shared = node->again || (node->keyed >= 0 && w->from->rank == 2 &&
                                    strcmp(node->key, "tie=") == 0);
      if (!shared && !is_fixed(node) && strncmp(w->name, "running_", 8) != 0)
        GRAPH_TENSOR(node, w->from->count);
    }
  }
}

/* 8-bit values as signed ones, 32-bit values as they are; NULL: not stored. */
static const int32_t *stored_of(struct onnx *x, const struct constant *from) {
  const struct constant *c = from->stored;
  int64_t least = c && c->type == TYPE_UINT8 ? 128 : 0;
  if (!c || !(c->whole || c->real))
    return NULL;
  int32_t *to = arena_alloc(x->arena, (size_t)c->count + 1, sizeof *to);
  for (int64_t i = 0; i < c->count; i++)
    to[i] = (int32_t)(constant_whole(c, i) - least);
  return to;
}

/* Copies the weights' values, for a file of weights. */
static bool give_weights(struct onnx *x) {
  for (size_t i = 0; i < x->graph->nodes.count; i++) {
    struct graph_node *node = x->graph->nodes.at[i];
    const struct extra *extra = onnx_extra(x, (int)i);
    x->at = node->source;
    for (size_t k = 0; k < extra->weights.count; k++) {
      const struct from_weight *w = &extra->weights.at[k];
      struct constant *c = constant_with(x, (struct constant *)w->from,
                                         w->from->rank, w->from->dims);
      if (!constant_load(x, c))
        return false;
      *VEC_PUSH(x->arena, &node->weights) =
          (struct graph_weight){.name = w->name,
                                .count = c->count,
                                .fill = c->fill,
                                .is_matrix = w->is_matrix,
                                .as_file = w->as_file,
                                .real = c->real,
                                .whole = c->whole,
                                .stored = stored_of(x, w->from)};
      if (w->from->steps)
        steps_put(x, w->from->steps,
                  &node->weights.at[node->weights.count - 1].scale,
                  &node->weights.at[node->weights.count - 1].zero);
    }
  }
  x->at = NULL;
  return true;
}

bool onnx_finish(struct onnx *x) {
  const Onnx__GraphProto *g = x->model->graph;
  for (size_t i = 0; i < g->n_output; i++)
    if (!read_output(x, g->output[i]))
      return false;
  onnx_say_left_out(x);
  drop_dead(x);
  onnx_find_attention(x);
  drop_dead(x);
  find_ties(x);
  note_copies(x);
  if (x->graph->nodes.count == 0)
    return onnx_fail(x, "no layer of the net remains");
  for (size_t i = 0; i < x->graph->nodes.count; i++) {
    struct graph_node *node = x->graph->nodes.at[i];
    if (node->word == WORD_CENTRE)
      node->word = WORD_MEAN; /* it belongs to no norm */
    if (node->word != WORD_ERF)
      continue;
    x->at = node->source;
    return onnx_fail(x, "netc has an equivalent of it only in patterns that "
                        "this model does not have");
  }
  count_weights(x);
  steps_settle(x);
  return !x->options->weights || give_weights(x);
}
