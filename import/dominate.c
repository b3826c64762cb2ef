/*
 * Dominators of a graph without cycles: the parent of a node is the nearest
 * common ancestor of its inputs. Jump pointers (Myers, 1983, "An applicative
 * random-access stack") find it in logarithmic time.
 */
#include "import/dominate.h"

#include <string.h>

struct climb {
  int *parent, *jump, *depth;
};

/* Node -1 is above all others and has depth 0. */
static int depth_of(const struct climb *c, int node) {
  return node < 0 ? 0 : c->depth[node];
}

static int jump_of(const struct climb *c, int node) {
  return node < 0 ? -1 : c->jump[node];
}

static void place(struct climb *c, int node, int parent) {
  int jump = jump_of(c, parent);
  bool even = depth_of(c, parent) - depth_of(c, jump) ==
              depth_of(c, jump) - depth_of(c, jump_of(c, jump));
  c->parent[node] = parent;
  c->depth[node] = depth_of(c, parent) + 1;
  c->jump[node] = parent >= 0 && even ? jump_of(c, jump) : parent;
}

static int to_depth(const struct climb *c, int node, int depth) {
  while (depth_of(c, node) > depth)
    node = depth_of(c, jump_of(c, node)) >= depth ? jump_of(c, node)
                                                  : c->parent[node];
  return node;
}

static int common(const struct climb *c, int a, int b) {
  int depth = depth_of(c, a) < depth_of(c, b) ? depth_of(c, a) : depth_of(c, b);
  a = to_depth(c, a, depth);
  b = to_depth(c, b, depth);
  while (a != b) {
    bool far = jump_of(c, a) != jump_of(c, b);
    a = far ? jump_of(c, a) : c->parent[a];
    b = far ? jump_of(c, b) : c->parent[b];
  }
  return a;
}

static void count_uses(struct dominators *tree, const struct graph *graph) {
  size_t count = graph->nodes.count, all = 0;
  for (size_t i = 0; i < count; i++) {
    const struct graph_node *node = graph->nodes.at[i];
    for (size_t k = 0; k < graph_feeds(node); k++)
      tree->first_use[graph_feed(node, k) + 1]++;
    all += graph_feeds(node);
  }
  for (size_t i = 0; i < count; i++)
    tree->first_use[i + 1] += tree->first_use[i];
  tree->uses = arena_alloc(graph->arena, all + 1, sizeof(int));
  int *next = arena_alloc(graph->arena, count + 1, sizeof(int));
  memcpy(next, tree->first_use, count * sizeof(int));
  for (size_t i = 0; i < count; i++) {
    const struct graph_node *node = graph->nodes.at[i];
    for (size_t k = 0; k < graph_feeds(node); k++)
      tree->uses[next[graph_feed(node, k)]++] = (int)i;
  }
}

void dominate(struct dominators *tree, struct graph *graph) {
  size_t count = graph->nodes.count;
  struct climb c = {.parent = arena_alloc(graph->arena, count + 1, sizeof(int)),
                    .jump = arena_alloc(graph->arena, count + 1, sizeof(int)),
                    .depth = arena_alloc(graph->arena, count + 1, sizeof(int))};
  tree->parent = c.parent;
  tree->loose = arena_alloc(graph->arena, count + 1, sizeof(bool));
  tree->first_use = arena_alloc(graph->arena, count + 2, sizeof(int));
  for (size_t i = 0; i < count; i++) {
    const struct graph_node *node = graph->nodes.at[i];
    int parent = -1;
    bool fed = false;
    for (size_t k = 0; k < graph_feeds(node); k++) {
      int from = graph_feed(node, k);
      if (tree->loose[from])
        continue;
      parent = fed ? common(&c, parent, from) : from;
      fed = true;
    }
    tree->loose[i] = !fed && node->word != WORD_INPUT;
    place(&c, (int)i, parent);
  }
  count_uses(tree, graph);
}
