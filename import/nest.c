/* Concats within concats: the operands that a tensor dominates, if no other
 * part of the net reads what is between them. */
#include "import/nest.h"

#include <string.h>

#include "import/dominate.h"

enum {
  MOST_ROUNDS = 8,    /* nesting of new concats */
  MOST_BETWEEN = 2000 /* nodes between a tensor and a join */
};

/* Operands [from, to) of a join, which a new concat reads. */
struct nested_part {
  int join;
  size_t from, to;
  struct graph_node *node;
};

struct nesting {
  struct graph *graph;
  struct dominators tree;
  int *stamp, now;
  VEC(int) region;
  VEC(struct nested_part) parts;
};

/* The nearest dominator of a node that is just below `top`; -1: the node is
 * `top` itself, or `top` does not dominate it. */
static int below(const struct nesting *n, int node, int top) {
  while (node > top && n->tree.parent[node] > top)
    node = n->tree.parent[node];
  return node > top && n->tree.parent[node] == top ? node : -1;
}

static void stamp(struct nesting *n, int node) {
  if (n->stamp[node] == n->now)
    return;
  n->stamp[node] = n->now;
  *VEC_PUSH(n->graph->arena, &n->region) = node;
}

/* True if only the join reads what is between `top` and these operands. */
static bool is_private(struct nesting *n, const struct graph_node *join,
                       size_t from, size_t to, int top) {
  n->now++;
  n->region.count = 0;
  for (size_t i = from; i < to; i++)
    stamp(n, join->inputs.at[i]);
  for (size_t i = 0; i < n->region.count; i++) {
    const struct graph_node *node = graph_at(n->graph, n->region.at[i]);
    if (n->region.count > MOST_BETWEEN || node->word == WORD_INPUT)
      return false;
    for (size_t k = 0; k < graph_feeds(node); k++)
      if (graph_feed(node, k) != top)
        stamp(n, graph_feed(node, k));
  }
  for (size_t i = 0; i < n->region.count; i++) {
    int node = n->region.at[i];
    for (int k = n->tree.first_use[node]; k < n->tree.first_use[node + 1]; k++)
      if (n->tree.uses[k] != join->index && n->stamp[n->tree.uses[k]] != n->now)
        return false;
  }
  return true;
}

/* The end of the operands from `from` on that fork off below `top` together. */
static size_t part_end(const struct nesting *n, const struct graph_node *join,
                       size_t from, int top) {
  int fork = below(n, join->inputs.at[from], top);
  size_t to = from + 1;
  while (fork >= 0 && to < join->inputs.count &&
         below(n, join->inputs.at[to], top) == fork)
    to++;
  return to;
}

/* True if the tensor at which the operands fork is one of them: a chain with
 * taps, which reads better as it is. */
static bool taps_chain(const struct nesting *n, const struct graph_node *join,
                       size_t from, size_t to) {
  int fork = join->inputs.at[from];
  for (size_t i = from + 1; i < to; i++)
    for (int other = join->inputs.at[i]; fork != other;)
      if (fork > other)
        fork = n->tree.parent[fork];
      else
        other = n->tree.parent[other];
  for (size_t i = from; i < to; i++)
    if (join->inputs.at[i] == fork)
      return true;
  return false;
}

/* Notes the parts of a join, if all its operands can be blocks with them. */
static void nest_join(struct nesting *n, const struct graph_node *join) {
  int top = n->tree.parent[join->index];
  size_t before = n->parts.count;
  if (join->word != WORD_CONCAT || join->args.count > 0 ||
      graph_feeds(join) != join->inputs.count || top < 0)
    return;
  for (size_t from = 0, to; from < join->inputs.count; from = to) {
    to = part_end(n, join, from, top);
    int fork = below(n, join->inputs.at[from], top);
    bool fits = fork >= 0 ? is_private(n, join, from, to, top)
                          : join->inputs.at[from] == top;
    if (!fits || (to - from > 1 && taps_chain(n, join, from, to))) {
      n->parts.count = before;
      return;
    }
    if (to - from > 1)
      *VEC_PUSH(n->graph->arena, &n->parts) =
          (struct nested_part){join->index, from, to, NULL};
  }
}

static struct graph_node *part_node(struct nesting *n,
                                    const struct nested_part *part) {
  const struct graph_node *join = graph_at(n->graph, part->join);
  struct graph_node *node = ARENA_NEW(n->graph->arena, struct graph_node);
  *node = (struct graph_node){.word = WORD_CONCAT,
                              .keyed = -1,
                              .values = -1,
                              .mask = -1,
                              .kind = join->kind,
                              .line = join->line,
                              .column = join->column,
                              .source = join->source,
                              .shape = join->shape,
                              .scale = join->scale,
                              .zero = join->zero};
  int64_t *channels = &node->shape.size[node->shape.rank - 1];
  *channels = 0;
  for (size_t i = part->from; i < part->to; i++) {
    const struct graph_shape *shape =
        &graph_at(n->graph, join->inputs.at[i])->shape;
    *channels += shape->size[shape->rank - 1];
    *VEC_PUSH(n->graph->arena, &node->inputs) = join->inputs.at[i];
  }
  return node;
}

static void renumber(struct graph_node *node, const int *index) {
  for (size_t i = 0; i < node->inputs.count; i++)
    node->inputs.at[i] = index[node->inputs.at[i]];
  node->keyed = node->keyed < 0 ? -1 : index[node->keyed];
  node->values = node->values < 0 ? -1 : index[node->values];
  node->mask = node->mask < 0 ? -1 : index[node->mask];
}

/* Puts the new nodes before their joins, and numbers all nodes anew. */
static void insert(struct nesting *n) {
  struct graph *graph = n->graph;
  size_t count = graph->nodes.count, next = 0;
  struct graph_node **old = arena_alloc(graph->arena, count + 1, sizeof *old);
  int *index = arena_alloc(graph->arena, count + 1, sizeof(int));
  memcpy(old, graph->nodes.at, count * sizeof *old);
  graph->nodes.count = 0;
  for (size_t i = 0; i < count; i++) {
    for (; next < n->parts.count && n->parts.at[next].join == (int)i; next++)
      *VEC_PUSH(graph->arena, &graph->nodes) = n->parts.at[next].node;
    index[i] = (int)graph->nodes.count;
    *VEC_PUSH(graph->arena, &graph->nodes) = old[i];
  }
  for (size_t i = 0; i < graph->nodes.count; i++) {
    graph->nodes.at[i]->index = (int)i;
    renumber(graph->nodes.at[i], index);
  }
  /* From the last part on, so that earlier operands keep their places. */
  for (size_t i = n->parts.count; i-- > 0;) {
    const struct nested_part *part = &n->parts.at[i];
    struct graph_node *join = old[part->join];
    join->inputs.at[part->from] = part->node->index;
    memmove(join->inputs.at + part->from + 1, join->inputs.at + part->to,
            (join->inputs.count - part->to) * sizeof *join->inputs.at);
    join->inputs.count -= part->to - part->from - 1;
  }
}

static bool nest_once(struct graph *graph) {
  struct nesting n = {.graph = graph};
  size_t count = graph->nodes.count;
  dominate(&n.tree, graph);
  n.stamp = arena_alloc(graph->arena, count + 1, sizeof(int));
  for (size_t i = 0; i < count; i++)
    if (graph->nodes.at[i]->inputs.count > 2)
      nest_join(&n, graph->nodes.at[i]);
  if (n.parts.count == 0 || count + n.parts.count > LIMIT_LAYERS)
    return false;
  for (size_t i = 0; i < n.parts.count; i++)
    n.parts.at[i].node = part_node(&n, &n.parts.at[i]);
  insert(&n);
  return true;
}

void import_nest(struct graph *graph) {
  for (int round = 0; round < MOST_ROUNDS && nest_once(graph); round++)
    ;
}
